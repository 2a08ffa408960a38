"""Elementwise functions, methods and operators of tensors against eager torch."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_harness import FLOATS, INTS, assert_compiled, check, check_all, compiled, layouts, tensor, tensors

import npcompile

torch = pytest.importorskip("torch", reason="torch is not installed")


def exact_unary(x):
    return (-x, x.neg(), torch.abs(x), x.abs(), abs(x), x.sign(), x.square(), x.floor(), x.ceil(), x.trunc(),
            x.round(), x.reciprocal(), x.frac(), +x, torch.isnan(x), x.isinf(), torch.isfinite(x), torch.signbit(x),
            x.logical_not())  # fmt: skip


def ulp_unary(x):
    # on some processors torch's square roots are not rounded correctly
    return (x.exp(), torch.exp2(x), x.expm1(), x.sin(), x.cos(), x.atan(), x.sinh(), x.cosh(), x.tanh(), x.asinh(), torch.erf(x),
            x.tan(), x.rsqrt(), x.sqrt(), x.log(), x.log2(), x.log10(), x.log1p(), x.asin(), x.acos(), x.acosh(), x.atanh(),
            torch.sigmoid(x))  # fmt: skip


def exact_binary(x, y):
    return (x + y, x - y, x * y, x / y, x == y, x != y, x < y, x <= y, x > y, x >= y, torch.add(x, y), x.sub(y), torch.mul(x, y),
            x.div(y), torch.fmod(x, y), x % y, x // y, x.copysign(y), torch.logical_and(x, y), x.logical_or(y),
            torch.logical_xor(x, y), x.eq(y), torch.where(x > y, x, y))  # fmt: skip


def extremes(x, y):
    return torch.maximum(x, y), torch.minimum(x, y), torch.fmax(x, y), torch.fmin(x, y), x.max(y), torch.min(x, y)


def ulp_binary(x, y):
    return x**y, torch.pow(x, y), torch.atan2(x, y)


def with_numbers(x):
    return (x + 1, 2 - x, x * 0.5, x / 3, 1 / x, 3 / x, x**2, x**3, x**0.5, x**-0.5, x**-1, x**-2, x**0, x**1,
            2.0**x, x // 2, x % 3, x % -1.5, x == 0, x > 1,
            x.clamp(-1, 1), x.clamp(min=0.5), torch.clamp(x, max=2), x.clamp_min(-1), x.clamp_max(0.25),
            torch.where(x > 0, x, 0.0))  # fmt: skip


def with_run_time_numbers(x, k, n):
    return k / x, x + k, k - x, x * n, x / k, x / n, x > k, x < n, x.clamp(n, k), torch.where(x > k, x, k)


def integers(x, y):
    return (x + y, x - y, x * y, x / y, x & y, x | y, x ^ y, ~x, x == y, x < y, -x, abs(x), x.sign(), x + 1, 2 * x, x / 2,
            x + 0.5, x * 1.5, x.float(), x.bool(), x.maximum(y), x.clamp(-3, 5), x.square(), x & 3, x.sqrt(), x.exp(),
            x.floor(), x == 3)  # fmt: skip


def divisions(x, y):
    return x // y, x % y, torch.fmod(x, y), x.div(y, rounding_mode="floor"), x // 3, x % 4


def bools(x, y):
    return x & y, x | y, x ^ y, ~x, x + y, x * y, x == y, x / y, x + 1, x * 2.0, x.logical_not(), x.float(), x < y


def test_floats():
    """One compilation for a dtype and rank, many values."""
    for dtype in FLOATS:
        x = tensor((40,), dtype, 1, special=True)
        check_all(exact_unary, [[x], [x[:7]]])
        check_all(ulp_unary, [[x], [x.abs() / 8], [x[:3]]], "ulp")


@pytest.mark.parametrize("dtype", FLOATS)
def test_two_floats(dtype):
    x, y = tensor((60,), dtype, 1, special=True), tensor((60,), dtype, 2, special=True)
    check_all(exact_binary, [[x, y], [y, x]])
    check_all(ulp_binary, [[x.abs(), y], [x, y.round()]], "ulp")
    keep = ~((x == 0) & (y == 0))  # torch's choice between zeros of different signs depends on strides
    check_all(extremes, [[x[keep], y[keep]], [y[keep], x[keep]]])


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers(dtype):
    x = tensor((50,), dtype, 3, special=True)
    check_all(with_numbers, [[x]], "ulp")
    check_all(lambda x, k: x**k, [[x, k] for k in (0.5, -0.5, 2.0, -1.0, 3.0, 0.0)], "ulp")
    check_all(with_run_time_numbers, [[x, k, n] for k, n in ((1.5, 2), (-0.75, -3), (1e30, 0), (float("nan"), 1))])


def test_half():
    """Computed in float32 and rounded once; numbers keep float32's precision."""
    x, y = tensor((50,), "float16", 1, special=True), tensor((50,), "float16", 2, special=True)

    def f(x, y):
        return x + y, x * y, x / y, x - 0.1, x * 1.0009765, 3 / x, x.sqrt(), -x, x < y, x.abs(), x.clamp(-1, 1), x.float()

    check_all(f, [[x, y]])
    check_all(lambda x: (x.exp(), x.tanh(), x.sigmoid()), [[x]], "ulp")


