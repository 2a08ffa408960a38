"""Exact Python number arithmetic on symbolic int, float, bool and complex values.

In: `Const` numbers and Python `Scalar`s. Out: the same. Ints are polynomials in symbols as long as those provably fit in
64 bits, checked int64 values after that; where Python would raise, or leave 64 bits, the segment exits first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.frontends.values import Const, Scalar, SymValue, Unsupported
from npcompile.ir.dims import Dim, dim_max, dim_min
from npcompile.ir.graph import Value

from . import complexes
from .symbolic import DimCompare

if TYPE_CHECKING:
    from .interpreter import Trace

INT64, FLOAT64, BOOL, COMPLEX128 = map(np.dtype, ("int64", "float64", "bool", "complex128"))
_RANKS = {BOOL: 0, INT64: 1, FLOAT64: 2, COMPLEX128: 3}
FITS = 1 << 62
EXACT_FLOAT = 1 << 53
MAX_TERMS = 24
MAX_CONST_BITS = 4096

_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_FOLD_UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": abs}
_COMPARE_PRIMS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}


def is_number(v: SymValue) -> bool:
    """Is it a Python int, float, bool or complex?"""
    if isinstance(v, Const):
        return type(v.value) in (int, float, bool, complex)
    return isinstance(v, Scalar) and v.kind == "python"


def dtype_of(v: SymValue) -> np.dtype:
    if isinstance(v, Scalar):
        return v.dtype
    assert isinstance(v, Const)
    return {int: INT64, float: FLOAT64, bool: BOOL, complex: COMPLEX128}[type(v.value)]


def dim_of(v: SymValue) -> Dim | None:
    """The value as a dim, if it is an int (or known bool) that is one."""
    if isinstance(v, Const):
        return Dim.of(int(v.value)) if type(v.value) in (int, bool) else None
    return v.dim if isinstance(v, Scalar) else None


def fold(op: str, a: Any, b: Any) -> SymValue:
    """The operation on known numbers (or strings and tuples); where Python raises, it is left to Python."""
    if op in ("**", "<<", "*") and isinstance(a, int) and isinstance(b, int):
        bits = a.bit_length() * max(b, 1) if op == "**" else a.bit_length() + (b if op == "<<" else b.bit_length())
        if bits > MAX_CONST_BITS:
            raise Unsupported("big-int", f"{op} of large constants")
    try:
        return Const(_FOLD[op](a, b))
    except ZeroDivisionError:
        raise Unsupported("zero-division", f"{a!r} {op} {b!r}") from None
    except Exception as e:
        raise Unsupported("number-op", f"{type(e).__name__} in a constant expression") from None


def binary(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    """`a op b` of Python numbers."""
    if isinstance(a, Const) and isinstance(b, Const):
        return fold(op, a.value, b.value)
    if op in _COMPARE_PRIMS:
        return compare(t, op, a, b)
    rank = max(_RANKS[dtype_of(a)], _RANKS[dtype_of(b)])
    if rank == 0 and op in "&|^":
        prim = {"&": "logical_and", "|": "logical_or", "^": "logical_xor"}[op]
        return python(t.b.emit(prim, t.b.value_of(a), t.b.value_of(b)))
    if rank <= 1:
        return _int_binary(t, op, a, b)
    if rank == 2:
        return _float_binary(t, op, a, b)
    return python(complexes.binary(t, op, complex_value(t, a), complex_value(t, b), b))


def python(v: Value) -> Scalar:
    """A rank-0 value as a Python number."""
    return Scalar("python", v.type.dtype, v)  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------ ints


def _int_binary(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    x, y = dim_of(a), dim_of(b)
    if x is not None and y is not None:
        found = _dim_binary(t, op, x, y)
        if found is not None:
            return found
    if op == "/":
        return _true_divide(t, a, b)
    if op == "**":
        return _int_power(t, a, b)
    checked = {"+": "add_checked", "-": "sub_checked", "*": "mul_checked"}.get(op)
    va, vb = int_value(t, a), int_value(t, b)
    if checked:
        return _checked(t, checked, va, vb)
    if op in ("//", "%"):
        nonzero(t, b, vb)
        _no_min_by_minus_one(t, op, a, b, va, vb)
        return python(t.b.emit("py_floordiv" if op == "//" else "py_mod", va, vb))
    if op in ("<<", ">>"):
        if not provably_nonnegative(t, b):
            t.b.exit_if(t.b.emit("lt", vb, t.b.const(0, INT64)), "negative-shift")
        return _checked(t, "shl_checked", va, vb) if op == "<<" else python(t.b.emit("shr", va, vb))
    if op in "&|^":
        return python(t.b.emit({"&": "bit_and", "|": "bit_or", "^": "bit_xor"}[op], va, vb))
    raise Unsupported("number-op", f"int {op} int")


def _dim_binary(t: Trace, op: str, x: Dim, y: Dim) -> SymValue | None:
    """The result as a dim when it is one that provably fits."""
    if op == "+":
        d = x + y
    elif op == "-":
        d = x - y
    elif op == "*":
        d = x * y
    elif op in ("//", "%") and _positive(t, y):
        q = x // y
        d = q if op == "//" else x - q * y
    elif op == "**" and y.const is not None and 0 <= y.const <= 4:
        d = Dim.of(1)
        for _ in range(y.const):
            d = d * x
    else:
        return None
    return t.int_of(d) if fits(t, d) else None


def _positive(t: Trace, y: Dim) -> bool:
    return y.const > 0 if y.const is not None else t.b.facts.prove_ge(t.b.facts.canon(y) - 1)


def fits(t: Trace, d: Dim) -> bool:
    """Does the polynomial provably fit in 64 bits? Sizes of arrays are taken to be below what makes their product fit."""
    if len(d.terms) > MAX_TERMS:
        return False
    lo, hi = d.bounds()
    if lo > -FITS and hi < FITS:
        return True
    degree = max(len(m) for m, _ in d.terms)
    limit = 1 << (60 // max(degree, 1))
    wide = [s for s in d.syms() if s.hi > limit or s.lo < -limit]
    size = sum(abs(c) * limit ** len(m) for m, c in d.terms)
    if size >= FITS or any(s in t.b.facts.local or abs(t.b.hints[s]) > limit or s.lo < -limit for s in wide):
        return False
    return all(t.b.dim_ge(Dim.of(limit), Dim.of(s)) for s in wide)


def int_value(t: Trace, v: SymValue) -> Value:
    """An int or bool as an int64 value."""
    if isinstance(v, Const) and not -(1 << 63) <= v.value < 1 << 63:
        raise Unsupported("big-int", str(v.value))
    return t.b.value_of(v, INT64)


def _checked(t: Trace, prim: str, *values: Value) -> Scalar:
    out, overflow = t.b.emit_multi(prim, *values)
    t.b.exit_if(overflow, "int-overflow")
    return python(out)


def nonzero(t: Trace, b: SymValue, value: Value) -> None:
    """Exit when a divisor is zero."""
    d = dim_of(b)
    if d is not None:
        if d.const == 0:
            raise Unsupported("zero-division")
        if d.const is not None or t.b.facts.prove_ne(t.b.facts.canon(d)):
            return
        if not t.b.facts.is_local(d):
            if t.b.dim_is(d, 0):
                raise Unsupported("zero-division")
            return
    elif isinstance(b, Const):
        if b.value == 0:
            raise Unsupported("zero-division")
        return
    dtype = value.type.dtype  # type: ignore[union-attr]
    t.b.exit_if(t.b.emit("eq", value, t.b.const(0, dtype)), "zero-division")


def _no_min_by_minus_one(t: Trace, op: str, a: SymValue, b: SymValue, va: Value, vb: Value) -> None:
    """-2**63 // -1 leaves 64 bits."""
    if op == "%" or (isinstance(b, Const) and b.value != -1) or dim_of(a) is not None:
        return
    bad = t.b.emit("eq", va, t.b.const(-(1 << 63), INT64))
    if not isinstance(b, Const):
        bad = t.b.emit("logical_and", bad, t.b.emit("eq", vb, t.b.const(-1, INT64)))
    t.b.exit_if(bad, "int-overflow")


