"""Triton text of one scalar operation, from its row of the prim table, and of constants.

In: an operation of the loop IR. Out: an expression over blocks, and which functions of `kernels/triton/` it needs.
"""

from __future__ import annotations

import re

import numpy as np

from npcompile.ir.dims import Dim
from npcompile.ir.prim import HOST, PRIMS

from ..loop_ir import Op
from ..lowered import LoweringError

HALF = np.dtype(np.float16)
WORDS = {"b": "i1", "i": "i", "u": "u", "f": "fp"}
NATIVE_HALF = frozenset(
    {"nextafter", "spacing", "copysign", "maximum", "minimum", "fmax", "fmin", "select", "bitcast", "convert", "copy"}
)
"""Operations that take and give float16 itself; all others work in float32 and round."""


def tl_type(dtype: np.dtype) -> str:
    """Triton's type of an element in a register."""
    if dtype.kind == "c":
        raise LoweringError("no-triton", f"{dtype} on a device")
    names = {"b": "int1", "i": f"int{dtype.itemsize * 8}", "u": f"uint{dtype.itemsize * 8}", "f": f"float{dtype.itemsize * 8}"}
    return f"tl.{names[dtype.kind]}"


def memory_type(dtype: np.dtype) -> str:
    """Triton's type of an element in memory: a bool is a byte."""
    return "tl.uint8" if dtype.kind == "b" else tl_type(dtype)


def literal(value: object, dtype: np.dtype) -> str:
    """A scalar of exactly this value and type."""
    x = np.asarray(value).astype(dtype)[()]
    t = tl_type(dtype)
    if dtype.kind == "b":
        return f"tl.full([], {int(x)}, tl.int1)"
    if dtype.kind in "iu":
        return f"tl.full([], {int(x)}, {t})"
    if np.isfinite(x) and (x != 0 or not np.signbit(x)):  # Triton takes -0.0 for 0
        return f"tl.full([], {float(x)!r}, {t})"
    bits = int(x.view(f"i{dtype.itemsize}"))
    return f"tl.full([], {bits}, tl.int{dtype.itemsize * 8}).to({t}, bitcast=True)"


def op_text(op: Op, functions: set[str], dim: object) -> str:
    """The expression of an operation; `dim` renders an index expression."""
    prim, args, dts = op.prim, op.args, op.arg_dtypes
    if prim == "const":
        return literal(op.params["value"], op.dtype)
    if prim == "dim":
        assert callable(dim)
        return f"tl.full([], 0, tl.int64) + {dim(Dim.of(op.params['dim']))}"
    if prim in ("copy", "full"):
        return args[0]
    if prim == "convert":
        return convert_text(args[0], dts[0], op.dtype, functions)
    row = PRIMS[prim]
    if row.triton is None or row.triton == HOST or any(d.kind == "c" for d in (*dts, op.dtype)):
        raise LoweringError("no-triton", f"{prim} of {dts[0] if dts else op.dtype}")
    if prim == "bitcast":
        return bitcast_text(args[0], dts[0], op.dtype)
    half = HALF in (op.dtype, *dts) and prim not in NATIVE_HALF
    if half:
        args = tuple(f"{a}.to(tl.float32)" if d == HALF else a for a, d in zip(args, dts, strict=True))
    fields = {k: v for k, v in op.params.items() if isinstance(v, (int, str))}
    text = row.triton.format(*args, **{**fields, "T": tl_type(op.dtype)})
    functions.update(re.findall(r"\bnpc_\w+", text))
    return f"({text}).to(tl.float16)" if half and op.dtype == HALF else text


def convert_text(a: str, src: np.dtype, dst: np.dtype, functions: set[str]) -> str:
    """An unsafe cast as C does it."""
    t = tl_type(dst)
    tl_type(src)
    if src == dst:
        return a
    if dst.kind == "b":
        return f"({a} != 0)"
    if src.kind == "f" and dst.kind in "iu":
        functions.add("npc_to_int")
        wide = f"{a}.to(tl.float32)" if src == HALF else a
        return f"npc_to_int({wide}, {t})"
    if dst == HALF and src.kind in "iu":
        return f"{a}.to(tl.float32).to({t})"
    return f"{a}.to({t})"


def bitcast_text(a: str, src: np.dtype, dst: np.dtype) -> str:
    if src.kind == "b" or dst.kind == "b":
        return f"({a} != 0)" if dst.kind == "b" else f"{a}.to({tl_type(dst)})"
    return f"{a}.to({tl_type(dst)}, bitcast=True)"
