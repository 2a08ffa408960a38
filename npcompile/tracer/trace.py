"""`trace`: the one call by which the rest of the compiler uses the tracer."""

from __future__ import annotations

import types
from typing import Any

from npcompile.ir.graph import Graph
from npcompile.ir.segment import SegmentSpec
from npcompile.records import dataclass, replace

# the modules that register handlers and rules
from . import (  # noqa: F401
    attributes,
    branches,
    builtin_rules,
    calls,
    container_methods,
    containers,
    loops,
    mathlib,
    operators,
    stack_ops,
    strings,
    supers,
)
from .estimate import plain_seconds
from .frames import Refused
from .interpreter import Break, Trace, root_frame

_NO_WORK = frozenset({"const", "dim", "sym", "exit", "exit_if"})
"""Prims that do nothing for arrays: a segment of these alone is not worth running."""


@dataclass
class TraceResult:
    """What one trace gave.

    breaks : where the segment ends before the function does; empty when the whole function is in it.
    n_work : number of nodes that do work (inner regions included); 0 means that the function had better run plain.
    plain_seconds : roughly what plain Python takes for the traced part of this call.
    """

    graph: Graph
    spec: SegmentSpec
    breaks: list[Break]
    n_work: int
    plain_seconds: float = 0.0


def trace(fn: types.FunctionType, args: tuple[Any, ...], options: Any = None) -> TraceResult:
    """Trace one call.

    Parameters
    ----------
    args : the bound parameters, in `co_varnames` order: the tuple of *args and the dict of **kwargs included.

    Raises
    ------
    Refused
        when the function must run plain for such arguments.
    """
    t = Trace(options)
    t.frames.append(root_frame(t, fn, args))
    t.run()
    t.inputs.finish()
    graph = t.b.finish()
    graph.n_exits = len(t.spec.exits)
    canon = t.b.facts.canon_type
    t.spec.inputs = [canon(x) for x in t.spec.inputs]
    t.spec.exits = [replace(e, captures=tuple(map(canon, e.captures))) for e in t.spec.exits]
    n_work = sum(node.prim not in _NO_WORK for node in graph.body.walk())
    return TraceResult(graph, t.spec, t.breaks, n_work, plain_seconds(graph.body, t.turns, t.b.hints))


__all__ = ["Break", "Refused", "TraceResult", "trace"]
