"""Graph breaks: the instruction that is not compiled runs in Python, compiled code goes on before and after it."""

import contextlib
import copy
import gc
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

import npcompile
from npcompile.testing import difference

A = np.linspace(0.0, 1.0, 7)
B = np.linspace(-1.0, 2.0, 7)
LOG = []
note = {}.setdefault  # a call that is not compiled and leaves no trace


def say(*values):
    """Something with a side effect; `LOG.__len__` keeps it from being inlined."""
    getattr(LOG, "append")([np.copy(v) if isinstance(v, np.ndarray) else v for v in values])  # noqa: B009


def outside(x):
    """Not compiled, and gives an array back."""
    LOG.append("outside")
    return np.frompyfunc(lambda v: v + 1.0, 1, 1)(x).astype(float)


class Counter:
    def __init__(self):
        self.seen = []

    def __call__(self, *values):
        self.seen.append(len(values))
        LOG.append(("counter", len(self.seen)))
        return len(self.seen)


# ---------------------------------------------------------------------------------------------- the corpus


def straight(a, b):
    y = a * b + 1.0
    print("mid", y.sum())
    z = y * 2 - a
    return z, y


def twice(a, b):
    y = a * b
    print("one")
    z = y + a
    print("two", z[0])
    return z * y


def first_thing(a, b):
    print("first")
    y = a * 2 + b
    return y.sum()


def result_is_used(a, b):
    y = outside(a * b)
    return y * 2 + a


def within_an_expression(a, b):
    return (a * b + 1.0) * outside(a - b) + (b * b + 2.0)


def in_a_call(a, b):
    return np.maximum(a * b + 1.0, outside(b * 3.0) * 2)


def text(a, b):
    s = f"{a.sum():.3f} and {b.max()!r}"
    y = a * b + len(s)
    return s, y


def in_a_for_loop(a, b, n=12):
    z = a
    for i in range(n):
        y = z * b + i
        print(i, end=" ")
        z = y * 0.5 + a
    return z


def loop_without_work_before(a, b, n=12):
    z = a
    for i in range(n):
        print(i, end=" ")
        z = z * 0.5 + a * i
    return z


def in_a_while_loop(a, b, n=12):
    z, k = a, 0
    while k < n:
        y = z * b + k
        print(k, end=" ")
        z = y * 0.5 + a
        k += 1
    return z, k


def nested_loops(a, b, n=4):
    z = a
    for i in range(n):
        z = z + b * i
        for j in range(n):
            z = z * 0.5 + j
            print(i, j, end=" ")
            z = z + a
        z = z - b
    return z


def clean_loop_after(a, b, n=40):
    print("before")
    s = 0.0
    for i in range(n):
        s += a[i % 7] * b[i % 7]
    return s


def clean_loop_inside(a, b, n=5):
    s = 0.0
    for k in range(n):
        print(k, end=" ")
        for i in range(len(a)):
            s += a[i] * b[i] * k
    return s


def over_rows(a, b, n=6):
    m = np.outer(a, b)
    out = []
    for k, row in enumerate(m):
        out.append(row.sum() + k)
        print(k, end=" ")
        out[-1] = out[-1] * 2.0
    return out


def over_a_generator(a, b, n=6):
    z = a
    for k in (x * x for x in range(n)):
        z = z * 0.5 + b * k
    return z


def over_a_zip(a, b, n=6):
    z = a
    for x, (k, y) in zip(range(n), enumerate(reversed(range(n)))):
        z = z * 0.5 + b * (x - k * y)
        print(x, end=" ")
        z = z + 1.0
    return z


def breaks_sometimes(a, b, n=30):
    z = a
    for i in range(n):
        z = z * 0.5 + b * i
        if i % 10 == 3:
            print("at", i, end=" ")
        z = z + 1.0
    return z


def leaves_the_loop(a, b, n=30):
    z = a
    for i in range(n):
        z = z * 0.5 + b
        print(i, end=" ")
        if z.sum() > 6.5:
            break
        if i == 20:
            continue
        z = z + 0.1
    else:
        z = z * 100
    return z, i


