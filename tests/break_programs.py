"""Programs whose breaks tests look at, and the comparison of their calls with plain Python."""

import contextlib
import copy
import os
import traceback

import numpy as np

import npcompile
from npcompile.testing import difference

A = np.linspace(0.0, 1.0, 7)
B = np.linspace(-1.0, 2.0, 7)
LOG = []
FOLDER = os.path.dirname(__file__)
note = {}.setdefault  # a call that is not compiled and leaves no trace


def say(*values):
    """Something with a side effect; `LOG.__len__` keeps it from being inlined."""
    getattr(LOG, "append")([np.copy(v) if isinstance(v, np.ndarray) else v for v in values])  # noqa: B009


def outside(x):
    """Not compiled, and gives an array back."""
    LOG.append("outside")
    return np.frompyfunc(lambda v: v + 1.0, 1, 1)(x).astype(float)


class Counter:
    def __init__(self):
        self.seen = []

    def __call__(self, *values):
        self.seen.append(len(values))
        LOG.append(("counter", len(self.seen)))
        return len(self.seen)


# ---------------------------------------------------------------------------------------------- the corpus


def straight(a, b):
    y = a * b + 1.0
    print("mid", y.sum(), file=None)
    z = y * 2 - a
    return z, y


def twice(a, b):
    y = a * b
    print("one", file=None)
    z = y + a
    print("two", z[0], file=None)
    return z * y


def first_thing(a, b):
    print("first", file=None)
    y = a * 2 + b
    return y.sum()


def result_is_used(a, b):
    y = outside(a * b)
    return y * 2 + a


def within_an_expression(a, b):
    return (a * b + 1.0) * outside(a - b) + (b * b + 2.0)


def in_a_call(a, b):
    return np.maximum(a * b + 1.0, outside(b * 3.0) * 2)


def text(a, b):
    s = f"{a.sum():.3f} and {b.max()!r}"
    y = a * b + len(s)
    return s, y


def in_a_for_loop(a, b, n=12):
    z = a
    for i in range(n):
        y = z * b + i
        print(i, end=" ", file=None)
        z = y * 0.5 + a
    return z


def loop_without_work_before(a, b, n=12):
    z = a
    for i in range(n):
        print(i, end=" ", file=None)
        z = z * 0.5 + a * i
    return z


def in_a_while_loop(a, b, n=12):
    z, k = a, 0
    while k < n:
        y = z * b + k
        print(k, end=" ", file=None)
        z = y * 0.5 + a
        k += 1
    return z, k


def nested_loops(a, b, n=4):
    z = a
    for i in range(n):
        z = z + b * i
        for j in range(n):
            z = z * 0.5 + j
            print(i, j, end=" ", file=None)
            z = z + a
        z = z - b
    return z


def clean_loop_after(a, b, n=40):
    print("before", file=None)
    s = 0.0
    for i in range(n):
        s += a[i % 7] * b[i % 7]
    return s


def clean_loop_inside(a, b, n=5):
    s = 0.0
    for k in range(n):
        print(k, end=" ", file=None)
        for i in range(len(a)):
            s += a[i] * b[i] * k
    return s


def over_rows(a, b, n=6):
    m = np.outer(a, b)
    out = []
    for k, row in enumerate(m):
        out.append(row.sum() + k)
        print(k, end=" ", file=None)
        out[-1] = out[-1] * 2.0
    return out


def over_a_generator(a, b, n=6):
    z = a
    for k in (x * x for x in range(n)):
        z = z * 0.5 + b * k
    return z


def over_a_zip(a, b, n=6):
    z = a
    for x, (k, y) in zip(range(n), enumerate(reversed(range(n)))):
        z = z * 0.5 + b * (x - k * y)
        print(x, end=" ", file=None)
        z = z + 1.0
    return z


def breaks_sometimes(a, b, n=30):
    z = a
    for i in range(n):
        z = z * 0.5 + b * i
        if i % 10 == 3:
            print("at", i, end=" ", file=None)
        z = z + 1.0
    return z


def leaves_the_loop(a, b, n=30):
    z = a
    for i in range(n):
        z = z * 0.5 + b
        print(i, end=" ", file=None)
        if z.sum() > 6.5:
            break
        if i == 20:
            continue
        z = z + 0.1
    else:
        z = z * 100
    return z, i


def returns_from_a_loop(a, b, n=30):
    z = a
    for i in range(n):
        z = z + b * i
        print(i, end=" ", file=None)
        if i == 4:
            return z, i
    return None


def deep2(x):
    y = x * 2 + 1.0
    print("deep", end=" ", file=None)
    return y * y + x


def deep1(x, k):
    y = deep2(x + k) * 3.0
    return y - k


def two_deep(a, b, n=5):
    z = a * b
    for k in range(n):
        z = deep1(z, k) * 0.01 + a
    return z


def deep_straight(a, b):
    return deep1(a * b, 2) + deep1(b, 3) * 2


@contextlib.contextmanager
def noted(name):
    LOG.append(("enter", name))
    try:
        yield name
    finally:
        LOG.append(("exit", name))


def in_with(a, b):
    with noted("x") as name:
        y = a * b + 1.0
        print(name, file=None)
        z = y * 2 + a
    return z * b


