"""When a segment reports floating-point conditions: in NumPy's order, operation after operation.

In: masks of conditions, as kernels come to know them, and scalar operations. Out: host code that calls the runtime. Operations
run fused and out of order, so a mask waits until every operation before its own has run, at the latest until the straight code
that it belongs to ends or leaves the segment. Scalar operations wait for one look at the results of several. Never: finds out
conditions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from npcompile.ir.graph import Node
from npcompile.records import dataclass, field, replace

from .cpp.conditions import keeps, odd_text, telling, word_bits
from .loop_ir import Op
from .unit import Unit


@dataclass(frozen=True)
class Mask:
    """Where the mask of an operation is: element `slot` at `pointer`. any : text that is 0 when no mask there is set.

    op, text : of a scalar operation, whose mask is computed (by `text`, into the variable `any`) once a look at results says that
    it may be set.
    """

    pointer: str
    slot: int
    any: str
    op: Op | None = None
    text: str = ""


@dataclass
class Gather:
    """A run of a loop that reports nothing.

    words : by width, the variable whose top bit tells that something may be due. again : the variable that is set before it
        breaks off, to one more than `kept`.
    handed_on : names of what a turn makes -> the variable that becomes it, and its name in the next turn.
    looks : words of carried variables that tell at the end. kept : stores so far of which the old element is kept.
    exits : what tells of conditions tells of exits, too, which are due whether or not warnings are.
    """

    words: dict[int, str]
    again: str
    handed_on: Callable[[], dict[str, tuple[str, str]]]
    looks: list[str] = field(default_factory=list)
    kept: int = 0
    exits: bool = False
    depth: int = 0

    def leave(self) -> str:
        """Statements that break the turn off."""
        return f"{self.again} = {1 + self.kept}; break;"


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
    gather: Gather | None = None
    """In a run that leaves reports to a second one: where it notes that one is due."""

    @contextmanager
    def region(self, nodes: Iterable[Node]) -> Iterator[None]:
        """Straight code of these nodes; all that waits is reported at its end."""
        saved = self.ahead, self.order
        self.order = {n: k for k, n in enumerate(nodes)}
        self.ahead = deque(n for n in self.order if n.report is not None)
        if self.gather is not None:
            self.gather.depth += 1
        yield
        self.settle(everything=True)
        if self.gather is not None:
            self.gather.depth -= 1
        self.ahead, self.order = saved

    @contextmanager
    def gathering(
        self, words: dict[int, str], again: str, handed_on: Callable[[], dict[str, tuple[str, str]]]
    ) -> Iterator[Gather]:
        """Code of a loop that is run again when something may be due."""
        saved = set(self.done), self.made
        self.gather = Gather(words, again, handed_on)
        yield self.gather
        self.gather = None
        self.done, self.made = saved

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Code that leaves the segment, so that nothing it reports is known to be reported afterwards."""
        saved = set(self.done), dict(self.waiting), self.ahead, self.made
        self.ahead = deque()
        yield
        self.done, self.waiting, self.ahead, self.made = saved

    def add(self, node: Node, mask: str) -> None:
        """The conditions of an operation are in the variable `mask`."""
        self.done.add(node)
        self.waiting[node] = Mask(f"&{mask}", 0, mask)

    def add_later(self, node: Node, op: Op, mask: str) -> None:
        """A scalar operation; its conditions are looked for, by `mask`, when others are reported."""
        self.done.add(node)
        name = self.unit.fresh("m")
        self.waiting[node] = Mask(f"&{name}", 0, name, op, mask)

    def add_exit(self, node: Node, op: Op) -> None:
        """In a run that leaves exits to a second one: an exit is due when the result is not finite."""
        assert self.gather is not None
        self.gather.exits = True
        if node not in self.done:
            self.add_later(node, op, "")

    def add_all(self, nodes: list[Node], array: str) -> None:
        """The conditions of operations are in elements 1, 2, ... of an array, those of all together in element 0."""
        self.done.update(nodes)
        self.waiting.update({n: Mask(array, k + 1, f"{array}[0]") for k, n in enumerate(nodes)})

    def settle(self, everything: bool = False) -> None:
        """Report what has no unfinished operation before it, or everything."""
        if not self.waiting or (self.gather is not None and not everything):
            return  # the more operations a gathering run looks at together, the fewer results tell of the others
        ready = self._advance()
        if everything:
            ready = sorted(self.waiting, key=lambda n: self.order.get(n, len(self.order)))
        if self.gather is not None:
            self._note([self.waiting.pop(n).op for n in ready])
            return
        sites: dict[object, list[Node]] = {}
        for n in ready:
            assert n.report is not None
            sites.setdefault(n.report.group or n, []).append(n)
        if not sites:
            return
        masks = [self.waiting[n] for n in ready]
        later = [m for m in masks if m.op is not None]
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
        tests = [f"npc_top({word})" for word in self._words([m.op for m in later if m.op is not None])]
        known = [m.any for m in masks if m.op is None]
        if known:
            tests.append(f"({' | '.join(dict.fromkeys(known))}) != 0")
        self.line(f"if (__builtin_expect({' || '.join(tests)}, 0) && warn) {{")
        for m in later:
            assert m.op is not None
            self.line(f"  const npc_i64 {m.any} = npc_top({odd_text(self.unit, m.op)}) ? {m.text} : 0;")
        self.line(f"  static const npc_noted t_[] = {{{', '.join(table)}}};")
        self.line(f"  const npc_i64 *const r_[] = {{{', '.join(arrays)}}};")
        self.line(f"  if (npc_reports(ctx, rt, r_, t_, {len(table)})) return NPC_ERROR;")
        self.line("}")

    def _note(self, ops: list[Op | None]) -> None:
        """Note what may be due. A result that the next turn hands on to its own results is looked at after the last turn."""
        assert self.gather is not None
        scalars = [op for op in ops if op is not None]
        assert len(scalars) == len(ops)
        handed_on = self.gather.handed_on() if self.gather.depth == 1 else {}
        for op in telling(scalars):
            last, again = handed_on.get(op.name, ("", ""))
            if last and any(keeps(u, replace(op, name=again)) for u in scalars):
                self.unit.snippets.add("odd")
                self.gather.looks.append(f"npc_odd({last})")
            else:
                self.line(f"{self.gather.words[word_bits(op)]} |= {odd_text(self.unit, op)};")

    def _words(self, ops: list[Op]) -> list[str]:
        """By width, the words whose top bits tell whether an operation may have met a condition."""
        words: dict[int, list[str]] = {}
        for op in telling(ops):
            words.setdefault(word_bits(op), []).append(odd_text(self.unit, op))
        # C++ computes narrow words as ints, whose top bit is another
        return [texts[0] if len(texts) == 1 else f"(npc_u{bits})({' | '.join(texts)})" for bits, texts in words.items()]

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
