"""Dead code: pure nodes whose results nobody uses go, loop-carried values too.

In: a graph. Out: the same graph. Never removes an effect: stores, exits, externs with effects, and nodes whose report may
fire. A loop without effects goes when none of its results is used, unless it decides itself when to end.
"""

from __future__ import annotations

from collections.abc import Iterable

from npcompile.ir.graph import Graph, Node, Region, Value, defined_by
from npcompile.ir.prim import PRIMS
from npcompile.ir.prims.control import leaves
from npcompile.ir.types import MemType, symbols_of

from .rewrite import READS, Fuel, may_report, substitute


def dce(graph: Graph, fuel: Fuel) -> Graph:
    live = _Live()
    live.region(graph.body, range(0))
    _sweep(graph.body, live, fuel)
    return graph


def has_effect(node: Node) -> bool:
    """Must the node stay whatever becomes of its results?"""
    if node.regions:
        return any(has_effect(n) for r in node.regions for n in r.nodes) or node.prim == "call" or leaves(node.params)
    return (PRIMS[node.prim].effect and node.prim not in READS and node.prim != "alloc") or may_report(node)


class _Live:
    """Values and symbols that are needed."""

    def __init__(self) -> None:
        self.values: set[Value] = set()
        self.symbols: set[str] = set()

    def use(self, values: Iterable[Value]) -> None:
        for v in values:
            if v not in self.values:
                self.values.add(v)
                self.symbols.update(s.name for s in symbols_of(v.type))

    def region(self, region: Region, results: Iterable[int]) -> None:
        """Mark what the region's effects and the given results need."""
        self.use(region.results[i] for i in results)
        for node in reversed(region.nodes):
            if self.needs(node):
                self.node(node)

    def needs(self, node: Node) -> bool:
        named = any(s.name in self.symbols for s in defined_by(node))
        return named or has_effect(node) or any(o in self.values for o in node.outputs)

    def node(self, node: Node) -> None:
        self.symbols.update(s.name for p in node.params.values() for s in symbols_of(p))
        for o in node.outputs:
            self.symbols.update(s.name for s in symbols_of(o.type))
        if node.prim == "loop":
            self.loop(node)
            return
        for region in reversed(node.regions):
            self.region(region, range(len(region.results)))
        self.use(node.inputs)

    def loop(self, node: Node) -> None:
        """A carried value is needed when its result or, in any turn, its region param is. Memories always are."""
        (region,) = node.regions
        first = leaves(node.params)
        needed: set[int] = set()
        self.region(region, range(first))  # what its effects and its end need, carried values among it
        while True:
            more = {
                i
                for i, o in enumerate(node.outputs)
                if o in self.values or region.params[i + 1] in self.values or isinstance(o.type, MemType)
            }
            if more == needed:
                break
            needed = more
            self.region(region, [*range(first), *(i + first for i in needed)])
        self.use(node.outputs[i] for i in needed)
        self.use((*node.inputs[:3], *(node.inputs[i + 3] for i in needed)))


def _sweep(region: Region, live: _Live, fuel: Fuel) -> None:
    """Backwards, so that what uses a node goes before it, even when the fuel runs out in between."""
    kept: list[Node] = []
    replaced: dict[Value, Value] = {}
    for node in reversed(region.nodes):
        if not live.needs(node) and fuel.take("drop", node):
            continue
        inside = fuel
        if node.prim == "loop" and any(o not in live.values for o in node.outputs):
            if fuel.take("carry less", node):
                inside = Fuel()  # what used the values no longer carried goes with them
                node = _narrow(node, live, replaced)
            else:
                live.region(node.regions[0], range(len(node.regions[0].results)))
                live.use(node.inputs)
        for r in node.regions:
            _sweep(r, live, inside)
        kept.append(node)
    region.nodes = kept[::-1]
    if replaced:
        for node in region.walk():
            node.inputs = substitute(node.inputs, replaced)
            for r in node.regions:
                r.results = list(substitute(r.results, replaced))
        region.results = list(substitute(region.results, replaced))


def _narrow(node: Node, live: _Live, replaced: dict[Value, Value]) -> Node:
    """The loop without the carried values that nobody needs."""
    keep = [i for i, o in enumerate(node.outputs) if o in live.values]
    (region,) = node.regions
    region.params = [region.params[0], *(region.params[i + 1] for i in keep)]
    first = leaves(node.params)
    region.results = [*region.results[:first], *(region.results[i + first] for i in keep)]
    ins = (*node.inputs[:3], *(node.inputs[i + 3] for i in keep))
    new = Node("loop", ins, node.params, tuple(node.outputs[i].type for i in keep), (region,), node.loc, node.report)
    replaced.update((node.outputs[i], o) for i, o in zip(keep, new.outputs))
    return new
