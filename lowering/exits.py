"""Ways out of a segment: captured values are written, then the exit's number is returned.

In: exit nodes and their `ExitSpec`. Out: host code. Values that only a conditional exit needs are computed inside its branch.
Never: runs Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.segment import ExitSpec, Recipe, SegmentSpec
from npcompile.ir.types import MemType, TensorType, ViewType

from .analysis import RegionPlan, is_inline
from .index_maps import INDEX_MAPS
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host


def boxes(spec: ExitSpec) -> dict[int, str]:
    """Capture -> how its recipe boxes it."""
    out: dict[int, str] = {}

    def visit(r: Recipe) -> None:
        if r.op == "value":
            k, box = r.arg
            out[k] = box
        for x in r.items:
            visit(x)

    for r in spec.recipes():
        visit(r)
    return out


def captured(h: Host, node: Node) -> tuple[tuple[Value, ...], dict[int, str]]:
    """Captured values of an exit node and their boxes."""
    spec = h.unit.spec.exits[node.params["exit"]]
    first = 1 if node.prim == "exit_if" else 0
    values = node.inputs[first : first + len(spec.captures)]
    return values, boxes(spec)


def wants_array(v: Value, box: str | None) -> bool:
    """Is a capture handed over as a fresh array?"""
    return isinstance(v.type, TensorType) and (v.type.rank > 0 or box in ("array", "tensor"))


def tensor_roots(nodes: Iterable[Node], spec: SegmentSpec) -> set[Value]:
    """Whole buffers of which an exit hands back a view as a tensor: they had better be tensors themselves."""
    out: set[Value] = set()
    for node in nodes:
        if node.prim in ("exit", "exit_if"):
            first = 1 if node.prim == "exit_if" else 0
            box = boxes(spec.exits[node.params["exit"]])
            for k, v in enumerate(node.inputs[first : first + len(spec.exits[node.params["exit"]].captures)]):
                if box.get(k) == "tensor" and isinstance(v.type, ViewType):
                    while v.node is not None and v.node.prim in INDEX_MAPS:
                        v = v.node.inputs[0]
                    out.add(v)
    return out


def emit_exit(h: Host, node: Node) -> None:
    """The end of the graph."""
    h.flush()
    h.reports.settle(everything=True)
    write_captures(h, node)
    h.line(f"return {node.params['exit']};")


def emit_exit_if(h: Host, node: Node) -> None:
    """A conditional exit; what only it needs is computed in the branch."""
    cond = h.scalar(node.inputs[0])
    if h.reports.gather is not None:
        number = _not_finite(node.inputs[0])
        if number is not None and h.note_number(number):
            return
        h.line(f"if (__builtin_expect({cond}, 0)) {{ {h.reports.gather.leave()} }}")
        return
    values, box = captured(h, node)
    h.flush(set(values))
    h.line(f"if (__builtin_expect({cond}, 0)) {{")
    with h.branch():
        for k, v in enumerate(values):
            if wants_array(v, box.get(k)):
                h.wants(v, box.get(k))
        sunk = [v for v in node.inputs if v.node in h.plan.sunk]
        _compute(h, [*sunk, *(v for v in values if isinstance(v.type, TensorType))], _unreported(h, node))
        write_captures(h, node)
        h.reports.settle(everything=True)
        h.line(f"return {node.params['exit']};")
    h.line("}")


def _not_finite(cond: Value) -> Value | None:
    """The number that the condition asks not to be finite."""
    node = cond.node
    test = node.inputs[0].node if node is not None and node.prim == "logical_not" else None
    return test.inputs[0] if test is not None and test.prim == "isfinite" else None


def _unreported(h: Host, exit_node: Node) -> list[Value]:
    """Operations before an exit whose conditions have not been looked at yet because their results are needed later only."""
    if exit_node not in h.plan.position:
        return []
    here = h.plan.position[exit_node]
    return [
        v
        for n in h.plan.nodes
        if n.report is not None and n not in h.reports.done and h.plan.position[n] < here
        for v in n.outputs
        if isinstance(v.type, TensorType)
    ]


def _compute(h: Host, values: list[Value], checked: list[Value]) -> None:
    """Emit what is missing of some values, here. `checked`: values needed for the conditions of making them only.

    What they read from memory was stored before: memory states are not followed, nothing is stored again but for this
    exit alone.
    """
    position, sunk = h.plan.position, h.plan.sunk
    need: set[Node] = set()
    stack = [v for v in (*values, *checked) if v not in h.scalars and v not in h.storage]
    while stack:
        v = stack.pop()
        n = v.node
        if n is None or n not in position or n in need:
            continue
        need.add(n)
        inputs = [x for x in n.inputs if not isinstance(x.type, MemType) or x.node in sunk]
        stack.extend(x for x in inputs if x not in h.scalars and x not in h.storage)
    if not need:
        return
    nodes = [n for n in position if n in need]
    realised = {v for v in (*values, *checked) if isinstance(v.type, TensorType) and v.type.rank and v not in h.storage}
    for n in nodes:
        for v in n.outputs:
            if isinstance(v.type, TensorType) and v.type.rank and not is_inline(n):
                realised.add(v)
    plan = RegionPlan(nodes, position, realised, need, sunk=sunk)
    saved = h.plan, h.pending, h.consumers, h.needs
    h.plan, h.pending, h.needs = plan, [], set(values)
    h.consumers = {}
    for n in nodes:
        for v in n.inputs:
            h.consumers.setdefault(v, []).append(n)
    for n in nodes:
        if n.prim != "alloc" or n in sunk:
            h.node(n)
    h.flush()
    h.plan, h.pending, h.consumers, h.needs = saved


def write_captures(h: Host, node: Node) -> None:
    """Hand over every captured value."""
    values, box = captured(h, node)
    given: set[str] = set()
    moved: dict[str, str] = {}
    for k, v in enumerate(values):
        if isinstance(v.type, ViewType):
            _write_view(h, k, v, box.get(k), moved)
        elif wants_array(v, box.get(k)):
            _write_array(h, k, v, given, box.get(k))
        elif isinstance(v.type, TensorType):
            _write_scalar(h, k, v)


def _write_scalar(h: Host, k: int, v: Value) -> None:
    text = h.scalar(v)
    dt = ttype(v).dtype
    if dt.kind in "biu":
        h.line(f"out[{2 * k}] = (npc_i64){text};")
    else:
        h.line(f"*({ctype(dt)} *)(out + {2 * k}) = {text};")


def _write_array(h: Host, k: int, v: Value, given: set[str], box: str | None) -> None:
    t = ttype(v)
    place = h.storage.get(v)
    if place is not None and place.buffer in h.slots and place.buffer not in given and _is_boxed(h, place.buffer, box):
        given.add(place.buffer)
        h.line(f"rt->out_object(ctx, {k}, {h.slots[place.buffer]});")
        return
    b = h.unit.new_buffer(t.dtype, t.dims, _strides(t))
    slot = str(h.new_slot())
    h.alloc_array(b, slot, h.as_library(box))
    if t.rank == 0:
        h.store_scalar(b, v)
    else:
        h.copy(v, b)
        h.flush()
    h.line(f"rt->out_object(ctx, {k}, {slot});")


def _strides(t: TensorType) -> tuple:
    from npcompile.ir.layout import packed_strides

    from .host import _dense

    return packed_strides(t.dims, _dense(t.layout, t.dims), t.dtype.itemsize)


def _is_boxed(h: Host, buffer: str, box: str | None) -> bool:
    """Is the buffer's object already of the library that an exit hands it back to?"""
    return (buffer in h.tensors) == h.as_library(box)


