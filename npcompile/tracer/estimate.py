"""How long plain Python would take for a traced call, roughly: what the decision to compile a first call rests on.

In: a graph, sizes and numbers of turns at trace time. Out: seconds. Never: more than an order of magnitude.
"""

from __future__ import annotations

from collections.abc import Mapping

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Node, Region
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType

NUMBER = 50e-9
"""An operation on Python numbers, or a subscript."""
ARRAY = 0.6e-6
"""A NumPy call on few elements."""
ELEMENT = {"free": 0.0, "cheap": 1e-9, "expensive": 5e-9, "extern": 0.0}
"""Per element, by the cost of the prim; what calls a library takes the same time either way."""
_NOTHING = frozenset({"const", "dim", "sym", "exit", "exit_if", "poll", "alloc"})


class _Sizes(dict[str, int]):
    """Values of symbols at trace time; those of symbols that a loop has made and that are gone count as few."""

    def __missing__(self, name: str) -> int:
        return 8


def plain_seconds(region: Region, turns: Mapping[Node, int], hints: Mapping[Sym, int]) -> float:
    """Seconds for all nodes of a region, inner ones as often as their loops turn."""
    return _region(region, turns, _Sizes({s.name: n for s, n in hints.items()}))


def _region(region: Region, turns: Mapping[Node, int], sizes: _Sizes) -> float:
    return sum(_node(node, turns, sizes) for node in region.nodes)


def _node(node: Node, turns: Mapping[Node, int], sizes: _Sizes) -> float:
    if node.regions:
        return turns.get(node, 1) * (NUMBER + sum(_region(r, turns, sizes) for r in node.regions))
    row = PRIMS[node.prim]
    if node.prim in _NOTHING or row.loop == "index_map":
        return 0.0
    dims = [v.type.dims for v in (*node.inputs, *node.outputs) if not isinstance(v.type, MemType)]
    if node.prim.endswith("_item") or not any(dims):
        return NUMBER
    return ARRAY + ELEMENT[row.cost] * max(_elements(d, sizes) for d in dims)


def _elements(dims: tuple[Dim, ...], sizes: _Sizes) -> int:
    n = 1
    for d in dims:
        n *= max(d.evaluate(sizes), 0)
    return n
