"""Python's complex numbers have CPython's own bits, and its exceptions."""

import itertools

import numpy as np
import pytest
from language_harness import agree

import npcompile

PARTS = [0.0, -0.0, 1.0, -2.5, 3e200, -1e308, 5e-324, float("inf"), float("-inf"), float("nan"), 1e-300, 7.0]
SPECIAL = [complex(a, b) for a in PARTS for b in PARTS]
RNG = np.random.default_rng(0)
RANDOM = [complex(*x) for x in RNG.normal(size=(200, 2)) * 10.0 ** RNG.integers(-5, 5, (200, 1))]


def bits(call, *args):
    try:
        z = call(*args)
    except Exception as e:
        return type(e), str(e)
    z = type(z), complex(z)
    return z[0], *("nan" if x != x else x.hex() for x in (z[1].real, z[1].imag))


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: abs(a),
        lambda a, b: a**2,
        lambda a, b: a**3,
        lambda a, b: a**10,
        lambda a, b: a**0,
        lambda a, b: -a,
        lambda a, b: a == b,
    ],
    ids=["add", "sub", "mul", "div", "abs", "pow2", "pow3", "pow10", "pow0", "neg", "eq"],
)
def test_bits(fn):
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for a, b in itertools.chain(itertools.product(SPECIAL[::3], SPECIAL[::7]), zip(RANDOM, RANDOM[::-1])):
        assert bits(jitted, a, b) == bits(fn, a, b), (a, b)
    assert jitted.hits > 200


@pytest.mark.parametrize("pair", [(2.0, 3j), (1j, 2.0), (1, 3 + 1j), (1 + 1j, 3), (True, 1j), (0.0, -0j)])
def test_with_other_numbers(pair):
    for fn in (lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a / b):
        assert bits(npcompile.jit(fn, options={"compile": "first"}), *pair) == bits(fn, *pair)


def escape(w, h, limit):
    out = np.zeros((h, w), int)
    for i in range(h):
        for j in range(w):
            c = complex(-2 + 3 * j / w, -1 + 2 * i / h)
            z, n = 0j, 0
            while abs(z) < 2 and n < limit:
                z = z * z + c
                n += 1
            out[i, j] = n
    return out


def transformed(x):
    n = len(x)
    out = np.zeros(n, complex)
    for k in range(n):
        s = 0j
        for m in range(n):
            s += complex(x[m]) * (1j / n) ** 2
        out[k] = s / (k + 1)
    return out


@pytest.mark.parametrize("fn, args", [(escape, (20, 15, 40)), (transformed, (np.arange(12.0),))])
def test_loops_are_native(fn, args):
    agree(lambda: fn, args)
