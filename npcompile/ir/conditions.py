"""Which floating-point conditions a node can meet, by its prim and the dtypes of its operands."""

from __future__ import annotations

import numpy as np

from .graph import Node
from .prim import PRIMS
from .types import TensorType


def possible_conditions(node: Node) -> tuple[str, ...]:
    """Those that are reported by default: underflow is not."""
    return tuple(c for c in conditions(node) if c != "underflow")


def conditions(node: Node) -> tuple[str, ...]:
    """Conditions that the node's operands do not rule out."""
    kinds = [v.type.dtype.kind for v in node.inputs if isinstance(v.type, TensorType)]
    if not kinds:
        return ()
    found = PRIMS[node.prim].conditions.get(kinds[0], ())
    if node.prim == "reduce" and node.params["op"] not in ("add", "mul"):
        return ()
    if node.prim == "convert" and not _lossy(node.inputs[0].type.dtype, np.dtype(node.params["dtype"])):  # type: ignore[union-attr]
        return ()
    return found


def _lossy(a: np.dtype, b: np.dtype) -> bool:
    """Can a cast overflow or be invalid?"""
    if b.kind in "fc":
        return not np.can_cast(a, b, "safe") and not (a.kind in "iu" and b.char != "e")
    return a.kind in "fc" and b.kind != "b"
