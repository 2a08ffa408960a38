"""Rows that make, read and write memory, and that fetch or place elements by computed indices.

Memory states are values: a store takes the state it follows and returns the next. The reference implementations write
into the actual arrays and hand the state through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dims import Sym
from ..layout import c_layout, contiguity, packed_layout, packed_strides
from ..prim import Prim, register
from ..types import MemType, TensorType, Type, ViewType
from ._rules import BOOL, INT64, Params, axis_of, need_kind, scalar_inputs, tensors
from .create import dims_of, new_array
from .reduce import dim_param

MEM = MemType()


def view_input(t: Type, *, store: bool = False) -> ViewType:
    if not isinstance(t, ViewType):
        raise TypeError(f"takes a view, got {t}")
    if store and not t.writeable:
        raise TypeError(f"stores to the read-only {t}")
    return t


def _need_mem(t: Type) -> None:
    if not isinstance(t, MemType):
        raise TypeError(f"takes a memory state, got {t}")


def _count(ins: tuple[Type, ...], n: int) -> None:
    if len(ins) != n:
        raise TypeError(f"takes {n} inputs, got {len(ins)}")


def _row(
    name: str, rule: Any, numpy: Any, *, cpp: str | None = None, effect: bool = True, cost: Any = "cheap", loop: Any = "memory"
) -> None:
    register(
        Prim(
            name=name,
            group="memory",
            type_rule=rule,
            numpy=numpy,
            loop=loop,
            cost=cost,
            cpp=cpp,
            triton=cpp and cpp.replace("npc_", "tl."),
            effect=effect,
        )
    )


# ---------------------------------------------------------------------------------------------- buffers


def _alloc_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    _count(ins, 0)
    dims, dtype = dims_of(params), np.dtype(params["dtype"])
    layout = packed_layout(params.get("layout"), dims)
    strides = packed_strides(dims, layout, dtype.itemsize)
    flat = contiguity(dims, strides, dtype.itemsize)
    return (ViewType(dtype, dims, strides, layout, flat, (False,) * len(dims)), MEM)


_row("alloc", _alloc_rule, lambda ins, params: (new_array(params, np.dtype(params["dtype"])), None), cost="extern")


def _load_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    _count(ins, 2)
    v = view_input(ins[0])
    _need_mem(ins[1])
    full = all(r or d.const == 1 for r, d in zip(v.layout, v.dims, strict=True))
    packed = full and (v.contiguous != "" or v.strides == packed_strides(v.dims, v.layout, v.dtype.itemsize))
    return (TensorType(v.dtype, v.dims, v.layout, None if packed else v.strides),)


def copy_in_place(a: np.ndarray) -> np.ndarray:
    """A snapshot with the very same strides, so that later orders and sums come out as for the view itself."""
    if not a.size:
        return a.copy(order="K")
    out = np.lib.stride_tricks.as_strided(_arena(a), a.shape, a.strides)
    out[...] = a
    return out


def _arena(a: np.ndarray) -> np.ndarray:
    """New memory as large as the region `a` spans, as an array starting where `a[0, ...]` belongs."""
    low, high = np.lib.array_utils.byte_bounds(a)
    memory = np.zeros(high - low, np.uint8)
    start = a.__array_interface__["data"][0] - low
    return np.ndarray((), a.dtype, memory, start)


_row("load", _load_rule, lambda ins, params: (copy_in_place(ins[0]),), cpp="npc_load({0})")


def _store_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    _count(ins, 3)
    v = view_input(ins[0], store=True)
    (t,) = tensors(ins[1:2])
    _need_mem(ins[2])
    if (t.dtype, t.dims) != (v.dtype, v.dims):
        raise TypeError(f"cannot store {t} to {v}")
    return (MEM,)


def _store(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    view, value, mem = ins
    view[...] = value
    return (mem,)


_row("store", _store_rule, _store, cpp="npc_store({0}, {1})")


def _move_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    _count(ins, 3)
    target, source = view_input(ins[0], store=True), view_input(ins[1])
    _need_mem(ins[2])
    if (target.dtype, target.dims) != (source.dtype, source.dims) or target.rank != 1:
        raise TypeError(f"cannot move {source} to {target}")
    return (MEM,)


def _move(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    view, source, mem = ins
    view[...] = source
    return (mem,)


# Vectors that may overlap, element after element as NumPy assigns them: an element may be read after it was written.
_row("move", _move_rule, _move)


def _store_masked_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    _count(ins, 4)
    v = view_input(ins[0], store=True)
    mask, t = tensors(ins[1:3])
    _need_mem(ins[3])
    if (t.dtype, t.dims) != (v.dtype, v.dims) or mask.dtype != BOOL or mask.dims != v.dims:
        raise TypeError(f"cannot store {t} to {v} under {mask}")
    return (MEM,)


def _store_masked(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    view, mask, value, mem = ins
    np.copyto(view, value, where=mask)
    return (mem,)


_row("store_masked", _store_masked_rule, _store_masked, cpp="npc_store_masked({0}, {1}, {2})")


def _indices(ins: tuple[Type, ...], rank: int) -> None:
    scalar_inputs(ins, (INT64,) * rank)


def _element(a: np.ndarray, index: tuple[Any, ...]) -> tuple[int, ...]:
    out = tuple(int(i) for i in index)
    if not all(0 <= i < n for i, n in zip(out, a.shape, strict=True)):
        raise IndexError(f"index {out} leaves an array of shape {a.shape}")
    return out


def _item_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    v = view_input(ins[0])
    _need_mem(ins[1])
    _indices(ins[2:], v.rank)
    return (TensorType(v.dtype),)


_row("item", _item_rule, lambda ins, params: (np.array(ins[0][_element(ins[0], ins[2:])]),), cpp="npc_load({0})")


def _store_item_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    v = view_input(ins[0], store=True)
    scalar_inputs(ins[1:2], (v.dtype,))
    _need_mem(ins[2])
    _indices(ins[3:], v.rank)
    return (MEM,)


def _store_item(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    view, value, mem, *index = ins
    view[_element(view, tuple(index))] = value
    return (mem,)


_row("store_item", _store_item_rule, _store_item, cpp="npc_store({0}, {1})")


# ---------------------------------------------------------------------------------------------- indexed access


def _index_tensor(t: TensorType) -> TensorType:
    need_kind(t, "iu")
    return t


def _take_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, idx = tensors(ins, 2)
    axis = axis_of(params, a.rank)
    dims = a.dims[:axis] + _index_tensor(idx).dims + a.dims[axis + 1 :]
    return (TensorType(a.dtype, dims, params.get("layout") or c_layout(dims)),)


_row(
    "take",
    _take_rule,
    lambda ins, params: (np.take(ins[0], ins[1], axis=params["axis"]),),
    effect=False,
    loop="pointwise",
    cpp="npc_load({0})",
)


def _gather_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, *idx = tensors(ins)
    if len(idx) != a.rank or not idx or any(_index_tensor(i).dims != idx[0].dims for i in idx):
        raise TypeError(f"needs one index tensor of the same dims for each axis of {a}")
    dims = idx[0].dims
    return (TensorType(a.dtype, dims, params.get("layout") or c_layout(dims)),)


_row(
    "gather",
    _gather_rule,
    lambda ins, params: (np.asarray(ins[0][tuple(ins[1:])]),),
    effect=False,
    loop="pointwise",
    cpp="npc_load({0})",
)

SCATTERS = {"set": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "sub": np.subtract}


def _scatter_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    v = view_input(ins[0], store=True)
    _count(ins, v.rank + 3)
    *idx, value = tensors(ins[1:-1])
    _need_mem(ins[-1])
    if params["op"] not in SCATTERS or value.dtype != v.dtype or any(_index_tensor(i).dims != value.dims for i in idx):
        raise TypeError(f"cannot scatter {value} into {v} with {params['op']!r}")
    return (MEM,)


def _scatter(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    view, *idx, value, mem = ins
    f = SCATTERS[params["op"]]
    if f is None:
        view[tuple(idx)] = value
    else:
        f.at(view, tuple(idx), value)
    return (mem,)


_row("scatter", _scatter_rule, _scatter, cost="expensive", loop="opaque")


def _take_along_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, idx = tensors(ins, 2)
    axis = axis_of(params, a.rank)
    if idx.rank != a.rank or any(x != y for k, (x, y) in enumerate(zip(a.dims, _index_tensor(idx).dims)) if k != axis):
        raise TypeError(f"{idx} does not index {a} along axis {axis}")
    return (TensorType(a.dtype, idx.dims, params.get("layout") or c_layout(idx.dims)),)


_row(
    "take_along",
    _take_along_rule,
    lambda ins, params: (np.take_along_axis(ins[0], ins[1], params["axis"]),),
    effect=False,
    loop="pointwise",
    cpp="npc_load({0})",
)


# ---------------------------------------------------------------------------------------------- data-dependent sizes


def _size_row(name: str, rule: Any, numpy: Any, defines: bool) -> None:
    register(
        Prim(
            name=name,
            group="memory",
            type_rule=rule,
            numpy=numpy,
            loop="opaque",
            cost="expensive",
            flags=frozenset({"defines_symbol"} if defines else ()),
        )
    )


def _new_symbol(params: Params) -> None:
    if not isinstance(params["sym"], Sym):
        raise TypeError(f"takes a symbol for the number found, got {params['sym']!r}")


def _nonzero_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    (mask,) = tensors(ins, 1)
    _new_symbol(params)
    dims = (dim_param(params, "sym"),)
    return tuple(TensorType(INT64, dims, c_layout(dims)) for _ in range(mask.rank))


def _compress_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    mask, a = tensors(ins, 2)
    _new_symbol(params)
    if mask.dtype != BOOL or mask.dims != a.dims:
        raise TypeError(f"takes a bool mask of the operand's dims, got {mask} for {a}")
    dims = (dim_param(params, "sym"),)
    return (TensorType(a.dtype, dims, c_layout(dims)),)


_size_row("nonzero", _nonzero_rule, lambda ins, params: tuple(map(np.ascontiguousarray, np.nonzero(ins[0]))), True)
_size_row("compress", _compress_rule, lambda ins, params: (ins[1][ins[0]],), True)


def _searchsorted_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, v = tensors(ins, 2)
    if a.rank != 1 or a.dtype != v.dtype or params["side"] not in ("left", "right"):
        raise TypeError(f"cannot search {v} in {a} from the {params['side']!r}")
    return (TensorType(INT64, v.dims, c_layout(v.dims)),)


def _bincount_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    x, *weights = tensors(ins)
    if x.rank != 1 or x.dtype != INT64 or len(weights) > 1 or any(w.dims != x.dims or w.dtype.char != "d" for w in weights):
        raise TypeError(f"cannot count {', '.join(map(str, ins))}")
    dims = (dim_param(params),)
    return (TensorType(np.dtype(np.float64) if weights else INT64, dims, c_layout(dims)),)


def _bincount(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    return (np.bincount(ins[0], ins[1] if ins[1:] else None, params["dim"]),)


_size_row(
    "searchsorted",
    _searchsorted_rule,
    lambda ins, params: (np.asarray(np.searchsorted(ins[0], ins[1], side=params["side"])),),
    False,
)
_size_row("bincount", _bincount_rule, _bincount, False)
