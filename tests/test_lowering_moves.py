"""Index maps, joins, gathers and broadcasts in generated code, over layouts and sizes that include 0 and 1."""

import itertools

import numpy as np
import pytest
from ir_graphs import Maker
from test_lowering_reductions import compare, layouts

from npcompile.ir.dims import Dim


def loaded(*arrays):
    m = Maker()
    views = [m.array(a) for a in arrays]
    mems = m.memories()
    return m, [m.emit("load", v, k) for v, k in zip(views, mems, strict=True)], mems


def maps(x, dims, m):
    """Chains of index maps on a 3-D tensor."""
    n0, n1, n2 = dims
    yield m.emit("transpose", x, perm=(2, 0, 1))
    yield m.emit("reshape", m.emit("copy", x, layout=(3, 2, 1)), dims=(n0 * n1, n2))
    yield m.emit("reshape", m.emit("mul", x, x), dims=(n0 * n1 * n2,))
    yield m.emit("reshape", m.emit("transpose", m.emit("neg", x), perm=(1, 0, 2)), dims=(n1, n0 * n2))
    rev = m.emit("slice", x, starts=(n0 - 1, 0, n2 - 1), steps=(-1, 1, -1), dims=(n0, n1, n2))
    yield rev
    yield m.emit("sub", m.emit("square", x), rev)
    yield m.emit("slice", m.emit("exp", x), starts=(0, 0, 1), steps=(1, 1, 2), dims=(n0, n1, (n2 - 1) // 2))
    yield m.emit("expand", m.emit("abs", x), axes=(1, 4))
    yield m.emit("broadcast", m.emit("expand", x, axes=(1,)), dims=(Dim.of(3), n0, Dim.of(2), n1, n2))
    yield m.emit("diagonal", m.emit("mul", x, x), offset=0, axis1=0, axis2=1, dim=n0)


@pytest.mark.parametrize("which", range(10))
def test_chains_of_index_maps(which):
    made = []
    for a in layouts((4, 5, 6), "f8"):
        m, (x,), mems = loaded(a)
        y = next(itertools.islice(maps(x, x.type.dims, m), which, None))
        m.region.nodes = [n for n in m.region.nodes if n in ancestors(y)]
        m.exit("exit", y, *mems)
        made.append(m)
    compare(made, ulp=2)


def ancestors(v):
    out, stack = set(), [v]
    while stack:
        n = stack.pop().node
        if n is not None and n not in out:
            out.add(n)
            stack += n.inputs
    return out


@pytest.mark.parametrize("axis", [0, 1])
def test_concat_and_pad(axis):
    made = []
    for a in layouts((3, 4), "f4"):
        b = np.arange(12, dtype="f4").reshape(3, 4)
        m, (x, y), mems = loaded(a, b)
        m.exit("exit", m.emit("concat", x, m.emit("mul", x, y), m.emit("neg", y), axis=axis), *mems)
        made.append(m)
        m, (x,), mems = loaded(a)
        z = m.emit("pad", m.emit("add", x, x), m.const(7.5, "f4"), low=(1, axis), high=(2, 3))
        m.exit("exit", z, m.emit("reduce", z, op="add", axes=(0,)), *mems)
        made.append(m)
    compare(made)


@pytest.mark.parametrize("index", ["i8", "u2"])
def test_gathers(index):
    made = []
    for a in layouts((6, 7), "f8"):
        i = np.array([[3, 0, 5], [1, 1, 2]], index)
        m, (x, k), mems = loaded(a, i)
        m.exit("exit", m.emit("take", x, k, axis=0), m.emit("take", m.emit("sqrt", x), k, axis=1), *mems)
        made.append(m)
        m, (x, k), mems = loaded(a, i)
        m.exit("exit", m.emit("gather", x, k, m.emit("sub", m.emit("full", m.const(5, index), dims=k.type.dims), k)), *mems)
        made.append(m)
        m, (x, k), mems = loaded(a, np.argsort(a, 1).astype(index))
        m.exit("exit", m.emit("take_along", x, k, axis=1), *mems)
        made.append(m)
    compare(made)


def common(a, b):
    n = max(len(a), len(b))
    a, b = (Dim.of(1),) * (n - len(a)) + a, (Dim.of(1),) * (n - len(b)) + b
    return tuple(y if x.const == 1 else x for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    "shape_a, shape_b", [((4, 1), (1, 5)), ((1,), (3,)), ((2, 1, 4), (3, 1)), ((0, 3), (1, 3)), ((1, 1), (1, 1))]
)
def test_broadcasts(shape_a, shape_b):
    made = []
    for dtype in ("f8", "i4", "c16"):
        a = np.arange(np.prod(shape_a)).reshape(shape_a).astype(dtype) + 1
        b = np.arange(np.prod(shape_b)).reshape(shape_b).astype(dtype) - 2
        m, (x, y), mems = loaded(a, b)
        dims = common(x.type.dims, y.type.dims)
        bx, by = (m.emit("broadcast", v, dims=dims) for v in (x, y))
        m.exit("exit", m.emit("add", m.emit("mul", bx, by), by), *mems)
        made.append(m)
    compare(made)
