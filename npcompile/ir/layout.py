"""Axis order of arrays: which layout NumPy gives a result, and which strides a layout means.

In: layouts (see `types`), dims, strides. Out: layouts and strides. Never: looks at run-time values; a size that is not
known to be 1 counts as different from 1 (guards see to that).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .dims import Dim, Sym, provably_ge
from .types import Layout, TensorType, ViewType

Dims = Sequence[Dim]

ONE = Dim.of(1)
ZERO = Dim()


def ones_of(dims: Dims) -> tuple[bool, ...]:
    """Which axes have length exactly 1."""
    return tuple(d.const == 1 for d in dims)


# ---------------------------------------------------------------------------------------------- packed layouts


def c_layout(dims: Dims) -> Layout:
    """Layout of a new C-ordered array."""
    return _packed(ones_of(dims), False)


def f_layout(dims: Dims) -> Layout:
    """Layout of a new Fortran-ordered array."""
    return _packed(ones_of(dims), True)


@lru_cache(maxsize=4096)
def _packed(ones: tuple[bool, ...], fortran: bool) -> Layout:
    axes = range(len(ones)) if fortran else range(len(ones) - 1, -1, -1)
    return _ranked(axes, ones)


def _ranked(axes: Sequence[int], ones: Sequence[bool]) -> Layout:
    """Layout in which `axes` run from the smallest stride to the largest."""
    out = [0] * len(ones)
    rank = 0
    for a in axes:
        if not ones[a]:
            rank += 1
            out[a] = rank
    return tuple(out)


def packed_layout(layout: Layout | None, dims: Dims) -> Layout:
    """The layout of a new array as a param asks for it (None: C), checked to rank every axis."""
    if layout is None:
        return c_layout(dims)
    out = canonical(layout, dims)
    if len(set(out) - {0}) != sum(d.const != 1 for d in dims):
        raise TypeError(f"layout {layout} is none of a packed array with dims ({', '.join(map(str, dims))})")
    return out


def perm(layout: Layout) -> tuple[int, ...]:
    """Axes from the largest stride to the smallest; ties keep C order and axes of rank 0 stand where C order puts them
    relative to nothing: last."""
    return tuple(sorted(range(len(layout)), key=lambda a: -layout[a]))


def is_c(layout: Layout) -> bool:
    """Do the strides fall from the first axis to the last (axes of rank 0 aside)?"""
    last = 1 << 30
    for r in layout:
        if r:
            if r >= last:
                return False
            last = r
    return True


def packed_strides(dims: Dims, layout: Layout, itemsize: int) -> tuple[Dim, ...]:
    """Byte strides of an array without gaps; axes of length 1 get the stride of their C position, other axes of rank 0
    (broadcast) get 0."""
    return _packed_strides(tuple(dims), layout, itemsize)


@lru_cache(maxsize=4096)
def _packed_strides(dims: tuple[Dim, ...], layout: Layout, itemsize: int) -> tuple[Dim, ...]:
    n = len(dims)
    strides = [ZERO] * n
    step = Dim.of(itemsize)
    order = sorted((a for a in range(n) if layout[a]), key=lambda a: layout[a])
    for a in order:
        strides[a] = step
        step = step * dims[a]
    inner = Dim.of(itemsize)
    for a in range(n - 1, -1, -1):
        if layout[a]:
            inner = strides[a] * dims[a]
        elif dims[a].const == 1:
            strides[a] = inner
    return tuple(strides)


def strides_of(t: TensorType | ViewType) -> tuple[Dim, ...]:
    """Byte strides that the array has, or would have in NumPy."""
    if t.strides is not None:
        return t.strides
    return packed_strides(t.dims, t.layout, t.dtype.itemsize)


def is_packed(t: TensorType) -> bool:
    """Is the value laid out without gaps, overlaps and negative strides?"""
    return t.strides is None and all(r or d.const == 1 for r, d in zip(t.layout, t.dims, strict=True))


def contiguity(dims: Dims, strides: Sequence[Dim], itemsize: int) -> str:
    """ "C" (also when both), "F", or "" when neither is provable."""
    return "C" if _contiguous(dims, strides, itemsize, True) else "F" if _contiguous(dims, strides, itemsize, False) else ""


def _contiguous(dims: Dims, strides: Sequence[Dim], itemsize: int, c: bool) -> bool:
    n = len(dims)
    step = Dim.of(itemsize)
    for a in range(n - 1, -1, -1) if c else range(n):
        if dims[a].const == 0:
            return True
        if dims[a].const != 1:
            if strides[a] != step:
                return False
            step = step * dims[a]
    return True


# ---------------------------------------------------------------------------------------------- orders NumPy chooses


def korder(layouts: Sequence[Layout], dims: Dims) -> Layout:
    """Layout of a new array that a ufunc allocates: the axis order NumPy's iterator finds for all operands together."""
    return _korder(tuple(layouts), ones_of(dims))


