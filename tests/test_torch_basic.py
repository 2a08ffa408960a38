"""Tensors through guards, kernels and exits: what is compiled, what runs as plain torch, and what comes back."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from torch_harness import assert_compiled, check, check_all, compiled, layouts, tensor

import npcompile

torch = pytest.importorskip("torch", reason="torch is not installed")


def fma(a, b, c):
    return a * b + c


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "uint8", "int8"])
def test_arithmetic(dtype):
    check_all(fma, [[tensor((n,), dtype, k) for k in range(3)] for n in (5, 0, 100)])


def test_one_entry_for_all_sizes():
    jitted = check_all(fma, [[tensor((n, 3), seed=k) for k in range(3)] for n in (2, 7, 0)])
    assert jitted.stats.compiles == 1


def test_strides_of_results():
    """Row order, column order, gaps and mixtures, as torch's iterator has them."""
    x, y = tensor((4, 6), seed=1), tensor((4, 6), seed=2)
    check_all(lambda a, b: a - b, [[p, q] for p in layouts(x) for q in layouts(y)])
    z = tensor((2, 3, 4), seed=3)
    check_all(lambda a: a * 2.0, [[z.permute(p)] for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))])


def test_broadcasting():
    check_all(lambda a, b: a + b, [[tensor((4, 1)), tensor((5,), seed=1)], [tensor((3, 4, 5)), tensor((4, 1), seed=1)]])


def test_results_are_ordinary_tensors():
    f = compiled(fma)
    r = f(*(tensor((6,), seed=k) for k in range(3)))
    assert type(r) is torch.Tensor and r.untyped_storage().resizable() and r.is_leaf and not r.requires_grad
    assert r.resize_(100).shape == (100,)
    assert_compiled(f)


def test_in_place_counts_up_the_version():
    def f(x, y):
        x += y
        return x

    jitted = compiled(f)
    x, y = tensor((5,)), tensor((5,), seed=1)
    want, before = x + y, (x._version, y._version)
    assert jitted(x, y) is x
    assert torch.equal(x, want) and x._version > before[0] and y._version == before[1]
    assert_compiled(jitted)


