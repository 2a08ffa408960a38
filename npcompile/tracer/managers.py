"""`with` blocks of generator functions under `contextlib.contextmanager`: the function is followed up to its yield, the block is
traced, then the rest of the function.

In: a manager that nobody has entered. Out: the trace standing after the block. A generator in the middle cannot be made at an
exit: exits from within stand before the `with` statement; where that is not possible nothing of the block stays, and Python
enters it.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from npcompile.bytecode import Instr, Op, normalise
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Const, DictV, SymValue, TupleV, Unsupported
from npcompile.records import replace

from .calls import builtin
from .frames import Frame, Refused
from .functions import bind, info_of
from .genexprs import is_generator
from .interpreter import Trace, handles
from .snapshot import Snapshot
from .symbolic import ExceptionV, FunctionInfo, FunctionV, ManagerExitV, ManagerFunctionV, ManagerV, PartialV

if TYPE_CHECKING:
    from collections.abc import Callable

HELPER = contextlib.contextmanager(lambda: None).__code__  # type: ignore[arg-type, attr-defined, return-value]
"""Code of what `contextmanager` gives: it has the generator function in its closure."""


@builtin(contextlib.contextmanager)
def contextmanager(t: Trace, function: SymValue) -> SymValue:
    return ManagerFunctionV(function)


def made(t: Trace, callee: SymValue, function: SymValue, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    """What `callee`, made by `contextmanager` of a generator function, gives."""
    info = info_of(t, t.look(function))
    if info is None or not is_generator(info.code):
        raise Unsupported("with-statement", "a manager of something else than a generator function")
    bind(info, args, kwargs)
    return ManagerV(FunctionV(info), callee, TupleV(tuple(args)), DictV(dict(kwargs)))


def manager_of(
    t: Trace, callee: SymValue, info: FunctionInfo, args: list[SymValue], kwargs: dict[str, SymValue]
) -> SymValue | None:
    """What a call gives, when the callee is a function that `contextmanager` has made; else None."""
    if info.code is not HELPER or not info.closure or info.closure[0].content is None:
        return None
    return made(t, callee, info.closure[0].content, args, kwargs)


@builtin(functools.wraps)
def wraps(t: Trace, wrapped: SymValue) -> SymValue:
    return PartialV(Const(functools.update_wrapper), TupleV(()), DictV({"wrapped": wrapped}))


@builtin(functools.update_wrapper)
def update_wrapper(t: Trace, wrapper: SymValue, wrapped: SymValue) -> SymValue:
    v = t.look(wrapper)
    if not isinstance(v, FunctionV) or v.info.wrapped is not None or info_of(t, t.look(wrapped)) is None:
        raise Unsupported("attribute", "functools.update_wrapper of something else than functions")
    return FunctionV(replace(v.info, wrapped=wrapped))


# ------------------------------------------------------------------------------------------------ blocks


def enter(t: Trace, f: Frame, manager: ManagerV) -> None:
    """Trace a block, from `with` to after its end."""
    start, could_exit = Snapshot(t), f.can_exit
    info = manager.function.info
    try:
        frame = _frame(info, bind(info, list(manager.args.items), manager.kwargs.items))
        f.stack[-1] = mark = ManagerExitV()
        f.can_exit = False
        frame.on_yield = lambda g, value: _suspend(t, g, mark, value)
        frame.on_return = _did_not_yield
        t.push_frame(frame)
        t.run_until(lambda: t.finished or _is_over(t, mark))
        broken = len(t.breaks) > start.breaks
    except (Unsupported, Refused):
        broken = True
    finally:
        f.can_exit = could_exit
    if broken:
        start.restore()
        raise Unsupported("with-statement", info.name)


def _frame(info: FunctionInfo, slots: dict[str, SymValue]) -> Frame:
    return Frame(normalise(info.code), info, slots, dict(zip(info.code.co_freevars, info.closure)))


def _did_not_yield(result: SymValue) -> SymValue:
    raise Unsupported("with-statement", "a generator that does not yield")


def _is_over(t: Trace, mark: ManagerExitV) -> bool:
    """Is nothing of it left, neither what stands for the exit method nor a frame of the generator?"""
    return not any(f.on_return is not None or any(v is mark for v in f.stack) for f in t.frames)


def _suspend(t: Trace, g: Frame, mark: ManagerExitV, value: SymValue) -> None:
    """The first yield: the block begins. What there is of the generator is kept in what stands for the exit method."""
    t.frames.pop()
    mark.code, mark.info, mark.pc, mark.at = g.code, g.info, g.pc, g.at
    mark.locals, mark.free, mark.stack = dict(g.locals), dict(g.free), list(g.stack)
    t.frames[-1].stack.append(value)


def leave(t: Trace, mark: ManagerExitV, args: list[SymValue]) -> SymValue | None:
    """The call of the exit method, at the end of the block or with an exception."""
    if mark.info is None or mark.code is None:
        raise Unsupported("with-statement", "a block that has not begun")
    g = Frame(mark.code, mark.info, dict(mark.locals), dict(mark.free), list(mark.stack), pc=mark.pc, at=mark.at)
    thrown = t.look(args[1]) if len(args) > 1 else NONE
    caught = isinstance(thrown, ExceptionV)
    g.on_yield = _yields_again
    g.on_return = lambda result: Const(caught)
    t.push_frame(g)
    if caught:
        from .raising import throw

        throw(t, thrown)  # type: ignore[arg-type]
    else:
        g.stack.append(NONE)
    return None


def _yields_again(g: Frame, value: SymValue) -> None:
    raise Unsupported("with-statement", "a generator that does not stop")


@handles(Op.GENERATOR)
def generator_op(t: Trace, f: Frame, i: Instr) -> None:
    on_yield: Callable[[Frame, SymValue], None] | None = f.on_yield
    if on_yield is None or i.arg not in ("RETURN_GENERATOR", "YIELD_VALUE"):
        raise Unsupported("generator", f.code.code.co_qualname)
    if i.arg == "RETURN_GENERATOR":
        f.stack.append(NONE)
    else:
        on_yield(f, f.stack.pop())


__all__ = ["enter", "leave", "made", "manager_of"]
