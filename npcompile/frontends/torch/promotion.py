"""torch's promotion: three categories of operands, of which a stronger one decides (`at::result_type`).

In: symbolic operands. Out: dtypes, and operands as IR values. Between two dtypes torch itself is asked.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from npcompile.frontends.builder import Builder, const_dtype
from npcompile.frontends.numpy.promotion import is_python_number
from npcompile.frontends.values import Const, Scalar, SymValue, Tensor, Unsupported
from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType

from . import library

BOOL, INT64 = np.dtype(np.bool_), np.dtype(np.int64)
FLOAT16, FLOAT32, FLOAT64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)


def refuse(detail: str) -> Unsupported:
    """Arguments that torch or CuPy refuse, or that are not modelled: the library itself runs the call."""
    return Unsupported("torch-arguments", detail)


def as_tensor(b: Builder, v: SymValue) -> Tensor:
    """An argument that must be a tensor."""
    v = b.force(v)
    if not isinstance(v, Tensor):
        raise refuse(f"{type(v).__name__} is no tensor")
    return v


def as_operand(b: Builder, v: SymValue) -> SymValue:
    """An argument that is a tensor or a Python number."""
    v = b.force(v)
    if not isinstance(v, Tensor) and not is_python_number(v):
        raise refuse(f"{type(v).__name__} is neither tensor nor Python number")
    return v


def dtype_of(v: SymValue) -> np.dtype:
    """The dtype of an operand; of a Python number, that of its IR value (int64, float64, bool, complex128)."""
    if isinstance(v, (Tensor, Scalar)):
        return v.dtype
    assert isinstance(v, Const)
    return const_dtype(v.value)


@functools.cache
def promote(a: np.dtype, b: np.dtype) -> np.dtype:
    """`torch.promote_types`."""
    table, back = library.torch_dtypes(), library.dtypes()
    found = back.get(library.module().promote_types(table[a], table[b]))
    if found is None:
        raise Unsupported("dtype", f"{a} and {b}")
    return found


def result_type(b: Builder, *operands: SymValue) -> np.dtype:
    """`torch.result_type`: tensors with axes, then tensors without, then Python numbers."""
    groups: list[list[np.dtype]] = [[], [], []]
    for v in operands:
        if isinstance(v, Tensor):
            groups[0 if v.rank else 1].append(v.dtype)
        else:
            groups[2].append(_default(b, dtype_of(v)))
    joined = [functools.reduce(promote, g) if g else None for g in groups]
    out = _combine(joined[0], _combine(joined[1], joined[2]))
    assert out is not None
    return out


def _default(b: Builder, dt: np.dtype) -> np.dtype:
    """The dtype a Python number stands for: floats for the default dtype."""
    if dt.kind == "f":
        return b.default_dtype_hook()
    if dt.kind == "c":
        raise Unsupported("dtype", "a Python complex among tensors")
    return dt


def _combine(high: np.dtype | None, low: np.dtype | None) -> np.dtype | None:
    if high is None or low is None:
        return high if low is None else low
    if high.kind == "c" or (high.kind == "f" and low.kind != "c"):
        return high
    if high.kind == "f":
        return np.dtype(np.complex128) if high == FLOAT64 else np.dtype(np.complex64)
    return promote(high, low) if high.kind == "b" or low.kind in "fc" else high


def to_float(b: Builder, dt: np.dtype) -> np.dtype:
    """The dtype in which a function of floats takes integers: the default dtype."""
    return dt if dt.kind in "fc" else b.default_dtype_hook()


def working(dt: np.dtype) -> np.dtype:
    """The dtype in which torch computes for a result dtype."""
    return FLOAT32 if dt == FLOAT16 else dt


def operand(b: Builder, v: SymValue, dtype: np.dtype) -> Value:
    """An operand as a value of `dtype`, converted as C++ converts: no conditions, no errors."""
    if isinstance(v, Tensor):
        return convert(b, b.read(v.array), dtype)
    if isinstance(v, Const) and isinstance(v.value, (bool, int, float)):
        with np.errstate(all="ignore"):
            number = np.asarray(v.value).astype(dtype)
        return b.const(number.item(), dtype)
    return convert(b, b.value_of(v), dtype)


def convert(b: Builder, v: Value, dtype: np.dtype) -> Value:
    """A cast without conditions."""
    t = v.type
    assert isinstance(t, TensorType)
    if t.dtype == dtype:
        return v
    if t.dtype.kind == "c" and dtype.kind != "c":
        raise Unsupported("complex-to-real", "the cast warns")
    return b.emit("convert", v, dtype=dtype)


def value_dtype(v: Value) -> np.dtype:
    assert isinstance(v.type, TensorType)
    return v.type.dtype


def only_real(*dtypes: np.dtype) -> None:
    """Refuse complex operands, of which only the simplest operations are modelled."""
    if any(dt.kind == "c" for dt in dtypes):
        raise Unsupported("dtype", "complex tensors")


def tensor_dtypes(operands: Sequence[SymValue]) -> list[np.dtype]:
    return [v.dtype for v in operands if isinstance(v, Tensor)]
