"""Attributes of arrays and NumPy scalars that hold numbers, dtypes or views.

In: an array or NumPy scalar. Out: constants, dims as Python ints, views. Never: `flags`, `base`, `flat`, `data` and other
objects tied to the array's memory, which run as plain Python.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim, product

from .promotion import dtype_of
from .queries import dim_scalar
from .registry import attribute, method
from .ufuncs import call


def _dims(b: Builder, v: SymValue) -> tuple[Dim, ...]:
    return b.dims(v) if isinstance(v, Array) else ()


@attribute("shape")
def shape(b: Builder, self: SymValue) -> SymValue:
    return TupleV(tuple(dim_scalar(b, d) for d in _dims(b, self)))


@attribute("ndim")
def ndim(b: Builder, self: SymValue) -> SymValue:
    return Const(len(_dims(b, self)))


@attribute("size")
def size(b: Builder, self: SymValue) -> SymValue:
    return dim_scalar(b, product(_dims(b, self)))


@attribute("dtype")
def dtype(b: Builder, self: SymValue) -> SymValue:
    return Const(dtype_of(self))


@attribute("itemsize")
def itemsize(b: Builder, self: SymValue) -> SymValue:
    return Const(dtype_of(self).itemsize)


@attribute("nbytes")
def nbytes(b: Builder, self: SymValue) -> SymValue:
    return dim_scalar(b, product(_dims(b, self)) * dtype_of(self).itemsize)


@attribute("strides")
def strides(b: Builder, self: SymValue) -> SymValue:
    return TupleV(tuple(dim_scalar(b, s) for s in self.type.strides) if isinstance(self, Array) else ())


@attribute("real")
def real(b: Builder, self: SymValue) -> SymValue:
    if dtype_of(self).kind != "c":
        return self
    return b.view(self, "real_view") if isinstance(self, Array) else b.scalar(b.emit("real", b.value_of(self)))


@attribute("imag")
def imag(b: Builder, self: SymValue) -> SymValue:
    dt = dtype_of(self)
    if dt.kind == "c":
        return b.view(self, "imag_view") if isinstance(self, Array) else b.scalar(b.emit("imag", b.value_of(self)))
    if isinstance(self, Array):
        raise Unsupported("numpy-arguments", "imag of a real array is a new read-only array")
    return b.scalar(b.const(0, dt))


@method("conj", "conjugate")
def conjugate(b: Builder, self: SymValue) -> SymValue:
    return call(b, np.conjugate, self) if dtype_of(self).kind == "c" else self  # NumPy returns a real one itself


@method("__len__", on="array")
def length(b: Builder, self: Array) -> SymValue:
    if not self.rank:
        raise Unsupported("invalid-arguments", "len() of unsized object")
    return dim_scalar(b, b.dims(self)[0])
