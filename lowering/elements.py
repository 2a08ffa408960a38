"""Element expressions: turns a tensor value at an index into scalar operations of the loop IR.

In: a value and the index of one of its elements. Out: the name that holds the element; operations are appended to the
shallowest open loop in which all they need is known, and the same element is computed once. Never: opens loops itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Node, Value
from npcompile.records import dataclass, field

from .index_maps import GATHERS, INDEX_MAPS, Index, Place, gather_parts, operand_index
from .loop_ir import IndexOp, Load, Op, Stm
from .lowered import LoweringError
from .typed import ttype
from .unit import Unit

Key = tuple[Value, Index]


@dataclass
class Scope:
    """One open loop: its body so far, its variables, what is known in it. syms : its variables and run-time indices in it."""

    body: list[Stm]
    loops: tuple[Sym, ...] = ()
    syms: set[Sym] = field(default_factory=set)
    keys: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def run_time_symbol(name: str) -> str:
    """The symbol that stands for an index held by a variable."""
    return f"_at {name}"


class Elements:
    """Builds loop bodies.

    stored : place of a realised value, None when the value is an expression. scalar : C++ text of a realised rank-0 value.
    """

    def __init__(
        self,
        unit: Unit,
        stored: Callable[[Value], Place | None],
        scalar: Callable[[Value], str | None],
        place_of: Callable[[Value], Place],
        prefix: str = "t",
    ) -> None:
        self.unit = unit
        self.stored = stored
        self.scalar = scalar
        self.place_of = place_of
        self.prefix = prefix
        self.scopes: list[Scope] = [Scope([])]
        self.known: dict[Any, str] = {}
        self.level: dict[str, int] = {}
        self.evaluated: list[tuple[Node, tuple[Sym, ...]]] = []
        """Operations with the variables of the loops round them."""
        self.rows: dict[str, int] = {}
        """Private arrays -> the loop for each turn of which they are filled anew."""
        self.making: Value | None = None
        self.direct: set[Value] = set()
        self._count = 0

    # -- scopes -------------------------------------------------------------------------------------------------
    def push(self, body: list[Stm], *syms: Sym) -> None:
        """Open a loop whose statements go to `body`."""
        self.scopes.append(Scope(body, syms, set(syms)))

    def pop(self) -> None:
        """Close the innermost loop; what was known in it is forgotten."""
        scope = self.scopes.pop()
        for k in scope.keys:
            self.known.pop(k, None)
        for n in scope.names:
            self.level.pop(n, None)

    def depth(self, *dims: Dim) -> int:
        """Innermost open loop that an index expression depends on."""
        syms = set().union(*(d.syms() for d in dims)) if dims else set()
        for k in range(len(self.scopes) - 1, 0, -1):
            if self.scopes[k].syms & syms:
                return k
        return 0

    def fresh(self) -> str:
        self._count += 1
        return f"{self.prefix}{self._count}"

    def append(self, s: Stm, level: int | None = None) -> None:
        """Add a statement to an open loop; in an outer one it comes before the loop that is open there."""
        if level is None or level == len(self.scopes) - 1:
            self.scopes[-1].body.append(s)
        else:
            body = self.scopes[level].body
            body.insert(len(body) - 1, s)

    def remember(self, key: Any, name: str, level: int | None = None) -> None:
        """`name` holds an element from here to the end of a scope."""
        scope = self.scopes[-1 if level is None else level]
        self.known[key] = name
        scope.keys.append(key)

    def define(self, name: str, level: int | None = None) -> None:
        k = len(self.scopes) - 1 if level is None else level
        self.level[name] = k
        self.scopes[k].names.append(name)

    # -- elements -----------------------------------------------------------------------------------------------
    def expression(self, v: Value, index: Index) -> str:
        """Name of the element of `v`, evaluated from its operands although `v` is realised."""
        self.making = v
        name = self.element(v, index)
        self.making = None
        return name

    def element(self, v: Value, index: Index) -> str:
        """Name of the element of `v` at `index`."""
        stack: list[Key] = [(v, index)]
        while stack:
            key = stack[-1]
            if self._find(key) is not None:
                stack.pop()
                continue
            missing = [k for k in self._needs(key) if self._find(k) is None]
            if missing:
                stack.extend(reversed(missing))
            else:
                self._compute(key)
        found = self._find((v, index))
        assert found is not None
        return found

    def _place(self, v: Value) -> Place | None:
        return None if v is self.making or v in self.direct else self.stored(v)

    def _find(self, key: Key) -> str | None:
        v = key[0]
        if ttype(v).rank == 0:
            text = self.scalar(v)
            if text is not None:
                return text
        return self.known.get(key)

    def _needs(self, key: Key) -> list[Key]:
        v, index = key
        node = v.node
        if self._place(v) is not None:
            return []
        if node is None:
            raise LoweringError("tensor-input", str(v.type))
        if node.prim in ("load", "iota", "const", "dim"):
            return []
        if node.prim in INDEX_MAPS:
            return [(node.inputs[0], operand_index(node, index, self.unit.loop_extents))]
        if node.prim in GATHERS:
            keys, _ = gather_parts(node, index)
            return keys if any(self._find(k) is None for k in keys) else [self._gathered(node, index)]
        return [(x, index if ttype(x).rank else ()) for x in node.inputs]

    def _gathered(self, node: Node, index: Index) -> Key:
        """The element that a gather reads, once its indices have names."""
        keys, place = gather_parts(node, index)
        return node.inputs[0], place(tuple(self._run_time_index(k) for k in keys))

    def _run_time_index(self, key: Key) -> Dim:
        """An index held by a variable, as a symbol known from where the variable is."""
        name = self._find(key)
        assert name is not None
        level = self.level.get(name, 0)
        dtype = ttype(key[0]).dtype
        if dtype != np.int64:
            wide = self.known.get((name, "as index"))
            if wide is None:
                wide = self._op("convert", (name,), np.dtype(np.int64), (dtype,), {}, None)
                self.remember((name, "as index"), wide, level)
            name = wide
        sym = Sym(run_time_symbol(name))
        self.unit.sym_names[sym.name] = name
        self.scopes[level].syms.add(sym)
        return Dim.of(sym)

    def _compute(self, key: Key) -> None:
        v, index = key
        node = v.node
        place = self._place(v)
        dtype = ttype(v).dtype
        if place is not None:
            self._load(key, place.buffer, place.at(index), dtype)
            return
        assert node is not None
        if node.prim == "load":
            p = self.place_of(node.inputs[0])
            self._load(key, p.buffer, p.at(index), dtype)
        elif node.prim == "iota":
            self._index(key, node, index)
        elif node.prim in GATHERS:
            found = self._find(self._gathered(node, index))
            assert found is not None
            self.remember(key, found, self.level.get(found, 0))
        elif node.prim in INDEX_MAPS:
            inner = self._find((node.inputs[0], operand_index(node, index, self.unit.loop_extents)))
            assert inner is not None
            if node.prim in ("real_view", "imag_view"):
                t = ttype(node.inputs[0])
                inner = self._op(node.prim[:4], (inner,), dtype, (t.dtype,), {}, None)
            self.remember(key, inner, self.level.get(inner, 0))
        else:
            args = []
            for x in node.inputs:
                a = self._find((x, index if ttype(x).rank else ()))
                assert a is not None
                args.append(a)
            dts = tuple(ttype(x).dtype for x in node.inputs)
            if node.prim in ("full", "copy"):
                self.remember(key, args[0], self.level.get(args[0], 0))
                return
            name = self._op(node.prim, tuple(args), dtype, dts, node.params, node)
            self.remember(key, name, self.level[name])

    def _op(
        self,
        prim: str,
        args: tuple[str, ...],
        dtype: np.dtype,
        arg_dtypes: tuple[np.dtype, ...],
        params: dict[str, Any],
        node: Node | None,
    ) -> str:
        level = max((self.level.get(a, 0) for a in args), default=0)
        name = self.fresh()
        self.define(name, level)
        self.append(Op(name, prim, args, dtype, arg_dtypes, params, node), level)
        if node is not None:
            self.evaluated.append((node, tuple(s for scope in self.scopes[1 : level + 1] for s in scope.loops)))
        return name

    def _load(self, key: Key, buffer: str, offset: Dim, dtype: np.dtype) -> None:
        level = max(self.depth(offset), self.rows.get(buffer, 0))
        name = self.fresh()
        self.define(name, level)
        self.append(Load(name, buffer, offset, dtype), level)
        self.remember(key, name, level)

    def _index(self, key: Key, node: Node, index: Index) -> None:
        value = index[node.params["axis"]]
        level = self.depth(value)
        raw = self.fresh()
        self.define(raw, level)
        self.append(IndexOp(raw, value), level)
        dtype = np.dtype(node.params["dtype"])
        name = raw if dtype == np.int64 else self._op("convert", (raw,), dtype, (np.dtype(np.int64),), {"dtype": dtype}, None)
        self.remember(key, name, level)
