"""Tables from a library's callables, method names and attribute names to rules; each library has one.

In: rules decorated with `rule`, `method`, `attribute`. Out: `lookup*` for the tracer; a found rule binds its arguments by its
own Python signature. Never: runs a rule by itself.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

from .builder import Builder
from .values import SymValue, Unsupported

Rule = Callable[..., SymValue]
"""`rule(b, *args, **kwargs) -> SymValue`; arguments are symbolic values. Raises `Unsupported` for what is not modelled."""

_signature = functools.cache(inspect.signature)
"""Signatures are read at the first call: reading hundreds of them would take most of the time of importing the rules."""


class Registry:
    """The rules of one library.

    package : whose modules register rules; a look-up imports one after the other until it finds something.
    kinds : what has methods and attributes ("array", "scalar", "tensor").
    common : the modules to begin with.
    """

    def __init__(self, package: str, kinds: Iterable[str], common: Iterable[str] = ()) -> None:
        self.package = package
        self._common = tuple(common)
        self._rules: dict[Any, Rule] = {}
        self._methods: dict[str, dict[str, Rule]] = {k: {} for k in kinds}
        self._attributes: dict[str, dict[str, Rule]] = {k: {} for k in kinds}
        self._waiting: list[str] | None = None

    def rule(self, *callables: Any) -> Callable[[Rule], Rule]:
        """Register a rule for functions, ufuncs or types (by identity)."""

        def register(fn: Rule) -> Rule:
            bound = _binding(fn)
            for c in callables:
                if c in self._rules:
                    raise ValueError(f"{c!r} has a rule already")
                self._rules[c] = bound
            return fn

        return register

    def method(self, *names: str, on: Iterable[str] | None = None) -> Callable[[Rule], Rule]:
        """Register `rule(b, self, *args, **kwargs)` for methods of some kinds of value (all of them by default)."""
        return _into(self._methods, names, on)

    def attribute(self, *names: str, on: Iterable[str] | None = None) -> Callable[[Rule], Rule]:
        """Register `rule(b, self)` for attributes of some kinds of value (all of them by default)."""
        return _into(self._attributes, names, on)

    def lookup(self, callable_: Any) -> Rule | None:
        """The rule of a callable (bound methods of known arrays are `lookup_method`'s)."""
        try:
            return self._found(self._rules, callable_)
        except TypeError:  # unhashable
            return None

    def lookup_method(self, name: str, on: str) -> Rule | None:
        """The rule of a method; call it with self first."""
        return self._found(self._methods[on], name)

    def lookup_attribute(self, name: str, on: str) -> Rule | None:
        return self._found(self._attributes[on], name)

    def _found(self, table: dict[Any, Rule], key: Any) -> Rule | None:
        while key not in table and self._load_one():
            pass
        return table.get(key)

    def _load_one(self) -> bool:
        """Import the next module; False when there is none left."""
        if self._waiting is None:
            package = importlib.import_module(self.package)
            names = {name.partition(".")[0] for folder in package.__path__ for name in os.listdir(folder) if ".py" in name}
            rest = sorted(names - {"__init__", *self._common}, reverse=True)
            self._waiting = [*rest, *reversed(self._common)]
        if not self._waiting:
            return False
        importlib.import_module(f"{self.package}.{self._waiting.pop()}")
        return True

    def load(self) -> None:
        """Import every rule module of the package, once."""
        while self._load_one():
            pass

    def all_rules(self) -> dict[Any, Rule]:
        """Every callable with a rule (for tests and documentation)."""
        self.load()
        return dict(self._rules)

    def all_methods(self, on: str) -> dict[str, Rule]:
        """Every method with a rule (for tests and documentation)."""
        self.load()
        return dict(self._methods[on])

    def all_attributes(self, on: str) -> dict[str, Rule]:
        """Every attribute with a rule (for documentation)."""
        self.load()
        return dict(self._attributes[on])


class NamedRegistry(Registry):
    """The rules of a library that may be missing or of many versions: registered by name; what it lacks is left out.

    module : gives the library's module, array_class : its class of arrays, when the first rule is registered.
    """

    def __init__(self, package: str, module: Callable[[], Any], array_class: Callable[[], type]) -> None:
        super().__init__(package, ("tensor",))
        self._module, self._array_class = module, array_class

    def method(self, *names: str, on: Iterable[str] | None = None) -> Callable[[Rule], Rule]:
        """Register `rule(b, self, ...)` for methods of arrays that this version has."""
        return super().method(*(n for n in names if hasattr(self._array_class(), n)), on=on)

    def functions(self, *names: str) -> Callable[[Rule], Rule]:
        """Register a rule for functions by their dotted names; one that is another name of one before is left out, too."""
        found: list[Any] = []
        for name in names:
            x = functools.reduce(lambda owner, part: getattr(owner, part, None), name.split("."), self._module())
            if x is not None and not any(x is y for y in found):
                found.append(x)
        return self.rule(*found)

    def both(self, *names: str) -> Callable[[Rule], Rule]:
        """Register a rule for functions and for methods of the same names."""

        def register(fn: Rule) -> Rule:
            self.functions(*names)(fn)
            return self.method(*names)(fn)

        return register


def _into(table: dict[str, dict[str, Rule]], names: tuple[str, ...], on: Iterable[str] | None) -> Callable[[Rule], Rule]:
    kinds = tuple(table) if on is None else (on,) if isinstance(on, str) else tuple(on)

    def register(fn: Rule) -> Rule:
        bound = _binding(fn)
        for kind in kinds:
            for name in names:
                if name in table[kind]:
                    raise ValueError(f"{name!r} of {kind} has a rule already")
                table[kind][name] = bound
        return fn

    return register


def _binding(fn: Rule) -> Rule:
    @functools.wraps(fn)
    def bound(b: Builder, /, *args: SymValue, **kwargs: SymValue) -> SymValue:
        try:
            call = _signature(fn).bind(b, *args, **kwargs)
        except TypeError as e:
            raise Unsupported("arguments", str(e)) from None
        return fn(*call.args, **call.kwargs)

    return bound