@lru_cache(maxsize=16384)
def _korder(layouts: tuple[Layout, ...], ones: tuple[bool, ...]) -> Layout:
    n = len(ones)
    if n < 2:
        return _packed(ones, False)
    return _ranked(_insertion_sort(range(n - 1, -1, -1), layouts, [None] * len(layouts), False), ones)


def _insertion_sort(
    axes: Sequence[int], layouts: Sequence[Layout], skip: Sequence[tuple[bool, ...] | None], descending: bool
) -> list[int]:
    """NumPy's stable insertion sort of axes by stride over several operands.

    An operand votes on a pair of axes unless it is ambiguous: by default when a stride is 0, with `skip` when either
    axis has length 1 there. When operands disagree, the order that stands (C) wins.
    """
    order = list(axes)
    for i in range(1, len(order)):
        a = order[i]
        pos = i
        for j in range(i - 1, -1, -1):
            b = order[j]
            ambiguous, swap = True, False
            for layout, one in zip(layouts, skip, strict=True):
                ra, rb = layout[a], layout[b]
                if one is None:
                    if not ra or not rb:
                        continue
                elif one[a] or one[b]:
                    continue
                if (ra <= rb) if descending else (rb <= ra):
                    swap = False
                elif ambiguous:
                    swap = True
                ambiguous = False
            if not ambiguous:
                if not swap:
                    break
                pos = j
        if pos != i:
            order.insert(pos, order.pop(i))
    return order


def keep_order(layout: Layout, dims: Dims) -> Layout:
    """Layout of a copy with order="K" (`astype`, `np.copy`, `*_like`): axes sorted by stride, broadcast axes innermost."""
    ones = ones_of(dims)
    if len(ones) < 2:
        return _packed(ones, False)
    return _ranked(sorted(range(len(ones) - 1, -1, -1), key=lambda a: layout[a]), ones)


def any_order(t: TensorType | ViewType) -> Layout:
    """Layout of a copy with order="A": Fortran when the array is F- and not C-contiguous, else C."""
    dims = t.dims
    return f_layout(dims) if contiguity(dims, strides_of(t), t.dtype.itemsize) == "F" else c_layout(dims)


def concat_order(types: Sequence[TensorType | ViewType], dims: Dims) -> Layout:
    """Layout of `np.concatenate` of arrays of these types into one with `dims`."""
    ones = [ones_of(t.dims) for t in types]
    order = _insertion_sort(range(len(dims)), [t.layout for t in types], ones, True)
    return _ranked(order[::-1], ones_of(dims))


# ---------------------------------------------------------------------------------------------- layouts from strides


def canonical(layout: Sequence[int], dims: Dims) -> Layout:
    """Dense ranks: 0 for axes of length 1, otherwise 1, 2, ... in the order of `layout` (0 stays 0, ties stay ties)."""
    kept = [0 if d.const == 1 else r for r, d in zip(layout, dims, strict=True)]
    rank = {r: i + 1 for i, r in enumerate(sorted({r for r in kept if r}))}
    return tuple(rank[r] if r else 0 for r in kept)


def nonempty(d: Dim) -> Dim:
    """The dim with sizes counted from 1 up: an array with an axis of length 0 has no order of strides to tell."""
    return d.subs({s: Dim.of(Sym(s.name, 0, s.hi)) + 1 for s in d.syms() if s.lo == 0})


def layout_of(dims: Dims, strides: Sequence[Dim], guess: Sequence[int]) -> Layout:
    """Layout of an array with these symbolic strides; `guess` ranks pairs of axes whose order is not provable.

    Only the magnitude counts; the sign of a stride must be provable for the proof to be used.
    """
    n = len(dims)
    mags: list[Dim | None] = []
    for s in strides:
        s = nonempty(s)
        lo, hi = s.bounds()
        mags.append(s if lo >= 0 else -s if hi <= 0 else None)
    live = [a for a in range(n) if dims[a].const != 1 and strides[a].const != 0]
    above = dict.fromkeys(live, 0)  # number of axes with smaller stride
    for i, a in enumerate(live):
        for b in live[i + 1 :]:
            ma, mb = mags[a], mags[b]
            if ma is not None and ma == mb:
                continue
            if ma is not None and mb is not None and provably_ge(ma, mb):
                above[a] += 1
            elif ma is not None and mb is not None and provably_ge(mb, ma):
                above[b] += 1
            elif guess[a] > guess[b]:
                above[a] += 1
            elif guess[a] < guess[b]:
                above[b] += 1
    return canonical([above[a] + 1 if a in above else 0 for a in range(n)], dims)
