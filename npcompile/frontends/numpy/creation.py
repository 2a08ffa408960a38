"""Rules of zeros, ones, full, empty and their `_like` forms, eye, identity, tri, indices.

In: symbolic arguments by NumPy's own signatures. Out: fresh arrays. Ranges are in `ranges.py`.
"""

from __future__ import annotations

import warnings

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, ListV, SymValue, TupleV
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout, f_layout

from . import arguments as args
from .contiguity import layout_for, reshape
from .promotion import dtype_of
from .reduce_core import cast
from .registry import FALSE, NONE, TRUE, rule
from .sites import loc, site

F8 = np.dtype(np.float64)
I8 = np.dtype(np.int64)
Layout = tuple[int, ...]


def new_layout(b: Builder, dims: tuple[Dim, ...], order: SymValue) -> Layout:
    """Layout of a new array with an `order` argument of "C" or "F" (None is "C")."""
    how = args.order(b, order, "CF") if args.given(order) else "C"
    return f_layout(dims) if how == "F" else c_layout(dims)


def cpu_only(b: Builder, device: SymValue, like: SymValue = NONE) -> None:
    args.only_default(b, device, None, "cpu")
    args.only_default(b, like, None)


def filled(b: Builder, value: Value, dims: tuple[Dim, ...], layout: Layout) -> Array:
    """A fresh array of one rank-0 value."""
    return b.array(b.emit("full", value, dims=dims, layout=layout))


@rule(np.empty)
def empty(
    b: Builder, shape: SymValue, dtype: SymValue = NONE, order: SymValue = Const("C"), *, device: SymValue = NONE,
    like: SymValue = NONE,
) -> SymValue:  # fmt: skip
    cpu_only(b, device, like)
    dims = args.shape(b, shape)
    return b.new_array(args.dtype(b, dtype) or F8, dims, new_layout(b, dims, order))


@rule(np.ndarray)
def ndarray(
    b: Builder, shape: SymValue, dtype: SymValue = NONE, buffer: SymValue = NONE, offset: SymValue = Const(0),
    strides: SymValue = NONE, order: SymValue = NONE,
) -> SymValue:  # fmt: skip
    """The constructor, of an array with memory of its own."""
    if args.given(buffer) or args.given(strides):
        raise args.refuse("an array on a given buffer or with given strides")
    return empty(b, shape, dtype, order)


def _register_constant(name: str, value: int) -> None:
    def function(
        b: Builder, shape: SymValue, dtype: SymValue = NONE, order: SymValue = Const("C"), *, device: SymValue = NONE,
        like: SymValue = NONE,
    ) -> SymValue:  # fmt: skip
        cpu_only(b, device, like)
        dims = args.shape(b, shape)
        return filled(b, b.const(value, args.dtype(b, dtype) or F8), dims, new_layout(b, dims, order))

    rule(getattr(np, name))(function)


_register_constant("zeros", 0)
_register_constant("ones", 1)


def as_fill(b: Builder, v: SymValue, dtype: np.dtype | None, function: str) -> Value:
    """What `np.full` copies into the new array: `v` cast to `dtype` without regard to safety."""
    v = args.array_like(b, v)
    if isinstance(v, Const) and dtype is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                known = np.full((), v.value, dtype)[()]
            except (ArithmeticError, TypeError, ValueError, Warning):
                raise args.refuse(f"fill value {v.value!r} as {dtype}") from None
        return b.const(known, dtype)
    value = b.value_of(v)
    return (
        value if dtype is None else cast(b, value, dtype, site(b, "cast", loc(f"_core.numeric.{function}", "multiarray.copyto(")))
    )


def _fill(b: Builder, value: Value, dims: tuple[Dim, ...], layout: Layout) -> Array:
    if not b.dims(value):
        return filled(b, value, dims, layout)
    if not b.dims_agree(b.broadcast_dims(b.dims(value), dims), dims):
        raise args.refuse("a fill value of a larger shape")
    return b.array(b.emit("copy", b.broadcast(value, dims), layout=layout))


