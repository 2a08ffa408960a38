"""Rows of elementwise functions of one operand. Result dtype is the operand's unless the row says otherwise."""

from __future__ import annotations

import numpy as np

from ..prim import Cost, Prim, register
from ._rules import pointwise, real_part, scipy_ufunc, to_bool, ufunc

DIV, OVER, UNDER, INV = "divide", "overflow", "underflow", "invalid"


def _row(name: str, np_name: str, kinds: str, cost: Cost, reports: tuple[str, ...], triton: str, *, out=None, impl=None) -> None:
    register(
        Prim(
            name=name,
            group="unary",
            type_rule=pointwise(1, kinds, out),
            numpy=impl or ufunc(np_name),
            loop="pointwise",
            cost=cost,
            cpp=f"npc_{name}({{0}})",
            triton=triton,
            reports=reports,
        )
    )


# arithmetic and rounding
_row("neg", "negative", "iufc", "cheap", (), "-{0}")
_row("abs", "absolute", "biufc", "cheap", (OVER, UNDER, INV), "tl.abs({0})", out=real_part)
_row("sign", "sign", "iufc", "cheap", (OVER, UNDER, INV), "tl.where({0} > 0, 1, tl.where({0} < 0, -1, {0}))")
_row("floor", "floor", "biuf", "cheap", (INV,), "tl.floor({0})")
_row("ceil", "ceil", "biuf", "cheap", (INV,), "tl.ceil({0})")
_row("trunc", "trunc", "biuf", "cheap", (INV,), "libdevice.trunc({0})")
_row("rint", "rint", "fc", "cheap", (INV,), "libdevice.rint({0})")
_row("square", "square", "iufc", "cheap", (OVER, UNDER, INV), "{0} * {0}")
_row("reciprocal", "reciprocal", "iufc", "cheap", (DIV, OVER, UNDER, INV), "1 / {0}")
_row("deg2rad", "deg2rad", "f", "cheap", (UNDER, INV), "{0} * 0.017453292519943295")
_row("rad2deg", "rad2deg", "f", "cheap", (OVER, UNDER, INV), "{0} * 57.29577951308232")
_row("spacing", "spacing", "f", "cheap", (OVER, UNDER, INV), "libdevice.nextafter({0}, float('inf')) - {0}")
_row("conj", "conjugate", "iufc", "cheap", (), "{0}")
_row("real", "", "c", "free", (), "npc_tl.real({0})", out=real_part, impl=lambda ins, _: (np.asarray(np.positive(ins[0].real)),))
_row("imag", "", "c", "free", (), "npc_tl.imag({0})", out=real_part, impl=lambda ins, _: (np.asarray(np.positive(ins[0].imag)),))
_row("bit_not", "invert", "biu", "cheap", (), "~{0}")

# roots, exponentials, logarithms
_row("sqrt", "sqrt", "fc", "expensive", (OVER, UNDER, INV), "tl.sqrt_rn({0})")
_row("cbrt", "cbrt", "f", "expensive", (UNDER, INV), "libdevice.cbrt({0})")
_row("exp", "exp", "fc", "expensive", (OVER, UNDER, INV), "tl.exp({0})")
_row("exp2", "exp2", "fc", "expensive", (OVER, UNDER, INV), "tl.exp2({0})")
_row("expm1", "expm1", "fc", "expensive", (OVER, UNDER, INV), "libdevice.expm1({0})")
_row("log", "log", "fc", "expensive", (DIV, OVER, UNDER, INV), "tl.log({0})")
_row("log2", "log2", "fc", "expensive", (DIV, OVER, UNDER, INV), "tl.log2({0})")
_row("log10", "log10", "fc", "expensive", (DIV, OVER, UNDER, INV), "libdevice.log10({0})")
_row("log1p", "log1p", "fc", "expensive", (DIV, OVER, UNDER, INV), "libdevice.log1p({0})")

# trigonometric and hyperbolic
_row("sin", "sin", "fc", "expensive", (OVER, UNDER, INV), "tl.sin({0})")
_row("cos", "cos", "fc", "expensive", (OVER, UNDER, INV), "tl.cos({0})")
_row("tan", "tan", "fc", "expensive", (DIV, OVER, UNDER, INV), "libdevice.tan({0})")
_row("asin", "arcsin", "fc", "expensive", (OVER, UNDER, INV), "libdevice.asin({0})")
_row("acos", "arccos", "fc", "expensive", (OVER, UNDER, INV), "libdevice.acos({0})")
_row("atan", "arctan", "fc", "expensive", (DIV, OVER, UNDER, INV), "libdevice.atan({0})")
_row("sinh", "sinh", "fc", "expensive", (OVER, UNDER, INV), "libdevice.sinh({0})")
_row("cosh", "cosh", "fc", "expensive", (OVER, UNDER, INV), "libdevice.cosh({0})")
_row("tanh", "tanh", "fc", "expensive", (OVER, UNDER, INV), "libdevice.tanh({0})")
_row("asinh", "arcsinh", "fc", "expensive", (OVER, UNDER, INV), "libdevice.asinh({0})")
_row("acosh", "arccosh", "fc", "expensive", (OVER, UNDER, INV), "libdevice.acosh({0})")
_row("atanh", "arctanh", "fc", "expensive", (DIV, OVER, UNDER, INV), "libdevice.atanh({0})")

# predicates: the result is bool
_row("isnan", "isnan", "biufc", "cheap", (), "{0} != {0}", out=to_bool)
_row("isfinite", "isfinite", "biufc", "cheap", (), "tl.abs({0}) < float('inf')", out=to_bool)
_row("isinf", "isinf", "biufc", "cheap", (), "tl.abs({0}) == float('inf')", out=to_bool)
_row("signbit", "signbit", "f", "cheap", (), "libdevice.signbit({0}) != 0", out=to_bool)
_row("logical_not", "logical_not", "biufc", "cheap", (), "{0} == 0", out=to_bool)

# special functions; NumPy has none, SciPy's are the reference
_row("erf", "", "f", "expensive", (UNDER,), "tl.erf({0})", impl=scipy_ufunc("erf"))
_row("lgamma", "", "f", "expensive", (DIV, OVER, INV), "libdevice.lgamma({0})", impl=scipy_ufunc("gammaln"))
