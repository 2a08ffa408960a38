"""What the traces of one function have found out, for later traces of it.

In: failures of earlier traces and of guards. Out: what not to try again.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from npcompile.bytecode import ResumePoint
from npcompile.ir.graph import Loc
from npcompile.ir.segment import Guard, Source
from npcompile.records import dataclass, field

CHANGES = 2
"""A length that has changed so often is no constant."""
VALUES, NUMBERS = 4, 6
"""So many values of a string, and of a number that must be known, get segments of their own; further ones are no constants."""


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
    broken : places of loops that were tried turn by turn, and have a break (see `unrolling`); shared.
    variables : (code, name) of variables that had changed when a guard in the middle of the function asked for them; shared, too.
    changing : inputs whose value or length has been a guard, and has changed: it is not asked for again.
    values : values that segments are specialised on, by input.
    """

    loops: dict[tuple[CodeType, int], Failure] = field(default_factory=dict)
    variables: set[tuple[CodeType, str]] = field(default_factory=set)
    broken: set[Any] = field(default_factory=set)
    changing: set[Source] = field(default_factory=set)
    failures: dict[Source, int] = field(default_factory=dict)
    values: dict[Any, set[Any]] = field(default_factory=dict)

    def within(self) -> Memory:
        """The memory of a point in the middle of the same function."""
        return Memory(self.loops, self.variables, self.broken)

    def failed(self, guard: Guard | None, was: Any, point: ResumePoint | None) -> None:
        """A guard has failed. was : the constant that it asks for, if it does.

        At a point in the middle of a function no value is a choice of the caller; functions are often made anew for each call.
        """
        if guard is None or guard.kind not in ("equal", "len", "is"):
            return
        source = guard.source
        n = self.failures[source] = self.failures.get(source, 0) + 1
        often = (guard.kind == "len" and n >= CHANGES) or (type(was) is type and n >= NUMBERS)
        if point is not None or type(was) is FunctionType or often:
            self.changing.add(source)
        if point is not None and source.kind == "arg" and source.key >= point.nulls.count(False):
            names = (*point.bound, *point.code.co_freevars)
            self.variables.add((point.code, names[source.key - point.nulls.count(False)]))

    def varies(self, place: Any, value: Any, most: int) -> bool:
        """Would a segment be specialised on one value too many?"""
        known = self.values.setdefault(place, set())
        if value not in known and len(known) >= most:
            return True
        known.add(value)
        return False

    def changing_at(self, point: ResumePoint | None, args: tuple[Any, ...]) -> frozenset[Source]:
        """Inputs of a trace that may not be asked for their value. A stack entry may be what a variable holds."""
        if point is None or not self.variables:
            return frozenset(self.changing)
        n = point.nulls.count(False)
        own = [x for k, x in zip(point.bound, args[n:]) if (point.code, k) in self.variables]
        return frozenset({*self.changing, *(Source("arg", i) for i, x in enumerate(args) if any(x is y for y in own))})


__all__ = ["NUMBERS", "VALUES", "Failure", "Memory"]
