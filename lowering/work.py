"""Estimated time of statements, in picoseconds an element. In: statements. Out: integers. Never: exact; it only has to tell
microseconds from milliseconds."""

from __future__ import annotations

from npcompile.ir.prim import PRIMS

from .statements import Stmt

CHEAP, EXPENSIVE, ACCESS = 40, 800, 8
"""A vectorised simple operation, a transcendental one, and a byte-weighted memory access (per byte)."""


def weight(s: Stmt) -> int:
    """Picoseconds per element of a statement."""
    total = 50
    for n in s.costs:
        total += EXPENSIVE if PRIMS[n.prim].cost == "expensive" else CHEAP
    total += sum(ACCESS * r.itemsize for r in s.reads if r.index)
    return total + ACCESS * s.itemsize
