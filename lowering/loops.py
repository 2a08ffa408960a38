"""Loop regions as native loops: carried scalars in registers, carried views as pointers with slots, carried tensors in
two buffers that take turns.

In: `loop` nodes. Out: host code. Never: unrolls or reorders iterations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.types import MemType, TensorType, ViewType

from .analysis import plan_region
from .index_maps import root_place
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host


def trip_count(start: str, stop: str, step: str) -> str:
    """Number of iterations of range(start, stop, step) for any step but 0."""
    return f"npc_trips({start}, {stop}, {step})"


def emit_loop(h: Host, node: Node) -> None:
    """One `loop` node."""
    start, stop, step = (h.scalar(v) for v in node.inputs[:3])
    h.flush()
    (region,) = node.regions
    if h.loop_depth == 0:
        h.hoist_at = len(h.lines)
    tensors = _carry_in(h, node, region)
    h.end_memories(node)
    trips, counter = h.unit.fresh("n"), h.unit.fresh("j")
    h.unit.helpers.add("trips")
    h.line(f"const npc_i64 {trips} = {trip_count(start, stop, step)};")
    h.line(f"for (npc_i64 {counter} = 0; {counter} < {trips}; ++{counter}) {{")
    h.depth += 1
    h.loop_depth += 1
    saved = dict(h.scalars), dict(h.storage), dict(h.places), dict(h.targets)
    h.scalars[region.params[0]] = h.variable(ttype(region.params[0]).dtype, f"{start} + {counter} * {step}")
    carried = [(p, v) for p, v in zip(region.params[1:], region.results, strict=True) if p in tensors and v is not p]
    for p, v in carried:
        if v.node in region.nodes and v not in h.targets:
            h.targets[v] = h.storage[p].moved(tensors[p][1])
    h.region(plan_region(region), set(region.results), lambda: _yield_tensors(h, carried, tensors))
    _carry_over(h, region, tensors)
    h.scalars, h.storage, h.places, h.targets = saved
    h.loop_depth -= 1
    h.depth -= 1
    h.line("}")
    for p, out in zip(region.params[1:], node.outputs, strict=True):
        _carry_out(h, p, out)


def _yield_tensors(h: Host, carried: list[tuple[Value, Value]], tensors: dict[Value, tuple[str, str]]) -> None:
    """Bring yielded tensors into the buffers of the next turn, unless they were made there."""
    for p, v in carried:
        spare = tensors[p][1]
        if v in h.plan.realised and h.targets.get(v) is not None and h.targets[v].buffer == spare:
            continue
        h.copy(v, h.unit.buffers[spare])


def _carry_in(h: Host, node: Node, region: Region) -> dict[Value, tuple[str, str]]:
    """Declare the carried variables; returns the two buffers of every carried tensor."""
    tensors: dict[Value, tuple[str, str]] = {}
    for p, v in zip(region.params[1:], node.inputs[3:], strict=True):
        t = p.type
        if isinstance(t, TensorType) and t.rank == 0:
            name = h.unit.fresh("v")
            h.scalar_types[name] = t.dtype
            h.line(f"{ctype(t.dtype)} {name} = {h.scalar(v)};")
            h.scalars[p] = name
        elif isinstance(t, TensorType):
            strides = packed_strides(t.dims, t.layout, t.dtype.itemsize)
            pair = []
            for _ in range(2):
                b = h.unit.new_buffer(t.dtype, t.dims, strides)
                h.scratch(b)
                pair.append(b.name)
            h.storage[p] = root_place(pair[0], strides, t.dims)
            h.copy(v, h.unit.buffers[pair[0]])
            h.flush()
            tensors[p] = (pair[0], pair[1])
        elif isinstance(t, ViewType):
            _carry_view(h, p, v)
    return tensors


def _carry_view(h: Host, p: Value, v: Value) -> None:
    t = p.type
    assert isinstance(t, ViewType)
    src = h.place_of(v)
    outer = h.unit.buffers[src.buffer]
    b = h.unit.new_buffer(t.dtype, t.dims, t.strides, outer.alias)
    h.line(f"char *{b.name} = {src.buffer} + {h.unit.dim(src.offset)};")
    slot = f"{b.name}_s"
    h.line(f"npc_i64 {slot} = {h.slots[src.buffer]};")
    h.slots[b.name] = slot
    h.bind_view(p, b)


def _carry_over(h: Host, region: Region, tensors: dict[Value, tuple[str, str]]) -> None:
    """End of an iteration: the carried variables take the yielded values, all at once."""
    moves: list[tuple[str, str]] = []
    for p, v in zip(region.params[1:], region.results, strict=True):
        t = p.type
        if v is p or isinstance(t, MemType):
            continue
        if isinstance(t, TensorType) and t.rank == 0:
            moves.append((h.scalars[p], h.scalar(v)))
        elif isinstance(t, TensorType):
            a, b = tensors[p]
            moves += [(a, b), (b, a)]
        elif isinstance(t, ViewType):
            mine, src = h.place_of(p), h.place_of(v)
            moves.append((mine.buffer, f"{src.buffer} + {h.unit.dim(src.offset)}"))
            moves.append((h.slots[mine.buffer], h.slots[src.buffer]))
    targets = {a for a, _ in moves}
    temps = []
    for a, text in moves:
        if any(w in text.replace("+", " ").split() for w in targets):
            name = h.unit.fresh("y")
            h.line(f"const auto {name} = {text};")
            temps.append((a, name))
        else:
            temps.append((a, text))
    for a, text in temps:
        h.line(f"{a} = {text};")


def _carry_out(h: Host, p: Value, out: Value) -> None:
    """A result of the loop is the carried variable."""
    t = p.type
    if isinstance(t, TensorType):
        if t.rank:
            h.storage[out] = h.storage[p]
        else:
            h.scalars[out] = h.scalars[p]
    elif isinstance(t, ViewType):
        h.places[out] = h.places[p]
