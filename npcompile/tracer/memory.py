"""What the traces of one function have found out, for later traces of it.

In: failures of earlier traces and of guards. Out: what not to try again.
"""

from __future__ import annotations

from types import CodeType

from npcompile.ir.graph import Loc
from npcompile.ir.segment import Guard, Source
from npcompile.records import dataclass, field

CHANGES = 2
"""A length that has changed so often is no constant."""


@dataclass(frozen=True)
class Failure:
    """Why a loop cannot be native as a whole."""

    reason: str
    detail: str
    loc: Loc


@dataclass(eq=False)
class Memory:
    """What is known of one place where traces begin.

    loops : (code, index of the header) of loops that cannot be native; shared by all places of a function.
    changing : inputs whose value or length has been a guard, and has changed: it is not asked for again.
    """

    loops: dict[tuple[CodeType, int], Failure] = field(default_factory=dict)
    changing: set[Source] = field(default_factory=set)
    failures: dict[Source, int] = field(default_factory=dict)

    def failed(self, guard: Guard | None, inside: bool) -> None:
        """A guard has failed. inside : of a point in the middle of a function, where no value is a choice of the caller."""
        if guard is None or guard.kind not in ("equal", "len", "is"):
            return
        n = self.failures[guard.source] = self.failures.get(guard.source, 0) + 1
        if inside or (n >= CHANGES and guard.kind == "len"):
            self.changing.add(guard.source)


__all__ = ["Failure", "Memory"]
