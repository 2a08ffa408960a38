"""Values changed to another dtype or kind: element assignment, astype, copy, item, truth, Python numbers, dtype constructors.

In: symbolic values and dtypes. Out: symbolic values or IR values of the wanted dtype. Never: promotion; a conversion that
Python or NumPy refuses leaves before the instruction.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, ListV, Scalar, SymValue, Unsupported
from npcompile.ir.dims import Dim, product
from npcompile.ir.graph import Value
from npcompile.ir.layout import any_order, c_layout, f_layout, keep_order
from npcompile.ir.types import TensorType

from . import arguments
from .contiguity import is_contiguous
from .promotion import BOOL, COMPLEX128, FLOAT64, INT64, as_dtype, dtype_of, is_number, is_numpy_scalar, is_python_number, operand
from .registry import FALSE, NONE, TRUE, method, rule

ORDER_C, ORDER_K, UNSAFE, ZERO = Const("C"), Const("K"), Const("unsafe"), Const(0)

# ---------------------------------------------------------------------------------------------- element assignment


def assigned(b: Builder, v: SymValue, dtype: np.dtype) -> Value:
    """The value that `a[...] = v` puts into an array of `dtype`.

    Arrays are cast. Numbers go through the dtype's `setitem`, which refuses (or warns about) what does not fit; those leave.
    """
    v = b.force(v)
    if not is_number(v):
        return b.value_of(v, dtype)
    have = dtype_of(v)
    if have.kind == "c" and dtype.kind not in "cb":
        raise Unsupported("complex-to-real", "a complex number into a real array")
    if dtype.kind in "iu":
        if have.kind == "f":
            x = b.value_of(v, FLOAT64)
            _leave_unless_fits(b, x, dtype)
            return b.convert(x, dtype)
        if is_numpy_scalar(v) and not np.can_cast(have, dtype, "safe"):
            _check_int_scalar(b, v, dtype)
    return operand(b, v, dtype)


def shows_order(b: Builder, target: Array, v: SymValue) -> bool:
    """May `target[...] = v` read elements that it has written before?

    NumPy copies what overlaps first, but for vectors that go the same way: those it assigns one after the other, which shows when
    their steps differ.
    """
    if not isinstance(v, Array) or not v.rank or target.rank != 1:
        return False
    mine, other = target.storage, v.storage
    if mine is not other and (mine.mem is None or mine.mem != other.mem):
        return False
    (to,), (*_, by) = b.facts.canon_type(target.type).strides, b.facts.canon_type(v.type).strides
    up, down = to.bounds(), by.bounds()
    apart = (up[0] >= 0 and down[1] <= 0) or (up[1] <= 0 and down[0] >= 0)
    return to != by and not apart and b.dims(v)[-1].const != 1


def assign_in_order(b: Builder, target: Array, v: Array) -> None:
    """`target[...] = v` where `shows_order`; of one dtype only."""
    if v.rank > 1:
        v = b.view(v, "squeeze", axes=tuple(range(v.rank - 1)))
    if not b.dims_agree(b.dims(target), b.dims(v)):
        raise Unsupported("shape-mismatch", "could not broadcast input array")
    if v.dtype != target.dtype:
        raise Unsupported("overlap-order", f"{v.dtype} to {target.dtype}")
    if v.dims != target.dims:
        v = b.view(v, "slice", starts=(Dim.of(0),), steps=(1,), dims=target.dims)  # sizes checked inside keep their own names
    b.move(target, v)


def _leave_unless_fits(b: Builder, x: Value, dtype: np.dtype) -> None:
    """Leave when a float64 is not finite or its integer part is beyond an integer dtype."""
    info = np.iinfo(dtype)
    low = b.emit("gt", x, b.const(float(info.min) - 1, FLOAT64) if dtype.itemsize < 8 else b.const(_below(info.min), FLOAT64))
    high = b.emit("lt", x, b.const(float(info.max) + 1, FLOAT64))
    b.exit_if(b.emit("logical_not", b.emit("logical_and", low, high)), "float-to-int")


def _below(least: int) -> float:
    """The largest float64 whose integer part is below an 8-byte dtype's minimum."""
    return float(np.nextafter(float(least), -np.inf)) if least else -1.0


def _check_int_scalar(b: Builder, v: SymValue, dtype: np.dtype) -> None:
    """Leave when a NumPy integer scalar does not fit."""
    x, info = b.value_of(v), np.iinfo(dtype)
    have = dtype_of(v)
    if have == BOOL:
        return
    bad = None
    for prim, bound in (("lt", info.min), ("gt", info.max)):
        if np.iinfo(have).min <= bound <= np.iinfo(have).max:
            one = b.emit(prim, x, b.const(bound, have))
            bad = one if bad is None else b.emit("logical_or", bad, one)
    if bad is not None:
        b.exit_if(bad, "int-out-of-range")


