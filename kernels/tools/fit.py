"""Minimax polynomials for the vector math, by Remez exchange in high precision. In: a function and powers. Out: coefficients.

Needs mpmath. Run as a script it prints every table of `cpp/*.h`; nothing at run time imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath as mp

mp.mp.prec = 200


def remez(
    f: Callable[[mp.mpf], mp.mpf],
    powers: Sequence[int],
    lo: float,
    hi: float,
    weight: Callable[[mp.mpf], mp.mpf] = lambda x: mp.mpf(1),
    turns: int = 12,
    grid: int = 400,
) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients c minimising max |weight(x) (f(x) - sum c_k x^powers_k)| on [lo, hi], and that maximum."""
    n = len(powers)
    a, b = mp.mpf(lo), mp.mpf(hi)
    xs = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (k + mp.mpf("0.03")) / (n + mp.mpf("0.1"))) for k in range(n + 1)]
    pts = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / grid) for k in range(grid)]
    pts = [a, *pts, b]
    wv = [weight(x) for x in pts]
    fv = [f(x) for x in pts]
    rows = [[x**p for p in powers] for x in pts]
    coef: list[mp.mpf] = []
    worst = mp.mpf(0)
    for _ in range(turns):
        m = mp.matrix(n + 1, n + 1)
        rhs = mp.matrix(n + 1, 1)
        for i, x in enumerate(xs):
            for j, p in enumerate(powers):
                m[i, j] = x**p
            m[i, n] = (-1) ** i / weight(x)
            rhs[i] = f(x)
        sol = mp.lu_solve(m, rhs)
        coef = [sol[j] for j in range(n)]
        err = [w * (y - mp.fdot(coef, r)) for w, y, r in zip(wv, fv, rows)]
        # one extremum between sign changes, the n + 1 largest in a row
        best: list[int] = []
        for i, e in enumerate(err):
            if best and (err[best[-1]] > 0) == (e > 0):
                if abs(e) > abs(err[best[-1]]):
                    best[-1] = i
            else:
                best.append(i)
        while len(best) > n + 1:
            best.pop(0 if abs(err[best[0]]) < abs(err[best[-1]]) else -1)
        worst = max(abs(e) for e in err)
        if len(best) < n + 1:
            break
        new = [pts[i] for i in best]
        if new == xs:
            break
        xs = new
    return coef, worst


def rounded(coef: Sequence[mp.mpf], single: bool = False) -> list[str]:
    """C literals of the nearest doubles (floats)."""
    if single:
        import numpy as np

        return [float(np.float32(float(c))).hex() + "f" for c in coef]
    return [float(c).hex() for c in coef]


def show(title: str, coef: Sequence[mp.mpf], err: mp.mpf, single: bool = False) -> None:
    print(f"{title}: error 2^{mp.nstr(mp.log(err, 2), 5)}")
    print("  " + ", ".join(rounded(coef, single)))
