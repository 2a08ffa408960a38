"""Rules of mean, var, std, average and of the nan-ignoring reductions, step by step as NumPy's Python code computes them.

In: symbolic arguments by NumPy's own signatures. Out: reductions and elementwise nodes. Where NumPy's Python code would
warn ("Mean of empty slice"), the segment exits, so that NumPy warns itself.
"""

from __future__ import annotations

import functools

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue, Unsupported
from npcompile.ir.dims import Dim, product
from npcompile.ir.graph import Loc, ReportSite, Value

from . import arguments as args
from .promotion import dtype_of, is_python_number, scalar_type
from .reduce_core import Reduction, cast, check_out, mask_of, reduce_value
from .registry import FALSE, NO_VALUE, NONE, TRUE, method, rule
from .sites import loc, site, sites

F8 = np.dtype(np.float64)
F4 = np.dtype(np.float32)
F2 = np.dtype(np.float16)
INTP = np.dtype(np.intp)
BOOL = np.dtype(np.bool_)


@functools.cache
def _divide_dtype(a: np.dtype, count: np.dtype) -> np.dtype:
    """The dtype in which `np.true_divide` divides these."""
    return np.true_divide.resolve_dtypes((a, count, None))[0]


def _kept(b: Builder, dims: tuple[Dim, ...], axes: tuple[int, ...]) -> tuple[Dim, ...]:
    return tuple(Dim.of(1) if i in axes else d for i, d in enumerate(dims))


class Count:
    """How many items every reduction has: a dim, or with `where` a tensor; and how results are divided by it."""

    def __init__(self, b: Builder, dims: tuple[Dim, ...], axes: tuple[int, ...], keepdims: bool, mask: Value | None) -> None:
        self.items: Dim | None = None
        if mask is None:
            self.items = product([dims[i] for i in axes])
            self.value = b.dim_value(self.items)
        else:
            r = Reduction(np.add, axes, dtype=INTP, keepdims=keepdims)
            self.value = reduce_value(b, mask, r)

    def leave_unless_above(self, b: Builder, limit: int | float | np.generic, warning: str) -> None:
        """Exit where a count is at most `limit`, where NumPy's Python code warns."""
        if self.items is not None:
            if not b.dim_ge(self.items, int(np.floor(limit)) + 1):
                raise Unsupported("python-warning", warning)
            return
        dt = INTP if float(limit).is_integer() else F8
        low = b.emit("le", b.convert(self.value, dt), b.broadcast(b.const(dt.type(limit), dt), b.dims(self.value)))
        leave_if_any(b, low)


def leave_if_any(b: Builder, mask: Value) -> None:
    """Exit when any element is true: NumPy's Python code warns then."""
    dims = b.dims(mask)
    hit = b.emit("reduce", mask, op="any", axes=tuple(range(len(dims))), acc=BOOL) if dims else mask
    b.exit_if(hit, "python-warning")


def in_order_of(b: Builder, v: Value, target: Value) -> Value:
    """The result of an operation in place: it keeps the axis order of `target`."""
    layout = args.value_layout(target)
    return v if args.value_layout(v) == layout else b.emit("copy", v, layout=layout)


def divide(b: Builder, total: Value, count: Value, dtype: np.dtype, place: Loc | None, *, reports: bool) -> Value:
    """`true_divide(total, count)` with an unsafe cast of the result to `dtype`."""
    types = args.value_dtype(total), args.value_dtype(count)
    dt = _divide_dtype(*types)
    name = "divide" if b.dims(total) or scalar_type(*types) is None else "scalar divide"
    report = site(b, name, place) if reports or dt.kind == "c" else None
    a = b.convert(total, dt)
    q = b.emit("div", a, b.broadcast(b.convert(count, dt), b.dims(a)), report=report)
    q = in_order_of(b, q, total)
    if args.value_dtype(q) == dtype:
        return q
    if dt.kind == "c" and dtype.kind != "c":
        raise Unsupported("complex-to-real", "the cast warns ComplexWarning")
    return b.emit("convert", q, dtype=dtype, report=site(b, "divide" if b.dims(total) else "cast", place) if reports else None)


