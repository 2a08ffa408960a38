"""When a segment reports floating-point conditions: in NumPy's order, operation after operation.

In: masks of conditions, as kernels and scalar code come to know them. Out: host code that calls the runtime. Operations run
fused and out of order, so a mask waits until every operation before its own has run, at the latest until the straight code
that it belongs to ends or leaves the segment. Never: finds out conditions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from npcompile.ir.graph import Node
from npcompile.records import dataclass, field

from .unit import Unit


@dataclass(frozen=True)
class Mask:
    """Where the mask of an operation is: element `slot` at `pointer`. any : text that is 0 when no mask there is set."""

    pointer: str
    slot: int
    any: str


@dataclass
class Reports:
    """State of one region. `done`: operations whose conditions are known, reported or waiting."""

    unit: Unit
    line: Callable[[str], None]
    done: set[Node] = field(default_factory=set)
    waiting: dict[Node, Mask] = field(default_factory=dict)
    ahead: deque[Node] = field(default_factory=deque)
    """Reporting operations of the region in program order, from the first that has not been reported on."""
    order: dict[Node, int] = field(default_factory=dict)
    """Positions of the region's operations."""
    made: int = 0
    """Number of places that report, so far."""

    @contextmanager
    def region(self, nodes: Iterable[Node]) -> Iterator[None]:
        """Straight code of these nodes; all that waits is reported at its end."""
        saved = self.ahead, self.order
        self.ahead = deque(n for n in nodes if n.report is not None)
        self.order = {n: k for k, n in enumerate(self.ahead)}
        yield
        self.settle(everything=True)
        self.ahead, self.order = saved

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Code that leaves the segment, so that nothing it reports is known to be reported afterwards."""
        saved = set(self.done), dict(self.waiting), self.ahead, self.made
        self.ahead = deque()
        yield
        self.done, self.waiting, self.ahead, self.made = saved

    def is_next(self, node: Node) -> bool:
        """May this operation report at once?"""
        if self.waiting:
            return False
        self._advance()
        return bool(self.ahead) and self.ahead[0] is node and not self._continued(node, 1)

    def add(self, node: Node, mask: str) -> None:
        """The conditions of an operation are in the variable `mask`."""
        self.done.add(node)
        self.waiting[node] = Mask(f"&{mask}", 0, mask)

    def add_all(self, nodes: list[Node], array: str) -> None:
        """The conditions of operations are in elements 1, 2, ... of an array, those of all together in element 0."""
        self.done.update(nodes)
        self.waiting.update({n: Mask(array, k + 1, f"{array}[0]") for k, n in enumerate(nodes)})

    def settle(self, everything: bool = False) -> None:
        """Report what has no unfinished operation before it, or everything."""
        if not self.waiting:
            return
        ready = self._advance()
        if everything:
            ready = sorted(self.waiting, key=lambda n: self.order.get(n, len(self.order)))
        sites: dict[object, list[Node]] = {}
        for n in ready:
            assert n.report is not None
            sites.setdefault(n.report.group or n, []).append(n)
        if not sites:
            return
        masks = [self.waiting[n] for n in ready]
        arrays = list(dict.fromkeys(m.pointer for m in masks))
        table = []
        for group in sites.values():
            assert group[0].report is not None
            site = self.unit.site(group[0].report)
            for k, n in enumerate(group):
                m = self.waiting.pop(n)
                table.append(f"{{{arrays.index(m.pointer)}, {m.slot}, {site}, {int(k < len(group) - 1)}}}")
        self.made += 1
        self.unit.helpers.add("reports")
        self.line(f"if (__builtin_expect(({' | '.join(dict.fromkeys(m.any for m in masks))}) != 0, 0)) {{")
        self.line(f"  static const npc_noted t_[] = {{{', '.join(table)}}};")
        self.line(f"  const npc_i64 *const r_[] = {{{', '.join(arrays)}}};")
        self.line(f"  if (npc_reports(ctx, rt, r_, t_, {len(table)})) return NPC_ERROR;")
        self.line("}")

    def report(self, node: Node, mask: str) -> None:
        """The call of the runtime."""
        assert node.report is not None
        self.made += 1
        site = self.unit.site(node.report)
        self.line(f"  if (({mask}) && rt->report(ctx, {site}, {mask})) return NPC_ERROR;")

    def _advance(self) -> list[Node]:
        """Waiting operations that all earlier ones are done; those of one group come together."""
        ready: list[Node] = []
        while self.ahead and self.ahead[0] in self.done:
            size = 1
            while self._continued(self.ahead[0], size):
                size += 1
            group = [self.ahead[k] for k in range(size)]
            if not all(n in self.done for n in group):
                break
            for n in group:
                self.ahead.popleft()
                if n in self.waiting:
                    ready.append(n)
        return ready

    def _continued(self, node: Node, k: int) -> bool:
        """Is the k-th operation ahead of the same group?"""
        if k >= len(self.ahead):
            return False
        a, b = node.report, self.ahead[k].report
        return a is not None and b is not None and a.group != 0 and a.group == b.group
