"""Runs the passes over a graph and, on demand, checks each of them.

In: a graph (left as it is) and options. Out: a new graph that does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npcompile.ir.graph import Graph
from npcompile.ir.segment import SegmentSpec
from npcompile.records import dataclass

from .cse import cse
from .dce import dce
from .rewrite import Fuel, clone
from .simplify import simplify
from .stores import dead_stores

Pass = Callable[[Graph, Fuel], Graph]

PASSES: tuple[Pass, ...] = (simplify, cse, simplify, dead_stores, dce)


class PassError(Exception):
    """A pass broke the graph or changed a value. `name` is the pass, `rewrite` the guilty rewrite."""

    def __init__(self, name: str, what: str, rewrite: str = "") -> None:
        super().__init__(f"pass {name}: {what}{' (after: ' + rewrite + ')' if rewrite else ''}")
        self.name = name
        self.rewrite = rewrite


@dataclass(frozen=True)
class PassOptions:
    """What to do besides optimising.

    fuel : number of rewrites allowed, None for all.
    verify : run the verifier after each pass.
    spec, inputs : execute before and after each pass on (copies of) these inputs and compare.
    passes : the passes to run.
    """

    fuel: int | None = None
    verify: bool = False
    spec: SegmentSpec | None = None
    inputs: Sequence[Any] | None = None
    passes: tuple[Pass, ...] = PASSES


def run(graph: Graph, options: PassOptions | None = None) -> Graph:
    """The optimised graph; the one given stays as it is."""
    options = options or PassOptions()
    fuel = Fuel(options.fuel)
    graph = clone(graph)
    checked = options.verify or options.inputs is not None
    for f in options.passes:
        before, had = clone(graph) if checked else None, fuel.left
        graph = f(graph, fuel)
        if before is not None:
            from .checks import check

            check(f, before, graph, had, options)
    return graph
