"""New arrays of CuPy: zeros, ones, empty, full and their _like forms, arange of integers.

In: symbolic arguments by CuPy's own signatures. Out: fresh arrays on the current device.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue, Tensor
from npcompile.ir.dims import Dim
from npcompile.ir.layout import Layout, c_layout, keep_order

from . import library
from . import operands as o
from .registry import NONE, functions


def _new(b: Builder, dims: tuple[Dim, ...], number: SymValue, dtype: np.dtype, layout: Layout | None = None) -> Tensor:
    b.use_device(library.current_device())
    v = o.value(b, number, dtype)
    return o.fresh(b, b.emit("full", v, dims=dims) if dims else v, layout)


def _c_order(b: Builder, order: SymValue, allowed: str = "C") -> None:
    if o.static(b, order) not in tuple(allowed):
        raise o.refuse("another order")


def _register(name: str, number: int) -> None:
    def make(b: Builder, shape: SymValue, dtype: SymValue = Const(float), order: SymValue = Const("C")) -> SymValue:
        _c_order(b, order)
        return _new(b, o.shape(b, (shape,)), Const(number), o.as_dtype(b, dtype) or o.FLOAT64)

    def like(
        b: Builder, a: SymValue, dtype: SymValue = NONE, order: SymValue = Const("K"), subok: SymValue = NONE,
        shape: SymValue = NONE,
    ) -> SymValue:  # fmt: skip
        o.none(b, subok, shape)
        _c_order(b, order, "K")
        x = o.as_array(b, a)
        return _new(b, b.dims(x.array), Const(number), o.as_dtype(b, dtype) or x.dtype, _kept(b, x))

    functions(name)(make)
    functions(f"{name}_like")(like)


def _kept(b: Builder, x: Tensor) -> Layout:
    dims = b.dims(x.array)
    for d in dims if len(dims) > 1 else ():
        b.dim_is(d, 1)
    return keep_order(b.facts.canon_type(x.array.type).layout, b.dims(x.array))


for _name, _number in {"zeros": 0, "ones": 1, "empty": 0}.items():
    _register(_name, _number)


@functions("full")
def full(b: Builder, shape: SymValue, fill_value: SymValue, dtype: SymValue = NONE, order: SymValue = Const("C")) -> SymValue:
    _c_order(b, order)
    kind = o.number_type(b.force(fill_value))
    own = {bool: o.BOOL, int: o.INT64, float: o.FLOAT64}.get(kind)  # type: ignore[arg-type]
    dt = o.as_dtype(b, dtype) or own
    if own is None or dt is None or (dt.kind in "iub" and kind is not int and dt != own):
        raise o.refuse("this fill value")
    return _new(b, o.shape(b, (shape,)), b.force(fill_value), dt)


@functions("full_like")
def full_like(b: Builder, a: SymValue, fill_value: SymValue, dtype: SymValue = NONE) -> SymValue:
    x = o.as_array(b, a)
    kind, dt = o.number_type(b.force(fill_value)), o.as_dtype(b, dtype) or x.dtype
    if kind is None or (dt.kind in "iub" and kind is not int):
        raise o.refuse("this fill value")
    return _new(b, b.dims(x.array), b.force(fill_value), dt, _kept(b, x))


@functions("arange")
def arange(b: Builder, start: SymValue, stop: SymValue = NONE, step: SymValue = Const(1), dtype: SymValue = NONE) -> SymValue:
    """Of integers: element i is start + i*step."""
    if any(o.number_type(b.force(v)) is float for v in (start, stop, step)) or not o.given(b.force(step)):
        raise o.refuse("arange of floats")
    first, last = (Dim(), _dim(b, start)) if not o.given(b.force(stop)) else (_dim(b, start), _dim(b, stop))
    by = o.integer(b, step)
    if by < 1 or not b.dim_ge(last, first):
        raise o.refuse("arange with this step or an empty range")
    dt = o.as_dtype(b, dtype) or o.INT64
    if dt != o.INT64 and not (dt.kind == "f" and dt.itemsize == 8):
        raise o.refuse(f"arange of {dt}")
    b.use_device(library.current_device())
    n = b.facts.canon((last - first + (by - 1)) // by)
    index = b.emit("iota", dims=(n,), axis=0, dtype=o.INT64, layout=c_layout((n,)))
    scaled = b.emit("mul", index, b.broadcast(b.const(by, o.INT64), (n,)))
    return o.fresh(b, o.convert(b, b.emit("add", scaled, b.broadcast(b.dim_value(first), (n,))), dt))


def _dim(b: Builder, v: SymValue) -> Dim:
    (d,) = _dims(b, v)
    return d


def _dims(b: Builder, v: SymValue) -> tuple[Dim, ...]:
    from npcompile.frontends.torch.arguments import dim

    return (dim(b, v),)
