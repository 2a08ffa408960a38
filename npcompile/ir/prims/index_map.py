"""Rows that rename elements without moving them. On a view they give a view, on a tensor a tensor.

Their params hold dims; results carry NumPy's strides, layout and contiguity (see `types`). The two last rows, concat and
pad, move data and take tensors only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..dims import Dim, provably_ge
from ..layout import c_layout, canonical, concat_order, contiguity, f_layout, is_c, is_packed, layout_of, nonempty, strides_of
from ..prim import Prim, register
from ..types import Layout, TensorType, Type, ViewType
from ._rules import REAL_OF, Params, axis_of, elementwise, scalar_inputs, tensors
from .create import dims_of

ArrayType = TensorType | ViewType
Strides = tuple[Dim, ...]
ZERO = Dim()


def array_input(ins: Sequence[Type]) -> ArrayType:
    if len(ins) != 1 or not isinstance(ins[0], (TensorType, ViewType)):
        raise TypeError(f"takes one tensor or view, got {', '.join(map(str, ins))}")
    return ins[0]


def derived(
    t: ArrayType,
    dims: Strides,
    strides: Callable[[], Strides],
    layout: Layout,
    negative: Sequence[bool] = (),
    *,
    packed: bool = False,
    dtype: np.dtype | None = None,
    writeable: bool = True,
) -> ArrayType:
    """Type of an index map's result. `packed`: a packed tensor stays packed (its strides need no computation)."""
    dtype = dtype or t.dtype
    layout = canonical(layout, dims)
    if isinstance(t, TensorType):
        return TensorType(dtype, dims, layout, None if packed and t.strides is None else strides())
    s = strides()
    neg = tuple(bool(n) and d.const != 1 and x.const != 0 for n, d, x in zip(negative or (False,) * len(dims), dims, s))
    return ViewType(dtype, dims, s, layout, contiguity(dims, s, dtype.itemsize), neg, writeable and t.writeable)


def negatives(t: ArrayType) -> tuple[bool, ...]:
    return t.negative if isinstance(t, ViewType) and t.negative else (False,) * t.rank


def _map_row(name: str, rule: Callable[[ArrayType, Params], ArrayType], numpy: Callable[[Any, Params], Any]) -> None:
    register(
        Prim(
            name=name,
            group="index_map",
            type_rule=lambda ins, params: (rule(array_input(ins), params),),
            numpy=lambda ins, params: (numpy(ins[0], params),),
            loop="index_map",
            cost="free",
        )
    )


# ---------------------------------------------------------------------------------------------- transpose, broadcast


def _transpose(t: ArrayType, params: Params) -> ArrayType:
    p = params["perm"]
    if sorted(p) != list(range(t.rank)):
        raise TypeError(f"{p} is no permutation of {t.rank} axes")
    neg = negatives(t)
    return derived(
        t,
        tuple(t.dims[a] for a in p),
        lambda: tuple(strides_of(t)[a] for a in p),
        tuple(t.layout[a] for a in p),
        [neg[a] for a in p],
        packed=True,
    )


_map_row("transpose", _transpose, lambda a, params: a.transpose(params["perm"]))


def _broadcast(t: ArrayType, params: Params) -> ArrayType:
    dims = dims_of(params)
    lead = len(dims) - t.rank
    if lead < 0:
        raise TypeError(f"cannot broadcast {t} to fewer axes")
    spread = [True] * lead
    for have, want in zip(t.dims, dims[lead:]):
        if have != want and have.const != 1:
            raise TypeError(f"cannot broadcast {t} to ({', '.join(map(str, dims))})")
        spread.append(have.const == 1)
    neg = (False,) * lead + negatives(t)
    return derived(
        t,
        dims,
        lambda: tuple(ZERO if s else x for s, x in zip(spread, (ZERO,) * lead + strides_of(t))),
        tuple(0 if s else r for s, r in zip(spread, (0,) * lead + t.layout)),
        [n and not s for n, s in zip(neg, spread)],
        packed=True,
        writeable=False,
    )


