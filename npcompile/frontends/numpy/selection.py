"""Rules of where, clip, copyto, nan_to_num, diff, select.

In: symbolic arguments by NumPy's own signatures. Out: selects and comparisons; nothing here moves data.
"""

from __future__ import annotations

import importlib

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout, korder

from . import arguments as args
from .contiguity import layout_for
from .conversion import assign_in_order, shows_order
from .promotion import dtype_of, is_python_number, kind_of, operand, result_type
from .reduce_core import mask_of
from .registry import NO_VALUE, NONE, TRUE, lookup, method, rule
from .searching import nonzero
from .sites import loc, site
from .ufuncs import ask_ones

BOOL = np.dtype(np.bool_)
_CLIP: np.ufunc = getattr(importlib.import_module("numpy._core.umath"), "clip")  # noqa: B009


# ---------------------------------------------------------------------------------------------- where, select


@rule(np.where)
def where(b: Builder, condition: SymValue, x: SymValue = NO_VALUE, y: SymValue = NO_VALUE, /) -> SymValue:
    if not args.passed(x) and not args.passed(y):
        return nonzero(b, condition)
    if not (args.passed(x) and args.passed(y)):
        raise args.refuse("where with one argument")
    mask = b.value_of(args.array_like(b, condition), BOOL)
    x, y = args.array_like(b, x), args.array_like(b, y)
    dt = result_type(kind_of(x), kind_of(y))
    values = [mask, operand(b, x, dt), operand(b, y, dt)]
    dims = b.broadcast_dims(*(b.dims(v) for v in values))
    ask_ones(b, values, dims)
    return b.array(b.emit("select", *(b.broadcast(v, dims) for v in values)))


@rule(np.select)
def select(b: Builder, condlist: SymValue, choicelist: SymValue, default: SymValue = Const(0)) -> SymValue:
    conditions, choices = args.items(b, condlist), args.items(b, choicelist)
    if not conditions or choices is None or len(conditions) != len(choices):
        raise args.refuse("select of lists that do not match")
    masks = [args.array_like(b, c) for c in conditions]
    if any(dtype_of(c) != BOOL for c in masks):
        raise args.refuse("select by conditions that are not bool")
    operands = [args.array_like(b, c) for c in (*choices, default)]
    dt = result_type(*map(kind_of, operands))
    if not all(np.can_cast(dtype_of(v), dt, "same_kind") for v in operands[:-1]):
        raise args.refuse("select of choices that do not cast")
    values = [operand(b, v, dt) for v in operands]
    bools = [b.value_of(m) for m in masks]
    dims = b.broadcast_dims(*(b.dims(v) for v in (*bools, *values)))
    spread = [b.broadcast(v, dims) for v in values]
    out = spread[-1]
    for m, v in zip(reversed(bools), reversed(spread[:-1])):
        out = b.emit("select", b.broadcast(m, dims), v, out)
    return b.array(b.emit("copy", out, layout=c_layout(dims)))


# ---------------------------------------------------------------------------------------------- clip


def _bound(b: Builder, v: SymValue, dtype: np.dtype, low: bool) -> SymValue:
    """A bound of `clip`, or NONE when it is None or a Python int beyond an integer dtype."""
    if not args.given(v):
        return NONE
    v = args.array_like(b, v)
    if dtype.kind in "iu" and isinstance(v, Const) and type(v.value) is int:
        info = np.iinfo(dtype)
        if (low and v.value <= info.min) or (not low and v.value >= info.max):
            return NONE
    return v


def _cast_there(b: Builder, v: SymValue, dtype: np.dtype, line: str) -> SymValue:
    """A Python float, cast to a narrower dtype where NumPy's Python code calls the ufunc: that is where it may warn."""
    if not isinstance(v, Scalar) or not is_python_number(v) or v.dtype.kind != "f" or dtype.char not in "ef":
        return v
    return b.scalar(b.convert(b.value_of(v), dtype, report=site(b, "cast", loc("_core._methods._clip", line))))


