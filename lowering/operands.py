"""Operands of library calls: read where they lie in memory, whatever their strides; what is no memory yet is realised first.

In: nodes that want their operands in memory. Out: places, and host code that makes them. Never: emits the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from npcompile.ir.graph import Node, Value

from .analysis import memory_root
from .index_maps import Place
from .lowered import LoweringError
from .statements import Stmt

if TYPE_CHECKING:
    from .host import Host


def operands(h: Host, node: Node, values: Sequence[Value]) -> list[Place]:
    """Where operands of a library call lie in memory; pending statements that make them are emitted."""
    wanted: set[Value] = set()
    for v in values:
        root = memory_root(v, lambda u: u in h.storage or u in h.plan.realised)
        if root not in h.storage and root not in h.plan.realised and not _readable(h, root):
            root = v
            if v not in h.plan.realised and v not in h.storage:
                _realise(h, node, v)
        wanted.add(root)
    if any(_feeds(h, s, wanted) for s in h.pending):
        h.flush(wanted)
    out = []
    for v in values:
        place = h.tensor_place(v)
        if place is None:
            raise LoweringError("no-place", f"operand {v!r} of {node.prim}")
        out.append(place)
    return out


def _readable(h: Host, v: Value) -> bool:
    """Does a load still find in memory what it stands for?"""
    return v.node is not None and v.node.prim == "load" and v.node.inputs[1] not in h.ended


def _realise(h: Host, node: Node, v: Value) -> None:
    assert v.node is not None
    h.plan.realised.add(v)
    h.consumers.setdefault(v, []).append(node)
    h.add_value(v.node)
    if h.loop_depth:
        h.unit.copies_in_loops += 1


def _feeds(h: Host, s: Stmt, wanted: set[Value]) -> bool:
    """Does a pending statement make one of these values, or write to memory they are read from?"""
    if s.place is None:
        return s.out in wanted
    loads = [v.node.inputs[0] for v in wanted if v.node is not None and v.node.prim == "load" and v not in h.storage]
    return any(h.unit.may_alias(s.place.buffer, h.place_of(view).buffer) for view in loads)
