"""Loop regions: carried scalars, tensors and swapped buffers, exits in mid-loop, signals, nothing allocated inside."""

import numpy as np
from ir_graphs import MEM, Maker
from lowering_harness import Runtime, check, run
from npcompile.lowering import lower

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Region, Value
from npcompile.ir.types import scalar

I8 = np.dtype("i8")


class Loop:
    """`for i in range(n)` in a `Maker`: a context in which nodes go to the body."""

    def __init__(self, m, n, *carried):
        self.m, self.carried = m, carried
        self.bounds = (m.const(0, "i8"), n, m.const(1, "i8"))
        self.params = [Value(scalar("i8")), *(Value(c.type) for c in carried)]

    def __enter__(self):
        self.outer = self.m.region
        self.region = self.m.region = Region(self.params)
        return self.params

    def __exit__(self, *exc):
        self.m.region = self.outer

    def close(self, *results):
        self.region.results = list(results)
        outs = self.m.emit("loop", *self.bounds, *self.carried, regions=(self.region,))
        return outs if isinstance(outs, tuple) else (outs,)


def jacobi(steps, poll=False):
    """The slice-store loop with a swap."""
    m = Maker()
    a = np.arange(30.0).reshape(5, 6) ** 2
    u, v = m.array(a), m.array(a * 0.5)
    n = m.number(steps, "i8")
    mu, mv = m.memories()
    loop = Loop(m, n, u, mu, v, mv)
    with loop as (i, pu, pmu, pv, pmv):
        if poll:
            m.exit("exit_if", m.emit("poll"), i, pu, pmu, pmv, kind="resume")
        d0, d1 = u.type.dims

        def window(view, di, dj):
            return m.emit("slice", view, starts=(1 + di, 1 + dj), steps=(1, 1), dims=(d0 - 2, d1 - 2))

        parts = [m.emit("load", window(pu, *d), pmu) for d in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        s = m.emit("add", m.emit("add", m.emit("add", parts[0], parts[1]), parts[2]), parts[3])
        q = m.emit("full", m.const(0.25, "f8"), dims=s.type.dims)
        new = m.emit("store", window(pv, 0, 0), m.emit("mul", q, s), pmv)
        loop.region.results = [pv, new, pu, pmu]
    out = loop.close(pv, new, pu, pmu)
    m.exit("exit", out[0], out[1], out[3])
    return m


def test_slice_stores_with_a_swap_allocate_and_copy_nothing():
    for steps in (0, 1, 7):
        m = jacobi(steps)
        low, rt = check(m.graph, m.spec, m.inputs)
        assert (low.allocations, low.allocations_in_loops, low.copies_in_loops) == (0, 0, 0)
        assert rt.allocs == rt.scratches == 0


def test_a_signal_leaves_at_the_header():
    m = jacobi(50, poll=True)
    low = lower(m.graph, m.spec)
    rt = Runtime(m.inputs[:2], poll_after=0)
    source = low.source.replace("tick = 1000000;", "tick = -1;", 1)
    low.source, low.symbol = source.replace(low.symbol, "stopped"), "stopped"
    before = m.inputs[0].copy()
    exit, (turn, view) = run(low, m.graph, m.spec, m.inputs, rt)
    assert exit == 0 and turn == 0 and view is m.inputs[0] and rt.polls == 1
    np.testing.assert_array_equal(view, before)


def test_scalar_loop_polls_between_chunks():
    m = Maker()
    n = m.number(200_000, "i8")
    s0 = m.const(0, "i8")
    loop = Loop(m, n, s0)
    with loop as (i, s):
        m.exit("exit_if", m.emit("poll"), i, s, kind="resume")
        t = m.emit("add", s, m.emit("bit_xor", i, s))
    (out,) = loop.close(t)
    m.exit("exit", out)
    low, rt = check(m.graph, m.spec, m.inputs)
    assert rt.polls == 0
    source = low.source.replace("tick = 1000000, ", "tick = 1, ").replace("tick = 1000000;", "tick = 1;")
    low.source, low.symbol = source.replace(low.symbol, "chunks"), "chunks"
    rt = Runtime([])
    assert run(low, m.graph, m.spec, m.inputs, rt)[0] == 1
    assert 5 <= rt.polls <= 200


def test_carried_tensor_takes_turns_in_two_buffers():
    m = Maker()
    a = np.arange(12.0).reshape(3, 4)
    v = m.array(a)
    n = m.number(5, "i8")
    (k,) = m.memories()
    x = m.emit("load", v, k)
    loop = Loop(m, n, m.emit("mul", x, x))
    with loop as (_, t):
        r = m.emit("slice", t, starts=(t.type.dims[0] - 1, 0), steps=(-1, 1), dims=t.type.dims)
        y = m.emit("sub", t, m.emit("mul", r, m.emit("full", m.const(0.5, "f8"), dims=t.type.dims)))
    (out,) = loop.close(y)
    m.exit("exit", out, k)
    low, rt = check(m.graph, m.spec, m.inputs)
    assert low.allocations_in_loops == 0 and rt.scratches == 2 and rt.allocs == 1


def test_tensor_carried_through_a_nest():
    """What the inner loop leaves in its own buffers reaches the outer loop's."""
    m = Maker()
    v = m.array(np.arange(12.0).reshape(3, 4))
    n = m.number(3, "i8")
    (k,) = m.memories()
    half = m.emit("full", m.const(0.5, "f8"), dims=v.type.dims)
    outer = Loop(m, n, m.emit("add", m.emit("load", v, k), half))
    with outer as (_, t):
        inner = Loop(m, n, m.emit("mul", t, half))
        with inner as (_, s):
            y = m.emit("sub", s, m.emit("mul", s, half))
        (left,) = inner.close(y)
    (out,) = outer.close(left)
    m.exit("exit", out, k)
    check(m.graph, m.spec, m.inputs)


def test_temporaries_are_taken_once():
    m = Maker()
    a = np.arange(40.0)
    v = m.array(a)
    n = m.number(6, "i8")
    (k,) = m.memories()
    loop = Loop(m, n, k)
    with loop as (_, km):
        d = v.type.dims[0]
        head = m.emit("slice", v, starts=(0,), steps=(1,), dims=(d - 1,))
        tail = m.emit("slice", v, starts=(1,), steps=(1,), dims=(d - 1,))
        k2 = m.emit("store", tail, m.emit("load", head, km), km)
    (k3,) = loop.close(k2)
    m.exit("exit", v, k3)
    low, rt = check(m.graph, m.spec, m.inputs)
    assert rt.scratches == 1 and low.copies_in_loops == 1


def test_element_loop_with_an_exit_in_the_middle():
    for bad in (3, 100):
        m = Maker()
        a = np.arange(8.0)
        v = m.array(a)
        idx = m.array(np.array([0, 2, 4, bad, 1], "i8"))
        n = m.number(5, "i8")
        k, ki = m.memories()
        loop = Loop(m, n, k)
        with loop as (i, km):
            j = m.emit("item", idx, ki, i)
            limit = m.emit("dim", dim=v.type.dims[0])
            m.exit("exit_if", m.emit("ge", j, limit), i, km, ki, kind="resume")
            x = m.emit("item", v, km, j)
            k2 = m.emit("store_item", v, m.emit("add", m.emit("mul", x, x), m.const(1.0, "f8")), km, j)
        (k3,) = loop.close(k2)
        m.exit("exit", m.emit("load", v, k3), k3, ki)
        check(m.graph, m.spec, m.inputs)


def test_slice_bounds_that_use_the_loop_variable():
    m = Maker()
    a = np.arange(25.0).reshape(5, 5)
    v = m.array(a)
    (k,) = m.memories()
    d0 = v.type.dims[0]
    loop = Loop(m, m.emit("dim", dim=d0), k)
    with loop as (i, km):
        s = Sym("turn", 0, 1 << 40)
        m.emit("sym", i, sym=s)
        row = m.emit("slice", v, starts=(Dim.of(s), 0), steps=(1, 1), dims=(Dim.of(1), Dim.of(s) + 1))
        x = m.emit("load", row, km)
        total = m.emit("reduce", x, op="add", axes=(0, 1))
        y = m.emit("add", x, m.emit("full", total, dims=x.type.dims))
        k2 = m.emit("store", row, y, km)
    (k3,) = loop.close(k2)
    m.exit("exit", v, k3)
    low, rt = check(m.graph, m.spec, m.inputs)
    assert k.type == MEM and low.allocations == 0 and rt.scratches == 0
