"""Writes random NumPy functions with arguments for them: expressions, slices, in-place stores, reductions, loops, dtypes.

A program is built statement by statement and *tried* on real values while it is written, so that nearly all programs run
(a few keep a statement that raises, to test exceptions). The same seed gives the same program for ever.

    python tests/fuzzer.py --count 1000 [--seed S] [--through reference|cpp] [--loops]
"""

from __future__ import annotations

import argparse
import linecache
import random
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = ["f8", "f8", "f8", "f4", "f4", "i8", "i8", "i4", "i2", "u1", "u4", "?", "c16"]
SHAPES = [(6,), (6,), (5, 6), (5, 6), (6, 5), (1, 6), (5, 1), (1,), (), (3, 5, 6), (0,), (5, 0), (6, 6)]
LAYOUTS = ["C", "C", "C", "F", "step", "reverse", "transpose"]

UNARY = [
    "-{0}",
    "abs({0})",
    "np.sqrt({0})",
    "np.exp(np.clip({0}, -1, 1))",
    "np.sin({0})",
    "np.floor({0})",
    "np.square({0})",
    "np.sign({0})",
    "np.log({0})",
    "np.tanh({0})",
    "np.isnan({0})",
    "~{0}",
    "np.conj({0})",
    "np.rint({0})",
    "np.reciprocal({0})",
    "np.negative({0})",
    "{0}.copy()",
    "{0}.astype(np.float64)",
    "{0}.astype(np.float32)",
    "np.logical_not({0})",
]
BINARY = [
    "{0} + {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} / {1}",
    "{0} // {1}",
    "{0} % {1}",
    "{0} < {1}",
    "{0} == {1}",
    "{0} >= {1}",
    "np.maximum({0}, {1})",
    "np.minimum({0}, {1})",
    "np.hypot({0}, {1})",
    "np.arctan2({0}, {1})",
    "{0} & {1}",
    "{0} | {1}",
    "{0} ^ {1}",
    "np.logical_and({0}, {1})",
    "np.copysign({0}, {1})",
    "np.fmax({0}, {1})",
    "np.where({0} > 0, {0}, {1})",
    "np.where({1} != 0, {0}, {1})",
    "np.add({0}, {1})",
    "np.multiply({0}, {1})",
]
WITH_NUMBER = [
    "{0} + {n}",
    "{n} - {0}",
    "{0} * {n}",
    "{0} / {n}",
    "{0} ** 2",
    "{0} // {i}",
    "{0} % {i}",
    "{0} > {n}",
    "np.clip({0}, -1, 2)",
    "np.maximum({0}, {n})",
    "{0} << {i}",
    "np.float32({n}) * {0}",
    "{0} + np.int16({i})",
    "{0} == {i}",
]
SHAPING = [
    "{0}.T",
    "{0}.ravel()",
    "{0}.reshape(-1)",
    "{0}[::-1]",
    "{0}[1:]",
    "{0}[..., :-1]",
    "{0}[None]",
    "{0}[::2]",
    "{0}[0]",
    "{0}[..., 0]",
    "{0}[-1:]",
    "np.swapaxes({0}, 0, -1)",
    "np.expand_dims({0}, 0)",
    "np.broadcast_to({0}, (2,) + {0}.shape)",
    "np.concatenate([{0}, {0}])",
    "np.stack([{0}, {0}])",
    "np.roll({0}, 1)",
    "np.squeeze({0})",
    "{0}.reshape({0}.shape)",
]
REDUCE = [
    "{0}.sum()",
    "{0}.sum(axis=0)",
    "{0}.sum(axis=-1, keepdims=True)",
    "{0}.mean()",
    "{0}.mean(axis=0)",
    "{0}.max()",
    "{0}.min(axis=-1)",
    "{0}.any()",
    "{0}.all(axis=0)",
    "{0}.prod()",
    "np.argmax({0})",
    "{0}.argmin(axis=0)",
    "np.var({0})",
    "np.std({0}, axis=0)",
    "np.ptp({0})",
    "np.count_nonzero({0})",
    "{0}.var(axis=-1, ddof=1)",
    "np.sum({0}, axis=(0, -1))",
]
PRODUCTS = ["{0} @ {1}", "np.dot({0}, {1})", "np.outer({0}, {1})", "np.inner({0}, {1})"]
CREATE = [
    "np.zeros({0}.shape)",
    "np.ones_like({0})",
    "np.empty_like({0}).ndim * {0}",
    "np.arange({k})",
    "np.linspace(0, 1, {k})",
    "np.eye({k})",
    "np.full({0}.shape, {n})",
    "np.zeros_like({0})",
]
STORES = [
    "{0}[...] = {1}",
    "{0}[1:] = {1}",
    "{0}[:-1] = {0}[1:]",
    "{0}[1:] = {0}[:-1]",
    "{0}[0] = {1}",
    "{0} += {1}",
    "{0} *= {n}",
    "{0} -= {1}",
    "{0}[::2] += {n}",
    "{0}[{0} > 0] = {n}",
    "{0}[..., 0] = {n}",
    "{0}[::-1] = {0}",
    "np.add({0}, {1}, out={0})",
    "np.tanh({0}, out={0})",
    "{0}[...] = {n}",
    "{0}[1:-1] = 0.5 * ({0}[:-2] + {0}[2:])",
    "{0} /= 2",
]
LOOP_BODIES = [
    ["{0}[i] = {0}[i] + {1}[i]"],
    ["{0}[i] = {0}[i - 1] * 0.5 + i"],
    ["s = s + {0}[i]"],
    ["s += i * 0.5"],
    ["{0}[1:-1] = 0.5 * ({0}[:-2] + {0}[2:])"],
    ["{0}, {1} = {1}, {0}", "{0}[1:] += 1"],
    ["{0}[:i] += 1"],
    ["{0}[i:] = {0}[i:] * 0.5"],
    ["w = {0} * i", "{1} += w"],
    ["{0} = {0} * 0.5 + {1}"],
    ["for j in range(m):", "    {0}[i] = {0}[i] + {1}[j] * 0.25"],
    ["for j in range(i):", "    s += {1}[j]"],
    ["k = (k * 7 + i) & 255"],
    ["s = max(s, {0}[i])"],
    ["{0}[i] -= {1}[:i].sum()"],
]


