"""Containers of `collections` as plain Python: compiled code follows these classes, an exit makes the real objects.

In: what the real classes are called with. Out: the same behaviour, written with a list or dict, for the methods that are here;
what is not here is left to Python. Never: shown to the user; a frame in a method is never left.
"""

from __future__ import annotations

import collections
import importlib
import types
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from npcompile.frontends.values import SymValue

    from .interpreter import Trace


class Deque:
    """`collections.deque`."""

    def __init__(self, iterable: Any = (), maxlen: Any = None) -> None:
        self.maxlen = maxlen
        self.held: Any = list(iterable)
        while maxlen is not None and len(self.held) > maxlen:
            self.held.pop(0)

    def append(self, x: Any) -> None:
        self.held.append(x)
        if self.maxlen is not None and len(self.held) > self.maxlen:
            self.held.pop(0)

    def appendleft(self, x: Any) -> None:
        self.held.insert(0, x)
        if self.maxlen is not None and len(self.held) > self.maxlen:
            self.held.pop()

    def extend(self, iterable: Any) -> None:
        for x in list(iterable):
            self.append(x)

    def extendleft(self, iterable: Any) -> None:
        for x in list(iterable):
            self.appendleft(x)

    def pop(self) -> Any:
        return self.held.pop()

    def popleft(self) -> Any:
        return self.held.pop(0)

    def clear(self) -> None:
        self.held.clear()

    def reverse(self) -> None:
        self.held.reverse()

    def count(self, x: Any) -> int:
        return self.held.count(x)  # type: ignore[no-any-return]

    def rotate(self, n: int = 1) -> None:
        if len(self.held) > 1:
            for _ in range(len(self.held) - n % len(self.held)):
                self.held.append(self.held.pop(0))

    def copy(self) -> Any:
        return Deque(self.held, self.maxlen)

    def __getitem__(self, k: Any) -> Any:
        return self.held[k]

    def __setitem__(self, k: Any, x: Any) -> None:
        self.held[k] = x

    def __iadd__(self, iterable: Any) -> Any:
        self.extend(iterable)
        return self


class Mapping:
    """What the dicts have in common."""

    held: Any

    def __setitem__(self, k: Any, x: Any) -> None:
        self.held[k] = x

    def keys(self) -> Any:
        return self.held.keys()

    def values(self) -> Any:
        return self.held.values()

    def items(self) -> Any:
        return self.held.items()

    def get(self, k: Any, default: Any = None) -> Any:
        return self.held.get(k, default)

    def setdefault(self, k: Any, default: Any = None) -> Any:
        return self.held.setdefault(k, default)

    def pop(self, k: Any, *default: Any) -> Any:
        return self.held.pop(k, *default)

    def clear(self) -> None:
        self.held.clear()


class DefaultDict(Mapping):
    """`collections.defaultdict`."""

    def __init__(self, default_factory: Any = None, *args: Any, **kwargs: Any) -> None:
        self.default_factory = default_factory
        self.held = dict(*args, **kwargs)

    def __getitem__(self, k: Any) -> Any:
        if k not in self.held and self.default_factory is not None:
            self.held[k] = self.default_factory()
        return self.held[k]

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.held.update(*args, **kwargs)


class OrderedDict(Mapping):
    """`collections.OrderedDict`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.held = dict(*args, **kwargs)

    def __getitem__(self, k: Any) -> Any:
        return self.held[k]

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.held.update(*args, **kwargs)

    def move_to_end(self, k: Any) -> None:
        self.held[k] = self.held.pop(k)


class Counter(Mapping):
    """`collections.Counter`."""

    def __init__(self, iterable: Any = (), **kwargs: Any) -> None:
        self.held = {}
        self.update(iterable, **kwargs)

    def __getitem__(self, k: Any) -> Any:
        return self.held.get(k, 0)

    def update(self, iterable: Any = (), **kwargs: Any) -> None:
        if isinstance(iterable, dict):
            for k, n in list(iterable.items()):
                self.held[k] = n + self.held.get(k, 0)
        else:
            for k in list(iterable):
                self.held[k] = self.held.get(k, 0) + 1
        for k, n in list(kwargs.items()):
            self.held[k] = n + self.held.get(k, 0)

    def total(self) -> Any:
        return sum(self.held.values())


class Broadcast:
    """`np.broadcast`, as far as shapes go."""

    def __init__(self, *given: Any) -> None:
        self.given = given
        self.shape = np.broadcast_shapes(*[np.shape(x) for x in given])
        self.nd = self.ndim = len(self.shape)


class Converter:
    """`_array_converter` of arrays."""

    def __init__(self, *given: Any) -> None:
        self.held = list(given)

    def __getitem__(self, k: Any) -> Any:
        return self.held[k]

    def as_arrays(self, subok: Any = True, pyscalars: Any = "convert_if_no_array") -> Any:
        return tuple(self.held)

    def wrap(self, obj: Any, to_scalar: Any = None) -> Any:
        return obj


CONVERTER = getattr(importlib.import_module("numpy._core._multiarray_umath"), "_array_converter", None)
"""What NumPy's Python code turns its arguments into arrays with, and results back."""

STANDINS: dict[Any, Any] = {
    collections.deque: Deque,
    collections.defaultdict: DefaultDict,
    collections.OrderedDict: OrderedDict,
    collections.Counter: Counter,
    np.broadcast: Broadcast,
}
REAL = {standin: cls for cls, standin in STANDINS.items()} | {Converter: CONVERTER}


def make_deque(attributes: dict[str, Any]) -> Any:
    return collections.deque(attributes["held"], attributes["maxlen"])


def make_defaultdict(attributes: dict[str, Any]) -> Any:
    return collections.defaultdict(attributes["default_factory"], attributes["held"])


def make_ordered(attributes: dict[str, Any]) -> Any:
    return collections.OrderedDict(attributes["held"])


def make_counter(attributes: dict[str, Any]) -> Any:
    out: Any = collections.Counter()
    dict.update(out, attributes["held"])
    return out


def make_broadcast(attributes: dict[str, Any]) -> Any:
    return np.broadcast(*attributes["given"])


def make_converter(attributes: dict[str, Any]) -> Any:
    assert CONVERTER is not None
    return CONVERTER(*attributes["held"])


def make_namespace(attributes: dict[str, Any]) -> Any:
    return types.SimpleNamespace(**attributes)


MAKERS: dict[Any, Any] = {
    types.SimpleNamespace: make_namespace,
    Deque: make_deque,
    DefaultDict: make_defaultdict,
    OrderedDict: make_ordered,
    Counter: make_counter,
    Broadcast: make_broadcast,
    Converter: make_converter,
}
"""How the real object is made of the attributes of what stands for it."""


def held(t: Trace, v: SymValue) -> SymValue:
    """The list or dict with the items of a value that stands for a container; other values as they are."""
    v = t.b.force(v)
    if getattr(v, "type", None) in REAL and hasattr(v, "attrs") and "held" in v.attrs:
        return t.b.force(v.attrs["held"])
    return v


BY_ITEMS = frozenset({"__iter__", "__len__", "__bool__", "__contains__"})
"""Special methods that the list or dict inside stands for."""


__all__ = ["MAKERS", "REAL", "STANDINS", "held"]
