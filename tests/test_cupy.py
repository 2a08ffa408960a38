"""Functions of CuPy's arrays: rules, results, in-place operations, library calls, streams."""

import math

import numpy as np
import pytest
from cupy_harness import HAS_GPU, array, check, numpy_of

import npcompile

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
RNG = np.random.default_rng(3)

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e-3, 7.25, -3.0])
FLOATS = ["float32", "float64"]


def floats(*shape, dtype="float64"):
    return RNG.normal(size=shape).astype(dtype)


def integers(*shape, dtype="int64", low=-50, high=50):
    return RNG.integers(0 if np.dtype(dtype).kind == "u" else low, high, shape).astype(dtype)


def pairs(dtype):
    dt = np.dtype(dtype)
    if dt.kind == "f":
        a, b = np.meshgrid(SPECIAL.astype(dt), SPECIAL.astype(dt))
        return a.ravel(), b.ravel()
    if dt.kind == "b":
        return np.array([True, False] * 6), np.array([True] * 6 + [False] * 6)
    return integers(40, dtype=dtype), integers(40, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float16", *FLOATS, "int8", "int32", "int64", "uint8", "uint64", "bool"])
def test_arithmetic(dtype):
    x, y = pairs(dtype)
    check(lambda x, y: (x + y, x * y, x / y, x == y, x < y, x >= y, x != y), x, y)
    check(lambda x, y: (cupy.absolute(x), cupy.logical_and(x, y), cupy.isnan(x)), x, y)
    p, q = (x, y) if HAS_GPU else (x + x.dtype.type(0), y + y.dtype.type(0))  # NumPy chooses other zeros
    check(lambda x, y: (cupy.maximum(x, y), cupy.minimum(x, y)), p, q)
    if dtype != "bool":
        check(lambda x, y: (x - y, -x, cupy.sign(x), cupy.square(x)), x, y)
        if HAS_GPU or np.dtype(dtype).kind != "f":  # by zero NumPy gives something else
            check(lambda x, y: x // y, x, y)
    if np.dtype(dtype).kind in "iu":
        check(lambda x, y: (x % y, x & y, x | y, x ^ y, ~x, x >> 2, x << 1, cupy.reciprocal(x)), x, y)
    if np.dtype(dtype).kind == "f":
        check(lambda x, y: (cupy.floor(x), cupy.ceil(x), cupy.trunc(x), cupy.rint(x)), x, y)
        check(lambda x, y: (cupy.fmax(x, y), cupy.fmin(x, y)), p, q)
        check(lambda x, y: (cupy.isinf(x), cupy.isfinite(x), cupy.signbit(x), cupy.heaviside(x, y), cupy.fabs(x)), x, y)
        check(lambda x, y: cupy.copysign(x, y), x, y)
        if HAS_GPU and dtype != "float16":
            check(lambda x: (cupy.deg2rad(x), cupy.rad2deg(x)), x)
        check(lambda x: (cupy.fmod(x, 2.5), cupy.sqrt(x)), np.abs(x))


@pytest.mark.parametrize("dtype", ["float16", *FLOATS, "int8", "int16", "int32", "uint16"])
def test_promotion_of_numbers(dtype):
    x = integers(12, dtype=dtype)
    check(lambda x, n, s: (x + 1, x * 2.5, 3 - x, x / 2, x == 1, x < 2.5, True + x, x**2, x.sum() * n, x * s), x, 3, 0.5)


@pytest.mark.parametrize("pair", [("int8", "uint8"), ("int32", "float32"), ("int64", "uint64"), ("float16", "int16")])
def test_promotion_of_arrays(pair):
    x, y = (integers(12, dtype=d) for d in pair)
    check(lambda x, y: (x + y, x * y, x / y, x < y, x == y, cupy.where(x > y, x, y), cupy.concatenate([x, y])), x, y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions(dtype):
    x = floats(257, 9, dtype=dtype)
    check(lambda x: (cupy.exp(x), cupy.expm1(x), cupy.exp2(x), cupy.sin(x), cupy.cos(x), cupy.tanh(x)), x, tolerance="ulp")
    check(lambda x: (cupy.log(x), cupy.log2(x), cupy.log10(x), cupy.log1p(x), cupy.cbrt(x)), np.abs(x) + 0.01, tolerance="ulp")
    check(lambda x: (cupy.arctan(x), cupy.sinh(x), cupy.cosh(x), cupy.arcsinh(x), cupy.tan(x)), x, tolerance="ulp")
    check(lambda x: (cupy.arcsin(x), cupy.arccos(x), cupy.arctanh(x)), np.clip(x, -0.9, 0.9), tolerance="ulp")
    check(lambda x, y: (cupy.arctan2(x, y), cupy.hypot(x, y), cupy.abs(x) ** y), x, floats(9, dtype=dtype), tolerance="ulp")


def test_special_functions():
    special = pytest.importorskip("cupyx.scipy.special")
    x = floats(9, 5)
    f = npcompile.jit(lambda x: special.erf(x) + 1, fullgraph=True, options={"compile": "first"})
    want = [[math.erf(v) + 1 for v in row] for row in x]
    np.testing.assert_allclose(numpy_of(f(array(x))), want, rtol=1e-15, atol=1e-15)


def test_numpys_functions_are_cupys():
    check(lambda x: (np.exp(x), np.add(x, 1), np.where(x > 0, x, 0.0)), floats(5, 4), tolerance="ulp")
    check(lambda x: (np.sum(x), np.mean(x, axis=0), np.concatenate([x, x]), np.reshape(x, (4, 5))), floats(5, 4), tolerance="sum")


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "uint8", "bool", "float16"])
def test_reductions(dtype):
    x = integers(6, 7, dtype=dtype, high=2) if dtype == "bool" else integers(6, 7, dtype=dtype)
    check(lambda x: (x.sum(), x.sum(0), x.sum(axis=1, keepdims=True), cupy.sum(x, axis=(0, 1))), x, tolerance="sum")
    check(lambda x: (x.max(), x.min(0), cupy.amax(x, axis=1), x.any(), x.all(1), cupy.count_nonzero(x)), x)
    check(lambda x: (x.mean(), x.mean(0), x.mean(axis=1, keepdims=True)), x, tolerance="sum")
    if dtype != "bool":
        check(lambda x: (x.argmax(), x.argmin(0), cupy.argmax(x, axis=1)), x)
    if dtype not in ("float16", "bool"):
        check(lambda x: (x.var(), x.std(0), x.var(axis=1, ddof=1)), x, tolerance="sum")
        check(lambda x: x[:3, :2].prod(), x, tolerance="sum")


def test_reductions_of_other_orders():
    x = floats(30, 20)
    check(lambda x: (x.sum(0), x.max(1), x.sum(), x.argmax(1)), np.asfortranarray(x), tolerance="sum")
    check(lambda x: (x.T.sum(0), x[::2].max(1), x[:, ::2].sum(1), x.T + 1), x, tolerance="sum")
    check(lambda x: (x.sum(1), x.max((0, 2)), x.sum(1, keepdims=True) + x), floats(5, 6, 7), tolerance="sum")


def test_nan_in_reductions():
    x = floats(5, 6)
    x[2, 3] = x[1, 4] = np.nan
    check(lambda x: (x.max(), x.min(1), x.argmax(), x.argmin(1), x.max(0)), x)


def test_shapes():
    x = floats(4, 6)
    check(lambda x: (x.reshape(8, 3), x.ravel(), x.T, x.transpose(1, 0), cupy.swapaxes(x, 0, 1), x.reshape(-1, 2) + 1), x)
    check(lambda x: (x[1:3, ::2], x[0], x[..., 1], x[-1, -1], x[None], x[::-1] * 2, cupy.expand_dims(x, 1)), x)
    check(lambda x: (x.shape, x.size, x.ndim, len(x), x.nbytes, x.dtype), x, whole=False)
    check(lambda x: (x.astype(cupy.float32), x.astype("int64"), x.copy(), x.flatten(), cupy.stack([x, x], axis=1)), x)
    check(lambda x: (cupy.broadcast_to(x[0], (3, 6)) + x[:3], cupy.squeeze(x[:1]), cupy.moveaxis(x, 0, 1) * 2), x)
    check(lambda x: (cupy.zeros_like(x), cupy.ones((2, 3)) + x[0, 0], cupy.full_like(x, 2), x + cupy.arange(6)), x)
    check(lambda x: (cupy.clip(x, -0.5, 0.5), x.clip(0, 1), cupy.where(x > 0, x, 0)), x)


def test_views_share_memory():
    f = npcompile.jit(lambda x: (x + 1, x[1:], x), fullgraph=True, options={"compile": "first"})
    x = array(floats(4, 5))
    out = f(x)
    assert out[2] is x and out[1].data.ptr == x.data.ptr + x.strides[0]
    assert all(type(v) is cupy.ndarray for v in out)


def test_in_place():
    def f(x, y):
        x += y
        x[1:] *= 2.0
        x[0] = 3.0
        x[:, 2] = x[:, 1]
        x[x > 4] = 0
        return x

    check(f, floats(4, 5), floats(5))


def test_loops_and_branches():
    def f(x, n):
        for i in range(n):
            x = x * 0.5 + i
        if x.sum() > 10:
            return x - 1
        return x + 1

    check(f, floats(4, 5), 3)
    check(f, floats(4, 5) + 100, 3)
    check(lambda x: (float(x.sum()), int(x.argmax()), x.max().item()), floats(9), tolerance="sum")


def test_library_calls():
    def f(x, y):
        return cupy.tanh(x @ y + 1.0) * 2, x.dot(y[:, 0]) - 1

    x, y = floats(6, 7), floats(7, 5)
    if HAS_GPU:
        check(f, x, y, tolerance="contraction")
        check(lambda x: (cupy.cumsum(x * 2, axis=1) + 1, x.cumsum(), cupy.sort(x, 0) * 2, x.argsort(1)), x, tolerance="sum")
        i = np.array([[0, 3], [-1, 2]])
        check(lambda x, i: (x.take(i, axis=1) * 2, x[i], (x + 1)[:, i] * 2), x, i)


@pytest.mark.skipif(not HAS_GPU, reason="there is no GPU")
def test_numpy_arrays_beside_are_cupys_own_matter():
    f = npcompile.jit(lambda x, a: x + a, options={"compile": "first"})
    with pytest.raises(TypeError):
        f(array(floats(3)), np.ones(3))
    g = npcompile.jit(lambda x: (x * 2, np.zeros(2)), options={"compile": "first"})
    assert type(g(array(floats(3)))[1]) is np.ndarray


@pytest.mark.skipif(not HAS_GPU, reason="there is no GPU")
def test_current_stream():
    f = npcompile.jit(lambda x: x * 2.0 + 1.0, fullgraph=True, options={"compile": "first"})
    f(cupy.ones(1 << 22))
    s = cupy.cuda.Stream(non_blocking=True)
    with s:
        y = cupy.ones(1 << 22)
        z = f(y)
    s.synchronize()
    assert (numpy_of(z) == 3.0).all() and f.stats.plain_calls == 0


@pytest.mark.skipif(not HAS_GPU, reason="there is no GPU")
def test_twice_the_same_bits():
    f = npcompile.jit(lambda x: (x.sum(), (x * x).mean(0), cupy.exp(x).sum(1)), fullgraph=True, options={"compile": "first"})
    x = cupy.asarray(floats(3000, 700))
    for a, b in zip(f(x), f(x), strict=True):
        assert (a == b).all()


@pytest.mark.skipif(not HAS_GPU, reason="there is no GPU")
def test_without_torch():
    """A process with CuPy and Triton, and no torch."""
    import subprocess
    import sys

    text = """
import sys
sys.modules["torch"] = None
import cupy, npcompile
f = npcompile.jit(lambda x: cupy.exp(x).sum(), fullgraph=True, options={"compile": "first"})
x = cupy.arange(10.0)
assert abs(float(f(x)) - float(cupy.exp(x).sum())) < 1e-9 and f.stats.plain_calls == 0
"""
    subprocess.run([sys.executable, "-P", "-c", text], check=True)
