"""Index arrays, `take` and `choose` against NumPy, fused: no call of the function remains."""

import numpy as np
import pytest
from expressions import compared, functions

import npcompile
from npcompile.runtime._dispatch import chosen
from npcompile.testing import compare_calls, difference

FUSED = """
x[i] * 2 + 1
x[I] * 2
x[I.T] + 1
x[u]
A[i] * 2
A[:, i] + 1
A[I] * 2
A[:, I] * 2
A[I.T]
A[i, 0]
A[i % 4, i] * 2
A[1:5, i]
A[::-1, i]
A[np.ix_([0, 2], [1, 3])] * 2
T[i]
T[:, i] * 2
T[..., i] + 1
T[i % 4, 0, i]
T[I, I, I]
T[I]
T[:, I]
T[1:, :, I]
x[[1, 2, -1]] * 2
A[[0, 2]] * 2
A[:, [0, 1]]
A[(i[:3] % 4)[:, None], i[None, :3]]
np.take(x, i) * 2
np.take(x, I)
np.take(x, 3) * 2
np.take(A, i, axis=0)
np.take(A, i, axis=1) * 2
np.take(A, [0, 1])
np.take(x, i * 9, mode='wrap')
np.take(x, i * 9, mode='clip')
np.take(A, I, axis=1)
x.take(i)
A.take(i, 1)
x.take([1, 2])
np.choose(n, [x, x + 1, x * 2, x - 5]) * 2
np.choose(n, [x, 1, 2, 3])
np.choose(n, (1, 2, 3, 4))
np.choose(I, [I, I + 1, I * 2, I - 5])
np.choose(n, [x, np.float32(2), n, m])
np.choose(n * 3 - 2, [x, x + 1], mode='clip')
np.choose(n * 3 - 2, [x, x + 1, x], mode='wrap')
n.choose([x, x + 1, x * 2, x - 5])
np.choose(n + 9, [x, x + 1])
np.choose(n - 1, [x, x + 1, x, x])
np.take_along_axis(A, I[:, :1].repeat(2)[:6][:, None], axis=1)
x[i + 30]
x[i - 30]
A[i, i]
x[i].sum()
(x[i] + x[i % 3]) * x[i]
np.exp(x)[i] * 2
x[n][i]
"""
CASES = [case for case in FUSED.strip().split("\n") if case]
NAMES = ["x", "A", "i", "I", "T", "n", "m", "u", "z"]


def argument_sets():
    rng = np.random.default_rng(0)
    x, a, t = rng.normal(size=20), rng.normal(size=(6, 4)), rng.normal(size=(4, 5, 4))
    i, j, n = rng.integers(-4, 4, 7), rng.integers(0, 4, (3, 2)), rng.integers(0, 4, 20)
    m, u = x > 0, i.clip(0).astype("u1")
    turned = np.asfortranarray
    yield x, a, i, j, t, n, m, u, x + 1j
    yield x[::-1], turned(a), i[::-1], turned(j), t.transpose(2, 1, 0), n[::-1], m, u, x * 1j
    yield x.astype("f4"), a[:, ::-1], i.astype("i4"), j.astype("i2"), turned(t), n.astype("u2"), m[::-1], u, x + 0j
    yield tuple(v[:1] for v in (x, a, i, j, t, n, m, u, x + 1j))
    yield tuple(v[:0] for v in (x, a, i, j, t, n, m, u, x + 1j))


@pytest.mark.parametrize("texts", [CASES[::2], CASES[1::2]], ids=lambda t: t[0])
def test_gathers(texts):
    faults = []
    for text, _, jitted, args, differences in compared(texts, NAMES, list(argument_sets())):
        faults += differences
        records = [r for r in jitted.stats._state.records if r.trace]
        called = [n for r in records for n in r.trace.graph.body.walk() if n.prim.startswith("extern")]
        if len(args[0]) > 1 and (called or any(r.trace.breaks for r in records)):
            faults.append(f"{text}: is called")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "text", ["x[[]]", "x[[True] * 20]", "x[[0.5]]", "A[[0], :, [1]]", "x[i, i]", "A[..., i, ...]", "x[u.astype('u8')]"]
)
def test_other_indices_are_numpys(text):
    plain, jitted = functions(text, NAMES)
    for args in argument_sets():
        assert compare_calls(plain, jitted, args) is None


