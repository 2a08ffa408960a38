"""Every function of NumPy that computes, alone in a decorated function: NumPy's time over npcompile's.

    python benchmarks/functions.py [--rounds 7] [--sizes 100,10000,1000000] [--slower] [--part 1/4] [TEXT ...]

One line for each call of `function_calls.py` (those that contain a TEXT): its microseconds in plain NumPy and how many times
faster npcompile is in the steady state, for each size; medians of rounds in which both take turns. Below 1 it is slower. A
trailing `p` marks calls that npcompile left to plain Python. Results are checked. `--slower`: only ratios below 0.95.
`--part 1/4`: every fourth call, from the first on.
"""

from __future__ import annotations

import argparse
import gc
import re
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from function_calls import calls, operands

import npcompile
from npcompile.testing import difference

SETTLED = 0.15
"""Seconds of calls before the first round, at least 12 and at most 3000 of them."""
ROUND = 0.01
"""Seconds of plain calls in a round, about."""


def made(text: str) -> tuple[Callable[..., Any], list[str]]:
    """A function of the operands that a call names, which returns the call's value; or does the statement."""
    names = [n for n in dict.fromkeys(re.findall(r"(?<![.\w'])([a-zA-Z])(?![\w'(=])", text)) if n != "e"]
    body = text if re.search(r"(?<![=<>!])=(?!=)(?![^(]*\))", text) else f"return {text}"
    space: dict[str, Any] = {"np": np}
    exec(f"def call({', '.join(names)}):\n    {body}\n", space)
    return space["call"], names


def seconds(fn: Callable[..., Any], args: list[Any], calls: int) -> float:
    """Seconds of one call, of so many."""
    start = time.perf_counter()
    for _ in range(calls):
        fn(*args)
    return (time.perf_counter() - start) / calls


def check(text: str, fn: Callable[..., Any], jitted: Callable[..., Any], names: list[str], n: int) -> None:
    """Equal results, and equal operands afterwards."""
    results = []
    for f in (fn, jitted):
        values = operands(n)
        args = [values[k] for k in names]
        np.random.seed(1)
        results.append((f(*args), args))
    bad = difference(*results, "factorisation", 1.0) if "empty" not in text else ""
    assert not bad, f"{text}: {bad}"


def measure(text: str, n: int, rounds: int) -> tuple[float, float, bool]:
    """(seconds in NumPy, in npcompile, whether it ran plain)."""
    fn, names = made(text)
    jitted = npcompile.jit(fn)
    values = operands(n)
    args = [values[k] for k in names]
    once = min(seconds(fn, args, 1) for _ in range(3))
    check(text, fn, jitted, names, n)
    seconds(jitted, args, max(12, min(3000, int(SETTLED / once))))
    check(text, fn, jitted, names, n)
    count = max(1, min(2000, int(ROUND / once)))
    before = jitted.plain_calls
    times: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    for _ in range(rounds):
        for out, f in zip(times, (fn, jitted)):
            out.append(seconds(f, args, count))
    gc.enable()
    plain, ours = (statistics.median(t) for t in times)
    return plain, ours, jitted.plain_calls - before > rounds * count / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", default="100,10000,1000000")
    parser.add_argument("--slower", action="store_true")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes = [int(n) for n in args.sizes.split(",")]
    print("| call |" + "".join(f" {n:,} µs | ratio |" for n in sizes))
    print("| --- |" + " --- | --- |" * len(sizes))
    first, step = map(int, args.part.split("/"))
    for _, text in calls()[first - 1 :: step]:
        if args.texts and not any(t in text for t in args.texts):
            continue
        cells, slow = [], False
        for n in sizes:
            plain, ours, left = measure(text, n, args.rounds)
            slow = slow or plain / ours < 0.95
            cells.append(f" {plain * 1e6:.3g} | {plain / ours:.2f}{'p' * left} |")
        if slow or not args.slower:
            print(f"| `{text.replace('|', chr(92) + '|')}` |" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
