"""Tensors of a CUDA device: guards, results, in-place operations, streams and devices, against eager torch."""

import threading

import pytest
from devices import need_gpu
from torch_harness import assert_compiled, check, compiled, tensor

import npcompile

torch = pytest.importorskip("torch", reason="torch is not installed")
need_gpu()
F = torch.nn.functional


def on_device(*args):
    return [a.cuda() if isinstance(a, torch.Tensor) else a for a in args]


def check_all(fn, calls, tolerance="exact"):
    jitted = compiled(fn)
    for args in calls:
        check(jitted, on_device(*args), tolerance)
    assert_compiled(jitted)
    return jitted


def arithmetic(x, y):
    return x * y + 1.0, x - y, x / y, -x, x < y, torch.where(x > y, x, y), x.abs().sqrt(), x.clamp(-1, 1), x.maximum(y)


def functions(x):
    return x.exp(), x.sin(), x.tanh(), torch.sigmoid(x), x.abs().log1p(), torch.erf(x)


def reductions(x):
    return x.sum(), x.sum(0), x.sum(1, keepdim=True), x.mean(), x.var(0), torch.softmax(x, 1), x.logsumexp(1), x.log_softmax(0)


def extremes(x):
    return x.amax(), x.amin(0), x.amax(1, keepdim=True), (x > 0).any(), (x > 0).all(1), (x > 0).sum()


