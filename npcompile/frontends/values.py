"""Symbolic Python values: what the tracer's locals and stack hold, and what NumPy rules take and return.

Lattice: `Const` (exact object known) ⊑ `Scalar` (type known, value at run time) ⊑ `Opaque`. Arrays are `Array`.
Containers that the segment itself built are virtual (`TupleV`, `ListV`, `DictV`, `SetV`, `SliceV`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Region, Value
from npcompile.ir.segment import Source
from npcompile.ir.types import ViewType
from npcompile.records import dataclass


class SymValue:
    """Base of everything a symbolic frame holds."""

    __slots__ = ()


@dataclass(eq=False)
class Const(SymValue):
    """An object known exactly at trace time: immutable Python constants, modules, functions, types, dtypes.

    source : where it came from when it was not made by the code itself (its guard has been made); None otherwise.
    """

    value: Any
    source: Source | None = None


@dataclass(eq=False)
class Scalar(SymValue):
    """A number whose value is known at run time only.

    kind : "python" (int, float, bool, complex: weak under NEP 50) or "numpy" (np.generic: strong).
    dtype : int64, float64, bool or complex128 for Python numbers; the scalar's dtype for NumPy.
    value : rank-0 IR value; None as long as only `dim` is needed (`Builder.value_of` makes it).
    dim : for integers, the value as a dim (polynomial over input and loop symbols) when it is one, else None.
    source : where it came from, unchanged (handed back as the same object); None when computed.
    """

    kind: Literal["python", "numpy"]
    dtype: np.dtype
    value: Value | None = None
    dim: Dim | None = None
    source: Source | None = None


@dataclass(eq=False)
class Storage:
    """The memory (or not yet memory) behind a family of arrays that share it.

    type : the whole buffer as a view; while pure, as it will be once it has memory.
    pure : tensor value while no part of it has been stored to and nobody needs its memory; `Builder.materialise` moves it
        to a buffer. A store to all of it only replaces the value.
    root : view value of the whole buffer (graph input or `alloc` result) once there is memory.
    mem : key of the memory state in `Builder.mem` (one per alias class); None while pure.
    region : the region it was created in; None for inputs.
    source : the array's source for inputs.
    fresh : created in the segment (owned, writeable, no other reference outside).
    kept : (list, position) when a list of run-time length holds the array: it may not be stored to.
    """

    type: ViewType
    pure: Value | None = None
    root: Value | None = None
    mem: int | None = None
    region: Region | None = None
    source: Source | None = None
    fresh: bool = True
    kept: Any = None


@dataclass(frozen=True)
class ViewOp:
    """One index map applied to a storage's root to give an array: an index-map prim and its params."""

    prim: str
    params: tuple[tuple[str, Any], ...]


@dataclass(eq=False)
class Array(SymValue):
    """An exact `np.ndarray` (rank >= 0, never a NumPy scalar).

    One `Array` object stands for one Python object: `is` on arrays is identity of `Array` (or equal `source`).
    storage, chain : the storage and the index maps from its root to this array; () for the root itself.
    type : the array as a view: dims, strides, layout, flags. Of a pure storage too (then as it will be in memory).
        Dims may be stale names: compare them by `Builder.dim_is`, or take them from `Builder.dims`.
    source : set when this very object came from outside (returned as itself).
    writeable : False for results of broadcast_to and for read-only inputs.
    detached : of memory that libraries with gradients do not trace back to the tensor it belongs to (`x.detach()`, arrays).
    """

    storage: Storage
    chain: tuple[ViewOp, ...]
    type: ViewType
    source: Source | None = None
    writeable: bool = True
    detached: bool = False

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def dims(self) -> tuple[Dim, ...]:
        return self.type.dims

    @property
    def rank(self) -> int:
        return len(self.type.dims)


@dataclass(eq=False)
class Picked(SymValue):
    """A fresh array `array[by]` for a mask of the array's shape: the chosen elements, not brought together.

    whole, mask : all elements, of which those not chosen mean nothing, and which are chosen (`chosen`: as it was read).
    since : what tells that `array` and `by` still hold these elements (see `numpy.picked.parts`).
    together : the array, once it has been made: from then on this value stands for it.
    """

    whole: Array
    mask: Array
    chosen: Value
    array: Array
    by: Array
    since: tuple[Value, ...]
    together: Array | None = None


@dataclass(eq=False)
class Tensor(SymValue):
    """An array of a library with arrays of its own: exactly a `torch.Tensor` or a `cupy.ndarray` (the segment's library says
    which). NumPy's rules never take one for an array.

    array : its memory, seen as an array; several tensors and arrays may share a storage.
    source : set when this very object came from outside (returned as itself).
    """

    array: Array
    source: Source | None = None

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def dims(self) -> tuple[Dim, ...]:
        return self.array.dims

    @property
    def rank(self) -> int:
        return self.array.rank


@dataclass(eq=False)
class TupleV(SymValue):
    """A tuple built in the segment, or an input tuple taken apart (then `source` is set and identity is kept).

    cls : tuple, a namedtuple class, or another subclass that is made of one iterable (torch.Size, struct sequences).
    """

    items: tuple[SymValue, ...]
    source: Source | None = None
    cls: type = tuple


def make_tuple(cls: type, items: Iterable[Any]) -> Any:
    """An object of a tuple class as `TupleV.cls` has them."""
    return cls(*items) if hasattr(cls, "_fields") else cls(items)


def tuple_fields(cls: type) -> tuple[str, ...]:
    """Names of the items of a namedtuple or struct sequence."""
    names: tuple[str, ...] = getattr(cls, "_fields", ())
    return names or (getattr(cls, "__match_args__", ()) if hasattr(cls, "n_fields") else ())


@dataclass(eq=False)
class ListV(SymValue):
    """A list built in the segment and not escaped: may be mutated at trace time."""

    items: list[SymValue]


@dataclass(eq=False)
class DictV(SymValue):
    """A dict built in the segment and not escaped; keys are hashable constants."""

    items: dict[Any, SymValue]


@dataclass(eq=False)
class SetV(SymValue):
    """A set of constants built in the segment and not escaped."""

    items: set[Any]


@dataclass(eq=False)
class SliceV(SymValue):
    start: SymValue
    stop: SymValue
    step: SymValue


@dataclass(eq=False)
class RangeV(SymValue):
    """A range object; its bounds are Const ints or Python int Scalars."""

    start: SymValue
    stop: SymValue
    step: SymValue


@dataclass(eq=False)
class Opaque(SymValue):
    """A live object that nothing may be assumed of but its exact type (guarded when `type` is set)."""

    source: Source
    type: type | None = None


@dataclass(eq=False)
class Lazy(SymValue):
    """An input nobody has looked at yet: no guard has been made. `Builder.force` turns it into one of the others.

    example : the object of the traced call.
    """

    source: Source
    example: Any


@dataclass(eq=False)
class NullV(SymValue):
    """The interpreter's NULL."""


NULL = NullV()


class Unsupported(Exception):
    """Raised by rules and the tracer: this operation is not compiled; take an exit before the current instruction.

    reason : id in the reasons registry (`npcompile.tracer.reasons`), detail : what exactly.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class OuterStore(Exception):
    """A store to a pure storage from an inner region: it must get its memory (`Builder.materialise`) before that region.

    Whoever traces the region rolls back to its start, materialises `storage` there and traces the region again.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__("store to an outer pure array")
        self.storage = storage
