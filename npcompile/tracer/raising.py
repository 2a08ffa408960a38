"""Exceptions that are raised and caught within the segment: `raise`, handlers, `finally`, and `with` blocks that are left so.

In: an exception made in the segment, or an instruction that is sure to raise one. Out: the trace standing after the handler that
has dealt with it, with nothing emitted for the raise itself. Where no frame catches it, or the handler needs what is not modelled
(a traceback, an exit that cannot be taken), all is undone, and the segment leaves before the instruction that raises.
"""

from __future__ import annotations

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.cfg import control_flow
from npcompile.frontends.values import Const, DictV, SymValue, TupleV, Unsupported
from npcompile.records import replace

from .calls import call
from .exits import reachable
from .frames import Frame, Refused
from .inputs import describe
from .interpreter import Trace, handles
from .snapshot import Snapshot
from .symbolic import ExceptionV, HandledV, InputObject, TracebackV

_SURE: dict[str, type[BaseException]] = {
    "zero-division": ZeroDivisionError,
    "unpack-count": ValueError,
    "undefined-name": NameError,
    "math-domain": ValueError,
    "index-range": IndexError,
    "no-attribute": AttributeError,
    "not-iterable": TypeError,
}
"""Reasons for which an instruction is sure to raise, whatever the values."""


