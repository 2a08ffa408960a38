"""Kernel functions that NumPy defines to the bit, compared with NumPy over special values and random bit patterns."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from kernels_harness import COMPLEX, FLOATS, INTS, NP, Batch, pairs, same, sample

REAL = ["bool", *INTS, *FLOATS]
UNARY = [
    *((p, t, t) for p in ("neg", "sign", "square", "reciprocal") for t in [*INTS, *FLOATS]),
    *((p, t, t) for p in ("neg", "square", "reciprocal", "sign") for t in COMPLEX),
    *(("abs", t, {"c64": "f32", "c128": "f64"}[t]) for t in COMPLEX),
    *(("abs", t, t) for t in REAL),
    *((p, t, t) for p in ("floor", "ceil", "trunc") for t in REAL),
    *((p, t, t) for p in ("rint", "sqrt", "spacing", "deg2rad", "rad2deg") for t in FLOATS),
    *(("rint", t, t) for t in COMPLEX),
    *((p, t, "bool") for p in ("isnan", "isinf", "isfinite", "logical_not") for t in [*REAL, *COMPLEX]),
    *(("signbit", t, "bool") for t in FLOATS),
    *(("bit_not", t, t) for t in ["bool", *INTS]),
    *(("conj", t, t) for t in [*INTS, *FLOATS, *COMPLEX]),
    *((p, t, {"c64": "f32", "c128": "f64"}[t]) for p in ("real", "imag") for t in COMPLEX),
]
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")
BINARY = [
    *((p, t, t) for p in ("add", "mul") for t in [*REAL, *COMPLEX]),
    *(("div", t, t) for t in COMPLEX),
    *(("sub", t, t) for t in [*INTS, *FLOATS, *COMPLEX]),
    *(("div", t, t) for t in FLOATS),
    *((p, t, "bool") for p in _COMPARE for t in [*REAL, *COMPLEX]),
    *((p, t, t) for p in ("maximum", "minimum", "fmax", "fmin") for t in [*REAL, *COMPLEX]),
    *((p, t, t) for p in ("bit_and", "bit_or", "bit_xor") for t in ["bool", *INTS]),
    *((p, t, t) for p in ("shl", "shr", "gcd", "lcm", "floordiv", "mod", "fmod") for t in INTS),
    *((p, t, t) for p in ("floordiv", "mod", "fmod", "copysign", "nextafter", "heaviside") for t in FLOATS),
]
NAMES = {
    "neg": "negative", "rint": "rint", "bit_not": "invert", "conj": "conjugate", "sub": "subtract", "mul": "multiply",
    "div": "divide", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "bit_and": "bitwise_and", "bit_or": "bitwise_or", "bit_xor": "bitwise_xor", "shl": "left_shift",
    "shr": "right_shift", "floordiv": "floor_divide", "mod": "remainder",
}  # fmt: skip


@pytest.fixture(scope="module", params=[("-O3", "-march=native"), ("-O1", "-march=x86-64")], ids=["native", "sse2"])
def batch(request):
    b = Batch(request.param)
    for p, t, out in UNARY:
        b.add(p, (t,), out)
    for p, t, out in BINARY:
        b.add(p, (t, t), out)
    for t in INTS:
        b.add("pow", (t, t), t)
    for t in FLOATS:
        b.add("ldexp", (t, "i32"), t)
        b.add("ldexp", (t, "i64"), t)
    for p in _COMPARE[:6]:
        b.add(p, ("i64", "u64"), "bool")
        b.add(p, ("u64", "i64"), "bool")
    for s in NP:
        for d in NP:
            b.add("convert", (s,), d, f"npc_convert<{b_ctype(d)}>(x0)")
    return b


def b_ctype(t: str) -> str:
    from npcompile.kernels import CTYPES

    return CTYPES[t]


def numpy_function(prim: str):
    return getattr(np, NAMES.get(prim, prim))


@pytest.mark.parametrize("prim,t,out", UNARY)
def test_unary(batch, prim, t, out):
    x = sample(t)
    with np.errstate(all="ignore"):
        want = numpy_function(prim)(x)
    got = batch(prim, (t,), out, x)
    bad = ~same(got, want.astype(NP[out]))
    if (prim == "sign" and t[0] == "c") or ((prim, t) in FUSED and "-march=native" not in batch.flags):
        bad &= ~close(got, want)
    assert not bad.any(), (x[bad][:5], got[bad][:5], want[bad][:5])


FUSED = {("mul", "c64"), ("mul", "c128"), ("square", "c64"), ("square", "c128"), ("abs", "c64"), ("abs", "c128")}
"""Complex functions that use fused multiply-add where there is one, as NumPy's loops do."""