CHOSEN = """
np.compress(m, x) * 2 + 1
np.compress(n, x)
np.compress(m, x).sum()
np.compress(m[:6], A, axis=0)
np.compress(m[:3], x)
x.compress(m)
np.extract(m, x) * 2
np.extract(A > 0, A)
np.extract(A > 0, A).sum()
np.extract(n, x)
np.extract(T > 1, T)
np.sort(x[m])
np.sort(A[A > 0])
np.sort(z[m])
np.sort(n[m])
np.sort(m[m])
np.sort(T[:, ::2][T[:, ::2] > 0])
"""


@pytest.mark.parametrize("text", [case for case in CHOSEN.strip().split("\n") if case])
def test_chosen_by_masks(text):
    plain, jitted = functions(text, NAMES)
    for args in argument_sets():
        assert compare_calls(plain, jitted, args) is None


def test_chosen():
    """Every size of element, number of elements, and share of chosen ones; masks whose bytes are not 0 and 1."""
    rng = np.random.default_rng(0)
    for dtype in "?bhilqefdFDg":
        for n in (0, 1, 7, 8, 9, 100, 1001):
            for share in (0, 0.1, 0.5, 0.95, 1):
                a, mask = (rng.random(n) * 100).astype(dtype), rng.random(n) < share
                for x, m in (
                    (a, mask),
                    (a[::-1], mask),
                    (a.reshape(-1, 1), mask.reshape(-1, 1)),
                    (a.astype(a.dtype.newbyteorder()), mask),
                ):
                    assert difference(x[m], chosen(x, m)) is None, (dtype, n, share)
    odd = np.array([3, 0, 1], "u1").view(bool)
    assert difference(np.arange(3)[odd], chosen(np.arange(3), odd)) is None
    square = rng.random((7, 9))
    for x in (square, square.T, square[:, ::2]):
        assert difference(x[x > 0.5], chosen(x, x > 0.5)) is None
    with pytest.raises(IndexError, match="boolean index did not match"):
        chosen(np.arange(3), np.array([True]))


def test_elements_read_before_they_change():
    def f(a, i):
        b = a[i]
        a[0] = 99
        c = a[i]
        a[i] = 7
        return b, c, a.sum()

    jitted = npcompile.jit(f, options={"compile": "first"})
    assert compare_calls(f, jitted, (np.arange(5.0), np.array([0, 3, 0]))) is None
    assert jitted.stats.hits == 1


def sums_of_one_index_array(a, i, m):
    return a[i].sum() + a.take(i).sum(), a[m].sum()


def stores_and_a_sum(a, i, m):
    a[i] = 1
    a[i] -= 1
    a[~i] *= 2
    return a[i].sum()


def masks_of_gathers(a, i, m):
    b = a[i][m[i]]
    c = a[i][m[i]]
    a[i] = b[:1]
    return a[i].sum(), c


def a_mean_behind_a_branch(a, i, m):
    if a[i].sum() > a.take(i).sum():
        return 0.0
    return a[m].mean()


@pytest.mark.parametrize("program", [sums_of_one_index_array, stores_and_a_sum, masks_of_gathers, a_mean_behind_a_branch])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_kernels_name_what_they_declare(program, dtype):
    """An index that one kernel holds in a variable has the name of a sum in another."""
    fn = npcompile.jit(program, options={"compile": "first"})
    for _ in range(2):
        args = (np.arange(4).astype(dtype) + 1, np.array([0, 1, 1, 1]), np.array([True, False, True, True]))
        assert compare_calls(program, fn, args) is None
    assert fn.stats.hits == 2
