"""Vector loops over functions of limited range: near variants first, and the loop or its exact run when an argument was far.

In: a loop body. Out: which of its operations have a near variant, and the text that gathers "an argument was far". Never:
prints loops.
"""

from __future__ import annotations

import numpy as np
from npcompile.kernels import RANGED
from npcompile.kernels.text import short

from ..loop_ir import Assign, Load, Op, Stm, Store
from ..unit import Unit


def is_ranged(s: Stm) -> bool:
    """Is it an operation that vectorises only as its near variant?"""
    return isinstance(s, Op) and s.prim in RANGED and s.dtype in (np.float32, np.float64)


def ranged_ops(unit: Unit, body: list[Stm]) -> list[Op]:
    """Operations to print as near variants; none when running the body twice would read what it has written."""
    ops = [s for s in body if isinstance(s, Op) and is_ranged(s)]
    if not ops or any(isinstance(s, Assign) or (isinstance(s, Op) and s.prim == "npc_best") for s in body):
        return []
    loads = {s.buffer for s in body if isinstance(s, Load)}
    for s in body:
        if isinstance(s, Store):
            for b in loads:
                known = s.buffer in unit.buffers and b in unit.buffers
                if unit.may_alias(s.buffer, b) if known else s.buffer == b:
                    return []
    return ops


def near_text(unit: Unit, op: Op, text: str) -> str:
    """The expression of an operation with its near variant in place of the full one."""
    unit.snippets.add(f"near_{op.prim}:{short(op.dtype)}")
    return text.replace(f"npc_{op.prim}(", f"npc_near_{op.prim}(", 1)


def far_text(unit: Unit, op: Op) -> str:
    """The word whose top bit tells that an argument was far."""
    unit.snippets.add(f"far_{op.prim}:{short(op.dtype)}")
    return f"npc_far_{op.prim}({', '.join(op.args)})"
