"""Generator expressions that a builtin consumes at once: inlined as functions that collect the items in a list, or test them.

In: a call whose first argument is a generator expression that nobody else has seen. Out: the frame of a function of the same code
(see `bytecode.genexprs`), and where there is more to do that of a plain function around it; so that exits within go on exactly.
"""

from __future__ import annotations

import math
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.bytecode.cfg import control_flow
from npcompile.bytecode.genexprs import as_function, is_generator
from npcompile.bytecode.microops import Op
from npcompile.frontends.values import Const, RangeV, Scalar, SymValue, TupleV, Unsupported
from npcompile.records import replace

from . import plain
from .functions import info_of, inline
from .symbolic import FunctionV, GenExprV

if TYPE_CHECKING:
    from .frames import Frame
    from .interpreter import Trace

TAKE_ALL: frozenset[Any] = frozenset({sum, min, max, sorted, tuple, set, frozenset, dict, math.fsum, math.prod, np.fromiter})
"""Functions that take all items of an iterable before they return, and look at nothing else meanwhile."""

SECOND: frozenset[Any] = frozenset({str.join, list.extend})
"""Such functions whose iterable is the second argument."""


def consume(t: Trace, callee: Const, gen: GenExprV, rest: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """`callee(gen, *rest, **kwargs)`."""
    function = callee.value
    if function in (any, all, list) and not rest and not kwargs:
        inline(t, _taken(t, gen, function.__name__).info, list(gen.args.items), gen.kwargs.items)
        return None
    if function not in TAKE_ALL:
        raise Unsupported("generator", f"a generator expression given to {getattr(function, '__name__', function)}")
    outer = info_of(t, Const(plain.call_with_items_and_keywords if kwargs else plain.call_with_items))
    assert outer is not None
    inline(t, outer, [callee, _taken(t, gen, "list"), _positional(gen), *rest], kwargs)
    return None


def consume_second(t: Trace, callee: Const, args: list[SymValue]) -> SymValue | None:
    """`callee(first, gen, *rest)`."""
    first, gen, *rest = args
    outer = info_of(t, Const(plain.call_with_items_second))
    if callee.value not in SECOND or not isinstance(gen, GenExprV) or outer is None:
        raise Unsupported("generator", f"a generator expression given to {getattr(callee.value, '__name__', callee.value)}")
    inline(t, outer, [callee, first, _taken(t, gen, "list"), _positional(gen), *rest], {})
    return None


def _positional(gen: GenExprV) -> SymValue:
    if gen.kwargs.items:
        raise Unsupported("generator", "keywords")
    return gen.args


_PURE_BUILTINS = frozenset({"range", "len", "zip", "enumerate", "abs", "min", "max", "int", "float", "round", "sum", "divmod"})


_EFFECTS = frozenset({Op.STORE_GLOBAL, Op.STORE_ATTR, Op.SET_ITEM, Op.SET_SLICE, Op.IMPORT_NAME, Op.MAKE_FUNCTION})
_NUMBERS = (int, float, complex, str, tuple, type(None), np.generic)


def iterate(t: Trace, f: Frame, gen: GenExprV) -> None:
    """`iter(gen)` of a generator that looks at nothing but numbers, and ends: its items may as well be made at once."""
    info = gen.function.info
    if not _is_pure(info.code, info.globals) or not all(_is_number(t, v) for v in gen.args.items):
        raise Unsupported("generator", info.code.co_qualname)
    outer = info_of(t, Const(plain.iterate))
    made, args = _taken(t, gen, "list"), _positional(gen)
    assert outer is not None
    f.stack.pop()
    inline(t, outer, [made, args], {})


def _is_number(t: Trace, v: SymValue) -> bool:
    v = t.look(v)
    if isinstance(v, (TupleV, RangeV)):
        items = v.items if isinstance(v, TupleV) else (v.start, v.stop, v.step)
        return all(_is_number(t, x) for x in items)
    return isinstance(v, Scalar) or (isinstance(v, Const) and isinstance(v.value, _NUMBERS))


def _is_pure(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Nothing but loops of known ends over numbers, and builtins and functions of `math` on them."""
    flow = control_flow(code)
    headers = [flow.instrs[flow.blocks[x.header].start] for x in flow.loops]
    if code.co_freevars or code.co_cellvars or any(i.op is not Op.FOR_ITER for i in headers):
        return False
    return not any(i.op in _EFFECTS or (i.op is Op.LOAD_GLOBAL and not _is_pure_name(namespace, i.arg)) for i in flow.instrs)


def _is_pure_name(namespace: dict[str, Any], name: str) -> bool:
    if name in namespace:
        return namespace[name] is math or isinstance(namespace[name], (int, float))
    return name in _PURE_BUILTINS


def _taken(t: Trace, gen: GenExprV, how: str) -> FunctionV:
    """The function that takes all items; the generator is used up then."""
    if gen.used:
        raise Unsupported("generator", "one that is used up")
    out = _variant(gen, how)
    gen.used = True
    t.mutated()
    return out


def _variant(gen: GenExprV, how: str) -> FunctionV:
    code = as_function(gen.function.info.code, how)
    if code is None:
        raise Unsupported("generator", gen.function.info.code.co_qualname)
    return FunctionV(replace(gen.function.info, code=code))


__all__ = ["consume", "is_generator", "iterate"]