# ---------------------------------------------------------------------------------------------- Python numbers


def element(b: Builder, v: SymValue) -> Value:
    """The only element of an array of size 1, or a number, as a rank-0 value."""
    if not isinstance(v, Array):
        return b.value_of(v)
    if not b.dim_is(product(b.dims(v)), 1) or not all(b.dim_is(d, 1) for d in b.dims(v)):
        raise Unsupported("ambiguous-truth", "an array that has not exactly one element")
    x = b.read(v)
    return b.emit("squeeze", x, axes=tuple(range(v.rank))) if v.rank else x


def python_number(b: Builder, x: Value) -> Scalar:
    """A rank-0 value as `.item()` gives it."""
    assert isinstance(x.type, TensorType)
    dt = x.type.dtype
    if dt.kind == "u" and dt.itemsize == 8:
        b.exit_if(b.emit("gt", x, b.const(np.iinfo(INT64).max, dt)), "big-int")
    return b.scalar(b.convert(x, {"b": BOOL, "i": INT64, "u": INT64, "f": FLOAT64, "c": COMPLEX128}[dt.kind]), "python")


@method("item")
def item(b: Builder, self: SymValue, *args: SymValue) -> SymValue:
    if not args:
        return python_number(b, element(b, self))
    if len(args) == 1:
        args = tuple(arguments.items(b, args[0]) or args)
    if not isinstance(self, Array) or len(args) != self.rank:
        raise Unsupported("numpy-arguments", "item() by a flat index")
    from npcompile.frontends.values import TupleV

    from .indexing import getitem

    return python_number(b, b.value_of(getitem(b, self, TupleV(args))))


@method("tolist")
def tolist(b: Builder, self: SymValue) -> SymValue:
    if not isinstance(self, Array) or not self.rank:
        return python_number(b, element(b, self))
    n = b.facts.canon(self.dims[0]).const
    if n is None or n > 64:
        raise Unsupported("data-dependent-shape", "a list as long as an array")
    from .indexing import getitem

    return ListV([tolist(b, getitem(b, self, Const(i))) for i in range(n)])


# ---------------------------------------------------------------------------------------------- astype, copy, arrays


def _layout(b: Builder, a: Array, order: str) -> tuple[int, ...]:
    """Layout of a copy of `a`; `order` is "K", "A", "C" or "F"."""
    dims = b.dims(a)
    if len(dims) > 1 and order in "KA":
        for d in dims:
            b.dim_is(d, 1)
        dims = b.dims(a)
    t = b.facts.canon_type(a.type)
    assert not isinstance(t, TensorType) and hasattr(t, "layout")
    if order == "K":
        return keep_order(t.layout, dims)
    if order == "A":
        return any_order(t)
    return c_layout(dims) if order == "C" else f_layout(dims)


def copied(b: Builder, a: Array, dtype: np.dtype, order: str) -> Array:
    """A fresh array with the elements of `a`, cast to `dtype`."""
    layout = _layout(b, a, order)
    v = b.convert(b.read(a), dtype)
    return b.array(b.emit("copy", v, layout=layout))


def _order_fits(b: Builder, a: Array, order: str) -> bool:
    """Need `a` not be copied to have this order?"""
    if order in "KA":
        return True
    return is_contiguous(b, a, order)


@method("astype")
def astype(
    b: Builder,
    self: SymValue,
    dtype: SymValue,
    order: SymValue = ORDER_K,
    casting: SymValue = UNSAFE,
    subok: SymValue = TRUE,
    copy: SymValue = TRUE,
) -> SymValue:
    dt = as_dtype(b, dtype) or FLOAT64
    if not np.can_cast(dtype_of(self), dt, b.static(casting)):
        raise Unsupported("invalid-arguments", f"cannot cast {dtype_of(self)} to {dt}")
    if not isinstance(self, Array):
        return b.scalar(b.value_of(self, dt))
    keep = arguments.order(b, order)
    if not arguments.flag(b, copy) and self.dtype == dt and _order_fits(b, self, keep):
        if keep != "A" or is_contiguous(b, self, "C") or is_contiguous(b, self, "F"):
            return self
    return copied(b, self, dt, keep)


@method("copy")
def copy_method(b: Builder, self: SymValue, order: SymValue = ORDER_C) -> SymValue:
    if not isinstance(self, Array):
        return b.scalar(b.value_of(self))
    return copied(b, self, self.dtype, arguments.order(b, order))


@rule(np.copy)
def copy_function(b: Builder, a: SymValue, order: SymValue = ORDER_K, subok: SymValue = FALSE) -> SymValue:
    return make_array(b, a, None, True, arguments.order(b, order))


