"""`ufunc.reduce` as a rule: dtype of the accumulator, axes, keepdims, initial, where, out.

In: a ufunc and parsed arguments. Out: one `reduce` node with the casts and selects around it. Everything that NumPy builds
on `ufunc.reduce` (sum, max, mean, norm, ...) builds on this.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder, cast_reports
from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Loc, ReportSite, Value
from npcompile.ir.layout import korder
from npcompile.records import dataclass, field, replace

from . import arguments as args
from .promotion import FLOAT64, INT64, dtype_of
from .sites import site, sites

OPS: dict[np.ufunc, str] = {
    np.add: "add",
    np.multiply: "mul",
    np.maximum: "max",
    np.minimum: "min",
    np.fmax: "fmax",
    np.fmin: "fmin",
    np.logical_or: "any",
    np.logical_and: "all",
    np.bitwise_or: "or",
    np.bitwise_and: "and",
    np.bitwise_xor: "xor",
}
_BOOL_OPS = {"add": "any", "mul": "all", "max": "any", "min": "all", "fmax": "any", "fmin": "all", "or": "any", "and": "all"}
_COMBINE = {
    "max": "maximum",
    "min": "minimum",
    "or": "bit_or",
    "and": "bit_and",
    "xor": "bit_xor",
    "any": "logical_or",
    "all": "logical_and",
}
_WITHOUT_IDENTITY = frozenset({np.maximum, np.minimum, np.fmax, np.fmin})


@dataclass(frozen=True)
class Reduction:
    """Arguments of one `ufunc.reduce` call.

    axes : the axes to reduce, sorted; dtype, out, initial, where : as given, None when not.
    place : where warnings are reported; None is the caller's line.
    """

    ufunc: np.ufunc
    axes: tuple[int, ...]
    dtype: np.dtype | None = None
    out: Array | None = None
    keepdims: bool = False
    initial: SymValue | None = None
    where: SymValue | None = None
    place: Loc | None = field(default=None, compare=False)


@functools.cache
def reduce_dtypes(ufunc: np.ufunc, a: np.dtype, dtype: np.dtype | None, out: np.dtype | None) -> tuple[np.dtype, np.dtype]:
    """(accumulator, input) dtypes of `ufunc.reduce`, by NumPy itself."""
    given = {} if dtype is None else {"signature": (dtype, None, None)}
    try:
        acc, arg, _ = ufunc.resolve_dtypes((out, a, None), casting="unsafe", reduction=True, **given)
    except TypeError as e:
        raise args.refuse(str(e)) from None
    return acc, arg


def reduce_call(b: Builder, a: SymValue, r: Reduction) -> SymValue:
    """The value of `ufunc.reduce(a, ...)` as NumPy returns it."""
    value = reduce_value(b, b.value_of(a), r)
    check_out(r.out, args.value_dtype(value))
    return finish_cast(b, value, r.out, site(b, "reduce", r.place))


def reduce_value(b: Builder, v: Value, r: Reduction) -> Value:
    """The reduced tensor in the accumulator's dtype; `r.out` only takes part in the choice of dtypes."""
    dims = b.dims(v)
    acc, arg = reduce_dtypes(r.ufunc, args.value_dtype(v), r.dtype, None if r.out is None else r.out.dtype)
    if acc == FLOAT64 and r.ufunc is np.add and r.axes and r.initial is None and _is_narrow(args.value_dtype(v)):
        # every partial sum is a whole number that a float64 holds, so its order is free
        return b.convert(reduce_value(b, v, replace(r, dtype=INT64, out=None)), acc)
    where = None if r.where is None else mask_of(b, r.where, dims)
    op = OPS[r.ufunc]
    if acc.kind == "b":
        op = _BOOL_OPS.get(op, op)
    have = args.value_dtype(v)
    totals = (bool(r.axes) + (r.initial is not None)) if _reports(op, acc) else 0
    # of a 0-d array NumPy casts before it reduces
    places = iter(sites(b, "reduce" if dims else "cast", r.place, cast_reports(have, arg) + totals))
    first = initial_value(b, r, acc, needed=where is not None)
    v = cast(b, v, arg, next(places) if cast_reports(have, arg) else None)
    if where is not None:
        v = b.emit("select", where, v, b.broadcast(_neutral(b, op, acc, first), dims))
    if not r.axes:
        out = _start(b, op, v, acc)
    elif r.ufunc in _WITHOUT_IDENTITY and not args.nonempty(b, tuple(dims[i] for i in r.axes)):
        if first is None:
            raise Unsupported("empty-reduction", f"{r.ufunc.__name__} has no identity")
        out, first = b.broadcast(first, tuple(d for i, d in enumerate(dims) if i not in r.axes)), None
    else:
        v, first = _take_in(b, op, v, first, r.axes, places)
        out = b.emit("reduce", v, op=op, axes=r.axes, acc=acc, report=next(places) if totals else None)
    if first is not None:
        out = b.emit(_COMBINE.get(op, op), b.broadcast(first, b.dims(out)), out, report=next(places, None))
    if r.keepdims and r.axes:
        out = b.emit("expand", out, axes=r.axes)
    return out


def _is_narrow(dtype: np.dtype) -> bool:
    return dtype.kind in "biu" and dtype.itemsize <= 2


def check_out(out: Array | None, acc: np.dtype) -> None:
    """Refuse an `out` that NumPy accumulates in with casts that warn, or whose cast warns together with the reduction."""
    if out is None:
        return
    if (out.dtype.kind == "c" and acc.kind != "c") or (acc.kind in "fc" and out.dtype.kind in "iu"):
        raise args.refuse("out of another kind")


