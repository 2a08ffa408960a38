"""Changes of objects that existed before the call: noted while tracing, made when the segment is left.

Nothing else runs between a change and the exit, so only the last value of each place counts. Reads later in the segment look here
first. In: input objects, names, values. Out: entries of `Trace.effects`, from which an exit makes calls (see `exits`).

Two inputs of one type might be one object: as soon as one of them is changed, the other one is guarded to be another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.frontends.values import DictV, ListV, SymValue, Unsupported
from npcompile.ir.segment import Source
from npcompile.records import dataclass

from .symbolic import CellV, InputObject, RunListV

if TYPE_CHECKING:
    from .interpreter import Trace


@dataclass(frozen=True)
class Slot:
    """A place that changes.

    kind : "attr" (of an object), "item" (of a list or dict), "tail" (what is appended to a list, a `ListV`), "whole" (all of a
        list or dict, a `ListV` or `DictV`), "global" (owner: the function whose global it is), "cell" (a `CellV`).
    owner : source of the object. name : attribute, index, key, or name.
    """

    kind: str
    owner: Source
    name: Any = None


def read(t: Trace, obj: InputObject, kind: str, name: Any = None) -> SymValue | None:
    """What the place holds since it was changed; None if it was not."""
    if t.owners:
        _keep_apart(t, obj)
    return t.effects.get(Slot(kind, obj.source, name))


def note(t: Trace, obj: InputObject, kind: str, name: Any, value: SymValue) -> None:
    """The place holds `value` from now on."""
    _keep_apart(t, obj)
    t.owners[obj.source] = obj
    t.effects[Slot(kind, obj.source, name)] = value
    t.mutated()


def _keep_apart(t: Trace, obj: InputObject) -> None:
    for other in t.owners.values():
        if other.source == obj.source or other.type is not obj.type:
            continue
        if other.example is obj.example:
            raise Unsupported("mutate-object", "one object under two names")
        t.inputs.guard(obj.source, "distinct", other.source)


def changed(t: Trace, obj: InputObject) -> bool:
    """Has anything of the object been changed?"""
    if t.owners:
        _keep_apart(t, obj)
    return obj.source in t.owners


def items_of(t: Trace, obj: InputObject) -> dict[Any, SymValue]:
    """Changed items of a list or dict, in the order of their first change."""
    return {s.name: v for s, v in t.effects.items() if s.kind == "item" and s.owner == obj.source}


def tail(t: Trace, obj: InputObject) -> ListV | RunListV:
    """The list of what is appended to an input list."""
    found = read(t, obj, "tail")
    if found is None:
        found = ListV([])
        note(t, obj, "tail", None, found)
    assert isinstance(found, (ListV, RunListV))
    return found


def whole(t: Trace, obj: InputObject) -> ListV | DictV | None:
    """The virtual container that stands for an input one since all of it was changed."""
    found = read(t, obj, "whole")
    return found if isinstance(found, (ListV, DictV)) else None


def take_over(t: Trace, obj: InputObject) -> ListV | DictV:
    """Let a virtual container stand for an input list or dict: changed at will, and written back as a whole."""
    from .containers import dict_items, known_items

    found = whole(t, obj)
    if found is None:
        found = ListV(known_items(t, obj)) if obj.type is list else DictV(dict(dict_items(t, obj)))
        for s in [s for s in t.effects if s.owner == obj.source and s.kind in ("item", "tail")]:
            del t.effects[s]
        note(t, obj, "whole", None, found)
    return found


def note_cell(t: Trace, cell: CellV) -> None:
    """The contents of a cell that existed before have changed."""
    assert cell.source is not None
    t.effects[Slot("cell", cell.source)] = cell


def before(t: Trace, slot: Slot) -> SymValue | None:
    """What the place held when the segment began; None if that cannot be said."""
    obj = t.owners.get(slot.owner)
    if slot.kind == "attr" and obj is not None:
        own = getattr(obj.example, "__dict__", {})
        if slot.name in own:
            return t.inputs.lazy(Source("attr", slot.name, slot.owner), own[slot.name])
    if slot.kind == "item" and obj is not None and (obj.type is list or (type(slot.name) is str and slot.name in obj.example)):
        return t.inputs.lazy(Source("item", slot.name, slot.owner), obj.example[slot.name])
    if slot.kind == "global":
        space = t.spaces[slot.owner]
        if slot.name in space:
            return t.inputs.lazy(Source("global", slot.name, _base(slot.owner)), space[slot.name])
    return None


_FUNCTION = Source("function")


def _base(owner: Source) -> Source | None:
    return None if owner == _FUNCTION else owner


def global_slot(t: Trace, space: dict[str, Any], base: Source | None, name: str) -> Slot:
    """The place of a global variable; one owner for each namespace."""
    owner = next((s for s, known in t.spaces.items() if known is space), base or _FUNCTION)
    t.spaces[owner] = space
    return Slot("global", owner, name)
