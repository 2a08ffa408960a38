"""Views, indexing, creation, joining, reductions, activations and products of tensors against eager torch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_harness import FLOATS, assert_compiled, check, check_all, compiled, layouts, tensor, tensors

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional


# ---------------------------------------------------------------------------------------------- views


def views(x):
    return (x.reshape(6, 4), x.reshape(-1), x.reshape(2, 3, 4), x.flatten(), x.flatten(1), x.unsqueeze(0), x.unsqueeze(-1),
            x.permute(2, 0, 1), x.transpose(0, 2), x.mT, x.swapaxes(1, 2), x.movedim(0, 2), x.expand(5, 2, 3, 4),
            x.narrow(1, 1, 2), x.select(0, 1), x[1], x[:, 1:], x[..., ::2], x[0, 1, 2], x[None], x[:, None, 0], x.diagonal(),
            x.unsqueeze(1).squeeze(1), x.squeeze(), x[-1], x[:, -2:], x.T if x.dim() == 2 else x.mT, x.detach(), x[...],
            x.unflatten(2, (2, 2)), x.ravel())  # fmt: skip


def asked(x):
    return (x.shape, x.size(), x.size(1), x.shape[0], len(x), x.numel(), x.dim(), x.ndim, x.dtype, x.element_size(), x.nbytes,
            x.is_contiguous(), x.is_floating_point(), x.shape == (2, 3, 4), x.shape[:2], x[0, 0, 0].item(),
            x.itemsize, x.device, x.is_cuda, torch.zeros(2, device=x.device))  # fmt: skip


def test_views():
    """All of one storage, returned together; and each alone."""
    x = tensor((2, 3, 4))
    check_all(views, [[x]])
    f = compiled(lambda x: x[1:])
    check(f, [x])
    y = f(x)
    assert y._base is x and y.storage_offset() == 12 and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.parametrize("perm", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_reshape_of_permuted(perm):
    x = tensor((4, 3, 2)).permute(perm)
    check_all(lambda x: (x.reshape(-1), x.reshape(x.shape[0], -1), x.contiguous(), x.flatten(1), x.is_contiguous()), [[x]])


def test_attributes():
    x = tensor((2, 3, 4))
    check_all(asked, [[x], [x.to(torch.float64)]])
    check_all(lambda x: (x.view(4, 6), x.view(-1, 3), x.view_as(x), x.expand(-1, -1, 4)), [[x]])


def test_sizes_as_arguments():
    def f(x, shape):
        return torch.zeros(shape) + x.sum(), x.reshape(shape), shape, shape[0] + len(shape), x.new_ones(*shape)

    x = tensor((6,))
    check_all(f, [[x, torch.Size((2, 3))], [x, torch.Size((3, 2))], [x, (2, 3)]], "sum")


def test_results_that_are_the_argument():
    x = tensor((3, 4))
    f = compiled(lambda x: (x * 2.0, x.contiguous(), x.float(), x.to(torch.float32), x.cpu(), +x, x))
    assert all(y is x for y in f(x)[1:])
    assert_compiled(f)


def test_parts():
    x = tensor((6, 5))
    check_all(lambda x: (x.chunk(3), x.split(4), torch.split(x, 2, 1), x.unbind(1), *x), [[x]])


def test_fresh_views_share():
    """Views of a tensor made in the function share one storage."""
    f = compiled(lambda x: ((y := x * 2.0), y[1:], y.t()))
    x = tensor((3, 4))
    check(f, [x])
    y, tail, turned = f(x)
    tail.zero_()
    assert (y[1:] == 0).all() and (turned[:, 1:] == 0).all()
    assert_compiled(f)


# ---------------------------------------------------------------------------------------------- stores


def stores(x, y, m):
    x[0] = 1.5
    x[1:, 2] = y[1:, 0]
    x[:, 1:3] *= 2.0
    x[m] = -1.0
    x[2, 3] = y[0, 0]
    x[2, 0] = 7
    y.copy_(x)
    y[1] += 1.0
    y.t().fill_(3.0) if x.shape[0] > 100 else y.mul_(0.5)
    x.masked_fill_(m, 9.0)
    return x.masked_fill(m, 0.25), x


def test_stores():
    for dtype in FLOATS:
        x, y = tensor((4, 5), dtype, 1), tensor((4, 5), dtype, 2)
        check_all(stores, [[x, y, x > 0]])


def test_stores_convert():
    def f(x, y):
        x[0] = y[0]
        x[1] = 3
        x.fill_(7)
        return x

    check_all(
        f, [[tensor((3, 2), a), tensor((3, 2), b)] for a, b in (("int64", "float32"), ("float32", "int32"), ("bool", "int8"))]
    )


def test_stores_into_expanded_tensors_are_torchs():
    check(compiled(lambda x: x.expand(2, 3)[0].mul_(2.0)), [tensor((3,))])
    check(compiled(lambda x: x.expand(2, 3).mul_(2.0)), [tensor((3,))])
    check(compiled(lambda x: x.expand(2, 3).numpy() * 2.0), [tensor((3,))])


def test_overlapping_stores_are_torchs():
    def f(x):
        x[1:] = x[:-1]
        return x

    check(compiled(f), [tensor((6,))])
    check(compiled(lambda x: x[1:].add_(x[:-1])), [tensor((6,))])


def test_element_loops():
    def f(x, n):
        for i in range(1, n):
            x[i] = x[i - 1] * 0.5 + x[i]
        return x

    check_all(f, [[tensor((9,), "float64"), 9]])


def test_rebinding_loops():
    def f(x, n):
        y = x * 0.0
        for _ in range(n):
            y = y + x
        return y

    check_all(f, [[tensor((9,)), 5], [tensor((4,)), 3]])


def test_index_tensors():
    x, i = tensor((5, 3)), torch.tensor([0, 4, -1, 2])
    check_all(lambda x, i: (x[i], x[:, 0][i], x.index_select(0, i.abs())), [[x, i]])
    check(compiled(lambda x, i: x[i]), [x, torch.tensor([7])])
    y, j = tensor((4, 2, 3, 5)), torch.tensor([[0, 1], [1, 0]])
    for z in (y[0], y[0].permute(2, 0, 1), y.contiguous(memory_format=torch.channels_last), y.permute(1, 3, 0, 2)):
        check_all(lambda x, i: (x[i], x.index_select(1, i[0])), [[z, j], [z, j.t()]])


def test_four_axes_with_channels_last():
    """What keeps the order of axes and what does not."""
    x = tensor((2, 3, 4, 5)).contiguous(memory_format=torch.channels_last)

    def f(x):
        return (x + 1.0, x.softmax(1), x.sum(1), x.amax(1), x.flip(1), x.masked_fill(x > 0, 0.5), F.gelu(x), x.clone(),
                x.contiguous(),
                torch.full_like(x, 2), F.mse_loss(x, x, reduction="none"), x.cumsum(1), F.layer_norm(x, (5,)), x.double(),
                torch.where(x > 0, x, 0.0), x + torch.ones(5), x.repeat(1, 1, 2, 1), x.tril())  # fmt: skip

    check_all(f, [[x]], "sum")
    check(compiled(lambda x: (torch.cat([x, x], 1), torch.stack([x, x]))), [x])


# ---------------------------------------------------------------------------------------------- creation, conversion


def made(x, n):
    return (torch.zeros(2, 3), torch.ones((n, 2)), torch.full((2,), 3), torch.full((2,), 1.5), torch.full((2,), True),
            torch.zeros_like(x), torch.ones_like(x, dtype=torch.int64), torch.full_like(x, 2), x.new_zeros(2), x.new_ones((1, n)),
            x.new_full((2,), 4.0), torch.arange(n), torch.arange(1, n), torch.arange(0, n, 2),
            torch.arange(3, dtype=torch.float32), torch.eye(n), torch.zeros(n, dtype=torch.bool),
            torch.tensor(2.5), torch.tensor(3))  # fmt: skip


def casts(x):
    return (x.double(), x.half(), x.int(), x.long(), x.bool(), x.to(torch.int16), x.to(torch.float64), x.clone(), x.type_as(x),
            x.to(torch.float32, copy=True), x.clone().fill_(2.0))  # fmt: skip


def test_creation():
    x = tensor((3, 4))
    check_all(made, [[x.t(), 5]])


def test_casts():
    check_all(casts, [[x] for x in layouts(tensor((3, 4)))])


def test_numpy_and_back():
    def f(x, a):
        y = np.exp(x.numpy()) + a
        z = torch.from_numpy(y) * x
        a[0] = 5.0
        return y, z, x.numpy(), torch.from_numpy(a)

    x, a = tensor((4,), "float64"), np.arange(4.0)
    check_all(f, [[x, a]], "ulp")

    def g(x):
        x.numpy()[1:] = 2.0
        return x + 1.0

    check_all(g, [[x]])


def test_sequences_from_outside():
    x, y = tensor((2, 3)), tensor((2, 3), seed=1)
    for calls in ([[[x, y]], [[y, x]], [(x, y)]], [[[x, y, x]]]):  # a length that changes at once is no constant
        check_all(lambda ts: (torch.cat(ts), torch.stack(ts, dim=1)), calls)


def test_joining():
    x, y = tensor((2, 3)), tensor((2, 3), "float64", 1)
    check_all(
        lambda x, y: (torch.cat([x, x]), torch.cat((x, y), 1), torch.stack([x, y]), torch.stack((x, x), -1), torch.hstack((x, x)),
                      torch.vstack((x, x)), torch.cat((x[:1], x), dim=0)),
        [[x, y], [x.t().contiguous().t(), y]],
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------- reductions


def sums(x):
    return (x.sum(), x.sum(0), x.sum(-1, keepdim=True), x.sum((0, 1)), torch.sum(x, dim=1), x.mean(), x.mean(0), x.mean((0, 1)),
            x.var(), x.var(0), x.var(1, unbiased=False), x.std(), torch.std(x, 0, correction=0), x.sum(dtype=torch.float64),
            x.norm(), x.norm(dim=1), x.cumsum(0), x.cumsum(1))  # fmt: skip


def exact_reductions(x):
    return (x.amax(), x.amin(0), x.amax(1, keepdim=True), x.max(), x.min(), x.argmax(), x.argmin(0), x.argmax(1, keepdim=True),
            (x > 0).any(), (x > 0).all(1), x.any(0), (x > 0).sum(), torch.count_nonzero(x), x.max(1), x.min(0).values,
            x.max(0)[1])  # fmt: skip


def row_wise(x):
    return (torch.softmax(x, 1), F.softmax(x, dim=0), x.log_softmax(1), F.log_softmax(x, dim=-1), torch.logsumexp(x, 1),
            x.logsumexp((0, 1)), x.softmax(-1), x.prod(1), x.cumprod(1))  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_reductions(dtype):
    x = tensor((5, 7), dtype)
    y = tensor((33, 40), dtype, 2)
    both = [[x], [y], [y.t().contiguous().t()]]
    check_all(sums, both, "sum")
    check_all(row_wise, both, "sum")
    check_all(exact_reductions, both)


def test_reductions_of_special_values():
    x = tensor((6, 8), seed=4, special=True)
    x[0] = float("-inf")
    calls = [[x], [x.abs() + 1]]
    check_all(lambda x: (x.argmax(), x.argmin(1), x.amax(0).isnan(), x.max(1)[1], x.sum(), x.prod(1)), calls, "sum")
    check_all(lambda x: (torch.softmax(x, 1), x.logsumexp(1)), [[torch.where(x.isnan(), 0, x)]], "sum")


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_reductions_of_integers(dtype):
    x = tensor((5, 6), dtype)
    check_all(lambda x: (x.sum(), x.sum(0), x.any(), x.all(0), x.prod(1), x.cumsum(0), x.amax(0)), [[x]])
    check_all(lambda x: x.sum(dtype=torch.float32), [[x]])
    if dtype != "bool":
        check_all(lambda x: (x.argmax(0), x.argmin(), x.max(), x.amin(1)), [[x]])


def test_reductions_of_nothing():
    x = tensor((0, 3))
    check_all(lambda x: (x.sum(), x.sum(0), x.prod(), x.any(0), x.all(), x.mean(0)), [[x]])
    for f in (lambda x: x.amax(), lambda x: x.argmax(0), lambda x: x.var(), lambda x: x.max(0)):
        g = compiled(f)
        check(g, [tensor((4, 3))], "sum")
        check(g, [x])


# ---------------------------------------------------------------------------------------------- activations, products


def activations(x):
    return (F.relu(x), torch.relu(x), x.relu(), F.silu(x), torch.sigmoid(x), F.leaky_relu(x, 0.1), F.elu(x), F.relu6(x),
            F.tanh(x), F.softplus(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.sigmoid(x))  # fmt: skip


def normalised(x, w, b):
    n = x.shape[-1:]
    return F.layer_norm(x, n), F.layer_norm(x, n, w, b), F.layer_norm(x, n, w, None, 1e-3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_activations(dtype):
    x = tensor((60,), dtype, 2)
    check_all(activations, [[x], [x * 6]], "sum")
    check_all(lambda x: (F.relu(x), x.relu(), F.relu6(x), F.leaky_relu(x)), [[tensor((60,), dtype, 3, special=True)]])
    check_all(normalised, [[tensor((4, 9), dtype), tensor((9,), dtype, 1), tensor((9,), dtype, 2)]], "sum")


def test_relu_in_place():
    check_all(lambda x: (x.relu_(), F.relu(x, inplace=True)), [[tensor((7,))]])


@pytest.mark.parametrize("dtype", FLOATS)
def test_products(dtype):
    a, b, v = tensor((5, 6), dtype, 1), tensor((6, 4), dtype, 2), tensor((6,), dtype, 3)
    p, q = tensor((3, 5, 6), dtype, 4), tensor((3, 6, 2), dtype, 5)

    def f(a, b, v, p, q):
        return a @ b, torch.mm(a, b), a.mv(v), v.dot(v), a @ v, v @ b, torch.bmm(p, q), p @ q, torch.matmul(p, b), a.t() @ a

    check_all(f, [[a, b, v, p, q]], "contraction")
    w, c = tensor((4, 6), dtype, 6), tensor((4,), dtype, 7)
    check_all(lambda x, w, c: (F.linear(x, w), F.linear(x, w, c)), [[a, w, c], [p, w, c]], "contraction")


def mlp(x, w1, b1, w2, b2):
    h = F.gelu(F.linear(x, w1, b1))
    return torch.softmax(F.linear(h, w2, b2), dim=-1)


def test_parts_of_networks():
    x, y, m = tensor((4, 5)), tensor((4, 5), seed=1), tensor((5, 3), seed=2)
    i = torch.tensor([[0, 3], [1, 1]])
    check_all(
        lambda x, y, m: (F.mse_loss(x, y), F.mse_loss(x, y, reduction="sum"), torch.addmm(x[:, :3], y, m), x.norm(dim=0)),
        [[x, y, m]],
        "contraction",
    )
    check_all(
        lambda x, i: (F.embedding(i, x), torch.outer(x[0], x[1]), x.tril(), torch.triu(x, 1), x.tril(-1), x.repeat(2, 1),
                      x.repeat(2, 1, 3), F.mse_loss(x, x, reduction="none")),
        [[x, i], [x.t().contiguous().t(), i]],
    )  # fmt: skip
    f = compiled(lambda x: (x * 1.0, F.dropout(x, 0.3, training=False)))
    assert f(x)[1] is x


@pytest.mark.parametrize("shape", [(5, 7), (40, 33)])
def test_half_precision(shape):
    """Accumulated in float32, rounded once."""
    x = tensor(shape, "float16")

    def f(x):
        return (x.sum(), x.sum(0), x.mean(1), x.var(), x.std(0), torch.softmax(x, 1), x.log_softmax(0), x.logsumexp(1),
                F.layer_norm(x, x.shape[-1:]), F.gelu(x), F.silu(x), x.amax(0), x.norm())  # fmt: skip

    check_all(f, [[x]], "sum")


def test_network():
    args = [tensor(s, seed=k) for k, s in enumerate([(8, 6), (10, 6), (10,), (4, 10), (4,)])]
    check_all(mlp, [args], "contraction")


# ---------------------------------------------------------------------------------------------- any shapes


@settings(max_examples=40)
@given(st.data())
def test_any_reduction(data):
    x = data.draw(tensors(("float32",), max_rank=3))
    keep = data.draw(st.booleans())
    axis = data.draw(st.integers(-x.dim(), x.dim() - 1)) if x.dim() else None
    if axis is not None:
        finite = torch.where(x.isfinite(), x, 1.0)
        check(over_axis, [finite, axis, keep], "sum")


over_axis = compiled(lambda x, axis, keep: (x.sum(axis, keepdim=keep), torch.softmax(x, axis), x.mean(axis)), backend="reference")


@settings(max_examples=60)
@given(st.data())
def test_any_index(data):
    x = data.draw(tensors(("float32",), max_rank=3, max_side=4))
    key = []
    for n in x.shape:
        lo, hi = data.draw(st.integers(-n - 1, n + 1)), data.draw(st.integers(-n - 1, n + 1))
        key.append(slice(lo, hi, data.draw(st.sampled_from([None, 1, 2]))))
        if n and data.draw(st.booleans()):
            key[-1] = data.draw(st.integers(-n, n - 1))
    f = compiled(lambda x, key: x[key], backend="reference")
    check(f, [x, tuple(key)])
    assert_compiled(f)
