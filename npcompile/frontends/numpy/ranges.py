"""Rules of arange and linspace, with NumPy's own way of computing each element.

In: symbolic arguments by NumPy's own signatures. Out: fresh 1-D arrays as functions of an index.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value

from . import arguments as args
from .creation import I8, cpu_only, index_along
from .promotion import dtype_of, is_python_number
from .registry import FALSE, NO_VALUE, NONE, TRUE, rule
from .sites import loc, site

F8 = np.dtype(np.float64)
F4 = np.dtype(np.float32)
F2 = np.dtype(np.float16)


def _positions(b: Builder, n: Dim, dtype: np.dtype) -> Value:
    """0, 1, 2, ... in `dtype`."""
    return b.convert(index_along(b, (n,), 0), dtype)


def _spread(b: Builder, v: Value, n: Dim) -> Value:
    return b.broadcast(v, (n,))


# ---------------------------------------------------------------------------------------------- arange


@rule(np.arange)
def arange(
    b: Builder, start: SymValue = NO_VALUE, stop: SymValue = NONE, step: SymValue = NONE, dtype: SymValue = NONE, *,
    device: SymValue = NONE, like: SymValue = NONE,
) -> SymValue:  # fmt: skip
    cpu_only(b, device, like)
    if not args.given(stop):
        start, stop = Const(0), start
    elif not args.passed(start):
        start = Const(0)
    if not args.given(step):
        step = Const(1)
    parts = [args.array_like(b, x) for x in (start, stop, step)]
    if any(isinstance(x, Array) for x in parts):
        raise args.refuse("arange of arrays")
    dt = args.dtype(b, dtype)
    kinds = {dtype_of(x).kind for x in parts}
    if kinds <= set("iu") and (dt is None or dt.kind in "iuf"):
        return _int_range(b, parts, dt)
    if all(isinstance(x, Const) for x in parts):
        return _known_range(b, parts, dt)
    raise Unsupported("data-dependent-shape", "the length of arange depends on run-time floats")


def _int_range(b: Builder, parts: list[SymValue], dtype: np.dtype | None) -> SymValue:
    """Integer bounds: the length is the ceiling of an exact quotient, element i is start + i*step."""
    start, stop, step = (args.dim(b, x) for x in parts)
    if dtype is None:
        dtype = np.result_type(I8, *(dtype_of(x) for x in parts))
        if dtype.kind == "f":
            raise args.refuse("arange of mixed signs")
    n = args.bounded(b, _length(b, start, stop, step))
    if dtype.kind == "f":
        return _float_fill(
            b, n, b.convert(b.dim_value(start), dtype), b.convert(b.dim_value(start + step), dtype), start.const == 0
        )
    if dtype.itemsize < 8:
        _check_fits(b, start, start + step, n, dtype)
    i = index_along(b, (n,), 0)
    if step.const != 1:
        i = b.emit("mul", i, _spread(b, b.dim_value(step), n))
    if start.const != 0:
        i = b.emit("add", _spread(b, b.dim_value(start), n), i)
    return b.array(b.convert(i, dtype))


def _length(b: Builder, start: Dim, stop: Dim, step: Dim) -> Dim:
    """`max(0, ceil((stop - start) / step))`; the sign of a symbolic step is found with a guard."""
    if b.dim_ge(step, 1):
        span, by = stop - start, step
    elif b.dim_ge(-step, 1):
        span, by = start - stop, -step
    else:
        raise args.refuse("arange with step 0")
    if not b.dim_ge(span, 1):
        return Dim()
    if by.const == 1:
        return span
    if not b.dim_ge(1 << 52, span):
        raise Unsupported("big-int", "bounds of arange beyond 2**52")
    return (span + by - 1) // by


def _check_fits(b: Builder, start: Dim, second: Dim, n: Dim, dtype: np.dtype) -> None:
    """NumPy converts the first two elements as Python ints, which raises where they do not fit."""
    info = np.iinfo(dtype)
    for x, needed in ((start, 1), (second, 2)):
        if b.dim_ge(n, needed) and not (b.dim_ge(x, int(info.min)) and b.dim_ge(int(info.max), x)):
            raise args.refuse("arange beyond its dtype")


def _known_range(b: Builder, parts: list[SymValue], dtype: np.dtype | None) -> SymValue:
    """All of the arguments known: NumPy itself says length, dtype and first elements."""
    start, stop, step = (x.value for x in parts if isinstance(x, Const))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            span = (stop - start) / step
            if not math.isfinite(span) or span > args.MOST:
                raise args.refuse("arange of this length")
            n = max(0, math.ceil(span))
            dt = args.as_dtype(np.arange(0 * start, 0 * stop, step, dtype=dtype).dtype)
            first = dt.type(start), dt.type(start + step)
        except (ArithmeticError, TypeError, ValueError, Warning):
            raise args.refuse("arange") from None
    if (span == 0 and stop != start) or dt.kind not in "fiu":
        raise args.refuse(f"arange of {dt}")
    if dt.kind == "f":
        return _float_fill(b, Dim.of(n), b.const(first[0], dt), b.const(first[1], dt), first[0] == 0)
    by = int(first[1]) - int(first[0])
    i = b.emit("mul", index_along(b, (Dim.of(n),), 0), _spread(b, b.const(by, I8), Dim.of(n)))
    i = b.emit("add", _spread(b, b.const(int(first[0]), I8), Dim.of(n)), i)
    return b.array(b.convert(i, dt))


def _float_fill(b: Builder, n: Dim, first: Value, second: Value, from_zero: bool) -> SymValue:
    """Elements 0 and 1 as given, then start + i*delta with delta = second - first (float16 computes in float32)."""
    dtype: np.dtype = args.value_dtype(first)
    work = F4 if dtype == F2 else dtype
    start, delta = b.convert(first, work), b.convert(second, work)
    i = _positions(b, n, work)
    if not from_zero:
        delta = b.emit("sub", delta, start)
    v = b.convert(b.emit("add", _spread(b, start, n), b.emit("mul", i, _spread(b, delta, n))), dtype)
    if not from_zero:
        one = b.emit("eq", index_along(b, (n,), 0), _spread(b, b.const(1, I8), n))
        v = b.emit("select", one, _spread(b, second, n), v)
    return b.array(v)


# ---------------------------------------------------------------------------------------------- linspace


@rule(np.linspace)
def linspace(
    b: Builder, start: SymValue, stop: SymValue, num: SymValue = Const(50), endpoint: SymValue = TRUE,
    retstep: SymValue = FALSE, dtype: SymValue = NONE, axis: SymValue = Const(0), *, device: SymValue = NONE,
) -> SymValue:  # fmt: skip
    """`arange(num) * step + start`, the last element set to `stop`."""
    cpu_only(b, device)
    ends = [args.array_like(b, x) for x in (start, stop)]
    if any(isinstance(x, Array) and x.rank for x in ends):
        raise args.refuse("linspace between arrays")
    args.one_axis(b, axis, 1)
    n = args.length(b, num)
    last = args.flag(b, endpoint)
    dt = _inexact_type(ends)
    target = args.dtype(b, dtype) or dt
    if dt.kind != "f" or dt == F2:
        raise args.refuse("linspace of complex or float16")
    lo, hi = (b.value_of(x, dt) for x in ends)
    div = n - 1 if last else n
    positive = b.dim_ge(div, 1)  # asked before anything may warn: from there on there is no way out
    place = loc("_core.function_base.linspace", "delta = np.subtract(")
    delta = b.emit("sub", hi, lo, report=site(b, "subtract", place))
    y = _positions(b, n, dt)
    step: SymValue
    if positive:
        count = b.convert(b.dim_value(div), dt)
        place = loc("_core.function_base.linspace", "step = delta / div")
        by = b.emit("div", delta, count, report=site(b, "scalar divide", place))
        step = b.scalar(by)
        place = loc("_core.function_base.linspace", "y *= step")
        scaled = b.emit("mul", y, _spread(b, by, n), report=site(b, "multiply", place))
        if not _far_apart(ends):
            # a step that vanishes: NumPy divides first, which keeps denormal spacing
            tiny = b.emit("mul", b.emit("div", y, _spread(b, count, n)), _spread(b, delta, n))
            zero = b.emit("eq", by, b.const(0, dt))
            scaled = b.emit("select", _spread(b, zero, n), tiny, scaled)
        y = scaled
    else:
        step = Const(float("nan"))
        place = loc("_core.function_base.linspace", "        y = y * delta")
        y = b.emit("mul", y, _spread(b, delta, n), report=site(b, "multiply", place))
    wide = dt if is_python_number(ends[0]) else np.promote_types(dt, dtype_of(ends[0]))
    place = loc("_core.function_base.linspace", "y += start")
    y = b.emit("add", b.convert(y, wide), _spread(b, b.value_of(ends[0], wide), n), report=site(b, "add", place))
    y = b.convert(y, dt)
    if last and b.dim_ge(n, 2):
        end = b.emit("eq", index_along(b, (n,), 0), _spread(b, b.dim_value(n - 1), n))
        y = b.emit("select", end, _spread(b, hi, n), y)
    if target.kind in "iu":
        y = b.emit("floor", y)
    result = b.array(b.convert(y, target))
    return TupleV((result, step)) if args.flag(b, retstep) else result


def _far_apart(ends: list[SymValue]) -> bool:
    """Are both ends known, and too far apart for a step between them to vanish?"""
    values = [x.value for x in ends if isinstance(x, Const)]
    return len(values) == 2 and abs(values[1] - values[0]) > 1e-20


def _inexact_type(ends: list[SymValue]) -> np.dtype:
    """`result_type(start, stop)` with Python numbers weak, made inexact."""
    kinds: list[Any] = []
    for x in ends:
        dt = dtype_of(x)
        if is_python_number(x):
            kinds.append({"b": True, "i": 0, "f": 0.0, "c": 0j}[dt.kind])
        else:
            kinds.append(dt)
    return np.result_type(*kinds, 0.0)
