"""Checks that a graph is well formed. In: a graph (and its spec). Out: nothing, or `VerifyError` with every fault found.

Checked: prims and arity, types by the type rules, dominance, region signatures, exits, symbols, and the memory rules: a
memory state is followed by at most one other on any path, and nobody reads a state that has been followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dims import Dim
from .graph import Graph, Node, Region, Value, defined_by
from .prim import PRIMS
from .prims.control import region_types
from .segment import SegmentSpec
from .types import MemType, TensorType, Type, symbols_of

READERS = frozenset({"load", "item", "exit", "exit_if"})
"""Prims that take a memory state and leave it current."""


class VerifyError(Exception):
    """A graph breaks a rule; `faults` lists every one found."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = list(faults)


def verify(graph: Graph, spec: SegmentSpec | None = None) -> None:
    """Raise `VerifyError` when the graph is not well formed.

    spec : when given, input types, exits and captures are compared with it and every symbol must be defined.
    """
    v = _Verifier(graph, spec)
    v.run()
    if v.faults:
        raise VerifyError(v.faults)


class _Verifier:
    def __init__(self, graph: Graph, spec: SegmentSpec | None) -> None:
        self.graph = graph
        self.spec = spec
        self.faults: list[str] = []
        self.known: set[Value] = set()
        self.symbols: set[str] = set()
        self.seen_types: set[Type] = set()

    def fault(self, where: Node | str, what: str) -> None:
        if isinstance(where, Node):
            at = f" at {where.loc.file}:{where.loc.line}" if where.loc else ""
            outs = ", ".join(f"v{o.id}" for o in where.outputs)
            where = f"{outs + ' = ' if outs else ''}{where.prim}({', '.join(f'v{i.id}' for i in where.inputs)}){at}"
        self.faults.append(f"{where}: {what}")

    def run(self) -> None:
        body = self.graph.body
        if self.spec is not None:
            self.symbols = set(self.spec.input_symbols)
            types = [t for t in self.spec.inputs if not isinstance(t, MemType)]
            have = [p.type for p in body.params if not isinstance(p.type, MemType)]
            if types != have:
                self.fault("params", f"types {', '.join(map(str, have))} differ from the spec's {', '.join(map(str, types))}")
            if len(self.spec.exits) != self.graph.n_exits:
                self.fault("graph", f"has {self.graph.n_exits} exits, the spec {len(self.spec.exits)}")
            for op, a, b in self.graph.guards:
                self.check_symbols("guard", (Dim.of(a), Dim.of(b)))
                if op not in ("eq", "ne", "ge"):
                    self.fault("guard", f"no comparison {op!r}")
        kinds = [isinstance(p.type, MemType) for p in body.params]
        if kinds != sorted(kinds):
            self.fault("params", "memories must follow all other params")
        self.region(body, {}, "body")
        if not body.nodes or body.nodes[-1].prim != "exit":
            self.fault("body", "does not end in an exit")
        if body.results:
            self.fault("body", "has results; what leaves a segment goes through exits")

    # -- structure ------------------------------------------------------------------------------------------------
    def region(self, region: Region, memory: dict[Value, str], where: Node | str) -> None:
        """`memory` holds the states that have been followed, with the prim that did it; it is updated."""
        symbols = set(self.symbols)
        for p in region.params:
            self.define(p, where)
            if isinstance(p.type, TensorType) and p.type.strides is not None:
                self.fault(where, f"region param v{p.id} has strides; tensors are packed at the border of a region")
        for k, node in enumerate(region.nodes):
            self.node(node, memory)
            if node.prim == "exit" and k != len(region.nodes) - 1:
                self.fault(node, "nodes follow an exit")
        leaves = bool(region.nodes) and region.nodes[-1].prim == "exit"
        for r in region.results:
            if r not in self.known:
                self.fault(where, f"region result v{r.id} is not defined")
            if isinstance(r.type, MemType) and not leaves:
                self.follow(r, memory, where, "result")
        for value in [*region.params, *(o for n in region.nodes for o in n.outputs)]:
            self.known.discard(value)
        self.symbols = symbols

    def define(self, value: Value, where: Node | str) -> None:
        if value in self.known:
            self.fault(where, f"v{value.id} is defined twice")
        self.known.add(value)
        if value.type not in self.seen_types:
            self.check_symbols(where, value.type)
            self.seen_types.add(value.type)

    def check_symbols(self, where: Node | str, x: Any) -> None:
        if self.spec is not None:
            for s in symbols_of(x):
                if s.name not in self.symbols:
                    self.fault(where, f"symbol {s.name} is not defined")

    def node(self, node: Node, memory: dict[Value, str]) -> None:
        prim = PRIMS.get(node.prim)
        if prim is None:
            self.fault(node, "no such prim")
            return
        for v in node.inputs:
            if v not in self.known:
                self.fault(node, f"v{v.id} is not defined here")
        for k, o in enumerate(node.outputs):
            if o.node is not node or o.index != k:
                self.fault(node, f"output v{o.id} does not point back")
        if node.report is not None and not prim.reports:
            self.fault(node, "reports, but its prim has no floating-point conditions")
        self.symbols.update(s.name for s in defined_by(node))
        self.check_symbols(node, tuple(v for k, v in node.params.items() if k not in ("sym", "syms")))
        try:
            types = prim.type_rule(tuple(v.type for v in node.inputs), node.params)
        except (TypeError, KeyError, AttributeError, ValueError) as e:
            self.fault(node, f"{type(e).__name__}: {e}")
        else:
            if tuple(o.type for o in node.outputs) != types:
                have, want = (", ".join(map(repr, ts)) for ts in ([o.type for o in node.outputs], types))
                self.fault(node, f"outputs are {have}, the type rule says {want}")
        if node.prim in ("exit", "exit_if"):
            self.exit(node)
        self.memory(node, memory)
        self.regions(node, memory)
        for o in node.outputs:
            self.define(o, node)

    def exit(self, node: Node) -> None:
        k = node.params.get("exit")
        if not isinstance(k, int) or not 0 <= k < self.graph.n_exits:
            self.fault(node, f"exit {k} is not below {self.graph.n_exits}")
        elif self.spec is not None and k < len(self.spec.exits):
            types = [v.type for v in node.inputs[1 if node.prim == "exit_if" else 0 :] if not isinstance(v.type, MemType)]
            if types != list(self.spec.exits[k].captures):
                self.fault(node, f"captures differ from those of exit {k} in the spec")

    # -- regions --------------------------------------------------------------------------------------------------
    def regions(self, node: Node, memory: dict[Value, str]) -> None:
        expected = region_types(node.prim, [v.type for v in node.inputs], [v.type for v in node.outputs], node.params)
        if len(expected) != len(node.regions):
            self.fault(node, f"has {len(node.regions)} regions, needs {len(expected)}")
            return
        after: dict[Value, str] = {}
        for region, (params, results) in zip(node.regions, expected):
            if [p.type for p in region.params] != params:
                self.fault(node, f"region takes {[str(p.type) for p in region.params]}, needs {[str(t) for t in params]}")
            leaves = bool(region.nodes) and region.nodes[-1].prim == "exit"
            if [r.type for r in region.results] != results and not leaves:
                self.fault(node, f"region gives {[str(r.type) for r in region.results]}, needs {[str(t) for t in results]}")
            inner = dict(memory)
            self.region(region, inner, node)
            if leaves:
                continue  # nothing follows what it did
            for v, by in inner.items():
                if v in self.known and v not in memory:
                    if node.prim == "loop":
                        self.fault(node, f"v{v.id} is followed by {by} inside the loop: it must be carried")
                    after[v] = by
        memory.update(after)

    # -- memory ---------------------------------------------------------------------------------------------------
    def memory(self, node: Node, memory: dict[Value, str]) -> None:
        for v in node.inputs:
            if isinstance(v.type, MemType):
                if node.prim not in READERS:
                    self.follow(v, memory, node, node.prim)
                elif v in memory:
                    self.fault(node, f"reads v{v.id}, which {memory[v]} has followed")

    def follow(self, v: Value, memory: dict[Value, str], where: Node | str, by: str) -> None:
        if v in memory:
            self.fault(where, f"v{v.id} has already been followed by {memory[v]}")
        memory[v] = by
