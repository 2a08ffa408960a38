"""The Python half of a jit object: what happens when no entry takes a call.

In: the bound arguments of a call. Out: whether there is a new entry. The compiler is imported when something is compiled,
not before: decorating functions costs next to nothing.
"""

from __future__ import annotations

import functools
import gc
import types
from typing import TYPE_CHECKING, Any

from . import logs, policy
from .config import Options

if TYPE_CHECKING:
    from .compiler import CompileRecord

DECLINES = 3
"""A function that gave nothing to run so often, and nothing else, runs plain for good."""


class FunctionState:
    """Options of one jit object and what compiling it gave. One thread at a time is in `miss`."""

    def __init__(self, fn: types.FunctionType, options: Options) -> None:
        self.fn = fn
        self.options = options
        self.records: list[CompileRecord] = []
        self.misses = 0

    def miss(self, jitted: Any, bound: tuple[Any, ...]) -> bool:
        """No entry takes this call: compile one (True: look again) or let it run plain."""
        self.misses += 1
        if self.options.compile == "first" or self.options.fullgraph:  # a test that calls once must see what does not compile
            record = self._attempt(jitted, bound)
        else:
            decision = policy.decide(self.fn, bound, self.misses, jitted.waiting)
            if decision == policy.NO:
                return False
            with policy.CREDIT.spending():
                record = self._attempt(jitted, bound, policy.COMPILE_SECONDS if decision == policy.IF_LONG else 0.0)
        if record is None:
            return False
        jitted.waiting = 0.0
        self.records.append(record)
        if record.entry is None and len(self.records) >= DECLINES and all(r.entry is None for r in self.records):
            jitted.state = "plain"
        if len(self.records) >= self.options.recompile_limit and jitted.state == "active":
            jitted.state = "frozen"
            logs.log("recompiles", f"{self.fn.__qualname__}: limit of {self.options.recompile_limit} entries reached")
        return record.entry is not None

    def _attempt(self, jitted: Any, bound: tuple[Any, ...], at_least: float = 0.0) -> CompileRecord | None:
        return compiler().attempt(jitted, bound, self.options, len(self.records), at_least)


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
