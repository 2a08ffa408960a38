"""Elements chosen by a mask: traced as operations on the whole array, rebuilt where anything else is done with them."""

import numpy as np
import pytest
from tracer_harness import check

import npcompile
from npcompile.testing import compare_calls

A = np.array([1.0, -2.0, 3.0, np.nan, -5.0, 0.0])
M = np.array([True, False, True, True, False, False])
GRID = np.arange(12.0).reshape(3, 4) - 5


def add(t, m):
    t[m] += 1
    return t


def add_elements(t, m):
    t[m] *= t[m] + 2
    t[~m] -= 3
    return t.copy()


def negate_where(t, m):
    t[t < 0] = -t[t < 0]
    return np.sqrt(t)


def ufuncs(t, m):
    t[m] = np.exp(t[m]) - abs(t[m])
    return t


def conditions_of_the_chosen(t, m):
    t[m] /= 0
    return t


def power(t, m):
    t[m] **= 2
    return t


def one_object(t, m):
    p = t[m]
    q = p
    p += 1
    t[0] = 100
    return p, q, p is q, t


def kept_while_the_array_changes(t, m):
    p = t[m]
    t[...] = 0
    t[m] = p
    return p, t


def in_a_loop(t, m):
    for k in range(4):
        t[m] += k
        t[t > 3] -= 2
    return t


def carried(t, m):
    p = t[m]
    for _ in range(3):
        p = p * 2
    return p


def in_a_closure(t, m):
    p = t[m]

    def double():
        return p * 2

    return double()


WHOLE = [add, add_elements, negate_where, ufuncs, conditions_of_the_chosen, power, one_object, kept_while_the_array_changes]
WHOLE += [in_a_loop, carried, in_a_closure]


@pytest.mark.parametrize("fn", WHOLE, ids=lambda f: f.__name__)
def test_compiled_as_a_whole(fn):
    check(fn, A, M)
    check(fn, GRID.T[::-1], GRID.T > 1)
    jitted = npcompile.jit(fn)
    for a, m in ((A, M), (A, ~M), (A, np.zeros(6, bool)), (GRID.T, GRID.T > 1)):
        assert compare_calls(fn, jitted, (a, m), "ulp") is None
    assert jitted.stats.compiles == 2 and not jitted.stats.plain_calls
    assert not any(r.trace.breaks for r in jitted.stats._state.records)


def another_mask(t, m):
    p = t[m]
    m[0] = False
    t[m] = p[1:]
    return p, t


def reduced(t, m):
    return t[m].sum(), np.max(t[m])


def iterated(t, m):
    return [-v for v in t[m]], len(t[m])


def joined(t, m):
    return np.concatenate([t[m], t])


def compared(t, m):
    return (t[m] > 0).any()


def compared_to_none(t, m):
    p = t[m]
    return "none" if p is None else p[::-1]


def with_another_array(t, m):
    t[m] += t[:3]
    return t


def to_another_dtype(t, m):
    t[m] += np.arange(6)[m] * 0.5
    return t


BROKEN = [another_mask, reduced, iterated, joined, compared, compared_to_none, with_another_array, to_another_dtype]


@pytest.mark.parametrize("fn", BROKEN, ids=lambda f: f.__name__)
def test_the_rest_is_pythons(fn):
    jitted = npcompile.jit(fn)
    for dtype in ("f8", "f4"):
        assert compare_calls(fn, jitted, (A.astype(dtype), M)) is None


@pytest.mark.parametrize("number", [2, 2.5, np.float64(2.5), True, 1j, 300])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?", "c16"])
def test_numbers_as_numpy_casts_them(dtype, number):
    def f(t, m, x):
        t[m] += x
        return t

    def g(t, m, x):
        t[m] = t[m] * x
        return t

    a = np.arange(6).astype(dtype)
    for fn in (f, g):
        assert compare_calls(fn, npcompile.jit(fn), (a, M, number), "ulp") is None


def test_errors_are_numpys():
    for m in (np.ones(5, bool), np.ones((2, 3), bool)):
        assert compare_calls(add, npcompile.jit(add), (A, m)) is None
