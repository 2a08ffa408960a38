"""Floating-point conditions: reported exactly when and where NumPy reports them, once an operation."""

import numpy as np
import pytest
from ir_graphs import Maker
from lowering_harness import check

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
