"""Is an array contiguous, and is a reshape of it a view? Answered with guards where the types alone cannot tell.

In: arrays, new dims. Out: yes or no, and the reshaped view or copy, as NumPy's `PyArray_Newshape` and `PyArray_Ravel` give it.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Unsupported
from npcompile.ir.dims import Dim, product
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout, f_layout, keep_order, korder, perm

from . import arguments as args

ONE = Dim.of(1)


def is_contiguous(b: Builder, a: Array, order: str) -> bool:
    """Does `a` have NumPy's C_CONTIGUOUS ("C") or F_CONTIGUOUS ("F") flag? (Arrays without elements have both.)"""
    t = args.view_type(b, a)
    if t.contiguous == order or t.rank == 0:
        return True
    if t.contiguous == "C" and sum(d.const != 1 for d in t.dims) < 2:
        return True
    step = Dim.of(a.dtype.itemsize)
    for axis in range(a.rank - 1, -1, -1) if order == "C" else range(a.rank):
        n = t.dims[axis]
        if b.dim_is(n, 1):
            continue
        if not same_stride(b, t.strides[axis], step, a.dtype.itemsize):
            return any(b.dim_is(d, 0) for d in t.dims)
        step = step * n
    return True


def same_stride(b: Builder, x: Dim, y: Dim, itemsize: int) -> bool:
    """Are two byte strides equal? Asked in items where they are whole numbers of items, which facts about sizes answer."""
    in_items = [Dim.of(s) // itemsize for s in (x, y)]
    exact = all(q * itemsize == s for q, s in zip(in_items, (x, y)))
    return b.dim_is(*in_items) if exact else b.dim_is(x, y)


def new_view(b: Builder, a: Array) -> Array:
    """Another array object on all of `a`."""
    dims = b.dims(a)
    if not dims:
        return b.view(a, "reshape", dims=())
    return b.view(a, "slice", starts=(Dim(),) * len(dims), steps=(ONE,) * len(dims), dims=dims)


def transposed(b: Builder, a: Array, axes: Sequence[int]) -> Array:
    return b.view(a, "transpose", perm=tuple(axes))


def reshape(b: Builder, a: Array, dims: tuple[Dim, ...], order: str, *, copy: bool | None = None) -> Array:
    """`a.reshape(dims, order=order)`, for "C", "F" or "A"; a view where NumPy gives one."""
    if order == "A":
        order = "F" if not is_contiguous(b, a, "C") and is_contiguous(b, a, "F") else "C"
    if order == "F":
        back = tuple(range(a.rank))[::-1]
        flipped = reshape(b, transposed(b, a, back), dims[::-1], "C", copy=copy)
        return transposed(b, flipped, tuple(range(len(dims)))[::-1])
    if copy is not True and len(dims) == a.rank and all(x == y for x, y in zip(b.dims(a), dims)):
        return new_view(b, a)
    if copy is not True and args.view_type(b, a).contiguous == "C":
        return _view(b, a, dims)
    if copy is not True and not is_contiguous(b, a, "C"):
        strides = _view_strides(b, a, dims)
    else:
        strides = None if copy else tuple(packed(dims, Dim.of(a.dtype.itemsize)))
    if strides is not None:
        return _view(b, a, dims, strides)
    if copy is False:
        raise Unsupported("numpy-arguments", "copy=False where a copy is needed")
    value = b.emit("copy", b.read(a), layout=c_layout(b.dims(a)))
    return _view(b, b.array(value), dims)


def _view(b: Builder, a: Array, dims: tuple[Dim, ...], strides: tuple[Dim, ...] | None = None) -> Array:
    """A reshape that is a view; `strides` (NumPy's, found with guards) unless the type itself says contiguous."""
    given = {} if strides is None else {"strides": strides}
    return b.view(a, "reshape", dims=dims, **given)


def _view_strides(b: Builder, a: Array, dims: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    """Strides of a reshape without a copy, None where NumPy copies: its `_attempt_nocopy_reshape`, asking about sizes."""
    t = args.view_type(b, a)
    old = [(n, s) for n, s in zip(t.dims, t.strides) if not b.dim_is(n, 1)]
    strides: list[Dim] = []
    i = j = 0
    while i < len(old) and j < len(dims):
        have, want, last, stop = old[i][0], dims[j], i + 1, j + 1
        while not b.dim_is(have, want):
            if b.dim_ge(have, want):
                if stop == len(dims):
                    return None
                want, stop = want * dims[stop], stop + 1
            else:
                if last == len(old):
                    return None
                have, last = have * old[last][0], last + 1
        for (_, outer), (n, inner) in zip(old[i:last], old[i + 1 : last]):
            if not same_stride(b, outer, n * inner, a.dtype.itemsize):
                return None
        strides += packed(dims[j:stop], old[last - 1][1])
        i, j = last, stop
    rest = strides[-1] if strides else Dim.of(a.dtype.itemsize)
    return (*strides, *(rest for _ in dims[j:]))


def packed(dims: Sequence[Dim], step: Dim) -> list[Dim]:
    """C-ordered strides of axes without gaps, the innermost being `step`."""
    out = []
    for n in reversed(dims):
        out.append(step)
        step = step * n
    return out[::-1]


def flat_copy(b: Builder, a: Array, order: str) -> Array:
    """`a.flatten(order)`: always a fresh 1-D array."""
    v = b.read(a)
    rank = a.rank
    if order == "A":
        order = "F" if not is_contiguous(b, a, "C") and is_contiguous(b, a, "F") else "C"
    if order == "F":
        v = b.emit("transpose", v, perm=tuple(range(rank))[::-1])
    elif order == "K" and rank > 1:
        v = b.emit("transpose", v, perm=perm(korder([args.view_type(b, a).layout], b.dims(a))))
    return b.array(flat(b, v))


def flat(b: Builder, v: Value) -> Value:
    """The elements of a tensor in C order of its axes, as a packed 1-D tensor."""
    dims = b.dims(v)
    v = b.emit("copy", v, layout=c_layout(dims))
    return v if len(dims) == 1 else b.emit("reshape", v, dims=(product(dims),))


def ravel(b: Builder, a: Array, order: str) -> Array:
    """`a.ravel(order)`: a view when the elements lie in that order without gaps, else a copy."""
    total = (product(b.dims(a)),)
    c = is_contiguous(b, a, "C")
    if order == "A":
        order = "F" if not c and is_contiguous(b, a, "F") else "C"
    elif order == "K":
        order = "C" if c else "F" if is_contiguous(b, a, "F") else "K"
    if order == "C" and c:
        return reshape(b, a, total, "C")
    if order == "F" and is_contiguous(b, a, "F"):
        return reshape(b, transposed(b, a, tuple(range(a.rank))[::-1]), total, "C")
    if order == "K" and a.rank > 1:
        t = args.view_type(b, a)
        sorted_ = transposed(b, a, perm(keep_order(t.layout, b.dims(a))))
        if not any(t.negative) and is_contiguous(b, sorted_, "C"):
            return reshape(b, sorted_, total, "C")
    return flat_copy(b, a, order)


def layout_for(b: Builder, a: Array, order: str, dims: tuple[Dim, ...]) -> tuple[int, ...]:
    """Layout of a new array made like `a` in the given order ("C", "F", "A", "K")."""
    if order == "A":
        order = "F" if not is_contiguous(b, a, "C") and is_contiguous(b, a, "F") else "C"
    if order == "K":
        return keep_order(args.view_type(b, a).layout, dims)
    return f_layout(dims) if order == "F" else c_layout(dims)
