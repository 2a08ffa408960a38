"""Iterables whose length is known at run time only, in builtins, list methods and loops that cannot be regions; items at computed
positions."""

import collections
import itertools

import numpy as np
import pytest
from language_harness import agree

V = np.array([3.1, -1.3, 2.5, 0.0, -4.7])
K = np.array([4, 1, 3, 2], dtype=np.int64)
M = np.arange(12.0).reshape(3, 4) * 1.1 - 5
LONG = np.sin(np.arange(100.0))


def sums(a):
    return sum(a), sum(range(len(a))), sum(a.tolist(), 0), sum(a, 1.5)


def extremes(a):
    return min(a), max(a), max(range(len(a))), max(a, key=abs), min(range(len(a)), key=lambda i: a[i])


def extremes_of_pairs(a):
    return max(enumerate(a), key=lambda p: p[1])[0], min(zip(a, a[::-1]), key=lambda p: p[0] - p[1])


def answers(a):
    return any(a > 3), all(a > -9), any(x > 1 for x in a), any(map(np.isfinite, a))


def backwards(a):
    s = 0.0
    for i, (x, y) in enumerate(zip(a, reversed(a)), 1):
        s += i * x * y
    return s, [x * 2 for x in reversed(a)]


def rows_backwards(a):
    return [row.sum() for row in reversed(a)]


def strictly(a):
    return [x * y for x, y in zip(a, a[::-1], strict=True)]


def lists_of(a):
    return a.tolist(), a.astype("f4").tolist(), a.astype("i2").tolist(), (a > 0).tolist(), a[:, None].tolist(), a[:0].tolist()


def in_order(a):
    return sorted(a), sorted(a, reverse=True), sorted(a.tolist()), sorted(a, key=lambda x: -x), sorted(a, key=abs, reverse=True)


def order_is_stable(a):
    return sorted(range(len(a)), key=lambda i: a[i] % 2), sorted(range(len(a)), key=lambda i: a[i] % 2, reverse=True)


def pairs_in_order(a):
    pairs = [(int(x) % 2, i) for i, x in enumerate(a)]
    return [p[1] for p in sorted(pairs)], [p[1] for p in sorted(pairs, reverse=True)]


def list_methods(a):
    out = []
    for x in a:
        out.append(x * 2)
    out.reverse()
    out[0] = a[0] * 7
    out[-1] = a[1]
    return out, out.count(a[1]), a[0] * 7 in out, a[0] not in out


ALL = [
    sums, extremes, extremes_of_pairs, answers, backwards, strictly, lists_of, in_order, order_is_stable, pairs_in_order,
    list_methods,
]  # fmt: skip


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_a_length_known_at_run_time(f):
    agree(lambda: f, (V,), (LONG,), (V[:2],))
    agree(lambda: f, (K,), (K[:2],))


def test_rows_backwards():
    agree(lambda: rows_backwards, (M,), (M.T,), (M[:0],))


@pytest.mark.parametrize("f", [sums, extremes, in_order, list_methods], ids=lambda f: f.__name__)
def test_nothing_and_nan(f):
    nan = V.copy()
    nan[1] = np.nan
    agree(lambda: f, (V,), (V[:0],), (nan,), (np.array([0.0, -0.0, 0.0]),))


def test_other_lengths_are_no_strict_zip():
    def f(a, b):
        return [x * y for x, y in zip(a, b, strict=True)]

    agree(lambda: f, (V, V), (V, V[1:]), (LONG, LONG))


def test_items_of_what_is_short():
    def f(a):
        first, *mid, last = a
        return first, tuple(a), set(range(len(a))), frozenset(range(len(a))), [*a, *mid], {**{"k": 1}, "v": last}, (*mid,)

    agree(lambda: f, (V,), (K,), (V[:3],))


# ------------------------------------------------------------------------------------------------ turn by turn


def by_number(a):
    return {i: row.sum() for i, row in enumerate(a)}


def pairs_of_rows(a):
    s = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(a.shape[1])):
        s += a[i, j] * (i - j)
    for x, y in itertools.combinations(a, 2):
        s += (x * y).sum()
    return s


def names_in_loop(a):
    d = {}
    for i in range(len(a)):
        d[f"row{i}"] = a[i]
    return d


def growing(a):
    parts = {}
    n = 0
    while n < len(a):
        parts[n] = a[n:]
        n += 2
    return parts


@pytest.mark.parametrize("f", [by_number, pairs_of_rows, names_in_loop, growing], ids=lambda f: f.__name__)
def test_short_loops_that_are_no_regions(f):
    agree(lambda: f, (M,), (M.T,), (M[:1],), (M[:0],))
    agree(lambda: f, (M,), (np.ones((40, 3)),))


def test_a_loop_that_breaks_is_no_longer_tried_turn_by_turn():
    def f(a):
        out = {}
        for i, x in enumerate(a):
            out[i] = collections.UserList([x])
        return sorted(out), a * 2

    jitted = agree(lambda: f, (V,), (V,), breaks=None)
    assert jitted.stats.compiles < 12


# ------------------------------------------------------------------------------------------------ computed positions


def from_lists(a):
    c = [1.0, 2.5, -3.0, 4.0, 5.0]
    s = 0.0
    for x in a:
        s += c[x] + (1, 2, 3, 4, 5)[-x]
    return s, [[(1, 2.0), (3, 4.0)][int(x > 2)][1] for x in a]


def letters(a):
    return "abcdefg"[int(a[0])] + ("zero", "one", "two", "three", "four")[a[1]]


@pytest.mark.parametrize("f", [from_lists, letters], ids=lambda f: f.__name__)
def test_items_at_computed_positions(f):
    agree(lambda: f, (K,), (-K + 0,), (K + 2,), (K * 0,))


def test_items_of_lists_that_came_in():
    def f(a, values):
        return sum(values[int(x)] for x in a)

    agree(lambda: f, (K, [1, 2, 3, 4, 5]), (K, [1.5, 2, 3, 4, 5]), (K, [1, 2]), (-K, [5, 6, 7, 8]))


def test_a_sum_of_no_floats_is_an_int():
    def f(a, least):
        out = []
        for x in a:
            if x > least:
                out.append(float(x))
        return sum(out), sum([float(x) for x in a])

    agree(lambda: f, (V, 0.0), (V, 9.0), (V[:0], 0.0), (LONG, -2.0))
