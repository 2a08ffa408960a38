"""Rows that random graphs do not reach: each is executed with its types checked and compared with NumPy or Python."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_arrays import arrays
from ir_graphs import MEM, Maker, fresh

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.executor import execute
from npcompile.ir.graph import Region, Value
from npcompile.ir.prims.binary import LIBM
from npcompile.ir.printer import to_text
from npcompile.ir.text import parse
from npcompile.ir.types import TensorType, scalar
from npcompile.ir.verifier import verify

relaxed = settings(deadline=None)


class Case:
    """Inputs as loaded tensors; `run` executes the graph, by itself and from its text."""

    def __init__(self, *inputs):
        self.m = Maker()
        made = [self.m.array(x) if isinstance(x, np.ndarray) else self.m.number(x, np.asarray(x).dtype) for x in inputs]
        self.mems = iter(self.m.memories())
        self.views, self.mem, self.values = [], [], []
        for v in made:
            if isinstance(v.type, TensorType):
                self.values.append(v)
                continue
            mem = next(self.mems)
            self.views.append(v)
            self.mem.append(mem)
            self.values.append(self.m.emit("load", v, mem))

    def run(self, *outs):
        """Captures of an exit with these values, then the input arrays after the call."""
        self.m.exit("exit", *outs, *self.mem)
        verify(self.m.graph, self.m.spec)
        results = []
        for way in (
            lambda xs: execute(self.m.graph, self.m.spec, xs, check=True),
            parse(to_text(self.m.graph, self.m.spec)).execute,
        ):
            inputs = fresh(self.m.inputs)
            _, captures = way(inputs)
            results.append((*captures, *(x for x in inputs if isinstance(x, np.ndarray))))
        for x, y in zip(*results, strict=True):
            np.testing.assert_array_equal(x, y)
        return results[0]

    def body(self, params, f):
        """A region with these param types whose results `f` gives."""
        region, outer = Region([Value(t) for t in params]), self.m.region
        self.m.region = region
        out = f(*region.params)
        region.results = list(out) if isinstance(out, (tuple, list)) else [out]
        self.m.region = outer
        return region


def one(prim, *inputs, **params):
    """What one prim makes of these inputs."""
    c = Case(*inputs)
    outs = c.m.emit(prim, *c.values, **params)
    outs = outs if isinstance(outs, tuple) else (outs,)
    got = c.run(*outs)[: len(outs)]
    return got[0] if len(got) == 1 else got


A = np.array([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
I = np.array([[1, 0], [2, 2]])


def test_indexed_reads():
    np.testing.assert_array_equal(one("take", A, I, axis=1), np.take(A, I, 1))
    np.testing.assert_array_equal(one("gather", A, I % 2, I), A[I % 2, I])
    np.testing.assert_array_equal(one("take_along", A, I, axis=1), np.take_along_axis(A, I, 1))
    assert one("gather", np.arange(3.0), np.array(2)) == 2


def test_scatter():
    for op, f in (("set", None), ("add", np.add), ("max", np.maximum)):
        c = Case(A, I % 2, I, np.full((2, 2), 5.0))
        c.mem[0] = c.m.emit("scatter", c.views[0], *c.values[1:], c.mem[0], op=op)
        got, want = c.run()[0], A.copy()
        if f is None:
            want[I % 2, I] = 5.0
        else:
            f.at(want, (I % 2, I), 5.0)
        np.testing.assert_array_equal(got, want)


def test_sizes_found_at_run_time():
    mask = A > 2.5
    u = Sym("u", 0, 6)
    for got, want in zip(one("nonzero", mask, sym=u), np.nonzero(mask)):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(one("compress", mask, A, sym=u), A[mask])
    np.testing.assert_array_equal(one("bincount", I.ravel(), dim=Dim.of(3)), np.bincount(I.ravel()))
    w = np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_array_equal(one("bincount", I.ravel(), w, dim=Dim.of(3)), np.bincount(I.ravel(), w))
    np.testing.assert_array_equal(one("searchsorted", w, A, side="right"), np.searchsorted(w, A, "right"))


def test_sorting():
    for prim, f in (("sort", np.sort), ("argsort", np.argsort)):
        np.testing.assert_array_equal(one(prim, A, axis=1, kind="stable"), f(A, 1, kind="stable"))
    np.testing.assert_array_equal(one("partition", A, axis=1, kth=1), np.partition(A, 1, 1))
    np.testing.assert_array_equal(one("argpartition", A, axis=1, kth=(0, 1)), np.argpartition(A, [0, 1], 1))


@relaxed
@given(arrays(max_rank=3), st.data())
def test_scans_and_argreductions(a, data):
    if a.ndim:
        axis = data.draw(st.integers(0, a.ndim - 1))
        np.testing.assert_array_equal(one("scan", a, op="add", axis=axis), np.cumsum(a, axis))
        np.testing.assert_array_equal(one("argreduce", a, op="argmin", axis=axis), np.argmin(a, axis))


@relaxed
@given(st.data())
def test_concat_and_pad(data):
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        shape[axis] = data.draw(st.integers(1, 3))
        parts.append(data.draw(arrays(shape=tuple(shape))))
    np.testing.assert_array_equal(one("concat", *parts, axis=axis), np.concatenate(parts, axis))
    low, high = (tuple(data.draw(st.integers(0, 2)) for _ in shape) for _ in "lh")
    c = Case(parts[-1])
    out = c.m.emit("pad", c.values[0], c.m.const(7.0, "f8"), low=low, high=high)
    np.testing.assert_array_equal(c.run(out)[0], np.pad(parts[-1], list(zip(low, high)), constant_values=7.0))


@pytest.mark.parametrize(
    "spec",
    ["i,i->", "ij,j->i", "i,ij->j", "ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "bi,bi->b", "i,j->ij", "ijk,lkj->il", "bij,bj->bi"],
)
def test_contractions(spec):
    sizes = dict(zip("bijkl", (2, 3, 4, 5, 3)))
    (x, y), out = spec.split("->")[0].split(","), spec.split("->")[1]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, [sizes[c] for c in s]).astype(float) for s in (x, y))
    batch = [c for c in x if c in y and c in out]
    inner = [c for c in x if c in y and c not in out]
    params = {
        "lhs_contract": tuple(x.index(c) for c in inner),
        "rhs_contract": tuple(y.index(c) for c in inner),
        "lhs_batch": tuple(x.index(c) for c in batch),
        "rhs_batch": tuple(y.index(c) for c in batch),
    }
    for left, right in ((a, b), (np.asfortranarray(a), b[..., ::-1][..., ::-1])):
        np.testing.assert_array_equal(one("dot_general", left, right, **params), np.einsum(spec, a, b))


def test_complex_parts():
    z = np.array([[1 + 2j, 3 - 4j]])
    np.testing.assert_array_equal(one("real_view", z), z.real)
    np.testing.assert_array_equal(one("imag", z), z.imag)
    np.testing.assert_array_equal(one("complex", A, A), A + 1j * A)
    c = Case(z)
    part = c.m.emit("imag_view", c.views[0])
    zero = c.m.emit("full", c.m.const(0.0, "f8"), dims=part.type.dims)
    c.mem[0] = c.m.emit("store", part, zero, c.mem[0])
    np.testing.assert_array_equal(c.run()[0], z.real)


def test_bits():
    np.testing.assert_array_equal(one("bitcast", A, dtype=np.dtype("i8")), A.view("i8"))
    np.testing.assert_array_equal(one("ldexp", A, np.arange(6).reshape(2, 3)), np.ldexp(A, np.arange(6).reshape(2, 3)))


def test_elements_of_memory():
    c = Case(A)
    i, j = c.m.const(1, "i8"), c.m.const(2, "i8")
    x = c.m.emit("item", c.views[0], c.mem[0], i, j)
    c.mem[0] = c.m.emit("store_item", c.views[0], c.m.const(-1.0, "f8"), c.mem[0], i, j)
    x, after = c.run(x)
    assert x == 8 and after[1, 2] == -1
    c = Case(A)
    beyond = c.m.emit("item", c.views[0], c.mem[0], c.m.const(2, "i8"), c.m.const(0, "i8"))
    with pytest.raises(IndexError):
        c.run(beyond)


def test_buffers():
    c = Case(A)
    dims, layout = c.values[0].type.dims, (1, 2)
    view, mem = c.m.emit("alloc", dtype=np.dtype("f8"), dims=dims, layout=layout)
    mem = c.m.emit("store", view, c.values[0], mem)
    flipped = c.m.emit("transpose", view, perm=(1, 0))
    c.mem.append(mem)
    buffer, t, copied, _ = c.run(view, flipped, c.m.emit("copy", c.values[0], layout=layout))
    assert buffer.flags.f_contiguous and copied.flags.f_contiguous and t.base is not None
    np.testing.assert_array_equal(buffer, A)
    np.testing.assert_array_equal(t, A.T)


NUMBERS = [0, 1, -1, 7, -8, 3, 2**40, -(2**40)]


@pytest.mark.parametrize("x", NUMBERS)
@pytest.mark.parametrize("y", NUMBERS)
def test_python_numbers(x, y):
    for prim, f in (("py_floordiv", operator.floordiv), ("py_mod", operator.mod)):
        for a, b in ((x, y), (float(x), float(y))):
            if b:
                got = one(prim, a, b)
                assert got == f(a, b) and math.copysign(1, got) == math.copysign(1, f(a, b))
    if x > 0 and abs(y) < 10:
        assert one("py_pow", float(x), float(y)) == float(x) ** float(y)
    assert one("py_round", x / 2) == round(x / 2)
    for prim, f in (("pow_checked", operator.pow), ("shl_checked", operator.lshift)):
        if 0 <= y < 100:
            got, over = one(prim, x, y)
            exact = f(x, y)
            assert over == (not -(2**63) <= exact < 2**63) and (over or got == exact)
    got, over = one("neg_checked", x)
    assert got == -x and not over


def test_libm_is_pythons():
    for name, arity in LIBM.items():
        for args in ((0.5, 2.0), (1.0, -1.5), (-0.25, 3.0)):
            try:
                want = getattr(math, name)(*args[:arity])
            except ValueError:
                continue
            assert one("libm", *args[:arity], name=name) == want
    assert math.isnan(one("libm", -1.0, name="sqrt")) and one("libm", 1e9, name="exp") == math.inf
    assert one("libm", 0.0, name="log") == -math.inf


@pytest.mark.parametrize("x", [3, -3])
def test_branches(x):
    c = Case(A, x)
    v, n = c.values
    positive = c.m.emit("gt", n, c.m.const(0, "i8"))
    view, mem = c.views[0], c.mem[0]
    inside = [v.type, MEM]
    then = c.body(inside, lambda a, s: (c.m.emit("neg", a), c.m.emit("store", view, c.m.emit("square", a), s)))
    other = c.body(inside, lambda a, s: (a, s))
    out, c.mem[0] = c.m.emit("cond", positive, v, mem, types=(v.type, MEM), regions=(then, other))
    got, after = c.run(out)
    np.testing.assert_array_equal(got, -A if x > 0 else A)
    np.testing.assert_array_equal(after, A * A if x > 0 else A)


def test_loops_that_leave():
    c = Case(100)
    (n,) = c.values

    def halve(i, x, k):
        one, two, three = (c.m.const(j, "i8") for j in (1, 2, 3))
        triple = c.m.emit("add", c.m.emit("mul", x, three), one)
        is_odd = c.m.emit("eq", c.m.emit("mod", x, two), one)
        x = c.m.emit("select", is_odd, triple, c.m.emit("floordiv", x, two))
        return c.m.emit("eq", x, one), x, c.m.emit("add", k, one)

    bounds = [c.m.const(j, "i8") for j in (0, 2**62, 1)]
    body = c.body([scalar("i8")] * 3, halve)
    last, steps = c.m.emit("loop", *bounds, n, c.m.const(0, "i8"), leaves=True, regions=(body,))
    assert c.run(last, steps) == (1, 25)


def test_calls():
    c = Case(4.0)
    inner = c.body([scalar("f8")], lambda x: c.m.emit("sqrt", x))
    assert c.run(c.m.emit("call", c.values[0], types=(scalar("f8"),), regions=(inner,))) == (2.0,)


def test_loop_that_swaps_buffers():
    x, y = np.arange(3.0), np.zeros(3)
    c = Case(x, y)
    (u, v), (mu, mv) = c.views, c.mem
    types = [scalar("i8"), u.type, MEM, v.type, MEM]

    def step(i, u, mu, v, mv):
        doubled = c.m.emit("add", c.m.emit("load", u, mu), c.m.emit("load", u, mu))
        return v, c.m.emit("store", v, doubled, mv), u, mu

    bounds = [c.m.const(k, "i8") for k in (0, 3, 1)]
    last, ml, _, mo = c.m.emit("loop", *bounds, u, mu, v, mv, regions=(c.body(types, step),))
    c.mem = [ml, mo]
    got, where, after_x, after_y = c.run(c.m.emit("load", last, ml), last)
    np.testing.assert_array_equal(got, 8 * np.arange(3.0))
    np.testing.assert_array_equal(where, got)
    assert after_y.tolist() == got.tolist() and after_x.tolist() == [0, 4, 8]


def test_library_calls():
    a = (("in", 0, "array"),)
    one_out = ("out", 0, "numpy")
    types = (scalar("f8"),)
    call = {"args": a, "kwargs": (("ord", ("const", 1)),), "result": one_out, "types": types, "syms": ()}
    ok, norm = one("extern_numpy", A, function="numpy.linalg.norm", **call)
    assert ok and norm == np.linalg.norm(A, 1)
    full = TensorType(np.dtype("f8"), (Dim.of(2), Dim.of(2)), (2, 1))
    named = ("named", "numpy.linalg._linalg.QRResult", ("out", 0, "array"), ("out", 1, "array"))
    ok, q, r = one(
        "extern_numpy", np.eye(2), function="numpy.linalg.qr", args=a, kwargs=(), result=named, types=(full, full), syms=()
    )
    assert ok
    np.testing.assert_array_equal(q @ r, np.eye(2))
    with pytest.raises(AttributeError):
        one("extern_numpy", A, function="numpy.no_such_function", **call)


def test_library_calls_that_give_something_else():
    u = Sym("u")
    found = TensorType(np.dtype("f8"), (Dim.of(u),), (1,))
    a = (("in", 0, "array"),)
    call = {"args": a, "kwargs": (), "result": ("out", 0, "array"), "syms": (u,)}
    x = np.array([3.0, 1.0, 3.0])
    ok, y = one("extern_numpy", x, function="numpy.unique", types=(found,), **call)
    assert ok and y.tolist() == [1.0, 3.0]
    for wrong in (np.dtype("f4"), np.dtype("i8")):
        ok, y = one("extern_numpy", x, function="numpy.unique", types=(TensorType(wrong, (Dim.of(u),), (1,)),), **call)
        assert not ok and y.shape == (0,)
    ok, y = one("extern_numpy", x, function="numpy.linalg.inv", types=(found,), **call)
    assert not ok
