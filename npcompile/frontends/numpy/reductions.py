"""Rules of sum, prod, max, min, any, all, ptp, count_nonzero, argmax, argmin and of `ufunc.reduce`.

In: symbolic arguments by NumPy's own signatures. Out: `reduce` and `argreduce` nodes. Statistics are in `statistics.py`.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.graph import Loc, Value

from . import arguments as args
from .contiguity import flat
from .conversion import copied
from .promotion import dtype_of, is_numpy
from .reduce_core import OPS, Reduction, cast, reduce_call, reduce_dtypes, reduce_value
from .registry import FALSE, NO_VALUE, NONE, TRUE, method, rule
from .sites import loc, site

_INTP = np.dtype(np.intp)
_BOOL = np.dtype(np.bool_)
_COUNT_KIND = "numpy" if isinstance(np.count_nonzero(np.ones(1)), np.generic) else "python"


def place_of(a: SymValue, name: str, ufunc_name: str) -> Loc | None:
    """Where `np.<name>(a)` warns: `_wrapreduction` for arrays and plain numbers, the method's code for NumPy scalars."""
    if (isinstance(a, Scalar) and a.kind == "numpy") or (isinstance(a, Const) and isinstance(a.value, np.generic)):
        return loc(f"_core._methods.{name}", f"return {ufunc_name}(")
    return loc("_core.fromnumeric._wrapreduction", "return ufunc.reduce(")


def reduction(
    b: Builder,
    ufunc: np.ufunc,
    a: SymValue,
    place: Loc | None,
    *,
    axis: SymValue = NONE,
    dtype: SymValue | np.dtype = NONE,
    out: SymValue = NONE,
    keepdims: SymValue = FALSE,
    initial: SymValue = NO_VALUE,
    where: SymValue = NO_VALUE,
) -> SymValue:
    """One reduction call with unparsed arguments."""
    a = args.array_like(b, a)
    if isinstance(initial, Const) and initial.value is None:
        raise args.refuse("initial=None")
    r = Reduction(
        ufunc,
        args.axes(b, axis, args.rank(a), scalar_ok=True),
        dtype if isinstance(dtype, np.dtype) else args.dtype(b, dtype),
        args.out_array(b, out),
        args.flag(b, keepdims),
        initial if args.passed(initial) else None,
        where if args.passed(where) else None,
        place,
    )
    return reduce_call(b, a, r)


def _register_arithmetic(name: str, ufunc: np.ufunc, internal: str, callee: str) -> None:
    """`np.<name>` and the method of the same name, for reductions that take a dtype."""

    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        keepdims: SymValue = NO_VALUE, initial: SymValue = NO_VALUE, where: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        place = place_of(b.force(a), internal, callee)
        return reduction(b, ufunc, a, place, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)

    def as_method(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        keepdims: SymValue = FALSE, initial: SymValue = NO_VALUE, where: SymValue = TRUE,
    ) -> SymValue:  # fmt: skip
        place = loc(f"_core._methods.{internal}", f"return {callee}(")
        return reduction(b, ufunc, a, place, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)

    rule(getattr(np, name))(function)
    method(name)(as_method)


_register_arithmetic("sum", np.add, "_sum", "umr_sum")
_register_arithmetic("prod", np.multiply, "_prod", "umr_prod")


def _register_extreme(names: tuple[str, ...], ufunc: np.ufunc, internal: str, callee: str) -> None:
    """`np.max`, `np.amax`, ... and the method named first."""

    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = NO_VALUE,
        initial: SymValue = NO_VALUE, where: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        place = place_of(b.force(a), internal, callee)
        return reduction(b, ufunc, a, place, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)

    def as_method(
        b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = FALSE,
        initial: SymValue = NO_VALUE, where: SymValue = TRUE,
    ) -> SymValue:  # fmt: skip
        place = loc(f"_core._methods.{internal}", f"return {callee}(")
        return reduction(b, ufunc, a, place, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)

    rule(*{getattr(np, n) for n in names})(function)
    method(names[0])(as_method)


_register_extreme(("max", "amax"), np.maximum, "_amax", "umr_maximum")
_register_extreme(("min", "amin"), np.minimum, "_amin", "umr_minimum")