def construct(t: Trace, callee: Const, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    """A call of an exception's class."""
    cls = callee.value
    if kwargs or not is_plain(cls):
        raise Unsupported("exception-handling", describe(callee))
    return ExceptionV(cls, callee, tuple(args))


_PARTICULAR = (OSError, UnicodeError, BaseExceptionGroup)
"""Classes that look at their arguments."""


def is_plain(cls: type) -> bool:
    """Is making an exception of this class nothing but keeping its arguments?"""
    own = [c for c in cls.__mro__ if c.__module__ != "builtins"]
    plain = not any({"__new__", "__init__", "__setattr__"} & vars(c).keys() for c in own)
    return plain and type(cls) is type and not issubclass(cls, _PARTICULAR)


# ------------------------------------------------------------------------------------------------ raising


@handles(Op.LOAD_ASSERTION_ERROR)
def load_assertion_error(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(Const(AssertionError))


@handles(Op.RAISE)
def raise_op(t: Trace, f: Frame, i: Instr) -> None:
    if i.arg == 0:
        if not t.handled:
            raise Unsupported("exception-handling", "raise")
        throw(t, t.handled[-1])
        return
    found = t.b.force(f.stack[-i.arg])
    if isinstance(found, Const) and isinstance(found.value, type) and issubclass(found.value, BaseException):
        found = construct(t, found, [], {})
    if not isinstance(found, ExceptionV):
        raise Unsupported("exception-handling", "raise")
    throw(t, found if found.raised or _is_kept(t, f, found, i.arg) else replace(found))


def _is_kept(t: Trace, f: Frame, e: ExceptionV, operands: int) -> bool:
    """Does anything hold the exception but the instruction that raises it? Then what is raised must be that object."""
    roots = [v for frame in t.frames for v in (*frame.locals.values(), *frame.free.values())]
    roots += [v for frame in t.frames for v in (frame.stack[:-operands] if frame is f else frame.stack)]
    return any(v is e for v in reachable([t.inputs.forced(v) for v in (*roots, *t.effects.values())]))


def throw_for(t: Trace, f: Frame, e: Unsupported) -> bool:
    """An instruction is not supported: when it is sure to raise what a handler around may catch, go on there."""
    cls = _SURE.get(e.reason) or _by_operand(t, f, e)
    p = t.point
    if cls is None or not _may_be_caught(t) or p is None or p.frame is not f or p.at != f.at or t.frames[-1] is not f:
        return False
    if p.mutations != t.mutations or any(t.b.mem.get(k) is not m for k, m in p.mem.items()):
        return False
    f.stack = list(p.stack)
    try:
        throw(t, ExceptionV(cls, Const(cls), None))
    except Unsupported:
        return False
    return True


def _by_operand(t: Trace, f: Frame, e: Unsupported) -> type[BaseException] | None:
    """The exception where it depends on the instruction's operands."""
    if e.reason == "unbound":
        instr = f.code.instrs[f.at]
        return NameError if instr.arg in f.code.code.co_freevars else UnboundLocalError
    if e.reason == "key-error" and t.point is not None and f.instr.op in (Op.GET_ITEM, Op.DEL_ITEM):
        container = t.inputs.forced(t.point.stack[-2])
        is_dict = isinstance(container, DictV) or (isinstance(container, InputObject) and container.type is dict)
        return KeyError if is_dict else IndexError
    return None


def _may_be_caught(t: Trace) -> bool:
    return any(f.code.instrs[f.at].handler is not None for f in t.frames)


def throw(t: Trace, e: ExceptionV) -> None:
    """Raise an exception at the present instruction and go on to where it has been dealt with."""
    if not _may_be_caught(t):
        raise Unsupported("exception-handling", "raise")
    if t.catching is not None:  # in a handler: whoever traces that goes on
        _unwind(t, e)
        return
    start = Snapshot(t)
    if t.point is not None and t.point.outer is None and t.point.depth <= len(t.frames):
        t.point = replace(t.point, outer=t.waiting(t.point.depth - 1))
    try:
        _unwind(t, e)
        t.run_until(lambda: t.finished or _is_over(t))
        t.catching = None
    except Refused as r:
        start.restore()
        raise Unsupported("exception-handling", r.detail or r.reason) from None
    except Unsupported as u:
        start.restore()
        raise Unsupported("exception-handling", u.detail or u.reason) from None


def _is_over(t: Trace) -> bool:
    """Has the handler been left?"""
    assert t.catching is not None
    frame, before = t.catching
    return t.frames[-1] is frame and control_flow(frame.code.code).handler_depth[frame.pc] <= before


def _unwind(t: Trace, e: ExceptionV) -> None:
    """To the innermost handler around the present instruction; inlined functions without one are left."""
    e.raised = True
    while True:
        f = t.frames[-1]
        handler = f.code.instrs[f.at].handler
        if handler is not None:
            break
        if len(t.frames) == 1:
            raise Unsupported("exception-handling", f"{e.type.__name__} is raised")
        if t.loops and len(t.frames) <= t.loops[-1].owner.depth:
            raise Unsupported("loop-leaves", "by an exception")
        t.frames.pop()
    depth = control_flow(f.code.code).handler_depth[f.at]
    if t.catching is None or t.catching[0] not in t.frames:
        t.catching = f, depth
    del f.stack[handler.depth :]
    if handler.lasti:
        f.stack.append(Const(f.instr.at))
    f.stack.append(e)
    f.pc = handler.target


# ------------------------------------------------------------------------------------------------ handlers


@handles(Op.PUSH_EXC_INFO)
def push_exc_info(t: Trace, f: Frame, i: Instr) -> None:
    e = f.stack[-1]
    assert isinstance(e, ExceptionV)
    f.stack[-1:] = [HandledV(), e]
    t.handled.append(e)


@handles(Op.POP_EXCEPT)
def pop_except(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.pop()
    t.handled.pop()


@handles(Op.CHECK_EXC_MATCH)
def check_exc_match(t: Trace, f: Frame, i: Instr) -> None:
    e, wanted = f.stack[-2:]
    assert isinstance(e, ExceptionV)
    f.stack[-1] = Const(any(c in e.type.__mro__ for c in _classes(t, wanted)))


def _classes(t: Trace, v: SymValue) -> tuple[type, ...]:
    """The classes that a handler names."""
    v = t.look(v)
    if isinstance(v, TupleV):
        return tuple(c for item in v.items for c in _classes(t, item))
    if isinstance(v, InputObject) and isinstance(v.example, type):
        t.inputs.guard_is(v.source, v.example)
        v = Const(v.example, v.source)
    if isinstance(v, Const):
        found = v.value if isinstance(v.value, tuple) else (v.value,)
        if all(isinstance(c, type) and issubclass(c, BaseException) for c in found):
            return found
    raise Unsupported("exception-handling", describe(v))


@handles(Op.RERAISE)
def reraise(t: Trace, f: Frame, i: Instr) -> None:
    e = f.stack.pop()
    assert isinstance(e, ExceptionV)
    throw(t, e)


@handles(Op.WITH_EXCEPT_START)
def with_except_start(t: Trace, f: Frame, i: Instr) -> None:
    """The exit method is asked what is to be done; it has the exception, but no traceback that it could use."""
    leave, _, _, e = f.stack[-4:]
    assert isinstance(e, ExceptionV)
    result = call(t, leave, [e.cls, e, TracebackV()], {})
    if result is not None:
        f.stack.append(result)


@handles(Op.CHECK_EG_MATCH)
def check_eg_match(t: Trace, f: Frame, i: Instr) -> None:
    raise Unsupported("exception-handling", "except*")


__all__ = ["construct", "throw", "throw_for"]
