"""Where NumPy's own Python code warns: `np.mean` warns at a line of NumPy's `_methods.py`, not at the caller's line.

In: a function of NumPy by name and the text of the statement in it. Out: the `Loc` that a warning raised there has.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import linecache
from collections.abc import Iterator
from contextlib import contextmanager

from npcompile.frontends.builder import Builder
from npcompile.ir.graph import Loc, ReportSite
from npcompile.records import replace


@functools.cache
def loc(name: str, text: str) -> Loc | None:
    """The position of the first line holding `text` (starting with it, if it is indented) in NumPy's function `name` (its
    path below `numpy`); None when this NumPy does not have it."""
    module, _, attribute = f"numpy.{name}".rpartition(".")
    try:
        function = inspect.unwrap(getattr(importlib.import_module(module), attribute))
        code = function.__code__
    except (ImportError, AttributeError):
        return None
    first, last = code.co_firstlineno, max(n for *_, n in code.co_lines() if n)
    lines = linecache.getlines(code.co_filename)[first - 1 : last]
    for i, line in enumerate(lines):
        if line.startswith(text) if text[0] == " " else text in line:
            return Loc(code.co_filename, first + i, code.co_name, function.__globals__["__name__"])
    return None


@contextmanager
def at(b: Builder, place: Loc | None) -> Iterator[None]:
    """Emit as if NumPy's code at `place` did it."""
    outer = b.loc
    b.loc = place or outer
    try:
        yield
    finally:
        b.loc = outer


@contextmanager
def ignoring(b: Builder, bits: int) -> Iterator[None]:
    """Emit as inside `np.errstate` that ignores these conditions (1 divide, 2 overflow, 4 underflow, 8 invalid)."""
    outer = b.ignored
    b.ignored |= bits
    try:
        yield
    finally:
        b.ignored = outer


def sites(b: Builder, name: str, place: Loc | None, count: int) -> list[ReportSite]:
    """`site` for several nodes that are one operation for NumPy: each condition is reported once for all of them."""
    if count < 2:
        return [site(b, name, place)] * count
    return [replace(s, loc=place or b.loc) for s in b.sites(name, count)]


def site(b: Builder, name: str, place: Loc | None) -> ReportSite:
    """The report site of NumPy's operation `name` at `place`, or at the caller's line."""
    return ReportSite(name, place or b.loc)