def mean_rule(
    b: Builder, a: SymValue, axis: SymValue, dtype: SymValue, out: SymValue, keepdims: SymValue, where: SymValue
) -> SymValue:
    """`_methods._mean`."""
    a = args.array_like(b, a)
    axes = args.axes(b, axis, args.rank(a))
    keep, target, dt = args.flag(b, keepdims), args.out_array(b, out), args.dtype(b, dtype)
    v = b.value_of(a)
    dims = b.dims(v)
    mask = mask_of(b, where, dims) if args.passed(where) else None
    count = Count(b, dims, axes, keep, mask)
    count.leave_unless_above(b, 0, "Mean of empty slice")
    own = dtype_of(a)
    half = dt is None and own == F2
    if dt is None:
        dt = F8 if own.kind in "biu" else F4 if half else None
    place = loc("_core._methods._mean", "ret = umr_sum(")
    r = Reduction(np.add, axes, dt, target, keep, None, where if mask is not None else None, place)
    total = reduce_value(b, v, r)
    if target is not None:
        check_out(target, args.value_dtype(total))
        total = cast(b, total, target.dtype, site(b, "reduce", place))
    place = loc("_core._methods._mean", "ret = um.true_divide(" if b.dims(total) else "ret = ret.dtype.type(ret / rcount)")
    result = F2 if half and target is None and not b.dims(total) else args.value_dtype(total)
    q = divide(b, total, count.value, result, place, reports=False)
    if half and target is None:
        q = b.convert(q, F2)
    return args.finish(b, q, target)


def spread_rule(
    b: Builder, a: SymValue, axis: SymValue, dtype: SymValue, out: SymValue, ddof: SymValue, keepdims: SymValue,
    where: SymValue, mean: SymValue, *, root: bool,
) -> SymValue:  # fmt: skip
    """`_methods._var`, and `_std` with `root`."""
    a = args.array_like(b, a)
    axes = args.axes(b, axis, args.rank(a))
    keep, target, dt = args.flag(b, keepdims), args.out_array(b, out), args.dtype(b, dtype)
    free = args.static(b, ddof)
    if not isinstance(free, (int, float, np.integer, np.floating)) or isinstance(free, bool) or free != free:
        raise args.refuse(f"ddof {free!r}")
    v = b.value_of(a)
    dims, own = b.dims(v), dtype_of(a)
    if own.kind == "c" and dt is not None and dt.kind != "c":
        raise Unsupported("complex-to-real", "the cast warns ComplexWarning")
    mask = mask_of(b, where, dims) if args.passed(where) else None
    count = Count(b, dims, axes, keep, mask)
    count.leave_unless_above(b, free, "Degrees of freedom <= 0 for slice")
    if dt is None and own.kind in "biu":
        dt = F8
    chosen = where if mask is not None else None
    center = _center(b, v, axes, dt, chosen, count) if not args.given(mean) else b.value_of(args.array_like(b, mean))
    x = _squared_deviations(b, v, center, own, weak=_weak(b, mean))
    place = loc("_core._methods._var", "ret = umr_sum(")
    total = reduce_value(b, x, Reduction(np.add, axes, dt, target, keep, None, chosen, place))
    if target is not None:
        check_out(target, args.value_dtype(total))
        total = cast(b, total, target.dtype, site(b, "reduce", place))
    whole = float(free).is_integer() and isinstance(free, (int, np.integer))
    n = b.emit("sub", count.value, b.broadcast(b.const(int(free), INTP), b.dims(count.value))) if whole else None
    if n is None:
        floats = b.convert(count.value, F8)
        n = b.emit("sub", floats, b.broadcast(b.const(float(free), F8), b.dims(floats)))
    place = loc("_core._methods._var", "ret = um.true_divide(" if b.dims(total) else "ret = ret.dtype.type(ret / rcount)")
    q = divide(b, total, n, args.value_dtype(total), place, reports=not whole)
    if root:
        q = root_of(b, q)
    return args.finish(b, q, target)


def _weak(b: Builder, mean: SymValue) -> bool:
    """Is the mean given as a Python number?"""
    return args.given(mean) and is_python_number(args.array_like(b, mean))


def _center(b: Builder, v: Value, axes: tuple[int, ...], dtype: np.dtype | None, where: SymValue | None, count: Count) -> Value:
    """The mean with the reduced axes kept, in the accumulator's dtype."""
    place = loc("_core._methods._var", "arrmean = umr_sum(")
    total = reduce_value(b, v, Reduction(np.add, axes, dtype, None, True, None, where, place))
    n = count.value
    if count.items is None and b.dims(n) != b.dims(total):
        n = b.emit("reshape", n, dims=b.dims(total))
    text = "arrmean = um.true_divide(" if b.dims(total) else "arrmean = arrmean.dtype.type("
    return divide(b, total, n, args.value_dtype(total), loc("_core._methods._var", text), reports=False)


