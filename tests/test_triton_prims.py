"""Every elementwise primitive as Triton text, for every dtype it takes, against its reference implementation."""

import itertools

import numpy as np
import pytest
from test_ir_prims import DTYPES, special
from triton_harness import apply

from npcompile.ir.prim import HOST, PRIMS
from npcompile.ir.types import TensorType
from npcompile.testing import difference

COMPLEX = frozenset({"complex", "real", "imag"})
"""They exist for complex operands only, which devices do not take yet."""

SHAPED = frozenset({"const", "full", "iota", "dim", "copy", "select", "convert", "bitcast", "take", "gather", "take_along"})
EXACT = frozenset({"sqrt", "div", "floordiv", "mod", "fmod", "reciprocal", "gcd", "lcm"})
PRIMITIVES = [
    p
    for p in PRIMS.values()
    if p.loop == "pointwise" and p.name not in SHAPED | COMPLEX and p.triton != HOST and p.group in ("unary", "binary")
]


def operands(prim):
    """Dtypes that the type rule takes, with the result's."""
    arity = 2 if "{1}" in prim.cpp else 1
    for ds in itertools.product([d for d in DTYPES if d.kind != "c"], repeat=arity):
        try:
            (t,) = prim.type_rule(tuple(TensorType(d) for d in ds), {"n": 3})
        except TypeError:
            continue
        yield ds, t.dtype


def samples(prim, ds):
    """All pairs of special values, and ordinary ones."""
    rng = np.random.default_rng(0)
    some = []
    for d in ds:
        x = rng.integers(0, 2, 40) if d.kind == "b" else rng.integers(0, 100, 40) if d.kind in "iu" else rng.normal(size=40) * 3
        some.append(np.concatenate([special(d), x.astype(d)]))
    if len(ds) == 1:
        return some
    a, b = np.meshgrid(*some)
    return [a.ravel(), b.ravel()]


def reference(prim, xs, params):
    with np.errstate(all="ignore"):
        (want,) = prim.numpy(tuple(xs), params)
    return want


def test_no_cell_is_empty():
    for p in PRIMS.values():
        if p.loop == "pointwise" and p.name not in COMPLEX:
            assert p.triton, p.name


@pytest.mark.parametrize("prim", PRIMITIVES, ids=lambda p: p.name)
def test_elementwise(prim):
    params = {"n": 3} if prim.name == "powi" else {}
    tried = 0
    for ds, out in operands(prim):
        xs = samples(prim, ds)
        if prim.name == "pow" and ds[0].kind in "iu":
            keep = xs[1].astype(np.float64) >= 0
            xs = [x[keep] for x in xs]
        if prim.name == "lgamma":
            xs = [x[~((x < 0) | ((x > 0.75) & (x < 2.25)))] for x in xs]  # near poles and zeros the reference itself is off
        if prim.name.startswith("logaddexp"):
            near = np.abs(reference(prim, xs, params)) * 8 < np.maximum(*map(np.abs, xs))
            xs = [x[~near] for x in xs]  # cancellation: NumPy's own result is off
        want = reference(prim, xs, params)
        got = apply(prim.name, xs, out, params)
        rounded = prim.cost == "expensive" or prim.name in ("powi", "ldexp")
        tolerance = "ulp" if rounded and prim.name not in EXACT and out.kind == "f" else "exact"
        text = difference(want, got, tolerance)
        assert text is None, f"{[str(d) for d in ds]}: {text}: {culprits(xs, want, got)}"
        tried += 1
    assert tried


def culprits(xs, want, got):
    bad = ~((want == got) | ((want != want) & (got != got)))
    return [(*(x[i] for x in xs), want[i], got[i]) for i in np.flatnonzero(bad)[:3]]


@pytest.mark.parametrize("src", [d for d in DTYPES if d.kind != "c"], ids=str)
def test_convert(src):
    for dst in DTYPES:
        if dst.kind == "c":
            continue
        x = samples(None, [src])[0]
        if src.kind == "f" and dst.kind in "iu":
            info = np.iinfo(dst)
            with np.errstate(all="ignore"):
                wide = x.astype(np.longdouble)
            x = x[(wide > (info.min if info.min else -1)) & (wide < info.max)]  # C leaves the others open
        want = reference(PRIMS["convert"], [x], {"dtype": dst})
        assert difference(want, apply("convert", [x], dst, {"dtype": dst})) is None, dst


def test_select_and_bitcast():
    m, a, b = np.array([True, False] * 8), np.arange(16.0), -np.arange(16.0)
    assert difference(np.where(m, a, b), apply("select", [m, a, b], a.dtype)) is None
    assert difference(a.view(np.int64), apply("bitcast", [a], np.int64, {"dtype": np.dtype(np.int64)})) is None
    assert difference(m.view(np.uint8), apply("bitcast", [m], np.uint8, {"dtype": np.dtype(np.uint8)})) is None
