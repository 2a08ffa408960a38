"""Functions of NumPy and SciPy: by their rules; what rules do not model, by a call of the function itself within the segment.

In: callables and symbolic arguments that have been looked at. Out: symbolic values. Never: models a function.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import draws, externs, indexing, registry
from npcompile.frontends.numpy.library import changer_of, name_of
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.registry import Rule
from npcompile.frontends.values import Array, Const, ListV, Picked, SymValue, TupleV, Unsupported

from .inputs import describe
from .interpreter import Trace
from .symbolic import InputObject

NOT_MODELLED = frozenset(
    {"no-rule", "numpy-arguments", "arguments", "advanced-indexing", "static-value", "operand", "complex-to-real"}
)
"""Reasons for which a rule gives up where NumPy would not raise."""


def call(t: Trace, function: Any, rule: Rule | None, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    """A call of a listed function, or one that has a rule."""

    known = None if kwargs else folded(function, args)
    if known is not None:
        return known

    def by_rule(*values: SymValue) -> SymValue:
        if rule is None:
            raise Unsupported("no-rule", getattr(function, "__qualname__", repr(function)))
        if not isinstance(function, np.ufunc):
            for v in values:
                if _holds_picked(v):
                    raise Unsupported("advanced-indexing", f"{describe(v)} as an argument of {function.__name__}")
        n = len(args)
        out = rule(t.b, *values[:n], **dict(zip(kwargs, values[n:])))
        if isinstance(out, Array):
            t.b.use_device("cpu")  # NumPy makes it there, whatever else the function works on
        return out

    if changer_of(function) is not None and args:
        return or_extern(t, lambda: by_rule(*args, *kwargs.values()), function, args, kwargs, externs_change)
    return or_extern(t, lambda: on_arrays(t, by_rule, *args, *kwargs.values()), function, args, kwargs)


def rule_of(x: Any) -> Rule | None:
    """The rule of a function of NumPy, or a ufunc of SciPy."""
    rule = registry.lookup(x)
    if rule is None and isinstance(x, np.ufunc) and "scipy.special" in sys.modules:
        from npcompile.frontends.scipy.registry import SCIPY

        return SCIPY.lookup(x)
    return rule


_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


def folded(function: Any, args: list[SymValue]) -> Const | None:
    """What an elementwise function gives for known numbers, when it gives one in silence; else None."""
    if not args or not all(isinstance(v, Const) and isinstance(v.value, _NUMBERS) for v in args):
        return None
    if not ((isinstance(function, np.ufunc) and function.nout == 1) or function in (np.all, np.any)) or not name_of(function):
        return None
    try:
        with np.errstate(all="raise"):
            out = function(*(v.value for v in args))  # type: ignore[attr-defined]
    except Exception:
        return None
    return Const(out) if isinstance(out, (np.number, np.bool_)) else None


def on_arrays(t: Trace, operate: Callable[..., SymValue], *operands: SymValue) -> SymValue:
    """An operation; elements chosen by masks are brought together where it cannot be done on whole arrays."""
    mark = t.b.mark()
    try:
        return operate(*operands)
    except Unsupported as e:
        if e.reason != "advanced-indexing" or not any(map(_holds_picked, operands)):
            raise
        t.b.rollback(mark)
        return operate(*(together(t, v) for v in operands))


def externs_change(b: Builder, function: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    return externs.change(b, function, args[0], args[1:], kwargs)


def or_extern(
    t: Trace,
    by_rule: Callable[[], SymValue],
    function: Any,
    args: list[SymValue],
    kwargs: dict[str, SymValue],
    extern: Callable[..., SymValue] = externs.call,
) -> SymValue:
    """What a rule gives; where it does not model these arguments, what the function itself gives."""
    mark = t.b.mark()
    try:
        return by_rule()
    except Unsupported as e:
        if e.reason not in NOT_MODELLED or getattr(t.options, "backend", None) == "triton":
            raise
        t.b.rollback(mark)
        try:
            return extern(t.b, function, args, kwargs)
        except Unsupported:
            raise e from None


def getitem(t: Trace, a: Array, key: SymValue) -> SymValue:
    """`a[key]` of an array."""
    key = together(t, key)
    return or_extern(t, lambda: indexing.getitem(t.b, a, key), operator.getitem, [a, key], {})


def setitem(t: Trace, a: Array, key: SymValue, value: SymValue) -> None:
    """`a[key] = value` of an array."""
    key = together(t, key)
    or_extern(t, lambda: _set(t, a, key, value), operator.setitem, [a, key, value], {}, externs_change)


def _set(t: Trace, a: Array, key: SymValue, value: SymValue) -> SymValue:
    indexing.setitem(t.b, a, key, value)
    return NONE


def draw(t: Trace, callee: SymValue, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """Random numbers, when the callee draws them from NumPy's global generator or one from outside; else None."""
    if not isinstance(callee, (Const, InputObject)):
        return None
    function = callee.value if isinstance(callee, Const) else callee.example
    name, owner = draws.name_of(function), None
    drawing = name is None and draws.is_drawing(getattr(function, "__name__", ""))
    first = t.look(args[0]) if args and drawing else None
    if isinstance(first, InputObject) and first.type is not None and draws.is_generator(first.type):
        method = getattr(function, "__name__", "")
        if draws.method_of(first.type, method) is not function:
            return None
        if first.source not in t.spec.objects:
            t.spec.objects.append(first.source)
        name, owner, args = method, (first.type, t.spec.objects.index(first.source)), args[1:]
    if name is None:
        return None
    if getattr(t.options, "backend", None) not in (None, "cpp"):
        raise Unsupported("no-rule", f"{name} of this backend")
    if isinstance(callee, InputObject):
        t.inputs.guard_is(callee.source, function)
    return draws.draw(t.b, name, owner, [t.use(a) for a in args], {k: t.use(v) for k, v in kwargs.items()})


def is_listed(function: Any) -> bool:
    """May the function be called from within a segment?"""
    return name_of(function) is not None or changer_of(function) is not None


def together(t: Trace, v: SymValue) -> SymValue:
    """A value that is wanted as an array: elements chosen by a mask are brought together."""
    if getattr(t.options, "backend", None) == "triton" or not _holds_picked(v):
        return v
    if isinstance(v, Picked):
        return externs.together(t.b, v)
    items = [together(t, x) for x in v.items]  # type: ignore[attr-defined]
    return ListV(items) if isinstance(v, ListV) else TupleV(tuple(items))


def _holds_picked(v: SymValue) -> bool:
    """Elements chosen by a mask, or a sequence with such among its items."""
    return isinstance(v, Picked) or (isinstance(v, (ListV, TupleV)) and any(map(_holds_picked, v.items)))
