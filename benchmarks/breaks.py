"""What a graph break costs: loops whose bodies have calls that are not compiled, under plain Python and npcompile.

    python benchmarks/breaks.py [--rounds 7]

Microseconds a turn, medians of rounds in which both take turns; results are checked. "step" is what npcompile needs for a turn of
three-element arrays beyond the calls themselves, for each break: leaving compiled code, the stub, coming back, and the kernels.
The last rows are whole calls of functions that gain nothing.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import npcompile

g = {}.setdefault  # C code without a rule


def one_break(a, b, c, n):
    z = None
    for _ in range(n):
        y = a * b + c
        g(0, y)
        z = y * 2 + a
    return z


def three_breaks(a, b, c, n):
    z = a
    for i in range(n):
        y = z * b + c
        g(0, y)
        y = y * 0.5 - i
        g(1, y)
        y = y * a
        g(2, y)
        z = y * 2 + a
    return z


def helper(x, y):
    z = x * y + 1.0
    g(0, z)
    return z * 0.5 - y


def in_a_helper(a, b, c, n):
    z = a
    for _ in range(n):
        z = helper(z, b) + c
    return z


def while_loop(a, b, c, n):
    z, k = a, 0
    while k < n:
        y = z * b + c
        g(k % 7, y)
        z = y * 0.5 + a
        k += 1
    return z


def calls_only(a, b, c, n):
    for _ in range(n):
        g(0, a)
    return a


def gains_nothing(a, b, c, n):
    g(0, a)
    g(1, b)
    return g(2, c)


def seconds(fn: Callable, args: tuple) -> float:
    start = time.perf_counter()
    fn(*args)
    return time.perf_counter() - start


def compare(fn: Callable, args: tuple, rounds: int) -> tuple[float, float]:
    """Median seconds of a call, plain and compiled."""
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for _ in range(5):
        assert np.array_equal(jitted(*args), fn(*args))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for out, f in zip(times, (fn, jitted)):
            out.append(seconds(f, args))
    return statistics.median(times[0]), statistics.median(times[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print("| body | elements | plain µs | npcompile µs | step µs |")
    print("| --- | --- | --- | --- | --- |")
    for fn, breaks in ((one_break, 1), (three_breaks, 3), (in_a_helper, 1), (while_loop, 1)):
        for size in (3, 1000, 100_000):
            args = (*(np.linspace(0.1 * k, 1.0, size) for k in range(3)),)
            n = 20_000 if size < 10_000 else 300
            plain, jitted = compare(fn, (*args, n), rounds)
            calls = min(seconds(calls_only, (*args, n)) for _ in range(5))
            step = f"{(jitted - breaks * calls) / n / breaks * 1e6:.2f}" if size == 3 else ""
            print(f"| {fn.__name__} | {size} | {plain / n * 1e6:.2f} | {jitted / n * 1e6:.2f} | {step} |")
    a = np.ones(3)
    for fn, n in ((gains_nothing, 1), (calls_only, 10)):
        f = npcompile.jit(fn, options={"compile": "first"})
        for _ in range(10):
            f(a, a, a, n)
        few: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for out, h in zip(few, (fn, f)):
                start = time.perf_counter()
                for _ in range(20_000):
                    h(a, a, a, n)
                out.append((time.perf_counter() - start) / 20_000)
        plain, jitted = (statistics.median(t) for t in few)
        print(f"| a call of {fn.__name__} | 3 | {plain * 1e6:.3f} | {jitted * 1e6:.3f} | |")


if __name__ == "__main__":
    main()
