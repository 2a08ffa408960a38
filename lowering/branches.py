"""`cond` nodes as native branches: results are variables declared before, tensors in a buffer of their own.

In: `cond` nodes. Out: host code. Never: evaluates both arms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.types import TensorType

from .analysis import plan_region
from .exits import captured, wants_array
from .index_maps import Place

if TYPE_CHECKING:
    from .host import Host


def emit_cond(h: Host, node: Node) -> None:
    """One `cond` node: `if (c) {...} else {...}`."""
    test = h.scalar(node.inputs[0])
    h.flush()
    h.reports.settle(everything=True)
    places = {k: place for k, v in enumerate(node.outputs) if (place := _declare(h, v)) is not None}
    h.end_memories(node)
    then, other = node.regions
    if _is_empty(then) and not _is_empty(other):
        test, then, other = f"!{test}", other, then
    h.line(f"if ({test}) {{")
    _arm(h, node, then, places)
    if not _is_empty(other):
        h.line("} else {")
        _arm(h, node, other, places)
    h.line("}")


def _is_empty(region: Region) -> bool:
    """Is there nothing to do in the arm?"""
    return not region.nodes and not any(isinstance(v.type, TensorType) for v in region.results)


def _declare(h: Host, v: Value) -> Place | None:
    """Room for a result; the place of a tensor's."""
    t = v.type
    if not isinstance(t, TensorType):
        return None
    if t.rank:
        return h.storage_for(v)
    name = h.unit.fresh("v")
    h.scalar_types[name] = t.dtype
    h.scalars[v] = name
    h.line(f"{ctype(t.dtype)} {name};")
    return None


def _arm(h: Host, node: Node, region: Region, places: dict[int, Place]) -> None:
    if region.nodes and region.nodes[-1].prim == "exit" and h.reports.gather is not None:
        h.line(f"  {h.reports.gather.leave()}")
        return
    if region.nodes and region.nodes[-1].prim == "exit":
        with _leaving(h):
            plan = plan_region(region)
            values, box = captured(h, region.nodes[-1])
            for k, v in enumerate(values):
                if wants_array(v, box.get(k)):
                    h.wants(v, box.get(k))
            h.region(plan, {v for v in values if isinstance(v.type, TensorType)})
        return
    saved = dict(h.scalars), dict(h.storage), dict(h.places), dict(h.targets)
    outs = {k: v for k, v in enumerate(region.results) if isinstance(v.type, TensorType)}
    for k, v in outs.items():
        if k in places and v.node in region.nodes and v not in h.targets:
            h.targets[v] = places[k]
    h.depth += 1
    h.region(plan_region(region), set(outs.values()), lambda: _tensor_results(h, outs, places))
    for k, v in outs.items():
        if k not in places:
            h.line(f"{saved[0][node.outputs[k]]} = {h.scalar(v)};")
    h.depth -= 1
    h.scalars, h.storage, h.places, h.targets = saved


def _tensor_results(h: Host, outs: dict[int, Value], places: dict[int, Place]) -> None:
    """Bring the tensors into the buffers of the results, unless they were made there."""
    for k, place in places.items():
        v = outs[k]
        if v in h.storage and h.storage[v].buffer == place.buffer:
            continue
        if h.loop_depth and v in h.storage:
            h.unit.copies_in_loops += 1
        h.copy(v, h.unit.buffers[place.buffer])


@contextmanager
def _leaving(h: Host) -> Iterator[None]:
    """An arm that leaves the segment. In a loop it is rarely taken, and its memory is not shared by turns."""
    if h.loop_depth:
        with h.branch():
            yield
        return
    saved = dict(h.scalars), dict(h.storage), dict(h.places), h.returned, h.changed
    h.returned = {}
    h.depth += 1
    yield
    h.depth -= 1
    h.scalars, h.storage, h.places, h.returned, h.changed = saved