@rule(np.full)
def full(
    b: Builder, shape: SymValue, fill_value: SymValue, dtype: SymValue = NONE, order: SymValue = Const("C"), *,
    device: SymValue = NONE, like: SymValue = NONE,
) -> SymValue:  # fmt: skip
    cpu_only(b, device, like)
    dims = args.shape(b, shape)
    value = as_fill(b, fill_value, args.dtype(b, dtype), "full")
    return _fill(b, value, dims, new_layout(b, dims, order))


def _like(
    b: Builder, a: SymValue, dtype: SymValue, order: SymValue, subok: SymValue, shape: SymValue, device: SymValue
) -> tuple[np.dtype, tuple[Dim, ...], Layout]:
    """dtype, dims and layout of a new array made like `a`."""
    cpu_only(b, device)
    args.flag(b, subok)
    a = args.array_like(b, a)
    how = args.order(b, order) if args.given(order) else "K"
    dt = args.dtype(b, dtype) or dtype_of(a)
    dims = args.shape(b, shape) if args.given(shape) else b.dims(a) if isinstance(a, Array) else ()
    if not isinstance(a, Array) or (how == "K" and a.rank != len(dims)):
        how = "F" if how == "F" else "C"
    elif how == "K" and args.given(shape) and a.rank > 1 and any(d.const == 1 for d in b.dims(a)):
        raise args.refuse("the order of axes of length 1 for another shape")
    if isinstance(a, Array):
        return dt, dims, layout_for(b, a, how, dims)
    return dt, dims, f_layout(dims) if how == "F" else c_layout(dims)


@rule(np.empty_like)
def empty_like(
    b: Builder, prototype: SymValue, /, dtype: SymValue = NONE, order: SymValue = Const("K"), subok: SymValue = TRUE,
    shape: SymValue = NONE, *, device: SymValue = NONE,
) -> SymValue:  # fmt: skip
    return b.new_array(*_like(b, prototype, dtype, order, subok, shape, device))


def _register_constant_like(name: str, value: int) -> None:
    def function(
        b: Builder, a: SymValue, dtype: SymValue = NONE, order: SymValue = Const("K"), subok: SymValue = TRUE,
        shape: SymValue = NONE, *, device: SymValue = NONE,
    ) -> SymValue:  # fmt: skip
        dt, dims, layout = _like(b, a, dtype, order, subok, shape, device)
        return filled(b, b.const(value, dt), dims, layout)

    rule(getattr(np, name))(function)


_register_constant_like("zeros_like", 0)
_register_constant_like("ones_like", 1)


@rule(np.full_like)
def full_like(
    b: Builder, a: SymValue, fill_value: SymValue, dtype: SymValue = NONE, order: SymValue = Const("K"),
    subok: SymValue = TRUE, shape: SymValue = NONE, *, device: SymValue = NONE,
) -> SymValue:  # fmt: skip
    dt, dims, layout = _like(b, a, dtype, order, subok, shape, device)
    return _fill(b, as_fill(b, fill_value, dt, "full_like"), dims, layout)


# ---------------------------------------------------------------------------------------------- by position


def index_along(b: Builder, dims: tuple[Dim, ...], axis: int, layout: Layout | None = None) -> Value:
    """The int64 index along one axis."""
    return b.emit("iota", dims=dims, axis=axis, dtype=I8, layout=c_layout(dims) if layout is None else layout)


def below_diagonal(b: Builder, rows: Dim, cols: Dim, k: Dim, op: str = "ge") -> Value:
    """The bool matrix `row + k >= col` (or another comparison)."""
    dims = (rows, cols)
    row = b.emit("add", index_along(b, dims, 0), b.broadcast(b.dim_value(k), dims))
    return b.emit(op, row, index_along(b, dims, 1))


def ones_where(b: Builder, mask: Value, dtype: np.dtype, layout: Layout) -> Array:
    """1 where the mask is true, 0 elsewhere."""
    dims = b.dims(mask)
    one, zero = (b.broadcast(b.const(x, dtype), dims) for x in (1, 0))
    return b.array(b.emit("copy", b.emit("select", mask, one, zero), layout=layout))