def _register_truth(name: str, ufunc: np.ufunc) -> None:
    """`np.any` and `np.all`: always reduced as bool."""
    bool_ = np.dtype(np.bool_)

    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = NO_VALUE,
        *, where: SymValue = NO_VALUE,
    ) -> SymValue:  # fmt: skip
        return reduction(b, ufunc, a, None, axis=axis, dtype=bool_, out=out, keepdims=keepdims, where=where)

    def as_method(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
        keepdims: SymValue = FALSE, *, where: SymValue = TRUE,
    ) -> SymValue:  # fmt: skip
        if args.given(dtype) and args.dtype(b, dtype) != bool_:
            raise args.refuse("dtype of any or all")
        return reduction(b, ufunc, a, None, axis=axis, dtype=bool_, out=out, keepdims=keepdims, where=where)

    rule(getattr(np, name))(function)
    method(name)(as_method)


_register_truth("any", np.logical_or)
_register_truth("all", np.logical_and)


def _register_reduce(ufunc: np.ufunc) -> None:
    """`np.add.reduce` and friends."""

    def reduce(
        b: Builder, array: SymValue, axis: SymValue = Const(0), dtype: SymValue = NONE, out: SymValue = NONE,
        keepdims: SymValue = FALSE, initial: SymValue = NO_VALUE, where: SymValue = TRUE,
    ) -> SymValue:  # fmt: skip
        return reduction(b, ufunc, array, None, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)

    rule(ufunc.reduce)(reduce)


for _ufunc in OPS:
    _register_reduce(_ufunc)


@rule(np.ptp)
def ptp(b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = NO_VALUE) -> SymValue:
    """max - min; the difference is `np.subtract`, inside NumPy's `_methods._ptp`."""
    a = args.array_like(b, a)
    target = args.out_array(b, out)
    if dtype_of(a).kind == "b" or (target is not None and target.dtype != dtype_of(a)):
        raise args.refuse("ptp of bools, or into another dtype")
    axes, keep = args.axes(b, axis, args.rank(a), scalar_ok=True), args.flag(b, keepdims)
    v = b.value_of(a)
    high, low = (reduce_value(b, v, Reduction(u, axes, keepdims=keep)) for u in (np.maximum, np.minimum))
    place = loc("_core._methods._ptp", "return um.subtract(")
    report = site(b, "subtract", place) if dtype_of(a).kind in "fc" else None
    return args.finish(b, b.emit("sub", high, low, report=report), target)


@rule(np.count_nonzero)
def count_nonzero(b: Builder, a: SymValue, axis: SymValue = NONE, *, keepdims: SymValue = FALSE) -> SymValue:
    a = args.array_like(b, a)
    axes, keep = args.axes(b, axis, args.rank(a), scalar_ok=True), args.flag(b, keepdims)
    if isinstance(a, Array) and a.dtype != _BOOL:
        a = copied(b, a, _BOOL, "K")
    v = reduce_value(b, b.value_of(a, _BOOL), Reduction(np.add, axes, dtype=_INTP, keepdims=keep))
    if not args.given(axis) and not keep:
        return b.scalar(v, _COUNT_KIND)
    return args.finish(b, v)


def _arg_extreme(op: str, b: Builder, a: SymValue, axis: SymValue, out: SymValue, keepdims: SymValue) -> SymValue:
    a = args.array_like(b, a)
    rank, target, keep = args.rank(a), args.out_array(b, out), args.flag(b, keepdims)
    along = args.optional_axis(b, axis, rank or 1)
    if target is not None and target.dtype != _INTP:
        raise args.refuse("out of argmax or argmin with another dtype than intp")
    v = b.value_of(a)
    if along is None or rank == 0:
        if rank != 1:
            v = flat(b, v)
        along, kept = 0, tuple(range(rank))
    else:
        kept = (along,)
    if not args.nonempty(b, (b.dims(v)[along],)):
        raise Unsupported("empty-reduction", op)
    found: Value = b.emit("argreduce", v, op=op, axis=along)
    if keep and kept:
        found = b.emit("expand", found, axes=kept)
    return args.finish(b, found, target)


