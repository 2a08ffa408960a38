"""Indexing of CuPy's arrays, get and set: views (an element is a view without axes), rows by CuPy itself, stores, masked stores.

In: an array and a symbolic key. Out: views, stores. The bounds are NumPy's rules' matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import indexing as numpy_indexing
from npcompile.frontends.values import Array, Const, Scalar, SliceV, SymValue, Tensor, TupleV, Unsupported
from npcompile.ir.graph import Value

from . import operands as o
from . import products


def getitem(b: Builder, x: Tensor, key: SymValue) -> SymValue:
    """`x[key]`."""
    items = _items(b, key)
    places = [k for k, v in enumerate(items) if isinstance(v, Tensor)]
    if not places:
        return Tensor(_view(b, x, items))
    if len(places) > 1 or places[0] != len(items) - 1 or not all(_is_whole(b, v) for v in items[:-1]):
        raise Unsupported("advanced-indexing", "an index array beside other indices than whole axes")
    return products.take(b, x, items[-1], Const(places[0]))


def _is_whole(b: Builder, v: SymValue) -> bool:
    """Is an index `:`?"""
    return isinstance(v, SliceV) and not any(o.given(b.force(p)) for p in (v.start, v.stop, v.step))


def setitem(b: Builder, x: Tensor, key: SymValue, value: SymValue) -> None:
    """`x[key] = value`."""
    key = b.force(key)
    if isinstance(key, Tensor):
        _set_masked(b, x, key, value)
        return
    items = _items(b, key)
    if any(isinstance(v, Tensor) for v in items):
        raise Unsupported("advanced-indexing", "a store through index arrays")
    target = Tensor(_view(b, x, items))
    v = stored(b, target, value)
    lead = len(b.dims(v)) - target.rank
    if lead > 0:  # leading axes of length 1 that are too many are dropped
        if not all(b.dim_is(d, 1) for d in b.dims(v)[:lead]):
            raise Unsupported("shape-mismatch", "too many axes")
        v = b.emit("squeeze", v, axes=tuple(range(lead)))
    if not o.same_dims(b, b.broadcast_dims(b.dims(v), b.dims(target.array)), b.dims(target.array)):
        raise Unsupported("shape-mismatch", "the value does not broadcast to the target")
    b.store(target.array, v)


def _set_masked(b: Builder, x: Tensor, mask: Tensor, value: SymValue) -> None:
    number = b.force(value)
    if mask.dtype != o.BOOL or o.number_type(number) is None or not o.same_dims(b, b.dims(mask.array), b.dims(x.array)):
        raise Unsupported("advanced-indexing", "a store through index arrays")
    b.store(x.array, b.broadcast(stored(b, x, number), b.dims(x.array)), b.read(mask.array))


def stored(b: Builder, target: Tensor, value: SymValue) -> Value:
    """A value in the target's dtype, cast as CuPy casts on stores."""
    v = o.as_operand(b, value)
    if isinstance(v, Tensor):
        return o.convert(b, b.read(v.array), target.dtype)
    kind = o.number_type(v)
    if target.dtype.kind in "iu" and kind is float:
        raise o.refuse("a float into integers")
    if isinstance(v, Const) and target.dtype.kind == "f" and kind is float:
        top = float(np.finfo(target.dtype).max)
        if np.isfinite(v.value) and abs(v.value) > top:
            raise o.refuse("a float beyond the dtype")
    return o.value(b, v, target.dtype)


def _view(b: Builder, x: Tensor, items: Sequence[SymValue]) -> Array:
    """By a key that always gives a view in NumPy's rules, also for one element."""
    ellipsis = any(isinstance(k, Const) and k.value is Ellipsis for k in items)
    out = numpy_indexing.getitem(b, x.array, TupleV(tuple(items) if ellipsis else (*items, Const(Ellipsis))))
    assert isinstance(out, Array)
    return out


def _items(b: Builder, key: SymValue) -> list[SymValue]:
    key = b.force(key)
    if isinstance(key, Const) and isinstance(key.value, tuple):
        return [_item(b, Const(k)) for k in key.value]
    return [_item(b, k) for k in (key.items if isinstance(key, TupleV) else (key,))]


def _item(b: Builder, k: SymValue) -> SymValue:
    k = b.force(k)
    if isinstance(k, Const) and isinstance(k.value, slice):
        return SliceV(Const(k.value.start), Const(k.value.stop), Const(k.value.step))
    if isinstance(k, Tensor):
        if k.dtype.kind not in "iu":
            raise Unsupported("data-dependent-shape", "elements chosen by a mask")
        return k
    known = isinstance(k, Const) and (k.value is None or k.value is Ellipsis or type(k.value) is int)
    if known or isinstance(k, SliceV) or (isinstance(k, Scalar) and k.kind == "python" and k.dtype.kind == "i"):
        return k
    raise Unsupported("advanced-indexing", f"an index of {type(k).__name__}")


__all__ = ["getitem", "setitem", "stored"]
