"""Basic indexing of arrays, get and set, and stores under a boolean mask.

In: an array and a symbolic key. Out: views, NumPy scalars, stores. Every bound is a dim: proved, guarded at entry, or (for
integers known at run time only) checked by an exit before the instruction. Never: other advanced indexing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder, cast_reports
from npcompile.frontends.values import Array, Const, ListV, Picked, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim, dim_max, dim_min, provably_ge
from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType
from npcompile.records import dataclass

from .contiguity import new_view
from .conversion import assign_in_order, assigned, shows_order
from .picked import pick
from .picked import store as store_picked
from .promotion import BOOL, INT64, dtype_of, is_number
from .registry import NONE, method
from .ufuncs import as_operand

ZERO, ONE = Dim.of(0), Dim.of(1)


@dataclass
class _Axis:
    """What a key does to one axis of the array: an element (`step` None) or a slice."""

    start: Dim
    step: int | None = None
    length: Dim = ONE


# ---------------------------------------------------------------------------------------------- entry points


def getitem(b: Builder, a: SymValue, key: SymValue) -> SymValue:
    """`a[key]` of an array or NumPy scalar."""
    items = _items(b, key)
    if not isinstance(a, Array):
        if not items:
            return a
        if not all(isinstance(k, Const) and (k.value is None or k.value is Ellipsis) for k in items):
            raise Unsupported("invalid-arguments", "invalid index to scalar variable")
        a = b.array(b.value_of(a))
    if len(items) == 1 and isinstance(items[0], Array) and items[0].dtype == BOOL:
        return pick(b, a, items[0])
    if any(isinstance(k, Array) for k in items):
        from .gathers import getitem as gathered

        return gathered(b, a, items)
    if _is_element(a, items):
        return b.scalar(_element(b, a, items))
    return _view(b, a, items)


def setitem(b: Builder, a: SymValue, key: SymValue, value: SymValue) -> None:
    """`a[key] = value`."""
    if not isinstance(a, Array):
        raise Unsupported("invalid-arguments", "NumPy scalars do not support item assignment")
    if not a.writeable:
        raise Unsupported("read-only", "assignment destination is read-only")
    items = _items(b, key)
    if isinstance(value, Picked):
        if len(items) != 1 or not isinstance(items[0], Array) or items[0].dtype != BOOL:
            raise Unsupported("advanced-indexing", "elements chosen by a mask, stored elsewhere")
        return store_picked(b, a, items[0], value)
    value = _operand(b, value, a.dtype)
    if len(items) == 1 and isinstance(items[0], Array):
        return _store_masked(b, a, items[0], value)
    if _is_element(a, items):
        if isinstance(value, Array) and value.rank:
            raise Unsupported("invalid-arguments", "setting an array element with a sequence")
        return _store_element(b, a, items, value)
    target = _view(b, a, items)
    dims = b.dims(target)
    if isinstance(value, Array) and shows_order(b, target, value):
        assign_in_order(b, target, value)
    elif isinstance(value, Array) and cast_reports(value.dtype, a.dtype):
        # NumPy casts element by element, so nothing is reported when there is none
        b.store(target, b.convert(_fit(b, b.value_of(value), dims), a.dtype))
    else:
        b.store(target, _fit(b, assigned(b, value, a.dtype), dims))


@method("fill", on="array")
def fill(b: Builder, self: Array, value: SymValue) -> SymValue:
    """`a.fill(value)`: as `a[...] = value` for numbers."""
    value = as_operand(b, value)
    if isinstance(value, Array):
        raise Unsupported("numpy-arguments", "fill with an array")
    setitem(b, self, Const(Ellipsis), value)
    return NONE


def _operand(b: Builder, value: SymValue, dtype: np.dtype) -> SymValue:
    value = b.force(value)
    if isinstance(value, (TupleV, ListV)) or (isinstance(value, Const) and isinstance(value.value, (tuple, list))):
        from .conversion import make_array

        return make_array(b, value, dtype, False, "K")
    return as_operand(b, value)


def _fit(b: Builder, v: Value, dims: Sequence[Dim]) -> Value:
    """`v` broadcast to the target's shape; leading axes of length 1 that are too many are dropped."""
    have = b.dims(v)
    extra = len(have) - len(dims)
    if extra > 0:
        if not all(b.dim_is(d, 1) for d in have[:extra]):
            raise Unsupported("shape-mismatch", "could not broadcast input array")
        v = b.emit("squeeze", v, axes=tuple(range(extra)))
    out = b.broadcast_dims(b.dims(v), dims)
    if not b.dims_agree(out, dims):
        raise Unsupported("shape-mismatch", "could not broadcast input array")
    return b.broadcast(v, dims)


