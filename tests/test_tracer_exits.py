"""The state that exits hand back: at every exit taken, the frames are those that CPython has at that very instruction.

The function runs once under an opcode tracer that notes each frame's locals before every instruction; then every exit that
the replayed segment meets is taken in turn, and what it would resume is compared with one of the noted states.
"""

import copy
import math
import sys

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from tracer_harness import bound, check, same

from npcompile.bytecode.cfg import control_flow
from npcompile.bytecode.normalise import normalise
from npcompile.tracer import replay, trace

X = np.linspace(-2.0, 3.0, 12)
M = np.arange(20.0).reshape(4, 5) + 1


class Left(Exception):
    """Carries the frames of an exit in place of continuing them."""

    def __init__(self, frames):
        super().__init__(len(frames))
        self.frames = frames


def states(fn, args):
    """CPython's states: for every instruction run, the (code, offset, locals) of all frames from `fn` inwards."""
    seen, stack = [], []

    def on_event(frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "call":
            if not stack and frame.f_code is not fn.__code__:
                return None
            stack.append(frame)
        elif event == "return":
            stack.pop()
        elif event == "opcode":
            # one copy, so that objects that are one stay one and views stay views
            seen.append(copy_state([(f.f_code, f.f_lasti, dict(f.f_locals)) for f in stack]))
        return on_event

    old = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # 3.12 looks at settrace whether any frame wants these events
    sys.settrace(on_event)
    try:
        fn(*args)
    finally:
        sys.settrace(old)
    return seen


def copy_state(state):
    """Values now, with what is identical and what shares memory."""
    facts, roots = [], {}
    for code, at, local in state:
        facts.append((code, at, {k: snapshot(v, roots) for k, v in local.items()}))
    return facts


def snapshot(v, roots):
    """(number of the object, value): numbers say which names hold one object, or memory of one buffer."""
    if isinstance(v, np.ndarray):
        for key, other in list(roots.items()):
            if isinstance(other, np.ndarray) and np.shares_memory(v, other):
                return key, v.copy()
    key = next((k for k, other in roots.items() if other is v), len(roots))
    roots.setdefault(key, v)
    return (key if isinstance(v, (np.ndarray, list, dict)) else None), copy.deepcopy(v) if not callable(v) else v


def agrees(got, want):
    """An exit's frames against CPython's: what is handed back is right, and nothing is missing that is still read."""
    if [f[0] for f in got] != [f[0] for f in want]:
        return False
    names = {}
    if got[-1][1] != want[-1][1]:
        return False
    for depth, ((code, offset, have), (_, _, full)) in enumerate(zip(got, want, strict=True)):
        live = control_flow(code).live_at(normalise(code).index_of_offset[offset] + (depth < len(got) - 1))
        at_hand = code.co_varnames[: code.co_argcount] if depth == 0 else ()
        needed = {k for k in full if k in live or k in at_hand}
        if not needed <= set(have) or not set(have) <= set(full):
            return False
        for k, (key, value) in have.items():
            wanted, expected = full[k]
            if not same(value, expected) or names.setdefault(("got", key), wanted) != wanted:
                return False
            if names.setdefault(("want", wanted), key) != key:
                return False
    return True


def exits(monkeypatch, fn, *args, most=60):
    """Take exits in turn; each must hand back a state that CPython had there. Returns the reasons of those taken."""
    result = trace(fn, bound(fn, copy.deepcopy(args)))
    seen = states(fn, copy.deepcopy(args))

    def left(frames):
        raise Left(
            copy_state([(f.code, f.offset, {**f.locals, **{k: c.cell_contents for k, c in all_cells(f)}}) for f in frames])
        )

    def all_cells(f):
        return [*f.cells.items(), *zip(f.code.co_freevars, f.closure)]

    monkeypatch.setattr(replay, "resume", left)
    met = []
    with np.errstate(all="ignore"):
        try:
            replay.run(result, fn, bound(fn, copy.deepcopy(args)), lambda e: bool(met.append(e)))
        except Left:
            met.append(None)
        last, taken = {}, []
        for n in sorted({k * len(met) // most for k in range(most)} if len(met) > most else range(len(met))):
            count = iter(range(len(met)))
            with pytest.raises(Left) as e:
                replay.run(result, fn, bound(fn, copy.deepcopy(args)), lambda _, n=n, count=count: next(count, None) == n)
            got = e.value.frames
            places = [i for i, s in enumerate(seen) if agrees(got, s)]
            assert places, (met[n], [(c.co_name, at, local) for c, at, local in got])
            # the same exit, met later, stands at a later moment
            assert places[-1] > last.get(met[n], -1), (met[n], places)
            last[met[n]] = next(p for p in places if p > last.get(met[n], -1))
            taken.append(result.spec.exits[met[n]].reason if met[n] is not None else "break")
    assert taken
    return taken


def test_stores_done_before_an_exit_stay_done(monkeypatch):
    def f(a, k, y):
        a[0] = k
        b = a[1:]
        b *= 2
        a[3] = k / y
        a += 1
        c = math.sqrt(y)
        return a, b, c

    assert exits(monkeypatch, f, X, 3, 2.0) == ["zero-division", "math-domain"]


def test_names_of_one_object_and_views_of_one_buffer(monkeypatch):
    def f(a, y):
        b = a * 2
        c = b
        d = b[2:5]
        pair = [b, d, y]
        d[0] = 1 / y
        both = pair
        e = c.sum() + math.log(y)
        return e, c, d, pair, both

    assert exits(monkeypatch, f, X, 7.0) == ["zero-division", "math-domain"]


def test_loops_stand_at_their_turn(monkeypatch):
    def f(a, n):
        s = 0.0
        for i in range(n):
            w = a[i] * 2.0
            for j in range(i, n):
                a[j] = a[j] + w
            s += a[n - 1]
        return s, a

    taken = exits(monkeypatch, f, X, 12)
    assert "signal" in taken and len(taken) > 20


def test_exchanged_buffers(monkeypatch):
    def f(u, n):
        v = np.zeros_like(u)
        for t in range(n):
            v[1:-1] = 0.5 * (u[:-2] + u[2:]) + n // (t + 1)
            u, v = v, u
        return u, v

    assert "signal" in exits(monkeypatch, f, X, 11)


def test_zip_and_enumerate(monkeypatch):
    def f(m, x, n):
        out = np.zeros(len(m))
        for i, (row, y) in enumerate(zip(m, x)):
            out[i] = (row * y).sum() + n // (i + 1)
        return out

    exits(monkeypatch, f, np.ones((10, 5)), X[:10], 3)


def helper(u, k):
    w = u * k
    q = 10.0 / k
    return w + q


def test_frames_of_inlined_callees(monkeypatch):
    def f(a, y):
        total = a.sum()
        b = helper(a, y) + helper(a, y + 1) / y
        return total, b, math.sqrt(y) + b

    assert exits(monkeypatch, f, X, 2.0) == ["zero-division", "zero-division", "math-domain"]


def test_variables_of_enclosing_functions(monkeypatch):
    def f(a, y):
        k = 3.0

        def g(z):
            nonlocal k
            k = k / y
            return z * k

        b = g(a)
        return g(b), g, k

    assert exits(monkeypatch, f, X, 2.0) == ["zero-division"] * 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: as_strided(np.arange(12.0), (4, 3), (16, 8)),
        lambda: as_strided(np.arange(12.0), (4, 3), (0, 8)),
        lambda: sliding_window_view(np.arange(12.0), 4, writeable=True),
        lambda: as_strided(np.arange(12.0)[::-1], (4, 3), (-8, -8)),
    ],
)
def test_stores_to_an_array_that_overlaps_itself_leave(monkeypatch, make):
    def f(a):
        b = a * 2
        a += b
        return b, a.sum()

    def element(a, n):
        s = a.sum()
        for i in range(n):
            a[i, 1] = s + i
        return s

    r = trace(f, (make(),))
    assert [b.reason for b in r.breaks] == ["self-overlap"] and r.n_work
    assert [b.reason for b in trace(element, (make(), 4)).breaks] == ["self-overlap"]
    for fn, rest in ((f, ()), (element, (4,))):
        got, want = make(), make()
        result = fn(want, *rest)
        assert same(result, replay.run(trace(fn, (make(), *rest)), fn, (got, *rest))) and same(want, got)
    # neither segment takes the other's arrays
    plain = np.empty((4, 6))[:, ::2] if make().strides[0] > 0 else None
    if plain is not None:
        with pytest.raises(replay.GuardFailed):
            replay.run(r, f, (plain,))
        with pytest.raises(replay.GuardFailed):
            replay.run(trace(f, (plain,)), f, (make(),))
    # what is only read may overlap
    check(lambda a: (a * 2 + 1).sum(), make())