def clip_rule(b: Builder, a: SymValue, low: SymValue, high: SymValue, out: SymValue) -> SymValue:
    """`_methods._clip`."""
    a = args.array_like(b, a)
    dtype = dtype_of(a)
    low, high = _bound(b, low, dtype, True), _bound(b, high, dtype, False)
    which = "clip(a, min" if args.given(low) and args.given(high) else "maximum(" if args.given(low) else "minimum("
    low, high = (_cast_there(b, v, dtype, f"return um.{which}") for v in (low, high))
    more = {"out": out} if args.given(out) else {}
    if not (args.given(low) and args.given(high)):
        found, operands = lookup(np.positive), [a]
        if args.given(low):
            found, operands = lookup(np.maximum), [a, low]
        elif args.given(high):
            found, operands = lookup(np.minimum), [a, high]
        if found is None:
            raise args.refuse("clip with one bound")
        return found(b, *operands, **more)
    try:
        resolved = _CLIP.resolve_dtypes((*map(kind_of, (a, low, high)), None))
    except TypeError as e:
        raise args.refuse(str(e)) from None
    dt = args.as_dtype(resolved[0])
    if dt.kind == "c":
        raise args.refuse("clip of complex")
    target = args.out_array(b, out)
    if target is not None and not np.can_cast(dt, target.dtype, "same_kind"):
        raise args.refuse("clip into this out")
    values = [operand(b, v, dt) for v in (a, low, high)]
    dims = b.broadcast_dims(*(b.dims(v) for v in values))
    if target is not None:
        dims = b.broadcast_dims(dims, b.dims(target))
    ask_ones(b, values, dims)
    layout = korder([args.value_layout(b.broadcast(v, dims)) for v in values], dims)
    clipped = _clipped(b, b.broadcast(values[0], dims), values[1:])
    return args.finish(b, b.emit("copy", clipped, layout=layout), target)


def _clipped(b: Builder, x: Value, bounds: list[Value]) -> Value:
    """NaN from any operand wins. NumPy's loop for constant bounds keeps the value on a tie (-0.0 against 0.0), its other
    loop takes the bound."""
    floating = args.value_dtype(x).kind == "f"
    dims = b.dims(x)
    constant = all(d.const == 1 for bound in bounds for d in b.dims(bound))
    for bound, keep, leave in zip(bounds, ("gt", "lt"), ("lt", "gt")):
        spread = b.broadcast(bound, dims)
        if constant or not floating:
            beyond = b.emit(leave, x, spread)
            if floating:
                beyond = b.emit("logical_or", beyond, b.broadcast(b.emit("isnan", bound), dims))
            x = b.emit("select", beyond, spread, x)
        else:
            stays = b.emit("logical_or", b.emit(keep, x, spread), b.emit("isnan", x))
            x = b.emit("select", stays, x, spread)
    return x


@rule(np.clip)
def clip(
    b: Builder, a: SymValue, a_min: SymValue = NO_VALUE, a_max: SymValue = NO_VALUE, out: SymValue = NONE, *,
    min: SymValue = NO_VALUE, max: SymValue = NO_VALUE,
) -> SymValue:  # fmt: skip
    if args.passed(a_min) != args.passed(a_max) or (args.passed(a_min) and (args.passed(min) or args.passed(max))):
        raise args.refuse("bounds of clip")
    return clip_rule(b, a, *((a_min, a_max) if args.passed(a_min) else (min, max)), out)


@method("clip")
def clip_method(b: Builder, a: SymValue, min: SymValue = NONE, max: SymValue = NONE, out: SymValue = NONE) -> SymValue:
    return clip_rule(b, a, min, max, out)


# ---------------------------------------------------------------------------------------------- copyto, nan_to_num, diff