def with_in_a_loop(a, b, n=5):
    z = a
    for k in range(n):
        with noted(k):
            z = z * 0.5 + b * k
        z = z + 1.0
    return z


def in_try(a, b, n=8):
    z = a
    caught = []
    try:
        for k in range(n):
            y = z * b + k
            caught.append(10 // (k - 5))
            z = y * 0.5 + a
    except ZeroDivisionError as e:
        caught.append(str(e))
        z = z * 2
    finally:
        print("finally", file=None)
        z = z + b
    return z, caught


def handler_in_the_loop(a, b, n=6):
    z = a
    log = []
    for k in range(n):
        try:
            y = z * b + k
            log.append(int("1x"[: 1 + k % 2]))
            z = y * 0.5 + a
        except ValueError:
            z = z - 1.0
            continue
        z = z + 0.25
    return z, log


def raises_after(a, b):
    y = a * b
    print("soon", file=None)
    z = y[:3] + a  # shapes do not match
    return z


def raises_in_step(a, b, n=8):
    z = a
    for k in range(n):
        z = z * b + k
        int("x" if k == 5 else "1")
        z = z + 1.0
    return z


def with_raises(a, b):
    with noted("r"):
        y = a * b
        print("in", file=None)
        z = y * y
        raise KeyError(float(z.sum()))


def closure(a, b, n=6):
    total = 0.0
    count = 0

    def add(x):
        nonlocal total, count
        total = total + x
        count += 1
        print(count, end=" ", file=None)
        return x * 2.0

    z = a
    for k in range(n):
        z = add(z * 0.5 + b * k) + a
    return z, total, count, (lambda: (z, count))()[1]


class Model:
    scale = 2.0

    def step(self, x, k):
        y = x * self.scale + k
        print("step", k, end=" ", file=None)
        return y - 1.0


class Sub(Model):
    scale = 0.5

    def __init__(self):
        self.steps = 0

    def step(self, x, k):
        y = super().step(x + 1.0, k) * 2.0
        self.steps += 1
        return y + x

    def run(self, x, n):
        for k in range(n):
            x = self.step(x, k) * 0.1
        return x


def methods(a, b, n=5):
    m = Sub()
    return m.run(a * b, n) + 1.0, m.steps


def comprehension(a, b, n=5):
    y = a * b
    out = [outside(y * k) * 2.0 + a for k in range(n)]
    return sum(out) * 0.5, {k: len(out) for k in range(2)}


def generator_inside(a, b, n=5):
    def parts():
        for k in range(n):
            yield a * k + b

    z = a
    for p in parts():
        z = z * 0.5 + p
        print(".", end="", file=None)
    return z


def recursion(a, b, n=4):
    y = a * b + n
    if n == 0:
        return y
    print(n, end=" ", file=None)
    return recursion(y * 0.5, b, n - 1) + y


def grows(a, b, n=6):
    out, y = [], a
    for k in range(n):
        y = np.append(y, float(k))
        out.append(y.sum() * 2.0)
        note(len(out), None)
        y = y + out[-1] * 0.0
    return y, out


def stores(a, b, n=5):
    for k in range(n):
        a[k] = b[k] * 2.0
        print(a[k], end=" ", file=None)
        a[k + 1] += a[k]
    return a.sum()


def many_arguments(a, b, *rest, k=2.0, **more):
    y = a * b + sum(rest)
    print(sorted(more), file=None)
    return y * k + more.get("m", 0.0)


CORPUS = [
    straight, twice, first_thing, result_is_used, within_an_expression, in_a_call, text, in_a_for_loop, loop_without_work_before,
    in_a_while_loop, nested_loops, clean_loop_after, clean_loop_inside, over_rows, over_a_generator, over_a_zip, breaks_sometimes,
    leaves_the_loop, returns_from_a_loop, two_deep, deep_straight, in_with, with_in_a_loop, in_try, handler_in_the_loop,
    raises_after, raises_in_step, with_raises, closure, methods, comprehension, generator_inside,
    recursion, grows, stores, many_arguments,
]  # fmt: skip


def outcome(call, args):
    """Result or exception with its lines, arguments afterwards, log and printed text, in order."""
    LOG.clear()
    args = copy.deepcopy(args)
    try:
        result = call(*args)
    except Exception as e:
        lines = [(f.name, f.lineno) for f in traceback.extract_tb(e.__traceback__) if os.path.dirname(f.filename) == FOLDER]
        result = (type(e).__name__, str(e), lines[1:])
    return result, args, list(LOG)


def check(fn, args, calls=3, capsys=None, **options):
    """Plain and jitted calls one after the other do the same things."""
    jitted = npcompile.jit(fn, options={"compile": "first", **options})
    for _ in range(calls):
        want = outcome(fn, args)
        printed = capsys.readouterr().out if capsys else ""
        got = outcome(jitted, args)
        assert (capsys.readouterr().out if capsys else "") == printed
        assert difference(want, got, "exact", 1.0) is None, (want, got)
    return jitted


def places(jitted):
    """The continuation points of a jitted function."""
    points = jitted.stats._state.points
    return [] if points is None else list(points.jits.values())
