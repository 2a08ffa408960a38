"""Tuples that loops make anew in each turn: their items are carried."""

from collections import namedtuple

import numpy as np
import pytest
from tracer_harness import check, prims

import npcompile
from npcompile.testing import difference
from npcompile.tracer import trace

X = np.linspace(-2.0, 3.0, 12)
Pair = namedtuple("Pair", "low high")


def fibonacci(n):
    p = (0, 1)
    for _ in range(n):
        p = (p[1], (p[0] + p[1]) % 1000)
    return p


def arrays(x, n):
    s = (x, x * 0.5)
    for _ in range(n):
        a, b = s
        s = (a + b, a - b * 0.5)
    return s


def nested(x, n):
    state = (0.0, (x * 1.0, 1))
    for i in range(n):
        total, (y, k) = state
        state = (total + y[0], (y * 0.5 + k, k + i))
    return state


def named(n):
    p = Pair(0.0, 1.0)
    for _ in range(n):
        p = Pair(p.high, p.low * 0.5 + p.high)
    return p, p.low


def while_loop(limit):
    p = (1, 0)
    while p[0] < limit:
        p = (p[0] * 2, p[1] + 1)
    return p


def best(x):
    found = (0.0, -1)
    for i in range(len(x)):
        if x[i] > found[0]:
            found = (x[i], i)
    return found


def within(n):
    out = (0, 0.0)
    for i in range(n):
        inner = (i, 1.0)
        for j in range(n):
            inner = (inner[0] + j, inner[1] * 0.5 + j)
        out = (out[0] + inner[0], out[1] + inner[1])
    return out


@pytest.mark.parametrize(
    "fn, args, loops",
    [
        (fibonacci, (20,), 1),
        (arrays, (X, 11), 1),
        (nested, (X, 11), 1),
        (named, (15,), 1),
        (while_loop, (1000,), 1),
        (best, (X,), 1),
        (best, (-abs(X),), 1),
        (within, (9,), 2),
    ],
)
def test_carried_by_items(fn, args, loops):
    r = check(fn, *args, most=60)
    assert prims(r).count("loop") == loops
    report = npcompile.explain(fn, *args)
    assert report.backend == "C++" and not report.graph_breaks and difference(fn(*args), report.result) is None


def test_no_turn_and_few_turns():
    for fn in (fibonacci, named):
        for n in (0, 1, 2):
            check(fn, n)
    for n in (0, 1, 2):
        check(arrays, X, n)


def test_identity_is_kept():
    """The tuple of a call, and a tuple with two names, stay one object."""

    def given(p, n):
        q = p
        for _ in range(n):
            p = (p[1], p[0] + p[1])
        return p, q, p is q

    t = (1, 2)
    for n in (0, 1, 12):
        assert given(t, n)[2] == (n == 0)
        check(given, t, n, most=40)

    def two_names(n):
        p = q = (n, 1)
        same = 0
        for _ in range(n):
            same += p is q
            p = (p[1], p[0])
            q = p
        return p, q, same

    check(two_names, 12, breaks=tuple(b.reason for b in trace(two_names, (12,)).breaks), most=40)


def test_tuples_whose_form_changes_leave():
    def f(n):
        p = ()
        for i in range(n):
            p = (*p, i)
        return p

    def g(x, n):
        p = (x, 0)
        for i in range(n):
            p = (i, x)
        return p

    check(f, 12, breaks=("loop-types",), most=40)
    check(g, X, 12, breaks=tuple(b.reason for b in trace(g, (X, 12)).breaks), most=40)
