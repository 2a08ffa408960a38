"""Writes random functions of branches and loops over scalars, elements and arrays. The same seed gives the same function.

    python tests/fuzzer.py --branches --count 100 [--seed S] [--through reference|cpp]

`reference` replays the traced segment with every exit forced in turn.
"""

from __future__ import annotations

import copy
import linecache
import random

import numpy as np

FLOATS = ["0.5", "-1.0", "2.0", "0.25", "1.5", "3", "0"]
ARRAYS = [
    "y[:] = y * 0.5 + s",
    "x[1:] = x[:-1]",
    "w = w + 1.0",
    "w = w * 0.5 - x",
    "w[1:] += y[1:]",
    "w[2] = s",
    "y[x > s] = 0.5",
    "x -= y.mean()",
    "w = np.minimum(w, y)",
    "x[:] = np.abs(x)",
]


class Writer:
    """Writes one function; `loops` are the loop variables in sight."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.counters = 0

    def some(self, *options: str) -> str:
        return self.r.choice(options)

    def index(self, ints: list[str]) -> str:
        return self.some("0", "-1", "1", "k % 5", *ints, *ints, *(f"{i} - 1" for i in ints), *(f"{i} + 1" for i in ints))

    def float(self, ints: list[str], depth: int = 2) -> str:
        if depth == 0 or self.r.random() < 0.25:
            i = self.index(ints)
            return self.some("s", "a", "b", "t", f"x[{i}]", f"y[{i}]", f"m[{i}, 0]", self.r.choice(FLOATS), "k", *ints)
        p, q = self.float(ints, depth - 1), self.float(ints, depth - 1)
        forms = (f"{p} + {q}", f"{p} - {q}", f"{p} * 0.5", f"({p}) * ({q})", f"h({p}, {q})", f"min({p}, {q})", f"abs({p})")
        rare = (
            f"np.sqrt(abs({p}))",
            f"({p}) / ({q})",
            f"-({p})",
            f"max(s, {q})",
            f"({p} if {self.some('s > 0', 'flag', 'k % 2')} else {q})",
            f"({p}) ** 2",
        )
        return self.r.choice(forms if self.r.random() < 0.7 else rare)

    def test(self, ints: list[str], depth: int = 1) -> str:
        if depth and self.r.random() < 0.35:
            p, q = self.test(ints, depth - 1), self.test(ints, depth - 1)
            return self.some(f"{p} and {q}", f"{p} or {q}", f"not ({p})", f"({p} or {q}) and {self.test(ints, 0)}")
        op = self.some("<", ">", "<=", ">=", "!=")
        floats = f"{self.float(ints, depth)} {op} {self.float(ints, 0)}"
        counts = [f"{i} % 2 == 0" for i in ints] + [f"{i} > 1" for i in ints]
        return self.some(
            floats, floats, "k > 2", "s > 1", "np.isnan(s)", "x.sum() > s", "0 < s < 2", "flag", "k & 1", "n > 3", *counts
        )

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, ints: list[str], looping: bool, size: int = 3) -> None:
        for _ in range(self.r.randint(1, size)):
            self.statement(depth, ints, looping)

    def statement(self, depth: int, ints: list[str], looping: bool) -> None:
        x = self.r.random()
        deep = depth < 4
        if x < 0.28 and deep:
            self.branch(depth, ints, looping)
        elif x < 0.42 and deep and depth < 3 + (not looping):
            self.loop(depth, ints)
        elif x < 0.5:
            self.line(depth, self.r.choice(ARRAYS))
        elif x < 0.58:
            self.line(depth, f"{self.some('x', 'y', 'w')}[{self.index(ints)}] = {self.float(ints)}")
        elif x < 0.68:
            self.line(
                depth, self.some("k += 1", "k = k * 3 % 7", "k -= 2", "k = k // 2 + 1", f"k = {self.some('0', '5', *ints)}")
            )
        elif x < 0.72:
            self.line(depth, f"flag = {self.test(ints)}")
        elif x < 0.8:
            self.line(depth, f"t = {self.float(ints)}")
        else:
            self.line(depth, f"s {self.some('=', '=', '+=', '-=', '*=')} {self.float(ints)}")

    def branch(self, depth: int, ints: list[str], looping: bool) -> None:
        self.line(depth, f"if {self.test(ints)}:")
        x = self.r.random()
        if looping and x < 0.3:
            self.line(depth + 1, self.some("break", "continue"))
            return
        self.block(depth + 1, ints, looping, 2)
        if x > 0.92:
            self.line(depth + 1, self.some("return s, k", "return x, s", "raise ValueError(s)", "return w"))
        while self.r.random() < 0.25:
            self.line(depth, f"elif {self.test(ints)}:")
            self.block(depth + 1, ints, looping, 2)
        if self.r.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1, ints, looping, 2)

    def loop(self, depth: int, ints: list[str]) -> None:
        i = "ij"[len(ints)] if len(ints) < 2 else ""
        x = self.r.random()
        if x < 0.3:
            self.counters += 1
            c = f"c{self.counters}"
            self.line(depth, f"{c} = 0")
            self.line(depth, f"while {self.some(f'{c} < 5', f'{c} < n', f'{self.test(ints)} and {c} < 6', 'True')}:")
            self.line(depth + 1, f"{c} += 1")
            self.line(depth + 1, f"if {c} > 7:")
            self.line(depth + 2, "break")
        elif i and x < 0.85:
            turns = self.some("range(n)", "range(1, n)", "range(n - 1, -1, -1)", "range(3)", "range(len(y))", "range(k)")
            self.line(depth, f"for {i} in {turns}:")
            ints = [*ints, i]
        elif i and x < 0.92:
            self.line(depth, f"for {i}, (t, b) in enumerate(zip(x, y)):")
            ints = [*ints, i]
        else:
            self.line(depth, "for t in y:")
        self.block(depth + 1, ints, True)
        if self.r.random() < 0.15:
            self.line(depth, "else:")
            self.block(depth + 1, ints, False, 1)

    def source(self) -> str:
        self.lines = ["def f(x, y, m, n, a, b):"]
        self.line(1, self.some("s = 0.0", "s = a", "s = x[0]"))
        self.line(1, "k = 0")
        self.line(1, "flag = False")
        self.line(1, "w = x * 1.0")
        if self.r.random() < 0.8:
            self.line(1, "t = b")
        self.block(1, [], False, 5)
        self.line(1, self.some("return s, k, x, w", "return w, y, s", "return s, flag, k", "return x.sum() + s, w, k"))
        return "\n".join(self.lines) + "\n"


HELPER = """
def h(p, q):
    if p > q:
        return p - q
    return q * 0.5 + p
