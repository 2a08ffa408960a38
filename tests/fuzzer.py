"""Writes random NumPy functions with arguments for them: expressions, slices, in-place stores, reductions, loops, dtypes.

A program is built statement by statement and *tried* on real values while it is written, so that nearly all programs run
(a few keep a statement that raises, to test exceptions). The same seed gives the same program until the templates change.

    python tests/fuzzer.py --count 1000 [--seed S] [--through reference|cpp] [--loops] [--branches]
"""

from __future__ import annotations

import argparse
import linecache
import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import fuzz_templates as templates
import numpy as np

DTYPES = ["f8", "f8", "f8", "f4", "f4", "i8", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8", "?", "c16", "c8", "f2"]
CASTS = ["np.float32", "np.float64", "np.int32", "np.int64", "'i2'", "'u1'", "'f2'", "bool", "int", "float", "complex"]
SHAPES = [(6,), (6,), (5, 6), (5, 6), (6, 5), (1, 6), (5, 1), (1,), (), (3, 5, 6), (0,), (5, 0), (6, 6), (37,), (3, 41)]
LAYOUTS = ["C", "C", "C", "F", "step", "reverse", "transpose"]
NUMBERS = ["2.5", "-3", "7", "True", "np.float32(0.5)", "np.int8(3)", "np.float64(2)", "np.uint8(9)", "1j"]
ALIASES = ["a0", "a0[1:]", "a0[::-1]", "a0[:-1]", "a0.T", "a0[...]", "a0[::2]", "a0[0]"]

TOGETHER = 48
"""Programs whose C++ is compiled together."""

HIDDEN = ("np", "__builtins__", "__warningregistry__")


@dataclass
class Program:
    """seed, source of `f` (after that of the functions it may call), and how to make its arguments (fresh each time)."""

    seed: int
    source: str
    arg_texts: list[str]

    def function(self) -> Any:
        name = f"<fuzz {self.seed}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        space: dict[str, Any] = {"np": np}
        exec(compile(self.source, name, "exec"), space)
        return space["f"]

    def arguments(self, variant: int = 0) -> list[Any]:
        """Fresh arguments; later ones may be views of the first."""
        space: dict[str, Any] = {"np": np, "make": lambda dt, shape, layout, k: make(dt, shape, layout, k * 10 + variant)}
        out: list[Any] = []
        for t in self.arg_texts:
            out.append(eval(t, space))
            space.setdefault("a0", out[0])
        return out


def make(dt: str, shape: tuple[int, ...], layout: str, seed: int) -> np.ndarray:
    """An array of a dtype, shape and memory layout with values that exercise signs, zeros and, in some, the extremes."""
    g = np.random.default_rng(seed)
    wide = tuple(2 * n for n in shape) if layout == "step" else shape[::-1] if layout == "transpose" else shape
    d = np.dtype(dt)
    if d.kind == "f":
        a = np.asarray(g.normal(0, 2, wide)).astype(d)
    elif d.kind == "c":
        a = np.asarray(g.normal(0, 2, wide) + 1j * g.normal(0, 2, wide)).astype(d)
    elif d.kind == "b":
        a = np.asarray(g.integers(0, 2, wide)).astype(d)
    else:
        a = np.asarray(g.integers(0 if d.kind == "u" else -7, 8, wide)).astype(d)
    if seed // 10 % 5 == 0 and d.kind in "fiu" and a.size:  # every call of a program, or none
        special = [np.nan, np.inf, -np.inf, -0.0, 0.0] if d.kind == "f" else [np.iinfo(d).max, np.iinfo(d).min, 0]
        where = g.integers(0, a.size, 3)
        a.reshape(-1)[where] = np.array(special, d)[g.integers(0, len(special), 3)]
    if layout == "F":
        return np.asfortranarray(a)
    if layout == "step":
        return a[(slice(None, None, 2),) * a.ndim]
    if layout == "reverse":
        return a[(slice(None, None, -1),) * a.ndim]
    return a.T if layout == "transpose" else a


class Writer:
    """Writes one program, keeping the values it would have."""

    def __init__(self, seed: int, loops: bool) -> None:
        self.r = random.Random(seed)
        self.seed = seed
        self.loops = loops
        self.lines: list[str] = []
        self.helpers: dict[str, Any] = {"np": np}
        exec(templates.HELPERS, self.helpers)
        self.helpers = {k: v for k, v in self.helpers.items() if k not in HIDDEN}
        self.env: dict[str, Any] = {}
        self.fresh = 0

    def names(self, least_rank: int = -1) -> list[str]:
        """Variables that hold arrays, and NumPy scalars (rank -1)."""
        kinds = (np.ndarray, np.generic) if least_rank < 0 else np.ndarray
        return [n for n, v in self.env.items() if isinstance(v, kinds) and np.ndim(v) >= least_rank]

    def number(self) -> str:
        return self.r.choice(["0.5", "2", "3", "-1", "1.5", "0", "-0.25", "10", "True", "1e-3", "-0.0", "100", "300"])

    def fill(self, template: str, names: list[str]) -> str:
        a = self.r.choice(names)
        same = [n for n in names if np.shape(self.env[n]) == np.shape(self.env[a])] if self.r.random() < 0.7 else names
        small, some, dtype = self.r.choice(["1", "2", "3"]), self.r.choice(["4", "6"]), self.r.choice(CASTS)
        return template.format(a, self.r.choice(same), n=self.number(), i=small, k=some, d=dtype)

    def tried(self, text: str) -> bool:
        """Run a statement on copies of the values; keep the effect when it works."""
        from npcompile.testing import copy_arguments

        names = list(self.env)
        trial = dict(zip(names, copy_arguments([self.env[n] for n in names])), np=np, **self.helpers)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec(text, trial)
        except Exception:
            return False
        trial = {k: v for k, v in trial.items() if k not in HIDDEN and k not in self.helpers}
        if any(isinstance(v, np.ndarray) and (v.size > 3000 or v.ndim > 4) for v in trial.values()):
            return False
        if any(isinstance(v, int) and abs(v) > 1 << 200 for v in trial.values()):
            return False
        self.env = trial
        return True

    def add(self, text: str, despite: float = 0.0) -> None:
        """Append a statement that works; with probability `despite` also one that raises."""
        if self.tried(text) or self.r.random() < despite:
            self.lines += text.splitlines()

    def value_statement(self) -> None:
        t = templates
        pools = [(t.UNARY, 3), (t.BINARY, 5), (t.WITH_NUMBER, 3), (t.SHAPING, 3), (t.REDUCE, 2), (t.PRODUCTS, 1)]
        pools += [(t.CREATE, 1), (t.CALLS, 1)]
        pool = self.r.choices([p for p, _ in pools], [w for _, w in pools])[0]
        names = self.names()
        if not names:
            return
        text = self.fill(self.r.choice(pool), names)
        if pool in (t.UNARY, t.BINARY, t.WITH_NUMBER) and self.r.random() < 0.5:
            inner = self.fill(self.r.choice(t.BINARY + t.WITH_NUMBER), names)
            outer = self.r.choice(t.UNARY + t.WITH_NUMBER + t.BINARY)
            text = outer.format(f"({text})", f"({inner})", n=self.number(), i="2", k="4", d=self.r.choice(CASTS))
        self.fresh += 1
        name = f"v{self.fresh}" if self.r.random() < 0.8 else self.r.choice([n for n in names if n.startswith("v")] or ["v0"])
        self.add(f"{name} = {text}", despite=0.003)

    def store_statement(self) -> None:
        names = self.names(least_rank=0)
        if names:
            self.add(self.fill(self.r.choice(templates.STORES), names), despite=0.01)

    def group_statement(self) -> None:
        names = self.names(least_rank=0)
        if names:
            a, b = self.r.choice(names), self.r.choice(names)
            lines = [line.format(a, b, n=self.number()) for line in self.r.choice(templates.GROUPS)]
            self.add("\n".join(lines), despite=0.01)

    def loop_statement(self) -> None:
        names = self.names(least_rank=1)
        if not names:
            return
        a = self.r.choice(names)
        same = [n for n in names if np.shape(self.env[n]) == np.shape(self.env[a]) and self.env[n].dtype == self.env[a].dtype]
        b = self.r.choice(same)
        bodies = [self.r.choice(templates.LOOP_BODIES) for _ in range(self.r.randint(1, 2))]
        lines = [line.format(a, b) for body in bodies for line in body]
        setup = ["s = 0.0", "k = 1"] if "s" not in self.env or "k" not in self.env else []
        head = self.r.choice(templates.LOOP_HEADS).format(a)
        if self.r.random() < 0.1:
            head, lines = "while i < n:", [*lines, "i += 1"]
            setup.append("i = 0")
            if any("continue" in line for line in lines):
                return  # for ever
        self.add("\n".join([*setup, head, *("    " + line for line in lines)]), despite=0.05)

    def argument(self, k: int) -> str:
        """Text of argument k."""
        x = self.r.random()
        first = self.env.get("a0")
        if k and x < 0.15:
            return self.r.choice(NUMBERS)
        if k and x < 0.25 and np.ndim(first) >= 1:
            return self.r.choice(ALIASES)
        shape = np.shape(first) if k and x < 0.6 else self.r.choice(SHAPES)
        return f"make{(self.r.choice(DTYPES), shape, self.r.choice(LAYOUTS), self.seed * 7 + k)!r}"

    def program(self) -> Program:
        args: list[str] = []
        for k in range(self.r.randint(1, 3)):
            text = self.argument(k)
            try:
                self.env[f"a{k}"] = eval(text, {"np": np, "make": make, **self.env})
            except IndexError:  # an item of nothing
                text = "2"
                self.env[f"a{k}"] = 2
            args.append(text)
        params = [f"a{k}" for k in range(len(args))]
        if self.loops:
            params += ["n", "m"]
            args += [str(self.r.choice([4, 5, 0, 12])), str(self.r.choice([3, 1, 0]))]
            self.env["n"], self.env["m"] = int(args[-2]), int(args[-1])
        for _ in range(self.r.randint(2, 9)):
            x = self.r.random()
            if self.loops and x < 0.3:
                self.loop_statement()
            elif x < 0.5:
                self.store_statement()
            elif x < 0.57:
                self.group_statement()
            else:
                self.value_statement()
        names = [n for n in self.env if n not in ("n", "m", "i", "j")]
        out = self.r.sample(names, min(len(names), self.r.randint(1, 3)))
        body = [*self.lines, f"return {', '.join(out)}{',' if len(out) == 1 and self.r.random() < 0.3 else ''}"]
        source = f"def f({', '.join(params)}):\n" + "".join(f"    {line}\n" for line in body)
        used = [h for h in self.helpers if f"{h}(" in source]
        return Program(self.seed, (templates.HELPERS if used else "") + source, args)


def program(seed: int, loops: bool = False) -> Program:
    return Writer(seed, loops).program()


def tolerance_of(source: str) -> str:
    """The loosest class of what a program does (rows of the one table)."""
    if any(t in source for t in ("@", "np.dot", "np.inner", "np.vdot", "linalg", "trace")):
        return "contraction"
    if any(t in source for t in ("sum", "mean", "var", "std", "prod", "add.reduce", "average")):
        return "sum"
    # errors of one inexact function are magnified by the next, and by differences of its results: only programs with one of them
    # and no differences are held to its own bound
    inexact = ("exp", "sin", "log", "tanh", "hypot", "arctan2", "**", "power", "cbrt", "c16", "c8", "1j", "2j", "3j", "complex")
    count = sum(source.count(t) for t in inexact)
    cancels = any(t in source for t in (" - ", "-=", "subtract", " + ", "+=", "np.add", "%", "remainder", "fmod"))
    return "exact" if not count else "ulp" if count == 1 and not cancels else "sum"


def main() -> int:
    ap = argparse.ArgumentParser(description="Run random programs under jit against plain NumPy.")
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--through", choices=["reference", "cpp"], default="cpp")
    ap.add_argument("--loops", action="store_true")
    ap.add_argument("--branches", action="store_true", help="functions of branches and loops over scalars and elements instead")
    ap.add_argument("--no-warnings", action="store_true", help="do not compare warnings")
    ap.add_argument("--show", action="store_true", help="print every program")
    a = ap.parse_args()
    if a.branches:
        from fuzz_branches import run

        return int(run(a.count, a.seed, a.through) > 0)
    from fuzz_check import check_all

    bad = 0
    compiled: Counter[str] = Counter()
    for first in range(a.seed, a.seed + a.count, TOGETHER):
        seeds = range(first, min(first + TOGETHER, a.seed + a.count))
        for p, text in check_all([program(seed, a.loops) for seed in seeds], a.through, not a.no_warnings, compiled):
            if a.show:
                print(p.source)
            if text:
                bad += 1
                print(f"seed {p.seed}: {text}\n{p.source}args: {p.arg_texts}\n", flush=True)
    print(f"{a.count} programs, {bad} mismatches; {dict(compiled)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
