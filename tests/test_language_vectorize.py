"""`np.vectorize`: types of results, orders of calls, effects, errors, and what is left to Python."""

import math

import numpy as np
import pytest
from language_harness import agree

V = np.array([3.1, -1.3, 2.5, 0.5, -4.7])
M = np.arange(12.0).reshape(3, 4) - 5.5
I = np.arange(-3, 4)
UNKNOWN = {}.setdefault


def step(x, t):
    if x > t:
        return 1
    return 0


@np.vectorize
def clipped(x):
    if x > 2:
        return 2.0
    return x


STEP, STEP_F = np.vectorize(step), np.vectorize(step, otypes=[float])


def of(function, **options):
    return lambda a: np.vectorize(function, **options)(a)


def signs(x):
    return x * 2 if x > 0 else -x


@pytest.mark.parametrize("a", [V, -V, M, I, V[::-1], V[::2], V[:1], V.astype("f4"), I.astype("i1"), V > 1, V + 1j, M[:, :1]])
def test_one_array(a):
    def f(a):
        return np.vectorize(lambda x: x * x + x)(a), np.vectorize(bool)(a)

    agree(lambda: f, (a,))


@pytest.mark.parametrize(
    "f, a",
    [
        (of(signs), V),
        (of(math.exp), V),
        (of(lambda x: int(x)), V),
        (of(lambda x: x > 0), V),
        (of(lambda x: math.sqrt(x) if x >= 0 else math.nan), V),
        (of(lambda x: x * 2 if x > 0 else 0, otypes=[float]), -V),
        (of(lambda x: 1 if x > 0 else x, otypes="i"), V),
        (of(lambda x: x > 0, otypes=[bool]), V),
        (of(lambda x: x + 1, otypes=["f4"]), V[:0]),
        (lambda a: clipped(a) + 1, M),
        (lambda a: STEP(a, 1), V),
        (lambda a: STEP(a, a[::-1]), V),
        (lambda a: STEP(0.5, a), M),
        (lambda a: STEP(a, np.float32(1)), V),
        (lambda a: STEP_F(a, a), V),
        (lambda a: STEP_F(a, a), V[:0]),
    ],
)
def test_results(f, a):
    agree(lambda: f, (a,))


@pytest.mark.parametrize(
    "f, a",
    [
        (of(lambda x: x * 2 if x > 0 else 0), V),
        (of(lambda x: x * 2 if x > 0 else 0), -V),
        (of(lambda x: (x, 1)), V),
        (of(lambda x: "a"), V),
        (of(signs), M.T),
        (of(signs), V[:0]),
        (of(lambda x: 1 / x), V - V[0]),
        (of(signs, cache=True), V),
        (lambda a: STEP(a, a[:2]), M[:2, :2]),
        (lambda a: STEP(a, [1.0] * len(a)), V),
        (lambda a: STEP(2.0, 1.0) + a, V),
        (lambda a: STEP(x=a, t=1), V),
        (lambda a: np.vectorize(lambda x: UNKNOWN(0, x))(a), V),
    ],
)
def test_what_is_left_to_python(f, a):
    agree(lambda: f, (a,), breaks=None)


def test_one_call_more_for_the_type_on_numpy_scalars_and_copies():
    def f(a):
        n, seen = 0, np.zeros(3)

        def g(x):
            nonlocal n
            n += 1
            seen[isinstance(x, float) + isinstance(x, np.float64)] += 1
            a[1] = n
            return x + n

        return np.vectorize(g)(a), n, seen, a

    agree(lambda: f, (V,))


def test_the_object_leaves_compiled_code():
    def f(a):
        g = np.vectorize(lambda x: x * 3, otypes=[float])
        UNKNOWN(0, a)
        for _ in range(3):
            a = g(a)
        UNKNOWN(1, g)
        return a, type(g).__name__, g.otypes, g(a[:2])

    agree(lambda: f, (V,), breaks=None)


def test_errors_come_from_the_function():
    def f(a):
        return np.vectorize(lambda x: math.log(x))(a)

    agree(lambda: f, (V + 10,), (V,), (I + 10,), breaks=0)