def provably_nonnegative(t: Trace, v: SymValue) -> bool:
    d = dim_of(v)
    return d is not None and t.b.facts.prove_ge(t.b.facts.canon(d))


def exact_float(t: Trace, v: SymValue) -> Value:
    """An int as float64, exact: exit when it is beyond 2**53."""
    value = int_value(t, v)
    if isinstance(v, Const):
        if abs(v.value) > EXACT_FLOAT:
            raise Unsupported("big-int", str(v.value))
    elif dtype_of(v) != BOOL:
        d = dim_of(v)
        lo, hi = d.bounds() if d is not None else (-FITS, FITS)
        if lo < -EXACT_FLOAT or hi > EXACT_FLOAT:
            big = t.b.emit("gt", value, t.b.const(EXACT_FLOAT, INT64))
            small = t.b.emit("lt", value, t.b.const(-EXACT_FLOAT, INT64))
            t.b.exit_if(t.b.emit("logical_or", big, small), "int-overflow")
    return t.b.convert(value, FLOAT64)


def _true_divide(t: Trace, a: SymValue, b: SymValue) -> SymValue:
    """int / int is rounded once; below 2**53 the float quotient is that."""
    va, vb = exact_float(t, a), exact_float(t, b)
    nonzero(t, b, vb)
    return python(t.b.emit("div", va, vb))


