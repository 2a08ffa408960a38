"""Straight-line code: expressions, containers, helpers, closures, conditions known at trace time."""

import math
import subprocess
import sys
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
from tracer_harness import bound, check

from npcompile.tracer import Refused, reasons, replay, trace

X = np.linspace(-2.0, 3.0, 12)
M = np.arange(12.0).reshape(3, 4)
SCALE = 2.5
TABLE = np.arange(4.0)


def test_expression():
    def f(a, b):
        return a * b + 2

    assert check(f, X, X + 1).n_work > 0


def test_returned_containers():
    def f(a, n):
        b = a + n
        return b, n * 2, [n, a, b], {"k": n + 1, "b": b}, (1, "x", None), slice(n, None), range(n)

    check(f, X, 3)


def test_identity_of_returned_objects():
    def f(a):
        b = a + 1
        return b, b, a

    r = trace(f, (X,))
    p, q, a = replay.run(r, f, (X,))
    assert p is q and a is X


def helper(u, v=3, *, k=2):
    return u * k + v


def variadic(u, *rest, **named):
    return u + rest[0] + named["z"] + len(rest)


def test_helpers_are_inlined():
    def f(a, n):
        t = (a, 1)
        d = {"z": n}
        return helper(a), helper(a, n), helper(v=a, u=n), helper(a, k=n), variadic(a, n, 2, z=3), variadic(*t, **d)

    check(f, X, 3)


def test_closures_and_lambdas():
    bonus = 4.0

    def f(a):
        acc = a + 1

        def inner(k):
            nonlocal acc
            acc = acc * k
            return acc + bonus

        g = lambda u: u - inner(2)  # noqa: E731
        return g(a), acc, [k * a for k in (1, 2)], {k: a * len(k) for k in ("p", "q")}

    check(f, X)


def test_function_made_in_the_segment_is_returned():
    def f(a):
        b = a * 2

        def g(c=1, *, d=2):
            return b, c, d

        return g

    r = trace(f, (X,))
    g = replay.run(r, f, (X,))
    b, c, d = g()
    assert np.array_equal(b, X * 2) and (c, d) == (1, 2)


def test_globals_are_inputs():
    def f(a):
        return a * SCALE + TABLE[1]

    check(f, X)
    r = trace(f, (X,))
    global SCALE
    old = SCALE
    SCALE = 7.0
    try:
        assert np.array_equal(replay.run(r, f, (X,)), X * 7.0 + 1.0)
    finally:
        SCALE = old


def test_attributes_of_instances():
    class Box:
        factor = 3.0

        def __init__(self):
            self.a = X.copy()
            self.n = 2

        @property
        def twice(self):
            return self.a * 2

        def times(self, k):
            return self.a * k * self.factor

        @staticmethod
        def plus(u):
            return u + 1

        @classmethod
        def name(cls, u):
            return u - 1

    def f(box):
        return box.twice + box.times(box.n), box.plus(box.a), box.name(box.a)

    check(f, Box(), args_out=False)
    check(lambda s: s.u * s.k, SimpleNamespace(u=X, k=3), args_out=False)


def test_callable_objects_and_bound_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        def __call__(self, a):
            return self.scale(a) + 1

        def scale(self, a):
            return a * self.w

    model = Model(3.0)
    method = model.scale

    def f(a, m):
        return m(a), model(a), method(a)

    check(f, X, model, args_out=False)
    check(Model.scale, model, X, args_out=False)


def test_a_method_hidden_by_its_instance():
    class Model:
        def scale(self, a):
            return a * 2

    def f(m, a):
        return m.scale(a)

    m = Model()
    r = trace(f, (m, X))
    m.scale = lambda a: a * 3
    with pytest.raises((replay.GuardFailed, AttributeError)):
        replay.run(r, f, (m, X))


def test_dicts_lists_and_tuples_as_inputs():
    Pair = namedtuple("Pair", "u v")

    def f(p, arrays, pair, k=0, **rest):
        out = p["a"] * p.get("n", 1) + p.get("missing", 5)
        if "b" in p:
            out = out + p["b"]
        for x in arrays:
            out = out + x
        u, v = pair
        return out + arrays[k] + u * pair.v, Pair(v, u), helper(out, **rest), len(arrays), len(p)

    check(f, {"a": X, "n": 3}, [X, X + 1], Pair(X, 2), 1, kwargs={"v": 7})
    check(f, {"a": X, "b": 3}, [X], Pair(X, 2.5))


def test_sizes_are_specialised_on_request():
    def f(a, n):
        return a + n

    r = trace(f, (X, 3), SimpleNamespace(dynamic=False))
    assert np.array_equal(replay.run(r, f, (X, 3)), X + 3)
    for other in ((X[:-1].copy(), 3), (X, 4)):
        with pytest.raises(replay.GuardFailed):
            replay.run(r, f, other)


def test_generators_are_refused():
    def f(a):
        yield a + 1

    with pytest.raises(Refused):
        trace(f, (X,))


