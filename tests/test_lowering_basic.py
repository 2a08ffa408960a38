"""The thinnest path: pointwise chains, scalars, views, exits."""

import numpy as np
import pytest
from ir_graphs import Maker
from lowering_harness import check
from npcompile.lowering import lower
from npcompile.lowering.index_maps import divmod_dim

from npcompile.ir.dims import Dim, Sym


def arrays_of(m, *xs):
    views = [m.array(x) for x in xs]
    mems = m.memories()
    return views, mems, [m.emit("load", v, k) for v, k in zip(views, mems, strict=True)]


def fma(n):
    m = Maker()
    a = np.arange(n) + 1.5
    _, mems, (x, y, z) = arrays_of(m, a, a * 2, a - 3)
    m.exit("exit", m.emit("add", m.emit("mul", x, y), z), *mems)
    return m


@pytest.mark.parametrize("n", [0, 2, 10, 1000])
def test_chain_is_one_kernel(n):
    m = fma(n)
    low, rt = check(m.graph, m.spec, m.inputs)
    assert len(low.kernels) == 1 and low.allocations == 1 and rt.allocs == 1
    assert low.kernels[0].ops[:1] == ("add",) or "mul" in low.kernels[0].ops


def test_text_does_not_depend_on_sizes():
    def text(n):
        m = Maker()
        m.size_symbols[n] = m.symbol("n", 1, n, lo=0, hi=1 << 40, not_one=True)
        a = np.zeros(n)
        _, mems, (x, y) = arrays_of(m, a, a)
        m.exit("exit", m.emit("mul", x, y), *mems)
        return lower(m.graph, m.spec).source

    assert text(10) == text(1000000)


def test_scalars_and_returned_views():
    m = Maker()
    a = np.arange(6.0).reshape(2, 3)
    (va,), mems, (x,) = arrays_of(m, a)
    s = m.number(2.5, "f8")
    b = m.emit("mul", x, m.emit("broadcast", s, dims=x.type.dims))
    t = m.emit("transpose", va, perm=(1, 0))
    m.exit("exit", b, m.emit("add", s, s), t, va, *mems)
    order = m.graph.body.params
    order.remove(s)
    order.insert(1, s)
    check(m.graph, m.spec, m.inputs)


def test_store_in_place_and_overlap():
    m = Maker()
    a = np.arange(10.0)
    (va,), (k,), _ = arrays_of(m, a)
    n = va.type.dims[0]
    head = m.emit("slice", va, starts=(0,), steps=(1,), dims=(n - 1,))
    tail = m.emit("slice", va, starts=(1,), steps=(1,), dims=(n - 1,))
    k = m.emit("store", tail, m.emit("load", head, k), k)
    x = m.emit("load", va, k)
    k = m.emit("store", va, m.emit("mul", x, x), k)
    m.exit("exit", va, k)
    _, rt = check(m.graph, m.spec, m.inputs)
    assert rt.allocs == 0 and rt.scratches == 1


def test_conditional_exit_computes_in_its_branch():
    m = Maker()
    a = np.arange(6.0)
    (_,), (k,), (x,) = arrays_of(m, a)
    y = m.emit("mul", x, x)
    big = m.emit("reduce", x, op="max", axes=(0,))
    m.exit("exit_if", m.emit("gt", big, m.const(3.0, "f8")), y, big, k, kind="resume")
    m.exit("exit", x, k)
    _, rt = check(m.graph, m.spec, m.inputs)
    assert rt.allocs == 1


def test_split_indices_stay_in_range():
    n, m = Dim.of(Sym("n")), Dim.of(Sym("m"))
    env = {"n": 4, "m": 3}
    for index in (n * m - 1, n * m - m, m + 1, m - 1):
        q, r = divmod_dim(index, m, {})
        assert (q.evaluate(env), r.evaluate(env)) == divmod(index.evaluate(env), 3)
