"""Ufuncs of `scipy.special` that are formulas of prims, against SciPy: dtypes, layouts, special values, `out`, error state."""

import numpy as np
import pytest
from scipy import special

import npcompile
from npcompile.frontends.scipy.registry import SCIPY
from npcompile.testing import compare_calls

SCIPY.load()
FUNCTIONS = sorted((f.__name__ for f in SCIPY.all_rules()), key=str)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 0.3, 0.65, 8.0, 26.6, 26.7, -27.0, 40.0, -800.0, 1e-300, 1e300, np.inf, -np.inf, np.nan]
RANGES = [(-1.0, 1.0), (0.0, 1.0), (-6.0, 6.0), (-30.0, 30.0), (-1e4, 1e4)]


def made(name):
    """The ufunc of one or two vectors, the text alike for all."""
    ufunc = getattr(special, name)
    one = lambda x, y: ufunc(x)  # noqa: E731
    two = lambda x, y: ufunc(x, y)  # noqa: E731
    return one if ufunc.nin == 1 else two


def vectors(dtype):
    """A pair of vectors, special values first."""
    rng = np.random.default_rng(1)
    x = np.concatenate([SPECIAL, *(rng.uniform(low, high, 300) for low, high in RANGES)])
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "iub":
            x = np.nan_to_num(x).clip(0 if np.dtype(dtype).kind == "u" else -100, 100)
        x = x.astype(dtype)
    return x, rng.permutation(x)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, dtype):
    fn = made(name)
    jitted = npcompile.jit(fn, fullgraph=True)
    x, y = vectors(dtype)
    for args in ((x, y), (x[::-2], y[::2]), (x[:0], y[:0]), (x[3:5].reshape(2, 1), y[:3])):
        assert compare_calls(fn, jitted, args, "ulp") is None
    assert jitted.stats.compiles + jitted.stats.cached and not jitted.plain_calls


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_and_scalars(name):
    fn = made(name)
    jitted = npcompile.jit(fn, fullgraph=True)
    for args in ((0.25, 0.75), (np.float32(0.25), np.float32(2.0)), (np.float64(3.0), 2), (1, np.float32(0.5))):
        assert compare_calls(fn, jitted, args, "ulp") is None


def test_all_pairs_of_special_values():
    x, y = (a.ravel().copy() for a in np.meshgrid(SPECIAL, SPECIAL))
    for name in FUNCTIONS:
        fn = made(name)
        for dtype in ("f8", "f4"):
            with np.errstate(all="ignore"):
                assert compare_calls(fn, npcompile.jit(fn, fullgraph=True), (x.astype(dtype), y.astype(dtype)), "ulp") is None


def into_out(x, out, single):
    special.erf(x, out=out)
    special.erfc(single, out=out[::-1])
    return special.ndtr(x, dtype="f4"), special.expit(single, order="F"), out


def normal_quantities(x, mu, sigma):
    z = (x - mu) / sigma
    return 0.5 * (1 + special.erf(z / np.sqrt(2))), special.ndtr(z), special.xlogy(x, x * x).sum()


def in_a_loop(x):
    total = 0.0
    for v in x:
        total += special.expit(v) * special.erfc(v)
    return total


def complex_numbers(z):
    return special.erf(z) * 2


@pytest.mark.parametrize(
    "fn, args",
    [
        (into_out, (np.linspace(-3, 3, 40), np.zeros(40), np.linspace(-3, 3, 40, dtype="f4"))),
        (normal_quantities, (np.linspace(-3, 3, 40).reshape(8, 5), np.arange(5.0), 2.0)),
        (in_a_loop, (np.linspace(-3, 3, 40),)),
        (complex_numbers, (np.linspace(-1, 1, 9) * 1j,)),
    ],
)
def test_programs(fn, args):
    jitted = npcompile.jit(fn, fullgraph=True)
    for _ in range(2):
        assert compare_calls(fn, jitted, args, "sum", 10.0) is None


def logistic(x):
    return special.expit(x) + 1


def test_scipy_may_be_asked_for_errors_between_calls():
    x = np.array([-1000.0, 1000.0])
    jitted = npcompile.jit(logistic, options={"compile": "first"})
    assert compare_calls(logistic, jitted, (x,), "ulp") is None
    before = special.seterr(underflow="raise")
    try:
        for _ in range(3):
            assert compare_calls(logistic, jitted, (x,), "ulp") is None
    finally:
        special.seterr(**before)
    assert compare_calls(logistic, jitted, (x,), "ulp") is None
    assert "scipy.special" in str(npcompile.explain(logistic, x))


def errors_inside(x):
    with special.errstate(all="raise"):
        try:
            y = special.gammaln(x)
        except special.SpecialFunctionError as e:
            return str(e), special.expit(x[1:])
    return y, special.expit(x)


def test_error_state_set_inside():
    jitted = npcompile.jit(errors_inside, options={"compile": "first"})
    for x in (np.array([1.0, 2.0]), np.array([-1.0, 2.0]), np.array([1.0, 2.0])):
        for _ in range(2):
            assert compare_calls(errors_inside, jitted, (x,), "ulp") is None
