"""What the host program does for each node that is no pointwise expression: stores, reductions, joins, allocation, time.

In: nodes of a region. Out: pending statements, or lines. Never: decides on fusion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.types import ViewType

from . import blas, branches, calls, exits, externs, library_calls, loops
from .analysis import escapes
from .statements import Stmt, make_axes, overlaps_itself
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

POLL_NS = 1_000_000
"""Estimated nanoseconds between two looks for signals."""


def _store(h: Host, node: Node, settled: bool = False) -> None:
    """A store statement; `settled`: its operands are in temporaries by now."""
    masked = node.prim == "store_masked"
    view = node.inputs[0]
    operands = node.inputs[1:3] if masked else node.inputs[1:2]
    place = h.place_of(view)
    dims = place.dims
    axes = make_axes(h.unit, dims)
    s = Stmt("store", node, dims, axes, tuple(operands), tuple(range(len(dims))), place=place)
    s.index = s.position
    reader = h.reader()
    if settled:
        reader.current = lambda mem: False
    reader.fill(s)
    if overlaps_itself(h.unit, s):
        _store_through_temporary(h, node, operands)
        return
    h.unit.stores_first = h.unit.stores_first or h.unit.is_callers(place.buffer)
    h.pending.append(s)


def _store_through_temporary(h: Host, node: Node, operands: tuple[Value, ...]) -> None:
    """Evaluate everything first, then store."""
    for v in operands:
        if v not in h.storage and ttype(v).rank:
            h.plan.realised.add(v)
            assert v.node is not None
            h.consumers.setdefault(v, []).append(node)
            h.add_value(v.node)
            if h.loop_depth:
                h.unit.copies_in_loops += 1
    _store(h, node, settled=True)


def _concat(h: Host, node: Node) -> None:
    """One statement for each part, shifted along the axis."""
    out, axis = node.outputs[0], node.params["axis"]
    start = Dim()
    for x in node.inputs:
        t = ttype(x)
        axes = make_axes(h.unit, t.dims)
        s = Stmt("value", node, t.dims, axes, (x,), tuple(range(t.rank)), out)
        s.index = tuple(p + start if a == axis else p for a, p in enumerate(s.position))
        h.reader().fill(s)
        h.pending.append(s)
        start = start + t.dims[axis]


def _pad(h: Host, node: Node) -> None:
    """The border value everywhere, then the operand in its middle."""
    a, value = node.inputs
    out = node.outputs[0]
    for x, dims, low in ((value, ttype(out).dims, None), (a, ttype(a).dims, node.params["low"])):
        s = Stmt("value", node, dims, make_axes(h.unit, dims), (x,), tuple(range(len(dims))), out)
        s.index = s.position if low is None else tuple(p + w for p, w in zip(s.position, low, strict=True))
        h.reader().fill(s)
        h.pending.append(s)


def _scan(h: Host, node: Node) -> None:
    (a,) = node.inputs
    dims = ttype(a).dims
    s = Stmt("scan", node, dims, make_axes(h.unit, dims), (a,), tuple(range(len(dims))), node.outputs[0])
    s.index = s.position
    h.reader().fill(s)
    h.pending.append(s)


def _reduce(h: Host, node: Node) -> None:
    (a,) = node.inputs
    dims = ttype(a).dims
    axes = make_axes(h.unit, dims)
    axis = node.params.get("axis")
    reduced = tuple(node.params["axes"]) if axis is None else (axis,)
    kept = tuple(k for k in range(len(dims)) if k not in reduced)
    kind = "reduce" if node.prim == "reduce" else "argreduce"
    s = Stmt(kind, node, dims, axes, (a,), kept, node.outputs[0])
    s.index = tuple(s.position[k] for k in kept)
    h.reader().fill(s)
    h.pending.append(s)


def _alloc(h: Host, node: Node) -> None:
    """A new array. One that a loop makes in each turn is scratch memory, unless it outlives the turn other than by an exit."""
    view = node.outputs[0]
    t = view.type
    assert isinstance(t, ViewType)
    b = h.unit.new_buffer(t.dtype, t.dims, t.strides)
    if h.loop_depth and not escapes(view, h.plan):
        h.scratch(b)
    else:
        h.alloc_array(b, str(h.new_slot()), view in h.as_tensor)
        h.restart = None
    h.bind_view(view, b)


def _sym(h: Host, node: Node) -> None:
    text = h.scalar(node.inputs[0])
    name = h.unit.sym_name(node.params["sym"])
    h.line(f"const npc_i64 {name} = {text};")


def _poll(h: Host, node: Node) -> None:
    """Has a millisecond passed, and does a signal wait?"""
    if not h.polls:
        h.polls = True
        h.lines.insert(h.top, f"  npc_i64 tick = {POLL_NS};")
        h.hoist_at += 1
    text = f"(npc_bool)(__builtin_expect(tick < 0, 0) && (tick = {POLL_NS}, rt->poll(ctx) != 0))"
    h.scalars[node.outputs[0]] = h.variable(np.dtype(bool), text)


HANDLERS: dict[str, Callable[[Host, Node], None]] = {
    "store": _store,
    "store_masked": _store,
    "reduce": _reduce,
    "concat": _concat,
    "pad": _pad,
    "scan": _scan,
    "argreduce": _reduce,
    "dot_general": blas.emit_dot,
    "extern_library": library_calls.emit,
    "extern_numpy": externs.emit_extern,
    "extern_store": externs.emit_store,
    "alloc": _alloc,
    "sym": _sym,
    "poll": _poll,
    "exit": exits.emit_exit,
    "exit_if": exits.emit_exit_if,
    "item": calls.item,
    "store_item": calls.store_item,
    "move": calls.move,
    "loop": loops.emit_loop,
    "cond": branches.emit_cond,
}
