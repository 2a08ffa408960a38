"""Products of vectors and matrices, and norms, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_harness import check, check_sizes
from rule_samples import SAMPLES, function

PRODUCTS = [
    "np.dot(a, a)", "np.dot(a, a.T)", "np.dot(a, 2)", "np.dot(2.5, a)", "np.dot(a, np.ones(4))",
    "np.dot(a, np.ones((4, 2), 'f4'))",
    "np.dot(a, np.ones((5, 4, 2)))", "a @ a.T", "a.T @ a", "np.matmul(a, a)", "np.matmul(a, np.ones(4))",
    "np.matmul(np.ones(3), a)", "np.matmul(a, np.ones((5, 4, 2)))", "np.matmul(np.ones((2, 1, 2, 3)), a)",
    "np.matmul(np.ones((2, 5, 3)), a)", "np.matmul(a, 2)", "np.inner(a, a)", "np.inner(a, 3)", "np.inner(a, np.ones(4))",
    "np.vdot(a, a)", "np.vdot(a, a.T)", "np.outer(a, a)", "np.outer(a, [1, 2])",
]  # fmt: skip
NORMS = [
    "np.linalg.norm(a)", "np.linalg.norm(a, 1)", "np.linalg.norm(a, np.inf)", "np.linalg.norm(a, -np.inf)",
    "np.linalg.norm(a, 'fro')", "np.linalg.norm(a, 0)", "np.linalg.norm(a, axis=0)", "np.linalg.norm(a, axis=-1, keepdims=True)",
    "np.linalg.norm(a, 1, axis=0)", "np.linalg.norm(a, np.inf, axis=-1)", "np.linalg.norm(a, -np.inf, axis=-1)",
    "np.linalg.norm(a, 0, axis=0)", "np.linalg.norm(a, 2, axis=0)", "np.linalg.norm(a, axis=(0, 1))",
    "np.linalg.norm(a, 1, axis=(0, 1))", "np.linalg.norm(a, -1, axis=(1, 0), keepdims=True)",
    "np.linalg.norm(a, np.inf, axis=(0, 1))", "np.linalg.norm(a, keepdims=True)", "np.linalg.norm(a, 'nuc', axis=0)",
    "a / np.linalg.norm(a)", "np.linalg.norm(a, 3, axis=0)", "np.linalg.norm(a, -1, axis=0)", "np.linalg.norm(a, 0.5, axis=-1)",
]  # fmt: skip


@pytest.mark.parametrize("text", PRODUCTS + NORMS)
def test_over_samples(text):
    for name, x in SAMPLES.items():
        try:
            check(function(text), x, tolerance="contraction", scale=10.0, warned=name != "special")
        except AssertionError as e:
            raise AssertionError(f"{name}: {e}") from None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_matmul_shapes(data):
    """Vectors, matrices, batches, dtypes, orders; 0 and 1 are sizes too."""
    k = data.draw(st.integers(0, 3))
    sizes = st.integers(0, 3)
    batch = data.draw(st.lists(sizes, max_size=2))
    shapes = []
    for last in (True, False):
        rank = data.draw(st.integers(1, 2))
        free = [data.draw(sizes)] if rank == 2 else []
        own = [data.draw(st.sampled_from([n, 1])) for n in batch][data.draw(st.integers(0, len(batch))) :] if rank == 2 else []
        shapes.append((*own, *free, k) if last else (*own, k, *free))
    dtypes = [data.draw(st.sampled_from(["f8", "f4", "i4", "?", "c16"])) for _ in range(2)]
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-3, 3, s).astype(d) for s, d in zip(shapes, dtypes))
    if data.draw(st.booleans()):
        x = np.asfortranarray(x)
    check(lambda np, a, b: a @ b, x, y, tolerance="contraction")
    check(lambda np, a, b: np.dot(a, b), x, y, tolerance="contraction")


def test_out():
    for shape in ((3, 3), (3, 4), (9,)):
        for dtype in ("f8", "f4", "i8", "c16"):
            for text in ("np.dot(a, a.T, out=o)", "np.matmul(a, a.T, out=o)", "np.outer(a[0], a[0], out=o)"):
                check(
                    function(text, "np, a, o"),
                    SAMPLES["C"],
                    np.zeros(shape, dtype),
                    tolerance="contraction",
                    scale=10.0,
                    copies=True,
                )


def test_conditions_are_reported_by_name():
    big, inf = np.full((2, 2), 1e308), np.full((2, 2), np.inf)
    for text in ("np.dot(a, a)", "a @ a", "np.inner(a, a)", "np.outer(a, a)", "np.linalg.norm(a)", "np.linalg.norm(a, axis=0)"):
        check(function(text), big, tolerance="contraction")
        check(function(text), inf * np.array([0, 1]), tolerance="contraction")


def test_one_trace_for_all_sizes():
    rng = np.random.default_rng(3)
    others = [[rng.standard_normal(s), rng.standard_normal(s[::-1])] for s in ((2, 3), (5, 7), (30, 2), (0, 3))]
    assert check_sizes(function("a @ b", "np, a, b"), [np.ones((4, 6)), np.ones((6, 4))], *others, tolerance="contraction") == 4