def _squared_deviations(b: Builder, v: Value, center: Value, own: np.dtype, *, weak: bool) -> Value:
    """`|a - mean|²`, real for complex input."""
    kind: type | np.dtype = args.value_dtype(center)
    if weak:
        kind = {"i": int, "f": float, "c": complex}.get(args.value_dtype(center).kind, kind)
    try:
        dt = np.subtract.resolve_dtypes((own, kind, None))[0]
    except TypeError as e:
        raise args.refuse(str(e)) from None
    if dt.kind not in "iufc":
        raise args.refuse("deviations of this dtype")
    dims = b.broadcast_dims(b.dims(v), b.dims(center))
    if not b.dims_agree(dims, b.dims(v)):
        raise args.refuse("mean of a larger shape")
    reports = dt.kind in "fc"
    where = {k: loc("_core._methods._var", text) for k, text in _DEVIATION_LINES.items()}

    def report(name: str, key: str) -> ReportSite | None:
        return site(b, name, where[key]) if reports else None

    x = b.emit("sub", b.convert(v, dt), b.broadcast(b.convert(center, dt), dims), report=report("subtract", "subtract"))
    if own.kind in "iuf":
        return b.emit("square", x, report=report("square", "square"))
    if dt.kind == "c":
        both = sites(b, "square", where["complex"], 2)
        re, im = (b.emit("square", b.emit(p, x), report=s) for p, s in zip(("real", "imag"), both))
        return b.emit("add", re, im, report=report("add", "add"))
    return b.emit("mul", x, x, report=report("multiply", "multiply"))


_DEVIATION_LINES = {
    "subtract": "x = um.subtract(",
    "square": "x = um.square(",
    "complex": "um.square(xv",
    "add": "x = um.add(",
    "multiply": "x = um.multiply(",
}


def root_of(b: Builder, q: Value) -> Value:
    """The square root of a variance: never negative, so nothing is reported of real ones."""
    dtype = args.value_dtype(q)
    if dtype.kind not in "fc":
        raise args.refuse("std in an integer dtype")
    place = loc("_core._methods._std", "um.sqrt(ret, out=ret)" if b.dims(q) else "ret.dtype.type(um.sqrt(ret))")
    return b.emit("sqrt", q, report=site(b, "sqrt", place) if dtype.kind == "c" else None)


@rule(np.mean)
def mean(
    b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
    keepdims: SymValue = NO_VALUE, *, where: SymValue = NO_VALUE,
) -> SymValue:  # fmt: skip
    return mean_rule(b, a, axis, dtype, out, keepdims, where)


@method("mean")
def mean_method(
    b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
    keepdims: SymValue = FALSE, *, where: SymValue = TRUE,
) -> SymValue:  # fmt: skip
    return mean_rule(b, a, axis, dtype, out, keepdims, where)


def _register_spread(name: str, root: bool) -> None:
    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        ddof: SymValue = Const(0), keepdims: SymValue = NO_VALUE, *, where: SymValue = NO_VALUE,
        mean: SymValue = NO_VALUE, correction: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        if args.passed(correction):
            if args.static(b, ddof) != 0:
                raise args.refuse("ddof and correction")
            ddof = correction
        return spread_rule(b, a, axis, dtype, out, ddof, keepdims, where, mean, root=root)

    def as_method(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        ddof: SymValue = Const(0), keepdims: SymValue = FALSE, *, where: SymValue = TRUE, mean: SymValue = NONE,
    ) -> SymValue:  # fmt: skip
        return spread_rule(b, a, axis, dtype, out, ddof, keepdims, where, mean, root=root)

    rule(getattr(np, name))(function)
    method(name)(as_method)


_register_spread("var", root=False)
_register_spread("std", root=True)


@rule(np.average)
def average(
    b: Builder, a: SymValue, axis: SymValue = NONE, weights: SymValue = NONE, returned: SymValue = FALSE, *,
    keepdims: SymValue = NO_VALUE,
) -> SymValue:  # fmt: skip
    """The mean; weights are left to NumPy."""
    if args.given(weights) or args.flag(b, returned):
        raise args.refuse("weights, or the sum of weights")
    return mean_rule(b, args.array_like(b, a), axis, NONE, NONE, keepdims, NO_VALUE)
