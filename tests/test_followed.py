"""Functions that NumPy writes in Python, compiled from NumPy's own source: against NumPy, and without a call of the function."""

import numpy as np
import pytest
from expressions import compared

import npcompile
from npcompile.testing import compare_calls

SIZE = 40
WHOLE = """
np.gradient(x)
np.gradient(x, 0.5)
np.gradient(x, edge_order=2)
np.gradient(A)
np.gradient(A, axis=0)
np.gradient(A, 2.0, axis=(0, 1))
np.gradient(A, 2, 3.0)
np.gradient(n)
np.gradient(T, axis=-1)
np.trapezoid(x)
np.trapezoid(x, dx=0.5)
np.trapezoid(x, s)
np.trapezoid(A, axis=0)
np.trapezoid(n)
np.trapezoid(T, axis=1)
np.cross(V, W)
np.cross(V, W[0])
np.cross(V, W, axis=1)
np.cross(V.T, W.T, axis=0)
np.cross(V, W, axisc=0)
np.cross(n[:3], V)
np.ediff1d(x)
np.ediff1d(x, to_begin=0.0)
np.ediff1d(n, to_end=[7, 8])
np.ediff1d(A)
np.vander(x)[:, ::2]
np.vander(x, 3)
np.vander(n, 4, increasing=True)
np.vander(m, 3)
np.polyval([1, 2, 3], x)
np.polyval(y[:4], x)
np.polyval(x, q)
np.polyval((1.0, 0.5), A)
np.polyval([2, 1], n)
np.polysub(n, x)
np.polyder(x)
np.polyder(x, 2)
np.cov(A)
np.cov(A, rowvar=False)
np.cov(x, y)
np.cov(A, ddof=0)
np.cov(A, bias=True)
np.corrcoef(A)
np.corrcoef(x, y)
np.sinc(x)
np.sinc(n)
np.sinc(A / 3)
np.sinc(0.0)
np.isneginf(x / (n - 3.0))
np.isposinf(A)
np.isclose(x, y)
np.isclose(x, x + 1e-9)
np.isclose(x, np.nan, equal_nan=True)
np.isclose(n, i)
np.isclose(x, x[::-1], rtol=0.5, atol=0)
np.isclose(A, A[0], 1e-3)
np.allclose(x, y)
np.allclose(A, A + 1e-12)
np.allclose(x, 1)
np.array_equal(x, y)
np.array_equal(x, x.copy())
np.array_equal(A, x)
np.array_equal(x, x, equal_nan=True)
np.array_equal(n, i)
np.array_equiv(A, A[0])
np.array_equiv(A, 1.0)
np.unwrap(x * 9)
np.unwrap(A, axis=0)
np.unwrap(x, discont=1.0)
np.unwrap(x, period=2.0)
np.unwrap(n, period=4)
np.nanargmax(x)
np.nanargmin(A, axis=1)
np.nanargmax(n)
np.nanargmax(A, axis=0, keepdims=True)
np.median(x)
np.median(A)
np.median(A, axis=0)
np.median(A, axis=1, keepdims=True)
np.median(n)
np.logspace(0.0, q, 12)
np.logspace(0, 2, len(x))
np.logspace(1, 2, 5, base=2.0, endpoint=False)
np.geomspace(1.0, 10.0, 7)
np.geomspace(1, 256, 9)
np.geomspace(1.0, 10.0, 5, endpoint=False)
np.piecewise(x, [x < 0, x >= 0], [-1, 1])
np.piecewise(x, [x < -0.5, x > 0.5], [-1, 1, 0])
np.piecewise(x, [x < 0], [lambda v: -v, lambda v: v * 2])
np.piecewise(x, x < 0, [1, 2])
np.piecewise(n, [n > 2], [lambda v: v * 0.5])
np.real_if_close(x)
np.real_if_close(n)
np.real_if_close(x + 0j)
np.real_if_close(z)
np.take_along_axis(A, np.argsort(A, axis=1), axis=1)
np.take_along_axis(A, np.argmax(A, axis=0)[None], axis=0)
np.take_along_axis(x, np.argsort(x), axis=0)
np.tril_indices(4)
np.triu_indices(5, 1)
np.tril_indices_from(S)
np.triu_indices_from(A, -1)
np.diag_indices(4)
np.diag_indices(3, 3)
np.diag_indices_from(S)
np.ix_([0, 2], [1, 3])
A[np.ix_([0, 2], [1, 3])]
np.ix_(m[:6], [0, 1])
np.isin(n, i)
np.isin(n, [1, 2], invert=True)
np.isin(x, y)
np.delete(x, 2)
np.delete(A, 1, axis=0)
np.delete(A, -1, axis=1)
np.sort_complex(x)
np.sort_complex(n)
np.kron(A, S)
np.kron(x[:3], A)
np.kron(A, n[:2])
np.kron(2.0, x)
np.kron(A.T, S[::2])
np.kron(T, A)
np.kron(m[:2], m[2:5])
np.pad(x, 2)
np.pad(x, (1, 3))
np.pad(A, 1)
np.pad(A, ((1, 2), (0, 3)))
np.pad(A.T, 2)
np.pad(A, ((1,), (2,)), constant_values=9)
np.pad(A, 1, constant_values=(1, 2))
np.pad(A, 1, constant_values=((1, 2), (3, 4)))
np.pad(n, 2, constant_values=1.5)
np.pad(m, 1, constant_values=True)
np.pad(z, (0, 1), constant_values=1j)
np.pad(A[:1], 2)
np.pad(x, 0)
np.pad(T.transpose(2, 0, 1), 1)
np.pad(x, k)
np.pad(x, len(n) - len(x) + 1)
"""
CALLED = """
np.gradient(x, s)
np.gradient(A, np.arange(6.0) ** 2, 0.5)
np.cross(V[:, :2], W[:, :2])
np.polyadd(x, y[:5])
np.isclose(x, y, atol=x)
np.pad(x, 2, mode='edge')
np.pad(A, 2, 'linear_ramp')
np.pad(x, -1)
np.delete(x, [1, 2])
np.median(x, axis=3)
np.sinc('a')
np.trapezoid(A, axis=5)
"""
CASES = [case for case in WHOLE.strip().split("\n") if case]
if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # from then on it warns that it is deprecated
    CASES += ["np.fix(x * 3)", "np.fix(n)"]