HIDDEN = ("np", "__builtins__", "__warningregistry__")


@dataclass
class Program:
    """seed, source of `f`, and how to make its arguments (fresh each time)."""

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
        space = {"np": np, "make": lambda dt, shape, layout, k: make(dt, shape, layout, k * 10 + variant)}
        return [eval(t, space) for t in self.arg_texts]


def make(dt: str, shape: tuple[int, ...], layout: str, seed: int) -> np.ndarray:
    """An array of a dtype, shape and memory layout with values that exercise signs and zeros."""
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
        self.env: dict[str, Any] = {"np": np}
        self.arrays: list[str] = []
        self.fresh = 0

    def number(self) -> str:
        return self.r.choice(["0.5", "2", "3", "-1", "1.5", "0", "-0.25", "10", "True", "1e-3"])

    def fill(self, template: str, names: list[str]) -> str:
        a = self.r.choice(names)
        same = [n for n in names if np.shape(self.env[n]) == np.shape(self.env[a])] if self.r.random() < 0.7 else names
        return template.format(
            a, self.r.choice(same), n=self.number(), i=self.r.choice(["1", "2", "3"]), k=self.r.choice(["4", "6"])
        )

    def tried(self, text: str) -> bool:
        """Run a statement on copies of the values; keep the effect when it works."""
        from npcompile.testing import copy_arguments

        names = [n for n in self.env if n not in HIDDEN]
        trial = dict(zip(names, copy_arguments([self.env[n] for n in names])), np=np)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec(text, trial)
        except Exception:
            return False
        if any(isinstance(v, np.ndarray) and (v.size > 3000 or v.ndim > 4) for v in trial.values()):
            return False
        self.env = trial
        return True

    def value_statement(self) -> None:
        pools = [(UNARY, 3), (BINARY, 5), (WITH_NUMBER, 3), (SHAPING, 3), (REDUCE, 2), (PRODUCTS, 1), (CREATE, 1)]
        pool = self.r.choices([p for p, _ in pools], [w for _, w in pools])[0]
        names = [n for n in self.env if n not in HIDDEN and isinstance(self.env[n], (np.ndarray, np.generic))]
        if not names:
            return
        text = self.fill(self.r.choice(pool), names)
        if pool in (UNARY, BINARY, WITH_NUMBER) and self.r.random() < 0.5:
            inner = self.fill(self.r.choice(BINARY + WITH_NUMBER), names)
            text = self.r.choice(UNARY + WITH_NUMBER + BINARY).format(f"({text})", f"({inner})", n=self.number(), i="2", k="4")
        self.fresh += 1
        name = f"v{self.fresh}" if self.r.random() < 0.8 else self.r.choice([n for n in names if n.startswith("v")] or ["v0"])
        statement = f"{name} = {text}"
        if self.tried(statement):
            self.lines.append(statement)

    def store_statement(self) -> None:
        names = [n for n in self.env if isinstance(self.env[n], np.ndarray)]
        if not names:
            return
        statement = self.fill(self.r.choice(STORES), names)
        if self.tried(statement):
            self.lines.append(statement)

    def loop_statement(self) -> None:
        names = [n for n in self.env if isinstance(self.env[n], np.ndarray) and np.ndim(self.env[n]) >= 1]
        if not names:
            return
        a = self.r.choice(names)
        same = [n for n in names if np.shape(self.env[n]) == np.shape(self.env[a]) and self.env[n].dtype == self.env[a].dtype]
        b = self.r.choice(same)
        bodies = [self.r.choice(LOOP_BODIES) for _ in range(self.r.randint(1, 2))]
        lines = [line.format(a, b) for body in bodies for line in body]
        head = self.r.choice(
            ["for i in range(n):", "for i in range(len({0})):", "for i in range(1, n):", "for i in range(n - 1, -1, -1):"]
        )
        setup = ["s = 0.0", "k = 1"] if "s" not in self.env else []
        text = "\n".join([*setup, head.format(a), *("    " + line for line in lines)])
        if self.tried(text) or self.r.random() < 0.03:
            self.lines += text.splitlines()

    def program(self) -> Program:
        args = []
        for k in range(self.r.randint(1, 3)):
            spec = (self.r.choice(DTYPES), self.r.choice(SHAPES), self.r.choice(LAYOUTS), self.seed * 7 + k)
            args.append(f"make{spec!r}")
            self.env[f"a{k}"] = make(*spec)
            if k and self.r.random() < 0.4:
                args[-1] = f"make{(spec[0], np.shape(self.env['a0']), spec[2], spec[3])!r}"
                self.env[f"a{k}"] = make(spec[0], np.shape(self.env["a0"]), spec[2], spec[3])
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
            else:
                self.value_statement()
        names = [n for n in self.env if n not in (*HIDDEN, "n", "m", "i", "j")]
        out = self.r.sample(names, min(len(names), self.r.randint(1, 3)))
        body = [*self.lines, f"return {', '.join(out)}{',' if len(out) == 1 and self.r.random() < 0.3 else ''}"]
        source = f"def f({', '.join(params)}):\n" + "".join(f"    {line}\n" for line in body)
        return Program(self.seed, source, args)


