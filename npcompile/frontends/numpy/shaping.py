"""Rules of reshape, ravel, transpose and relatives, flip, broadcast_to, atleast_*, roll, repeat, tile.

In: symbolic arguments by NumPy's own signatures. Out: views wherever NumPy gives views, fresh arrays where it copies.
NumPy scalars and Python numbers give what NumPy gives for them, which for some functions is a scalar again.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim, product
from npcompile.ir.layout import c_layout, keep_order

from . import arguments as args
from . import contiguity as flat
from .promotion import is_numpy_scalar, is_python_number
from .queries import dim_scalar
from .registry import FALSE, NO_VALUE, NONE, attribute, method, rule

ONE, ZERO = Dim.of(1), Dim()


# ---------------------------------------------------------------------------------------------- reshape, ravel, flatten


def new_dims(b: Builder, parts: tuple[SymValue, ...], total: Dim) -> tuple[Dim, ...]:
    """The dims of a reshape; one of them may be -1. Another number of elements is left to NumPy."""
    dims: list[Dim] = []
    unknown = None
    for p in parts:
        d = args.dim(b, p)
        if d.const is not None and d.const < 0:
            if unknown is not None:
                raise args.refuse("two unknown dimensions")
            unknown = len(dims)
            d = ONE
        elif not b.dim_ge(d, 0):
            raise args.refuse("a negative dimension")
        dims.append(d)
    known = product(dims)
    if unknown is None:
        if not b.dims_agree((known,), (total,)):
            raise args.refuse("reshape to another number of elements")
        return tuple(dims)
    if not b.dim_ge(known, 1):
        raise args.refuse("an unknown dimension beside an empty one")
    dims[unknown] = divide(b, total, known)
    return tuple(dims)


def divide(b: Builder, total: Dim, known: Dim) -> Dim:
    """`total / known`, which must be exact: symbolically where it is, else by a guarded quotient."""
    quotient = exact_quotient(total, known)
    if quotient is None:
        quotient = total // known
        if not b.dim_is(quotient * known, total):
            raise args.refuse("reshape to another number of elements")
    return quotient


def exact_quotient(a: Dim, d: Dim) -> Dim | None:
    """`a / d` when `d` is one monomial that divides every term of `a`."""
    if len(d.terms) != 1:
        return ONE if a == d else None
    (factors, coef), *_ = d.terms
    out = []
    for m, c in a.terms:
        rest = list(m)
        for f in factors:
            if f not in rest:
                return None
            rest.remove(f)
        if c % coef:
            return None
        out.append((tuple(rest), c // coef))
    return Dim._build(dict(out))


def _shape_parts(b: Builder, shape: tuple[SymValue, ...]) -> tuple[SymValue, ...]:
    """`a.reshape(2, 3)` or `a.reshape((2, 3))`."""
    if len(shape) == 1:
        parts = args.items(b, shape[0])
        if parts is not None:
            return parts
    return shape


def _reshape(b: Builder, a: SymValue, parts: tuple[SymValue, ...], order: SymValue, copy: SymValue) -> SymValue:
    array = args.as_array(b, a)
    how = args.order(b, order, "CFA") if args.given(order) else "C"
    force = args.flag(b, copy) if args.given(copy) else None
    dims = new_dims(b, parts, args.size(b, array))
    if not dims and is_numpy_scalar(b.force(a)):
        return b.scalar(b.value_of(a))
    return flat.reshape(b, array, dims, how, copy=force)


@rule(np.reshape)
def reshape(b: Builder, a: SymValue, shape: SymValue, order: SymValue = Const("C"), *, copy: SymValue = NONE) -> SymValue:
    return _reshape(b, a, _shape_parts(b, (shape,)), order, copy)


@method("reshape")
def reshape_method(b: Builder, a: SymValue, *shape: SymValue, order: SymValue = Const("C"), copy: SymValue = NONE) -> SymValue:
    if not shape:
        raise args.refuse("reshape without a shape")
    return _reshape(b, a, _shape_parts(b, shape), order, copy)


@rule(np.ravel)
def ravel(b: Builder, a: SymValue, order: SymValue = Const("C")) -> SymValue:
    return flat.ravel(b, args.as_array(b, a), args.order(b, order) if args.given(order) else "C")


method("ravel")(ravel)


@method("flatten")
def flatten(b: Builder, a: SymValue, order: SymValue = Const("C")) -> SymValue:
    return flat.flat_copy(b, args.as_array(b, a), args.order(b, order) if args.given(order) else "C")


# ---------------------------------------------------------------------------------------------- order of axes


def _reorder(b: Builder, a: SymValue, perm: tuple[int, ...]) -> SymValue:
    """A transpose; NumPy scalars stay what they are."""
    if is_python_number(a):
        a = args.as_array(b, a)
    if not isinstance(a, Array):
        return a
    return flat.transposed(b, a, perm)


def _permutation(b: Builder, axes: SymValue, rank: int) -> tuple[int, ...]:
    if not args.given(axes):
        return tuple(range(rank))[::-1]
    perm = args.axis_sequence(b, axes, rank)
    if len(perm) != rank:
        raise args.refuse("axes do not match the array")
    return perm


@rule(*{np.transpose, np.permute_dims})
def transpose(b: Builder, a: SymValue, axes: SymValue = NONE) -> SymValue:
    a = args.array_like(b, a)
    return _reorder(b, a, _permutation(b, axes, args.rank(a)))


@method("transpose")
def transpose_method(b: Builder, a: SymValue, *axes: SymValue) -> SymValue:
    return transpose(b, a, axes[0] if len(axes) == 1 else TupleV(axes) if axes else NONE)


@attribute("T")
def t_attribute(b: Builder, a: SymValue) -> SymValue:
    return transpose(b, a)


@rule(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(b: Builder, x: SymValue, /) -> SymValue:
    a = args.as_array(b, x)
    if a.rank < 2:
        raise args.refuse("matrix transpose of fewer than two axes")
    n = a.rank
    return flat.transposed(b, a, (*range(n - 2), n - 1, n - 2))


@attribute("mT", on="array")
def mt_attribute(b: Builder, a: SymValue) -> SymValue:
    return matrix_transpose(b, a)


@rule(np.swapaxes)
def swapaxes(b: Builder, a: SymValue, axis1: SymValue, axis2: SymValue) -> SymValue:
    a = args.array_like(b, a)
    rank = args.rank(a)
    i, j = args.one_axis(b, axis1, rank), args.one_axis(b, axis2, rank)
    perm = list(range(rank))
    perm[i], perm[j] = j, i
    return _reorder(b, a, tuple(perm))


method("swapaxes")(swapaxes)


@rule(np.moveaxis)
def moveaxis(b: Builder, a: SymValue, source: SymValue, destination: SymValue) -> SymValue:
    a = args.array_like(b, a)
    rank = args.rank(a)
    src, dst = args.axis_sequence(b, source, rank), args.axis_sequence(b, destination, rank)
    if len(src) != len(dst):
        raise args.refuse("source and destination differ in length")
    perm = [n for n in range(rank) if n not in src]
    for d, s in sorted(zip(dst, src)):
        perm.insert(d, s)
    return _reorder(b, a, tuple(perm))


@rule(np.rollaxis)
def rollaxis(b: Builder, a: SymValue, axis: SymValue, start: SymValue = Const(0)) -> SymValue:
    if not isinstance(b.force(a), Array):
        raise args.refuse("rollaxis of something without axes")
    array = args.as_array(b, a)
    n = array.rank
    moved, to = args.one_axis(b, axis, n), args.index(args.static(b, start))
    to = to + n if to < 0 else to
    if not 0 <= to <= n:
        raise args.refuse("start out of range")
    to = to - 1 if moved < to else to
    if moved == to:
        return flat.new_view(b, array)
    perm = [x for x in range(n) if x != moved]
    perm.insert(to, moved)
    return flat.transposed(b, array, perm)


# ---------------------------------------------------------------------------------------------- axes of length 1


@rule(np.expand_dims)
def expand_dims(b: Builder, a: SymValue, axis: SymValue) -> SymValue:
    array = args.as_array(b, a)
    given = args.static(b, axis)
    added = given if isinstance(given, (tuple, list)) else (given,)
    where = args.normal_axes(added, array.rank + len(added))
    old = iter(b.dims(array))
    dims = tuple(ONE if i in where else next(old) for i in range(array.rank + len(added)))
    return flat.reshape(b, array, dims, "C")


def _squeeze(b: Builder, a: SymValue, axis: SymValue) -> SymValue:
    dims = b.dims(a) if isinstance(a, Array) else ()
    if not args.given(axis):
        gone = tuple(i for i, d in enumerate(dims) if b.dim_is(d, 1))
    else:
        given = args.static(b, axis)
        gone = () if not dims and given in (0, -1) else args.axis_sequence(b, axis, len(dims))
        if isinstance(given, list) or not all(b.dim_is(dims[i], 1) for i in gone):
            raise args.refuse("squeeze of an axis that is not of length 1")
    if not gone:
        return a
    assert isinstance(a, Array)
    return b.view(a, "squeeze", axes=gone)


@rule(np.squeeze)
def squeeze(b: Builder, a: SymValue, axis: SymValue = NONE) -> SymValue:
    a = args.array_like(b, a)
    return _squeeze(b, args.as_array(b, a) if is_python_number(a) else a, axis)


@method("squeeze")
def squeeze_method(b: Builder, a: SymValue, axis: SymValue = NONE) -> SymValue:
    return _squeeze(b, args.array_like(b, a), axis)


def at_least(b: Builder, v: SymValue, rank: int) -> Array:
    """`np.atleast_1d` (`rank` 1), `_2d` or `_3d` of one operand."""
    a = args.as_array(b, v)
    if a.rank >= rank:
        return a
    if a.rank == 0:
        return flat.reshape(b, a, (ONE,) * rank, "C")
    return b.view(a, "expand", axes={(1, 2): (0,), (1, 3): (0, 2), (2, 3): (2,)}[a.rank, rank])


def _register_at_least(rank: int) -> None:
    def function(b: Builder, *arys: SymValue) -> SymValue:
        out = tuple(at_least(b, a, rank) for a in arys)
        return out[0] if len(out) == 1 else TupleV(out)

    rule(getattr(np, f"atleast_{rank}d"))(function)


for _rank in (1, 2, 3):
    _register_at_least(_rank)


# ---------------------------------------------------------------------------------------------- broadcasting


@rule(np.broadcast_to)
def broadcast_to(b: Builder, array: SymValue, shape: SymValue, subok: SymValue = FALSE) -> SymValue:
    a = args.as_array(b, array)
    dims = args.shape(b, shape)
    if len(dims) < a.rank or not b.dims_agree(b.broadcast_dims(b.dims(a), dims), dims):
        raise args.refuse("broadcast_to a shape that does not fit")
    args.flag(b, subok)
    return b.view(a, "broadcast", dims=dims)


@rule(np.broadcast_arrays)
def broadcast_arrays(b: Builder, *arrays: SymValue, subok: SymValue = FALSE) -> SymValue:
    """Arrays that have the common shape are handed back; views that warn on writing are left to NumPy."""
    out = tuple(args.as_array(b, a) for a in arrays)
    dims = b.broadcast_dims(*(b.dims(a) for a in out))
    args.flag(b, subok)
    if not all(b.dims_agree(b.dims(a), dims) for a in out):
        raise Unsupported("broadcast-arrays", "its results warn when they are written to")
    return TupleV(out)


@rule(np.broadcast_shapes)
def broadcast_shapes(b: Builder, *shapes: SymValue) -> SymValue:
    return TupleV(tuple(dim_scalar(b, d) for d in b.broadcast_dims(*(args.shape(b, s) for s in shapes))))


# ---------------------------------------------------------------------------------------------- flip, rot90


def flipped(b: Builder, a: Array, axes: tuple[int, ...]) -> Array:
    dims = b.dims(a)
    starts = tuple(d - 1 if i in axes else ZERO for i, d in enumerate(dims))
    steps = tuple(Dim.of(-1) if i in axes else ONE for i in range(len(dims)))
    return b.view(a, "slice", starts=starts, steps=steps, dims=dims)


def _flip(b: Builder, m: SymValue, axes: tuple[int, ...]) -> SymValue:
    """Basic indexing; a number or 0-d array becomes a NumPy scalar."""
    if not isinstance(m, Array) or m.rank == 0:
        return b.scalar(b.value_of(m))
    return flipped(b, m, axes)


@rule(np.flip)
def flip(b: Builder, m: SymValue, axis: SymValue = NONE) -> SymValue:
    m = args.array_like(b, m)
    rank = args.rank(m)
    return _flip(b, m, args.axis_sequence(b, axis, rank) if args.given(axis) else tuple(range(rank)))


def _register_flip(name: str, axis: int) -> None:
    def function(b: Builder, m: SymValue) -> SymValue:
        a = args.as_array(b, m)
        if a.rank <= axis:
            raise args.refuse(f"{name} of too few axes")
        return flipped(b, a, (axis,))

    rule(getattr(np, name))(function)


_register_flip("flipud", 0)
_register_flip("fliplr", 1)


@rule(np.rot90)
def rot90(b: Builder, m: SymValue, k: SymValue = Const(1), axes: SymValue = Const((0, 1))) -> SymValue:
    a = args.as_array(b, m)
    plane = args.axis_sequence(b, axes, a.rank)
    turns = args.index(args.static(b, k)) % 4
    if len(plane) != 2:
        raise args.refuse("rot90 in other than two axes")
    i, j = plane
    perm = list(range(a.rank))
    perm[i], perm[j] = j, i
    if turns == 0:
        return flat.new_view(b, a)
    if turns == 2:
        return flipped(b, flipped(b, a, (i,)), (j,))
    if turns == 1:
        return flat.transposed(b, flipped(b, a, (j,)), perm)
    return flipped(b, flat.transposed(b, a, perm), (j,))


# ---------------------------------------------------------------------------------------------- roll, repeat, tile


def offset_of(b: Builder, shift: Dim, n: Dim) -> Dim:
    """`shift % n`, found with guards on where `shift` lies."""
    if shift.const == 0 or b.dim_is(n, 0):
        return ZERO
    if b.dim_ge(shift, 0):
        if b.dim_ge(n - 1, shift):
            return shift
    elif b.dim_ge(shift + n, 0):
        return shift + n
    return Dim.of(b.static_dim(shift) % b.static_dim(n))


def _rolled(b: Builder, a: Array, shifts: dict[int, Dim]) -> Array:
    v = b.read(a)
    layout = keep_order(args.view_type(b, a).layout, b.dims(a))
    for axis, shift in shifts.items():
        dims = b.dims(v)
        offset = offset_of(b, shift, dims[axis])
        if offset.const == 0:
            continue
        parts = []
        for start, n in ((dims[axis] - offset, offset), (ZERO, dims[axis] - offset)):
            starts = tuple(start if i == axis else ZERO for i in range(len(dims)))
            part = tuple(n if i == axis else d for i, d in enumerate(dims))
            parts.append(b.emit("slice", v, starts=starts, steps=(ONE,) * len(dims), dims=part))
        v = b.emit("concat", *parts, axis=axis)
    return b.array(b.emit("copy", v, layout=layout))


@rule(np.roll)
def roll(b: Builder, a: SymValue, shift: SymValue, axis: SymValue = NONE) -> SymValue:
    array = args.as_array(b, a)
    shift = b.force(shift)
    if not args.given(axis):
        one = flat.ravel(b, array, "C")
        return flat.reshape(b, _rolled(b, one, {0: args.dim(b, shift)}), b.dims(array), "C")
    where = args.static(b, axis)
    axes = tuple(args.normal_axis(args.index(x), array.rank) for x in (where if isinstance(where, (tuple, list)) else (where,)))
    parts = args.items(b, shift) or (shift,)
    if len(parts) != len(axes) and 1 not in (len(parts), len(axes)):
        raise args.refuse("shift and axis of different lengths")
    total: dict[int, Dim] = {}
    for i in range(max(len(parts), len(axes))):
        ax = axes[i % len(axes)]
        total[ax] = total.get(ax, ZERO) + args.dim(b, parts[i % len(parts)])
    return _rolled(b, array, total)


def repeated(b: Builder, a: Array, times: Dim, axis: int) -> Array:
    """Every item along `axis` `times` times in a row."""
    v = b.emit("expand", b.read(a), axes=(axis + 1,))
    dims = b.dims(v)
    v = b.emit("broadcast", v, dims=(*dims[: axis + 1], times, *dims[axis + 2 :]))
    dims = (*dims[:axis], dims[axis] * times, *dims[axis + 2 :])
    v = b.emit("reshape", b.emit("copy", v, layout=c_layout(b.dims(v))), dims=dims)
    return b.array(v)


@rule(np.repeat)
def repeat(b: Builder, a: SymValue, repeats: SymValue, axis: SymValue = NONE) -> SymValue:
    """One number of repeats for all items; a number for each item is left to NumPy."""
    array = args.as_array(b, a)
    times = args.length(b, repeats)
    if not args.given(axis):
        return repeated(b, flat.ravel(b, array, "C"), times, 0)
    return repeated(b, at_least(b, array, 1), times, args.one_axis(b, axis, max(array.rank, 1)))


method("repeat")(repeat)


@rule(np.tile)
def tile(b: Builder, A: SymValue, reps: SymValue) -> SymValue:
    a = args.as_array(b, A)
    times = args.shape(b, reps)
    rank = max(a.rank, len(times))
    times = (ONE,) * (rank - len(times)) + times
    dims = (ONE,) * (rank - a.rank) + b.dims(a)
    total = tuple(t * d for t, d in zip(times, dims))
    if all(b.dim_is(t, 1) for t in times):
        copy = b.array(b.emit("copy", b.read(a), layout=flat.layout_for(b, a, "K", b.dims(a))))
        return copy if rank == a.rank else flat.reshape(b, copy, dims, "C")
    if not a.writeable and b.dim_is(args.size(b, a), 0):  # nothing to repeat: NumPy only reshapes
        return flat.reshape(b, a, total, "C")
    v = b.emit("reshape", flat.flat(b, b.read(a)), dims=dims)
    spread: list[Dim] = []
    for t, d in zip(times, dims):
        spread += [t, d]
    v = b.emit("expand", v, axes=tuple(range(0, 2 * rank, 2)))
    v = b.emit("broadcast", v, dims=tuple(spread))
    v = b.emit("copy", v, layout=c_layout(b.dims(v)))
    return b.array(b.emit("reshape", v, dims=total))


@method("view")
def view(b: Builder, self: SymValue, dtype: SymValue = NO_VALUE, type: SymValue = NO_VALUE) -> SymValue:
    if not isinstance(self, Array):
        raise Unsupported("numpy-arguments", "a view of a scalar")
    for asked in (dtype, type):
        wanted = args.static(b, asked)
        if wanted is not np._NoValue and wanted is not np.ndarray and (asked is type or np.dtype(wanted) != self.dtype):
            raise Unsupported("numpy-arguments", "a view as something else")
    return flat.new_view(b, self)
