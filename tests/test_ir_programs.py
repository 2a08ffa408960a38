"""Random graphs: they verify, every value has the type its rule says, and printed text does what the graph does."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from ir_graphs import MEM, Maker, fresh, programs

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.executor import execute
from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.printer import to_text
from npcompile.ir.text import parse
from npcompile.ir.types import scalar
from npcompile.ir.verifier import VerifyError, verify

# The same graphs in every run; to search for new ones, drop derandomize and raise max_examples.
many = settings(derandomize=True, max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def outcome(run, inputs):
    """Exit, captures, memory afterwards and reports of a run, in a form that compares bit by bit."""
    inputs = fresh(inputs)
    reports = []
    exit, captures = run(inputs, reports)
    return exit, [bit_view(c) for c in captures], [bit_view(x) for x in inputs if isinstance(x, np.ndarray)], reports


def bit_view(x):
    a = np.asarray(x)
    return type(x), a.dtype, a.shape, a.strides if a.size else None, np.array2string(a, threshold=10**6), a.tobytes()


@many
@given(programs())
def test_values_have_their_types_and_text_round_trips(m):
    verify(m.graph, m.spec)
    want = outcome(lambda xs, r: execute(m.graph, m.spec, xs, reports=r, check=True), m.inputs)
    text = to_text(m.graph, m.spec)
    program = parse(text)
    assert outcome(lambda xs, r: program.execute(xs, reports=r), m.inputs) == want
    again = program.graph()
    verify(again, m.spec)
    assert to_text(again, m.spec) == text
    assert outcome(lambda xs, r: execute(again, m.spec, xs, reports=r), m.inputs) == want


def saxpy():
    m = Maker()
    v = m.array(np.arange(6.0).reshape(2, 3))
    a = m.number(2.0, "f8")
    (mem,) = m.memories()
    x = m.emit("load", v, mem)
    y = m.emit("mul", m.emit("broadcast", a, dims=x.type.dims), x, report="multiply")
    return m, v, mem, y


def test_text_is_readable():
    m, v, mem, y = saxpy()
    m.exit("exit", y, m.emit("store", v, y, mem))
    text = to_text(m.graph, m.spec)
    assert "ir.mul(t" in text and 'report="multiply"' in text.replace("'", '"') and "# f8[n2, n3]" in text


def test_stores_reach_the_input_and_views_stay_themselves():
    m, v, mem, y = saxpy()
    m.exit("exit", y, v, m.emit("store", v, y, mem))
    x = np.arange(6.0).reshape(2, 3)
    exit, (out, same) = execute(m.graph, m.spec, [x, 3.0])
    assert exit == 0 and same is x and out is not x
    np.testing.assert_array_equal(x, 3 * np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(out, x)


def test_exit_inside_a_loop_keeps_the_stores_before_it():
    m = Maker()
    v = m.array(np.zeros(4))
    (mem,) = m.memories()
    zero, four, one, two = (m.const(x, "i8") for x in (0, 4, 1, 2))
    body = Region([Value(scalar("i8")), Value(MEM)])
    outer, m.region = m.region, body
    i, state = body.params
    m.exit("exit_if", m.emit("eq", i, two), i, state, kind="resume")
    body.results = [m.emit("store_item", v, m.const(7.0, "f8"), state, i)]
    m.region = outer
    last = m.emit("loop", zero, four, one, mem, regions=(body,))
    m.exit("exit", v, last)
    verify(m.graph, m.spec)
    x = np.zeros(4)
    exit, (at,) = execute(m.graph, m.spec, [x], check=True)
    assert exit == 0 and at == 2 and x.tolist() == [7, 7, 0, 0]


def test_reports_are_recorded_once_for_each_execution():
    m, _, mem, y = saxpy()
    z = m.emit("log", y, report="log")
    m.exit("exit", z, mem)
    reports = []
    execute(m.graph, m.spec, [np.array([[0.0, -1.0, 1.0], [np.inf, 1e308, 1.0]]), 10.0], reports=reports)
    assert [(s.name, c) for s, c in reports] == [("multiply", ("overflow",)), ("log", ("divide", "invalid"))]


def test_symbols_defined_at_run_time():
    m = Maker()
    v = m.array(np.arange(5.0))
    (mem,) = m.memories()
    x = m.emit("load", v, mem)
    mask = m.emit("gt", x, m.emit("broadcast", m.const(2.0, "f8"), dims=x.type.dims))
    u = Sym("u", 0, 1 << 40, upper=m.size_symbols[5])
    m.emit("compress", mask, x, sym=u)
    got = m.region.nodes[-1].outputs[0]
    d = m.emit("dim", dim=Dim.of(u) * 2)
    m.exit("exit", got, d, mem)
    verify(m.graph, m.spec)
    _, (got, d) = execute(m.graph, m.spec, [np.arange(5.0)], check=True)
    assert got.tolist() == [3, 4] and d == 4
    _, (got, d) = parse(to_text(m.graph, m.spec)).execute([np.arange(5.0)])
    assert got.tolist() == [3, 4] and d == 4


def test_a_failed_guard_runs_nothing():
    m, _, mem, y = saxpy()
    m.exit("exit", y, mem)
    m.graph.guards.append(("ge", m.size_symbols[2], 100))
    assert execute(m.graph, m.spec, [np.zeros((2, 3)), 1.0]) == (-1, ())
    assert parse(to_text(m.graph, m.spec)).execute([np.zeros((2, 3)), 1.0]) == (-1, ())


# ---------------------------------------------------------------------------------------------- verifier


def faults(m):
    with pytest.raises(VerifyError) as e:
        verify(m.graph, m.spec)
    return str(e.value)


def test_verifier_memory_rules():
    m, v, mem, y = saxpy()
    m.emit("store", v, y, mem)
    m.exit("exit", m.emit("load", v, mem), mem)
    assert "reads" in faults(m) and "followed by store" not in faults(m).split("reads")[0]
    m, v, mem, y = saxpy()
    m.emit("store", v, y, mem)
    m.exit("exit", y, m.emit("store", v, y, mem))
    assert "already been followed by store" in faults(m)
    m, v, mem, y = saxpy()
    bounds = [m.const(k, "i8") for k in (0, 3, 1)]
    body = Region([Value(scalar("i8"))])
    outer, m.region = m.region, body
    m.emit("store", v, y, mem)
    m.region = outer
    m.emit("loop", *bounds, regions=(body,))
    m.exit("exit", y)
    assert "must be carried" in faults(m)


def test_verifier_names_every_kind_of_fault():
    m, _, mem, y = saxpy()
    stray = Value(y.type)
    m.emit("add", y, stray)
    m.exit("exit", y, mem)
    assert "is not defined here" in faults(m)
    m, _, mem, y = saxpy()
    m.region.nodes.append(Node("add", (y, y), {}, (scalar("f4"),)))
    m.exit("exit", y, mem)
    assert "the type rule says" in faults(m)
    m, _, mem, y = saxpy()
    m.exit("exit", y, mem)
    m.graph.n_exits = 0
    assert "is not below 0" in faults(m)
    m, _, mem, y = saxpy()
    m.emit("dim", dim=Dim.of(Sym("q")))
    m.exit("exit", y, mem)
    assert "symbol q is not defined" in faults(m)
    m, _, mem, y = saxpy()
    m.emit("neg", y, report="negative")
    assert "no floating-point conditions" in faults(m) and "does not end in an exit" in faults(m)
    m, _, mem, y = saxpy()
    m.emit("loop", *(m.const(k, "i8") for k in (0, 3, 1)), y, regions=(Region([Value(scalar("i8"))]),))
    m.exit("exit", y, mem)
    assert "region takes" in faults(m) and "region gives" in faults(m)
