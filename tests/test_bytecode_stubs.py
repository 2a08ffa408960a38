"""Resume stubs: frames restored exactly, tracebacks whole, handlers reached, nothing kept alive or shared."""

import _thread
import itertools
import operator
import signal
import sys
import threading
import traceback
import weakref

import pytest
from bytecode_machine import Machine

from npcompile.bytecode import NULL, REFUSALS, FrameValues, Op, control_flow, normalise, prepare, resumable, resume
from npcompile.bytecode.decode import raw_instructions


def stopped_at(function, args, op, arg=None, **options):
    """A machine just before the first real instruction that has `op` and (if given) `arg`."""
    machine = Machine(function, args, **options)
    while True:
        instr = machine.frames[-1].instr
        if instr.op is op and (arg is None or instr.arg == arg):
            assert instr.start
            return machine
        machine.step()


def entries(error):
    """(function, line relative to the function, columns) of the traceback's frames in this file, the stub's names included."""
    result = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == __file__ and "resumed" not in frame.f_code.co_name:
            result.append(frame)
    summary = traceback.TracebackException.from_exception(error).stack
    return [(s.name, s.lineno, s.end_lineno, s.colno, s.end_colno) for s in summary if s.filename == __file__]


def outcome(call):
    """What a call gives: its value, or the exception with its traceback inside of the call."""
    try:
        return call()
    except BaseException as error:
        return type(error), str(error), entries(error)[2:]


def test_locals_cells_and_free_variables():
    bonus = 1000

    def f(n, *rest, key=3):
        total = 0

        def add(k):
            nonlocal total
            total += k

        for i in range(n):
            add(i)
        return total, bonus, [n * k for k in rest], key, sorted(locals())

    machine = stopped_at(f, (4, 1, 2), Op.FOR_ITER)
    assert resume(machine.values()) == f(4, 1, 2)


class Base:
    def value(self, k):
        return k + 1


class Derived(Base):
    def value(self, k):
        for _ in range(1):
            k += 10
        return super().value(k)

    def captured(self, k):
        for _ in range(1):
            k += 10
        return super().value(k), (lambda: self)() is self

    def wrong(*args):
        for _ in range(1):
            pass
        return super().value(1)


@pytest.mark.parametrize("method", [Derived.value, Derived.captured])
def test_super_without_arguments(method):
    machine = stopped_at(method, (Derived(), 5), Op.FOR_ITER)
    assert resume(machine.values()) == method(Derived(), 5)


def test_super_still_fails_without_a_first_argument():
    machine = stopped_at(Derived.wrong, (Derived(),), Op.FOR_ITER)
    with pytest.raises(RuntimeError, match="no arguments"):
        Derived.wrong(Derived())
    with pytest.raises(RuntimeError, match="no arguments"):
        resume(machine.values())


def closures():
    free = 5

    def nothing():
        return 1 if print is None else locals()

    def only_free():
        return (free if print is None else free + 1), locals()

    def only_cells():
        a, b = 1, 2
        return [a, b] if print is None else ((lambda: (a, b))(), locals())

    def only_keywords(*, key=7):
        return (key if print is None else key + 1), locals()

    def two_keywords(*, one=7, two=8):
        return (one if print is None else two + 1), locals()

    def many(*args, key=7, **more):
        return (key if print is None else args), more, locals()

    return [nothing, only_free, only_cells, only_keywords, two_keywords, many]


@pytest.mark.parametrize("function", closures(), ids=lambda f: f.__name__)
def test_functions_without_positional_arguments(function):
    machine = stopped_at(function, (), Op.POP_JUMP_IF)
    assert resume(machine.values()) == function()


def test_locals_and_frames_show_what_the_original_shows():
    def f(a, b):
        def inner():
            return a, hidden

        hidden = 1
        for _ in range(1):
            pass
        frame = sys._getframe()
        seen = dict(frame.f_locals)
        return {n: v for n, v in seen.items() if n not in ("frame", "inner")}, frame.f_lineno, frame.f_code.co_qualname

    machine = stopped_at(f, (1, 2), Op.FOR_ITER)
    assert resume(machine.values()) == f(1, 2)


# -------------------------------------------------------------------------------------------------- exceptions


