"""Rows that make values from nothing: constants, filled arrays, index arrays, dims."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dims import Dim, Sym
from ..layout import packed_layout
from ..prim import Prim, register
from ..types import TensorType, Type
from ._rules import I64, Params, axis_of, scalar_inputs, tensors
from .select import empty_with


def _const_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    tensors(ins, 0)
    return (TensorType(np.dtype(params["dtype"])),)


register(
    Prim(
        name="const",
        group="create",
        type_rule=_const_rule,
        numpy=lambda ins, params: (np.array(params["value"], params["dtype"]),),
        loop="pointwise",
        cost="free",
        cpp="{value}",
        triton="{value}",
    )
)


def dims_of(params: Params, name: str = "dims") -> tuple[Dim, ...]:
    return tuple(Dim.of(d) for d in params[name])


def _new_type(dtype: Any, params: Params) -> TensorType:
    dims = dims_of(params)
    return TensorType(np.dtype(dtype), dims, packed_layout(params.get("layout"), dims))


def _full_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (v,) = scalar_inputs(ins, (None,))
    return (_new_type(v.dtype, params),)


def new_array(params: Params, dtype: np.dtype) -> np.ndarray:
    """An uninitialised array with the `dims` (ints by now) and `layout` of the params."""
    shape = tuple(params["dims"])
    layout = params.get("layout")
    return np.empty(shape, dtype) if layout is None else empty_with(layout, shape, dtype)


def _full(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    out = new_array(params, ins[0].dtype)
    out[...] = ins[0]
    return (out,)


register(
    Prim(
        name="full",
        group="create",
        type_rule=_full_rule,
        numpy=_full,
        loop="pointwise",
        cost="free",
        cpp="{0}",
        triton="{0}",
    )
)


def _iota_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    tensors(ins, 0)
    t = _new_type(params["dtype"], params)
    axis_of(params, t.rank)
    return (t,)


def _iota(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    out = new_array(params, np.dtype(params["dtype"]))
    index = np.arange(out.shape[params["axis"]])
    out[...] = index.reshape([-1 if a == params["axis"] else 1 for a in range(out.ndim)])
    return (out,)


register(
    Prim(
        name="iota",
        group="create",
        type_rule=_iota_rule,
        numpy=_iota,
        loop="pointwise",
        cost="cheap",
        cpp="npc_convert<{T}>({index})",
        triton="{index}.to({T})",
    )
)


def _dim_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    tensors(ins, 0)
    Dim.of(params["dim"])
    return (I64,)


register(
    Prim(
        name="dim",
        group="create",
        type_rule=_dim_rule,
        numpy=lambda ins, params: (np.array(params["dim"], np.int64),),
        loop="pointwise",
        cost="cheap",
        cpp="{dim}",
        triton="{dim}",
    )
)


def _sym_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    scalar_inputs(ins, (I64.dtype,))
    if not isinstance(params["sym"], Sym):
        raise TypeError(f"takes a symbol, got {params['sym']!r}")
    return ()


register(
    Prim(
        name="sym",
        group="create",
        type_rule=_sym_rule,
        numpy=lambda ins, params: (),
        loop="opaque",
        cost="free",
        flags=frozenset({"defines_symbol"}),
    )
)
