"""Calls that are made once and in order from inside compiled code: Python's random numbers, clocks, warnings, text streams."""

import io
import random
import sys
import time
import warnings

import numpy as np
import pytest
from language_harness import agree, stays

import npcompile

V = np.array([3.1, -1.3, 2.5, 0.0, -4.7])


def numbers(a):
    return a * random.random() + random.randint(0, 5) + random.uniform(1, 2) + random.gauss(0, 1) + random.expovariate(2.0)


def choices(a):
    names = ("one", "two", "three")
    return (
        random.choice([1.5, 2.5, 3.5]),
        random.choice(a),
        random.choice(range(10, 20, 3)),
        random.choice(names),
        random.randrange(3),
    )


def inside(a):
    random.seed(5)
    n = 0
    for _ in range(200):
        x, y = random.random(), random.random()
        if x * x + y * y < 1:
            n += 1
    return 4 * n / 200, a + n


@pytest.mark.parametrize("f", [numbers, choices, inside], ids=lambda f: f.__name__)
def test_random_numbers_are_drawn_once(f):
    def drawn(function):
        random.seed(3)
        return repr([function(V) for _ in range(3)]), random.getstate()

    jitted = npcompile.jit(f, options={"compile": "first"})
    assert drawn(jitted) == drawn(f)
    assert not npcompile.explain(f, V).graph_breaks
    stays(jitted)


def test_a_generator_that_comes_in():
    def f(a, rng):
        return a * rng.random() + rng.randint(1, 6), rng.choice("abc")

    jitted = npcompile.jit(f, options={"compile": "first"})
    one, other = random.Random(4), random.Random(4)
    assert repr([jitted(V, one) for _ in range(3)]) == repr([f(V, other) for _ in range(3)])
    assert one.getstate() == other.getstate()
    assert not npcompile.explain(f, V, one).graph_breaks


def test_what_is_refused_is_not_drawn():
    def f(a, n):
        return a + random.randint(5, n)

    jitted = npcompile.jit(f, options={"compile": "first"})
    random.seed(1)
    jitted(V, 9)
    state = random.getstate()
    with pytest.raises(ValueError, match="empty range"):
        jitted(V, 2)
    assert random.getstate() == state


def test_clocks():
    def f(a):
        start = time.perf_counter()
        b = np.exp(a) + 1
        seconds = time.perf_counter() - start
        return b, 0 < seconds < 60, abs(time.time() - time.time_ns() / 1e9) < 60

    agree(lambda: f, (V,))


def test_text_streams():
    def f(a, file):
        sys.stdout.write(f"n {a.size}\n")
        n = file.write(f"{a.sum():.2f}\n")
        sys.stdout.flush()
        print("end")
        return a + n

    def make():
        def g(a):
            file = kept[0]
            out = f(a, file)
            return out, file.getvalue()

        kept = [io.StringIO()]
        return g

    plain, jitted = make(), npcompile.jit(f, options={"compile": "first"})
    assert plain(V)[1] == "-0.40\n"
    file = io.StringIO()
    for n in (1, 2, 3):
        out = jitted(V, file)
        assert file.getvalue() == "-0.40\n" * n
        assert (out == V + 6).all()
    agree(lambda: lambda a: (sys.stdout.write(f"n {a.size}\n"), a + 1), (V,), (V[:2],))
    file.close()
    with pytest.raises(ValueError, match="closed"):
        jitted(V, file)


def test_warnings_come_from_the_line():
    def f(a):
        warnings.warn("careful")  # noqa: B028
        if a[0] > 0:
            warnings.warn(f"first {a[0]}", RuntimeWarning)  # noqa: B028
        return a + 1

    agree(lambda: f, (V,), (-V,))
    jitted = npcompile.jit(f, options={"compile": "first"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(UserWarning, match="careful"):
                jitted(V)


# ------------------------------------------------------------------------------------------------ bound methods


class Model:
    scale = 2.0

    def __init__(self, w):
        self.w = w
        self.calls = 0
        self.step = npcompile.jit(self.step, options={"compile": "first"})

    def step(self, a):
        self.calls += 1
        return a * self.w * self.scale


def test_bound_methods():
    m = Model(V.copy())
    assert (m.step(V) == V * V * 2.0).all()
    assert (m.step(V) == V * V * 2.0).all()
    m.w, m.scale = 3, -1.0
    assert (m.step(V) == V * 3 * -1.0).all()
    assert m.calls == 3
    assert m.step.__self__ is m
    assert m.step.stats.hits >= 1
    report = npcompile.explain(m.step, V)
    assert report.segments and not report.graph_breaks


def test_views():
    def f(a):
        v = a.view()
        w = a.view(np.float64)
        v[0] = 5
        return v, w.sum(), a, v is a, a.view(type=np.ndarray)

    agree(lambda: f, (V,), (V[::2],))