def test_recursion():
    check(factorial, 4.0, 3)
    check(factorial, 4.0, 40, breaks=("recursion",))


def factorial(x, n):
    return x if n == 0 else x * n + factorial(x, n - 1)


def test_imports_inside_functions():
    def f(a):
        import math

        from numpy import sqrt

        return sqrt(a * a) * math.pi

    check(f, X)


def test_chained_comparisons_and_boolean_operators():
    def f(a, n, m, flag, name):
        ok = (0 < n <= 5 and m != 3) or flag
        c = n if n > m else m
        d = name or "none"
        e = flag and n
        return a + c, ok, d, e, not n, n is None, (p := n + 1), p, "x" in {"x": 1}, f"{name}-{3:03d}"

    check(f, X, 3, 4, False, "q")
    check(f, X, 9, 3, True, "")


def test_conditions_known_at_trace_time():
    def f(a, flag, mode="x", n=3, none=None):
        if flag:
            a = a + 1
        if mode == "x" and none is None:
            a = a * 2
        if n > 2 and a.ndim == 1 and a.shape[0] > 5:
            a = a - n
        if not isinstance(a, np.ndarray) or a.dtype != np.float64:
            return None
        return a if n in (1, 2, 3) else -a

    check(f, X, True)
    check(f, X, False, "y", 9)


def test_guards_of_folded_conditions():
    def f(a, n):
        return a if n > 4 else a + n

    r = trace(f, (X, 9))
    assert np.array_equal(replay.run(r, f, (X, 5)), X)
    with pytest.raises(replay.GuardFailed):
        replay.run(r, f, (X, 4))


def test_python_int_arithmetic():
    def f(n, m):
        return (
            n + m, n - m, n * m, n // m, n % m, n / m, n**2, -n, +n, ~n, abs(n), n << 2, n >> 1, n & m, n | m, n ^ m,
            divmod(n, m), min(n, m), max(n, m, 3), n == m, n < m, round(n), int(n), float(n), bool(n), n**-1, 2**m,
        )  # fmt: skip

    for n, m in ((7, 3), (-7, 3), (7, -3), (-8, -2), (0, 5)):
        if n:
            check(f, n, abs(m), traced_with=(7, 3)) if n > abs(m) else check(f, n, abs(m))


def test_python_int_arithmetic_beyond_the_polynomial_range():
    def f(n, m):
        return n * m, n + m, n - m, (n * m) // 7, (n ^ m) % 1000

    check(f, 3_000_000_000, 2)
    check(f, 3_000_000_000, 4_000_000_000)
    check(f, 2**40, 2**40)
    check(f, 2**62, 2**62)


def test_python_float_arithmetic():
    def f(x, y, n):
        return (
            x + y, x - y, x * y, x / y, x // y, x % y, x**y, -x, abs(x), x < y, x == n, n + x, n * y, n / y, y**n,
            divmod(x, y), round(x), int(y), min(x, y), max(x, y), x + 1j, bool(x), float(n), x**2,
        )  # fmt: skip

    for x, y in ((2.5, 1.25), (7.0, 0.1), (1e300, 3.0), (0.0, 2.0)):
        check(f, x, y, 3)


def test_zero_division_is_pythons():
    def f(a, n, x):
        b = a + 1
        return b, n // (n - 3), x / (x - 2.0)

    check(f, X, 3, 1.0, breaks=("zero-division",))
    check(f, X, 4, 2.0)


def test_math_module():
    def f(x, n):
        return (
            math.sqrt(x), math.exp(x), math.log(x), math.log2(x), math.log10(x), math.sin(x), math.cos(x), math.tan(x),
            math.atan2(x, n), math.floor(x), math.ceil(x), math.trunc(x), math.fabs(x), math.pow(x, n), math.fmod(x, n),
            math.isnan(x), math.isinf(x), math.copysign(x, -1), math.radians(x), math.degrees(x), math.erf(x), math.tanh(x),
            math.pi, math.sqrt(2), math.factorial(5), math.log1p(x), math.expm1(x), math.cosh(x), math.atan(x),
        )  # fmt: skip

    for x in (0.5, 1.0, 7.25):
        check(f, x, 3)


@pytest.mark.parametrize(
    ("name", "x"), [("sqrt", -1.0), ("log", 0.0), ("exp", 1000.0), ("acos", 2.0), ("log", -1.0), ("sin", math.inf)]
)
def test_math_errors_are_pythons(name, x):
    function = getattr(math, name)

    def f(a, x):
        b = a * 2
        return b, function(x)

    check(f, X, x)


def test_numpy_scalars():
    def f(a, n):
        s = a[1] * a[n]
        return s, s + 1, np.float32(s), float(s), int(a[n]), a.sum().item(), a[:3].tolist() if n == 99 else n

    check(f, X, 3)


def test_views_of_inputs_and_of_results():
    def f(a):
        b = a + 1
        return b.T, a[1:, ::2], a.T, b

    r = trace(f, (M,))
    m = M.copy()
    bt, v, at, b = replay.run(r, f, (m,))
    assert bt.base is not None and np.shares_memory(bt, b)
    assert v.base is m and at.base is m
    check(f, m)


