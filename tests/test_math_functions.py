"""Python's `math` functions of run-time numbers in compiled code: libm's own bits, exits where `math` raises."""

import math

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls
from npcompile.tracer import mathlib

ONE = (*mathlib.ONE_ARGUMENT, *mathlib.LOGARITHMS, "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "radians", "degrees")
TWO = ("atan2", "copysign", "fmod", "pow")
VALUES = (0.0, -0.0, 0.3, -0.7, 1.0, -1.0, 2.5, 1e-310, 710.0, -1e300, math.inf, -math.inf, math.nan)


def one(name):
    return lambda x: getattr(math, name)(x)


def two(name):
    return lambda x, y: getattr(math, name)(x, y)


def summed(name):
    def f(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += getattr(math, name)(a[i])
        return total

    return f


def of_a_number(names, make, examples):
    """Functions, jitted, compiled together for the first of the examples."""
    jitted = {name: (make(name), npcompile.jit(make(name), options={"compile": "first"})) for name in names}
    npcompile.testing.precompile((j, examples[0]) for _, j in jitted.values())
    return jitted


@pytest.mark.parametrize(
    "names, make, examples",
    [
        (ONE, one, [(x,) for x in (0.5, 1.5, *VALUES)]),
        (TWO, two, [(x, y) for x in (0.5, *VALUES) for y in (2.0, *VALUES)]),
        (("sqrt", "sin", "exp", "erf", "fabs", "cbrt", "atan"), summed, [(np.linspace(0.0, 1.0, 7),), (np.array([]),)]),
    ],
    ids=["one argument", "two arguments", "in a loop"],
)
def test_math_functions(names, make, examples):
    for name, (plain, jitted) in of_a_number(names, make, examples).items():
        report = npcompile.explain(jitted, *(examples[1] if name == "acosh" else examples[0]))
        assert len(report.segments) == 1 and not report.graph_breaks, f"{name}: {report}"
        for args in examples:
            wrong = compare_calls(plain, jitted, args, tolerance="exact")
            assert not wrong, f"math.{name}{args}: {wrong}"
