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
VALUES, NUMBERS, MANY = 4, 6, 16
"""So many values of a string, of a number that must be known, and of anything else get segments of their own; further ones are no
constants."""
ONE, FEW = 1, 2
"""The same for what changes from call to call."""
COMES_BACK = 4
"""A segment that has answered so many calls was made for something that comes back."""


@dataclass(frozen=True)
class Failure:
    """Why a loop cannot be native as a whole."""

    reason: str
    detail: str
    loc: Loc


@dataclass
class Cause:
    """Why a call was not taken: what failed in the segment that came furthest.

    text : in words; "" where no segment would compute anything.
    guard : if it is one. was : the constant that it asks for. gone : what it asks of is not there any more.
    sizes : it is a condition on sizes or ints.
    hits : calls that the segment has answered.
    """

    text: str = ""
    guard: Guard | None = None
    was: Any = None
    gone: bool = False
    sizes: bool = False
    hits: int = 0


Variable = tuple[CodeType, str, tuple[tuple[str, Any], ...]]
"""A variable of a function, and the way from what it holds to an input."""


@dataclass(eq=False)
class Memory:
    """What is known of one place where traces begin.

    loops : (code, index of the header) of loops that cannot be native; shared by all places of a function.
    broken : places of loops that were tried turn by turn, and have a break (see `unrolling`); shared.
    variables : those that had changed when guards asked for them; shared, too.
    changing : inputs whose value or length has been a guard, and has changed: it is not asked for again.
    values : values that segments are specialised on, by input.
    hasty : the last segment has answered only a few calls before its guards failed.
    restless : the codes of functions for which sizes or ints have kept changing: what is repeated as often as they say is not
        followed turn by turn, nor call by call; shared.
    """

    loops: dict[tuple[CodeType, int], Failure] = field(default_factory=dict)
    variables: set[Variable] = field(default_factory=set)
    broken: set[Any] = field(default_factory=set)
    restless: set[CodeType] = field(default_factory=set)
    changing: set[Source] = field(default_factory=set)
    failures: dict[Source | None, int] = field(default_factory=dict)
    values: dict[Any, set[Any]] = field(default_factory=dict)
    hasty: bool = False

    def within(self) -> Memory:
        """The memory of a point in the middle of the same function."""
        return Memory(self.loops, self.variables, self.broken, self.restless)

    def failed(self, cause: Cause, point: ResumePoint | None, code: CodeType) -> None:
        """A guard has failed at a function, of code `code`, or at a point.

        At a point in the middle of a function no value is a choice of the caller; functions are often made anew for each call.
        """
        self.hasty = bool(cause.text) and cause.hits < COMES_BACK
        guard, was = cause.guard, cause.was
        if cause.sizes:
            n = self.failures[None] = self.failures.get(None, 0) + (CHANGES if self.hasty else 1)
            if n >= NUMBERS or self.hasty:
                self.restless.add(code if point is None else point.code)
        if guard is None:
            return
        source, kind = guard.source, guard.kind
        if cause.gone and source.kind == "item" and source.base is not None:  # other keys are as another length
            source, kind = source.base, "len"
        if kind not in ("equal", "len", "is"):
            return
        n = self.failures[source] = self.failures.get(source, 0) + (CHANGES if self.hasty and kind == "len" else 1)
        often = (kind == "len" and n >= CHANGES) or (type(was) is type and n >= NUMBERS)
        if point is not None or type(was) is FunctionType or often:
            self.changing.add(source)
            variable = _variable(source, point, code)
            if variable is not None:
                self.variables.add(variable)

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
        named = dict(zip((*point.bound, *point.code.co_freevars), args[n:]))
        out = set(self.changing)
        for code, name, path in self.variables:
            for i, x in enumerate(args) if code is point.code and name in named else ():
                if x is named[name]:
                    out.add(_along(Source("arg", i), path))
        return frozenset(out)


def _variable(source: Source, point: ResumePoint | None, code: CodeType) -> Variable | None:
    """The variable of the function that an input is found by; None if it is none, or an entry of the stack."""
    path: list[tuple[str, Any]] = []
    while source.base is not None:
        path.append((source.kind, source.key))
        source = source.base
    if source.kind != "arg":
        return None
    if point is None:
        return code, code.co_varnames[source.key], tuple(path[::-1])
    k = source.key - point.nulls.count(False)
    return (point.code, (*point.bound, *point.code.co_freevars)[k], tuple(path[::-1])) if k >= 0 else None


def _along(source: Source, path: tuple[tuple[str, Any], ...]) -> Source:
    for kind, key in path:
        source = Source(kind, key, source)
    return source


__all__ = ["FEW", "MANY", "NUMBERS", "ONE", "VALUES", "Cause", "Failure", "Memory"]
