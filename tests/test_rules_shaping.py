"""Views, copies and axis order of shaping functions against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_arrays import arrays
from rule_harness import check, check_sizes
from rule_samples import SAMPLES, function

SHAPING = [
    "a.reshape(-1)", "a.reshape((3, -1))", "np.reshape(a, (-1, 3))", "np.reshape(a, (-1, 3), order='F')", "a.reshape(())",
    "np.reshape(a, (3, -1), order='A')", "a.reshape(3, 4)", "np.reshape(a, (-1, 1))", "a.reshape(-1, 2, 2)", "a.reshape(5, -1)",
    "a.reshape(-1, -1)", "a.reshape(3, 4, copy=True)", "np.ravel(a)", "np.ravel(a, 'F')", "np.ravel(a, 'K')", "np.ravel(a, 'A')",
    "a.ravel()", "a.ravel(order='F')", "a.flatten()", "a.flatten('F')", "a.flatten('K')", "a.T.reshape(-1)", "a.T.ravel('K')",
    "a.T", "np.transpose(a)", "np.transpose(a, (1, 0))", "a.transpose(1, 0)", "a.transpose((1, 0))", "a.transpose()",
    "a.transpose(-1, 0)", "np.matrix_transpose(a)", "np.swapaxes(a, 0, 1)", "a.swapaxes(-1, 0)", "np.moveaxis(a, 0, -1)",
    "np.moveaxis(a, (0, 1), (1, 0))", "np.rollaxis(a, 1)", "np.rollaxis(a, 0, 2)", "np.rollaxis(a, 0)", "np.expand_dims(a, 0)",
    "np.expand_dims(a, -1)", "np.expand_dims(a, (0, 2))", "np.squeeze(a)", "np.squeeze(np.expand_dims(a, 0))", "a.squeeze()",
    "np.squeeze(np.expand_dims(a, 0), axis=0)", "a.squeeze(1)", "np.squeeze(a, axis=())", "np.atleast_1d(a)", "np.atleast_2d(a)",
    "np.atleast_3d(a)", "np.atleast_1d(a, 3)", "np.broadcast_to(a, (5, 3, 4))", "np.broadcast_arrays(a, a)", "np.flip(a)",
    "np.flip(a, 0)", "np.flip(a, (0, 1))", "np.flipud(a)", "np.fliplr(a)", "np.rot90(a)", "np.rot90(a, 2)",
    "np.rot90(a, -1, (1, 0))", "np.rot90(a, 4)", "np.roll(a, 1)", "np.roll(a, -1, 0)", "np.roll(a, 5, axis=-1)",
    "np.roll(a, (1, 2), (0, 1))", "np.roll(a, (1, 2), 0)", "np.roll(a, 0)", "np.repeat(a, 2)", "np.repeat(a, 2, axis=0)",
    "np.tile(a, 2)", "np.tile(a, (2, 1))", "np.tile(a, (2, 1, 2))", "np.shape(a)", "np.ndim(a)", "np.size(a)", "np.size(a, 0)",
    "np.isscalar(a)", "np.diagonal(a)", "np.diagonal(a, 1)", "np.trace(a)", "np.trace(a, 1)", "np.diag(a)", "np.diag(a, -1)",
    "np.tril(a)", "np.triu(a, 1)", "np.tril(a, -1)", "np.diff(a)", "np.diff(a, axis=0)", "np.diff(a, 2)", "np.diff(a, n=0)",
    "np.broadcast_to(a, np.shape(a))", "np.expand_dims(a, -1).reshape(-1)", "(a + 1).T.reshape(-1)",
]  # fmt: skip


@pytest.mark.parametrize("text", SHAPING)
def test_over_samples(text):
    f = function(text)
    for name, x in SAMPLES.items():
        try:
            # the sign of a diagonal's stride is not known when one stride is negative
            check(f, x, may_refuse=name == "strided" and ("diag" in text or "trace" in text))
        except AssertionError as e:
            raise AssertionError(f"{name}: {e}") from None


def test_reshape_of_steps():
    """Every other row or column: merged without a copy only for some sizes."""
    for text in ("a[::2].reshape(-1)", "a[:, ::2].reshape(-1)", "a[1:].T.reshape(-1)", "a[:, :1].ravel()", "a[:1].ravel('K')"):
        for shape in ((2, 3), (3, 4), (4, 5), (5, 2), (2, 2)):
            check(function(text), np.arange(float(np.prod(shape))).reshape(shape))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_reshape_of_any_layout(data):
    """Is it a view or a copy, and in which order?"""
    x = data.draw(arrays(max_rank=3))
    sizes = {1: [(1,), (1, 1)], 2: [(2,), (1, 2)], 4: [(2, 2), (4, 1)], 6: [(2, 3), (3, 2)], 8: [(2, 2, 2), (4, 2)]}
    sizes |= {9: [(3, 3)], 12: [(3, 4), (2, 6), (4, 3), (2, 3, 2)], 16: [(4, 4), (2, 8)], 24: [(4, 6), (2, 3, 4), (8, 3)]}
    shape = data.draw(st.sampled_from([*sizes.get(x.size, []), x.shape, x.shape[::-1], (-1,), (x.size,)]))
    order = data.draw(st.sampled_from("CFA"))
    check(lambda np, a: np.reshape(a, shape, order=order), x)
    check(lambda np, a: a.ravel(order), x)
    check(lambda np, a: a.flatten("K"), x)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_stores_through_views(data):
    """What is stored through a view changes the array, what is stored to a copy does not."""
    x = data.draw(arrays(max_rank=3, broadcast=False, min_side=1))
    name = data.draw(st.sampled_from(["ravel", "flatten", "squeeze", "transpose", "T"]))

    def f(np, a):
        b = a.T if name == "T" else getattr(a, name)()
        b[...] = 7
        return b

    check(f, x.copy(order="K"), copies=True)


def test_roll_by_symbolic_shift():
    f = function("np.roll(a, s)", "np, a, s")
    for shift in (0, 1, -1, 6, 7, -7, 20):
        check(f, np.arange(7.0), shift)
    check(function("np.roll(a, s, 1)", "np, a, s"), np.ones((2, 3)), 1)


@pytest.mark.parametrize(
    "text", ["a.reshape(-1)", "a.T.ravel()", "np.roll(a, 1, 0)", "np.flip(a)", "a[:, 1:].reshape(-1)", "np.repeat(a, 2, 1)"]
)
def test_one_trace_for_all_sizes(text):
    rng = np.random.default_rng(3)
    sizes = [(2, 3), (5, 7), (30, 2), (3, 300)]
    assert check_sizes(function(text), [np.ones((4, 6))], *([rng.standard_normal(s)] for s in sizes)) >= 3
