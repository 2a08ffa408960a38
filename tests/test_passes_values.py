"""Passes keep what a graph does (values, layouts, memory, exits, reports), and do what they are for."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from ir_graphs import Maker, programs

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Region, Value
from npcompile.ir.printer import to_text
from npcompile.ir.types import scalar
from npcompile.passes import PassError, PassOptions, run
from npcompile.passes.checks import difference, observe
from npcompile.passes.cse import cse
from npcompile.passes.dce import dce
from npcompile.passes.manager import PASSES
from npcompile.passes.simplify import simplify
from npcompile.passes.stores import dead_stores

many = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(programs())
def test_random_graphs_do_the_same_after_every_pass(m):
    out = run(m.graph, PassOptions(verify=True, spec=m.spec, inputs=m.inputs))
    assert sum(1 for _ in out.body.walk()) <= 2 * sum(1 for _ in m.graph.body.walk())
    again = run(out, PassOptions(verify=True, spec=m.spec))
    assert not difference(observe(out, m.spec, m.inputs), observe(again, m.spec, m.inputs))


@settings(many, max_examples=30)
@given(programs())
def test_any_amount_of_fuel_gives_a_right_graph(m):
    text = to_text(m.graph, m.spec)
    for fuel in (0, 1, 2, 3, 5, 8):
        out = run(m.graph, PassOptions(fuel=fuel, verify=True, spec=m.spec, inputs=m.inputs))
        assert fuel or to_text(out, m.spec) == text
    assert to_text(m.graph, m.spec) == text


# ---------------------------------------------------------------------------------------------- single rewrites


def array_of(dtype):
    specials = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e300, 5e-324, -7.0]
    with np.errstate(all="ignore"):
        return np.array(specials).astype(dtype) if np.dtype(dtype).kind == "f" else np.array([0, 1, 2, 127, 3, 100], dtype)


class One:
    """A graph of one loaded array `x`, to which a test adds nodes."""

    def __init__(self, dtype="f8", array=None):
        self.m = Maker()
        self.v = self.m.array(array_of(dtype) if array is None else array)
        (self.mem,) = self.m.memories()
        self.x = self.m.emit("load", self.v, self.mem)

    def c(self, value):
        return self.m.emit("broadcast", self.m.const(value, self.x.type.dtype), dims=self.x.type.dims)

    def left(self, *outs):
        """Prims that are left of a graph with these results, besides load and exit."""
        self.m.exit("exit", *outs, self.mem)
        g = run(self.m.graph, PassOptions(verify=True, spec=self.m.spec, inputs=self.m.inputs))
        return [n.prim for n in g.body.walk() if n.prim not in ("load", "exit")]


@pytest.mark.parametrize(
    ("dtype", "prim", "value", "want"),
    [
        ("f8", "mul", 1, []),
        ("f8", "div", 1, []),
        ("f8", "sub", 0.0, []),
        ("f8", "add", -0.0, []),
        ("f8", "add", 0.0, ["const", "broadcast", "add"]),
        ("f8", "sub", -0.0, ["const", "broadcast", "sub"]),
        ("f8", "mul", 0.0, ["const", "broadcast", "mul"]),
        ("f8", "mul", -1, ["neg"]),
        ("f8", "div", 4, ["const", "broadcast", "mul"]),
        ("f4", "div", 0.125, ["const", "broadcast", "mul"]),
        ("f8", "div", 3, ["const", "broadcast", "div"]),
        ("f8", "div", 2.0**-1074, ["const", "broadcast", "div"]),
        ("f8", "pow", 1, []),
        ("f8", "pow", 2, ["square"]),
        ("f8", "pow", -1, ["reciprocal"]),
        ("f8", "pow", 0, ["const", "full"]),
        ("f4", "pow", 3, ["powi"]),
        ("i8", "pow", 5, ["powi"]),
        ("f8", "pow", 33, ["const", "broadcast", "pow"]),
        ("f8", "pow", 0.5, ["const", "broadcast", "pow"]),
        ("i8", "add", 0, []),
        ("i8", "mul", 0, ["const", "broadcast"]),
        ("i8", "floordiv", 1, []),
        ("i8", "bit_and", -1, []),
        ("u1", "bit_or", 255, ["const", "broadcast"]),
        ("i8", "shl", 0, []),
    ],
)
def test_operations_with_a_constant(dtype, prim, value, want):
    g = One(dtype)
    out = g.m.emit(prim, g.x, g.c(value))
    left = g.left(out)
    assert [p for p in left if p != "copy"] == want or (value == 0 and prim == "mul" and left == ["const", "full"])


def test_double_operations_cancel():
    g = One()
    neg = g.m.emit("neg", g.m.emit("neg", g.x))
    assert g.left(neg) == []
    g = One()
    y = g.m.emit("exp", g.x)
    assert g.left(g.m.emit("sub", g.x, g.m.emit("neg", y))) == ["exp", "add"]
    g = One("i4")
    wide = g.m.emit("convert", g.m.emit("convert", g.x, dtype=np.dtype("f8")), dtype=np.dtype("i4"))
    assert g.left(wide) == []
    g = One("i8")
    lossy = g.m.emit("convert", g.m.emit("convert", g.x, dtype=np.dtype("f8")), dtype=np.dtype("i8"))
    assert g.left(lossy) == ["convert", "convert"]
    g = One("i4")
    narrow = g.m.emit("convert", g.m.emit("convert", g.x, dtype=np.dtype("f8")), dtype=np.dtype("i1"))
    assert g.left(narrow) == ["convert", "convert"]
    g = One("f4")
    assert g.left(g.m.emit("abs", g.m.emit("abs", g.m.emit("neg", g.x)))) == ["abs"]


def test_selects():
    g = One()
    yes = g.m.emit("broadcast", g.m.const(True, "?"), dims=g.x.type.dims)
    assert g.left(g.m.emit("select", yes, g.x, g.c(1.0))) == []
    g = One()
    mask = g.m.emit("gt", g.x, g.c(1.0))
    out = g.m.emit("select", g.m.emit("logical_not", mask), g.x, g.c(0.0))
    assert "logical_not" not in g.left(out)


def test_chains_of_index_maps():
    g = One(array=np.arange(24.0).reshape(2, 3, 4))
    t = g.m.emit("transpose", g.m.emit("transpose", g.x, perm=(2, 0, 1)), perm=(1, 2, 0))
    assert g.left(t) == []
    g = One(array=np.arange(20.0))
    n = g.x.type.dims[0]

    def cut(x, start, step, n):
        return g.m.emit("slice", x, starts=(Dim.of(start),), steps=(Dim.of(step),), dims=(Dim.of(n),))

    assert g.left(cut(cut(cut(g.x, n - 1, -1, n), 2, 1, n - 2), 0, 1, n - 2)) == ["slice"]
    g = One(array=np.arange(6.0).reshape(2, 3))
    r = g.m.emit("reshape", g.m.emit("reshape", g.x, dims=(Dim.of(6),)), dims=g.x.type.dims)
    assert g.left(g.m.emit("squeeze", g.m.emit("expand", r, axes=(1,)), axes=(1,))) == []
    g = One(array=np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    flat = g.m.emit("reshape", g.x, dims=(Dim.of(6),))
    assert g.left(g.m.emit("reshape", flat, dims=g.x.type.dims)) == ["reshape", "reshape"]


def test_a_view_is_not_replaced_by_its_array():
    m = Maker()
    v = m.array(np.arange(4.0))
    (mem,) = m.memories()
    w = m.emit("transpose", v, perm=(0,))
    m.exit("exit", w, mem)
    g = run(m.graph, PassOptions(verify=True, spec=m.spec, inputs=m.inputs))
    assert [n.prim for n in g.body.nodes] == ["transpose", "exit"]


def test_constants_fold_unless_a_warning_would_be_lost():
    g = One()
    two = g.m.emit("add", g.m.const(1.0, "f8"), g.m.const(1.0, "f8"), report="add")
    assert g.left(two) == ["const"]
    g = One()
    inf = g.m.emit("div", g.m.const(1.0, "f8"), g.m.const(0.0, "f8"), report="divide")
    assert g.left(inf) == ["const", "const", "div"]
    g = One()
    out = g.m.emit("mul", g.c(3.0), g.c(4.0))
    assert g.left(out) == ["const", "full"]
    g = One()
    total, over = g.m.emit("add_checked", g.m.const(3, "i8"), g.m.const(4, "i8"))
    g.m.exit("exit_if", over, g.mem, kind="resume")
    assert g.left(total) == ["const"]


def test_equal_nodes_merge_unless_they_warn():
    g = One()
    a, b = (g.m.emit("exp", g.x) for _ in range(2))
    assert g.left(g.m.emit("add", a, b)) == ["exp", "add"]
    g = One(array=np.array([1.0, 1e300]))
    a, b = (g.m.emit("exp", g.x, report="exp") for _ in range(2))
    assert g.left(g.m.emit("add", a, b)) == ["exp", "exp", "add"]
    g = One("i8")
    a, b = (g.m.emit("mul", g.x, g.c(3), report="multiply") for _ in range(2))
    assert g.left(g.m.emit("add", a, b)) == ["const", "broadcast", "mul", "add"]
    g = One()
    a, b = g.m.emit("mul", g.x, g.c(3.0)), g.m.emit("mul", g.c(3.0), g.x)
    assert g.left(a, b) == ["const", "broadcast", "mul"]
    g = One()
    assert g.left(g.m.const(0.0, "f8"), g.m.const(-0.0, "f8")) == ["const", "const"]


def test_loads_merge_only_within_one_memory_state():
    g = One(array=np.arange(3.0))
    again = g.m.emit("load", g.v, g.mem)
    mem = g.m.emit("store", g.v, g.m.emit("add", g.x, again), g.mem)
    after = g.m.emit("load", g.v, mem)
    g.mem = mem
    g.m.exit("exit", after, mem)
    out = run(g.m.graph, PassOptions(verify=True, spec=g.m.spec, inputs=g.m.inputs))
    assert [n.prim for n in out.body.nodes].count("load") == 2


def test_dead_code():
    g = One()
    g.m.emit("log", g.x, report="log")
    g.m.emit("exp", g.x)
    assert g.left(g.x) == ["log"]
    g = One()
    g.m.emit("alloc", dtype=np.dtype("f8"), dims=g.x.type.dims)
    u = Sym("u", 0, 100)
    g.m.emit("sym", g.m.const(3, "i8"), sym=u)
    w = Sym("w", 0, 100)
    g.m.emit("sym", g.m.const(4, "i8"), sym=w)
    used = g.m.emit("iota", dims=(Dim.of(w),), axis=0, dtype=np.dtype("i8"))
    assert g.left(used) == ["const", "sym", "iota"]


def loop(m, carried, body, trips=3):
    bounds = [m.const(x, "i8") for x in (0, trips, 1)]
    params = [Value(scalar("i8")), *(Value(c.type) for c in carried)]
    region, outer = Region(params), m.region
    m.region = region
    region.results = list(body(*params))
    m.region = outer
    outs = m.emit("loop", *bounds, *carried, regions=(region,))
    return outs if isinstance(outs, tuple) else (outs,)


def test_loops_lose_dead_carries_and_die_when_unused():
    g = One(array=np.arange(3.0))
    s = g.m.const(0.0, "f8")
    t = g.m.const(1.0, "f8")
    a, *_ = loop(g.m, [s, t, t], lambda i, x, y, z: [g.m.emit("add", x, t), g.m.emit("mul", y, z), g.m.emit("exp", z)])
    g.m.exit("exit", a, g.mem)
    out = run(g.m.graph, PassOptions(verify=True, spec=g.m.spec, inputs=g.m.inputs))
    (node,) = [n for n in out.body.nodes if n.prim == "loop"]
    assert len(node.outputs) == 1 and [n.prim for n in node.regions[0].nodes] == ["add"]
    g = One()
    loop(g.m, [g.m.const(0.0, "f8")], lambda i, x: [g.m.emit("exp", x)])
    assert g.left(g.x) == []


def test_stores_in_loops_stay():
    g = One(array=np.arange(3.0))
    (mem,) = loop(g.m, [g.mem], lambda i, state: [g.m.emit("store_item", g.v, g.m.const(9.0, "f8"), state, i)])
    g.mem = mem
    assert "store_item" in g.left(g.m.const(1, "i8"))


def test_overwritten_stores_go():
    g = One(array=np.arange(3.0))
    v, mem = g.m.emit("alloc", dtype=np.dtype("f8"), dims=g.x.type.dims)
    zeros = g.m.emit("full", g.m.const(0.0, "f8"), dims=g.x.type.dims)
    whole = g.m.emit("slice", v, starts=(Dim.of(0),), steps=(Dim.of(1),), dims=g.x.type.dims)
    part = g.m.emit("slice", v, starts=(Dim.of(1),), steps=(Dim.of(1),), dims=(g.x.type.dims[0] - 1,))
    one = g.m.emit("full", g.m.const(1.0, "f8"), dims=part.type.dims)

    def left(*stores, view=v):
        state = mem
        for where, value in stores:
            state = g.m.emit("store", where, value, state)
        g.m.exit("exit", view, state, g.mem)
        out = run(g.m.graph, PassOptions(verify=True, spec=g.m.spec, inputs=g.m.inputs))
        del g.m.region.nodes[-len(stores) - 1 :]
        return [n.prim for n in out.body.walk()].count("store")

    assert left((v, zeros), (whole, g.x)) == 1
    assert left((v, zeros), (part, one), (v, zeros), (whole, g.x)) == 1
    assert left((v, zeros), (part, one)) == 2
    assert left((part, one), (v, zeros)) == 1
    state = g.m.emit("store", v, zeros, mem)
    read = g.m.emit("load", v, state)
    g.m.exit("exit", v, g.m.emit("store", v, g.x, state), read, g.mem)
    out = run(g.m.graph, PassOptions(verify=True, passes=(dead_stores,)))
    assert [n.prim for n in out.body.walk()].count("store") == 2


def test_an_overwritten_item_goes():
    g = One(array=np.arange(3.0))
    v, mem = g.m.emit("alloc", dtype=np.dtype("f8"), dims=g.x.type.dims)
    state = g.m.emit("store_item", v, g.m.const(7.0, "f8"), mem, g.m.const(0, "i8"))
    assert "store_item" not in g.left(v, g.m.emit("store", v, g.x, state))


def test_a_store_stays_when_a_warning_after_it_may_raise():
    for report, want in ((None, 1), ("multiply", 2)):
        g = One(array=np.arange(3.0))
        state = g.m.emit("store", g.v, g.m.emit("full", g.m.const(0.0, "f8"), dims=g.x.type.dims), g.mem)
        y = g.m.emit("mul", g.x, g.x, report=report)
        g.mem = g.m.emit("store", g.v, y, state)
        assert g.left(g.v).count("store") == want


def test_accesses_see_through_views_of_everything():
    g = One(array=np.arange(3.0))
    whole = g.m.emit("slice", g.v, starts=(Dim.of(0),), steps=(Dim.of(1),), dims=g.x.type.dims)
    y = g.m.emit("load", whole, g.mem)
    assert g.left(g.m.emit("sub", g.x, y), whole) == ["slice", "sub"]


# ---------------------------------------------------------------------------------------------- checking of passes


def test_a_wrong_pass_is_named_with_the_rewrite_that_did_it():
    def wrong(graph, fuel):
        """Turns every `sub` into an `add`."""
        for n in graph.body.nodes:
            if n.prim == "sub" and fuel.take("sub", n):
                n.prim = "add"
        return graph

    g = One()
    zero = g.m.emit("sub", g.c(0.0), g.c(0.0))
    bad = g.m.emit("sub", g.x, g.c(2.0))
    g.m.exit("exit", zero, bad, g.mem)
    options = PassOptions(spec=g.m.spec, inputs=g.m.inputs, passes=(simplify, wrong))
    with pytest.raises(PassError, match="pass wrong: capture 1") as e:
        run(g.m.graph, options)
    assert e.value.name == "wrong" and e.value.rewrite.endswith(f"at program.py:{bad.node.loc.line}")
    assert difference(observe(g.m.graph, g.m.spec, g.m.inputs), observe(g.m.graph, g.m.spec, g.m.inputs)) == ""


def test_a_pass_that_breaks_the_graph_is_named():
    def lose(graph, fuel):
        fuel.take("lost", graph.body.nodes[0])
        del graph.body.nodes[0]
        return graph

    g = One()
    g.m.exit("exit", g.x, g.mem)
    with pytest.raises(PassError, match="is not defined here"):
        run(g.m.graph, PassOptions(verify=True, passes=(lose,)))


def test_the_order_of_passes():
    assert PASSES[0] is simplify and PASSES[-1] is dce and cse in PASSES
