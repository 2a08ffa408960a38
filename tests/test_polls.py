"""How often compiled loops look for signals: about every millisecond of work, counted, and at every turn that takes longer.

Traced functions are lowered and run with a counting runtime; where it says that a signal waits, the segment must have left at
a loop's header with the state that Python has there.
"""

import numpy as np
import pytest
from lowering_harness import Runtime, run
from npcompile.lowering import lower

from npcompile import passes
from npcompile.tracer import trace

PLAIN = -3
"""What a segment returns that has done nothing and leaves the call to the original function."""


def lowered(fn, *args):
    r = trace(fn, args)
    assert not r.breaks
    graph = passes.run(r.graph, passes.PassOptions(spec=r.spec, verify=True))
    return r.spec, graph, lower(graph, r.spec)


def called(fn, args, inputs, poll_after=None):
    """(runtime, spec of the exit taken, its captures)."""
    spec, graph, low = lowered(fn, *args)
    rt = Runtime([x for x in inputs if isinstance(x, np.ndarray)], poll_after=poll_after, warn=0)
    exit, captures = run(low, graph, spec, inputs, rt)
    return rt, spec.exits[exit], captures


def by_name(exit, captures):
    """Locals of the innermost frame that are captured."""
    return {name: captures[r.arg[0]] for name, r in exit.frames[-1].locals if r.op == "value"}


def smooth(x, turns):
    for _ in range(turns):
        x = 0.5 * x + np.sqrt(x)
    return x


def scalars(n):
    s = 0.0
    for i in range(n):
        s = s * 0.999 + i
    return s


def collatz(n, limit):
    k = 0
    while k < limit:
        n = n // 2 if n % 2 == 0 else n + 3
        k += 1
    return n, k


def nested(a, turns):
    for _ in range(turns):
        for i in range(1, a.shape[0]):
            a[i] = a[i] * 0.5 + a[i - 1]
    return a


def test_a_turn_longer_than_a_millisecond_polls_each_time():
    x = np.linspace(0.0, 1.0, 4_000_000)
    rt, exit, _ = called(smooth, (x, 6), [6, x])
    assert exit.kind == "return" and 4 <= rt.polls <= 6
    rt, exit, captures = called(smooth, (x, 6), [6, x], poll_after=2)
    assert exit.reason == "signal" and rt.polls == 3
    state = by_name(exit, captures)
    (turns,) = [k for k in range(7) if np.array_equal(smooth(x, k), state["x"])]
    assert 2 <= turns <= 4


@pytest.mark.parametrize("n, least, most", [(1000, 0, 0), (40_000_000, 10, 400)])
def test_a_loop_of_numbers_polls_between_chunks(n, least, most):
    rt, exit, _ = called(scalars, (n,), [n])
    assert exit.kind == "return" and least <= rt.polls <= most


def test_numbers_are_exact_where_a_signal_ends_the_loop():
    n = 40_000_000
    rt, exit, captures = called(scalars, (n,), [n], poll_after=0)
    assert exit.reason == "signal" and rt.polls == 1
    (next_turn,) = [captures[r.arg[0]] for r in exit.frames[-1].stack[-1].items if r.op == "value"][:1]
    assert 0 < next_turn < n // 10 and by_name(exit, captures)["s"] == scalars(int(next_turn))


def test_while_loops_poll():
    n = 30_000_000
    rt, exit, _ = called(collatz, (27, n), [n, 27])
    assert exit.kind == "return" and 10 <= rt.polls <= 3000
    rt, exit, captures = called(collatz, (27, n), [n, 27], poll_after=3)
    state = by_name(exit, captures)
    assert exit.reason == "signal" and (state["n"], state["k"]) == collatz(27, int(state["k"])) and state["k"] < n


def test_inner_loops_poll_for_the_whole_nest():
    a = np.ones(200_000)
    rt, exit, _ = called(nested, (a.copy(), 200), [200, a.copy()])
    assert exit.kind == "return" and 10 <= rt.polls <= 1000
    got = a.copy()
    rt, exit, captures = called(nested, (a.copy(), 200), [200, got], poll_after=5)
    assert exit.reason == "signal" and rt.polls == 6
    turns = [captures[r.items[0].arg[0]] for r in exit.frames[-1].stack if r.op == "range_iter" and r.items[0].op == "value"]
    want = a.copy()
    if len(turns) == 2:  # inside turn turns[0] - 1 of the outer loop, before turns[1] of the inner one
        nested(want, int(turns[0]) - 1)
        for i in range(1, int(turns[1])):
            want[i] = want[i] * 0.5 + want[i - 1]
    else:
        nested(want, int(turns[0]))
    assert np.array_equal(got, want)


def grows(x, turns):
    for _ in range(turns):
        y = np.sqrt(x * x + 0.5)
        x = np.sqrt(x * x + 1.0) - y[::-1] * 0.25 * y
    return x


def in_place(x, turns):
    for _ in range(turns):
        x[1:-1] = np.sqrt(x[1:-1]) + x[:-2]
    return x


