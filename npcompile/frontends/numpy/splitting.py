"""Rules of split, unstack and relatives: lists and tuples of views, as many as is known when compiling.

In: symbolic arguments by NumPy's own signatures. Out: slices of the array.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, ListV, SliceV, SymValue, TupleV
from npcompile.ir.dims import Dim

from . import arguments as args
from . import indexing
from .queries import dim_scalar
from .registry import NONE, rule

MOST = 256
_ALL = SliceV(NONE, NONE, NONE)


def _points(b: Builder, given: SymValue, n: Dim, even: bool) -> list[SymValue]:
    """Where the parts begin, and the end of the last one."""
    known = b.static(given)
    if isinstance(known, (int, np.integer)) and not isinstance(known, bool):
        count = int(known)
        if not 0 < count <= MOST:
            raise args.refuse(f"{count} parts")
        size = n // count
        longer = next((k for k in range(1 if even else count) if b.dim_is(n, size * count + k)), None)
        if longer is None:
            raise args.refuse("parts of unequal length")
        return [dim_scalar(b, size * k + min(k, longer)) for k in range(count + 1)]
    if not isinstance(known, (tuple, list)) or len(known) > MOST:
        raise args.refuse(f"parts given by {type(known).__name__}")
    return [Const(0), *(Const(args.index(k)) for k in known), NONE]


def _split(b: Builder, ary: SymValue, given: SymValue, axis: int, even: bool) -> SymValue:
    a = args.as_array(b, ary)
    points = _points(b, given, b.dims(a)[axis], even)
    before = (_ALL,) * axis
    parts = [indexing.getitem(b, a, TupleV((*before, SliceV(i, j, NONE)))) for i, j in pairwise(points)]
    return ListV(parts)


@rule(np.split)
def split(b: Builder, ary: SymValue, indices_or_sections: SymValue, axis: SymValue = Const(0)) -> SymValue:
    a = _array(b, ary)
    return _split(b, a, indices_or_sections, args.one_axis(b, axis, a.rank), True)


@rule(np.array_split)
def array_split(b: Builder, ary: SymValue, indices_or_sections: SymValue, axis: SymValue = Const(0)) -> SymValue:
    a = _array(b, ary)
    return _split(b, a, indices_or_sections, args.one_axis(b, axis, a.rank), False)


def _array(b: Builder, ary: SymValue, least: int = 1) -> Array:
    ary = b.force(ary)
    if not isinstance(ary, Array) or ary.rank < least:
        raise args.refuse(f"split of something else than an array of {least} axes or more")
    return ary


@rule(np.hsplit)
def hsplit(b: Builder, ary: SymValue, indices_or_sections: SymValue) -> SymValue:
    a = _array(b, ary)
    return _split(b, a, indices_or_sections, 1 if a.rank > 1 else 0, True)


@rule(np.vsplit)
def vsplit(b: Builder, ary: SymValue, indices_or_sections: SymValue) -> SymValue:
    return _split(b, _array(b, ary, 2), indices_or_sections, 0, True)


@rule(np.dsplit)
def dsplit(b: Builder, ary: SymValue, indices_or_sections: SymValue) -> SymValue:
    return _split(b, _array(b, ary, 3), indices_or_sections, 2, True)


@rule(*filter(None, [getattr(np, "unstack", None)]))  # since NumPy 2.1
def unstack(b: Builder, x: SymValue, /, *, axis: SymValue = Const(0)) -> SymValue:
    a = _array(b, x)
    at = args.one_axis(b, axis, a.rank)
    count = b.static_dim(b.dims(a)[at])
    if count > MOST or a.rank == 1:  # of one axis: arrays without axes
        raise args.refuse(f"{count} parts")
    before = (_ALL,) * at
    return TupleV(tuple(indexing.getitem(b, a, TupleV((*before, Const(k)))) for k in range(count)))


__all__: list[str] = []
