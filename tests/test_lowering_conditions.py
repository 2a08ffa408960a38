"""Floating-point conditions: reported exactly when and where NumPy reports them, once an operation."""

import ctypes
import dataclasses
import re

import numpy as np
import pytest
from ir_graphs import Maker, fresh
from lowering_harness import Runtime, check, library, run
from npcompile.lowering import LowerOptions, lower

INF, NAN, BIG = np.inf, np.nan, 1e308


def unary(prim, x, *, store=False, dtype="f8"):
    m = Maker()
    v = m.array(np.array(x, dtype))
    (k,) = m.memories()
    y = m.emit(prim, m.emit("load", v, k), report=prim)
    if store:
        k = m.emit("store", v, y, k)
    m.exit("exit", v if store else y, k)
    return check(m.graph, m.spec, m.inputs, ulp=4)


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize(
    "prim, x",
    [
        ("sqrt", [1.0, -1.0, 4.0]),
        ("sqrt", [1.0, NAN, INF]),
        ("log", [1.0, 0.0, 2.0]),
        ("log", [-1.0, 0.0, NAN]),
        ("exp", [1.0, 1000.0]),
        ("exp", [NAN, INF, -INF, -1000.0]),
        ("square", [1.0, BIG]),
        ("reciprocal", [0.0, 2.0]),
        ("sin", [INF, 1e300, 1.0]),
        ("tanh", [INF, NAN]),
    ],
)
def test_one_operation(prim, x, store):
    for dtype in ("f8", "f4"):
        with np.errstate(over="ignore"):
            unary(prim, np.array(x).astype(dtype), store=store, dtype=dtype)


def chain(a, b, *, store=False):
    """(a * b + a) / b, then its square root; every operation reports."""
    m = Maker()
    va, vb = m.array(a), m.array(b)
    ka, kb = m.memories()
    x, y = m.emit("load", va, ka), m.emit("load", vb, kb)
    p = m.emit("mul", x, y, report="multiply")
    s = m.emit("add", p, x, report="add")
    q = m.emit("div", s, y, report="divide")
    r = m.emit("sqrt", q, report="sqrt")
    if store:
        ka = m.emit("store", va, r, ka)
    m.exit("exit", va if store else r, ka, kb)
    return check(m.graph, m.spec, m.inputs)


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("spoil", [{}, {3: (0.0, 0.0)}, {1400: (BIG, BIG)}, {7: (NAN, 1.0), 900: (1.0, 0.0)}, {1999: (INF, 0.0)}])
def test_conditions_of_a_chain(spoil, store):
    a, b = np.linspace(1, 2, 2000), np.linspace(2, 3, 2000)
    for k, (x, y) in spoil.items():
        a[k], b[k] = x, y
    _, rt = chain(a, b, store=store)
    assert bool(rt.reports) == any(not np.isnan(x) for x, _ in spoil.values())


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("producer", [False, True])
@pytest.mark.parametrize("x", [1.0, BIG, NAN, INF])
def test_sums(axes, producer, x):
    a = np.ones((40, 70))
    a[3, 5] = a[9, 5] = a[3, 60] = x
    m = Maker()
    v = m.array(a)
    (k,) = m.memories()
    t = m.emit("load", v, k)
    if producer:
        t = (
            m.emit("exp", t, report="exp")
            if x == 1.0
            else m.emit("sub", t, m.emit("mul", t, t, report="multiply"), report="subtract")
        )
    m.exit("exit", m.emit("reduce", t, op="add", axes=axes, report="reduce"), k)
    check(m.graph, m.spec, m.inputs, ulp=4)


def test_scalars_report_each_time():
    m = Maker()
    a, b = m.number(1.0, "f8"), m.number(0.0, "f8")
    q = m.emit("div", a, b, report="scalar divide")
    m.exit("exit", m.emit("sub", q, q, report="scalar subtract"))
    _, rt = check(m.graph, m.spec, m.inputs)
    assert [mask for _, mask in rt.reports] == [1, 8]


