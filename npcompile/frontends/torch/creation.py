"""New tensors: zeros, ones, full, empty and their _like and new_ forms, arange, eye.

In: symbolic arguments by torch's own signatures. Out: fresh tensors on the CPU.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, Scalar, SymValue, Tensor
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout

from . import arguments as args
from . import library, results
from .conversion import filled
from .promotion import INT64, as_operand, as_tensor, convert, dtype_of, refuse
from .registry import FALSE, NONE, functions, method


def _check(
    b: Builder, layout: SymValue, device: SymValue, requires_grad: SymValue, memory_format: SymValue = NONE, like: bool = False
) -> None:
    """Options of new tensors; `like` : made on the device of another tensor unless one is given."""
    args.here(b, device, None if like else "cpu")
    if args.static(b, layout) not in (None, library.module().strided) or args.flag(b, requires_grad):
        raise refuse("layout or requires_grad")
    if args.static(b, memory_format) not in (None, library.module().preserve_format):
        raise refuse("memory_format")


def _full(b: Builder, dims: tuple[Dim, ...], value: Value, layout: tuple[int, ...] | None = None) -> Tensor:
    out = b.emit("full", value, dims=dims) if dims else value
    return results.fresh(b, out, layout)


def _new(b: Builder, dims: tuple[Dim, ...], number: int, dtype: np.dtype) -> Tensor:
    return _full(b, dims, b.const(number, dtype))


def _register(name: str, number: int) -> None:
    def make(
        b: Builder, *size: SymValue, dtype: SymValue = NONE, layout: SymValue = NONE, device: SymValue = NONE,
        requires_grad: SymValue = FALSE,
    ) -> SymValue:  # fmt: skip
        _check(b, layout, device, requires_grad)
        return _new(b, args.shape(b, size), number, args.dtype(b, dtype) or b.default_dtype_hook())

    def like(
        b: Builder, input: SymValue, *, dtype: SymValue = NONE, layout: SymValue = NONE, device: SymValue = NONE,
        requires_grad: SymValue = FALSE, memory_format: SymValue = NONE,
    ) -> SymValue:  # fmt: skip
        _check(b, layout, device, requires_grad, memory_format, like=True)
        x = as_tensor(b, input)
        dt = args.dtype(b, dtype) or x.dtype
        return _full(b, b.dims(x.array), b.const(number, dt), results.kept_order(b, x))

    def new(
        b: Builder, self: Tensor, *size: SymValue, dtype: SymValue = NONE, device: SymValue = NONE, layout: SymValue = NONE,
        requires_grad: SymValue = FALSE,
    ) -> SymValue:  # fmt: skip
        _check(b, layout, device, requires_grad, like=True)
        return _new(b, args.shape(b, size), number, args.dtype(b, dtype) or self.dtype)

    functions(name)(make)
    functions(f"{name}_like")(like)
    method(f"new_{name}")(new)


for _name, _number in {"zeros": 0, "ones": 1, "empty": 0}.items():
    _register(_name, _number)


def _value(b: Builder, v: SymValue, dtype: np.dtype | None) -> Value:
    """A fill value in its own dtype, or in one given."""
    v = as_operand(b, v)
    if isinstance(v, Tensor):
        raise refuse("a tensor as fill value")
    own = dtype_of(v)
    if own.kind == "c":
        raise refuse("a complex fill value")
    return filled(b, v, dtype or (b.default_dtype_hook() if own.kind == "f" else own))


@functions("full")
def full(
    b: Builder, size: SymValue, fill_value: SymValue, *, dtype: SymValue = NONE, layout: SymValue = NONE,
    device: SymValue = NONE, requires_grad: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    _check(b, layout, device, requires_grad)
    return _full(b, args.shape(b, (size,)), _value(b, fill_value, args.dtype(b, dtype)))


@functions("full_like")
def full_like(
    b: Builder, input: SymValue, fill_value: SymValue, *, dtype: SymValue = NONE, layout: SymValue = NONE,
    device: SymValue = NONE, requires_grad: SymValue = FALSE, memory_format: SymValue = NONE,
) -> SymValue:  # fmt: skip
    _check(b, layout, device, requires_grad, memory_format, like=True)
    x = as_tensor(b, input)
    return _full(b, b.dims(x.array), _value(b, fill_value, args.dtype(b, dtype) or x.dtype), results.kept_order(b, x))


@method("new_full")
def new_full(
    b: Builder, self: Tensor, size: SymValue, fill_value: SymValue, *, dtype: SymValue = NONE, device: SymValue = NONE,
    layout: SymValue = NONE, requires_grad: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    _check(b, layout, device, requires_grad, like=True)
    return _full(b, args.shape(b, (size,)), _value(b, fill_value, args.dtype(b, dtype) or self.dtype))


@functions("arange")
def arange(
    b: Builder, *bounds: SymValue, dtype: SymValue = NONE, layout: SymValue = NONE, device: SymValue = NONE,
    requires_grad: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    """Of integers: element i is start + i*step."""
    _check(b, layout, device, requires_grad)
    if not 1 <= len(bounds) <= 3 or any(not isinstance(b.force(x), (Const, Scalar)) for x in bounds):
        raise refuse("arange")
    start, stop, step = (Dim(), args.dim(b, bounds[0]), Dim.of(1))
    if len(bounds) > 1:
        start, stop = args.dim(b, bounds[0]), args.dim(b, bounds[1])
    if len(bounds) > 2:
        step = args.dim(b, bounds[2])
    if step.const is None or step.const < 1 or not b.dim_ge(stop, start):
        raise refuse("arange with this step or an empty range")
    dt = args.dtype(b, dtype) or INT64
    if dt != INT64 and dt.kind != "f":
        raise refuse(f"arange of {dt}")
    n = b.facts.canon((stop - start + (step.const - 1)) // step.const)
    index = b.emit("iota", dims=(n,), axis=0, dtype=INT64, layout=c_layout((n,)))
    scaled = b.emit("mul", index, b.broadcast(b.const(step.const, INT64), (n,)))
    moved = b.emit("add", scaled, b.broadcast(b.dim_value(start), (n,)))
    return results.fresh(b, convert(b, moved, dt))


@functions("eye")
def eye(
    b: Builder, n: SymValue, m: SymValue = NONE, *, dtype: SymValue = NONE, layout: SymValue = NONE, device: SymValue = NONE,
    requires_grad: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    _check(b, layout, device, requires_grad)
    dims = args.shape(b, (n, m if args.given(m) else n))
    rows, columns = (b.emit("iota", dims=dims, axis=k, dtype=INT64, layout=c_layout(dims)) for k in (0, 1))
    return results.fresh(b, convert(b, b.emit("eq", rows, columns), args.dtype(b, dtype) or b.default_dtype_hook()))
