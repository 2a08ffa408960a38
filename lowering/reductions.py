"""Loops of reductions, in NumPy's order where the order shows in the bits.

In: a leaf cluster whose shared axes are exactly the reduced ones. Out: loop IR. Float sums: if the innermost axis in memory
is reduced, a pairwise tree over it (and the axes NumPy's iterator joins with it or copies with it into its buffer), outer
reduced axes added up serially; else everything is added up serially in memory order. Order-free operations take the cheapest
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from npcompile.ir.dims import Dim, Sym, dim_max, dim_min, product, provably_ne
from npcompile.ir.layout import korder, strides_of
from npcompile.ir.types import TensorType

from .index_maps import Place
from .loop_ir import Assign, Fold, For, If, IndexOp, Local, Op, Stm, Store, Tree
from .loop_order import Axis
from .statements import ACCUMULATING, Stmt
from .typed import ttype

if TYPE_CHECKING:
    from .nests import NestBuilder
    from .schedule import Cluster

FLOAT32 = np.dtype(np.float32)
BUFFER = 8192
"""Elements that NumPy's iterators copy at a time."""
ROWS = 4
"""Rows that are added to the accumulators of a block of columns in one go."""

BINARY = {
    "add": "add",
    "mul": "mul",
    "max": "maximum",
    "min": "minimum",
    "fmax": "fmax",
    "fmin": "fmin",
    "and": "bit_and",
    "or": "bit_or",
    "xor": "bit_xor",
    "any": "logical_or",
    "all": "logical_and",
}


def acc_dtype(s: Stmt) -> np.dtype:
    """The dtype a reduction works in."""
    assert s.out is not None
    return ttype(s.out).dtype


def is_ordered(s: Stmt) -> bool:
    """Does the order of evaluation show in the result?"""
    return s.node.params["op"] in ("add", "mul") and acc_dtype(s).kind in "fc"


def order_of(s: Stmt, m: Mapping[Sym, Sym]) -> object:
    """How NumPy evaluates an ordered reduction, comparably between statements under the same loops `m`."""
    t = ttype(s.operands[0])
    axes, joined = memory_order(t, s.reduced)
    loops = tuple(m[ax] for a in axes if (ax := s.axes[a]) is not None)
    return loops, joined, tuple(maybe_joined(t, s.reduced)), joined and s.node.params["op"]


def has_own_tree(s: Stmt) -> bool:
    """Is it a sum over a tree of another shape than that of real numbers?"""
    return is_ordered(s) and acc_dtype(s).kind == "c" and memory_order(ttype(s.operands[0]), s.reduced)[1] > 0


def initial(op: str, dtype: np.dtype) -> object:
    """The value an accumulator starts with: the identity, or the value that loses against every other."""
    if op == "scan add":
        return dtype.type(-0.0) if dtype.kind == "f" else dtype.type(complex(-0.0, -0.0)) if dtype.kind == "c" else dtype.type(0)
    op = op.removeprefix("scan ")
    if op in ("add", "or", "xor", "any"):
        return dtype.type(0)
    if op in ("mul", "all"):
        return dtype.type(1)
    if op == "and":
        return np.bool_(True) if dtype.kind == "b" else dtype.type(-1) if dtype.kind == "i" else np.iinfo(dtype).max
    if dtype.kind in "fc":
        if op in ("fmax", "fmin"):
            return dtype.type(np.nan)
        low = -np.inf if op == "max" else np.inf
        return dtype.type(low) if dtype.kind == "f" else dtype.type(complex(low, low))
    if dtype.kind == "b":
        return np.bool_(op not in ("max", "fmax"))
    info = np.iinfo(dtype)
    return info.min if op in ("max", "fmax") else info.max


def memory_order(t: TensorType, reduced: tuple[int, ...]) -> tuple[list[int], int]:
    """Reduced axes from the outermost to the innermost in memory, and how many of the last ones NumPy surely runs as one loop.

    0 for the latter: the innermost axis of all is kept.
    """
    ranks = korder([t.layout], t.dims)
    live = [a for a in range(t.rank) if t.dims[a].const != 1]
    order = sorted(live, key=lambda a: -ranks[a])
    red = [a for a in order if a in reduced]
    if not order or order[-1] not in reduced:
        return red, 0
    joined = 1
    while joined < len(order) and order[-joined - 1] in reduced:
        x, y = joint(t, order[-joined - 1], order[-joined])
        if x != y:
            break
        joined += 1
    return red, joined


