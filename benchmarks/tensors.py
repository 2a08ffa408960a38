"""Calls on torch CPU tensors: small ones, where the call itself is all the cost, and large ones; against eager torch.

    python benchmarks/tensors.py [--rounds N] [--small-only]

Prints medians over interleaved rounds: the call, what guards cost a tensor, and whole functions. Outputs are checked.
"""

from __future__ import annotations

import argparse
import statistics
import timeit
from collections.abc import Callable

import torch

import npcompile

F = torch.nn.functional


def fma(a, b, c):
    return a * b + c


def chain(x, y):
    return torch.sqrt(x * x + y * y) * 0.5 + torch.exp(-x) / (1.0 + y * y)


def softmax(x):
    return torch.softmax(x, dim=-1)


def gelu_norm(x, w, b):
    return F.layer_norm(F.gelu(x), x.shape[-1:], w, b)


def guards(count: int) -> Callable[[], object]:
    """Checks the guards of a function of `count` tensors."""
    names = ", ".join(f"x{k}" for k in range(count))
    f = npcompile.jit(eval(f"lambda {names}: {' + '.join(names.split(', '))} + 1.0"), options={"compile": "first"})
    args = tuple(torch.randn(100) for _ in range(count))
    f(*args)
    (entry,) = f.entries
    return lambda: entry.check(f, args)


def medians(rows: dict[str, Callable[[], object]], rounds: int, number: int) -> dict[str, float]:
    """Median seconds of one call of each, rounds interleaved."""
    times: dict[str, list[float]] = {k: [] for k in rows}
    for _ in range(rounds):
        for k, f in rows.items():
            times[k].append(timeit.timeit(f, number=number) / number)
    return {k: statistics.median(v) for k, v in times.items()}


def compare(name: str, fn: Callable[..., torch.Tensor], args: tuple[torch.Tensor, ...], rounds: int, number: int) -> None:
    jitted = npcompile.jit(fn, options={"compile": "first"})
    torch.testing.assert_close(jitted(*args), fn(*args))
    if not jitted.stats.hits:
        raise SystemExit(f"{name} was not compiled")
    found = medians({"torch": lambda: fn(*args), "npcompile": lambda: jitted(*args)}, rounds, number)
    ours, theirs = found["npcompile"] * 1e6, found["torch"] * 1e6
    print(f"{name:42} {theirs:10.2f} {ours:10.2f} {theirs / ours:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--small-only", action="store_true")
    a = parser.parse_args()
    torch.manual_seed(0)
    checks = medians({str(n): guards(n) for n in (1, 2, 4)}, a.rounds, 5000)
    print(
        f"guards: {checks['1'] * 1e9:.0f} ns for one tensor, {(checks['4'] - checks['2']) / 2 * 1e9:.0f} ns for each further one"
    )
    print(f"{'':42} {'torch us':>10} {'npcompile':>10} {'ratio':>8}")
    compare("a*b + c, three of 100", fma, tuple(torch.randn(100) for _ in range(3)), a.rounds, 5000)
    if a.small_only:
        return
    for n in (10_000, 1_000_000):
        compare(f"chain of ten, {n:,}", chain, (torch.randn(n), torch.randn(n)), a.rounds, max(1, 2_000_000 // n))
    x = torch.randn(1000, 1000)
    compare("softmax of rows, 1000 x 1000", softmax, (x,), a.rounds, 3)
    compare("layer_norm(gelu(x)), 1000 x 1000", gelu_norm, (x, torch.randn(1000), torch.randn(1000)), a.rounds, 3)


if __name__ == "__main__":
    main()
