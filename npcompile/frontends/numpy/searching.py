"""Rules of sorting and searching that need more than a call of the function: results that are views, arrays changed in place.

In: symbolic arguments by NumPy's own signatures. Out: calls of other functions from inside the segment, views, stores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim

from . import externs
from .library import indices_of_nonzero
from .registry import NONE, method, rule
from .ufuncs import as_operand


@rule(np.nonzero)
@method("nonzero", on="array")
def nonzero(b: Builder, a: SymValue) -> SymValue:
    """Of several axes, NumPy gives the columns of one array of indices."""
    a = as_operand(b, a)
    if not isinstance(a, Array) or a.rank < 2:
        raise Unsupported("no-rule", "nonzero")
    where = externs.call(b, indices_of_nonzero, [a], {})
    assert isinstance(where, Array)
    return TupleV(tuple(_column(b, where, k) for k in range(a.rank)))


def _column(b: Builder, a: Array, k: int) -> Array:
    n = b.dims(a)[0]
    one = b.view(a, "slice", starts=(Dim.of(0), Dim.of(k)), steps=(Dim.of(1), Dim.of(1)), dims=(n, Dim.of(1)))
    return b.view(one, "squeeze", axes=(1,))


@method("sort", on="array")
def sort(
    b: Builder, self: Array, axis: SymValue = Const(-1), kind: SymValue = NONE, order: SymValue = NONE, *, stable: SymValue = NONE
) -> SymValue:
    """`a.sort()`: the sorted array is stored to `a`."""
    return _in_place(b, np.sort, [self, axis], {"kind": kind, "order": order, "stable": stable})


@method("partition", on="array")
def partition(
    b: Builder, self: Array, kth: SymValue, axis: SymValue = Const(-1), kind: SymValue = Const("introselect")
) -> SymValue:
    """`a.partition(kth)`, as `sort`."""
    return _in_place(b, np.partition, [self, kth, axis], {"kind": kind})


def _in_place(b: Builder, function: Any, values: list[SymValue], named: dict[str, SymValue]) -> SymValue:
    """Store what the function makes of an array, along the axis that comes last in `values`, to the array."""
    array, axis = values[0], values[-1]
    done = externs.call(b, function, values, named)
    if (isinstance(axis, Const) and axis.value is None) or not isinstance(array, Array) or not isinstance(done, Array):
        raise Unsupported("invalid-arguments", f"{function.__name__} along no axis")
    b.store(array, b.read(done))
    return NONE
