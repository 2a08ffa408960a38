"""Results of torch's operations: tensors with the strides that its `TensorIterator` gives them, and stores into tensors.

In: IR values. Out: tensors. torch orders the axes of a result by the strides of its operands, asking about pairs of axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, SymValue, Tensor, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout
from npcompile.ir.types import Layout, TensorType

from .promotion import convert


def fresh(b: Builder, v: Value, layout: Layout | None = None) -> Tensor:
    """A new tensor; C order unless a layout is given."""
    assert isinstance(v.type, TensorType)
    dims = b.dims(v)
    layout = c_layout(dims) if layout is None else layout
    if v.type.layout != layout or v.type.strides is not None:
        v = b.emit("copy", v, layout=layout)
    return Tensor(b.array(v))


def iterated(b: Builder, v: Value, operands: Sequence[Value]) -> Tensor:
    """A new tensor with the strides that an elementwise operation on `operands` (already of its shape) gives it."""
    return fresh(b, v, iterator_layout(b, operands, b.dims(v)))


def iterator_layout(b: Builder, operands: Sequence[Value], dims: Sequence[Dim]) -> Layout:
    """Layout of what an elementwise operation allocates."""
    return order_of(b, [v.type.layout for v in operands if isinstance(v.type, TensorType)], dims)


def order_of(b: Builder, layouts: Sequence[Layout], dims: Sequence[Dim]) -> Layout:
    """The order of axes that the iterator finds for operands with these layouts."""
    layouts = [layout for layout in layouts if any(layout)]
    order = list(range(len(dims)))[::-1]
    for i in range(1, len(order)):
        at = i
        for j in range(i - 1, -1, -1):
            vote = _vote(b, layouts, dims, order[j], order[at])
            if vote > 0:
                order[j], order[at] = order[at], order[j]
                at = j
            elif vote < 0:
                break
    rank = 0
    out = [0] * len(dims)
    for a in order:
        if not b.dim_is(dims[a], 1):
            rank += 1
            out[a] = rank
    return tuple(out)


def kept_order(b: Builder, x: Tensor) -> Layout:
    """The order of axes that `preserve_format` gives a copy; axes of stride 0 stay where they are."""
    dims = b.dims(x.array)
    return order_of(b, [b.facts.canon_type(x.array.type).layout], dims)


def _vote(b: Builder, layouts: Sequence[Layout], dims: Sequence[Dim], inner: int, outer: int) -> int:
    """1: `outer` has the smaller stride and comes first; -1: they stand right; 0: no operand tells."""
    for layout in layouts:
        x, y = layout[inner], layout[outer]
        if not x or not y:
            continue
        if x != y:
            return 1 if x > y else -1
        if not b.dim_ge(dims[outer], dims[inner]):
            return 1
    return 0


def store(b: Builder, target: Tensor, v: Value, operands: Iterable[SymValue] = ()) -> Tensor:
    """Store into all of a tensor, which is then the result; `operands` are what the value was made of."""
    for x in operands:
        if isinstance(x, Tensor) and _overlap(target.array, x.array):
            raise Unsupported("torch-arguments", "an operand may overlap the tensor that is stored to")
    have, want = b.dims(v), b.dims(target.array)
    if len(have) > len(want) or not all(b.dim_is(h, w) for h, w in zip(b.broadcast_dims(have, want), want)):
        raise Unsupported("shape-mismatch", "the result does not have the tensor's shape")
    if _may_repeat(target.array):
        raise Unsupported("read-only", "several elements of the tensor, or of what it is a view of, share memory")
    b.store(target.array, convert(b, v, target.dtype))
    return target


def _overlap(target: Array, x: Array) -> bool:
    """May they share memory without being the same view? torch refuses most of such stores."""
    if target.storage is x.storage:
        return target.chain != x.chain
    return target.storage.mem is not None and target.storage.mem == x.storage.mem


def _may_repeat(a: Array) -> bool:
    """Do elements share memory by a stride of 0 (expanded tensors, which torch refuses to store to)? Views of such count."""
    return not a.type.writeable or any(s.const == 0 and d.const != 1 for s, d in zip(a.type.strides, a.dims))
