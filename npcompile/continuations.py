"""What runs after a "resume" exit: stubs for the frames of the exit, and the recipe of the values they are called with.

In: exit specs and the live objects of the compiling call. Out: continuations for `runtime.segments.make_entry`. A stub runs
the one instruction that was not compiled, and compiled code goes on after it (see `points`); where that cannot be, or where
Python is about to raise an exception, it runs to the end.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Sequence
from typing import Any

from .bytecode.stubcode import ResumePoint
from .bytecode.stubs import make_stub
from .ir.segment import ExitSpec, FrameSpec, Recipe, SegmentSpec, Source
from .points import Points
from .tracer.reasons import RAISES

_EMPTY = ("null", "unbound")


def fetch(source: Source, fn: types.FunctionType, bound: Sequence[Any], constants: Sequence[Any]) -> Any:
    """The live object of a source, as the dispatcher would fetch it."""
    if source.kind == "arg":
        return bound[source.key]
    if source.kind == "function":
        return fn
    if source.kind == "const":
        return constants[source.key]
    base: Any = fn if source.base is None else fetch(source.base, fn, bound, constants)
    if source.kind == "global":
        space = base.__globals__
        return space[source.key] if source.key in space else vars(builtins)[source.key]
    if source.kind == "cell":
        return base.__closure__[source.key].cell_contents
    if source.kind == "attr":
        return getattr(base, source.key)
    if source.kind == "item":
        return base[source.key]
    if source.kind == "type":
        return type(base)
    raise ValueError(f"unknown source {source}")


def continuations(
    spec: SegmentSpec, fn: types.FunctionType, bound: Sequence[Any], points: Points | None = None
) -> list[tuple[Callable[[Any], Any], Recipe] | None]:
    """For every exit: None ("return"), or (stub, recipe of its argument). May append to `spec.constants`.

    points : of the function, if it may go on in compiled code.
    """
    return [None if e.kind == "return" else _continuation(e, spec, fn, bound, points) for e in spec.exits]


def _continuation(
    exit_spec: ExitSpec, spec: SegmentSpec, fn: types.FunctionType, bound: Sequence[Any], points: Points | None
) -> tuple[Callable[[Any], Any], Recipe]:
    if exit_spec.reason in RAISES or exit_spec.reason == "signal":
        points = None
    stub: Callable[[Any], Any] | None = None
    argument: Recipe | None = None
    for frame in reversed(exit_spec.frames):
        callee = () if stub is None or argument is None else (argument, Recipe("const", _constant(spec, stub)))
        space = _globals(frame, fn, bound, spec.constants)
        point, values = _frame(frame, spec.constants[frame.code], callee)
        last = point.offset if frame.last < 0 else frame.last
        stub = None if points is None else points.steps(point, space, last, exit_spec.expected)
        stub = stub or make_stub(point, space)
        # An iterator, so that the tuple is gone when user code runs and locals die as early as in the original.
        argument = Recipe("call", _constant(spec, iter), (Recipe("tuple", None, values),))
    assert stub is not None and argument is not None
    return stub, argument


def _frame(frame: FrameSpec, code: types.CodeType, callee: tuple[Recipe, ...]) -> tuple[ResumePoint, tuple[Recipe, ...]]:
    cells = dict(frame.cells)
    closure = [cells.pop(name) for name in code.co_freevars]
    slots = [(n, r) for n, r in (*frame.locals, *cells.items()) if r.op not in _EMPTY]
    nulls = tuple(r.op == "null" for r in frame.stack)
    stack = [r for r in reversed(frame.stack) if r.op != "null"]
    point = ResumePoint(code, frame.offset, tuple(n for n, _ in slots), nulls, "call" if callee else "continue", frame.pushes)
    return point, (*closure, *(r for _, r in slots), *callee, *stack)


def _globals(frame: FrameSpec, fn: types.FunctionType, bound: Sequence[Any], constants: Sequence[Any]) -> dict[str, Any]:
    recipe = frame.globals
    return constants[recipe.arg] if recipe.op == "const" else fetch(recipe.arg, fn, bound, constants)


def _constant(spec: SegmentSpec, value: Any) -> int:
    for i, c in enumerate(spec.constants):
        if c is value:
            return i
    spec.constants.append(value)
    return len(spec.constants) - 1
