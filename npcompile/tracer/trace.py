"""`trace`: the one call by which the rest of the compiler uses the tracer."""

from __future__ import annotations

import operator
import types
from typing import Any

from npcompile.bytecode import Op, ResumePoint, in_loop, normalise
from npcompile.bytecode.cfg import control_flow
from npcompile.bytecode.stubs import resumable
from npcompile.frontends.printing import DONE, NAME
from npcompile.ir.graph import Graph
from npcompile.ir.segment import ExitSpec, SegmentSpec, Source
from npcompile.records import dataclass, replace

# the modules that register handlers and rules
from . import (  # noqa: F401
    attributes,
    branches,
    builtin_rules,
    calls,
    container_methods,
    containers,
    copies,
    functional,
    internals,
    loops,
    managers,
    matching,
    mathlib,
    operators,
    printing,
    raising,
    stack_ops,
    strings,
    subscripts,
    supers,
    vectorize,
    withs,
)
from .estimate import plain_seconds
from .frames import Frame, Refused
from .interpreter import Break, Trace, point_frame, root_frame
from .iterators import RUN_TIME_TURNS
from .memory import Memory

_NO_WORK = frozenset({"const", "dim", "sym", "exit", "exit_if"})
"""Prims that do nothing for arrays: a segment of these alone is not worth running."""


@dataclass
class TraceResult:
    """What one trace gave.

    breaks : where the segment ends before the function does; empty when the whole function is in it.
    n_work : number of nodes that do work (inner regions included); 0 means that the function had better run plain.
    plain_seconds : roughly what plain Python takes for the traced part of this call.
    repeats : how often what was traced is likely to come again in the call, because it is part of a loop.
    idle : for a trace without work, an exit at its very start by which Python runs up to the break and over it, or over the
        first branch before it.
    general : the trace does without guards that earlier ones had.
    """

    graph: Graph
    spec: SegmentSpec
    breaks: list[Break]
    n_work: int
    plain_seconds: float = 0.0
    repeats: int = 1
    idle: ExitSpec | None = None
    general: bool = False


def trace(
    fn: types.FunctionType,
    args: tuple[Any, ...],
    options: Any = None,
    point: ResumePoint | None = None,
    memory: Memory | None = None,
) -> TraceResult:
    """Trace one call, or what follows a point in the middle of one.

    Parameters
    ----------
    args : the bound parameters, in `co_varnames` order: the tuple of *args and the dict of **kwargs included. With `point`, the
        values of the frame as a stepping stub packs them.
    point : where the frame stands; `fn` is then any function with its globals.
    memory : what earlier traces of the function have found out; added to.

    Raises
    ------
    Refused
        when the function must run plain for such arguments.
    """
    t = Trace(options, memory)
    t.inputs.inside = point is not None
    t.inputs.changing = t.memory.changing_at(point, args)
    t.inputs.turning = frozenset() if point is None else _turning(point)
    root = root_frame(t, fn, args) if point is None else point_frame(t, fn, point, args)
    t.frames.append(root)
    start = _start(root)
    at_start = t.exit_at(root, start) if resumable(root.code.code, root.code.instrs[start].offset) is None else None
    try:
        t.run()
        t.inputs.finish()
    finally:
        t.inputs.release()
    graph = t.b.finish()
    graph.n_exits = len(t.spec.exits)
    canon = t.b.facts.canon_type
    t.spec.inputs = [canon(x) for x in t.spec.inputs]
    t.spec.exits = [replace(e, captures=tuple(map(canon, e.captures))) for e in t.spec.exits]
    n_work = sum(node.prim not in _NO_WORK and node.params.get("function") not in (NAME, DONE) for node in graph.body.walk())
    idle = None if at_start is None else _idle(t.spec.exits[-1], at_start, root, start)
    repeats = max(*t.begun.values(), 1, 1 if point is None else _turns_left(point, args))
    seconds = plain_seconds(graph.body, t.turns, t.b.hints)
    return TraceResult(graph, t.spec, t.breaks, n_work, seconds, repeats, idle, t.inputs.general)


def _turning(point: ResumePoint) -> frozenset[Source]:
    """What is set in the loops around a point; what is on the stack has been made in this turn."""
    flow = control_flow(point.code)
    k = flow.loop_of[flow.block_of[normalise(point.code).index_of_offset[point.offset]]]
    if k < 0:
        return frozenset()
    names: set[str] = set()
    while k >= 0:
        names |= flow.loops[k].assigned | flow.loops[k].assigned_cells
        k = flow.loops[k].parent
    n = point.nulls.count(False)
    own = (*point.bound, *point.code.co_freevars)
    return frozenset(Source("arg", i) for i in (*range(n), *(n + i for i, name in enumerate(own) if name in names)))


def _turns_left(point: ResumePoint, args: tuple[Any, ...]) -> int:
    """How many turns the loops around a point still make, by the iterators on the stack; very many when they do not say."""
    if not in_loop(point.code, point.offset):
        return 1
    iterators = [x for x in args[: point.nulls.count(False)] if hasattr(type(x), "__next__")]
    return max(map(_length, iterators), default=RUN_TIME_TURNS)


def _length(it: Any) -> int:
    known = type(it).__module__ == "builtins" and hasattr(type(it), "__length_hint__")
    return operator.length_hint(it) if known else RUN_TIME_TURNS


def _start(root: Frame) -> int:
    """The first instruction after those that set the frame up."""
    at = root.pc
    while root.code.instrs[at].op in (Op.COPY_FREE_VARS, Op.MAKE_CELL, Op.NOP):
        at += 1
    return at


def _idle(end: ExitSpec, start: ExitSpec, root: Frame, at: int) -> ExitSpec | None:
    """The exit at the start that leads over the place where the trace ended, or over the first branch on the way there."""
    if end.kind != "resume" or start.frames[0].code != end.frames[0].code:
        return None
    instrs = root.code.instrs
    last = root.code.index_of_offset[end.frames[0].offset]
    jump = next((k for k in range(at, len(instrs)) if instrs[k].target >= 0), last)
    if last < at or last > jump:
        last = jump - (instrs[jump].op is Op.JUMP)
    if last < at:
        return None
    frame = replace(start.frames[0], last=instrs[last].offset)
    return replace(end, captures=(), frames=(frame,), stored=(), effects=(), expected=True)


__all__ = ["Break", "Refused", "TraceResult", "trace"]
