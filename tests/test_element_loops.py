"""Loops over single elements: independent turns run vectorised, and a piece with a condition runs again one by one."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from programs import lu


def scaled(a, b):
    for i in range(a.shape[0]):
        b[i] = np.sqrt(a[i]) / b[i] - a[i]
    return b


def conditions_of_one_turn(a, b):
    for i in range(a.shape[0]):
        x = a[i] * a[i]
        y = np.sqrt(b[i])
        b[i] = x + y


def two_stores(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
        a[i] = b[i] + a[i] * a[i]


def every_other(a, b):
    for i in range(b.shape[0] // 2):
        b[2 * i] = a[i] * b[2 * i + 1]


def whole_numbers(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + b[i]


INDEPENDENT = [scaled, conditions_of_one_turn, two_stores, every_other]


def previous(a, b):
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] * a[i]


def following(a, b):
    for i in range(a.shape[0] - 1):
        b[i] = b[i + 1] * a[i]


def backwards(a, b):
    n = b.shape[0]
    for i in range(n):
        b[i] = b[n - 1 - i] * a[i]


def fixed(a, b):
    for i in range(1, a.shape[0]):
        b[i] = b[5] * a[i]


def same_cell(a, b):
    for i in range(a.shape[0]):
        b[3] = b[3] * a[i]


def windows(a, b):
    c = b[1:]
    for i in range(c.shape[0]):
        b[i] = c[i] * a[i]


DEPENDENT = [previous, following, backwards, fixed, same_cell, windows]


def both(f, args, action="always"):
    """(warnings, exception, arguments afterwards) of NumPy and of compiled code."""
    out = []
    jitted = npcompile.jit(f, options={"compile": "first"})
    for g in (f, jitted):
        own = [a.copy() for a in args]
        error = None
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter(action)
            try:
                result = g(*own)
                own += [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,)) if x is not None]
            except RuntimeWarning as e:
                error = str(e)
        out.append(([(str(w.message), w.lineno) for w in seen], error, own))
    assert jitted.stats.compiles >= 1 and (jitted.stats.plain_calls == 0 or args[0].shape[0] < 2)
    return out


def check(f, args, action="always"):
    (seen, error, own), (seen2, error2, own2) = both(f, args, action)
    assert seen2 == seen
    assert error2 == error
    for x, y in zip(own, own2, strict=True):
        np.testing.assert_array_equal(x, y)
    return seen, error


def is_vectorised(f, *args):
    """Is there a vectorised loop that does more than keep elements for a second run?"""
    loops = npcompile.explain(f, *args).source.split("NPC_IVDEP\n")[1:]
    return any("[q_]" not in x.partition("}")[0] for x in loops)


def numbers(n, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2.0, n)


@pytest.mark.parametrize("n", [0, 2, 7, 40])  # of one element there is nothing to compute
def test_lu_with_zeros_and_infinities(n):
    g = np.random.default_rng(n)
    a = g.uniform(0, 1, (n, n)) + n * np.eye(n)
    assert check(lu, (a,)) == ([], None)
    for _ in range(4 if n else 0):
        b = a.copy()
        b[g.integers(0, n), g.integers(0, n)] = g.choice([np.inf, -np.inf, 0.0, 1e308])
        b[g.integers(0, n)] = 0.0
        check(lu, (b,))


def test_lu_is_vectorised():
    a = numbers((8, 8))
    assert is_vectorised(lu, a)


@pytest.mark.parametrize("f", INDEPENDENT)
@pytest.mark.parametrize("n", [2, 5, 511, 512, 513, 1500])
def test_conditions_are_reported_one_by_one(f, n):
    a, b = numbers(n), numbers(n, 1)
    assert check(f, (a, b)) == ([], None)
    count = 0
    for at, value in ((0, -1.0), (n // 2, 0.0), (n - 1, np.inf), (n // 3, 1e200), (n // 4, np.nan), (n // 5, 1e308)):
        a[at] = value
        check(f, (a, b))
        for k in (at, 2 * at % n):
            b[k : k + 2] = value
        seen, _ = check(f, (a, b))
        count += len(seen)
    assert count or n < 500
    assert n < 500 or is_vectorised(f, numbers(n), numbers(n))


@pytest.mark.parametrize("f", INDEPENDENT)
def test_a_warning_that_is_an_error_leaves_later_elements_alone(f):
    a, b = numbers(700), numbers(700, 1)
    a[300] = a[600] = b[601] = 1e308
    b[600] = 0.0
    _, error = check(f, (a, b), "error")
    assert error


@pytest.mark.parametrize("f", DEPENDENT)
@pytest.mark.parametrize("n", [6, 700])
def test_turns_that_depend_on_each_other_run_in_order(f, n):
    a, b = numbers(n), numbers(n, 1)
    check(f, (a, b))
    a[n // 2] = np.inf
    check(f, (a, b))
    assert not is_vectorised(f, a, b)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1"])
def test_integers_need_no_second_run(dtype):
    a = np.arange(1000).astype(dtype)
    check(whole_numbers, (a, a[::-1].copy()))


def test_arguments_that_overlap():
    a = numbers(900)

    def run(f):
        x = a.copy()
        f(x[:-1], x[1:])
        return x

    jitted = npcompile.jit(two_stores, options={"compile": "first"})
    np.testing.assert_array_equal(run(jitted), run(two_stores))


# ------------------------------------------------------------------------------------------------ serial loops that run again


def total(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


def recurrence(a, b):
    out = np.zeros(a.shape[0])
    x = 0.0
    for i in range(a.shape[0]):
        x = 0.3 * a[i] + (1 - 0.3) * x
        out[i] = b[i] / x
        if i < 3:
            out[i] = 0
    return out


def in_place(a, b):
    for i in range(1, a.shape[0]):
        a[i] = (a[i - 1] + a[i]) / b[i]
    return a


def picked(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[(i * 7) % a.shape[0]] * b[i]
    return s


def with_a_condition(a, b):
    best = a[0]
    at = 0
    for i in range(a.shape[0]):
        d = (a[i] - b[i]) ** 2
        if d < best:
            best = d
            at = i
    return best, at


def left_early(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * 0.5 + a[i] / b[i]
        if s > 1e3:
            break
    return s, i


SERIAL = [total, recurrence, in_place, picked, with_a_condition, left_early]


@pytest.mark.parametrize("f", SERIAL)
@pytest.mark.parametrize("n", [3, 40, 1300])
def test_serial_loops_report_in_order(f, n):
    """Values and warnings, where a condition is met in the first, a middle and the last turn, or in many."""
    for at, x in ((None, 0.0), (0, np.inf), (n // 2, np.inf), (n - 1, np.nan), (n // 3, 1e308)):
        for which in (0, 1):
            args = [numbers(n), numbers(n, 1)]
            if at is not None:
                args[which][at : at + 2] = x
            check(f, tuple(args))
    args = [numbers(n), numbers(n, 1)]
    args[1][n // 4 :: 3] = 0.0
    check(f, tuple(args))


@pytest.mark.parametrize("f", [in_place, recurrence])
def test_a_warning_that_is_an_error_stops_a_serial_loop(f):
    a, b = numbers(700), numbers(700, 1)
    b[600] = 0.0
    a[300] = 1e308
    check(f, (a, b), "error")


def windows(x, y, start, stop, step):
    s = 0.0
    for i in range(len(start)):
        for k in range(start[i], stop[i], step):
            s += x[k] * y[k + 1]
            if s > 1e6:
                break
    return s


def falling(x, y, start, stop):
    s = 0.0
    for i in range(len(start)):
        for k in range(start[i], stop[i]):
            s += x[-k] + y[3 - k]
    return s


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 5), (3, 9), (-4, 3), (-9, 2), (-12, 2), (2, 10), (2, 30), (5, 5), (7, 2), (-3, -1), (2**62, 2**62 + 3), (9, -2)],
)
def test_ranges_known_at_run_time(start, stop):
    """Indices in range, wrapped, and out of range at the first turn, in between and at the last."""
    x, y = np.arange(10.0), np.arange(11.0) ** 2
    ends = np.array([1, start]), np.array([4, stop])
    for fn, calls in (
        (windows, [(x, y, *ends, 1), (x, y, *ends, -1), (x, y * 1e5, *ends, 1), (x[::-1], y, *ends, 2)]),
        (falling, [(x, y, *ends), (x * 1e308, y, *ends)]),
    ):
        for args in calls:
            jitted = npcompile.jit(fn)
            for _ in range(2):
                assert compare_calls(fn, jitted, args) is None
