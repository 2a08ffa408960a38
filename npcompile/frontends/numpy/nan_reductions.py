"""Rules of nansum, nanprod, nanmean, nanvar, nanstd, nanmax, nanmin, nancumsum, nancumprod, as NumPy's Python code computes them.

In: symbolic arguments by NumPy's own signatures. Out: reductions over arrays whose NaNs are replaced. Where NumPy's Python
code would warn ("All-NaN slice encountered"), the segment exits.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder, cast_reports
from npcompile.frontends.values import Array, Const, SymValue, Unsupported
from npcompile.ir.graph import Loc, ReportSite, Value

from . import arguments as args
from .contiguity import layout_for
from .promotion import dtype_of
from .reduce_core import Reduction, cast, check_out, reduce_value
from .reductions import accumulation, place_of, reduction
from .registry import NO_VALUE, NONE, lookup, rule
from .sites import ignoring, loc, site, sites
from .statistics import INTP, divide, in_order_of, leave_if_any, mean_rule

_MODULE = "lib._nanfunctions_impl"


def without_nan(b: Builder, a: SymValue, value: float) -> tuple[SymValue, Value | None]:
    """NumPy's `_replace_nan`: a copy with NaNs replaced, and the mask of NaNs; other dtypes as they are, without a mask."""
    a = args.array_like(b, a)
    if dtype_of(a).kind not in "fc":
        return a, None
    v = b.value_of(a)
    mask = b.emit("isnan", v)
    v = b.emit("select", mask, b.broadcast(b.const(value, dtype_of(a)), b.dims(v)), v)
    if isinstance(a, Array):
        v = b.emit("copy", v, layout=layout_for(b, a, "K", b.dims(a)))
    return b.array(v), mask


def _register_sum(name: str, ufunc: np.ufunc, fill: float, internal: str, callee: str) -> None:
    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        keepdims: SymValue = NO_VALUE, initial: SymValue = NO_VALUE, where: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        clean, _ = without_nan(b, a, fill)
        place = place_of(clean, internal, callee)
        return reduction(b, ufunc, clean, place, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)

    rule(getattr(np, name))(function)


_register_sum("nansum", np.add, 0, "_sum", "umr_sum")
_register_sum("nanprod", np.multiply, 1, "_prod", "umr_prod")


def _register_running(name: str, ufunc: np.ufunc, fill: float) -> None:
    def function(b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE) -> SymValue:
        clean, _ = without_nan(b, a, fill)
        along = args.optional_axis(b, axis, args.rank(clean) or 1)
        along = along if args.rank(clean) else None
        return accumulation(b, ufunc, clean, along, dtype, out, loc("_core.fromnumeric._wrapfunc", "return bound("))

    rule(getattr(np, name))(function)


_register_running("nancumsum", np.add, 0)
_register_running("nancumprod", np.multiply, 1)


def _register_extreme(name: str, ufunc: np.ufunc) -> None:
    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = NO_VALUE,
        initial: SymValue = NO_VALUE, where: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        """`np.fmax.reduce`; where the result is NaN, NumPy warns."""
        a = args.array_like(b, a)
        if not isinstance(a, Array):
            raise args.refuse(f"{name} of a number")
        target = args.out_array(b, out)
        r = Reduction(
            ufunc,
            args.axes(b, axis, a.rank, scalar_ok=True),
            None,
            target,
            args.flag(b, keepdims),
            initial if args.passed(initial) else None,
            where if args.passed(where) else None,
        )
        value = reduce_value(b, b.read(a), r)
        check_out(target, args.value_dtype(value))
        if args.value_dtype(value).kind in "fc":
            leave_if_any(b, b.emit("isnan", value))
        if target is not None:
            value = cast(b, value, target.dtype, site(b, "reduce", loc(f"{_MODULE}.{name}", "res = np.f")))
        return args.finish(b, value, target)

    rule(getattr(np, name))(function)


_register_extreme("nanmax", np.fmax)
_register_extreme("nanmin", np.fmin)


def _counts(b: Builder, nans: Value, axes: tuple[int, ...], keepdims: bool, where: SymValue | None) -> Value:
    """How many items are no NaN."""
    return reduce_value(b, b.emit("logical_not", nans), Reduction(np.add, axes, INTP, None, keepdims, None, where))


