"""Functions of NumPy that are written in Python over functions with rules: followed into their source, whole or not at all.

In: a call of such a function on arrays and numbers. Out: the trace standing after it, its result on the stack, as after a call of
a function of the user's own; warnings and errors come from NumPy's own lines. Where anything inside does not compile, nothing of
it stays, and the function is called as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.frontends.numpy.library import is_followed
from npcompile.frontends.values import Array, Const, DictV, ListV, RangeV, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.segment import Source

from .frames import Refused
from .functions import info_of, inline
from .snapshot import Snapshot
from .symbolic import FunctionV

if TYPE_CHECKING:
    from .interpreter import Trace


def follow(t: Trace, function: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> bool:
    """Trace a call to its end; False: it is not to be followed, and nothing has changed."""
    if not is_followed(function) or getattr(t.options, "backend", None) == "triton":
        return False
    if not all(map(_is_plain, (*args, *kwargs.values()))):
        return False
    place = (function, *((f.code.code, f.at) for f in t.frames), len(t.loops))
    if place in t.memory.broken:
        return False
    python = getattr(function, "_implementation", function)
    start, depth = Snapshot(t), len(t.frames)
    try:
        info = info_of(t, Const(python, Source("const", t.inputs.const_index(python))))
        assert info is not None
        inline(t, info, args, kwargs)
        t.run_until(lambda: t.finished or len(t.frames) <= depth)
        broken = len(t.breaks) > start.breaks
    except (Unsupported, Refused):
        broken = True
    if broken:
        start.restore()
        t.memory.broken.add(place)
    return not broken


def _is_plain(v: SymValue) -> bool:
    """Can the value have no part in what is called, as an object with `__array_function__` has?"""
    if isinstance(v, (TupleV, ListV)):
        return all(map(_is_plain, v.items))
    if isinstance(v, DictV):
        return all(map(_is_plain, v.items.values()))
    return isinstance(v, (Array, Scalar, Const, SliceV, RangeV, FunctionV))


__all__ = ["follow"]
