"""Rows of elementwise functions of two operands of one dtype, and of checked Python-integer and `math` operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..prim import HOST, Cost, Prim, conditions_of, register
from ..types import Type
from ._rules import (
    B1,
    BOOL,
    COMPLEX_OF,
    FLOAT64,
    I64,
    INT64,
    Impl,
    Params,
    TypeRule,
    elementwise,
    need_kind,
    pointwise,
    scalar_inputs,
    tensors,
    to_bool,
    ufunc,
)


def _row(
    name: str,
    np_name: str,
    kinds: str,
    cost: Cost,
    conditions: str,
    triton: str = "",
    *,
    commutative: bool = False,
    scalars_warn: tuple[tuple[str, tuple[float, ...]], ...] = (),
    rule: TypeRule | None = None,
    impl: Impl | None = None,
) -> None:
    register(
        Prim(
            name=name,
            group="binary",
            type_rule=rule or pointwise(2, kinds),
            numpy=impl or ufunc(np_name),
            ufunc=np_name,
            loop="pointwise",
            cost=cost,
            cpp=f"npc_{name}({{0}}, {{1}})",
            triton=triton or f"npc_{name}({{0}}, {{1}})",
            conditions=conditions_of(conditions),
            commutative=commutative,
            scalars_warn=scalars_warn,
        )
    )


def _power(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    """NumPy's power, kept from the short cuts it takes for exponents of stride 0 (rules write those out)."""
    x, y = ins
    if x.dtype.kind != "f":
        return (np.asarray(np.power(x, y)),)
    with np.errstate(all="ignore"):
        out = np.empty_like(np.asarray(x + y))
    one = np.ones(1, x.dtype)
    flat = np.power(np.concatenate([np.ravel(x), one]), np.concatenate([np.ravel(y), one]))
    out[...] = flat[:-1].reshape(out.shape)
    return (out,)


# arithmetic; integers wrap, bool add/mul are or/and
_row("add", "add", "biufc", "cheap", "f:oi c:oi", commutative=True)
_row("sub", "subtract", "iufc", "cheap", "f:oi c:oi", "{0} - {1}")
_row("mul", "multiply", "biufc", "cheap", "f:oui c:oui", commutative=True)
_row("div", "divide", "fc", "expensive", "f:doui c:doui")
_row("floordiv", "floor_divide", "iuf", "expensive", "i:do u:d f:doui")
_row("mod", "remainder", "iuf", "expensive", "i:do u:d f:i", scalars_warn=(("e", (0.0,)),))
_row("fmod", "fmod", "iuf", "expensive", "i:do u:d f:i")
_row("pow", "power", "iufc", "expensive", "f:doui c:doui", impl=_power, scalars_warn=(("fd", (math.inf, -math.inf)),))
_row("atan2", "arctan2", "f", "expensive", "f:u", "libdevice.atan2({0}, {1})")
_row("hypot", "hypot", "f", "expensive", "f:ou", "libdevice.hypot({0}, {1})", commutative=True)
_row("logaddexp", "logaddexp", "f", "expensive", "f:oui")
_row("logaddexp2", "logaddexp2", "f", "expensive", "f:oui")
_row("copysign", "copysign", "f", "cheap", "")
_row("nextafter", "nextafter", "f", "cheap", "f:ou")
_row("heaviside", "heaviside", "f", "cheap", "")

# minimum and maximum: NaN wins in the first two and loses in the last two; which zero wins is NumPy's choice
_row("maximum", "maximum", "biufc", "cheap", "")
_row("minimum", "minimum", "biufc", "cheap", "")
_row("fmax", "fmax", "biufc", "cheap", "")
_row("fmin", "fmin", "biufc", "cheap", "")

# integers
_row("gcd", "gcd", "iu", "expensive", "", commutative=True)
_row("lcm", "lcm", "iu", "expensive", "", commutative=True)
_row("bit_and", "bitwise_and", "biu", "cheap", "", "{0} & {1}", commutative=True)
_row("bit_or", "bitwise_or", "biu", "cheap", "", "{0} | {1}", commutative=True)
_row("bit_xor", "bitwise_xor", "biu", "cheap", "", "{0} ^ {1}", commutative=True)
_row("shl", "left_shift", "iu", "cheap", "")
_row("shr", "right_shift", "iu", "cheap", "")


def _compare_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, b = tensors(ins, 2)
    need_kind(a, "biufc")
    if a.dtype != b.dtype and not (a.dtype.kind in "iu" and b.dtype.kind in "iu" and a.dtype.itemsize == b.dtype.itemsize == 8):
        raise TypeError(f"operands differ in dtype: {a}, {b}")
    return (elementwise((a, b), BOOL),)


# comparisons; int64 against uint64 is compared by value, as in NumPy; order of complex NaNs is invalid
_row("eq", "equal", "", "cheap", "", rule=_compare_rule, commutative=True)
_row("ne", "not_equal", "", "cheap", "", rule=_compare_rule, commutative=True)
_row("lt", "less", "", "cheap", "c:i", rule=_compare_rule)
_row("le", "less_equal", "", "cheap", "c:i", rule=_compare_rule)
_row("gt", "greater", "", "cheap", "c:i", rule=_compare_rule)
_row("ge", "greater_equal", "", "cheap", "c:i", rule=_compare_rule)
_LOGICAL = pointwise(2, "biufc", to_bool)
_row("logical_and", "logical_and", "", "cheap", "", rule=_LOGICAL, commutative=True)
_row("logical_or", "logical_or", "", "cheap", "", rule=_LOGICAL, commutative=True)
_row("logical_xor", "logical_xor", "", "cheap", "", "({0} != 0) ^ ({1} != 0)", rule=_LOGICAL, commutative=True)


