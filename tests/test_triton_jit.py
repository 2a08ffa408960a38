"""Jitted functions through Triton kernels, run by Triton's interpreter on NumPy's memory, against plain NumPy."""

import numpy as np
import pytest
import triton_harness  # noqa: F401  (skips without Triton)
from devices import need_interpreter
from npcompile.lowering import LoweringError

import npcompile
from npcompile import compiler
from npcompile.runtime import gpu
from npcompile.testing import compare_calls

RNG = np.random.default_rng(7)
need_interpreter()


@pytest.fixture(autouse=True)
def same_operands():
    """The order of tests does not matter."""
    RNG.bit_generator.state = np.random.default_rng(7).bit_generator.state


class Watch:
    """What compiling and launching did."""

    def __init__(self, monkeypatch):
        self.records, self.launched = [], []
        attempt, call = compiler.attempt, gpu.Interpreted.__call__
        monkeypatch.setattr(compiler, "attempt", lambda *a: self.records.append(attempt(*a)) or self.records[-1])

        def launch(launcher, k, *rest):
            self.launched.append(launcher.kernels[k])
            return call(launcher, k, *rest)

        monkeypatch.setattr(gpu.Interpreted, "__call__", launch)


@pytest.fixture
def watch(monkeypatch):
    return Watch(monkeypatch)


def check(watch, f, *args, tolerance="ulp", scale=0.0, launches=None):
    """Results as NumPy's, everything compiled, kernels launched."""
    jitted = npcompile.jit(f, backend="triton", fullgraph=True, options={"compile": "first"})
    before = len(watch.launched)
    text = compare_calls(f, jitted, args, tolerance, scale, warnings=False)
    assert text is None, text
    assert jitted.stats.plain_calls == 0 and jitted.stats.hits == 1
    count = len(watch.launched) - before
    assert count == launches if launches is not None else count > 0
    return watch.records[-1].lowered


def floats(*shape, dtype=np.float64):
    return RNG.normal(size=shape).astype(dtype)


# ---------------------------------------------------------------------------------------------- pointwise


def chain(a, b, c):
    return np.exp(a * b + c) / (1 + np.sqrt(np.abs(a))) - np.where(a > b, c, np.sin(c))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_chain_is_one_kernel(watch, dtype):
    check(watch, chain, *(floats(37, 53, dtype=dtype) for _ in range(3)), launches=1)


def test_strides_and_broadcasting(watch):
    a, b, c = floats(20, 31), floats(31), floats(20, 1)
    check(watch, chain, a, b, c)
    check(watch, chain, a[::2, ::-3], floats(11, 10).T, c[:10])
    check(watch, chain, a.T, floats(31, 1), floats(20))
    check(watch, lambda a, b, c: a * b + c, a.T, floats(31, 1), floats(20), tolerance="exact", launches=1)
    check(watch, chain, a, 2.5, b)
    check(watch, chain, a, b, floats(3, 20, 31))


def test_constants(watch):
    """Every constant keeps its bits."""
    x = floats(20)
    for c in (-0.0, np.nan, -np.inf, 1e-310, 0.1, -3):
        check(watch, lambda x, c=c: (np.copysign(x, c), x * c, np.where(x > 0, x, c)), x, tolerance="exact")


def test_several_results(watch):
    check(watch, lambda x, y: (x + y, x * y > 0, (x - y).astype(np.int32)), floats(40), floats(40), launches=1)


def test_stores(watch):
    def stores(x, y, m):
        x[1:-1] *= 2
        x[:, 0] = y
        x[m] = -1.0
        x[2, 3] += y[0]
        x[0] = x[1]

    check(watch, stores, floats(9, 12), floats(9), RNG.random((9, 12)) < 0.3)

    def overlapping(x):
        x[1:] = x[:-1] + 1
        return x.sum()

    check(watch, overlapping, np.arange(30), tolerance="exact")


