"""The rules of CuPy: from its functions, method names and attribute names to rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.frontends.registry import Registry, Rule
from npcompile.frontends.values import Const

from . import library


class CupyRegistry(Registry):
    """named : rules of ufuncs by their own name, for modules that may be imported at any time (cupyx.scipy.special)."""

    def __init__(self, package: str) -> None:
        super().__init__(package, ("tensor",))
        self.named: dict[str, Rule] = {}

    def lookup(self, callable_: Any) -> Rule | None:
        found = super().lookup(callable_)
        return self.named.get(callable_.name) if found is None and library.is_constant(callable_) else found


CUPY = CupyRegistry(__package__)
rule, attribute = CUPY.rule, CUPY.attribute

NONE, FALSE = Const(None), Const(False)


def method(*names: str) -> Callable[[Rule], Rule]:
    """Register `rule(b, self, ...)` for methods of arrays that this CuPy has."""
    return CUPY.method(*(n for n in names if hasattr(library.array_class(), n)))


def functions(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for functions of CuPy by name; one that it lacks, or that is another name of one before, is left out."""
    found: list[Any] = []
    for name in names:
        x = getattr(library.module(), name, None)
        if x is not None and not any(x is y for y in found):
            found.append(x)
    return rule(*found)


def both(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for functions of CuPy and for methods of the same names."""

    def register(fn: Rule) -> Rule:
        functions(*names)(fn)
        return method(*names)(fn)

    return register
