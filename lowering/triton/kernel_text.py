"""Block kernels as Triton text: one module a kernel, and the arguments that a launch passes.

In: a `BlockKernel`, the dtypes of outer scalars and buffers. Out: a `DeviceKernel` and the C++ text of its arguments. Sizes and
strides are arguments, so that equal kernels have equal text. Never: changes the order of anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from npcompile.kernels.triton_text import triton_text

from npcompile.ir.dims import Atom, Dim, Fn, Sym
from npcompile.records import dataclass, field

from ..cpp.kernel_text import divides
from ..loop_ir import For, IndexOp, Load, Op, Store, walk
from ..lowered import DeviceKernel, LoweringError
from ..unit import Unit
from .block_ir import Accumulate, Accumulator, Axes, Barrier, BlockKernel, BlockStm, Combine
from .ops import literal, memory_type, op_text, tl_type

HEADER = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice
"""
NAME = "kernel"
ROWS, COLS = "r", "c"


@dataclass
class Launched:
    """A printed kernel. pointers, sizes, words : C++ texts of the arguments, in this order.

    steady : sizes that say whether memory is accessed in aligned pieces. offsets : largest offsets, as dims.
    """

    kernel: DeviceKernel
    pointers: list[str]
    sizes: list[str]
    words: list[str]
    steady: list[str]
    offsets: list[Dim]