def test_integers_and_bools(watch):
    def ints(a, b):
        return a // b, a % b, a << 2, a ^ b, np.maximum(a, b), a == b

    for t in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        check(watch, ints, RNG.integers(0, 100, 50).astype(t), RNG.integers(1, 9, 50).astype(t), tolerance="exact", launches=1)
    m = RNG.random(50) < 0.5
    check(watch, lambda m, n: (m & n, m | ~n, m + n, m.astype(np.float32)), m, m[::-1].copy(), tolerance="exact", launches=1)


def test_joins_and_indices(watch):
    x = floats(12, 7)
    check(watch, lambda x: np.concatenate([x, x[::-1] + 1, x[:1]]), x, tolerance="exact")
    check(watch, lambda n, x: np.arange(n) * x[0, 0], 17, x, tolerance="exact")


def test_empty_arrays(watch):
    check(watch, lambda x: x + 1, floats(0, 3), launches=0)
    check(watch, lambda x: x.sum(axis=1), floats(4, 0), tolerance="exact")
    check(watch, lambda x: x.sum(axis=0), floats(4, 0), tolerance="exact", launches=0)


def test_loops(watch):
    def jacobi(u, n):
        for _ in range(n):
            u[1:-1] = (u[:-2] + u[2:]) * 0.5
        return u

    check(watch, jacobi, floats(30), 4, tolerance="exact")

    def newton(x, n):
        y = x
        for _ in range(n):
            y = 0.5 * (y + x / y)
        return y

    check(watch, newton, np.abs(floats(30)) + 1, 5, tolerance="exact")

    def until(x):
        n = 0
        while x.max() > 1:
            x = x / 2
            n += 1
        return x, n

    jitted = npcompile.jit(until, backend="triton", options={"compile": "first"})
    assert compare_calls(until, jitted, (np.abs(floats(30)) * 9,), "exact", warnings=False) is None


# ---------------------------------------------------------------------------------------------- reductions

SHAPES = [(5, 7), (3, 10000), (3, 20000), (100, 37), (1000, 37), (700, 1), (1, 700), (2, 3, 300)]
"""Rows at once, in chunks, in parts; columns at once, in chunks, in parts."""


def magnitude(x):
    return float(np.abs(x.astype(np.float64)).sum())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda t: t.__name__)
def test_sums(watch, shape, dtype):
    x = floats(*shape, dtype=dtype)
    for axis in (None, 0, -1, (0, 1)):
        check(watch, lambda x, axis=axis: x.sum(axis=axis), x, tolerance="sum", scale=magnitude(x))
        check(watch, lambda x, axis=axis: (x * x).mean(axis=axis, keepdims=True), x, tolerance="sum", scale=magnitude(x * x))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_other_reductions(watch, shape):
    x = RNG.integers(-9, 9, shape)
    y = x.astype(np.float64)
    y[RNG.random(shape) < 0.001] = np.nan
    small = x.astype(np.int8), x.astype(np.uint64), x.astype(np.float16)

    def reductions(x, y, axis):
        a = x.max(axis), x.min(axis), x.sum(axis), x.prod(axis), x.argmax(axis)
        return (
            *a,
            y.max(axis),
            y.min(axis),
            y.argmax(axis),
            y.argmin(axis),
            (x > 8).any(axis),
            (x > -9).all(axis),
            (x > 8).sum(axis),
        )

    for axis in (0, -1, None):
        check(watch, lambda x, y, axis=axis: reductions(x, y, axis), x, y, tolerance="exact")
    check(
        watch, lambda a, b, c: (a.max(-1), a.argmin(-1), b.min(0), b.argmax(0), c.max(0), c.argmax(-1)), *small, tolerance="exact"
    )


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax0(x):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def layer_norm(x):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def logsumexp(x):
    m = x.max(axis=-1)
    return m + np.log(np.exp(x - m[..., None]).sum(axis=-1))


def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


