"""Products through `jit`, bit for bit what NumPy gives: every dtype, every way operands can lie in memory, loops, aliasing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from npcompile.lowering import blas

import npcompile
from npcompile.testing import compare_calls, difference

RNG = np.random.default_rng(11)


def sample(shape, dtype):
    """Random values; integers over their whole range, so that products wrap round."""
    dt = np.dtype(dtype)
    if dt.kind in "iu":
        info = np.iinfo(dt)
        return RNG.integers(info.min, info.max, shape, dt, endpoint=True)
    x = RNG.standard_normal(shape) * 4
    return (x + 1j * RNG.standard_normal(shape) if dt.kind == "c" else x > 3 if dt.kind == "b" else x).astype(dt)


def samples(dtype, *shapes):
    return [sample(s, dtype) for s in shapes]


def clone(args):
    return [np.copy(x, order="K") if isinstance(x, np.ndarray) else x for x in args]


def compiled(fn, *args):
    """The report of a call that must be compiled throughout and must give NumPy's bits, in its results and arguments."""
    mine, theirs = clone(args), clone(args)
    report = npcompile.explain(fn, *mine)
    assert len(report.segments) >= 1 and report.graph_breaks == [] and report.backend == "C++", str(report)
    assert difference(fn(*theirs), report.result) is None
    assert difference(theirs, mine) is None
    return report


def mixed(a, b, x):
    return a @ b, a @ x, x @ b, x @ x, a @ a.T, a.T @ a, np.dot(a, b), np.dot(b, x), np.dot(x, x), np.inner(a, b), np.vdot(a, b)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i1", "i8", "u2", "u4", "?", "f2"])
def test_dtypes(dtype):
    f = npcompile.jit(mixed)
    for n in (2, 9, 40):
        args = samples(dtype, (n, n), (n, n), (n,))
        if n == 2:
            compiled(mixed, *args)
        assert compare_calls(mixed, f, args) is None
    assert f.stats.compiles == 1


def windows(a, b, x):
    """All kinds of strides; a and b are square."""
    m = a[::2]
    return (
        m @ b, a[:, ::-1] @ b, a[1:, 1:] @ b[1:], a[:, ::2] @ b[::2], a[::2].T @ m, m @ m.T, a[::-1] @ a[::-1].T, a.T @ b.T,
        a @ x[::-1], a[::2, ::2] @ x[::2], x[::2] @ b[::2], x[::-1] @ x, np.broadcast_to(x, b.shape) @ b,
        np.dot(m, b), np.dot(a[:, ::-1], b), np.dot(a[1:, 1:], b[1:]), np.dot(m, m.T), np.dot(a.T, a), np.dot(a, x[::-1]),
        np.dot(x[::2], b[::2]), np.dot(a[::2, ::2], x[::2]), np.dot(np.broadcast_to(x, b.shape), b),
        np.dot(a, np.broadcast_to(x[0], x.shape)), np.inner(m, b), np.inner(a[:, ::2], x[::2]), np.diagonal(a) @ b,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "c8", "i4"])
def test_windows(dtype):
    f = npcompile.jit(windows)
    compiled(windows, *samples(dtype, (7, 7), (7, 7), (7,)))

    @settings(max_examples=15, deadline=None, derandomize=True, database=None)
    @given(st.integers(5, 40))
    def sizes(n):
        assert compare_calls(windows, f, samples(dtype, (n, n), (n, n), (n,))) is None

    sizes()
    assert f.stats.compiles == 1


def pair(a, b):
    return a @ b, b.T @ a.T, np.dot(a, b), np.dot(b.T, a.T), a @ b[:, 0], np.dot(a, b[:, 0])


def test_inputs_in_other_orders():
    a, b = samples("f8", (6, 5), (5, 8))
    wide, deep = samples("f8", (12, 10), (5, 16))
    for x, y in ((np.asfortranarray(a), b), (wide[::2, ::2], np.asfortranarray(b)), (wide[11:5:-1, 4::-1], deep[:, ::2])):
        f = npcompile.jit(pair)
        compiled(pair, x, y)
        assert difference(pair(x, y), f(x, y)) is None


@pytest.mark.parametrize(
    "sizes", [(1, 4, 3), (4, 1, 3), (4, 3, 1), (1, 1, 3), (1, 4, 1), (4, 1, 1), (1, 1, 1), (0, 3, 2), (3, 0, 2), (3, 2, 0)]
)
def test_sizes_0_and_1(sizes):
    def both(a, b, x, y):
        return a @ b, b.T @ a.T, a @ x, y @ a, np.dot(a, b), np.dot(b.T, a.T), np.dot(a, x), np.dot(y, a), x @ x, np.dot(x, x)

    m, n, p = sizes
    compiled(both, *samples("f8" if m else "c8", (m, n), (n, p), (n,), (m,)))


