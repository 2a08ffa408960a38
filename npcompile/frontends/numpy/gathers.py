"""Elements at places that arrays of integers name: `a[i]`, `a[i, j]`, `a[:, i]`, take, choose; those that a mask chooses:
compress, extract.

In: arrays and indices. Out: `take` and `gather` nodes, which fuse with what uses them; all indices are checked before anything is
read, by an exit before the instruction. Never: index arrays beside slices, but for one array alone; those stay calls.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.types import Layout, TensorType

from . import arguments as args
from . import externs
from .contiguity import flat, ravel
from .picked import pick
from .promotion import BOOL, INT64, is_number
from .registry import NONE, method, rule

ZERO = Dim()
WHOLE = SliceV(Const(None), Const(None), Const(None))
MOST_CHOICES = 16
"""Arrays that `np.choose` chooses from at most; each is looked at for every element."""


def positions(b: Builder, x: Value, n: Dim, mode: str = "raise", from_end: bool = True) -> Value:
    """Indices into an axis of length `n`, checked or made to fit. from_end : negative ones count from the end."""
    assert isinstance(x.type, TensorType)
    kind, dims = x.type.dtype.kind, b.dims(x)
    if kind not in "iub" or (kind == "u" and x.type.dtype.itemsize == 8):
        raise Unsupported("advanced-indexing", f"indices of {x.type.dtype}")
    if _counts_within(b, x, n):
        return b.convert(x, INT64)
    x = b.convert(x, INT64)
    size, zero = (b.broadcast(b.dim_value(d), dims) for d in (n, ZERO))
    if mode == "wrap":
        return b.emit("mod", x, size)
    if mode == "clip":
        last = b.broadcast(b.dim_value(n - 1), dims)
        return b.emit("minimum", b.emit("maximum", x, zero), last)
    if kind == "i" and from_end:
        x = b.emit("select", b.emit("lt", x, zero), b.emit("add", x, size), x)
    bad = b.emit("ge", x, size)
    if kind == "i":
        bad = b.emit("logical_or", bad, b.emit("lt", x, zero))
    b.exit_if(b.emit("reduce", bad, op="any", axes=tuple(range(len(dims)))) if dims else bad, "index-range")
    return x


def _counts_within(b: Builder, x: Value, n: Dim) -> bool:
    """Are the indices 0, 1, … of an axis that is no longer than `n`?"""
    node = x.node
    while node is not None and node.prim in ("expand", "broadcast", "squeeze", "reshape", "copy", "transpose"):
        node = node.inputs[0].node
    if node is None or node.prim != "iota":
        return False
    return b.facts.canon(node.params["dims"][node.params["axis"]]) == b.facts.canon(n)


def getitem(b: Builder, a: Array, items: Sequence[SymValue]) -> Array:
    """`a[items]` with arrays of integers among the items: one beside slices, or one (or a number) for each axis."""
    from .indexing import _view

    if any(isinstance(k, Const) and k.value is None for k in items):
        raise Unsupported("advanced-indexing", "new axes beside index arrays")
    items = _for_each_axis(items, a.rank)
    arrays = [k for k, x in enumerate(items) if isinstance(x, Array)]
    if any(items[k].dtype.kind not in "iu" or not items[k].rank for k in arrays):  # type: ignore[attr-defined]
        raise Unsupported("advanced-indexing", "an index of this kind beside others")
    if len(arrays) == 1 and all(isinstance(x, (SliceV, Array)) for x in items):
        (axis,) = arrays
        index = items[axis]
        assert isinstance(index, Array)
        layout = _layout(b, a, items, a.rank - 1 + index.rank)
        view = (
            a
            if all(_is_whole(x) for k, x in enumerate(items) if k != axis)
            else _view(b, a, [*items[:axis], WHOLE, *items[axis + 1 :]])
        )
        x = positions(b, b.read(index), b.dims(a)[axis])
        return _fresh(b, "take", layout, b.read(view), x, axis=axis)
    if any(isinstance(x, SliceV) for x in items):
        raise Unsupported("advanced-indexing", "index arrays beside slices")
    values = [b.read(x) if isinstance(x, Array) else b.value_of(x) for x in items]
    dims = b.broadcast_dims(*map(b.dims, values))
    layout = _layout(b, a, items, len(dims))
    places = [b.broadcast(positions(b, v, n), dims) for v, n in zip(values, b.dims(a))]
    return _fresh(b, "gather", layout, b.read(a), *places)


def _for_each_axis(items: Sequence[SymValue], rank: int) -> list[SymValue]:
    """The items with whole slices for what is not named."""
    dots = [k for k, x in enumerate(items) if isinstance(x, Const) and x.value is Ellipsis]
    missing = rank - len(items) + len(dots)
    if len(dots) > 1 or missing < 0:
        raise Unsupported("advanced-indexing", "too many indices")
    at = dots[0] if dots else len(items)
    return [*items[:at], *[WHOLE] * missing, *items[at + len(dots) :]]


def _is_whole(x: SymValue) -> bool:
    parts = (x.start, x.stop, x.step) if isinstance(x, SliceV) else ()
    return bool(parts) and all(isinstance(p, Const) and p.value is None for p in parts)


def _layout(b: Builder, a: Array, items: Sequence[SymValue], rank: int) -> Layout | None:
    """The axis order that NumPy gives the result; None: there is but one."""
    return None if rank < 2 else _asked(b, "operator.getitem", (a, TupleV(tuple(items))))[1]


def _asked(b: Builder, name: str, values: Sequence[SymValue]) -> tuple[np.dtype, Layout]:
    """Dtype and axis order of the array that a call gives, found out by trial."""
    operands = externs.Operands(b)
    found, _ = externs._guess(b, name, tuple(operands.template(v) for v in values), (), operands)
    if len(found.types) != 1 or found.result[0] != "out":
        raise Unsupported("advanced-indexing", "the result's axis order")
    return found.types[0][0], found.types[0][2]


def _fresh(b: Builder, prim: str, layout: Layout | None, *operands: Value, axis: int | None = None) -> Array:
    out = b.emit(prim, *operands) if axis is None else b.emit(prim, *operands, axis=axis)
    assert isinstance(out.type, TensorType)
    if layout is not None and [k == 0 for k in layout] != [d.const == 1 for d in out.type.dims]:
        raise Unsupported("advanced-indexing", "an axis of length 1")
    return b.array(out if layout in (None, out.type.layout) else b.emit("copy", out, layout=layout))


# ---------------------------------------------------------------------------------------------- take, choose


@rule(np.take)
@method("take", on="array")
def take(
    b: Builder, a: SymValue, indices: SymValue, axis: SymValue = NONE, out: SymValue = NONE, mode: SymValue = Const("raise")
) -> SymValue:
    """Elements along one axis, in C order."""
    array, how = b.force(a), args.static(b, mode)
    if not isinstance(array, Array) or not array.rank or args.given(out) or how not in ("raise", "wrap", "clip"):
        raise args.refuse("take")
    index = args.array_like(b, indices)
    x = b.value_of(index)
    v = b.read(array)
    if args.given(axis):
        at = args.one_axis(b, axis, array.rank)
    else:
        v, at = flat(b, v), 0
    n = b.dims(v)[at]
    if not b.dim_ge(n, 1):
        raise args.refuse("take from an axis without elements")
    dims = b.dims(x)
    x = positions(b, x, n, how)
    if not dims:
        x = b.broadcast(x, (Dim.of(1),))
    value = b.emit("take", v, x, axis=at)
    if not dims:
        value = b.emit("squeeze", value, axes=(at,))
    return args.finish(b, value)


@rule(np.choose)
@method("choose", on="array")
def choose(b: Builder, a: SymValue, choices: SymValue, out: SymValue = NONE, mode: SymValue = Const("raise")) -> SymValue:
    """For each element of `a` that of the array which it names."""
    index, parts, how = b.force(a), args.items(b, choices), args.static(b, mode)
    if not isinstance(index, Array) or parts is None or args.given(out) or how not in ("raise", "wrap", "clip"):
        raise args.refuse("choose")
    parts = tuple(map(b.force, parts))
    fits = all(isinstance(p, Array) or is_number(p) or isinstance(p, Scalar) for p in parts)
    if not 2 <= len(parts) <= MOST_CHOICES or not fits or index.dtype.kind not in "iub":
        raise args.refuse("choose")
    dtype, layout = _asked(b, "numpy.choose", (index, TupleV(parts)))
    x = positions(b, b.read(index), Dim.of(len(parts)), how, from_end=False)
    values = [b.value_of(p, dtype) for p in parts]
    dims = b.broadcast_dims(b.dims(x), *map(b.dims, values))
    x, *values = (b.broadcast(v, dims) for v in (x, *values))
    value = values[-1]
    for k in reversed(range(len(values) - 1)):
        value = b.emit("select", b.emit("eq", x, b.broadcast(b.const(k, INT64), dims)), values[k], value)
    assert isinstance(value.type, TensorType)
    if not dims or (len(dims) > 1 and [k == 0 for k in layout] != [d.const == 1 for d in dims]):
        raise args.refuse("choose of this shape")
    return b.array(value if value.type.layout == layout or len(dims) < 2 else b.emit("copy", value, layout=layout))


# ---------------------------------------------------------------------------------------------- compress, extract


@rule(np.compress)
def compress(b: Builder, condition: SymValue, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE) -> SymValue:
    """`a[condition]` where they have one shape."""
    mask, array = (args.array_like(b, v) for v in (condition, a))
    if not isinstance(array, Array) or not isinstance(mask, Array) or mask.rank != 1 or args.given(out):
        raise args.refuse("compress")
    if args.given(axis):
        args.one_axis(b, axis, array.rank)
        if array.rank != 1:
            raise args.refuse("compress along an axis")
    return pick(b, ravel(b, array, "C"), _as_mask(b, mask))


@method("compress", on="array")
def compress_method(b: Builder, self: Array, condition: SymValue, axis: SymValue = NONE, out: SymValue = NONE) -> SymValue:
    return compress(b, condition, self, axis, out)


@rule(np.extract)
def extract(b: Builder, condition: SymValue, arr: SymValue) -> SymValue:
    mask, array = (args.array_like(b, v) for v in (condition, arr))
    if not isinstance(array, Array) or not isinstance(mask, Array) or not array.rank or not mask.rank:
        raise args.refuse("extract")
    return pick(b, ravel(b, array, "C"), _as_mask(b, ravel(b, mask, "C")))


def _as_mask(b: Builder, a: Array) -> Array:
    return a if a.dtype == BOOL else b.array(b.convert(b.read(a), BOOL))
