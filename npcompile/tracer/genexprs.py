"""Generator expressions that a builtin consumes at once: inlined as functions that collect the items in a list, or test them.

In: a call whose first argument is a generator expression that nobody else has seen. Out: the frame of a function of the same code
(see `bytecode.genexprs`), and where there is more to do that of a plain function around it; so that exits within go on exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.bytecode.genexprs import as_function, is_genexpr
from npcompile.frontends.values import Const, SymValue, Unsupported
from npcompile.records import replace

from . import plain
from .functions import info_of, inline
from .symbolic import FunctionV, GenExprV

if TYPE_CHECKING:
    from .interpreter import Trace

TAKE_ALL: frozenset[Any] = frozenset({sum, min, max, sorted, tuple, set, frozenset, dict, math.fsum, math.prod, np.fromiter})
"""Functions that take all items of an iterable before they return, and look at nothing else meanwhile."""

SECOND: frozenset[Any] = frozenset({str.join, list.extend})
"""Such functions whose iterable is the second argument."""


def consume(t: Trace, callee: Const, gen: GenExprV, rest: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """`callee(gen, *rest, **kwargs)`."""
    function = callee.value
    if function in (any, all, list) and not rest and not kwargs:
        inline(t, _variant(gen, function.__name__).info, [gen.iterator], {})
        return None
    if function not in TAKE_ALL:
        raise Unsupported("generator", f"a generator expression given to {getattr(function, '__name__', function)}")
    outer = info_of(t, Const(plain.call_with_items_and_keywords if kwargs else plain.call_with_items))
    assert outer is not None
    inline(t, outer, [callee, _variant(gen, "list"), gen.iterator, *rest], kwargs)
    return None


def consume_second(t: Trace, callee: Const, args: list[SymValue]) -> SymValue | None:
    """`callee(first, gen, *rest)`."""
    first, gen, *rest = args
    outer = info_of(t, Const(plain.call_with_items_second))
    if callee.value not in SECOND or not isinstance(gen, GenExprV) or outer is None:
        raise Unsupported("generator", f"a generator expression given to {getattr(callee.value, '__name__', callee.value)}")
    inline(t, outer, [callee, first, _variant(gen, "list"), gen.iterator, *rest], {})
    return None


def _variant(gen: GenExprV, how: str) -> FunctionV:
    code = as_function(gen.function.info.code, how)
    if code is None:
        raise Unsupported("generator", gen.function.info.code.co_qualname)
    return FunctionV(replace(gen.function.info, code=code))


__all__ = ["consume", "is_genexpr"]
