"""Joins the states in which the arms of a branch end.

In: two frame states with the regions that made them. Out: makers of the joined values, and the pairs of IR values that the
`cond` node must choose between. Numbers of one kind become one; a Python number and a NumPy scalar (or int and float) of one
representation stay open (`JoinV`); fresh arrays of one type are joined by value. Everything else must be the same in both arms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.frontends.values import (
    Array,
    Const,
    ListV,
    Storage,
    SymValue,
    TupleV,
    Unsupported,
)
from npcompile.ir.graph import Region, Value
from npcompile.ir.types import symbols_of
from npcompile.records import dataclass, replace

from .apart import PARTS, made_tuple
from .effects import before as effects_before
from .exits import reachable
from .frames import Frame
from .inputs import describe
from .kinds import Kind, equal_constants, memory, number_kind, packed, representable
from .numbers import dim_of
from .runlists import growing
from .snapshot import same_fields
from .symbolic import UNBOUND, CellV, DimCompare, JoinV, RunListV

if TYPE_CHECKING:
    from .forks import Arm
    from .interpreter import Trace

Make = Callable[[list[Value]], Any]
"""Makes a joined value, given the outputs of the `cond` node."""

INT64, FLOAT64, BOOL = map(np.dtype, ("int64", "float64", "bool"))
SAME_BITS = (FLOAT64, INT64, BOOL)
"""Dtypes whose Python number and NumPy scalar have one representation."""


def _known(x: Any) -> Make:
    return lambda outs: x


class CannotJoin(Exception):
    """The arms end in states that cannot be joined."""


@dataclass(eq=False)
class BranchChoice:
    """The side of a join is what a branch left: `value` is true for the first one."""

    value: Value

    def first_holds(self, b: Any) -> Value:
        return self.value

    def resolve(self, t: Trace, v: JoinV) -> SymValue:
        t.b.exit_if(self.value, "unbound" if v.first is UNBOUND else "branch-types")
        return v.rest


@dataclass(frozen=True)
class Number:
    """A number of one kind, or of two: then `is_first` (a bool or a bool value) tells which. rest : None if it is unbound."""

    first: Kind | None
    rest: Kind | None
    value: SymValue
    is_first: bool | Value = False


class Merge:
    """Joins values of two arms. `symbols` : the symbols of run-time ints that were known before the branch."""

    def __init__(
        self,
        t: Trace,
        cond: Value,
        regions: tuple[Region, Region],
        mems: tuple[dict[int, Value], dict[int, Value]],
        symbols: frozenset[Any],
    ) -> None:
        self.t, self.cond, self.regions, self.mems, self.symbols = t, cond, regions, mems, symbols
        self.pairs: list[tuple[Value, Value]] = []
        self._memo: dict[tuple[int, int], Make] = {}
        self._keep: list[Any] = []
        self._roots: tuple[list[SymValue], list[SymValue]] = ([], [])
        self._choices: dict[Any, BranchChoice] = {}

    # -- states ---------------------------------------------------------------------------------------------------------
    def frames(self, f: Frame, arms: tuple[Arm, Arm]) -> list[tuple[Frame, dict[str, Make], list[Make], int]]:
        a, b = (arm.frames for arm in arms)
        if [x[0] for x in a] != [x[0] for x in b]:
            raise CannotJoin("the arms end in different functions")
        for side, arm in zip(self._roots, arms):
            for frame, local, values, _ in arm.frames:
                side += [*values, *frame.free.values(), *(v for k, v in local.items() if frame is not f or k in arm.live)]
        out: list[tuple[Frame, dict[str, Make], list[Make], int]] = []
        for (frame, la, sa, pc), (_, lb, sb, _) in zip(a, b):
            if len(sa) != len(sb):
                raise CannotJoin("an expression is half done")
            stack = [self.value(x, y) for x, y in zip(sa, sb)]
            live = (arms[0].live, arms[1].live) if frame is f else (set(la), set(lb))
            out.append((frame, self._locals(la, lb, live), stack, pc))
        return out

    def _locals(self, a: dict[str, SymValue], b: dict[str, SymValue], live: tuple[Any, Any]) -> dict[str, Make]:
        out: dict[str, Make] = {}
        for k in dict.fromkeys((*a, *b)):
            x, y = a.get(k, UNBOUND), b.get(k, UNBOUND)
            if x is y:
                out[k] = _known(x)
            elif k in live[0] and k in live[1]:
                out[k] = self.value(x, y, k)
            elif k in live[0]:
                out[k] = self.either(x, 0, k)
            elif k in live[1]:
                out[k] = self.either(y, 1, k)
        return out

    def effects(self, arms: tuple[Arm, Arm]) -> dict[Any, Make]:
        """Changes of objects that existed before; a place that one arm leaves alone keeps what it held."""
        out: dict[Any, Make] = {}
        a, b = (arm.effects for arm in arms)
        for slot in dict.fromkeys((*a, *b)):
            pair = [self._in_slot(slot, side) for side in (a, b)]
            for side, v in zip(self._roots, pair):
                side.append(v)
            out[slot] = _known(pair[0]) if pair[0] is pair[1] else self.value(pair[0], pair[1], str(slot.name))
        return out

    def _in_slot(self, slot: Any, effects: dict[Any, SymValue]) -> SymValue:
        if slot in effects:
            return effects[slot]
        found = effects_before(self.t, slot)
        if found is None:
            raise CannotJoin(f"{slot.name or 'an object'} is changed in one arm only")
        return found

    def objects(self, objects: list[tuple[Any, dict[str, Any]]], arms: tuple[Arm, Arm]) -> Callable[[list[Value]], None]:
        """The fields of virtual objects that were there before the branch and are still in use."""
        used = {id(v) for side in self._roots for v in reachable(self._forced(side))}
        todo: list[tuple[Any, str, Make]] = []
        for (v, before), a, b in zip(objects, arms[0].objects, arms[1].objects):
            if id(v) in used and isinstance(v, (ListV, RunListV)) and _grows(before, a, b):
                raise growing(self.t, v, len(before.get("items", ())), a, b)
            for k in before if id(v) in used else ():
                if same_fields(a[k], b[k]):
                    if not same_fields(a[k], before[k]):
                        todo.append((v, k, _known(a[k])))
                elif k == "least":
                    todo.append((v, k, _known(min(a[k], b[k]))))
                else:
                    todo.append((v, k, self._field(v, a[k], b[k])))

        def apply(outs: list[Value]) -> None:
            for v, k, make in todo:
                setattr(v, k, make(outs))

        return apply

    def _field(self, v: Any, a: Any, b: Any) -> Make:
        if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            items = [self.value(x, y) for x, y in zip(a, b)]
            return lambda outs: [make(outs) for make in items]
        if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
            values = {k: self.value(a[k], b[k]) for k in a}
            return lambda outs: {k: make(outs) for k, make in values.items()}
        if isinstance(a, SymValue) and isinstance(b, SymValue):
            return self.value(a, b)
        raise CannotJoin(f"{describe(v)} changes in one arm")

    # -- values ---------------------------------------------------------------------------------------------------------
    def value(self, a: SymValue, b: SymValue, name: str = "") -> Make:
        a, b = self.t.inputs.forced(a), self.t.inputs.forced(b)
        if equal_constants(a, b):
            return lambda outs: a
        key = (id(a), id(b))
        if key not in self._memo:
            self._keep += [a, b]
            made = self._value(a, b, name)
            found: list[Any] = []

            def make(outs: list[Value]) -> Any:
                if not found:
                    found.append(made(outs))
                return found[0]

            self._memo[key] = make
        return self._memo[key]

    def _value(self, a: SymValue, b: SymValue, name: str) -> Make:
        x, y = self._number(a, 0), self._number(b, 1)
        if x is not None and y is not None:
            return self._numbers(x, y, name)
        if isinstance(a, Array) and isinstance(b, Array):
            return self._arrays(a, b, name)
        if isinstance(a, TupleV) != isinstance(b, TupleV):  # a constant tuple and one that was made
            a, b = made_tuple(a) or a, made_tuple(b) or b
        if type(a) is type(b) and not isinstance(a, CellV):
            parts = PARTS.get(type(a))
            if parts is not None and parts(a)[0] == parts(b)[0]:
                return self._container(a, b, name)
        raise CannotJoin(f"{name or 'a value'} is {describe(a)} or {describe(b)}")

    def _container(self, a: Any, b: Any, name: str) -> Make:
        parts = PARTS[type(a)]
        items = [self.value(x, y, name) for x, y in zip(parts(a)[1], parts(b)[1])]
        rebuild = parts(a)[2]
        return lambda outs: rebuild([make(outs) for make in items])

    def either(self, v: SymValue, side: int, name: str) -> Make:
        """A value that only the state of one arm still needs."""
        v = self.t.inputs.forced(v)
        number = self._number(v, side)
        if number is not None and number.rest is not None and number.first is None:
            dtype = number.rest.dtype
            assert dtype is not None
            pair = self._pair(lambda s: self._settled(v, dtype) if s == side else self.t.b.const(0, dtype))
            kind = number.rest
            return lambda outs: kind.scalar(outs[pair])
        if isinstance(v, (Const, type(UNBOUND))) or self._made_before(v):
            return lambda outs: v
        raise CannotJoin(f"{name} is {describe(v)} in one arm only")

    def _made_before(self, v: SymValue) -> bool:
        """Is it an array that was there before the branch?"""
        a = memory(v)
        return a is not None and a.storage.region not in self.regions and not a.chain

    def number(self, a: int | Value, b: int | Value) -> Make:
        """A plain int64 that is not seen by Python."""
        if isinstance(a, int) and a == b:
            return lambda outs: a
        pair = self._pair(lambda s: x if isinstance(x := (a, b)[s], Value) else self.t.b.const(x, INT64))
        return lambda outs: outs[pair]

    def _pair(self, make: Callable[[int], Value]) -> int:
        """Add a pair of values made inside the arms; its position."""
        pair = []
        for side in (0, 1):
            with self.t.b.inside(self.regions[side]):
                self.t.b.mem.update(self.mems[side])
                pair.append(make(side))
        a, b = (self.t.b.facts.canon_type(v.type) for v in pair)
        if a != b:
            raise CannotJoin(f"{a} and {b}")
        self.pairs.append((pair[0], pair[1]))
        return len(self.pairs) - 1

    # -- numbers ----------------------------------------------------------------------------------------------------------
    def _number(self, v: SymValue, side: int) -> Number | None:
        if v is UNBOUND:
            return Number(Kind("unbound"), None, v, True)
        if isinstance(v, JoinV):
            first = Kind("unbound") if v.first is UNBOUND else number_kind(v.first)
            rest = number_kind(v.rest)
            if first is None or rest is None:
                return None
            with self.t.b.inside(self.regions[side]):
                self.t.b.mem.update(self.mems[side])
                return Number(first, rest, v.rest, v.choice.first_holds(self.t.b))
        if isinstance(v, Const) and type(v.value) is int and not -(1 << 63) <= v.value < 1 << 63:
            return None
        kind = number_kind(v)
        return None if kind is None else Number(None, kind, v)

    def _numbers(self, x: Number, y: Number, name: str) -> Make:
        if x.first is None and y.first is None and x.rest == y.rest:
            dims = dim_of(x.value), dim_of(y.value)
            if None not in dims and not isinstance(x.value, DimCompare) and self._same_dim(*dims):
                return lambda outs: self.t.int_of(dims[0])  # type: ignore[arg-type]
            assert x.rest is not None
            return self._plain(x.value, y.value, x.rest)
        return self._open(x, y, name)

    def _same_dim(self, a: Any, b: Any) -> bool:
        f = self.t.b.facts
        return f.canon(a) == f.canon(b) and not self._made_inside(f.canon(a))

    def _made_inside(self, x: Any) -> bool:
        local = self.t.b.facts.local
        return any(s in local and s not in self.symbols for s in symbols_of(x))

    def _plain(self, a: SymValue, b: SymValue, kind: Kind) -> Make:
        assert kind.dtype is not None
        pair = self._pair(lambda side: self._settled((a, b)[side], kind.dtype))
        return lambda outs: kind.scalar(outs[pair])

    def _settled(self, v: SymValue, dtype: Any) -> Value:
        if v is UNBOUND:
            return self.t.b.const(0, dtype)
        if isinstance(v, DimCompare):
            v = v.settled(self.t.b)
        return self.t.b.value_of(v, dtype)

    def _open(self, x: Number, y: Number, name: str) -> Make:
        """A number of one of two kinds, or unbound."""
        kinds = list(dict.fromkeys(k for n in (x, y) for k in (n.first, n.rest) if k is not None))
        kinds = [replace(k, joined=False) for k in kinds]
        if len(set(kinds)) != 2:
            raise CannotJoin(f"{name or 'a number'} has several types")
        first, rest = sorted(dict.fromkeys(kinds), key=lambda k: (k.name != "unbound", not k.python, k.dtype == FLOAT64))
        if first.name != "unbound":
            self._check_representation(x, y, first, rest, name)
        assert rest.dtype is not None
        pair = self._pair(lambda side: self._settled((x, y)[side].value, rest.dtype))
        choice = self._choice(x, y, first)

        def make(outs: list[Value]) -> SymValue:
            b = self.t.b
            value = outs[pair]
            one: SymValue = UNBOUND
            if first.name != "unbound":
                assert first.dtype is not None
                one = first.scalar(b.convert(value, first.dtype, report=None))  # type: ignore[arg-type]
            return JoinV(one, rest.scalar(value), choice(outs))

        return make

    def _check_representation(self, x: Number, y: Number, first: Kind, rest: Kind, name: str) -> None:
        if first.dtype == rest.dtype and rest.dtype in SAME_BITS:
            return
        for n in (x, y):
            if not representable(n.value, replace(rest, joined=True)):
                raise CannotJoin(f"{name or 'a number'} is {first.dtype} or {rest.dtype}")

    def _choice(self, x: Number, y: Number, first: Kind) -> Callable[[list[Value]], BranchChoice]:
        """Which kind it is: told by the branch itself where each arm has one kind."""
        sides = [self._is_first(n, first) for n in (x, y)]
        if all(isinstance(s, bool) for s in sides):
            key = sides[0]
            return lambda outs: self._told_by_branch(key)
        pair = self._pair(lambda s: v if isinstance(v := sides[s], Value) else self.t.b.const(v, BOOL))
        return lambda outs: BranchChoice(outs[pair])

    def _told_by_branch(self, then_first: Any) -> BranchChoice:
        if then_first not in self._choices:
            value = self.cond if then_first else self.t.b.emit("logical_not", self.cond)
            self._choices[then_first] = BranchChoice(value)
        return self._choices[then_first]

    def _is_first(self, n: Number, first: Kind) -> bool | Value:
        if n.first is not None and n.rest is not None:
            return n.is_first
        return replace(n.first or n.rest, joined=False) == first  # type: ignore[type-var]

    # -- arrays -----------------------------------------------------------------------------------------------------------
    def _arrays(self, a: Array, b: Array, name: str) -> Make:
        if a.storage is b.storage and a.chain == b.chain and a.writeable == b.writeable and not self._made_inside(a.type.dims):
            return lambda outs: a
        for side, x in enumerate((a, b)):
            if x.chain or not x.storage.fresh or not x.writeable or self._shared(x.storage, side):
                raise CannotJoin(f"{name or 'an array'} may be another array with other names")
        dims = self.t.b.dims(a)
        if self._made_inside(dims) or len(dims) != b.rank:
            raise CannotJoin(f"{name or 'an array'} has sizes that depend on the branch")
        pair = self._pair(lambda side: self._contents((a, b)[side], dims))
        return lambda outs: self.t.b.array(outs[pair])

    def _contents(self, a: Array, dims: tuple[Any, ...]) -> Value:
        try:
            return packed(self.t, self.t.b.broadcast(packed(self.t, self.t.b.read(a)), dims))
        except Unsupported:
            raise CannotJoin("the arrays differ in shape") from None

    def _shared(self, s: Storage, side: int) -> bool:
        """Do several names refer to the array?"""
        arrays = [v for v in reachable(self._forced(self._roots[side])) if isinstance(v, Array) and v.storage is s]
        return len(arrays) > 1 or self._count(arrays, side) > 1

    def _count(self, arrays: list[Array], side: int) -> int:
        return sum(memory(v) is a for a in arrays for v in self._roots[side])

    def _forced(self, roots: Iterable[SymValue]) -> list[SymValue]:
        return [self.t.inputs.forced(v) for v in roots]


def _grows(before: dict[str, Any], a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Does a list have several lengths, or has an arm made a builder of it?"""
    if before.keys() != a.keys() or before.keys() != b.keys():
        return True
    return "items" in a and len(a["items"]) != len(b["items"])
