"""Rolls, padding, differences, grids, sections, norms and spreads of tensors against eager torch."""

import pytest
from torch_harness import INTS, check, check_all, compiled, layouts, tensor

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional


def rolls(x, k):
    return (torch.roll(x, 1, 0), x.roll(-1, 1), x.roll((1, -2), (0, 1)), x.roll(7, 0), x.roll(0, 0), x.roll(shifts=k, dims=1),
            torch.roll(x, (1, 1), (0, 0)))  # fmt: skip


def test_roll():
    for x in layouts(tensor((4, 5))):
        check_all(rolls, [[x, 2], [x, -3]])
    check_all(lambda x: x.roll(1, -1), [[tensor((3, 1, 4), "int32")], [tensor((3, 2, 4), "bool")]])
    for args in ([tensor((0, 3)), 1], [tensor((2, 3)), 1], [tensor(()), 1]):
        check(compiled(lambda x, k: x.roll(k)), args)
        check(compiled(lambda x, k: x.roll(k, 0)), args)
    check(compiled(lambda x: x.roll((1, 2), 0)), [tensor((3,))])
    check(compiled(lambda x: x.roll(1, 0)), [tensor((2, 3, 4, 5)).contiguous(memory_format=torch.channels_last)])


def test_steps_of_a_simulation_with_roll():
    def f(u, n):
        for _ in range(n):
            u = u + 0.1 * (torch.roll(u, 1, 0) + torch.roll(u, -1, 0) + torch.roll(u, 1, 1) + torch.roll(u, -1, 1) - 4 * u)
        return u

    check_all(f, [[tensor((12, 9)), 20], [tensor((12, 9)), 3]])


def pads(x):
    return (F.pad(x, (1, 2)), F.pad(x, (1, 0, 0, 3)), F.pad(x, [0, 1, 2, 0], value=1.5), F.pad(x, (0, 0)),
            F.pad(x, (1, 1), "constant", 2))  # fmt: skip


def test_pad():
    for x in layouts(tensor((3, 4))):
        check_all(pads, [[x]])
    check_all(lambda x: F.pad(x, (0, 0, 1, 1)), [[tensor((2, 3, 4))], [tensor((2, 0, 4))], [tensor((2, 3, 4), "int8")]])
    x = tensor((3, 4))
    for widths in ((-1, 1), (1,), (1, 1, 1, 1, 1, 1), (-1, -1), (0, -2)):
        check(compiled(lambda x, w=widths: F.pad(x, w)), [x])
    for mode in ("reflect", "replicate", "circular"):
        check(compiled(lambda x, m=mode: F.pad(x[None], (1, 1), m)), [x])
    check(compiled(lambda x: F.pad(x, (1, 1), value=300)), [tensor((3,), "int8")])
    check(compiled(lambda x: F.pad(x, (1, 1, 1, 1))), [tensor((2, 3, 4, 5)).contiguous(memory_format=torch.channels_last)])


def test_diff():
    for x in layouts(tensor((4, 5))):
        check_all(lambda x: (x.diff(), torch.diff(x, dim=0), x.diff(1, 0)), [[x]])
    for dtype in INTS:
        check_all(lambda x: x.diff(), [[tensor((5,), dtype)]])
    for x in (tensor((1,)), tensor((0,)), tensor(()), tensor((4,), "bool")):
        check(compiled(lambda x: x.diff()), [x])
    check(compiled(lambda x: x.diff(2)), [tensor((5,))])
    check(compiled(lambda x: x.diff(prepend=x[:1])), [tensor((5,))])


def test_meshgrid():
    x, y, z = tensor((3,)), tensor((4,)), tensor((2,))
    for how in ("ij", "xy"):
        f = compiled(lambda x, y, z, h=how: (torch.meshgrid(x, y, indexing=h), torch.meshgrid([x, y, z], indexing=h)))
        check(f, [x, y, z])
        check(f, [x, x, z])
        check(f, [tensor((1,)), y, z])
    check(compiled(lambda x, y: torch.meshgrid(x, y.double(), indexing="ij")), [x, y])

    def radius(x, y):
        a, c = torch.meshgrid(x, y, indexing="ij")
        return (a * a + c * c).sqrt()

    check_all(radius, [[x, y]])


def test_sections():
    x = tensor((5, 4))
    check_all(lambda x: (x.split([2, 3]), torch.split(x, [1, 0, 3], 1)), [[x], [x.t().contiguous().t()]])
    for sections in ([2, 2], [6, -1], []):
        check(compiled(lambda x, s=sections: x.split(s)), [x])


def norms(x):
    return (x.norm(), x.norm(1), x.norm(2, 1), x.norm(float("inf"), 0), torch.norm(x, dim=1), x.norm(p=1, dim=(0, 1)),
            x.norm(2, 0, True), torch.linalg.vector_norm(x, dim=-1), torch.linalg.vector_norm(x, 1.0), torch.linalg.norm(x),
            torch.linalg.norm(x, dim=0, keepdim=True), F.normalize(x), F.normalize(x, p=1.0, dim=0))  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_norms(dtype):
    for x in layouts(tensor((3, 4), dtype)):
        check_all(norms, [[x]], "sum")


def test_other_norms():
    x = tensor((3, 4))
    for order in (0, 3, "nuc", float("-inf"), None):
        check(compiled(lambda x, p=order: x.norm(p)), [x], "sum")
    check(compiled(lambda x: torch.linalg.norm(x, 2)), [x], "sum")
    check(compiled(lambda x: x.norm()), [tensor((3,), "int32")])
    check(compiled(lambda x: x.norm(float("inf"))), [tensor((0,))])
    check(compiled(lambda x: (x.norm(), x.norm(float("inf")))), [torch.tensor([1.0, float("nan"), float("inf")])])
    check(compiled(lambda x: F.normalize(x)), [tensor((3,))])


def test_spreads_with_means():
    def f(x):
        return (
            torch.var_mean(x),
            torch.std_mean(x, 1),
            torch.std_mean(x, dim=(0, 1), correction=0, keepdim=True),
            torch.var_mean(x, False),
        )

    for x in layouts(tensor((4, 5))):
        check_all(f, [[x]], "sum")
    check(compiled(lambda x: torch.std_mean(x)), [tensor((1,))])
    check(compiled(lambda x: torch.std_mean(x, axis=0)), [tensor((3, 2))], "sum")


def test_tensors_of_arrays_are_no_views():
    def f(a):
        t = torch.from_numpy(a)
        t.mul_(2.0)
        return t

    j = compiled(f)
    import numpy as np

    with torch.no_grad():
        t = j(np.ones(3))
    assert t._base is None and not t._is_view()
