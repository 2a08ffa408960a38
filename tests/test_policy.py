"""When to compile: first calls by an estimate from the trace, later ones by credit or by what plain calls have cost."""

import time

import numpy as np
import pytest

import npcompile
from npcompile import compiler, policy
from npcompile.tracer import Refused, trace

SMALL = np.linspace(0.0, 1.0, 100)


def chain(x):
    return x * 2 + 1


def steps(x, n):
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


def until(x, limit):
    k = 0
    while x < limit:
        x = x * 2.0
        k += 1
    return k


def through_a_helper(x, n):
    return steps(x, n) + 1


def numbers_only(n):
    s = 0.0
    for i in range(n):
        s += i * 0.5
    return s


class Solver:
    def run(self, x, n):
        return self.inner(x, n)

    def inner(self, x, n):
        return steps(x, n)


def hot(fn):
    return npcompile.jit(fn, options={"compile": "hot"})


@pytest.mark.parametrize(
    "fn, args, at_once",
    [
        (chain, (SMALL,), False),
        (chain, (np.ones(1 << 20),), False),  # two passes over 8 MB: milliseconds
        (steps, (SMALL, 20), False),
        (steps, (SMALL, 1_000_000), True),
        (steps, (np.ones(1 << 20), 500), True),
        (until, (1.0, 100.0), True),  # who knows
        (through_a_helper, (SMALL, 1_000_000), True),
        (through_a_helper, (SMALL, 3), False),
        (numbers_only, (10_000_000,), True),
        (numbers_only, (1000,), False),
        (Solver().run.__func__, (Solver(), SMALL, 1_000_000), True),
    ],
)
def test_first_calls(fn, args, at_once):
    decision = policy.decide(fn, args, 1, 0.0)
    if decision == policy.IF_LONG:
        decision = policy.YES if trace(fn, args).plain_seconds >= policy.COMPILE_SECONDS else policy.NO
    assert decision == (policy.YES if at_once else policy.NO)


def test_the_second_call_is_compiled():
    for fn, args in ((chain, (SMALL,)), (steps, (SMALL, 10))):
        f = hot(fn)
        for _ in range(3):
            assert np.array_equal(f(*args), fn(*args))
        assert (f.stats.compiles, f.stats.hits, f.stats.plain_calls) == (1, 2, 1)


def test_a_long_first_call_is_compiled():
    f = hot(numbers_only)
    assert f(5_000_000) == numbers_only(5_000_000) and f.stats.hits == 1


def test_without_credit_a_function_must_have_cost_as_much(monkeypatch):
    credit = policy.Credit()
    monkeypatch.setattr(policy, "CREDIT", credit)
    credit.spent = 1e6
    f = hot(chain)
    for _ in range(5):
        f(SMALL)
    assert f.stats.compiles == 0 and 0 < f.waiting < 5
    f.waiting = 2 * policy.COMPILE_SECONDS
    f(SMALL)
    assert f.stats.compiles == 1 and f.stats.hits == 1 and f.waiting == 0
    f(SMALL.astype("f4"))  # another pattern begins anew
    assert f.stats.compiles == 1
    assert credit.spent > 1e6


def test_a_compile_beyond_the_credit_waits_until_plain_calls_have_cost_as_much(monkeypatch):
    def long(x):
        for k in range(3):
            x = x * 0.25 + k
            if x[0] > 1e9:
                x = x / 3
        return x

    monkeypatch.setattr(policy, "BYTE_SECONDS", 1e-2)
    f = hot(long)
    for _ in range(5):
        assert np.array_equal(f(SMALL), long(SMALL))
    assert (f.stats.compiles + f.stats.cached, f.stats.plain_calls) == (0, 5) and f.stats.state == "active"
    f.waiting = 1e4
    for _ in range(2):
        assert np.array_equal(f(SMALL), long(SMALL))
    assert (f.stats.compiles, f.stats.hits) == (1, 2)
    again = hot(long)  # nothing has to be paid for what the cache holds
    for _ in range(3):
        again(SMALL)
    assert (again.stats.compiles, again.stats.cached, again.stats.hits) == (1, 1, 2)


def test_without_credit_calls_that_are_short_are_not_traced_each_time(monkeypatch):
    credit = policy.Credit()
    monkeypatch.setattr(policy, "CREDIT", credit)
    credit.spent = 1e6
    f = hot(steps)
    traces = []
    monkeypatch.setattr(compiler, "trace", lambda *a: traces.append(a) or trace(*a))
    for _ in range(40):
        f(SMALL, 3)
    assert 1 <= len(traces) <= 4 and f.stats.compiles == 0
    assert np.array_equal(f(SMALL, 3), steps(SMALL, 3))
    f.waiting = 1e3
    f(SMALL, 3)
    assert f.stats.compiles == 1 and f.stats.hits == 1