@pytest.mark.parametrize("fn, nests", [(smooth, 1), (grows, 2)])
def test_a_nest_that_a_signal_ends_is_as_if_it_had_not_begun(fn, nests):
    """The turn begins anew: it leaves at its head with the state of the head, or goes on when the signal was not for us. Before
    the loop (its first turn is peeled) the call is left to the original function."""
    x = np.linspace(0.0, 1.0, 100_000)
    spec, graph, low = lowered(fn, x, 6)
    full = Runtime([x])
    run(low, graph, spec, [6, x], full)
    assert full.untils % nests == 0 and full.untils >= 5 * nests
    for stop_at in range(1, full.untils + 1):
        for answer in (0, None):
            rt = Runtime([x], poll_after=answer, stop_at=stop_at)
            exit, captures = run(low, graph, spec, [6, x], rt)
            if stop_at <= nests:
                assert exit == PLAIN
                continue
            if answer is None:
                assert spec.exits[exit].kind == "return" and rt.untils == full.untils + (stop_at - 1) % nests + 1
                assert np.array_equal(captures[0], fn(x, 6))
                continue
            state = by_name(spec.exits[exit], captures)
            assert spec.exits[exit].reason == "signal" and rt.polls == 1
            (turns,) = [k for k in range(7) if np.array_equal(fn(x, k), state["x"])]
            assert turns == (stop_at - 1) // nests + 6 - full.untils // nests


@pytest.mark.parametrize("ready", [0, 1])
def test_small_nests_are_split_while_threads_are_ready(ready):
    x, out = np.linspace(0.0, 1.0, 25_000), np.linspace(0.0, 1.0, 25_000)
    spec, graph, low = lowered(in_place, x, 1)
    rt = Runtime([x], ready=ready)
    run(low, graph, spec, [1, x], rt)
    assert np.array_equal(x, in_place(out, 1)) and bool(rt.parallel) == bool(ready)


def grows_in_place(x, turns):
    for _ in range(turns):
        x[:] = np.sqrt(x) * 1.5
    return x


def test_a_nest_that_stores_in_place_is_never_left():
    x = np.linspace(0.0, 1.0, 100_000)
    spec, graph, low = lowered(grows_in_place, x, 6)
    rt = Runtime([x.copy()])
    run(low, graph, spec, [6, x.copy()], rt)
    assert rt.untils == 0 and rt.parallel > 0


def totals(x, turns):
    for _ in range(turns):
        s = np.sqrt(x * x).sum()
        x[1:-1] = np.sqrt(x[1:-1]) + x[:-2]
        x[0] = s
    return x


@pytest.mark.parametrize("fn, nests", [(in_place, 1), (totals, 2)])
def test_a_nest_before_a_turn_stores_can_be_left(fn, nests):
    """Here a sum, and the temporary that an overlap makes; the turn begins anew and leaves with what earlier turns stored."""
    x = np.linspace(0.0, 1.0, 100_000)
    spec, graph, low = lowered(fn, x, 6)
    full = Runtime([x])
    run(low, graph, spec, [6, x.copy()], full)
    assert full.untils == 6 * nests
    for stop_at in range(1, full.untils + 1):
        got = x.copy()
        rt = Runtime([got], poll_after=0, stop_at=stop_at)
        exit, _ = run(low, graph, spec, [6, got], rt)
        assert spec.exits[exit].reason == "signal" and rt.polls == 1
        assert np.array_equal(got, fn(x.copy(), (stop_at - 1) // nests))


def marked(x, y):
    x[0] = 7.0
    return np.sqrt(x * x + y).sum()


def marked_turns(x, y):
    s = 0.0
    for _ in range(9):
        x[0] += 7.0
        s += np.sqrt(x * x + y).sum()
    return s


@pytest.mark.parametrize("fn", [marked, marked_turns])
def test_a_nest_after_a_store_is_not_left(fn):
    x, y = np.linspace(0.0, 1.0, 100_000), np.zeros(100_000)
    spec, graph, low = lowered(fn, x, y)
    rt = Runtime([x, y])
    run(low, graph, spec, [x, y], rt)
    assert rt.untils == 0 and rt.parallel > 0


def straight(x, y):
    s = np.sqrt(x * x + 1.0).sum()
    z = np.sqrt(x * x + s)
    s = z.sum()
    t = np.zeros_like(z)
    t += z * s
    y[:] = t[::-1] - z
    return np.sqrt(y + z).sum()


def test_a_call_that_has_changed_nothing_yet_is_left_to_the_original():
    x, y = np.linspace(0.0, 1.0, 100_000), np.zeros(100_000)
    spec, graph, low = lowered(straight, x, y)
    full = Runtime([x, y])
    run(low, graph, spec, [x, y], full)
    assert full.untils >= 2 and np.any(y)
    for stop_at in range(1, full.untils + 1):
        y[:] = 0
        exit, _ = run(low, graph, spec, [x, y], Runtime([x, y], stop_at=stop_at))
        assert exit == PLAIN and not np.any(y)
