"""Joining and selecting against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_arrays import several
from rule_harness import check, check_sizes
from rule_samples import COMPLEX, SAMPLES, function

JOINING = [
    "np.concatenate([a, a])", "np.concatenate((a, a), axis=-1)", "np.concatenate([a, a], axis=None)",
    "np.concatenate([a, np.ones(3)])", "np.concatenate([a, np.ones((3, 2), 'f4')], axis=1)",
    "np.concatenate([a, a], dtype='f4', casting='unsafe')", "np.concatenate([a, a], dtype='f4')", "np.concatenate([])",
    "np.concatenate([a])", "np.concatenate([a, a.T], axis=0)", "np.stack([a, a])", "np.stack([a, a], axis=-1)",
    "np.stack((a, a), axis=1)", "np.stack([a])", "np.hstack((a, a))", "np.vstack((a, a))", "np.dstack((a, a))",
    "np.column_stack((a, a))", "np.append(a, a)", "np.append(a, 3)", "np.append(a, a, axis=0)", "np.append(a, a, axis=-1)",
    "np.stack([a, 1])", "np.hstack([a, 1.5])", "np.vstack([1, 2])", "np.meshgrid(a, a)",
    "np.meshgrid(a, [1, 2, 3], indexing='ij')",
]  # fmt: skip
SELECTING = [
    "np.where(np.flip(a), a, 0)", "np.where(a, 1, 2)", "np.where(a, 1, 2.5)", "np.where(a, a, a.T)", "np.where(True, a, 1)",
    "np.where(a, a, 1.5)", "np.where(a, [1], a)",
    "np.where(np.greater(a, 0), a, np.negative(a))",
    "np.clip(a, -1, 1)", "np.clip(a, None, 2)",
    "np.clip(a, 0, None)", "np.clip(a, None, None)", "np.clip(a, 0, 1.5)", "a.clip(0, 1)", "a.clip(max=1)", "np.clip(a, min=0)",
    "np.clip(a, -500, 300)", "np.clip(a, 0, np.float64(1))", "np.clip(a, a, 1)", "np.clip(a, np.nan, 1)", "np.clip(a, 1, np.nan)",
    "np.clip(a, 2, 1)", "np.clip(a, np.array([0.]), np.array([1.]))", "np.clip(a)", "np.nan_to_num(a)",
    "np.nan_to_num(a, nan=1, posinf=2, neginf=-2)", "np.select([np.flip(a)], [a])",
]  # fmt: skip


@pytest.mark.parametrize("text", JOINING + SELECTING)
def test_over_samples(text):
    for name, x in SAMPLES.items():
        try:
            check(function(text), x, may_refuse=name in COMPLEX and "clip" in text)
        except AssertionError as e:
            raise AssertionError(f"{name}: {e}") from None


@pytest.mark.parametrize(
    "text",
    [
        "np.select([m], [a])",
        "np.select([m, ~m], [a, 1], 2)",
        "np.select([m], [a], 1.5)",
        "np.where(m, a, 0)",
        "np.where(m, 2.5, a)",
    ],
)
def test_with_masks(text):
    for name in ("C", "F", "strided", "int32", "uint8", "bool", "float32", "complex64", "broadcast"):
        for m in (np.eye(3, 4, dtype=bool), np.array([True, False, True, False]), np.asfortranarray(np.eye(3, 4, dtype=bool))):
            check(function(text, "np, a, m"), SAMPLES[name], m)


@pytest.mark.parametrize(
    "text",
    [
        "np.copyto(o, a)", "np.copyto(o, a, casting='unsafe')", "np.copyto(o, 2)", "np.copyto(o, 2.5)",
        "np.copyto(o, a, where=a > 0)",
        "np.concatenate([a, a], out=o)", "np.stack([a, a], out=o)", "np.clip(a, 0, 1, out=o)",
    ],
)  # fmt: skip
def test_into(text):
    for name in ("C", "F", "int32", "bool", "float32"):
        for dtype in ("f8", "f4", "i8", "c16"):
            for shape in ((3, 4), (6, 4), (2, 3, 4), (2, 2)):
                check(function(text, "np, a, o"), SAMPLES[name].copy(order="K"), np.zeros(shape, dtype), copies=True)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_layouts(data):
    """Axis order of joined and selected arrays."""
    xs = data.draw(several(count=3, min_side=1, max_rank=3))
    if xs[0].ndim:
        axis = data.draw(st.integers(-xs[0].ndim, xs[0].ndim - 1))
        check(lambda np, *a: np.concatenate(a, axis=axis), *xs)
        check(lambda np, *a: np.stack(a, axis=axis), *xs)
    check(lambda np, *a: np.where(a[0] > 3, a[-1], a[len(a) // 2]), *xs)
    check(lambda np, *a: np.clip(a[0], 1, a[-1]), *xs)


def test_one_trace_for_all_sizes():
    rng = np.random.default_rng(3)
    for text in ("np.concatenate([a, a[1:]])", "np.stack([a, a], 1)", "np.where(a > 0, a, 0)", "np.clip(a, 0, 1)"):
        others = [[rng.standard_normal(s)] for s in ((2, 3), (5, 7), (30, 2))]
        assert check_sizes(function(text), [np.ones((4, 6))], *others) >= 2


def test_axes_that_become_1():
    """The axis order of joined arrays depends on which axes have length 1."""
    for shape in ((2, 3, 4), (3, 2, 4), (3, 4, 2)):
        x = np.arange(float(np.prod(shape))).reshape(shape).transpose(2, 0, 1)
        check(function("np.concatenate([a[1:], a[1:]], axis=1)"), x)
        check(function("np.stack([a[:, 1:], a[:, 1:]], axis=-1)"), x)
        check(function("np.where(a[:, :, 1:] > 2, a[:, :, 1:], 0)"), x)
        check(function("a[:, :, 1:].sum(axis=0)"), x)
