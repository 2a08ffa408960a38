"""The public face: `jit` on functions and methods, `explain`, `.stats`, errors of `fullgraph`, guards between calls."""

import copy
import inspect
import pickle
import threading
import warnings

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls, compare_outcomes, difference, observe

A, B, C = np.random.default_rng(0).standard_normal((3, 100))


def chain(a, b, c):
    return a * b + c


def decorated(a, b):
    """Doc."""
    return a - b


plain_decorated = decorated
decorated = npcompile.jit(decorated)


def explained(fn, *args):
    """The report of a call that must be compiled throughout, by C++."""
    report = npcompile.explain(fn, *args)
    assert len(report.segments) >= 1 and report.graph_breaks == [] and report.backend == "C++", str(report)
    return report


def test_a_chain_is_one_kernel_with_numpys_bits():
    report = explained(chain, A, B, C)
    assert len(report.kernels) == 1 and report.kernels[0].fused >= 2
    assert difference(chain(A, B, C), report.result) is None
    assert "a" in report.ir and "npc_segment" in report.source and "1 segment" in str(report)


def test_stats_count_compiles_hits_and_the_guard_that_failed():
    f = npcompile.jit(chain)
    for _ in range(3):
        f(A, B, C)
    assert (f.stats.compiles, f.stats.hits, f.stats.plain_calls) == (1, 3, 0)
    f(A.astype("f4"), B, C)
    assert f.stats.compiles == 2 and f.stats.recompiles[0].endswith("argument `a`: dtype float32, compiled for float64")


def test_sizes_do_not_recompile_and_do_not_change_the_text():
    f = npcompile.jit(chain)
    rng = np.random.default_rng(1)
    for n in rng.integers(2, 500, 30):
        x, y, z = rng.standard_normal((3, n))
        assert difference(chain(x, y, z), f(x, y, z)) is None
    assert f.stats.compiles == 1
    small, large = (explained(chain, *np.ones((3, n))).source for n in (10, 10**6))
    assert small == large


def test_broadcast_pattern_compiles_once():
    def g(x, y):
        return np.sqrt(x * x + y)

    f = npcompile.jit(g)
    rng = np.random.default_rng(2)
    for _ in range(30):
        n, m = rng.integers(2, 40, 2)
        x, y = rng.random((n, 1)), rng.random((1, m))
        assert difference(g(x, y), f(x, y)) is None
    assert f.stats.compiles == 1


def test_separable_sines_are_evaluated_once_per_element():
    def g(x, y):
        return np.sin(x**2) + np.cos(y**2)

    report = explained(g, np.ones((30, 1)), np.ones((1, 40)))
    assert sorted(e for k in report.kernels for e in k.evaluations) == [("cos", ("d1_1",)), ("sin", ("d0_0",))]