def divide(a, b):
    for _ in range(1):
        pass
    return (a +
            a // b)  # fmt: skip


def outer_frame(a, b, log):
    log.append("before")
    result = 1 + divide(
        a,
        b,
    )
    log.append("after")
    return result


def catching(a, b, log):
    try:
        for _ in range(2):
            log.append(outer_frame(a, b, log))
    except ZeroDivisionError as error:
        log.append([s.name for s in traceback.extract_tb(error.__traceback__)])
        return str(error)
    finally:
        log.append("finally")
    return log


@pytest.mark.parametrize("function", [outer_frame, catching])
@pytest.mark.parametrize("b", [0, 3])
def test_several_frames(function, b):
    expected_log = []
    expected = outcome(lambda: function(10, b, expected_log))
    log = []
    machine = stopped_at(function, (10, b, log), Op.BINARY, "//")
    assert len(machine.frames) == (2 if function is outer_frame else 3)
    resumed = machine.values()
    assert outcome(lambda: resume(resumed)) == expected
    assert log == expected_log


def test_exception_goes_to_the_handler_with_the_right_line():
    def f(x):
        try:
            for _ in range(1):
                pass
            y = (1,
                 x.missing,
                 2)  # fmt: skip
        except AttributeError as error:
            return [(tb.tb_lineno, tb.tb_frame.f_code.co_name) for tb in [error.__traceback__]]
        return y

    machine = stopped_at(f, (1,), Op.FOR_ITER)
    assert resume(machine.values()) == f(1)


def test_pending_exception_is_raised_at_the_instruction():
    def f(x):
        try:
            return 1 + divide(x, 1)
        except ValueError as error:
            tb = error.__traceback__
            return str(error), tb.tb_next.tb_lineno - divide.__code__.co_firstlineno, error.__context__

    machine = stopped_at(f, (1,), Op.BINARY, "//")
    error = ValueError("drawn")
    assert resume(machine.values(), error) == ("drawn", 4, None)


def test_pending_exception_keeps_its_context():
    machine = stopped_at(divide, (1, 1), Op.BINARY, "//")
    error = ValueError("drawn")
    error.__context__ = cause = KeyError("first")
    frames = machine.values()
    try:
        raise IndexError("being handled")
    except IndexError:
        with pytest.raises(ValueError) as caught:
            resume(frames, error)
    assert caught.value is error
    assert error.__context__ is cause
    assert error.__suppress_context__ is False
    assert [s.name for s in traceback.extract_tb(error.__traceback__)][-1] == "divide"


def test_with_statement_and_finally():
    class Manager:
        def __init__(self, log):
            self.log = log

        def __enter__(self):
            self.log.append("enter")
            return self

        def __exit__(self, *exc):
            self.log.append(exc[0])
            return exc[0] is ZeroDivisionError

    def f(log, b):
        with Manager(log) as m, Manager(log):
            for _ in range(1):
                pass
            m.log.append(1 // b)
        return log

    for b in (0, 1):
        machine = stopped_at(f, ([], b), Op.FOR_ITER, files=["none"])
        assert resume(machine.values()) == f([], b)


def test_nulls_on_the_stack():
    def f(g, x):
        return g(x, [g(x), len([x if x else g])])

    def g(*args):
        return args

    for index in range(1000):
        machine = Machine(f, (g, 1), depth=1)
        if not machine.run(index):
            break
        assert resume(machine.values()) == f(g, 1)
    assert index > 15
    assert any(entry is NULL for entry in stopped_at(f, (g, 1), Op.CALL).values()[0].stack)


# -------------------------------------------------------------------------------------------------- lifetimes, sharing


class Thing:
    pass


def test_values_die_as_early_as_in_the_original():
    def f(thing, watch):
        for _ in range(1):
            pass
        seen = [watch() is None]
        del thing
        seen.append(watch() is None)
        return seen

    thing = Thing()
    (frame,) = stopped_at(f, (None, weakref.ref(thing)), Op.FOR_ITER).values()
    values = FrameValues(frame.code, frame.globals, frame.offset, frame.locals | {"thing": thing}, {}, (), frame.stack)
    stub, argument = prepare([values])
    del thing, values
    assert stub(argument) == [False, True]


def test_values_of_outer_frames_die_early_too():
    def inner(watch):
        for _ in range(1):
            pass
        return watch() is None

    def outer(thing, watch):
        first = inner(watch)
        del thing
        return first, watch() is None

    thing = Thing()
    machine = stopped_at(outer, (thing, weakref.ref(thing)), Op.FOR_ITER)
    frames = machine.values()
    stub, argument = prepare(frames)
    del thing, machine, frames
    assert stub(argument) == (False, True)


def test_stubs_are_shared_by_threads_and_recursive_calls():
    def f(n, frames_of):
        total = n
        for _ in range(1):
            pass
        if n:
            total += resume(frames_of(n - 1))
        return total

    def frames_of(n):
        return stopped_at(f, (n, frames_of), Op.FOR_ITER, depth=1).values()

    assert resume(frames_of(5)) == 15
    assert prepare(frames_of(1))[0] is prepare(frames_of(2))[0]
    results = []
    threads = [threading.Thread(target=lambda n=n: results.append((n, resume(frames_of(n))))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(n, n * (n + 1) // 2) for n in range(8)]


def test_plain_tuple_is_accepted_as_values():
    machine = stopped_at(divide, (7, 2), Op.FOR_ITER)
    stub, argument = prepare(machine.values())
    assert stub(tuple(argument)) == 10


# -------------------------------------------------------------------------------------------------- tools, signals


def test_signal_noticed_on_entry_is_handled_like_one_at_the_instruction():
    def f(x):
        try:
            for _ in range(1):
                pass
        except KeyboardInterrupt as error:
            return "caught", error.__traceback__.tb_lineno - f.__code__.co_firstlineno
        return x

    stub, argument = prepare(stopped_at(f, (1,), Op.FOR_ITER).values())
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # no bytecode runs between the signal and the stub, so that the stub is the first to notice
        interrupt = map(operator.is_, iter(_thread.interrupt_main, 0), itertools.repeat(None))
        (result,) = map(stub, itertools.compress([argument], interrupt))
    finally:
        signal.signal(signal.SIGINT, old)
    assert result == ("caught", 2)


def test_stubs_run_under_a_trace_function():
    events = []

    def trace(frame, event, arg):
        if frame.f_code.co_filename == __file__:
            events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    log = []
    machine = stopped_at(outer_frame, (10, 3, log), Op.BINARY, "//")
    frames = machine.values()
    old = sys.gettrace()
    sys.settrace(trace)
    try:
        result = resume(frames)
    finally:
        sys.settrace(old)
    assert result == outer_frame(10, 3, [])
    calls = [(name, event) for name, event, _ in events if event in ("call", "return")]
    assert calls == [("outer_frame", "call"), ("divide", "call"), ("divide", "return"), ("outer_frame", "return")]


def test_stubs_run_under_a_profile_function():
    events = []
    machine = stopped_at(outer_frame, (10, 3, []), Op.BINARY, "//")
    frames = machine.values()
    sys.setprofile(lambda frame, event, arg: events.append((frame.f_code.co_name, event)))
    try:
        resume(frames)
    finally:
        sys.setprofile(None)
    ours = [e for e in events if e[0] in ("outer_frame", "divide") and not e[1].startswith("c_")]
    assert ours == [("outer_frame", "call"), ("divide", "call"), ("divide", "return"), ("outer_frame", "return")]


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring is new in 3.12")
def test_stubs_run_under_monitoring():
    monitoring = sys.monitoring
    events = monitoring.events
    tool = 4
    monitoring.use_tool_id(tool, "test")
    wanted = events.LINE | events.INSTRUCTION | events.BRANCH | events.JUMP | events.CALL | events.PY_START
    seen = []
    try:
        for event in (events.LINE, events.INSTRUCTION, events.BRANCH, events.JUMP, events.CALL, events.PY_START):
            monitoring.register_callback(tool, event, lambda code, *rest: seen.append(code.co_name))
        frames = stopped_at(catching, (10, 0, []), Op.BINARY, "//").values()
        monitoring.set_events(tool, wanted)
        result = resume(frames)
        again = resume(stopped_at(catching, (10, 5, []), Op.BINARY, "//").values())
        monitoring.set_events(tool, 0)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert result == "integer division or modulo by zero"
    assert again == catching(10, 5, [])
    assert "divide" in seen


# -------------------------------------------------------------------------------------------------- refusals


def test_refusals():
    def handler(x):
        try:
            return 1 // x
        except ZeroDivisionError:
            return print(x, sep="")

    def generator():
        yield 1

    code = handler.__code__
    depth = control_flow(code).handler_depth
    for index, instr in enumerate(normalise(code).instrs):
        if instr.start:
            assert resumable(code, instr.offset) == ("resume-in-handler" if depth[index] else None)
    (call,) = [i for i in normalise(code).instrs if i.op is Op.CALL]
    if call.at != call.offset:
        assert resumable(code, call.at) == "resume-mid-instruction"
    first = next(raw_instructions(generator.__code__))
    assert resumable(generator.__code__, first.offset) == "resume-generator"
    module = compile("x = 1", "module", "exec")
    assert resumable(module, 0) == "resume-not-a-function"
    assert resumable(divide.__code__, 1) == "resume-mid-instruction"
    loop = next(i for i in normalise(divide.__code__).instrs if i.op is Op.FOR_ITER)
    assert resumable(divide.__code__, loop.offset, "call") == "resume-not-a-call"
    with pytest.raises(ValueError, match="resume-generator"):
        resume([FrameValues(generator.__code__, globals(), 0, {}, {})])
    assert all(reason.startswith("resume-") for reason in REFUSALS)


def test_tools_see_one_call_of_a_frame_resumed_at_its_start():
    def f(x):
        return (lambda: x)()

    events = []
    frames = Machine(f, (3,)).values()
    sys.setprofile(lambda frame, event, arg: events.append(event) if frame.f_code.co_name == "f" else None)
    try:
        result = resume(frames)
    finally:
        sys.setprofile(None)
    assert result == 3
    assert events == ["call", "return"]


def test_caches_stay_small_while_threads_use_them():
    from npcompile.bytecode.percode import PerCode

    cached = PerCode(lambda code: code.co_firstlineno, size=64)
    codes = [divide.__code__.replace(co_firstlineno=line) for line in range(1, 1000)]

    def use(part):
        for code in part:
            assert cached(code) == code.co_firstlineno

    threads = [threading.Thread(target=use, args=(codes[k::2] + codes[::-3],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cached._found) <= 64 + len(threads)