def close(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal to a few units of the larger part; where one overflows the other is not compared."""
    with np.errstate(all="ignore"):
        wild = ~(np.isfinite(got) & np.isfinite(want))
        return wild | (np.abs(got - want) <= 4 * np.finfo(got.dtype).eps * np.abs(want) + np.finfo(got.dtype).tiny)


def zero_choice(prim: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pairs of zeros where NumPy's own fmax and fmin depend on an element's position."""
    return (x == 0) & (y == 0) if prim in ("fmax", "fmin") and x.dtype.kind == "f" else np.zeros(len(x), bool)


@pytest.mark.parametrize("prim,t,out", BINARY)
def test_binary(batch, prim, t, out):
    x, y = pairs(t)
    with np.errstate(all="ignore"):
        want = numpy_function(prim)(x, y)
    got = batch(prim, (t, t), out, x, y)
    bad = ~same(got, want.astype(NP[out])) & ~zero_choice(prim, x, y)
    if (prim, t) in FUSED and "-march=native" not in batch.flags:
        bad &= ~close(got, want)
    assert not bad.any(), (x[bad][:5], y[bad][:5], got[bad][:5], want[bad][:5])


@pytest.mark.parametrize("t", INTS)
def test_integer_power(batch, t):
    x, y = pairs(t)
    keep = y >= 0
    x, y = x[keep], y[keep]
    assert (batch("pow", (t, t), t, x, y) == np.power(x, y)).all()


@pytest.mark.parametrize("t", FLOATS)
@pytest.mark.parametrize("e", ["i32", "i64"])
def test_ldexp(batch, t, e):
    x, y = pairs(t, 4000, e)
    rng = np.random.default_rng(3)
    y = np.where(rng.random(len(y)) < 0.6, rng.integers(-2200, 2200, len(y)), y).astype(NP[e])
    with np.errstate(all="ignore"):
        want = np.ldexp(x, y)
    got = batch("ldexp", (t, e), t, x, y)
    bad = ~same(got, want)
    assert not bad.any(), (x[bad][:5], y[bad][:5], got[bad][:5], want[bad][:5])


@pytest.mark.parametrize("prim", _COMPARE[:6])
def test_mixed_sign_comparison(batch, prim):
    x, y = pairs("i64", 4000, "u64")
    f = getattr(operator, prim)
    want = np.array([f(int(a), int(b)) for a, b in zip(x, y)])
    assert (batch(prim, ("i64", "u64"), "bool", x, y) == want).all()
    want = np.array([f(int(b), int(a)) for a, b in zip(x, y)])
    assert (batch(prim, ("u64", "i64"), "bool", y, x) == want).all()


def defined(x: np.ndarray, d: str) -> np.ndarray:
    """Casts where NumPy's result does not depend on the element's position (uint32 of values out of range does)."""
    if d != "u32" or x.dtype.kind not in "fc":
        return np.ones(len(x), bool)
    with np.errstate(invalid="ignore"):
        r = x.real.astype(float)
    return (r > -(2.0**31)) & (r < 2.0**32)


@pytest.mark.parametrize("s", NP)
@pytest.mark.parametrize("d", NP)
def test_convert(batch, s, d):
    x = sample(s)
    y = x.real if s[0] == "c" and d[0] != "c" and d != "bool" else x
    with np.errstate(all="ignore"):
        want = y.astype(NP[d])
    got = batch("convert", (s,), d, x)
    bad = ~same(got, want) & defined(x, d)
    assert not bad.any(), (x[bad][:5], got[bad][:5], want[bad][:5])
