"""The kernels' math: units in the last place against long double, special values, and bits that depend on nothing else.

The reference is the C library's long double function (64 or more significant bits).
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np
import pytest
from kernels_harness import NP, Batch, compiled, pairs, random_bits, same, sample, special, ulps
from npcompile.kernels import RANGED

LIMITS: dict[str, tuple[float, float]] = {
    "exp": (1.3, 1.2), "exp2": (1.1, 1.2), "expm1": (2.0, 1.7), "log": (1.0, 1.0), "log2": (1.0, 1.0), "log10": (1.0, 1.0),
    "log1p": (1.1, 1.1), "sin": (2.0, 2.0), "cos": (2.0, 2.0), "tan": (2.6, 2.6), "asin": (2.6, 2.6), "acos": (1.5, 1.5),
    "atan": (2.4, 2.4), "sinh": (2.7, 2.5), "cosh": (2.2, 2.2), "tanh": (3.2, 2.6), "asinh": (2.0, 2.0), "acosh": (2.5, 2.5),
    "atanh": (2.4, 2.4), "cbrt": (0.6, 0.6), "erf": (1.8, 1.8), "pow": (1.5, 0.6), "atan2": (2.6, 2.6), "hypot": (0.6, 0.6),
}  # fmt: skip
"""Largest error allowed, float64 and float32, in units in the last place; docs/accuracy.md gives the measured ones."""
BINARY = ("pow", "atan2", "hypot")
RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "exp": ((-750, 720),), "exp2": ((-1080, 1030),), "expm1": ((-50, 720), (-1, 1), (-0.01, 0.01)), "sinh": ((-720, 720),),
    "cosh": ((-720, 720),), "tanh": ((-25, 25), (-1, 1)), "sin": ((-1e5, 1e5), (-1e9, 1e9)), "cos": ((-1e5, 1e5), (-1e9, 1e9)),
    "tan": ((-1e5, 1e5), (-1e9, 1e9)), "asin": ((-1, 1),), "acos": ((-1, 1), (0.9, 1)), "acosh": ((1, 1e3), (1, 1.01)),
    "atanh": ((-1, 1), (-0.1, 0.1)), "log1p": ((-1, 1), (-1e-3, 1e-3)), "erf": ((-7, 7), (-1, 1)),
}  # fmt: skip
NAMES = sorted(LIMITS)
TARGETS = {"native": ("-O3", "-march=native"), "avx2": ("-O3", "-march=x86-64-v3"), "sse2": ("-O2", "-march=x86-64")}


@functools.cache
def batch(target: str) -> Batch:
    b = Batch(TARGETS[target])
    for name in NAMES:
        for t in ("f64", "f32"):
            b.add(name, (t,) * (1 + (name in BINARY)), t)
    for name in sorted(RANGED):
        for t, u in (("f64", "u64"), ("f32", "u32")):
            n = 1 if name in NAMES else 2
            b.add(name, (t,) * n, t)
            b.add(f"near_{name}", (t,) * n, t)
            b.add(f"far_{name}", (t,) * n, u)
    return b


@functools.cache
def reference() -> ctypes.CDLL:
    out = []
    for n in NAMES:
        two = n in BINARY
        params = "long double, long double" if two else "long double"
        out.append(f'extern "C" long double {n}l({params});')
        for t, c in (("f64", "double"), ("f32", "float")):
            args = f"const {c} *a, const {c} *b" if two else f"const {c} *a"
            call = "a[i], b[i]" if two else "a[i]"
            out.append(
                f'extern "C" void {n}_{t}(long long n, long double *r, {args}) '
                f"{{ for (long long i = 0; i < n; i++) r[i] = {n}l({call}); }}"
            )
    return compiled("\n".join(out), ("-O1", "-fno-builtin"))


def exact(name: str, t: str, *x: np.ndarray) -> np.ndarray:
    r = np.empty(len(x[0]), np.longdouble)
    getattr(reference(), f"{name}_{t}")(ctypes.c_longlong(len(r)), *(ctypes.c_void_p(a.ctypes.data) for a in (r, *x)))
    return r


def operands(name: str, t: str, n: int = 6000) -> tuple[np.ndarray, ...]:
    """Special values, random bits, and the ranges where the function lives."""
    rng = np.random.default_rng(17)
    if name in BINARY:
        x, y = (np.where(np.isnan(a), np.nan, a) for a in pairs(t, n))  # quiet: they are converted
        base = np.exp(rng.uniform(-60, 60, n))
        power = rng.uniform(-1, 1, n) * (700 if t == "f64" else 80) / np.abs(np.log(base))
        whole = rng.integers(-40, 40, n).astype(float)
        a = np.concatenate([x, base, -base, 1 + rng.uniform(-1e-3, 1e-3, n), rng.standard_normal(n)])
        b = np.concatenate([y, power, whole, rng.uniform(-1e5, 1e5, n), rng.standard_normal(n)])
        return a.astype(NP[t]), b.astype(NP[t])
    parts = [sample(t, n), np.exp(rng.uniform(-80, 80, n)) * rng.choice([-1, 1], n)]
    parts += [rng.uniform(lo, hi, n) for lo, hi in RANGES.get(name, ())]
    with np.errstate(all="ignore"):
        return (np.concatenate(parts).astype(NP[t]),)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("name", NAMES)
def test_error(name, t, target):
    x = operands(name, t)
    got = batch(target)(name, (t,) * len(x), t, *x)
    u = ulps(got, exact(name, t, *x))
    k = int(np.argmax(u))
    # without fused multiply-add a little is lost
    limit = LIMITS[name][t == "f32"] + (1.0 if target == "sse2" else 0.0)
    assert u[k] <= limit, (u[k], [a[k] for a in x], got[k])


@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("name", NAMES)
def test_value_does_not_depend_on_position(name, t):
    x = tuple(a[:: max(1, len(a) // 300)] for a in operands(name, t, 500))
    b = batch("native")
    whole = b(name, (t,) * len(x), t, *x)
    for lo, n in [(i, n) for i in range(0, 40, 7) for n in (1, 2, 3, 5, 8, 13, 17, 31)]:
        assert same(b(name, (t,) * len(x), t, *(a[lo : lo + n] for a in x)), whole[lo : lo + n]).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("name", sorted(RANGED))
def test_near_functions_agree_where_they_are_defined(name, t, target):
    if name in NAMES:
        x = operands(name, t)
    else:
        x = pairs(t, 20000)
    b = batch(target)
    types = (t,) * len(x)
    far = b(f"far_{name}", types, "u64" if t == "f64" else "u32", *x)
    far >>= far.dtype.type(far.dtype.itemsize * 8 - 1)
    assert 0.3 < (far == 0).mean() < 1
    near, full = b(f"near_{name}", types, t, *x), b(name, types, t, *x)
    assert (same(near, full) | (far != 0)).all()


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "erf"])
def test_float32_on_many_bit_patterns(name):
    x = random_bits("f32", 1 << 19, 5)
    u = ulps(batch("native")(name, ("f32",), "f32", x), exact(name, "f32", x))
    assert u.max() <= LIMITS[name][1], (u.max(), x[u.argmax()])


@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "sinh", "cosh"])
def test_overflow_starts_where_it_should(name, t):
    lo, hi = 0.0, 2000.0
    while np.nextafter(NP[t](lo), NP[t](hi)) < NP[t](hi):
        mid = (lo + hi) / 2
        with np.errstate(over="ignore"):
            inside = np.isfinite(exact(name, t, np.array([mid], NP[t])).astype(NP[t])[0])
        lo, hi = (mid, hi) if inside else (lo, mid)
    x = np.array([lo, hi, *(lo * (1 + np.arange(-50, 50) * 1e-7))], NP[t])
    with np.errstate(over="ignore"):
        want = exact(name, t, x).astype(NP[t])
    assert (np.isinf(batch("native")(name, (t,), t, x)) == np.isinf(want)).all()


COMPLEX = (
    "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp2", "expm1", "log2", "log10", "log1p",
)  # fmt: skip


def test_complex_functions_are_close_to_numpy():
    arc = {p: p.replace("a", "arc", 1) for p in COMPLEX if p[0] == "a"}
    b = Batch()
    for p in COMPLEX:
        for t in ("c128", "c64"):
            b.add(p, (t,), t)
            b.add("pow", (t, t), t)
    for t in ("c128", "c64"):
        x = special(t)
        rng = np.random.default_rng(1)
        x = np.concatenate([x, (rng.standard_normal(2000) + 1j * rng.standard_normal(2000)).astype(NP[t])])
        eps = np.finfo(x.real.dtype).eps
        for p in COMPLEX:
            with np.errstate(all="ignore"):
                want = getattr(np, arc.get(p, p))(x)
                got = b(p, (t,), t, x)
                near = np.abs(got - want) <= 8 * eps * np.abs(want)
            bad = ~(same(got, want) | near | (np.abs(x) > 1e15))
            assert not bad.any(), (p, t, x[bad][:4], got[bad][:4], want[bad][:4])
        y = np.resize(np.array([0, 1, 2, 3, -1, -2, 5, 0.5, 1j, -0.5 + 2j, 99, -99], NP[t]), len(x))
        with np.errstate(all="ignore"):
            want, got = np.power(x, y), b("pow", (t, t), t, x, y)
            near = np.abs(got - want) <= 8 * eps * np.abs(want)
        bad = ~(same(got, want) | near)
        assert not bad.any(), (t, x[bad][:4], y[bad][:4], got[bad][:4], want[bad][:4])


def test_float16_rounds_float32_once():
    b = Batch()
    for name in NAMES:
        b.add(name, ("f16",) * (1 + (name in BINARY)), "f16")
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for name in NAMES:
        x = pairs("f16", 4000) if name in BINARY else (every,)
        got = b(name, ("f16",) * len(x), "f16", *x)
        with np.errstate(all="ignore"):
            want = exact(name, "f32", *(a.astype(np.float32) for a in x))
        u = ulps(got, want)
        assert u.max() <= 0.51, (name, u.max(), [a[u.argmax()] for a in x])
