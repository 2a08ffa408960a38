"""Elementwise functions and methods with a prim of their own or a short formula.

In: symbolic arguments by torch's own signatures. Out: tensors; the tensor itself for methods that end in `_`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.cuda_math import extreme
from npcompile.frontends.values import Const, SymValue, Tensor, Unsupported
from npcompile.ir.graph import Value
from npcompile.ir.layout import is_c
from npcompile.ir.types import Layout

from . import called, results
from .conversion import need_fit
from .promotion import (
    BOOL,
    as_operand,
    as_tensor,
    convert,
    dtype_of,
    is_python_number,
    only_real,
    operand,
    refuse,
    result_type,
    to_float,
    value_dtype,
    working,
)
from .registry import NONE, both, functions, method

Precise = Literal[False, "all", "later"]
Emit = Callable[..., Value]
"""`emit(b, *values)` of one dtype and shape -> a value of that shape."""


def pointwise(
    b: Builder,
    emit: Emit,
    operands: Sequence[SymValue],
    dtype: np.dtype,
    *,
    out: np.dtype | None = None,
    into: Tensor | None = None,
    precise: Precise = False,
    packed: bool = False,
) -> Tensor:
    """An elementwise operation in `dtype`, whose result has `out` (the same unless given) or is stored `into` a tensor.

    precise : numbers beside half precision keep that of float32, all of them or those that do not come first.
    packed : the result is in C order, whatever the operands.
    """
    if not any(isinstance(v, Tensor) for v in operands):
        raise refuse("no tensor among the operands")
    kept = {"all": len(operands), "later": len(operands) - 1}[precise] if precise else 0
    rough = len(operands) - kept
    values = [convert(b, operand(b, v, dtype if k < rough else working(dtype)), working(dtype)) for k, v in enumerate(operands)]
    dims = b.broadcast_dims(*map(b.dims, values))
    values = [b.broadcast(v, dims) for v in values]
    result = convert(b, emit(b, *values), out or dtype)
    if into is None:
        if packed:
            return results.fresh(b, result)
        return results.iterated(b, result, [v for v, x in zip(values, operands) if isinstance(x, Tensor)])
    if not castable(value_dtype(result), into.dtype):
        raise refuse(f"a result of {value_dtype(result)} cannot be stored into {into.dtype}")
    return results.store(b, into, result, operands)


def castable(a: np.dtype, b: np.dtype) -> bool:
    """`torch.can_cast`, which in-place operations go by: no narrowing of categories."""
    rank = {k: i for i, k in enumerate("bifc")}
    return rank[_category(a)] <= rank[_category(b)]


def _category(dt: np.dtype) -> str:
    return "i" if dt.kind == "u" else dt.kind


def prim(name: str) -> Emit:
    return lambda b, *xs: b.emit(name, *xs)


def same(b: Builder, x: Value) -> Value:
    return x


def constant(b: Builder, x: Value, number: float) -> Value:
    """A number as a value like `x`."""
    return b.broadcast(b.const(number, value_dtype(x)), b.dims(x))


# ---------------------------------------------------------------------------------------------- one operand


def _unary(names: str, emit: Emit, how: str) -> None:
    """Register `torch.name(x)`, `x.name()` and `x.name_()`.

    how : "float" (integers give the default dtype), "keep" (the operand's dtype, bools refused), "any" (the operand's dtype),
        "bool" (a bool result), "round" (integers give themselves).
    """

    def apply(b: Builder, x: Tensor, into: Tensor | None) -> Tensor:
        only_real(x.dtype)
        dt = to_float(b, x.dtype) if how == "float" else x.dtype
        if (how == "keep" and dt == BOOL) or (how == "round" and dt == BOOL):
            raise refuse(f"{names} of bools")
        chosen = same if how == "round" and dt.kind in "iu" else emit
        return pointwise(b, chosen, [x], dt, out=BOOL if how == "bool" else None, into=into)

    def call(b: Builder, input: SymValue, *, out: SymValue = NONE) -> SymValue:
        no_out(b, out)
        return apply(b, as_tensor(b, input), None)

    def inplace(b: Builder, self: SymValue) -> SymValue:
        x = as_tensor(b, self)
        return apply(b, x, x)

    both(*names.split())(call)
    methods = [f"{n}_" for n in names.split()]
    functions(*methods)(inplace)
    method(*methods)(inplace)


def no_out(b: Builder, out: SymValue) -> None:
    """`out=` is torch's own matter: it may resize."""
    if b.static(out) is not None:
        raise refuse("out")