def test_stores_to_inputs():
    def f(a, b):
        a[1:3] = b[:2]
        a += 1
        b[0] = a[0] * 2
        return a

    check(f, X, X * 3)
    with pytest.raises(replay.GuardFailed):
        r = trace(f, bound(f, (X.copy(), X.copy())))
        y = X.copy()
        replay.run(r, f, (y, y))


def test_aliased_arguments():
    def f(a, b):
        a[1:] = b[:-1] + 1
        return a + b

    base = X.copy()
    r = trace(f, (base, base))
    y, z = X.copy(), X.copy()
    assert np.array_equal(replay.run(r, f, (y, y)), f(z, z)) and np.array_equal(y, z)
    r = trace(f, (base[1:], base[:-1]))
    y, z = X.copy(), X.copy()
    assert np.array_equal(replay.run(r, f, (y[1:], y[:-1])), f(z[1:], z[:-1])) and np.array_equal(y, z)


def test_a_break_in_the_middle_continues_natively(capsys):
    def f(a):
        b = a * 2
        print(b.sum(), file=None)
        c = b + a
        return c, b

    r = check(f, X, breaks=("side-effect-call",))
    assert r.breaks[0].line == f.__code__.co_firstlineno + 2


def test_a_break_inside_an_inlined_helper():
    def inner(u, k):
        v = u * k
        w = {}[k] if k > 5 else sorted([v[0], 3.0])
        return v + w[0]

    def f(a):
        c = a + 1
        try:
            return inner(c, 2) + c, inner(c, 7)
        except KeyError as e:
            return repr(e), c

    check(f, X, breaks=("container-op",))


def test_mutation_of_what_existed_before():
    def f(d, a):
        b = a + 1
        d["k"] = b
        return b

    check(f, {}, X)

    def g(box, a):
        b = a + 1
        box.b = b
        return b

    check(g, SimpleNamespace(), X, args_out=False)
    box = SimpleNamespace()
    replay.run(trace(g, (box, X)), g, (box, X))
    assert np.array_equal(box.b, X + 1)


def test_lists_change_at_trace_time():
    def f(a, n):
        out = []
        for k in range(3):
            out.append(a * k)
        out[0] = n
        out += [1]
        d = {}
        d["x"] = out
        p, *q = out
        return out, d, p, q, len(out), out[-1], out[1:3], (1, 2) + (n,), [0] * 3, sum([1, 2, n])

    check(f, X, 3)


def test_loops_over_known_containers():
    def f(a, b, n):
        s = 0
        for x, k in zip((a, b), [1, n]):
            s = s + x * k
        for i, x in enumerate((a, b)):
            s = s - x * i
        for k in reversed((1, 2)):
            s = s * k
        for i in range(4):
            s = s + i
        for key, v in {"p": a, "q": b}.items():
            s = s + v * len(key)
        return s, i, key

    check(f, X, X + 1, 3)


def test_unsupported_arrays_run_natively():
    def f(a):
        return a + 1

    for a in (np.matrix(M), np.ma.masked_array(X, X > 0), np.array([1, None], object)[:1], X.astype(">f8")):
        r = trace(f, (a,))
        assert r.breaks


def test_unbound_local_is_pythons():
    def f(a):
        b = a + 1
        if a.ndim == 2:
            c = 1
        return b + c

    check(f, X, breaks=("unbound",))


def test_try_bodies_are_traced_when_they_can_be_resumed():
    def f(a, n):
        try:
            b = a / 2
            c = {}[n]
        except KeyError:
            return b * 3
        return c

    check(f, X, 3)


def test_every_reason_raised_is_registered():
    import pathlib
    import re

    import npcompile.frontends
    import npcompile.tracer

    used = set()
    for package in (npcompile.tracer, npcompile.frontends):
        for path in pathlib.Path(package.__file__).parent.rglob("*.py"):
            text = path.read_text()
            used |= set(re.findall(r'(?:Unsupported|Refused)\(\s*"([a-z-]+)"', text))
            used |= set(re.findall(r'exit_if\([^"]*?, "([a-z-]+)"\)', text))
    missing = sorted(used - set(reasons.REASONS))
    assert not missing, missing


def test_break_in_an_argument_of_a_call():
    def f(a):
        return np.sqrt(np.fromiter(a, float))

    check(f, np.array([4.0, 1.0, 4.0]), breaks=("no-rule",))


def test_lazy_parts_of_numpy_and_constants_of_sys_are_known():
    code = (
        "import sys, numpy as np, npcompile\n"
        "def f(x):\n"
        "    return np.fft.fft(x) * 2 + sys.float_info.epsilon + np.polynomial.polynomial.polyval(x, np.ones(3))\n"
        "x = np.arange(5.0)\n"
        "r = npcompile.explain(f, x)\n"
        "assert not r.graph_breaks, r.graph_breaks\n"
        "assert (r.result == f(x)).all()\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
