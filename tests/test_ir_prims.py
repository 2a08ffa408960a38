"""Every row of the prim table is complete, and what it says of NumPy is so."""

import itertools
import warnings

import numpy as np
import pytest

import npcompile.ir.prims  # noqa: F401
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import TensorType

GROUPS = {"unary", "binary", "select", "create", "index_map", "reduce", "memory", "control", "linalg", "extern"}
ELEMENTWISE = [
    p
    for p in PRIMS.values()
    if p.group in ("unary", "binary") and p.name not in ("libm", "powi") and not p.name.endswith("_checked")
]
DTYPES = [np.dtype(c) for c in "?bBhHiIlLefdFD"]


def special(dtype):
    """Values at which floating-point conditions and integer edge cases occur."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 7, info.max, info.min, info.max - 1, -1 if info.min else 3], dtype)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        some = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e3, -1e3]
        return np.array([*some, info.max, info.min, info.tiny, info.smallest_subnormal], dtype)
    part = special(np.empty(0, dtype).real.dtype)
    return np.array([complex(x, y) for x, y in itertools.product(part, part)], dtype)


def test_every_cell_is_filled():
    for p in PRIMS.values():
        assert p.group in GROUPS, p.name
        assert callable(p.type_rule) and callable(p.numpy), p.name
        assert p.loop in ("pointwise", "index_map", "reduce", "memory", "control", "opaque"), p.name
        assert p.cost in ("free", "cheap", "expensive", "extern"), p.name
        assert set(p.reports) <= {"divide", "overflow", "underflow", "invalid"} and set(p.conditions) <= set("biufc"), p.name
        assert p.vjp == "later" or callable(p.vjp), p.name
        if p.loop in ("pointwise", "reduce"):
            assert p.cpp and p.triton, p.name


def test_gradients_still_to_come():
    later = sum(p.vjp == "later" for p in PRIMS.values())
    print(f"{later} of {len(PRIMS)} rows have no vjp yet")
    assert later <= len(PRIMS)


def applicable(prim):
    """Operand dtypes that the type rule takes."""
    arity = 2 if "{1}" in prim.cpp else 1
    for ds in itertools.product(DTYPES, repeat=arity):
        try:
            (t,) = prim.type_rule(tuple(TensorType(d) for d in ds), {})
        except TypeError:
            continue
        yield ds, t.dtype


@pytest.mark.parametrize("prim", ELEMENTWISE, ids=lambda p: p.name)
def test_reference_has_the_dtype_and_conditions_of_the_row(prim):
    names = {"divide by zero": "divide", "overflow": "overflow", "underflow": "underflow", "invalid value": "invalid"}
    count = 0
    for ds, out in applicable(prim):
        count += 1
        seen = set[str]()
        if prim.name.startswith("py_"):
            args = [np.array(3, d) for d in ds]
        else:
            grids = [special(d) for d in ds]
            if len(grids) == 2 and grids[0].size > 100:
                grids = [g[:: max(1, g.size // 20)] for g in grids]
            args = [g.copy() for g in np.meshgrid(*grids)] if len(grids) > 1 else grids
        with np.errstate(all="call", call=lambda kind, flag, seen=seen: seen.add(names[kind])), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if prim.name == "pow" and ds[0].kind in "iu":
                args[1] = np.where(args[1] < 0, 3, args[1]).astype(ds[1])
            (got,) = prim.numpy(tuple(args), {})
        assert got.dtype == out, (prim.name, ds)
        assert got.shape == args[0].shape
        claimed = set(prim.conditions.get(ds[0].kind, ()))
        assert seen <= claimed, f"{prim.name} of {ds[0]} raises {seen - claimed}"
    assert count


@pytest.mark.parametrize("prim", [p for p in ELEMENTWISE if p.commutative], ids=lambda p: p.name)
def test_commutative_rows_commute_bit_by_bit(prim):
    for ds, _ in applicable(prim):
        if ds[0] != ds[1] or ds[0].kind == "c":  # which parts of complex infinities are NaN depends on the order
            continue
        g = special(ds[0])
        x, y = (m.copy() for m in np.meshgrid(g, g))
        with np.errstate(all="ignore"):
            a, b = prim.numpy((x, y), {})[0], prim.numpy((y, x), {})[0]
        np.testing.assert_array_equal(a, b)


def test_reports_of_nothing_are_not_claimed_by_quiet_prims():
    for name in ("maximum", "minimum", "ne", "eq", "isnan", "select", "bit_and", "neg", "copysign"):
        assert PRIMS[name].reports == ()


@pytest.mark.parametrize(
    ("name", "f"), [("add_checked", lambda a, b: a + b), ("mul_checked", lambda a, b: a * b), ("sub_checked", lambda a, b: a - b)]
)
def test_checked_arithmetic(name, f):
    edge = [0, 1, -1, 2**62, 2**63 - 1, -(2**63), 12345]
    for a, b in itertools.product(edge, edge):
        out, over = PRIMS[name].numpy((np.array(a), np.array(b)), {})
        assert over == (not -(2**63) <= f(a, b) < 2**63)
        assert over or out == f(a, b)


def test_type_rules_refuse_misuse():
    f8, i8, f4 = (TensorType(np.dtype(c)) for c in ("f8", "i8", "f4"))
    for name, ins in [("add", (f8, f4)), ("add", (f8,)), ("sqrt", (i8,)), ("bit_and", (f8, f8)), ("select", (f8, f8, f8))]:
        with pytest.raises(TypeError):
            PRIMS[name].type_rule(ins, {})
