"""Builtins and list methods on iterables whose length is known at run time only: arrays, ranges, lists that grew.

In: symbolic iterables. Out: values, or the frame of a plain function that does the same with a loop (see `plain`).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.frontends.numpy import indexing, registry
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, ListV, RangeV, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value

from . import library, plain, runlists, strings
from .calls import builtin, builtin_method, call
from .inputs import describe
from .interpreter import Trace
from .iterators import short, trip_count
from .numbers import BOOL, FLOAT64, INT64, dtype_of, is_number, python
from .operators import binary_op, compare_op
from .runlist_uses import any_all, call_plain, total
from .standins import held
from .symbolic import ArrayIterV, Item, IterV, RunListV

FORWARDS = SliceV(NONE, NONE, Const(-1))


def is_long(t: Trace, v: SymValue) -> bool:
    """Is it an iterable of numbers or rows whose length is known at run time only?"""
    v = t.use(held(t, v))
    if isinstance(v, RunListV):
        return True
    return isinstance(v, (Array, RangeV)) and (not isinstance(v, Array) or v.rank > 0) and not short(t, v)


def reduced(t: Trace, name: str, items: SymValue) -> SymValue | None:
    """`any`, `all`, `min` or `max` of such an iterable."""
    v = t.use(items)
    if name in ("min", "max") and isinstance(v, (Array, RangeV)):
        if isinstance(v, Array) and v.rank != 1:
            raise Unsupported("builtin", f"{name} of {describe(v)}")
        n = v.dims[0] if isinstance(v, Array) else trip_count(t, v)
        if not t.b.dim_ge(n, 1):
            raise Unsupported("builtin", f"{name} of nothing")
    return call_plain(t, {"any": plain.any_of, "all": plain.all_of, "min": plain.min_of, "max": plain.max_of}[name], v)


def summed(t: Trace, items: SymValue, start: SymValue) -> SymValue | None:
    """`sum` of such an iterable."""
    v = t.use(items)
    if isinstance(v, RunListV):
        return total(t, v, start)
    return call_plain(t, plain.sum_of, v, start)


def reversed_array(t: Trace, v: Array) -> SymValue:
    """`reversed(v)`."""
    return ArrayIterV(library.getitem(t, v, FORWARDS), Const(0))


def same_lengths(t: Trace, its: list[IterV]) -> bool:
    """Do iterators have equally many turns? The answer is a guard."""
    from .iterators import limits_of

    known = [limits_of(t, it) for it in its]
    flat = [d for k in known for d in (k or ())]
    return None not in known and all(t.b.dim_is(d, flat[0]) for d in flat[1:])


# ------------------------------------------------------------------------------------------------ lists of an array

_PYTHON_NUMBERS = {"b": BOOL, "i": INT64, "u": INT64, "f": FLOAT64, "c": np.dtype(np.complex128)}


@builtin_method(np.ndarray.tolist)
def tolist(t: Trace, self: SymValue) -> SymValue:
    v = t.use(self)
    if isinstance(v, Array) and v.rank in (1, 2) and v.dtype.kind in _PYTHON_NUMBERS and v.dtype != np.dtype(np.uint64):
        dims = [t.b.facts.canon(d) for d in t.b.dims(v)]
        if any(d.const is None or d.const > 64 for d in dims) and v.dtype.itemsize <= 16:
            return _list_of_numbers(t, v, dims)
    rule = registry.lookup_method("tolist", "array" if isinstance(v, Array) else "scalar")
    assert rule is not None
    return library.call(t, np.ndarray.tolist, rule, [v], {})


def _list_of_numbers(t: Trace, v: Array, dims: list[Dim]) -> SymValue:
    dtype = _PYTHON_NUMBERS[v.dtype.kind]
    column = t.b.new_array(dtype, tuple(dims))
    t.b.store(column, t.b.convert(t.b.read(v), dtype))
    item = Item("number", dtype, python=True)
    return runlists.made(t, [column], item if len(dims) == 1 else Item("list", dims=(dims[1],), parts=(item,)), dims[0])


# ------------------------------------------------------------------------------------------------ order


@builtin(plain.ordered)
def ordered(t: Trace, keys: SymValue, reverse: SymValue) -> SymValue:
    """The order of run-time keys; where one is NaN, Python finds it."""
    v, backwards = t.use(keys), t.b.static(t.use(reverse))
    if isinstance(v, (ListV, RunListV)) and not _orderable(t, v):
        raise Unsupported("builtin", "sorting of what are no numbers of one kind")
    if isinstance(v, RunListV) and v.item.kind == "tuple":
        return _order_of_tuples(t, v, bool(backwards))
    array = runlists.as_array(t, v) if isinstance(v, RunListV) else call(t, Const(np.array), [v], {})
    if not isinstance(array, Array) or array.rank != 1 or array.dtype.kind not in "bif":
        raise Unsupported("builtin", f"sorting by {describe(array) if array is not None else 'a function'}")
    if array.dtype.kind == "f":
        _no_nan(t, array)
    last = t.int_of(t.b.dims(array)[0] - 1)
    own = library.getitem(t, array, FORWARDS) if backwards else array
    out = call(t, Const(np.argsort), [own], {"kind": Const("stable")})
    if backwards:
        out = binary_op(t, "-", last, library.getitem(t, out, FORWARDS))  # type: ignore[arg-type]
    return out  # type: ignore[return-value]


def _no_nan(t: Trace, v: Array) -> None:
    t.b.exit_if(_any(t, t.b.array(t.b.emit("isnan", t.b.read(v)))), "nan-order")


def _order_of_tuples(t: Trace, v: RunListV, backwards: bool) -> SymValue:
    columns: list[SymValue] = []
    for column in runlists.in_use(t.b, v):
        if column.dtype.kind == "f":
            _no_nan(t, column)
        own = library.getitem(t, column, FORWARDS) if backwards else column
        columns.append(own)
    out = call(t, Const(np.lexsort), [TupleV(tuple(reversed(columns)))], {})
    if backwards:
        last = t.int_of(runlists.count_of(t, v) - 1)
        out = binary_op(t, "-", last, library.getitem(t, out, FORWARDS))  # type: ignore[arg-type]
    return out  # type: ignore[return-value]


def _orderable(t: Trace, v: ListV | RunListV) -> bool:
    if isinstance(v, RunListV):
        if v.item.kind == "tuple" and all(p.kind == "number" and p.dtype.kind in "bif" for p in v.item.parts):  # type: ignore[union-attr]
            return not v.lead and not v.extra
        return v.item.kind == "number" and not v.lead and not v.extra
    kinds = {(dtype_of(x) if is_number(x) else x.dtype if isinstance(x, Scalar) else None) for x in map(t.use, v.items)}
    return len(kinds) == 1 and None not in kinds


def sorted_list(t: Trace, items: SymValue, key: SymValue, reverse: SymValue) -> SymValue | None:
    """`sorted(items, key=key, reverse=reverse)` of what is known at run time only; a frame is entered."""
    v = t.use(items)
    if isinstance(v, ListV):
        v = _growable(t, v)
    if isinstance(v, Array) and v.rank != 1:
        raise Unsupported("builtin", f"sorting of {describe(v)}")
    function = t.b.force(key)
    if isinstance(function, Const) and function.value is None:
        return call_plain(t, plain.sorted_list, v, reverse)
    return call_plain(t, plain.sorted_by, v, key, reverse)


def _growable(t: Trace, v: ListV) -> SymValue:
    """A list of known length as one whose items are found by run-time positions."""
    kinds = [runlists.item_of(t, x) for x in v.items]
    if not kinds or any(k != kinds[0] for k in kinds):
        raise Unsupported("builtin", "sorting of several kinds of items")
    copy = ListV(list(v.items))
    runlists.convert(t, copy, kinds[0], Dim.of(len(kinds)))
    return copy


# ------------------------------------------------------------------------------------------------ computed positions

MOST_PICKED = 32
"""Of so many numbers one is chosen by comparing the position with each."""


def is_computed(t: Trace, k: SymValue) -> bool:
    """Is it an integer that is computed at run time?"""
    k = t.b.force(k)
    return isinstance(k, Scalar) and k.dtype.kind in "iu" and k.source is None and k.dim is None and k.value is not None


def picked(t: Trace, items: Sequence[SymValue] | str, k: SymValue) -> SymValue | None:
    """`items[k]` of known items at a position computed at run time; None where they are not alike, or the position is known."""
    if not is_computed(t, k) or not may_be_picked(t, items):
        return None
    at = indexing._index(t.b, t.use(k), Dim.of(len(items)))
    return item_at(t, items, t.b.dim_value(at) if isinstance(at, Dim) else at)


def may_be_picked(t: Trace, items: Sequence[SymValue] | str) -> bool:
    """Are the items alike, and few?"""
    if not items or len(items) > MOST_PICKED:
        return False
    return isinstance(items, str) or _alike(t, [_looked(t, x) for x in items])


def item_at(t: Trace, items: Sequence[SymValue] | str, where: Value) -> SymValue:
    """The item at a position that is known to be there."""
    if isinstance(items, str):
        return strings.text(t, operator.getitem, Const(items), python(where))
    return _choice(t, [_looked(t, x) for x in items], where)


def _looked(t: Trace, v: SymValue) -> SymValue:
    v = t.use(v)
    return TupleV(tuple(map(Const, v.value))) if isinstance(v, Const) and type(v.value) is tuple else v


def _alike(t: Trace, items: Sequence[SymValue]) -> bool:
    first = items[0]
    if all(isinstance(x, Const) and type(x.value) is str for x in items):
        return True
    if isinstance(first, TupleV) and first.cls is tuple:
        same = all(isinstance(x, TupleV) and x.cls is tuple and len(x.items) == len(first.items) for x in items)
        return same and all(_alike(t, [_looked(t, x) for x in column]) for column in zip(*(x.items for x in items)))  # type: ignore[attr-defined]
    return len({_number(x) for x in items}) == 1 and _number(first) is not None


def _number(v: SymValue) -> Any:
    """Dtype and kind of a number."""
    if is_number(v):
        return dtype_of(v), "python"
    if isinstance(v, Const) and isinstance(v.value, np.generic):
        return v.value.dtype, "numpy"
    return (v.dtype, "numpy") if isinstance(v, Scalar) else None


def _choice(t: Trace, items: Sequence[SymValue], where: Value) -> SymValue:
    first = items[0]
    if isinstance(first, TupleV):
        return TupleV(tuple(_choice(t, [_looked(t, x) for x in column], where) for column in zip(*(x.items for x in items))))  # type: ignore[attr-defined]
    if isinstance(first, Const) and isinstance(first.value, str):
        return strings.text(t, operator.getitem, Const(tuple(x.value for x in items)), python(where))  # type: ignore[attr-defined]
    out = t.b.value_of(items[-1])
    for n in reversed(range(len(items) - 1)):
        out = t.b.emit("select", t.b.emit("eq", where, t.b.const(n, INT64)), t.b.value_of(items[n]), out)
    return t.b.scalar(out, _number(first)[1])


# ------------------------------------------------------------------------------------------------ methods of lists


def numbers_of(t: Trace, v: SymValue) -> Array | None:
    """The numbers of a list of run-time length that holds nothing else, where they are; None for other values."""
    v = t.use(v)
    if not isinstance(v, RunListV) or v.lead or v.extra or v.item.kind != "number":
        return None
    return runlists.in_use(t.b, v)[0]


def member(t: Trace, x: SymValue, v: SymValue) -> SymValue | None:
    """`x in v` of a list or tuple of run-time numbers; None for other values."""
    known = t.use(v)
    if isinstance(known, (ListV, TupleV)):
        return _member_of_known(t, t.use(x), [t.use(y) for y in known.items])
    found = _equals(t, x, v)
    return None if found is None else python(_any(t, found))


def _member_of_known(t: Trace, x: SymValue, items: list[SymValue]) -> SymValue | None:
    if all(isinstance(y, Const) for y in (x, *items)) or any(_number(y) is None for y in (x, *items)):
        return None
    if any(x is y for y in items):
        return Const(True)
    if not isinstance(x, Const) and dtype_of_number(x).kind in "fc":
        t.b.exit_if(t.b.emit("isnan", t.b.value_of(x)), "nan-order")
    return any_all(t, "any", [compare_op(t, "==", x, y) for y in items])


def dtype_of_number(v: SymValue) -> np.dtype:
    found: np.dtype = _number(v)[0]
    return found


def occurrences(t: Trace, x: SymValue, v: SymValue) -> Scalar | None:
    """`v.count(x)`."""
    found = _equals(t, x, v)
    if found is None:
        return None
    number = call(t, Const(np.sum), [found], {})
    assert number is not None
    return python(t.b.value_of(number))


def _any(t: Trace, v: Array) -> Value:
    out = call(t, Const(np.any), [v], {})
    assert out is not None
    return t.b.value_of(out)


def _equals(t: Trace, x: SymValue, v: SymValue) -> Array | None:
    """Which numbers of a list are equal to one; a NaN is itself, which numbers do not tell."""
    own, x = numbers_of(t, v), t.use(x)
    if own is None or not (is_number(x) or isinstance(x, Scalar)):
        return None
    number = t.b.value_of(x)
    if number.type.dtype.kind in "fc":  # type: ignore[union-attr]
        t.b.exit_if(t.b.emit("isnan", number), "nan-order")
    out = compare_op(t, "==", own, t.b.scalar(number, "numpy"))
    return out if isinstance(out, Array) else None


def reverse_in_place(t: Trace, v: RunListV) -> bool:
    """`v.reverse()`."""
    if v.lead or v.extra:
        return False
    for part in runlists.in_use(t.b, v):
        turned = call(t, Const(np.copy), [library.getitem(t, part, FORWARDS)], {})
        assert isinstance(turned, Array)
        t.b.store(part, t.b.read(turned))
    t.mutated()
    return True


def set_number(t: Trace, v: RunListV, k: SymValue, value: SymValue) -> bool:
    """`v[k] = value` where that is a number as the others are."""
    own = numbers_of(t, v)
    if own is None or isinstance(k, SliceV) or runlists.item_of(t, value) != v.item:
        return False
    n = runlists.count_of(t, v)
    where = indexing._index(t.b, t.use(k), n)
    at = t.b.dim_value(where) if isinstance(where, Dim) else where
    t.b.store_item(v.columns[0], t.b.value_of(t.use(value), v.item.dtype), [at])
    t.mutated()
    return True


__all__ = ["is_long", "member", "ordered", "reduced", "sorted_list", "summed", "tolist"]