"""


def program(seed: int):
    """(function, source) of a seed."""
    source = HELPER + "\n\n" + Writer(seed).source()
    name = f"<branches {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"np": np, "__name__": "branches"}
    exec(compile(source, name, "exec"), space)
    return space["f"], source


def arguments(seed: int, variant: int = 0) -> tuple:
    r = np.random.default_rng(seed * 3 + variant)
    size = 6
    x, y = r.uniform(-2, 2, size), r.uniform(-2, 2, size)
    return x, y, r.uniform(-1, 1, (6, 3)), int(r.integers(0, 7)), float(r.uniform(-1, 2)), float(r.uniform(-1, 1))


def by_replay(seed: int) -> None:
    from tracer_harness import bound, check

    from npcompile.tracer import Refused, trace

    f, source = program(seed)
    args = arguments(seed)
    try:
        r = trace(f, bound(f, copy.deepcopy(args)))
    except Refused as e:  # too many ways through its branches
        if e.reason == "too-long":
            return
        raise
    check(f, *args, breaks=tuple(b.reason for b in r.breaks), most=25, tolerance="sum" if "**" in source else "")


def by_cpp(seed: int) -> None:
    import npcompile
    from npcompile.testing import compare_calls

    f, _ = program(seed)
    j = npcompile.jit(f, options={"compile": "first"})
    for variant in (0, 1, 2):
        text = compare_calls(f, j, arguments(seed, variant))
        assert text is None, f"call {variant}: {text}"


def run(count: int, first: int, through: str) -> int:
    """Run `count` programs; the number that differ from plain Python. through : "cpp", or "reference": replayed, exits forced."""
    bad = 0
    for seed in range(first, first + count):
        try:
            (by_cpp if through == "cpp" else by_replay)(seed)
        except Exception as e:
            bad += 1
            print(f"seed {seed}: {type(e).__name__}: {str(e)[:500]}\n{program(seed)[1]}", flush=True)
    print(f"{count} programs, {bad} mismatches")
    return bad
