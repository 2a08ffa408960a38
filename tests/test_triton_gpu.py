"""Functions of CUDA tensors against eager torch, on a GPU."""

import importlib.util

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)
if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed", allow_module_level=True)
import torch
from devices import need_gpu

import npcompile
import npcompile.testing

need_gpu()

EPS = {torch.float32: 2.0**-23, torch.float64: 2.0**-52, torch.float16: 2.0**-10}


def normal(*shape, dtype=torch.float32):
    return torch.randn(shape, device="cuda", dtype=torch.float64).to(dtype)


def check(f, *args, units=64.0, exact=False):
    """The compiled function gives what eager torch gives in float64, in the dtype and shape of eager torch."""
    jitted = npcompile.jit(f, fullgraph=True, options={"compile": "first"})
    copies = [x.clone() if isinstance(x, torch.Tensor) else x for x in args]
    got = jitted(*args)
    again = jitted(*copies)
    torch.cuda.synchronize()
    assert jitted.stats.plain_calls == 0 and jitted.stats.hits == 2
    want = f(*(x.clone() if isinstance(x, torch.Tensor) else x for x in args))
    wide = f(*(x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in args))
    for g, a, w, d in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, again, want, wide)), strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape and g.device == w.device and g.stride() == w.stride()
        torch.testing.assert_close(g, a, rtol=0, atol=0, equal_nan=True)
        if exact or not g.is_floating_point():
            torch.testing.assert_close(g, w, rtol=0, atol=0, equal_nan=True)
        elif g.numel():
            scale = max(float(d.abs().max()), 1e-300)
            assert float((g.double() - d.double()).abs().max()) <= units * EPS[g.dtype] * scale
    return jitted


SHAPES = [(5, 7), (3, 20000), (1000, 37), (4096, 333), (1, 1000000), (1000000, 3), (2, 3, 300), (64, 16384), (40, 32768)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions(shape, dtype):
    x = normal(*shape, dtype=dtype)
    for dim in (0, -1):
        check(lambda x, dim=dim: (x.sum(dim), x.mean(dim), torch.amax(x, dim), torch.logsumexp(x, dim)), x, units=2000)
        check(lambda x, dim=dim: torch.softmax(x, dim), x)
        check(lambda x, dim=dim: (x.argmax(dim), (x > 0).any(dim)), x)
    check(lambda x: (x.sum(), x.mean(), x.amax()), x, units=1e5)
    check(lambda x: torch.nn.functional.layer_norm(x, (x.shape[-1],)), x, units=2000)


def test_pointwise():
    a, b, c = normal(100, 130), normal(130), normal(100, 1)
    check(lambda a, b, c: torch.exp(a * b + c) / (1 + torch.sqrt(a.abs())), a, b, c)
    check(lambda a, b, c: a * b + c, a.t(), normal(130, 1), normal(100), exact=True)
    check(lambda a: (a[::2, ::3] * 2, a[:, 5] + 1, a > 0), a, exact=True)
    check(lambda a, b: torch.where(a > 0, a, b), a, b, exact=True)
    check(lambda a: a + 1.5, normal(0, 3), exact=True)


def test_stores():
    x, y = normal(50, 60), normal(50, 60)
    z = x.clone()

    def f(x, y):
        x.mul_(2)
        x[1:-1] += y[1:-1]
        x[:, 0] = 0.5
        return x.sum(1)

    before = x._version
    jitted = npcompile.jit(f, fullgraph=True, options={"compile": "first"})
    got, want = jitted(x, y), f(z, y)
    assert jitted.stats.hits == 1 and x._version > before
    torch.testing.assert_close(x, z, rtol=0, atol=0)
    torch.testing.assert_close(got, want)


def test_large_offsets():
    """More than 2^31 elements: offsets need 64 bits."""
    x = torch.zeros((1 << 16) + 3, 1 << 15, device="cuda", dtype=torch.int8)
    x[-1] = 3
    check(lambda x: x + 1, x, exact=True)
    check(lambda x: x.sum(1), x, exact=True)


def test_streams():
    x = normal(1000, 1000)
    f = npcompile.jit(lambda x: torch.softmax(x, 1), fullgraph=True, options={"compile": "first"})
    want = f(x)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        y = x
        for _ in range(20):
            y = y * 1.0
        got = f(y)
    stream.synchronize()
    torch.testing.assert_close(got, want, rtol=0, atol=0)


def test_scalars():
    x = normal(1000)
    f = npcompile.jit(lambda x: x * float(x.sum()), options={"compile": "first"})
    scale = float(x.abs().max() * x.abs().sum())
    assert npcompile.testing.difference(x * float(x.sum()), f(x), "sum", scale) is None
