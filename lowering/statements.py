"""Statements: what a region has to do to tensors, one iteration space each, with everything they read and write.

In: live nodes of a region. Out: `Stmt`s with their accesses, and the question whether two of them conflict. Never: decides
on fusion or emits code.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Node, Value
from npcompile.ir.types import TensorType
from npcompile.records import dataclass, field

from .index_maps import GATHERS, INDEX_MAPS, Index, Place, gather_parts, operand_index
from .lowered import LoweringError
from .overlap import disjoint, same_place
from .typed import ttype
from .unit import Unit

ZERO = Dim()
ANYWHERE = Sym("_anywhere")
"""Stands for an index that is known at run time only."""


ACCUMULATING = frozenset({"reduce", "argreduce", "scan"})
"""Kinds of statements that carry a value from one iteration to the next: each opens the loops over those axes itself."""


@dataclass
class Read:
    """One element read: of a realised value, or of memory at `place`. `index` is over the statement's axes."""

    index: Index
    value: Value | None = None
    place: Place | None = None
    itemsize: int = 8


@dataclass(eq=False)
class Stmt:
    """One statement.

    kind : "value" (realise `out`), "store" (to `place`), "reduce", "argreduce" (realise `out`).
    dims : its iteration space; axes : one index variable for each, None for axes of length 1.
    operands : tensors evaluated at the axes' index (a mask comes second).
    kept : axes that index the result, in order (all but the reduced ones).
    index : index of the element written, over the axes (shifted for parts of a concat).
    """

    kind: str
    node: Node
    dims: tuple[Dim, ...]
    axes: tuple[Sym | None, ...]
    operands: tuple[Value, ...]
    kept: tuple[int, ...]
    out: Value | None = None
    place: Place | None = None
    index: Index = ()
    reads: list[Read] = field(default_factory=list)
    indices: list[Dim] = field(default_factory=list)
    """Index values used as numbers."""
    costs: list[Node] = field(default_factory=list)
    direct: set[Value] = field(default_factory=set)
    """Loads that are read from memory although their value may be realised elsewhere too."""

    @property
    def position(self) -> Index:
        """Index of an iteration."""
        return tuple(ZERO if s is None else Dim.of(s) for s in self.axes)

    @property
    def reduced(self) -> tuple[int, ...]:
        return tuple(a for a in range(len(self.dims)) if a not in self.kept)

    @property
    def serial(self) -> tuple[int, ...]:
        """Axes along which iterations depend on each other: the reduced ones, or the axis of a scan."""
        return (self.node.params["axis"],) if self.kind == "scan" else self.reduced

    @property
    def itemsize(self) -> int:
        """Bytes of one element written."""
        return ttype(self.operands[0]).dtype.itemsize

    def live_axes(self) -> list[Sym]:
        return [s for s in self.axes if s is not None]

    def extent(self, sym: Sym) -> Dim:
        return self.dims[self.axes.index(sym)]


class Reader:
    """Finds what statements read: walks from an operand down to realised values and loads.

    current : is a memory state the newest one, so that a load of it may still read the memory?
    """

    def __init__(
        self,
        unit: Unit,
        realised: Callable[[Value], bool],
        place_of: Callable[[Value], Place],
        current: Callable[[Value], bool],
    ) -> None:
        self.unit = unit
        self.realised = realised
        self.place_of = place_of
        self.current = current

    def fill(self, s: Stmt) -> None:
        """Compute `s.reads` and `s.costs`."""
        seen: set[tuple[Value, Index]] = set()
        for v in s.operands:
            self._visit(s, v, s.position, seen)

    def _visit(self, s: Stmt, v: Value, index: Index, seen: set[tuple[Value, Index]]) -> None:
        stack = [(v, index)]
        while stack:
            v, index = stack.pop()
            if (v, index) in seen:
                continue
            seen.add((v, index))
            t = v.type
            node = v.node
            assert isinstance(t, TensorType)
            if node is not None and node.prim == "load" and self.current(node.inputs[1]):
                s.direct.add(v)
                s.reads.append(Read(index, place=self.place_of(node.inputs[0]), itemsize=t.dtype.itemsize))
            elif self.realised(v):
                s.reads.append(Read(index, value=v, itemsize=t.dtype.itemsize))
            elif node is None:
                raise LoweringError("tensor-input", str(t))
            elif node.prim in INDEX_MAPS:
                stack.append((node.inputs[0], operand_index(node, index, self.unit.loop_extents)))
            elif node.prim in GATHERS:
                s.costs.append(node)
                keys, place = gather_parts(node, index)
                stack.extend(keys)
                stack.append((node.inputs[0], place((Dim.of(ANYWHERE),) * len(keys))))
            else:
                s.costs.append(node)
                if node.prim == "iota":
                    s.indices.append(index[node.params["axis"]])
                stack.extend((x, index if ttype(x).rank else ()) for x in node.inputs)


def make_axes(unit: Unit, dims: tuple[Dim, ...]) -> tuple[Sym | None, ...]:
    """One index variable for every axis whose length is not 1."""
    return tuple(None if d.const == 1 else unit.loop_sym(d) for d in dims)


# ---------------------------------------------------------------------------------------------- conflicts


@dataclass
class Conflict:
    """Why the later of two statements must follow the earlier one.

    pairs : (index of the element the earlier one touches, that of the later one), componentwise comparable; None when the
    two indices cannot be compared, so that all of the earlier one must come first.
    """

    pairs: list[tuple[Index, Index] | None] = field(default_factory=list)
    flow: bool = False


def conflict(unit: Unit, a: Stmt, b: Stmt) -> Conflict | None:
    """What orders `b` after `a`; None when nothing does."""
    c = Conflict()
    if a.out is not None and a.out is b.out and a.node.prim == "pad":
        c.pairs.append(None)
    if a.out is not None and a.place is None:
        result = tuple(a.position[k] for k in a.kept) if a.kind in ("reduce", "argreduce") else a.index
        for r in b.reads:
            if r.value is a.out:
                c.pairs.append((result, r.index))
                c.flow = True
    if a.place is not None:
        size = a.itemsize
        for r in b.reads:
            if r.place is not None:
                c.pairs += _touch(unit, a.place, a.index, size, r.place, r.index, r.itemsize)
        c.flow = bool(c.pairs)
        if b.place is not None:
            c.pairs += _touch(unit, a.place, a.index, size, b.place, b.index, b.itemsize)
    if b.place is not None:
        size = b.itemsize
        for r in a.reads:
            if r.place is not None:
                c.pairs += _touch(unit, r.place, r.index, r.itemsize, b.place, b.index, size)
    return c if c.pairs else None


def _touch(unit: Unit, p: Place, i: Index, size_p: int, q: Place, j: Index, size_q: int) -> list[tuple[Index, Index] | None]:
    if not unit.may_alias(p.buffer, q.buffer):
        return []
    if same_place(p, q):
        return [(i, j)]
    if p.buffer == q.buffer and disjoint(p, q, size_p, size_q):
        return []
    return [None]


def overlaps_itself(unit: Unit, s: Stmt) -> bool:
    """Does a store read elements that it may already have overwritten?"""
    assert s.place is not None
    for r in s.reads:
        if r.place is None or not unit.may_alias(r.place.buffer, s.place.buffer):
            continue
        if same_place(r.place, s.place) and r.index == s.index:
            continue
        if r.place.buffer == s.place.buffer:
            if r.place.at(r.index) == s.place.at(s.index):
                continue
            if disjoint(r.place, s.place, r.itemsize, s.itemsize):
                continue
        return True
    return False
