"""Continuations of "resume" exits: the stub that goes on natively, and the recipe of the one argument it takes.

In: exits as data and the traced call. Out: what `segments.make_entry` takes as `continuations`. Never: runs user code.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from npcompile.bytecode.stubcode import ResumePoint
from npcompile.bytecode.stubs import make_stub
from npcompile.ir.segment import ExitSpec, FrameSpec, Recipe, SegmentSpec, Source

_ABSENT = ("null", "unbound")


def evaluate(source: Source, fn: FunctionType, bound: Sequence[Any], constants: Sequence[Any]) -> Any:
    """The object that a source fetches in a call of `fn` with bound arguments `bound`."""
    if source.kind == "arg":
        return bound[source.key]
    if source.kind == "function" and source.base is None:
        return fn
    if source.kind == "const":
        return constants[source.key]
    base: Any = fn if source.base is None else evaluate(source.base, fn, bound, constants)
    if source.kind == "global":
        namespace = base.__globals__
        return namespace[source.key] if source.key in namespace else getattr(builtins, source.key)
    if source.kind == "cell":
        return base.__closure__[source.key].cell_contents
    return _STEPS[source.kind](base, source.key)


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "attr": getattr,
    "item": operator.getitem,
    "type": lambda base, key: type(base),
}


class _Continuations:
    def __init__(self, spec: SegmentSpec, fn: FunctionType, bound: Sequence[Any]) -> None:
        self.spec, self.fn, self.bound = spec, fn, bound

    def const(self, x: Any) -> Recipe:
        """A recipe for a live object; it becomes one of the segment's constants."""
        self.spec.constants.append(x)
        return Recipe("const", len(self.spec.constants) - 1)

    def globals_of(self, r: Recipe) -> dict[str, Any]:
        if r.op == "const":
            return self.spec.constants[r.arg]
        if r.op == "source":
            return evaluate(r.arg, self.fn, self.bound, self.spec.constants)
        raise ValueError(f"globals of a frame cannot be made by {r.op!r}")

    def frame(self, f: FrameSpec, action: str, callee: tuple[Recipe, ...]) -> tuple[Any, Recipe]:
        """The stub of one frame and the recipe of its values, in the order that `make_stub` documents."""
        code: CodeType = self.spec.constants[f.code]
        cells = dict(f.cells)
        closure = [cells.pop(name) for name in code.co_freevars]
        slots = {k: r for k, r in {**dict(f.locals), **cells}.items() if r.op not in _ABSENT}
        nulls = tuple(r.op in _ABSENT for r in f.stack)
        stack = [r for r in reversed(f.stack) if r.op not in _ABSENT]
        stub = make_stub(ResumePoint(code, f.offset, tuple(slots), nulls, action, f.pushes), self.globals_of(f.globals))
        values = Recipe("tuple", None, (*closure, *slots.values(), *callee, *stack))
        # Nobody but the iterator holds the tuple: values die as early as in the original.
        return stub, Recipe("call", self.const(iter).arg, (values,))

    def exit(self, e: ExitSpec) -> tuple[Any, Recipe]:
        *outer, inner = e.frames
        stub, values = self.frame(inner, "continue", ())
        for f in reversed(outer):
            stub, values = self.frame(f, "call", (values, self.const(stub)))
        return stub, values


def continuations_of(spec: SegmentSpec, fn: FunctionType, bound: Sequence[Any]) -> list[tuple[Any, Recipe] | None]:
    """A continuation for every "resume" exit, None for the others. Adds to `spec.constants`.

    Raises
    ------
    ValueError
        If a frame cannot be resumed (see `npcompile.bytecode.stubs.resumable`).
    """
    make = _Continuations(spec, fn, bound)
    return [make.exit(e) if e.kind == "resume" else None for e in spec.exits]