@pytest.mark.parametrize("dtype", INTS)
def test_integers(dtype):
    x, y = tensor((30,), dtype, 1), tensor((30,), dtype, 2)
    check_all(integers, [[x, y]], "ulp")
    check_all(divisions, [[x, torch.where(y == 0, 1, y).to(x.dtype)]])


def test_integer_division_by_zero_raises():
    f = compiled(lambda x, y: x // y)
    x, y = tensor((5,), "int64", 1), torch.tensor([1, 2, 0, 3, 4])
    check(f, [x, y + 1])
    check(f, [x, y])
    assert_compiled(f)


def test_integer_powers():
    f = compiled(lambda x, y: (x**y, x**3))
    x, y = tensor((5,), "int64", 1), torch.tensor([1, 2, 0, 3, 4])
    check(f, [x, y])
    check(f, [x, -y])
    assert_compiled(f)


def test_bools():
    x, y = tensor((30,), "bool", 1), tensor((30,), "bool", 2)
    check_all(bools, [[x, y]])


def test_bools_that_torch_refuses():
    """Subtraction with a bool on either side, and what has no meaning for bools."""
    x, y = tensor((4,), "bool", 1), tensor((4,), "float32", 2)
    for f in (
        lambda x, y: x - y,
        lambda x, y: y - x,
        lambda x, y: 1 - x,
        lambda x, y: x - x,
        lambda x, y: -x,
        lambda x, y: x % x,
    ):
        check(compiled(f), [x, y])
    check_all(lambda x, y: (x.where(x, ~x), y.where(x, y), torch.hypot(y, y)), [[x, y]], "ulp")


def test_shifts():
    x, n = tensor((8,), "int32", 1), torch.arange(8, dtype=torch.int32)
    f = check_all(lambda x, n: (x << n, x >> n, x << 2, x >> 1), [[x, n]])
    check(f, [x, n - 1])


PROMOTED = ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("one", PROMOTED)
def test_promotion(one):
    """Tensors with axes, tensors without, and numbers are three categories. (The rules alone: many pairs.)"""
    x = tensor((4,), one, 1)

    def f(x, a, b, c, d):
        return x * a, a * x, x * b, b * x, x * c, x * d, b * d, x + True, x * 2, x * 0.5

    for other in PROMOTED:
        y = tensor((4,), other, 2)
        check_all(f, [[x, y, y[0], 3, 1.5]], backend="reference")


def test_in_place():
    def f(x, y):
        x += y
        x *= 2.0
        x -= 1
        x /= 4
        x.add_(y)
        x.mul_(y)
        x.exp_()
        x.clamp_(min=0.5, max=3.0)
        x.sqrt_().neg_()
        return x

    for dtype in FLOATS:
        x, y = tensor((6, 5), dtype, 1), tensor((5,), dtype, 2)
        check_all(f, [[x, y], [x.t().contiguous().t(), y]], "ulp")
    check_all(lambda x, y: x.add_(y), [[tensor((4,), "float32"), tensor((4,), "int64")]])


def test_in_place_that_torch_refuses():
    f = compiled(lambda x, y: x.add_(y))
    check(f, [tensor((4,), "int64"), tensor((4,), "float32")])
    check(f, [tensor((3,)), tensor((2, 3))])
    check(f, [tensor((1,)).expand(3), tensor((3,))])


@settings(max_examples=60)
@given(st.data())
def test_any_shapes_and_strides(data):
    """Broadcasting and strides of results; one function, so that sizes meet compiled code."""
    x = data.draw(tensors())
    shape = list(x.shape)
    for i in range(len(shape)):
        if data.draw(st.booleans()):
            shape[i] = 1
    y = tensor(tuple(shape[data.draw(st.integers(0, len(shape))) :]), str(x.dtype).removeprefix("torch."), 5, special=True)
    check(broadcast, [x, data.draw(st.sampled_from(list(layouts(y))))])


broadcast = npcompile.jit(lambda x, y: (x * y + 1.0, y - x), options={"compile": "first", "recompile_limit": 1000})
