"""Operations that CuPy itself executes inside a compiled segment: products of matrices, running totals, sorts, take.

In: symbolic arguments by CuPy's own signatures. Out: fresh arrays in C order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue, Tensor
from npcompile.ir.dims import Dim, product
from npcompile.ir.layout import is_c
from npcompile.ir.types import TensorType

from . import operands as o
from .registry import NONE, both, functions

_CALL = f"{__package__}.calls.function"


def call(b: Builder, name: str, arrays: Sequence[Tensor], dtype: np.dtype, dims: Sequence[Dim], **kwargs: object) -> Tensor:
    """The array that `cupy.name` gives for arrays in C order."""
    for x in arrays:
        if not is_c(b.facts.canon_type(x.array.type).layout):
            raise o.refuse("arrays that are not in C order")
    types: list[TensorType] = [o.type_of(dtype, dims)]
    (v,) = b.call_library(_CALL, *(b.read(x.array) for x in arrays), types=types, name=name, **kwargs)
    return o.fresh(b, v)


def _pair(b: Builder, x: SymValue, y: SymValue) -> tuple[Tensor, Tensor]:
    p, q = o.as_array(b, x), o.as_array(b, y)
    if p.dtype != q.dtype or p.dtype not in (o.FLOAT32, o.FLOAT64) or not p.rank or not q.rank:
        raise o.refuse("a product of these arrays")
    return p, q


def matmul(b: Builder, x: SymValue, y: SymValue) -> Tensor:
    """`x @ y`; batch axes broadcast."""
    p, q = _pair(b, x, y)
    m, n = b.dims(p.array), b.dims(q.array)
    if not b.dim_is(m[-1], n[-2 if q.rank > 1 else 0]):
        raise o.refuse("shapes that do not match")
    dims = (*b.broadcast_dims(m[:-2], n[:-2]), *m[-2:-1], *(n[-1:] if q.rank > 1 else ()))
    if any(not b.dim_ge(d, 1) for d in (*m, *n)):
        raise o.refuse("a product without elements")
    return call(b, "matmul", [p, q], p.dtype, dims)


@functions("matmul")
def matmul_function(b: Builder, a: SymValue, b_: SymValue, out: SymValue = NONE) -> SymValue:
    o.none(b, out)
    return matmul(b, a, b_)


@both("dot")
def dot(b: Builder, a: SymValue, b_: SymValue, out: SymValue = NONE) -> SymValue:
    o.none(b, out)
    p, q = _pair(b, a, b_)
    if p.rank > 2 or q.rank > 2:
        raise o.refuse("dot of more than two axes")
    return matmul(b, p, q)


# ---------------------------------------------------------------------------------------------- along an axis


def _axis(b: Builder, x: Tensor, axis: SymValue) -> int:
    d = o.integer(b, axis)
    if not -x.rank <= d < x.rank:
        raise o.refuse(f"axis {d}")
    return d % x.rank


def _register_running(name: str) -> None:
    def rule(b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE) -> SymValue:
        o.none(b, out, dtype)
        x = o.as_array(b, a)
        dt = o.INT64 if x.dtype.kind in "bi" else np.dtype(np.uint64) if x.dtype.kind == "u" else x.dtype
        if not x.rank:
            raise o.refuse(f"{name} of an array without axes")
        if not o.given(b.force(axis)):
            return call(b, name, [x], dt, (product(b.dims(x.array)),))
        return call(b, name, [x], dt, b.dims(x.array), axis=_axis(b, x, axis))

    both(name)(rule)


_register_running("cumsum")
_register_running("cumprod")


@functions("sort")
def sort(b: Builder, a: SymValue, axis: SymValue = Const(-1)) -> SymValue:
    x = o.as_array(b, a)
    return call(b, "sort", [x], x.dtype, b.dims(x.array), axis=_axis(b, x, axis))


@both("argsort")
def argsort(b: Builder, a: SymValue, axis: SymValue = Const(-1)) -> SymValue:
    x = o.as_array(b, a)
    return call(b, "argsort", [x], o.INT64, b.dims(x.array), axis=_axis(b, x, axis))


@both("take")
def take(b: Builder, a: SymValue, indices: SymValue, axis: SymValue = NONE, out: SymValue = NONE) -> SymValue:
    o.none(b, out)
    x, i = o.as_array(b, a), o.as_array(b, indices)
    if i.dtype.kind not in "iu" or not x.rank or not i.rank or not o.given(b.force(axis)):
        raise o.refuse("take of these arrays")
    at, dims = _axis(b, x, axis), b.dims(x.array)
    return call(b, "take", [x, i], x.dtype, (*dims[:at], *b.dims(i.array), *dims[at + 1 :]), axis=at)


__all__ = ["matmul"]
