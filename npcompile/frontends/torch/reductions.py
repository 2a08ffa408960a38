"""Reductions: sum, mean, prod, extremes, any, all, argmax, var, std, norms, softmax and relatives, running totals.

In: symbolic arguments by torch's own signatures. Out: fresh tensors in C order. Half precision is accumulated in float32.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.contiguity import flat
from npcompile.frontends.reducing import need_elements, reduced
from npcompile.frontends.values import Const, SymValue, Tensor, TupleV
from npcompile.ir.dims import Dim, product
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout

from . import arguments as args
from . import called, library, results
from .elementwise import binary, clamped, constant, no_out
from .promotion import BOOL, INT64, as_tensor, convert, only_real, refuse, value_dtype, working
from .registry import FALSE, MISSING, NONE, TRUE, both, functions


def count_of(b: Builder, v: Value, axes: tuple[int, ...]) -> Dim:
    return product([b.dims(v)[a] for a in axes])


def scaled(b: Builder, prim: str, v: Value, d: Dim) -> Value:
    """`v` and a size, as numbers of its dtype."""
    return b.emit(prim, v, b.broadcast(convert(b, b.dim_value(d), value_dtype(v)), b.dims(v)))


# ---------------------------------------------------------------------------------------------- sums and products


def _total_dtype(b: Builder, x: Tensor, dtype: SymValue) -> np.dtype:
    """Of a sum or product, running ones included: as asked for, else int64 for integers and bools."""
    dt = args.dtype(b, dtype) or (INT64 if x.dtype.kind in "bui" else x.dtype)
    only_real(x.dtype, dt)
    return dt


@both("sum")
def sum_(
    b: Builder, input: SymValue, dim: SymValue = NONE, keepdim: SymValue = FALSE, *, dtype: SymValue = NONE, out: SymValue = NONE
) -> SymValue:
    no_out(b, out)
    x = as_tensor(b, input)
    dt = _total_dtype(b, x, dtype)
    v = convert(b, b.read(x.array), working(dt))
    if dt == BOOL:
        raise refuse("a sum as bool")
    return results.fresh(b, convert(b, reduced(b, v, "add", args.axes(b, dim, x.rank), args.flag(b, keepdim)), dt))


@both("mean")
def mean(
    b: Builder, input: SymValue, dim: SymValue = NONE, keepdim: SymValue = FALSE, *, dtype: SymValue = NONE, out: SymValue = NONE
) -> SymValue:
    no_out(b, out)
    x = as_tensor(b, input)
    dt = args.dtype(b, dtype) or x.dtype
    if dt.kind != "f" or x.dtype.kind == "c":
        raise refuse(f"mean of {dt}")
    v = convert(b, b.read(x.array), working(dt))
    axes = args.axes(b, dim, x.rank)
    total = convert(b, convert(b, reduced(b, v, "add", axes, args.flag(b, keepdim)), dt), working(dt))
    return results.fresh(b, convert(b, scaled(b, "div", total, count_of(b, v, axes)), dt))


@both("prod")
def prod(
    b: Builder, input: SymValue, dim: SymValue = MISSING, keepdim: SymValue = FALSE, *, dtype: SymValue = NONE,
    out: SymValue = NONE,
) -> SymValue:  # fmt: skip
    no_out(b, out)
    x = as_tensor(b, input)
    dt = _total_dtype(b, x, dtype)
    if dt == BOOL or (dt == np.float16 and not called.on_device(b)):
        raise refuse(f"a product as {dt}: torch rounds each step")
    axes = tuple(range(x.rank)) if dim is MISSING else args.one_axis(b, dim, x.rank)
    v = convert(b, b.read(x.array), working(dt))
    return results.fresh(b, convert(b, reduced(b, v, "mul", axes, args.flag(b, keepdim)), dt))


# ---------------------------------------------------------------------------------------------- any, all, extremes


def _register_truth(name: str) -> None:
    def rule(b: Builder, input: SymValue, dim: SymValue = NONE, keepdim: SymValue = FALSE) -> SymValue:
        x = as_tensor(b, input)
        only_real(x.dtype)
        if args.static(b, dim) in ((), []):
            raise refuse(f"{name} over no dims")
        v = convert(b, b.read(x.array), BOOL)
        out = reduced(b, v, name, args.axes(b, dim, x.rank), args.flag(b, keepdim))
        return results.fresh(b, convert(b, out, x.dtype if x.dtype == np.uint8 else BOOL))

    both(name)(rule)


_register_truth("any")
_register_truth("all")


def _extreme(b: Builder, x: Tensor, op: str, axes: tuple[int, ...], keep: bool) -> Tensor:
    only_real(x.dtype)
    v = b.read(x.array)
    need_elements(b, v, axes)
    if x.dtype == BOOL:
        op = "any" if op == "max" else "all"
    return results.fresh(b, reduced(b, v, op, axes, keep))


def _register_extreme(op: str) -> None:
    def over(b: Builder, input: SymValue, dim: SymValue = Const(()), keepdim: SymValue = FALSE) -> SymValue:
        x = as_tensor(b, input)
        return _extreme(b, x, op, args.axes(b, dim, x.rank), args.flag(b, keepdim))

    def plain(b: Builder, input: SymValue, dim: SymValue = MISSING, keepdim: SymValue = FALSE) -> SymValue:
        """Of all elements; the larger of two tensors; values and indices along a dim."""
        x, second = as_tensor(b, input), dim if dim is MISSING else b.force(dim)
        if isinstance(second, Tensor):
            return binary(b, f"{op}imum", x, second)
        if second is MISSING:
            return _extreme(b, x, op, tuple(range(x.rank)), False)
        keep = args.flag(b, keepdim)
        at = args.axis(b, second, x.rank)
        if not x.rank:
            raise refuse(f"{op} with a dim of a tensor without axes")
        values = _extreme(b, x, op, (at,), keep)
        found = _arg(b, b.read(x.array), op, at, keep)
        return TupleV((values, results.fresh(b, found)), None, getattr(library.module().return_types, op))

    both(f"a{op}")(over)
    both(op)(plain)


def _arg(b: Builder, v: Value, op: str, axis: int, keep: bool) -> Value:
    need_elements(b, v, (axis,))
    found = b.emit("argreduce", v, op=f"arg{op}", axis=axis)
    return b.emit("expand", found, axes=(axis,)) if keep else found


def _register_arg(op: str) -> None:
    def rule(b: Builder, input: SymValue, dim: SymValue = NONE, keepdim: SymValue = FALSE) -> SymValue:
        """The first of several equal ones; NaN counts as the extreme."""
        x, keep = as_tensor(b, input), args.flag(b, keepdim)
        only_real(x.dtype)
        if x.dtype == BOOL:
            raise refuse(f"arg{op} of bools")
        at = args.one_axis(b, dim, x.rank) if args.given(dim) else ()
        if at:
            return results.fresh(b, _arg(b, b.read(x.array), op, at[0], keep))
        v = b.read(x.array)
        found = _arg(b, flat(b, v) if x.rank else b.emit("expand", v, axes=(0,)), op, 0, False)
        if keep and x.rank:
            found = b.emit("expand", found, axes=tuple(range(x.rank)))
        return results.fresh(b, found)

    both(f"arg{op}")(rule)


for _op in ("max", "min"):
    _register_extreme(_op)
    _register_arg(_op)


@both("count_nonzero")
def count_nonzero(b: Builder, input: SymValue, dim: SymValue = NONE) -> SymValue:
    x = as_tensor(b, input)
    only_real(x.dtype)
    v = convert(b, convert(b, b.read(x.array), BOOL), INT64)
    return results.fresh(b, reduced(b, v, "add", args.axes(b, dim, x.rank)))


# ---------------------------------------------------------------------------------------------- variance, norms


def moments(b: Builder, v: Value, axes: tuple[int, ...]) -> tuple[Value, Value, Dim]:
    """Mean (axes kept), sum of squared distances from it (axes kept), and number of elements."""
    n = count_of(b, v, axes)
    mean_ = scaled(b, "div", reduced(b, v, "add", axes, True), n)
    d = b.emit("sub", v, b.broadcast(mean_, b.dims(v)))
    return mean_, reduced(b, b.emit("mul", d, d), "add", axes, True), n


def _register_spread(name: str) -> None:
    def spread(b: Builder, x: Tensor, dim: SymValue, correction: int, keep: bool) -> list[Tensor]:
        """The spread and the mean."""
        if x.dtype.kind != "f":
            raise refuse(f"{name} of {x.dtype}")
        axes = args.axes(b, dim, x.rank)
        v = convert(b, b.read(x.array), working(x.dtype))
        if correction < 0 or not b.dim_ge(count_of(b, v, axes), correction + 1) or not b.dim_ge(args.size(b, x), 1):
            raise refuse("no degrees of freedom: torch warns")
        middle, total, n = moments(b, v, axes)
        out = scaled(b, "div", total, n - correction)
        if name == "std":
            out = b.emit("sqrt", out)
        both_ = [b.emit("squeeze", y, axes=axes) if axes and not keep else y for y in (out, middle)]
        return [results.fresh(b, convert(b, y, x.dtype)) for y in both_]

    def parts(
        b: Builder, input: SymValue, dim: SymValue = NONE, unbiased: SymValue = NONE, keepdim: SymValue = FALSE, *,
        correction: SymValue = NONE,
    ) -> list[Tensor]:  # fmt: skip
        x, first = as_tensor(b, input), b.force(dim)
        if isinstance(first, Const) and type(first.value) is bool:  # var(x, unbiased)
            dim, unbiased = NONE, first
        if args.given(correction) and args.given(unbiased):
            raise refuse("correction and unbiased")
        less = args.integer(b, correction) if args.given(correction) else 1
        if args.given(unbiased):
            less = int(args.flag(b, unbiased))
        return spread(b, x, dim, less, args.flag(b, keepdim))

    @functools.wraps(parts)
    def rule(b: Builder, *given: SymValue, **named: SymValue) -> SymValue:
        return parts(b, *given, **named)[0]

    @functools.wraps(parts)
    def with_mean(b: Builder, *given: SymValue, **named: SymValue) -> SymValue:
        return TupleV(tuple(parts(b, *given, **named)))

    both(name)(rule)
    functions(f"{name}_mean")(with_mean)


_register_spread("var")
_register_spread("std")


@both("norm")
def norm(b: Builder, input: SymValue, p: SymValue = Const("fro"), dim: SymValue = NONE, keepdim: SymValue = FALSE) -> SymValue:
    return _vector_norm(b, as_tensor(b, input), args.static(b, p), dim, keepdim)


@functions("linalg.vector_norm")
def vector_norm(b: Builder, x: SymValue, ord: SymValue = Const(2), dim: SymValue = NONE, keepdim: SymValue = FALSE) -> SymValue:
    return _vector_norm(b, as_tensor(b, x), args.number(b, ord), dim, keepdim)


@functions("linalg.norm")
def linalg_norm(b: Builder, A: SymValue, ord: SymValue = NONE, dim: SymValue = NONE, keepdim: SymValue = FALSE) -> SymValue:
    args.only(b, ord, None)
    return _vector_norm(b, as_tensor(b, A), 2, dim, keepdim)


def _vector_norm(b: Builder, x: Tensor, order: object, dim: SymValue, keepdim: SymValue) -> Tensor:
    if x.dtype.kind != "f" or order not in ("fro", 1, 2, math.inf):
        raise refuse(f"norm {order!r}")
    v = convert(b, b.read(x.array), working(x.dtype))
    axes, keep = args.axes(b, dim, x.rank), args.flag(b, keepdim)
    if order == math.inf:
        need_elements(b, v, axes)
        out = reduced(b, b.emit("abs", v), "max", axes, keep)
    elif order == 1:
        out = reduced(b, b.emit("abs", v), "add", axes, keep)
    else:
        out = b.emit("sqrt", reduced(b, b.emit("mul", v, v), "add", axes, keep))
    return results.fresh(b, convert(b, out, x.dtype))


@functions("nn.functional.normalize")
def normalize(
    b: Builder, input: SymValue, p: SymValue = Const(2.0), dim: SymValue = Const(1), eps: SymValue = Const(1e-12),
    out: SymValue = NONE,
) -> SymValue:  # fmt: skip
    no_out(b, out)
    x = as_tensor(b, input)
    length = clamped(b, _vector_norm(b, x, args.number(b, p), dim, TRUE), eps, NONE)
    return binary(b, "div", x, Tensor(b.view(length.array, "broadcast", dims=b.dims(x.array))))


# ---------------------------------------------------------------------------------------------- exponentials over an axis


def _shifted(b: Builder, v: Value, axis: int) -> tuple[Value, Value, Value]:
    """x - max, exp of it, and the sum of that (the axis kept)."""
    top = b.broadcast(reduced(b, v, "max", (axis,), True), b.dims(v))
    x = b.emit("sub", v, top)
    e = b.emit("exp", x)
    return x, e, reduced(b, e, "add", (axis,), True)


def _softmax(b: Builder, input: SymValue, dim: SymValue, dtype: SymValue, log: bool) -> Tensor:
    x = as_tensor(b, input)
    dt = args.dtype(b, dtype) or x.dtype
    if dt.kind != "f" or x.dtype.kind == "c" or not args.given(dim):
        raise refuse("softmax without a dim or of this dtype")
    v = convert(b, convert(b, b.read(x.array), dt), working(dt))
    at = args.axis(b, dim, x.rank)
    if not x.rank:
        raise refuse("softmax of a tensor without axes")
    need_elements(b, v, (at,))
    shifted, e, total = _shifted(b, v, at)
    if log:
        out = b.emit("sub", shifted, b.broadcast(b.emit("log", total), b.dims(v)))
    else:
        out = b.emit("div", e, b.broadcast(total, b.dims(v)))
    return results.fresh(b, convert(b, out, dt))


def _register_softmax(name: str, log: bool) -> None:
    def rule(b: Builder, input: SymValue, dim: SymValue, dtype: SymValue = NONE) -> SymValue:
        return _softmax(b, input, dim, dtype, log)

    def functional(
        b: Builder, input: SymValue, dim: SymValue = NONE, _stacklevel: SymValue = Const(3), dtype: SymValue = NONE
    ) -> SymValue:
        return _softmax(b, input, dim, dtype, log)

    both(name)(rule)
    functions(f"nn.functional.{name}")(functional)


_register_softmax("softmax", False)
_register_softmax("log_softmax", True)


@both("logsumexp")
def logsumexp(b: Builder, input: SymValue, dim: SymValue, keepdim: SymValue = FALSE) -> SymValue:
    x, keep = as_tensor(b, input), args.flag(b, keepdim)
    if x.dtype.kind != "f":
        raise refuse("logsumexp of integers")
    if args.static(b, dim) in (None, (), []):
        raise refuse("logsumexp over no dims")
    axes = args.axes(b, dim, x.rank)
    v = convert(b, b.read(x.array), working(x.dtype))
    need_elements(b, v, axes)
    top = reduced(b, v, "max", axes, True)
    top = b.emit("select", b.emit("isinf", top), constant(b, top, 0.0), top)
    total = reduced(b, b.emit("exp", b.emit("sub", v, b.broadcast(top, b.dims(v)))), "add", axes, True)
    out = b.emit("add", b.emit("log", total), top)
    if axes and not keep:
        out = b.emit("squeeze", out, axes=axes)
    return results.fresh(b, convert(b, out, x.dtype))


# ---------------------------------------------------------------------------------------------- running totals


def _register_running(name: str, op: str) -> None:
    def rule(b: Builder, input: SymValue, dim: SymValue, *, dtype: SymValue = NONE) -> SymValue:
        x = as_tensor(b, input)
        dt = _total_dtype(b, x, dtype)
        if not x.rank or dt == BOOL or working(dt) != dt:
            raise refuse(f"{name} of {dt}")
        if called.on_device(b):
            return called.running(b, name, x, args.axis(b, dim, x.rank), dt)
        v = convert(b, b.read(x.array), dt)
        v = b.emit("copy", v, layout=c_layout(b.dims(v)))
        return results.fresh(b, b.emit("scan", v, op=op, axis=args.axis(b, dim, x.rank), acc=dt))

    both(name)(rule)


_register_running("cumsum", "add")
_register_running("cumprod", "mul")
