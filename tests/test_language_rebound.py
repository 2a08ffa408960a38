"""Objects, lists and dicts that a loop makes anew in each turn: carried by their parts."""

import dataclasses

import numpy as np
import pytest
from language_harness import agree, stays

X = np.array([3.1, -1.3, 2.5, 0.5, -4.7])


class State:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def step(self, dt):
        return State(self.x + dt * self.v, self.v - dt * self.x)


def rebound_objects(a):
    s = State(a, a * 0 + 1)
    for _ in range(20):
        s = s.step(0.1)
    return s.x, s.v


@dataclasses.dataclass
class D:
    x: np.ndarray
    t: float = 0.0

    def __add__(self, o):
        return D(self.x + o.x, self.t + o.t)

    def __mul__(self, k):
        return D(self.x * k, self.t * k)


def rk(a, n):
    y = D(a * 1.0, 0.0)
    for _ in range(n):
        k1 = D(-y.x, 1.0)
        k2 = D(-(y.x + 0.05 * k1.x), 1.0)
        y = y + (k1 + k2) * 0.05
    return y


def lists(a, n):
    s = [a * 1.0, a * 0.0, 0.5]
    for _i in range(n):
        s = [s[0] + 0.1 * s[1], s[1] - 0.1 * s[0], s[2] * 0.9]
    return s


def dicts(a, n):
    p = {"x": a * 1.0, "v": a * 0.0}
    for _i in range(n):
        p = {"x": p["x"] + 0.1 * p["v"], "v": p["v"] - 0.1 * p["x"]}
    return p


def mutated_after(a, n):
    s = State(a * 1.0, a * 0.0)
    for _i in range(n):
        s = State(s.x + 0.1, s.v)
        s.v = s.v + s.x
    return s


def two_names(a, n):
    s = State(a * 1.0, a * 0.0)
    old = s
    for _i in range(n):
        s = State(s.x + 0.1, s.v - 1)
    return s, old


def comp(a, n):
    fs = [a * 1.0, a * 2.0, a * 3.0]
    for _ in range(n):
        fs = [f * 0.5 + 1 for f in fs]
    return sum(fs), fs


def tuple_in_an_object(a, n):
    s = State((a * 1.0, a * 0.0), 1.0)
    for _ in range(n):
        s = State((s.x[0] + 0.1 * s.x[1], s.x[1] - 0.1), s.v * 0.5)
    return s


def in_a_while_loop(a, n):
    s = State(a, a * 0 + 1)
    k = 0
    while k < n and np.abs(s.x).max() < 50:
        s = s.step(0.5)
        k += 1
    return s.x, k


def in_one_arm(a, n):
    s = State(a * 1.0, a * 0.0)
    for i in range(n):
        if i % 3 == 0:
            s = State(s.v + i, s.x)
    return s


@pytest.mark.parametrize(
    "f", [rk, lists, dicts, mutated_after, comp, tuple_in_an_object, in_a_while_loop], ids=lambda f: f.__name__
)
def test_made_anew(f):
    """One segment for any number of turns, none included."""
    stays(agree(lambda: f, (X, 25), (X, 1), (X, 2), (-X, 7)))
    agree(lambda: f, (X, 0), breaks=None)


@pytest.mark.parametrize("f", [two_names, in_one_arm], ids=lambda f: f.__name__)
def test_what_is_not_carried_so(f):
    agree(lambda: f, (X, 25), (X, 0), breaks=None)


def test_methods_make_the_next_state():
    stays(agree(lambda: rebound_objects, (X,)))
