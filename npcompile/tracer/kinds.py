"""Kinds of values that loops carry and branches join: how a variable is represented in IR, whatever it holds.

In: symbolic values. Out: a `Kind`, or what a value of one has in common with others. Never: emits anything but a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.frontends.values import Array, Const, Scalar, SymValue, Tensor
from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType
from npcompile.records import dataclass, replace

from .inputs import const_key
from .numbers import EXACT_FLOAT, dim_of, dtype_of, is_number
from .symbolic import UNBOUND, JoinV

if TYPE_CHECKING:
    from .interpreter import Trace

FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True)
class Kind:
    """How one variable is carried; the names are those of `carried`.

    first : the other kind of an "open" number. shape : what a "made" one is, but for its parts. size : how many they are; of an
        "affine" number its step, and -1 of a length that is known not to be one.
    kept : list that may hold the array.
    """

    name: str
    python: bool = False
    dtype: np.dtype | None = None
    joined: bool = False
    first: Kind | None = None
    size: int = 0
    shape: Any = None
    kept: Any = None

    def scalar(self, value: Value) -> Scalar:
        """A number of this kind."""
        assert self.dtype is not None
        return Scalar("python" if self.python else "numpy", self.dtype, value)


SAME, TENSOR, BUFFER, UNBOUND_KIND = Kind("same"), Kind("tensor"), Kind("buffer"), Kind("unbound")


def memory(v: SymValue) -> Array | None:
    """The memory of an array or tensor."""
    return v if isinstance(v, Array) else v.array if isinstance(v, Tensor) else None


def number_kind(v: SymValue) -> Kind | None:
    """The scalar kind of a Python number or NumPy scalar."""
    if isinstance(v, Const) and isinstance(v.value, np.generic):
        return Kind("scalar", False, v.value.dtype)
    if is_number(v):
        return Kind("scalar", True, dtype_of(v))
    if isinstance(v, Scalar):
        return Kind("scalar", False, v.dtype)
    return None


def representable(v: SymValue, kind: Kind) -> bool:
    """Has the number before the loop an exact value in the carried representation (and may it join it)?"""
    have = number_kind(v)
    if v is UNBOUND or have == replace(kind, joined=False):
        return True
    if have is None or not kind.joined or not have.python or have.dtype is None or kind.dtype != FLOAT64:
        return False
    if have.dtype.kind == "f":
        return True
    d = dim_of(v)
    lo, hi = d.bounds() if d is not None else (-(1 << 62), 1 << 62)
    return have.dtype.kind == "i" and lo >= -EXACT_FLOAT and hi <= EXACT_FLOAT


def open_kind(v: SymValue) -> Kind | None:
    """The kind of a number of open type; None for other values."""
    if not isinstance(v, JoinV):
        return None
    first = UNBOUND_KIND if v.first is UNBOUND else number_kind(v.first)
    rest = number_kind(v.rest)
    return None if first is None or rest is None else replace(rest, name="open", first=first)


def fits_open(v: SymValue, kind: Kind) -> bool:
    """Has a number of the first kind of an open one an exact value in the common representation?"""
    assert kind.first is not None
    return kind.first.dtype == kind.dtype or representable(v, replace(kind, name="scalar", first=None, joined=True))


def equal_constants(a: SymValue, b: SymValue) -> bool:
    if a is b:
        return True
    return isinstance(a, Const) and isinstance(b, Const) and const_key(a.value) == const_key(b.value)


def packed(t: Trace, v: Value) -> Value:
    """A tensor with the strides of a fresh array."""
    assert isinstance(v.type, TensorType)
    return v if not v.type.strides else t.b.emit("copy", v, layout=v.type.layout)
