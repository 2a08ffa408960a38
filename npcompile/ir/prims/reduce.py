"""Rows that combine elements along axes: reductions, scans, arg-reductions, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dims import Dim
from ..layout import c_layout, keep_order, korder
from ..prim import Prim, conditions_of, register
from ..types import TensorType, Type
from ._rules import BOOL, INT64, Params, axis_of, tensors

REDUCERS = {
    "add": ("add", "biufc"),
    "mul": ("multiply", "biufc"),
    "max": ("maximum", "biufc"),
    "min": ("minimum", "biufc"),
    "fmax": ("fmax", "biufc"),
    "fmin": ("fmin", "biufc"),
    "and": ("bitwise_and", "biu"),
    "or": ("bitwise_or", "biu"),
    "xor": ("bitwise_xor", "biu"),
    "any": ("logical_or", "biufc"),
    "all": ("logical_and", "biufc"),
}
"""op param -> (NumPy ufunc, dtype kinds it takes)."""


def _reducer(params: Params, t: TensorType) -> tuple[np.ufunc, np.dtype]:
    """The ufunc, and the dtype it works in (which is that of the result)."""
    op = params["op"]
    if op not in REDUCERS:
        raise TypeError(f"no reduction {op!r}")
    name, kinds = REDUCERS[op]
    acc = BOOL if op in ("any", "all") else np.dtype(params.get("acc") or t.dtype)
    if t.dtype.kind not in kinds or acc.kind not in kinds:
        raise TypeError(f"{op} does not take {t.dtype} with {acc}")
    if op not in ("add", "mul", "any", "all") and acc != t.dtype:
        raise TypeError(f"{op} works in its operand's dtype, not {acc}")
    return getattr(np, name), acc


def reduced_axes(params: Params, rank: int) -> tuple[int, ...]:
    axes = tuple(params["axes"])
    if len(set(axes)) != len(axes) or not all(isinstance(a, int) and 0 <= a < rank for a in axes):
        raise TypeError(f"cannot reduce axes {axes} of {rank}")
    return axes


def _reduce_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (t,) = tensors(ins, 1)
    _, acc = _reducer(params, t)
    axes = set(reduced_axes(params, t.rank))
    keep = [a for a in range(t.rank) if a not in axes]
    dims = tuple(t.dims[a] for a in keep)
    # NumPy orders the axes of operand and result together, then gives the result those that remain
    full = korder([t.layout], t.dims)
    return (TensorType(acc, dims, _renumber([full[a] for a in keep])),)


def _renumber(ranks: list[int]) -> tuple[int, ...]:
    dense = {r: i + 1 for i, r in enumerate(sorted(r for r in ranks if r))}
    return tuple(dense.get(r, 0) for r in ranks)


def _reduce(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    (a,) = ins
    ufunc, acc = _reducer(params, TensorType(a.dtype))
    return (np.asarray(ufunc.reduce(a, axis=tuple(params["axes"]), dtype=acc)),)


register(
    Prim(
        name="reduce",
        group="reduce",
        type_rule=_reduce_rule,
        numpy=_reduce,
        loop="reduce",
        cost="expensive",
        cpp="npc_reduce_{op}<{T}>({0})",
        triton="tl.reduce({0}, 1, {combine})",
        conditions=conditions_of("f:oui c:oui"),
    )
)


def _argreduce_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (t,) = tensors(ins, 1)
    if params["op"] not in ("argmax", "argmin") or t.dtype.kind not in "biufc":
        raise TypeError(f"no {params['op']!r} of {t.dtype}")
    axis = axis_of(params, t.rank)
    dims = t.dims[:axis] + t.dims[axis + 1 :]
    return (TensorType(INT64, dims, c_layout(dims)),)


register(
    Prim(
        name="argreduce",
        group="reduce",
        type_rule=_argreduce_rule,
        numpy=lambda ins, params: (np.asarray(getattr(np, params["op"])(ins[0], params["axis"])),),
        loop="reduce",
        cost="expensive",
        cpp="npc_{op}<{T}>({0})",
        triton="tl.reduce({0}, 1, {combine})",
    )
)


def _scan_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (t,) = tensors(ins, 1)
    axis_of(params, t.rank)
    _, acc = _reducer(params, t)
    return (TensorType(acc, t.dims, korder([t.layout], t.dims)),)


def _scan(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    (a,) = ins
    ufunc, acc = _reducer(params, TensorType(a.dtype))
    return (ufunc.accumulate(a, params["axis"], dtype=acc),)


register(
    Prim(
        name="scan",
        group="reduce",
        type_rule=_scan_rule,
        numpy=_scan,
        loop="opaque",
        cost="expensive",
        conditions=conditions_of("f:oui c:oui"),
    )
)


def _sort_type(ins: tuple[Type, ...], params: Params) -> TensorType:
    (t,) = tensors(ins, 1)
    axis_of(params, t.rank)
    return t


def _sort_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    t = _sort_type(ins, params)
    return (TensorType(t.dtype, t.dims, keep_order(t.layout, t.dims)),)


def _argsort_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    t = _sort_type(ins, params)
    return (TensorType(INT64, t.dims, c_layout(t.dims)),)


def _kth(params: Params) -> Any:
    kth = params["kth"]
    return list(kth) if isinstance(kth, tuple) else kth


for _name, _rule, _impl in (
    ("sort", _sort_rule, lambda ins, p: (np.sort(ins[0], p["axis"], kind=p.get("kind")),)),
    ("argsort", _argsort_rule, lambda ins, p: (np.argsort(ins[0], p["axis"], kind=p.get("kind")),)),
    ("partition", _sort_rule, lambda ins, p: (np.partition(ins[0], _kth(p), p["axis"]),)),
    ("argpartition", _argsort_rule, lambda ins, p: (np.argpartition(ins[0], _kth(p), p["axis"]),)),
):
    register(
        Prim(
            name=_name,
            group="reduce",
            type_rule=_rule,
            numpy=_impl,
            loop="opaque",
            cost="expensive",
        )
    )


def dim_param(params: Params, name: str = "dim") -> Dim:
    return Dim.of(params[name])
