"""Lists whose length is known at run time only: native builders, filled in loops and branches.

A virtual list (`ListV`) that grows in a loop, or in one arm of a branch, becomes a `RunListV` before that: a count, and one
buffer for each number that an item consists of. Items are alike: numbers of one kind, fresh arrays of one shape, lists and
tuples of such. An exit boxes them; NumPy's functions take the buffer.

An array that is appended stays the list's own item: `Storage.kept` says in which list it is, and where. It cannot be stored to
any more, and an exit that hands back both takes it from the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import indexing
from npcompile.frontends.numpy.conversion import make_array
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, ListV, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.layout import c_layout

from .frames import NeedsPeel
from .inputs import describe
from .numbers import dim_of, dtype_of, is_number
from .symbolic import Item, RunListV, SeqIterV

if TYPE_CHECKING:
    from .interpreter import Trace

INT64 = np.dtype(np.int64)
MOST = 1 << 40
UNKNOWN_NUMBERS, UNKNOWN_ROWS = 1 << 16, 1 << 10
"""Room for a list whose bound is not known before; it leaves the segment when that is full."""


class GrowingList(Exception):
    """A list changes its length by a number that is known at run time only: it must become a `RunListV` before.

    growth : how many items are appended at most where it was noticed. shrinks : it is one, and turns out to become shorter, too.
    """

    def __init__(self, target: Any, item: Item, growth: Dim, shrinks: bool = False) -> None:
        super().__init__("a list grows")
        self.target, self.item, self.growth, self.shrinks = target, item, growth, shrinks


class NotFresh(Unsupported):
    """An array or tuple that has other names would become an item; after a peeled turn it may be another one."""


# ------------------------------------------------------------------------------------------------ kinds of items


def item_of(t: Trace, v: SymValue) -> Item:
    """What an item consists of."""
    v = t.look(v)
    if isinstance(v, Const) and isinstance(v.value, np.generic):
        return Item("number", v.value.dtype)
    if is_number(v):
        return Item("number", dtype_of(v), python=True)
    if isinstance(v, Scalar):
        return Item("number", v.dtype)
    if isinstance(v, Array) and v.rank:
        dims = t.b.dims(v)
        if not (v.storage.fresh and not v.chain and v.writeable) or v.storage.type.layout != c_layout(dims):
            raise NotFresh("loop-container", "an array is appended to a list that was not made there")
        return Item("array", v.dtype, dims)
    if isinstance(v, TupleV) and v.source is not None:
        raise NotFresh("loop-container", "a tuple is in a list that was not made there")
    if isinstance(v, TupleV) and v.cls is tuple:
        return Item("tuple", parts=tuple(item_of(t, x) for x in v.items))
    if isinstance(v, ListV) and v.items:
        parts = tuple(item_of(t, x) for x in v.items)
        if all(p == parts[0] for p in parts):
            return Item("list", dims=(Dim.of(len(v.items)),), parts=parts[:1])
        return Item("row", parts=parts)
    if isinstance(v, RunListV) and not (v.lead or v.extra):
        return Item("list", dims=(count_of(t, v),), parts=(v.item,))
    raise Unsupported("loop-container", f"{describe(v)} is appended to a list")


def leaves(item: Item, outer: tuple[Dim, ...] = ()) -> list[tuple[np.dtype, tuple[Dim, ...]]]:
    """Dtype and dims of the buffers for one item."""
    if item.parts:
        return [leaf for p in item.parts for leaf in leaves(p, (*outer, *item.dims))]
    assert item.dtype is not None
    return [(item.dtype, (*outer, *item.dims))]


def dims_of(item: Item) -> list[Dim]:
    """Every size that an item has."""
    return [*item.dims, *(d for p in item.parts for d in dims_of(p))]


def growing(t: Trace, target: Any, n: int, *states: dict[str, Any]) -> GrowingList:
    """The exception for a list of `n` items that comes to have these states (its fields), one or the other."""
    kinds: list[Item] = []
    growth = Dim.of(0)
    for fields in states:
        if "item" in fields:
            kinds.append(fields["item"])
            growth += fields["capacity"] + len(fields["lead"]) - n
        elif fields["items"]:
            kinds += [item_of(t, v) for v in fields["items"][n:]]
            growth += max(len(fields["items"]) - n, 0)
    kinds = kinds or [item_of(t, v) for fields in states for v in fields.get("items", ())]
    if not kinds or any(k != kinds[0] for k in kinds):
        raise Unsupported("loop-container", "a list of items of several types")
    return GrowingList(target, kinds[0], growth)


def convert(t: Trace, target: Any, item: Item, capacity: Dim | None) -> None:
    """Turn a virtual list into a builder, in place: all names of it go on to mean one list."""
    if isinstance(target, RunListV):
        return
    if any(isinstance(v, SeqIterV) and v.seq is target for frame in t.frames for v in frame.stack):
        raise Unsupported("loop-container", "a list changes while it is iterated over")
    items: list[SymValue] = target.items
    n = len(items)
    while n and _fits(t, items[n - 1], item):
        n -= 1
    if capacity is None:
        capacity = Dim.of(len(items) + (UNKNOWN_ROWS if dims_of(item) else UNKNOWN_NUMBERS))
    columns = [t.b.new_array(dtype, (capacity, *inner)) for dtype, inner in leaves(item)]
    become(target, RunListV, count=Const(0), columns=columns, item=item, capacity=capacity, lead=items[:n], least=len(items) - n)
    mutations = t.mutations
    for v in items[n:]:
        append(t, target, v, checked=False)
    t.mutations = mutations  # it is the same list for whoever looks at it


def become(target: Any, cls: type, **fields: Any) -> None:
    """The object itself changes its class: whoever refers to the list goes on to do so."""
    target.__class__ = cls
    vars(target).clear()
    target.__init__(**fields)


def _fits(t: Trace, v: SymValue, item: Item) -> bool:
    try:
        return item_of(t, v) == item and not (isinstance(v, Array) and v.storage.kept)
    except Unsupported:
        return False


# ------------------------------------------------------------------------------------------------ items


def length_of(t: Trace, v: RunListV) -> Dim:
    """`len(v)`."""
    return t.b.facts.canon(count_of(t, v) + len(v.lead) + len(v.extra))


def count_of(t: Trace, v: RunListV) -> Dim:
    """The number of items as a dim."""
    return count_dim(t.b, v)


def count_dim(b: Builder, v: RunListV) -> Dim:
    """The number of items as a dim."""
    d = dim_of(v.count)
    if d is None:
        d = b.name_of(b.value_of(v.count), v.least, v.capacity, max(b.hint(v.capacity) // 2, 0))
    return b.facts.canon(d)


def append(t: Trace, target: RunListV, v: SymValue, checked: bool = True) -> None:
    """`target.append(v)`."""
    v = t.look(v)
    if target.extra or not _fits(t, v, target.item) or (isinstance(v, Array) and not _made_in_turn(t, target, v)):
        target.extra.append(v)
        t.mutated()
        return
    at = count_of(t, target)
    if checked and t.b.facts.prove_ge(at - t.b.facts.canon(target.capacity)):  # full, after the loop that filled it
        target.extra.append(v)
        t.mutated()
        return
    if checked and not t.b.facts.prove_ge(t.b.facts.canon(target.capacity) - at - 1):
        t.b.exit_if(t.b.emit("ge", t.b.dim_value(at), t.b.dim_value(target.capacity)), "list-growth")
    _put(t, iter(target.columns), (at,), target.item, v)
    if isinstance(v, Array):
        t.b.keep(v.storage, target, t.int_of(at + len(target.lead)))
    target.count = t.int_of(at + 1)
    t.mutated()


def append_all(t: Trace, target: RunListV, items: list[SymValue]) -> None:
    """Add several items at once: there is room for all of them, or the segment is left before the first."""
    at, fit = count_of(t, target), all(_fits(t, v, target.item) for v in items)
    last = at + len(items) - 1
    checked = target.extra or not fit or t.b.facts.prove_ge(last - t.b.facts.canon(target.capacity))
    if not checked and not t.b.facts.prove_ge(t.b.facts.canon(target.capacity) - last - 1):
        t.b.exit_if(t.b.emit("ge", t.b.dim_value(last), t.b.dim_value(target.capacity)), "list-growth")
    for v in items:
        append(t, target, v, bool(checked))


def _made_in_turn(t: Trace, target: RunListV, v: Array) -> bool:
    """Is the array made anew in each turn of the loops around, in which the list was not made?"""
    depth = {id(r): k for k, r in enumerate(t.b.regions)}
    inner = [depth[id(x.region)] for x in t.loops if id(x.region) in depth]
    own = depth.get(id(target.columns[0].storage.region), 0)
    return not inner or own >= inner[-1] or depth.get(id(v.storage.region), len(depth)) >= inner[-1]


def pop(t: Trace, target: RunListV, first: bool = False) -> SymValue:
    """`target.pop()`, or `target.pop(0)`."""
    n = count_of(t, target)
    own = target.lead if first or n.const == 0 else []
    if (target.extra and not first) or own:
        t.mutated()
        return own.pop(0 if first else -1) if own else target.extra.pop()
    empty = not t.b.facts.prove_ge(n - 1)
    if empty and (target.lead or target.extra):
        if t.loops:
            raise NeedsPeel(t.loops[-1])
        raise Unsupported("container-op", "an item of a list that grew at run time")
    if empty:
        t.b.exit_if(t.b.emit("lt", t.b.dim_value(n), t.b.const(1, INT64)), "key-error")
        t.b.facts.learn_ge(n - 1)
    if target.least and t.loops and not _made_inside(t, target):
        raise GrowingList(target, target.item, Dim.of(0), shrinks=True)
    if dims_of(target.item):
        raise Unsupported("container-op", "an array is taken out of a list that grew at run time")
    out = element(t, target, Dim.of(0) if first else n - 1)
    if first:
        for column in target.columns:
            t.b.store(_first(t.b, column, n - 1), t.b.read(_first(t.b, column, n - 1, Dim.of(1))))
    target.count, target.least = t.int_of(n - 1), max(target.least - 1, 0)
    t.mutated()
    return out


def _made_inside(t: Trace, target: RunListV) -> bool:
    """Was the list made in this turn of the innermost loop?"""
    depth = {id(r): k for k, r in enumerate(t.b.regions)}
    loop = t.loops[-1].region
    return depth.get(id(target.columns[0].storage.region), 0) >= depth.get(id(loop), 0)


def _put(t: Trace, columns: Any, at: tuple[Dim, ...], item: Item, v: SymValue) -> None:
    """Store an item (or a part of one) at a place of its buffers."""
    if item.kind == "number":
        b = t.b
        b.store_item(next(columns), b.value_of(t.use(v), item.dtype), [b.dim_value(d) for d in at])
    elif item.kind == "array":
        assert isinstance(v, Array)
        t.b.store(_at(t, next(columns), at), t.b.read(v))
    elif item.kind in ("tuple", "row"):
        assert isinstance(v, (TupleV, ListV))
        for part, x in zip(item.parts, v.items):
            _put(t, columns, at, part, t.look(x))
    elif isinstance(v, RunListV):
        for own in v.columns:
            t.b.store(_at(t, next(columns), at), t.b.read(_first(t.b, own, count_of(t, v))))
    else:
        assert isinstance(v, ListV)
        own_columns = [next(columns) for _ in leaves(item)]
        for k, x in enumerate(v.items):
            _put(t, iter(own_columns), (*at, Dim.of(k)), item.parts[0], t.look(x))


def _at(t: Trace, column: Array, at: tuple[Dim, ...]) -> Array:
    """The part of a buffer that belongs to one item."""
    rest = t.b.dims(column)[len(at) :]
    one, zero = Dim.of(1), Dim.of(0)
    starts = (*at, *(zero for _ in rest))
    cut = t.b.view(column, "slice", starts=starts, steps=(one,) * column.rank, dims=(*(one for _ in at), *rest))
    return t.b.view(cut, "squeeze", axes=tuple(range(len(at))))


def _first(b: Builder, column: Array, n: Dim, start: Dim | None = None) -> Array:
    """Some of the items of a buffer."""
    rest = b.dims(column)[1:]
    one, zero = Dim.of(1), Dim.of(0)
    starts = (start or zero, *(zero for _ in rest))
    return b.view(column, "slice", starts=starts, steps=(one,) * column.rank, dims=(n, *rest))


def item_at(t: Trace, v: RunListV, k: SymValue) -> SymValue:
    """`v[k]`."""
    known = dim_of(t.use(k)) if not isinstance(k, SliceV) else None
    place = None if known is None else t.b.facts.canon(known).const
    if v.lead or v.extra:
        if place is None or v.extra:
            raise Unsupported("container-op", "an item of a list that grew at run time")
        if 0 <= place < len(v.lead):
            return v.lead[place]
        if place < 0 and not t.b.facts.prove_ge(count_of(t, v) + place):
            if t.loops:
                raise NeedsPeel(t.loops[-1])
            raise Unsupported("container-op", "an item of a list that grew at run time")
        k = Const(place - (len(v.lead) if place >= 0 else 0))
    if isinstance(k, SliceV):
        return _slice(t, v, k)
    where = indexing._index(t.b, t.use(k), count_of(t, v))
    at = where if isinstance(where, Dim) else t.b.sym_of(where, 0, count_of(t, v) - 1, 0)
    return element(t, v, at)


def element(t: Trace, v: RunListV, at: Dim) -> SymValue:
    """The item at a position that is known to be there."""
    return _get(t, v, iter(v.columns), at, v.item)


def _get(t: Trace, v: RunListV, columns: Any, at: Dim, item: Item) -> SymValue:
    if item.kind == "number":
        return t.b.scalar(t.b.item(next(columns), [t.b.dim_value(at)]), "python" if item.python else "numpy")
    if item.kind == "tuple":
        return TupleV(tuple(_get(t, v, columns, at, part) for part in item.parts))
    if item.kind == "array":
        a = t.b.array(t.b.read(_at(t, next(columns), (at,))))
        if item is v.item:
            t.b.keep(a.storage, v, t.int_of(at + len(v.lead)))
            return a
    raise Unsupported("container-op", "an item of a list of lists")


def _slice(t: Trace, v: RunListV, k: SliceV) -> SymValue:
    """A new list of some of the items, one after the other."""
    n = count_of(t, v)
    axis = indexing._slice(t.b, k, n)
    if axis.step != 1 or v.item.kind == "array" or v.lead or v.extra:
        raise Unsupported("container-op", "a slice of a list that grew at run time")
    columns = []
    for own in v.columns:
        new = t.b.new_array(own.dtype, (axis.length, *t.b.dims(own)[1:]))
        t.b.store(new, t.b.read(_first(t.b, own, axis.length, axis.start)))
        columns.append(new)
    return made(t, columns, v.item, axis.length)


def extend(t: Trace, target: Any, v: SymValue) -> bool:
    """`target.extend(v)` of a list that is not a builder yet, by an array, range or list of run-time length; False: not such."""
    if not isinstance(target, ListV):
        return False
    if isinstance(v, Array) and v.rank == 1:
        item, n, new = Item("number", v.dtype), t.b.dims(v)[0], [t.b.array(t.b.read(v))]
        for a in new:
            t.b.materialise(a.storage)
    elif isinstance(v, RunListV) and v.item.kind != "array":
        made_list = copied(t, v)
        assert isinstance(made_list, RunListV)
        item, n, new = v.item, count_of(t, v), made_list.columns
    else:
        return False
    become(target, RunListV, count=t.int_of(n), columns=new, item=item, capacity=n, lead=target.items)
    t.mutated()
    return True


def copied(t: Trace, v: RunListV) -> SymValue:
    """`list(v)`."""
    inner = RunListV(v.count, v.columns, v.item, v.capacity, least=v.least)
    out = _slice(t, inner, SliceV(NONE, NONE, NONE))
    assert isinstance(out, RunListV)
    out.lead, out.extra = list(v.lead), list(v.extra)
    return out


def insert(t: Trace, target: RunListV, k: int, v: SymValue) -> bool:
    """`target.insert(k, v)` of an item as the others are; False: it is none."""
    v, n = t.look(v), count_of(t, target)
    if target.lead or target.extra or target.item.kind == "array" or not _fits(t, v, target.item):
        return False
    if t.b.facts.is_local(n) or not t.b.dim_ge(n, k if k >= 0 else -k):
        return False
    if not t.b.facts.prove_ge(t.b.facts.canon(target.capacity) - n - 1):
        if t.loops:
            return False
        _grow(t, target, n)
    at = Dim.of(k) if k >= 0 else n + k
    append(t, target, v)
    for column in target.columns:
        t.b.store(_first(t.b, column, n - at, at + 1), t.b.read(_first(t.b, column, n - at, at)))
    _put(t, iter(target.columns), (at,), target.item, v)
    return True


def _grow(t: Trace, target: RunListV, n: Dim) -> None:
    """Make room for some more items."""
    capacity, columns = n + 16, []
    for own in target.columns:
        new = t.b.new_array(own.dtype, (capacity, *t.b.dims(own)[1:]))
        t.b.store(_first(t.b, new, n), t.b.read(_first(t.b, own, n)))
        columns.append(new)
    target.columns, target.capacity = columns, capacity


def delete(t: Trace, target: RunListV, k: int) -> bool:
    """`del target[k]` of one of the items in the buffers; False where that is not known to be one."""
    n = count_of(t, target)
    if (
        target.lead
        or target.extra
        or target.item.kind == "array"
        or t.b.facts.is_local(n)
        or not t.b.dim_ge(n, k + 1 if k >= 0 else -k)
    ):
        return False
    at = Dim.of(k) if k >= 0 else n + k
    for column in target.columns:
        t.b.store(_first(t.b, column, n - at - 1, at), t.b.read(_first(t.b, column, n - at - 1, at + 1)))
    target.count, target.least = t.int_of(n - 1), max(target.least - 1, 0)
    t.mutated()
    return True


def made(t: Trace, columns: list[Array], item: Item, n: Dim) -> RunListV:
    """A new list whose buffers are full."""
    return RunListV(t.int_of(n), columns, item, n)


# ------------------------------------------------------------------------------------------------ uses


def as_array(t: Trace, v: RunListV) -> Array:
    """`np.array(v)`."""
    if v.extra:
        raise Unsupported("container-op", "an array of a list that grew at run time")
    if v.lead:
        return _with_lead(t, v)
    item, n = v.item, count_of(t, v)
    while item.kind == "list":
        (item,) = item.parts
    plain = v.item.kind == "number" and item.dtype == np.dtype(np.float64)
    if item.kind == "tuple":
        parts = [as_array(t, RunListV(v.count, [c], p, v.capacity)) for c, p in zip(v.columns, item.parts)]
        if v.item is not item or len({p.dtype for p in parts}) != 1 or any(p.kind != "number" for p in item.parts):
            raise Unsupported("container-op", "an array of a list of tuples")
        not_empty(t, n)
        columns = [t.b.emit("expand", t.b.read(p), axes=(1,)) for p in parts]
        return t.b.array(t.b.emit("concat", *columns, axis=1))
    if not plain:
        not_empty(t, n)
    return t.b.array(t.b.read(_first(t.b, v.columns[0], n)))


def _with_lead(t: Trace, v: RunListV) -> Array:
    """The array of a list of which the first items are not in the buffers."""
    first = make_array(t.b, ListV([t.use(x) for x in v.lead]), None, True, "K")
    (own,) = v.columns if len(v.columns) == 1 else (None,)
    if own is None or first.dtype != own.dtype or first.rank != own.rank:
        raise Unsupported("container-op", "an array of a list of several types")
    if not all(t.b.dim_is(x, y) for x, y in zip(t.b.dims(first)[1:], t.b.dims(own)[1:])):
        raise Unsupported("container-op", "an array of a list of several shapes")
    parts = [t.b.read(first), t.b.read(_first(t.b, own, count_of(t, v)))]
    return t.b.array(t.b.emit("concat", *parts, axis=0))


def not_empty(t: Trace, n: Dim) -> None:
    """An empty list gives something else (NumPy makes an array of another dtype or rank of it): Python does that."""
    if not t.b.facts.prove_ge(t.b.facts.canon(n) - 1):
        t.b.exit_if(t.b.emit("lt", t.b.dim_value(n), t.b.const(1, INT64)), "list-growth")


def box(kind: Any, *columns: np.ndarray) -> list[Any]:
    """The list of a builder: `kind` as `plain_kind` gives it."""
    return list(_boxed(kind, iter(columns)))


def _boxed(kind: Any, columns: Any) -> Iterable[Any]:
    name, python, parts, depth = kind
    if name == "list" and python:
        return next(columns).tolist()  # type: ignore[no-any-return]
    if name in ("tuple", "row"):
        rows = zip(*[_boxed(p, columns) for p in parts])
        return rows if name == "tuple" else map(list, rows)
    if name == "list":
        flat = [next(columns) for _ in range(depth)]
        return [box(parts[0], *row) for row in zip(*flat)]
    column = next(columns)
    if name == "array":
        return [row.copy() for row in column]
    return column.tolist() if python else list(column)


def plain_kind(item: Item) -> Any:
    """The kind of an item as plain tuples."""
    parts = tuple(map(plain_kind, item.parts))
    python = item.python or (item.kind == "list" and parts[0][0] in ("number", "list") and parts[0][1])
    return (item.kind, python, parts, len(leaves(item)))


def in_use(b: Builder, v: RunListV) -> list[Array]:
    """The parts of the buffers that hold items."""
    return [_first(b, column, count_dim(b, v)) for column in v.columns]


__all__ = ["GrowingList", "append", "as_array", "box", "convert", "element", "growing", "item_at"]
