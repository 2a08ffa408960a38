"""Constant folding and exact simplification of every node, in one forward walk.

In: a graph. Out: the same graph, with nodes replaced by values that equal their outputs. Report sites that can never fire
are dropped, which makes their nodes pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from npcompile.ir.conditions import possible_conditions
from npcompile.ir.graph import Graph, Node, Value

from . import algebra, constants, index_maps
from .rewrite import Emitter, Fuel, rewrite_region


def simplify(graph: Graph, fuel: Fuel) -> Graph:
    rewrite_region(graph.body, partial(_simplify, fuel))
    return graph


def _simplify(fuel: Fuel, e: Emitter, node: Node) -> Sequence[Value] | None:
    if node.report is not None and not possible_conditions(node) and fuel.take("no report", node):
        node.report = None
    inputs = index_maps.see_through(node)
    if inputs is not None and fuel.take("see through", node):
        node.inputs = inputs
    mark = len(e.nodes)
    new = _replacement(e, node)
    if new is None or not fuel.take("simplify", node):
        del e.nodes[mark:]
        return None
    return new


def _replacement(e: Emitter, node: Node) -> Sequence[Value] | None:
    if node.prim == "exit_if":
        return () if constants.number(node.inputs[0]) is False else None
    if len(node.outputs) == 0 or node.regions:
        return None
    folded = constants.fold(e, node)
    if folded is not None:
        return folded
    if len(node.outputs) > 1:
        return None
    new = algebra.simplify(e, node)
    if new is None:
        new = index_maps.simplify(e, node)
    return None if new is None else (new,)
