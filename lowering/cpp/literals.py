"""C++ text of constants. In: a Python or NumPy number and its dtype. Out: an expression of exactly that value and type."""

from __future__ import annotations

import numpy as np
from npcompile.kernels import ctype


def literal(value: object, dtype: np.dtype) -> str:
    """An expression of the C++ type of `dtype`."""
    x = np.asarray(value).astype(dtype)[()]
    if dtype.kind == "b":
        return f"(npc_bool){int(x)}"
    if dtype.kind in "iu":
        return _integer(int(x), dtype)
    if dtype == np.float16:
        return f"npc_f16{{{int(x.view(np.uint16))}}}"
    if dtype.kind == "f":
        return _real(float(x), dtype)
    part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
    return f"{ctype(dtype)}{{{_real(float(x.real), part)}, {_real(float(x.imag), part)}}}"


def _integer(x: int, dtype: np.dtype) -> str:
    if dtype == np.int64:
        return "(-9223372036854775807ll - 1)" if x == -(1 << 63) else f"{x}ll" if x >= 0 else f"({x}ll)"
    if dtype == np.uint64:
        return f"{x}ull"
    return f"({ctype(dtype)}){x}" if x >= 0 else f"({ctype(dtype)})({x})"


def _real(x: float, dtype: np.dtype) -> str:
    suffix = "f" if dtype == np.float32 else ""
    if x != x:
        sign = "-" if np.signbit(x) else ""
        return f'({sign}__builtin_nan{suffix}(""))'
    if x in (np.inf, -np.inf):
        return f"({'-' if x < 0 else ''}__builtin_inf{suffix}())"
    text = repr(x)
    if suffix:
        return f"((float){text})"
    return text if x >= 0 and text[0] != "-" else f"({text})"
