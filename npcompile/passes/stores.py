"""Dead stores: what the next store overwrites, before anybody reads it, is not stored.

In: a graph. Out: the same graph. `out = np.zeros(n); out[:] = x` fills `out` once. Memory from outside the segment counts
as read where a warning may become an exception, or other Python may run.
"""

from __future__ import annotations

from collections import Counter

from npcompile.ir.graph import Graph, Node, Region, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType

from .index_maps import does_nothing
from .rewrite import Fuel, may_report

STORES = frozenset({"store", "store_masked", "store_item", "scatter"})
WHOLE = frozenset({"transpose", "reshape", "expand", "squeeze"})
"""Index maps of which every result holds all elements."""


def dead_stores(graph: Graph, fuel: Fuel) -> Graph:
    uses = Counter(v for n in graph.body.walk() for v in n.inputs)
    uses.update(v for n in graph.body.walk() for r in n.regions for v in r.results)
    _region(graph.body, uses, fuel)
    return graph


def _region(region: Region, uses: Counter[Value], fuel: Fuel) -> None:
    here = set(region.nodes)
    dead: set[Node] = set()
    raises = 0  # number of nodes so far that may end the segment by an exception
    since: dict[Node, int] = {}
    for node in region.nodes:
        for r in node.regions:
            _region(r, uses, fuel)
        raises += _may_raise(node)
        if node.prim not in STORES:
            continue
        since[node] = raises
        memory = _memory_position(node)
        earlier = node.inputs[memory].node
        while node.prim == "store" and earlier in here and _is_overwritten(earlier, node, uses):
            if since[earlier] != raises and not _is_local(earlier.inputs[0]):
                break
            if not fuel.take("drop overwritten", earlier):
                break
            dead.add(earlier)
            before = earlier.inputs[_memory_position(earlier)]
            node.inputs = (*node.inputs[:memory], before, *node.inputs[memory + 1 :])
            earlier = before.node
    region.nodes = [n for n in region.nodes if n not in dead]


def _memory_position(store: Node) -> int:
    """Which input is the memory state; the indices of an item follow it."""
    return next(i for i, v in enumerate(store.inputs) if isinstance(v.type, MemType))


def _may_raise(node: Node) -> bool:
    inner = any(_may_raise(n) for r in node.regions for n in r.nodes)
    return inner or may_report(node) or PRIMS[node.prim].group == "extern"


def _is_local(v: Value) -> bool:
    """Is it a view of memory that the segment itself made?"""
    while v.node is not None and PRIMS[v.node.prim].loop == "index_map":
        v = v.node.inputs[0]
    return v.node is not None and v.node.prim == "alloc"


def _is_overwritten(store: Node, by: Node, uses: Counter[Value]) -> bool:
    """Does only `by` follow the memory state that `store` makes, and cover what it wrote?"""
    return store.prim in STORES and uses[store.outputs[0]] == 1 and _covers(by.inputs[0], store.inputs[0])


def _covers(a: Value, b: Value) -> bool:
    """Does view `a` hold every element of view `b`?"""
    while a.node is not None and (a.node.prim in WHOLE or does_nothing(a.node)):
        a = a.node.inputs[0]
    while b is not a:
        if b.node is None or PRIMS[b.node.prim].loop != "index_map":
            return False
        b = b.node.inputs[0]
    return True
