"""`f.stats`: what happened to the calls of a jitted function so far, read live."""

from __future__ import annotations

import weakref
from typing import Any


class Stats:
    """Counters of one jitted function. `npcompile.explain` compiles and calls a copy of its own, which is not counted here.

    Attributes
    ----------
    compiles : int
        Segments compiled (or loaded from the disk cache).
    recompiles : list of str
        One for every segment that was compiled because those of its place did not take a call: the place (the function, or the
        line in it from which compiled code goes on) and what was not as they ask, such as
        "f: argument `x`: dtype float32, compiled for float64".
    cached : int
        How many of the compiles found their machine code in the disk cache.
    hits : int
        Calls answered by compiled code.
    misses : int
        Calls that no compiled code took.
    plain_calls : int
        Calls that ran the original function.
    state : str
        "active", "frozen" (no further compiles) or "plain" (back to the original function for good).
    """

    def __init__(self, jitted: Any, state: Any) -> None:
        self._jit = weakref.ref(jitted)
        self._state = state

    def _count(self, name: str) -> Any:
        jitted = self._jit()
        return getattr(jitted, name) if jitted is not None else 0

    @property
    def compiles(self) -> int:
        return sum(1 for r in self._state.all_records if r.entry is not None and r.graph is not None)

    @property
    def cached(self) -> int:
        return sum(1 for r in self._state.all_records if r.from_cache)

    @property
    def recompiles(self) -> list[str]:
        compiled = (r for r in self._state.all_records if r.failed and r.graph is not None and r.entry is not None)
        return [f"{r.place}: {r.failed}" for r in compiled]

    @property
    def hits(self) -> int:
        return self._count("hits")

    @property
    def misses(self) -> int:
        return self._count("misses")

    @property
    def plain_calls(self) -> int:
        return self._count("plain_calls")

    @property
    def state(self) -> str:
        return self._count("state") or "gone"

    def __repr__(self) -> str:
        names = ("compiles", "cached", "recompiles", "hits", "misses", "plain_calls", "state")
        return "Stats(" + ", ".join(f"{n}={getattr(self, n)!r}" for n in names) + ")"