@rule(np.nanmean)
def nanmean(
    b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
    keepdims: SymValue = NO_VALUE, *, where: SymValue = NO_VALUE,
) -> SymValue:  # fmt: skip
    clean, nans = without_nan(b, a, 0)
    if nans is None:
        return mean_rule(b, clean, axis, dtype, out, keepdims, where)
    dt, target, keep = args.dtype(b, dtype), args.out_array(b, out), args.flag(b, keepdims)
    if (dt is not None and dt.kind not in "fc") or (target is not None and target.dtype.kind not in "fc"):
        raise args.refuse("nanmean in an integer dtype")
    axes = args.axes(b, axis, args.rank(clean), scalar_ok=True)
    chosen = where if args.passed(where) else None
    count = _counts(b, nans, axes, keep, chosen)
    leave_if_any(b, b.emit("eq", count, b.broadcast(b.const(0, INTP), b.dims(count))))
    place = place_of(clean, "_sum", "umr_sum")
    total = reduce_value(b, b.value_of(clean), Reduction(np.add, axes, dt, target, keep, None, chosen, place))
    if target is not None:
        check_out(target, args.value_dtype(total))
        total = cast(b, total, target.dtype, site(b, "reduce", place))
    return args.finish(b, _by_count(b, total, count), target)


def _by_count(b: Builder, total: Value, count: Value) -> Value:
    """`_divide_by_count`."""
    with ignoring(b, 1 | 8):
        return divide(b, total, count, args.value_dtype(total), None, reports=False)


def _deviations(b: Builder, v: Value, nans: Value, center: Value) -> Value:
    """`subtract(arr, avg, out=arr)` with 0 for NaNs, squared (times its conjugate) in place."""
    dt = args.value_dtype(v)
    work = np.subtract.resolve_dtypes((dt, args.value_dtype(center), None))[0]
    if work.kind == "c" != dt.kind:
        raise Unsupported("complex-to-real", "the cast warns ComplexWarning")
    dims = b.dims(v)
    name = f"{_MODULE}.nanvar"
    places = sites(b, "subtract", loc(name, "np.subtract(arr, avg"), 1 + cast_reports(work, dt))
    x = b.emit("sub", b.convert(v, work), b.broadcast(b.convert(center, work), dims), report=places[0])
    x = cast(b, x, dt, places[-1])
    x = in_order_of(b, b.emit("select", nans, b.broadcast(b.const(0, dt), dims), x), v)
    if dt.kind != "c":
        return b.emit("mul", x, x, report=site(b, "multiply", loc(name, "sqr = np.multiply(arr, arr, out")))
    report = site(b, "multiply", loc(name, "sqr = np.multiply(arr, arr.conj()"))
    return b.emit("real", b.emit("mul", x, b.emit("conj", x), report=report))


def _spread(
    b: Builder, a: SymValue, axis: SymValue, dtype: SymValue, out: SymValue, ddof: SymValue, keepdims: SymValue,
    where: SymValue, mean: SymValue, correction: SymValue,
) -> Value | None:  # fmt: skip
    """The variance without NaNs as a tensor; None for dtypes that have no NaN."""
    clean, nans = without_nan(b, a, 0)
    if nans is None:
        return None
    if args.passed(where) or args.passed(mean) or args.given(out):
        raise args.refuse("nanvar with where, mean or out")
    free = args.static(b, correction if args.passed(correction) else ddof)
    if (args.passed(correction) and args.static(b, ddof) != 0) or type(free) is not int:
        raise args.refuse("ddof of nanvar")
    dt, keep = args.dtype(b, dtype), args.flag(b, keepdims)
    if dt is not None and dt.kind not in "fc":
        raise args.refuse("nanvar in an integer dtype")
    axes = args.axes(b, axis, args.rank(clean), scalar_ok=True)
    v = b.value_of(clean)
    count = _counts(b, nans, axes, True, None)
    freedom = b.emit("sub", count, b.broadcast(b.const(free, INTP), b.dims(count)))
    leave_if_any(b, b.emit("le", freedom, b.broadcast(b.const(0, INTP), b.dims(count))))
    place = place_of(clean, "_sum", "umr_sum")
    total = reduce_value(b, v, Reduction(np.add, axes, dt, None, True, None, None, place))
    center = _by_count(b, total, count)
    squares = _deviations(b, v, nans, center)
    sums = reduce_value(b, squares, Reduction(np.add, axes, dt, None, keep, None, None, place))
    if b.dims(sums) != b.dims(freedom):
        freedom = b.emit("squeeze", freedom, axes=axes)
    return _by_count(b, sums, freedom)


def _register_spread(name: str, plain: str, root: bool) -> None:
    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        ddof: SymValue = Const(0), keepdims: SymValue = NO_VALUE, *, where: SymValue = NO_VALUE,
        mean: SymValue = NO_VALUE, correction: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        value = _spread(b, a, axis, dtype, out, ddof, keepdims, where, mean, correction)
        if value is None:
            found = lookup(getattr(np, plain))
            assert found is not None
            return found(b, a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
        if root:
            place: Loc | None = loc(f"{_MODULE}.nanstd", "np.sqrt(var, out=var)" if b.dims(value) else "np.sqrt(var))")
            report: ReportSite | None = site(b, "sqrt", place) if args.value_dtype(value).kind == "c" else None
            value = b.emit("sqrt", value, report=report)
        return args.finish(b, value)

    rule(getattr(np, name))(function)


_register_spread("nanvar", "var", root=False)
_register_spread("nanstd", "std", root=True)
