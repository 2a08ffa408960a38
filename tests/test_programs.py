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


CASES = [(condition_of_a_result_nobody_uses, (np.array([-1, 0, 1, -1, 0]),)), (loop_whose_results_nobody_uses, (X, 12))]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_program(fn, args):
    jitted = npcompile.jit(fn)
    for _ in range(2):
        assert compare_calls(fn, jitted, args, "sum") is None
