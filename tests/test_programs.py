"""Small whole programs, most of them shrunk from the fuzzer's findings, compiled against plain."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls

X = np.random.default_rng(5).standard_normal((5, 6))


def loop_whose_results_nobody_uses(a, n):
    k = 1
    for i in range(1, n):
        k = (k * 7 + i) & 255
    s = 0.0
    for i in range(n):
        s += i * 0.5
    return (a,)


def condition_of_a_result_nobody_uses(a):
    sign = np.sign(a)
    unused = (sign ^ a) / (-1 - a)  # noqa: F841
    return sign


def different_reductions_of_one_pass(a):
    return np.max(a), np.any(a), np.count_nonzero(a > 0), np.min(a), np.all(a > 1e9)


def sum_and_product(a):
    return np.sum(a), np.prod(a), np.max(a)


def product_and_sum(a):
    return np.prod(a, axis=-1), np.max(a, axis=-1), np.sum(a, axis=-1)


def sums_of_two_orders(a, b):
    return np.sum(a), np.sum(b), np.sum(a * b)


def sum_of_a_complex_and_its_real_part(a):
    return a.sum(), a.real.sum()


def columns_after_division_in_place(a, b):
    a //= b
    return a.sum(axis=0), a.max(axis=0), (a > 2).sum(axis=0)


def rows_after_product_in_place(a, b):
    a *= b
    return a.sum(axis=1), a - a.sum(axis=1, keepdims=True)


def conditions_of_a_later_result_come_later(a, b):
    y = np.log(a - 1)  # runs with the sum below, but reports first
    k = (a / b).astype("i4")
    c = np.sqrt(-a).sum()
    d = b[1] / b[0]
    return y - d, c, k, y.max()


def conditions_in_a_loop(a, b):
    r = 0
    for i in range(4):
        y = np.log(a - i)
        d = b[1] / b[0]
        r = r + (y - d)
    return r, np.sqrt(-a)


def one_operation_of_two_results(a, b):
    return divmod(a, b), divmod(a[0], b[0]), np.divmod(a, b[1])


def powers_by_exponents_of_a_loop(a):
    out = np.zeros(a.shape)
    for k in range(-2, 4):
        out += a**k
    return out


def power_by_an_argument(a, e):
    b = a**e
    a **= e
    return b, a[1] ** e


LONG = np.random.default_rng(6).standard_normal(3000)
DIVISORS = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
WITHIN_ULPS = (powers_by_exponents_of_a_loop, power_by_an_argument, conditions_of_a_later_result_come_later, conditions_in_a_loop)
CASES = [(condition_of_a_result_nobody_uses, (np.array([-1, 0, 1, -1, 0]),)), (loop_whose_results_nobody_uses, (X, 12))]
CASES += [(different_reductions_of_one_pass, (a,)) for a in (X, LONG, np.zeros(300))]
CASES += [(f, (LONG.astype(d),)) for f in (sum_and_product, product_and_sum) for d in ("f8", "f4", "f2", "c16")]
CASES += [(sums_of_two_orders, (LONG.reshape(50, 60), LONG.reshape(60, 50).T))]
CASES += [(sum_of_a_complex_and_its_real_part, ((LONG + 1j).astype(d),)) for d in ("c16", "c8")]
CASES += [(columns_after_division_in_place, (np.ones((2, 3), d), DIVISORS.astype(d))) for d in ("i8", "f8", "f4")]
NUMBERS = (np.array([1.0, 0.0, np.inf, 3.0]), np.array([0.0, 0.0, 1.0, np.nan]))
CASES += [(conditions_of_a_later_result_come_later, NUMBERS), (conditions_in_a_loop, NUMBERS)]
CASES += [(one_operation_of_two_results, tuple(x.astype(d) for x in NUMBERS)) for d in ("f8", "f4", "f2")]
CASES += [(powers_by_exponents_of_a_loop, (np.array([-1.0, -0.0, -np.inf, 1e200]),))]
CASES += [(power_by_an_argument, (np.array([-1.0, -0.0, -np.inf, 4.0], d), e)) for d in ("f8", "f2") for e in (0.5, -1, 2, 2.0)]
CASES += [(rows_after_product_in_place, (np.full((2, 3), 1e308), np.ones((2, 3))))]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_program(fn, args):
    jitted = npcompile.jit(fn)
    for _ in range(2):
        assert compare_calls(fn, jitted, args, "ulp" if fn in WITHIN_ULPS else "exact") is None
    assert jitted.stats.compiles == 1 and jitted.stats.hits == 2, jitted.stats


def of_complete_rows(x, weights):
    """Calls itself at most once, which no trace can know: each level has both ways to go on."""
    complete = (x == x).all(axis=1)
    if not complete.all():
        out = np.full(len(x), np.nan)
        out[complete] = of_complete_rows(x[complete], weights)
        return out
    columns = [x[:, k] * weights[k] for k in range(4)]
    total = np.zeros(len(x))
    if (columns[0] > 0).any():
        total += columns[0] - columns[1] * columns[2]
    if (columns[1] > 0).any():
        total += np.where(columns[1] > columns[2], columns[3], columns[0])
    return total / (1 + np.abs(total))


def test_recursion_of_unknown_depth_is_traced_a_few_levels_deep():
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    whole = np.random.default_rng(8).standard_normal((20, 4))
    holes = whole.copy()
    holes[[2, 7], 1] = np.nan
    report = npcompile.explain(of_complete_rows, whole, weights)
    assert report.segments and len(report.source) < 200_000, len(report.source)
    jitted = npcompile.jit(of_complete_rows, options={"compile": "first"})
    for x in (whole, holes, whole, holes):
        assert compare_calls(of_complete_rows, jitted, (x, weights)) is None