def array_of(b: Builder, v: SymValue) -> Array:
    """`np.asarray(v)`."""
    return make_array(b, v, None, False, "K")


def make_array(b: Builder, v: SymValue, dtype: np.dtype | None, copy: bool, order: str) -> Array:
    """`np.array(v, dtype, copy=copy or None, order=order)`."""
    v = b.force(v)
    if isinstance(v, Array):
        if not copy and (dtype is None or dtype == v.dtype) and _order_fits(b, v, order):
            return v
        return copied(b, v, dtype or v.dtype, order)
    if is_number(v):
        return b.array(assigned(b, v, dtype or dtype_of(v)))
    a = arguments.as_array(b, _checked_items(b, v, dtype))
    if dtype is not None and dtype != a.dtype:
        a = b.array(b.convert(b.read(a), dtype))
    return a if order in "KAC" or a.rank < 2 else copied(b, a, a.dtype, order)


def _checked_items(b: Builder, v: SymValue, dtype: np.dtype | None) -> SymValue:
    """Numbers in a sequence are assigned to the wanted dtype one by one, so those of another kind are left to NumPy."""
    if dtype is None:
        return v
    parts = arguments.items(b, v)
    for x in parts or ():
        x = b.force(x)
        if is_number(x):
            if not np.can_cast(dtype_of(x), dtype, "same_kind") or (
                is_python_number(x) and dtype.kind in "iu" and dtype != INT64
            ):
                raise Unsupported("numpy-arguments", f"an item that is cast to {dtype}")
        else:
            _checked_items(b, x, dtype)
    return v


@rule(np.array)
def array_rule(
    b: Builder,
    object: SymValue,
    dtype: SymValue = NONE,
    *,
    copy: SymValue = TRUE,
    order: SymValue = ORDER_K,
    subok: SymValue = FALSE,
    ndmin: SymValue = ZERO,
    ndmax: SymValue = ZERO,
    like: SymValue = NONE,
) -> SymValue:
    arguments.only_default(b, like, None)
    arguments.only_default(b, ndmax, 0)
    return _with_rank(b, _array(b, object, dtype, copy, order), arguments.index(b.static(ndmin)))


def _array(b: Builder, v: SymValue, dtype: SymValue, copy: SymValue, order: SymValue) -> Array:
    want = b.static(copy)
    if want is not None and type(want) is not bool:
        raise Unsupported("numpy-arguments", f"copy={want!r}")
    keep = b.static(order) or "K"
    made = make_array(b, v, as_dtype(b, dtype), bool(want), arguments.order(b, Const(keep)))
    if want is False and made is not b.force(v):  # NumPy raises
        raise Unsupported("numpy-arguments", "copy=False where a copy is needed")
    return made


def _with_rank(b: Builder, a: Array, rank: int) -> Array:
    """Axes of length 1 put in front until the array has `rank` of them."""
    return a if a.rank >= rank else b.view(a, "expand", axes=tuple(range(rank - a.rank)))


@rule(np.asarray, np.asanyarray)
def asarray(
    b: Builder,
    a: SymValue,
    dtype: SymValue = NONE,
    order: SymValue = NONE,
    *,
    device: SymValue = NONE,
    copy: SymValue = NONE,
    like: SymValue = NONE,
) -> SymValue:
    arguments.only_default(b, device, None, "cpu")
    arguments.only_default(b, like, None)
    return _array(b, a, dtype, copy, order)


@rule(np.ascontiguousarray)
def ascontiguousarray(b: Builder, a: SymValue, dtype: SymValue = NONE, *, like: SymValue = NONE) -> SymValue:
    arguments.only_default(b, like, None)
    return _with_rank(b, _array(b, a, dtype, NONE, Const("C")), 1)


@rule(np.asfortranarray)
def asfortranarray(b: Builder, a: SymValue, dtype: SymValue = NONE, *, like: SymValue = NONE) -> SymValue:
    arguments.only_default(b, like, None)
    return _with_rank(b, _array(b, a, dtype, NONE, Const("F")), 1)


# ---------------------------------------------------------------------------------------------- dtype constructors

CONSTRUCTORS = tuple({np.dtype(c).type for c in "?bBhHiIlLefdFD"})


def _constructor(dtype: np.dtype) -> None:
    def construct(b: Builder, x: SymValue = ZERO, /) -> SymValue:
        x = arguments.array_like(b, x)
        if isinstance(x, Array):
            if x.rank:
                return x if x.dtype == dtype else copied(b, x, dtype, "K")
            return b.scalar(b.value_of(x, dtype))
        return b.scalar(assigned(b, x, dtype))

    rule(dtype.type)(construct)


for _type in CONSTRUCTORS:
    _constructor(np.dtype(_type))
