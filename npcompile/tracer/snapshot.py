"""Undo for the tracer: everything that tracing a piece of code may change, noted and put back.

In: a trace. Out: the trace as it was. What has been learnt about inputs (guards, params) stays: it is only stricter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.frontends.values import DictV, ListV, SetV, SymValue

from .exits import reachable
from .symbolic import CellV, ExceptionV, GenExprV, IterV, ObjectV, RunListV

if TYPE_CHECKING:
    from .interpreter import Trace

_MUTABLE = (ObjectV, ExceptionV, GenExprV, ListV, RunListV, DictV, SetV, CellV, IterV)


class Snapshot:
    """State of a trace at one point."""

    def __init__(self, t: Trace) -> None:
        self.t = t
        self.frames = [(f, dict(f.locals), list(f.stack), f.pc, f.at, dict(f.peeled), f.passed) for f in t.frames]
        roots: list[SymValue] = []
        for f in t.frames:
            roots += [*f.locals.values(), *f.stack, *f.free.values()]
        roots += [*t.effects.values(), *t.cells.values()]
        self.objects = [(v, _fields(v)) for v in reachable(roots) if isinstance(v, _MUTABLE)]
        self.classes = [type(v) for v, _ in self.objects]
        self.symbols = frozenset(t.b.facts.local)
        self.mark = t.b.mark()
        self.exits = len(t.spec.exits)
        self.breaks = len(t.breaks)
        self.effects = dict(t.effects)
        self.state = (t.mutations, t.point, list(t.loops), t.finished, t.b.loc, t.conditional, dict(t.cells), t.b.ignored)
        self.handling = (list(t.handled), t.catching)

    def restore(self) -> None:
        """Undo everything since."""
        t = self.t
        self.rewind()
        t.b.rollback(self.mark)
        del t.spec.exits[self.exits :]
        del t.breaks[self.breaks :]

    def rewind(self) -> None:
        """Put the frames and virtual objects back; what was emitted stays."""
        t = self.t
        t.frames = [f for f, *_ in self.frames]
        for f, local, stack, pc, at, peeled, passed in self.frames:
            f.passed = passed
            f.locals, f.stack, f.pc, f.at, f.peeled = dict(local), list(stack), pc, at, dict(peeled)
        for (v, fields), cls in zip(self.objects, self.classes):
            if type(v) is not cls:
                v.__class__ = cls
                v.__dict__.clear()
            for k, x in fields.items():
                setattr(v, k, _copied(x))
        t.mutations, t.point, loops, t.finished, t.b.loc, t.conditional, cells, t.b.ignored = self.state
        t.cells, t.effects = dict(cells), dict(self.effects)
        t.loops = list(loops)
        handled, t.catching = self.handling
        t.handled = list(handled)

    def fields(self) -> list[dict[str, Any]]:
        """The present fields of the virtual objects."""
        return [_fields(v) for v, _ in self.objects]

    def changed(self) -> list[SymValue]:
        """Virtual objects that are not as they were."""
        return [v for v, fields in self.objects if any(not same_fields(vars(v).get(k), x) for k, x in fields.items())]


def _fields(v: Any) -> dict[str, Any]:
    return {k: _copied(x) for k, x in vars(v).items()}


def _copied(x: Any) -> Any:
    return type(x)(x) if type(x) in (list, dict, set) else x


def same_fields(a: Any, b: Any) -> bool:
    """Identical, or containers of identical items."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(x is y for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(x is y for x, y in zip(a.values(), b.values()))
    return a is b or (isinstance(a, set) and a == b) or (isinstance(a, int) and a == b)
