"""Reads the arguments of NumPy functions: axes, dtypes, orders, shapes, flags, array-likes, `out`.

In: symbolic values as the call passes them. Out: plain Python values, dims, arrays. Never: emits arithmetic; an
argument that NumPy would refuse, or that is known at run time only, raises `Unsupported`, so that NumPy itself answers.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, ListV, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim, product
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout
from npcompile.ir.types import Layout, TensorType, ViewType, is_compiled

from .promotion import dtype_of

FAR = 1 << 47
"""No length or position is larger."""
MOST = 1 << 31
"""Elements that an array of a size given by numbers has at most in compiled code: whether there is memory for more, only NumPy
finds out in time for a handler to catch the error."""


def given(v: SymValue) -> bool:
    """Was the argument given, that is neither NumPy's "no value" nor None?"""
    return not (isinstance(v, Const) and (v.value is None or v.value is np._NoValue))


def passed(v: SymValue) -> bool:
    """Was the argument passed at all (None counts as passed)?"""
    return not (isinstance(v, Const) and v.value is np._NoValue)


def refuse(detail: str) -> Unsupported:
    """Arguments that NumPy refuses, or that are not modelled: NumPy itself runs the call."""
    return Unsupported("numpy-arguments", detail)


def static(b: Builder, v: SymValue) -> Any:
    """The plain Python value of an argument that decides what is computed."""
    return b.static(b.force(v), choice=True)


def flag(b: Builder, v: SymValue) -> bool:
    """A truth value such as `keepdims`; "no value" and None are False."""
    if not given(v):
        return False
    x = static(b, v)
    if not isinstance(x, (bool, int, np.bool_, np.integer)):
        raise refuse(f"flag {x!r}")
    return bool(x)


def index(x: Any) -> int:
    """`operator.index`, with NumPy's refusal of bools left to NumPy."""
    if isinstance(x, (bool, np.bool_)):
        raise refuse("a bool as an axis or index")
    try:
        return operator.index(x)
    except TypeError:
        raise refuse(f"{type(x).__name__} as an integer") from None


def normal_axis(axis: int, rank: int) -> int:
    """A non-negative axis; one out of range is left to NumPy."""
    if not -rank <= axis < rank:
        raise refuse(f"axis {axis} of rank {rank}")
    return axis % rank if rank else 0


def one_axis(b: Builder, v: SymValue, rank: int) -> int:
    """An `axis` argument that must be one integer."""
    return normal_axis(index(static(b, v)), rank)


def optional_axis(b: Builder, v: SymValue, rank: int) -> int | None:
    """An `axis` argument that is one integer or None."""
    return one_axis(b, v, rank) if given(v) else None


def axes(b: Builder, v: SymValue, rank: int, *, scalar_ok: bool = False) -> tuple[int, ...]:
    """An `axis` argument of a reduction: None (all), an integer or a tuple; sorted and without repeats.

    scalar_ok : rank 0 accepts axis 0 and -1, as `ufunc.reduce` does.
    """
    if not given(v):
        return tuple(range(rank))
    x = static(b, v)
    if scalar_ok and rank == 0 and not isinstance(x, tuple) and index(x) in (0, -1):
        return ()
    if isinstance(x, list):
        raise refuse("a list as axis")
    return tuple(sorted(normal_axes(x if isinstance(x, tuple) else (x,), rank)))


def normal_axes(xs: Any, rank: int) -> tuple[int, ...]:
    """A sequence of distinct axes, in the order given."""
    out = tuple(normal_axis(index(x), rank) for x in xs)
    if len(set(out)) != len(out):
        raise refuse("repeated axis")
    return out


def axis_sequence(b: Builder, v: SymValue, rank: int) -> tuple[int, ...]:
    """An integer, tuple or list of distinct axes, in the order given (`moveaxis`, `flip`, `expand_dims`, ...)."""
    x = static(b, v)
    return normal_axes(x if isinstance(x, (tuple, list)) else (x,), rank)


def dtype(b: Builder, v: SymValue) -> np.dtype | None:
    """A `dtype` argument; None when it was not given."""
    return as_dtype(static(b, v)) if given(v) else None


def as_dtype(x: Any) -> np.dtype:
    """The dtype an object stands for, when it is one of those compiled."""
    try:
        dt = np.dtype(x)
    except TypeError:
        raise refuse(f"dtype {x!r}") from None
    if not is_compiled(dt):
        raise Unsupported("dtype", str(dt))
    return dt


def order(b: Builder, v: SymValue, allowed: str = "CFAK") -> str:
    """An `order` argument as one upper-case letter; None is "C"... only where NumPy says so, so callers pass defaults."""
    x = static(b, v)
    if not (isinstance(x, str) and x.upper() in allowed and len(x) == 1):
        raise refuse(f"order {x!r}")
    return x.upper()


def only_default(b: Builder, v: SymValue, *defaults: Any) -> None:
    """Refuse a parameter that has another value than its defaults (`subok`, `device`, `like`)."""
    x = static(b, v)
    if not any(x is d or (type(x) is type(d) and x == d) for d in defaults):
        raise refuse(f"argument {x!r}")


def dim(b: Builder, v: SymValue) -> Dim:
    """A length or position: a Python or NumPy integer, known or symbolic, as a dim."""
    v = b.force(v)
    if isinstance(v, Const):
        return Dim.of(index(v.value))
    if isinstance(v, Scalar) and v.dtype.kind in "iu" and v.dim is not None:
        return v.dim
    if isinstance(v, Scalar) and v.dtype.kind in "iu":
        return _computed(b, v)
    raise refuse(f"{type(v).__name__} as a length")


