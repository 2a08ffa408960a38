"""Tuples, lists, dicts, sets, slices and strings: built, filled and asked for their items at trace time.

Containers made in the segment are virtual and may change in place; those that existed before are only read, their types,
lengths and items becoming guards. Anything that Python would refuse is left to Python.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import (
    Array,
    Const,
    DictV,
    Lazy,
    ListV,
    RangeV,
    Scalar,
    SetV,
    SliceV,
    SymValue,
    Tensor,
    TupleV,
    Unsupported,
)
from npcompile.ir.dims import Dim
from npcompile.ir.segment import Source

from . import effects, library, runlists, tensors
from .classes import class_attribute
from .frames import Frame
from .functions import is_function
from .inputs import describe
from .interpreter import Trace, handles
from .numbers import dim_of, is_number
from .standins import held
from .symbolic import (
    ArrayIterV,
    DictViewV,
    EnumerateIterV,
    InputObject,
    IterV,
    ObjectV,
    RangeIterV,
    RunListIterV,
    RunListV,
    SeqIterV,
    ZipIterV,
)

Made = TypeVar("Made", SetV, DictV)

MAX_UNROLL = 64
MAX_GUARDED = 16
"""Most items of what has its length as a guard because nothing else would do."""
_HASHABLE = (str, bytes, int, float, bool, type(None), type, np.dtype, frozenset, complex)


# ------------------------------------------------------------------------------------------------ building


def _take(f: Frame, n: int) -> list[SymValue]:
    items = f.stack[len(f.stack) - n :]
    del f.stack[len(f.stack) - n :]
    return items


@handles(Op.BUILD_TUPLE)
def build_tuple(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(TupleV(tuple(_take(f, i.arg))))


@handles(Op.BUILD_LIST)
def build_list(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(ListV(_take(f, i.arg)))


@handles(Op.BUILD_SET)
def build_set(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(SetV({key_of(t, v) for v in _take(f, i.arg)}))


@handles(Op.BUILD_MAP)
def build_map(t: Trace, f: Frame, i: Instr) -> None:
    flat = _take(f, 2 * i.arg)
    f.stack.append(DictV({key_of(t, k): v for k, v in zip(flat[::2], flat[1::2])}))


@handles(Op.BUILD_CONST_KEY_MAP)
def build_const_key_map(t: Trace, f: Frame, i: Instr) -> None:
    keys = f.stack.pop()
    assert isinstance(keys, Const)
    f.stack.append(DictV(dict(zip(keys.value, _take(f, i.arg)))))


@handles(Op.BUILD_SLICE)
def build_slice(t: Trace, f: Frame, i: Instr) -> None:
    start, stop, step = (*_take(f, i.arg), NONE)[:3]
    f.stack.append(SliceV(start, stop, step))


def own(v: SymValue, kind: type[Made]) -> Made:
    """A container that an expression builds; it may have been begun before the segment."""
    if not isinstance(v, kind):
        raise Unsupported("mutate-object", "a container that was begun before")
    return v


def growing(t: Trace, v: SymValue) -> ListV | RunListV:
    from .container_methods import growing_list

    return growing_list(t, v)


@handles(Op.LIST_TO_TUPLE)
def list_to_tuple(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(TupleV(tuple(known_items(t, f.stack.pop()))))


@handles(Op.LIST_EXTEND)
def list_extend(t: Trace, f: Frame, i: Instr) -> None:
    extend_list(t, growing(t, f.stack[-i.arg - 1]), f.stack[-1])
    f.stack.pop()


def extend_list(t: Trace, target: SymValue, v: SymValue) -> None:
    """`target.extend(v)` of a list that grows."""
    v = t.use(v)
    if isinstance(target, RunListV) and not isinstance(v, (Array, RunListV)):
        runlists.append_all(t, target, known_items(t, v))
    elif not runlists.extend(t, target, v):
        for x in known_items(t, v):
            append_item(t, target, x)


@handles(Op.LIST_APPEND)
def list_append(t: Trace, f: Frame, i: Instr) -> None:
    append_item(t, growing(t, f.stack[-i.arg - 1]), f.stack[-1])
    f.stack.pop()


def append_item(t: Trace, target: SymValue, v: SymValue) -> None:
    """Add an item to a list that grows."""
    if isinstance(target, RunListV):
        runlists.append(t, target, v)
        return
    assert isinstance(target, ListV)
    target.items.append(v)
    t.mutated()


@handles(Op.SET_ADD)
def set_add(t: Trace, f: Frame, i: Instr) -> None:
    key = key_of(t, f.stack.pop())
    target = own(f.stack[-i.arg], SetV)
    target.items.add(key)
    t.mutated()


@handles(Op.SET_UPDATE)
def set_update(t: Trace, f: Frame, i: Instr) -> None:
    keys = [key_of(t, v) for v in known_items(t, f.stack.pop())]
    target = own(f.stack[-i.arg], SetV)
    target.items.update(keys)
    t.mutated()


@handles(Op.MAP_ADD)
def map_add(t: Trace, f: Frame, i: Instr) -> None:
    k, v = _take(f, 2)
    target = own(f.stack[-i.arg], DictV)
    target.items[key_of(t, k)] = v
    t.mutated()


@handles(Op.DICT_UPDATE, Op.DICT_MERGE)
def dict_update(t: Trace, f: Frame, i: Instr) -> None:
    items = dict_items(t, f.stack.pop())
    target = own(f.stack[-i.arg], DictV)
    if i.op is Op.DICT_MERGE and not target.items.keys().isdisjoint(items):
        raise Unsupported("call-arguments", "a keyword is given twice")
    target.items.update(items)
    t.mutated()


def key_of(t: Trace, v: SymValue) -> Any:
    """A dict key or set member as the object itself; it must be known and plain."""
    v = t.look(v)
    if isinstance(v, (Const, TupleV)) or (isinstance(v, Scalar) and v.source is not None):
        key = t.b.static(v)
        if _plain_key(key):
            return key
    raise Unsupported("container-op", f"{describe(v)} as a key")


def _plain_key(x: Any) -> bool:
    return all(map(_plain_key, x)) if type(x) is tuple else isinstance(x, _HASHABLE)


# ------------------------------------------------------------------------------------------------ items at trace time


def known_items(t: Trace, v: SymValue) -> list[SymValue]:
    """All items of an iterable of known, short length; iterators are used up."""
    v = t.use(held(t, v))
    if isinstance(v, IterV):
        out = []
        while (x := advance(t, v)) is not None:
            out.append(x)
            if len(out) > MAX_UNROLL:
                raise Unsupported("unroll-limit", f"more than {MAX_UNROLL} items")
        return out
    if isinstance(v, (TupleV, ListV)):
        return list(v.items)
    if isinstance(v, (SetV, DictV)):
        return [_const_item(k) for k in v.items]
    if isinstance(v, DictViewV):
        return _view_items(t, v)
    if isinstance(v, Const) and isinstance(v.value, (tuple, str, frozenset, range, bytes)):
        return _bounded(map(Const, v.value), len(v.value))
    if isinstance(v, InputObject):
        return object_items(t, v)
    if isinstance(v, Const) and type(v.value) is enum.EnumMeta:
        base = v.source or Source("const", t.inputs.const_index(v.value))
        members: list[Any] = list(v.value)
        return [_member(t, base, m) for m in members]
    if isinstance(v, RangeV):
        r = known_range(t, v)
        if r is not None:
            return _bounded(map(Const, r), len(r))
    if isinstance(v, (Array, Tensor)) and v.rank and (n := t.b.facts.canon(v.dims[0]).const) is not None:
        return _bounded((_row(t, v, k) for k in range(n)), n)
    return _items_by_size(t, v)


def _items_by_size(t: Trace, v: SymValue) -> list[SymValue]:
    """The items of what is short in the traced call; its length becomes a guard."""
    from .iterators import int_dim, step_of, trip_count

    size = None
    if isinstance(v, RangeV):
        size = trip_count(t, v)
    elif isinstance(v, (Array, Tensor)) and v.rank:
        size = v.dims[0]
    elif isinstance(v, RunListV):
        size = runlists.count_of(t, v)
    if size is None or t.b.facts.is_local(t.b.facts.canon(size)) or t.b.hint(size) > MAX_GUARDED:
        raise Unsupported("container-op", f"the items of {describe(v)}")
    n = t.b.static_dim(size)
    if isinstance(v, RangeV):
        start, step = int_dim(t, v.start), step_of(t, v)
        return [t.int_of(start + k * step) for k in range(n)]
    if isinstance(v, RunListV):
        return [*v.lead, *(runlists.element(t, v, Dim.of(k)) for k in range(n)), *v.extra]
    return [_row(t, v, k) for k in range(n)]  # type: ignore[arg-type]


def _member(t: Trace, cls: Source, m: Any) -> SymValue:
    source = Source("attr", m.name, cls)
    t.inputs.guard_is(source, m)
    return Const(m, source)


def _row(t: Trace, v: Array | Tensor, k: int) -> SymValue:
    return tensors.getitem(t, v, Const(k)) if isinstance(v, Tensor) else library.getitem(t, v, Const(k))


def _bounded(items: Iterable[SymValue], n: int) -> list[SymValue]:
    if n > MAX_UNROLL:
        raise Unsupported("unroll-limit", f"{n} items")
    return list(items)


def _const_item(key: Any) -> SymValue:
    return TupleV(tuple(map(Const, key))) if type(key) is tuple else Const(key)


def _view_items(t: Trace, v: DictViewV) -> list[SymValue]:
    items = dict_items(t, v.dict)
    if v.what == "values":
        return list(items.values())
    keys = [_const_item(k) for k in items]
    return keys if v.what == "keys" else [TupleV((k, x)) for k, x in zip(keys, items.values())]


_LEAVES = (bool, int, float, complex, np.ndarray, np.number, np.bool_)


def by_items(t: Trace, v: SymValue) -> SymValue:
    """A list from outside that NumPy is given, by its items, as are lists in a tuple; other values as they are.

    They are guarded one by one: few, and of one type, which is what a list for an array most often has. Others are left to
    NumPy, which takes lists of any length and mixture.
    """
    v = t.use(v)
    if isinstance(v, InputObject) and v.type is list:
        if not effects.changed(t, v) and not _alike(v.example):
            return v
        return ListV([by_items(t, x) for x in object_items(t, v)])
    if not (type(v) is ListV or (isinstance(v, TupleV) and v.cls is tuple)):
        return v
    items = [by_items(t, x) if _may_hold_list(x) else x for x in v.items]
    if all(x is y for x, y in zip(items, v.items)):
        return v
    return ListV(items) if isinstance(v, ListV) else TupleV(tuple(items))


def _may_hold_list(v: SymValue) -> bool:
    if isinstance(v, Lazy):
        return type(v.example) in (list, tuple)
    return isinstance(v, (TupleV, ListV)) or (isinstance(v, InputObject) and v.type is list)


def _alike(example: list[Any]) -> bool:
    """Is a list a short one of numbers or arrays of one type, or of such lists and tuples?"""
    room, kinds, rest = MAX_UNROLL, set(), [example]
    while rest:
        for x in rest.pop():
            room -= 1
            if type(x) in (list, tuple):
                rest.append(x)
            else:
                kinds.add(type(x))
            if room < 0 or len(kinds) > 1:
                return False
    return all(issubclass(k, _LEAVES) for k in kinds)


def object_items(t: Trace, v: InputObject) -> list[SymValue]:
    """Items of an input list or dict (its keys, which must be strings)."""
    whole = effects.whole(t, v)
    if whole is not None:
        return known_items(t, whole)
    if v.type is list:
        if len(v.example) > MAX_UNROLL:
            raise Unsupported("unroll-limit", f"{len(v.example)} items")
        t.inputs.guard(v.source, "len", len(v.example))
        items: list[SymValue] = [t.inputs.lazy(Source("item", k, v.source), x) for k, x in enumerate(v.example)]
        if effects.changed(t, v):
            for k, x in effects.items_of(t, v).items():
                items[k] = x
            items += known_items(t, effects.read(t, v, "tail") or TupleV(()))
        return items
    if v.type is dict:
        return [_const_item(k) for k in dict_items(t, v)]
    raise Unsupported("container-op", f"the items of {describe(v)}")


def length(t: Trace, v: InputObject) -> int:
    """The length of an input list, dict, set or string."""
    if v.type in (list, dict) and effects.changed(t, v):
        return len(object_items(t, v))
    t.inputs.guard(v.source, "len", len(v.example))
    return len(v.example)


def length_of(t: Trace, v: InputObject) -> SymValue:
    """As `length`, a run-time number where it changes from call to call."""
    if not (v.type is str or t.inputs.changes(v.source)) or (
        effects.changed(t, v) and (v.type is not list or effects.whole(t, v) is not None)
    ):
        return Const(length(t, v))
    more = effects.read(t, v, "tail") if effects.changed(t, v) else None
    before = t.inputs.length(v.source, v.example)
    if isinstance(more, RunListV):
        return t.int_of(before + runlists.length_of(t, more))
    return t.int_of(before + (0 if more is None else len(known_items(t, more))))


def dict_items(t: Trace, v: SymValue) -> dict[Any, SymValue]:
    """All items of a dict of known keys."""
    v = t.use(held(t, v))
    if isinstance(v, DictV):
        return v.items
    if isinstance(v, InputObject) and v.type is dict:
        return _input_dict(t, v)
    raise Unsupported("container-op", f"the items of {describe(v)}")


def _input_dict(t: Trace, v: InputObject) -> dict[Any, SymValue]:
    """The items of a small dict that existed before; its keys, not their order, are guarded."""
    whole = effects.whole(t, v)
    if isinstance(whole, DictV):
        return whole.items
    if len(v.example) > MAX_UNROLL or not all(type(k) is str for k in v.example):
        raise Unsupported("container-op", "a dict with other keys than strings")
    t.inputs.guard(v.source, "len", len(v.example))
    items: dict[Any, SymValue] = {}
    for k, x in v.example.items():
        items[k] = t.inputs.lazy(Source("item", k, v.source), x)
        t.inputs.guard_type(Source("item", k, v.source), type(x))
    return {**items, **effects.items_of(t, v)}


def dict_value(t: Trace, v: SymValue, k: SymValue) -> SymValue | None:
    """The value of a key in a dict, None if it is not there."""
    v, key = t.use(v), key_of(t, k)
    if isinstance(v, InputObject) and v.type is dict and type(key) is str and effects.whole(t, v) is None:
        stored = effects.read(t, v, "item", key)
        if stored is not None:
            return stored
        if key in v.example:
            return t.inputs.lazy(Source("item", key, v.source), v.example[key])
        t.inputs.guard(v.source, "absent", key)
        return None
    return dict_items(t, v).get(key)


def known_range(t: Trace, v: RangeV) -> range | None:
    """The range object when its bounds are constants."""
    parts = []
    for p in (v.start, v.stop, v.step):
        d = dim_of(t.use(p)) if is_number(t.look(p)) else None
        known = None if d is None else t.b.facts.canon(d).const
        if known is None:
            return None
        parts.append(known)
    return range(*parts) if parts[2] else None


def _next_of_range(t: Trace, it: RangeIterV) -> SymValue | None:
    """The next number of a range whose number of turns is known, wherever it begins."""
    ends = [dim_of(t.use(p)) if is_number(t.look(p)) else None for p in (it.next, it.range.stop, it.range.step)]
    start, stop, step = (d if d is None else t.b.facts.canon(d) for d in ends)
    width = None if start is None or stop is None else t.b.facts.canon(stop - start).const
    if width is None or start is None or step is None or not step.const:
        return _next_by_size(t, it)
    if not range(0, width, step.const):
        return None
    first, it.next = it.next, t.int_of(start + step)
    t.mutated()
    return first


def advance(t: Trace, it: IterV) -> SymValue | None:
    """The next item of an iterator, None at its end; the iterator moves on."""
    if isinstance(it, SeqIterV):
        if it.index >= len(it.seq.items):
            return None
        it.index += 1
        t.mutated()
        return it.seq.items[it.index - 1]
    if isinstance(it, RangeIterV):
        return _next_of_range(t, it)
    if isinstance(it, (ArrayIterV, RunListIterV)):
        return _next_by_size(t, it)
    if isinstance(it, ZipIterV):
        out = []
        for inner in it.iters:
            x = advance(t, inner)
            if x is None:
                return None
            out.append(x)
        return TupleV(tuple(out)) if out else None
    if isinstance(it, EnumerateIterV):
        x = advance(t, it.inner)
        if x is None:
            return None
        n = it.count
        assert isinstance(n, Const)
        it.count = Const(n.value + 1)
        t.mutated()
        return TupleV((n, x))
    raise Unsupported("loop-iterator", describe(it))


def _next_by_size(t: Trace, it: RangeIterV | ArrayIterV | RunListIterV) -> SymValue | None:
    """The next item of a range or array whose length is no constant: whether there is one becomes a guard."""
    from .iterators import element, move, turns

    counted = turns(t, it)
    if counted is None or t.b.facts.is_local(counted.trips):
        raise Unsupported("loop-iterator", "a range of unknown length outside a for loop")
    if not t.b.dim_ge(counted.trips, 1):
        return None
    x = element(t, it, Dim.of(0))
    move(t, it, Dim.of(1))
    return x


# ------------------------------------------------------------------------------------------------ membership


@handles(Op.CONTAINS)
def contains_op(t: Trace, f: Frame, i: Instr) -> None:
    from .operators import unary_op
    from .sequences import member

    a, b = f.stack[-2], held(t, f.stack[-1])
    if isinstance(b, (InputObject, ObjectV)) and is_function(class_attribute(b.type or object, "__contains__")):
        from . import plain
        from .runlist_uses import call_plain

        call_plain(t, plain.is_not_in if i.arg else plain.is_in, b, a)
        del f.stack[-2:]
        return
    found: SymValue | None = member(t, a, b)
    if found is None:
        found = Const(contains(t, a, b) != bool(i.arg))
    elif i.arg:
        found = unary_op(t, "not", found)
    f.stack[-2:] = [found]


def contains(t: Trace, a: SymValue, b: SymValue) -> bool:
    """`a in b` of constants and known containers."""
    b = t.use(b)
    if isinstance(b, (DictV, SetV)):
        return key_of(t, a) in b.items
    if isinstance(b, InputObject) and b.type is dict:
        return dict_value(t, b, a) is not None
    if isinstance(b, InputObject) and b.type is list:
        b = ListV(object_items(t, b))
    if isinstance(b, Const):
        value = t.b.static(t.use(a))
        try:
            return value in b.value
        except Exception as e:
            raise Unsupported("container-op", str(e)) from None
    if isinstance(b, (TupleV, ListV)):
        value = t.b.static(t.use(a))
        others = [t.use(x) for x in b.items]
        if all(isinstance(x, Const) for x in others):
            return value in [x.value for x in others]  # type: ignore[attr-defined]
    raise Unsupported("container-op", f"membership in {describe(b)}")
