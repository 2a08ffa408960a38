"""Accuracy and speed of the kernels' math against NumPy. In: names of functions (default all). Out: rows of docs/accuracy.md.

The reference is the C library's long double function; speed is the best of several runs over an array in cache.
"""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from kernels_harness import NP, Batch, compiled, random_bits, special, ulps
from npcompile.kernels import RANGED

UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "cbrt",
    "erf",
    "lgamma",
]
BINARY = ["pow", "atan2", "hypot"]
RANGES: dict[str, list[tuple[float, float]]] = {
    "exp": [(-750, 720), (-1, 1)],
    "exp2": [(-1080, 1030), (-1, 1)],
    "expm1": [(-50, 720), (-1, 1), (-0.01, 0.01)],
    "log": [(0, 2), (0.5, 2), (0, 1e6)],
    "log2": [(0, 2), (0.5, 2), (0, 1e6)],
    "log10": [(0, 2), (0.5, 2), (0, 1e6)],
    "log1p": [(-1, 1), (-0.5, 2), (-1e-3, 1e-3), (0, 1e6)],
    "sin": [(-10, 10), (-1e5, 1e5), (-1, 1), (-1e9, 1e9)],
    "cos": [(-10, 10), (-1e5, 1e5), (-1, 1), (-1e9, 1e9)],
    "tan": [(-10, 10), (-1e5, 1e5), (-1, 1), (-1e9, 1e9)],
    "asin": [(-1, 1), (-0.6, 0.6)],
    "acos": [(-1, 1), (-0.6, 0.6), (0.9, 1)],
    "atan": [(-10, 10), (-1, 1), (-1e3, 1e3)],
    "sinh": [(-720, 720), (-2, 2)],
    "cosh": [(-720, 720), (-2, 2)],
    "tanh": [(-25, 25), (-1, 1)],
    "asinh": [(-1e3, 1e3), (-2, 2), (-0.1, 0.1)],
    "acosh": [(1, 1e3), (1, 2), (1, 1.01)],
    "atanh": [(-1, 1), (-0.1, 0.1)],
    "cbrt": [(-1e3, 1e3)],
    "erf": [(-7, 7), (-1, 1)],
    "erfc": [(-7, 28), (-1, 1)],
    "lgamma": [(-20, 200), (0, 4), (1, 3)],
}
SPEED: dict[str, tuple[float, float]] = {
    "log": (0.01, 100), "log2": (0.01, 100), "log10": (0.01, 100), "log1p": (-0.9, 10), "asin": (-1, 1), "acos": (-1, 1),
    "acosh": (1, 10), "atanh": (-0.99, 0.99), "lgamma": (0.1, 20), "pow": (0.1, 10), "exp2": (-10, 10),
}  # fmt: skip
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
         "pow": "power", "atan2": "arctan2"}  # fmt: skip


def reference(names: list[str]) -> ctypes.CDLL:
    """long double versions over double or float arrays."""
    out = []
    for n in names:
        if n in BINARY:
            out.append(f'extern "C" long double {n}l(long double, long double);')
            for t, c in (("f64", "double"), ("f32", "float")):
                out.append(
                    f'extern "C" void {n}_{t}(long long n, long double *r, const {c} *a, const {c} *b) '
                    f"{{ for (long long i = 0; i < n; i++) r[i] = {n}l(a[i], b[i]); }}"
                )
        else:
            out.append(f'extern "C" long double {n}l(long double);')
            for t, c in (("f64", "double"), ("f32", "float")):
                out.append(
                    f'extern "C" void {n}_{t}(long long n, long double *r, const {c} *a) '
                    f"{{ for (long long i = 0; i < n; i++) r[i] = {n}l(a[i]); }}"
                )
    return compiled("\n".join(out), ("-O1", "-fno-builtin"))


