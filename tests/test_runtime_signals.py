"""Signals during a long segment: it leaves by an exit and Python runs the handler at the right line."""

import _thread
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from segment_units import ExitSpec, Guard, Recipe, Source, arg, build, jit_of, returns, tensor

import npcompile
from npcompile.bytecode import normalise
from npcompile.continuations import continuations
from npcompile.ir.segment import FrameSpec
from npcompile.runtime import _dispatch
from npcompile.runtime.segments import SegmentSpec, make_entry


@pytest.fixture(autouse=True)
def interrupts_are_heard():
    """A shell starts background jobs with SIGINT ignored."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


SPIN = """
  for (npc_i64 i = in[0]; i < 1000000000000; i++) {
    volatile double x = 1;
    for (int k = 0; k < 1000; k++) x = x + 1;
    if (rt->poll(ctx)) { out[0] = i; return 1; }
  }
  return 0;
"""


def spin(start):
    i = start
    while True:
        i += 1
        if i < 0:
            break
    return i


def polling_jit():
    """`spin` as a segment that polls; a signal makes it go on natively at the loop's first line."""
    at = next(i.offset for i in normalise(spin.__code__).instrs if i.start and i.line == spin.__code__.co_firstlineno + 3)
    frame = FrameSpec(
        0, at, Recipe("source", Source("attr", "__globals__", Source("function"))), (("i", Recipe("value", (0, "int"))),), (), ()
    )
    exits = [returns(Recipe("const", 0)), ExitSpec("resume", (tensor("i8", 0),), frames=(frame,))]
    spec = SegmentSpec(guards=[Guard(arg(0), "int")], exits=exits, constants=[spin.__code__])
    jit = _dispatch.Jit(spin)
    jit.insert(make_entry(spec, spin.__code__, build(SPIN), continuations=continuations(spec, spin, (0,))))
    return jit


def interrupt(how, after=0.1):
    """In many short sleeps, so that a process that was stopped for a while is not interrupted before it gets anywhere."""

    def wait():
        for _ in range(int(after * 100)):
            time.sleep(0.01)
        how()

    t = threading.Thread(target=wait)
    t.start()
    return t


@pytest.mark.parametrize(
    "how", [lambda: os.kill(os.getpid(), signal.SIGINT), lambda: _thread.interrupt_main()], ids=["signal", "interrupt_main"]
)
def test_keyboard_interrupt_at_the_right_line(how):
    jit = polling_jit()
    for _ in range(2):
        timer = interrupt(how)
        with pytest.raises(KeyboardInterrupt) as info:
            jit(0)  # would take days
        timer.join()
        assert info.traceback[-1].lineno + 1 in range(spin.__code__.co_firstlineno + 2, spin.__code__.co_firstlineno + 6)
    assert jit.hits == 0 and jit.entries[0].exits == (0, 2)


class Timeout(Exception):
    pass


def test_handler_of_another_signal():
    """Installed after the first long call, with its own exception."""

    def handler(signum, frame):
        raise Timeout("from the handler")

    jit = polling_jit()
    old = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(Timeout, match="from the handler"):
                jit(0)
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.signal(signal.SIGALRM, old)


def test_other_threads_run_and_are_not_interrupted():
    """A segment that keeps the GIL lets others run; a signal is the main thread's, a segment elsewhere goes on."""
    stop = ctypes.c_longlong(0)
    body = SPIN.replace("i = in[0]; i < 1000000000000", "i = 0; !*(volatile npc_i64 *)in[0]")
    exits = [returns(Recipe("const", 0)), returns(Recipe("const", 1), tensor("i8", 0))]
    jit = jit_of(lambda n: 0, [Guard(arg(0), "int")], exits, body, constants=["end", "polled"])
    results, ticks = [], []
    worker = threading.Thread(target=lambda: results.append(jit(ctypes.addressof(stop))))
    seen = []
    old = signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
    try:
        worker.start()
        for tick in range(20):
            time.sleep(0.002)
            ticks.append(worker.is_alive())
            if tick == 3:
                os.kill(os.getpid(), signal.SIGUSR1)
        stop.value = 1
        worker.join()
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert results == ["end"] and all(ticks) and seen == [1]


def test_ctrl_c_ends_a_script():
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.path[:0] = sys.argv[1:]\n"
        "import test_runtime_signals as t; jit = t.polling_jit(); print('go', flush=True); jit(0)"
    )
    command = [sys.executable, "-P", "-c", code, os.path.dirname(__file__)]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "go\n"
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    err = p.communicate(timeout=60)[1]
    assert p.returncode != 0
    assert err.strip().endswith("KeyboardInterrupt") and 'test_runtime_signals.py", line' in err


