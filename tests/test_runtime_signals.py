"""Signals during a long segment: it leaves by an exit and Python runs the handler at the right line."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from segment_units import ExitSpec, Guard, Recipe, Source, arg, build, jit_of, returns, tensor

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
    t = threading.Timer(after, how)
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
    body = SPIN.replace("1000000000000", "in[0] + 200000")
    exits = [returns(Recipe("const", 0)), returns(Recipe("const", 1), tensor("i8", 0))]
    jit = jit_of(lambda n: 0, [Guard(arg(0), "int")], exits, body, constants=["end", "polled"])
    results, ticks = [], []
    worker = threading.Thread(target=lambda: results.append(jit(0)))
    seen = []
    old = signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
    try:
        worker.start()
        while worker.is_alive():
            ticks.append(1)
            time.sleep(0.002)
            if len(ticks) == 3:
                os.kill(os.getpid(), signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert results == ["end"] and len(ticks) >= 3 and seen == [1]


def test_ctrl_c_ends_a_script():
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.path[:0] = sys.argv[1:]\n"
        "import test_runtime_signals as t; print('go', flush=True); t.polling_jit()(0)"
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
  npc_i64 left = rt->parallel_until(ctx, 100000, 10, body, &e);
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
