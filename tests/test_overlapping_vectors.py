"""Assignments between vectors of one memory: NumPy takes element after element if both go the same way, which shows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npcompile
from npcompile.testing import compare_calls

N = 24
STEPS = (1, 2, 3, -1, -2)


def spread(a):
    a[::2] = a[: (len(a) + 1) // 2]
    return a


def spread_of_a_new_array(a):
    b = a + 1
    b[::2] = b[: (len(b) + 1) // 2]
    return b * 2


def reversed_within(a):
    a[:5] = a[8:3:-1]
    a[1:11:2] = a[9:4:-1]
    return a


def copied(a):
    np.copyto(a[1::2], a[: len(a) // 2])
    return a


def of_one_row(a):
    a[1::2] = a.reshape(1, -1)[:, : len(a) // 2]
    return a


def parts_of_complex(a):
    z = a + 1j
    z.real[: len(z) // 2] = z.imag[::2][: len(z) // 2]
    z.imag[::3] = z.real[: len(z[::3])]
    return z


def column_to_row(m):
    m[0] = m[:, 0]
    return m + 1


def rows_of_columns_in_a_loop(m):
    for i in range(len(m)):
        m[i] = m[:, i]
        m[:, -1] = m[i]
    return m


def mirrored_in_a_loop(m):
    for i in range(len(m)):
        m[i, i:] = m[i:, i]
    return m


def to_another(a, b):
    a[::2] = b
    return a


def cast_or_masked(a):
    a[::2] = a.view(np.int64)[: (len(a) + 1) // 2]
    np.copyto(a[1::2], a[: len(a) // 2], where=a[1::2] > 3)
    return a


def vector(n=N, dtype="f8"):
    return np.arange(n).astype(dtype)


def matrix(n=5):
    return np.arange(float(n * n)).reshape(n, n)


PAIRS = [
    lambda a: (a, a[:20]),
    lambda a: (a[10:30], a[5:15]),
    lambda a: (a[10:30], a[15:25]),
    lambda a: (a[::-1][10:30], a[30:20:-1]),
    lambda a: (a[::-1][10:30], a[5:15]),
    lambda a: (a[:20], vector(10)),
    lambda a: (a[:20], a[30:]),
]


@pytest.mark.parametrize("program", [spread, spread_of_a_new_array, reversed_within, copied, of_one_row, parts_of_complex])
@pytest.mark.parametrize("dtype", ["f8", "i2", "c16", "?"])
def test_vectors(program, dtype):
    fn = npcompile.jit(program, fullgraph=True)
    for n in (N, N + 1, N):
        assert compare_calls(program, fn, (vector(n, dtype),)) is None


@pytest.mark.parametrize("program", [column_to_row, rows_of_columns_in_a_loop, mirrored_in_a_loop])
def test_rows_and_columns(program):
    fn = npcompile.jit(program, fullgraph=True)
    for n in (5, 6, 1, 5):
        for m in (matrix(n), np.asfortranarray(matrix(n)), matrix(n)[::-1]):
            assert compare_calls(program, fn, (m,)) is None


def test_arguments_of_one_memory():
    fn = npcompile.jit(to_another, fullgraph=True)
    for make in PAIRS:
        want, got = make(vector(40)), make(vector(40))
        to_another(*want)
        fn(*got)
        assert all(np.array_equal(x, y) for x, y in zip(want, got))


def test_casts_and_masks_run_plain():
    fn = npcompile.jit(cast_or_masked, options={"compile": "first"})
    for _ in range(3):
        assert compare_calls(cast_or_masked, fn, (vector(),)) is None
    assert "overlap-order" in str(npcompile.explain(cast_or_masked, vector()))


FUNCTIONS = {}


def assigning(step, by):
    """`a[start:…:step] = a[other:…:by]`, n elements, compiled once for each pair of steps."""
    if (step, by) not in FUNCTIONS:
        space = {}
        exec(f"def f(a, i, j, n):\n    a[i:i + n * {step}:{step}] = a[j:j + n * {by}:{by}]\n    return a", space)
        FUNCTIONS[step, by] = space["f"], npcompile.jit(space["f"], fullgraph=True)
    return FUNCTIONS[step, by]


@given(st.sampled_from(STEPS), st.sampled_from(STEPS), st.integers(2, 6), st.integers(12, 20), st.integers(12, 20))
def test_any_steps(step, by, n, i, j):
    plain, fn = assigning(step, by)
    assert compare_calls(plain, fn, (vector(40), i, j, n)) is None


# Assignments that NumPy's own functions make: they get the memory itself, and may meet what they have stored.


def rows_by_mask(m):
    m[m > 3] = m[0, :3]
    return m.sum(axis=0)


def by_itself(a):
    a[(np.arange(len(a)) + 1) % len(a)] = a
    return a * 2


def by_a_part(a):
    a[np.array([2, 3, 4])] = a[1:4]
    np.put(a, [4, 5, 3], a[::-1][:3])
    return a + 1


def row_to_rows(a):
    m = a.reshape(-1, 3)
    m[np.array([0, 1, 2])] = m[0]
    return m * 2


@pytest.mark.parametrize("backend", ["cpp", "reference"])
def test_by_index_arrays_and_masks(backend):
    for program in (by_itself, by_a_part, row_to_rows):
        fn = npcompile.jit(program, fullgraph=True, options={"backend": backend})
        for n in (12, 9, 12):
            assert compare_calls(program, fn, (vector(n),)) is None
    fn = npcompile.jit(rows_by_mask, fullgraph=True, options={"backend": backend})
    for order in ("C", "F"):
        m = np.array([[4.0, 1, 5], [2, 3, 6]], order=order)
        assert compare_calls(rows_by_mask, fn, (m,)) is None