def innermost(t: TensorType, reduced: tuple[int, ...]) -> int:
    """How many reduced axes lie inside of all that are kept."""
    ranks = korder([t.layout], t.dims)
    count = 0
    for a in sorted((a for a in range(t.rank) if t.dims[a].const != 1), key=lambda a: ranks[a]):
        if a not in reduced:
            break
        count += 1
    return count


def joint(t: TensorType, outer: int, inner: int) -> tuple[Dim, Dim]:
    """NumPy's iterator runs two neighbouring axes as one when these are equal."""
    strides = strides_of(t)
    return strides[outer], strides[inner] * t.dims[inner]


def maybe_joined(t: TensorType, reduced: tuple[int, ...]) -> list[tuple[Dim, Dim]]:
    """Conditions, not decidable here, under which one more, two more, ... axes run as one loop than is sure."""
    ranks = korder([t.layout], t.dims)
    live = [a for a in range(t.rank) if t.dims[a].const != 1]
    order = sorted(live, key=lambda a: -ranks[a])
    _, joined = memory_order(t, reduced)
    out = []
    while joined and joined < len(order) and order[-joined - 1] in reduced:
        x, y = joint(t, order[-joined - 1], order[-joined])
        if provably_ne(x, y):
            break
        out.append((x, y))
        joined += 1
    return out


def emit_leaf(b: NestBuilder, c: Cluster, tail: list[Stmt]) -> None:
    """Loops of one leaf with reductions, and whatever else runs in the same body.

    tail : statements without loops that follow; with a block of columns they share the loop that hands over results.
    """
    reds = [s for s in c.stmts if s.kind in ACCUMULATING]
    if reds[0].kind in ("argreduce", "scan"):
        (_positions if reds[0].kind == "argreduce" else _scan)(b, c, reds[0])
        _tail(b, tail)
        return
    ordered = next((s for s in reds if is_ordered(s)), None)
    if b.block is not None:
        _columns(b, c, reds, ordered or reds[0], tail)
    else:
        _rows(b, c, reds, ordered)


def _axes(b: NestBuilder, c: Cluster, s: Stmt) -> tuple[list[Axis], int]:
    """Shared loops in the order in which NumPy reduces, and how many of the last ones form one loop there."""
    red, joined = memory_order(ttype(s.operands[0]), s.reduced)
    m = b.root.maps[s]
    extents = dict(c.shared)
    loops = []
    for a in red:
        ax = s.axes[a]
        assert ax is not None
        loops.append((m[ax], extents[m[ax]]))
    return loops, joined


def _value(b: NestBuilder, s: Stmt) -> str:
    """The element to reduce in the open loops, in the accumulator's dtype."""
    v = s.operands[0]
    b.el.direct = s.direct
    name = _converted(b, b.el.element(v, b.index(s, s.position)), ttype(v).dtype, acc_dtype(s))
    b.summands.setdefault(s, set()).add(name)
    return name


def _converted(b: NestBuilder, name: str, src: np.dtype, dst: np.dtype) -> str:
    if src == dst:
        return name
    out = b.el.fresh()
    b.el.define(out)
    b.el.append(Op(out, "convert", (name,), dst, (src,), {"dtype": dst}))
    return out


def _others(b: NestBuilder, c: Cluster) -> None:
    for s in c.stmts:
        if s.kind not in ("reduce", "argreduce"):
            b.statement(s)


def _total(s: Stmt, name: str, prim: str, args: tuple[str, ...], dtype: np.dtype) -> Op:
    """An addition to an accumulator; its conditions are those of the reduction."""
    reports = s.node.report is not None and prim in ("add", "mul", "half_sum")
    added = FLOAT32 if prim == "half_sum" else dtype
    return Op(name, prim, args, dtype, (dtype, added), {"total": True}, s.node if reports else None)


def _finish(b: NestBuilder, s: Stmt, name: str) -> None:
    if reports_total(s):
        _check(b, s, name)
    b.result(s, name)


def _check(b: NestBuilder, s: Stmt, name: str) -> None:
    """Have the fast run look at a total; the names it is made of say whether a NaN can be its own."""
    b.el.append(Op("", "npc_check", (name,), acc_dtype(s), (acc_dtype(s),), {"of": frozenset(b.summands[s])}))


def reports_total(s: Stmt) -> bool:
    """Is the sum or product itself an operation whose conditions are reported?"""
    return s.node.report is not None and s.node.params["op"] in ("add", "mul") and acc_dtype(s).kind in "fc"


# ---------------------------------------------------------------------------------------------- a scalar per iteration


