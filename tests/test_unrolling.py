"""Short loops of known length: unrolled while all turns are little code, regions when they are not; values as in plain Python."""

import numpy as np
import pytest
from language_harness import agree, quiet

import npcompile
from npcompile.testing import difference


def bilateral(img, spread, step):
    h, w = img.shape
    padded = np.pad(img, 2, mode="edge")
    total, norm = np.zeros_like(img), np.zeros_like(img)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            moved = padded[2 + dy : 2 + dy + h, 2 + dx : 2 + dx + w]
            near = np.exp(-(dy * dy + dx * dx) / (2 * spread**2))
            diff = moved - img
            weight = near * np.exp(-diff * diff / (2 * step**2))
            weight = np.where(np.abs(diff) > 3 * step, 0.0, weight)
            total += weight * moved
            norm += weight
    return total / norm


def blur(img):
    h, w = img.shape
    out = np.zeros((h - 2, w - 2))
    for i in range(3):
        for j in range(3):
            out += img[i : h - 2 + i, j : w - 2 + j]
    return out / 9


def filtered(img, kernel):
    kh, kw = kernel.shape
    padded = np.pad(img, ((kh // 2, kh // 2), (kw // 2, kw // 2)))
    out = np.zeros_like(img)
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * padded[i : i + img.shape[0], j : j + img.shape[1]]
    return out


def edges(img):
    gx = filtered(img, np.array([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]]))
    gy = filtered(img, np.array([[-1.0, -2, -1], [0, 0, 0], [1, 2, 1]]))
    return np.hypot(gx, gy)


def begins_with_an_int(x):
    total = 0
    for k in range(8):
        y = np.sin(x * k) + np.cos(x + k) * np.tan(x) - np.sqrt(x + k) + np.exp(-x * k) / (x + 1) + x**2 * k
        total = total + y * y
    return total


def over_lists(x, weights=(0.5, 0.25, 0.125, 0.1, 0.05)):
    total = np.zeros_like(x)
    for k in range(5):
        y = np.sin(x * weights[k]) + np.cos(x + k) * np.tan(x) - np.sqrt(x + k) + np.exp(-x * k) / (x + 1) + x**2 * k
        total += np.where(y > 0, y * y, -y) * np.tanh(y) + np.abs(x - y)
    return total, k


def leaves(x, limit):
    for k in range(6):
        for j in range(6):
            y = np.sin(x * k) + np.cos(x + j) * np.tan(x) - np.sqrt(x + k) + np.exp(-x * k) / (x + 1) + x**2 * k
            if y.sum() > limit:
                return k, j, y
    return y


IMAGE = np.random.default_rng(3).random((20, 33))


@pytest.mark.parametrize(
    "fn, args, kernels",
    [
        (bilateral, (IMAGE, 2.0, 0.1), 20),
        (blur, (IMAGE,), 3),
        (filtered, (IMAGE, np.arange(25.0).reshape(5, 5)), 20),
        (edges, (IMAGE,), 20),
        (begins_with_an_int, (np.linspace(0.1, 0.9, 50),), 20),
        (over_lists, (np.linspace(0.1, 0.9, 50),), 20),
        (leaves, (np.linspace(0.1, 0.9, 50), 40.0), 20),
        (leaves, (np.linspace(0.1, 0.9, 50), 1e9), 20),
    ],
)
def test_short_loops_are_little_code(fn, args, kernels):
    check = agree if fn in (blur, filtered) else near
    check(lambda: fn, args)
    report = quiet(lambda: npcompile.explain(fn, *args))
    assert len(report.kernels) <= kernels


def near(make, args):
    """As `agree`, for programs with elementary functions."""
    fn = make()
    jitted = npcompile.jit(fn, fullgraph=True)
    for _ in range(2):
        assert not difference(fn(*args), jitted(*args), "sum")


def test_a_loop_that_cannot_be_a_region_is_unrolled():
    def of_several_kinds(x):
        values = ["a", 2, 3.5, x]
        out = []
        for k in range(4):
            y = np.sin(x) + np.cos(x + k) * np.tan(x) - np.sqrt(x + k) + np.exp(-x * k) / (x + 1) + x**2 * k
            z = np.where(y > 0, y * y, -y) * np.tanh(y) + np.abs(x - y) + np.log1p(x) * np.arctan(y)
            out.append((values[k], k, (z * 0).sum()))
        return out

    agree(lambda: of_several_kinds, (np.linspace(0.1, 0.9, 50),))


def test_memory_for_an_exit_is_made_in_its_branch():
    """An array and a view of it leave together: they share memory then, but are not copied while the loop goes on."""

    def slides(x, n, limit):
        whole = x * 2.0
        for k in range(n):
            part = whole[1 + k : 4 + k]
            if 1.0 / limit == 0.0:
                return None
            x = x + part.sum()
        return x, whole

    args = (np.arange(30.0), 9, 2.0)
    agree(lambda: slides, args)
    report = quiet(lambda: npcompile.explain(slides, *args))
    loops = [k for k in report.kernels if k.in_loop and "store" in k.ops]
    assert not loops, [k.ops for k in loops]
