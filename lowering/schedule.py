"""Fusion: which statements share loops.

In: statements in program order. Out: `Cluster`s in an order that keeps every conflict. A *leaf* is one loop body: all
its statements run over exactly the shared axes. A *row* shares some axes and runs a sequence of clusters inside (softmax:
rows shared, several passes over a row). Fusion is scored by the bytes it saves; every refusal is a `WhyNot`.
"""

from __future__ import annotations

from npcompile.ir.dims import Dim, Sym
from npcompile.records import dataclass, field

from . import reductions
from .index_maps import Index
from .loop_order import coefficient
from .lowered import WhyNot
from .statements import ACCUMULATING, Conflict, Stmt, conflict
from .typed import ttype
from .unit import Unit

Map = dict[Sym, Sym]
"""A statement's axis variable -> the shared axis variable of the cluster."""


@dataclass(eq=False)
class Cluster:
    """Statements under common loops.

    shared : loop variables with extents. maps : for each statement, its axes in terms of the shared ones.
    children : of a row; a leaf has none. why_not : why later statements did not join.
    """

    shared: list[tuple[Sym, Dim]]
    stmts: list[Stmt]
    maps: dict[Stmt, Map]
    children: list[Cluster] = field(default_factory=list)
    why_not: list[WhyNot] = field(default_factory=list)

    @property
    def is_leaf(self) -> bool:
        return not self.children

    def shared_syms(self) -> set[Sym]:
        return {s for s, _ in self.shared}


def single(unit: Unit, s: Stmt) -> Cluster:
    """A leaf of one statement."""
    shared = []
    m: Map = {}
    for sym in s.live_axes():
        new = unit.loop_sym(s.extent(sym))
        shared.append((new, s.extent(sym)))
        m[sym] = new
    return Cluster(shared, [s], {s: m})


