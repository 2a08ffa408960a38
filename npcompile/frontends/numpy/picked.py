"""Operations on elements chosen by a mask, `a[mask]`, as operations on the whole array.

In: `Picked` values. Out: others with the same mask, and stores back through it (`a[mask] += x`). Elements that are not chosen get
operands that report nothing. Never: brings the chosen elements together; what needs that leaves compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.frontends.builder import Builder, cast_reports
from npcompile.frontends.values import Array, Picked, SymValue, Unsupported
from npcompile.ir.graph import Value

from .promotion import is_number
from .ufuncs import compute

DEPTH = 12
"""How far back two masks are followed to see that they are the same."""


def pick(b: Builder, a: Array, mask: Array) -> Picked:
    """`a[mask]` for a mask of the array's shape."""
    if not b.dims_agree(b.dims(mask), b.dims(a)):
        raise Unsupported("advanced-indexing", "a mask of another shape than the array")
    whole, chosen = b.array(b.read(a)), b.read(mask)
    assert whole.storage.pure is not None
    return Picked(whole, b.array(chosen), chosen, a, mask, (whole.storage.pure, state(b, a), state(b, mask)))


def state(b: Builder, a: Array) -> Value:
    """What the contents of an array's memory are at present."""
    s = a.storage
    if s.pure is not None:
        return s.pure
    assert s.mem is not None
    return b.mem[s.mem]


def parts(b: Builder, p: Picked) -> tuple[Array, Array]:
    """Arrays whose elements under the mask are the chosen ones: those picked from as long as nothing has changed."""
    now = (p.whole.storage.pure, state(b, p.array), state(b, p.by))
    same = all(x is y for x, y in zip(now, p.since))
    return (p.array, p.by) if same else (p.whole, p.mask)


def _same(u: Value, v: Value, depth: int) -> bool:
    """Are two values surely equal?"""
    if u is v:
        return True
    a, b = u.node, v.node
    if depth == 0 or a is None or b is None or a.prim != b.prim or a.params != b.params or u.index != v.index or a.regions:
        return False
    if a.prim in ("alloc", "store", "store_masked", "store_item") or a.prim.startswith("extern"):
        return False
    return len(a.inputs) == len(b.inputs) and all(_same(x, y, depth - 1) for x, y in zip(a.inputs, b.inputs))


def apply(b: Builder, ufunc: np.ufunc, operands: Sequence[SymValue], inplace: bool = False) -> Picked:
    """A ufunc of one output; `inplace`: into the first operand."""
    first = next(v for v in operands if isinstance(v, Picked))
    for v in operands:
        if not (_same(v.chosen, first.chosen, DEPTH) if isinstance(v, Picked) else is_number(v)):
            raise Unsupported("advanced-indexing", "elements chosen by a mask with another array")
    ins = [v.whole if isinstance(v, Picked) else v for v in operands]
    target = first.whole if inplace else None
    (out,) = compute(b, ufunc, ins, [target], first.chosen)
    if target is not None:
        b.store(target, out)
        return first
    whole = b.array(out)
    return Picked(whole, first.mask, first.chosen, whole, first.mask, ())


def store(b: Builder, a: Array, mask: Array, p: Picked) -> None:
    """`a[mask] = p`."""
    m = b.read(mask)
    if not b.dims_agree(b.dims(mask), b.dims(a)) or not _same(p.chosen, m, DEPTH):
        raise Unsupported("advanced-indexing", "elements chosen by another mask")
    v = b.read(p.whole)
    if cast_reports(p.whole.dtype, a.dtype):
        v = b.emit("select", m, v, b.broadcast(b.const(0, p.whole.dtype), b.dims(v)))
    b.store(a, b.convert(v, a.dtype), m)