def _ldexp_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, b = tensors(ins, 2)
    need_kind(a, "f")
    if b.dtype not in (INT64, np.dtype(np.int32)):
        raise TypeError(f"takes int32 or int64 exponents, got {b}")
    return (elementwise((a, b), a.dtype),)


def _complex_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, b = tensors(ins, 2)
    if a.dtype not in COMPLEX_OF or a.dtype != b.dtype:
        raise TypeError(f"takes two float32 or two float64, got {a} and {b}")
    return (elementwise((a, b), COMPLEX_OF[a.dtype]),)


def _complex(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    re, im = ins
    out = np.empty_like(np.asarray(np.fmax(re, im)), dtype=COMPLEX_OF[re.dtype])
    out.real, out.imag = re, im
    return (out,)


_row("ldexp", "ldexp", "", "cheap", "f:ou", rule=_ldexp_rule)
_row("complex", "", "", "cheap", "", rule=_complex_rule, impl=_complex)


# ---------------------------------------------------------------------------------------------- Python numbers


def _number_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, _ = scalar_inputs(ins, (None, None))
    if a.dtype not in (INT64, FLOAT64) or ins[0] != ins[1]:
        raise TypeError(f"takes two int64 or two float64 scalars, got {ins[0]} and {ins[1]}")
    return (a,)


def _python(f: Callable[[Any, Any], Any]) -> Impl:
    """Python's own operator; where it raises, the caller has left before, so any value will do."""

    def impl(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
        a, b = ins
        try:
            out = f(a.item(), b.item())
        except ZeroDivisionError:
            out = 0
        except OverflowError:  # the exit tests the result, which is infinite in C
            out = math.inf
        return (_wrapped(out) if a.dtype == INT64 else np.asarray(out if isinstance(out, float) else math.nan, FLOAT64),)

    return impl


def _wrapped(x: int) -> np.ndarray:
    return np.asarray(((x + (1 << 63)) % (1 << 64)) - (1 << 63), INT64)


_row("py_floordiv", "", "", "expensive", "", HOST, rule=_number_rule, impl=_python(lambda a, b: a // b))
_row("py_mod", "", "", "expensive", "", HOST, rule=_number_rule, impl=_python(lambda a, b: a % b))


def _f64_rule(arity: int) -> TypeRule:
    return lambda ins, params: (scalar_inputs(ins, (FLOAT64,) * arity)[0],)


_row("py_pow", "", "", "expensive", "", HOST, rule=_f64_rule(2), impl=_python(lambda a, b: a**b))


def _checked(name: str, arity: int, f: Callable[..., int]) -> None:
    def rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
        scalar_inputs(ins, (INT64,) * arity)
        return (I64, B1)

    def impl(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
        exact = f(*(x.item() for x in ins))
        out = _wrapped(exact)
        return (out, np.asarray(out.item() != exact))

    operands = ", ".join(f"{{{i}}}" for i in range(arity))
    register(
        Prim(
            name=name,
            group="binary",
            type_rule=rule,
            numpy=impl,
            loop="pointwise",
            cost="cheap",
            cpp=f"npc_{name}({operands}, {{o1}})",
            triton=HOST,
            commutative=name in ("add_checked", "mul_checked"),
        )
    )


def _shl(a: int, b: int) -> int:
    """Python's shift; a negative count (which raises in Python) and one beyond any int64 both count as overflow."""
    return 1 << 64 if b < 0 else 0 if a == 0 else a << min(b, 64)


def _pow(a: int, b: int) -> int:
    """Python's power; a negative exponent (a float in Python) counts as overflow."""
    return 1 << 64 if b < 0 else a ** min(b, 64) if abs(a) > 1 else a ** (b % 2 if a == -1 else min(b, 1))


_checked("add_checked", 2, lambda a, b: a + b)
_checked("sub_checked", 2, lambda a, b: a - b)
_checked("mul_checked", 2, lambda a, b: a * b)
_checked("shl_checked", 2, _shl)
_checked("pow_checked", 2, _pow)
_checked("neg_checked", 1, lambda a: -a)


def _py_round(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    return (np.asarray(np.rint(ins[0])),)


register(
    Prim(
        name="py_round",
        group="binary",
        type_rule=_f64_rule(1),
        numpy=_py_round,
        loop="pointwise",
        cost="cheap",
        cpp="npc_py_round({0})",
        triton=HOST,
    )
)

LIBM: dict[str, int] = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc"), 1),
    **dict.fromkeys(("exp", "exp2", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt"), 1),
    **dict.fromkeys(("tan", "tanh", "trunc"), 1),
    **dict.fromkeys(("atan2", "copysign", "fmod", "hypot", "pow"), 2),
}
"""Functions of C's libm that Python's `math` module passes through (hypot: `abs` of complex numbers), with their number of
arguments."""


def _libm_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    name = params["name"]
    if name not in LIBM:
        raise TypeError(f"no libm function {name!r}")
    return (scalar_inputs(ins, (FLOAT64,) * LIBM[name])[0],)


def _libm(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    """Where `math` raises, the segment has an exit; the value only has to be NaN or infinite then, as libm's is."""
    args = [x.item() for x in ins]
    try:
        out = abs(complex(*args)) if params["name"] == "hypot" else float(getattr(math, params["name"])(*args))
    except ValueError:
        out = -math.inf if params["name"].startswith("log") and args[0] in (0.0, -1.0) else math.nan
    except OverflowError:
        out = math.inf
    return (np.asarray(out, FLOAT64),)


register(
    Prim(
        name="libm",
        group="binary",
        type_rule=_libm_rule,
        numpy=_libm,
        loop="pointwise",
        cost="expensive",
        cpp="{name}({args})",
        triton=HOST,
    )
)