def _reciprocal(b: Builder, x: Value) -> Value:
    return b.emit("div", constant(b, x, 1.0), x)


def _rsqrt(b: Builder, x: Value) -> Value:
    return _reciprocal(b, b.emit("sqrt", x))


def sigmoid(b: Builder, x: Value) -> Value:
    one = constant(b, x, 1.0)
    return b.emit("div", one, b.emit("add", one, b.emit("exp", b.emit("neg", x))))


def _frac(b: Builder, x: Value) -> Value:
    if value_dtype(x).kind != "f":
        raise refuse("frac of integers")
    return b.emit("sub", x, b.emit("trunc", x))


def _abs(b: Builder, x: Value) -> Value:
    return x if value_dtype(x).kind == "u" else b.emit("abs", x)


def _sign(b: Builder, x: Value) -> Value:
    """Of NaN, 0."""
    zero = constant(b, x, 0)
    kind = value_dtype(x)
    return b.emit("sub", convert(b, b.emit("lt", zero, x), kind), convert(b, b.emit("lt", x, zero), kind))


def _bit_not(b: Builder, x: Value) -> Value:
    if value_dtype(x).kind == "f":
        raise refuse("bitwise_not of floats")
    return b.emit("logical_not" if value_dtype(x) == BOOL else "bit_not", x)


def _is(name: str) -> Emit:
    """A question about floats, which integers answer with no (or yes)."""

    def emit(b: Builder, x: Value) -> Value:
        if value_dtype(x).kind == "f":
            return b.emit(name, x)
        return b.broadcast(b.const(name == "isfinite", BOOL), b.dims(x))

    return emit


def _signbit(b: Builder, x: Value) -> Value:
    return b.emit("signbit", x) if value_dtype(x).kind == "f" else b.emit("lt", x, constant(b, x, 0))


for _names, _prim in {
    **dict.fromkeys(("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan"), ""),
    **dict.fromkeys(("sinh", "cosh", "tanh", "erf"), ""),
    "asin arcsin": "asin",
    "acos arccos": "acos",
    "atan arctan": "atan",
    "asinh arcsinh": "asinh",
    "acosh arccosh": "acosh",
    "atanh arctanh": "atanh",
}.items():
    _unary(_names, prim(_prim or _names), "float")
_unary("neg negative", prim("neg"), "keep")
_unary("abs absolute", _abs, "keep")
_unary("sign", _sign, "keep")
_unary("square", lambda b, x: b.emit("mul", x, x), "keep")
_unary("reciprocal", _reciprocal, "float")
_unary("rsqrt", _rsqrt, "float")
_unary("sigmoid", sigmoid, "float")
_unary("frac", _frac, "keep")
for _names, _prim in {"floor": "floor", "ceil": "ceil", "trunc fix": "trunc"}.items():
    _unary(_names, prim(_prim), "round")
_unary("bitwise_not", _bit_not, "any")
_unary("logical_not", prim("logical_not"), "bool")
for _name in ("isnan", "isinf", "isfinite"):
    _unary(_name, _is(_name), "bool")
_unary("signbit", _signbit, "bool")


@both("round")
def round_(b: Builder, input: SymValue, *, decimals: SymValue = Const(0)) -> SymValue:
    x = as_tensor(b, input)
    only_real(x.dtype)
    if b.static(decimals) != 0 or x.dtype == BOOL:
        raise refuse("round")
    return pointwise(b, prim("rint") if x.dtype.kind == "f" else same, [x], x.dtype)


