"""Chains of index maps: maps that do nothing vanish, two of a kind become one, maps of a single repeated value are renewed.

In: an index-map node whose inputs are simplified. Out: a value that equals its output and has the very same type, or None.
A view never becomes the object it is a view of where an exit may hand it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType, TensorType, ViewType

from .rewrite import Emitter, same_type

Params = Mapping[str, Any]
ACCESSES = frozenset({"load", "store", "store_masked", "item", "store_item", "scatter"})


def dims(xs: Any) -> tuple[Dim, ...]:
    return tuple(Dim.of(x) for x in xs)


def simplify(e: Emitter, node: Node) -> Value | None:
    if PRIMS[node.prim].loop != "index_map":
        return None
    (a,) = node.inputs
    t = node.outputs[0].type
    assert not isinstance(a.type, MemType)
    if does_nothing(node) and _may_stand_for(a, t):
        return a
    inner = a.node
    if inner is None or PRIMS[inner.prim].loop != "index_map":
        return _refill(e, node, a)
    source = inner.inputs[0]
    if node.prim == "squeeze" and inner.prim == "expand" and set(node.params["axes"]) == set(inner.params["axes"]):
        return source if _may_stand_for(source, t) else None
    if inner.prim == node.prim and node.prim in _MERGE and ("strides" in node.params or "strides" not in inner.params):
        params = _MERGE[node.prim](inner.params, node.params)
        new = e.emit(node, node.prim, source, **params)
        return new if same_type(new.type, t) else None
    return _refill(e, node, a)


def see_through(node: Node) -> tuple[Value, ...] | None:
    """Inputs of an access to memory (or of an index map) with views that change nothing replaced by what they view.

    Only here may a view give way to its array: the access hands out neither.
    """
    if node.prim not in ACCESSES and PRIMS[node.prim].loop != "index_map":
        return None
    v = node.inputs[0]
    while v.node is not None and does_nothing(v.node) and same_type(v.type, v.node.inputs[0].type):
        v = v.node.inputs[0]
    return None if v is node.inputs[0] else (v, *node.inputs[1:])


def _may_stand_for(v: Value, t: Any) -> bool:
    made = v.node is not None and PRIMS[v.node.prim].loop == "index_map"
    return same_type(v.type, t) and (not isinstance(v.type, ViewType) or made)


def does_nothing(node: Node) -> bool:
    """Is it an index map whose result has the same elements at the same places?"""
    if PRIMS[node.prim].loop != "index_map":
        return False
    p, (a,) = node.params, node.inputs
    assert not isinstance(a.type, MemType)
    if node.prim == "transpose":
        return tuple(p["perm"]) == tuple(range(a.type.rank))
    if node.prim in ("broadcast", "reshape"):
        return dims(p["dims"]) == a.type.dims
    if node.prim in ("expand", "squeeze"):
        return not p["axes"]
    if node.prim == "slice":
        still = all(d.const == 0 for d in dims(p["starts"])) and all(d.const == 1 for d in dims(p["steps"]))
        return still and dims(p["dims"]) == a.type.dims
    return False


def _refill(e: Emitter, node: Node, a: Value) -> Value | None:
    """A map of a scalar's broadcast is another broadcast of it, a map of a filled tensor another filled tensor."""
    t = node.outputs[0].type
    if not isinstance(t, TensorType) or a.node is None or node.prim in ("real_view", "imag_view"):
        return None
    source = a.node
    if source.prim == "broadcast" and node.prim != "broadcast" and not source.inputs[0].type.dims:  # type: ignore[union-attr]
        new = e.emit(node, "broadcast", source.inputs[0], dims=t.dims)
        return new if same_type(new.type, t) else None
    ranked = all(r or d.const == 1 for r, d in zip(t.layout, t.dims))
    if source.prim == "full" and t.strides is None and ranked:
        return e.emit(node, "full", source.inputs[0], dims=t.dims, layout=t.layout)
    return None


# ---------------------------------------------------------------------------------------------- two of a kind


def _transposes(first: Params, second: Params) -> dict[str, Any]:
    return {"perm": tuple(first["perm"][a] for a in second["perm"])}


def _slices(first: Params, second: Params) -> dict[str, Any]:
    starts = tuple(a + b * k for a, b, k in zip(dims(first["starts"]), dims(second["starts"]), dims(first["steps"])))
    steps = tuple(k * j for k, j in zip(dims(first["steps"]), dims(second["steps"])))
    return {"starts": starts, "steps": steps, "dims": dims(second["dims"])}


def _last(first: Params, second: Params) -> dict[str, Any]:
    return dict(second)


_MERGE: dict[str, Callable[[Params, Params], dict[str, Any]]] = {
    "transpose": _transposes,
    "slice": _slices,
    "broadcast": _last,
    "reshape": _last,
}
