"""Shapes of CuPy's arrays: attributes, views, copies and casts, joining.

In: symbolic arguments by CuPy's own signatures. Out: constants and sizes; arrays that share the storage; copies where CuPy makes
them.
"""

from __future__ import annotations

import functools

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import contiguity as flat
from npcompile.frontends.numpy.shaping import new_dims
from npcompile.frontends.values import Const, Scalar, SymValue, Tensor, TupleV
from npcompile.ir.dims import Dim
from npcompile.ir.layout import is_c, keep_order

from . import operands as o
from .registry import NONE, attribute, both, functions, method

TRUE = Const(True)


def _int(b: Builder, d: Dim) -> SymValue:
    d = b.facts.canon(d)
    return Const(d.const) if d.const is not None else Scalar("python", o.INT64, dim=d)


@attribute("shape")
def shape(b: Builder, self: Tensor) -> SymValue:
    return TupleV(tuple(_int(b, d) for d in b.dims(self.array)))


@attribute("ndim")
def ndim(b: Builder, self: Tensor) -> SymValue:
    return Const(self.rank)


@attribute("size")
def size(b: Builder, self: Tensor) -> SymValue:
    return _int(b, o.size(b, self))


@attribute("dtype")
def dtype(b: Builder, self: Tensor) -> SymValue:
    return Const(self.dtype)


@attribute("itemsize")
def itemsize(b: Builder, self: Tensor) -> SymValue:
    return Const(self.dtype.itemsize)


@attribute("nbytes")
def nbytes(b: Builder, self: Tensor) -> SymValue:
    return _int(b, o.size(b, self) * self.dtype.itemsize)


@method("__len__")
def length(b: Builder, self: Tensor) -> SymValue:
    if not self.rank:
        raise o.refuse("len() of an array without axes")
    return _int(b, b.dims(self.array)[0])


@method("item")
def item(b: Builder, self: Tensor) -> SymValue:
    """The one element as a Python number."""
    v = b.read(self.array)
    if not all(b.dim_is(d, 1) for d in b.dims(v)):
        raise o.refuse("item of several elements")
    if b.dims(v):
        v = b.emit("squeeze", v, axes=tuple(range(len(b.dims(v)))))
    return b.scalar(o.convert(b, v, np.dtype({"b": "?", "i": "q", "f": "d"}.get(self.dtype.kind, "Q"))), "python")


# ---------------------------------------------------------------------------------------------- views


def _view(b: Builder, x: Tensor, prim: str, **params: object) -> Tensor:
    return Tensor(b.view(x.array, prim, **params))


def _order(b: Builder, order: SymValue) -> None:
    if o.static(b, order) != "C":
        raise o.refuse("another order than C")


def _reshaped(b: Builder, x: Tensor, parts: tuple[SymValue, ...]) -> Tensor:
    return Tensor(flat.reshape(b, x.array, new_dims(b, o.variadic(b, parts), o.size(b, x)), "C"))


@method("reshape")
def reshape_method(b: Builder, self: Tensor, *shape: SymValue, order: SymValue = Const("C"), copy: SymValue = NONE) -> SymValue:
    o.none(b, copy)
    _order(b, order)
    return _reshaped(b, self, shape)


@functions("reshape")
def reshape(b: Builder, a: SymValue, newshape: SymValue, order: SymValue = Const("C"), *, copy: SymValue = NONE) -> SymValue:
    o.none(b, copy)
    _order(b, order)
    return _reshaped(b, o.as_array(b, a), (newshape,))


@both("ravel")
def ravel(b: Builder, a: SymValue, order: SymValue = Const("C")) -> SymValue:
    _order(b, order)
    return _reshaped(b, o.as_array(b, a), (Const(-1),))


