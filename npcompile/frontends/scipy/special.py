"""Rules of the ufuncs of `scipy.special` that are formulas of prims; all others are called from inside the segment.

In: symbolic arguments of a ufunc call. Out: arrays or NumPy scalars. Never: complex loops. The formulas are SciPy's own (its
xsf library), so that results differ by the last places of `exp` and `log` alone. SciPy reports no floating-point conditions;
`scipy.special.seterr` may ask for errors of its own, so its state is guarded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from scipy import special

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.promotion import FLOAT64
from npcompile.frontends.numpy.registry import NONE, TRUE, Rule
from npcompile.frontends.numpy.ufuncs import UFUNCS, Elementwise, rule_of
from npcompile.frontends.values import Const, SymValue, Unsupported
from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType

from .registry import rule

Formula = Callable[..., Value]


class Expr:
    """Arithmetic on values of one shape and dtype, without conditions; Python numbers are constants of that dtype."""

    def __init__(self, b: Builder, like: Value) -> None:
        assert isinstance(like.type, TensorType)
        self.b, self.dims, self.dtype = b, b.dims(like), like.type.dtype

    def value(self, x: Value | float) -> Value:
        return x if isinstance(x, Value) else self.b.broadcast(self.b.const(x, self.dtype), self.dims)

    def __call__(self, prim: str, *xs: Value | float) -> Value:
        return self.b.emit(prim, *map(self.value, xs))

    def polynomial(self, x: Value, coefficients: tuple[float, ...]) -> Value:
        """By Horner's rule, the highest power first; a leading 1 is not multiplied."""
        first, *rest = coefficients
        y = self("add", x, rest.pop(0)) if first == 1.0 else self.value(first)
        for c in rest:
            y = self("add", self("mul", y, x), c)
        return y


# ---------------------------------------------------------------------------------------------- the error function

# Rational approximations of the Cephes library (S. L. Moshier, Methods and Programs for Mathematical Functions, 1989; ndtr.c):
# erf(x) = x T(x²)/U(x²) up to 1; erfc(x) = exp(-x²) P(x)/Q(x) from 1 to 8, exp(-x²) R(x)/S(x) beyond.
_P = (2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687, 48.6371970985681366614,
      196.520832956077098242, 526.445194995477358631, 934.528527171957607540, 1027.55188689515710272,
      557.535335369399327526)  # fmt: skip
_Q = (1.0, 13.2281951154744992508, 86.7072140885989742329, 354.937778887819891062, 975.708501743205489753,
      1823.90916687909736289, 2246.33760818710981792, 1656.66309194161350182, 557.535340817727675546)  # fmt: skip
_R = (0.564189583547755073984, 1.27536670759978104416, 5.01905042251180477414, 6.16021097993053585195,
      7.40974269950448939160, 2.97886665372100240670)  # fmt: skip
_S = (1.0, 2.26052863220117276590, 9.39603524938001434673, 12.0489539808096656605, 17.0814450747565897222,
      9.60896809063285878198, 3.36907645100081516050)  # fmt: skip
_T = (9.60497373987051638749, 90.0260197203842689217, 2232.00534594684319226, 7003.32514112805075473,
      55592.3013010394962768)  # fmt: skip
_U = (1.0, 33.5617141647503099647, 521.357949780152679795, 4594.32382970980127987, 22629.0000613890934246,
      49267.3942608635921086)  # fmt: skip
_MAXLOG = 709.782712893383996843


def _near(e: Expr, x: Value) -> Value:
    """erf where |x| <= 1."""
    z = e("mul", x, x)
    return e("div", e("mul", x, e.polynomial(z, _T)), e.polynomial(z, _U))


def _tail(e: Expr, a: Value) -> Value:
    """erfc where a >= 1."""
    z = e("neg", e("mul", a, a))
    far = e("ge", a, 8.0)
    above = e("select", far, e.polynomial(a, _R), e.polynomial(a, _P))
    below = e("select", far, e.polynomial(a, _S), e.polynomial(a, _Q))
    y = e("div", e("mul", e("exp", z), above), below)
    return e("select", e("lt", z, -_MAXLOG), 0.0, y)


def _erf(e: Expr, x: Value) -> Value:
    a = e("abs", x)
    return e("select", e("gt", a, 1.0), e("copysign", e("sub", 1.0, _tail(e, a)), x), _near(e, x))


def _erfc(e: Expr, x: Value) -> Value:
    a = e("abs", x)
    tail = _tail(e, a)
    tail = e("select", e("lt", x, 0.0), e("sub", 2.0, tail), tail)
    return e("select", e("lt", a, 1.0), e("sub", 1.0, _near(e, x)), tail)


def _ndtr(e: Expr, a: Value) -> Value:
    x = e("mul", a, float(np.sqrt(0.5)))
    z = e("abs", x)
    half = e("mul", 0.5, _tail(e, z))
    outside = e("select", e("gt", x, 0.0), e("sub", 1.0, half), half)
    inside = e("add", 0.5, e("mul", 0.5, _near(e, x)))
    return e("select", e("lt", z, 1.0), inside, outside)