def test_more_axes():
    def more(a, b, c, m, x):
        return (
            a @ b, a @ c, a @ m, m.T @ b, a @ x, x @ c, np.dot(a, m), np.dot(m, c), np.dot(a, x), np.dot(x, c), np.inner(c, a),
            np.inner(a, x), a.swapaxes(1, 2) @ b.swapaxes(1, 2), a[:, ::-1] @ m, a[0] @ c[1],
        )  # fmt: skip

    for dtype in ("f8", "c16", "u1"):
        compiled(more, *samples(dtype, (3, 4, 4), (1, 4, 4), (2, 1, 4, 4), (4, 4), (4,)))
    empty = samples("f4", (0, 4, 4), (1, 4, 4), (2, 1, 4, 4), (4, 4), (4,))

    def slices(a, b, c, m, x):
        return a @ b, a @ m, np.dot(a, m), np.inner(a, x)

    compiled(slices, *empty)


def test_operands_and_results_that_are_expressions():
    def f(a, b, x):
        s = a + 1
        scale = x @ x
        p = s @ (b * 2).T
        return (
            s.T @ s,
            p / scale,
            np.maximum(p, 0) @ x,
            (a @ b) @ x - x,
            (s * 2)[1:] @ b,
            np.dot(x - 1, b.T) * scale,
            a @ (b[0] + x),
        )

    compiled(f, *samples("f8", (6, 6), (6, 6), (6,)))
    compiled(f, *samples("i2", (6, 6), (6, 6), (6,)))


def test_operands_overwritten_later_and_earlier():
    def f(a, b, x):
        t = a.T
        old = a @ b
        a[0] = 5
        new = t @ b
        x[:] = a @ x
        x += 1
        y = x.copy()
        x[1:] = 0
        return old, new, y @ a, x @ a, a[1:] @ b

    compiled(f, *samples("f8", (6, 6), (6, 6), (6,)))


def test_results_into_operands():
    def f(a, b, c, o):
        np.matmul(a, b, out=a)
        b[:] = b @ b
        c @= a
        np.dot(a, b, out=o)
        o[::2] = a[::2] @ b
        o[:, 0] = a @ o[:, 0]
        return np.matmul(a, b, out=o)

    r = compiled(f, *samples("f8", (5, 5), (5, 5), (5, 5), (5, 5)))
    assert r.result is not None
    compiled(f, *samples("c8", (5, 5), (5, 5), (5, 5), (5, 5)))


def test_power_iteration_takes_its_memory_before_the_loop():
    def power(a, x, n):
        for _ in range(n):
            y = a @ x
            x = y / np.sqrt(y @ y)
        return x, x @ a @ x

    for dtype in ("f8", "f4"):
        a, x = samples(dtype, (20, 20), (20,))
        r = compiled(power, a @ a.T, x, 30)
        assert r.allocations_in_loops == 0 and r.copies_in_loops == 0


def test_products_in_loops():
    def f(a, b, x, n):
        s = 0.0
        t = a.T
        for k in range(n):
            b = a @ b * 0.1
            x[:] = np.dot(t, x)
            x /= 10.0
            a[1:] /= 2.0
            s += b[k % 3] @ x
            a[k % 3, :] = b[:, ::2] @ x[::2]
            b[:, 0] = a[::-1, ::-1] @ x
        return b, s

    args = samples("f8", (6, 6), (6, 6), (6,))
    compiled(f, *args, 7)
    g = npcompile.jit(f)
    for n in (7, 0, 1, 2):
        assert compare_calls(f, g, (*args, n)) is None

    def rows(a, b):
        out = np.empty((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            out[i] = a[i] @ b
        for i in range(a.shape[0]):
            out[i, 0] = np.dot(a[i], b[:, i % 2])
        return out

    assert compiled(rows, *samples("f8", (9, 4), (4, 3))).allocations_in_loops == 0


def conditions(a, b):
    return a @ b, np.dot(a, b), a[0] @ b, np.inner(a, b), a[0] @ b[0]


@pytest.mark.parametrize("dtype", ["f8", "c8", "f2"])
def test_conditions(dtype):
    top = np.finfo(dtype).max
    f = npcompile.jit(conditions)
    for x, y in ((2, 3), (top, top), (np.inf, 0), (np.nan, 1)):
        a, b = np.full((4, 4), x, dtype), np.full((4, 4), y, dtype)
        assert compare_calls(conditions, f, (a, b)) is None
    assert f.stats.plain_calls == 0


def test_without_blas_numpy_is_called(monkeypatch):
    monkeypatch.setattr(blas.libraries, "blas_interface", lambda: "")

    def f(a, b, x, n):
        y = (a + 1) @ b.T
        for _ in range(n):
            x = a @ x / 2
        return a @ b, y, x @ x, x, np.dot(a[::2], x)

    args = samples("f8", (4, 4), (4, 4), (4,))
    mine = npcompile.explain(f, *args, 3)
    assert len(mine.segments) == 1 and mine.graph_breaks == [] and "call_python(ctx" in mine.source
    assert difference(f(*args, 3), mine.result, "contraction", 10.0) is None
    g = npcompile.jit(conditions)
    for x in (1.0, 1e308, np.inf):
        a = np.full((4, 4), x) * [[0, 1, 1, 1]] if x != np.inf else np.diag([x] * 4)
        assert compare_calls(conditions, g, (a, a), "contraction") is None