def _permuted(b: Builder, x: Tensor, axes: tuple[SymValue, ...]) -> Tensor:
    given = [v for v in axes if o.given(b.force(v))]
    perm = tuple(int(d) % max(x.rank, 1) for d in (o.integer(b, v) for v in o.variadic(b, tuple(given)))) if given else ()
    perm = perm or tuple(range(x.rank))[::-1]
    if sorted(perm) != list(range(x.rank)):
        raise o.refuse("transpose")
    return _view(b, x, "transpose", perm=perm) if x.rank > 1 else Tensor(flat.new_view(b, x.array))


@attribute("T")
def transposed(b: Builder, self: Tensor) -> SymValue:
    return self if self.rank < 2 else _permuted(b, self, ())


@method("transpose")
def transpose_method(b: Builder, self: Tensor, *axes: SymValue) -> SymValue:
    return _permuted(b, self, axes)


@functions("transpose")
def transpose(b: Builder, a: SymValue, axes: SymValue = NONE) -> SymValue:
    return _permuted(b, o.as_array(b, a), (axes,))


@both("swapaxes")
def swapaxes(b: Builder, a: SymValue, axis1: SymValue, axis2: SymValue) -> SymValue:
    x = o.as_array(b, a)
    i, j = (_axis(b, v, x.rank) for v in (axis1, axis2))
    perm = list(range(x.rank))
    perm[i], perm[j] = perm[j], perm[i]
    return _view(b, x, "transpose", perm=tuple(perm))


def _axis(b: Builder, v: SymValue, rank: int) -> int:
    d = o.integer(b, v)
    if not -rank <= d < rank:
        raise o.refuse(f"axis {d} of rank {rank}")
    return d % rank


@functions("moveaxis")
def moveaxis(b: Builder, a: SymValue, source: SymValue, destination: SymValue) -> SymValue:
    x = o.as_array(b, a)
    start, end = _axis(b, source, x.rank), _axis(b, destination, x.rank)
    perm = [k for k in range(x.rank) if k != start]
    perm.insert(end, start)
    return _view(b, x, "transpose", perm=tuple(perm))


@functions("expand_dims")
def expand_dims(b: Builder, a: SymValue, axis: SymValue) -> SymValue:
    x = o.as_array(b, a)
    return _view(b, x, "expand", axes=(_axis(b, axis, x.rank + 1),))


@both("squeeze")
def squeeze(b: Builder, a: SymValue, axis: SymValue = NONE) -> SymValue:
    x = o.as_array(b, a)
    at = o.static(b, axis)
    chosen = range(x.rank) if at is None else [_axis(b, Const(d), x.rank) for d in (at if isinstance(at, tuple) else (at,))]
    gone = tuple(k for k in chosen if b.dim_is(x.dims[k], 1))
    if at is not None and len(gone) != len(list(chosen)):
        raise o.refuse("an axis that is not of length 1")
    return _view(b, x, "squeeze", axes=gone) if gone else Tensor(flat.new_view(b, x.array))


@functions("broadcast_to")
def broadcast_to(b: Builder, array: SymValue, shape: SymValue) -> SymValue:
    x, want = o.as_array(b, array), o.shape(b, (shape,))
    if not o.same_dims(b, b.broadcast_dims(b.dims(x.array), want), want):
        raise o.refuse("a shape that the array does not broadcast to")
    return x if o.same_dims(b, b.dims(x.array), want) else _view(b, x, "broadcast", dims=want)


# ---------------------------------------------------------------------------------------------- copies


def copied(b: Builder, x: Tensor, dtype: np.dtype, order: str = "K") -> Tensor:
    """A copy in another dtype or the same."""
    v = o.convert(b, b.read(x.array), dtype)
    if order == "C":
        return o.fresh(b, v)
    for d in b.dims(v) if len(b.dims(v)) > 1 else ():
        b.dim_is(d, 1)
    return o.fresh(b, v, keep_order(b.facts.canon_type(x.array.type).layout, b.dims(v)))


def _order_of(b: Builder, order: SymValue) -> str:
    how = o.static(b, order)
    if how not in ("C", "K"):
        raise o.refuse(f"order {how!r}")
    return str(how)


