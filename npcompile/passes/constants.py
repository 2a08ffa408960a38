"""Constants in graphs: recognising them and computing with them at compile time by the reference implementations.

In: a node whose inputs are simplified. Out: a constant, or a filled tensor, that replaces its outputs. Never folds a
computation whose floating-point conditions would have been reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import TensorType

from .rewrite import Emitter

SPREAD = frozenset({"broadcast", "full", "expand", "squeeze", "transpose", "reshape", "slice", "copy", "diagonal"})
"""Prims whose result repeats the elements of their operand."""


def constant(v: Value) -> np.ndarray | None:
    """The value of a rank-0 constant."""
    n = v.node
    return np.array(n.params["value"], n.params["dtype"]) if n is not None and n.prim == "const" else None


def splat(v: Value) -> np.ndarray | None:
    """The rank-0 constant that every element equals."""
    while v.node is not None and v.node.prim in SPREAD and isinstance(v.type, TensorType):
        v = v.node.inputs[0]
    return constant(v)


def number(v: Value) -> Any:
    """`splat` as a Python number, None when there is none."""
    c = splat(v)
    return None if c is None else c.item()


def is_exactly(v: Value, x: float) -> bool:
    """Is every element `x`, the sign of zero included?"""
    c = splat(v)
    if c is None or c.dtype.kind == "c":
        return False
    return bool(c == x) and (c.dtype.kind != "f" or bool(np.signbit(c)) == bool(np.signbit(float(x))))


def emit_constant(e: Emitter, like: Node, value: np.ndarray) -> Value:
    return e.emit(like, "const", value=value.item(), dtype=value.dtype)


def emit_splat(e: Emitter, like: Node, value: np.ndarray, t: TensorType) -> Value:
    """A tensor of type `t` (packed) that holds one value everywhere."""
    c = emit_constant(e, like, value)
    return e.emit(like, "full", c, dims=t.dims, layout=t.layout) if t.dims else c


def fold(e: Emitter, node: Node) -> list[Value] | None:
    """Replacements for the outputs of an elementwise node (or `dim`) whose operands are all constant."""
    if node.prim == "dim":
        d = Dim.of(node.params["dim"]).const
        return None if d is None or abs(d) >= 1 << 63 else [emit_constant(e, node, np.array(d, np.int64))]
    prim = PRIMS[node.prim]
    if prim.group not in ("unary", "binary", "select") or node.prim == "copy" or not node.inputs:
        return None
    values = [splat(v) for v in node.inputs]
    if any(v is None for v in values):
        return None
    seen: list[str] = []
    with np.errstate(all="call", under="ignore", call=lambda kind, _: seen.append(kind)):
        outs = prim.numpy(tuple(values), {k: v for k, v in node.params.items() if k != "layout"})
    if seen and node.report is not None:
        return None
    new = []
    for out, o in zip(outs, node.outputs):
        if not isinstance(o.type, TensorType) or not _round_trips(out):
            return None
        if o.type.dims and not all(r or d.const == 1 for r, d in zip(o.type.layout, o.type.dims)):
            return None
        new.append(emit_splat(e, node, out, o.type))
    return new


def _round_trips(x: np.ndarray) -> bool:
    """Does the value survive being a Python number (NaN payloads may not)?"""
    return np.array(x.item(), x.dtype).tobytes() == x.tobytes()
