"""Branches and truth values: folded when known at trace time, guarded when they follow from input sizes and flags.

A branch on array values or floats is not compiled: the segment exits before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.frontends.values import (
    Array,
    Const,
    DictV,
    Lazy,
    ListV,
    RangeV,
    Scalar,
    SetV,
    SliceV,
    SymValue,
    TupleV,
    Unsupported,
)

from .frames import Frame, while_headers
from .inputs import describe
from .interpreter import Trace, handles
from .symbolic import DimCompare, FunctionV, InputObject, IterV, MethodV

_SIZED = {list: "len", dict: "len", set: "len", frozenset: "len"}
_SAFE_TRUTH = (int, float, complex, bool, str, bytes, tuple, frozenset, type(None), np.generic, range)


def truth(t: Trace, v: SymValue) -> bool:
    """`bool(v)` at trace time."""
    v = t.look(v)
    if isinstance(v, DimCompare):
        return _dim_truth(t, v)
    if isinstance(v, Scalar):
        return _scalar_truth(t, v)
    if isinstance(v, Const):
        if isinstance(v.value, _SAFE_TRUTH) or not _has_truth(type(v.value)):
            return bool(v.value)
        raise Unsupported("data-dependent-branch", describe(v))
    if isinstance(v, (TupleV, ListV, DictV, SetV)):
        return bool(v.items)
    if isinstance(v, RangeV):
        from .iterators import trip_count

        return t.b.dim_ge(trip_count(t, v), 1)
    if isinstance(v, (FunctionV, MethodV, SliceV, IterV)):
        return True
    if isinstance(v, InputObject):
        return _object_truth(t, v)
    if isinstance(v, Array):
        raise Unsupported("data-dependent-branch", describe(v))
    raise Unsupported("data-dependent-branch", describe(v))


def _dim_truth(t: Trace, v: DimCompare) -> bool:
    if t.b.facts.is_local(v.operand):
        raise Unsupported("data-dependent-branch", "a size or counter that changes inside the segment")
    answer = t.b.dim_ge(v.operand, 0) if v.test == "ge" else t.b.dim_is(v.operand, 0)
    return answer != v.inverted


def _scalar_truth(t: Trace, v: Scalar) -> bool:
    if v.dim is not None:
        d = t.b.facts.canon(v.dim)
        if t.b.facts.prove_ne(d):
            return True
        if not t.b.facts.is_local(d) or d.const is not None:
            return not t.b.dim_is(d, 0)
    raise Unsupported("data-dependent-branch", describe(v))


def _has_truth(cls: type) -> bool:
    return hasattr(cls, "__bool__") or hasattr(cls, "__len__")


def _object_truth(t: Trace, v: InputObject) -> bool:
    if v.type in _SIZED:
        t.inputs.guard(v.source, "len", len(v.example))
        return bool(v.example)
    if v.type is not None and not _has_truth(v.type):
        return True
    raise Unsupported("data-dependent-branch", describe(v))


def is_none(t: Trace, v: SymValue) -> bool:
    """`v is None`; an input is guarded by its type or identity."""
    v = t.b.force(v)
    return isinstance(v, Const) and v.value is None


@handles(Op.POP_JUMP_IF)
def pop_jump_if(t: Trace, f: Frame, i: Instr) -> None:
    v = f.stack[-1]
    if _enters_while(f, i):
        raise Unsupported("while-loop")
    if i.arg in ("none", "not_none"):
        taken = is_none(t, v) == (i.arg == "none")
    else:
        taken = truth(t, v) == (i.arg == "true")
    f.stack.pop()
    if taken:
        f.pc = i.target


def _enters_while(f: Frame, i: Instr) -> bool:
    """Does the branch test (or repeat) a loop that is not a for loop?"""
    headers = while_headers(f.code.code)
    return bool(headers) and (i.target in headers or f.pc in headers)


@handles(Op.JUMP_IF_OR_POP)
def jump_if_or_pop(t: Trace, f: Frame, i: Instr) -> None:
    if truth(t, f.stack[-1]) == (i.arg == "true"):
        f.pc = i.target
    else:
        f.stack.pop()


# ------------------------------------------------------------------------------------------------ identity


def same_object(t: Trace, a: SymValue, b: SymValue) -> bool:
    """`a is b`, when it is known at trace time."""
    a, b = t.b.force(a), t.b.force(b)
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        if a.value is b.value:
            return True
        if _singleton(a.value) or _singleton(b.value):
            return False
        raise Unsupported("identity", "constants")
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Const) and _singleton(x.value) and not isinstance(y, Const):
            return _may_be(y, x.value)
    kinds = {type(a), type(b)}
    if len(kinds) == 2 and Lazy not in kinds and InputObject not in kinds:
        return False
    sources = getattr(a, "source", None), getattr(b, "source", None)
    if isinstance(a, Array) and isinstance(b, Array) and _exchanged(a) | _exchanged(b):
        raise Unsupported("identity", "arrays that a loop exchanges")
    if isinstance(a, (Array, TupleV, ListV, DictV)) and None in sources and type(a) is type(b):
        return False
    raise Unsupported("identity", f"{describe(a)} and {describe(b)}")


def _exchanged(a: Array) -> bool:
    """Did the array come out of a loop that exchanges buffers, so that it may be any of them?"""
    return not a.storage.fresh and a.storage.source is None and not a.chain


def _singleton(x: Any) -> bool:
    return x is None or x is Ellipsis or x is NotImplemented or isinstance(x, (bool, type)) or x is np._NoValue


def _may_be(v: SymValue, singleton: Any) -> bool:
    """Can a value that is not a constant be this singleton? Only a run-time bool can (it is not known which)."""
    if isinstance(v, Scalar) and v.kind == "python" and isinstance(singleton, bool) and v.dtype.kind == "b":
        raise Unsupported("identity", "a bool computed at run time")
    return False


@handles(Op.IS)
def is_op(t: Trace, f: Frame, i: Instr) -> None:
    a, b = f.stack[-2:]
    result = same_object(t, a, b)
    f.stack[-2:] = [Const(result != bool(i.arg))]