@both("positive")
def positive(b: Builder, input: SymValue) -> SymValue:
    x = as_tensor(b, input)
    if x.dtype == BOOL:
        raise refuse("positive of bools")
    return x


# ---------------------------------------------------------------------------------------------- two operands


def binary(b: Builder, name: str, x: SymValue, y: SymValue, into: Tensor | None = None) -> Tensor:
    """A binary operation by torch's name for it."""
    x, y = as_operand(b, x), as_operand(b, y)
    if name == "mul" and is_python_number(x):  # as `Tensor.__rmul__` has it
        x, y = y, x
    emit, how = BINARY[name]
    precise = _PRECISE.get(name, False)
    if called.on_device(b):
        emit = ON_DEVICE.get(name, emit)
        precise = "all" if precise or name in ("add", "sub") else False
        if name == "div" and is_python_number(y):
            emit = _by_inverse
    dt = result_type(b, x, y)
    if name == "pow" and is_python_number(y) and dt.kind in "iuf":
        emit = _power_of(b, y, dt)
    if dt.kind == "c" and name not in ("add", "sub", "mul", "eq", "ne"):
        raise Unsupported("dtype", "complex tensors")
    if how == "compare":
        return pointwise(b, emit, [x, y], _comparison(dt, x, y), out=BOOL, into=into)
    if how == "float":
        dt = to_float(b, dt)
    if (dt == BOOL and how == "number") or (name == "sub" and BOOL in (dtype_of(x), dtype_of(y))):
        raise refuse(f"{name} of bools")
    if (dt.kind == "f" and how == "integer") or (dt.kind != "f" and how == "floating"):
        raise refuse(f"{name} of {dt}")
    packed = name == "pow" and not isinstance(x, Tensor)
    return pointwise(b, emit, [x, y], dt, into=into, precise=precise, packed=packed)


_PRECISE: dict[str, Precise] = dict.fromkeys(("mul", "div", "floor_divide"), "later")


def _comparison(dt: np.dtype, x: SymValue, y: SymValue) -> np.dtype:
    """Comparisons are made in the common dtype; of numbers that do not fit it torch gives the answer by value."""
    for v in (x, y):
        if isinstance(v, Const) and type(v.value) is int and dt.kind in "iu":
            info = np.iinfo(dt)
            if not info.min <= v.value <= info.max:
                raise refuse("a number beyond the tensor's dtype")
        elif is_python_number(v) and not isinstance(v, Const) and dt.kind in "iu" and dt.itemsize < 8:
            raise refuse("a number that may be beyond the tensor's dtype")
    return dt


def _add(b: Builder, x: Value, y: Value) -> Value:
    return b.emit("logical_or" if value_dtype(x) == BOOL else "add", x, y)


def _mul(b: Builder, x: Value, y: Value) -> Value:
    return b.emit("logical_and" if value_dtype(x) == BOOL else "mul", x, y)


def _by_inverse(b: Builder, x: Value, y: Value) -> Value:
    """On devices torch divides by a number so."""
    return b.emit("mul", x, _reciprocal(b, y))


def _no_zero(b: Builder, y: Value) -> None:
    """torch raises when an integer is divided by zero."""
    zero = b.emit("eq", y, constant(b, y, 0))
    if b.dims(y):
        zero = b.emit("reduce", zero, op="any", axes=tuple(range(len(b.dims(y)))))
    b.exit_if(zero, "integer-division")


def _floor_divide(b: Builder, x: Value, y: Value) -> Value:
    if value_dtype(x).kind != "f":
        _no_zero(b, y)
    return b.emit("floordiv", x, y)


def _remainder(b: Builder, x: Value, y: Value) -> Value:
    """C's remainder moved to the divisor's sign; a zero keeps the sign of the dividend."""
    if value_dtype(x).kind != "f":
        _no_zero(b, y)
        return b.emit("mod", x, y)
    rest, zero = b.emit("fmod", x, y), constant(b, x, 0)
    other = b.emit("ne", b.emit("lt", y, zero), b.emit("lt", rest, zero))
    move = b.emit("logical_and", b.emit("ne", rest, zero), other)
    return b.emit("select", move, b.emit("add", rest, y), rest)


