"""Builtins and NumPy's functions on lists of run-time length (see `runlists`).

Builtins are inlined as plain Python functions (see `plain`); NumPy's functions get the array that they would make of the list.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.frontends.values import Const, ListV, Scalar, SymValue, TupleV, Unsupported

from . import plain, runlists
from .branches import settle, test_of
from .functions import info_of, inline
from .numbers import python
from .symbolic import RunListV

if TYPE_CHECKING:
    from .interpreter import Trace

_PLAIN = {"any": plain.any_of, "all": plain.all_of, "min": plain.min_of, "max": plain.max_of, "list": plain.list_of}


COMPENSATES = sys.version_info >= (3, 12)
"""`sum` adds Python floats with the compensation of Neumaier."""


def inline_plain(t: Trace, name: str, *args: SymValue) -> SymValue | None:
    """Enter the plain function that stands for a builtin."""
    return call_plain(t, _PLAIN[name], *args)


def call_plain(t: Trace, function: Any, *args: SymValue) -> SymValue | None:
    """Enter one of `plain`'s functions; its frame pushes the result."""
    info = info_of(t, Const(function))
    assert info is not None
    inline(t, info, list(args), {})
    return None


def total(t: Trace, items: SymValue, start: SymValue) -> SymValue | None:
    """`sum(items, start)`."""
    v, first = t.use(items), t.use(start)
    assert isinstance(v, RunListV)
    if v.lead or v.extra:
        raise Unsupported("builtin", "sum of a list of several types")
    if v.item.kind == "number" and v.item.python and v.item.dtype == np.dtype(np.float64):
        if COMPENSATES and not _is_zero(first):
            raise Unsupported("builtin", "sum of floats with a start")
        if COMPENSATES:
            n = runlists.count_of(t, v)
            if t.b.facts.is_local(n):
                runlists.not_empty(t, n)
            elif not t.b.dim_ge(n, 1):
                return first
            return call_plain(t, plain.sum_of_floats, v, Const(0.0))
    return call_plain(t, plain.sum_of, v, first)


def sum_of_floats(t: Trace, values: list[SymValue], start: SymValue) -> Callable[[], SymValue | None] | None:
    """How `sum` adds known Python floats to 0 where it does not simply add them one after the other; None where it does."""
    if not COMPENSATES or not _is_zero(start):
        return None
    return lambda: call_plain(t, plain.sum_of_floats, TupleV(tuple(values)), Const(0.0))


def _is_zero(v: SymValue) -> bool:
    return isinstance(v, Const) and type(v.value) in (int, float) and v.value == 0


def any_all(t: Trace, name: str, items: list[SymValue]) -> SymValue:
    """`any` or `all` of items that are there already: those after the deciding one change nothing."""
    tests: list[Scalar] = []
    for v in items:
        test = test_of(t, v)
        if not isinstance(test, bool):
            tests.append(test)
        elif (test == (name == "any") and not tests) or test == (name == "any"):
            return Const(name == "any")
    if not tests:
        return Const(name == "all")
    out = settle(t, tests[0])
    for test in tests[1:]:
        out = t.b.emit("logical_or" if name == "any" else "logical_and", out, settle(t, test))
    return python(out)


_STACKS = {np.stack, np.vstack, np.hstack, np.concatenate, np.column_stack, np.dstack}
ROWS = {np.stack, np.vstack}
"""Functions that join rows (arrays of rank 1) as `np.array` does."""


def as_arrays(t: Trace, function: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> list[SymValue]:
    """The arguments of a NumPy function with lists as arrays; of those that join arrays the result is made one at once."""
    first = args[0]
    if function in _STACKS and isinstance(first, RunListV):
        rank = 1 if first.item.kind == "number" else len(first.item.dims) + 1
        if function in ROWS and not kwargs and len(args) == 1 and (rank == 2 or (function is np.stack and rank > 2)):
            return [runlists.as_array(t, first)]
        if function in (np.concatenate, np.hstack) and not kwargs and len(args) == 1 and rank == 2:
            whole = runlists.as_array(t, first)
            n, m = t.b.dims(whole)
            return [ListV([t.b.array(t.b.emit("reshape", t.b.read(whole), dims=(n * m,)))])]
        raise Unsupported("numpy-arguments", f"{function.__name__} of a list that grew at run time")
    return [runlists.as_array(t, v) if isinstance(v, RunListV) else v for v in args]
