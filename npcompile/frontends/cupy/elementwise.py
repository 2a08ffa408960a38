"""CuPy's ufuncs that have a prim or a short formula, `where`, `clip` and `round`.

In: symbolic arguments. Out: fresh arrays in C order, or the array that an operator stores into. Each formula is the one that
CuPy's own kernel computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.cuda_math import extreme
from npcompile.frontends.values import SymValue, Tensor, Unsupported
from npcompile.ir.graph import Value

from . import library
from . import operands as o
from .registry import CUPY, NONE, functions, method, rule

Emit = Callable[..., Value]
"""`emit(b, *values)` of the loop's dtypes and one shape -> a value of that shape."""


def apply(b: Builder, ufunc: Any, emit: Emit, args: Sequence[SymValue], into: Tensor | None = None) -> Tensor:
    """A ufunc of CuPy on arrays and numbers."""
    args = [o.as_operand(b, v) for v in args]
    ins, outs = o.loop(ufunc, tuple(map(o.kind_of, args)))
    if o.FLOAT16 in ins and emit in WIDE:
        raise o.refuse("half precision, whose factor CuPy rounds")
    values = [o.convert(b, o.value(b, v, dt), o.working(dt)) for v, dt in zip(args, ins, strict=True)]
    dims = b.broadcast_dims(*map(b.dims, values), *([] if into is None else [b.dims(into.array)]))
    out = o.convert(b, emit(b, *(b.broadcast(v, dims) for v in values)), outs[0])
    if into is None:
        return o.fresh(b, out)
    if not o.same_dims(b, dims, b.dims(into.array)) or not np.can_cast(outs[0], into.dtype, "same_kind"):
        raise o.refuse("a result that cannot be stored")
    b.store(into.array, o.convert(b, out, into.dtype))
    return into


def prim(name: str) -> Emit:
    return lambda b, *xs: b.emit(name, *xs)


def _same(b: Builder, x: Value) -> Value:
    return x


def _kind(b: Builder, x: Value) -> str:
    return o.value_dtype(x).kind


def _only(kinds: str, emit: Emit) -> Emit:
    """Of these kinds of dtypes only."""

    def checked(b: Builder, *xs: Value) -> Value:
        if any(_kind(b, x) not in kinds for x in xs):
            raise o.refuse("dtypes of another kind")
        return emit(b, *xs)

    return checked


def _divide(b: Builder, x: Value, y: Value) -> Value:
    floats = [v if _kind(b, v) == "f" else o.convert(b, v, o.FLOAT64) for v in (x, y)]
    return b.emit("div", *floats)


def _floor_divide(b: Builder, x: Value, y: Value) -> Value:
    """Of integers by zero: 0."""
    if _kind(b, x) == "f":
        return b.emit("floor", b.emit("div", x, y))
    zero = o.constant(b, y, 0)
    return b.emit("select", b.emit("eq", y, zero), zero, b.emit("floordiv", x, y))


def _remainder(b: Builder, x: Value, y: Value) -> Value:
    zero = o.constant(b, y, 0)
    return b.emit("select", b.emit("eq", y, zero), zero, b.emit("mod", x, y))


def _power(b: Builder, x: Value, y: Value) -> Value:
    """Integers to powers that may be negative are CuPy's own matter."""
    if _kind(b, x) != "f" and not (_const(y) is not None and _const(y) >= 0):
        raise o.refuse("a power of integers")
    return b.emit("pow", x, y)


def _const(v: Value) -> Any:
    """The number that a value is a broadcast of, or None."""
    node = v.node
    while node is not None and node.prim in ("broadcast", "convert"):
        node = node.inputs[0].node
    return node.params["value"] if node is not None and node.prim == "const" else None


def _shift(name: str) -> Emit:
    """A count beyond the width is the hardware's matter."""

    def emit(b: Builder, x: Value, y: Value) -> Value:
        n = _const(y)
        if n is None or not 0 <= n < o.value_dtype(x).itemsize * 8:
            raise o.refuse("a shift by a count that is not known")
        return b.emit(name, x, y)

    return emit


def _sign(b: Builder, x: Value) -> Value:
    zero = o.constant(b, x, 0)
    if _kind(b, x) == "u":
        return o.convert(b, b.emit("gt", x, zero), o.value_dtype(x))
    return b.emit("sign", x) if _kind(b, x) == "i" else b.emit("select", b.emit("isnan", x), x, b.emit("sign", x))


def _reciprocal(b: Builder, x: Value) -> Value:
    one = o.constant(b, x, 1)
    if _kind(b, x) == "f":
        return b.emit("div", one, x)
    zero = o.constant(b, x, 0)
    return b.emit("select", b.emit("eq", x, zero), zero, b.emit("reciprocal", x))


def _float_same(name: str) -> Emit:
    return lambda b, x: b.emit(name, x) if _kind(b, x) == "f" else x


def _abs(b: Builder, x: Value) -> Value:
    return x if _kind(b, x) in "bu" else b.emit("abs", x)


def _add(b: Builder, x: Value, y: Value) -> Value:
    return b.emit("logical_or" if _kind(b, x) == "b" else "add", x, y)


def _mul(b: Builder, x: Value, y: Value) -> Value:
    return b.emit("logical_and" if _kind(b, x) == "b" else "mul", x, y)


def _invert(b: Builder, x: Value) -> Value:
    return b.emit("logical_not" if _kind(b, x) == "b" else "bit_not", x)