def _fmod(b: Builder, x: Value, y: Value) -> Value:
    if value_dtype(x).kind != "f":
        _no_zero(b, y)
    return b.emit("fmod", x, y)


def _pow(b: Builder, x: Value, y: Value) -> Value:
    if value_dtype(x).kind in "iu":
        negative = b.emit("lt", y, constant(b, y, 0))
        if b.dims(y):
            negative = b.emit("reduce", negative, op="any", axes=tuple(range(len(b.dims(y)))))
        b.exit_if(negative, "negative-power")
    return b.emit("pow", x, y)


def _power_of(b: Builder, exponent: SymValue, dt: np.dtype) -> Emit:
    """Powers by a number: torch takes roots for 0.5 and -0.5, which differ at -0.0 and -inf, but not in half precision."""
    need_fit(b, exponent, dt)
    if isinstance(exponent, Const) and dt.kind in "iu" and exponent.value < 0:
        raise refuse("a negative power of integers")
    if not isinstance(exponent, Const) and dt.kind in "iu":  # an error for tensors without elements, too
        y = b.value_of(exponent)
        b.exit_if(b.emit("lt", y, constant(b, y, 0)), "negative-power")

    def emit(b: Builder, x: Value, y: Value) -> Value:
        if dt == np.float16 and not called.on_device(b):
            return b.emit("pow", x, y)
        if value_dtype(x).kind != "f":
            return b.emit("pow", x, y)
        if isinstance(exponent, Const):
            how = {0.5: prim("sqrt"), -0.5: _rsqrt, -1.0: _reciprocal, 2.0: lambda b, x: b.emit("mul", x, x)}
            return how[exponent.value](b, x) if exponent.value in how else b.emit("pow", x, y)
        out = b.emit("pow", x, y)
        for number, root in ((0.5, prim("sqrt")), (-0.5, _rsqrt)):
            out = b.emit("select", b.emit("eq", y, constant(b, y, number)), root(b, x), out)
        return out

    return emit


def _shift(name: str) -> Emit:
    """torch leaves shifts by a negative count or beyond the width to the hardware in some places: they leave."""

    def emit(b: Builder, x: Value, y: Value) -> Value:
        bits = value_dtype(x).itemsize * 8
        bad = b.emit("logical_or", b.emit("lt", y, constant(b, y, 0)), b.emit("ge", y, constant(b, y, bits)))
        if b.dims(y):
            bad = b.emit("reduce", bad, op="any", axes=tuple(range(len(b.dims(y)))))
        b.exit_if(bad, "negative-shift")
        return b.emit(name, x, y)

    return emit


BINARY: dict[str, tuple[Emit, str]] = {
    "add": (_add, "any"),
    "sub": (prim("sub"), "number"),
    "mul": (_mul, "any"),
    "div": (prim("div"), "float"),
    "floor_divide": (_floor_divide, "number"),
    "remainder": (_remainder, "number"),
    "fmod": (_fmod, "number"),
    "pow": (_pow, "number"),
    "atan2": (prim("atan2"), "float"),
    "copysign": (prim("copysign"), "float"),
    "hypot": (prim("hypot"), "floating"),
    "maximum": (prim("maximum"), "any"),
    "minimum": (prim("minimum"), "any"),
    "fmax": (prim("fmax"), "any"),
    "fmin": (prim("fmin"), "any"),
    "bitwise_and": (prim("bit_and"), "integer"),
    "bitwise_or": (prim("bit_or"), "integer"),
    "bitwise_xor": (prim("bit_xor"), "integer"),
    "bitwise_left_shift": (_shift("shl"), "integer"),
    "bitwise_right_shift": (_shift("shr"), "integer"),
    "eq": (prim("eq"), "compare"),
    "ne": (prim("ne"), "compare"),
    "lt": (prim("lt"), "compare"),
    "le": (prim("le"), "compare"),
    "gt": (prim("gt"), "compare"),
    "ge": (prim("ge"), "compare"),
    "logical_and": (prim("logical_and"), "compare"),
    "logical_or": (prim("logical_or"), "compare"),
    "logical_xor": (prim("logical_xor"), "compare"),
}

