"""Operands of CuPy's functions: arrays and Python numbers, the loop that CuPy chooses for them, results.

In: symbolic values. Out: IR values of the loop's dtypes, fresh arrays in C order. CuPy itself is asked for the loop.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder, const_dtype
from npcompile.frontends.torch import promotion
from npcompile.frontends.torch.arguments import axes, axis, flag, given, integer, items, same_dims, shape, size, static, variadic
from npcompile.frontends.torch.promotion import as_tensor as as_array
from npcompile.frontends.torch.promotion import convert, refuse, value_dtype
from npcompile.frontends.torch.results import fresh
from npcompile.frontends.values import Const, Scalar, SymValue, Tensor, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout
from npcompile.ir.types import TensorType

from . import library

BOOL, INT64, FLOAT64 = np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float64)
FLOAT16, FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)


def as_operand(b: Builder, v: SymValue) -> SymValue:
    """An argument that is an array or a real Python number."""
    v = promotion.as_operand(b, v)
    if not isinstance(v, Tensor) and number_type(v) is None:
        raise refuse("a complex number beside an array of CuPy")
    return v


def number_type(v: SymValue) -> type | None:
    """bool, int or float for a Python number of such a type."""
    if isinstance(v, Const):
        return type(v.value) if type(v.value) in (bool, int, float) else None
    if isinstance(v, Scalar) and v.kind == "python":
        return {"b": bool, "i": int, "f": float}.get(v.dtype.kind)
    return None


_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 2}


@functools.cache
def loop(ufunc: Any, kinds: tuple[Any, ...]) -> tuple[tuple[np.dtype, ...], tuple[np.dtype, ...]]:
    """Dtypes of the loop that a ufunc of CuPy takes; `kinds` : a dtype for an array, a Python type for a number."""
    own = {bool: BOOL, int: INT64, float: FLOAT64}
    types = tuple(k if isinstance(k, np.dtype) else own[k] for k in kinds)
    weak = tuple(False if isinstance(k, np.dtype) else k for k in kinds)
    strong_kinds = [_KINDS[t.kind] for t, w in zip(types, weak, strict=True) if w is False]
    weak_kinds = [_KINDS[t.kind] for t, w in zip(types, weak, strict=True) if w is not False]
    if not strong_kinds or not weak_kinds or max(strong_kinds) < max(weak_kinds):
        weak = (False,) * len(types)
    try:
        op = ufunc._ops._guess_routine_from_in_types(types, weak)
        if op is None or op.routine is None:
            raise refuse(f"{ufunc.name} of these dtypes")
        return tuple(map(np.dtype, op.in_types)), tuple(map(np.dtype, op.out_types))
    except (AttributeError, TypeError) as e:
        raise refuse(f"{getattr(ufunc, 'name', ufunc)}: {e}") from None


def kind_of(v: SymValue) -> Any:
    return v.dtype if isinstance(v, Tensor) else number_type(v)


def value(b: Builder, v: SymValue, dtype: np.dtype) -> Value:
    """An operand as a value of the loop's dtype; a number that the dtype may not hold is CuPy's own matter."""
    if isinstance(v, Tensor):
        return convert(b, b.read(v.array), dtype)
    if isinstance(v, Const):
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= v.value <= np.iinfo(dtype).max:
            raise refuse(f"{v.value} as {dtype}")
        with np.errstate(all="ignore"):
            return b.const(np.asarray(v.value, const_dtype(v.value)).astype(dtype).item(), dtype)
    if dtype.kind in "iu" and dtype != INT64 and number_type(v) is int:
        number, limits = b.value_of(v), np.iinfo(dtype)
        over = b.emit("lt", number, b.const(limits.min, INT64))
        if dtype.itemsize < 8:
            over = b.emit("logical_or", over, b.emit("gt", number, b.const(limits.max, INT64)))
        b.exit_if(over, "int-out-of-range")
    return convert(b, b.value_of(v), dtype)


def working(dtype: np.dtype) -> np.dtype:
    """The dtype in which CuPy computes for a loop's dtype."""
    return FLOAT32 if dtype == FLOAT16 else dtype


def constant(b: Builder, x: Value, number: float) -> Value:
    """A number as a value like `x`."""
    return b.broadcast(b.const(number, value_dtype(x)), b.dims(x))


def type_of(dtype: np.dtype, dims: Sequence[Dim]) -> TensorType:
    return TensorType(dtype, tuple(dims), c_layout(dims))


def as_dtype(b: Builder, v: SymValue) -> np.dtype | None:
    """A `dtype` argument; None when it was not given."""
    x = static(b, v)
    if x is None:
        return None
    try:
        dt = np.dtype(x)
    except TypeError:
        raise refuse(f"dtype {x!r}") from None
    if dt not in library.DTYPES or not dt.isnative:
        raise Unsupported("dtype", str(dt))
    return dt


def none(b: Builder, *options: SymValue) -> None:
    """Options that must not be given (out, where, ...)."""
    if any(static(b, v) is not None for v in options):
        raise refuse("out or another option")


__all__ = [
    "as_array", "as_dtype", "as_operand", "axes", "axis", "constant", "convert", "flag", "fresh", "given", "integer", "items",
    "kind_of", "loop", "none", "number_type", "refuse", "same_dims", "shape", "size", "static", "type_of", "value", "value_dtype",
    "variadic", "working",
]  # fmt: skip
