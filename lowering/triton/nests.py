"""Clusters become Triton kernels: the same clusters, element expressions and loop orders as for C++, laid out in blocks.

In: a cluster. Out: `BlockKernel`s. A program holds a block of rows (of the space that all statements share) and, when
statements have loops of their own, columns: all of them at once, or in chunks. Sums have a fixed order that depends on sizes
only. Never: decides on fusion, or on sizes at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Value

from .. import reductions
from ..loop_ir import For, IndexOp, Load, Store, walk
from ..lowered import LoweringError
from ..nests import Memory, NestBuilder
from ..schedule import Cluster
from ..statements import Stmt
from ..typed import ttype
from ..unit import Buffer, Unit
from .block_ir import Accumulate, Accumulator, Axes, Barrier, BlockKernel, BlockStm, Combine

ONE = Dim.of(1)
INT32 = np.dtype(np.int32)
REDUCTIONS = ("reduce", "argreduce")
OF_BOOLS = {
    **dict.fromkeys(("add", "max", "fmax", "or", "any"), "maximum"),
    **dict.fromkeys(("mul", "min", "fmin", "and", "all"), "minimum"),
    "xor": "bit_xor",
}
"""Reductions of bools, which registers hold as int32."""


def is_reduction(s: Stmt) -> bool:
    """Does a statement combine several elements?"""
    return s.kind in REDUCTIONS and any(s.axes[a] is not None for a in s.reduced)


class Unfusable(Exception):
    """The statements of a cluster cannot share a kernel of this form."""


def product(axes: Axes) -> Dim:
    """Number of iterations of some loops."""
    total = ONE
    for _, e in axes:
        total = total * e
    return total


class BlockBuilder(NestBuilder):
    """Builds one kernel. row, part : symbols of the row number and of the program's part of the columns."""

    def __init__(self, unit: Unit, memory: Memory, cluster: Cluster, outside: Callable[[Value], bool]) -> None:
        super().__init__(unit, memory, cluster, outside)
        self.root = unified(self.root)
        self.row = unit.named_sym("r")
        self.part = unit.named_sym("q")
        self.rows: Axes = []
        self.cols: Axes = []
        self.form = ""
        self.spaces: dict[Sym, Axes] = {}
        self.loops_of: dict[Sym, Axes] = {}
        self.partials: dict[Stmt, tuple[Buffer, ...]] = {}

    # -- kernels ------------------------------------------------------------------------------------------------
    def flat(self, name: str) -> BlockKernel:
        """One pass over the shared space."""
        self._find_storage()
        self.rows = self.loops(self.root.shared, self.root.stmts)
        for s in self.root.stmts:
            if s.kind in REDUCTIONS:
                self._hand_over(s, self._values(s))
            else:
                self.statement(s)
        return self._kernel(name, "flat")

    def whole(self, name: str) -> BlockKernel:
        """All columns of a row at once."""
        self._begin("whole")
        spaces = {tuple(c.shared) for c in self.children if c.shared}
        if len(spaces) > 1:
            raise Unfusable("several column spaces")
        for c in self.children:
            self._child(c)
        return self._kernel(name, "whole")

    def chunks(self, name: str) -> BlockKernel:
        """Columns in a loop, once for each child."""
        self._begin("chunks")
        for c in self.children:
            if c.shared:
                self._loop(c)
            else:
                self._child(c)
        return self._kernel(name, "chunks")

    def partial(self, name: str, parts: Dim, buffers: dict[Stmt, tuple[Buffer, ...]]) -> BlockKernel:
        """First of two kernels for reductions: every part of the columns leaves its own result in `buffers`."""
        self._begin("part")
        self.partials = buffers
        (c,) = self.children
        self._loop(c)
        k = self._kernel(name, "part")
        k.parts = parts
        return k

    def final(self, name: str, first: BlockBuilder, parts: Dim, buffers: dict[Stmt, tuple[Buffer, ...]]) -> BlockKernel:
        """Second one, after `first`: the parts are combined in order of their numbers."""
        self._begin("whole")
        self.rows = first.rows
        self.bind.update(first.bind)
        rows = product(self.rows)
        self.cols = [(self.part, parts)]
        self.spaces[self.part] = self.cols
        for s in self.reds:
            dtypes, inits, _ = accumulators(s)
            at = [Dim.of(self.part) * rows * d.itemsize + Dim.of(self.row) * d.itemsize for d in dtypes]
            values = []
            for b, offset, d in zip(buffers[s], at, dtypes, strict=True):
                values.append(self._name())
                self.el.append(Load(values[-1], b.name, offset, d))
            self._finish(s, tuple(values), inits)
        return self._kernel(name, "whole")

    # -- parts --------------------------------------------------------------------------------------------------
    @property
    def children(self) -> list[Cluster]:
        return self.root.children or [self.root]

    @property
    def reds(self) -> list[Stmt]:
        return [s for s in self.root.stmts if s.kind in REDUCTIONS]

    def put(self, s: BlockStm) -> None:
        self.el.append(s)

    def _name(self) -> str:
        name = self.el.fresh()
        self.el.define(name)
        return name

    def _begin(self, form: str) -> None:
        """Bind all axes to rows and columns."""
        self.form = form
        if any(s.kind == "scan" for s in self.root.stmts):
            raise LoweringError("no-triton", "scan")
        if any(not c.is_leaf for c in self.children):
            raise Unfusable("rows in rows")
        self._find_storage()
        self.rows = self.loops(self.root.shared if self.root.children else [], self.root.stmts)
        for c in self.children:
            if c.shared and c.shared[-1][0] not in self.loops_of:
                same = [x for d in self.children if d.shared == c.shared for x in d.stmts]
                loops = self.loops(c.shared, same)
                self.loops_of[c.shared[-1][0]] = loops
                self.spaces[loops[-1][0]] = loops
                self.cols = self.cols or loops

    def _child(self, c: Cluster) -> None:
        """A child without a loop."""
        for s in c.stmts:
            if s.kind in REDUCTIONS and c.shared:
                self._finish(s, self._values(s), accumulators(s)[1])
            elif s.kind in REDUCTIONS:
                self._hand_over(s, self._values(s))
            else:
                self.statement(s)

    def _loop(self, c: Cluster) -> None:
        """A child in chunks: lanes accumulate, and are combined after the loop."""
        reds = [s for s in c.stmts if s.kind in REDUCTIONS]
        accs = {s: self._locals(*accumulators(s)[:2]) for s in reds}
        loops = self.loops_of[c.shared[-1][0]]
        body: list = []
        self.el.append(For(loops[-1][0], product(loops), body, "chunks"))
        self.el.push(body, *(v for v, _ in loops))
        for s in c.stmts:
            if s in accs:
                dtypes, _, combine = accumulators(s)
                self.put(Accumulate(accs[s], self._values(s), combine, dtypes))
            else:
                self.statement(s)
        self.el.pop()
        for s in reds:
            self._finish(s, accs[s], ())

    def _locals(self, dtypes: tuple[np.dtype, ...], inits: tuple[object, ...]) -> tuple[str, ...]:
        names = []
        for d, init in zip(dtypes, inits, strict=True):
            names.append(self._name())
            self.put(Accumulator(names[-1], d, init))
        return tuple(names)

    def _values(self, s: Stmt) -> tuple[str, ...]:
        """What goes into a reduction, in the dtypes of its accumulators."""
        dtypes, _, _ = accumulators(s)
        v = s.operands[0]
        self.el.direct = s.direct
        name = self.el.element(v, self.index(s, s.position))
        if s.kind == "reduce":
            name = self._converted(name, ttype(v).dtype, reductions.acc_dtype(s))
            return (self._converted(name, reductions.acc_dtype(s), dtypes[0]),)
        place = self._name()
        self.el.append(IndexOp(place, self.index(s, s.position)[s.node.params["axis"]]))
        return self._converted(name, ttype(v).dtype, dtypes[0]), place

    def _converted(self, name: str, src: np.dtype, dst: np.dtype) -> str:
        return reductions._converted(self, name, src, dst)

    def _finish(self, s: Stmt, values: tuple[str, ...], inits: tuple[object, ...]) -> None:
        """Combine the lanes and hand the result over."""
        dtypes, _, combine = accumulators(s)
        names = tuple(self._name() for _ in dtypes)
        self.put(Combine(names, values, combine, dtypes, inits))
        if s in self.partials:
            rows = product(self.rows)
            for b, d, name in zip(self.partials[s], dtypes, names, strict=True):
                self.el.append(Store(b.name, (Dim.of(self.part) * rows + Dim.of(self.row)) * d.itemsize, name, d))
            return
        self._hand_over(s, names)

    def _hand_over(self, s: Stmt, names: tuple[str, ...]) -> None:
        """Accumulators have become the result."""
        if s.kind == "reduce":
            dtypes, _, _ = accumulators(s)
            self.result(s, self._converted(names[0], dtypes[0], reductions.acc_dtype(s)))
        else:
            self.result(s, names[1])

    def _kernel(self, name: str, form: str) -> BlockKernel:
        body = list(self.el.scopes[0].body)
        ops = tuple(dict.fromkeys(n.prim for s in self.root.stmts for n in (s.node, *s.costs)))
        k = BlockKernel(name, form, self.rows, self.cols, with_barriers(self.unit, body), ops=ops)
        k.row, k.part, k.spaces = self.row, self.part, self.spaces
        k.inner = self._columns_are_consecutive()
        k.itemsize = max((s.dtype.itemsize for s in walk(body) if isinstance(s, (Load, Store))), default=8)
        return k

    def _columns_are_consecutive(self) -> bool:
        """Do more accesses move by one element along columns than along rows?"""
        score = 0
        for off, size in self.offsets(self.root.stmts):
            for axes, sign in ((self.cols, 1), (self.rows, -1)):
                if axes and size and self._step(off, axes[-1][0]) == size:
                    score += sign * size
        return score >= 0