def exact(lib: ctypes.CDLL, name: str, t: str, *x: np.ndarray) -> np.ndarray:
    r = np.empty(len(x[0]), np.longdouble)
    getattr(lib, f"{name}_{t}")(ctypes.c_longlong(len(r)), *(ctypes.c_void_p(a.ctypes.data) for a in (r, *x)))
    return r


def inputs(name: str, t: str, n: int) -> np.ndarray:
    """Special values, random bits and the function's ranges."""
    rng = np.random.default_rng(7)
    parts = [special(t), random_bits(t, n, 11)]
    for lo, hi in RANGES[name]:
        parts.append(rng.uniform(lo, hi, n).astype(NP[t]))
    parts.append((np.exp(rng.uniform(-80, 80, n)) * rng.choice([-1, 1], n)).astype(NP[t]))
    return np.concatenate(parts)


def pair_inputs(name: str, t: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    s = special(t)
    i, j = np.divmod(np.arange(len(s) ** 2), len(s))
    xs, ys = [s[i], random_bits(t, n, 1)], [s[j], random_bits(t, n, 2)]
    if name == "pow":
        x = np.exp(rng.uniform(-80, 80, n))
        xs += [x, rng.uniform(0.5, 2, n), rng.uniform(0, 10, n), -rng.integers(1, 50, n), 1 + rng.uniform(-1e-3, 1e-3, n)]
        lim = 709 if t == "f64" else 88
        ys += [rng.uniform(-lim, lim, n) / np.abs(np.log(x)), rng.uniform(-lim, lim, n) * 1.4, rng.uniform(-5, 5, n),
               rng.integers(-30, 30, n), rng.uniform(-1e5, 1e5, n)]  # fmt: skip
    else:
        xs += [rng.standard_normal(n), np.exp(rng.uniform(-40, 40, n)), rng.standard_normal(n)]
        ys += [rng.standard_normal(n), np.exp(rng.uniform(-40, 40, n)), rng.standard_normal(n) * 1e4]
    return np.concatenate(xs).astype(NP[t]), np.concatenate(ys).astype(NP[t])


def best(f, *args, turns: int = 25) -> float:
    f(*args)
    t = []
    for _ in range(turns):
        s = time.perf_counter()
        f(*args)
        t.append(time.perf_counter() - s)
    return min(t)


def main(names: list[str], n: int = 200_000) -> None:
    names = names or UNARY + BINARY
    b = Batch()
    for name in names:
        for t in ("f64", "f32"):
            b.add(name, (t,) * (2 if name in BINARY else 1), t)
            if name in RANGED:
                b.add(f"near_{name}", (t,), t)
    lib = reference(names)
    for name in names:
        for t in ("f64", "f32"):
            x = pair_inputs(name, t, n) if name in BINARY else (inputs(name, t, n),)
            types = (t,) * len(x)
            want = exact(lib, name, t, *x)
            got = b(name, types, t, *x)
            u = ulps(got, want)
            k = int(np.argmax(u))
            np_f = getattr(np, NUMPY.get(name, name), None)
            with np.errstate(all="ignore"):
                np_u = ulps(np_f(*x), want).max() if np_f else np.nan
            rng = np.random.default_rng(1)
            y = tuple(rng.uniform(*SPEED.get(name, (-5, 5)), 4096).astype(NP[t]) for _ in types)
            quick = f"near_{name}" if name in RANGED else name
            f = getattr(b.build(), f"f{b.keys[quick, types, t]}")
            r = np.empty_like(y[0])
            args = (ctypes.c_longlong(4096), *(ctypes.c_void_p(a.ctypes.data) for a in (r, *y)))
            ours = best(f, *args) / 4096 * 1e9
            theirs = best(lambda: np_f(*y, out=r)) / 4096 * 1e9 if np_f else np.nan  # noqa: B023
            worst = ", ".join(f"{float(a[k])!r}" for a in x)
            errors = f"ulp {u.max():.3f} (NumPy {np_u:.2f})"
            print(f"{name:7} {t}  {errors}  ns {ours:.2f} (NumPy {theirs:.2f})  worst at {worst}: {float(got[k])!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