def _int_power(t: Trace, a: SymValue, b: SymValue) -> SymValue:
    if isinstance(b, Const) and b.value < 0:
        if not isinstance(a, Const):
            nonzero(t, a, int_value(t, a))
        return _float_power(t, float_value(t, a), t.b.const(float(b.value), FLOAT64))
    va, vb = int_value(t, a), int_value(t, b)
    return _checked(t, "pow_checked", va, vb)


# ------------------------------------------------------------------------------------------------ floats


def float_value(t: Trace, v: SymValue) -> Value:
    """An int, bool or float as float64, as `float(v)` rounds."""
    if isinstance(v, Const):
        try:
            return t.b.const(float(v.value), FLOAT64)
        except OverflowError:
            raise Unsupported("big-int", "int too large to convert to float") from None
    return t.b.value_of(v, FLOAT64)


def _float_binary(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    va, vb = float_value(t, a), float_value(t, b)
    simple = {"+": "add", "-": "sub", "*": "mul"}.get(op)
    if simple:
        return python(t.b.emit(simple, va, vb))
    if op in ("/", "//", "%"):
        nonzero(t, b, vb)
        return python(t.b.emit({"/": "div", "//": "py_floordiv", "%": "py_mod"}[op], va, vb))
    if op == "**":
        return _float_power(t, va, vb)
    raise Unsupported("number-op", f"float {op}")


def _float_power(t: Trace, a: Value, b: Value) -> Scalar:
    """`float ** float` by libm's pow; exits where Python raises or gives a complex number."""
    zero = t.b.const(0.0, FLOAT64)
    both = lambda x, y: t.b.emit("logical_and", x, y)  # noqa: E731
    t.b.exit_if(both(t.b.emit("eq", a, zero), t.b.emit("lt", b, zero)), "zero-division")
    fraction = both(t.b.emit("isfinite", b), t.b.emit("ne", t.b.emit("floor", b), b))
    negative = both(t.b.emit("lt", a, zero), t.b.emit("isfinite", a))
    t.b.exit_if(both(negative, fraction), "math-domain")
    out = t.b.emit("py_pow", a, b)
    finite = both(t.b.emit("isfinite", a), t.b.emit("isfinite", b))
    t.b.exit_if(both(t.b.emit("isinf", out), finite), "math-domain")
    return python(out)


def complex_value(t: Trace, v: SymValue) -> Value:
    if isinstance(v, Const):
        return t.b.const(complex(v.value), COMPLEX128)
    return t.b.value_of(v, COMPLEX128)


# ------------------------------------------------------------------------------------------------ comparisons


def compare(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    """A comparison of numbers; of dims it stays a question until a branch asks it."""
    x, y = dim_of(a), dim_of(b)
    if x is not None and y is not None:
        return compare_dims(t, op, x, y)
    rank = max(_RANKS[dtype_of(a)], _RANKS[dtype_of(b)])
    if rank == 3:
        if op not in ("==", "!="):
            raise Unsupported("number-op", f"complex {op}")
        va, vb = complex_value(t, a), complex_value(t, b)
    elif rank == 2:
        va, vb = (t.b.value_of(v) if dtype_of(v) == FLOAT64 else exact_float(t, v) for v in (a, b))
    else:
        va, vb = int_value(t, a), int_value(t, b)
    return python(t.b.emit(_COMPARE_PRIMS[op], va, vb))


def compare_dims(t: Trace, op: str, x: Dim, y: Dim) -> SymValue:
    f = t.b.facts
    d = f.canon(x) - f.canon(y)
    if op in ("==", "!="):
        test, operand, inverted = "eq", d, op == "!="
        known = True if f.prove_eq(d) else False if f.prove_ne(d) else None
    else:
        operand = {">=": d, ">": d - 1, "<=": -d, "<": -d - 1}[op]
        test, inverted = "ge", False
        known = True if f.prove_ge(operand) else False if f.prove_ge(-operand - 1) else None
    if known is not None:
        return Const(known != inverted)
    return DimCompare("python", BOOL, None, None, None, test, operand, inverted)


# ------------------------------------------------------------------------------------------------ unary, min, max


def unary(t: Trace, op: str, a: SymValue) -> SymValue:
    """`-a`, `+a`, `~a` and `abs` of a Python number."""
    if isinstance(a, Const):
        try:
            return Const(_FOLD_UNARY[op](a.value))
        except Exception:
            raise Unsupported("number-op", f"{op} of {a.value!r}") from None
    d, dtype = dim_of(a), dtype_of(a)
    if dtype in (INT64, BOOL):
        return _int_unary(t, op, a, d)
    if op == "+":
        return python(t.b.value_of(a))
    if op == "abs" and dtype == COMPLEX128:
        return python(complexes.absolute(t, t.b.value_of(a)))
    if op == "~":
        raise Unsupported("number-op", f"{op} of a {dtype} number")
    return python(t.b.emit("neg" if op == "-" else "abs", t.b.value_of(a)))


def _int_unary(t: Trace, op: str, a: SymValue, d: Dim | None) -> SymValue:
    if d is not None:
        f = t.b.facts
        c = f.canon(d)
        if op == "abs" and not f.prove_ge(c) and not f.prove_ge(-c):
            value = t.b.dim_value(d)
            return python(t.b.emit("abs", value))
        out = {"-": -d, "+": d, "~": -d - 1, "abs": d if f.prove_ge(c) else -d}[op]
        return t.int_of(out)
    value = int_value(t, a)
    if op == "-":
        return _checked(t, "neg_checked", value)
    if op == "abs":
        t.b.exit_if(t.b.emit("eq", value, t.b.const(-(1 << 63), INT64)), "int-overflow")
        return python(t.b.emit("abs", value))
    return python(t.b.emit("bit_not", value) if op == "~" else value)


def extreme(t: Trace, name: str, a: SymValue, b: SymValue) -> SymValue:
    """`min(a, b)` or `max(a, b)`: `b` if it is less (greater) than `a`, else `a`."""
    if isinstance(a, Const) and isinstance(b, Const):
        return b if (b.value < a.value if name == "min" else b.value > a.value) else a
    x, y = dim_of(a), dim_of(b)
    if x is not None and y is not None and dtype_of(a) == dtype_of(b) == INT64:
        return t.int_of((dim_min if name == "min" else dim_max)(t.b.facts.canon(x), t.b.facts.canon(y)))
    if dtype_of(a) != dtype_of(b):
        raise Unsupported("number-op", f"{name} of numbers of different types")
    va, vb = (int_value(t, v) if dtype_of(v) == INT64 else t.b.value_of(v) for v in (a, b))
    better = t.b.emit("lt" if name == "min" else "gt", vb, va)
    return python(t.b.emit("select", better, vb, va))