def returns_from_a_loop(a, b, n=30):
    z = a
    for i in range(n):
        z = z + b * i
        print(i, end=" ")
        if i == 4:
            return z, i
    return None


def deep2(x):
    y = x * 2 + 1.0
    print("deep", end=" ")
    return y * y + x


def deep1(x, k):
    y = deep2(x + k) * 3.0
    return y - k


def two_deep(a, b, n=5):
    z = a * b
    for k in range(n):
        z = deep1(z, k) * 0.01 + a
    return z


def deep_straight(a, b):
    return deep1(a * b, 2) + deep1(b, 3) * 2


@contextlib.contextmanager
def noted(name):
    LOG.append(("enter", name))
    try:
        yield name
    finally:
        LOG.append(("exit", name))


def in_with(a, b):
    with noted("x") as name:
        y = a * b + 1.0
        print(name)
        z = y * 2 + a
    return z * b


def with_in_a_loop(a, b, n=5):
    z = a
    for k in range(n):
        with noted(k):
            z = z * 0.5 + b * k
        z = z + 1.0
    return z


def in_try(a, b, n=8):
    z = a
    caught = []
    try:
        for k in range(n):
            y = z * b + k
            caught.append(10 // (k - 5))
            z = y * 0.5 + a
    except ZeroDivisionError as e:
        caught.append(str(e))
        z = z * 2
    finally:
        print("finally")
        z = z + b
    return z, caught


def handler_in_the_loop(a, b, n=6):
    z = a
    log = []
    for k in range(n):
        try:
            y = z * b + k
            log.append(int("1x"[: 1 + k % 2]))
            z = y * 0.5 + a
        except ValueError:
            z = z - 1.0
            continue
        z = z + 0.25
    return z, log


def raises_after(a, b):
    y = a * b
    print("soon")
    z = y[:3] + a  # shapes do not match
    return z


def raises_in_step(a, b, n=8):
    z = a
    for k in range(n):
        z = z * b + k
        int("x" if k == 5 else "1")
        z = z + 1.0
    return z


def with_raises(a, b):
    with noted("r"):
        y = a * b
        print("in")
        z = y * y
        raise KeyError(float(z.sum()))


def closure(a, b, n=6):
    total = 0.0
    count = 0

    def add(x):
        nonlocal total, count
        total = total + x
        count += 1
        print(count, end=" ")
        return x * 2.0

    z = a
    for k in range(n):
        z = add(z * 0.5 + b * k) + a
    return z, total, count, (lambda: (z, count))()[1]


class Model:
    scale = 2.0

    def step(self, x, k):
        y = x * self.scale + k
        print("step", k, end=" ")
        return y - 1.0


class Sub(Model):
    scale = 0.5

    def __init__(self):
        self.steps = 0

    def step(self, x, k):
        y = super().step(x + 1.0, k) * 2.0
        self.steps += 1
        return y + x

    def run(self, x, n):
        for k in range(n):
            x = self.step(x, k) * 0.1
        return x


def methods(a, b, n=5):
    m = Sub()
    return m.run(a * b, n) + 1.0, m.steps


def comprehension(a, b, n=5):
    y = a * b
    out = [outside(y * k) * 2.0 + a for k in range(n)]
    return sum(out) * 0.5, {k: len(out) for k in range(2)}


def generator_inside(a, b, n=5):
    def parts():
        for k in range(n):
            yield a * k + b

    z = a
    for p in parts():
        z = z * 0.5 + p
        print(".", end="")
    return z


def recursion(a, b, n=4):
    y = a * b + n
    if n == 0:
        return y
    print(n, end=" ")
    return recursion(y * 0.5, b, n - 1) + y


def grows(a, b, n=6):
    out, y = [], a
    for k in range(n):
        y = np.append(y, float(k))
        out.append(y.sum() * 2.0)
        note(len(out), None)
        y = y + out[-1] * 0.0
    return y, out


def stores(a, b, n=5):
    for k in range(n):
        a[k] = b[k] * 2.0
        print(a[k], end=" ")
        a[k + 1] += a[k]
    return a.sum()


def many_arguments(a, b, *rest, k=2.0, **more):
    y = a * b + sum(rest)
    print(sorted(more))
    return y * k + more.get("m", 0.0)


CORPUS = [
    straight, twice, first_thing, result_is_used, within_an_expression, in_a_call, text, in_a_for_loop, loop_without_work_before,
    in_a_while_loop, nested_loops, clean_loop_after, clean_loop_inside, over_rows, over_a_generator, over_a_zip, breaks_sometimes,
    leaves_the_loop, returns_from_a_loop, two_deep, deep_straight, in_with, with_in_a_loop, in_try, handler_in_the_loop,
    raises_after, raises_in_step, with_raises, closure, methods, comprehension, generator_inside,
    recursion, grows, stores, many_arguments,
]  # fmt: skip


def outcome(call, args):
    """Result or exception with its lines, arguments afterwards, log and printed text, in order."""
    LOG.clear()
    args = copy.deepcopy(args)
    try:
        result = call(*args)
    except Exception as e:
        lines = [(f.name, f.lineno) for f in traceback.extract_tb(e.__traceback__) if f.filename == __file__]
        result = (type(e).__name__, str(e), lines[1:])
    return result, args, list(LOG)


def check(fn, args, calls=3, capsys=None, **options):
    """Plain and jitted calls one after the other do the same things."""
    jitted = npcompile.jit(fn, options={"compile": "first", **options})
    for _ in range(calls):
        want = outcome(fn, args)
        printed = capsys.readouterr().out if capsys else ""
        got = outcome(jitted, args)
        assert (capsys.readouterr().out if capsys else "") == printed
        assert difference(want, got, "exact", 1.0) is None, (want, got)
    return jitted


@pytest.mark.parametrize("fn", CORPUS, ids=[f.__name__ for f in CORPUS])
def test_corpus(fn, capsys):
    jitted = check(fn, (A, B), capsys=capsys)
    before = jitted.stats.compiles
    assert jitted.stats.misses <= 2 and before <= 10, jitted.stats
    for _ in range(3):
        outcome(jitted, (A, B))
    capsys.readouterr()
    assert jitted.stats.compiles == before  # nothing is compiled again
    check(fn, (A.astype("f4"), B.astype("f4")), calls=2, capsys=capsys)


# ---------------------------------------------------------------------------------------------- counts


def places(jitted):
    """The continuation points of a jitted function."""
    points = jitted.stats._state.points
    return [] if points is None else list(points.jits.values())


COUNTS = {
    # function: (segments, places of breaks)
    straight: (2, 1),
    twice: (3, 2),
    first_thing: (1, 1),
    result_is_used: (2, None),
    in_a_for_loop: (3, 1),
    loop_without_work_before: (None, 1),
    in_a_while_loop: (3, 1),
    clean_loop_after: (1, 1),
    two_deep: (None, 1),
    in_with: (3, None),
}


@pytest.mark.parametrize("fn", COUNTS, ids=[f.__name__ for f in COUNTS])
def test_counts(fn, capsys):
    report = npcompile.explain(fn, A.copy(), B.copy())
    segments, breaks = COUNTS[fn]
    assert segments is None or len(report.segments) == segments, str(report)
    assert breaks is None or len(report.graph_breaks) == breaks, str(report)
    assert report.declined == ""


def test_no_recompiles_for_what_changes_in_each_turn():
    """Counters, lengths and sizes are no constants: a place is compiled at most three times."""

    def f(a, n):
        out, y, k = [], a, 0
        while k < n:
            y = np.concatenate((y, a[: 1 + k % 2])) * 0.5
            note(len(out), None)
            out.append(float(y.sum()) + k * len(y))
            if len(out) > 3:
                y = y[1:] + out[-1]
            k += 1
        return out, y

    jitted = check(f, (A, 40), calls=2)
    check_counts = [len(p.entries) for p in places(jitted)]
    assert max(check_counts) <= 3, check_counts
    before = jitted.stats.compiles
    for n in (3, 17, 60, 61):
        outcome(jitted, (A, n))
    assert jitted.stats.compiles <= before + 1


def test_strings_that_change_are_not_looked_at():
    def f(a, names):
        z = a
        for name in names:
            z = z * 0.5 + len(name)
            print(name.upper(), end="")
            z = z + (1.0 if name == "b" else 2.0)
        return z

    jitted = check(f, (A, ["a", "b", "c", "dd", "e", "f", "g", "h"]), calls=2)
    assert max(len(p.entries) for p in places(jitted)) <= 3


def test_the_limit_holds_at_points(caplog):
    kinds = [1, 2.0, 3j, np.float32(4), np.float64(5), np.int8(6), np.arange(7), np.float16(1)]

    def f(a, n):
        z = a
        for i in range(n):
            v = outside_list[i % len(outside_list)]
            note(i, v)
            z = (z * 0.5 + v).real
        return z

    outside_list = kinds
    with caplog.at_level("INFO", logger="npcompile.recompiles"):
        jitted = check(f, (A, 24), calls=3)
    assert all(len(p.entries) <= 4 for p in places(jitted))
    assert any(p.state == "frozen" for p in places(jitted))
    assert "limit of 4 entries" in caplog.text and "last failed: variable `" in caplog.text


def test_fullgraph_raises_at_the_first_break():
    jitted = npcompile.jit(in_a_for_loop, fullgraph=True)
    with pytest.raises(npcompile.UnsupportedError) as info:
        jitted(A, B)
    assert info.value.line == in_a_for_loop.__code__.co_firstlineno + 4


def test_without_a_call_only_what_comes_first_is_explained(capsys):
    report = npcompile.explain(twice, A, B, run=False)
    assert len(report.segments) == 1 and len(report.graph_breaks) == 1 and capsys.readouterr().out == ""


# ---------------------------------------------------------------------------------------------- frames and lifetimes


def test_the_stack_does_not_grow_with_the_turns():
    depths, names = [], []

    def look(*values):
        frame, n = sys._getframe(1), 0
        names.append([])
        while frame:
            names[-1].append(frame.f_code.co_name)
            n += 1
            frame = frame.f_back
        depths.append(n)

    look = np.frompyfunc(look, 2, 1)

    def f(a, n):
        z = a
        for k in range(n):
            z = z * 0.5 + k
            look(k, 0)
            z = z + a
        return z

    plain = f(A, 500)
    expected, called_by = depths[:], names[0]
    depths.clear()
    names.clear()
    jitted = npcompile.jit(f)
    assert np.array_equal(jitted(A, 500), plain)
    assert depths == expected and names[-1] == called_by
    assert sum(p.hits for p in places(jitted)) >= 990


def test_a_traceback_shows_each_frame_once(capsys):
    def inner(x, k):
        y = x * 2.0
        print(k)
        z = y + 1.0
        int("x" if k == 3 else "1")
        return z

    def f(a):
        for k in range(6):
            a = inner(a, k) * 0.5
        return a

    jitted = npcompile.jit(f)
    for call in (f, jitted, jitted):
        with pytest.raises(ValueError) as info:
            call(A)
        own = [(e.name, e.lineno) for e in info.traceback if e.path.name == "test_breaks.py"][1:]
        start = inner.__code__.co_firstlineno
        assert own == [("f", start + 8), ("inner", start + 4)] or [n for n, _ in own] == ["f", "inner"]
        lines = [e.lineno + 1 for e in info.traceback if e.path.name == "test_breaks.py"][1:]
        assert lines == [f.__code__.co_firstlineno + 2, start + 4]


class Thing:
    pass


def test_objects_die_when_they_do_in_plain_python():
    def f(a, seen):
        make = globals()["Thing"]
        t = make()
        r = weakref.ref(t, lambda r: seen.append("dead"))
        y = a * 2.0
        seen.append("kept")
        del t
        seen.append("deleted")
        z = y + 1.0
        for k in range(3):
            t = make()
            q = weakref.ref(t, lambda r, k=k: seen.append(("dead", k)))
            z = z * 0.5
            seen.append(k)
        return z, r() is None, q() is None

    check(f, (A, []), calls=3)


def test_arrays_are_held_by_their_variables_only():
    def f(a):
        y = a * 2.0
        note(0, None)
        y.resize(3)
        z = y * 2.0
        n = [sys.getrefcount(y), sys.getrefcount(z), sys.getrefcount(a)]
        y = y + 1.0
        return y, z, n

    jitted = npcompile.jit(f)
    plain = f(A.copy())
    for _ in range(3):
        got = jitted(A.copy())
        assert difference(plain[:2], got[:2], "exact", 1.0) is None
        assert got[2][:2] == plain[2][:2]


def test_nothing_leaks(capsys):
    for fn in (in_a_for_loop, two_deep, closure, in_with, raises_in_step):
        jitted = npcompile.jit(fn)
        a, b = A.copy(), B.copy()
        for _ in range(3):
            with contextlib.suppress(ValueError):
                jitted(a, b)
        LOG.clear()
        gc.collect()
        before = sys.getrefcount(a), sys.getrefcount(b), len(gc.get_objects())
        for _ in range(20):
            with contextlib.suppress(ValueError):
                jitted(a, b)
        LOG.clear()
        gc.collect()
        assert sys.getrefcount(a) == before[0] and sys.getrefcount(b) == before[1]
        assert len(gc.get_objects()) - before[2] < 15


def test_a_function_with_points_is_collected():
    def make():
        def f(a):
            z = a * 2.0
            for k in range(4):
                note(k, None)
                z = z + 1.0
            return z

        return npcompile.jit(f)

    jitted = make()
    jitted(A)
    refs = [weakref.ref(jitted), *map(weakref.ref, places(jitted))]
    assert len(refs) > 2
    del jitted
    gc.collect()
    assert [r() for r in refs] == [None] * len(refs)


def test_threads(capsys):
    jitted = npcompile.jit(two_deep)
    want = two_deep(A, B)
    failures = []

    def work():
        for _ in range(15):
            if not np.array_equal(jitted(A, B), want):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


class Logged:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        self.log.append(f"exit {kind.__name__ if kind else None}")


def test_an_interrupt_while_compiling_is_raised_in_the_frame(monkeypatch):
    from npcompile import compiler

    attempt = compiler.attempt
    seen = []

    def interrupted(jitted, bound, place, *rest):
        if place.name.endswith(f"line {f.__code__.co_firstlineno + 5}") and not seen:
            seen.append("interrupt")
            raise KeyboardInterrupt
        return attempt(jitted, bound, place, *rest)

    def f(a, log):
        y = a * 2.0
        try:
            with Logged(log):
                note(0, None)
                z = (y + 1.0) * np.frompyfunc(abs, 1, 1)(y)
            return z
        except KeyboardInterrupt:
            log.append("caught")
        finally:
            log.append("finally")
        return None

    monkeypatch.setattr(compiler, "attempt", interrupted)
    log = []
    jitted = npcompile.jit(f)
    assert jitted(A, log) is None and log == ["exit KeyboardInterrupt", "caught", "finally"] and seen
    assert jitted(A, log) is not None


def test_a_tool_that_begins_in_mid_call_sees_the_rest():
    lines = []

    def tracer(frame, event, arg):
        if event == "line" and frame.f_code.co_name == "f":
            lines.append(frame.f_lineno - f.__code__.co_firstlineno)
        return tracer

    begin = {}
    switch = np.frompyfunc(lambda k: sys.settrace(tracer) if k == 3 else None, 1, 1)

    def f(a):
        for k in range(5):
            a = a * 2.0
            begin.setdefault(k, switch(k))
            a = a + 1.0
        return a

    plain = f(A)
    sys.settrace(None)
    jitted = npcompile.jit(f, options={"trace_debug": False})
    begin.clear()
    lines.clear()
    try:
        got = jitted(A)
    finally:
        sys.settrace(None)
    assert np.array_equal(got, plain) and 5 in lines


# ---------------------------------------------------------------------------------------------- when it pays


def hot(fn):
    return npcompile.jit(fn, options={"compile": "hot"})


def test_a_second_call_is_compiled_through_its_breaks(capsys):
    f = hot(twice)
    want = twice(A, B)
    for _ in range(4):
        assert difference(want, f(A, B), "exact", 1.0) is None
    assert (f.stats.compiles, f.stats.hits, f.stats.plain_calls) == (3, 3, 1)
    assert [p.hits for p in places(f)] == [3, 3]


def test_a_long_loop_with_a_break_is_compiled_in_its_first_call():
    def f(a, n):
        z = a
        for k in range(n):
            z = z * 0.5 + k
            note(k % 7, None)
            z = z + a
        return z

    jitted = hot(f)
    big = np.linspace(0.0, 1.0, 20_000)
    assert np.array_equal(jitted(big, 20_000), f(big, 20_000))
    assert jitted.stats.hits == 1 and sum(p.hits for p in places(jitted)) > 39_000
    short = hot(f)
    short(A, 20)
    assert short.stats.compiles == 0 and short.stats.plain_calls == 1


def test_a_break_now_and_then_in_a_long_loop(capsys):
    """The first frame that comes to a place in mid-loop goes on in compiled code when the rest of the loop is long."""

    def f(a, n):
        z = a
        for k in range(n):
            z = z * 0.5 + k
            if k % 2000 == 0:
                print(f"turn {k}: {z[0]:.3f} {z[-1]:.3f}")
            z = z + a
        return z

    jitted = hot(f)
    big = np.linspace(0.0, 1.0, 5_000)
    want = f(big, 20_000)
    printed = capsys.readouterr().out
    assert np.array_equal(jitted(big, 20_000), want) and capsys.readouterr().out == printed
    assert jitted.stats.hits == 1 and jitted.stats.compiles <= 3 and not any(p.plain_calls for p in places(jitted)[:-1])


def test_what_gains_nothing_goes_back_to_plain():
    def f(a, n):
        for k in range(n):
            note(k % 3, a)
            note(3, k)
        return a

    for options in ("first", "hot"):
        jitted = npcompile.jit(f, options={"compile": options})
        for _ in range(8):
            assert jitted(A, 30) is A
        assert 900 < jitted.entries[0].resting < 1000 and jitted.stats.compiles == 0
        before = jitted.stats.plain_calls
        for _ in range(1000):
            jitted(A, 1)
        assert 990 < jitted.stats.plain_calls - before < 1000
        assert 10_000 < jitted.entries[0].resting < 16_000  # tried once more, in vain


def test_a_call_that_steps_without_gain_goes_on_plain():
    def f(a, n):
        z = a * 2.0
        k = 0.0
        for i in range(n):
            note(0, i)
            note(1, i)
            note(2, i)
            k = k + 0.5
        return z + k

    jitted = npcompile.jit(f)
    for _ in range(5):
        assert np.array_equal(jitted(A, 1000), f(A, 1000))
    assert sum(p.hits for p in places(jitted)) < 600


def test_sometimes_is_native_in_between(capsys):
    jitted = npcompile.jit(breaks_sometimes)
    want = breaks_sometimes(A, B, 1000)
    capsys.readouterr()
    assert np.array_equal(jitted(A, B, 1000), want)
    assert jitted.stats.compiles <= 3 and sum(p.hits for p in places(jitted)) == 100


def test_the_rest_of_a_range_by_an_iterator_of_ones_own():
    """An iterator that others hold is Python's: it has to move on."""

    def f(a, n):
        z = a
        it = iter(range(n))
        for k in it:
            z = z * 0.5 + k
            if k == 4:
                note(k, next(it))
        return z, next(it, "end")

    check(f, (A, 12))


def test_ranges_of_all_kinds(capsys):
    def f(a, start, stop, step):
        z, n = a, 0
        for k in range(start, stop, step):
            z = z * 0.5 + k
            if k == 3:
                print(k)
            n += 1
        return z, n

    for numbers in ((0, 10, 1), (9, -20, -3), (3, 4, 1), (3, 1 << 33, 1 << 31), (-(1 << 40), 4, (1 << 40) + 3), (0, 0, 1)):
        check(f, (A, *numbers), capsys=capsys)
