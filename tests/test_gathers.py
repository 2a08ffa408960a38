"""Index arrays, `take` and `choose` against NumPy, fused: no call of the function remains."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls, compare_outcomes, observe, precompile

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
NAMES = ["x", "A", "i", "I", "T", "n", "m", "u"]


def argument_sets():
    rng = np.random.default_rng(0)
    x, a, t = rng.normal(size=20), rng.normal(size=(6, 4)), rng.normal(size=(4, 5, 4))
    i, j, n = rng.integers(-4, 4, 7), rng.integers(0, 4, (3, 2)), rng.integers(0, 4, 20)
    m, u = x > 0, i.clip(0).astype("u1")
    turned = np.asfortranarray
    yield x, a, i, j, t, n, m, u
    yield x[::-1], turned(a), i[::-1], turned(j), t.transpose(2, 1, 0), n[::-1], m, u
    yield x.astype("f4"), a[:, ::-1], i.astype("i4"), j.astype("i2"), turned(t), n.astype("u2"), m[::-1], u
    yield tuple(v[:1] for v in (x, a, i, j, t, n, m, u))
    yield tuple(v[:0] for v in (x, a, i, j, t, n, m, u))


def functions(text):
    scope = {"np": np}
    exec(compile(f"def f({', '.join(NAMES)}):\n    return {text}\n", f"<{text}>", "exec"), scope)
    return scope["f"], npcompile.jit(scope["f"], options={"compile": "first"})


@pytest.mark.parametrize("texts", [CASES[::2], CASES[1::2]], ids=lambda t: t[0])
def test_gathers(texts):
    calls = [(text, *functions(text), args) for text in texts for args in argument_sets()]
    precompile((jitted, args) for _, _, jitted, args in calls)
    faults = []
    for text, plain, jitted, args in calls:
        expected = observe(plain, args)
        for _ in range(2):
            fault = compare_outcomes(expected, observe(jitted, args), "ulp")
            if fault:
                faults.append(f"{text} [{args[0].dtype}, {args[0].size}]: {fault}")
        records = [r for r in jitted.stats._state.records if r.trace]
        called = [n for r in records for n in r.trace.graph.body.walk() if n.prim.startswith("extern")]
        if len(args[0]) > 1 and (called or any(r.trace.breaks for r in records)):
            faults.append(f"{text}: is called")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "text", ["x[[]]", "x[[True] * 20]", "x[[0.5]]", "A[[0], :, [1]]", "x[i, i]", "A[..., i, ...]", "x[u.astype('u8')]"]
)
def test_other_indices_are_numpys(text):
    plain, jitted = functions(text)
    for args in argument_sets():
        assert compare_calls(plain, jitted, args) is None


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
