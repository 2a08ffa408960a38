"""Every polynomial of the kernels' math: what it approximates, where, in which error. Prints coefficients, lowest power first.

Needs mpmath. `python polynomials.py NAME...` prints those whose names contain NAME; the comment in `cpp/*.h` gives the name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import mpmath as mp
from fit import remez, show

F = Callable[[mp.mpf], mp.mpf]
TINY = mp.mpf(10) ** -25


def limit(f: F, at_zero: mp.mpf) -> F:
    """f(x) where x is not tiny, else the limit."""
    return lambda x: at_zero if abs(x) < TINY else f(x)


def sqrt_of(f: F, at_zero: mp.mpf) -> F:
    """f(s) as a function of s^2."""
    return limit(lambda z: f(mp.sqrt(z)), at_zero)


LN2 = mp.log(2)
HALF_LN2 = float(LN2 / 2 * mp.mpf("1.0005"))
SMAX = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.001")
T8 = mp.tan(mp.pi / 8)
EXPM1Q = limit(lambda x: (mp.expm1(x) - x) / x**2, mp.mpf(1) / 2)
EXP2P = limit(lambda x: (mp.mpf(2) ** x - 1) / x, LN2)
LOG_R = sqrt_of(lambda s: (2 * mp.atanh(s) / s - 2) / s**2, mp.mpf(2) / 3)
LOG_R5 = sqrt_of(lambda s: ((2 * mp.atanh(s) / s - 2) / s**2 - mp.mpf(2) / 3) / s**2, mp.mpf(2) / 5)
LOG_P = limit(lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, mp.mpf(1) / 3)
LOG2_Q = limit(lambda f: mp.log1p(f) / f / LN2, 1 / LN2)
SIN_S = sqrt_of(lambda r: (mp.sin(r) / r - 1) / r**2, -mp.mpf(1) / 6)
COS_C = sqrt_of(lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4, mp.mpf(1) / 24)
ATAN_T = sqrt_of(lambda t: (mp.atan(t) / t - 1) / t**2, -mp.mpf(1) / 3)
ASIN_A = sqrt_of(lambda t: (mp.asin(t) / t - 1) / t**2, mp.mpf(1) / 6)
ERF_SMALL = sqrt_of(lambda t: mp.erf(t) / t - 1, 2 / mp.sqrt(mp.pi) - 1)
LOG2_P = limit(lambda f: (mp.log1p(f) - f) / f**2 / LN2, -1 / (2 * LN2))
LOG10_P = limit(lambda f: (mp.log1p(f) - f) / f**2 / mp.log(10), -1 / (2 * mp.log(10)))
LOG_LO, LOG_HI = float(mp.sqrt(0.5) - 1) * 1.001, float(mp.sqrt(2) - 1) * 1.001
QUARTER = float((mp.pi / 2 * mp.mpf("1.007")) ** 2)
EIGHTH = float((mp.pi / 4 * mp.mpf("1.007")) ** 2)

TABLE: dict[str, tuple[F, int, float, float, F, bool]] = {
    "exp f64": (EXPM1Q, 10, -HALF_LN2, HALF_LN2, lambda x: x**2, False),
    "exp f32": (EXPM1Q, 5, -HALF_LN2, HALF_LN2, lambda x: x**2, True),
    "expm1 f32": (EXPM1Q, 6, -HALF_LN2, HALF_LN2, lambda x: abs(x) + TINY, True),
    "exp2 f64": (EXP2P, 11, -0.5005, 0.5005, lambda x: abs(x) + TINY, False),
    "exp2 f32": (EXP2P, 6, -0.5005, 0.5005, lambda x: abs(x) + TINY, True),
    "exp2 f32 in double": (EXP2P, 7, -0.5005, 0.5005, lambda x: abs(x) + TINY, False),
    "log f64": (LOG_R, 7, 0, float(SMAX), lambda z: z, False),
    "pow log f64": (LOG_R5, 7, 0, float(SMAX), lambda z: z * z, False),
    "log f32": (LOG_P, 9, LOG_LO, LOG_HI, lambda f: abs(f) ** 2 + TINY, True),
    "log2 f32": (LOG2_P, 10, LOG_LO, LOG_HI, lambda f: abs(f) + TINY, True),
    "log10 f32": (LOG10_P, 10, LOG_LO, LOG_HI, lambda f: abs(f) + TINY, True),
    "pow log2 f32 in double": (
        LOG2_Q,
        14,
        float(mp.sqrt(0.5) - 1) * 1.001,
        float(mp.sqrt(2) - 1) * 1.001,
        lambda f: mp.mpf(1),
        False,
    ),
    "sin f64": (SIN_S, 8, 0, QUARTER, lambda z: z, False),
    "sin f32": (SIN_S, 4, 0, QUARTER, lambda z: z, True),
    "tan sin f64": (SIN_S, 6, 0, EIGHTH, lambda z: z, False),
    "tan cos f64": (COS_C, 6, 0, EIGHTH, lambda z: z * z, False),
    "tan sin f32": (SIN_S, 3, 0, EIGHTH, lambda z: z, True),
    "tan cos f32": (COS_C, 3, 0, EIGHTH, lambda z: z * z, True),
    "atan f64": (ATAN_T, 11, 0, float(T8**2 * mp.mpf("1.001")), lambda z: z, False),
    "atan f32": (ATAN_T, 5, 0, float(T8**2 * mp.mpf("1.001")), lambda z: z, True),
    "asin f64": (ASIN_A, 12, 0, 0.2501, lambda z: z, False),
    "asin f32": (ASIN_A, 5, 0, 0.2501, lambda z: z, True),
    "erf small f64": (ERF_SMALL, 11, 0, 0.5625, lambda z: mp.mpf(1), False),
    "erf large f64": (lambda x: -mp.log(mp.erfc(x)), 19, 0.75, 6, lambda x: mp.erfc(x) / mp.erf(x), False),
    "erf small f32": (ERF_SMALL, 6, 0, 0.5625, lambda z: mp.mpf(1), True),
    "erf large f32": (lambda x: -mp.log(mp.erfc(x)), 9, 0.75, 4.0, lambda x: mp.erfc(x) / mp.erf(x), True),
    "cbrt f64": (lambda m: m ** (-mp.mpf(1) / 3), 6, 1, 2, lambda m: mp.mpf(1), False),
    "cbrt f32": (lambda m: m ** (-mp.mpf(1) / 3), 4, 1, 2, lambda m: mp.mpf(1), True),
}


def main(parts: list[str]) -> None:
    for name, (f, n, lo, hi, weight, single) in TABLE.items():
        if not parts or any(p in name for p in parts):
            show(name, *remez(f, range(n), lo, hi, weight), single)


if __name__ == "__main__":
    main(sys.argv[1:])
