"""Frames around graph breaks: tracebacks, lifetimes, threads, interrupts, tools."""

import contextlib
import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from break_programs import LOG, A, B, check, closure, in_a_for_loop, in_with, note, places, raises_in_step, two_deep

import npcompile
from npcompile.testing import difference


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
        print(k, file=None)
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
        own = [(e.name, e.lineno) for e in info.traceback if e.path.name == "test_break_frames.py"][1:]
        start = inner.__code__.co_firstlineno
        assert own == [("f", start + 8), ("inner", start + 4)] or [n for n, _ in own] == ["f", "inner"]
        lines = [e.lineno + 1 for e in info.traceback if e.path.name == "test_break_frames.py"][1:]
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
