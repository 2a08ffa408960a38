"""Methods of lists, dicts, sets, tuples and strings, at trace time.

Containers made in the segment change in place. Of those that existed before, appended items are noted; for other changes a
virtual container takes their place, which is written back at the exit (see `effects`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, DictV, ListV, Scalar, SetV, SymValue, TupleV, Unsupported, tuple_fields

from . import effects, runlists, sequences, strings
from .calls import builtin_method
from .containers import append_item, contains, dict_items, dict_value, extend_list, key_of, known_items
from .inputs import describe
from .interpreter import Trace
from .runlists import dims_of
from .standins import held
from .subscripts import static_key
from .symbolic import DictViewV, InputObject, RunListV, TextV

# ------------------------------------------------------------------------------------------------ lists


@builtin_method(list.append)
def append(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    append_item(t, growing_list(t, self), x)
    return NONE


@builtin_method(list.extend)
def extend(t: Trace, self: SymValue, other: SymValue) -> SymValue:
    looked = t.use(other)
    items = None if isinstance(looked, (Array, RunListV)) else ListV(known_items(t, looked))
    extend_list(t, growing_list(t, self), looked if items is None else items)
    return NONE


@builtin_method(list.insert)
def insert(t: Trace, self: SymValue, index: SymValue, x: SymValue) -> SymValue:
    at, looked = static_key(t, index), t.use(self)
    if isinstance(looked, RunListV) and type(at) is int and runlists.insert(t, looked, at, x):
        return NONE
    own_list(t, self).items.insert(at, x)
    t.mutated()
    return NONE


@builtin_method(list.pop)
def list_pop(t: Trace, self: SymValue, index: SymValue = Const(-1)) -> SymValue:
    at = static_key(t, index)
    looked = t.use(self)
    if isinstance(looked, RunListV) and type(at) is int and at in (0, -1):
        return runlists.pop(t, looked, at == 0)
    items = known_items(t, self)
    if not (isinstance(at, int) and -len(items) <= at < len(items)):
        raise Unsupported("key-error", "pop index out of range")
    target = own_list(t, self)
    t.mutated()
    return target.items.pop(at)


@builtin_method(list.reverse)
def reverse(t: Trace, self: SymValue) -> SymValue:
    looked = t.use(self)
    if isinstance(looked, RunListV) and sequences.reverse_in_place(t, looked):
        return NONE
    own_list(t, self).items.reverse()
    t.mutated()
    return NONE


@builtin_method(list.clear)
def list_clear(t: Trace, self: SymValue) -> SymValue:
    own_list(t, self).items.clear()
    t.mutated()
    return NONE


@builtin_method(list.remove)
def remove(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    at = _position(t, self, x)
    del own_list(t, self).items[at]
    t.mutated()
    return NONE


@builtin_method(list.sort)
def sort(t: Trace, self: SymValue, *, key: SymValue = NONE, reverse: SymValue = Const(False)) -> SymValue:
    items = sorted_constants(t, known_items(t, self), key, reverse)
    own_list(t, self).items[:] = items
    t.mutated()
    return NONE


@builtin_method(list.copy)
def list_copy(t: Trace, self: SymValue) -> SymValue:
    return ListV(known_items(t, self))


@builtin_method(list.index, tuple.index)
def index(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    return Const(_position(t, self, x))


@builtin_method(list.count, tuple.count)
def count(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    counted = sequences.occurrences(t, x, self)
    if counted is not None:
        return counted
    value, items = _constants(t, [x]), _constants(t, known_items(t, self))
    return Const(items.count(value[0]))


def _position(t: Trace, self: SymValue, x: SymValue) -> int:
    (value,), items = _constants(t, [x]), _constants(t, known_items(t, self))
    if value not in items:
        raise Unsupported("key-error", f"{value!r} is not in the list")
    return items.index(value)


def _constants(t: Trace, values: list[SymValue]) -> list[Any]:
    """The values themselves, which must be plain constants."""
    return [key_of(t, v) for v in values]


def sorted_constants(t: Trace, items: list[SymValue], key: SymValue, reverse: SymValue) -> list[SymValue]:
    """The items in order; they must be constants, and no function may be needed to compare them."""
    function, backwards = t.look(key), t.b.static(t.use(reverse))
    if not (isinstance(function, Const) and (function.value is None or function.value in _KEYS)):
        raise Unsupported("builtin", "sorting by a function")
    values = _constants(t, items)
    try:
        order = sorted(range(len(values)), key=_by(values, function.value), reverse=backwards)
    except TypeError as e:
        raise Unsupported("builtin", str(e)) from None
    return [items[k] for k in order]


_KEYS = (abs, len, str, int, float, repr)


def _by(values: list[Any], function: Any) -> Any:
    return (lambda k: values[k]) if function is None else lambda k: function(values[k])


def own_list(t: Trace, v: SymValue) -> ListV:
    """A list that may change at will."""
    v = t.use(v)
    if isinstance(v, InputObject) and v.type is list:
        v = effects.take_over(t, v)
    if isinstance(v, RunListV) and not t.loops and not dims_of(v.item):
        items = known_items(t, v)
        runlists.become(v, ListV, items=items)
    if not isinstance(v, ListV):
        raise Unsupported("mutate-object", f"{describe(v)} is changed")
    return v


def growing_list(t: Trace, v: SymValue) -> ListV | RunListV:
    """What is appended to goes to the end of this list."""
    v = t.use(v)
    if isinstance(v, InputObject) and v.type is list and effects.whole(t, v) is None:
        return effects.tail(t, v)
    return v if isinstance(v, RunListV) else own_list(t, v)


# ------------------------------------------------------------------------------------------------ dicts


def own_dict(t: Trace, v: SymValue) -> DictV:
    """A dict that may change at will."""
    v = t.use(v)
    if isinstance(v, InputObject) and v.type is dict:
        v = effects.take_over(t, v)
    if not isinstance(v, DictV):
        raise Unsupported("container-op", f"a method of {describe(v)}")
    return v


def _some_dict(t: Trace, v: SymValue) -> DictV | InputObject:
    v = t.use(v)
    if isinstance(v, DictV) or (isinstance(v, InputObject) and v.type is dict):
        return v
    raise Unsupported("container-op", f"a method of {describe(v)}")


@builtin_method(dict.get)
def dict_get(t: Trace, self: SymValue, k: SymValue, default: SymValue = NONE) -> SymValue:
    found = dict_value(t, self, k)
    return default if found is None else found


@builtin_method(dict.keys)
def dict_keys(t: Trace, self: SymValue) -> SymValue:
    return DictViewV(_some_dict(t, self), "keys")


@builtin_method(dict.values)
def dict_values(t: Trace, self: SymValue) -> SymValue:
    return DictViewV(_some_dict(t, self), "values")


@builtin_method(dict.items)
def dict_pairs(t: Trace, self: SymValue) -> SymValue:
    return DictViewV(_some_dict(t, self), "items")


@builtin_method(dict.copy)
def dict_copy(t: Trace, self: SymValue) -> SymValue:
    return DictV(dict(dict_items(t, self)))


@builtin_method(dict.update)
def dict_update(t: Trace, self: SymValue, other: SymValue = DictV({}), **kwargs: SymValue) -> SymValue:  # noqa: B008
    new = {**pairs_of(t, other), **kwargs}
    store_items(t, self, new)
    return NONE


def pairs_of(t: Trace, v: SymValue) -> dict[Any, SymValue]:
    """What `dict(v)` holds."""
    looked = t.use(held(t, v))
    if isinstance(looked, DictV) or (isinstance(looked, InputObject) and looked.type is dict):
        return dict_items(t, looked)
    pairs = [known_items(t, pair) for pair in known_items(t, looked)]
    if any(len(p) != 2 for p in pairs):
        raise Unsupported("container-op", "a dict of items that are no pairs")
    return {key_of(t, k): x for k, x in pairs}


def store_items(t: Trace, v: SymValue, new: dict[Any, SymValue]) -> None:
    """Set items of a dict."""
    target = _some_dict(t, v)
    whole = effects.whole(t, target) if isinstance(target, InputObject) else target
    if isinstance(whole, DictV):
        whole.items.update(new)
        t.mutated()
        return
    for k, x in new.items():
        effects.note(t, target, "item", k, x)  # type: ignore[arg-type]


@builtin_method(dict.setdefault)
def setdefault(t: Trace, self: SymValue, k: SymValue, default: SymValue = NONE) -> SymValue:
    found = dict_value(t, self, k)
    if found is None:
        store_items(t, self, {key_of(t, k): default})
        return default
    return found


@builtin_method(dict.pop)
def dict_pop(t: Trace, self: SymValue, k: SymValue, default: SymValue | None = None) -> SymValue:
    found = dict_value(t, self, k)
    if found is None:
        if default is None:
            raise Unsupported("key-error", describe(k))
        return default
    target, key = own_dict(t, self), key_of(t, k)
    t.mutated()
    return target.items.pop(key)


@builtin_method(dict.popitem)
def popitem(t: Trace, self: SymValue) -> SymValue:
    target = own_dict(t, self)
    if not target.items:
        raise Unsupported("key-error", "the dict is empty")
    key, value = target.items.popitem()
    t.mutated()
    return TupleV((Const(key), value))


@builtin_method(dict.clear)
def dict_clear(t: Trace, self: SymValue) -> SymValue:
    own_dict(t, self).items.clear()
    t.mutated()
    return NONE


# ------------------------------------------------------------------------------------------------ sets


def _own_set(t: Trace, v: SymValue) -> SetV:
    v = t.use(v)
    if not isinstance(v, SetV):
        raise Unsupported("mutate-object", f"{describe(v)} is changed")
    return v


@builtin_method(set.add)
def add(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    target, key = _own_set(t, self), key_of(t, x)
    target.items.add(key)
    t.mutated()
    return NONE


@builtin_method(set.discard)
def discard(t: Trace, self: SymValue, x: SymValue) -> SymValue:
    target, key = _own_set(t, self), key_of(t, x)
    target.items.discard(key)
    t.mutated()
    return NONE


@builtin_method(set.update)
def set_update(t: Trace, self: SymValue, *others: SymValue) -> SymValue:
    keys = [key_of(t, v) for other in others for v in known_items(t, other)]
    _own_set(t, self).items.update(keys)
    t.mutated()
    return NONE


def _combine(name: str) -> Any:
    def rule(t: Trace, self: SymValue, *others: SymValue) -> SymValue:
        sets = [{key_of(t, v) for v in known_items(t, x)} for x in (self, *others)]
        return SetV(set(getattr(set, name)(*sets)))

    return rule


for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
    builtin_method(getattr(set, _name))(_combine(_name))


# ------------------------------------------------------------------------------------------------ tuples


def replace_fields(t: Trace, self: SymValue, **kwargs: SymValue) -> SymValue:
    """`namedtuple._replace`."""
    assert isinstance(self, TupleV)
    names = tuple_fields(self.cls)
    if not set(kwargs) <= set(names):
        raise Unsupported("call-arguments", "_replace of a field that is not there")
    return TupleV(tuple(kwargs.get(k, x) for k, x in zip(names, self.items)), None, self.cls)


def as_dict(t: Trace, self: SymValue) -> SymValue:
    """`namedtuple._asdict`."""
    assert isinstance(self, TupleV)
    return DictV(dict(zip(tuple_fields(self.cls), self.items)))


# ------------------------------------------------------------------------------------------------ strings


def _of_constants(method: Any) -> Any:
    def rule(t: Trace, *args: SymValue, **kwargs: SymValue) -> SymValue:
        if not kwargs and any(isinstance(t.look(v), (Scalar, TextV)) for v in _flat(t, args)):
            return strings.text(t, method, *(TupleV(tuple(_flat(t, (v,)))) if _is_seq(t, v) else v for v in args))
        values = [_plain_value(t, v) for v in args]
        try:
            out = method(*values, **{k: _plain_value(t, v) for k, v in kwargs.items()})
        except Exception as e:
            raise Unsupported("string-op", str(e)) from None
        return ListV(list(map(Const, out))) if isinstance(out, list) else Const(out)

    return rule


def _is_seq(t: Trace, v: SymValue) -> bool:
    return isinstance(t.look(v), (ListV, TupleV))


def _flat(t: Trace, args: Iterable[SymValue]) -> list[SymValue]:
    """The arguments, with the items of lists and tuples in their place."""
    return [x for v in args for x in (known_items(t, t.look(v)) if _is_seq(t, v) else [v])]


def _plain_value(t: Trace, v: SymValue) -> Any:
    """A constant, or a list or tuple of such (for `str.join`)."""
    v = t.look(v)
    if isinstance(v, (ListV, TupleV, DictViewV)):
        return [_plain_value(t, x) for x in known_items(t, v)]
    if isinstance(v, Const) and isinstance(v.value, (str, bytes, int, float, bool, tuple, type(None))):
        return v.value
    raise Unsupported("string-op", f"text of {describe(v)}")


for _name in dir(str):
    if callable(getattr(str, _name)) and not _name.startswith("_"):
        builtin_method(getattr(str, _name))(_of_constants(getattr(str, _name)))

__all__ = ["contains", "pairs_of", "replace_fields", "sorted_constants", "store_items"]
