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


# ------------------------------------------------------------------------------------------------ stacks and queues


def filled(grid, start):
    h, w = grid.shape
    seen = np.zeros(grid.shape, dtype=bool)
    stack = [start]
    n = 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= h or j >= w or seen[i, j] or grid[i, j]:
            continue
        seen[i, j] = True
        n += 1
        stack.append((i + 1, j))
        stack.append((i - 1, j))
        stack.append((i, j + 1))
        stack.append((i, j - 1))
    return n, seen, stack


def depth_first(adj, start):
    order = np.zeros(adj.shape[0], dtype=np.int64)
    stack = [start]
    n = 0
    while stack:
        i = stack.pop()
        if order[i]:
            continue
        n += 1
        order[i] = n
        for j in np.nonzero(adj[i])[0]:
            if not order[j]:
                stack.append(j)
    return order


def breadth_first(adj, start):
    distance = -np.ones(len(adj), dtype=int)
    distance[start] = 0
    queue = [start]
    while queue:
        u = queue.pop(0)
        for v in range(len(adj)):
            if adj[u, v] and distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance, queue


def intervals(a, b, tol):
    stack = [(a, b)]
    total, n = 0.0, 0
    while stack:
        lo, hi = stack.pop()
        m = 0.5 * (lo + hi)
        fine = (hi - lo) * 0.5 * (lo * m + m * hi)
        n += 1
        if abs(fine - (hi - lo) * lo * hi) < tol or n > 300:
            total += fine
        else:
            stack.append((lo, m))
            stack.append((m, hi))
    return total, n


def sorted_in_place(a):
    a = a.copy()
    stack = [(0, len(a) - 1)]
    while stack:
        lo, hi = stack.pop()
        if lo >= hi:
            continue
        i = lo
        for j in range(lo, hi):
            if a[j] < a[hi]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        stack.append((lo, i - 1))
        stack.append((i + 1, hi))
    return a


def taken_in_an_inner_loop(a, n):
    stack, out = [], []
    for i in range(n):
        stack.append(i)
        stack.append(i * 2)
        while len(stack) > 3:
            out.append(stack.pop() + a[0])
    return stack, out


def taken_in_one_arm(a):
    kept = [a[0], a[1], a[2]]
    for v in a:
        if v > 0.5:
            kept.pop()
            kept.append(v)
        elif v > 0.2:
            kept.append(v)
    return kept


def monotone(a, n):
    """Index of the next larger item, by a stack of those still waiting."""
    out = [-1] * n
    waiting = []
    for i in range(n):
        while waiting and a[waiting[-1]] < a[i]:
            out[waiting.pop()] = i
        waiting.append(i)
    return out, waiting


ADJ = np.random.default_rng(5).random((40, 40)) < 0.1
GRID = np.random.default_rng(6).random((15, 20)) < 0.3
GRID[0, 0] = False


@pytest.mark.parametrize(
    "fn, args",
    [
        (filled, (GRID, (0, 0))),
        (depth_first, (ADJ, 0)),
        (breadth_first, (ADJ, 0)),
        (intervals, (0.0, 3.0, 1e-3)),
        (sorted_in_place, (np.random.default_rng(7).random(60),)),
        (taken_in_an_inner_loop, (X, 9)),
        (taken_in_one_arm, (np.random.default_rng(8).random(50),)),
    ],
)
def test_stacks_are_native(fn, args):
    jitted = agree(lambda: fn, args)
    assert jitted.stats.compiles == 1 and len(jitted.entries) == 1


def test_stacks_that_are_left_to_python():
    def empty_in_the_end(a, n):
        stack = [1, 2]
        for _ in range(n):
            stack.append(3)
            stack.pop()
            stack.pop()
        return stack

    def arrays(a, n):
        parts, out = [a], []
        while parts:
            y = parts.pop()
            if len(y) <= 2:
                out.append(y.sum())
            else:
                parts.append(y[: len(y) // 2])
                parts.append(y[len(y) // 2 :])
        return out

    agree(lambda: empty_in_the_end, (X, N), breaks=None)
    agree(lambda: arrays, (X, N), breaks=None)
    agree(lambda: monotone, (X, len(X)), breaks=None)


BESIDE = """
grown - x, x + grown, grown += x, grown -= x, grown * v, v / grown, grown == v, v < grown, grown @ v
grown * k, k * grown, grown *= k, v * grown, grown == x
fixed - x, v * fixed, fixed / v, x ** fixed, fixed < v, x > fixed, fixed == v, [fixed, fixed] @ v
fixed * k, k * fixed, fixed *= k, fixed += v, fixed += x, v += fixed
pair + x, v - pair, pair * k, pair += v, pair <= v, v @ pair
given - x, given * v, given * k, v == given, x < given
"""


@pytest.mark.parametrize(
    "text", [t for line in BESIDE.split("\n")[1:-1] for t in line.split(", ") if "[" not in t and "]" not in t]
)
def test_lists_beside_arrays_and_numpy_numbers(text):
    """An array is made of them, in place as well, but an integer of NumPy repeats a list as Python's do."""
    name, change = (text.split(" ")[0], True) if "= " in text and "==" not in text and "<=" not in text else ("out", False)
    source = f"""
def f(v, given, n):
    x, k = v.sum(), v.argmax()
    fixed, pair, grown = [1.0, 2.0, x], (1, x, 3), []
    for i in range(n):
        grown.append(v[i] * 2)
    {text if change else "out = " + text}
    return {name}, v * 2
"""
    space = {}
    exec(source, space)
    agree(lambda: space["f"], lambda: (np.array([1.0, 5.0, 2.0]), [3, 4, 5.5], 3), breaks=None)
