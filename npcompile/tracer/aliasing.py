"""How two arrays lie in memory: "disjoint", "same" or "other". Decides alias classes when tracing and alias guards.

In: two live arrays. Out: the relation, as the runtime's guard computes it. Never: keeps the arrays.
"""

from __future__ import annotations

import math

import numpy as np

MAX_WORK = 200


def relation(a: np.ndarray, b: np.ndarray) -> str:
    """The relation of two arrays; "other" whenever disjointness is not cheap to show."""
    if a.size == 0 or b.size == 0:
        return "disjoint"
    (alo, ahi), (blo, bhi) = _extent(a), _extent(b)
    if ahi <= blo or bhi <= alo:
        return "disjoint"
    if same_view(a, b):
        return "same"
    if a.strides == b.strides and a.shape == b.shape and _disjoint_by_gcd(a, alo, b, blo):
        return "disjoint"
    try:
        return "other" if np.shares_memory(a, b, max_work=MAX_WORK) else "disjoint"
    except np.exceptions.TooHardError:
        return "other"


def same_view(a: np.ndarray, b: np.ndarray) -> bool:
    """The same pointer, dtype, dims and strides."""
    return a.ctypes.data == b.ctypes.data and a.dtype == b.dtype and a.shape == b.shape and a.strides == b.strides


def _extent(a: np.ndarray) -> tuple[int, int]:
    return np.lib.array_utils.byte_bounds(a)


def _disjoint_by_gcd(a: np.ndarray, alo: int, b: np.ndarray, blo: int) -> bool:
    """Every address is a start plus a multiple of the strides' gcd: elements that miss each other modulo it never meet."""
    step = math.gcd(*(abs(s) for s, n in zip(a.strides, a.shape) if n > 1))
    if step == 0:
        return False
    shift = (blo - alo) % step
    return shift >= a.itemsize and step - shift >= b.itemsize