# ---------------------------------------------------------------------------------------------- reading the key


def _items(b: Builder, key: SymValue) -> list[SymValue]:
    key = b.force(key)
    if isinstance(key, Const) and isinstance(key.value, tuple):
        key = TupleV(tuple(Const(k) for k in key.value))
    if isinstance(key, TupleV):
        return [_item(b, k) for k in key.items]
    return [_item(b, key)]


def _item(b: Builder, k: SymValue) -> SymValue:
    """One item: a slice, an integer, an array, or the constants None and Ellipsis."""
    k = b.force(k)
    if isinstance(k, Const):
        x = k.value
        if isinstance(x, slice):
            return SliceV(Const(x.start), Const(x.stop), Const(x.step))
        if x is None or x is Ellipsis or (isinstance(x, (int, np.integer)) and not isinstance(x, bool)):
            return k
    if isinstance(k, (SliceV, Array)) or (isinstance(k, Scalar) and k.dtype.kind in "iu"):
        return k
    if isinstance(k, ListV) or (isinstance(k, Const) and type(k.value) is list):
        from .conversion import array_of

        found = array_of(b, k)
        if found.dtype.kind in "iu" and not any(d.const == 0 for d in found.dims):
            return found
    raise Unsupported("advanced-indexing", f"an index of {type(k).__name__}")


def _is_integer(k: SymValue) -> bool:
    return isinstance(k, Scalar) or (isinstance(k, Const) and isinstance(k.value, (int, np.integer)))


def _is_element(a: Array, items: Sequence[SymValue]) -> bool:
    return len(items) == a.rank and all(map(_is_integer, items))


# ---------------------------------------------------------------------------------------------- integers


def _index(b: Builder, k: SymValue, n: Dim) -> Dim | Value:
    """A position in an axis of length `n`, wrapped and checked: a dim when it is one, else a value."""
    d = Dim.of(int(k.value)) if isinstance(k, Const) else k.dim if isinstance(k, Scalar) else None
    if d is not None:
        inside = _dim_index(b, d, n)
        if inside is not None:
            return inside
    x = b.value_of(k)
    return b.once(("index", x, b.facts.canon(n)), lambda: _value_index(b, x, n))


def _dim_index(b: Builder, d: Dim, n: Dim) -> Dim | None:
    """The position when bounds are known without a check in place; None otherwise."""
    positive = b.dim_ge_outside(d, 0)
    if positive is None:
        return None
    fits = b.dim_ge_outside(n, d + 1) if positive else b.dim_ge_outside(n, -d)
    if fits is False:
        raise Unsupported("index-range", f"index {d} is out of range for length {n}")
    return None if fits is None else b.facts.canon(d if positive else n + d)


def _value_index(b: Builder, x: Value, n: Dim) -> Value:
    assert isinstance(x.type, TensorType)
    lo, hi = value_range(x)
    if x.type.dtype.kind == "u" and x.type.dtype.itemsize == 8:
        b.exit_if(b.emit("gt", x, b.const(np.iinfo(INT64).max, x.type.dtype)), "index-range")
    x = b.convert(x, INT64)
    if lo >= 0 and b.dim_ge_outside(n, hi + 1):
        return x
    size = b.dim_value(n)
    zero = b.const(0, INT64)
    if lo < 0:
        x = b.emit("select", b.emit("lt", x, zero), b.emit("add", x, size), x)
    bad = b.emit("ge", x, size)
    if lo < 0:
        bad = b.emit("logical_or", bad, b.emit("lt", x, zero))
    b.exit_if(bad, "index-range")
    return x


