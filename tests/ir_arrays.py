"""Hypothesis strategies for arrays in odd layouts, and the IR types of concrete arrays."""

import numpy as np
from hypothesis import strategies as st

from npcompile.ir.dims import Dim
from npcompile.ir.layout import canonical, contiguity
from npcompile.ir.types import TensorType, ViewType


def dims(shape):
    return tuple(Dim.of(n) for n in shape)


def layout_of_array(a):
    return canonical([0 if n == 1 else abs(s) for s, n in zip(a.strides, a.shape)], dims(a.shape))


def view_type(a, writeable=None):
    d, s = dims(a.shape), tuple(Dim.of(x) for x in a.strides)
    neg = tuple(x < 0 and n != 1 for x, n in zip(a.strides, a.shape))
    flat = contiguity(d, s, a.dtype.itemsize)
    return ViewType(a.dtype, d, s, layout_of_array(a), flat, neg, a.flags.writeable if writeable is None else writeable)


def tensor_type(a):
    return TensorType(a.dtype, dims(a.shape), layout_of_array(a), tuple(Dim.of(x) for x in a.strides))


@st.composite
def arrays(draw, shape=None, dtype=np.float64, broadcast=True, min_side=1, max_rank=4):
    """An array of this shape (a random one if None) in C, F, permuted, sliced, reversed or broadcast memory."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(min_side, 4), max_size=max_rank)))
    rank = len(shape)
    order = draw(st.permutations(range(rank)))
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2])) for _ in range(rank)]
    repeat = [broadcast and draw(st.integers(0, 5)) == 0 for _ in range(rank)]
    base_shape = [1 if r else n * abs(k) for n, k, r in zip(shape, steps, repeat)]
    base = np.arange(np.prod(base_shape, dtype=int)).astype(dtype).reshape([base_shape[a] for a in order])
    base = base.transpose(np.argsort(order)) if rank else base
    index = tuple(slice(None) if r else slice(None, None, k) for k, r in zip(steps, repeat))
    out = np.broadcast_to(base[index], shape) if any(repeat) else base[index] if rank else base
    assert out.shape == shape
    return out


@st.composite
def several(draw, count=3, **kw):
    """1 to `count` arrays of one shape."""
    first = draw(arrays(**kw))
    return [first] + [draw(arrays(shape=first.shape, **kw)) for _ in range(draw(st.integers(0, count - 1)))]
