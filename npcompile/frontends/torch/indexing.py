"""Indexing of tensors, get and set: views, elements, stores under a mask, rows chosen by an index tensor.

In: a tensor and a symbolic key. Out: views (an element is a view without axes), stores. The bounds are NumPy's rules' matter;
what differs in torch (no negative steps, no booleans, casts, overlapping stores) is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import indexing as numpy_indexing
from npcompile.frontends.values import Array, Const, ListV, Scalar, SliceV, SymValue, Tensor, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType

from . import arguments as args
from . import called, results
from .conversion import filled
from .promotion import BOOL, INT64, as_operand, as_tensor, convert, refuse
from .registry import both


def getitem(b: Builder, x: Tensor, key: SymValue) -> SymValue:
    """`x[key]`."""
    items = _items(b, key)
    at = _index_tensor(items)
    if at is not None:
        if len(items) == 1:
            return rows(b, x, at, 0, keep=True)
        return called.items(b, x, _of_axes(x, items), [k for k in items if isinstance(k, Tensor)])
    return Tensor(numpy_indexing.getitem(b, x.array, _basic(items)))  # type: ignore[arg-type]


def setitem(b: Builder, x: Tensor, key: SymValue, value: SymValue) -> None:
    """`x[key] = value`."""
    items, value = _items(b, key), as_operand(b, value)
    at = _index_tensor(items)
    if at is not None:
        if len(items) != 1 or at.dtype != BOOL:
            raise Unsupported("advanced-indexing", "a store through an index tensor")
        v = filled(b, value, x.dtype)
        dims = b.dims(x.array)
        if at.rank == 0 or at.rank > len(dims) or not all(b.dim_is(m, d) for m, d in zip(b.dims(at.array), dims)):
            raise refuse("the mask has another shape than the tensor")
        mask = b.read(at.array)
        if at.rank < len(dims):
            mask = b.emit("expand", mask, axes=tuple(range(at.rank, len(dims))))
        kept = [b.broadcast(y, dims) for y in (mask, v, b.read(x.array))]
        results.store(b, x, b.emit("select", *kept), [at])
        return
    if not isinstance(value, Tensor):
        v = filled(b, value, x.dtype)
        if b.device == "cpu" and len(items) == x.rank and all(map(_is_integer, items)):
            numpy_indexing.setitem(b, x.array, _basic(items), b.scalar(v))
            return
        _store(b, x, items, v, [])
        return
    if value.dtype.kind == "c" or x.dtype.kind == "c":
        raise refuse("a complex cast")
    _store(b, x, items, convert(b, b.read(value.array), x.dtype), [value])


def _store(b: Builder, x: Tensor, items: Sequence[SymValue], v: Value, operands: Sequence[SymValue]) -> None:
    target = numpy_indexing.getitem(b, x.array, _basic(items))
    assert isinstance(target, Array)
    lead = len(b.dims(v)) - target.rank
    if lead > 0:  # leading axes of length 1 that are too many are dropped
        if not all(b.dim_is(d, 1) for d in b.dims(v)[:lead]):
            raise Unsupported("shape-mismatch", "too many axes")
        v = b.emit("squeeze", v, axes=tuple(range(lead)))
    results.store(b, Tensor(target), v, operands)


def _items(b: Builder, key: SymValue) -> list[SymValue]:
    key = b.force(key)
    if isinstance(key, Const) and isinstance(key.value, tuple):
        return [_item(b, Const(k)) for k in key.value]
    if isinstance(key, TupleV):
        return [_item(b, k) for k in key.items]
    return [_item(b, key)]


def _item(b: Builder, k: SymValue) -> SymValue:
    k = b.force(k)
    if isinstance(k, Const):
        if isinstance(k.value, slice):
            k = SliceV(Const(k.value.start), Const(k.value.stop), Const(k.value.step))
        elif k.value is None or k.value is Ellipsis or type(k.value) is int:
            return k
        else:
            raise Unsupported("advanced-indexing", f"an index of {type(k.value).__name__}")
    if isinstance(k, SliceV):
        step = b.static(k.step)
        if step is not None and (type(step) is not int or step < 1):
            raise refuse("a slice step that is not positive")
        return k
    if isinstance(k, Tensor) and k.dtype.kind in "bi":
        if not k.rank and k.dtype.kind == "i":
            raise Unsupported("advanced-indexing", "a tensor without axes as index")
        return k
    if isinstance(k, Scalar) and k.kind == "python" and k.dtype.kind == "i":
        return k
    if isinstance(k, ListV):
        raise Unsupported("advanced-indexing", "a list as index")
    raise Unsupported("advanced-indexing", f"an index of {type(k).__name__}")


def _is_integer(k: SymValue) -> bool:
    return isinstance(k, Scalar) or (isinstance(k, Const) and type(k.value) is int)


def _index_tensor(items: Sequence[SymValue]) -> Tensor | None:
    return next((k for k in items if isinstance(k, Tensor)), None)


def _of_axes(x: Tensor, items: Sequence[SymValue]) -> list[SymValue]:
    """A key of index tensors and slices of whole axes, one item for each axis."""
    whole = SliceV(Const(None), Const(None), Const(None))
    dots = [k for k, v in enumerate(items) if isinstance(v, Const) and v.value is Ellipsis]
    missing = x.rank - len(items) + len(dots)
    if len(dots) > 1 or missing < 0:
        raise refuse("an index of too many axes")
    at = dots[0] if dots else len(items)
    out = [*items[:at], *[whole] * missing, *items[at + len(dots) :]]
    for k in out:
        plain = isinstance(k, SliceV) and all(isinstance(v, Const) and v.value is None for v in (k.start, k.stop, k.step))
        if not plain and not isinstance(k, Tensor):
            raise Unsupported("advanced-indexing", "index tensors beside other indices than whole axes")
    return out


def _basic(items: Sequence[SymValue]) -> TupleV:
    """A key that always gives a view in NumPy's rules, also for one element."""
    ellipsis = any(isinstance(k, Const) and k.value is Ellipsis for k in items)
    return TupleV(tuple(items) if ellipsis else (*items, Const(Ellipsis)))


