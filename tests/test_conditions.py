"""Programs whose data meet floating-point conditions, in a few elements or in most: NumPy's values and warnings, in its order."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls

N = 3000


def safe_divide(a, b):
    return np.where(b != 0, a / b, 0)


def guarded(a, b):
    out = np.zeros_like(a)
    np.divide(a, b, out=out, where=b != 0)
    return out + np.where(a > 0, np.log(a), np.sqrt(b))


def chain(a, b):
    return np.sqrt(a * b + a) / b


def compared(a, b):
    return np.maximum(a, b) * np.exp(a) - np.minimum(b, 2.0)


def in_place(a, b):
    a *= a
    a += b
    a /= b
    return a


def in_place_of_ranged(a, b):
    a -= np.sin(a) % b
    return a


def one_after_the_other(a, b):
    a *= b
    c = a + 1
    a -= c / b
    return a, c


def powers(a, b):
    return a**3 + b**-1 + a**0.5 + np.float_power(b, a)


def rows(a, b):
    x, y = a.reshape(60, -1), b.reshape(60, -1)
    e = np.exp(x - y)
    return e / e.sum(axis=1, keepdims=True), (x * y).mean(axis=0), np.cumsum(a / b)


def total(a, b):
    return (a / b).sum(), np.exp(a).sum() - (a * a).sum(), (a * b).prod()


def casts(a, b):
    return (a * 1e200).astype(np.float32), (b * 1e10).astype(np.int32), np.ldexp(a, 1000)


def strided(a, b):
    return np.sqrt(a[::3]) * b[::-3] + np.log(a[::3])


def complex_ones(a, b):
    z = (a + 1j * b) * 1e150
    return z * z + a, np.abs(z) < 2, np.exp(z * 1e-149), z / b


def complex_in_place(a, b):
    z = a + 1j * b
    for _ in range(12):
        z *= z
        z += a
    return z


def masked(a, b):
    a[b > 0] = np.log(a)[b > 0] / 2
    return a


def turns(a, b):
    for k in range(4):
        a = a * a - b / k
    return a


def elements(a, b):
    for i in range(len(a)):
        a[i] = a[i] / b[i] + i
    return a


def of_integers(a, b):
    m, n = (a * 3).astype(np.int64), np.arange(len(a)) % 7
    return m // n, m % n, 100 / (m % 1)


PROGRAMS = [
    safe_divide, guarded, chain, compared, in_place, in_place_of_ranged, one_after_the_other, powers, rows, total, casts, strided,
    complex_ones, complex_in_place, masked, turns, elements, of_integers,
]  # fmt: skip
TOLERANCE = dict.fromkeys((compared, guarded, in_place_of_ranged, powers, strided, masked, rows, total), "sum")
SPOILS = {
    "clean": lambda a, b: None,
    "zero at the end": lambda a, b: b.__setitem__(-1, 0.0),
    "zeros": lambda a, b: b.__setitem__(slice(0, None, 3), 0.0),
    "negative": lambda a, b: a.__setitem__(slice(1, None, 2), -1.5),
    "huge": lambda a, b: a.__setitem__(slice(2, None, 5), 1e300),
    "huge in one piece": lambda a, b: a.__setitem__(slice(1500, 1530), 1e300),
    "not a number": lambda a, b: a.__setitem__(slice(0, None, 4), np.nan),
    "infinite": lambda a, b: (a.__setitem__(slice(0, None, 4), np.inf), b.__setitem__(slice(0, None, 8), -np.inf)),
    "all kinds": lambda a, b: (a.__setitem__(slice(0, 900), 0.0), a.__setitem__(slice(900, 1800), 1e308), b.__setitem__(7, 0.0)),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_warnings_are_numpys(f):
    jitted = npcompile.jit(f, options={"compile": "first"})
    rng = np.random.default_rng(1)
    calls = 0
    for name, spoil in SPOILS.items():
        a, b = rng.uniform(0.5, 2, (2, N))
        spoil(a, b)
        for again in range(2):
            text = compare_calls(f, jitted, (a, b), TOLERANCE.get(f, "exact"))
            assert text is None, (name, again, text)
            calls += 1
        with np.errstate(all="ignore"):
            assert compare_calls(f, jitted, (a, b), TOLERANCE.get(f, "exact")) is None, name
        with np.errstate(divide="ignore", over="ignore"):
            assert compare_calls(f, jitted, (a, b), TOLERANCE.get(f, "exact")) is None, name
        calls += 2
    assert jitted.stats.hits >= calls // 2 and not jitted.stats.plain_calls


def test_what_is_moved_out_of_a_loop_without_turns_reports_nothing():
    """NumPy computes no element where a result has none."""

    def stores(a, b):
        a[1:] = b
        return a

    def rows(a, b, c):
        return np.sqrt(a) * b + np.log(c[:, None]) * b

    def totals(b, c):
        return (np.sqrt(c)[:, None] * b).sum(axis=1), (1 / c[:, None] + b).max(axis=1, initial=0)

    sizes = (2, 0, 2, 0, 1)
    for fn, calls in (
        (stores, [(np.zeros(n, "i8"), np.array([np.nan])) for n in (1, 2, 1)]),
        (rows, [(-np.ones((3, 1)), np.ones((3, n)), np.zeros(3)) for n in sizes]),
        (totals, [(np.ones((3, n)), -np.arange(3.0)) for n in sizes]),
    ):
        jitted = npcompile.jit(fn)
        for args in calls:
            assert compare_calls(fn, jitted, args) is None
        assert jitted.stats.compiles


def test_reductions_of_numbers_warn_as_casts():
    def f(a):
        return a.sum(dtype="u1"), np.add.reduce(a, axis=(), dtype="i2")

    jitted = npcompile.jit(f)
    for a in (np.array(np.nan, "f4"), np.full(3, np.nan), np.array(2.5), np.full((2, 3), np.inf)):
        for _ in range(2):
            assert compare_calls(f, jitted, (a,)) is None