@method("astype")
def astype(
    b: Builder, self: Tensor, dtype: SymValue, order: SymValue = Const("K"), casting: SymValue = NONE, subok: SymValue = NONE,
    copy: SymValue = TRUE,
) -> SymValue:  # fmt: skip
    o.none(b, casting, subok)
    dt, how = o.as_dtype(b, dtype), _order_of(b, order)
    if dt is None:
        raise o.refuse("astype(None)")
    if not o.flag(b, copy) and dt == self.dtype and how == "K":
        return self
    return copied(b, self, dt, how)


@method("copy")
def copy_method(b: Builder, self: Tensor, order: SymValue = Const("C")) -> SymValue:
    return copied(b, self, self.dtype, _order_of(b, order))


@functions("copy")
def copy(b: Builder, a: SymValue, order: SymValue = Const("K")) -> SymValue:
    x = o.as_array(b, a)
    return copied(b, x, x.dtype, _order_of(b, order))


@method("flatten")
def flatten(b: Builder, self: Tensor, order: SymValue = Const("C")) -> SymValue:
    _order(b, order)
    return o.fresh(b, flat.flat(b, b.read(self.array)) if self.rank else b.emit("expand", b.read(self.array), axes=(0,)))


@functions("ascontiguousarray")
def ascontiguousarray(b: Builder, a: SymValue, dtype: SymValue = NONE) -> SymValue:
    x = o.as_array(b, a)
    o.none(b, dtype)
    if not x.rank:
        raise o.refuse("an array without axes")
    return x if flat.is_contiguous(b, x.array, "C") else copied(b, x, x.dtype, "C")


@method("fill")
def fill(b: Builder, self: Tensor, value: SymValue) -> SymValue:
    from .indexing import stored

    b.store(self.array, stored(b, self, value))
    return NONE


# ---------------------------------------------------------------------------------------------- joining


def _parts(b: Builder, tup: SymValue) -> list[Tensor]:
    found = o.items(b, tup)
    if not found:
        raise o.refuse("a sequence of arrays is needed")
    return [o.as_array(b, v) for v in found]


def _joined(b: Builder, parts: list[Tensor], axis: int, new: bool) -> Tensor:
    dt = functools.reduce(np.promote_types, [x.dtype for x in parts])
    values = [b.read(x.array) for x in parts]
    if new:
        values = [b.emit("expand", v, axes=(axis,)) for v in values]
    first = b.dims(values[0])
    fitted = []
    for v, x in zip(values, parts, strict=True):
        dims = b.dims(v)
        if len(dims) != len(first) or not all(k == axis or b.dim_is(p, q) for k, (p, q) in enumerate(zip(dims, first))):
            raise o.refuse("arrays of different shapes")
        if len(dims) > 1 and not is_c(b.facts.canon_type(x.array.type).layout):
            raise o.refuse("arrays that are not in C order")
        fitted.append(o.convert(b, b.broadcast(v, tuple(d if k == axis else f for k, (d, f) in enumerate(zip(dims, first)))), dt))
    return o.fresh(b, b.emit("concat", *fitted, axis=axis))


@functions("concatenate")
def concatenate(
    b: Builder, tup: SymValue, axis: SymValue = Const(0), out: SymValue = NONE, *, dtype: SymValue = NONE
) -> SymValue:
    o.none(b, out, dtype)
    parts = _parts(b, tup)
    return _joined(b, parts, _axis(b, axis, parts[0].rank), False)


@functions("stack")
def stack(b: Builder, tup: SymValue, axis: SymValue = Const(0), out: SymValue = NONE, *, dtype: SymValue = NONE) -> SymValue:
    o.none(b, out, dtype)
    parts = _parts(b, tup)
    if len({x.rank for x in parts}) != 1:
        raise o.refuse("arrays of different ranks")
    return _joined(b, parts, _axis(b, axis, parts[0].rank + 1), True)


__all__ = ["copied"]