ON_DEVICE: dict[str, Emit] = {
    "maximum": extreme(True),
    "minimum": extreme(False),
    "fmax": extreme(True, True),
    "fmin": extreme(False, True),
}
"""Formulas of CUDA's functions where they differ."""

_OTHER_NAMES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "atan2": "arctan2",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_TENSORS_ONLY = {"atan2", "hypot", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor"}
_SCALED = ("add", "sub")


def _register(name: str) -> None:
    def check(b: Builder, x: SymValue, y: SymValue) -> tuple[SymValue, SymValue]:
        x, y = as_operand(b, x), as_operand(b, y)
        if name in _TENSORS_ONLY and not (isinstance(x, Tensor) and isinstance(y, Tensor)):
            raise refuse(f"{name} of a number")
        if not isinstance(x, Tensor) and name not in ("pow", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor"):
            raise refuse(f"{name} of a number first")
        return x, y

    def call(b: Builder, input: SymValue, other: SymValue, *, out: SymValue = NONE) -> SymValue:
        no_out(b, out)
        return binary(b, name, *check(b, input, other))

    def scaled(b: Builder, input: SymValue, other: SymValue, *, alpha: SymValue = Const(1), out: SymValue = NONE) -> SymValue:
        no_out(b, out)
        x, y = check(b, input, other)
        factor = b.static(alpha)
        plain = factor == 1 and factor is not True
        return binary(b, name, x, y) if plain else _with_factor(b, name, as_tensor(b, x), as_tensor(b, y), factor)

    def inplace(b: Builder, self: SymValue, other: SymValue, *, alpha: SymValue = Const(1)) -> SymValue:
        x = as_tensor(b, self)
        first, second = check(b, x, other)
        factor = b.static(alpha)
        if factor == 1 and factor is not True:
            return binary(b, name, first, second, into=x)
        out = _with_factor(b, name, x, as_tensor(b, second), factor)
        if not castable(out.dtype, x.dtype):
            raise refuse("a result that cannot be stored")
        return results.store(b, x, b.read(out.array), [x, second])

    names = [n for n in (name, _OTHER_NAMES.get(name), "rem" if name == "remainder" else None) if n]
    if name != "div":
        both(*names)(scaled if name in _SCALED else call)
        method(*(f"{n}_" for n in names))(inplace)


for _name in BINARY:
    _register(_name)


def _with_factor(b: Builder, name: str, x: Tensor, y: Tensor, factor: object) -> Tensor:
    """`torch.add(x, y, alpha=factor)` or `sub`. torch rounds a float product and sum once: it does so itself."""
    dt = result_type(b, x, y)
    if type(factor) is bool:
        raise refuse("a bool as alpha")
    if dt.kind in "iu" and type(factor) is int:
        return pointwise(b, lambda b, p, q: b.emit(name, p, b.emit("mul", q, constant(b, q, factor))), [x, y], dt)
    if dt.kind != "f" or type(factor) not in (int, float) or not all(map(is_c, (layout_of(b, x), layout_of(b, y)))):
        raise refuse("alpha")
    dims = b.broadcast_dims(b.dims(x.array), b.dims(y.array))
    (out,) = called.call(b, "function", [x, y], [called.type_of(dt, dims)], name=name, alpha=factor)
    return out


def layout_of(b: Builder, x: Tensor) -> Layout:
    return b.facts.canon_type(x.array.type).layout


def divide(b: Builder, x: SymValue, y: SymValue, mode: SymValue, into: Tensor | None = None) -> Tensor:
    """`torch.div` with its rounding modes."""
    how = b.static(mode)
    if how is None:
        return binary(b, "div", x, y, into)
    if how == "floor":
        return binary(b, "floor_divide", x, y, into)
    raise refuse(f"rounding_mode={how!r}")


@both("div", "divide", "true_divide")
def div(b: Builder, input: SymValue, other: SymValue, *, rounding_mode: SymValue = NONE, out: SymValue = NONE) -> SymValue:
    no_out(b, out)
    return divide(b, as_tensor(b, input), other, rounding_mode)


@method("div_", "divide_", "true_divide_")
def div_(b: Builder, self: SymValue, other: SymValue, *, rounding_mode: SymValue = NONE) -> SymValue:
    x = as_tensor(b, self)
    return divide(b, x, other, rounding_mode, x)


# ---------------------------------------------------------------------------------------------- three operands


@functions("where")
def where(b: Builder, condition: SymValue, input: SymValue, other: SymValue) -> SymValue:
    return select(b, condition, input, other)


@method("where")
def where_method(b: Builder, self: Tensor, condition: SymValue, other: SymValue) -> SymValue:
    return select(b, condition, self, other)


def select(b: Builder, condition: SymValue, input: SymValue, other: SymValue) -> Tensor:
    c, x, y = as_tensor(b, condition), as_operand(b, input), as_operand(b, other)
    if c.dtype != BOOL:
        raise refuse("a condition that is not bool")
    dt = result_type(b, x, y)
    for v in (x, y):
        need_fit(b, v, dt)
    values = [b.read(c.array), operand(b, x, dt), operand(b, y, dt)]
    dims = b.broadcast_dims(*map(b.dims, values))
    values = [b.broadcast(v, dims) for v in values]
    tensors = [v for v, o in zip(values, (c, x, y)) if isinstance(o, Tensor)]
    return results.iterated(b, b.emit("select", *values), tensors)


def clamped(b: Builder, x: Tensor, low: SymValue, high: SymValue, into: Tensor | None = None) -> Tensor:
    """NaN in the tensor or in a bound gives NaN; where the bounds cross, the upper one wins."""
    bounds = [(name, b.force(v)) for name, v in (("maximum", low), ("minimum", high))]
    bounds = [(name, as_operand(b, v)) for name, v in bounds if not (isinstance(v, Const) and v.value is None)]
    if not bounds:
        raise refuse("clamp without bounds")
    operands = [x, *(v for _, v in bounds)]
    dt = result_type(b, *operands)
    only_real(dt)
    if dt == BOOL:
        raise refuse("clamp of bools")
    for _, v in bounds:
        need_fit(b, v, dt)

    def emit(b: Builder, x: Value, *limits: Value) -> Value:
        for (name, _), limit in zip(bounds, limits):
            if called.on_device(b):
                x = ON_DEVICE[name](b, x, limit)
            else:
                x = b.emit(name, limit, x)  # of equal zeros the second one is kept
        return x

    return pointwise(b, emit, operands, dt, into=into)


@both("clamp", "clip")
def clamp(b: Builder, input: SymValue, min: SymValue = NONE, max: SymValue = NONE, *, out: SymValue = NONE) -> SymValue:
    no_out(b, out)
    return clamped(b, as_tensor(b, input), min, max)


@method("clamp_", "clip_")
def clamp_(b: Builder, self: SymValue, min: SymValue = NONE, max: SymValue = NONE) -> SymValue:
    x = as_tensor(b, self)
    return clamped(b, x, min, max, x)


@both("clamp_min")
def clamp_min(b: Builder, input: SymValue, min: SymValue) -> SymValue:
    return clamped(b, as_tensor(b, input), min, NONE)


@both("clamp_max")
def clamp_max(b: Builder, input: SymValue, max: SymValue) -> SymValue:
    return clamped(b, as_tensor(b, input), NONE, max)


__all__ = ["BINARY", "binary", "clamped", "constant", "pointwise", "prim", "select", "sigmoid"]