def value_range(x: Value) -> tuple[int, int]:
    """Bounds of an integer value that its producer implies."""
    assert isinstance(x.type, TensorType)
    info = np.iinfo(x.type.dtype)
    node = x.node
    if node is None:
        return info.min, info.max
    if node.prim == "const":
        return node.params["value"], node.params["value"]
    if node.prim == "dim":
        return node.params["dim"].bounds()
    if node.prim == "convert" and isinstance(node.inputs[0].type, TensorType) and node.inputs[0].type.dtype.kind in "iu":
        lo, hi = value_range(node.inputs[0])
        return (lo, hi) if info.min <= lo and hi <= info.max else (info.min, info.max)
    if node.prim == "bit_and":
        for side in node.inputs:
            lo, hi = value_range(side)
            if lo >= 0 and hi < info.max:
                return 0, hi
    if node.prim == "shr":
        lo, hi = value_range(node.inputs[0])
        s, t = value_range(node.inputs[1])
        if lo >= 0 and s == t >= 0:
            return lo >> s, hi >> s
    if node.prim in ("mod", "py_mod"):
        lo, hi = value_range(node.inputs[1])
        if lo > 0:
            return 0, hi - 1
    return int(info.min), int(info.max)


def _positions(b: Builder, a: Array, items: Sequence[SymValue]) -> list[Dim | Value]:
    return [_index(b, k, n) for k, n in zip(items, b.dims(a))]


def _element(b: Builder, a: Array, items: Sequence[SymValue]) -> Value:
    at = _positions(b, a, items)
    if a.storage.pure is None:
        return b.item(a, [_as_value(b, p) for p in at])
    dims = [_as_dim(b, p, n) for p, n in zip(at, b.dims(a))]
    v = b.read(a)
    if not dims:
        return v
    one = b.emit("slice", v, starts=tuple(dims), steps=(ONE,) * len(dims), dims=(ONE,) * len(dims))
    return b.emit("squeeze", one, axes=tuple(range(len(dims))))


def _store_element(b: Builder, a: Array, items: Sequence[SymValue], value: SymValue) -> None:
    at = _positions(b, a, items)
    v = assigned(b, value, a.dtype)
    b.store_item(a, v, [_as_value(b, p) for p in at])


def _as_value(b: Builder, p: Dim | Value) -> Value:
    return p if isinstance(p, Value) else b.dim_value(p)