def initial_value(b: Builder, r: Reduction, acc: np.dtype, *, needed: bool) -> Value | None:
    """`initial` as a rank-0 value of the accumulator's dtype."""
    if r.initial is None:
        if needed and r.ufunc in _WITHOUT_IDENTITY:
            raise args.refuse("where without initial")
        return None
    v = b.force(r.initial)
    if isinstance(v, Const) and isinstance(v.value, (int, float, complex, np.generic)):
        if not _holds(acc, v.value, dtype_of(v).kind):
            raise args.refuse("initial of another kind")
        first = acc.type(v.value)
        if r.ufunc is np.add and acc.kind in "fc" and any(x == 0 and np.signbit(x) for x in (first.real, first.imag)):
            raise args.refuse("initial of -0.0, which sums of -0.0 keep")
        return b.const(first, acc)
    if isinstance(v, Scalar) and np.can_cast(v.dtype, acc, "safe"):
        value = b.value_of(v, acc)
        if r.ufunc is np.add and v.dtype.kind in "fc":
            b.exit_if(_negative_zero(b, value), "numpy-arguments")
        return value
    raise args.refuse("initial")


def _negative_zero(b: Builder, v: Value) -> Value:
    """Is a number, or a part of a complex one, -0.0? NumPy keeps it as the sum of zeros of this sign, our sums begin with 0.0."""
    dt = args.value_dtype(v)
    if dt.kind == "c":
        return b.emit("logical_or", *(_negative_zero(b, b.emit(part, v)) for part in ("real", "imag")))
    return b.emit("logical_and", b.emit("signbit", v), b.emit("eq", v, b.const(0.0, dt)))


def _holds(acc: np.dtype, value: Any, kind: str) -> bool:
    """Can a number of this kind be the start of an accumulation in `acc` without loss?"""
    if acc.kind in "iu":
        return kind == "b" or (kind in "iu" and bool(np.iinfo(acc).min <= value <= np.iinfo(acc).max))
    return acc.kind == "b" or kind in {"f": "biuf", "c": "biufc"}[acc.kind]


def mask_of(b: Builder, where: SymValue, dims: tuple[Dim, ...]) -> Value | None:
    """`where` broadcast to `dims`; None for the literal True."""
    where = b.force(where)
    if isinstance(where, Const) and where.value is True:
        return None
    if isinstance(where, Const) and where.value is False:
        return b.broadcast(b.const(False, np.bool_), dims)
    if not isinstance(where, (Array, Scalar)) or where.dtype.kind != "b":
        raise args.refuse("where")
    v = b.value_of(where)
    have = b.dims(v)
    if len(have) > len(dims) or not b.dims_agree(b.broadcast_dims(have, dims), dims):
        raise args.refuse("where of a larger shape")
    return b.broadcast(v, dims)


def cast(b: Builder, v: Value, dtype: np.dtype, place: ReportSite | None) -> Value:
    """A cast inside a reduction: its floating-point conditions are the reduction's."""
    have: np.dtype = args.value_dtype(v)
    if have == dtype:
        return v
    if have.kind == "c" and dtype.kind not in "cb":
        raise Unsupported("complex-to-real", "the cast warns ComplexWarning")
    return b.emit("convert", v, dtype=dtype, report=place if cast_reports(have, dtype) else None)


def finish_cast(b: Builder, value: Value, out: Array | None, place: ReportSite) -> SymValue:
    """`arguments.finish`, with the cast to the dtype of `out` reported at `place`."""
    return args.finish(b, value if out is None else cast(b, value, out.dtype, place), out)


def _reports(op: str, acc: np.dtype) -> bool:
    return op in ("add", "mul") and acc.kind in "fc"


def _identity(op: str, dtype: np.dtype) -> Any:
    return {"mul": 1, "and": -1 if dtype.kind == "i" else np.iinfo(dtype).max if dtype.kind == "u" else 1, "all": True}.get(op, 0)


def _neutral(b: Builder, op: str, acc: np.dtype, first: Value | None) -> Value:
    """What stands for masked-out elements."""
    if op in ("max", "min", "fmax", "fmin"):
        assert first is not None
        return first
    return b.const(_identity(op, acc), acc)


def _start(b: Builder, op: str, v: Value, acc: np.dtype) -> Value:
    """A reduction over no axes: each element combined with the identity (0.0 + -0.0 is 0.0)."""
    if op == "add" and acc.kind in "fc":
        return b.emit("add", b.broadcast(b.const(0, acc), b.dims(v)), v)
    return b.emit("copy", v, layout=korder([args.value_layout(v)], b.dims(v)))


def _take_in(
    b: Builder, op: str, v: Value, first: Value | None, axes: tuple[int, ...], places: Iterator[ReportSite]
) -> tuple[Value, Value | None]:
    """Multiply `initial` into the first element of each product, as NumPy does: at the end it could overflow elsewhere."""
    if op != "mul" or first is None or args.value_dtype(v).kind not in "fc":
        return v, first
    if args.value_dtype(v).kind == "c":
        raise args.refuse("initial of a complex product")
    dims = b.dims(v)
    if not args.nonempty(b, tuple(dims[i] for i in axes)):
        return v, first
    at_first = b.broadcast(b.const(True, np.bool_), dims)
    zero = b.broadcast(b.const(0, np.int64), dims)
    layout = korder([args.value_layout(v)], dims)
    for axis in axes:
        index = b.emit("iota", dims=dims, axis=axis, dtype=np.dtype(np.int64), layout=layout)
        at_first = b.emit("logical_and", at_first, b.emit("eq", index, zero))
    one = b.broadcast(b.const(1, args.value_dtype(v)), dims)
    factor = b.emit("select", at_first, b.broadcast(first, dims), one)
    return b.emit("mul", factor, v, report=next(places)), None
