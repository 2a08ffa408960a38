"""Operations that torch itself executes within a compiled segment, against eager torch."""

import numpy as np
import pytest
from torch_harness import check_all, layouts, tensor

torch = pytest.importorskip("torch", reason="torch is not installed")


def index(shape, n, seed=0, low=0):
    return torch.from_numpy(np.random.default_rng(seed).integers(low, n, shape))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_orders(dtype):
    calls = [[tensor((5, 7), dtype)], [tensor((1, 9), dtype, 1)], [tensor((0, 3), dtype)]]
    check_all(lambda x: x.sort(0), calls)
    check_all(lambda x: torch.sort(x + x, dim=-1, descending=True).values * 2, calls)
    check_all(lambda x: x.argsort(1, True) + 1, calls)
    check_all(lambda x: torch.topk(x * 2, 2, dim=1).values + 1, calls)
    check_all(lambda x: x.topk(1, 1, largest=False).indices, calls)


def test_gathers():
    x, i = tensor((6, 7)), index((4, 5), 6)
    check_all(lambda x, i: torch.gather(x * 2, 0, i) + 1, [[x, i]])
    check_all(lambda x, i: x.gather(1, i), [[x, i]])
    check_all(lambda x, i: x.scatter_add(0, i, x[:4, :5] * 3), [[x, i]], "sum")
    check_all(lambda x, i: x.index_add(0, i[0], x[:5]) - 1, [[x, i]], "sum")
    check_all(lambda x, i: x.scatter(1, i[:, :1], x[:4, :1].contiguous()), [[x, i]])


def test_several_indices():
    x, i, j = tensor((6, 5, 4)), index((3, 2), 5, low=-5), index((2,), 4, 1, low=-4)
    check_all(lambda x, i, j: x[i, i] * 2, [[x, i, j]])
    check_all(lambda x, i, j: (x + 1)[:, i], [[x, i, j]])
    check_all(lambda x, i, j: x[:, i, j] - 1, [[x, i, j]])
    check_all(lambda x, i, j: x[i, :, j], [[x, i, j]])
    check_all(lambda x, i, j: x[..., j], [[x, i, j]])


def test_an_index_out_of_range_is_torchs():
    x = tensor((6, 7))
    for f in (lambda x, i: x.gather(0, i), lambda x, i: x[:, i[0]], lambda x, i: x.index_add(0, i[0], x[:5])):
        check_all(f, [[x, index((4, 5), 5)], [x, torch.full((4, 5), 9)], [x, torch.full((4, 5), -8)]])


@pytest.mark.parametrize("text", ["ij,kj->ik", "ij,kj->ki", "ij,kj->ijk", "ij,ij", "ij,kj->", "ij,kj"])
def test_einsum(text):
    f = lambda x, y: torch.einsum(text, x * 2, y) + 1  # noqa: E731
    shape = (6, 7) if text == "ij,ij" else (3, 7)
    check_all(f, [[x, y] for x in layouts(tensor((6, 7))) for y in layouts(tensor(shape, seed=1))], "contraction")


def test_alpha():
    x, y = tensor((6, 7)), tensor((7,), seed=1)
    check_all(lambda x, y: torch.add(x, y, alpha=0.3) * 2, [[x, y]])
    check_all(lambda x, y: x.sub(y, alpha=2), [[tensor((6, 7), "int32"), tensor((7,), "int64", 1)]])

    def inplace(x, y):
        x.add_(y, alpha=0.7)
        return x

    check_all(inplace, [[x, y]])


def test_results_go_on_in_loops_and_branches():
    def f(x, n):
        for _ in range(n):
            x = torch.sort(x * 0.5, 0).values + 1.0
        if n > 2:
            x = torch.einsum("ij,kj->ik", x, x)
        return x

    check_all(f, [[tensor((5, 6)), 3], [tensor((4, 6)), 4]], "contraction")
