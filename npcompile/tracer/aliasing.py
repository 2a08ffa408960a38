"""How arrays lie in memory: two of them "disjoint", "same" or "other"; one on its own. Decides alias classes when tracing
and alias guards.

In: live arrays. Out: the relation, by the very rules of the runtime's guard. Never: keeps the arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MAX_WORK: Any = 1000


def relation(a: np.ndarray, b: np.ndarray) -> str:
    """The relation of two arrays; "other" whenever disjointness is not cheap to show."""
    if a.size == 0 or b.size == 0:
        return "disjoint"
    (alo, ahi), (blo, bhi) = np.lib.array_utils.byte_bounds(a), np.lib.array_utils.byte_bounds(b)
    if ahi <= blo or bhi <= alo:
        return "disjoint"
    if _same_view(a, b):
        return "same"
    if _residues_differ(a, alo, b, blo):
        return "disjoint"
    try:
        return "other" if np.shares_memory(a, b, max_work=MAX_WORK) else "disjoint"
    except np.exceptions.TooHardError:
        return "other"


def _same_view(a: np.ndarray, b: np.ndarray) -> bool:
    """The same pointer, item size, dims and strides."""
    if a.ctypes.data != b.ctypes.data or a.itemsize != b.itemsize or a.shape != b.shape:
        return False
    return all(n == 1 or s == t for n, s, t in zip(a.shape, a.strides, b.strides))


def _residues_differ(a: np.ndarray, alo: int, b: np.ndarray, blo: int) -> bool:
    """Every element starts at the array's start plus a multiple of the strides' gcd: do the residues keep apart?"""
    step = math.gcd(*(s for x in (a, b) for s, n in zip(x.strides, x.shape) if n != 1))
    if step == 0:
        return False
    shift = (blo - alo) % step
    return shift >= a.itemsize and shift + b.itemsize <= step


def overlaps_itself(a: np.ndarray) -> bool:
    """May two elements share memory? False only where axes by growing stride do not reach into the next."""
    span = a.itemsize
    if a.size == 0:
        return False
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape) if n > 1):
        if stride < span:
            return True
        span += stride * (n - 1)
    return False
