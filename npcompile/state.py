"""The Python half of a jit object: what happens when no entry takes a call, or a function goes on after a break.

In: the bound arguments of a call, or the values of a frame. Out: whether there is a new entry. The compiler is imported when
something is compiled, not before: decorating functions costs next to nothing.
"""

from __future__ import annotations

import functools
import gc
import math
import types
from typing import TYPE_CHECKING, Any

from . import logs, policy
from .config import Options
from .errors import tell

if TYPE_CHECKING:
    from .compiler import CompileRecord
    from .points import Points
    from .tracer import Memory
    from .wording import Names

PATTERNS = 256
"""Kinds of arguments of a function that are told apart."""
DECLINES = 3
"""A function that gave nothing to run so often, and nothing else, runs plain for good."""


class Place:
    """A place where compiled code begins: a function, or a point in the middle of one. One thread at a time is in `miss`.

    fn : the function; of a point, the stub that goes on there.
    points : the points of the function; None until there are some.
    price : seconds that a compile takes which was put off as too dear; 0: none was.
    looked : seconds that traces took since the last compile which only found that calls are short.
    refused : seconds that attempts took since then which gave no code.
    records : attempts to compile at this place; all_records: and at all others of the function, in order.
    """

    point: Any = None
    expected = False
    price = 0.0
    looked = refused = 0.0

    def __init__(self, fn: types.FunctionType, options: Options, all_records: list[CompileRecord]) -> None:
        self.fn = fn
        self.options = options
        self.records: list[CompileRecord] = []
        self.all_records = all_records
        self.misses = 0
        self.points: Points | None = None
        self._memory: Memory | None = None

    @property
    def name(self) -> str:
        return self.fn.__qualname__

    @property
    def names(self) -> Names:
        """What the values that the place is called with are called in the source code."""
        from .wording import Names

        return Names(self.fn.__code__.co_varnames, self.fn.__code__)

    @property
    def memory(self) -> Memory:
        """What the traces that began here have found out."""
        if self._memory is None:
            from .tracer import Memory

            self._memory = Memory()
        return self._memory

    @property
    def limit(self) -> int:
        """Number of entries after which no further ones are made here."""
        return self.options.recompile_limit

    def miss(self, jitted: Any, bound: tuple[Any, ...]) -> bool:
        """No entry takes this call: compile one (True: look again) or let it run plain."""
        self.misses += 1
        if self.options.compile == "first" or self.options.fullgraph:  # a test that calls once must see what does not compile
            record = self._attempt(jitted, bound)
        else:
            waited = jitted.waiting
            if self.price and not policy.affordable(self.price, waited):
                return False
            decision = self._decide(jitted, bound)
            if decision == policy.NO or policy.in_vain(decision, waited, self.looked, self.refused):
                return False
            before = policy.CREDIT.spent
            with policy.CREDIT.spending():
                record = self._attempt(jitted, bound, policy.COMPILE_SECONDS if decision == policy.IF_LONG else 0.0, waited)
            spent = policy.CREDIT.spent - before
            if record is None:
                self.looked += spent
            elif record.entry is None:
                self.refused += min(spent, sum(record.seconds.values()))  # without the import of the compiler
            else:
                self.looked = self.refused = 0.0
        if record is None:
            return False
        jitted.waiting = 0.0
        self.records.append(record)
        self.all_records.append(record)
        if record.entry is None and len(self.records) >= DECLINES and all(r.entry is None for r in self.records):
            jitted.state = "plain"
        if len(self.records) >= self.limit and jitted.state == "active":
            jitted.state = "frozen"
            text = f"{self.name}: limit of {self.limit} entries reached; last failed: {record.failed or 'nothing to compile'}"
            logs.log("recompiles", text)
            if record.failed and self.point is None:
                code = self.fn.__code__
                tell(f"{text}. Other calls run as plain Python", code.co_filename, code.co_firstlineno, str(self.fn.__module__))
        return record.entry is not None

    def _decide(self, jitted: Any, bound: tuple[Any, ...]) -> int:
        raise NotImplementedError

    def _attempt(
        self, jitted: Any, bound: tuple[Any, ...], at_least: float = 0.0, waited: float = math.inf
    ) -> CompileRecord | None:
        return compiler().attempt(jitted, bound, self, at_least, waited)


class FunctionState(Place):
    """The place where a function begins."""

    def __init__(self, fn: types.FunctionType, options: Options) -> None:
        super().__init__(fn, options, [])
        self.patterns: set[tuple[Any, ...]] = set()

    def _decide(self, jitted: Any, bound: tuple[Any, ...]) -> int:
        pattern = policy.pattern(bound)
        again = pattern in self.patterns or len(self.patterns) >= PATTERNS
        if not again:
            self.patterns.add(pattern)
        return policy.decide(self.fn, bound, self.misses, jitted.waiting, again)


@functools.cache
def compiler() -> Any:
    """The compiler's module. Its objects live for ever, so the garbage collector need not look at them while they are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        from . import compiler as module
    finally:
        if enabled:
            gc.enable()
    return module
