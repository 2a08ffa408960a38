"""Operator micro-ops: dispatch between Python numbers, NumPy operands and virtual containers.

CPython's slot order needs no model here: of two operands that are both known types, at most one pair of slots applies.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.microops import AS_BOOL
from npcompile.frontends.numpy import operators as numpy_operators
from npcompile.frontends.numpy import registry
from npcompile.frontends.values import Array, Const, DictV, ListV, Picked, Scalar, SetV, SymValue, TupleV, Unsupported

from . import library, numbers, runlists, special, strings, tensors
from .branches import same_object, truth
from .containers import known_items
from .frames import Frame
from .inputs import describe, is_member
from .interpreter import Trace, handles
from .joins import for_operand, open_binary
from .symbolic import InputObject, JoinV, RunListV

MAX_ITEMS = 1000


@handles(Op.BINARY)
def binary_handler(t: Trace, f: Frame, i: Instr) -> None:
    if special.binary(t, f, i.arg):
        return
    a, b = f.stack[-2:]
    result = binary_op(t, i.arg, a, b)
    f.stack[-2:] = [result]


@handles(Op.UNARY)
def unary_handler(t: Trace, f: Frame, i: Instr) -> None:
    v = f.stack[-1]
    own = special.method(t, t.b.force(v), special.UNARY[i.arg]) if i.arg in special.UNARY else None
    if own is not None:
        special.enter(t, f, 1, own, [v])
        return
    f.stack[-1] = unary_op(t, i.arg, v)


@handles(Op.COMPARE)
def compare_handler(t: Trace, f: Frame, i: Instr) -> None:
    if special.binary(t, f, i.arg, compare=True):
        return
    a, b = f.stack[-2:]
    result = compare_op(t, i.arg, a, b)
    if i.extra == AS_BOOL:
        from .builtin_rules import to_bool

        result = to_bool(t, result)
    f.stack[-2:] = [result]


def operands(t: Trace, a: SymValue, b: SymValue) -> tuple[SymValue, SymValue]:
    """Both operands looked at; a number whose Python type is open stays so where the other operand makes it irrelevant."""
    a, b = t.b.force(a), t.b.force(b)
    if isinstance(a, JoinV) and not isinstance(b, JoinV):
        b = t.use(b)
        a = for_operand(t, a, b)
    elif isinstance(b, JoinV) and not isinstance(a, JoinV):
        a = t.use(a)
        b = for_operand(t, b, a)
    return t.use(a), t.use(b)


def binary_op(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    """`a op b`; op may be in-place."""
    base = op[:-1] if op.endswith("=") else op
    found = open_binary(t, base, t.b.force(a), t.b.force(b))
    if found is not None:
        return found
    a, b = operands(t, a, b)
    if numbers.is_number(a) and numbers.is_number(b):
        return numbers.binary(t, base, a, b)
    if tensors.handles(a, b):
        return tensors.binary(t, op, a, b)
    if numpy_operators.handles(a, b):
        if _is_sequence(a):
            op = base  # a list has no number protocol: `a += array` makes an array
        a, b = _as_arrays(t, base, a, b)
        if isinstance(a, (Array, Picked, Scalar, Const)) and isinstance(b, (Array, Picked, Scalar, Const)):
            return library.on_arrays(t, lambda x, y: numpy_operators.binary(t.b, op, x, y), a, b)
        raise Unsupported("operand", f"{describe(a)} {op} {describe(b)}")
    return _sequence_op(t, op, base, a, b)


def _is_sequence(v: SymValue) -> bool:
    return isinstance(v, RunListV) or _is_list(v) or _is_tuple(v)


def _as_arrays(t: Trace, base: str, a: SymValue, b: SymValue) -> tuple[SymValue, SymValue]:
    """A list or tuple beside an array or NumPy scalar is taken as an array; but a NumPy scalar times a list repeats it."""
    one, other = _is_sequence(a), _is_sequence(b)
    if one == other or (base == "*" and not isinstance(b if one else a, (Array, Picked))):
        return a, b
    return (_array_of(t, a), b) if one else (a, _array_of(t, b))


def _array_of(t: Trace, v: SymValue) -> SymValue:
    if isinstance(v, RunListV):
        return runlists.as_array(t, v)
    v = ListV(known_items(t, v))
    return library.call(t, np.asarray, registry.lookup(np.asarray), [v], {})


def _sequence_op(t: Trace, op: str, base: str, a: SymValue, b: SymValue) -> SymValue:
    """`+` and `*` of tuples, lists and strings."""
    if isinstance(a, Const) and isinstance(b, Const) and all(isinstance(x.value, (str, tuple, bytes, int)) for x in (a, b)):
        counts = [x.value for x in (a, b) if isinstance(x.value, int)]
        if base == "+" or (base == "*" and counts and counts[0] <= MAX_ITEMS):
            return numbers.fold(base, a.value, b.value)
        if base == "%" and isinstance(a.value, str):
            return numbers.fold(base, a.value, b.value)
    made = strings.operation(t, base, a, b)
    if made is not None:
        return made
    if base == "+" and _is_tuple(a) and _is_tuple(b):
        return TupleV((*_items(a), *_items(b)))
    if base == "+" and (_is_list(a) or isinstance(a, RunListV)) and op.endswith("="):
        from .container_methods import extend

        extend(t, a, b)
        return a
    if base == "+" and (_is_list(a) or isinstance(a, RunListV)) and (_is_list(b) or isinstance(b, RunListV)):
        from .containers import extend_list

        out = runlists.copied(t, a) if isinstance(a, RunListV) else ListV(known_items(t, a))
        extend_list(t, out, b)
        return out
    if base == "|" and _is_dict(a) and _is_dict(b):
        from .container_methods import store_items
        from .containers import dict_items

        if op == base:
            return DictV({**dict_items(t, a), **dict_items(t, b)})
        store_items(t, a, dict_items(t, b))
        return a
    if base in _OF_SETS and op == base and isinstance(a, SetV) and isinstance(b, SetV):
        return SetV(_OF_SETS[base](a.items, b.items))
    if base == "*":
        seq, count = (a, b) if not numbers.is_number(a) else (b, a)
        if (_is_list(seq) or _is_tuple(seq)) and numbers.is_number(count):
            n, items = t.b.static(count), known_items(t, seq)
            if type(n) is int and n * len(items) <= MAX_ITEMS and op.endswith("=") and seq is a and isinstance(a, ListV):
                a.items[:] = items * n
                t.mutated()
                return a
            if op.endswith("=") and _is_list(seq):
                raise Unsupported("operand", f"{describe(a)} {op} {describe(b)}")
            if type(n) is int and n * len(items) <= MAX_ITEMS:
                return ListV(items * n) if _is_list(seq) else TupleV(tuple(items * n))
    raise Unsupported("operand", f"{describe(a)} {op} {describe(b)}")


_OF_SETS: dict[str, Any] = {"&": operator.and_, "|": operator.or_, "-": operator.sub, "^": operator.xor}


def _is_dict(v: SymValue) -> bool:
    return isinstance(v, DictV) or (isinstance(v, InputObject) and v.type is dict)


def _is_list(v: SymValue) -> bool:
    return isinstance(v, ListV) or (isinstance(v, InputObject) and v.type is list)


def _is_tuple(v: SymValue) -> bool:
    return (isinstance(v, TupleV) and v.cls is tuple) or (isinstance(v, Const) and type(v.value) is tuple)


def _compares(v: SymValue) -> bool:
    """Is it a tuple, of any class that leaves comparing to `tuple`?"""
    return (isinstance(v, TupleV) and v.cls.__eq__ is tuple.__eq__) or _is_tuple(v)


def _items(v: SymValue) -> list[SymValue]:
    if isinstance(v, Const):
        return list(map(Const, v.value))
    assert isinstance(v, (TupleV, ListV))
    return list(v.items)


def unary_op(t: Trace, op: str, v: SymValue) -> SymValue:
    if op == "not":
        return _not(t, v)
    if op == "bool":
        from .builtin_rules import to_bool

        return to_bool(t, v)
    v = t.use(v)
    if numbers.is_number(v):
        return numbers.unary(t, op, v)
    if tensors.handles(v):
        return tensors.unary(t, op, v)
    if numpy_operators.handles(v):
        return library.on_arrays(t, lambda x: numpy_operators.unary(t.b, op, x), v)
    raise Unsupported("operand", f"{op} {describe(v)}")


def _not(t: Trace, v: SymValue) -> SymValue:
    """`not v`: a bool computed at run time stays one."""
    from .builtin_rules import to_bool
    from .symbolic import DimCompare

    v = to_bool(t, v)
    if isinstance(v, DimCompare):
        return DimCompare("python", v.dtype, None, None, None, v.test, v.operand, not v.inverted)
    if isinstance(v, Const):
        return Const(not v.value)
    return numbers.python(t.b.emit("logical_not", t.b.value_of(v)))


def compare_op(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    found = open_binary(t, op, t.b.force(a), t.b.force(b))
    if found is not None:
        return found
    a, b = operands(t, a, b)
    if numbers.is_number(a) and numbers.is_number(b):
        return numbers.binary(t, op, a, b)
    if tensors.handles(a, b):
        return tensors.compare(t, op, a, b)
    if numpy_operators.handles(a, b):
        a, b = _as_arrays(t, op, a, b)
        if isinstance(a, (Array, Picked, Scalar, Const)) and isinstance(b, (Array, Picked, Scalar, Const)):
            return library.on_arrays(t, lambda x, y: numpy_operators.compare(t.b, op, x, y), a, b)
        raise Unsupported("comparison", f"{describe(a)} {op} {describe(b)}")
    if isinstance(a, Const) and isinstance(b, Const) and _plain(a.value) and _plain(b.value):
        return numbers.fold(op, a.value, b.value)
    if op in ("==", "!=") and all(isinstance(x, Const) and is_member(x.value) and _identity_eq(x.value) for x in (a, b)):
        return Const((a.value is b.value) == (op == "=="))  # type: ignore[attr-defined]
    for x, y in ((a, b), (b, a)) if op in ("==", "!=") else ():
        if isinstance(x, InputObject) and isinstance(y, Const):
            if x.type is str and type(y.value) is str:
                return Const(t.inputs.is_equal(x.source, x.example, y.value) == (op == "=="))
            if is_member(x.example) and is_member(y.value) and _identity_eq(x.example) and _identity_eq(y.value):
                return Const(same_object(t, x, y) == (op == "=="))
    if isinstance(a, SetV) and isinstance(b, SetV):
        return numbers.fold(op, a.items, b.items)
    if op in ("<", "<=", ">", ">=") and _compares(a) and _compares(b):
        return _ordered_items(t, op, _items(a), _items(b))
    if op in ("==", "!=") and ((_compares(a) and _compares(b)) or (isinstance(a, ListV) and isinstance(b, ListV))):
        return Const(_equal_items(t, _items(a), _items(b)) == (op == "=="))
    raise Unsupported("comparison", f"{describe(a)} {op} {describe(b)}")


def _equal_items(t: Trace, a: list[SymValue], b: list[SymValue]) -> bool:
    """Are the sequences equal? Sizes are asked about one by one (each answer a guard)."""
    if len(a) != len(b):
        return False
    return all(x is y or truth(t, compare_op(t, "==", x, y)) for x, y in zip(a, b))


def _ordered_items(t: Trace, op: str, a: list[SymValue], b: list[SymValue]) -> SymValue:
    """`a < b` and the like of tuples: by the first items that are not equal."""
    for x, y in zip(a, b):
        if x is not y and not truth(t, compare_op(t, "==", x, y)):
            return compare_op(t, op, x, y)
    return numbers.fold(op, len(a), len(b))


def _identity_eq(x: object) -> bool:
    return type(x).__eq__ is object.__eq__


def _plain(x: object) -> bool:
    return isinstance(x, (str, bytes, int, float, complex, tuple, type(None), type, np.dtype, np.generic))


def number_or_none(v: SymValue) -> SymValue | None:
    return v if numbers.is_number(v) else None
