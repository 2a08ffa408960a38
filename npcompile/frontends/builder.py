"""The one object rules write IR through: emits prims, reads and stores arrays, asks about dims (each answer a guard).

In: symbolic values and static params. Out: nodes in the current region. Knows nothing of bytecode: the tracer installs
two hooks (`exit_here`, `force_hook`) and sets `loc`. Rules never touch `Region` directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Graph, Loc, Region, ReportSite, Value
from npcompile.ir.types import TensorType, ViewType

from .values import Array, Scalar, Storage, SymValue


class Builder:
    """State of one trace.

    graph, region : the graph and the region being appended to.
    mem : current memory state by alias class.
    loc : source position that new nodes and report sites get.
    exit_here : hook; returns (exit id, captured IR values) of an exit before the current instruction, whose reason is given.
    force_hook : hook; turns a `Lazy` into a concrete symbolic value, making its guards.
    hints : trace-time value of every symbol, by symbol; decides questions about dims, never baked into code.
    """

    graph: Graph
    region: Region
    mem: dict[int, Value]
    loc: Loc
    hints: dict[Sym, int]
    exit_here: Callable[[str], tuple[int, tuple[Value, ...]]]
    force_hook: Callable[[SymValue], SymValue]

    # -- emitting -----------------------------------------------------------------------------------------------
    def emit(self, prim: str, *inputs: Value, report: str | ReportSite | None = None, **params: Any) -> Value:
        """Append one node with one output; its type comes from the prim's type rule.

        report : NumPy's name of the operation when its floating-point conditions are to be reported.
        """
        raise NotImplementedError

    def emit_multi(self, prim: str, *inputs: Value, **params: Any) -> tuple[Value, ...]:
        raise NotImplementedError

    def const(self, value: Any, dtype: np.dtype | type | str) -> Value:
        """A rank-0 constant of exactly this dtype."""
        raise NotImplementedError

    def dim_value(self, dim: Dim | int) -> Value:
        """A dim as an int64 rank-0 value."""
        raise NotImplementedError

    def sym_of(self, value: Value, lo: int, hi: int, hint: int) -> Dim:
        """Name an int64 rank-0 value so that dims can mention it; bounds must be true (proved or already checked)."""
        raise NotImplementedError

    def exit_if(self, cond: Value, reason: str) -> None:
        """Leave before the current instruction when the bool value is true at run time."""
        raise NotImplementedError

    # -- questions about dims (answers become graph guards) -------------------------------------------------------
    def dim_is(self, a: Dim | int, b: Dim | int) -> bool:
        """Are the dims equal? Proved, refuted, or answered by the hints and guarded."""
        raise NotImplementedError

    def dim_ge(self, a: Dim | int, b: Dim | int) -> bool:
        raise NotImplementedError

    def hint(self, d: Dim | int) -> int:
        """The value at trace time."""
        raise NotImplementedError

    # -- symbolic values ------------------------------------------------------------------------------------------
    def force(self, v: SymValue) -> SymValue:
        """Look at a lazy input (guards are made); others are returned as they are."""
        raise NotImplementedError

    def static(self, v: SymValue) -> Any:
        """The Python object when it is known (a symbolic int/float input is specialised: guarded equal to its example);
        tuples, lists and slices of such too. Raises `Unsupported("static-value")` for values made at run time."""
        raise NotImplementedError

    def value_of(self, v: SymValue, dtype: np.dtype | None = None) -> Value:
        """A number, NumPy scalar or array as a tensor value (arrays are read at the current state), converted to `dtype`."""
        raise NotImplementedError

    # -- arrays -----------------------------------------------------------------------------------------------------
    def array(self, value: Value) -> Array:
        """A fresh array whose contents are `value`."""
        raise NotImplementedError

    def scalar(self, value: Value, kind: str = "numpy") -> Scalar:
        """A rank-0 value as a NumPy (or Python) scalar."""
        raise NotImplementedError

    def view(self, a: Array, prim: str, **params: Any) -> Array:
        """A view of `a` by one more index map (shares storage; type by the prim's type rule)."""
        raise NotImplementedError

    def read(self, a: Array) -> Value:
        """The contents of `a` now."""
        raise NotImplementedError

    def materialise(self, s: Storage) -> None:
        """Give a pure storage a buffer (alloc + store); arrays on it become views."""
        raise NotImplementedError

    def store(self, a: Array, value: Value, mask: Value | None = None) -> None:
        """`a[...] = value` (same dims and dtype as `a`; where `mask` if given). Raises Unsupported when `a` is read-only."""
        raise NotImplementedError

    def new_array(self, dtype: np.dtype, dims: Sequence[Dim], layout: tuple[int, ...] | None = None) -> Array:
        """An uninitialised fresh array in memory."""
        raise NotImplementedError

    # -- broadcasting and promotion -------------------------------------------------------------------------------
    def broadcast_dims(self, *shapes: Sequence[Dim]) -> tuple[Dim, ...]:
        """NumPy's broadcast of shapes; Unsupported("shape-mismatch") when they do not match at trace time."""
        raise NotImplementedError

    def broadcast(self, v: Value, dims: Sequence[Dim]) -> Value:
        raise NotImplementedError

    def convert(self, v: Value, dtype: np.dtype) -> Value:
        """A cast as `astype(dtype, casting="unsafe")` does it; no node when the dtype is the same."""
        raise NotImplementedError


__all__ = ["Array", "Builder", "Scalar", "TensorType", "ViewType"]