def program(seed: int, loops: bool = False) -> Program:
    return Writer(seed, loops).program()


def tolerance_of(source: str) -> str:
    """The loosest class of what a program does (rows of the one table)."""
    if any(t in source for t in ("@", "np.dot", "np.inner")):
        return "contraction"
    if any(t in source for t in ("sum", "mean", "var", "std", "prod")):
        return "sum"
    # errors of one inexact function are magnified by the next: only programs with one of them are held to its own bound
    inexact = ("exp", "sin", "log", "tanh", "hypot", "arctan2", "**", "c16", "complex")
    count = sum(source.count(t) for t in inexact)
    return "exact" if not count else "ulp" if count == 1 else "sum"


def main() -> int:
    ap = argparse.ArgumentParser(description="Run random programs under jit against plain NumPy.")
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--through", choices=["reference", "cpp"], default="cpp")
    ap.add_argument("--loops", action="store_true")
    ap.add_argument("--no-warnings", action="store_true", help="do not compare warnings")
    ap.add_argument("--show", action="store_true", help="print every program")
    a = ap.parse_args()
    from fuzz_check import check

    bad = 0
    for seed in range(a.seed, a.seed + a.count):
        p = program(seed, a.loops)
        if a.show:
            print(p.source)
        text = check(p, a.through, not a.no_warnings)
        if text:
            bad += 1
            print(f"seed {seed}: {text}\n{p.source}args: {p.arg_texts}\n", flush=True)
    print(f"{a.count} programs, {bad} mismatches")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
