"""Single elements of memory, and library calls (BLAS, Python callables).

In: nodes that touch memory outside of nests. Out: host code. Never: fuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.types import ViewType

from .index_maps import Place, diagonal_shift
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host


def mapped(node: Node, p: Place) -> Place | None:
    """Place of an index map of a tensor that is in memory at `p`."""
    dims = ttype(node.outputs[0]).dims
    off, strides = p.offset, list(p.strides)
    params = node.params
    if node.prim == "transpose":
        strides = [strides[a] for a in params["perm"]]
    elif node.prim == "slice":
        for a, (start, step) in enumerate(zip(params["starts"], params["steps"], strict=True)):
            off = off + Dim.of(start) * p.strides[a]
            strides[a] = p.strides[a] * Dim.of(step)
    elif node.prim == "expand":
        rest = iter(strides)
        strides = [Dim() if a in params["axes"] else next(rest) for a in range(len(dims))]
    elif node.prim == "squeeze":
        strides = [s for a, s in enumerate(strides) if a not in params["axes"]]
    elif node.prim == "broadcast":
        lead = len(dims) - len(strides)
        strides = [Dim()] * lead + [Dim() if d.const == 1 else s for s, d in zip(strides, p.dims, strict=True)]
    elif node.prim == "diagonal":
        a1, a2, s1, s2 = diagonal_shift(node)
        off = off + s1 * p.strides[a1] + s2 * p.strides[a2]
        strides = [s for a, s in enumerate(strides) if a not in (a1, a2)] + [p.strides[a1] + p.strides[a2]]
    return Place(p.buffer, off, tuple(strides), dims)


def _element(h: Host, view: Value, indices: tuple[Value, ...]) -> str:
    """Byte offset of an element whose indices are run-time scalars."""
    p = h.place_of(view)
    parts = [] if p.offset == Dim() else [h.unit.dim(p.offset)]
    for v, s in zip(indices, p.strides, strict=True):
        i = h.scalar(v)
        if i not in ("0ll",):
            parts.append(f"{i} * {h.unit.dim(s)}")
    return " + ".join(parts) or "0"


def settle(h: Host, view: Value) -> None:
    """Emit pending statements when one of them touches the memory of a view."""
    buffer = h.place_of(view).buffer
    for s in h.pending:
        touched = [r.place for r in s.reads if r.place is not None] + ([s.place] if s.place is not None else [])
        if any(h.unit.may_alias(p.buffer, buffer) for p in touched):
            h.flush()
            return


def item(h: Host, node: Node) -> None:
    """Read one element."""
    view = node.inputs[0]
    settle(h, view)
    dt = ttype(node.outputs[0]).dtype
    if node in h.recalled:
        h.scalars[node.outputs[0]] = h.variable(dt, h.recalled[node])
        return
    off = _element(h, view, node.inputs[2:])
    from npcompile.kernels import ctype

    h.scalars[node.outputs[0]] = h.variable(dt, f"*({ctype(dt)} *)({h.place_of(view).buffer} + {off})")


def store_item(h: Host, node: Node) -> None:
    """Write one element."""
    view, value = node.inputs[:2]
    settle(h, view)
    text = h.scalar(value)
    off = _element(h, view, node.inputs[3:])
    if h.unit.is_callers(h.place_of(view).buffer):
        h.reports.settle()
    from npcompile.kernels import ctype

    cell = f"*({ctype(ttype(value).dtype)} *)({h.place_of(view).buffer} + {off})"
    if node in h.keeping:
        assert h.reports.gather is not None
        h.reports.gather.kept += 1
        h.line(h.keeping[node].format(cell))
    if node not in h.late:
        h.line(f"{cell} = {text};")
    names = h.noted.get(node, [])
    for name, newer in zip(names[::-1], [*names[-2::-1], text]):
        h.line(f"{name} = {newer};")
    h.note_store(h.place_of(view).buffer)


def move(h: Host, node: Node) -> None:
    """Assign one vector to another in NumPy's order."""
    h.flush()
    target, source = (h.place_of(v) for v in node.inputs[:2])
    if h.unit.is_callers(target.buffer):
        h.reports.settle()
    view = node.inputs[0].type
    assert isinstance(view, ViewType)
    h.unit.snippets.add("move")
    places = ", ".join(f"{p.buffer} + {h.unit.dim(p.offset)}, {h.unit.dim(p.strides[0])}" for p in (target, source))
    done = f"npc_move<npc_bytes<{view.dtype.itemsize}>>({places}, {h.unit.dim(target.dims[0])})"
    h.line(f"if (!{done}) {{ rt->no_memory(ctx); return NPC_ERROR; }}")
    h.note_store(target.buffer)
