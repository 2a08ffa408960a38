"""The rules of CuPy: from its functions, method names and attribute names to rules."""

from __future__ import annotations

from typing import Any

from npcompile.frontends.registry import NamedRegistry, Rule
from npcompile.frontends.values import Const

from . import library


class CupyRegistry(NamedRegistry):
    """named : rules of ufuncs by their own name, for modules that may be imported at any time (cupyx.scipy.special)."""

    def __init__(self, package: str) -> None:
        super().__init__(package, library.module, library.array_class)
        self.named: dict[str, Rule] = {}

    def lookup(self, callable_: Any) -> Rule | None:
        found = super().lookup(callable_)
        return self.named.get(callable_.name) if found is None and library.is_constant(callable_) else found


CUPY = CupyRegistry(__package__)
rule, attribute, method, functions, both = CUPY.rule, CUPY.attribute, CUPY.method, CUPY.functions, CUPY.both

NONE, FALSE = Const(None), Const(False)
