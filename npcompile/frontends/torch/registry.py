"""The rules of torch: from its functions, method names and attribute names to rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.frontends.registry import Registry, Rule
from npcompile.frontends.values import Const

from . import library

TORCH = Registry(__package__, ("tensor",))
rule, attribute = TORCH.rule, TORCH.attribute

NONE, TRUE, FALSE = Const(None), Const(True), Const(False)
MISSING = Const(object())
"""Default of parameters that torch tells apart from None."""


def method(*names: str) -> Callable[[Rule], Rule]:
    """Register `rule(b, self, ...)` for methods of tensors that this torch has."""
    return TORCH.method(*(n for n in names if hasattr(library.module().Tensor, n)))


def functions(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for functions of torch given by their dotted names; one that this torch lacks, or that is another name
    of one before, is left out."""
    found: list[Any] = []
    for name in names:
        x = library.module()
        for part in name.split("."):
            x = getattr(x, part, None)
        if x is not None and not any(x is y for y in found):
            found.append(x)
    return rule(*found)


def both(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for functions of torch and for tensor methods of the same names."""

    def register(fn: Rule) -> Rule:
        functions(*names)(fn)
        return method(*names)(fn)

    return register