def _as_dim(b: Builder, p: Dim | Value, n: Dim) -> Dim:
    return p if isinstance(p, Dim) else b.name_of(p, 0, n - 1, max(b.hint(n) - 1, 0) // 2)


# ---------------------------------------------------------------------------------------------- slices and views


def _view(b: Builder, a: Array, items: Sequence[SymValue]) -> Array:
    """`a[items]` of basic items that leave at least one axis (or an ellipsis)."""
    if any(isinstance(k, Array) for k in items):
        raise Unsupported("advanced-indexing", "an array among the indices")
    ellipses = sum(isinstance(k, Const) and k.value is Ellipsis for k in items)
    used = sum(not (isinstance(k, Const) and (k.value is None or k.value is Ellipsis)) for k in items)
    if used > a.rank or ellipses > 1:
        raise Unsupported("invalid-arguments", "too many indices")
    if not ellipses:
        items = [*items, Const(Ellipsis)]
    dims = b.dims(a)
    axes: list[_Axis] = []
    new: list[int] = []  # positions of new axes in the result
    gone: list[int] = []  # axes of the array that integers take away
    rank = 0  # axes of the result so far
    for k in items:
        if isinstance(k, Const) and k.value is None:
            new.append(rank)
            rank += 1
        elif isinstance(k, Const) and k.value is Ellipsis:
            for _ in range(a.rank - used):
                axes.append(_Axis(ZERO, 1, dims[len(axes)]))
                rank += 1
        elif isinstance(k, SliceV):
            axes.append(_slice(b, k, dims[len(axes)]))
            rank += 1
        else:
            n = dims[len(axes)]
            gone.append(len(axes))
            axes.append(_Axis(_as_dim(b, _index(b, k, n), n)))
    return _apply(b, a, axes, gone, new)


def _apply(b: Builder, a: Array, axes: Sequence[_Axis], gone: Sequence[int], new: Sequence[int]) -> Array:
    whole = all(x.step == 1 and x.start == ZERO and x.length == n for x, n in zip(axes, b.dims(a)))
    if whole and not new:
        return new_view(b, a)
    if not whole:
        a = b.view(
            a,
            "slice",
            starts=tuple(x.start for x in axes),
            steps=tuple(Dim.of(x.step or 1) for x in axes),
            dims=tuple(x.length for x in axes),
        )
    if gone:
        a = b.view(a, "squeeze", axes=tuple(gone))
    return b.view(a, "expand", axes=tuple(new)) if new else a


def _slice(b: Builder, s: SliceV, n: Dim) -> _Axis:
    """The elements that `slice.indices(n)` gives."""
    step = b.static(s.step)
    if step is None:
        step = 1
    if isinstance(step, bool) or not isinstance(step, (int, np.integer)) or step == 0:
        raise Unsupported("invalid-arguments", f"slice step {step!r}")
    step = int(step)
    start, stop = _bound(b, s.start), _bound(b, s.stop)
    if step > 0:
        first = ZERO if start is None else _clip(b, start, n, ZERO, n)
        last = n if stop is None else _clip(b, stop, n, ZERO, n)
        length = _length(b, last - first, step)
    else:
        first = n - 1 if start is None else _clip(b, start, n, -ONE, n - 1)
        last = -ONE if stop is None else _clip(b, stop, n, -ONE, n - 1)
        length = _length(b, first - last, -step)
    if length.const == 0:
        first = ZERO
    return _Axis(first, step, length)


def _bound(b: Builder, v: SymValue) -> Dim | None:
    """A slice bound as a dim."""
    v = b.force(v)
    if isinstance(v, Const):
        if v.value is None:
            return None
        if isinstance(v.value, (int, np.integer)):
            big = 1 << 62
            return Dim.of(max(-big, min(big, int(v.value))))
    if isinstance(v, Scalar) and v.dtype.kind in "iu":
        if v.dim is not None:
            return v.dim
        x = b.value_of(v)
        lo, hi = value_range(x)
        if lo < -(1 << 62) or hi > 1 << 62:
            # dims of any size could overflow when bounds are computed from them
            lo, hi = max(lo, -(1 << 47)), min(hi, 1 << 47)
            b.exit_if(_outside(b, x, lo, hi), "index-range")
        return b.sym_of(b.convert(x, INT64), lo, hi, max(lo, min(hi, 1)))
    raise Unsupported("invalid-arguments", f"a slice bound of {type(v).__name__}")


def _outside(b: Builder, x: Value, lo: int, hi: int) -> Value:
    assert isinstance(x.type, TensorType)
    high = b.emit("gt", x, b.const(hi, x.type.dtype))
    return high if x.type.dtype.kind == "u" else b.emit("logical_or", high, b.emit("lt", x, b.const(lo, x.type.dtype)))


def _clip(b: Builder, s: Dim, n: Dim, lo: Dim, hi: Dim) -> Dim:
    """A bound made non-negative by adding the length, then put into [lo, hi]."""
    positive = b.dim_ge(s, 0)
    if not positive:
        s = n + s
        above = b.dim_ge_outside(s, lo)
        if above is False:
            return lo
        return s if above else dim_max(s, lo)
    below = b.dim_ge_outside(hi, s)
    if below is False:
        return hi
    return s if below else dim_min(s, hi)


def _length(b: Builder, span: Dim, step: int) -> Dim:
    """max(0, ceil(span / step))."""
    some = b.dim_ge_outside(span, 0)
    if some is False:
        return ZERO
    if some is None:
        span = dim_max(span, ZERO)
    return b.facts.canon(span if step == 1 else (span + (step - 1)) // step)


# ---------------------------------------------------------------------------------------------- masks and index arrays


def _store_masked(b: Builder, a: Array, mask: Array, value: SymValue) -> None:
    """`a[mask] = value` for a value that does not depend on which elements are chosen."""
    if mask.dtype != BOOL:
        raise Unsupported("advanced-indexing", "a store through an index array")
    dims = b.dims(a)
    lead = mask.rank
    if lead == 0 or lead > len(dims) or not b.dims_agree(b.dims(mask), dims[:lead]):
        raise Unsupported("invalid-arguments", "the mask has another shape than the array")
    if isinstance(value, Array) and cast_reports(value.dtype, a.dtype):
        raise Unsupported("numpy-arguments", "a cast that may warn, of elements chosen by a mask")
    v = assigned(b, value, a.dtype)
    have = b.dims(v)
    while len(have) > len(dims) - lead and b.dim_is(have[0], 1):
        v = b.emit("squeeze", v, axes=(0,))
        have = b.dims(v)
    if len(have) > len(dims) - lead:
        raise Unsupported("advanced-indexing", "a value for each chosen element")
    v = b.broadcast(_fit(b, v, dims[lead:]), dims)
    m = b.read(mask)
    if lead < len(dims):
        m = b.emit("expand", m, axes=tuple(range(lead, len(dims))))
    b.store(a, v, b.broadcast(m, dims))


__all__: list[Any] = ["dtype_of", "getitem", "is_number", "provably_ge", "setitem", "value_range"]
