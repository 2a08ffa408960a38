"""Subscripts and unpacking: reading, storing and deleting items and slices of arrays and containers.

In: a value and a key. Out: the item, or the changed container. Anything that Python would refuse is left to Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, DictV, ListV, RangeV, SliceV, SymValue, Tensor, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.segment import Source

from . import effects, genexprs, library, runlists, sequences, special, tensors
from .containers import MAX_UNROLL, by_items, dict_value, key_of, known_items, known_range, length, object_items
from .frames import Frame
from .inputs import describe
from .interpreter import Trace, handles
from .symbolic import FlagsV, GenExprV, InputObject, RunListV


@handles(Op.GET_ITEM)
def get_item(t: Trace, f: Frame, i: Instr) -> None:
    v, k = f.stack[-2:]
    own = special.method(t, t.b.force(v), "__getitem__")
    if own is not None:
        special.enter(t, f, 2, own, [v, k])
        return
    f.stack[-2:] = [item(t, v, k)]


@handles(Op.GET_SLICE)
def get_slice(t: Trace, f: Frame, i: Instr) -> None:
    v, lo, hi = f.stack[-3:]
    own = special.method(t, t.b.force(v), "__getitem__")
    if own is not None:
        special.enter(t, f, 3, own, [v, SliceV(lo, hi, NONE)])
        return
    f.stack[-3:] = [item(t, v, SliceV(lo, hi, NONE))]


def item(t: Trace, v: SymValue, k: SymValue) -> SymValue:
    """`v[k]`."""
    v = library.together(t, t.use(v))
    if isinstance(v, Array):
        return library.getitem(t, v, array_key(t, k))
    if isinstance(v, Tensor):
        return tensors.getitem(t, v, index_key(t, k))
    if isinstance(v, (TupleV, ListV)):
        return _sequence_item(t, v, k)
    if isinstance(v, RunListV):
        return runlists.item_at(t, v, index_key(t, k))
    if isinstance(v, DictV) or (isinstance(v, InputObject) and v.type is dict):
        found = dict_value(t, v, k)
        if found is None:
            raise Unsupported("key-error", describe(k))
        return found
    if isinstance(v, Const) and isinstance(v.value, (tuple, str, bytes, range)):
        return _const_subscript(t, v, k)
    if isinstance(v, InputObject):
        return _object_item(t, v, k)
    if isinstance(v, RangeV):
        r = known_range(t, v)
        if r is not None:
            return _const_subscript(t, Const(r), k)
        return _range_item(t, v, k)
    if isinstance(v, FlagsV):
        from .internals import flag

        return flag(t, v, str(t.b.static(t.use(k))))
    raise Unsupported("container-op", f"an item of {describe(v)}")


def _range_item(t: Trace, v: RangeV, k: SymValue) -> SymValue:
    """A number of a range whose length a size tells, at a known position."""
    from .iterators import int_dim, step_of, trip_count

    at = static_key(t, k)
    n = trip_count(t, v)
    if type(at) is not int or not t.b.dim_ge(n, at + 1 if at >= 0 else -at):
        raise Unsupported("container-op", f"an item of {describe(v)}")
    return t.int_of(int_dim(t, v.start) + (n + at if at < 0 else Dim.of(at)) * step_of(t, v))


def index_key(t: Trace, k: SymValue) -> SymValue:
    """An array index with everything in it looked at."""
    k = t.use(k)
    if isinstance(k, TupleV):
        return TupleV(tuple(index_key(t, x) for x in k.items))
    if isinstance(k, SliceV):
        return SliceV(*(t.use(x) for x in (k.start, k.stop, k.step)))
    return k


def array_key(t: Trace, k: SymValue) -> SymValue:
    """As `index_key`, for an array: lists from outside are taken by their items."""
    k = index_key(t, k)
    return TupleV(tuple(by_items(t, x) for x in k.items)) if isinstance(k, TupleV) else by_items(t, k)


def _sequence_item(t: Trace, v: TupleV | ListV, k: SymValue) -> SymValue:
    if type(v) is ListV or (isinstance(v, TupleV) and v.cls is tuple):
        picked = sequences.picked(t, v.items, k)
        if picked is not None:
            return picked
    key = static_key(t, k)
    try:
        found = v.items[key]
    except Exception as e:
        raise Unsupported("key-error", str(e)) from None
    if isinstance(key, slice):
        if isinstance(v, ListV):
            return ListV(list(found))
        own = getattr(v.cls, "__getitem__") is not tuple.__getitem__  # noqa: B009
        return TupleV(tuple(found), None, v.cls if own else tuple)
    return found


def static_key(t: Trace, k: SymValue) -> Any:
    k = index_key(t, k)
    key = t.b.static(k)
    return key.__index__() if isinstance(key, np.integer) else key


def _const_subscript(t: Trace, v: Const, k: SymValue) -> SymValue:
    if isinstance(v.value, (str, tuple)):
        picked = sequences.picked(t, v.value if isinstance(v.value, str) else tuple(map(Const, v.value)), k)
        if picked is not None:
            return picked
    try:
        return Const(v.value[static_key(t, k)])
    except Unsupported:
        raise
    except Exception as e:
        raise Unsupported("key-error", str(e)) from None


def _object_item(t: Trace, v: InputObject, k: SymValue) -> SymValue:
    if v.type is list and (sequences.is_computed(t, k) or effects.changed(t, v) or isinstance(index_key(t, k), SliceV)):
        return item(t, ListV(object_items(t, v)), k)
    key = static_key(t, k)
    if v.type is list and type(key) is int:
        if t.inputs.changes(v.source) and -len(v.example) <= key < len(v.example):
            return t.inputs.lazy(Source("item", key, v.source), v.example[key])  # it must be there, which is a guard
        n = length(t, v)
        if not -n <= key < n:
            raise Unsupported("key-error", "list index out of range")
        return t.inputs.lazy(Source("item", key % n, v.source), v.example[key])
    raise Unsupported("container-op", f"item {key!r} of {describe(v)}")


@handles(Op.SET_ITEM)
def set_item(t: Trace, f: Frame, i: Instr) -> None:
    value, v, k = f.stack[-3:]
    own = special.method(t, t.b.force(v), "__setitem__")
    if own is not None:
        special.enter(t, f, 3, own, [v, k, value], drops=True)
        return
    store_item(t, v, k, value)
    del f.stack[-3:]


@handles(Op.SET_SLICE)
def set_slice(t: Trace, f: Frame, i: Instr) -> None:
    value, v, lo, hi = f.stack[-4:]
    own = special.method(t, t.b.force(v), "__setitem__")
    if own is not None:
        special.enter(t, f, 4, own, [v, SliceV(lo, hi, NONE), value], drops=True)
        return
    store_item(t, v, SliceV(lo, hi, NONE), value)
    del f.stack[-4:]


def own_list(t: Trace, v: RunListV) -> SymValue:
    from .container_methods import own_list as own

    return own(t, v)


def store_item(t: Trace, v: SymValue, k: SymValue, value: SymValue) -> None:
    """`v[k] = value`; the last thing that the instruction does."""
    v = t.use(v)
    if isinstance(v, Tensor):
        tensors.setitem(t, v, index_key(t, k), t.use(value))
        return
    if isinstance(v, Array):
        key = array_key(t, k)
        library.setitem(t, v, key, array_operand(t, value, v.dtype))
        return
    if isinstance(v, DictV):
        v.items[key_of(t, k)] = value
        t.mutated()
        return
    if isinstance(v, ListV):
        key = static_key(t, k)
        if isinstance(key, int) and -len(v.items) <= key < len(v.items):
            v.items[key] = value
            t.mutated()
            return
        if isinstance(key, slice):
            items = list(v.items)
            try:
                items[key] = known_items(t, value)
            except ValueError:
                raise Unsupported("container-op", "a slice of another length") from None
            v.items[:] = items
            t.mutated()
            return
        raise Unsupported("container-op", f"list item {key!r} assigned")
    if isinstance(v, RunListV):
        if sequences.set_number(t, v, index_key(t, k), value):
            return
        v = own_list(t, v)
        store_item(t, v, k, value)
        return
    if isinstance(v, InputObject) and v.type in (list, dict):
        whole = effects.whole(t, v)
        if whole is not None:
            store_item(t, whole, k, value)
            return
        place: Any = key_of(t, k) if v.type is dict else static_key(t, k)
        if v.type is list:
            size = length(t, v)
            if type(place) is not int or not -size <= place < size or effects.read(t, v, "tail") is not None:
                store_item(t, effects.take_over(t, v), k, value)
                return
            place %= size
        effects.note(t, v, "item", place, value)
        return
    raise Unsupported("mutate-object", f"an item of {describe(v)} is assigned")


def array_operand(t: Trace, v: SymValue, dtype: np.dtype) -> SymValue:
    """A value stored to an array of `dtype`: a number whose Python type is still open will do when all are cast alike."""
    from .joins import for_dtype

    v = t.use(for_dtype(t, v, dtype))
    return runlists.as_array(t, v) if isinstance(v, RunListV) else by_items(t, v)


@handles(Op.DEL_ITEM)
def del_item(t: Trace, f: Frame, i: Instr) -> None:
    v, k = t.use(f.stack[-2]), f.stack[-1]
    if isinstance(v, InputObject) and v.type in (list, dict):
        v = effects.take_over(t, v)
    if isinstance(v, ListV):
        index = static_key(t, k)
        if not isinstance(index, int) or not -len(v.items) <= index < len(v.items):
            raise Unsupported("key-error", repr(index))
        del v.items[index]
        del f.stack[-2:]
        t.mutated()
        return
    if isinstance(v, RunListV):
        place = static_key(t, k)
        if type(place) is int and runlists.delete(t, v, place):
            del f.stack[-2:]
            return
        v = own_list(t, v)
    if not isinstance(v, DictV):
        raise Unsupported("mutate-object", f"an item of {describe(v)} is deleted")
    key = key_of(t, k)
    if key not in v.items:
        raise Unsupported("key-error", repr(key))
    del v.items[key]
    del f.stack[-2:]
    t.mutated()


# ------------------------------------------------------------------------------------------------ unpacking


@handles(Op.UNPACK_SEQUENCE)
def unpack_sequence(t: Trace, f: Frame, i: Instr) -> None:
    v = t.b.force(f.stack[-1])
    if isinstance(v, GenExprV):  # all is taken at once, then the list unpacked
        f.stack.pop()
        f.pc = f.at
        genexprs.consume(t, Const(list), v, [], {})
        return
    items = _unpackable(t, f.stack[-1], i.arg)
    if len(items) != i.arg:
        raise Unsupported("unpack-count", f"{len(items)} values for {i.arg} names")
    f.stack.pop()
    f.stack.extend(reversed(items))


def _unpackable(t: Trace, v: SymValue, want: int) -> list[SymValue]:
    v = t.use(v)
    if isinstance(v, (Array, Tensor)) and v.rank and want <= MAX_UNROLL:
        if not t.b.dim_is(v.dims[0], want):
            raise Unsupported("unpack-count", "the array has another length")
        return [item(t, v, Const(k)) for k in range(want)]
    return known_items(t, v)


@handles(Op.UNPACK_EX)
def unpack_ex(t: Trace, f: Frame, i: Instr) -> None:
    before, after = i.arg
    v = t.use(f.stack[-1])
    if isinstance(v, Array) and v.rank == 1 and t.b.facts.canon(v.dims[0]).const is None:
        f.stack[-1:] = reversed(_unpacked_array(t, v, before, after))
        return
    items = known_items(t, f.stack[-1])
    if len(items) < before + after:
        raise Unsupported("unpack-count", f"{len(items)} values")
    end = len(items) - after
    f.stack.pop()
    f.stack.extend(reversed([*items[:before], ListV(items[before:end]), *items[end:]]))


def _unpacked_array(t: Trace, v: Array, before: int, after: int) -> list[SymValue]:
    """`a, *b, c = v` of an array of run-time length."""
    n = v.dims[0]
    if not t.b.dim_ge(n, before + after):
        raise Unsupported("unpack-count", "the array is too short")
    middle = ListV([])
    inner = item(t, v, SliceV(Const(before), Const(-after if after else None), NONE))
    if not runlists.extend(t, middle, inner):
        raise Unsupported("container-op", f"the items of {describe(v)}")
    head = [item(t, v, Const(k)) for k in range(before)]
    return [*head, middle, *(item(t, v, Const(k)) for k in range(-after, 0))]
