"""C++ text of one scalar operation, from its row of the prim table, and what text of `kernels` it needs."""

from __future__ import annotations

import numpy as np
from npcompile.kernels import available, ctype
from npcompile.kernels.text import short

from npcompile.ir.dims import Dim
from npcompile.ir.prim import PRIMS

from ..loop_ir import Op
from ..lowered import LoweringError
from ..unit import Unit
from .literals import literal


def op_text(unit: Unit, op: Op) -> str:
    """The expression of an operation."""
    return prim_text(unit, op.prim, op.args, op.arg_dtypes, op.dtype, op.params)


def prim_text(
    unit: Unit, prim: str, args: tuple[str, ...], arg_dtypes: tuple[np.dtype, ...], dtype: np.dtype, params: dict
) -> str:
    """The expression of a prim applied to named elements."""
    if prim == "const":
        return literal(params["value"], dtype)
    if prim == "dim":
        return unit.dim(Dim.of(params["dim"]))
    if prim in ("copy", "full"):
        return args[0]
    if prim == "half_sum":
        unit.snippets.add("half")
        return f"npc_half(npc_float({args[0]}) + {args[1]})"
    row = PRIMS[prim]
    if row.cpp is None:
        raise LoweringError("no-cpp", prim)
    if prim == "libm":
        unit.snippets.add("libm")
        return f"{params['name']}({', '.join(args)})"
    need(unit, prim, arg_dtypes[0] if arg_dtypes else dtype)
    if prim == "select":
        need(unit, prim, dtype)
    fields = {k: v for k, v in params.items() if isinstance(v, (int, str))}
    return row.cpp.format(*args, **{**fields, "T": ctype(dtype)})


def need(unit: Unit, prim: str, dtype: np.dtype) -> None:
    """Ask for the text that a prim's C++ name stands for."""
    for key in (f"{prim}:{short(dtype)}", prim):
        if available(key):
            unit.snippets.add(key)
            return
    raise LoweringError("no-cpp", f"{prim} of {dtype}")