def _computed(b: Builder, v: Scalar) -> Dim:
    """The dim of an integer that is computed from array values; one beyond any size leaves compiled code."""
    x = b.value_of(v)
    assert isinstance(x.type, TensorType)
    bad = b.emit("gt", x, b.const(FAR, x.type.dtype)) if v.dtype.itemsize == 8 else None
    x = b.convert(x, np.dtype(np.int64))
    if bad is not None and v.dtype.kind == "i":
        bad = b.emit("logical_or", bad, b.emit("lt", x, b.const(-FAR, np.int64)))
    if bad is not None:
        b.exit_if(bad, "data-dependent-shape")
    return b.name_of(x, -FAR, FAR, None)


def length(b: Builder, v: SymValue) -> Dim:
    """A dim that must not be negative."""
    d = dim(b, v)
    if not b.dim_ge(d, 0):
        raise refuse("negative dimensions are not allowed")
    return bounded(b, d)


def bounded(b: Builder, d: Dim) -> Dim:
    """A length of an array to be made."""
    if _is_number(b, d) and not b.dim_ge(MOST, d):
        raise Unsupported("big-size", "an array of this length")
    return d


def _is_number(b: Builder, d: Dim) -> bool:
    """May it be any number? Axes of arrays are bounded by the memory that the arrays have."""
    return d.bounds()[1] > FAR or b.facts.is_local(d)


def items(b: Builder, v: SymValue) -> tuple[SymValue, ...] | None:
    """The items of a tuple or list, or None when `v` is neither."""
    v = b.force(v)
    if isinstance(v, TupleV):
        return tuple(v.items)
    if isinstance(v, ListV):
        return tuple(v.items)
    if isinstance(v, Const) and type(v.value) in (tuple, list):
        return tuple(Const(x) for x in v.value)
    return None


def shape(b: Builder, v: SymValue) -> tuple[Dim, ...]:
    """A shape: an integer or a sequence of integers, none negative."""
    parts = items(b, v)
    if parts is None:
        return (length(b, v),)
    dims = tuple(length(b, x) for x in parts)
    if len(dims) > 1 and (any(_is_number(b, d) for d in dims) or all(d.const is not None for d in dims)):
        _check_total(b, dims)
    return dims


def _check_total(b: Builder, dims: tuple[Dim, ...]) -> None:
    """Refuse sizes of which only the product is too large."""
    total = Dim.of(1)
    for d in dims:
        if d.const == 0:
            return
        # each first, so that no product is beyond 64 bits
        if not b.dim_ge(MOST, d) or not b.dim_ge(MOST, total * d):
            raise Unsupported("big-size", "an array of this size")
        total = total * d


def nonempty(b: Builder, dims: tuple[Dim, ...]) -> bool:
    """Are all dims at least 1 (answered with guards)?"""
    return all(b.dim_ge(d, 1) for d in dims)


def array_like(b: Builder, v: SymValue) -> SymValue:
    """An operand as an `Array`, a `Scalar` or a constant number; sequences become fresh arrays."""
    v = b.force(v)
    if isinstance(v, (Array, Scalar)) or (isinstance(v, Const) and isinstance(v.value, (bool, int, float, complex, np.generic))):
        return v
    parts = items(b, v)
    if parts is None:
        raise Unsupported("operand", f"{type(v).__name__} is not a number or array")
    return _sequence(b, parts)


def _sequence(b: Builder, parts: tuple[SymValue, ...]) -> Array:
    """`np.asarray` of a list or tuple: a new axis in front of the items' common shape, C order."""
    if not parts:
        return b.array(b.emit("full", b.const(0.0, np.float64), dims=(Dim.of(0),)))
    arrays = [array_like(b, x) for x in parts]
    dt = functools.reduce(np.promote_types, map(dtype_of, arrays))
    values = [b.value_of(a, dt) for a in arrays]
    dims = b.dims(values[0])
    if not all(b.dims_agree(b.dims(v), dims) for v in values):
        raise refuse("items of different shapes")
    out = b.emit("concat", *(b.emit("expand", b.broadcast(v, dims), axes=(0,)) for v in values), axis=0)
    return b.array(b.emit("copy", out, layout=c_layout(b.dims(out))))


def rank(v: SymValue) -> int:
    """Rank of an `array_like`."""
    return v.rank if isinstance(v, Array) else 0


def as_array(b: Builder, v: SymValue) -> Array:
    """An operand as an array: arrays as they are, numbers as fresh 0-d arrays."""
    v = array_like(b, v)
    return v if isinstance(v, Array) else b.array(b.value_of(v))


def value_dtype(v: Value) -> np.dtype:
    assert isinstance(v.type, TensorType)
    return v.type.dtype


def value_layout(v: Value) -> Layout:
    assert isinstance(v.type, TensorType)
    return v.type.layout


def view_type(b: Builder, a: Array) -> ViewType:
    """The type of an array with dims and strides by their canonical names."""
    t = b.facts.canon_type(a.type)
    assert isinstance(t, ViewType)
    return t


def size(b: Builder, v: Value | Array) -> Dim:
    """Number of elements."""
    return product(b.dims(v))


def out_array(b: Builder, v: SymValue) -> Array | None:
    """An `out` argument: an array or nothing."""
    if not given(v):
        return None
    v = b.force(v)
    if not isinstance(v, Array):
        raise refuse("out is not an array")
    return v


def finish(b: Builder, value: Value, out: Array | None = None) -> SymValue:
    """The result of a function: `out` filled and handed back, else a NumPy scalar for rank 0 and a fresh array otherwise."""
    if out is None:
        return b.array(value) if b.dims(value) else b.scalar(value)
    if not b.dims_agree(out.dims, b.dims(value)):
        raise refuse("out has another shape")
    b.store(out, b.convert(value, out.dtype))
    return out
