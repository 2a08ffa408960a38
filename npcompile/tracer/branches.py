"""Branches and truth values: folded when known at trace time, guarded when they follow from input sizes and flags.

A branch on a value that is known at run time only is traced both ways (see `forks`). `a and b` and `a or b` as conditions become
one bool first, so that what depends on them is traced once.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.cfg import control_flow
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
    Tensor,
    TupleV,
    Unsupported,
)
from npcompile.ir.graph import Value
from npcompile.ir.segment import Source

from . import numbers
from .classes import has_class_attribute
from .forks import Way, fork
from .frames import Frame
from .inputs import describe, is_member
from .interpreter import Trace, handles
from .standins import held
from .symbolic import UNBOUND, BoolV, DimCompare, FunctionV, InputObject, IterV, JoinV, MethodV, ObjectV, RunListV

BOOL = np.dtype(np.bool_)
_SIZED = {list: "len", dict: "len", set: "len", frozenset: "len"}
_SAFE_TRUTH = (int, float, complex, bool, str, bytes, tuple, frozenset, type(None), np.generic, range)


def truth(t: Trace, v: SymValue) -> bool:
    """`bool(v)` at trace time."""
    v = t.look(held(t, v))
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
    if isinstance(v, (FunctionV, MethodV, SliceV, IterV)) or (isinstance(v, ObjectV) and not _has_truth(v.type)):
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
    return has_class_attribute(cls, "__bool__") or has_class_attribute(cls, "__len__")


def _object_truth(t: Trace, v: InputObject) -> bool:
    if v.type in _SIZED:
        from .containers import length_of

        n = length_of(t, v)
        return _scalar_truth(t, n) if isinstance(n, Scalar) else truth(t, n)
    if v.type is not None and not _has_truth(v.type):
        return True
    raise Unsupported("data-dependent-branch", describe(v))


def is_none(t: Trace, v: SymValue) -> bool:
    """`v is None`; an input is guarded by its type or identity."""
    v = t.b.force(v)
    return isinstance(v, Const) and v.value is None


def test_of(t: Trace, v: SymValue) -> bool | Scalar:
    """The truth of a value when it is known or guarded, else a run-time bool."""
    v = t.b.force(v)
    if isinstance(v, JoinV) and v.first is not UNBOUND and isinstance(v.rest, Scalar):
        v = v.rest  # the same truth, whatever its Python type
    v = t.look(held(t, v))
    if isinstance(v, RunListV):
        from .runlists import length_of

        v = t.int_of(length_of(t, v))
    if isinstance(v, DimCompare) and t.b.facts.is_local(v.operand):
        return v
    asked = question(t, v)
    if asked is not None:
        return asked
    if (isinstance(v, Scalar) and v.dim is None and not isinstance(v, DimCompare)) or isinstance(v, (Array, Tensor)):
        from .builtin_rules import to_bool

        out = to_bool(t, _single(t, v.array if isinstance(v, Tensor) else v))
        return truth(t, out) if isinstance(out, Const) else out  # type: ignore[return-value]
    return truth(t, v)


def question(t: Trace, v: SymValue) -> DimCompare | None:
    """Is a size or counter that changes inside the segment not 0? None for other values, and where it is known."""
    d = t.b.facts.canon(v.dim) if isinstance(v, Scalar) and v.dim is not None else None
    if d is None or d.const is not None or not t.b.facts.is_local(d) or t.b.facts.prove_ne(d):
        return None
    return DimCompare("python", BOOL, None, None, None, "eq", d, True)


def _single(t: Trace, v: SymValue) -> SymValue:
    """The element of an array that has one."""
    if isinstance(v, Array):
        if not all(t.b.facts.canon(d).const == 1 for d in v.dims):
            raise Unsupported(
                "ambiguous-truth" if all(t.b.dim_ge(d, 2) for d in v.dims) else "data-dependent-branch", describe(v)
            )
        while v.rank:
            v = t.b.view(v, "squeeze", axes=(0,))
    return v


def settle(t: Trace, test: Scalar) -> Value:
    """A run-time bool as an IR value."""
    return t.b.value_of(t.use(test))


def learn(t: Trace, test: SymValue, truth: bool) -> None:
    """The test has this truth from here on."""
    if isinstance(test, BoolV):
        for when, inner, inner_truth in test.implied:
            if when == truth:
                learn(t, inner, inner_truth)
    if not isinstance(test, DimCompare):
        return
    if test.test == "ge":
        t.b.facts.learn_ge(test.operand if truth != test.inverted else -test.operand - 1)
    elif truth != test.inverted:
        t.b.facts.learn_eq(test.operand)
    else:
        t.b.facts.learn_ne(test.operand)


@handles(Op.POP_JUMP_IF)
def pop_jump_if(t: Trace, f: Frame, i: Instr) -> None:
    v = f.stack[-1]
    if i.arg in ("none", "not_none"):
        taken: bool | Scalar = is_none(t, v) == (i.arg == "none")
    else:
        taken = test_of(t, v)
        if isinstance(taken, bool):
            taken = taken == (i.arg == "true")
    if not isinstance(taken, bool):
        _both_ways(t, f, i, taken)
        return
    f.stack.pop()
    if taken:
        f.pc = i.target


def _both_ways(t: Trace, f: Frame, i: Instr, test: Scalar) -> None:
    targets = {i.arg == "true": i.target, i.arg != "true": f.pc}
    for truth in (True, False):
        jump = _second_test(f, targets[truth], targets[not truth])
        if jump is not None:
            _short_circuit(t, f, test, truth, targets[truth], jump, targets[not truth])
            return

    def way(truth: bool) -> Way:
        def prepare() -> None:
            f.stack.pop()
            learn(t, test, truth)

        return Way(targets[truth], prepare)

    fork(t, f, settle(t, test), (way(True), way(False)))


def _second_test(f: Frame, at: int, other: int) -> int | None:
    """Is the code at `at` nothing but a second test, of which one outcome leads to `other`, too? Then the index of its jump."""
    flow = control_flow(f.code.code)
    number = flow.block_of[at]
    block = flow.blocks[number]
    jump = block.end - 1
    last = flow.instrs[jump]
    only_way = block.start == at and len(flow.preds[number]) == 1 and last.start
    if not only_way or last.op is not Op.POP_JUMP_IF or last.arg not in ("true", "false"):
        return None
    return (
        jump
        if jump != f.pc - 1 and flow.block_of[other] in block.succs and flow.blocks[flow.block_of[other]].start == other
        else None
    )


def _short_circuit(t: Trace, f: Frame, test: Scalar, truth: bool, at: int, jump: int, other: int) -> None:
    """Make one bool of two tests, the second of which is only made if the first one is `truth`."""
    last = f.code.instrs[jump]
    skipped = (last.target == other) == (last.arg == "true")
    second: list[SymValue] = []

    def skip() -> None:
        f.stack[-1] = Const(skipped)

    def make() -> None:
        f.stack.pop()
        learn(t, test, truth)

    def finish() -> None:
        out = test_of(t, f.stack[-1])
        second.append(Const(out) if isinstance(out, bool) else out)
        f.stack[-1] = Const(out) if isinstance(out, bool) else numbers.python(settle(t, out))

    ways = {not truth: Way(jump, skip), truth: Way(at, make, finish)}
    outer = frozenset(t.b.facts.local)
    fork(t, f, settle(t, test), (ways[True], ways[False]), jump)
    joined = f.stack[-1] if f.pc == jump else None
    if isinstance(joined, Scalar) and joined.value is not None and second:
        # a bool that a skipped second test does not give: the first test was `truth`, and the second one has this outcome
        known: list[tuple[bool, Scalar, bool]] = [(not skipped, test, truth)]
        if isinstance(second[-1], DimCompare) and outer.issuperset(t.b.facts.local.intersection(second[-1].operand.syms())):
            known.append((not skipped, second[-1], not skipped))
        f.stack[-1] = BoolV("python", BOOL, joined.value, None, None, tuple(known))


@handles(Op.JUMP_IF_OR_POP)
def jump_if_or_pop(t: Trace, f: Frame, i: Instr) -> None:
    taken = test_of(t, f.stack[-1])
    if isinstance(taken, bool):
        if taken == (i.arg == "true"):
            f.pc = i.target
        else:
            f.stack.pop()
        return
    test = taken
    jumps = i.arg == "true"

    def way(truth: bool) -> Way:
        def prepare() -> None:
            if truth != jumps:
                f.stack.pop()
            learn(t, test, truth)

        return Way(i.target if truth == jumps else f.pc, prepare)

    fork(t, f, settle(t, test), (way(True), way(False)))


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
        # of an input that is no constant since it changes, only the exact type is known
        if isinstance(x, Const) and _singleton(x.value) and not (isinstance(y, InputObject) and y.type is type(x.value)):
            return _may_be(y, x.value)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, InputObject) and isinstance(y, Const):
            same = x.example is y.value
            t.inputs.guard(x.source, "same" if same else "distinct", Source("const", t.inputs.const_index(y.value)))
            return same
    if isinstance(a, InputObject) and isinstance(b, InputObject):
        same = a.example is b.example
        t.inputs.guard(a.source, "same" if same else "distinct", b.source)
        return same
    kinds = {type(a), type(b)}
    if len(kinds) == 2 and Lazy not in kinds and InputObject not in kinds:
        return False
    sources = getattr(a, "source", None), getattr(b, "source", None)
    if isinstance(a, Array) and isinstance(b, Array):
        if _exchanged(a) | _exchanged(b):
            raise Unsupported("identity", "arrays that a loop exchanges")
        if a.storage.kept and b.storage.kept:
            raise Unsupported("identity", "arrays that a list holds")
    if isinstance(a, (Array, Tensor, TupleV, ListV, DictV, ObjectV)) and None in sources and type(a) is type(b):
        return False
    raise Unsupported("identity", f"{describe(a)} and {describe(b)}")


def _exchanged(a: Array) -> bool:
    """Did the array come out of a loop that exchanges buffers, so that it may be any of them?"""
    return not a.storage.fresh and a.storage.source is None and not a.chain


def _singleton(x: Any) -> bool:
    unique = isinstance(x, (bool, type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)) or is_member(x)
    return x is None or x is Ellipsis or x is NotImplemented or x is np._NoValue or unique


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