def _rows(b: NestBuilder, c: Cluster, reds: list[Stmt], ordered: Stmt | None) -> None:
    """Accumulators are variables."""
    accs = {}
    for s in reds:
        name = b.el.fresh()
        b.el.define(name)
        b.el.append(Local(name, acc_dtype(s), init=literal_of(s)))
        accs[s] = name
    if ordered is None:
        loops = b.loops(c.shared, c.stmts)
        opened = b.open(loops[:-1], "serial") if loops else 0
        if loops:
            _fold(b, c, reds, accs, loops[-1])
        else:
            _once(b, c, reds, accs)
        b.close(opened)
    else:
        _ordered(b, c, reds, accs, ordered)
    for s in reds:
        _finish(b, s, accs[s])


def _ordered(b: NestBuilder, c: Cluster, reds: list[Stmt], accs: dict[Stmt, str], lead: Stmt) -> None:
    """The loops of NumPy's order; where strides known at run time decide it, one version for each order."""
    axes, joined = _axes(b, c, lead)
    t = ttype(lead.operands[0])
    open_questions = maybe_joined(t, lead.reduced) if joined else []
    _versions(b, c, reds, accs, axes, joined, innermost(t, lead.reduced), open_questions)


def _versions(
    b: NestBuilder,
    c: Cluster,
    reds: list[Stmt],
    accs: dict[Stmt, str],
    axes: list[Axis],
    joined: int,
    inside: int,
    questions: list[tuple[Dim, Dim]],
) -> None:
    if questions:
        choice = If([questions[0]], [], [])
        b.el.append(choice)
        b.el.push(choice.then)
        _versions(b, c, reds, accs, axes, joined + 1, inside, questions[1:])
        b.el.pop()
        b.el.push(choice.other)
        _versions(b, c, reds, accs, axes, joined, inside, [])
        b.el.pop()
        return
    tail = axes[len(axes) - joined :]
    head, gathered = axes[: len(axes) - max(inside, joined)], axes[len(axes) - max(inside, joined) : len(axes) - joined]
    for a, _ in axes:
        b.bind[a] = Dim.of(a)
    opened = b.open(head, "serial")
    parts = _chunks(b, gathered, tail) if joined else []
    opened += len(gathered)
    if joined and all(s.node.params["op"] == "add" for s in reds if is_ordered(s)):
        _tree(b, c, reds, accs, tail, parts)
    else:
        wide = _widened(b, reds, accs) if joined else {}
        inner = b.open([*parts, *tail], "serial")
        _once(b, c, reds, accs, wide)
        b.close(inner)
        for s, acc in wide.items():
            half, out = acc_dtype(s), b.el.fresh()
            b.el.define(out)
            node = s.node if s.node.report is not None else None
            b.el.append(Op(out, "convert", (acc,), half, (FLOAT32,), {"dtype": half, "total": True}, node))
            b.el.append(Assign(accs[s], out))
    b.close(opened)


