"""Lists that grow in native loops and branches, and other things that loops change besides variables."""

import numpy as np
import pytest
from language_harness import agree

X = np.linspace(-1.0, 2.0, 20)
M = np.arange(36.0).reshape(12, 3) - 7
N = 12


def rows(a):
    out = []
    for row in a:
        out.append(row.max() - row.min())
    return np.array(out), len(out)


def python_floats(a):
    out = []
    for i in range(len(a)):
        out.append(float(a[i]) * 2)
    return out, len(out), max(out), min(out), out[3], out[-1]


def break_continue_else(a, stop):
    out = []
    for x in a:
        if x < 0:
            continue
        if x == stop:
            break
        out.append(x)
    else:
        out.append(-99)
    return out


def comprehension(a):
    return [x * 2 for x in a if x > 0]


def nested_comprehension(a):
    return np.array([[x * y for x in a] for y in a]), [[x, 1.0] for x in a], [[i * v for i in range(3)] for v in a]


def two_lists(a):
    pos = [v for v in a if v > 0]
    neg = [v for v in a if v <= 0]
    return np.array(pos).sum() + np.array(neg).max(), len(pos), any(pos), all(neg), bool(neg)


def tuples(a):
    out = []
    for i, v in enumerate(a):
        if v > 0:
            out.append((i, v))
    return out


def trajectory(x, n):
    out = [x]
    for _ in range(n):
        x = x * 0.5 + 1
        out.append(x)
    return out, x


def trajectory_array(x, n):
    out = []
    for _ in range(n):
        x = x * 0.5 + 1
        out.append(x)
    return np.array(out), np.stack(out), np.concatenate(out)


def appended_before(x, n):
    out = []
    for _ in range(n):
        out.append(x)
        x = x * 0.5
    x *= 2
    return out, x


def from_the_last(x, n):
    out = [x]
    for _ in range(n):
        out.append(out[-1] * 0.9)
    return out


def while_from_the_last(x, n):
    out = [0.0]
    while out[-1] < n:
        out.append(out[-1] + abs(x.sum()))
    return out


def while_list(a, n):
    out = []
    i = 0
    while i < n:
        out.append(i)
        i += 2
    return np.array(out) * a.sum()


def triangle(a, n):
    out = []
    for i in range(n):
        for j in range(i):
            out.append(a[i] * j)
    return np.array(out)


def iterate_again(a):
    out = [v * 2 for v in a]
    total = 0.0
    for v in out:
        total += v
    return total, [v + 1 for v in out], list(out), out[2:5]


def sums(a, n):
    return sum([v * 2 for v in a]), sum([i * i for i in range(n)]), sum([x * 1.5 for x in range(n)])


def list_of_array(a):
    return list(a), [*a]


def counters(a):
    c = [0, 0.0]
    d = {"n": 0, "s": 0.0}
    for v in a:
        if v > 0:
            c[0] += 1
        c[1] += v
        d["n"] += 1
        d["s"] += v
    return c, d


def closure(a):
    n = 0

    def count(v):
        nonlocal n
        n += 1
        return v * n

    s = 0.0
    for v in a:
        s += count(v)
    return s, n


def into_a_list_that_came_in(log, a):
    for v in a:
        log.append(v * 2)
    return a + 1


def arithmetic_with_arrays(a):
    w = [float(i) for i in range(len(a))]
    return a * w, np.dot(a, w), np.mean(w)


def in_one_arm(a, flag):
    out = []
    for v in a:
        if v > 0:
            out.append(v)
            out.append(v * 2)
        elif flag > 0:
            out.append(v * 3)
    return out, sum(out)


def appended_after(a):
    out = [v * 2 for v in a]
    out.append(1)
    out.extend([3, a])
    return out, len(out)


CASES = [
    (appended_after, (X,)),
    (rows, (M,), (M[:0],), (M.T,)),
    (python_floats, (X,)),
    (break_continue_else, (X, 77.0), (X, X[-3])),
    (comprehension, (X,), (-X,), (X[:0],)),
    (nested_comprehension, (X,)),
    (two_lists, (X,)),
    (tuples, (X,)),
    (trajectory, (X, N), (X, 0), (X, 1)),
    (trajectory_array, (X, N), (X, 15)),
    (appended_before, (X, N)),
    (from_the_last, (X, N), (X, 1)),
    (while_from_the_last, (X, 100.0)),
    (while_list, (X, 40), (X, 41)),
    (triangle, (X, 13)),
    (iterate_again, (X,)),
    (sums, (X, 30)),
    (list_of_array, (X,)),
    (counters, (X,)),
    (closure, (X,)),
    (into_a_list_that_came_in, ([], X), ([1], X)),
    (arithmetic_with_arrays, (X,)),
    (in_one_arm, (X, 1), (X, -1)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_compiles(case):
    fn, *calls = case
    agree(lambda: fn, *calls)


def same_array_again(x, n):
    out = []
    y = x * 1
    for _ in range(n):
        y *= 0.5
        out.append(y)
    return out


def kept_array_is_changed(x, n):
    out = []
    for _ in range(n):
        y = x * 2
        out.append(y)
        y += 1
    return out


def identity(x, n):
    out = []
    for _ in range(n):
        x = x * 0.5
        out.append(x)
    y = out[-1]
    return out, x is y, y


def several_types(a, n):
    out = []
    for i in range(n):
        out.append(i if a[i] > 0 else "no")
    return out, a * 2


def shapes(a, n):
    out = []
    for i in range(n):
        out.append(a[i:] * 2)
    return out, np.array(out[0])


def changed_while_iterating(a, n):
    out = [v * 1 for v in a]
    for v in out:
        if len(out) < n:
            out.append(v)
    return out


@pytest.mark.parametrize(
    "fn", [same_array_again, kept_array_is_changed, identity, several_types, shapes, changed_while_iterating]
)
def test_what_is_left_to_python(fn):
    agree(lambda: fn, (X, N), breaks=None)


def test_growth_leaves_when_the_room_is_used_up():
    def f(a, n):
        out = []
        i = 0
        while i < n:
            out.append(i)
            i += 1
        return out, a * 2

    agree(lambda: f, (X, 70_000))


def test_an_attribute_counts_in_a_loop():
    class Model:
        def __init__(self):
            self.n, self.best = 0, -9.0

        def see(self, v):
            self.n += 1
            if v > self.best:
                self.best = v
            return v * 2

    def make():
        m = Model()

        def f(a):
            s = 0.0
            for v in a:
                s += m.see(v)
            return s, m

        return f

    agree(make, (X,), (X * 2,))
