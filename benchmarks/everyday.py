"""Everyday programs under plain Python and npcompile: whatever is decorated should not become slower.

    python benchmarks/everyday.py [--rounds 9] [NAME ...]

For each program microseconds a call in plain Python, how many times faster npcompile is in the steady state (medians of rounds in
which both take turns; below 1 it is slower), how often it compiled, the share of calls that ran plain in the last round, and
milliseconds that the first three calls took beyond plain ones. Results are checked at every round.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from everyday_programs import PROGRAMS

import npcompile
from npcompile.testing import difference

SETTLED = 60
"""Calls before the first round: by then a function that gains nothing should run plain."""
ROUND = 0.02
"""Seconds of plain calls in a round, about."""


def by_name(fn: Callable[..., Any], f: Callable[..., Any]) -> None:
    """What the function's own name means, for those that call themselves."""
    if fn.__name__ in fn.__code__.co_names:
        fn.__globals__[fn.__name__] = f


def seconds(fn: Callable[..., Any], make: Callable[[], tuple[Any, ...]], calls: int) -> float:
    """Seconds of so many calls, fresh arguments not counted."""
    total = 0.0
    for _ in range(calls):
        args = make()
        start = time.perf_counter()
        fn(*args)
        total += time.perf_counter() - start
    return total


def check(fn: Callable[..., Any], jitted: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> None:
    want, got = fn(*make()), jitted(*make())
    text = difference(want, got, "factorisation", 1.0)
    assert not text, f"{fn.__name__}: {text}"


def row(name: str, rounds: int) -> str:
    fn, make = PROGRAMS[name]
    once = min(seconds(fn, make, 1) for _ in range(3))
    jitted = npcompile.jit(fn)
    by_name(fn, jitted)
    first = seconds(jitted, make, 3) - 3 * once
    seconds(jitted, make, SETTLED)
    calls = max(1, min(2000, int(ROUND / once)))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        check(fn, jitted, make)
        before = jitted.plain_calls
        for out, f in zip(times, (fn, jitted)):
            by_name(fn, f)
            out.append(seconds(f, make, calls) / calls)
    plain, ours = (statistics.median(t) for t in times)
    share = (jitted.plain_calls - before) / calls
    return (
        f"| {name} | {plain * 1e6:.1f} | {plain / ours:.2f} | {jitted.stats.compiles} | {share:.0%} | {max(first, 0) * 1e3:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    print("| program | plain µs | plain / npcompile | compiles | plain calls | first ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in args.names or PROGRAMS:
        print(row(name, args.rounds), flush=True)


if __name__ == "__main__":
    main()