def network(x, w, b):
    return F.layer_norm(F.gelu(x), x.shape[-1:], w, b), F.silu(x), F.relu(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elementwise(dtype):
    for shape in ((7,), (3, 5), (1000, 33), (0, 4)):
        x, y = tensor(shape, dtype, 1), tensor(shape, dtype, 2)
        check_all(arithmetic, [[x, y]])
    check_all(functions, [[tensor((257, 9), dtype)]], "ulp")


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float16", "bool"])
def test_other_dtypes(dtype):
    x, y = tensor((30, 4), dtype, 1), tensor((4,), dtype, 2)
    check_all(lambda x, y: (x + y, x * y, x == y, x.float() * 2.0, x.sum()), [[x, y]], "sum")


def test_strides_and_broadcasting():
    x, y = tensor((6, 8), seed=1), tensor((8,), seed=2)
    check_all(lambda x, y: (x + y, x[:, ::2] * 2.0, x.t() - y[:, None]), [[x, y], [x.t().contiguous().t(), y]])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions(dtype):
    calls = [[tensor(s, dtype)] for s in ((5, 7), (300, 1000), (1000, 3))]
    check_all(reductions, calls, "sum")
    check_all(extremes, calls)


def test_network():
    check_all(network, [[tensor((64, 96)), tensor((96,), seed=1), tensor((96,), seed=2)]], "sum")


def test_in_place():
    def f(x, y):
        x += y
        x[1:] *= 2.0
        x[0] = 3.0
        return x

    check_all(f, [[tensor((4, 5)), tensor((5,), seed=1)]])
    x = tensor((4, 5)).cuda()
    before = x._version
    assert compiled(f)(x, x[0].clone()) is x and x._version > before


def test_results_live_on_the_device():
    f = compiled(lambda x: (x * 2.0, x[1:], x.sum(), torch.zeros_like(x)))
    x = tensor((4, 5)).cuda()
    for r in f(x):
        assert r.device == x.device and type(r) is torch.Tensor
    assert f(x)[1].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert_compiled(f)


def test_numbers_come_back():
    check_all(lambda x: (x.sum().item() > 0, float(x.max())), [[tensor((9,))]], "sum")


def test_current_stream():
    """The kernels stand in the queue of the caller's stream."""
    f = compiled(lambda x: x * 2.0 + 1.0)
    x = torch.ones(1 << 22, device="cuda")
    f(x).add_(1.0)  # kernels of torch are loaded at their first use, which waits
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        y = torch.ones(1 << 22, device="cuda")
        torch.cuda._sleep(50_000_000)
        y.add_(1.0)
        z = f(y)
    assert not s.query()
    s.synchronize()
    assert (z == 5.0).all()
    assert_compiled(f)


def test_other_threads():
    f = compiled(lambda x: x * 2.0 + 1.0)
    x = torch.ones(1000, device="cuda")
    f(x)
    got = []
    g = compiled(lambda x: x - 1.0)
    t = threading.Thread(target=lambda: got.extend((g(x), f(x))))  # the first kernel of one is made in the thread
    t.start()
    t.join()
    assert (got[1] == 3.0).all() and (got[0] == 0.0).all()
    assert_compiled(f)
    assert_compiled(g)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there is one CUDA device")
def test_devices_other_than_the_current_one():
    f = compiled(lambda x: (x * 2.0 + 1.0, x.sum()))
    x, y = torch.ones(1000, device="cuda:0"), torch.ones(1000, device="cuda:1")
    for _ in range(2):
        for z in (x, y):
            a, b = f(z)
            assert a.device == b.device == z.device and (a == 3.0).all() and b == 1000
            assert torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        assert (f(y)[0] == 3.0).all() and (f(x)[0] == 3.0).all()
    assert_compiled(f)


def test_layers_are_one_segment():
    """Products are calls of torch, with the bits it gives; what surrounds them is fused."""

    def f(x, w, c, g):
        return F.layer_norm(F.gelu(F.linear(x * 2, w, c)), g.shape, g) @ w

    args = [tensor((64, 96)), tensor((48, 96), seed=1), tensor((48,), seed=2), tensor((48,), seed=3)]
    jitted = check_all(f, [args], "contraction")
    ops = [k.ops for k in jitted.stats._state.records[0].lowered.kernels]
    assert ops.count(("function",)) == 2 and any({"erf", "reduce", "sqrt", "mul"} <= set(x) for x in ops)
    for dtype in ("float32", "float64", "float16"):
        x, y = tensor((30, 20), dtype), tensor((20, 8), dtype, 1)
        check_all(lambda x, y: (x @ y, torch.mm(x, y), (x + 1) @ y, x.t() @ x, torch.addmm(y[0], x, y)), [[x, y]])
    batches = [tensor((3, 4, 5)), tensor((3, 5, 6))]
    check_all(lambda x, y: (torch.bmm(x, y), x @ y[0], torch.einsum("bij,bjk->bki", x, y)), [batches])


def test_orders_gathers_and_running_totals():
    x, i = tensor((300, 70)), torch.arange(60).reshape(3, 20)
    check_all(lambda x, i: (x.sort(1), torch.topk(x * 2, 3).values + 1, x.argsort(0), x.cumsum(1) - 1, x.cumprod(0)), [[x, i]])
    check_all(lambda x, i: (x.gather(1, i) * 2, x[:, i], x[i, i], x[i[0]], torch.add(x, x, alpha=0.3)), [[x, i]])


def test_a_kernel_that_does_not_compile(monkeypatch):
    """Nothing was stored: the call runs plain, and so do later ones."""
    from npcompile.lowering.triton import driver

    def fail(kernel, variant, capability):
        raise RuntimeError("PassManager::run failed")

    monkeypatch.setattr(driver, "compile_kernel", fail)

    def f(x):
        x += 12345.0
        return (x * 54321.0).sum()

    jitted = compiled(f)
    x = torch.zeros(1000, device="cuda")
    for n in (1, 2):
        assert torch.isfinite(jitted(x))
        assert (x == n * 12345.0).all()
    assert jitted.stats.plain_calls == 2
    assert "PassManager" in jitted.stats._state.records[0].declined


CUDA = torch.device("cuda")


def test_names_of_devices():
    """The current device by its short name."""

    def f(x):
        y = torch.arange(4, device="cuda") * 2 + torch.zeros(4, device=CUDA) + torch.ones(4, device=x.device)
        return x.cuda() + y, x.to("cuda"), x.to(CUDA, torch.float64), x.to(x.device)

    check_all(f, [[tensor((3, 4))]])


def test_mixed_devices_are_torchs():
    f = compiled(lambda x, y: x + y)
    x, y = tensor((3,)), tensor((3,), seed=1)
    with pytest.raises(RuntimeError, match="same device"):
        f(x.cuda(), y)
    assert torch.equal(f(x, y), x + y) and torch.equal(f(x.cuda(), y.cuda()).cpu(), x + y)
    assert torch.equal(compiled(lambda x: x.cpu() + 1.0)(x.cuda()), x + 1.0)


def test_gradients_are_recorded_by_torch():
    x = tensor((3,)).cuda().requires_grad_()
    compiled(lambda x: x * 2.0)(x).sum().backward()
    assert (x.grad == 2).all()


def test_arrays_of_numpy_beside_tensors():
    """An array that NumPy makes stays on the host."""
    import numpy as np

    f = compiled(lambda x: (x * 2.0, np.zeros(3)), breaks=1)
    for _ in range(2):
        a, b = f(torch.ones(3, device="cuda"))
        assert a.is_cuda and type(b) is np.ndarray


def test_backends_in_python_never_see_device_memory():
    f = npcompile.jit(lambda x: x * 2.0, backend="reference", options={"compile": "first"})
    g = npcompile.jit(lambda x: x * 2.0, options={"compile": "first", "debug_passes": True})
    x = torch.ones(5, device="cuda")
    for h in (f, g):
        assert (h(x) == 2).all() and (h(x) == 2).all()
    assert f.stats.hits == 0 and g.stats.hits == 2


def test_numbers_as_cuda_takes_them():
    """Division by a number is a product; zeros and numbers beside half precision."""
    x = torch.tensor([0.0, -0.0, 1.0, -2.5, float("nan"), 1e-3, 77.7])
    for dtype in ("float32", "float64", "float16"):
        y = x.to(getattr(torch, dtype))
        check_all(lambda x, k: (x / 3.0, x / k, x - 0.1, x + k, k - x, x * 0.3, F.relu(x), x.clamp(0, 1)), [[y, 0.7]])
        check_all(lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), torch.fmax(x, y)), [[y, -y], [y, y.flip(0)]])
