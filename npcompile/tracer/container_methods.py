"""Methods of virtual lists and dicts, which change in place at trace time."""

from __future__ import annotations

from npcompile.frontends.values import Const, DictV, ListV, SymValue, Unsupported

from .calls import builtin_method
from .containers import dict_items, key_of, known_items, static_key
from .inputs import describe
from .interpreter import Trace
from .symbolic import DictViewV


@builtin_method(list.append)
def append(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    own_list(t, self).items.append(x)
    t.mutated()
    return Const(None)


@builtin_method(list.extend)
def extend(t: Trace, self: SymValue, other: SymValue) -> SymValue:
    target, items = own_list(t, self), known_items(t, other)
    target.items.extend(items)
    t.mutated()
    return Const(None)


@builtin_method(list.insert)
def insert(t: Trace, self: SymValue, index: SymValue, x: SymValue) -> SymValue:
    target, at = own_list(t, self), static_key(t, index)
    target.items.insert(at, x)
    t.mutated()
    return Const(None)


@builtin_method(list.pop)
def list_pop(t: Trace, self: SymValue, index: SymValue = Const(-1)) -> SymValue:
    target, at = own_list(t, self), static_key(t, index)
    if not (isinstance(at, int) and -len(target.items) <= at < len(target.items)):
        raise Unsupported("key-error", "pop index out of range")
    t.mutated()
    return target.items.pop(at)


@builtin_method(list.reverse)
def reverse(t: Trace, self: SymValue) -> SymValue:
    own_list(t, self).items.reverse()
    t.mutated()
    return Const(None)


@builtin_method(list.copy)
def list_copy(t: Trace, self: SymValue) -> SymValue:
    return ListV(list(own_list(t, self).items))


def own_list(t: Trace, v: SymValue) -> ListV:
    v = t.use(v)
    if not isinstance(v, ListV):
        raise Unsupported("mutate-object", "a list that existed before is changed")
    return v


def own_dict(t: Trace, v: SymValue) -> DictV:
    v = t.use(v)
    if not isinstance(v, DictV):
        raise Unsupported("container-op", f"a method of {describe(v)}")
    return v


@builtin_method(dict.get)
def dict_get(t: Trace, self: SymValue, k: SymValue, default: SymValue = Const(None)) -> SymValue:
    return dict_items(t, self).get(key_of(t, k), default)


@builtin_method(dict.keys)
def dict_keys(t: Trace, self: SymValue) -> SymValue:
    return DictViewV(own_dict(t, self), "keys")


@builtin_method(dict.values)
def dict_values(t: Trace, self: SymValue) -> SymValue:
    return DictViewV(own_dict(t, self), "values")


@builtin_method(dict.items)
def dict_pairs(t: Trace, self: SymValue) -> SymValue:
    return DictViewV(own_dict(t, self), "items")


@builtin_method(dict.copy)
def dict_copy(t: Trace, self: SymValue) -> SymValue:
    return DictV(dict(own_dict(t, self).items))