def test_in_place_is_seen_by_backward():
    f = compiled(lambda x: x.mul_(2.0))
    x, w = tensor((3,)), tensor((3,), seed=1).requires_grad_()
    product = (w * x).sum()
    f(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    assert_compiled(f)


def test_a_read_does_not_count_up_the_version():
    f = compiled(fma)
    args = [tensor((3,), seed=k) for k in range(3)]
    f(*args)
    assert [a._version for a in args] == [0, 0, 0]


def runs_plain(f, args, reason):
    """Torch itself answers, and says why."""
    jitted = compiled(f)
    got, want = jitted(*args), f(*args)
    assert torch.equal(got.detach(), want.detach()) and got.requires_grad == want.requires_grad
    report = npcompile.explain(jitted, *args)
    assert not report.kernels
    assert [b.id for b in report.graph_breaks] == [reason]
    return jitted


def test_gradients_are_recorded_by_torch():
    x = tensor((4,)).requires_grad_()
    y = tensor((4,), seed=1)
    jitted = runs_plain(fma, (x, y, y), "requires-grad")
    jitted(x, y, y).sum().backward()
    assert torch.equal(x.grad, y)
    with torch.no_grad():
        assert torch.equal(jitted(x, y, y), fma(x, y, y))
    before = jitted.stats.compiles
    jitted(y, y, y)
    assert jitted.stats.compiles >= before and len(jitted.entries) >= 2


def test_no_grad_and_inference_mode():
    x, y = tensor((4,)).requires_grad_(), tensor((4,), seed=1)
    f = compiled(fma)
    with torch.no_grad():
        assert torch.equal(f(x, y, y), fma(x, y, y)) and not f(x, y, y).requires_grad
    with torch.inference_mode():
        assert f(x, y, y).is_inference()
    assert_compiled(f)
    assert f(x, y, y).requires_grad


def test_stores_to_inference_tensors_run_plain():
    f = compiled(lambda x: x.mul_(2.0))
    with torch.inference_mode():
        x = torch.ones(3)
        assert torch.equal(f(x), torch.full((3,), 2.0))
        f(x)
    assert f.stats.compiles == 1 and len(f.entries) == 1
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        f(x)


def test_branches_and_numbers():
    def f(x, y):
        if x.sum() > 0 and (y > 0).any():
            return x * 2, x.max().item()
        return float(y.sum()) + 1.0, int(y[0])

    x, y = torch.tensor([1.5, 2.0]), torch.tensor([2.0, -1.0])
    check_all(f, [[x, y], [-x, y], [x, -y.abs()]])

    def joined(x, y):
        z = x + y
        if z.sum() > 0:
            w = z * 2.0
            z += 1.0
        else:
            w = x - 1.0
        w += 0.5
        return z, w

    check_all(joined, [[x, y], [-x, -y]])

    def shared(x):
        z = x * 2.0
        if x.sum() > 0:
            w = z
        else:
            w = x + 1.0
        w += 1.0
        return z, w

    f = compiled(shared)
    for args in ([x], [-x]):
        check(f, args)


def test_parameters_and_subclasses_run_plain():
    f = compiled(fma)
    p = torch.nn.Parameter(tensor((4,)))
    assert f(p, p, p).requires_grad

    class Own(torch.Tensor):
        pass

    own = tensor((4,)).as_subclass(Own)
    assert type(f(own, own, own)) is Own


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_modes_run_plain():
    x = tensor((4, 4))
    f = compiled(fma)
    f(x, x, x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(f(x, x, x), fma(x, x, x))
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mode():
        f(x, x, x)
    assert len(seen) >= 2
    assert torch.equal(torch.vmap(f)(x, x, x), fma(x, x, x))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        assert torch.autograd.forward_ad.unpack_dual(f(dual, x, x)).tangent is not None
    traced = torch.jit.trace(lambda a: f(a, a, a), x, check_trace=False)
    assert torch.equal(traced(x + 1), fma(x + 1, x + 1, x + 1))
    hits = f.stats.hits
    f(x, x, x)
    assert f.stats.hits == hits + 1


def test_modes_are_seen_in_other_threads():
    x = tensor((4, 4))
    f = compiled(fma)
    f(x, x, x)
    got = []

    def run():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            got.append(torch.equal(f(x, x, x), fma(x, x, x)))
        hits = f.stats.hits
        f(x, x, x)
        got.append(f.stats.hits == hits + 1)

    t = threading.Thread(target=run)
    t.start()
    t.join()
    assert got == [True, True]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tensor((3, 3)).to_sparse(),
        lambda: tensor((3, 3)).to(torch.bfloat16),
        lambda: torch.complex(tensor((3, 3)), tensor((3, 3), seed=1)).conj(),
        lambda: torch.complex(tensor((3, 3)), tensor((3, 3), seed=1)).conj().imag,
        lambda: torch.empty(3, 3, device="meta"),
    ],
    ids=["sparse", "bfloat16", "conj", "neg", "meta"],
)
def test_other_tensors_run_plain(make):
    x, plain = make(), tensor((3, 3))
    f = compiled(lambda a: a + a)
    got, want = f(x), x + x
    assert got.dtype == want.dtype and got.layout == want.layout and got.device == want.device
    if got.device.type != "meta":
        assert torch.equal(got.to_dense(), want.to_dense())
    assert f.stats.hits == 0
    assert torch.equal(f(plain), plain + plain) and f.stats.hits == 1


def test_exceptions_are_torchs():
    f = compiled(fma)
    x = tensor((4,))
    f(x, x, x)
    with pytest.raises(RuntimeError, match="must match the size"):
        f(x, tensor((3,)), x)
    with pytest.raises(TypeError):
        f(x, None, x)


def test_aliases():
    def f(x, y):
        x += y
        y *= x
        return x, y

    base = tensor((8,))
    jitted = check_all(f, [[base[:4], base[4:]], [base[::2], base[1::2]]])
    for args in ([base[1:5], base[:4]], [base, base], [base[1:7:2], base[::2][:3]]):
        check(jitted, args)


def test_numbers_are_read_at_each_call():
    jitted = check_all(lambda x, k, n: x * k + n, [[tensor((3,)), k, n] for k, n in ((1.5, 2), (-0.5, 7), (3.25, -2))])
    assert jitted.stats.compiles == 1


def test_default_dtype_is_guarded():
    f = compiled(lambda n: n / 2)
    x = tensor((3,), "int64")
    assert f(x).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert f(x).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert f(x).dtype == torch.float32
    assert_compiled(f)


def test_torch_is_not_imported():
    code = (
        "import numpy as np, npcompile, sys; f = npcompile.jit(lambda x: x + 1); f(np.ones(3)); f(np.ones(4));"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def test_loops_over_a_tensor():
    def f(x, n):
        for _ in range(n):
            x += 1.0
        return x

    check_all(f, [[tensor((5,)), n] for n in (2, 3, 5)])


def test_arrays_beside_tensors_are_left_to_torch():
    f = compiled(lambda x, a: x + a)
    x, a = tensor((3,)), np.ones(3, np.float32)
    try:
        want = x + a
    except TypeError:
        with pytest.raises(TypeError):
            f(x, a)
    else:
        assert torch.equal(f(x, a), want)
