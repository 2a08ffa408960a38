"""Programs whose data meet floating-point conditions in many elements, against NumPy: while they warn, and under `errstate`.

    python benchmarks/conditions.py [--rounds N] [--size N]

Outputs and warnings are checked. Prints NumPy's time over npcompile's, best of the rounds, which alternate.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile


def mandelbrot_step(z, c):
    return np.where(np.abs(z) < 2, z * z + c, z)


def complex_square(z, c):
    return z * z + c


def complex_square_in_place(z, c):
    z *= z
    z += c
    return z


def mandelbrot(c, steps):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int64)
    for _ in range(steps):
        z = z * z + c
        count += np.abs(z) < 2
    return count


def cast(x):
    return x.astype(np.float32)


def root(x):
    return np.sqrt(x)


def safe_divide(a, b):
    return np.where(b != 0, a / b, 0)


def logarithm(x):
    return np.log(x)


def entropy(p):
    return -np.where(p > 0, p * np.log(p), 0.0).sum()


def softmax(x):
    e = np.exp(x)
    return e / e.sum(axis=1, keepdims=True)


def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def chain(a, b, c):
    return np.sqrt(a * b + c) / b


def cases(n: int) -> list[tuple[str, Callable[..., Any], Callable[[], tuple[Any, ...]]]]:
    """Name, function, maker of fresh arguments."""
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, n))
    third = rng.random(n) < 1 / 3
    zeros, negative = np.where(third, 0.0, x), np.where(third, -np.abs(x), np.abs(x))
    z = (x + 1j * y) * 1e160
    side = int(n**0.5)
    rows = rng.random((side, side))
    huge, steady = rows.copy(), rows.copy()
    huge[::3, 5] = 2000.0
    steady[:, 7] = 1.0
    grid = np.linspace(-2, 1, side) + 1j * np.linspace(-1.5, 1.5, side)[:, None]
    return [
        ("complex z*z + c, all overflow", complex_square, lambda: (z, z)),
        ("the same in place", complex_square_in_place, lambda: (z.copy(), z)),
        ("one step of Mandelbrot by masks, all overflow", mandelbrot_step, lambda: (z, z)),
        ("Mandelbrot, 50 steps", mandelbrot, lambda: (grid, 50)),
        ("cast to float32, nearly all overflow", cast, lambda: (x * 1e200,)),
        ("sqrt, a third negative", root, lambda: (negative,)),
        ("safe division, a third zeros", safe_divide, lambda: (x, zeros)),
        ("log, a third zeros", logarithm, lambda: (np.abs(zeros),)),
        ("entropy, a third zeros", entropy, lambda: (np.abs(zeros),)),
        ("softmax without maximum, a third of the rows overflow", softmax, lambda: (huge,)),
        ("standardise columns, one constant", standardise, lambda: (steady,)),
        ("sqrt(a*b + c) / b, a third zeros", chain, lambda: (negative, zeros, x)),
        ("the same, one zero", chain, lambda: (np.abs(x), np.where(np.arange(n) == n // 2, 0.0, np.abs(y) + 1), x)),
    ]


def observed(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        out = fn(*args)
    return out, [str(w.message) for w in seen]


def seconds(fn: Callable[..., Any], args: tuple[Any, ...]) -> float:
    start = time.perf_counter()
    fn(*args)
    return time.perf_counter() - start


def ratio(fn: Callable[..., Any], jitted: Callable[..., Any], make: Callable[[], tuple[Any, ...]], rounds: int) -> float:
    best = [float("inf")] * 2
    for _ in range(rounds):
        for k, f in enumerate((fn, jitted)):
            best[k] = min(best[k], seconds(f, make()))
    return best[0] / best[1]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--rounds", type=int, default=30)
    ap.add_argument("--size", type=int, default=100_000)
    args = ap.parse_args()
    print("| program | warnings wanted | shown once | errstate ignores |\n| --- | --- | --- | --- |")
    for name, fn, make in cases(args.size):
        jitted = npcompile.jit(fn, options={"compile": "first"})
        (got, told), (want, expected) = observed(jitted, make()), observed(fn, make())
        np.testing.assert_allclose(got, want, rtol=1e-12)
        assert told == expected and jitted.stats.hits == 1, (name, told, expected, jitted.stats)
        figures = []
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            figures.append(ratio(fn, jitted, make, args.rounds))
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda *a, **k: None
            figures.append(ratio(fn, jitted, make, args.rounds))
        with np.errstate(all="ignore"):
            figures.append(ratio(fn, jitted, make, args.rounds))
        print(f"| {name} | {' | '.join(f'{x:.2f}' for x in figures)} |", flush=True)


if __name__ == "__main__":
    main()
