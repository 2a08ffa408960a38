"""Types of IR values: pure tensors, views of memory, memory states.

A scalar is a tensor of rank 0. Sizes are `Dim`s. `layout` says how NumPy lays the array out, which decides result
strides, whether a reshape is a view, and the order of summation: one int per axis, 0 for an axis of length 1 or
stride 0, otherwise a rank that grows with `abs(stride)`; equal ranks mean equal strides. A C-contiguous 2-D array has
layout (2, 1), its transpose (1, 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from npcompile.records import dataclass, field

from .dims import Dim, Sym

Layout = tuple[int, ...]

_DTYPES = frozenset(map(np.dtype, "?bBhHiIlLefdFD"))


def is_compiled(dtype: np.dtype) -> bool:
    """Does the IR compute with this dtype? Of two that are equal (C's long and long long) only NumPy's first choice is taken:
    the other one shows in `num` and in the type of its scalars."""
    return dtype in _DTYPES and dtype.isnative and dtype.num == np.dtype(dtype.str).num


@dataclass(frozen=True)
class TensorType:
    """A pure value: it has no memory; `layout` is the axis order NumPy would have given the array.

    `strides` are the byte strides NumPy's array would have; None when it is packed (then `layout` implies them). They are
    set on loads of views and on results of index maps, where NumPy makes no copy, and decide whether a reshape is a view
    and how sums are grouped. They take no part in the equality of types.
    """

    dtype: np.dtype
    dims: tuple[Dim, ...] = ()
    layout: Layout = ()
    strides: tuple[Dim, ...] | None = field(default=None, compare=False)

    @property
    def rank(self) -> int:
        return len(self.dims)

    def __str__(self) -> str:
        return f"{self.dtype.str[1:]}[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class ViewType:
    """A strided window on a buffer: an ndarray in memory.

    `strides` are in bytes. `contiguous` is "C" (also when both C and F), "F" or "" (neither known). `negative` marks the
    axes whose stride is negative. Base object and data pointer are run-time parts of the value.
    """

    dtype: np.dtype
    dims: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    layout: Layout
    contiguous: str = ""
    negative: tuple[bool, ...] = ()
    writeable: bool = True

    @property
    def rank(self) -> int:
        return len(self.dims)

    def __str__(self) -> str:
        return f"view {self.dtype.str[1:]}[{', '.join(map(str, self.dims))}]{self.contiguous}"


@dataclass(frozen=True)
class MemType:
    """The state (version) of the memory of one alias class; only ever an input or output of memory prims and regions."""

    def __str__(self) -> str:
        return "mem"


Type = TensorType | ViewType | MemType


def scalar(dtype: np.dtype | type | str) -> TensorType:
    """The type of a rank-0 value."""
    return TensorType(np.dtype(dtype))


def symbols_of(x: Any) -> Iterable[Sym]:
    """Every symbol that a param or type mentions."""
    if isinstance(x, Dim):
        yield from x.syms()
    elif isinstance(x, (tuple, list)):
        for y in x:
            yield from symbols_of(y)
    elif isinstance(x, (TensorType, ViewType)):
        yield from symbols_of(x.dims)
        yield from symbols_of(x.strides or ())
