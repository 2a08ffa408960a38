"""Functions of NumPy and SciPy called from inside segments: whole expressions against plain Python, compiled without a break."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from library_cases import CASES, SCIPY
from scipy import fft, linalg, ndimage, signal, special

import npcompile
from npcompile.frontends.numpy import library
from npcompile.testing import compare_outcomes, difference, observe, precompile

NAMES = ["x", "y", "i", "m", "A", "B", "S", "T", "z", "n", "s", "k", "q"]
SPACE = {"np": np, "special": special, "linalg": linalg, "fft": fft, "signal": signal, "ndimage": ndimage}
SIZE = 40


def operands(size, seed, dtype="f8", turned=False):
    """`turned`: reversed, transposed and strided ones."""
    rng = np.random.default_rng(seed)

    def vector(v):
        return np.repeat(v, 2)[::-2] if turned else v

    def matrix(a):
        return np.asfortranarray(a) if turned else a

    x, y = (rng.normal(size=size).astype(dtype) for _ in range(2))
    a, b = (rng.normal(size=(6, 4)).astype(dtype) for _ in range(2))
    spd = rng.normal(size=(6, 6))
    spd = (spd @ spd.T + 6 * np.eye(6)).astype(dtype)
    t = rng.normal(size=(4, 5, 4)).astype(dtype)
    z = (rng.normal(size=size) + 1j * rng.normal(size=size)).astype("c16" if dtype == "f8" else "c8")
    i = rng.integers(0, 4, size)
    s = np.sort(rng.normal(size=size)).astype(dtype)
    out = {"x": x, "y": y, "i": i, "m": rng.random(size) > 0.5, "z": z, "n": rng.integers(0, 9, size)}
    out = {k: vector(v) for k, v in out.items()}
    out |= {
        "A": matrix(a),
        "B": matrix(b),
        "S": matrix(spd),
        "T": t.transpose(2, 1, 0).copy().transpose(2, 1, 0) if turned else t,
    }
    return [{**out, "s": s, "k": 3, "q": 0.4}[name] for name in NAMES]


def functions(text):
    scope = dict(SPACE)
    body = text.replace("; out = ", "\n    return ") if "out = " in text else f"return {text}"
    exec(compile(f"def f({', '.join(NAMES)}):\n    {body}\n", f"<{text}>", "exec"), scope)
    return scope["f"], npcompile.jit(scope["f"], options={"compile": "first"})


def check(texts, argument_sets):
    calls = []
    for text in texts:
        plain, jitted = functions(text)
        calls += [(text, plain, jitted, args) for args in argument_sets]
    precompile((jitted, args) for _, _, jitted, args in calls)
    fails = {text for text, plain, _, args in calls if observe(plain, args).error is not None}
    faults = []
    for text, plain, jitted, args in calls:
        expected = observe(plain, args)
        breaks = [b.reason + " " + b.detail for r in jitted.stats._state.records if r.trace for b in r.trace.breaks]
        if breaks and text not in fails:
            faults.append(f"{text}: {breaks}")
        for _ in range(2):
            fault = compare_outcomes(expected, observe(jitted, args), "ulp")
            if fault:
                faults.append(f"{text} [{args[0].dtype}, {args[0].size}]: {fault}")
        if expected.error is None and not breaks and not jitted.stats.hits:
            faults.append(f"{text}: no compiled code ran: {jitted.stats}")
    assert not faults, "\n".join(faults)


def batches(texts):
    return [texts[k : k + SIZE] for k in range(0, len(texts), SIZE)]


@pytest.mark.parametrize("texts", batches(CASES + SCIPY), ids=lambda t: t[0])
def test_expressions(texts):
    check(texts, [operands(20, 1), operands(35, 2), operands(20, 3, "f4", turned=True)])


@pytest.mark.parametrize("texts", batches(CASES), ids=lambda t: t[0])
def test_empty_and_nan(texts):
    """Errors of NumPy on empty vectors are its own; NaN and infinities pass through."""
    odd = operands(20, 4)
    odd[0] = odd[0].copy()
    odd[0][[3, 5, 7, 9]] = np.nan, np.inf, -np.inf, -0.0
    check(texts, [odd, operands(0, 5)])


STORES = """
x[i] = y[i]
x[i] += 1
x[i] -= y[i] * 2
x[i] = i
x[m] = y[m]
x[m] += y[m]
x[x > q] = x[x > q] ** 2
x[m] = y[m][::-1]
x[i] = x[i][::-1]
x[::2][m[::2]] = 7
A[i] = 0
A[i] = B[i] + 1
A[i, 1] = 5
A[:, i] = B[:, i]
A[i, i] += 2
A[[0, 2]] = A[[2, 0]]
A[m[:4].repeat(2)[:6]] = 1
A[A > 0] = np.sort(A[A > 0])
A[np.ix_([0, 2], [1, 3])] = 9
A[np.nonzero(A > 0)] = -1
T[i, :, 1] = 3
T[..., i] *= 2
np.add.at(x, i, 1)
np.add.at(x, i, y[i])
np.subtract.at(A, (i, 1), 2)
np.maximum.at(x, i, 0.5)
np.put(x, i, y[i])
np.putmask(x, m, y)
np.place(x, m, [1, 2, 3])
np.copyto(x, y, where=m)
np.fill_diagonal(A, 7)
np.put_along_axis(A, np.argsort(A, axis=1)[:, :1], 99, axis=1)
x.put(i, 3)
x.sort()
A.sort(axis=0)
A.sort()
x[::2].sort()
x.partition(2)
x *= np.sort(y)
x[:] = np.sort(x)[::-1]
x[1:] = np.cumsum(x)[:-1]
z[i] = x[i]
n[i] = n[i] * 2
n[n > 3] = 0
x[i] = 1; x[i] = x[i] + 1
x += 1; x[i] = 0; x *= 2
y[i] = x[i]; x[:] = y
""".strip().splitlines()


def test_stores():
    check(
        [f"{text}; out = x, y, A, T, z, n" for text in STORES],
        [operands(20, 1), operands(35, 2), operands(20, 3, "f4", turned=True)],
    )


def test_stores_of_nothing_and_out_of_range():
    """Errors of NumPy come with everything before them done, and nothing of what raised."""
    odd = operands(20, 4)
    odd[2] = np.array([0, 3, 77])
    check([f"x += 1; {text}; out = x, y, A, T, z, n" for text in STORES], [odd, operands(0, 5)])


def test_stores_in_loops():
    def f(x, i, n):
        h = np.zeros(8)
        for k in range(n):
            np.add.at(h, i, x[i] * k)
            x[i] = np.sort(x)[i] + k
        return h, x

    g = jit(f)
    rng = np.random.default_rng(3)
    x, i = rng.normal(size=9), rng.integers(0, 8, 12)
    report = npcompile.explain(g, x.copy(), i, 5)
    assert len(report.segments) == 1 and not report.graph_breaks
    for n in (0, 1, 7):
        a, b = x.copy(), x.copy()
        expected, got = f(a, i, n), g(b, i, n)
        assert got[1] is b
        np.testing.assert_array_equal(expected[0], got[0])
        np.testing.assert_array_equal(a, b)


def test_what_warns_as_an_error_is_done_once():
    def f(x, i):
        np.multiply.at(x, i, 1e308)
        return x

    g = jit(f)
    i = np.array([0, 1, 1])
    g(np.ones(3), i)
    a, b = np.full(3, 1.0), np.full(3, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fn, x in ((f, a), (g, b)):
            with pytest.raises(RuntimeWarning):
                fn(x, i)
    np.testing.assert_array_equal(a, b)


def jit(f):
    return npcompile.jit(f, options={"compile": "first"})


def test_called_in_loops():
    def f(x, n):
        total = 0.0
        for k in range(n):
            y = x * k
            total += np.median(y) + np.sort(y)[0]
            x = np.roll(np.sort(x), 1, axis=0)
        return total, x

    x = np.random.default_rng(0).normal(size=31)
    g = jit(f)
    report = npcompile.explain(g, x, 9)
    assert len(report.segments) == 1 and not report.graph_breaks
    for n in (0, 1, 2, 9):
        expected, got = f(x, n), g(x, n)
        assert expected[0] == got[0] and type(expected[0]) is type(got[0])
        np.testing.assert_array_equal(expected[1], got[1])


def test_results_that_differ_from_the_guess_leave():
    def f(x, n):
        return np.resize(x, n) + 1, np.sort(x)

    g = jit(f)
    x = np.arange(5.0)
    for n in (3, 7, 100, 1, 0):
        for a, b in zip(f(x, n), g(x, n)):
            np.testing.assert_array_equal(a, b)

    def eig(a):
        return np.linalg.eigvals(a) * 2

    h = jit(eig)
    real, turning = np.diag([1.0, 2.0]), np.array([[0.0, -1.0], [1.0, 0.0]])
    for a in (real, turning, real):
        got = h(a)
        assert got.dtype == eig(a).dtype
        np.testing.assert_array_equal(got, eig(a))


def test_lengths_computed_from_values():
    def f(x, m, n):
        a = np.arange(m.sum()) * 2
        b = np.zeros(int(abs(x[0]) * 3))
        c = np.empty(m.sum())
        c[:] = x[m]
        total = 0.0
        for i in range(n):
            total += np.ones(int(abs(x[i]) * 3)).sum()
        return a, b, c, np.linspace(0, 1, m.sum()), total

    g = jit(f)
    rng = np.random.default_rng(1)
    for k in range(6):
        x = rng.normal(size=7)
        m = x > 0 if k % 2 else np.arange(7) < k // 2
        assert not npcompile.explain(g, x, m, 7).graph_breaks
        for a, b in zip(f(x, m, 7), g(x, m, 7)):
            np.testing.assert_array_equal(a, b)
    assert g.stats.compiles <= 3 and g.stats.hits
    with pytest.raises(ValueError, match="negative dimensions"):
        jit(lambda x: np.zeros(int(x[0])))(np.array([-3.0]))


def test_errors_are_the_functions_own():
    def f(a, b):
        a += 1
        y = np.linalg.inv(a)
        b[0] = 5.0
        return y

    g = jit(f)
    b = np.zeros(2)
    g(np.eye(3), b)
    a, b = np.full((3, 3), -1.0), np.zeros(2)
    with pytest.raises(np.linalg.LinAlgError, match="Singular") as e:
        g(a, b)
    assert a[0, 0] == 0.0 and b[0] == 0.0
    assert e.traceback[1].lineno + 1 == f.__code__.co_firstlineno + 2


def test_warnings_come_from_the_line_of_the_call():
    def f(x, y):
        a = x / y
        b = np.add.accumulate(y / x)
        return a, b, np.polyfit(y, y, 2)

    def seen(fn):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            fn(np.zeros(3), np.array([0.0, 1.0, 1.0]))
        return [(w.category, str(w.message), w.filename, w.lineno) for w in found]

    g = jit(f)
    assert len(seen(f)) >= 3 and not npcompile.explain(g, np.zeros(3), np.array([0.0, 1.0, 1.0])).graph_breaks
    assert seen(g) == seen(f)


def test_finding_out_what_functions_return_leaves_the_warnings_machinery_alone():
    def f(z, x):
        return z.sum(dtype=np.int64), np.cov(x[:1]), np.sort(x)

    code = compile("import warnings\ndef warn(): warnings.warn('once', UserWarning, stacklevel=2)\n", "w.py", "exec")
    space = {}
    exec(code, space)
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        before = list(warnings.filters)
        for _ in range(2):
            exec(compile("warn()", "there.py", "exec"), space)
            npcompile.explain(jit(f), np.ones(3, "c16"), np.arange(3.0), run=False)
        assert warnings.filters == before
    assert [str(w.message) for w in found if w.category is UserWarning] == ["once"]


def test_conditions_of_earlier_operations_are_reported_before_a_call_warns():
    def f(x, y, i):
        a = np.log(x)
        b = np.median(1 / x)
        c = np.sqrt(x)
        y[i] = 1j * y[i]
        return a * b, c + np.interp(x, y, a / 0)

    g = jit(f)
    args = [np.array([-1.0, 0.0, 2.0]), np.arange(3.0), np.array([0, 2])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not npcompile.explain(g, *args).graph_breaks
    plain, compiled = observe(f, args), observe(g, args)
    assert len(plain.warnings) >= 5 and compare_outcomes(plain, compiled, "ulp") is None


@pytest.mark.parametrize("values", [[1.0, 3.0, 2.0], [1e-320, 1e10, 1.0], [np.inf, 1.0, 2.0], [0.0, 0.0, 0.0]])
def test_what_warns_and_then_raises_warns_once(values):
    def f(c):
        return np.roots(c) * 2

    def g(c):
        return np.polyfit(c, c, 2) * 2

    for plain in (f, g):
        jitted = jit(plain)
        assert not npcompile.explain(jitted, np.array([1.0, 3.0, 2.0])).graph_breaks
        text = compare_outcomes(observe(plain, [np.array(values)]), observe(jitted, [np.array(values)]), "factorisation")
        assert text is None, text


def test_put_of_complex_values_warns_once_before_it_raises():
    def f(x, i, v):
        np.put(x, i, v)
        return x * 2

    args = [np.arange(4.0), np.array([0, 1, 99]), np.array([1j, 2.0, 3.0])]
    outcomes = [observe(g, args) for g in (f, jit(f))]
    assert len(outcomes[0].warnings) == 1 and isinstance(outcomes[0].error, IndexError)
    assert compare_outcomes(*outcomes) is None


def test_functions_that_store_to_an_argument_are_not_called_twice():
    def smooth(x):
        return ndimage.uniform_filter1d(x, 3, -1, x) * 2

    def convolve(x):
        return ndimage.convolve1d(x, np.ones(3), output=x) * 2

    def gaussian(x):
        ndimage.gaussian_filter(x, 1, 0, x)
        return x * 2

    def typed(x):
        return ndimage.gaussian_filter(x, 1, output=np.float32) * 2

    def grids(x):
        a, b = np.meshgrid(x, x, copy=False)
        a[0, 0] = 9.0
        return a + b

    def broadcast(x):
        return stored(np.broadcast_arrays(x, np.ones((1, 5)))[0]) * 2

    def stored(a):
        b = a + 1
        a[0, 0] = 3.0
        return a + b

    def numbers(x):
        y = np.nan_to_num(x, copy=False)
        y += 1
        return y * 2

    def shared():
        return np.broadcast_arrays(np.arange(5.0), np.ones((1, 5)))[0]

    for f in (smooth, convolve, gaussian, typed, grids, broadcast, stored, numbers):
        g = jit(f)
        for make in (lambda: np.arange(5.0), lambda: np.ones(5)) if f is not stored else (shared, shared):
            outcomes = []
            for call in (f, g):
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    a = make()
                    outcomes.append((call(a), a, [(str(w.message), w.lineno) for w in found]))
            text = difference(*outcomes)
            assert text is None, text


def test_results_are_fresh_and_keep_their_identity():
    def f(x, i):
        y = x[i]
        z = y
        y += 1
        y[0] = 7.0
        return y, z, x

    g = jit(f)
    x, i = np.arange(6.0), np.array([3, 1])
    a, b, c = g(x, i)
    assert a is b and c is x and a.base is None and a.tolist() == [7.0, 2.0] and x.tolist() == list(range(6))


def test_elements_chosen_by_a_mask_stay_one_object():
    def f(x, m):
        y = x[m]
        z = y
        first = y.cumsum()
        y[0] = 100.0
        y *= 2
        return y, z, first

    g = jit(f)
    x, m = np.arange(6.0), np.array([True, False, True, True, False, True])
    expected, got = f(x.copy(), m), g(x, m)
    assert got[0] is got[1] and not npcompile.explain(g, x, m).graph_breaks
    for a, b in zip(expected, got):
        np.testing.assert_array_equal(a, b)


def test_nothing_is_called_that_has_effects():
    def f(x):
        np.random.seed(3)
        return np.random.rand(2) + x, np.apply_along_axis(lambda v: v[0], 0, x)

    x = np.arange(2.0)
    g = jit(f)
    for _ in range(2):
        for a, b in zip(f(x), g(x)):
            np.testing.assert_array_equal(a, b)


def test_a_size_asked_for_at_run_time():
    """Ints of the trial calls are no lengths of the results."""

    def f(x, n):
        return np.histogram(x, n)[0] / np.histogram(x, n, weights=x * 2)[0].sum() + np.bincount(np.arange(3), minlength=n * 2)[:n]

    jitted = npcompile.jit(f, options={"compile": "first"})
    x = np.random.default_rng(0).normal(size=300)
    for n in (100, 70, 9):
        assert compare_outcomes(observe(f, (x, n)), observe(jitted, (x, n))) is None
    assert jitted.stats.compiles == 1
    assert not npcompile.explain(f, x, 100).graph_breaks


def type_of_values(a):
    """What it returns depends on values, as in `np.linalg.eigvals`."""
    type_of_values.calls += 1
    return a.copy() if a.size < 30 else a[:3] + 0j


def test_a_call_that_comes_otherwise_is_not_made_twice_for_ever(monkeypatch):
    entry = type_of_values, f"{__name__}.type_of_values"
    monkeypatch.setitem(library._listed(), id(type_of_values), entry)
    monkeypatch.setattr(type_of_values, "calls", 0, raising=False)
    jitted = npcompile.jit(lambda a: type_of_values(a * 2) + a[:3], options={"compile": "first"})
    for n in (3, 40):
        a = np.arange(float(n))
        jitted(a[:3])
        before = type_of_values.calls
        for _ in range(50):
            assert difference(type_of_values(a * 2) + a[:3], jitted(a)) is None
        assert type_of_values.calls - before <= 110, n
    a = np.arange(3.0)
    for _ in range(1000):  # but tried again
        jitted(a)
    before = type_of_values.calls
    jitted(a)
    assert type_of_values.calls == before + 1


COUNTED = """
np.nonzero(x)[0] * 2
np.flatnonzero(x) + np.flatnonzero(x > 0).sum()
np.unique(x) + 1
np.unique(n) * 2
np.bincount(n) / 2
np.compress(x > 0, x) * 2
np.argwhere(x > 0) + 1
x[x > 0] * 2
np.extract(m, x) - 1
np.union1d(x, n) * 2
np.setdiff1d(n, x) * 2
np.nonzero(A)[1] + 1
np.repeat(x, n) * 2
"""


@pytest.mark.parametrize("text", COUNTED.split("\n")[1:-1])
def test_sizes_that_values_decide_are_no_sizes_of_operands(text):
    """One segment takes all calls, from beginning to end."""
    plain, jitted = functions(text)
    for seed, zeros in ((1, 0), (2, 1), (3, 4), (4, 9)):
        args = operands(20, seed)
        args[0][:zeros] = 0
        args[9][:zeros] = 7
        args[4].ravel()[:zeros] = 0
        assert compare_outcomes(observe(plain, args), observe(jitted, args)) is None, (text, zeros)
    assert jitted.stats.compiles == 1, [r.cause for r in jitted.stats._state.all_records]


def test_a_function_that_refuses_in_its_first_call_of_the_process():
    """NumPy imports the exception then, and crashes where the caller's namespace has no `__builtins__`."""
    script = (
        "import numpy as np, npcompile\n"
        "f = npcompile.jit(lambda a, b: np.bitwise_and.outer(a, b), options={'compile': 'first'})\n"
        "try:\n    f(np.ones(3), np.ones((2, 2)))\n"
        "except TypeError as e:\n    print(type(e).__name__)\n"
    )
    run = subprocess.run([sys.executable, "-P", "-c", script], text=True, capture_output=True)
    assert (run.returncode, run.stdout) == (0, "TypeError\n"), run.stderr