# ---------------------------------------------------------------------------------------------- logistic, entropy


def _expit(e: Expr, x: Value) -> Value:
    return e("div", 1.0, e("add", 1.0, e("exp", e("neg", x))))


def _log_expit(e: Expr, x: Value) -> Value:
    """log(expit(x)) by the smaller of the two exponentials."""
    low = e("log1p", e("exp", e("neg", e("abs", x))))
    return e("select", e("lt", x, 0.0), e("sub", x, low), e("neg", low))


def _logit(e: Expr, x: Value) -> Value:
    """Near 1/2 by two log1p, which keep the digits there."""
    s = e("mul", 2.0, e("sub", x, 0.5))
    near = e("sub", e("log1p", s), e("log1p", e("neg", s)))
    far = e("log", e("div", x, e("sub", 1.0, x)))
    return e("select", e("logical_or", e("lt", x, 0.3), e("gt", x, 0.65)), far, near)


def _entr(e: Expr, x: Value) -> Value:
    rest = e("select", e("eq", x, 0.0), 0.0, -np.inf)
    inside = e("select", e("gt", x, 0.0), e("neg", e("mul", x, e("log", x))), rest)
    return e("select", e("isnan", x), x, inside)


def _times(log: str) -> Formula:
    """x log(y), 0 where x is 0 and y no NaN."""

    def formula(e: Expr, x: Value, y: Value) -> Value:
        zero = e("logical_and", e("eq", x, 0.0), e("logical_not", e("isnan", y)))
        return e("select", zero, 0.0, e("mul", x, e(log, y)))

    return formula


def _huber(e: Expr, delta: Value, r: Value) -> Value:
    a = e("abs", r)
    square = e("mul", e("mul", 0.5, r), r)
    line = e("mul", delta, e("sub", a, e("mul", 0.5, delta)))
    return e("select", e("lt", delta, 0.0), np.inf, e("select", e("le", a, delta), square, line))


def _prim(name: str) -> Formula:
    return lambda e, x: e(name, x)


_VERSION = tuple(int(p) for p in scipy.__version__.split(".")[:2])
_IN_DOUBLES: dict[str, Formula] = {
    "erf": _erf, "erfc": _erfc, "ndtr": _ndtr, "entr": _entr, "huber": _huber, "log1p": _prim("log1p"),
    "expm1": _prim("expm1"), "cbrt": _prim("cbrt"),
}  # fmt: skip
"""Formulas whose float32 loop computes in float64 and rounds once."""
_IN_OWN: dict[str, Formula] = {"expit": _expit, "log_expit": _log_expit, "xlogy": _times("log"), "xlog1py": _times("log1p")}
if _VERSION >= (1, 16):  # before, one logarithm everywhere
    _IN_OWN["logit"] = _logit


# ---------------------------------------------------------------------------------------------- registration

_quiet: dict[str, Any] = {}


def _check_quiet(b: Builder) -> None:
    """Special functions must neither warn nor raise: SciPy's default."""
    state = special.geterr()
    if any(how != "ignore" for error, how in state.items() if error != "memory"):
        raise Unsupported("numpy-arguments", "scipy.special.seterr asks for errors")
    if state != _quiet:
        _quiet.clear()
        _quiet.update(state)
    b.state_hook(special.geterr, _quiet)


def _elementwise(formula: Formula, doubles: bool) -> Elementwise:
    def emit(b: Builder, name: Any, xs: list[Value]) -> list[Value]:
        _check_quiet(b)
        types = [x.type.dtype for x in xs if isinstance(x.type, TensorType)]
        if types[0].kind == "c":
            raise Unsupported("numpy-arguments", f"{name} of complex numbers")
        wide = doubles and types[0] != FLOAT64
        ins = [b.convert(x, FLOAT64) for x in xs] if wide else xs
        out = formula(Expr(b, ins[0]), *ins)
        return [b.emit("convert", out, dtype=types[0]) if wide else out]

    return Elementwise(emit)


def _whole(ufunc: np.ufunc) -> Rule:
    """Without `where`: NumPy 2.4 applies it at the wrong elements of loops that are not its own, which stays its business."""
    of_all = rule_of(ufunc)

    def call(
        b: Builder, *args: SymValue, out: SymValue = NONE, where: SymValue = TRUE, casting: SymValue = NONE,
        order: SymValue = NONE, dtype: SymValue = NONE, subok: SymValue = TRUE,
    ) -> SymValue:  # fmt: skip
        where = b.force(where)
        if not (isinstance(where, Const) and where.value is True):
            raise Unsupported("numpy-arguments", f"{ufunc.__name__} with where=")
        return of_all(b, *args, out=out, casting=casting, order=order, dtype=dtype, subok=subok)

    return call


for _table, _doubles in ((_IN_DOUBLES, True), (_IN_OWN, False)):
    for _name, _formula in _table.items():
        _ufunc = getattr(special, _name, None)
        if _ufunc is not None and _ufunc not in UFUNCS:
            UFUNCS[_ufunc] = _elementwise(_formula, _doubles)
            rule(_ufunc)(_whole(_ufunc))
