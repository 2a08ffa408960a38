"""The rules of SciPy: from its callables to rules."""

from __future__ import annotations

from npcompile.frontends.registry import Registry

SCIPY = Registry(__package__, ("array", "scalar"))
rule = SCIPY.rule