def accumulators(s: Stmt) -> tuple[tuple[np.dtype, ...], tuple[object, ...], str]:
    """Dtypes and start values of a reduction's accumulators, and how two are combined."""
    op = s.node.params["op"]
    if s.kind == "argreduce":
        dt = ttype(s.operands[0]).dtype
        dt = INT32 if dt.kind == "b" else np.dtype(np.float32) if dt == np.float16 else dt
        last = np.iinfo(np.int64).max
        return (dt, np.dtype(np.int64)), (reductions.initial(op[3:], dt), last), op
    acc = reductions.acc_dtype(s)
    init = reductions.initial(op, acc)
    if acc.kind == "b":
        return (INT32,), (int(bool(init)),), OF_BOOLS[op]
    if acc == np.float16:
        acc = np.dtype(np.float32)
    return (acc,), (init,), reductions.BINARY[op]


def unified(c: Cluster) -> Cluster:
    """Children over column spaces of the same extents get the same variables, so that they share what they compute."""
    if c.is_leaf:
        return c
    lead = next((x.shared for x in c.children if x.shared), [])
    maps = dict(c.maps)
    children = []
    for x in c.children:
        if x.is_leaf and x.shared != lead and [e for _, e in x.shared] == [e for _, e in lead]:
            new = {v: w for (v, _), (w, _) in zip(x.shared, lead, strict=True)}
            for s in x.stmts:
                maps[s] = {ax: new.get(v, v) for ax, v in maps[s].items()}
            x = Cluster(lead, x.stmts, maps, [], x.why_not)
        children.append(x)
    return Cluster(c.shared, c.stmts, maps, [Cluster(x.shared, x.stmts, maps, x.children) for x in children], c.why_not)


# ---------------------------------------------------------------------------------------------- order of memory accesses


def _accesses(s: BlockStm) -> Iterator[Load | Store]:
    return (x for x in walk([s]) if isinstance(x, (Load, Store)))


def with_barriers(unit: Unit, body: list[BlockStm]) -> list[BlockStm]:
    """A program's threads may hold the same element in different registers: accesses to memory that is both read and written
    are kept in order by barriers, but for those of one element in straight-line code."""
    out: list[BlockStm] = []
    seen: list[tuple[Load | Store, bool]] = []
    for s in body:
        mine = list(_accesses(s))
        looped = isinstance(s, For)
        if any(_clash(unit, a, b, in_loop or looped) for a, in_loop in seen for b in mine):
            out.append(Barrier())
            seen = []
        seen += [(x, looped) for x in mine]
        out.append(s)
    return out


def _clash(unit: Unit, a: Load | Store, b: Load | Store, looped: bool) -> bool:
    if (isinstance(a, Load) and isinstance(b, Load)) or not unit.may_alias(a.buffer, b.buffer):
        return False
    return looped or a.buffer != b.buffer or a.offset != b.offset or isinstance(b, Load)


__all__ = ["BlockBuilder", "Unfusable", "product"]