def test_costly_operations_are_evaluated_once_per_element():
    def softmax(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def distances(x):
        return np.sqrt(np.exp(x).mean(axis=0)) + np.log(x)

    (kernel,) = explained(softmax, np.ones((30, 40))).kernels
    assert kernel.evaluations == [("exp", ("d0_0", "d0_1")), ("div", ("d0_0", "d0_1"))]
    report = explained(distances, np.ones((30, 40)))
    found = {e for k in report.kernels for e in k.evaluations}
    assert {e for e in found if e[0] == "exp"} == {("exp", ("d0_0", "d0_1"))}, found
    assert {e for e in found if e[0] == "sqrt"} == {("sqrt", ("d0_1",))}, found


def test_slice_loop_allocates_nothing_inside():
    def jacobi(u, v, steps):
        for _ in range(steps):
            v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            u, v = v, u
        return u

    u = np.random.default_rng(3).random((20, 30))
    report = explained(jacobi, u.copy(), u.copy(), 1000)
    assert report.allocations_in_loops == 0 and report.copies_in_loops == 0
    assert compare_calls(jacobi, npcompile.jit(jacobi), (u, u.copy(), 1000)) is None


def test_constants_in_loops_take_no_memory():
    def f(x, s, n):
        for _ in range(n):
            x = np.sqrt(x * x + 1.0)
            x = x * s
        return x

    x = np.linspace(0, 1, 1000)
    report = explained(f, x, 0.5, 5)
    assert difference(f(x, 0.5, 5), report.result) is None
    assert all("full" not in k.ops and set(k.ops) & {"mul", "param", "loop"} for k in report.kernels), report.kernels


def test_fastmath_may_round_once_and_has_units_of_its_own():
    def f(x, y, z):
        return x * y + z

    x, y, z = np.random.default_rng(5).standard_normal((3, 4000))
    exact, fast = npcompile.jit(f), npcompile.jit(f, fastmath=True)
    np.testing.assert_array_equal(exact(x, y, z), f(x, y, z))
    np.testing.assert_allclose(fast(x, y, z), f(x, y, z), rtol=0, atol=2e-15)
    report = npcompile.explain(fast, x, y, z)
    assert "fp-contract=fast" in report.source and "fp-contract" not in npcompile.explain(f, x, y, z).source


def test_break_continues_natively():
    def g(x):
        y = x * 2
        s = y.tobytes()
        return y + 1, s

    report = npcompile.explain(g, A)
    assert len(report.segments) == 2 and len(report.graph_breaks) == 1
    brk = report.graph_breaks[0]
    assert brk.line == inspect.getsourcelines(g)[1] + 2 and brk.id in str(report) and brk.hint
    assert difference(g(A), report.result) is None


def test_fullgraph_raises_with_reason_file_line_and_hint():
    @npcompile.jit(fullgraph=True)
    def g(x):
        return x.tobytes()

    with pytest.raises(npcompile.UnsupportedError) as e:
        g(A)
    assert e.value.id and e.value.file == __file__ and e.value.line == inspect.getsourcelines(g.__wrapped__)[1] + 2
    assert e.value.hint and e.value.id in str(e.value)


def test_method_static_class_method_and_property():
    class K:
        def __init__(self, k):
            self.k = k

        @npcompile.jit
        def scale(self, x):
            return x * self.k

        @staticmethod
        @npcompile.jit
        def twice(x):
            return x * 2

        @npcompile.jit
        @classmethod
        def name(cls, x):
            return cls.__name__, x + 1

        @property
        @npcompile.jit
        def half(self):
            return self.k / 2

    k = K(2.5)
    for _ in range(2):
        np.testing.assert_array_equal(k.scale(A), A * 2.5)
        np.testing.assert_array_equal(k.twice(A), A * 2)
        assert k.name(A)[0] == "K" and k.half == 1.25
    k.k = 3.5
    np.testing.assert_array_equal(k.scale(A), A * 3.5)


def test_wrapping_keeps_what_tools_look_at():
    assert decorated.__name__ == "decorated" and decorated.__doc__ == "Doc." and decorated.__wrapped__ is plain_decorated
    assert inspect.signature(decorated) == inspect.signature(plain_decorated)
    assert pickle.loads(pickle.dumps(decorated)) is decorated and copy.deepcopy(decorated) is decorated
    assert npcompile.jit(decorated).__wrapped__ is plain_decorated


def test_other_callables():
    assert npcompile.jit(np.sin) is np.sin
    with pytest.raises(TypeError):
        npcompile.jit(3)
    with pytest.raises(TypeError, match="unknown option"):
        npcompile.jit(chain, options={"no such": 1})

    @npcompile.jit
    def gen(x):
        yield x * 2

    np.testing.assert_array_equal(next(gen(A)), A * 2)


SCALE = 2.0


def test_globals_cells_and_attributes_are_read_again():
    global SCALE
    offset = 1.0

    class Box:
        pass

    box = Box()
    box.v = 3.0

    @npcompile.jit
    def f(x):
        return x * SCALE + offset * box.v

    for SCALE, offset, box.v in ((2.0, 1.0, 3.0), (4.0, 1.0, 3.0), (4.0, 2.0, 3.0), (4.0, 2.0, 5.0), (4, np.float32(2), A)):  # noqa: B007
        assert difference(f.__wrapped__(A), f(A)) is None
    SCALE = 2.0


def test_disable_and_hot():
    f = npcompile.jit(chain, disable=True)
    f(A, B, C)
    assert f.stats.compiles == 0 and f.stats.state == "plain"
    g = npcompile.jit(chain, options={"compile": "hot"})
    g(A, B, C)
    assert g.stats.compiles == 0
    g(A, B, C)
    assert g.stats.compiles == 1


def test_a_function_with_nothing_to_compile_goes_back_to_plain():
    @npcompile.jit
    def f(d):
        return sorted(d.items())

    for i in range(10):
        assert f({"b": i, "a": 1}) == [("a", 1), ("b", i)]
    assert f.stats.compiles <= 3


def test_threads_compile_once_each_pattern_and_agree():
    def g(x, y):
        return np.exp(-x) * y

    f = npcompile.jit(g)
    want, got = g(A, B), []

    def work():
        for _ in range(50):
            got.append(f(A, B))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert f.stats.compiles == 1 and all(difference(want, r, "ulp") is None for r in got)


@pytest.mark.parametrize(
    "x",
    [
        [1, 2],
        (1.0, 2),
        np.ma.masked_array([[1.0, 2]]),
        np.ma.masked_array([1.0, 2], [0, 1]),
        np.array([1, "a"], object),
        A.astype(">f8"),
        3,
        2.5,
    ],
    ids=lambda x: type(x).__name__,
)
def test_foreign_arguments_give_numpys_answer(x):
    def g(x, y):
        return np.add(x, 1) * 2, y - 1

    for _ in range(2):
        assert compare_calls(g, npcompile.jit(g), (x, A)) is None


def test_errors_are_the_genuine_ones():
    def g(a, b):
        c = a + 1
        return c + b

    f = npcompile.jit(g)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(100,\) \(7,\)") as e:
            f(A, A[:7])
        assert e.traceback[-1].lineno + 1 == inspect.getsourcelines(g)[1] + 2


def test_no_compiler_runs_plain_and_says_so_once(monkeypatch):
    from npcompile import units

    monkeypatch.setenv("NPCOMPILE_CXX", "no-such-compiler-here")
    units.compiler.cache_clear()
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            f, g = npcompile.jit(chain), npcompile.jit(lambda x: x + 1)
            for _ in range(2):
                assert difference(chain(A, B, C), f(A, B, C)) is None
                g(A)
        assert [w.category for w in seen] == [npcompile.NpcompileWarning] and "no-such-compiler-here" in str(seen[0].message)
    finally:
        monkeypatch.undo()
        units.compiler.cache_clear()


def test_reference_backend_and_a_backend_of_ones_own():
    f = npcompile.jit(chain, backend="reference")
    assert compare_calls(chain, f, (A, B, C)) is None and f.stats.hits == 1
    seen = []

    def mine(graph, spec):
        seen.append(graph)
        return npcompile.backends.reference(graph, spec)

    g = npcompile.jit(chain, backend=mine)
    assert compare_calls(chain, g, (A, B, C)) is None and len(seen) == 1
    with pytest.raises(ValueError, match="unknown backend"):
        npcompile.jit(chain, backend="no such")


def test_a_program_checked_pass_by_pass():
    def g(x, n):
        for i in range(n):
            x = x * 1 + i
        return x, 0 - x

    assert compare_calls(g, npcompile.jit(g, options={"debug_passes": True}), (A, 11)) is None
    assert compare_calls(g, npcompile.jit(g, options={"fuel": 0}), (A, 11)) is None


def test_all_and_any_end_early_only_when_nothing_else_is_done_on_the_way():
    def f(a, b):
        d = a - b
        return d, np.all(np.abs(d) < 0.5), np.any(d > 0.0)

    def g(a):
        return np.all(np.sqrt(a) < 0.5), np.any(a > 0.0)

    a, b = np.random.default_rng(1).standard_normal((2, 5000))
    report = explained(f, a, b)
    assert compare_calls(f, npcompile.jit(f), (a, b)) is None, report
    a = np.abs(a)
    a[-1] = -1.0
    assert compare_calls(g, npcompile.jit(g), (a,)) is None


def test_underflow_that_warns_is_left_to_numpy():
    def f(a):
        return a * a

    jitted, a = npcompile.jit(f), np.array([1e-200, 1.0])
    for mode in ("ignore", "warn", "ignore"):
        with np.errstate(under=mode):
            assert compare_calls(f, jitted, (a,)) is None
    assert jitted.stats.hits == 2 and jitted.stats.plain_calls == 1


def test_fullgraph_compiles_at_the_first_call_and_says_so():
    f = npcompile.jit(lambda x: np.save(x, x), fullgraph=True, options={"compile": "hot"})
    with pytest.raises(npcompile.UnsupportedError):
        f(np.ones(4))


@pytest.mark.parametrize("wrong", [{"mode": "fast"}, {"dynamic": 3}, {"device": "tpu"}, {"backend": "fortran"}])
def test_options_that_no_part_understands_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        npcompile.jit(lambda x: x, **wrong)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_conditions_of_several_scalars_are_looked_at_together(dtype):
    def f(a, b, c):
        return np.spacing(a) - b, (a * c + b) / c

    jitted = npcompile.jit(f)
    for args in ((2, 3, 7), (2, 3, 0), (np.inf, 3, 7), (60000, 3, 60000)):
        args = tuple(map(dtype, args))
        assert compare_outcomes(observe(f, args), observe(jitted, args)) is None
    assert jitted.stats.compiles == 1


def test_a_number_read_by_way_of_an_index_array():
    def whole(x, i):
        return x[i][0] * 2 + x[np.invert(~i)][-1], tuple(x[i] + 1)

    def axes(shape, axis):
        rest = np.delete(np.arange(len(shape)), axis)
        return tuple(np.array(shape)[rest])

    for fn, *calls in (
        (whole, (A, np.array([2])), (A, np.array([3], "i4")), (A, np.array([1], "u1"))),
        (axes, ((3, 4), 1), ((3, 4, 5), (0, 2)), ((3, 4, 5), 0)),
    ):
        jitted = npcompile.jit(fn)
        for args in calls:
            assert compare_outcomes(observe(fn, args), observe(jitted, args)) is None
            assert len(npcompile.explain(fn, *args).segments) == 1


@pytest.mark.parametrize(
    "ufunc", [np.exp, np.tanh, np.cbrt, np.arctan2, np.power, np.hypot, np.multiply, np.sqrt], ids=lambda u: u.__name__
)
@pytest.mark.parametrize(("narrow", "wide"), [("f4", "f8"), ("f2", "f4"), ("i2", "f8"), ("F", "D"), ("f4", "D")])
def test_an_out_of_more_digits_shows_no_rounding_of_ours(ufunc, narrow, wide):
    """NumPy's own bits: an ulp of the narrow dtype is far off in the wide one."""
    rng = np.random.default_rng(3)
    args = [rng.uniform(1, 3, (3, 40)).astype(narrow) for _ in range(ufunc.nin)] + [np.zeros((3, 40), wide)]
    if narrow == "F" and ufunc.types.count("FF->F") + ufunc.types.count("F->F") == 0:
        return

    def f(*args):
        return ufunc(*args[:-1], out=args[-1]) + 1

    jitted = npcompile.jit(f)
    for _ in range(2):
        assert compare_outcomes(observe(f, args), observe(jitted, args)) is None
    assert not npcompile.explain(f, *args).graph_breaks


def test_bools_of_any_byte():
    """A view of bytes as bools holds others than 0 and 1; NumPy takes all but 0 for true."""
    a = np.array([0, 1, 2, 255, 128, 0, 3, 64] * 9, "u1").view(bool)

    def f(a, b):
        return (
            a.sum(),
            np.count_nonzero(a),
            a.mean(),
            a + 0.5,
            a.astype("i4"),
            a & b,
            a | b,
            a ^ b,
            ~a,
            a.astype("F"),
            a.sum(dtype="f2"),
        )

    jitted = npcompile.jit(f, options={"compile": "first"})
    for args in ((a, a[::-1]), (a[::2], a[1::2])):
        plain, ours = f(*args), jitted(*args)
        assert difference(plain, ours, "exact") is None
        assert [x.tobytes() for x in plain[5:9]] == [x.tobytes() for x in ours[5:9]]
    assert len(npcompile.explain(f, a, a).segments) == 1


def test_sizes_beyond_memory():
    """What only NumPy knows to be too much is left to it, where a handler can catch the error."""

    def made(n, m):
        try:
            np.empty((n, m))
            return np.arange(m)[:3], np.zeros((m, n)).shape, np.eye(n)[0, 0], np.empty(n).size
        except (MemoryError, ValueError) as e:
            return type(e), str(e)

    def fixed():
        out = []
        for n in (2**64, 2**62, (2**40, 2**40), (2**31, 2**31), 2**46):
            try:
                np.zeros(n)
                out.append(n)
            except (MemoryError, ValueError) as e:
                out.append(str(e))
        return out

    jitted = npcompile.jit(made, options={"compile": "first"})
    for n, m in ((3, 4), (2**64, 3), (2**62, 3), (3, 2**45), (2**31, 2**31), (2**40, 2**40), (5, 3)):
        assert compare_calls(made, jitted, (n, m)) is None
    assert jitted.stats.compiles
    assert compare_calls(fixed, npcompile.jit(fixed, options={"compile": "first"}), ()) is None


def test_copy_that_is_no_truth_value():
    def f(a, how):
        return np.array(a, copy=how)

    jitted = npcompile.jit(f, options={"compile": "first"})
    for how in (True, None, "always", 1):
        assert compare_calls(f, jitted, (np.arange(3), how)) is None
