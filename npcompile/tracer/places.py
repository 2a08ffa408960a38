"""What a loop changes besides local variables: items of containers, attributes, lengths of lists, contents of cells, effects.

In: a trace whose loop body has been traced once. Out: `Place`s, which a further attempt carries as variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.frontends.values import DictV, ListV, SymValue, Unsupported
from npcompile.ir.dims import Dim
from npcompile.records import dataclass

from . import effects
from .inputs import describe
from .runlists import GrowingList, growing
from .snapshot import Snapshot, same_fields
from .symbolic import UNBOUND, CellV, ObjectV, RunListV

if TYPE_CHECKING:
    from .interpreter import Trace


@dataclass(frozen=True)
class Place:
    """A field of a virtual object (or one entry of it), or a place in an object that existed before (`owner` is its slot)."""

    owner: Any
    field: str = ""
    key: Any = None

    @property
    def name(self) -> str:
        """A name no variable has."""
        return f"{self.field}:{id(self.owner) if self.field else self.owner}:{self.key!r}"

    @property
    def is_count(self) -> bool:
        return isinstance(self.owner, RunListV)

    def get(self, t: Trace) -> SymValue:
        if not self.field:
            found = t.effects.get(self.owner) or effects.before(t, self.owner)
            assert found is not None
            return found
        content = getattr(self.owner, self.field)
        return (UNBOUND if content is None else content) if self.key is None else content[self.key]

    def set(self, t: Trace, value: SymValue) -> None:
        if not self.field:
            t.effects[self.owner] = value
        elif self.key is not None:
            getattr(self.owner, self.field)[self.key] = value
        else:
            setattr(self.owner, self.field, None if value is UNBOUND else value)


class NewPlace(Exception):
    """A turn makes a place that was not there before the first one."""


def changed_places(t: Trace, before: Snapshot, own: set[int]) -> list[Place]:
    """Places that changed since `before`, but for those of the objects `own`.

    Raises GrowingList for lists of another length, Unsupported for changes that a loop cannot carry.
    """
    out: list[Place] = []
    for (v, fields), cls in zip(before.objects, before.classes):
        if id(v) in own or (type(v) is cls and all(same_fields(vars(v).get(k), x) for k, x in fields.items())):
            continue
        if isinstance(v, RunListV) and cls is RunListV:
            if v.least < fields["least"]:
                raise GrowingList(v, v.item, Dim.of(0), shrinks=True)
            out.append(Place(v, "count"))
        elif isinstance(v, (ListV, RunListV)):
            items = fields["items"]
            if isinstance(v, RunListV) or len(v.items) != len(items):
                raise growing(t, v, len(items), vars(v), fields)
            out += [Place(v, "items", k) for k, x in enumerate(items) if v.items[k] is not x]
        elif isinstance(v, DictV):
            if list(v.items) != list(fields["items"]):
                raise NewPlace
            out += [Place(v, "items", k) for k, x in fields["items"].items() if v.items[k] is not x]
        elif isinstance(v, ObjectV):
            if list(v.attrs) != list(fields["attrs"]):
                raise NewPlace
            out += [Place(v, "attrs", k) for k, x in fields["attrs"].items() if v.attrs[k] is not x]
        elif isinstance(v, CellV):
            out.append(Place(v, "content"))
        else:
            raise Unsupported("loop-container", describe(v))
    for slot, value in t.effects.items():
        if before.effects.get(slot) is value:
            continue
        if slot not in before.effects and (slot.kind in ("tail", "whole", "cell") or effects.before(t, slot) is None):
            raise NewPlace
        out.append(Place(slot))
    return out


def check_items(before: Snapshot) -> None:
    """What a turn appends must fit in the buffers."""
    for (v, fields), cls in zip(before.objects, before.classes):
        if cls is RunListV and isinstance(v, RunListV) and not same_fields(v.extra, fields["extra"]):
            raise Unsupported("loop-container", "a list of items of several types")


def room(growth: Dim | None, n: int, trips: Dim, known: frozenset[Any]) -> Dim | None:
    """Room for a list of `n` items that grows by `growth` in each turn, in symbols that are known before the loop."""
    if growth is None or not known.issuperset(s for s in growth.syms()) or trips.bounds()[1] >= 1 << 62:
        return None
    return trips * growth + n
