"""Slices, indices and stores whose bounds use loop variables or run-time integers: facts, checks in place, exact exits."""

import linecache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracer_harness import check, prims

from npcompile.tracer import replay, trace

BOUNDS = [
    "",
    "i",
    "i+1",
    "i-1",
    "-i",
    "n-i",
    "n",
    "k",
    "k+i",
    "-1",
    "1",
    "2*i",
    "max(i-1, 0)",
    "min(i+k, n)",
    "j",
    "-k",
    "w[i]",
    "m",
]
STEPS = ["", "", "", ":2", ":-1", ":-2"]
SOURCE = """
def f(a, b, c, w, n, k):
    m = a.shape[0]
    j = 0
    for i in range({loop}):
        {body}
        j += 2
    return j
"""


@st.composite
def slices(draw):
    return f"{draw(st.sampled_from(BOUNDS))}:{draw(st.sampled_from(BOUNDS))}{draw(st.sampled_from(STEPS))}"


@st.composite
def statements(draw):
    s, t, u = draw(slices()), draw(slices()), draw(slices())
    at, to = draw(st.sampled_from(BOUNDS[1:])), draw(st.sampled_from(BOUNDS[1:]))
    forms = [
        f"b[{s}] = a[{s}] * 2",
        f"b[{s}] += a[{t}]",
        f"b[{s}] = a[{t}] + c[{u}]",
        f"a[{s}] = a[{t}]",
        f"c[{at}] = a[{s}].sum()",
        f"b[{at}] = a[{to}] * 3",
        f"b[{at}] += b[{to}]",
        f"b[{s}] = a[{at}]",
        f"c[i] = (a[{s}] - b[{t}]).sum()",
        f"b[{s}][{t}] = 5",
        f"c[i] = a[{s}][{at}]",
    ]
    return draw(st.sampled_from(forms))


def make(text, number=[0]):  # noqa: B006
    number[0] += 1
    name = f"<loop {number[0]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def run(f, args, traced_with=None):
    with np.errstate(all="ignore"):
        return check(f, *args, traced_with=traced_with, most=12)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_random_slices_in_loops(data):
    body = data.draw(statements())
    loop = data.draw(st.sampled_from(["n", "1, n", "n - 1, -1, -1", "0, n, 2", "k, n"]))
    text = SOURCE.format(loop=loop, body=body)
    f = make(text)
    n, k = data.draw(st.integers(0, 6)), data.draw(st.integers(-2, 4))
    size = data.draw(st.sampled_from([n, n + 1, 2 * n + 3, 8]))
    rng = np.random.default_rng(0)
    args = [rng.integers(0, 9, size) * 1.0 for _ in range(3)] + [rng.integers(-1, 5, 12), n, k]
    result = trace(f, tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
    breaks = tuple(b.reason for b in result.breaks)
    with np.errstate(all="ignore"):
        check(f, *args, breaks=breaks, most=12)
        # the same segment for other sizes: right, or refused by its guards
        for other in (n + 1, max(n - 1, 0), 9):
            a2 = [rng.integers(0, 9, size + other - n) * 1.0 for _ in range(3)] + [args[3], other, k]
            if a2[0].size > 0:
                again(result, f, a2)


def again(result, f, args):
    mine, plain = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    try:
        want = f(*plain)
    except Exception as e:
        want = type(e)
    try:
        got = replay.run(result, f, tuple(mine))
    except replay.GuardFailed:
        return
    except Exception as e:
        got = type(e)
    assert got == want
    for x, y in zip(mine, plain):
        assert np.array_equal(x, y, equal_nan=True)


@pytest.mark.parametrize(
    "body",
    [
        "b[i] = a[i] * 2",
        "b[i] = a[i-1] + a[n-1-i]",
        "b[:i+1] += a[:i+1]",
        "b[i:] = a[i:] - a[i]",
        "b[i:i+1] = a[i:i+1]",
        "b[max(i-1, 0):i+2] += 1",
        "c[i] = a[w[i]] * 2",
        "c[w[i] & 3] += 1",
    ],
)
def test_common_forms_are_one_segment(body):
    f = make(SOURCE.format(loop="n", body=body))
    rng = np.random.default_rng(0)
    args = [rng.random(7) for _ in range(3)] + [rng.integers(0, 5, 12), 7, 2]
    result = run(f, args)
    assert prims(result).count("loop") == 1


def test_bounds_that_are_proved_need_no_check():
    f = make(SOURCE.format(loop="n", body="b[i:] += a[i]; c[:i+1] = a[:i+1]; a[n-1-i] = 0"))
    args = [np.arange(7.0) for _ in range(3)] + [np.arange(12), 7, 2]
    result = run(f, args)
    assert "exit_if" not in [node.prim for node in result.graph.body.walk() if node.loc is None or node.loc.line == 6]


def test_builtins_on_numpy_scalars():
    def f(x, a):
        return abs(x), divmod(x, 3), divmod(a, x), int(x), float(x), bool(x), complex(x)

    for x in (np.int8(-7), np.float32(2.5), np.uint64(3), np.float64(-0.0)):
        with np.errstate(all="ignore"):
            check(f, x, np.arange(1.0, 4.0))

    def g(x):
        return abs(x)

    check(g, np.int8(-128), traced_with=(np.int8(-7),))
