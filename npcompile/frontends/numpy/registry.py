"""Tables from NumPy callables, method names and attribute names to rules.

In: rules decorated with `@rule`, `@method`, `@attribute`. Out: `lookup*` for the tracer; a found rule binds its arguments by
its own Python signature. Never: runs a rule by itself.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue, Unsupported

Rule = Callable[..., SymValue]
"""`rule(b, *args, **kwargs) -> SymValue`; arguments are symbolic values. Raises `Unsupported` for what is not modelled."""

NONE = Const(None)
NO_VALUE = Const(getattr(importlib.import_module("numpy"), "_NoValue"))  # noqa: B009
TRUE, FALSE = Const(True), Const(False)

_rules: dict[Any, Rule] = {}
_methods: dict[str, dict[str, Rule]] = {"array": {}, "scalar": {}}
_attributes: dict[str, dict[str, Rule]] = {"array": {}, "scalar": {}}
_loaded = False


def rule(*callables: Any) -> Callable[[Rule], Rule]:
    """Register a rule for NumPy functions, ufuncs or types (by identity)."""

    def register(fn: Rule) -> Rule:
        bound = _binding(fn)
        for c in callables:
            if c in _rules:
                raise ValueError(f"{c!r} has a rule already")
            _rules[c] = bound
        return fn

    return register


def method(*names: str, on: Iterable[str] = ("array", "scalar")) -> Callable[[Rule], Rule]:
    """Register `rule(b, self, *args, **kwargs)` for methods of ndarray ("array") and of np.generic ("scalar")."""
    return _into(_methods, names, on)


def attribute(*names: str, on: Iterable[str] = ("array", "scalar")) -> Callable[[Rule], Rule]:
    """Register `rule(b, self)` for attributes of ndarray ("array") and of np.generic ("scalar")."""
    return _into(_attributes, names, on)


def lookup(callable_: Any) -> Rule | None:
    """The rule of a callable (bound NumPy methods of known arrays are `lookup_method`'s)."""
    load()
    try:
        return _rules.get(callable_)
    except TypeError:  # unhashable
        return None


def lookup_method(name: str, on: str = "array") -> Rule | None:
    """The rule of a method of ndarray (on="array") or NumPy scalars (on="scalar"); call it with self first."""
    load()
    return _methods[on].get(name)


def lookup_attribute(name: str, on: str = "array") -> Rule | None:
    load()
    return _attributes[on].get(name)


def load() -> None:
    """Import every rule module of this package, once."""
    global _loaded
    if not _loaded:
        _loaded = True
        package = importlib.import_module(__package__)
        for info in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{__package__}.{info.name}")


def all_rules() -> dict[Any, Rule]:
    """Every callable with a rule (for tests and documentation)."""
    load()
    return dict(_rules)


def _into(table: dict[str, dict[str, Rule]], names: tuple[str, ...], on: Iterable[str]) -> Callable[[Rule], Rule]:
    kinds = (on,) if isinstance(on, str) else tuple(on)

    def register(fn: Rule) -> Rule:
        bound = _binding(fn)
        for kind in kinds:
            for name in names:
                if name in table[kind]:
                    raise ValueError(f"{name!r} of {kind} has a rule already")
                table[kind][name] = bound
        return fn

    return register


_signature = functools.cache(inspect.signature)
"""Signatures are read at the first call: reading hundreds of them would take most of the time of importing the rules."""


def _binding(fn: Rule) -> Rule:
    @functools.wraps(fn)
    def bound(b: Builder, /, *args: SymValue, **kwargs: SymValue) -> SymValue:
        try:
            call = _signature(fn).bind(b, *args, **kwargs)
        except TypeError as e:
            raise Unsupported("arguments", str(e)) from None
        return fn(*call.args, **call.kwargs)

    return bound
