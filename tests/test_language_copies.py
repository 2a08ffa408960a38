"""`copy.copy` and `copy.deepcopy` inside compiled code."""

import copy
from copy import deepcopy

import numpy as np
import pytest
from language_harness import agree

X = np.linspace(-1.0, 2.0, 12)


def arrays(a, n):
    b = copy.deepcopy(a)
    c = copy.copy(a[::2])
    b += n
    a[0] = 7
    return b, c, a * 2, deepcopy(n), copy.copy(a.sum())


def containers(a, n):
    one, other = [a, n, a], {"a": a * 2, "t": (1, "x", a)}
    b, c, d = deepcopy(one), copy.copy(one), deepcopy(other)
    b[0] += 1
    c[1] = n + 2
    d["a"] *= 3
    return one[0] + a, b, c, d, b[0] is b[2], deepcopy((1, 2, "s"))


def in_a_loop(a, n):
    best, total = copy.deepcopy(a), 0.0
    for i in range(n):
        a[i] += 2.0
        if a.sum() > 3:
            best = copy.deepcopy(a)
        total += best[i]
    return best, total


@pytest.mark.parametrize("f", [arrays, containers, in_a_loop])
def test_copies(f):
    for x in (X, np.asfortranarray(X.reshape(3, 4))) if f is not in_a_loop else (X,):
        agree(lambda: f, lambda x=x: (np.array(x, order="K"), 4))


def test_a_copy_of_an_object_is_one_break():
    class Point:
        def __init__(self, a):
            self.a = a

    def f(p, a):
        q = copy.deepcopy(p)
        np.testing.assert_allclose(a, a)
        return q.a * 2 + a

    agree(lambda: f, lambda: (Point(X.copy()), X), breaks=2)