_map_row("broadcast", _broadcast, lambda a, params: np.broadcast_to(a, params["dims"]))


def _expand(t: ArrayType, params: Params) -> ArrayType:
    rank = t.rank + len(params["axes"])
    new = set(params["axes"])
    if len(new) != len(params["axes"]) or not all(isinstance(a, int) and 0 <= a < rank for a in new):
        raise TypeError(f"axes {params['axes']} cannot be inserted into {t}")
    old = iter(range(t.rank))
    source = [-1 if a in new else next(old) for a in range(rank)]
    neg = negatives(t)
    return derived(
        t,
        tuple(Dim.of(1) if s < 0 else t.dims[s] for s in source),
        lambda: tuple(ZERO if s < 0 else strides_of(t)[s] for s in source),
        tuple(0 if s < 0 else t.layout[s] for s in source),
        [s >= 0 and neg[s] for s in source],
        packed=True,
    )


_map_row("expand", _expand, lambda a, params: np.expand_dims(a, tuple(params["axes"])))


def _squeeze(t: ArrayType, params: Params) -> ArrayType:
    gone = set(params["axes"])
    if any(not 0 <= a < t.rank or t.dims[a].const != 1 for a in gone):
        raise TypeError(f"axes {params['axes']} of {t} are not all of length 1")
    keep = [a for a in range(t.rank) if a not in gone]
    neg = negatives(t)
    return derived(
        t,
        tuple(t.dims[a] for a in keep),
        lambda: tuple(strides_of(t)[a] for a in keep),
        tuple(t.layout[a] for a in keep),
        [neg[a] for a in keep],
        packed=True,
    )


_map_row("squeeze", _squeeze, lambda a, params: a.squeeze(tuple(params["axes"])))


# ---------------------------------------------------------------------------------------------- slice, diagonal


def _slice(t: ArrayType, params: Params) -> ArrayType:
    starts, steps, dims = dims_of(params, "starts"), dims_of(params, "steps"), dims_of(params)
    if not len(starts) == len(steps) == len(dims) == t.rank:
        raise TypeError(f"needs a start, step and length for each axis of {t}")
    if any(s.const == 0 and d.const != 1 for s, d in zip(steps, dims)):
        raise TypeError("a step is 0")
    whole = all(d == o and s.const == 1 for d, o, s in zip(dims, t.dims, steps))
    back = [_is_negative(s) for s in steps]

    def strides() -> Strides:
        return tuple(x if k.const == 1 else x * k for x, k in zip(strides_of(t), steps))

    layout = t.layout
    if _ties(layout) and any(s.const != 1 for s in steps):
        layout = layout_of(dims, strides(), layout)
    return derived(t, dims, strides, layout, [n != b for n, b in zip(negatives(t), back)], packed=whole)


def _ties(layout: Layout) -> bool:
    """Do two axes have the same stride (windows, diagonals)? Elsewhere steps cannot change the order of strides."""
    live = [r for r in layout if r]
    return len(set(live)) < len(live)


def _is_negative(step: Dim) -> bool:
    lo, hi = step.bounds()
    if lo < 0 <= hi:
        raise TypeError(f"the sign of step {step} is not known")
    return hi < 0


def slice_index(params: Params, shape: Sequence[int]) -> tuple[slice, ...]:
    """NumPy index of a slice prim whose dims are ints by now."""
    out = []
    for start, step, n in zip(params["starts"], params["steps"], params["dims"]):
        stop = start + n * step
        out.append(slice(start, None if step < 0 and stop < 0 else stop, step) if n else slice(0, 0))
    return tuple(out)


def _slice_numpy(a: np.ndarray, params: Params) -> np.ndarray:
    for start, step, n, size in zip(params["starts"], params["steps"], params["dims"], a.shape):
        last = start + (n - 1) * step
        if n < 0 or (n > 0 and not (0 <= start < size and 0 <= last < size)):
            raise IndexError(f"slice {start}:+{n}:{step} leaves an axis of length {size}")
    return a[slice_index(params, a.shape)] if a.ndim else a