class Scheduler:
    """Greedy clustering of one straight run of statements."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.conflicts: dict[tuple[Stmt, Stmt], Conflict | None] = {}

    def run(self, stmts: list[Stmt]) -> list[Cluster]:
        """Clusters in order."""
        out: list[Cluster] = []
        for s in stmts:
            last = -1
            for k, c in enumerate(out):
                if any(self._conflict(p, s) for p in c.stmts):
                    last = k
            joined: Cluster | WhyNot | None = None
            if out and last < len(out) and is_scalar(s) and is_scalar(out[-1].stmts[0]):
                joined = out[-1] = Cluster([], [*out[-1].stmts, s], {**out[-1].maps, s: {}}, [], out[-1].why_not)
            elif self.unit.options.fuse and s.live_axes():
                for k in range(len(out) - 1, max(last, 0) - 1, -1):
                    joined = self._join(out[k], s)
                    if isinstance(joined, Cluster):
                        out[k] = joined
                        break
                    if joined is not None:
                        out[k].why_not.append(joined)
            if not isinstance(joined, Cluster):
                out.append(single(self.unit, s))
        return out

    def _conflict(self, a: Stmt, b: Stmt) -> Conflict | None:
        key = (a, b)
        if key not in self.conflicts:
            self.conflicts[key] = conflict(self.unit, a, b)
        return self.conflicts[key]

    # -- joining ------------------------------------------------------------------------------------------------
    def _join(self, c: Cluster, s: Stmt, fixed: Map | None = None) -> Cluster | WhyNot:
        """The cluster with `s` as its last statement, or why not. `fixed`: axes of `s` that outer clusters share."""
        fixed = fixed or {}
        if any(not p.live_axes() for p in c.stmts) and not fixed:
            return WhyNot("scalar-statement")
        axes = [ax for ax in s.live_axes() if ax not in fixed]
        match = self._match(c, s, axes)
        if isinstance(match, WhyNot):
            return match
        m: Map = {**fixed, **{ax: sh for sh, ax in match.items()}}
        if c.is_leaf and len(match) == len(c.shared) == len(axes):
            refused = self._leaf_refused(c, s, m)
            if refused is None:
                return Cluster(c.shared, [*c.stmts, s], {**c.maps, s: m}, [], c.why_not)
            if fixed:
                return refused
        keep = {sh: ax for sh, ax in match.items() if not self._is_serial(c, sh) and not _serial_in(s, ax)}
        if not keep:
            return WhyNot("no-common-axis")
        private = [ax for ax in axes if ax not in keep.values()]
        if not self._row_pays(c, s, keep, private):
            return WhyNot("nothing-saved")
        return self._as_row(c, s, {**fixed, **{ax: sh for sh, ax in keep.items()}}, keep)

    def _match(self, c: Cluster, s: Stmt, axes: list[Sym]) -> dict[Sym, Sym] | WhyNot:
        """Shared axis -> axis of `s`, as conflicts demand and otherwise by equal extents."""
        found: dict[Sym, Sym | None] = {}
        for p in c.stmts:
            k = self._conflict(p, s)
            if k is None:
                continue
            for pair in k.pairs:
                if pair is None:
                    return WhyNot("overlap", "the memory read and written cannot be told apart")
                for sh, _ in c.shared:
                    ax = _aligned(pair, c.maps[p], sh, axes)
                    if sh in found and found[sh] != ax:
                        found[sh] = None
                    else:
                        found[sh] = ax
        taken = {ax for ax in found.values() if ax is not None}
        out: dict[Sym, Sym] = {}
        for sh, extent in c.shared:
            ax = found.get(sh)
            if ax is not None and s.extent(ax) == extent and ax not in out.values():
                out[sh] = ax
        free = [ax for ax in axes if ax not in taken]
        for sh, extent in reversed(c.shared):
            if sh in found:
                continue
            pick = next((ax for ax in reversed(free) if s.extent(ax) == extent), None)
            if pick is not None:
                free.remove(pick)
                out[sh] = pick
        if not out and c.shared:
            return WhyNot("not-aligned" if found else "different-spaces")
        return out

    def _is_serial(self, c: Cluster, sh: Sym) -> bool:
        return any(v == sh and _serial_in(p, ax) for p, m in c.maps.items() for ax, v in m.items())

    def _leaf_refused(self, c: Cluster, s: Stmt, m: Map) -> WhyNot | None:
        """Why `s` may not run in the very same body: reductions in one body reduce the same axes, and none is read there."""
        if any(p.kind in ("argreduce", "scan") for p in (s, *c.stmts)):
            return WhyNot("runs-alone", "position reductions and scans")
        reds = [p for p in c.stmts if p.kind == "reduce"]
        if any(r.value is p.out for p in reds for r in s.reads):
            return WhyNot("needs-whole-reduction")
        if s.kind == "reduce":
            mine = {m[ax] for ax in s.live_axes() if _serial_in(s, ax)}
            for p in reds:
                if {c.maps[p][ax] for ax in p.live_axes() if _serial_in(p, ax)} != mine:
                    return WhyNot("different-reduction-axes")
            if len(self._orders(c, s, m)) > 1 or (reds and any(map(reductions.has_own_tree, (s, *reds)))):
                return WhyNot("different-orders", "sums and products whose order of evaluation shows in the bits")
        if not any(self._related(p, s) for p in c.stmts):
            return WhyNot("no-shared-data")
        everyone = [*c.stmts, s]
        if any(p.kind == "reduce" and p.node.report is not None for p in everyone) and self._overwrites(everyone):
            return WhyNot("conditions", "a sum whose conditions are reported must be able to run again")
        return None

    def _orders(self, c: Cluster, s: Stmt, m: Map) -> set[object]:
        """Orders of evaluation that the ordered reductions of a body demand."""
        every = [(p, c.maps[p]) for p in c.stmts if p.kind == "reduce"] + [(s, m)]
        return {reductions.order_of(p, q) for p, q in every if reductions.is_ordered(p)}

    def _overwrites(self, stmts: list[Stmt]) -> bool:
        """Does one of the statements store to memory that one of them reads?"""
        reads = [r.place for p in stmts for r in p.reads if r.place is not None]
        return any(p.place is not None and any(self.unit.may_alias(p.place.buffer, r.buffer) for r in reads) for p in stmts)

    def _related(self, p: Stmt, s: Stmt) -> bool:
        """Does one feed the other, or do they read the same data?"""
        k = self._conflict(p, s)
        if k is not None and k.flow:
            return True
        return bool(_sources(p) & _sources(s))

    def _row_pays(self, c: Cluster, s: Stmt, keep: dict[Sym, Sym], private: list[Sym]) -> bool:
        """Does sharing only some of the axes save passes over memory?

        With the unit-stride axis private a row stays in cache, and any flow pays. With it shared, columns are cut into
        blocks, which pays only when data as large as the whole space would otherwise be read again.
        """
        big = [p for p in c.stmts if any(v not in keep for v in c.maps[p].values())]
        again = bool(private) and any(_sources(p) & _sources(s) for p in big)
        flows = [p for p in c.stmts if (k := self._conflict(p, s)) is not None and k.flow]
        if again or not flows:
            return again
        unit = unit_axis(self.unit, s)
        if unit is None or unit not in keep.values() or not private:
            return True
        size = len(s.live_axes())
        return any(p.out is not None and p.kind == "value" and len(p.live_axes()) == size for p in flows)

    def _as_row(self, c: Cluster, s: Stmt, m: Map, keep: dict[Sym, Sym]) -> Cluster:
        """Rows over the kept axes with the old cluster and `s` inside."""
        shared = [(sh, e) for sh, e in c.shared if sh in keep]
        if not c.is_leaf and len(shared) == len(c.shared):
            children = list(c.children)
        else:
            rest = [(v, e) for v, e in c.shared if v not in keep]
            children = [Cluster(rest, c.stmts, c.maps, c.children)]
        stmts, maps = [*c.stmts, s], {**c.maps, s: m}
        last = len(children) - 1
        if len(m) == len(s.live_axes()) and is_flat(children[last]) and s.kind not in ACCUMULATING:
            flat = children[last]
            children[last] = Cluster([], [*flat.stmts, s], {**flat.maps, s: m})
            return Cluster(shared, stmts, {**maps, s: m}, children, c.why_not)
        while last > 0 and not any(self._conflict(p, s) for p in children[last].stmts):
            last -= 1
        for k in range(len(children) - 1, last - 1, -1):
            joined = self._join(children[k], s, m) if len(m) < len(s.live_axes()) else None
            if isinstance(joined, Cluster):
                children[k] = joined
                return Cluster(shared, stmts, {**maps, s: joined.maps[s]}, children, c.why_not)
        own: list[tuple[Sym, Dim]] = []
        inner = dict(m)
        for ax in s.live_axes():
            if ax not in m:
                v = self.unit.loop_sym(s.extent(ax))
                own.append((v, s.extent(ax)))
                inner[ax] = v
        children.append(Cluster(own, [s], {s: inner}))
        return Cluster(shared, stmts, {**maps, s: inner}, children, c.why_not)


def is_scalar(s: Stmt) -> bool:
    """A statement without loops that may stand next to others: it stores or realises one element."""
    return not s.live_axes() and s.kind in ("value", "store")


def is_flat(c: Cluster) -> bool:
    """One pass without loops of its own and without reductions."""
    return c.is_leaf and not c.shared and not any(s.kind in ACCUMULATING for s in c.stmts)


def _sources(s: Stmt) -> set[object]:
    """What a statement reads as large as its own space, comparably between statements."""
    n = len(s.live_axes())
    out: set[object] = set()
    for r in s.reads:
        if len({x for i in r.index for x in i.syms()}) >= n and n:
            out.add(r.value if r.place is None else (r.place.buffer, r.place.offset, r.place.strides))
    return out


def unit_axis(unit: Unit, s: Stmt) -> Sym | None:
    """The axis along which most accesses of a statement move by one element."""
    score: dict[Sym, int] = {}
    for r in s.reads:
        if r.place is not None:
            off, size = r.place.at(r.index), r.itemsize
            for ax in s.live_axes():
                if coefficient(off, ax) == Dim.of(size):
                    score[ax] = score.get(ax, 0) + 1
        elif r.value is not None and r.index:
            for i, rank in zip(r.index, ttype(r.value).layout, strict=True):
                for ax in s.live_axes():
                    if rank == 1 and coefficient(i, ax) == Dim.of(1):
                        score[ax] = score.get(ax, 0) + 1
    return max(score, key=lambda a: score[a]) if score else None


def _serial_in(s: Stmt, ax: Sym) -> bool:
    """Do the iterations of `s` along this axis depend on each other? Then nobody else shares a loop over it."""
    return s.axes.index(ax) in s.serial


def _aligned(pair: tuple[Index, Index], m: Map, sh: Sym, axes: list[Sym]) -> Sym | None:
    """The axis in `axes` that must run with shared axis `sh` so that the pair of indices meets in one iteration."""
    first, second = pair
    own = next((ax for ax, v in m.items() if v == sh), None)
    if own is not None:
        for i, j in zip(first, second, strict=True):
            if i == Dim.of(own):
                return next((ax for ax in axes if j == Dim.of(ax)), None)
    return None
