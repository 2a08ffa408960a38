"""Continuation points: places in the middle of a function where compiled code may begin again after a break.

In: where a frame stands when Python has run what was not compiled. Out: jit objects, one for each shape of a frame at an
instruction; all of a function's are shared by the exits that lead there. Never: compiles at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import policy
from .bytecode import LANDINGS, RAISER, ResumePoint, in_loop, landings, make_stub, may_work, normalise, settled
from .records import replace
from .runtime import _dispatch
from .runtime._dispatch import Jit
from .state import Place
from .tracer import Memory
from .tracer.frames import only_raises
from .wording import Names

POINT_LIMIT = 4
"""Entries at one point. Values that change in each turn are no guards, so that few patterns come to one place."""

_dispatch.set_landings(*LANDINGS)


class PointState(Place):
    """A point of a function.

    expected : every call that leaves the compiled code before comes here; otherwise only some do.
    """

    def __init__(self, root: Place, point: ResumePoint, stub: Any, memory: Memory, expected: bool) -> None:
        super().__init__(stub, root.options, root.all_records)
        self.root = root
        self.point = point
        self.expected = expected
        self.points = root.points
        self._memory = memory.within()
        instrs = normalise(point.code).instrs
        at = normalise(point.code).index_of_offset[point.offset]
        line = next((i.line for i in reversed(instrs[: at + 1]) if i.line), point.code.co_firstlineno)
        self._name = f"{point.code.co_qualname} from line {line}"

    @property
    def name(self) -> str:
        return self._name

    @property
    def names(self) -> Names:
        stack = [f"value {k} of the stack" for k in range(self.point.nulls.count(False))]
        return Names([*stack, *self.point.bound, *self.point.code.co_freevars], self.point.code, "variable")

    @property
    def limit(self) -> int:
        return min(self.options.recompile_limit, POINT_LIMIT)

    def _decide(self, jitted: Any, bound: tuple[Any, ...]) -> int:
        expected = self.expected and self.root.misses > 1
        return policy.decide_point(self.misses, expected, jitted.waiting, in_loop(self.point.code, self.point.offset))


class Points:
    """The continuation points of one function."""

    def __init__(self, root: Place) -> None:
        self.root = root
        self.jits: dict[tuple[Any, ...], Jit] = {}

    def steps(self, point: ResumePoint, globals: dict[str, Any], last: int, expected: bool) -> Callable[[Any], Any] | None:
        """What runs the instructions from a point to `last` and then goes on in compiled code; None if it cannot."""
        step = replace(point, last=settled(point.code, last))
        after = landings(step)
        if not any(map(_may_work, after)):
            return None
        return _dispatch.Steps(make_stub(step, globals), [functools.partial(self.at, p, globals, expected) for p in after])

    def at(self, point: ResumePoint, globals: dict[str, Any], expected: bool) -> Jit:
        """The jit object of a point."""
        key = (id(point.code), point.offset, point.bound, point.nulls, id(globals))
        found = self.jits.get(key)
        if found is None:
            made = self._make(point, globals, expected)
            found = self.jits.setdefault(key, made)
        return found

    def _make(self, point: ResumePoint, globals: dict[str, Any], expected: bool) -> Jit:
        stub = make_stub(point, globals)
        state = PointState(self.root, point, stub, self.root.memory, expected)
        raising = functools.partial(_raising, point, globals)
        shape = (point.code, point.nulls.count(False), len(point.bound), len(point.code.co_freevars), raising)
        out = Jit(stub, state.miss, None, self.root.options.trace_debug, shape)
        if not _may_work(point):
            out.state = "plain"
        return out


def _may_work(point: ResumePoint) -> bool:
    """Is there anything to compile after a point? Code that only raises an exception is not worth it."""
    at = normalise(point.code).index_of_offset[point.offset]
    return may_work(point.code, point.offset) and not only_raises(point.code, at)


def _raising(point: ResumePoint, globals: dict[str, Any]) -> tuple[Any, Any]:
    return make_stub(replace(point, action="raise"), globals), RAISER


def points_of(place: Place) -> Points | None:
    """The points of a place's function; None when a break shall be an error, or code runs in Python anyway."""
    if place.options.fullgraph:
        return None
    if place.points is None:
        place.points = Points(place)
    return place.points


__all__ = ["PointState", "Points", "points_of"]
