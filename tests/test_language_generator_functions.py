"""Generator functions that are taken at once, or that a loop takes from; assigning to slices of lists; sums of floats."""

import math

import numpy as np
import pytest
from language_harness import agree, stays

X = np.array([3.1, -1.3, 2.5, 0.5, -4.7])
FACTOR = 2


def halves(n):
    for i in range(n):
        yield i * 0.5


def pairs(n, m=3):
    for i in range(n):
        if i % 2:
            yield i, math.sqrt(i)
        else:
            yield i, 0.25
    for j in range(m):
        for k in range(j):
            if k > 5:
                return
            yield j, k * 1.5


def of_an_array(a):
    for x in a:
        yield x * 2


def endless():
    i = 0
    while True:
        yield i
        i += 1


def in_a_loop(a):
    s = 0.0
    for x in halves(4):
        s += x * a[0]
    return s


def two_loops(a, n):
    out = np.zeros(len(a))
    for i in range(n):
        for k, x in pairs(3):
            out[k] += x * a[i]
    return out


def as_list(a, n):
    return np.array(list(halves(n))) * a[0], list(pairs(2, m=2)), tuple(halves(3))


def summed(a):
    return sum(halves(5)) * a, max(of_an_array(a))


def sums(a):
    return sum([0.1, 0.2, float(a[0])]) * a, sum([0.5, 1e16, 1.0, -1e16]), sum([1, 2, 3.5])


def lists(a):
    out = [a, a * 2, a * 3, a * 4]
    out[1:3] = [a + 1]
    out[0:0] = [a - 1, a - 2]
    out[::2] = [a * 7, a * 8, a * 9]
    return out


@pytest.mark.parametrize(
    "f, args",
    [(in_a_loop, (X,)), (two_loops, (X, 4)), (as_list, (X, 6)), (summed, (X,)), (lists, (X,))],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_one_segment(f, args):
    stays(agree(lambda: f, args, (-X, *args[1:])))


def test_sums_of_floats():
    """From Python 3.12 on they are compensated."""
    agree(lambda: sums, (X,), (-X,), breaks=None)


def changed_meanwhile(a):
    s = 0.0
    for x in of_an_array(a):
        a[-1] = 100.0
        s += x
    return s, a


def left_early(a):
    for i in endless():
        if i > 3:
            break
    return a * i


def kept(a):
    g = halves(3)
    b = a * 2
    return b, list(g), list(g)


def returned(a):
    b = a * 2
    g = halves(2)
    return b, [next(g), next(g)]


def printing(n):
    for i in range(n):
        print("made", i)
        yield i


def in_order(a):
    s = 0
    for i in printing(3):
        print("taken", i)
        s += i
    return a * s


@pytest.mark.parametrize("f", [changed_meanwhile, left_early, kept, returned, in_order], ids=lambda f: f.__name__)
def test_turn_by_turn(f):
    agree(lambda: f, (X.copy(),), (-X,), breaks=None)
