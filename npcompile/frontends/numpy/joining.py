"""Rules of concatenate, stack, vstack, hstack, dstack, column_stack, append.

In: a sequence of array-likes known at trace time. Out: one fresh array (or `out`).
"""

from __future__ import annotations

import functools

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue
from npcompile.ir.graph import Value

from . import arguments as args
from .contiguity import flat, ravel, transposed
from .registry import NONE, rule
from .shaping import at_least
from .ufuncs import ask_ones

SAME_KIND = Const("same_kind")


def sequence(b: Builder, arrays: SymValue) -> list[Array]:
    """The arrays to join: a tuple or list, or the rows of one array."""
    parts = args.items(b, arrays)
    if parts is None:
        raise args.refuse("a sequence of arrays that is not a tuple or list")
    if not parts:
        raise args.refuse("need at least one array")
    return [args.as_array(b, x) for x in parts]


def joined(
    b: Builder, arrays: list[Array], values: list[Value], axis: int, out: SymValue, dtype: SymValue, casting: SymValue
) -> SymValue:
    """`np.concatenate` of tensors that stand for `arrays` (whose dtypes decide)."""
    target, dt = args.out_array(b, out), args.dtype(b, dtype)
    how = args.static(b, casting)
    if how not in ("no", "equiv", "safe", "same_kind", "unsafe") or (target is not None and dt is not None):
        raise args.refuse("casting, or both out and dtype")
    if target is not None:
        dt = target.dtype
    if dt is None:
        dt = args.as_dtype(functools.reduce(np.promote_types, (a.dtype for a in arrays)))
    if not all(np.can_cast(a.dtype, dt, how) for a in arrays):
        raise args.refuse(f"joining as {dt} with casting {how!r}")
    first = b.dims(values[0])
    for v in values:
        dims = b.dims(v)
        others = [[d for i, d in enumerate(x) if i != axis] for x in (dims, first)]
        if len(dims) != len(first) or not b.dims_agree(*others):
            raise args.refuse("joining arrays of different shapes")
    for v in values:
        ask_ones(b, [v], b.dims(v))
    fitted = []
    for v in values:
        dims = tuple(d if i == axis else f for i, (d, f) in enumerate(zip(b.dims(v), b.dims(values[0]))))
        fitted.append(b.convert(b.broadcast(v, dims), dt))
    return args.finish(b, b.emit("concat", *fitted, axis=axis), target)


@rule(*{np.concatenate, np.concat})
def concatenate(
    b: Builder, arrays: SymValue, /, axis: SymValue = Const(0), out: SymValue = NONE, *, dtype: SymValue = NONE,
    casting: SymValue = SAME_KIND,
) -> SymValue:  # fmt: skip
    parts = sequence(b, arrays)
    if not args.given(axis):
        return joined(b, parts, [flat(b, b.read(a)) for a in parts], 0, out, dtype, casting)
    if any(a.rank == 0 for a in parts):
        raise args.refuse("zero-dimensional arrays cannot be concatenated")
    return joined(b, parts, [b.read(a) for a in parts], args.one_axis(b, axis, parts[0].rank), out, dtype, casting)


@rule(np.stack)
def stack(
    b: Builder, arrays: SymValue, axis: SymValue = Const(0), out: SymValue = NONE, *, dtype: SymValue = NONE,
    casting: SymValue = SAME_KIND,
) -> SymValue:  # fmt: skip
    parts = sequence(b, arrays)
    if not all(b.dims_agree(b.dims(a), b.dims(parts[0])) for a in parts):
        raise args.refuse("stacking arrays of different shapes")
    at = args.one_axis(b, axis, parts[0].rank + 1)
    values = [b.emit("expand", b.read(a), axes=(at,)) for a in parts]
    return joined(b, parts, values, at, out, dtype, casting)


def _join(b: Builder, parts: list[Array], axis: int, dtype: SymValue = NONE, casting: SymValue = SAME_KIND) -> SymValue:
    if len({a.rank for a in parts}) != 1:
        raise args.refuse("joining arrays of different ranks")
    return joined(b, parts, [b.read(a) for a in parts], axis, NONE, dtype, casting)


@rule(np.vstack)
def vstack(b: Builder, tup: SymValue, *, dtype: SymValue = NONE, casting: SymValue = SAME_KIND) -> SymValue:
    return _join(b, [at_least(b, a, 2) for a in sequence(b, tup)], 0, dtype, casting)


@rule(np.hstack)
def hstack(b: Builder, tup: SymValue, *, dtype: SymValue = NONE, casting: SymValue = SAME_KIND) -> SymValue:
    parts = [at_least(b, a, 1) for a in sequence(b, tup)]
    return _join(b, parts, 0 if parts[0].rank == 1 else 1, dtype, casting)


@rule(np.dstack)
def dstack(b: Builder, tup: SymValue) -> SymValue:
    return _join(b, [at_least(b, a, 3) for a in sequence(b, tup)], 2)


@rule(np.column_stack)
def column_stack(b: Builder, tup: SymValue) -> SymValue:
    """1-D arrays become columns, other arrays stay."""
    parts = [a if a.rank >= 2 else transposed(b, at_least(b, a, 2), (1, 0)) for a in sequence(b, tup)]
    return _join(b, parts, 1)


@rule(np.append)
def append(b: Builder, arr: SymValue, values: SymValue, axis: SymValue = NONE) -> SymValue:
    parts = [args.as_array(b, arr), args.as_array(b, values)]
    if args.given(axis):
        if parts[0].rank == 0:
            raise args.refuse("append along an axis of a number")
        return _join(b, parts, args.one_axis(b, axis, parts[0].rank))
    return _join(b, [ravel(b, a, "C") for a in parts], 0)
