"""New arrays against NumPy: values, dtypes, order, lengths."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_harness import Leave, check, check_sizes, compiled
from rule_samples import SAMPLES, function

FIXED = [
    "np.arange(7)", "np.arange(2, 9, 2)", "np.arange(9, 2, -2)", "np.arange(0, 1, 0.1)", "np.arange(1, 2, 0.3, dtype='f4')",
    "np.arange(5.)", "np.arange(0)", "np.arange(5, dtype='i1')", "np.arange(300, dtype='u1')", "np.arange(-3, 3, dtype='u1')",
    "np.arange(True)", "np.arange(stop=3)", "np.arange(0.1, 1, 0.1)", "np.arange(5, dtype='f2')", "np.arange(0.5, 3, dtype='f2')",
    "np.arange(1, 2, 0)", "np.arange(5, 0)", "np.arange(None, 3)", "np.linspace(0, 1, 5)", "np.linspace(0, 1, 5, endpoint=False)",
    "np.linspace(0, 1, 1)", "np.linspace(0, 1, 0)", "np.linspace(1, 1, 3)", "np.linspace(0, 10, 7, dtype=int)",
    "np.linspace(0, 1, 5, dtype='f4')", "np.linspace(0, 5e-324, 10)", "np.linspace(0, 1, 7, retstep=True)",
    "np.linspace(0, 1, 1, retstep=True)", "np.linspace(-1e308, 1e308, 5)", "np.linspace(3, -2, 50)", "np.linspace(0, 1, -1)",
    "np.eye(3)", "np.eye(3, 4, k=1)", "np.eye(3, k=-1, order='F')", "np.eye(2, 3, -2, dtype=bool)", "np.identity(3)", "np.tri(3)",
    "np.tri(2, 3, 1, 'i4')", "np.zeros(3)", "np.zeros((2, 3), order='F')", "np.zeros((2, 0), bool)", "np.ones(3, 'c8')",
    "np.full(3, 2.5, dtype=int)", "np.full(3, 300, 'i1')", "np.full((2, 3), np.nan)", "np.full(3, [1, 2, 3])", "np.full(2, True)",
    "np.zeros(-1)", "np.zeros(3.0)", "np.zeros(True)", "np.zeros(())", "np.zeros((2, 3), order='A')", "np.indices((2, 3))",
    "np.meshgrid([1, 2], [3, 4, 5], indexing='ij')", "np.meshgrid([1, 2], [3, 4, 5])",
    "np.meshgrid([1, 2], [3, 4, 5], sparse=True)",
]  # fmt: skip
LIKE = [
    "np.zeros_like(a)", "np.zeros_like(a, dtype='f4')", "np.ones_like(a, dtype=int)", "np.full_like(a, 3)",
    "np.full_like(a, 2.5, dtype='f8')", "np.full_like(a, np.nan, dtype=float)", "np.full_like(a, 1, order='F')",
    "np.full_like(a, 1, order='A')", "np.full_like(a, 1, shape=(2, 5))", "np.full_like(a, 1, shape=(2, 5, 3))",
    "np.full_like(a, a)", "np.full((2, 3, 4), a)", "np.arange(np.size(a), dtype='f4')", "np.eye(np.ndim(a))",
    "np.array(a, copy=False)", "np.asarray(a, copy=False) + 1", "np.array(a, copy=False, ndmin=3)",
    "np.zeros(np.shape(a), order='F')", "np.zeros_like(a) + a", "np.result_type(a, 1.5)", "np.result_type(a, 'f4')",
]  # fmt: skip


@pytest.mark.parametrize("text", FIXED)
def test_fixed(text):
    check(function(text, "np"))


@pytest.mark.parametrize("text", LIKE)
def test_like(text):
    for name, x in SAMPLES.items():
        try:
            check(function(text), x, may_refuse=name == "axis of 1" and "shape=(2, 5, 3)" in text)
        except AssertionError as e:
            raise AssertionError(f"{name}: {e}") from None


@pytest.mark.parametrize(
    "text",
    [
        "np.arange(n)", "np.arange(n, dtype='f4')", "np.arange(1, n)", "np.arange(n, 0, -1)", "np.arange(0, n, 2)",
        "np.arange(n, 9, 3)", "np.arange(n, dtype='i2')", "np.linspace(0, 1, n)", "np.linspace(0, n, 5)",
        "np.linspace(n, 0, 7, endpoint=False)", "np.zeros(n)", "np.ones((n, 3))", "np.full((n, n), 7)", "np.eye(n)",
        "np.eye(n, 3, 1)", "np.identity(n)", "np.tri(n)", "np.empty((n, 2)).shape",
    ],
)  # fmt: skip
def test_symbolic_sizes(text):
    for n in (0, 1, 2, 5, 17, -3):
        check(function(text, "np, n"), n)


@settings(max_examples=60, deadline=None)
@given(st.floats(width=64), st.floats(width=64), st.integers(0, 12), st.booleans())
def test_linspace_at_run_time(x, y, n, endpoint):
    def f(np, x, y):
        return np.linspace(x, y, n, endpoint=endpoint, retstep=True)

    check(f, x, y)


@settings(max_examples=60, deadline=None)
@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5), st.sampled_from([None, "f4", "f8", "i2", "i8"]))
def test_arange_of_ints(start, stop, step, dtype):
    check(lambda np, a, b, c: np.arange(a, b, c, dtype=dtype), start, stop, step)


def test_one_trace_for_all_sizes():
    assert check_sizes(function("np.arange(n)", "np, n"), [5], [2], [100], [33]) == 3
    assert check_sizes(function("np.linspace(0, 1, n)", "np, n"), [5], [2], [100], [33]) == 3
    assert check_sizes(function("np.zeros((n, 4))", "np, n"), [5], [0], [1], [33]) >= 2


def test_empty_is_memory():
    assert compiled(lambda np, n: np.empty((n, 2), "i4"), [3]).shape == (3, 2)
    with pytest.raises((Leave, Exception)):
        compiled(lambda np, n: np.empty(n), [-1])


def test_ndarray_called_is_empty():
    def f(np, n):
        a, b = np.ndarray((n, 2)), np.ndarray(shape=(2, n), dtype="i4", order="F")
        a[:], b[:] = 1.5, 2
        return a, b, np.ndarray(n, dtype=bool).size

    for n in (0, 1, 3):
        check(f, n)
