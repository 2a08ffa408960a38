"""Powers with a constant integer exponent: error against long double, signs, special values, integers, the conditions' filter."""

import functools

import numpy as np
import pytest
from kernels_harness import NP, Batch, same, sample, ulps

EXPONENTS = (2, 3, 4, 5, 7, 12, 15, 31, 32)
TARGETS = {"native": ("-O3", "-march=native"), "sse2": ("-O2", "-march=x86-64")}
TYPES = ("f64", "f32", "f16", "i64", "i8", "u32")


@functools.cache
def batch(target: str) -> Batch:
    b = Batch(TARGETS[target])
    for t in TYPES:
        for n in EXPONENTS:
            b.add(f"powi{n}", (t,), t, f"npc_powi<{n}>(x0)", (f"powi:{t}",))
            if t[0] == "f":
                b.add(f"odd{n}", (t,), "bool", f"(npc_bool)npc_top(npc_odd(npc_powi<{n}>(x0)))", (f"powi:{t}", "odd"))
    b.names -= {f"{p}{n}:{t}" for p in ("powi", "odd") for n in EXPONENTS for t in TYPES}
    return b


def operands(t: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        return np.concatenate([sample(t), np.exp(rng.uniform(-30, 30, 4000)) * rng.choice([-1, 1], 4000)]).astype(NP[t])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", EXPONENTS)
@pytest.mark.parametrize("t", ["f64", "f32", "f16"])
def test_error(t, n, target):
    x = operands(t)
    got = batch(target)(f"powi{n}", (t,), t, x)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), n)
        u = ulps(got, exact)
        whole = np.abs(exact) > 100 * float(np.finfo(got.dtype).tiny)  # else a product on the way was rounded as a subnormal
    k = int(np.argmax(np.where(whole, u, 0)))
    assert u[k] <= 0.52 and u.max() <= 1.6, (u[k], u.max(), x[k], got[k])


@pytest.mark.parametrize("n", EXPONENTS)
@pytest.mark.parametrize("t", ["i64", "i8", "u32"])
def test_integers_wrap(t, n):
    x = sample(t)
    assert same(batch("native")(f"powi{n}", (t,), t, x), np.power(x, np.array(n, x.dtype))).all()


@pytest.mark.parametrize("t", ["f64", "f32", "f16"])
def test_the_filter_sees_what_numpy_reports(t):
    for n in (3, 5):
        x = operands(t)[::40]
        odd = batch("native")(f"odd{n}", (t,), "bool", x)
        for k in range(len(x)):
            seen = []
            with np.errstate(all="call", under="ignore", call=lambda kind, _, seen=seen: seen.append(kind)):
                np.power(x[k : k + 1], np.array([n], x.dtype))
            assert odd[k] or not seen, (x[k], n, seen)
