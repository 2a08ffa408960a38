"""Containers and objects made in the segment as their parts: what must be equal for two of them to be one with other parts.

Used where a branch joins them, and where a loop makes one anew in each turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.frontends.values import Const, DictV, ListV, RangeV, SliceV, SymValue, Tensor, TupleV

from .symbolic import ObjectV

PARTS: dict[type, Callable[[Any], tuple[Any, list[SymValue], Callable[[list[Any]], SymValue]]]] = {
    Tensor: lambda v: ((), [v.array], lambda items: Tensor(items[0])),  # type: ignore[arg-type]
    TupleV: lambda v: ((v.cls, len(v.items)), list(v.items), lambda items, cls=v.cls: TupleV(tuple(items), None, cls)),
    ListV: lambda v: (len(v.items), list(v.items), ListV),
    ObjectV: lambda v: (
        (v.type, tuple(v.attrs)),
        list(v.attrs.values()),
        lambda items, v=v: ObjectV(v.type, v.cls_source, dict(zip(v.attrs, items))),
    ),
    DictV: lambda v: (tuple(v.items), list(v.items.values()), lambda items, keys=list(v.items): DictV(dict(zip(keys, items)))),
    SliceV: lambda v: ((), [v.start, v.stop, v.step], lambda items: SliceV(*items)),
    RangeV: lambda v: ((), [v.start, v.stop, v.step], lambda items: RangeV(*items)),
}
"""Of a container: what must be equal, its parts, and how it is made of them."""


_MADE_ANEW = (TupleV, ListV, DictV, ObjectV)


def made_tuple(v: SymValue) -> TupleV | None:
    """A tuple that is not an input (whose identity would be lost)."""
    if isinstance(v, Const) and type(v.value) is tuple:
        return TupleV(tuple(map(Const, v.value)))
    return v if isinstance(v, TupleV) and v.source is None else None


def apart(v: SymValue) -> tuple[Any, list[SymValue], Callable[[list[Any]], SymValue]] | None:
    """(what it is, its parts, how it is made of them) of what was made in the segment; None for other values."""
    v = made_tuple(v) or v
    if not isinstance(v, _MADE_ANEW) or getattr(v, "source", None) is not None:
        return None
    shape, parts, make = PARTS[type(v)](v)
    return (type(v).__name__, shape), parts, make
