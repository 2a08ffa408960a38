"""Kernels that loops call on few elements: the version for few elements and the kernel agree, and report the same conditions."""

import warnings

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls


def added(total, x, at):
    for k in range(len(at)):
        total[at[k]] += x[k]


def scaled(total, x, at):
    for k in range(len(at)):
        total[at[k]] = total[at[k]] * x[k] / x[0] - np.sqrt(x[k])


def shifted(total, x, at):
    for k in range(len(at)):
        row = total[at[k]]
        row[1:] = row[:-1] * x[k, 1:]
        row[:] = row[::-1] + x[k]


def chosen(total, x, at):
    for k in range(len(at)):
        row = total[at[k]]
        row[row > x[k]] = 0
        x[k] = np.where(row < 1, row, x[k] / row)


def kept(total, x, at):
    last = np.zeros(x.shape[1], x.dtype)
    for k in range(len(at)):
        last = last * 0.5 + x[k] * total[at[k]]
    return last


def counted(total, x, at):
    for k in range(len(at)):
        total[at[k]] += 1
        total[at[k]] //= 2


def check(fn, args, how="always"):
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter(how)
            assert compare_calls(fn, jitted, args) is None, (fn.__name__, how)


def arguments(columns, dtype):
    g = np.random.default_rng(columns)
    total, x = (g.random((4, columns)) + 0.5).astype(dtype), (g.random((9, columns)) + 0.5).astype(dtype)
    if np.dtype(dtype).kind == "i":
        total, x = (total * 50).astype(dtype), (x * 100).astype(dtype)
    return total, x, np.array([0, 3, 1, 1, -1, 2, 0, 3, 3])


@pytest.mark.parametrize("fn", [added, scaled, shifted, chosen, kept, counted])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.float16])
def test_few_elements_and_many(fn, dtype):
    """Lengths on both sides of every limit, ordinary numbers first; then a condition in the first, a middle and the last turn."""
    if (dtype, fn) in [(np.int64, f) for f in (scaled, kept, chosen)] + [(np.complex128, f) for f in (chosen, counted)]:
        pytest.skip("not an operation of this dtype")
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for columns in (2, 0, 1, 3, 15, 16, 17, 40, 600):
        args = arguments(columns, dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert compare_calls(fn, jitted, args) is None, columns
            if not columns or dtype == np.int64:
                continue
            for row in (0, 4, 8):
                for value in (np.inf, np.nan, np.finfo(dtype).max, 0):
                    total, x, at = arguments(columns, dtype)
                    x[row, columns // 2] = value
                    total[1, 0] = value
                    assert compare_calls(fn, jitted, (total, x, at)) is None, (columns, row, value)


@pytest.mark.parametrize("fn", [added, scaled, shifted])
@pytest.mark.parametrize("how", ["error", "ignore", "once"])
def test_warnings_that_are_errors_or_ignored(fn, how):
    for columns in (3, 16, 17):
        for row in (1, 5):
            total, x, at = arguments(columns, np.float64)
            x[row, columns - 1] = 1e308
            x[row + 1, 0] = -1.0
            total[:, columns - 1] = 1.7e308
            check(fn, (total, x, at), how)


def test_an_index_out_of_range_leaves_earlier_rows_stored():
    total, x, at = arguments(3, np.float64)
    at[5] = 4
    check(added, (total, x, at))


def test_the_rows_of_a_short_kernel_are_called_inline():
    source = npcompile.explain(npcompile.jit(added), *arguments(3, np.float64)).source
    assert "NPC_FN bool k" in source