def _factor(number: float) -> Emit:
    """Times a number in the loop's own dtype."""

    def emit(b: Builder, x: Value) -> Value:
        return b.emit("mul", x, o.constant(b, x, float(np.asarray(number, o.value_dtype(x)))))

    return emit


FORMULAS: dict[str, Emit] = {
    **{n: prim(n) for n in ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan")},
    **{n: prim(n) for n in ("sinh", "cosh", "tanh", "rint", "isnan", "isinf", "isfinite", "signbit", "hypot", "heaviside")},
    **{f"arc{n[1:]}": prim(n) for n in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
    **{n: prim(p) for n, p in {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le"}.items()},
    **{n: prim(p) for n, p in {"greater": "gt", "greater_equal": "ge"}.items()},
    **{n: prim(n) for n in ("logical_and", "logical_or", "logical_xor", "logical_not")},
    **{f"bitwise_{n}": prim(f"bit_{n}") for n in ("and", "or", "xor")},
    "add": _add,
    "subtract": prim("sub"),
    "multiply": _mul,
    "true_divide": _divide,
    "floor_divide": _floor_divide,
    "remainder": _only("iu", _remainder),
    "fmod": _only("f", prim("fmod")),
    "power": _power,
    "negative": prim("neg"),
    "positive": _same,
    "absolute": _abs,
    "fabs": prim("abs"),
    "sign": _sign,
    "square": prim("square"),
    "reciprocal": _reciprocal,
    "floor": _float_same("floor"),
    "ceil": _float_same("ceil"),
    "trunc": _float_same("trunc"),
    "maximum": extreme(True),
    "minimum": extreme(False),
    "fmax": extreme(True, True),
    "fmin": extreme(False, True),
    "copysign": _only("f", prim("copysign")),
    "invert": _invert,
    "left_shift": _shift("shl"),
    "right_shift": _shift("shr"),
    "deg2rad": _factor(np.pi / 180),
    "rad2deg": _factor(180 / np.pi),
}
"""By CuPy's own names of its ufuncs."""

WIDE = (FORMULAS["deg2rad"], FORMULAS["rad2deg"])


def ufunc(name: str) -> Any:
    found = getattr(library.module(), name)
    if not hasattr(found, "_ops"):
        raise Unsupported("no-rule", name)
    return found


def binary(b: Builder, name: str, x: SymValue, y: SymValue, into: Tensor | None = None) -> Tensor:
    return apply(b, ufunc(name), FORMULAS[name], [x, y], into)


def unary(b: Builder, name: str, x: SymValue) -> Tensor:
    return apply(b, ufunc(name), FORMULAS[name], [x])


def _register(name: str) -> None:
    f, emit = getattr(library.module(), name, None), FORMULAS[name]
    if f is None or not hasattr(f, "_ops"):
        return
    if f.nin == 1:

        def one(b: Builder, x: SymValue, out: SymValue = NONE, *, dtype: SymValue = NONE) -> SymValue:
            o.none(b, out, dtype)
            return apply(b, f, emit, [x])

        rule(f)(one)
    else:

        def two(b: Builder, x: SymValue, y: SymValue, out: SymValue = NONE, *, dtype: SymValue = NONE) -> SymValue:
            o.none(b, dtype)
            into = b.force(out)
            if o.given(into) and not isinstance(into, Tensor):
                raise o.refuse("out")
            return apply(b, f, emit, [x, y], into if isinstance(into, Tensor) else None)

        rule(f)(two)


for _name in FORMULAS:
    _register(_name)


def _erf(b: Builder, x: SymValue) -> SymValue:
    from cupyx.scipy.special import erf

    return apply(b, erf, prim("erf"), [x])


CUPY.named["cupyx_scipy_special_erf"] = _erf


# ---------------------------------------------------------------------------------------------- three operands


@functions("where")
def where(b: Builder, condition: SymValue, x: SymValue = NONE, y: SymValue = NONE) -> SymValue:
    c = o.as_array(b, condition)
    if not o.given(b.force(x)) or not o.given(b.force(y)):
        raise Unsupported("data-dependent-shape", "where of a condition alone")
    own = library.private_ufunc("cupy._sorting.search", "_where_ufunc")
    as_bool = Tensor(b.array(o.convert(b, b.read(c.array), o.BOOL)))
    return apply(b, own, prim("select"), [as_bool, x, y])


def _clip(b: Builder, a: SymValue, low: SymValue, high: SymValue) -> Tensor:
    x = o.as_array(b, a)
    bounds = [b.force(low), b.force(high)]
    if not any(map(o.given, bounds)):
        raise o.refuse("clip without bounds")
    if any(isinstance(v, Tensor) for v in bounds) or not all(map(o.given, bounds)) or x.dtype.kind == "b":
        raise o.refuse("clip by arrays or one bound")
    own = library.private_ufunc("cupy._core._routines_math", "_clip")

    def emit(b: Builder, v: Value, p: Value, q: Value) -> Value:
        v = b.emit("select", b.emit("lt", v, p), p, v)
        return b.emit("select", b.emit("gt", v, q), q, v)

    return apply(b, own, emit, [x, *bounds])


@functions("clip")
def clip(b: Builder, a: SymValue, a_min: SymValue, a_max: SymValue, out: SymValue = NONE) -> SymValue:
    o.none(b, out)
    return _clip(b, a, a_min, a_max)


@method("clip")
def clip_method(b: Builder, self: Tensor, min: SymValue = NONE, max: SymValue = NONE, out: SymValue = NONE) -> SymValue:
    o.none(b, out)
    return _clip(b, self, min, max)


__all__ = ["FORMULAS", "apply", "binary", "unary"]