def test_a_class_made_in_a_function_as_an_argument():
    class Own:
        pass

    def f(x):
        y = x * 2
        try:
            np.isnan(Own)
        except TypeError:
            return y

    jitted = npcompile.jit(f, options={"compile": "first"})
    for _ in range(2):
        assert compare_outcomes(observe(f, (np.arange(3.0),)), observe(jitted, (np.arange(3.0),))) is None
    assert jitted.stats.compiles == 1


UNKNOWN_SIZES = """
x[x > 0] @ y[x > 0]
np.unique(x) @ np.unique(y)
np.dot(A[A[:, 0] > -9], B[np.flatnonzero(B[:, 0] > -9)].T)
x[m] * y[np.flatnonzero(m)]
x[m][y[m] > 0] * 2
x[m][np.flatnonzero(m) > 3] + 1
np.concatenate([A[A[:, 0] > 0].T, B[A[:, 0] > 0].T])
np.stack([x[m], np.compress(m, y)]) * 2
np.vstack((x[m], y[m])).T @ np.ones(2)
np.where(x[m] > 0, np.compress(m, y), 0)
(x[m] > 0).sum() + (y[m] <= x[m]).mean() + np.all(x[m] != 0)
A[A[:, 0] > 0].reshape(-1, 1) + np.unique(A)
A[:, A[0] > -9] @ np.unique(np.arange(4.0))
np.unique(x).reshape(4, 5) * 2
x[m] += y[np.flatnonzero(m)]; out = x
y[x[m] > 0] = 3.0; out = y
"""


@pytest.mark.parametrize("text", UNKNOWN_SIZES.split("\n")[1:-1])
def test_sizes_that_only_a_call_tells_fit_one_another(text):
    """Compiled without a break; where they do not fit, NumPy raises."""
    plain, jitted = functions(text)
    for seed in (1, 2, 3):
        for size in (20, 24):
            args = operands(size, seed)
            args[0][seed] = 0.0
            assert compare_outcomes(observe(plain, args), observe(jitted, args), "contraction") is None, (text, seed, size)
    args = operands(20, 1)
    if observe(plain, args).error is None:
        assert [(b.id, b.detail) for b in npcompile.explain(plain, *args).graph_breaks] == []