def test_the_second_call_is_compiled_however_long_the_first_trace_took(monkeypatch):
    monkeypatch.setattr(policy, "CREDIT", policy.Credit())
    first = []

    def slow(*args):
        first.append(args)
        policy.CREDIT.spent += len(first) == 1
        return trace(*args)

    monkeypatch.setattr(compiler, "trace", slow)
    f = hot(steps)
    for _ in range(2):
        f(SMALL, 3)
    assert len(first) == 2 and f.stats.compiles == 1


def test_long_attempts_in_vain_are_not_made_again_at_once(monkeypatch):
    attempts = []

    def refuse(*args):
        attempts.append(args)
        policy.CREDIT.spent += 1.0
        time.sleep(2 * policy.COMPILE_SECONDS)
        raise Refused("too-long", "for a test")

    monkeypatch.setattr(policy, "CREDIT", policy.Credit())
    monkeypatch.setattr(compiler, "trace", refuse)
    f = hot(chain)
    for _ in range(20):
        assert np.array_equal(f(SMALL), chain(SMALL))
    assert len(attempts) == 1
    f.waiting = 1.5
    f(SMALL)
    assert len(attempts) == 2 and f.stats.state == "active"


def test_credit_grows_with_the_life_of_the_process():
    credit = policy.Credit()
    assert credit.left()
    credit.spent = policy.CREDIT_SECONDS + 1
    assert not credit.left()
    credit.start -= 2 / policy.CREDIT_SHARE
    assert credit.left()


def test_odd_functions_are_looked_through():
    class Asked:
        def __getattribute__(self, name):
            raise AssertionError("user code runs")

    asked = Asked()

    def f(x):
        return g(x, x.no_such_method, asked)

    def g(*args):
        return [a + 1 for a in args]

    assert policy.loops(f, (asked,))

    def unbound(x):
        return later(x)

    assert not policy.loops(unbound, (1,))
    later = chain
    assert not policy.loops(unbound, (1,))


def test_functions_that_hold_themselves_are_looked_through_once():
    def f(n):
        return g(n - 1)

    def g(n):
        return f(n) if n else 0

    assert not policy.loops(f, (1,))
    assert npcompile.jit(f)(3) == 0


def early(x, n):
    if n < 3:
        return x
    return (x * 2 + 1) * n


def of_two(a, b):
    if min(len(a) * len(b) // 3, len(a) - 2) > 5:
        return a * 2
    return None


@pytest.mark.parametrize("compile", ["hot", "first"])
@pytest.mark.parametrize(
    "fn, nothing, work",
    [
        (steps, (SMALL, 0), (SMALL, 5)),
        (numbers_only, (0,), (1000,)),
        (until, (1.0, 0.5), (1.0, 100.0)),
        (early, (SMALL, 1), (SMALL, 5)),
        (early, (SMALL, -(1 << 31)), (SMALL, 5)),
        (of_two, (SMALL[:6], SMALL), (SMALL[:9], SMALL)),
        (of_two, (SMALL, SMALL[:0]), (SMALL, SMALL)),
    ],
)
def test_calls_that_compute_nothing_say_nothing_of_others(fn, nothing, work, compile):
    f = npcompile.jit(fn, options={"compile": compile})
    for args in (nothing, nothing, nothing, work, work, nothing, work):
        want = fn(*args)
        assert np.array_equal(f(*args), want) if want is not None else f(*args) is None
    assert f.stats.compiles == 1 and f.stats.hits >= 3


def test_a_function_called_once_with_each_of_many_types_compiles_nothing():
    jitted = hot(lambda *args, **kwargs: np.add(*args, **kwargs))
    dtypes = "?bhilBHILefdFD"
    for char in dtypes:
        for shape in ((3,), (3, 1), ()):
            assert jitted(np.ones(shape, char), np.ones(3, char)).dtype.char == np.dtype(char).char
    assert jitted.stats.compiles == 0
    for char in "fd":
        assert jitted(np.ones(3, char), np.ones(3, char)).dtype.char == char
    assert jitted.stats.compiles == 2


def test_numbers_that_change_are_no_other_types():
    def f(x, n):
        return x.reshape(n, -1).sum(axis=0)

    jitted = hot(f)
    for n in (2, 3):
        jitted(np.arange(12.0), n)
    assert jitted.stats.compiles == 1
