"""Type rules and reference implementations that several rows share. Nothing here registers a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..layout import korder
from ..types import TensorType, Type

BOOL = np.dtype(bool)
INT64 = np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)
I64 = TensorType(INT64)
B1 = TensorType(BOOL)
REAL_OF: dict[np.dtype, np.dtype] = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): FLOAT64}
COMPLEX_OF: dict[np.dtype, np.dtype] = {v: k for k, v in REAL_OF.items()}

Params = Mapping[str, Any]
TypeRule = Callable[[tuple[Type, ...], Params], tuple[Type, ...]]
Impl = Callable[[tuple[Any, ...], Params], tuple[Any, ...]]


def tensors(ins: Sequence[Type], count: int | None = None) -> tuple[TensorType, ...]:
    """The inputs, all of them tensors and as many as expected."""
    if count is not None and len(ins) != count:
        raise TypeError(f"takes {count} inputs, got {len(ins)}")
    for t in ins:
        if not isinstance(t, TensorType):
            raise TypeError(f"takes tensors, got {t}")
    return tuple(ins)  # type: ignore[arg-type]


def scalar_inputs(ins: Sequence[Type], dtypes: Sequence[np.dtype | None]) -> tuple[TensorType, ...]:
    """The inputs, all of them rank 0 and of the given dtypes (None: any)."""
    ts = tensors(ins, len(dtypes))
    for t, d in zip(ts, dtypes):
        if t.dims or (d is not None and t.dtype != d):
            raise TypeError(f"takes a scalar{'' if d is None else ' ' + str(d)}, got {t}")
    return ts


def need_kind(t: TensorType, kinds: str) -> None:
    if t.dtype.kind not in kinds:
        raise TypeError(f"does not take {t.dtype}")


def elementwise(ts: Sequence[TensorType], dtype: np.dtype) -> TensorType:
    """Result type of a pointwise operation: same dims, NumPy's K-order over the operands."""
    dims = ts[0].dims
    for t in ts[1:]:
        if t.dims != dims:
            raise TypeError(f"operands differ in dims: {', '.join(map(str, ts))}")
    return TensorType(dtype, dims, korder([t.layout for t in ts], dims) if dims else ())


def pointwise(arity: int, kinds: str, out: Callable[[np.dtype], np.dtype] | None = None) -> TypeRule:
    """Rule of a prim whose operands have one dtype of a kind in `kinds`; `out` maps it to the result's."""

    def rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
        ts = tensors(ins, arity)
        d = ts[0].dtype
        if d.kind not in kinds:
            raise TypeError(f"does not take {d}")
        for t in ts[1:]:
            if t.dtype != d:
                raise TypeError(f"operands differ in dtype: {', '.join(map(str, ts))}")
        return (elementwise(ts, d if out is None else out(d)),)

    return rule


def to_bool(d: np.dtype) -> np.dtype:
    return BOOL


def real_part(d: np.dtype) -> np.dtype:
    """float32 for complex64 and so on; real dtypes stay."""
    return REAL_OF.get(d, d)


def ufunc(name: str) -> Impl:
    """Reference implementation by NumPy's own ufunc; the operands' dtypes select its loop."""
    f = getattr(np, name)
    return lambda ins, params: (np.asarray(f(*ins)),)


def scipy_ufunc(name: str) -> Impl:
    def impl(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
        import scipy.special

        out = getattr(scipy.special, name)(*ins)
        return (np.asarray(out).astype(ins[0].dtype, copy=False),)

    return impl


def int_attr(params: Params, name: str) -> int:
    v = params[name]
    if not isinstance(v, int):
        raise TypeError(f"{name} must be an int, got {v!r}")
    return v


def axis_of(params: Params, rank: int, name: str = "axis") -> int:
    """A non-negative axis below `rank`."""
    a = int_attr(params, name)
    if not 0 <= a < rank:
        raise TypeError(f"{name} {a} is out of range for rank {rank}")
    return a