def _register_arg(name: str) -> None:
    def function(
        b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, *, keepdims: SymValue = NO_VALUE
    ) -> SymValue:
        return _arg_extreme(name, b, a, axis, out, keepdims)

    rule(getattr(np, name))(function)
    method(name)(function)


for _name in ("argmax", "argmin"):
    _register_arg(_name)


# ---------------------------------------------------------------------------------------------- running totals


def accumulation(
    b: Builder, ufunc: np.ufunc, a: SymValue, axis: int | None, dtype: SymValue, out: SymValue, place: Loc | None = None
) -> SymValue:
    """`ufunc.accumulate`; over the flattened array when `axis` is None."""
    target, array = args.out_array(b, out), args.as_array(b, a)
    v = b.read(array) if axis is not None else flat(b, b.read(array))
    acc, arg = reduce_dtypes(ufunc, array.dtype, args.dtype(b, dtype), None)
    if target is not None and (target.dtype != acc or target.rank != len(b.dims(v))):
        raise args.refuse("an out of an accumulation that has another dtype or rank")
    op = OPS[ufunc] if acc.kind != "b" else "any" if ufunc in (np.add, np.maximum) else "all"
    v = cast(b, v, arg, site(b, "cast", place))
    report = site(b, "accumulate", place) if acc.kind in "fc" and op in ("add", "mul") else None
    return args.finish(b, b.emit("scan", v, op=op, axis=axis or 0, acc=acc, report=report), target)


def _register_running(name: str, ufunc: np.ufunc) -> None:
    def running(b: Builder, a: SymValue, axis: SymValue, dtype: SymValue, out: SymValue, place: Loc | None) -> SymValue:
        """Over one axis, or over the flattened array."""
        a = args.array_like(b, a)
        along = args.optional_axis(b, axis, args.rank(a) or 1)
        return accumulation(b, ufunc, a, along if args.rank(a) else None, dtype, out, place)

    def function(b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE) -> SymValue:
        known = is_numpy(b.force(a))
        place = loc("_core.fromnumeric._wrapfunc", "return bound(") if known else loc("_core.fromnumeric._wrapit", "getattr(")
        return running(b, a, axis, dtype, out, place)

    def as_method(b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE) -> SymValue:
        return running(b, a, axis, dtype, out, None)

    rule(getattr(np, name))(function)
    method(name)(as_method)


_register_running("cumsum", np.add)
_register_running("cumprod", np.multiply)


def _register_accumulate(ufunc: np.ufunc) -> None:
    def accumulate(
        b: Builder, array: SymValue, axis: SymValue = Const(0), dtype: SymValue = NONE, out: SymValue = NONE
    ) -> SymValue:
        a = args.array_like(b, array)
        if not args.rank(a) or not args.given(axis):
            raise args.refuse("accumulate without an axis")
        return accumulation(b, ufunc, a, args.one_axis(b, axis, args.rank(a)), dtype, out)

    rule(ufunc.accumulate)(accumulate)


for _ufunc in (np.add, np.multiply, np.maximum, np.minimum):
    _register_accumulate(_ufunc)


@rule(*filter(None, [getattr(np, "cumulative_sum", None)]))
def cumulative_sum(
    b: Builder, x: SymValue, /, *, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
    include_initial: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    return _cumulative(b, np.add, x, axis, dtype, out, include_initial)


@rule(*filter(None, [getattr(np, "cumulative_prod", None)]))
def cumulative_prod(
    b: Builder, x: SymValue, /, *, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE,
    include_initial: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    return _cumulative(b, np.multiply, x, axis, dtype, out, include_initial)


def _cumulative(
    b: Builder, ufunc: np.ufunc, x: SymValue, axis: SymValue, dtype: SymValue, out: SymValue, initial: SymValue
) -> SymValue:
    """`ufunc.accumulate`, whose warnings come from NumPy's Python code."""
    a = args.as_array(b, x)
    if not a.rank or (not args.given(axis) and a.rank > 1) or args.flag(b, initial):
        raise args.refuse("a cumulative sum over several axes, or with the initial value")
    along = args.one_axis(b, axis, a.rank) if args.given(axis) else 0
    return accumulation(b, ufunc, a, along, dtype, out, loc("_core.fromnumeric._cumulative_func", "res = func.accumulate("))
