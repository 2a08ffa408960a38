"""`dataclass` as the standard one, made for a package of a hundred small records that is imported in a first call.

In: a class. Out: the class with `__init__`, `__repr__` and, as asked for, `__eq__` and `__hash__`. The standard decorator writes
and compiles the text of up to six methods for each class, which was half of the import; here only `__init__` is written, for
classes of many objects, the others compare and hash tuples of fields. `frozen` is a promise that the type checker checks; at run
time it only gives a hash.
The functions of the standard module take these classes, too.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")

PLAIN_OBJECTS = 24
"""Objects of a class that are made without a function written for it: writing one takes as long as making so many."""


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
@overload
def dataclass(*, frozen: bool = ..., eq: bool = ...) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(field_specifiers=(field,))
def dataclass(cls: Any = None, /, *, frozen: bool = False, eq: bool = True) -> Any:
    """As `dataclasses.dataclass`, for the two options that are used here."""
    return (lambda c: _make(c, frozen, eq)) if cls is None else _make(cls, frozen, eq)


def _make(cls: Any, frozen: bool, eq: bool) -> Any:
    own = dict(vars(cls))
    found: dict[str, dataclasses.Field[Any]] = {}
    for base in cls.__mro__[:0:-1]:
        found |= vars(base).get("_record_fields", {})
    for name in own.get("__annotations__", ()):
        default = own.get(name, MISSING)
        f = found[name] = default if isinstance(default, dataclasses.Field) else field(default=default)
        f.name = name
        if f is default:
            if f.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
    cls._record_fields = found
    cls.__dataclass_fields__ = _StandardFields()
    cls.__match_args__ = tuple(f.name for f in found.values() if f.init)  # type: ignore[misc]
    cls.__init__ = _first_init(cls, found.values())
    if "__repr__" not in own:
        cls.__repr__ = _repr
    if not eq:
        return cls
    key = _key([f.name for f in found.values() if f.compare])
    if "__eq__" not in own:
        cls.__eq__ = lambda a, b: key(a) == key(b) if b.__class__ is a.__class__ else NotImplemented
    if own.get("__hash__") is None:
        cls.__hash__ = (lambda self: hash(key(self))) if frozen else None
    return cls


def _first_init(cls: Any, found: Iterable[dataclasses.Field[Any]]) -> Callable[..., None]:
    """An `__init__` that goes through the fields; for a class of many objects, or wrong arguments, one is written."""
    taken = [f.name for f in found if f.init]
    made = 0

    def __init__(_record: Any, /, *args: Any, **values: Any) -> None:
        nonlocal made
        made += 1
        given = dict(zip(taken, args), **values)
        wrong = len(given) != len(args) + len(values)
        state: dict[str, Any] = {}
        for f in found:
            if f.init and f.name in given:
                state[f.name] = given.pop(f.name)
            elif f.default_factory is not MISSING:
                state[f.name] = f.default_factory()
            elif f.default is not MISSING:
                state[f.name] = f.default
        if made > PLAIN_OBJECTS or wrong or given or not state.keys() >= set(taken):
            cls.__init__ = _initialiser(cls, found)
            cls.__init__(_record, *args, **values)
            return
        for name, value in state.items():
            setattr(_record, name, value)
        if hasattr(cls, "__post_init__"):
            _record.__post_init__()

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _initialiser(cls: Any, found: Iterable[dataclasses.Field[Any]]) -> Callable[..., None]:
    space: dict[str, Any] = {"__name__": cls.__module__, "_MISSING": MISSING}
    params, body = ["_record"], []
    for f in found:
        made, value = f"_make_{f.name}", f.name
        if f.default_factory is not MISSING:
            space[made] = f.default_factory
            params += [f"{f.name}=_MISSING"] if f.init else []
            value = f"{made}() if {f.name} is _MISSING else {f.name}" if f.init else f"{made}()"
        elif f.default is not MISSING:
            space[made] = f.default
            params += [f"{f.name}={made}"] if f.init else []
            value = f.name if f.init else made
        elif f.init:
            params.append(f.name)
        else:
            continue
        body.append(f"\n _record.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("\n _record.__post_init__()")
    exec(f"def __init__({', '.join(params)}):{''.join(body) or chr(10) + ' pass'}", space)
    init = space["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def replace(record: T, /, **changes: Any) -> T:
    """As `dataclasses.replace`."""
    for f in record.__class__._record_fields.values():  # type: ignore[attr-defined]
        if f.init and f.name not in changes:
            changes[f.name] = getattr(record, f.name)
    return record.__class__(**changes)


class _StandardFields:
    """`__dataclass_fields__`, made when the standard module asks for it."""

    def __get__(self, instance: object, cls: Any) -> Any:
        specs = [(f.name, Any, copy.copy(f)) for f in cls._record_fields.values()]
        cls.__dataclass_fields__ = vars(dataclasses.make_dataclass(cls.__name__, specs))["__dataclass_fields__"]
        return cls.__dataclass_fields__


def _key(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The named attributes of an object as a tuple."""
    get = attrgetter(*names) if names else None
    if get is None:
        return lambda self: ()
    return get if len(names) > 1 else lambda self: (get(self),)


@recursive_repr()
def _repr(self: Any) -> str:
    text = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in self._record_fields.values() if f.repr)
    return f"{type(self).__qualname__}({text})"


__all__ = ["dataclass", "field", "fields", "replace"]
