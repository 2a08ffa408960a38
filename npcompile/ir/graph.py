"""The prim graph: typed SSA values, nodes in program order, regions for loops and branches. Plain data, no live objects.

A `Graph` is the region of one segment. Its params are the run-time inputs, in the order of `SegmentSpec.inputs`. It ends
in an `exit` node (every way out of the segment is an `exit` or `exit_if` node; `return` is exit 0's kind). Values of an
outer region may be used in an inner one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from npcompile.records import dataclass, field

from .dims import Sym
from .types import Type


@dataclass(frozen=True)
class Loc:
    """Where an operation stands in user code, and whose `__warningregistry__`/module name its warnings use."""

    file: str
    line: int
    function: str = ""
    module: str = ""


@dataclass(frozen=True)
class ReportSite:
    """What floating-point conditions of a node are called: "{condition} encountered in {name}" at `loc`.

    name : NumPy's name of the operation, e.g. "multiply", "scalar add", "log".
    group : nodes of one group (not 0) are one operation for NumPy: each condition is reported once for all of them.
    continues : not the first node of its group.
    ignored : bits of conditions that are not reported (1 divide, 2 overflow, 4 underflow, 8 invalid).
    """

    name: str
    loc: Loc
    group: int = 0
    continues: bool = False
    ignored: int = 0


_ids = itertools.count()


class Value:
    """One SSA value. `node` is its producer (None for region params)."""

    __slots__ = ("id", "index", "node", "type")

    def __init__(self, type: Type, node: Node | None = None, index: int = 0) -> None:
        self.id = next(_ids)
        self.type = type
        self.node = node
        self.index = index

    def __repr__(self) -> str:
        return f"v{self.id}:{self.type}"


class Node:
    """One prim application.

    prim : name of a row of the prim table.
    params : static arguments, hashable values (axes, dtype, index expressions as `Dim`, exit id, ...).
    report : where its floating-point conditions are reported; None when they are not (then the node is pure if its prim is).
    """

    __slots__ = ("inputs", "loc", "outputs", "params", "prim", "regions", "report")

    def __init__(
        self,
        prim: str,
        inputs: tuple[Value, ...],
        params: Mapping[str, Any],
        out_types: tuple[Type, ...],
        regions: tuple[Region, ...] = (),
        loc: Loc | None = None,
        report: ReportSite | None = None,
    ) -> None:
        self.prim = prim
        self.inputs = inputs
        self.params = dict(params)
        self.regions = regions
        self.outputs = tuple(Value(t, self, i) for i, t in enumerate(out_types))
        self.loc = loc
        self.report = report


def defined_by(node: Node) -> tuple[Sym, ...]:
    """The symbols that a node defines."""
    one = node.params.get("sym")
    return (one,) if isinstance(one, Sym) else node.params.get("syms", ())


class Region:
    """A straight list of nodes with params (block arguments) and results."""

    __slots__ = ("nodes", "params", "results")

    def __init__(self, params: list[Value] | None = None) -> None:
        self.params: list[Value] = params or []
        self.nodes: list[Node] = []
        self.results: list[Value] = []

    def walk(self) -> Iterator[Node]:
        """Every node, inner regions included, in program order (a node before what is in its regions)."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()


@dataclass
class Graph:
    """The body of one segment.

    body : params are the inputs.
    n_exits : exits are numbered 0 .. n_exits-1; node param `exit` names one. What an exit does is in `SegmentSpec.exits`.
    guards : conditions over input symbols, checked by the segment before anything else: each (op, a, b) with op in
        "eq", "ne", "ge" over dims; a failed one means "this segment does not apply".
    """

    body: Region = field(default_factory=Region)
    n_exits: int = 0
    guards: list[tuple[str, Any, Any]] = field(default_factory=list)
