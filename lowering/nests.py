"""Clusters become kernels: loops in memory order with bodies of scalar operations.

In: a cluster, where realised values outside it are stored, which of its values are needed outside. Out: a `KernelIR` and
its facts. Values used only inside live in registers, in row buffers, or in blocks of columns. Never: decides on fusion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Value
from npcompile.ir.prim import PRIMS
from npcompile.records import dataclass

from . import reductions
from .elements import Elements
from .index_maps import Index, Place
from .loop_ir import For, KernelIR, Local, Stm, Store
from .loop_order import Axis, coefficient, collapse, order_axes, typical
from .lowered import Kernel
from .schedule import Cluster, is_flat
from .statements import ACCUMULATING, Stmt
from .typed import ttype
from .unit import Unit

ONE = Dim.of(1)
BLOCK_BYTES = 512
"""Width of a block of columns: eight vectors of the widest kind."""


@dataclass
class Memory:
    """How a kernel reaches what lies outside of it.

    place_of : place of a view value. stored : place of a realised value or None. scalar : text of a realised rank-0 value or
    None. storage_for : makes room for a value that is needed outside.
    """

    place_of: Callable[[Value], Place]
    stored: Callable[[Value], Place | None]
    scalar: Callable[[Value], str | None]
    storage_for: Callable[[Value], Place]


@dataclass
class Block:
    """A block of columns: variable of its first column, of its length, the shared axis and the width."""

    first: Sym
    length: Sym
    axis: Sym
    width: int


class NestBuilder:
    """Builds one kernel."""

    def __init__(self, unit: Unit, memory: Memory, cluster: Cluster, outside: Callable[[Value], bool]) -> None:
        self.unit = unit
        self.memory = memory
        self.root = normalise(cluster)
        self.outside = outside
        self.local: dict[Value, Place | None] = {}
        self.locals: list[Local] = []
        self.bind: dict[Sym, Dim] = {}
        self.block: Block | None = None
        self.blocks: list[Block] = []
        self.summands: dict[Stmt, set[str]] = {}
        """Names that a reduction adds up."""
        self.el = Elements(unit, self._stored, memory.scalar, memory.place_of)
        self.extents: list[tuple[Sym, Dim]] = []

    def build(self, name: str) -> tuple[KernelIR, Kernel]:
        """The kernel and its facts."""
        top = self.el.scopes[0].body
        self._find_storage()
        self._emit(self.root)
        split = bool(top) and isinstance(top[-1], For) and top[-1].kind != "serial" and not self._root_reduces()
        grain = 1
        if split:
            last = top[-1]
            assert isinstance(last, For)
            grain = last.block or (64 if not any(isinstance(s, For) for s in last.body) else 1)
        k = KernelIR(name, top, split, grain, private=self.locals, work=self._work())
        nodes = [s.node for s in self.root.stmts] + [n for s in self.root.stmts for n in s.costs]
        facts = Kernel(
            name,
            tuple(str(e) for _, e in self.root.shared) or tuple(str(d) for d in self.root.stmts[0].dims),
            tuple(dict.fromkeys(n.prim for n in nodes)),
            len(set(nodes)),
            split,
            why_not=list(self.root.why_not),
            evaluations=self._evaluations(),
        )
        return k, facts

    def _evaluations(self) -> list[tuple[str, tuple[str, ...]]]:
        """Where each costly operation is evaluated; a loop in blocks counts as one loop."""
        out = []
        for node, loops in self.el.evaluated:
            if PRIMS[node.prim].cost != "expensive":
                continue
            extents = {s: self.unit.loop_extents.get(s) for s in loops}
            for b in self.blocks:
                whole = extents.get(b.first)
                for s, e in extents.items():
                    if whole is not None and e == Dim.of(b.length):
                        extents[s], extents[b.first] = whole, None
            out.append((node.prim, tuple(str(e) for e in extents.values() if e is not None)))
        return list(dict.fromkeys(out))

    def _root_reduces(self) -> bool:
        return self.root.is_leaf and any(s.kind in ACCUMULATING for s in self.root.stmts)

    def _work(self) -> Dim:
        """Picoseconds of one run, roughly."""
        from .work import weight

        total = Dim()
        for s in self.root.stmts:
            n = ONE
            for d in s.dims:
                n = n * d
            total = total + n * weight(s)
        return total

    # -- storage ------------------------------------------------------------------------------------------------
    def _stored(self, v: Value) -> Place | None:
        if v in self.local:
            return self.local[v]
        return self.memory.stored(v)

    def _find_storage(self) -> None:
        for s in self.root.stmts:
            v = s.out
            if v is None or s.place is not None:
                continue
            if self.outside(v) or s.kind in ("argreduce", "scan") or s.node.prim in ("concat", "pad"):
                self.local[v] = self.memory.storage_for(v)
                continue
            self.local[v] = None

    def _row_place(self, s: Stmt, owner: list[Cluster]) -> Place | None:
        """Room for a value private to one iteration of the shared loops of `owner`; None: a register is enough."""
        assert s.out is not None
        t = ttype(s.out)
        shared = {v for c in owner for v in c.shared_syms()}
        m = self.root.maps[s]
        result = [s.axes[k] for k in s.kept]
        private = [k for k, ax in enumerate(result) if ax is not None and m[ax] not in shared]
        blocked = [k for k, ax in enumerate(result) if ax is not None and self.block and m[ax] == self.block.axis]
        if not private and not blocked:
            return None
        size = t.dtype.itemsize
        strides = [Dim()] * t.rank
        step = Dim.of(size)
        for k in blocked:
            strides[k] = step
            step = step * (self.block.width if self.block else 1)
        for k in sorted(private, key=lambda a: t.layout[a]):
            strides[k] = step
            step = step * t.dims[k]
        count = step // size
        b = self.unit.new_buffer(t.dtype, t.dims, tuple(strides))
        self.locals.append(Local(b.name, t.dtype, count))
        self.el.rows[b.name] = len(self.el.scopes) - 1
        offset = Dim.of(self.block.first) * -size if blocked and self.block else Dim()
        return Place(b.name, offset, tuple(strides), t.dims)

    # -- emission -----------------------------------------------------------------------------------------------
    def _emit(self, c: Cluster) -> None:
        if c.is_leaf:
            if any(s.kind in ACCUMULATING for s in c.stmts):
                reductions.emit_leaf(self, c, [])
            else:
                self._emit_leaf(c)
            return
        loops = self.loops(c.shared, c.stmts)
        axis = self._blocked_axis(c, loops)
        if axis is not None:
            loops = [a for a in loops if a[0] != axis[0]]
        opened = self.open(loops, "plain")
        if axis is not None:
            opened += self._open_block(axis, c)
        own = [k for k in self.local if self.local[k] is None]
        for s in c.stmts:
            if s.out in own and self._owner(s, c) is c:
                assert s.out is not None
                self.local[s.out] = self._row_place(s, self._path(c))
        rest = list(c.children)
        while rest:
            child = rest.pop(0)
            if child.is_leaf and any(s.kind in ACCUMULATING for s in child.stmts):
                tail = rest.pop(0) if self.block is not None and rest and is_flat(rest[0]) else None
                reductions.emit_leaf(self, child, tail.stmts if tail else [])
            else:
                self._emit(child)
        if axis is not None:
            self.block = None
        self.close(opened)

    def is_private(self, p: Place) -> bool:
        """Is a place in one of this kernel's own arrays?"""
        return any(x.name == p.buffer for x in self.locals)

    def _path(self, c: Cluster) -> list[Cluster]:
        """Clusters from the root to `c`."""
        path = [self.root]
        while path[-1] is not c:
            path.append(next(x for x in path[-1].children if set(c.stmts) <= set(x.stmts)))
        return path

    def _owner(self, s: Stmt, c: Cluster) -> Cluster:
        """The deepest cluster below `c` that holds a statement and everybody who reads its value."""
        users = {p for p in c.stmts if p is s or any(r.value is s.out for r in p.reads)}
        for child in c.children:
            if users <= set(child.stmts):
                return self._owner(s, child)
        return c

    def _blocked_axis(self, c: Cluster, loops: list[Axis]) -> Axis | None:
        """The shared loop to run in blocks, innermost: the unit-stride one, when something inside has loops of its own."""
        if self.block is not None or not loops or not any(_has_loops(x) for x in c.children):
            return None
        ordered = [p for p in c.stmts if p.kind == "reduce" and reductions.is_ordered(p)]
        plans = [reductions.memory_order(ttype(p.operands[0]), p.reduced)[1] for p in ordered]
        if any(plans):
            return None
        sym, extent = loops[-1]
        if ordered:
            return sym, extent
        inner = [v for x in c.children for v in _all_syms(x)]
        score = 0
        for off, _ in self.offsets(c.stmts):
            mine = self._step(off, sym)
            private = [n for v in inner if (n := self._step(off, v))]
            if mine and private:
                score += 1 if mine < min(private) else -1
        return (sym, extent) if score > 0 else None

    def _step(self, offset: Dim, sym: Sym) -> int:
        """How far apart consecutive iterations of a loop typically access memory."""
        d = coefficient(offset.subs({k: v for k, v in self.bind.items() if v != Dim.of(k)}), sym)
        return 0 if d is None else abs(typical(d, self.unit.stride_values))

    def _open_block(self, axis: Axis, c: Cluster) -> int:
        sym, extent = axis
        size = max(ttype(s.operands[0]).dtype.itemsize for s in c.stmts)
        width = BLOCK_BYTES // size
        first, length = self._open_blocks(extent, width)
        old = next(v for v, d in self.bind.items() if d == Dim.of(sym))
        self.block = Block(first, length, old, width)
        self.blocks.append(self.block)
        return 1

    def inner_loops(self, loops: list[Axis]) -> list[Axis]:
        """Loops of a leaf, with the column loop of the block innermost."""
        if self.block is None:
            return loops
        j = self.unit.loop_sym(Dim.of(self.block.length))
        self.bind[self.block.axis] = Dim.of(self.block.first) + Dim.of(j)
        return [*loops, (j, Dim.of(self.block.length))]

    def _emit_leaf(self, c: Cluster) -> None:
        loops = self.inner_loops(self.loops(c.shared, c.stmts))
        across = self._across(loops, c.stmts) if self.block is None else None
        opened = self.open(loops, "vector") if across is None else self._open_tiles(loops, across, c.stmts)
        for s in c.stmts:
            self.statement(s)
        self.close(opened)

    def _across(self, loops: list[Axis], stmts: list[Stmt]) -> Axis | None:
        """The loop along which some access moves by one element while it leaps along the innermost one."""
        offsets = self.offsets(stmts)
        for axis in loops[-2::-1]:
            if any(size and self._step(off, axis[0]) == size < self._step(off, loops[-1][0]) for off, size in offsets):
                return axis
        return None

    def _open_tiles(self, loops: list[Axis], across: Axis, stmts: list[Stmt]) -> int:
        """Loops over squares of the innermost axis and the one across, so that lines of memory fetched for one row serve the
        next ones too."""
        opened = self.open([x for x in loops[:-1] if x is not across], "plain")
        width = BLOCK_BYTES // max(ttype(s.operands[0]).dtype.itemsize for s in stmts)
        inside = []
        for sym, extent in (across, loops[-1]):
            first, length = self._open_blocks(extent, width)
            turn = self.unit.loop_sym(Dim.of(length))
            inside.append((turn, Dim.of(length)))
            self.blocks.append(Block(first, length, sym, width))
            self.bind = {v: d.subs({sym: Dim.of(first) + Dim.of(turn)}) for v, d in self.bind.items()}
            opened += 1
        return opened + self.open(inside, "vector")

    def _open_blocks(self, extent: Dim, width: int) -> tuple[Sym, Sym]:
        """Open a loop over blocks; the variables of a block's start and length."""
        first, length = self.unit.named_sym("c"), self.unit.named_sym("cn")
        body: list[Stm] = []
        self.el.append(For(first, extent, body, "plain", block=width, length=length))
        self.el.push(body, first, length)
        self.unit.loop_extents[first] = extent
        return first, length

    def statement(self, s: Stmt) -> None:
        """Evaluate and store one statement in the open loops."""
        index = self.index(s, s.position)
        self.el.direct = s.direct
        names = [(self.el.expression if v is s.out else self.el.element)(v, index) for v in s.operands]
        dtype = ttype(s.operands[-1]).dtype
        if s.place is not None:
            value, mask = (names[1], names[0]) if len(names) == 2 else (names[0], "")
            self.el.append(Store(s.place.buffer, s.place.at(self.index(s, s.index)), value, dtype, mask))
            return
        assert s.out is not None
        self.result(s, names[0])

    def result(self, s: Stmt, name: str) -> None:
        """`name` is the element of the result that belongs to the current iteration."""
        assert s.out is not None
        where = self.index(s, s.index)
        place = self.local.get(s.out)
        if place is not None:
            self.el.append(Store(place.buffer, place.at(where), name, ttype(s.out).dtype))
        self.el.remember((s.out, where), name)

    def index(self, s: Stmt, index: Index) -> Index:
        """An index over a statement's axes in terms of the open loops."""
        m = self.root.maps[s]
        env = {ax: self.bind[v] for ax, v in m.items() if v in self.bind}
        return tuple(d.subs(env) for d in index)

    # -- loops --------------------------------------------------------------------------------------------------
    def offsets(self, stmts: list[Stmt]) -> list[tuple[Dim, int]]:
        """(byte offset, item size) of all accesses over the shared axes, index values included."""
        out: list[tuple[Dim, int]] = []
        for s in stmts:
            env = {ax: Dim.of(v) for ax, v in self.root.maps[s].items()}
            for r in s.reads:
                place = r.place
                if r.value is not None and r.index:
                    place = self._stored(r.value)
                if place is not None and r.index:
                    out.append((place.at(r.index).subs(env), r.itemsize))
            place = s.place or (self._stored(s.out) if s.out is not None else None)
            if place is not None:
                out.append((place.at(s.index).subs(env), s.itemsize))
            out.extend((d.subs(env), 0) for d in s.indices)
        return out

    def loops(self, axes: list[Axis], stmts: list[Stmt]) -> list[Axis]:
        """Ordered and collapsed loops over some axes; binds the axes."""
        offsets = self.offsets(stmts)
        ordered = order_axes(axes, offsets, self.unit.stride_values)
        loops, bind = collapse(ordered, [o for o, _ in offsets], self.unit.loop_sym)
        self.bind.update(bind)
        return loops

    def open(self, loops: list[Axis], kind: str) -> int:
        """Open loops; the innermost one is of the given kind."""
        for k, (sym, extent) in enumerate(loops):
            body: list[Stm] = []
            self.el.append(For(sym, extent, body, kind if k == len(loops) - 1 else "plain"))
            self.el.push(body, sym)
        return len(loops)

    def close(self, count: int) -> None:
        for _ in range(count):
            self.el.pop()


def _all_syms(c: Cluster) -> list[Sym]:
    return [v for v, _ in c.shared] + [v for x in c.children for v in _all_syms(x)]


def _has_loops(c: Cluster) -> bool:
    return bool(c.shared) or any(_has_loops(x) for x in c.children)


def normalise(c: Cluster) -> Cluster:
    """A leaf with reductions keeps only the reduced axes; the others become a row around it."""
    if not c.is_leaf:
        children = [normalise(x) for x in c.children]
        return Cluster(c.shared, c.stmts, c.maps, children, c.why_not)
    reds = [s for s in c.stmts if s.kind in ACCUMULATING]
    if not reds:
        return c
    m = c.maps[reds[0]]
    reduced = {m[ax] for k, ax in enumerate(reds[0].axes) if ax is not None and k in reds[0].serial}
    outer = [(v, e) for v, e in c.shared if v not in reduced]
    if not outer:
        return c
    leaf = Cluster([(v, e) for v, e in c.shared if v in reduced], c.stmts, c.maps)
    return Cluster(outer, c.stmts, c.maps, [leaf], c.why_not)


__all__ = ["Memory", "NestBuilder", "np"]