UNTIL = """
extern "C" int kill(int, int) noexcept;
extern "C" int getpid(void) noexcept;
struct env { npc_i64 done, signal_at, twice, sent; };
static void body(void *p, npc_i64 lo, npc_i64 hi) {
  env *e = (env *)p;
  if (lo <= e->signal_at && e->signal_at < hi) { /* our own signal: its handler has run when kill returns */
    kill(getpid(), 10);
    __atomic_store_n(&e->sent, 1, __ATOMIC_SEQ_CST);
  }
  while (e->signal_at >= 0 && !__atomic_load_n(&e->sent, __ATOMIC_SEQ_CST));
  e->twice |= __atomic_fetch_add(&e->done, hi - lo, __ATOMIC_SEQ_CST) + hi - lo > 100000;
}
//SEGMENT
  for (npc_i64 i = 0; i < 20000; i++) {
    volatile double x = 1;
    for (int k = 0; k < 1000; k++) x = x + 1;
    rt->poll(ctx);
  }
  env e = {0, in[0], 0, 0};
  rt->gil_release(ctx);
  npc_i64 left = rt->parallel_until(ctx, 100000, 10, 100000000000ll, 0, body, &e);
  rt->gil_acquire(ctx);
  out[0] = left;
  out[2] = e.done;
  out[4] = rt->poll(ctx);
  return e.twice;
"""


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_nest_stops_between_chunks(n_threads):
    """Only for the main thread's signals, and only when something is left to do."""
    recipe = Recipe("tuple", None, tuple(Recipe("value", (k, "int")) for k in range(3)))
    exits = [returns(recipe, *[tensor("i8", 0)] * 3), returns(Recipe("const", 0))]
    jit = jit_of(lambda n: 0, [Guard(arg(0), "int")], exits, UNTIL, constants=["a chunk ran twice"])
    before, seen = _dispatch.get_num_threads(), []
    old = signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
    assert signal.SIGUSR1 == 10
    _dispatch.set_num_threads(n_threads)
    try:
        assert jit(-1) == (0, 100_000, 0)
        left, done, waits = jit(50)
        assert left == 1 and 0 < done < 100_000 and waits == 1
        results = []
        worker = threading.Thread(target=lambda: results.append(jit(50)))
        worker.start()
        worker.join()
        assert results == [(0, 100_000, 0)] and seen == [1, 1]
    finally:
        _dispatch.set_num_threads(before)
        signal.signal(signal.SIGUSR1, old)


def left_alone(n):
    total = 0
    for k in range(n):
        total += k
    return total


@pytest.mark.parametrize("handled", ["raises", "returns"])
def test_a_call_that_a_nest_gives_up_runs_in_plain_python(handled):
    """There the handler runs: what it raises comes from the function's first line."""
    body = UNTIL.replace("100000000000ll, 0,", "100000000000ll, 1,").replace("out[0] = left;", "if (left) return NPC_ORIGINAL;")
    seen = []

    def handler(signum, frame):
        seen.append(frame.f_code.co_name)
        if handled == "raises":
            raise Timeout("from the handler")

    jit = jit_of(left_alone, [Guard(arg(0), "int")], [returns(Recipe("const", 0))], body, constants=["native"])
    old = signal.signal(signal.SIGUSR1, handler)
    try:
        if handled == "returns":
            assert jit(50) == sum(range(50))
        else:
            with pytest.raises(Timeout) as info:
                jit(50)
            assert info.traceback[1].name == "left_alone" and info.traceback[1].lineno + 1 == left_alone.__code__.co_firstlineno
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert seen == ["left_alone"] and jit.hits == 0


LONG = 2**31 - 1


def elements(a, n):
    for i in range(n):
        a[i & 1023] = a[i & 1023] * 0.5 + i
    return a


def rows(a, n):
    for _ in range(n):
        for i in range(1, a.shape[0]):
            for j in range(1, a.shape[1]):
                a[i, j] = a[i - 1, j] * 0.5 + a[i, j - 1] * 0.25
    return a


def independent_rows(a, n):
    for _ in range(n):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = a[i, j] * 0.5 + 1.0
    return a


def first_turn(a, n):
    s = 0
    for i in range(3):
        for j in range(n):
            s = s * 0.5 + a[j & 1023]
        a[i] = s
    return s


def counts(a, n):
    k = 0
    while k < n:
        k += 1 + (k & 1)
    return k


def stencil(a, n):
    for _ in range(n):
        a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return a


def grows(a, n):
    for _ in range(n):
        a = np.sqrt(a * a + 1.0)
    return a


LINE, SQUARE = np.ones(1024), np.ones((1500, 1500))


LOOPS = [(elements, LINE, 1), (rows, SQUARE, 3), (independent_rows, SQUARE, 3), (first_turn, LINE, 3)]
LOOPS += [(counts, LINE, 3), (stencil, SQUARE, 1), (grows, SQUARE, 1)]


@pytest.mark.parametrize("fn, a, last", LOOPS, ids=[x[0].__name__ for x in LOOPS])
def test_ctrl_c_ends_every_kind_of_loop(fn, a, last):
    """They would take between some seconds and some days. last : line within the function at which the loops' headers end."""
    jit = npcompile.jit(fn, options={"compile": "first"})
    jit(a.copy(), 20)
    assert jit.stats.compiles == 1 and jit.stats.plain_calls == 0
    timer = interrupt(lambda: os.kill(os.getpid(), signal.SIGINT), 0.3)
    with pytest.raises(KeyboardInterrupt) as info:
        jit(a.copy(), LONG)
    timer.join()
    entry = next(x for x in info.traceback if x.name == fn.__name__)
    first = fn.__code__.co_firstlineno
    assert first < entry.lineno + 1 <= first + last
    assert jit.stats.compiles == 1
