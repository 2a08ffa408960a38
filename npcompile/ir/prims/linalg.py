"""The contraction row.

In: operands of one dtype, axes to contract and batch axes of both. Out: batch axes, free axes of the left, free axes of the
right. The param `routine` ("matmul" or "dot") says whose way of calling BLAS gives NumPy's bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..layout import c_layout
from ..prim import Prim, conditions_of, register
from ..types import TensorType, Type
from ._rules import Params, tensors
from .select import copy_to


def _sides(params: Params, a: Any, b: Any) -> tuple[list[int], list[int]]:
    """The free axes of both operands."""
    lc, rc, lb, rb = (tuple(params[k]) for k in ("lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch"))
    for axes, rank in ((lc + lb, len(a)), (rc + rb, len(b))):
        if len(set(axes)) != len(axes) or not all(0 <= x < rank for x in axes):
            raise TypeError(f"axes {axes} of {rank} are out of range or repeated")
    if len(lc) != len(rc) or len(lb) != len(rb):
        raise TypeError("numbers of contracted or batch axes differ")
    return [x for x in range(len(a)) if x not in lc + lb], [x for x in range(len(b)) if x not in rc + rb]


def _dot_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    a, b = tensors(ins, 2)
    if a.dtype != b.dtype or a.dtype.kind not in "biufc":
        raise TypeError(f"cannot contract {a} with {b}")
    left, right = _sides(params, a.dims, b.dims)
    for x, y in (*zip(params["lhs_contract"], params["rhs_contract"]), *zip(params["lhs_batch"], params["rhs_batch"])):
        if a.dims[x] != b.dims[y]:
            raise TypeError(f"axis {x} of {a} does not match axis {y} of {b}")
    dims = (*(a.dims[x] for x in params["lhs_batch"]), *(a.dims[x] for x in left), *(b.dims[y] for y in right))
    return (TensorType(a.dtype, dims, params.get("layout") or c_layout(dims)),)


def _dot(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    """As a (batched) matrix product, which is the routine NumPy calls. Matrices and vectors go to it as they are."""
    a, b = ins
    left, right = _sides(params, a.shape, b.shape)
    batch = [a.shape[x] for x in params["lhs_batch"]]
    inner = math.prod(a.shape[x] for x in params["lhs_contract"])
    free_a, free_b = [a.shape[x] for x in left], [b.shape[y] for y in right]
    ta = a.transpose([*params["lhs_batch"], *left, *params["lhs_contract"]])
    tb = b.transpose([*params["rhs_batch"], *params["rhs_contract"], *right])
    if not (len(left) == len(params["lhs_contract"]) == 1):
        ta = ta.reshape(*batch, *([math.prod(free_a)] if free_a else []), inner)
    if not (len(right) == len(params["rhs_contract"]) == 1):
        tb = tb.reshape(*batch, inner, *([math.prod(free_b)] if free_b else []))
    if batch:  # matmul reads missing free axes of a batch as more batch
        ta = ta if free_a else ta[..., None, :]
        tb = tb if free_b else tb[..., None]
    out = np.asarray(np.matmul(ta, tb)).reshape((*batch, *free_a, *free_b))
    return (copy_to(params["layout"], out) if params.get("layout") else np.ascontiguousarray(out).reshape(out.shape),)


register(
    Prim(
        name="dot_general",
        group="linalg",
        type_rule=_dot_rule,
        numpy=_dot,
        loop="opaque",
        cost="extern",
        conditions=conditions_of("f:doui c:doui"),
    )
)
