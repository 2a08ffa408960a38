"""Rows that choose between values or change their dtype, elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..layout import packed_layout
from ..prim import Prim, conditions_of, register
from ..types import TensorType, Type
from ._rules import BOOL, Params, elementwise, tensors


def _select_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    mask, a, b = tensors(ins, 3)
    if mask.dtype != BOOL or a.dtype != b.dtype:
        raise TypeError(f"takes a bool mask and two operands of one dtype, got {mask}, {a}, {b}")
    return (elementwise((mask, a, b), a.dtype),)


register(
    Prim(
        name="select",
        group="select",
        type_rule=_select_rule,
        numpy=lambda ins, params: (np.asarray(np.where(*ins)),),
        loop="pointwise",
        cost="cheap",
        cpp="npc_select({0}, {1}, {2})",
        triton="tl.where({0}, {1}, {2})",
    )
)


def _convert_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (a,) = tensors(ins, 1)
    dtype = np.dtype(params["dtype"])
    if "layout" in params:
        return (TensorType(dtype, a.dims, packed_layout(params["layout"], a.dims)),)
    return (a if dtype == a.dtype else TensorType(dtype, a.dims, a.layout),)


def _convert(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    a = ins[0]
    dtype = np.dtype(params["dtype"])
    if "layout" in params:
        out = empty_with(params["layout"], a.shape, dtype)
        out[...] = _quiet_cast(a, dtype)
        return (out,)
    if 0 not in a.strides:
        return (_quiet_cast(a, dtype),)
    # broadcast axes stay broadcast, so that the K-order of what follows sees them as such
    index = tuple(slice(0, 1) if s == 0 and n > 1 else slice(None) for s, n in zip(a.strides, a.shape))
    return (np.broadcast_to(_quiet_cast(a[index], dtype), a.shape),)


def _quiet_cast(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An unsafe cast without ComplexWarning, which is the front end's matter."""
    if a.dtype.kind == "c" and dtype.kind not in "cb":
        a = a.real
    return np.asarray(a.astype(dtype, copy=False))


def empty_with(layout: tuple[int, ...], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An uninitialised packed array whose strides grow in the order of `layout`."""
    order = sorted(range(len(shape)), key=lambda a: -layout[a])
    return np.asarray(np.empty([shape[a] for a in order], dtype).transpose(np.argsort(order)) if order else np.empty((), dtype))


register(
    Prim(
        name="convert",
        group="select",
        type_rule=_convert_rule,
        numpy=_convert,
        loop="pointwise",
        cost="cheap",
        cpp="npc_convert<{T}>({0})",
        triton="{0}.to({T})",
        conditions=conditions_of("i:o u:o f:oui c:oui"),
    )
)


def _bitcast_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (a,) = tensors(ins, 1)
    dtype = np.dtype(params["dtype"])
    if dtype.itemsize != a.dtype.itemsize:
        raise TypeError(f"cannot reinterpret {a.dtype} as {dtype}")
    return (TensorType(dtype, a.dims, a.layout, a.strides),)


register(
    Prim(
        name="bitcast",
        group="select",
        type_rule=_bitcast_rule,
        numpy=lambda ins, params: (ins[0].view(params["dtype"]),),
        loop="pointwise",
        cost="cheap",
        cpp="npc_bitcast<{T}>({0})",
        triton="{0}.to({T}, bitcast=True)",
    )
)


def _copy_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (a,) = tensors(ins, 1)
    return (TensorType(a.dtype, a.dims, packed_layout(params["layout"], a.dims)),)


def copy_to(layout: tuple[int, ...], a: np.ndarray) -> np.ndarray:
    out = empty_with(layout, a.shape, a.dtype)
    out[...] = a
    return out


register(
    Prim(
        name="copy",
        group="select",
        type_rule=_copy_rule,
        numpy=lambda ins, params: (copy_to(params["layout"], ins[0]),),
        loop="pointwise",
        cost="free",
        cpp="{0}",
        triton="{0}",
    )
)
