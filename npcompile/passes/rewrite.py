"""What passes share: copies of graphs, the fuel that counts rewrites, and the replacement of values.

In: graphs. Out: the same graphs, changed. Knows no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from npcompile.ir.conditions import conditions, possible_conditions
from npcompile.ir.graph import Graph, Node, Region, ReportSite, Value
from npcompile.ir.layout import strides_of
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import TensorType, Type
from npcompile.records import dataclass

READS = frozenset({"load", "item"})
"""Prims that only read the memory state they are given: pure, as long as that state is the same value."""


@dataclass
class Fuel:
    """Number of rewrites still allowed (None: any number), and what was done with it."""

    left: int | None = None
    log: list[str] | None = None

    def take(self, verb: str, node: Node) -> bool:
        """May this rewrite of the node happen?"""
        if self.left is not None:
            if self.left <= 0:
                return False
            self.left -= 1
        if self.log is not None:
            self.log.append(f"{verb} {describe(node)}")
        return True


def clone(graph: Graph) -> Graph:
    """A copy that shares no region, node or value with the original."""
    values: dict[Value, Value] = {}

    def region(r: Region) -> Region:
        out = Region([_copy(p, values) for p in r.params])
        for n in r.nodes:
            inner = tuple(region(x) for x in n.regions)
            ins = tuple(values[v] for v in n.inputs)
            node = Node(n.prim, ins, n.params, tuple(o.type for o in n.outputs), inner, n.loc, n.report)
            values.update(zip(n.outputs, node.outputs))
            out.nodes.append(node)
        out.results = [values[v] for v in r.results]
        return out

    return Graph(region(graph.body), graph.n_exits, list(graph.guards))


def _copy(v: Value, values: dict[Value, Value]) -> Value:
    out = values[v] = Value(v.type)
    return out


def same_type(a: Type, b: Type) -> bool:
    """Are the types equal, strides of tensors included?"""
    if a != b:
        return False
    if isinstance(a, TensorType) and isinstance(b, TensorType) and (a.strides is not None or b.strides is not None):
        pairs = zip(strides_of(a), strides_of(b), a.dims)
        return all(x == y or d.const == 1 for x, y, d in pairs)
    return True


def may_report(node: Node) -> bool:
    """Can the node's report fire? If so it is an effect."""
    return node.report is not None and bool(possible_conditions(node))


def watched_sites(graph: Graph) -> list[ReportSite]:
    """Where any condition may be met, underflow included: while it is to be reported, the graph does not run."""
    return [n.report for n in graph.body.walk() if n.report is not None and conditions(n)]


class Emitter:
    """Appends nodes to a region under construction.

    simplify : called with each new node; returns values that replace its outputs, or None.
    """

    def __init__(self, simplify: Callable[[Emitter, Node], Sequence[Value] | None]) -> None:
        self.nodes: list[Node] = []
        self.simplify = simplify

    def add(self, node: Node) -> tuple[Value, ...]:
        """Append the node unless it simplifies; its outputs or what replaces them."""
        new = self.simplify(self, node)
        if new is not None:
            return tuple(new)
        self.nodes.append(node)
        return node.outputs

    def emit(self, like: Node, prim: str, *ins: Value, report: bool = False, **params: Any) -> Value:
        """A new node at the source position of `like`; with its report site if asked for."""
        types = PRIMS[prim].type_rule(tuple(v.type for v in ins), params)
        return self.add(Node(prim, ins, params, types, (), like.loc, like.report if report else None))[0]


def substitute(values: Iterable[Value], new: Mapping[Value, Value]) -> tuple[Value, ...]:
    return tuple([new.get(v, v) for v in values])


def rewrite_region(
    region: Region, simplify: Callable[[Emitter, Node], Sequence[Value] | None], new: dict[Value, Value] | None = None
) -> None:
    """Run every node of the region through `simplify`, in program order, inner regions first."""
    new = {} if new is None else new
    emitter = Emitter(simplify)
    for node in region.nodes:
        node.inputs = substitute(node.inputs, new)
        for r in node.regions:
            rewrite_region(r, simplify, new)
        outs = emitter.add(node)
        for old, value in zip(node.outputs, outs):
            if old is not value:
                new[old] = value
    region.nodes = emitter.nodes
    region.results = list(substitute(region.results, new))


def describe(node: Node) -> str:
    ins = ", ".join(f"{v.node.prim if v.node else 'param'}:{v.type}" for v in node.inputs)
    at = f" at {node.loc.file}:{node.loc.line}" if node.loc else ""
    return f"{node.prim}({ins}){at}"
