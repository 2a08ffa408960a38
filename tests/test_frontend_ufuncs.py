"""Ufuncs, operators, indexing and conversions against NumPy, through the reference executor."""

import operator

import numpy as np
import pytest
from frontend_operators import arrays, pairs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_harness import check

from npcompile.frontends.numpy.ufuncs import UFUNCS

REAL = ["?", "i1", "u1", "i2", "u4", "i4", "i8", "u8", "f2", "f4", "f8"]
ALL = [*REAL, "F", "D"]
quick = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    divmod,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda f: f.__name__)
@quick
@given(data=st.data())
def test_binary_operators(op, data):
    x, y = data.draw(pairs(ALL))
    check(lambda xp, x, y: op(x, y), x, y, tolerance="ulp", may_refuse=True)


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]


@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda f: f.__name__)
@quick
@given(data=st.data())
def test_float_arithmetic_is_never_refused(op, data):
    """But for a remainder of float16 numbers by zero, of which NumPy's scalars warn otherwise than its arrays."""
    x, y = data.draw(pairs(["f2", "f4", "f8"]))
    halves = not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray) and np.result_type(x, y) == np.float16
    check(lambda xp, x, y: op(x, y), x, y, may_refuse=bool(op is operator.mod and halves and y == 0))


@pytest.mark.parametrize("ufunc", list(UFUNCS), ids=lambda u: u.__name__)
@settings(quick, max_examples=40)
@given(data=st.data())
def test_ufunc_calls(ufunc, data):
    if ufunc.nin == 1:
        args = [data.draw(arrays(ALL))]
    else:
        args = data.draw(pairs(ALL))
    check(lambda xp, *args: getattr(xp, ufunc.__name__)(*args), *args, tolerance="ulp", may_refuse=True)


@pytest.mark.parametrize("ufunc", ["add", "divide", "sqrt", "log", "maximum", "floor_divide", "modf", "arctanh"])
@quick
@given(data=st.data())
def test_ufunc_keywords(ufunc, data):
    f = getattr(np, ufunc)
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3)))
    args = [data.draw(arrays(["i4", "f4", "f8", "i8"], shape, spread=False)) for _ in range(f.nin)]
    outs = tuple(data.draw(arrays(["f4", "f8", "i4"], shape, spread=False)).copy() for _ in range(f.nout))
    mask = data.draw(arrays(["?"], shape, spread=False))
    use = data.draw(st.sampled_from(["out", "where", "dtype", "casting", "order"]))

    order = data.draw(st.sampled_from("CFAK"))

    def call(xp, mask, *rest):
        ins, outs = rest[: f.nin], rest[f.nin :]
        g = getattr(xp, ufunc)
        if use == "out":
            return g(*ins, out=outs if len(outs) > 1 else outs[0])
        if use == "where":
            return g(*ins, out=outs, where=mask)
        if use == "dtype":
            return g(*ins, dtype=np.float32)
        if use == "casting":
            return g(*ins, out=outs, casting="unsafe")
        return g(*ins, order=order)

    check(call, mask, *args, *outs, tolerance="ulp", may_refuse=True, copies=True)


EXPONENTS = [0, 1, 2, 3, -1, -2, 0.5, 2.0, 1.0, -1.0, 0.0, -0.5, 1.5, np.float32(0.5), np.float64(2), np.int64(2), True]


@pytest.mark.parametrize("e", EXPONENTS, ids=repr)
@pytest.mark.parametrize("dtype", ["i4", "u1", "f2", "f4", "f8", "D", "?"])
def test_powers(e, dtype):
    with np.errstate(all="ignore"):
        a = np.array([0.0, -0.0, 1, 2, 3.5, -4, 100, np.inf, -np.inf, np.nan] if dtype[0] in "fD" else [0, 1, 2, 3, 100], dtype)
    for f in (lambda xp, a: a**e, lambda xp, a: xp.power(a, e), lambda xp, a: a.__ipow__(e)):
        check(f, a, tolerance="ulp", copies=True)
    check(lambda xp, a, e: xp.power(a, e), a, e, tolerance="ulp")
    if not (type(e) is float and e == 0.5):  # the warning is the root's, not the power's
        check(lambda xp, a, e: a**e, a, e, tolerance="ulp")
