"""Rules for Python's `math` module: libm's own bits, and exits where `math` raises ValueError or OverflowError."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.graph import Value

from .builtin_rules import item_value, to_int64
from .calls import BUILTINS
from .inputs import describe
from .interpreter import Trace
from .numbers import FLOAT64, dim_of, dtype_of, float_value, int_value, is_number, python

ONE_ARGUMENT = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1"),
    *("fabs", "log1p", "sin", "sinh", "sqrt", "tan", "tanh"),
)
LOGARITHMS = ("log", "log2", "log10")


def _float(t: Trace, v: SymValue) -> Value:
    """`float(v)` as the math functions convert their arguments (`__float__` of NumPy numbers included)."""
    v = t.use(v)
    if is_number(v) and dtype_of(v).kind != "c":
        return float_value(t, v)
    if isinstance(v, (Scalar, Array, Const)):
        found = item_value(t, v)
        if found is not None and found.type.dtype.kind in "biuf":  # type: ignore[union-attr]
            return t.b.convert(found, FLOAT64)
    raise Unsupported("builtin", f"math of {describe(v)}")


def _known(t: Trace, args: tuple[SymValue, ...]) -> list[Any] | None:
    looked = [t.use(a) for a in args]
    ok = all(isinstance(v, Const) and isinstance(v.value, (int, float, bool, np.generic)) for v in looked)
    return [v.value for v in looked] if ok else None  # type: ignore[attr-defined]


def _folding(function: Any, rule: Callable[..., SymValue]) -> None:
    """Register a rule; calls with known arguments are made at trace time."""

    def folded(t: Trace, *args: SymValue) -> SymValue:
        known = _known(t, args)
        if known is None:
            return rule(t, *args)
        try:
            return Const(function(*known))
        except Exception as e:
            raise Unsupported("math-domain", str(e)) from None

    BUILTINS[function] = folded


def _both(t: Trace, a: Value, b: Value) -> Value:
    return t.b.emit("logical_and", a, b)


def _not(t: Trace, a: Value) -> Value:
    return t.b.emit("logical_not", a)


def _either(t: Trace, a: Value, b: Value) -> Value:
    return t.b.emit("logical_or", a, b)


def _zero(t: Trace) -> Value:
    return t.b.const(0.0, FLOAT64)


def _checked(t: Trace, out: Value, *args: Value) -> SymValue:
    """CPython's test: NaN from numbers is a domain error, infinity from finite numbers an overflow or a pole."""
    b = t.b
    nan_in = b.emit("isnan", args[0])
    finite_in = b.emit("isfinite", args[0])
    for x in args[1:]:
        nan_in = _either(t, nan_in, b.emit("isnan", x))
        finite_in = _both(t, finite_in, b.emit("isfinite", x))
    bad = _both(t, b.emit("isnan", out), _not(t, nan_in))
    b.exit_if(_either(t, bad, _both(t, b.emit("isinf", out), finite_in)), "math-domain")
    return python(out)


_NEVER_RAISES = frozenset({"atan", "asinh", "cbrt", "erf", "erfc", "fabs", "tanh"})


def _one(name: str) -> Callable[..., SymValue]:
    def rule(t: Trace, x: SymValue) -> SymValue:
        value = _float(t, x)
        out = t.b.emit("libm", value, name=name)
        return python(out) if name in _NEVER_RAISES else _checked(t, out, value)

    return rule


def _logarithm(name: str) -> Callable[..., SymValue]:
    def rule(t: Trace, x: SymValue, *base: SymValue) -> SymValue:
        if base:
            raise Unsupported("builtin", f"math.{name} with a base")
        value = _float(t, x)
        t.b.exit_if(t.b.emit("le", value, _zero(t)), "math-domain")
        return python(t.b.emit("libm", value, name=name))

    return rule


def _two(name: str, *, checked: bool) -> Callable[..., SymValue]:
    def rule(t: Trace, x: SymValue, y: SymValue) -> SymValue:
        a, b = _float(t, x), _float(t, y)
        out = t.b.emit("libm", a, b, name=name)
        return _checked(t, out, a, b) if checked else python(out)

    return rule


def _fmod(t: Trace, x: SymValue, y: SymValue) -> SymValue:
    """fmod of a finite number and infinity is the number; a NaN from numbers raises."""
    a, b = _float(t, x), _float(t, y)
    out = t.b.emit("libm", a, b, name="fmod")
    numbers = _not(t, _either(t, t.b.emit("isnan", a), t.b.emit("isnan", b)))
    t.b.exit_if(_both(t, t.b.emit("isnan", out), numbers), "math-domain")
    return python(out)


def _pow(t: Trace, x: SymValue, y: SymValue) -> SymValue:
    a, b = _float(t, x), _float(t, y)
    return _checked(t, t.b.emit("libm", a, b, name="pow"), a, b)


def _to_int(prim: str) -> Callable[..., SymValue]:
    """floor, ceil, trunc: an int."""

    def rule(t: Trace, x: SymValue) -> SymValue:
        v = t.use(x)
        if is_number(v) and dtype_of(v).kind in "bi":
            d = dim_of(v)
            return t.int_of(d) if d is not None else python(int_value(t, v))
        if not (is_number(v) or (isinstance(v, Scalar) and v.dtype == FLOAT64)):
            raise Unsupported("builtin", f"math.{prim} of {describe(v)}")
        return python(to_int64(t, t.b.emit(prim, _float(t, v))))

    return rule


def _test(prim: str) -> Callable[..., SymValue]:
    return lambda t, x: python(t.b.emit(prim, _float(t, x)))


def _scaled(factor: float) -> Callable[..., SymValue]:
    return lambda t, x: python(t.b.emit("mul", _float(t, x), t.b.const(factor, FLOAT64)))


for _name in ONE_ARGUMENT:
    _folding(getattr(math, _name), _one(_name))
for _name in LOGARITHMS:
    _folding(getattr(math, _name), _logarithm(_name))
for _name in ("floor", "ceil", "trunc"):
    _folding(getattr(math, _name), _to_int(_name))
for _name in ("isnan", "isinf", "isfinite"):
    _folding(getattr(math, _name), _test(_name))
_folding(math.atan2, _two("atan2", checked=False))
_folding(math.copysign, _two("copysign", checked=False))
_folding(math.fmod, _fmod)
_folding(math.pow, _pow)
_folding(math.radians, _scaled(math.pi / 180.0))
_folding(math.degrees, _scaled(180.0 / math.pi))
for _name in ("gcd", "lcm", "factorial", "isqrt", "comb", "perm", "hypot", "gamma", "lgamma", "isclose", "prod", "ldexp"):

    def _constants_only(t: Trace, *args: SymValue, _name: str = _name) -> SymValue:
        raise Unsupported("builtin", f"math.{_name} of run-time values")

    _folding(getattr(math, _name), _constants_only)