_map_row("slice", _slice, _slice_numpy)


def _diagonal(t: ArrayType, params: Params) -> ArrayType:
    i, j = axis_of(params, t.rank, "axis1"), axis_of(params, t.rank, "axis2")
    if i == j:
        raise TypeError("a diagonal needs two axes")
    keep = [a for a in range(t.rank) if a not in (i, j)]
    s = strides_of(t)
    dims = (*(t.dims[a] for a in keep), Dim.of(params["dim"]))
    strides = (*(s[a] for a in keep), s[i] + s[j])
    guess = [2 * t.layout[a] for a in keep] + [2 * max(t.layout[i], t.layout[j]) + 1]
    neg = negatives(t)
    if neg[i] != neg[j]:
        lo, hi = strides[-1].bounds()
        if lo < 0 < hi:
            raise TypeError(f"the sign of the diagonal's stride in {t} is not known")
        neg = (*neg, hi < 0)
    else:
        neg = (*neg, neg[i])
    return derived(t, dims, lambda: strides, layout_of(dims, strides, guess), [neg[a] for a in keep] + [neg[-1]], writeable=False)


_map_row("diagonal", _diagonal, lambda a, params: a.diagonal(params["offset"], params["axis1"], params["axis2"]))


# ---------------------------------------------------------------------------------------------- reshape


def reshape_strides(t: ArrayType, dims: Sequence[Dim]) -> Strides | None:
    """Strides of a reshape that copies nothing, or None where NumPy has to copy (or it cannot be told).

    NumPy's `_attempt_nocopy_reshape` in C order: matching groups of axes on both sides, each old group without gaps.
    """
    s = strides_of(t)
    old = [(n, x) for n, x in zip(t.dims, s) if n.const != 1]
    strides: list[Dim] = []
    i = j = 0
    while i < len(old) or j < len(dims):
        group_old, group_new = [], []
        po = pn = Dim.of(1)
        if i < len(old):
            group_old.append(old[i])
            po, i = po * old[i][0], i + 1
        if j < len(dims):
            group_new.append(dims[j])
            pn, j = pn * dims[j], j + 1
        while po != pn:
            more_new = _divides(pn, po)
            if more_new and j < len(dims):
                pn, j = pn * dims[j], j + 1
                group_new.append(dims[j - 1])
            elif i < len(old) and (_divides(po, pn) or j == len(dims)):
                po, i = po * old[i][0], i + 1
                group_old.append(old[i - 1])
            elif j < len(dims):
                pn, j = pn * dims[j], j + 1
                group_new.append(dims[j - 1])
            else:
                return None
        for (_, outer), (n, inner) in pairwise(group_old):
            if outer != n * inner:
                return None
        step = group_old[-1][1] if group_old else (strides[-1] if strides else Dim.of(t.dtype.itemsize))
        tail: list[Dim] = []
        for n in reversed(group_new):
            tail.append(step)
            step = step * n
        strides += tail[::-1]
    return tuple(strides)


def _divides(a: Dim, b: Dim) -> bool:
    """Is `a` plainly a factor of `b`?"""
    if a.const == 1:
        return True
    if a.const is not None and b.const is not None:
        return a.const != 0 and b.const % a.const == 0
    return len(a.terms) == 1 and all(set(a.terms[0][0]) <= set(m) for m, _ in b.terms)


def reshape_is_view(t: ArrayType, dims: Sequence[Dim]) -> bool:
    """Does NumPy reshape without a copy?"""
    if isinstance(t, TensorType) and is_packed(t) and is_c(t.layout):
        return True
    return (isinstance(t, ViewType) and t.contiguous == "C") or reshape_strides(t, dims) is not None


