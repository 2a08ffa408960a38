"""Reductions of whole arrays run over threads, with NumPy's bits at any number of them."""

import warnings

import numpy as np
import pytest

import npcompile

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
