"""Debuggers, profilers and coverage tools: while one watches, the original function runs, so that it sees every line."""

import cProfile
import pstats
import sys
import threading

import numpy as np
import pytest

import npcompile

X = np.linspace(0.0, 1.0, 50)
MONITORING = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")


def make(**options):
    def f(x):
        y = x * 2
        return y + 1

    jitted = npcompile.jit(f, options={"trace_debug": False, **options})
    jitted(X)
    assert jitted.stats.hits == 1
    return jitted


def plain_and_hits(f):
    before = f.stats.plain_calls, f.stats.hits
    f(X)
    return f.stats.plain_calls - before[0], f.stats.hits - before[1]


def lines_of(f):
    first = f.__code__.co_firstlineno
    return {first + 1, first + 2}


def test_settrace():
    f, seen = make(), set()

    def tracer(frame, event, arg):
        if frame.f_code is f.__code__ and event == "line":
            seen.add(frame.f_lineno)
        return tracer

    old = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert plain_and_hits(f) == (1, 0)
    finally:
        sys.settrace(old)
    assert seen == lines_of(f)
    if old is None:
        assert plain_and_hits(f) == (0, 1)


def test_setprofile_and_cprofile():
    f = make()
    profile = cProfile.Profile()
    profile.enable()
    counts = plain_and_hits(f)
    profile.disable()
    assert counts == (1, 0) and any(name == "f" for _, _, name in pstats.Stats(profile).stats)
    assert plain_and_hits(f) == (0, 1)


def test_a_tracer_of_another_thread():
    f, counts = make(), []

    def work():
        sys.settrace(lambda *args: None)
        counts.append(plain_and_hits(f))
        sys.settrace(None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert counts == [(1, 0)]


def test_on_request_compiled_code_runs_all_the_same():
    f = make(trace_debug=True)
    profile = cProfile.Profile()
    profile.enable()
    counts = plain_and_hits(f)
    profile.disable()
    assert counts == (0, 1)


@MONITORING
@pytest.mark.parametrize("scope", ["global", "local"])
def test_monitoring(scope):
    monitoring, f, seen = sys.monitoring, make(), set()
    line = monitoring.events.LINE
    monitoring.use_tool_id(4, "npcompile-test")
    try:
        assert plain_and_hits(f) == (0, 1)  # in use, and wants nothing yet
        monitoring.register_callback(4, line, lambda code, n: seen.add(n) if code is f.__code__ else None)
        assert plain_and_hits(f) == (0, 1)
        if scope == "global":
            monitoring.set_events(4, line)
        else:
            monitoring.set_local_events(4, f.__code__, line)
        assert plain_and_hits(f) == (1, 0) and seen == lines_of(f)
        other = make.__code__ if scope == "global" else None
        if other is None:  # a tool that watches other code only does not matter
            monitoring.set_local_events(4, f.__code__, 0)
            monitoring.set_local_events(4, make.__code__, line)
        else:
            monitoring.set_events(4, 0)
        assert plain_and_hits(f) == (0, 1)
    finally:
        monitoring.set_events(4, 0)
        monitoring.register_callback(4, line, None)
        monitoring.free_tool_id(4)
    assert plain_and_hits(f) == (0, 1)


@MONITORING
def test_a_tool_that_was_there_before_the_import(tmp_path):
    import subprocess

    script = """
import sys
import numpy as np
m = sys.monitoring
m.use_tool_id(1, "early")
m.register_callback(1, m.events.PY_START, lambda *args: None)
m.set_events(1, m.events.PY_START)
import npcompile
f = npcompile.jit(lambda x: x + 1, options={"compile": "first"})
f(np.ones(3))
assert f.stats.plain_calls == 1 and f.stats.misses == 0, f.stats
m.set_events(1, 0)
f(np.ones(3))
assert f.stats.hits == 1, f.stats
"""
    subprocess.run(
        [sys.executable, "-P", "-c", script], check=True, env={"PATH": "/usr/bin:/bin", "NPCOMPILE_CACHE_DIR": str(tmp_path)}
    )