@rule(np.eye)
def eye(
    b: Builder, N: SymValue, M: SymValue = NONE, k: SymValue = Const(0), dtype: SymValue = Const(float),
    order: SymValue = Const("C"), *, device: SymValue = NONE, like: SymValue = NONE,
) -> SymValue:  # fmt: skip
    cpu_only(b, device, like)
    rows = args.length(b, N)
    cols = args.length(b, M) if args.given(M) else rows
    layout = new_layout(b, (rows, cols), order)
    return ones_where(b, below_diagonal(b, rows, cols, args.dim(b, k), "eq"), args.dtype(b, dtype) or F8, layout)


@rule(np.identity)
def identity(b: Builder, n: SymValue, dtype: SymValue = NONE, *, like: SymValue = NONE) -> SymValue:
    return eye(b, n, dtype=dtype, like=like)


@rule(np.tri)
def tri(
    b: Builder, N: SymValue, M: SymValue = NONE, k: SymValue = Const(0), dtype: SymValue = Const(float), *,
    like: SymValue = NONE,
) -> SymValue:  # fmt: skip
    args.only_default(b, like, None)
    rows, cols = (_count(b, n) for n in (N, M if args.given(M) else N))
    mask = below_diagonal(b, rows, cols, args.dim(b, k))
    return ones_where(b, mask, args.dtype(b, dtype) or F8, c_layout((rows, cols)))


def _count(b: Builder, v: SymValue) -> Dim:
    """The length of `arange(v)`: a negative number counts as 0."""
    d = args.dim(b, v)
    return d if b.dim_ge(d, 0) else Dim()


def _register_triangle(name: str, shift: int) -> None:
    def function(b: Builder, m: SymValue, k: SymValue = Const(0)) -> SymValue:
        """`where(tri(...), m, 0)`, or the other way round."""
        a = args.as_array(b, m)
        if a.rank < 1:
            raise args.refuse(f"{name} of a number")
        v = b.read(a)
        if a.rank == 1:
            v = b.broadcast(v, (b.dims(v)[0], b.dims(v)[0]))
        dims = b.dims(v)
        mask = b.broadcast(below_diagonal(b, dims[-2], dims[-1], args.dim(b, k) + shift), dims)
        zero = b.broadcast(b.const(0, a.dtype), dims)
        return b.array(b.emit("select", mask, zero, v) if shift else b.emit("select", mask, v, zero))

    rule(getattr(np, name))(function)


_register_triangle("tril", 0)
_register_triangle("triu", -1)


@rule(np.indices)
def indices(b: Builder, dimensions: SymValue, dtype: SymValue = Const(int), sparse: SymValue = FALSE) -> SymValue:
    if args.items(b, dimensions) is None:
        raise args.refuse("indices of a number")
    dims = args.shape(b, dimensions)
    dt = args.dtype(b, dtype) or F8
    if args.flag(b, sparse) or not dims:
        raise args.refuse("sparse indices")
    rows = [b.emit("expand", b.convert(index_along(b, dims, i), dt), axes=(0,)) for i in range(len(dims))]
    out = b.emit("concat", *rows, axis=0)
    return b.array(b.emit("copy", out, layout=c_layout(b.dims(out))))


@rule(np.meshgrid)
def meshgrid(
    b: Builder, *xi: SymValue, copy: SymValue = TRUE, sparse: SymValue = FALSE, indexing: SymValue = Const("xy")
) -> SymValue:
    """Coordinate arrays; only fresh ones, because broadcast views would warn when written to."""
    how = args.static(b, indexing)
    if how not in ("xy", "ij") or not args.flag(b, copy):
        raise args.refuse("meshgrid of views")
    arrays = [args.as_array(b, x) for x in xi]
    axes = list(range(len(arrays)))
    if how == "xy" and len(axes) > 1:
        axes[:2] = [1, 0]
    sizes = [args.size(b, a) for a in arrays]
    lines = []
    for i, a in enumerate(arrays):
        dims = tuple(sizes[i] if x == axes[i] else Dim.of(1) for x in range(len(axes)))
        lines.append(b.read(reshape(b, a, dims, "C")))
    dims = b.broadcast_dims(*(b.dims(v) for v in lines))
    spread = lines if args.flag(b, sparse) else [b.broadcast(v, dims) for v in lines]
    out = [b.array(b.emit("copy", v, layout=c_layout(b.dims(v)))) for v in spread]
    return TupleV(tuple(out)) if isinstance(np.meshgrid([0.0]), tuple) else ListV(list(out))
