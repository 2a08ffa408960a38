"""Arithmetic of Python's complex numbers, operation by operation as CPython does it, so that bits agree.

In: complex128 values of rank 0. Out: the same; exits where Python raises ZeroDivisionError or OverflowError, or may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.frontends.values import Const, SymValue, Unsupported
from npcompile.ir.graph import Value

if TYPE_CHECKING:
    from .interpreter import Trace

FLOAT64, COMPLEX128 = np.dtype(np.float64), np.dtype(np.complex128)
MOST_POWER = 100
"""Larger exponents are no products in Python either."""


def binary(t: Trace, op: str, a: Value, b: Value, exponent: SymValue) -> Value:
    """`a op b`; `exponent` is `b` as it came."""
    if op in ("+", "-"):
        return t.b.emit("add" if op == "+" else "sub", a, b)
    if op == "*":
        return _multiply(t, a, b)
    if op == "/":
        return _divide(t, a, b)
    if op == "**" and isinstance(exponent, Const) and type(exponent.value) is int and 0 <= exponent.value <= MOST_POWER:
        return _power(t, a, exponent.value)
    raise Unsupported("number-op", f"complex {op}")


def absolute(t: Trace, z: Value) -> Value:
    """`abs(z)`: libm's hypot; exits where a finite number has an infinite one."""
    x, y = _parts(t, z)
    out = t.b.emit("libm", x, y, name="hypot")
    finite = t.b.emit("logical_and", t.b.emit("isfinite", x), t.b.emit("isfinite", y))
    t.b.exit_if(t.b.emit("logical_and", t.b.emit("isinf", out), finite), "math-domain")
    return out


def _parts(t: Trace, z: Value) -> tuple[Value, Value]:
    return t.b.emit("real", z), t.b.emit("imag", z)


def _multiply(t: Trace, a: Value, b: Value) -> Value:
    """Each product is rounded: NumPy's loops for arrays may not."""
    e = t.b.emit
    (ar, ai), (br, bi) = _parts(t, a), _parts(t, b)
    real = e("sub", e("mul", ar, br), e("mul", ai, bi))
    return e("complex", real, e("add", e("mul", ar, bi), e("mul", ai, br)))


def _divide(t: Trace, a: Value, b: Value) -> Value:
    """By the divisor's larger part, so that nothing overflows early."""
    e = t.b.emit
    (ar, ai), (br, bi) = _parts(t, a), _parts(t, b)
    zero = t.b.const(0.0, FLOAT64)
    t.b.exit_if(e("logical_and", e("eq", br, zero), e("eq", bi, zero)), "zero-division")
    real_first = e("ge", e("abs", br), e("abs", bi))
    large, small = e("select", real_first, br, bi), e("select", real_first, bi, br)
    x, y = e("select", real_first, ar, ai), e("select", real_first, ai, ar)
    ratio = e("div", small, large)
    denominator = e("add", large, e("mul", small, ratio))
    real = e("div", e("add", x, e("mul", y, ratio)), denominator)
    scaled = e("mul", x, ratio)
    imag = e("div", e("select", real_first, e("sub", y, scaled), e("sub", scaled, y)), denominator)
    return e("complex", real, imag)


def _power(t: Trace, z: Value, n: int) -> Value:
    """Repeated squaring; exits where a part is infinite, since Python may raise."""
    out = t.b.const(1 + 0j, COMPLEX128)
    square, bit = z, 1
    while bit <= n:
        if n & bit:
            out = _multiply(t, out, square)
        bit <<= 1
        if bit <= n:
            square = _multiply(t, square, square)
    real, imag = _parts(t, out)
    t.b.exit_if(t.b.emit("logical_or", t.b.emit("isinf", real), t.b.emit("isinf", imag)), "math-domain")
    return out


__all__ = ["absolute", "binary"]
