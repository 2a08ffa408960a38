"""The rules of NumPy: from its callables, method names and attribute names to rules."""

from __future__ import annotations

import importlib

from npcompile.frontends.registry import Registry, Rule
from npcompile.frontends.values import Const

NONE = Const(None)
NO_VALUE = Const(getattr(importlib.import_module("numpy"), "_NoValue"))  # noqa: B009
TRUE, FALSE = Const(True), Const(False)

NUMPY = Registry(__package__, ("array", "scalar"), ("attributes", "ufuncs", "reductions", "creation", "shaping"))
rule, method, attribute = NUMPY.rule, NUMPY.method, NUMPY.attribute
lookup, lookup_method, lookup_attribute = NUMPY.lookup, NUMPY.lookup_method, NUMPY.lookup_attribute
load, all_rules = NUMPY.load, NUMPY.all_rules

__all__ = ["FALSE", "NONE", "NO_VALUE", "NUMPY", "TRUE", "Rule", "attribute", "method", "rule"]