def _reshape(t: ArrayType, params: Params) -> ArrayType:
    """`strides` may be given for a view: those that guards on sizes have shown it to have."""
    dims = dims_of(params)
    if isinstance(t, TensorType) and is_packed(t) and is_c(t.layout):
        return TensorType(t.dtype, dims, c_layout(dims))
    if isinstance(t, ViewType) and t.contiguous == "C":
        neg = (False,) * len(dims)
        return ViewType(t.dtype, dims, _c_strides(dims, t.dtype.itemsize), c_layout(dims), "C", neg, t.writeable)
    strides = dims_of(params, "strides") if "strides" in params else reshape_strides(t, dims)
    if strides is None:
        if isinstance(t, ViewType):
            raise TypeError(f"reshape of {t} to ({', '.join(map(str, dims))}) is no view")
        return TensorType(t.dtype, dims, c_layout(dims))
    guess = [len(dims) - a for a in range(len(dims))]
    neg = tuple(nonempty(x).bounds()[1] < 0 for x in strides)
    return derived(t, dims, lambda: strides, layout_of(dims, strides, guess), neg)


def _c_strides(dims: Strides, itemsize: int) -> Strides:
    out = []
    step = Dim.of(itemsize)
    for d in reversed(dims):
        out.append(step)
        step = step * d
    return tuple(reversed(out))


_map_row("reshape", _reshape, lambda a, params: a.reshape(params["dims"]))


# ---------------------------------------------------------------------------------------------- parts of complex


def _part(offset: int) -> Callable[[ArrayType, Params], ArrayType]:
    def rule(t: ArrayType, params: Params) -> ArrayType:
        if t.dtype not in REAL_OF:
            raise TypeError(f"takes complex, got {t}")
        return derived(t, t.dims, lambda: strides_of(t), t.layout, negatives(t), dtype=REAL_OF[t.dtype])

    return rule


_map_row("real_view", _part(0), lambda a, params: a.real)
_map_row("imag_view", _part(1), lambda a, params: a.imag)


# ---------------------------------------------------------------------------------------------- concat, pad


def _concat_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    ts = tensors(ins)
    if not ts:
        raise TypeError("needs at least one tensor")
    axis = axis_of(params, ts[0].rank)
    total = Dim()
    for t in ts:
        if t.dtype != ts[0].dtype or t.rank != ts[0].rank:
            raise TypeError(f"operands differ in dtype or rank: {', '.join(map(str, ts))}")
        if any(a != axis and x != y for a, (x, y) in enumerate(zip(t.dims, ts[0].dims))):
            raise TypeError(f"operands differ in dims: {', '.join(map(str, ts))}")
        total = total + t.dims[axis]
    dims = tuple(total if a == axis else d for a, d in enumerate(ts[0].dims))
    return (TensorType(ts[0].dtype, dims, concat_order(ts, dims)),)


register(
    Prim(
        name="concat",
        group="index_map",
        type_rule=_concat_rule,
        numpy=lambda ins, params: (np.concatenate(ins, params["axis"]),),
        loop="pointwise",
        cost="cheap",
        cpp="npc_select({inside}, {0}, {1})",
        triton="tl.where({inside}, {0}, {1})",
    )
)


def _pad_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, _ = tensors(ins, 2)
    scalar_inputs(ins[1:], (a.dtype,))
    low, high = dims_of(params, "low"), dims_of(params, "high")
    if not len(low) == len(high) == a.rank:
        raise TypeError(f"needs a low and a high width for each axis of {a}")
    if not all(provably_ge(w, 0) for w in (*low, *high)):
        raise TypeError("a width may be negative")
    dims = tuple(n + x + y for n, x, y in zip(a.dims, low, high))
    fortran = contiguity(a.dims, strides_of(a), a.dtype.itemsize) == "F"
    return (TensorType(a.dtype, dims, f_layout(dims) if fortran else c_layout(dims)),)


def _pad(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    a, value = ins
    width = list(zip(params["low"], params["high"]))
    return (np.pad(a, width, constant_values=value) if a.ndim else a.copy(),)


register(
    Prim(
        name="pad",
        group="index_map",
        type_rule=_pad_rule,
        numpy=_pad,
        loop="pointwise",
        cost="cheap",
        cpp="npc_select({inside}, {0}, {1})",
        triton="tl.where({inside}, {0}, {1})",
    )
)

__all__ = ["elementwise", "reshape_is_view", "reshape_strides"]
