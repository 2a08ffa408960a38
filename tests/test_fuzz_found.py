"""Programs shrunk from what the fuzzer and odd arguments found, compiled through both backends against plain Python."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls, copy_arguments

X = np.random.default_rng(5).standard_normal((5, 6))


def two_equal_views(a):
    return a[:], a[:], a.reshape(-1), a[0:]


def element_stored_and_all_overwritten(a, n):
    for i in range(len(a)):
        a[i] = a[i - 1] * 0.5 + i
    a[..., 0] = n
    return a


def diagonals(a, b):
    y = a * 2
    return np.diagonal(a), y.diagonal(), y, b.diagonal()[1:]


def array_that_an_exit_wants_after_a_loop_of_stores(a, n):
    for _ in range(n):
        a[1:] += 1
    v = a & 3
    s = a.max().item()
    return v - s, a


def branches_whose_values_do_not_join(a, b, c, n):
    if c.sum() > 0:
        v = c + 1
    else:
        v = b * 2
    for i in range(1, n):
        a[i] = i
    return v[1:]


def scan_of_a_value_that_is_kept(a):
    b = a + 1
    return np.cumsum(b, axis=0), b, b.sum(axis=0)


def scan_copied_into_another_order(a):
    return np.cumsum(a, axis=0).copy(order="C")


def scan_of_stored_memory(a):
    a += 1
    c = a.cumsum(axis=0)
    a *= c
    return a.cumsum(axis=-1), a.sum(axis=0), c.max(axis=1)


WHOLE = np.random.default_rng(1).integers(-9, 9, (33, 40)).astype("f8")
SCANS = (scan_of_a_value_that_is_kept, scan_copied_into_another_order, scan_of_stored_memory)


def sizes_after_a_complex64_number(z, a):
    return a[1:] * z, z


def library_function_that_warns_after_a_condition(a, z):
    b = np.floor_divide(a, a)
    b[1:] = z
    return b


CASES = [(f, (a,)) for f in SCANS for a in (WHOLE, np.asfortranarray(WHOLE), WHOLE[:1], WHOLE[:, :1], WHOLE[:0])]


def numbers_of_an_int_that_becomes_a_float(x, n):
    d = 0
    for _ in range(n):
        d = 3 * x
        x = x / 2
    return d, x


def error_of_an_int_that_becomes_a_float(x, n):
    for _ in range(n):
        d = 3 * x - 3
        x = x - 1 / d
    return x


CASES += [(numbers_of_an_int_that_becomes_a_float, (2, n)) for n in (1, 2, 9)]
CASES += [(error_of_an_int_that_becomes_a_float, (2, 9))]


def leading_axis_of_length_one_by_a_fact(a):
    v = a[: len(a) // 2]
    v[0] = v
    return v.squeeze(0) + 1, v


CASES += [(leading_axis_of_length_one_by_a_fact, (WHOLE[:3],))]


def backwards_over_rows_without_elements(a):
    b = np.minimum(a, a)
    c = np.diff(np.tile(b, 2))
    b[::-1] += b
    return b, c


CASES += [(backwards_over_rows_without_elements, (np.zeros((5, 0), bool),))]


def comparisons_of_complex_numbers(x, y, a):
    return x > y, y <= x, x != y, x > a[0], a.sum() > 0


def rows_of_nothing_tiled(a, n):
    v = np.tile(a, 2)
    for i in range(n):
        v[i] = v[i] + a[0]
    for i in range(0, n, 2):
        a[i] = v[n - 1 - i, :0] + a[i]
    return v, np.reciprocal(v[0])


def tiled_and_divided(a):
    v = np.tile(a, 2)
    return np.heaviside(a / a, 0.5 // v)


def tiles(a):
    return np.tile(a, 2), np.tile(a, (2, 1)), np.tile(a, 1), np.tile(a, (1, 1, 1)), np.tile(a, 0)


def unused_and_overwritten(a):
    a.T.var(axis=-1)
    (a - a).sum(axis=0)
    np.prod(a / (a - a), axis=0)
    a -= a
    return a


def powers(a, b):
    return np.power(a, b), np.float_power(a, b), a**b, np.float_power(a, b[:1]), np.power(a, b[:1]), np.power(a[:1], b[:1])


def casts_of_operands(a):
    first = a[:1] if a.ndim == 1 else a[0, :1]
    return np.multiply(a, a, dtype="f2"), np.multiply(first, a, dtype="f2"), np.floor(a, dtype="f2"), np.add(a, 1e9, dtype="f2")


def casts_under_a_mask(a):
    return np.add(a, a, dtype="f2", out=np.zeros(a.shape, "f2"), where=a > 3), np.multiply(a, a[0], dtype="f2")


LARGE = np.array([[70_000, 2, 3], [1, 2, 3], [5, 6, 1 << 40]])


def two_elements_of_every_row(a):
    v = np.reciprocal(a)
    d = v[-1:] - v[0]
    return d, v, v * v[0] + v[-1]


def between_two_rows(a):
    v = a * 2
    d = v[:, -1] - v[:, 0]
    v[0] = -0.25
    return d, v, (a + 1)[:, 1] - (a + 1)[:, 2]


def elements_that_nobody_reads(a, i):
    w = a - a
    return np.sqrt(a)[1:] + 1, np.sqrt(a)[:0], (a / 0)[::2].sum(), (1 / a)[0], w[i], w[i - 1] + 1


def only_in_an_arm_or_a_loop(a, n):
    v, w, s = a / 0, np.sqrt(a), 0.0
    if n > 2:
        s = s + w.sum()
    for k in range(n):
        s = s + v[k]
    return s


def diagonal_of_a_root(a):
    return np.diagonal(np.sqrt(a)) + 1, np.sqrt(a * 2)[:, 0] + 1


def of_what_the_compiler_knows(a):
    a[...] = 1.5
    a[a > 0] = -0.25
    v = 1e-3 / a
    b = np.full(len(a), 2.0)
    i = np.arange(6)
    return v, np.log(b - 3), 1 / np.where(a > 0, 0.0, 1.0), 1 / np.zeros(3), i / (i * 2)


def stores_elements_of_one(a, b):
    v = b % 1
    a[..., 1:] = a[..., :-1] + v[..., 1:]
    return a


NAN_C = np.complex128(complex(np.nan, 1))
ODD = np.array([[np.inf, 1, -np.inf], [np.inf, 2.5, 0]])
READ_ONLY = [np.zeros((5, 0)), np.zeros((0, 3)).T, np.arange(6.0).reshape(2, 3).T, np.float64(2) * X[:1, 0]]
for _a in READ_ONLY:
    _a.flags.writeable = False
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -0.5, 1e300])
PAIRS = np.meshgrid(SPECIAL, np.array([0.5, 2, -1, np.inf, -np.inf]))
CASES += [(comparisons_of_complex_numbers, (x, y, np.array([y, 2]))) for x, y in ((NAN_C, np.complex64(NAN_C)), (NAN_C, 2.5))]
CASES += [(rows_of_nothing_tiled, (np.zeros((5, 0), "u8"), n)) for n in (0, 3)]
CASES += [(tiles, (a,)) for a in READ_ONLY]
CASES += [(tiled_and_divided, (np.zeros(n),)) for n in (0, 1)]
CASES += [(unused_and_overwritten, (a,)) for a in (ODD, np.tile(ODD, (40, 9)))]
for _f in (casts_of_operands, casts_under_a_mask):
    CASES += [(_f, (a,)) for a in (LARGE[0], LARGE, LARGE.T, LARGE[:, ::2], np.full(9000, 70_000), LARGE[:2, :2] * 1e300)]
for _f in (two_elements_of_every_row, between_two_rows):
    CASES += [(_f, (a,)) for a in (X, np.asfortranarray(X), X.T, X[::-1, ::2])]
CASES += [(elements_that_nobody_reads, (np.array(a), 1)) for a in ([-1.0, 4, np.inf], [np.inf, 0, 4], [np.nan, -np.inf])]
CASES += [(only_in_an_arm_or_a_loop, (np.array([-1.0, 0, 1]), n)) for n in (0, 2, 3)]
CASES += [(diagonal_of_a_root, (np.array([[4.0, -1], [-1, 4]]),)), (of_what_the_compiler_knows, (np.ones(7, int),))]
CASES += [(stores_elements_of_one, (np.zeros(n, "u4"), np.full(n, np.inf, d))) for n in (1, 3) for d in ("f2", "f8")]
CASES += [(powers, tuple(np.concatenate(p).astype(d) for p in PAIRS)) for d in ("f8", "f4", "f2")]
CASES += [(powers, (np.full(1, a), np.full(1, b))) for a, b in ((-0.0, 0.5), (-np.inf, 0.5), (0.0, -np.inf))]
CASES += [
    (sizes_after_a_complex64_number, (np.complex64(1 + 2j), X[0].astype("c8"))),
    (branches_whose_values_do_not_join, (np.arange(5, dtype="u1"), np.arange(5.0), np.ones((6, 5), "i4"), 4)),
    (branches_whose_values_do_not_join, (np.arange(5, dtype="u1"), np.arange(5.0), -np.ones((6, 5), "i4"), 4)),
    (array_that_an_exit_wants_after_a_loop_of_stores, (np.arange(6, dtype="i4"), 3)),
    (array_that_an_exit_wants_after_a_loop_of_stores, (np.arange(6) << 40, 3)),
    (diagonals, (X, X.T[::-1, ::-1])),
    (two_equal_views, (X[0],)),
    (two_equal_views, (X[0, :0],)),
    (element_stored_and_all_overwritten, (np.array([3], "i4"), 4)),
    (library_function_that_warns_after_a_condition, (np.array([0, 1, 2.0]), np.array([1 + 2j, 3]))),
]


@pytest.mark.parametrize("backend", ["reference", "cpp"])
@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_found(fn, args, backend):
    report = npcompile.explain(npcompile.jit(fn, backend=backend), *copy_arguments(args))
    assert report.segments and not report.graph_breaks and report.backend == ("C++" if backend == "cpp" else "Python")
    jitted = npcompile.jit(fn, backend=backend)
    for _ in range(2):
        assert compare_calls(fn, jitted, args, "ulp" if fn is powers else "exact") is None


def test_inlined_functions_whose_code_is_replaced():
    def helper(a):
        return a + 1

    class Owner:
        def method(self, a):
            return a * 2

    @npcompile.jit
    def f(o, a):
        return o.method(helper(a))

    owner = Owner()
    np.testing.assert_array_equal(f(owner, X), (X + 1) * 2)
    helper.__code__ = (lambda a: a * 100).__code__
    np.testing.assert_array_equal(f(owner, X), X * 200)
    Owner.method.__code__ = (lambda self, a: a - 1).__code__
    np.testing.assert_array_equal(f(owner, X), X * 100 - 1)
    assert f.stats.hits == f.stats.compiles == 3


def test_conditions_of_integers_cast_to_float16():
    def sums(a):
        return np.sum(a, dtype="f2"), np.mean(a, dtype="f2"), np.cumsum(a, dtype="f2")

    big = np.array([70000, 2])
    for backend in ("reference", "cpp"):
        jitted = npcompile.jit(sums, backend=backend)
        assert compare_calls(sums, jitted, (big,)) is None
        assert jitted.stats.hits == 1


@pytest.mark.parametrize("backend", ["reference", "cpp"])
def test_underflow_is_reported_where_nothing_else_is(backend):
    small = np.full(3, 1e-310)
    for fn in (lambda a: np.arctan2(a, 1e10), lambda a: np.exp(-1e3 - a), lambda a: a * a):
        jitted = npcompile.jit(fn, backend=backend)
        assert compare_calls(fn, jitted, (small,), "ulp") is None
        assert jitted.stats.hits == 1
        for mode in ("warn", "raise"):
            with np.errstate(all=mode):
                assert compare_calls(fn, jitted, (small,), "ulp") is None
        assert jitted.stats.plain_calls == 2


@pytest.mark.parametrize("backend", ["reference", "cpp"])
def test_error_of_an_int_that_becomes_a_float(backend):
    f = error_of_an_int_that_becomes_a_float
    assert compare_calls(f, npcompile.jit(f, backend=backend), (1, 9)) is None


def test_conditions_of_scalars_that_arrays_do_not_have():
    for f, x, y in ((lambda x, y: x % y, np.float16(1), np.float16(0)), (lambda x, y: x**y, np.float32(0), np.float32(-np.inf))):
        jitted = npcompile.jit(f, backend="reference")
        assert compare_calls(f, jitted, (x, y)) is None
        assert compare_calls(f, jitted, (y - 3, x + 2)) is None
        assert jitted.stats.compiles == 1 and jitted.stats.hits == 2


def divides_in_place(a, b):
    a /= b
    return a


def stores_after_a_root(a, b):
    c = np.sqrt(b)
    a[...] = c / (b - b)
    return c


@pytest.mark.parametrize("backend", ["reference", "cpp"])
def test_an_operation_that_raises_has_warned_of_nothing(backend):
    a = np.zeros(3)
    a.flags.writeable = False
    for fn in (divides_in_place, stores_after_a_root):
        jitted = npcompile.jit(fn, backend=backend)
        for _ in range(2):
            assert compare_calls(fn, jitted, (a, np.array([0.0, -1, 1]))) is None
        assert jitted.stats.compiles == 1 and not jitted.stats.plain_calls


def test_scalar_powers_and_remainders_whose_operands_are_cast():
    def remainder(n, x):
        return n % x

    def power(x, y):
        return x**y

    for fn, sets in (
        (remainder, [(3, np.float16(2)), (100_000, np.float16(0)), (100_000, np.float16(3))]),
        (power, [(np.float64(1e300), np.inf), (np.float64(0), -np.inf), (np.float64(2), 0.5)]),
        (power, [(np.float32(2), 1e300), (np.float32(1e30), np.inf)]),
    ):
        jitted = npcompile.jit(fn, backend="reference")
        for args in sets:
            assert compare_calls(fn, jitted, args) is None
        assert jitted.stats.hits == len(sets) and not jitted.stats.plain_calls


def test_finding_out_what_a_function_returns_does_not_warn():
    def f(a):
        return a.sum(dtype=np.int64)

    assert compare_calls(f, npcompile.jit(f, backend="reference"), (np.ones(3, "c16"),)) is None


def test_overflow_of_a_number_that_a_reduction_gives():
    """Whether a checked operation overflowed is its second result, and waits with the first."""

    def f(a, n, m):
        k = np.min([n, m])
        return a[k - 1] * 2

    def g(a, n, m):
        k = a.astype(int).ravel()[:n].min()
        return (k - 1) * (k + m) * 2

    for fn in (f, g):
        jitted = npcompile.jit(fn, options={"compile": "first"})
        assert compare_calls(fn, jitted, (np.arange(12.0).reshape(3, 4) + 1, 2, 3)) is None
        assert jitted.stats.compiles == 1


@pytest.mark.parametrize("backend", ["reference", "cpp"])
def test_means_whose_sum_is_no_finite_number(backend):
    """A sum by a count is a scalar operation only where one type holds the other; those of nanmean and nanvar report nothing."""

    def means(a):
        return a.mean(), np.mean(a, axis=0), a.std(), np.average(a)

    def nan_means(a):
        return np.nanmean(a), np.nanmean(a, axis=0), np.nanvar(a)

    for fn in (means, nan_means):
        jitted = npcompile.jit(fn, backend=backend, options={"compile": "first"})
        for dtype in "fFdD":
            for values in ([np.inf, 1.0, np.inf], [np.inf, -np.inf, 2.0], [3e38, 3e38, 0.0]):
                assert compare_calls(fn, jitted, (np.array(values, dtype),), "ulp") is None, (dtype, values)
        assert jitted.stats.hits == 12


@pytest.mark.parametrize("backend", ["reference", "cpp"])
def test_a_test_of_sizes_that_one_arm_still_needs(backend):
    """A comparison of an index waits to be computed until it is known where it is needed."""

    def f(y, n):
        flag = False
        k = 0
        for i in range(len(y)):
            for j in range(1, n):
                if flag and y[i] > 0:
                    k = k + 1
                if y[j] > 9:
                    return k
                flag = j > 1
            k += 2
        s = 0.0
        if y[0] > 0:
            for t in y:
                flag = 0.25 + k <= t
        else:
            for _ in range(n):
                s += 1 if flag else 2
        return s, k

    jitted = npcompile.jit(f, backend=backend, fullgraph=True)
    for y in (np.arange(4.0), -np.arange(4.0), np.arange(4.0) * 5, np.arange(4.0) + 0.5):
        assert compare_calls(f, jitted, (y, 3)) is None
    assert jitted.stats.hits >= 3
