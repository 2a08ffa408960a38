"""Filters of conditions, and the predicates of casts, against what NumPy reports, element by element, over special values and
random bit patterns."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from kernels_harness import COMPLEX, FLOATS, INTS, NP, Batch, random_bits, special
from npcompile.kernels import available
from test_kernels_exact import NAMES

_TRIG = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
_EXP = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p")
NAMES = {**NAMES, "pow": "power", "atan2": "arctan2", **{p: p.replace("a", "arc", 1) for p in _TRIG if p[0] == "a"}, "abs": "abs"}
_EXACT_UNARY = ("sqrt", "square", "reciprocal", "rint", "floor", "ceil", "trunc", "abs", "sign", "spacing", "deg2rad", "rad2deg")
UNARY = [
    *((p, t) for p in (*_EXACT_UNARY, *_EXP, *_TRIG, "cbrt") for t in FLOATS),
    *((p, t) for p in ("reciprocal", "sign", "abs", "square") for t in INTS),
    *((p, t) for p in ("square", "reciprocal", "abs", "rint", "sign", "sqrt", *_EXP, *_TRIG) for t in COMPLEX),
]
COMPARES = ("lt", "le", "gt", "ge")
_EXACT_BINARY = ("add", "sub", "mul", "div", "floordiv", "mod", "fmod", "nextafter", "copysign", "heaviside")
BINARY = [
    *((p, t) for p in (*_EXACT_BINARY, "pow", "atan2", "hypot", "logaddexp", "logaddexp2") for t in FLOATS),
    *((p, t) for p in ("floordiv", "mod", "fmod") for t in INTS),
    *((p, t) for p in ("add", "sub", "mul", "div", "pow", *COMPARES) for t in COMPLEX),
]
_UNDERFLOW = 4


@pytest.fixture(scope="module")
def batch():
    b = Batch(("-O1", "-march=native"))
    for p, t in UNARY:
        add_filter(b, p, (t,))
    for p, t in BINARY:
        add_filter(b, p, (t, t))
    for t in FLOATS:
        add_filter(b, "ldexp", (t, "i64"))
    for s in NP:
        for d in NP:
            b.add(f"rep_convert<{d}>", (s,), "u8", f"npc_rep_convert<{ctype(d)}>(x0)", ("rep_convert",))
            b.names.discard(f"rep_convert<{d}>:{s}")
            b.add(f"odd_convert<{d}>", (s,), "bool", f"(npc_bool)npc_top(npc_odd_convert<{ctype(d)}>(x0))", ("odd_convert",))
            b.names.discard(f"odd_convert<{d}>:{s}")
    return b


def add_filter(b: Batch, prim: str, types: tuple[str, ...]) -> None:
    """The filter of a prim, where it has one: its own, else that of floating-point results."""
    args = ", ".join(f"x{k}" for k in range(len(types)))
    key = f"{prim}:{types[0]}"
    if available(f"odd_{key}"):
        b.add(f"odd_{prim}", types, "bool", f"(npc_bool)npc_top(npc_odd_{prim}({args}, npc_{prim}({args})))", (key,))
    elif types[0][0] in "fc" and prim not in COMPARES:
        b.add(f"odd_{prim}", types, "bool", f"(npc_bool)npc_top(npc_odd(npc_{prim}({args})))", (key, "odd"))
        b.names.discard(f"odd_{prim}:{types[0]}")


def ctype(t: str) -> str:
    from npcompile.kernels import CTYPES

    return CTYPES[t]


def reported(f, *arrays: np.ndarray) -> np.ndarray:
    """NumPy's mask for each element, evaluated alone in an array of 16 copies."""
    seen = [0]

    def note(kind: str, flag: int) -> None:
        seen[0] |= flag

    out = np.empty(len(arrays[0]), np.uint8)
    with np.errstate(all="call", call=note):
        for i in range(len(out)):
            seen[0] = 0
            f(*(a[i : i + 1].repeat(16) for a in arrays))
            out[i] = seen[0]
    return out


def quiet(x: np.ndarray) -> np.ndarray:
    """The same values with signalling NaNs made quiet."""
    with np.errstate(all="ignore"):
        return np.where(np.isnan(x), np.array(np.nan, x.dtype), x) if x.dtype.kind in "fc" else x


def some(t: str, n: int) -> np.ndarray:
    """Special values thinned out to about n, then n random bit patterns."""
    s = special(t)
    step = max(1, len(s) // n)
    return np.concatenate([s[::step], random_bits(t, n, 4)])


def check_filter(batch, prim: str, types: tuple[str, ...], mask: np.ndarray, *x: np.ndarray) -> None:
    """The loop's filter fires wherever something other than underflow is reported, and seldom elsewhere."""
    reported = mask & ~np.uint8(_UNDERFLOW) != 0
    if ("odd_" + prim, types, "bool") not in batch.keys:
        assert not reported.any()
        return
    odd = batch("odd_" + prim, types, "bool", *x)
    assert not (reported & ~odd).any(), [(*(a[i] for a in x), mask[i]) for i in np.flatnonzero(reported & ~odd)[:8]]
    with np.errstate(all="ignore"):
        usual = functools.reduce(operator.and_, [(np.abs(a) < 100) & (np.abs(a) > 0.5) for a in x])
    if prim not in ("acosh", "asin", "acos", "atanh", "sqrt", "log", "log2", "log10", "log1p", "pow"):
        assert not (odd & usual & ~reported & (np.abs(x[0]) < 10)).any()


@pytest.mark.parametrize("prim,t", UNARY)
def test_unary(batch, prim, t):
    x = quiet(some(t, 60))
    check_filter(batch, prim, (t,), reported(getattr(np, NAMES.get(prim, prim)), x), x)


@pytest.mark.parametrize("prim,t", BINARY)
def test_binary(batch, prim, t):
    v = quiet(some(t, 34)[::2])
    i, j = np.divmod(np.arange(len(v) ** 2), len(v))
    x, y = v[i], v[j]
    check_filter(batch, prim, (t, t), reported(getattr(np, NAMES.get(prim, prim)), x, y), x, y)


@pytest.mark.parametrize("t", FLOATS)
def test_ldexp(batch, t):
    x = quiet(some(t, 40))
    y = np.resize(np.array([0, 1, -1, 5, -5, 20, -20, 130, -130, 1100, -1100, 2100, -2100, 1 << 40]), len(x))
    check_filter(batch, "ldexp", (t, "i64"), reported(np.ldexp, x, y), x, y)


@pytest.mark.parametrize("s", NP)
@pytest.mark.parametrize("d", NP)
def test_convert(batch, s, d):
    x = quiet(some(s, 40))
    if d == "u32" and s[0] in "fc":
        with np.errstate(all="ignore"):
            x = x[~(np.abs(x.real.astype(float)) >= 2.0**31)]
    y = x.real if s[0] == "c" and d[0] != "c" and d != "bool" else x
    got, want = batch(f"rep_convert<{d}>", (s,), "u8", x), reported(lambda v: v.astype(NP[d]), y)
    bad = (got | _UNDERFLOW) != (want | _UNDERFLOW)
    assert not bad.any(), [(x[i], got[i], want[i]) for i in np.flatnonzero(bad)[:8]]
    check_filter(batch, f"convert<{d}>", (s,), got, x)
