"""Reductions of whole arrays run over threads, with NumPy's bits at any number of them."""

import warnings

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls

SIZES = [16383, 16384, 100003, 400000]


def total(x):
    return x.sum()


def of_a_chain(x):
    return np.sqrt(x * x + 1.0).sum()


def moments(x):
    return x.mean(), x.std(), (x * x).sum()


def extremes(x):
    return x.max(), x.min(), (x + x).max()


def mixed(x):
    y = x * 2
    return y.sum(), y.max()


def whole_numbers(x):
    return x.astype(np.int64).sum(), x.astype(np.int32).max(), (x > 0).sum()


def matrix(x):
    return np.exp(-np.abs(x.reshape(-1, 1))).max() + x.sum()


FUNCTIONS = [total, of_a_chain, moments, extremes, mixed, whole_numbers, matrix]


def outcome(f, x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = f(x)
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))], [str(w.message) for w in seen]


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = npcompile.get_num_threads()
    npcompile.set_num_threads(request.param)
    yield request.param
    npcompile.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_bits_and_warnings(f, dtype, threads):
    jitted = npcompile.jit(f, options={"compile": "first"})
    for n in SIZES:
        x = np.random.default_rng(n).standard_normal(n).astype(dtype)
        for spoil in ((), (np.nan,), (np.inf, -np.inf), (np.finfo(dtype).max,) * 2):
            x[[n // 7 + 3 * k for k in range(len(spoil))]] = spoil
            (expected, seen), (got, seen2) = outcome(f, x), outcome(jitted, x)
            assert seen2 == seen
            for a, b in zip(expected, got, strict=True):
                assert a.dtype == b.dtype
                if f is matrix:
                    np.testing.assert_allclose(b, a, rtol=4 * np.finfo(dtype).eps)
                else:
                    np.testing.assert_array_equal(b, a)
    assert jitted.stats.plain_calls == 0


@pytest.mark.parametrize("f", FUNCTIONS)
def test_they_are_split(f):
    report = npcompile.explain(f, np.ones(100000))
    assert report.graph_breaks == [] and any(k.parallel for k in report.kernels)


JITTED: dict = {}


def check(f, *args):
    """The very bits, from one segment."""
    jitted = JITTED.setdefault(f, npcompile.jit(f, options={"compile": "first"}))
    assert compare_calls(f, jitted, args) is None
    assert not npcompile.explain(f, *args).graph_breaks


def counts(a, b):
    return a.sum(), np.count_nonzero(a & b), (a | ~b).sum(), a.mean(), b.sum(dtype="f8")


def means(x):
    return x.mean(), x.sum(dtype="f8"), (x > 3).mean()


def places(x):
    return x.argmax(), x.argmin(), np.argmax(x * 2), np.argmin(x[::-1])


@pytest.mark.parametrize("n", [1, 7, 63, 64, 127, 128, 129, 200, 4095, 4097, 16320, 16384, 16449, 40000])
def test_counts_of_bools(n):
    """In bytes, 64 at a time, at most 255 of each before they are added up; any byte but 0 is true."""
    rng = np.random.default_rng(n)
    for a, b in ((np.ones(n, bool), np.zeros(n, bool)), (rng.random(n) < 0.5, rng.integers(0, 3, n).astype("u1").view(bool))):
        check(counts, a, b)
        check(counts, a[::2], b[::2])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "?"])
def test_means_of_narrow_integers_are_exact(dtype):
    for n in (1, 5, 1000, 30001):
        info = np.iinfo(dtype) if dtype != "?" else None
        x = np.full(n, True if info is None else info.max, dtype)
        check(means, x)
        check(means, np.random.default_rng(n).integers(0, 2 if info is None else info.max, n).astype(dtype))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "i8", "?"])
@pytest.mark.parametrize("n", [1, 2, 15, 64, 255, 256, 257, 5000])
def test_places_of_extrema(dtype, n):
    """The first of equals, the first NaN; the last element of a block and the first one."""
    rng = np.random.default_rng(n)
    if dtype == "?":
        cases = [np.zeros(n, bool), np.ones(n, bool), np.arange(n) == n - 1, np.arange(n) != n - 1]
    else:
        cases = [
            rng.integers(0, 100, n).astype(dtype),
            np.full(n, 3, dtype),
            np.arange(n).astype(dtype),
            -np.arange(n).astype(dtype),
        ]
    if dtype[0] == "f":
        for special in (np.nan, np.inf, -np.inf):
            x = rng.random(n).astype(dtype)
            x[[0, n // 2, n - 1][n % 3]] = special
            cases += [x, np.full(n, special, dtype)]
    for x in cases:
        check(places, x)
