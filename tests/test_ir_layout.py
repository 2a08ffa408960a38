"""The layouts, strides and contiguity that type rules compute are those of NumPy's results."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_arrays import arrays, dims, layout_of_array, several, tensor_type, view_type

import npcompile.ir.prims  # noqa: F401
from npcompile.ir import layout as L
from npcompile.ir.prim import PRIMS
from npcompile.ir.prims.index_map import reshape_is_view


def infer(prim, *types, **params):
    return PRIMS[prim].type_rule(types, params)


def run(prim, *values, **params):
    return PRIMS[prim].numpy(values, params)


def check_tensor(t, a):
    assert t.dtype == a.dtype and t.dims == dims(a.shape)
    assert t.layout == layout_of_array(a)
    assert [s.const for s, n in zip(L.strides_of(t), a.shape) if n > 1] == [s for s, n in zip(a.strides, a.shape) if n > 1]


def check_view(t, a):
    want = view_type(a)
    assert (t.dtype, t.dims, t.layout, t.negative, t.contiguous) == (
        want.dtype,
        want.dims,
        want.layout,
        want.negative,
        want.contiguous,
    )
    assert t.writeable == a.flags.writeable
    assert [s for s, n in zip(t.strides, a.shape) if n > 1] == [s for s, n in zip(want.strides, a.shape) if n > 1]


@given(several(4))
def test_korder_is_the_order_of_a_ufunc_result(xs):
    f = np.frompyfunc(lambda *a: 0.0, len(xs), 1) if len(xs) > 2 else (np.negative, np.add)[len(xs) - 1]
    assert L.korder([layout_of_array(x) for x in xs], dims(xs[0].shape)) == layout_of_array(np.asarray(f(*xs)))


@given(several(3))
def test_korder_of_where(xs):
    x, y = xs[0], xs[-1]
    want = layout_of_array(np.asarray(np.where(x > 3, x, y)))
    assert infer("select", tensor_type(x > 3), tensor_type(x), tensor_type(y))[0].layout == want


@given(arrays())
def test_copies(a):
    t = tensor_type(a)
    assert L.keep_order(t.layout, t.dims) == layout_of_array(a.copy(order="K"))
    assert L.keep_order(t.layout, t.dims) == layout_of_array(np.zeros_like(a))
    assert L.any_order(t) == layout_of_array(a.copy(order="A"))
    assert L.c_layout(t.dims) == layout_of_array(a.copy())
    assert L.f_layout(t.dims) == layout_of_array(a.copy(order="F"))
    assert infer("sort", t, axis=0)[0].layout == layout_of_array(np.sort(a, axis=0)) if a.ndim else True


@given(st.data())
def test_concat(data):
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        shape[axis] = data.draw(st.integers(1, 3))
        parts.append(data.draw(arrays(shape=tuple(shape))))
    (t,) = infer("concat", *map(tensor_type, parts), axis=axis)
    check_tensor(t, np.concatenate(parts, axis))


@given(arrays(), st.data())
def test_reduce_scan_argreduce(a, data):
    axes = tuple(x for x in range(a.ndim) if data.draw(st.booleans()))
    (t,) = infer("reduce", tensor_type(a), op="add", axes=axes)
    check_tensor(t, np.asarray(np.add.reduce(a, axis=axes)))
    if a.ndim:
        axis = data.draw(st.integers(0, a.ndim - 1))
        check_tensor(infer("scan", tensor_type(a), op="add", axis=axis)[0], np.cumsum(a, axis))
        check_tensor(infer("argreduce", tensor_type(a), op="argmax", axis=axis)[0], np.asarray(np.argmax(a, axis)))


@st.composite
def index_map(draw, a):
    """A random index-map prim with params that apply to `a`."""
    kinds = ["broadcast", "expand", "slice", "reshape", "squeeze", "transpose"] + ["diagonal"] * (a.ndim > 1)
    kind = draw(st.sampled_from(kinds))
    if kind == "transpose":
        return kind, {"perm": tuple(draw(st.permutations(range(a.ndim))))}
    if kind == "broadcast":
        lead = draw(st.lists(st.integers(1, 3), max_size=1))
        return kind, {"dims": dims([*lead, *(draw(st.integers(1, 3)) if n == 1 else n for n in a.shape)])}
    if kind == "expand":
        return kind, {"axes": tuple(draw(st.sets(st.integers(0, a.ndim), max_size=1)))}
    if kind == "squeeze":
        return kind, {"axes": tuple(x for x in range(a.ndim) if a.shape[x] == 1 and draw(st.booleans()))}
    if kind == "slice":
        starts, steps, lens = [], [], []
        for n in a.shape:
            s = slice(*draw(st.tuples(*[st.none() | st.integers(-4, 4)] * 2, st.sampled_from([1, 1, 2, 3, -1, -2]))))
            r = range(n)[s] or range(n)
            starts.append(r.start), steps.append(r.step), lens.append(len(r))
        return kind, {"starts": dims(starts), "steps": dims(steps), "dims": dims(lens)}
    if kind == "diagonal":
        i, j = draw(st.permutations(range(a.ndim)))[:2]
        offset = draw(st.integers(1 - a.shape[i], a.shape[j] - 1))
        n = a.diagonal(offset, i, j).shape[-1]
        return kind, {"axis1": i, "axis2": j, "offset": offset, "dim": dims([n])[0]}
    return kind, {"dims": dims(draw(reshapes(a.size)))}


@st.composite
def reshapes(draw, size):
    factors = [p for p in (2, 2, 2, 2, 3, 3, 3, 3) for _ in [0] if size % p == 0]
    shape, rest = [], size
    for p in draw(st.permutations(factors)):
        if rest % p == 0:
            rest //= p
            shape.append(p)
    shape.append(rest)
    while len(shape) > 4 or (len(shape) > 1 and draw(st.booleans())):
        k = draw(st.integers(0, len(shape) - 2))
        shape[k : k + 2] = [shape[k] * shape[k + 1]]
    return shape


def concrete(params):
    return {
        k: tuple(getattr(x, "const", x) for x in v) if isinstance(v, tuple) else getattr(v, "const", v) for k, v in params.items()
    }


@given(arrays(), st.data())
def test_index_maps(a, data):
    tv, tt, x = view_type(a), tensor_type(a), a
    for _ in range(data.draw(st.integers(1, 4))):
        prim, params = data.draw(index_map(x))
        (y,) = run(prim, x, **concrete(params))
        if prim == "reshape":
            assert reshape_is_view(tv, params["dims"]) == np.shares_memory(x, y)
            if not np.shares_memory(x, y):
                with pytest.raises(TypeError):
                    infer(prim, tv, **params)
                check_tensor(infer(prim, tt, **params)[0], y)
                return
        (tv,), (tt,) = infer(prim, tv, **params), infer(prim, tt, **params)
        check_view(tv, y)
        check_tensor(tt, y)
        x = y


@given(arrays(dtype=np.complex128))
def test_parts_of_complex(a):
    check_view(infer("imag_view", view_type(a))[0], a.imag)
    check_tensor(infer("real_view", tensor_type(a))[0], a.real)


@given(arrays(), st.data())
def test_pad(a, data):
    low, high = ([data.draw(st.integers(0, 2)) for _ in a.shape] for _ in "lh")
    (t,) = infer("pad", tensor_type(a), tensor_type(np.array(1.0)), low=dims(low), high=dims(high))
    check_tensor(t, run("pad", a, np.array(1.0), low=low, high=high)[0])


@given(arrays(max_rank=3))
def test_load_keeps_the_memory_order(a):
    (t,) = infer("load", view_type(a), infer("alloc", dims=(), dtype="f8")[1])
    (b,) = run("load", a, None)
    check_tensor(t, b)
    assert b.strides == a.strides and np.array_equal(a, b)


def test_perm_and_packed():
    t = tensor_type(np.zeros((2, 3, 4)).transpose(1, 2, 0))
    assert L.perm(t.layout) == (2, 0, 1)
    assert functools.reduce(lambda x, y: x * y, L.packed_strides(t.dims, t.layout, 8)).const == 8 * 32 * 96