class _Names:
    """Numbers names anew, in the order in which they come up, so that equal kernels of different units have equal text."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        return re.sub(r"\b([a-z])\d+(?=_|\b)", self._name, text)

    def _name(self, match: re.Match[str]) -> str:
        old, letter = match.group(0), match.group(1)
        if old not in self.numbers:
            self.counts[letter] = self.counts.get(letter, -1) + 1
            self.numbers[old] = f"{letter}{self.counts[letter]}"
        return self.numbers[old]


@dataclass
class BlockPrinter:
    """Prints one kernel. scalars : dtype of every host variable that a kernel may use by value."""

    unit: Unit
    kernel: BlockKernel
    scalars: Mapping[str, np.dtype]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    functions: set[str] = field(default_factory=set)
    typed: dict[str, bool] = field(default_factory=dict)
    """Buffer -> addressed by elements (False: in bytes)."""
    sizes: dict[Dim, str] = field(default_factory=dict)
    words: dict[str, None] = field(default_factory=dict)
    steady: dict[str, None] = field(default_factory=dict)
    spaces: dict[str, frozenset[str]] = field(default_factory=dict)
    """Local name -> which of rows and columns it differs along."""
    extents: dict[Sym, Dim] = field(default_factory=dict)
    largest: list[Dim] = field(default_factory=list)

    # -- whole kernel -------------------------------------------------------------------------------------------
    def run(self) -> Launched:
        k = self.kernel
        for s in walk(k.body):
            if isinstance(s, (Load, Store)):
                buffer = self.unit.buffers[s.buffer]
                ok = s.dtype == buffer.dtype and divides(s.offset, s.dtype.itemsize)
                self.typed[s.buffer] = self.typed.get(s.buffer, True) and ok
        self._header()
        for s in k.body:
            self._statement(s)
        preamble = [self._word(name, self.scalars[name]) for name in self.words]
        params = [*self.typed, *self.sizes.values(), *(f"{w}_w" for w in self.words)]
        names = _Names()
        constants = ["ROWS: tl.constexpr", "COLS: tl.constexpr", "WIDE: tl.constexpr"]
        params = [names(p) for p in params]
        head = f"@triton.jit\ndef {NAME}({', '.join([*params, *constants])}):\n"
        functions = triton_text(self.functions)
        source = f"{HEADER}\n\n{functions}\n\n{head}" if functions else f"{HEADER}\n\n{head}"
        source += "".join(f"    {names(x)}\n" for x in (*preamble, *self.lines))
        kinds = [self._pointer_kind(b) for b in self.typed] + ["size"] * len(self.sizes) + ["word"] * len(self.words)
        steady = frozenset(name for d, name in self.sizes.items() if self.unit.dim(d) in self.steady)
        steady = frozenset(map(names, steady))
        facts = DeviceKernel(k.name, source, tuple(params), tuple(kinds), steady, k.ops)
        return Launched(
            facts,
            list(self.typed),
            [self.unit.dim(d) for d in self.sizes],
            list(self.words),
            list(self.steady),
            self.largest,
        )

    def _pointer_kind(self, b: str) -> str:
        return "*" + (memory_type(self.unit.buffers[b].dtype) if self.typed[b] else "tl.int8").removeprefix("tl.")

    def _word(self, name: str, dtype: np.dtype) -> str:
        """Declaration of a scalar that comes as an integer of its bits."""
        t = tl_type(dtype)
        word = f"{name}_w.to(tl.int64)"
        if dtype.kind == "b":
            return f"{name} = {name}_w != 0"
        if dtype.kind == "f":
            bits = f"tl.int{dtype.itemsize * 8}"
            return f"{name} = {word}.to({bits}).to({t}, bitcast=True)"
        return f"{name} = {word}.to({t})"

    def _header(self) -> None:
        k = self.kernel
        flat = k.form == "flat"
        row = self._declare(k.row, {ROWS})
        self.line("pid = tl.program_id(0)")
        self.line("if WIDE:")
        self.line("    pid = pid.to(tl.int64)")
        n = self.size(self._product(k.rows))
        self.extents[k.row] = self._product(k.rows)  # type: ignore[index]
        if k.rows and (flat or not k.inner):
            self._note_steady(k.rows[-1][1])
        lanes = "tl.arange(0, ROWS)"
        self.line(f"{row} = pid * ROWS + {lanes if flat else lanes + '[:, None]'}")
        self.line(f"{'m' if flat else 'rm'} = {row} < {n}")
        self._split(k.rows, row, {ROWS})
        if k.form == "part":
            q = self._declare(k.part, set())
            self.line(f"{q} = tl.program_id(1)")
            self.line("if WIDE:")
            self.line(f"    {q} = {q}.to(tl.int64)")
            self.extents[k.part] = k.parts  # type: ignore[index, assignment]
        if k.form == "whole":
            if not k.cols:
                raise LoweringError("no-triton", "a row without columns")
            self._columns(k.cols, "tl.arange(0, COLS)[None, :]")

    def _product(self, axes: Axes) -> Dim:
        total = Dim.of(1)
        for _, e in axes:
            total = total * e
        return total

    def _declare(self, sym: Sym | None, spaces: set[str]) -> str:
        assert sym is not None
        name = self.unit.sym_name(sym)
        self.spaces[name] = frozenset(spaces)
        return name

    def _split(self, axes: Axes, linear: str, spaces: set[str]) -> None:
        """Loop variables from the number of an iteration."""
        rest = linear
        for j in range(len(axes) - 1, -1, -1):
            sym, extent = axes[j]
            self.extents[sym] = extent
            if sym is self.kernel.row or self.unit.sym_name(sym) == linear:
                continue
            name = self._declare(sym, spaces)
            n = self.size(extent)
            if j == 0:
                self.line(f"{name} = {rest}")
            else:
                self.line(f"{name} = {rest} % {n}")
                self.line(f"{name}_rest = {rest} // {n}")
                rest = f"{name}_rest"

    def _columns(self, cols: Axes, lanes: str) -> None:
        """Column variables and masks for some lanes."""
        n = self.size(self._product(cols))
        if self.kernel.inner:
            self._note_steady(cols[-1][1])
        self.line(f"c = {lanes}")
        self.line(f"cm = c < {n}")
        self.line("m = rm & cm")
        self._split(cols, "c", {COLS})

    # -- index expressions --------------------------------------------------------------------------------------
    def size(self, d: Dim) -> str:
        """A host-side value: a literal or an argument."""
        if d.const is not None:
            return str(d.const)
        return self.sizes.setdefault(d, f"n{len(self.sizes)}")

    def _note_steady(self, d: Dim) -> None:
        text = self.unit.dim(d)
        if d.const is None:
            self.size(d)
        self.steady.setdefault(text)

    def is_local(self, a: Atom) -> bool:
        if isinstance(a, Sym):
            name = self.unit.sym_names.get(a.name)
            return name is not None and name in self.spaces
        return any(self.is_local(x) for x in (a.a.syms() | a.b.syms()))

    def index(self, d: Dim, steady: bool = False) -> tuple[str, frozenset[str]]:
        """Text of an index expression, and what it differs along."""
        groups: dict[tuple[Atom, ...], Dim] = {}
        for m, c in d.terms:
            local = tuple(a for a in m if self.is_local(a))
            host = tuple(a for a in m if not self.is_local(a))
            groups[local] = groups.get(local, Dim()) + Dim(((host, c),))
        parts, spaces = [], frozenset[str]()
        for local, coefficient in groups.items():
            texts = []
            for a in local:
                text, s = self._atom(a)
                texts.append(text)
                spaces |= s
            if coefficient.const != 1 or not local:
                texts.append(self.size(coefficient))
                if steady and coefficient.const is None:
                    self.steady.setdefault(self.unit.dim(coefficient))
            parts.append(" * ".join(texts))
        return " + ".join(parts) or "0", spaces

    def _atom(self, a: Atom) -> tuple[str, frozenset[str]]:
        if isinstance(a, Sym):
            name = self.unit.sym_name(a)
            return name, self.spaces[name]
        x, s = self.index(a.a)
        y, t = self.index(a.b)
        if a.op == "floordiv":
            return f"(({x}) // ({y}))", s | t
        name = f"npc_{a.op}imum"
        self.functions.add(name)
        return f"{name}({x}, {y})", s | t

    def bound(self, d: Dim) -> Dim:
        """An upper bound of a local index expression's magnitude, as a host value (sizes are not negative)."""
        total = Dim()
        for m, c in d.terms:
            p = Dim.of(abs(c))
            for a in m:
                if not self.is_local(a):
                    p = p * Dim.of(a)
                elif isinstance(a, Fn):
                    p = p * self.bound(a.a) if a.op == "floordiv" else p * (self.bound(a.a) + self.bound(a.b))
                else:
                    p = p * self.extents.get(a, Dim.of(1))
            total = total + p
        return total

    # -- statements ---------------------------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append("    " * (self.depth - 1) + text)

    def _statement(self, s: BlockStm) -> None:
        if isinstance(s, For):
            self._for(s)
        elif isinstance(s, Op):
            self._op(s)
        elif isinstance(s, IndexOp):
            text, spaces = self.index(s.value)
            self._set(s.name, f"({text}).to(tl.int64)" if spaces else f"tl.full([], 0, tl.int64) + ({text})", spaces)
        elif isinstance(s, Load):
            self._load(s)
        elif isinstance(s, Store):
            self._store(s)
        elif isinstance(s, Accumulator):
            init = literal(s.init, s.dtype)
            self._set(s.name, f"tl.zeros([ROWS, COLS], {tl_type(s.dtype)}) + {init}", frozenset((ROWS, COLS)))
        elif isinstance(s, Accumulate):
            self._accumulate(s)
        elif isinstance(s, Combine):
            self._combine(s)
        elif isinstance(s, Barrier):
            self.line("tl.debug_barrier()")
        else:
            raise LoweringError("no-triton", type(s).__name__)

    def _set(self, name: str, text: str, spaces: frozenset[str]) -> None:
        self.spaces[name] = spaces
        self.line(f"{name} = {text}")

    def _uses(self, names: tuple[str, ...]) -> frozenset[str]:
        """What some values differ along; host scalars among them become arguments."""
        out = frozenset[str]()
        for name in names:
            if name in self.spaces:
                out |= self.spaces[name]
            elif name in self.scalars:
                self.words.setdefault(name)
            else:
                raise LoweringError("no-value", f"{name} in a kernel")
        return out

    def _op(self, s: Op) -> None:
        spaces = self._uses(s.args)
        self._set(s.name, op_text(s, self.functions, lambda d: self.index(d)[0]), spaces)

    def _pointer(self, buffer: str, offset: Dim, dtype: np.dtype) -> tuple[str, frozenset[str]]:
        if self.typed[buffer]:
            self.largest.append(self.bound(offset // dtype.itemsize))
            text, spaces = self.index(offset // dtype.itemsize, True)
            return f"{buffer} + {text}", spaces
        self.largest.append(self.bound(offset))
        text, spaces = self.index(offset)
        return f"({buffer} + {text}).to(tl.pointer_type({memory_type(dtype)}))", spaces

    def _mask(self, spaces: frozenset[str]) -> str:
        if self.kernel.form == "flat":
            return "m" if spaces else ""
        return {"": "", ROWS: "rm", COLS: "cm", ROWS + COLS: "m"}["".join(sorted(spaces, reverse=True))]

    def _load(self, s: Load) -> None:
        pointer, spaces = self._pointer(s.buffer, s.offset, s.dtype)
        mask = self._mask(spaces)
        text = f"tl.load({pointer}, mask={mask})" if mask else f"tl.load({pointer})"
        self._set(s.name, f"{text} != 0" if s.dtype.kind == "b" else text, spaces)

    def _store(self, s: Store) -> None:
        names = (s.value, s.mask) if s.mask else (s.value,)
        value_spaces = self._uses(names)
        pointer, spaces = self._pointer(s.buffer, s.offset, s.dtype)
        needed = spaces | value_spaces | (frozenset((ROWS,)))
        if needed - spaces:
            shape = "[ROWS]" if self.kernel.form == "flat" else f"[ROWS, {'COLS' if COLS in needed else '1'}]"
            pointer = f"{pointer} + tl.zeros({shape}, tl.int32)"
        mask = self._mask(needed)
        mask = f"{mask} & {s.mask}" if s.mask else mask
        value = f"{s.value}.to(tl.uint8)" if s.dtype.kind == "b" else s.value
        self.line(f"tl.store({pointer}, {value}, mask={mask})")

    def _for(self, s: For) -> None:
        k = self.kernel
        cols = k.spaces[s.sym]
        n = self.size(self._product(cols))
        if k.form == "part":
            assert k.parts is not None and k.part is not None
            q = self.unit.sym_name(k.part)
            self.line(f"span = tl.cdiv(tl.cdiv({n}, {self.size(k.parts)}), COLS) * COLS")
            self.line(f"for start in range({q} * span, min({n}, {q} * span + span), COLS):")
        else:
            self.line(f"for start in range(0, {n}, COLS):")
        self.depth += 1
        self._columns(cols, "start + tl.arange(0, COLS)[None, :]")
        for x in s.body:
            self._statement(x)
        self.depth -= 1

    def _accumulate(self, s: Accumulate) -> None:
        self._uses(s.values)
        self.functions.add(f"npc_{s.combine}")
        new = tuple(f"{a}_new" for a in s.accs)
        self.line(f"{', '.join(new)} = npc_{s.combine}({', '.join((*s.accs, *s.values))})")
        for a, b in zip(s.accs, new, strict=True):
            self.line(f"{a} = tl.where(cm, {b}, {a})")

    def _combine(self, s: Combine) -> None:
        self._uses(s.values)
        self.functions.add(f"npc_{s.combine}")
        values = s.values
        if s.inits:
            values = tuple(f"{v}_in" for v in s.values)
            for new, v, init, d in zip(values, s.values, s.inits, s.dtypes, strict=True):
                self.line(f"{new} = tl.where(m, {v}, {literal(init, d)})")
        args = values[0] if len(values) == 1 else f"({', '.join(values)})"
        self.line(f"{', '.join(s.names)} = tl.reduce({args}, 1, npc_{s.combine})")
        for name in s.names:
            self._set(name, f"{name}[:, None]", frozenset((ROWS,)))
