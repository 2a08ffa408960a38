"""Nests that read one array along and another across run over squares."""

import numpy as np
import pytest

import npcompile


def symmetric(x):
    return x + x.T


def half(x, y):
    return (x - y.T) * 0.5 + x


def in_place(x):
    x[:] = x + x.T
    return x


def two_results(x):
    return x * 2 + x.T, x.T - 1


def volumes(x):
    return x + x.transpose(0, 2, 1), x + x.transpose(2, 1, 0)


def copied(x):
    return np.ascontiguousarray(x.T) * 2


def positions(x):
    return x.T + np.arange(x.shape[0])


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "c16"])
@pytest.mark.parametrize("n", [2, 63, 64, 65, 200])
@pytest.mark.parametrize("f", [symmetric, in_place, two_results, copied, positions])
def test_squares(f, n, dtype):
    check(f, np.random.default_rng(n).integers(-100, 100, (n, n)).astype(dtype))


@pytest.mark.parametrize("shape", [(3, 150), (150, 3), (70, 130), (1, 80)])
def test_rectangles(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    check(half, x, np.random.default_rng(1).standard_normal(shape[::-1]))
    check(copied, x)
    check(positions, x)


@pytest.mark.parametrize("n", [5, 70])
def test_volumes(n):
    check(volumes, np.random.default_rng(0).standard_normal((n, n, n)))


def check(f, *args):
    expected = f(*[a.copy() for a in args])
    report = npcompile.explain(f, *[a.copy() for a in args])
    assert report.graph_breaks == [] and report.backend == "C++"
    for a, b in zip(
        np.atleast_1d(expected) if not isinstance(expected, tuple) else expected, as_tuple(report.result), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def as_tuple(x):
    return x if isinstance(x, tuple) else tuple(np.atleast_1d(x))


def test_evaluations_are_those_of_the_whole():
    x = np.random.default_rng(0).standard_normal((200, 200))
    report = npcompile.explain(lambda x: np.exp(x) + x.T, x)
    assert [e for k in report.kernels for e in k.evaluations] == [("exp", ("d0_0", "d0_0"))]
    assert any("+= 64" in line for line in report.source.splitlines())
