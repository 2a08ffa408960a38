"""`max` and `min` of Python floats and NumPy numbers: the result has the type of the number that it is."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls


def worst(u):
    err = 0.0
    for i in range(1, len(u)):
        err = max(err, abs(u[i] - u[i - 1]))
    return err


def clipped(u):
    out = np.empty_like(u)
    for i in range(len(u)):
        out[i] = min(max(u[i], 0.0), 1.0)
    return out


def positive(u):
    out = np.zeros(len(u))
    for i in range(len(u)):
        out[i] = max(0, u[i])
        out[i] *= min(u[i], 3)
    return out


def added(u):
    s = 0.0
    for i in range(len(u)):
        s += max(u[i], 0)
    return s


def both_ends(u):
    low, high = 1e300, -1e300
    for i in range(len(u)):
        high = max(high, u[i], u[0] * 0.5)
        low = min(u[i], low)
    return low, high


def straight(u):
    return min(u[0], 1.0), max(2.0, u[1], u[0]), max(1, u[2]), min(u.sum(), 10.0), max(u[0], u[1])


DATA = [
    np.random.default_rng(1).normal(size=30),
    np.zeros(30),
    np.array([-0.0, 0.0, 2.0, 1.0]),
    np.array([0.0, -0.0, 0.0, -0.0]),
    np.full(5, np.nan),
    np.array([1.0, np.nan, 2.0, -np.inf, 0.5]),
    np.random.default_rng(2).normal(size=8).astype(np.float32),
    np.arange(6),
]


@pytest.mark.parametrize("fn", [worst, clipped, positive, added, both_ends, straight])
def test_values_and_types(fn):
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for u in DATA:
        for _ in range(2):
            assert compare_calls(fn, jitted, (u,)) is None, u


@pytest.mark.parametrize("fn", [worst, clipped, positive, added, both_ends])
def test_loops_compile_whole(fn):
    report = str(npcompile.explain(npcompile.jit(fn, options={"compile": "first"}), DATA[0]))
    assert "1 segment," in report and "0 graph breaks" in report, report
