"""Attributes of tensors, and methods that only ask about shapes and dtypes.

In: a tensor. Out: constants, and sizes as Python ints.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.contiguity import is_contiguous
from npcompile.frontends.values import Const, Scalar, SymValue, Tensor, TupleV
from npcompile.ir.dims import Dim

from . import arguments as args
from . import library
from .promotion import INT64, as_tensor, convert, refuse
from .registry import NONE, attribute, both, method


def int_of(b: Builder, d: Dim) -> SymValue:
    """A dim as a Python int."""
    d = b.facts.canon(d)
    return Const(d.const) if d.const is not None else Scalar("python", INT64, dim=d)


def dtype_object(dt: np.dtype) -> Const:
    return Const(library.torch_dtypes()[dt])


def _size(b: Builder, x: Tensor) -> TupleV:
    return TupleV(tuple(int_of(b, d) for d in b.dims(x.array)), None, library.module().Size)


@attribute("shape")
def shape(b: Builder, self: Tensor) -> SymValue:
    return _size(b, self)


@method("size")
def size(b: Builder, self: Tensor, dim: SymValue = NONE) -> SymValue:
    whole = _size(b, self)
    if not args.given(dim):
        return whole
    if not self.rank:
        raise refuse("size of a tensor without axes")
    return whole.items[args.axis(b, dim, self.rank)]


@attribute("ndim")
def ndim(b: Builder, self: Tensor) -> SymValue:
    return Const(self.rank)


@method("dim", "ndimension")
def rank(b: Builder, self: Tensor) -> SymValue:
    return Const(self.rank)


@both("numel")
def numel(b: Builder, input: SymValue) -> SymValue:
    return int_of(b, args.size(b, as_tensor(b, input)))


@method("nelement")
def nelement(b: Builder, self: Tensor) -> SymValue:
    return numel(b, self)


@attribute("dtype")
def dtype(b: Builder, self: Tensor) -> SymValue:
    return dtype_object(self.dtype)


@attribute("device")
def device(b: Builder, self: Tensor) -> SymValue:
    return Const(library.module().device(b.device))


@attribute("is_cuda")
def is_cuda(b: Builder, self: Tensor) -> SymValue:
    return Const(b.device.startswith("cuda"))


@attribute("itemsize")
def itemsize(b: Builder, self: Tensor) -> SymValue:
    return Const(self.dtype.itemsize)


@method("element_size")
def element_size(b: Builder, self: Tensor) -> SymValue:
    return Const(self.dtype.itemsize)


@attribute("nbytes")
def nbytes(b: Builder, self: Tensor) -> SymValue:
    return int_of(b, args.size(b, self) * self.dtype.itemsize)


@method("stride")
def stride(b: Builder, self: Tensor, dim: SymValue = NONE) -> SymValue:
    if any(d.const == 1 for d in b.dims(self.array)):
        raise refuse("strides of axes of length 1")
    t = b.facts.canon_type(self.array.type)
    whole = tuple(int_of(b, s // self.dtype.itemsize) for s in t.strides or ())
    return whole[args.axis(b, dim, self.rank)] if args.given(dim) else TupleV(whole)


@method("is_contiguous")
def contiguous(b: Builder, self: Tensor) -> SymValue:
    return Const(is_contiguous(b, self.array, "C"))


@both("is_floating_point")
def is_floating_point(b: Builder, input: SymValue) -> SymValue:
    return Const(as_tensor(b, input).dtype.kind == "f")


@both("is_complex")
def is_complex(b: Builder, input: SymValue) -> SymValue:
    return Const(as_tensor(b, input).dtype.kind == "c")


@method("__len__")
def length(b: Builder, self: Tensor) -> SymValue:
    if not self.rank:
        raise refuse("len() of a tensor without axes")
    return int_of(b, b.dims(self.array)[0])


@method("item")
def item(b: Builder, self: Tensor) -> SymValue:
    """The one element as a Python number."""
    v = b.read(self.array)
    if not all(b.dim_is(d, 1) for d in b.dims(v)):
        raise refuse("item of several elements")
    if b.dims(v):
        v = b.emit("squeeze", v, axes=tuple(range(len(b.dims(v)))))
    wide = {"b": "?", "i": "q", "u": "q", "f": "d", "c": "D"}[self.dtype.kind]
    return b.scalar(convert(b, v, np.dtype(wide)), "python")