NAMES = ["x", "y", "i", "m", "A", "S", "T", "V", "W", "z", "n", "s", "k", "q"]


def operands(size, seed, dtype="f8", turned=False):
    """`turned`: reversed, transposed and strided ones."""
    rng = np.random.default_rng(seed)

    def real(*shape):
        a = rng.normal(size=shape).astype(dtype)
        return np.repeat(a, 2, axis=0)[::-2] if turned and len(shape) == 1 else np.asfortranarray(a) if turned else a

    n = rng.integers(0, 9, size)
    return [
        real(size), real(size), rng.integers(0, 4, size), rng.random(size) > 0.5, real(6, 4), real(6, 6), real(4, 5, 4),
        real(size, 3), real(size, 3), real(size) + 1j * real(size), np.repeat(n, 2)[::2] if turned else n,
        np.sort(real(size)), 3, 0.4,
    ]  # fmt: skip


def batches(texts):
    return [texts[k : k + SIZE] for k in range(0, len(texts), SIZE)]


def check(texts, argument_sets, followed=True):
    faults = []
    for text, expected, jitted, _, differences in compared(texts, NAMES, argument_sets):
        faults += differences
        records = [r for r in jitted.stats._state.records if r.trace]
        breaks = [b.reason + " " + b.detail for r in records for b in r.trace.breaks]
        name = text.partition("(")[0]
        called = [
            n for r in records for n in r.trace.graph.body.walk() if n.params.get("function") == name.replace("np", "numpy")
        ]
        if followed and expected.error is None and (breaks or called):
            faults.append(f"{text}: {breaks or 'is called'}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("texts", batches(CASES), ids=lambda t: t[0])
def test_whole(texts):
    check(texts, [operands(20, 1), operands(35, 2), operands(20, 3, "f4", turned=True)])


def test_what_is_called():
    """Cases that do not compile from the source, errors among them, are left to the function."""
    check(CALLED.strip().split("\n"), [operands(20, 1), operands(35, 2)], followed=False)


@pytest.mark.parametrize("texts", batches(CASES), ids=lambda t: t[0])
def test_empty_and_odd(texts):
    """Errors and warnings of NumPy on empty vectors and special values are its own."""
    odd = operands(20, 4)
    odd[0] = odd[0].copy()
    odd[0][[3, 5, 7, 9]] = np.nan, np.inf, -np.inf, -0.0
    odd[4] = odd[4].copy()
    odd[4][1:3, 1] = np.nan, np.inf
    check(texts, [odd, operands(0, 5), operands(1, 6)], followed=False)


def test_objects_with_a_say_are_left_to_numpy():
    class Own:
        shape = (3,)

        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    def f(x, o):
        return x * 2, np.gradient(o), np.trapezoid(o)

    assert npcompile.jit(f, options={"compile": "first"})(np.ones(3), Own())[1:] == ("gradient", "trapezoid")


def test_warnings_and_errors_come_from_lines_of_numpy():
    def f(x, y):
        return np.gradient(x) + np.trapezoid(y)

    def g(x):
        return np.gradient(x) * 2

    huge = np.array([1e308, -1e308, 1e308, -1e308])
    jitted = npcompile.jit(f, options={"compile": "first"})
    assert compare_calls(f, jitted, (huge, huge)) is None
    assert jitted.stats.hits == 1
    jitted = npcompile.jit(g, options={"compile": "first"})
    for n in (5, 1, 0):
        assert compare_calls(g, jitted, (np.ones(n),)) is None


def test_arguments_of_a_call_that_is_followed_stay_and_are_shared():
    def same(x):
        return np.real_if_close(x), x * 2

    def into(a, i):
        np.put_along_axis(a, i, 9, axis=1)
        return a.sum()

    for fn, args in ((same, (np.arange(4.0),)), (into, (np.zeros((3, 4)), np.array([[1], [2], [0]])))):
        jitted = npcompile.jit(fn, options={"compile": "first"})
        assert compare_calls(fn, jitted, args) is None
        assert jitted.stats.hits == 1


def test_parts_of_a_concatenation_in_several_kernels():
    """What one part reads outside the kernel of another is kept."""

    def f(x):
        c = np.asarray([x < -0.5, x > 0.5])
        return np.concatenate([c, ~np.any(c, axis=0, keepdims=True)], axis=0)

    for n in (1, 0, 7):
        jitted = npcompile.jit(f, options={"compile": "first"})
        assert compare_calls(f, jitted, (np.linspace(-1, 1, n),)) is None
        assert jitted.stats.hits == 1


def test_flags_of_arrays():
    def f(a, b):
        return a.flags.c_contiguous, b.flags.f_contiguous, a.flags["C"], (a + b).flags.fnc, a.T.flags.contiguous, np.isfortran(b)

    for order in "CF":
        jitted = npcompile.jit(f, options={"compile": "first"})
        a = np.asarray(np.ones((3, 4)), order=order)
        for args in ((a, a), (a, a.T.copy().T), (a[::2], a[::2]), (a[:1], a[:1])):
            assert compare_calls(f, jitted, args) is None


def test_long_tuples_are_not_taken_apart():
    def f(x, items):
        return x * 2, len(items)

    items = (1,) * 200_000
    jitted = npcompile.jit(f, options={"compile": "first"})
    assert compare_calls(f, jitted, (np.ones(3), items)) is None


def test_padding_by_numbers_that_change():
    def f(x, n):
        return np.pad(x, n) * 2 + 1

    jitted = npcompile.jit(f, options={"compile": "first"})
    for n in (1, 2, 5, 0):
        assert compare_calls(f, jitted, (np.arange(4.0), n)) is None
