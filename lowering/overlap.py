"""Can two windows on one buffer share a byte? In: places. Out: proofs of disjointness. Never: guesses in favour of yes."""

from __future__ import annotations

import math

from npcompile.ir.dims import Dim

from .index_maps import Place


def byte_range(p: Place, itemsize: int) -> tuple[Dim, Dim] | None:
    """First byte and one past the last byte, or None when the sign of a stride is not known. Assumes no empty axis."""
    lo = hi = p.offset
    for s, d in zip(p.strides, p.dims, strict=True):
        a, b = s.bounds()
        if a >= 0:
            hi = hi + s * (d - 1)
        elif b <= 0:
            lo = lo + s * (d - 1)
        else:
            return None
    return lo, hi + itemsize


def _gcd_apart(a: Place, b: Place, size_a: int, size_b: int) -> bool:
    """Do the offsets differ by an amount that the (known) multiples of the strides can never make up?"""
    diff = b.offset - a.offset
    g = 0
    const = 0
    for m, c in diff.terms:
        if m:
            g = math.gcd(g, c)
        else:
            const = c
    for s, d in (*zip(a.strides, a.dims, strict=True), *zip(b.strides, b.dims, strict=True)):
        if d.const == 1:
            continue
        for _, c in s.terms:
            g = math.gcd(g, c)
    if g == 0:
        return const >= size_a or -const >= size_b
    r = const % g
    return r >= size_a and g - r >= size_b


def disjoint(a: Place, b: Place, size_a: int, size_b: int) -> bool:
    """True when two windows on the same buffer provably share no byte."""
    for x, y in zip(a.box or (), b.box or ()):
        if (x[0] - y[1]).bounds()[0] > 0 or (y[0] - x[1]).bounds()[0] > 0:
            return True
    ra, rb = byte_range(a, size_a), byte_range(b, size_b)
    if ra and rb and ((ra[0] - rb[1]).bounds()[0] >= 0 or (rb[0] - ra[1]).bounds()[0] >= 0):
        return True
    return _gcd_apart(a, b, size_a, size_b)


def same_place(a: Place, b: Place) -> bool:
    """Do both windows map every index to the same bytes? (axes of length 1 do not count)"""
    if a.buffer != b.buffer or a.offset != b.offset or len(a.dims) != len(b.dims):
        return False
    return all(
        da == db and (da.const == 1 or sa == sb) for sa, sb, da, db in zip(a.strides, b.strides, a.dims, b.dims, strict=True)
    )
