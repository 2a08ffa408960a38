"""Reductions of CuPy: sum, prod, mean, var, std, extremes, their places, any, all, count_nonzero.

In: symbolic arguments by CuPy's own signatures. Out: fresh arrays in C order, without axes where NumPy gives scalars. Half
precision is accumulated in float32.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.contiguity import flat
from npcompile.frontends.reducing import need_elements, reduced
from npcompile.frontends.values import Const, SymValue
from npcompile.ir.dims import Dim, product
from npcompile.ir.graph import Value

from . import operands as o
from .registry import FALSE, NONE, functions, method

UINT64 = np.dtype(np.uint64)


def _axes(b: Builder, v: SymValue, rank: int) -> tuple[int, ...]:
    x = o.static(b, v)
    if x is None:
        return tuple(range(rank))
    if x == ():
        raise o.refuse("a reduction over no axes")
    return tuple(sorted({_axis(d, rank) for d in (x if isinstance(x, tuple) else (x,))}))


def _axis(d: object, rank: int) -> int:
    if type(d) is not int or not -rank <= d < rank:
        raise o.refuse(f"axis {d!r} of rank {rank}")
    return d % rank


def _scaled(b: Builder, v: Value, d: Dim) -> Value:
    return b.emit("div", v, b.broadcast(o.convert(b, b.dim_value(d), o.value_dtype(v)), b.dims(v)))


def _both(*names: str):  # type: ignore[no-untyped-def]
    """Functions, and methods of the same names (amax and amin are max and min)."""

    def register(fn):  # type: ignore[no-untyped-def]
        functions(*names)(fn)
        method(*(n for n in names if n not in ("amax", "amin")))(fn)
        return fn

    return register


def _total_dtype(dt: np.dtype) -> np.dtype:
    return o.INT64 if dt.kind in "bi" else UINT64 if dt.kind == "u" else dt


def _register_total(name: str, op: str) -> None:
    def rule(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = FALSE
    ) -> SymValue:
        o.none(b, out)
        x = o.as_array(b, a)
        dt = o.as_dtype(b, dtype) or _total_dtype(x.dtype)
        if dt.kind == "b" or (dt.kind in "iu" and (x.dtype.kind == "f" or dt.itemsize < 8)):
            raise o.refuse(f"{name} of {x.dtype} as {dt}")
        v = o.convert(b, b.read(x.array), o.working(dt))
        total = reduced(b, v, op, _axes(b, axis, x.rank), o.flag(b, keepdims))
        return o.fresh(b, o.convert(b, total, dt))

    _both(name)(rule)


_register_total("sum", "add")
_register_total("prod", "mul")


@_both("mean")
def mean(
    b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = FALSE
) -> SymValue:
    o.none(b, out)
    x = o.as_array(b, a)
    dt = o.as_dtype(b, dtype) or (x.dtype if x.dtype.kind == "f" else o.FLOAT64)
    if dt.kind != "f":
        raise o.refuse(f"mean as {dt}")
    v = o.convert(b, b.read(x.array), o.working(dt))
    axes = _axes(b, axis, x.rank)
    need_elements(b, v, axes)
    count = product([b.dims(v)[k] for k in axes])
    return o.fresh(b, o.convert(b, _scaled(b, reduced(b, v, "add", axes, o.flag(b, keepdims)), count), dt))


def _register_spread(name: str) -> None:
    def rule(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE, ddof: SymValue = Const(0),
        keepdims: SymValue = FALSE,
    ) -> SymValue:  # fmt: skip
        o.none(b, out, dtype)
        x, less, keep = o.as_array(b, a), o.integer(b, ddof), o.flag(b, keepdims)
        dt = x.dtype if x.dtype.kind == "f" else o.FLOAT64
        if dt == o.FLOAT16:
            raise o.refuse(f"{name} of {dt}")
        v = o.convert(b, b.read(x.array), dt)
        axes = _axes(b, axis, x.rank)
        count = product([b.dims(v)[k] for k in axes])
        if not axes or not b.dim_ge(count, less + 1):
            raise o.refuse("no degrees of freedom")
        d = b.emit("sub", v, b.broadcast(_scaled(b, reduced(b, v, "add", axes, True), count), b.dims(v)))
        spread = _scaled(b, reduced(b, b.emit("mul", d, d), "add", axes, keep), count - less)
        return o.fresh(b, b.emit("sqrt", spread) if name == "std" else spread)

    _both(name)(rule)


_register_spread("var")
_register_spread("std")


def _register_extreme(op: str) -> None:
    def rule(b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = FALSE) -> SymValue:
        o.none(b, out)
        x = o.as_array(b, a)
        v, axes = b.read(x.array), _axes(b, axis, x.rank)
        need_elements(b, v, axes)
        how = ("any" if op == "max" else "all") if x.dtype.kind == "b" else op
        return o.fresh(b, reduced(b, v, how, axes, o.flag(b, keepdims)))

    def place(
        b: Builder, a: SymValue, axis: SymValue = NONE, dtype: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = FALSE
    ) -> SymValue:
        o.none(b, out, dtype)
        x, at, keep = o.as_array(b, a), o.static(b, axis), o.flag(b, keepdims)
        if x.dtype.kind == "b" or not x.rank:
            raise o.refuse(f"arg{op} of this array")
        v = b.read(x.array)
        if at is None:
            v, where = flat(b, v), 0
        else:
            where = _axis(at, x.rank)
        need_elements(b, v, (where,))
        found = b.emit("argreduce", v, op=f"arg{op}", axis=where)
        if keep:
            found = b.emit("expand", found, axes=tuple(range(x.rank)) if at is None else (where,))
        return o.fresh(b, found)

    _both(op, f"a{op}")(rule)
    _both(f"arg{op}")(place)


_register_extreme("max")
_register_extreme("min")


def _register_truth(name: str) -> None:
    def rule(b: Builder, a: SymValue, axis: SymValue = NONE, out: SymValue = NONE, keepdims: SymValue = FALSE) -> SymValue:
        o.none(b, out)
        x = o.as_array(b, a)
        v = o.convert(b, b.read(x.array), o.BOOL)
        return o.fresh(b, reduced(b, v, name, _axes(b, axis, x.rank), o.flag(b, keepdims)))

    _both(name)(rule)


_register_truth("any")
_register_truth("all")


@functions("count_nonzero")
def count_nonzero(b: Builder, a: SymValue, axis: SymValue = NONE) -> SymValue:
    x = o.as_array(b, a)
    v = o.convert(b, o.convert(b, b.read(x.array), o.BOOL), o.INT64)
    return o.fresh(b, reduced(b, v, "add", _axes(b, axis, x.rank)))