def _write_view(h: Host, k: int, v: Value, box: str | None, moved: dict[str, str]) -> None:
    """The object itself when the view is a whole array, else a new view on it.

    moved : scratch buffer -> buffer of the array that took its place in this exit.
    """
    p = h.place_of(v)
    if p.buffer not in h.slots and p.buffer not in moved:
        moved[p.buffer] = _as_array(h, p.buffer, h.as_library(box))
    buffer = moved.get(p.buffer, p.buffer)
    slot = h.slots[buffer]
    if (v.node is None or v.node.prim not in INDEX_MAPS) and _is_boxed(h, buffer, box):
        h.line(f"rt->out_object(ctx, {k}, {slot});")
        return
    t = v.type
    assert isinstance(t, ViewType)
    dims = ", ".join(h.unit.dim(d) for d in t.dims) or "0"
    strides = ", ".join(h.unit.dim(d) for d in t.strides) or "0"
    h.line("{")
    h.line(f"  const npc_i64 d_[] = {{{dims}}}, t_[] = {{{strides}}};")
    make = "out_tensor" if h.as_library(box) else "out_view"
    h.line(
        f"  if (rt->{make}(ctx, {k}, {slot}, {t.dtype.num}, (char *){buffer} + {h.unit.dim(p.offset)}, "
        f"{t.rank}, d_, t_, {int(t.writeable)})) return NPC_ERROR;"
    )
    h.line("}")


def _as_array(h: Host, scratch: str, tensor: bool) -> str:
    """A fresh array with the contents of an array that was kept in scratch memory; its buffer."""
    old = h.unit.buffers[scratch]
    b = h.unit.new_buffer(old.dtype, old.dims, old.strides)
    h.alloc_array(b, str(h.new_slot()), tensor)
    size = Dim.of(old.dtype.itemsize)
    for d in old.dims:
        size = size * d
    h.line(f"__builtin_memcpy({b.name}, {old.name}, {h.unit.dim(size)});")
    return b.name