# ---------------------------------------------------------------------------------------------- rows


def rows(b: Builder, x: Tensor, index: Tensor, axis: int, wrap: bool = True, keep: bool = False) -> Tensor:
    """Elements along one axis chosen by a tensor of integers.

    wrap : negative integers count from the end. keep : the other axes (the first is the one chosen from) keep their order.
    """
    if index.dtype.kind != "i" or not x.rank:
        raise Unsupported("advanced-indexing", "a size that depends on values")
    n = b.dims(x.array)[axis]
    i = convert(b, b.read(index.array), INT64)
    dims = b.dims(i)
    size, zero = (b.broadcast(b.dim_value(d), dims) for d in (n, Dim()))
    if wrap:
        i = b.emit("select", b.emit("lt", i, zero), b.emit("add", i, size), i)
    bad = b.emit("logical_or", b.emit("lt", i, zero), b.emit("ge", i, size))
    b.exit_if(b.emit("reduce", bad, op="any", axes=tuple(range(len(dims)))), "index-range")
    v = b.read(x.array)
    out = b.emit("take", v, i, axis=axis)
    if not keep:
        return results.fresh(b, out)
    assert isinstance(v.type, TensorType) and isinstance(i.type, TensorType)
    layouts = [(0,) * len(dims) + v.type.layout[1:], i.type.layout + (0,) * (x.rank - 1)]
    return results.fresh(b, out, results.order_of(b, layouts, b.dims(out)))


@both("index_select")
def index_select(b: Builder, input: SymValue, dim: SymValue, index: SymValue) -> SymValue:
    x, i = as_tensor(b, input), as_tensor(b, index)
    if i.rank != 1:
        raise refuse("an index that is not one-dimensional")
    return rows(b, x, i, args.axis(b, dim, x.rank), wrap=False)


__all__ = ["getitem", "rows", "setitem"]
