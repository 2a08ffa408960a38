"""Random small functions for the tracer: scalars of all kinds, arrays, loops, swaps, helpers, containers, try blocks."""

import linecache

import numpy as np

HEADER = """
import math
import numpy as np

G = 3
H = 0.5
T = np.arange(6.0)


def helper(p, q=2):
    r = p * q
    return r + 1


def twice(p, *rest, k=1):
    s = p
    for x in rest:
        s = s + x
    return s, k
"""


class Writer:
    """Writes one function. Every choice comes from `rng`, so a seed names a program."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.lines = []
        self.scalars = ["n", "m", "x", "y"]
        self.ints = ["n", "m"]
        self.arrays = ["a", "b"]
        self.count = 0
        self.depth = 0
        self.indices = []

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p):
        return self.rng.random() < p

    def emit(self, indent, text):
        self.lines.append("    " * indent + text)

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    # -- expressions ------------------------------------------------------------------------------------------------
    def int_expr(self, depth=2):
        if depth == 0 or self.chance(0.3):
            return self.pick([*self.ints, *self.indices, "1", "2", "3", "len(a)", "a.shape[0]", "G"])
        kind = self.rng.integers(8)
        p, q = self.int_expr(depth - 1), self.int_expr(depth - 1)
        if kind < 3:
            return f"({p} {self.pick(['+', '-', '*'])} {q})"
        if kind == 3:
            return f"({p} {self.pick(['//', '%'])} {self.pick(['2', '3', '(abs(' + q + ') + 1)', q])})"
        if kind == 4:
            return f"{self.pick(['min', 'max'])}({p}, {q})"
        if kind == 5:
            return f"{self.pick(['-', 'abs', '~'])}({p})"
        if kind == 6:
            return f"({p} {self.pick(['&', '|', '^'])} {q})"
        return f"int({self.scalar_expr(depth - 1)})"

    def scalar_expr(self, depth=2):
        if depth == 0 or self.chance(0.25):
            return self.pick([*self.scalars, "0.5", "2", "H", self.int_expr(0), self.element(0)])
        kind = self.rng.integers(9)
        p, q = self.scalar_expr(depth - 1), self.scalar_expr(depth - 1)
        if kind < 4:
            return f"({p} {self.pick(['+', '-', '*', '/'])} {q})"
        if kind == 4:
            return f"{self.pick(['abs', '-', 'float'])}({p})"
        if kind == 5:
            return f"helper({p}{self.pick(['', ', ' + q, ', q=' + q])})"
        if kind == 6:
            return self.element(depth - 1)
        if kind == 7:
            return f"{self.pick(['math.sqrt(abs({}))', 'np.sqrt(abs({}))', 'math.sin({})', 'math.floor({})']).format(p)}"
        return f"({p} {self.pick(['//', '%'])} {q})"

    def element(self, depth):
        name = self.pick([*self.arrays, "T"])
        index = self.pick([*self.indices, "0", "-1", "n % 3"]) if self.chance(0.8) else self.int_expr(depth)
        return f"{name}[{index}]"

    def array_expr(self, depth=2):
        if depth == 0 or self.chance(0.3):
            return self.pick(self.arrays)
        kind = self.rng.integers(6)
        p = self.array_expr(depth - 1)
        if kind < 3:
            q = self.array_expr(depth - 1) if self.chance(0.5) else self.scalar_expr(depth - 1)
            return f"({p} {self.pick(['+', '-', '*'])} {q})"
        if kind == 3:
            return f"np.{self.pick(['sin', 'abs', 'negative'])}({p})"
        if kind == 4:
            return f"np.where({p} > 0, {self.array_expr(depth - 1)}, {self.scalar_expr(0)})"
        return f"{p}[::-1]"

    # -- statements ---------------------------------------------------------------------------------------------------
    def statement(self, indent):
        kind = self.rng.integers(21 if self.depth < 2 else 15)
        if kind < 3:
            self.assign_scalar(indent)
        elif kind == 3:
            name = self.pick([*self.ints[2:], self.fresh("k")])
            self.emit(indent, f"{name} = {self.int_expr()}")
            self.known(self.ints, name)
            self.known(self.scalars, name)
        elif kind < 6:
            self.emit(indent, f"{self.pick(self.scalars[2:])} {self.pick(['+=', '-=', '*='])} {self.scalar_expr()}")
        elif kind < 8:
            name = self.pick([*self.arrays, self.fresh("c")])
            self.emit(indent, f"{name} = {self.array_expr()}")
            self.known(self.arrays, name)
        elif kind == 8:
            self.emit(indent, f"{self.pick(self.arrays)} {self.pick(['+=', '-=', '*='])} {self.scalar_expr()}")
        elif kind == 9:
            self.emit(indent, f"{self.pick(self.arrays)}[{self.pick(['1:', ':-1', '::2'])}] = {self.scalar_expr()}")
        elif kind == 10:
            self.emit(indent, f"{self.pick(self.arrays)}[1:] = {self.pick(self.arrays)}[:-1]")
        elif kind < 13:
            index = self.pick([*self.indices, "0"]) if self.chance(0.8) else self.int_expr(1)
            self.emit(indent, f"{self.pick(self.arrays)}[{index}] = {self.scalar_expr()}")
        elif kind == 13 and len(self.arrays) > 1:
            p, q = self.rng.choice(self.arrays, 2, replace=False)
            self.emit(indent, f"{p}, {q} = {q}, {p}")
        elif kind == 14:
            p, q = self.scalars[2:4]
            self.emit(indent, f"{p}, {q} = {self.scalar_expr(1)}, {self.scalar_expr(1)}")
        else:
            self.block(indent)

    def assign_scalar(self, indent):
        name = self.pick([*self.scalars[2:], self.fresh("s")])
        self.emit(indent, f"{name} = {self.scalar_expr()}")
        self.known(self.scalars, name)

    def known(self, names, name):
        if name not in names:
            names.append(name)

    def block(self, indent):
        if self.depth >= 2:
            return self.assign_scalar(indent)
        kind = self.rng.integers(6)
        saved = [list(v) for v in (self.scalars, self.ints, self.arrays, self.indices)]
        self.depth += 1
        if kind < 4:
            i = self.fresh("i")
            bounds = self.pick(
                [
                    "n",
                    "len(a)",
                    "1, len(a)",
                    "len(a) - 1",
                    f"{self.pick([*self.indices, '0'])}, len(a)",
                    "3",
                    "len(a) - 1, -1, -1",
                ]
            )
            self.emit(indent, f"for {i} in range({bounds}):")
            self.indices.append(i)
        elif kind == 4:
            i = self.fresh("i")
            self.emit(indent, f"for {i}, e{i} in enumerate({self.pick([*self.arrays, '(x, y, n)'])}):")
            self.indices.append(i)
            self.scalars.append(f"e{i}")
        else:
            self.emit(indent, f"if {self.pick(['n > 2', 'len(a) > m', 'a.ndim == 1', 'n == m', 'not n'])}:")
        for _ in range(int(self.rng.integers(1, 4))):
            self.statement(indent + 1)
        self.depth -= 1
        self.scalars, self.ints, self.arrays, self.indices = saved

    def function(self):
        self.emit(0, "def f(a, b, n, m, x, y):")
        indent = 1
        guarded = self.chance(0.2)
        if guarded:
            self.emit(1, "try:")
            indent = 2
        for _ in range(int(self.rng.integers(3, 8))):
            self.statement(indent)
        names = ", ".join(dict.fromkeys(["a", "b", "n", "x", "y", *self.scalars[-2:], *self.arrays[-2:]]))
        self.emit(indent, f"return {names}")
        if guarded:
            self.emit(1, "except (ZeroDivisionError, IndexError, ValueError, OverflowError) as e:")
            self.emit(2, "return type(e).__name__, a, b")
        return "\n".join(self.lines) + "\n"


def program(seed):
    """(function, source) of a seed."""
    source = HEADER + "\n\n" + Writer(seed).function()
    name = f"<program {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"__name__": f"program_{seed}"}
    exec(compile(source, name, "exec"), space)
    return space["f"], source


def arguments(seed):
    """Arguments for a program."""
    g = np.random.default_rng(seed + 1)
    size = int(g.choice([9, 10, 12]))
    dtypes = ["f8", "f8", "f8", "f8", "f4", "i8"]
    a = (g.random(size) * 8 - 4).astype(g.choice(dtypes))
    b = (g.random(size) * 8 - 4).astype(g.choice(dtypes))
    n = int(g.integers(0, 12))
    x = [1.5, -0.25, np.float64(2.5), 3, np.float32(0.5)][int(g.integers(5))]
    return a, b, n, int(g.integers(1, 4)), x, float(g.integers(-2, 3))
