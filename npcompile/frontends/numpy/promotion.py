"""NEP 50 by asking NumPy: which loop a ufunc takes for given operands, and numbers as IR values of a loop's dtype.

In: ufuncs and symbolic operands. Out: dtypes, converted values, out-of-range checks as exits. Never: a table of promotions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder, const_dtype
from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.graph import Value
from npcompile.ir.types import is_compiled

BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)
COMPLEX128 = np.dtype(np.complex128)

Kind = np.dtype | type
"""An operand as promotion sees it: a dtype (strong), or `int`, `float`, `complex` (a weak Python number)."""

_WEAK: dict[str, type] = {"i": int, "f": float, "c": complex}


def as_dtype(b: Builder, v: SymValue) -> np.dtype | None:
    """A dtype argument; None stays None."""
    given = b.static(v)
    if given is None:
        return None
    try:
        dt = np.dtype(given)
    except TypeError as e:
        raise Unsupported("invalid-arguments", str(e)) from None
    if not is_compiled(dt):
        raise Unsupported("dtype", f"dtype {dt} is not compiled")
    return dt


def is_numpy(v: SymValue) -> bool:
    """Is it an array or a NumPy scalar?"""
    return isinstance(v, Array) or (isinstance(v, Scalar) and v.kind == "numpy") or is_numpy_const(v)


def is_numpy_const(v: SymValue) -> bool:
    return isinstance(v, Const) and isinstance(v.value, np.generic)


def is_numpy_scalar(v: SymValue) -> bool:
    return (isinstance(v, Scalar) and v.kind == "numpy") or is_numpy_const(v)


def is_python_number(v: SymValue) -> bool:
    if isinstance(v, Scalar):
        return v.kind == "python"
    return isinstance(v, Const) and type(v.value) in (bool, int, float, complex)


def is_number(v: SymValue) -> bool:
    """Is it a Python number or a NumPy scalar?"""
    return is_numpy_scalar(v) or is_python_number(v)


def dtype_of(v: SymValue) -> np.dtype:
    """The dtype `np.asarray` would give it."""
    if isinstance(v, (Array, Scalar)):
        dt = v.dtype
    elif isinstance(v, Const) and isinstance(v.value, (bool, int, float, complex, np.generic)):
        dt = const_dtype(v.value)
    else:
        raise Unsupported("operand", f"{type(v).__name__} is neither a number nor an array")
    if not is_compiled(dt):
        raise Unsupported("dtype", f"dtype {dt} is not compiled")
    return dt


def kind_of(v: SymValue) -> Kind:
    """The operand as promotion sees it. Python bools are strong."""
    if isinstance(v, Const) and type(v.value) is int:
        return int
    dt = dtype_of(v)
    return _WEAK.get(dt.kind, dt) if is_python_number(v) else dt


def strong(k: Kind) -> np.dtype:
    """The dtype of a lone operand: Python numbers get their default."""
    return k if isinstance(k, np.dtype) else np.dtype(k)


@lru_cache(maxsize=8192)
def resolve(ufunc: Any, kinds: tuple[Kind, ...], dtype: np.dtype | None = None, casting: Any = "same_kind") -> tuple:
    """Dtypes of inputs and outputs of the loop that NumPy takes; Unsupported when there is none (NumPy raises then)."""
    if not any(isinstance(k, np.dtype) for k in kinds):
        kinds = tuple(map(strong, kinds))
    outs = (None,) * ufunc.nout
    try:
        if dtype is None:
            out = ufunc.resolve_dtypes((*kinds, *outs), casting=casting)
        else:
            out = ufunc.resolve_dtypes((*kinds, *outs), signature=(None,) * ufunc.nin + (dtype,) * ufunc.nout, casting=casting)
    except TypeError as e:
        raise Unsupported("invalid-arguments", f"{ufunc.__name__}: {e}") from None
    out = tuple(np.dtype(dt.str) if dt.kind in "iu" else dt for dt in out)  # comparisons of mixed signs name long long
    for dt in out:
        if not is_compiled(dt):
            raise Unsupported("dtype", f"{ufunc.__name__} works in {dt}")
    return out


@lru_cache(maxsize=1024)
def result_type(*kinds: Kind) -> np.dtype:
    """`np.result_type` of operands (weak Python numbers as their types)."""
    if not any(isinstance(k, np.dtype) for k in kinds):
        kinds = tuple(map(strong, kinds))
    try:
        dt = np.result_type(*(k if isinstance(k, np.dtype) else k(0) for k in kinds))
    except TypeError as e:
        raise Unsupported("invalid-arguments", str(e)) from None
    if not is_compiled(dt):
        raise Unsupported("dtype", f"dtype {dt} is not compiled")
    return dt


def scalar_type(x: np.dtype, y: np.dtype) -> np.dtype | None:
    """The type whose operator NumPy takes for two of its scalars; None when it takes the ufunc, which is named otherwise."""
    if x == BOOL:
        return None
    if np.can_cast(y, x, "safe"):
        return x
    return y if y != BOOL and np.can_cast(x, y, "safe") else None


def operand(b: Builder, v: SymValue, dtype: np.dtype) -> Value:
    """An operand as a value of the loop's dtype, as NumPy converts it: Python ints must fit (else NumPy raises, so an exit)."""
    if not is_python_number(v):
        return b.value_of(v, dtype)
    if isinstance(v, Const):
        return _python_const(b, v.value, dtype)
    assert isinstance(v, Scalar)
    if v.dtype == INT64 and dtype.kind in "iu" and dtype != INT64:
        check_range(b, v, dtype)
    if v.dtype == INT64 and dtype.kind in "fc":
        return b.convert(b.value_of(v, FLOAT64), dtype)  # NumPy goes through a C double
    return b.value_of(v, dtype)


def check_range(b: Builder, v: Scalar, dtype: np.dtype) -> None:
    """Leave when a Python int does not fit an integer dtype."""
    info = np.iinfo(dtype)
    if v.dim is not None:
        lo, hi = b.facts.canon(v.dim).bounds()
        if info.min <= lo and hi <= info.max:
            return
    x = b.value_of(v)
    low = b.emit("lt", x, b.const(info.min, INT64))
    if info.max <= np.iinfo(np.int64).max:
        low = b.emit("logical_or", low, b.emit("gt", x, b.const(info.max, INT64)))
    b.exit_if(low, "int-out-of-range")


def fits(value: int, dtype: np.dtype) -> bool:
    """Does a Python int fit an integer dtype?"""
    info = np.iinfo(dtype)
    return bool(info.min <= value <= info.max)


def _python_const(b: Builder, value: Any, dtype: np.dtype) -> Value:
    if isinstance(value, int) and dtype.kind in "iu":
        if not fits(value, dtype):
            raise Unsupported("int-out-of-range", f"{value} does not fit {dtype}")
        return b.const(value, dtype)
    if not isinstance(value, bool):
        try:
            value = complex(value) if dtype.kind == "c" else float(value) if isinstance(value, int) else value
        except OverflowError:
            raise Unsupported("int-out-of-range", f"{value} does not fit {dtype}") from None
    try:
        with np.errstate(over="raise", invalid="raise", under="ignore"):
            return b.const(np.asarray(value).astype(dtype), dtype)
    except FloatingPointError:
        return b.convert(b.const(value, const_dtype(value)), dtype)
