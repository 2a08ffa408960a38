"""The rules of torch: from its functions, method names and attribute names to rules."""

from __future__ import annotations

from npcompile.frontends.registry import NamedRegistry
from npcompile.frontends.values import Const

from . import library

TORCH = NamedRegistry(__package__, library.module, lambda: library.module().Tensor)
rule, attribute, method, functions, both = TORCH.rule, TORCH.attribute, TORCH.method, TORCH.functions, TORCH.both

NONE, TRUE, FALSE = Const(None), Const(True), Const(False)
MISSING = Const(object())
"""Default of parameters that torch tells apart from None."""