def test_integer_division_by_zero():
    m = Maker()
    v, w = m.array(np.array([1, 2, 3])), m.array(np.array([1, 0, 2]))
    ks = m.memories()
    x, y = m.emit("load", v, ks[0]), m.emit("load", w, ks[1])
    m.exit("exit", m.emit("floordiv", x, y, report="floor_divide"), m.emit("mod", x, y, report="remainder"), *ks)
    _, rt = check(m.graph, m.spec, m.inputs)
    assert [mask for _, mask in rt.reports] == [1, 1]


def test_casts():
    for dtype in ("f4", "i4", "u1"):
        m = Maker()
        v = m.array(np.array([1.0, 1e300, NAN]))
        (k,) = m.memories()
        m.exit("exit", m.emit("convert", m.emit("load", v, k), dtype=np.dtype(dtype), report="cast"), k)
        check(m.graph, m.spec, m.inputs)


def test_an_unused_result_reports_too():
    m = Maker()
    v = m.array(np.array([1.0, 0.0]))
    (k,) = m.memories()
    x = m.emit("load", v, k)
    m.emit("log", x, report="log")
    m.exit("exit", x, k)
    _, rt = check(m.graph, m.spec, m.inputs)
    assert len(rt.reports) == 1


def exact_runs(m, name):
    """How often a call of the unit leaves the fast run of a kernel."""
    low = lower(m.graph, m.spec, LowerOptions(symbol=name))
    head, found = re.subn(r"(NPC_COLD void k\d+x\(.*\{\n)", r"\1  ++runs;\n", low.source)
    assert found
    counter = 'extern "C" { __attribute__((visibility("default"))) long long runs = 0; }\n'
    low = dataclasses.replace(low, source=counter + head)
    run(low, m.graph, m.spec, fresh(m.inputs), Runtime(fresh(m.inputs)))
    return ctypes.c_longlong.in_dll(library(low), "runs").value


def silent_chain(m, x, y):
    e = m.emit("exp", m.emit("mul", x, y, report="multiply"), report="exp")
    return m.emit("log", m.emit("add", e, x, report="add"), report="log")


def compared(m, x, y):
    d = m.emit("mul", x, y, report="multiply")
    return m.emit("select", m.emit("gt", x, y), d, m.emit("maximum", d, y))


def near(m, x, y):
    return m.emit("mul", m.emit("sin", x, report="sin"), m.emit("mod", y, x, report="remainder"), report="multiply")


def summed(m, x, y):
    p = m.emit("exp", m.emit("sub", x, y, report="subtract"), report="exp")
    return m.emit("reduce", p, op="add", axes=(0,), report="reduce")


def of_one(m, x, y):
    """The root knows one operand, its reader two: a NaN in the other is no excuse for it."""
    return m.emit("add", m.emit("sqrt", x, report="sqrt"), m.emit("exp", y, report="exp"), report="add")


def chosen(m, x, y):
    """The operand of `log` is NaN without making its value so."""
    return m.emit("log", m.emit("select", m.emit("isnan", x), y, x), report="log")


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("f", [silent_chain, compared, near, summed, of_one, chosen])
def test_nan_in_the_data_is_silent_and_costs_no_exact_run(f, dtype):
    g = np.random.default_rng(0)
    a, b = g.uniform(0.5, 2, (2, 3000)).astype(dtype)
    a[[5, 700, 2999]] = b[[5, 900, 1500]] = NAN

    def made():
        m = Maker()
        vs = m.array(a), m.array(b)
        ks = m.memories()
        m.exit("exit", f(m, *(m.emit("load", v, k) for v, k in zip(vs, ks, strict=True))), *ks)
        return m

    _, rt = check_of(made(), 4)
    assert not rt.reports
    assert exact_runs(made(), f"{f.__name__}_{dtype}_silent") == 0
    for x, y in ((INF, -INF), (-1.0, 1.0), (-1.0, NAN), (NAN, -1.0), (np.finfo(dtype).max, np.finfo(dtype).max), (0.0, 0.0)):
        a[1000], b[1000] = x, y
        check_of(made(), 4)


def check_of(m, ulp):
    return check(m.graph, m.spec, m.inputs, ulp=ulp)
