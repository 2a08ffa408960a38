"""Rows of elementwise functions of one operand. Result dtype is the operand's unless the row says otherwise."""

from __future__ import annotations

import numpy as np

from ..prim import Cost, Prim, conditions_of, register
from ..types import Type
from ._rules import Params, int_attr, pointwise, real_part, scipy_ufunc, to_bool, ufunc


def _row(name: str, np_name: str, kinds: str, cost: Cost, conditions: str, triton: str = "", *, out=None, impl=None) -> None:
    register(
        Prim(
            name=name,
            group="unary",
            type_rule=pointwise(1, kinds, out),
            numpy=impl or ufunc(np_name),
            ufunc=np_name,
            loop="pointwise",
            cost=cost,
            cpp=f"npc_{name}({{0}})",
            triton=triton or f"npc_{name}({{0}})",
            conditions=conditions_of(conditions),
        )
    )


# arithmetic and rounding
_row("neg", "negative", "iufc", "cheap", "")
_row("abs", "absolute", "biufc", "cheap", "c:ou", out=real_part)
_row("sign", "sign", "iufc", "cheap", "c:oui")
_row("floor", "floor", "biuf", "cheap", "")
_row("ceil", "ceil", "biuf", "cheap", "")
_row("trunc", "trunc", "biuf", "cheap", "")
_row("rint", "rint", "fc", "cheap", "")
_row("square", "square", "iufc", "cheap", "f:oui c:oui", "{0} * {0}")
_row("reciprocal", "reciprocal", "iufc", "cheap", "i:di u:di f:dou c:doui")
_row("deg2rad", "deg2rad", "f", "cheap", "f:u")
_row("rad2deg", "rad2deg", "f", "cheap", "f:ou")
_row("spacing", "spacing", "f", "cheap", "f:oui")
_row("conj", "conjugate", "iufc", "cheap", "", "{0}")
_row("real", "", "c", "free", "", out=real_part, impl=lambda ins, _: (np.asarray(np.positive(ins[0].real)),))
_row("imag", "", "c", "free", "", out=real_part, impl=lambda ins, _: (np.asarray(np.positive(ins[0].imag)),))
_row("bit_not", "invert", "biu", "cheap", "")

# roots, exponentials, logarithms
_row("sqrt", "sqrt", "fc", "expensive", "f:i c:oui")
_row("cbrt", "cbrt", "f", "expensive", "", "libdevice.cbrt({0})")
_row("exp", "exp", "fc", "expensive", "f:ou c:oui", "libdevice.exp({0})")
_row("exp2", "exp2", "fc", "expensive", "f:ou c:oui", "libdevice.exp2({0})")
_row("expm1", "expm1", "fc", "expensive", "f:ou c:oui", "libdevice.expm1({0})")
_row("log", "log", "fc", "expensive", "f:di c:doui", "libdevice.log({0})")
_row("log2", "log2", "fc", "expensive", "f:di c:doui", "libdevice.log2({0})")
_row("log10", "log10", "fc", "expensive", "f:di c:doui", "libdevice.log10({0})")
_row("log1p", "log1p", "fc", "expensive", "f:diu c:doui", "libdevice.log1p({0})")

# trigonometric and hyperbolic
_row("sin", "sin", "fc", "expensive", "f:iu c:oui", "libdevice.sin({0})")
_row("cos", "cos", "fc", "expensive", "f:iu c:oui", "libdevice.cos({0})")
_row("tan", "tan", "fc", "expensive", "f:iu c:doui", "libdevice.tan({0})")
_row("asin", "arcsin", "fc", "expensive", "f:iu c:oui", "libdevice.asin({0})")
_row("acos", "arccos", "fc", "expensive", "f:i c:oui", "libdevice.acos({0})")
_row("atan", "arctan", "fc", "expensive", "f:u c:doui", "libdevice.atan({0})")
_row("sinh", "sinh", "fc", "expensive", "f:ou c:oui", "libdevice.sinh({0})")
_row("cosh", "cosh", "fc", "expensive", "f:o c:oui", "libdevice.cosh({0})")
_row("tanh", "tanh", "fc", "expensive", "f:u c:oui", "libdevice.tanh({0})")
_row("asinh", "arcsinh", "fc", "expensive", "f:u c:oui", "libdevice.asinh({0})")
_row("acosh", "arccosh", "fc", "expensive", "f:i c:oui", "libdevice.acosh({0})")
_row("atanh", "arctanh", "fc", "expensive", "f:diu c:doui", "libdevice.atanh({0})")


def _powi_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    if int_attr(params, "n") < 2:
        raise TypeError(f"takes exponents from 2 on, got {params['n']}")
    return pointwise(1, "iuf")(ins, params)


# x to a constant integer power
register(
    Prim(
        name="powi",
        group="unary",
        type_rule=_powi_rule,
        numpy=lambda ins, params: (np.asarray(np.power(ins[0], np.array(params["n"], ins[0].dtype))),),
        ufunc="power",
        loop="pointwise",
        cost="cheap",
        cpp="npc_powi<{n}>({0})",
        triton="npc_powi({0}, {n})",
        conditions=conditions_of("f:ou"),
    )
)

# predicates: the result is bool
_row("isnan", "isnan", "biufc", "cheap", "", out=to_bool)
_row("isfinite", "isfinite", "biufc", "cheap", "", out=to_bool)
_row("isinf", "isinf", "biufc", "cheap", "", out=to_bool)
_row("signbit", "signbit", "f", "cheap", "", out=to_bool)
_row("logical_not", "logical_not", "biufc", "cheap", "", "{0} == 0", out=to_bool)

# special functions; NumPy has none, SciPy's are the reference
_row("erf", "", "f", "expensive", "f:u", "libdevice.erf({0})", impl=scipy_ufunc("erf"))
_row("lgamma", "", "f", "expensive", "f:o", impl=scipy_ufunc("gammaln"))
