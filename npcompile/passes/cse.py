"""Common subexpressions: equal pure nodes in reach of each other become one.

In: a graph. Out: the same graph. Loads are equal when they read the same memory state. A node whose report may fire is kept,
since merging two of them would lose a warning. Of conditional exits on one condition the first stays.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from npcompile.ir.graph import Graph, Node, Region, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import TensorType

from .rewrite import READS, Fuel, may_report, same_type, substitute


def cse(graph: Graph, fuel: Fuel) -> Graph:
    _region(graph.body, {}, {}, fuel)
    return graph


def _region(region: Region, known: dict[Hashable, Node], new: dict[Value, Value], fuel: Fuel) -> None:
    known = dict(known)
    kept: list[Node] = []
    for node in region.nodes:
        node.inputs = substitute(node.inputs, new)
        for r in node.regions:
            _region(r, known, new, fuel)
        key = _key(node)
        other = known.get(key) if key is not None else None
        if other is not None and _same_outputs(node, other) and fuel.take("merge", node):
            new.update(zip(node.outputs, other.outputs))
            continue
        if key is not None:
            known.setdefault(key, node)
        kept.append(node)
    region.nodes = kept
    region.results = list(substitute(region.results, new))


def _same_outputs(a: Node, b: Node) -> bool:
    return all(same_type(x.type, y.type) for x, y in zip(a.outputs, b.outputs))


def _key(node: Node) -> Hashable | None:
    """What makes two nodes equal; None for nodes that stand for themselves."""
    prim = PRIMS[node.prim]
    if node.prim == "exit_if":  # a second exit on one condition is never taken
        return ("exit_if", node.inputs[0].id)
    pure = (not prim.effect or node.prim in READS) and "defines_symbol" not in prim.flags
    if not pure or node.regions or not node.outputs or may_report(node):
        return None
    ins = [v.id for v in node.inputs]
    if prim.commutative and len(ins) == 2 and not _is_complex(node.inputs[0]):
        ins.sort()
    if node.prim == "const":  # by bits: 0.0 and -0.0 are equal as params, and NaN equals nothing
        dtype = np.dtype(node.params["dtype"])
        return ("const", dtype.str, np.array(node.params["value"], dtype).tobytes())
    return (node.prim, tuple(ins), _frozen(node.params))


def _is_complex(v: Value) -> bool:
    return isinstance(v.type, TensorType) and v.type.dtype.kind == "c"


def _frozen(params: dict[str, Any]) -> Hashable:
    return tuple((k, v.str if isinstance(v, np.dtype) else v) for k, v in sorted(params.items()))