@pytest.mark.parametrize("f", [softmax, softmax0, layer_norm, logsumexp, standardise], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", SHAPES[:5], ids=str)
def test_rows_with_epilogue(watch, f, shape):
    x = floats(*shape)
    low = check(watch, f, x, tolerance="sum", scale=16.0 if f in (logsumexp, standardise) else 1.0)
    fused = [k for k in low.device_kernels if len(k.ops) >= 4]
    assert fused, [k.ops for k in low.device_kernels]
    if shape == (5, 7):
        assert len(watch.launched) == 1


def test_rows_in_place(watch):
    def f(x):
        x -= x.max(axis=1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(axis=1, keepdims=True)

    for shape in ((5, 7), (3, 10000), (3, 20000)):
        check(watch, f, floats(*shape), tolerance="sum", scale=1.0)


def test_scalars_stay_on_the_device(watch):
    def f(x):
        return (x - x.mean()) / x.std()

    check(watch, f, floats(40, 50), tolerance="sum", scale=10.0)
    check(watch, lambda x: x * float(x.sum()), floats(50), tolerance="sum", scale=100.0)
    check(watch, lambda x: x[3] + x.max(), floats(50), tolerance="exact")


def test_two_runs_give_the_same_bits(watch):
    x = floats(3, 20000, dtype=np.float32)
    f = npcompile.jit(lambda x: (x.sum(), x.sum(axis=0), x.sum(axis=1)), backend="triton", options={"compile": "first"})
    for a, b in zip(f(x), f(x.copy()), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_has_no_kernel_runs_plain(watch):
    f = npcompile.jit(lambda x: x * 2j, backend="triton", options={"compile": "first"})
    x = floats(5)
    np.testing.assert_array_equal(f(x), x * 2j)
    assert f.stats.hits == 0 and not watch.launched
    assert "no-triton" in watch.records[-1].declined


def test_the_interpreter_has_to_be_asked_for(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    gpu._warn_once.cache_clear()
    f = npcompile.jit(lambda x: x + 3, backend="triton", options={"compile": "first"})
    with pytest.warns(npcompile.NpcompileWarning, match="TRITON_INTERPRET=1"):
        np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 4.0))
    assert f.stats.hits == 0


def test_a_device_may_be_missing():
    """Said once; functions of NumPy arrays are compiled for the CPU."""
    gpu._warn_once.cache_clear()
    f = npcompile.jit(lambda x: x + 7, device="cuda", options={"compile": "first"})
    with pytest.warns(npcompile.NpcompileWarning, match="are compiled for the CPU: "):
        np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 8.0))
    assert f.stats.hits == 1 and f.stats.plain_calls == 0


def test_a_kernel_that_does_not_compile_leaves_the_function_plain(watch, monkeypatch):
    """Nothing was stored yet: the call runs plain, as do all that follow, and explain says why."""
    from npcompile.lowering.triton import driver

    def fail(kernel):
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(driver, "interpreted", fail)

    def f(x):
        x += 1
        return x * 2.0

    jitted = npcompile.jit(f, backend="triton", options={"compile": "first"})
    x = np.zeros(4)
    for n in (1, 2):
        np.testing.assert_array_equal(jitted(x), np.full(4, 2.0 * n))
    assert jitted.stats.plain_calls == 2 and "PassManager::run failed" in watch.records[-1].declined


def test_triton_may_be_missing(watch, monkeypatch):
    """What to install is said; the call runs plain."""
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    f = npcompile.jit(lambda x: x + 5, backend="triton", options={"compile": "first"})
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 6.0))
    assert "pip install 'npcompile[gpu]'" in watch.records[-1].declined
    gpu._warn_once.cache_clear()
    with pytest.raises(LoweringError, match="triton-missing"), pytest.warns(npcompile.NpcompileWarning, match="pip install"):
        gpu.require("cuda:0")
    with pytest.raises(npcompile.UnsupportedError, match="pip install"):
        npcompile.jit(lambda x: x + 6, backend="triton", fullgraph=True)(np.ones(3))
