"""Compiled code is tried against the function itself; what does not pay rests, and is tried again."""

import time
from fractions import Fraction

import numpy as np
import pytest
from segment_units import Guard, arg, f8, jit_of, returns

import npcompile
from npcompile.ir.segment import Recipe

A = np.linspace(0.0, 1.0, 10)
SETTLED = 100  # calls: more than a trial of such short functions takes


def slow():
    time.sleep(0.001)


def entry_that(calls, fn):
    """A jit object whose entry returns what a function gives."""
    made = jit_of(fn, [Guard(arg(0), "array", f8())], [returns(Recipe("call", 0))], "return 0;", constants=[calls])
    (entry,) = made.entries
    made.clear()
    made.tries = 1
    made.insert(entry)
    return made


def until_it_rests(jitted):
    """What calls give until everything rests."""
    got = []
    while not jitted.rest:
        got.append(jitted(A))
        assert len(got) < 20 * SETTLED
    return got


def test_what_loses_rests():
    jitted = entry_that(slow, lambda a: "plain")
    assert set(until_it_rests(jitted)) == {None, "plain"}
    plain = jitted.plain_calls
    assert jitted(A) == "plain" and jitted.plain_calls == plain + 1


def test_what_pays_stays():
    jitted = entry_that(lambda: "compiled", lambda a: slow())
    for _ in range(SETTLED):
        jitted(A)
    assert jitted.rest == 0 and jitted(A) == "compiled"
    assert jitted.plain_calls < SETTLED / 2


def test_a_long_call_ends_a_rest():
    pause = [0.0]
    jitted = entry_that(slow, lambda a: (pause[0] and time.sleep(pause[0])) or "plain")
    until_it_rests(jitted)
    pause[0] = 0.01
    for _ in range(17):  # of very short functions not every call is timed
        jitted(A)
    assert jitted.rest == 0


def test_a_rest_ends_after_some_calls():
    jitted = entry_that(slow, lambda a: "plain")
    until_it_rests(jitted)
    while jitted.rest:
        assert jitted(A) == "plain"
    assert jitted(A) is None  # compiled code again


def test_guards_that_only_say_that_there_is_no_code_rest():
    """A function with nothing to compile costs little more than itself; other arguments are looked at again after a while."""
    asked = []

    class Known:
        def __init__(self, x):
            self.x = x

    @npcompile.jit(options={"compile": "hot"})
    def f(o=None):
        return Known(3).x if o is None else o * 2 + 1

    def until_at_rest():
        while not f.rest:
            assert f() == 3
            asked.append(f.plain_calls)
            assert len(asked) < 500

    for _ in range(2):
        until_at_rest()
        assert f.stats.compiles == f.stats.hits == 0 and f.stats.misses == 2
        while f.rest:
            assert f() == 3
        asked.clear()
    for _ in range(3):
        assert np.array_equal(f(A), A * 2 + 1)
    assert f.stats.hits > 0


def test_an_entry_that_only_leads_to_a_break_rests_for_good():
    one = Fraction(3, 2)
    f = npcompile.jit(lambda v=one: v * v + 1, options={"compile": "hot"})
    for _ in range(2 * SETTLED):
        assert f() == Fraction(13, 4)
    assert f.rest


def wandered(size, rounds):
    """A walk that breaks twice in each step, where lists of lists are made."""
    marked = np.zeros((size, size), dtype=bool)
    starts = np.random.randint(0, size, (rounds, 2))
    for i in range(rounds):
        x, y = starts[i]
        for _ in range(size):
            ways = []
            if x > 1:
                ways.append([(y, x - 1), (y, x - 2)])
            if x < size - 2:
                ways.append([(y, x + 1), (y, x + 2)])
            if y > 1:
                ways.append([(y - 1, x), (y - 2, x)])
            if y < size - 2:
                ways.append([(y + 1, x), (y + 2, x)])
            first, second = ways[np.random.randint(len(ways))]
            marked[first] = marked[second] = True
            y, x = second
    return marked


def test_a_long_call_of_dear_steps_is_tried():
    jitted = npcompile.jit(wandered, options={"compile": "hot"})
    times = {wandered: [], jitted: []}
    for _ in range(40):
        marked = []
        for f in times:
            np.random.seed(3)
            start = time.perf_counter()
            marked.append(f(20, 120))
            times[f].append(time.perf_counter() - start)
        assert np.array_equal(*marked)
        if jitted.rest:
            break
    assert jitted.rest or min(times[jitted][-20:]) < 1.1 * min(times[wandered][-20:])


def test_plain_turns_are_plain_all_through():
    """A function that calls itself by the jit object: what is timed as plain runs no compiled code."""
    depth = []

    def plain(a):
        if len(depth) < 3:
            depth.append("plain")
            assert jitted(a) in ("plain", "compiled")
            depth.append(jitted(a))
        return "plain"

    jitted = entry_that(lambda: "compiled", plain)
    for _ in range(SETTLED):
        before = jitted.hits
        depth.clear()
        if jitted(A) == "plain":
            assert jitted.hits == before


def test_exceptions_are_no_measure():
    def fails():
        raise ValueError("compiled")

    jitted = entry_that(fails, lambda a: "plain")
    for _ in range(SETTLED):
        with pytest.raises(ValueError, match="compiled"):
            jitted(A)
    assert jitted.rest == 0


@pytest.mark.parametrize("kwargs, tries", [({}, 1), ({"fullgraph": True}, 0), ({"options": {"compile": "first"}}, 0)])
def test_who_is_tried(kwargs, tries):
    kwargs.setdefault("options", {"compile": "hot"})
    assert npcompile.jit(lambda x: x + 1, **kwargs).tries == tries


def test_results_are_the_same_while_a_trial_goes_on():
    def f(x, k):
        y = x * 2 + k
        str(object())
        return y + 1

    jitted = npcompile.jit(f, options={"compile": "hot"})
    for k in range(200):
        np.testing.assert_array_equal(jitted(A, k), f(A, k))
