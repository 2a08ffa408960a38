"""Rules of functions that only ask about shapes and dtypes: they fold at trace time.

In: symbolic values. Out: constants, or dims as Python ints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, Scalar, SymValue, TupleV
from npcompile.ir.dims import Dim, product

from . import arguments as args
from .promotion import kind_of
from .promotion import result_type as promoted
from .registry import NONE, rule


def dim_scalar(b: Builder, d: Dim) -> SymValue:
    """A dim as a Python int."""
    d = b.facts.canon(d)
    return Const(d.const) if d.const is not None else Scalar("python", np.dtype(np.int64), dim=d)


@rule(np.shape)
def shape(b: Builder, a: SymValue) -> SymValue:
    a = args.array_like(b, a)
    return TupleV(tuple(dim_scalar(b, d) for d in b.dims(a))) if isinstance(a, Array) else TupleV(())


@rule(np.ndim)
def ndim(b: Builder, a: SymValue) -> SymValue:
    return Const(args.rank(args.array_like(b, a)))


@rule(np.size)
def size(b: Builder, a: SymValue, axis: SymValue = NONE) -> SymValue:
    a = args.array_like(b, a)
    dims = b.dims(a) if isinstance(a, Array) else ()
    axes = args.axis_sequence(b, axis, len(dims)) if args.given(axis) else tuple(range(len(dims)))
    return dim_scalar(b, product([dims[i] for i in axes]))


@rule(np.isscalar)
def isscalar(b: Builder, element: SymValue) -> SymValue:
    v = b.force(element)
    if isinstance(v, Const):
        return Const(np.isscalar(v.value))
    if isinstance(v, Scalar):
        return Const(True)
    if isinstance(v, Array) or args.items(b, v) is not None:
        return Const(False)
    raise args.refuse("isscalar of an unknown object")


def _dtype_like(b: Builder, v: SymValue) -> SymValue:
    """An argument that is a dtype or an operand: constant dtypes stay, operands are looked at."""
    v = b.force(v)
    return (
        v if isinstance(v, Const) and not isinstance(v.value, (bool, int, float, complex, np.generic)) else args.array_like(b, v)
    )


@rule(np.result_type)
def result_type(b: Builder, *arrays_and_dtypes: SymValue) -> SymValue:
    known = [_dtype_like(b, v) for v in arrays_and_dtypes]
    if not known:
        raise args.refuse("result_type of nothing")
    operands = [
        v if not isinstance(v, Const) or isinstance(v.value, (bool, int, float, complex, np.generic)) else _zero(v.value)
        for v in known
    ]
    return Const(promoted(*map(kind_of, operands)))


def _zero(x: Any) -> SymValue:
    return Const(args.as_dtype(x).type(0))


@rule(np.can_cast)
def can_cast(b: Builder, from_: SymValue, to: SymValue, casting: SymValue = Const("safe")) -> SymValue:
    v = _dtype_like(b, from_)
    source = v.dtype if isinstance(v, Array) else args.static(b, v) if isinstance(v, Const) else None
    if source is None or isinstance(source, (bool, int, float, complex)):
        raise args.refuse("can_cast of a number")
    return _fold(b, np.can_cast, Const(source), to, casting)


def _fold(b: Builder, function: Any, *arguments: SymValue) -> SymValue:
    try:
        return Const(function(*(args.static(b, a) for a in arguments)))
    except (TypeError, ValueError) as e:
        raise args.refuse(str(e)) from None


def _register_fold(function: Any) -> None:
    def folded(b: Builder, *arguments: SymValue) -> SymValue:
        """NumPy's own answer for dtypes and types known at trace time."""
        return _fold(b, function, *arguments)

    rule(function)(folded)


for _function in (np.issubdtype, np.promote_types, np.min_scalar_type, np.finfo, np.iinfo, np.dtype, np.isdtype):
    _register_fold(_function)
