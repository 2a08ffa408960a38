"""The rule of `np.pad` with constant values.

In: an array, widths and values known by their number of axes. Out: one fresh array, in Fortran order where the operand is in that
order alone. Never: other modes, whose padding depends on elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue
from npcompile.ir.dims import Dim, dim_max
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout, f_layout

from . import arguments as args
from .contiguity import is_contiguous
from .registry import rule

ZERO = Dim()


@rule(np.pad)
def pad(b: Builder, array: SymValue, pad_width: SymValue, mode: SymValue = Const("constant"), **kwargs: SymValue) -> SymValue:
    a = args.as_array(b, array)
    if args.static(b, mode) != "constant" or not a.rank or not kwargs.keys() <= {"constant_values"}:
        raise args.refuse("this mode of pad")
    widths = [tuple(args.dim(b, w) for w in pair) for pair in _pairs(b, pad_width, a.rank)]
    if not all(b.dim_ge(w, 0) for pair in widths for w in pair):
        raise args.refuse("a negative width")
    widths = [tuple(dim_max(w, ZERO) for w in pair) for pair in widths]  # the prim asks for a proof
    values = [
        tuple(_value(args.static(b, x), a.dtype) for x in pair)
        for pair in _pairs(b, kwargs.get("constant_values", Const(0)), a.rank)
    ]
    fortran = is_contiguous(b, a, "F") and not is_contiguous(b, a, "C")
    out = b.read(a)
    for side, x in _steps(values):
        low, high = (tuple(w[k] if use[k] else ZERO for w, use in zip(widths, side)) for k in (0, 1))
        if any(w.const != 0 for w in (*low, *high)):
            out = b.emit("pad", out, b.const(x, a.dtype), low=low, high=high)
    layout = f_layout(b.dims(out)) if fortran else c_layout(b.dims(out))
    return b.array(out if _is_fresh(out, b.read(a), layout) else b.emit("copy", out, layout=layout))


def _pairs(b: Builder, v: SymValue, rank: int) -> list[tuple[SymValue, SymValue]]:
    """What is given for both sides of each axis: one for all, a pair for all, or a pair (or one) for each axis."""
    items = args.items(b, v)
    if items is None:
        return [(b.force(v), b.force(v))] * rank
    inner = [args.items(b, x) for x in items]
    if all(x is None for x in inner) and len(items) in (1, 2):
        return [(items[0], items[-1])] * rank
    if any(x is None or len(x) not in (1, 2) or len(x) != len(inner[0] or ()) for x in inner) or len(items) not in (1, rank):
        raise args.refuse("widths or values of pad")
    pairs = [(x[0], x[-1]) for x in inner if x is not None]
    return pairs if len(pairs) == rank else pairs * rank


def _value(x: Any, dtype: np.dtype) -> Any:
    """A number as an assignment to an element casts it, where that is silent."""
    if not isinstance(x, (bool, int, float, complex, np.number, np.bool_)) or (isinstance(x, complex) and dtype.kind != "c"):
        raise args.refuse("values of pad")
    try:
        with np.errstate(all="raise"):
            return np.array(x).astype(dtype)[()]
    except (FloatingPointError, OverflowError):
        raise args.refuse("values of pad") from None


def _steps(values: list[tuple[Any, Any]]) -> list[tuple[list[tuple[bool, bool]], Any]]:
    """Which sides of which axes are padded with which value, one after the other: later axes pad the corners."""
    first = values[0][0]
    if all(x.tobytes() == first.tobytes() for pair in values for x in pair):
        return [([(True, True)] * len(values), first)]
    none = [(False, False)] * len(values)
    return [
        ([*none[:axis], (side == 0, side == 1), *none[axis + 1 :]], values[axis][side])
        for axis in range(len(values))
        for side in (0, 1)
    ]


def _is_fresh(v: Value, read: Value, layout: Any) -> bool:
    return v is not read and v.type.layout == layout  # type: ignore[union-attr]