@rule(np.copyto)
def copyto(b: Builder, dst: SymValue, src: SymValue, casting: SymValue = Const("same_kind"), where: SymValue = TRUE) -> SymValue:
    target = b.force(dst)
    if not isinstance(target, Array):
        raise args.refuse("copyto something that is no array")
    v = args.array_like(b, src)
    how = args.static(b, casting)
    if isinstance(kind_of(v), np.dtype):
        allowed = np.can_cast(dtype_of(v), target.dtype, how)
    else:
        order = "biufc"
        allowed = how in ("same_kind", "unsafe") and order.index(dtype_of(v).kind) <= order.index(target.dtype.kind)
    if not allowed:
        raise args.refuse(f"copyto with casting {how!r}")
    dims = b.dims(target)
    value = operand(b, v, target.dtype)
    if not b.dims_agree(b.broadcast_dims(b.dims(value), dims), dims):
        raise args.refuse("copyto a smaller array")
    mask = mask_of(b, where, dims)
    if isinstance(v, Array) and shows_order(b, target, v):
        if mask is not None:
            raise Unsupported("overlap-order", "np.copyto with where=")
        assign_in_order(b, target, v)
    else:
        b.store(target, b.broadcast(value, dims), mask)
    return NONE


@rule(np.nan_to_num)
def nan_to_num(
    b: Builder, x: SymValue, copy: SymValue = TRUE, nan: SymValue = Const(0.0), posinf: SymValue = NONE,
    neginf: SymValue = NONE,
) -> SymValue:  # fmt: skip
    a = args.array_like(b, x)
    dt = dtype_of(a)
    rank = args.rank(a)
    if not args.flag(b, copy) and isinstance(a, Array):
        raise args.refuse("nan_to_num in place")
    v = b.value_of(a)
    if dt.kind in "fc":
        v = _no_nan(b, v, dt, (nan, posinf, neginf))
    if rank == 0:
        return b.scalar(v)
    assert isinstance(a, Array)
    return b.array(b.emit("copy", v, layout=layout_for(b, a, "K", b.dims(a))))


def _no_nan(b: Builder, v: Value, dt: np.dtype, fills: tuple[SymValue, ...]) -> Value:
    if dt.kind == "c":
        re, im = (_no_nan(b, b.emit(part, v), np.dtype(f"f{dt.itemsize // 2}"), fills) for part in ("real", "imag"))
        return b.emit("complex", re, im)
    info = np.finfo(dt)
    dims = b.dims(v)
    inf = b.broadcast(b.const(np.inf, dt), dims)
    low = b.broadcast(b.const(-np.inf, dt), dims)
    tests = (b.emit("isnan", v), b.emit("eq", v, inf), b.emit("eq", v, low))
    for test, fill, default in zip(tests, fills, (0.0, info.max, info.min)):
        value = args.static(b, fill) if args.given(fill) else default
        if not isinstance(value, (int, float, np.floating, np.integer)) or not np.can_cast(type(value), dt, "same_kind"):
            raise args.refuse("replacement in nan_to_num")
        v = b.emit("select", test, b.broadcast(b.const(dt.type(value), dt), dims), v)
    return v


@rule(np.diff)
def diff(
    b: Builder, a: SymValue, n: SymValue = Const(1), axis: SymValue = Const(-1), prepend: SymValue = NO_VALUE,
    append: SymValue = NO_VALUE,
) -> SymValue:  # fmt: skip
    times = args.index(args.static(b, n))
    if times == 0:
        return args.array_like(b, a)
    if args.passed(prepend) or args.passed(append) or times < 0:
        raise args.refuse("diff with prepend or append")
    array = args.as_array(b, args.array_like(b, a))
    if array.rank == 0:
        raise args.refuse("diff of a number")
    along = args.one_axis(b, axis, array.rank)
    v = b.read(array)
    place = site(b, "subtract", loc("lib._function_base_impl.diff", "a = op(a[slice1], a[slice2])"))
    for _ in range(times):
        dims = b.dims(v)
        less = 1 if b.dim_ge(dims[along], 1) else 0
        parts = []
        for start in (less, 0):
            starts = tuple(Dim.of(start if i == along else 0) for i in range(len(dims)))
            part = tuple(d - less if i == along else d for i, d in enumerate(dims))
            parts.append(b.emit("slice", v, starts=starts, steps=(Dim.of(1),) * len(dims), dims=part))
        if array.dtype == BOOL:
            v = b.emit("ne", *parts)
        else:
            v = b.emit("sub", *parts, report=place if array.dtype.kind in "fc" else None)
    return b.array(v)