def _chunks(b: NestBuilder, axes: list[Axis], tail: list[Axis]) -> list[Axis]:
    """Open loops over chunks of reduced axes that NumPy's iterator cannot join with the innermost ones; the loops of a chunk.

    The iterator copies as many whole rows as fit into its buffer, and reduces them as one axis.
    """
    size = product([e for _, e in tail])
    counts: list[Dim] = []
    for _, extent in reversed(axes):
        count = b.unit.named_sym("n")
        fit = dim_max(Dim.of(BUFFER) // dim_max(size, 1), 1)
        b.el.append(IndexOp(b.unit.sym_names[count.name], dim_min(fit, dim_max(extent, 1))))
        counts.insert(0, Dim.of(count))
        size = size * extent
    out: list[Axis] = []
    for (axis, extent), count_ in zip(axes, counts, strict=True):
        trips = (extent + count_ - 1) // count_
        loop, first, length = b.unit.loop_sym(trips), b.unit.named_sym("c"), b.unit.named_sym("n")
        body: list[Stm] = []
        b.el.append(For(loop, trips, body, "plain"))
        b.el.push(body, loop, first, length)
        b.el.append(IndexOp(b.unit.sym_names[first.name], Dim.of(loop) * count_))
        b.el.append(IndexOp(b.unit.sym_names[length.name], dim_min(count_, extent - Dim.of(first))))
        row = b.unit.loop_sym(Dim.of(length))
        b.bind[axis] = Dim.of(first) + Dim.of(row)
        out.append((row, Dim.of(length)))
    return out


def _widened(b: NestBuilder, reds: list[Stmt], accs: dict[Stmt, str]) -> dict[Stmt, str]:
    """float32 accumulators of float16 products: NumPy rounds them at the end of its inner loop."""
    wide = {}
    for s in reds:
        if acc_dtype(s) == np.float16 and s.node.params["op"] == "mul":
            wide[s] = b.el.fresh()
            b.el.define(wide[s])
            b.el.append(Local(wide[s], FLOAT32, init="=mul"))
            b.el.append(Assign(wide[s], _converted(b, accs[s], acc_dtype(s), FLOAT32)))
    return wide


def literal_of(s: Stmt) -> str:
    """Marker that the printer replaces by a literal of the start value."""
    return f"={s.node.params['op']}"


def _once(b: NestBuilder, c: Cluster, reds: list[Stmt], accs: dict[Stmt, str], wide: Mapping[Stmt, str] = {}) -> None:
    """Add the element of the open loops to the accumulators; those of `wide` are float32."""
    _others(b, c)
    for s in reds:
        value = _value(b, s)
        if s in wide:
            _accumulate(b, s, wide[s], _converted(b, value, acc_dtype(s), FLOAT32), dtype=FLOAT32)
        else:
            _accumulate(b, s, accs[s], value)


def _accumulate(b: NestBuilder, s: Stmt, acc: str, value: str, prim: str = "", dtype: np.dtype | None = None) -> None:
    """`acc = op(acc, value)`."""
    out = b.el.fresh()
    b.el.define(out)
    b.el.append(_total(s, out, prim or BINARY[s.node.params["op"]], (acc, value), dtype or acc_dtype(s)))
    b.el.append(Assign(acc, out))


def _fold(b: NestBuilder, c: Cluster, reds: list[Stmt], accs: dict[Stmt, str], loop: Axis) -> None:
    sym, extent = loop
    body: list[Stm] = []
    fold = Fold(sym, extent, body, [])
    b.el.append(fold)
    b.el.push(body, sym)
    _others(b, c)
    for s in reds:
        fold.ops.append((accs[s], BINARY[s.node.params["op"]], _value(b, s), acc_dtype(s)))
    b.el.pop()


def _tree(b: NestBuilder, c: Cluster, reds: list[Stmt], accs: dict[Stmt, str], tail: list[Axis], outer: list[Axis]) -> None:
    """Pairwise tree over axes that NumPy runs as one loop, and those of a chunk of such rows; order-free reductions of the same
    body come along."""
    offsets = [o for o, _ in b.offsets(c.stmts)]
    from .loop_order import collapse

    inner, bind = collapse(tail, offsets, b.unit.loop_sym)
    loops = [*outer, *inner]
    b.bind.update(bind)
    body: list[Stm] = []
    tree = Tree(loops, body, [], [])
    b.el.append(tree)
    b.el.push(body, *(s for s, _ in loops))
    _others(b, c)
    results = {}
    for s in reds:
        value = _value(b, s)
        name = b.el.fresh()
        b.el.level[name] = len(b.el.scopes) - 2
        results[s] = name
        tree.results.append((name, acc_dtype(s), BINARY[s.node.params["op"]]))
        tree.values.append(value)
        tree.nodes.append(s.node if reports_total(s) else None)
    b.el.pop()
    for s in reds:
        half = acc_dtype(s) == np.float16 and s.node.params["op"] == "add"
        _accumulate(b, s, accs[s], results[s], "half_sum" if half else "")  # the tree of float16 gives a float32


# ---------------------------------------------------------------------------------------------- a block of columns


def _columns(b: NestBuilder, c: Cluster, reds: list[Stmt], lead: Stmt, tail: list[Stmt]) -> None:
    """Accumulators are arrays with one element a column of the block; columns run innermost."""
    assert b.block is not None
    accs: dict[Stmt, Place] = {}
    for s in reds:
        assert s.out is not None
        row = b.local.get(s.out)
        accs[s] = row if row is not None and b.is_private(row) else _acc_array(b, s)
    opened = b.open([_column_loop(b)], "vector")
    for s in reds:
        name = b.el.fresh()
        b.el.define(name)
        b.el.append(Local(name, acc_dtype(s), init=literal_of(s)))
        b.el.append(Store(accs[s].buffer, _at(b, s, accs[s]), name, acc_dtype(s)))
    b.close(opened)
    axes, _ = _axes(b, c, lead)
    for a, _ in axes:
        b.bind[a] = Dim.of(a)
    opened = b.open(axes, "serial")
    last = b.el.scopes[-2].body[-1]
    assert isinstance(last, For)
    last.together = ROWS  # accumulators stay in registers for so many rows
    opened += b.open([_column_loop(b)], "vector")
    _others(b, c)
    for s in reds:
        value = _value(b, s)
        dt = acc_dtype(s)
        old = _load(b, accs[s].buffer, _at(b, s, accs[s]), dt)
        out = b.el.fresh()
        b.el.define(out)
        b.el.append(_total(s, out, BINARY[s.node.params["op"]], (old, value), dt))
        b.el.append(Store(accs[s].buffer, _at(b, s, accs[s]), out, dt))
    b.close(opened)
    handed = [s for s in reds if s.out is not None and b.local.get(s.out) is not accs[s]]
    checked = [s for s in reds if reports_total(s)]
    if handed or tail or checked:
        opened = b.open([_column_loop(b)], "vector")
        for s in checked:
            name = _load(b, accs[s].buffer, _at(b, s, accs[s]), acc_dtype(s))
            _check(b, s, name)
        for s in handed:
            b.result(s, _load(b, accs[s].buffer, _at(b, s, accs[s]), acc_dtype(s)))
        for s in tail:
            b.statement(s)
        b.close(opened)


def _tail(b: NestBuilder, tail: list[Stmt]) -> None:
    if tail:
        opened = b.open([_column_loop(b)] if b.block is not None else [], "vector")
        for s in tail:
            b.statement(s)
        b.close(opened)


def _acc_array(b: NestBuilder, s: Stmt) -> Place:
    """An accumulator for every column of the block."""
    assert b.block is not None and s.out is not None
    dt, t = acc_dtype(s), ttype(s.out)
    buf = b.unit.new_buffer(dt, (), ())
    b.locals.append(Local(buf.name, dt, Dim.of(b.block.width)))
    m = b.root.maps[s]
    axes = [s.axes[k] for k in s.kept]
    strides = tuple(Dim.of(dt.itemsize) if ax is not None and m[ax] == b.block.axis else Dim() for ax in axes)
    return Place(buf.name, Dim.of(b.block.first) * -dt.itemsize, strides, t.dims)


def _at(b: NestBuilder, s: Stmt, p: Place) -> Dim:
    """Offset of the current column's accumulator."""
    return p.at(b.index(s, s.index))


def _column_loop(b: NestBuilder) -> tuple[Sym, Dim]:
    (loop,) = b.inner_loops([])
    return loop


def _load(b: NestBuilder, buffer: str, offset: Dim, dtype: np.dtype) -> str:
    from .loop_ir import Load

    name = b.el.fresh()
    b.el.define(name)
    b.el.append(Load(name, buffer, offset, dtype))
    return name


# ---------------------------------------------------------------------------------------------- positions


def _positions(b: NestBuilder, c: Cluster, s: Stmt) -> None:
    """argmax, argmin: the first place of the best element along one axis; NaN is best of all."""
    loops = b.inner_loops([]) if b.block is not None else []
    opened = b.open(loops, "plain")
    dt = ttype(s.operands[0]).dtype
    best, place = b.el.fresh(), b.el.fresh()
    for name, d, init in ((best, dt, f"={s.node.params['op'][3:]}"), (place, np.dtype(np.int64), "=add")):
        b.el.define(name)
        b.el.append(Local(name, d, init=init))
    if c.shared:
        ((sym, extent),) = c.shared
        b.bind[sym] = Dim.of(sym)
        body: list[Stm] = []
        b.el.append(For(sym, extent, body, "serial"))
        b.el.push(body, sym)
        b.el.direct = s.direct
        value = b.el.element(s.operands[0], b.index(s, s.position))
        b.el.append(Op("", "npc_best", (best, place, value), dt, (dt,), {"op": s.node.params["op"], "at": Dim.of(sym)}))
        b.el.pop()
    b.result(s, place)
    b.close(opened)


# ---------------------------------------------------------------------------------------------- scans


def _scan(b: NestBuilder, c: Cluster, s: Stmt) -> None:
    """Running sums and the like along one axis, one after the other as NumPy's accumulate."""
    loops = b.inner_loops([]) if b.block is not None else []
    opened = b.open(loops, "plain")
    acc = b.el.fresh()
    b.el.define(acc)
    b.el.append(Local(acc, acc_dtype(s), init=f"=scan {s.node.params['op']}"))
    for sym, extent in c.shared:
        b.bind[sym] = Dim.of(sym)
        body: list[Stm] = []
        b.el.append(For(sym, extent, body, "serial"))
        b.el.push(body, sym)
    _accumulate(b, s, acc, _value(b, s))
    name = b.el.fresh()
    b.el.define(name)
    b.el.append(Op(name, "copy", (acc,), acc_dtype(s), (acc_dtype(s),), {}))
    b.result(s, name)
    b.close(len(c.shared))
    if reports_total(s):
        _check(b, s, acc)
    b.close(opened)
