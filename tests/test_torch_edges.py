"""Where torch's own answer is an odd one: errors of numbers and dims, half precision's scalars, detached memory, stride 0."""

import pytest
from torch_harness import assert_compiled, check, check_all, compiled, layouts, tensor

torch = pytest.importorskip("torch", reason="torch is not installed")

HALF = torch.float16


@pytest.mark.parametrize("form", ["x.detach()", "x.detach()[1:]", "x[1:].detach()", "torch.from_numpy(x.detach().numpy())"])
def test_detached_memory_requires_no_grad(form):
    """Handed back, it is no view of the tensor that requires grad; it shares its memory."""
    f = compiled(eval(f"lambda x: {form}"))
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y = f(x)
    assert not y.requires_grad and y.is_leaf and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    y.mul_(torch.full((1,), 3.0, requires_grad=True).detach())
    assert x[2] == 3.0 and (y + 1).grad_fn is None
    assert_compiled(f)


def test_detached_memory_stored_to():
    def f(x):
        y = x.detach()
        y.mul_(2.0)
        return y, x

    j = compiled(f)
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y, same = j(x)
    assert same is x and x._version == 1 and not y.requires_grad and (y == 2.0).all()
    assert_compiled(j)


BEYOND = {
    "power": lambda x, n: x**n,
    "where": lambda x, n: torch.where(x > 0, x, n),
    "clamp": lambda x, n: x.clamp(max=n),
    "masked_fill": lambda x, n: x.masked_fill(x > 0, n),
    "fill": lambda x, n: x.fill_(n),
    "full": lambda x, n: torch.full((2,), n, dtype=x.dtype),
}


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize(
    "dtype, good, bad", [("int8", 3, 300), ("uint8", -3, -256), ("float16", 2.5, 1e5), ("float32", 2.5, 1e39)]
)
def test_numbers_beyond_a_dtype(name, dtype, good, bad):
    """The same errors (or none), for constants and for numbers known at run time."""
    f = compiled(BEYOND[name])
    x = tensor((4,), dtype)
    for n in (good, bad, good, float("inf") if "int" not in dtype else -3):
        check(f, [x, n], "ulp")
    assert f.stats.hits > 0 or good < 0
    g = compiled(eval(f"lambda x: f(x, {bad})", {"f": BEYOND[name]}))
    check(g, [x], "ulp")


def test_fill_values_without_axes_beyond_the_dtype():
    f = compiled(lambda x, v: x.masked_fill(x > 0, v))
    check(f, [tensor((4,), "uint8"), torch.tensor(-1.5)])
    check(f, [tensor((4,), "float32"), torch.tensor(1e39, dtype=torch.float64)])
    check_all(lambda x, v: x.masked_fill(x > 0, v), [[tensor((4,), "float64"), torch.tensor(1.5)]])


def test_negative_powers_of_no_integers():
    for n in (-1, -3):
        check(compiled(lambda x, n=n: x**n), [tensor((0,), "int32")])
    check(compiled(lambda x: x**-2), [tensor((0,), "int64")])


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_refused(dtype):
    """Errors of torch's own."""
    x = tensor((3,), dtype)
    for f in (lambda x: torch.add(x, x, alpha=True), lambda x: x.sub_(x, alpha=True), lambda x: x.frac()):
        check(compiled(f), [x])


@pytest.mark.parametrize("number", [1 + 2**-12 + 2**-11.5, 1e5, 70000])
def test_numbers_beside_half_precision(number):
    """Where they come second torch keeps their digits; a first one is rounded."""
    x = tensor((40,), "float16", 3)
    fs = (
        lambda x, s: s * x,
        lambda x, s: x / s,
        lambda x, s: x // s,
        lambda x, s: s // x,
        lambda x, s: torch.floor_divide(s, x),
        lambda x, s: s / x,
    )
    for f in fs:
        check(compiled(f), [x, number], "ulp")
        check(compiled(f), [x, torch.tensor(number)], "ulp")
    for f in (fs[0], fs[1], fs[5]):
        check(compiled(f), [x, number])
        check(compiled(f), [x, torch.tensor(number)])


def test_roots_as_powers_in_half_precision():
    x = torch.tensor([-0.0, float("-inf"), 4.0, 2.0, -3.0, float("inf"), 0.3])
    for p in (0.5, -0.5, 2, -1, -2, 1.5):
        for y in (x.to(HALF), x):
            check_all(lambda x, p=p: x**p, [[y]], "ulp")


def test_powers_of_numbers_are_packed():
    for x in layouts(tensor((3, 4))):
        check_all(lambda x: 2**x, [[x]], "ulp")
    check_all(lambda x: 2.5**x, [[tensor((2, 3, 4)).permute(2, 0, 1)]], "ulp")


def test_copies_of_expanded_tensors():
    """Axes of stride 0 keep their place."""
    for x in (
        tensor((1, 3, 4)).expand(2, 3, 4),
        tensor((2, 1, 4)).expand(2, 3, 4),
        tensor((2, 4, 1)).transpose(0, 1).expand(4, 2, 3),
    ):
        check_all(lambda x: (x.double(), x.clone(), torch.zeros_like(x), torch.full_like(x, 2.0), x + 1.0), [[x]])


@pytest.mark.parametrize("shape", [(), (4,)])
def test_dims_that_reductions_refuse(shape):
    """A tensor without axes has dims 0 and -1 only; some reductions take one dim, not None."""
    x = tensor(shape)
    for dim in (0, -1, 1, None, (), (0,), [0]):
        for name in ("prod", "argmax", "argmin", "max", "min", "any", "all", "sum", "amax", "logsumexp"):
            check(compiled(lambda x, n=name, d=dim: getattr(x, n)(dim=d)), [x], "sum")
    for name in ("prod", "argmax", "max"):
        check(compiled(lambda x, n=name: getattr(x, n)(dim=None, keepdim=True)), [x], "sum")


def test_spread_of_nothing():
    """torch warns, or gives NaN."""
    for shape in ((0,), (0, 3), (2, 0)):
        for correction in (-1, 0, 1):
            check(compiled(lambda x, c=correction: x.var(0, correction=c)), [tensor(shape)])
            check(compiled(lambda x, c=correction: x.std(-1, correction=c)), [tensor(shape)])


def test_products_of_half_precision():
    """torch rounds each partial product."""
    check(compiled(lambda x: (x.prod(), x.prod(0))), [torch.tensor([[300.0, 400.0, 0.01], [0.1, 7.0, 0.3]], dtype=HALF)])
