"""Random numbers drawn inside segments: the caller's own stream, each draw once and in order."""

import threading

import numpy as np
import pytest

import npcompile


def jit(f):
    return npcompile.jit(f, options={"compile": "first"})


def state_of(generator):
    if isinstance(generator, np.random.Generator):
        return str(generator.bit_generator.state)
    return str(generator.get_state())


def check(f, make, *args, compiled=True):
    """Same results, of the same types, and the same state of the generator, call after call."""
    g = jit(f)
    if compiled:
        report = npcompile.explain(g, make(), *args)
        assert len(report.segments) == 1 and not report.graph_breaks, report.graph_breaks
    a, b = make(), make()
    for _ in range(3):
        expected, got = f(a, *args), g(b, *args)
        for x, y in zip(expected, got, strict=True):
            assert type(x) is type(y) and getattr(x, "dtype", None) == getattr(y, "dtype", None)
            np.testing.assert_array_equal(x, y)
        assert state_of(a) == state_of(b)
    assert not compiled or g.stats.hits == 3
    return g


GENERATORS = [
    lambda: np.random.default_rng(5),
    lambda: np.random.RandomState(5),
    lambda: np.random.Generator(np.random.MT19937(3)),
]


@pytest.mark.parametrize("make", GENERATORS)
def test_arrays_and_numbers(make):
    def f(r, n, x):
        a = r.normal(size=n) * 2 + x
        b = r.normal(1.0, 2.0, size=(n, 3)).sum(axis=1)
        c = r.uniform(-1, 1, n)
        d = r.poisson(3.0, size=n) + 1
        e = r.standard_normal(n)
        return a, b, c, d, e, r.normal(), r.exponential(2.0), r.uniform(), r.poisson(4.0), r.binomial(10, 0.5)

    check(f, make, 7, np.arange(7.0))
    check(f, make, 1, np.arange(1.0))
    check(f, make, 0, np.arange(0.0))


def test_methods_of_one_class_only():
    def new(r, n):
        return (
            r.random(),
            r.random(n),
            r.random(n, dtype=np.float32) + 1,
            r.integers(0, 10, n),
            r.integers(5),
            r.integers(0, 5, size=(2, n)),
        )

    def old(r, n):
        return r.rand(), r.rand(n), r.randn(2, n) * 2, r.randint(0, 9, n), r.randint(5), r.random_sample(n)

    check(new, GENERATORS[0], 6)
    check(old, GENERATORS[1], 6)


def test_draws_in_loops_and_branches():
    def metropolis(r, n, x, step):
        out = np.empty(n)
        lp = -0.5 * x * x
        accepted = 0
        for i in range(n):
            y = x + step * (r.random() - 0.5)
            lq = -0.5 * y * y
            if lq > lp or np.log(r.random()) < lq - lp:
                x, lp = y, lq
                accepted += 1
            out[i] = x
        return out, accepted

    for n in (0, 1, 500):
        check(metropolis, GENERATORS[0], n, 0.1, 1.5)

    def walk(r, n):
        x = np.zeros(3)
        path = np.empty((n, 3))
        for i in range(n):
            x = x + r.normal(0.0, 0.1, 3)
            path[i] = x
        return path, x

    check(walk, GENERATORS[1], 40)


def test_the_global_generator():
    def f(n):
        x = np.random.rand(n) + np.random.randn(n)
        for _ in range(n):
            x += np.random.normal() * np.random.random()
        return x, np.random.randint(0, 5)

    g = jit(f)
    assert not npcompile.explain(g, 4).graph_breaks
    for seed in (1, 2):
        np.random.seed(seed)
        expected, after = f(6), np.random.get_state()[1].tolist()
        np.random.seed(seed)
        got = g(6)
        assert np.random.get_state()[1].tolist() == after
        np.testing.assert_array_equal(expected[0], got[0])
        assert expected[1] == got[1] and type(expected[1]) is type(got[1])


class Model:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def sample(self, x):
        return x + self.rng.normal(size=x.shape) * self.rng.gamma(2.0)


def test_a_generator_that_an_object_holds():
    a, b = Model(1), Model(1)
    g = jit(Model.sample)
    x = np.ones((3, 2))
    assert not npcompile.explain(g, Model(0), x).graph_breaks
    for _ in range(3):
        np.testing.assert_array_equal(a.sample(x), g(b, x))
    b.rng = np.random.RandomState(1)  # of another class
    np.testing.assert_array_equal(g(b, x).shape, x.shape)


def test_refused_parameters_raise_and_draw_nothing():
    def f(r, scale, x):
        x += r.random()
        y = r.normal(0.0, scale, 3)
        return x, y

    g = jit(f)
    a, b = np.random.default_rng(1), np.random.default_rng(1)
    f(a, 1.0, np.zeros(2))
    g(b, 1.0, np.zeros(2))
    for fn, r in ((f, a), (g, b)):
        x = np.zeros(2)
        with pytest.raises(ValueError, match="scale"):
            fn(r, -1.0, x)
        assert x[0] != 0
    assert state_of(a) == state_of(b)


def test_parameters_that_are_arrays():
    def f(r, mu, n):
        return (r.normal(mu, 1.0, size=(n, 4)), r.poisson(mu * mu, size=4))

    check(f, GENERATORS[0], np.array([1.0, 2.0, 3.0, 4.0]), 3)

    def without_size(r, mu):
        return (r.normal(mu),)

    check(without_size, GENERATORS[0], np.array([1.0, 2.0]), compiled=False)


def test_other_users_of_the_stream_in_between():
    """A helper that is not compiled draws in between, in its place."""

    def f(r, n):
        a = r.random(n)
        b = sorted(r.choice(10, 3).tolist())
        return a * 2, r.random(n), len(b)

    check(f, GENERATORS[0], 4, compiled=False)


def test_threads_share_a_generator():
    def f(r, n):
        total = 0.0
        for _ in range(n):
            total += r.random()
        return total

    g = jit(f)
    r = np.random.default_rng(0)
    g(r, 3)
    out = []
    threads = [threading.Thread(target=lambda: out.append(g(r, 2000))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    other = np.random.default_rng(0)
    expected = f(other, 3 + 8000) - f(np.random.default_rng(0), 3)
    assert sum(out) == pytest.approx(expected) and state_of(r) == state_of(other)


NUMBERS = {
    np.random.Generator: """r.random() r.uniform() r.uniform(-2,x) r.uniform(low=x,high=4) r.standard_normal() r.normal()
        r.normal(x) r.normal(scale=x) r.normal(1,2.5) r.standard_exponential() r.exponential(x) r.lognormal(0.1,x)
        r.laplace(x,2) r.gumbel() r.logistic(1,x) r.rayleigh() r.standard_cauchy() r.standard_gamma(x) r.gamma(x,2) r.beta(x,3)
        r.chisquare(x) r.poisson() r.poisson(x) r.integers(n) r.integers(-n,n) r.integers(0,high=n) r.integers(1<<40)
        r.integers(n,size=None)""",
    np.random.RandomState: """r.random() r.random_sample() r.rand() r.uniform() r.uniform(-2,x) r.standard_normal() r.randn()
        r.normal() r.normal(x) r.normal(scale=x) r.randint(n) r.randint(-n,n) r.randint(0,high=n) r.randint(1<<40)""",
}


@pytest.mark.parametrize("make", GENERATORS)
def test_numbers_are_drawn_without_a_call(make):
    """Each method by generated code itself, on the caller's own generator."""
    calls = NUMBERS[type(make())].split()
    space = {}
    body = ", ".join(calls)
    exec(f"def f(r, x, n):\n out = 0.0\n for _ in range(20):\n  out = out + {calls[0]}\n return out, {body}", space)
    g = check(space["f"], make, 1.25, 7)
    source = npcompile.explain(g, make(), 1.25, 7).source
    assert "rt->generator" in source and "rt->call_numpy" not in source


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize(
    "bad", ["r.normal(0, -x)", "r.uniform(0, x / 0.0 if x else 1)", "r.randint(-n)", "r.integers(-n)", "r.normal(0, -0.0)"]
)
def test_what_numpy_refuses_is_refused_after_the_draws_before(make, bad):
    if not hasattr(make(), bad[2:].partition("(")[0]):
        return
    space = {}
    exec(f"def f(r, x, n):\n a = r.random()\n b = {bad}\n return a, b", space)
    g = jit(space["f"])
    for args in ((1.0, 3), (2.0, 5)):
        a, b = make(), make()
        with pytest.raises(Exception) as expected:
            space["f"](a, *args)
        with pytest.raises(type(expected.value)) as got:
            g(b, *args)
        assert str(got.value) == str(expected.value) and state_of(a) == state_of(b)


def test_the_global_generator_is_the_one_that_is_there_at_the_call():
    """Seeding, a state that was set, and another bit generator in its place show at once."""

    def f(n):
        x = 0.0
        for _ in range(n):
            x += np.random.normal() + np.random.random() + np.random.randint(9)
        return x

    g = jit(f)

    def same(prepare):
        prepare()
        expected, after = f(5), str(np.random.get_state(legacy=False))
        prepare()
        assert g(5) == expected and str(np.random.get_state(legacy=False)) == after

    before = np.random.get_state()
    old = np.random.get_bit_generator()
    try:
        same(lambda: np.random.seed(3))
        same(lambda: (np.random.seed(4), np.random.normal()))
        same(lambda: np.random.set_state(np.random.RandomState(9).get_state()))
        same(lambda: np.random.set_bit_generator(np.random.PCG64(8)))
    finally:
        np.random.set_bit_generator(old)
        np.random.set_state(before)


def test_threads_share_a_generator_of_numbers():
    """What several threads draw is the same set of numbers, each once."""
    r = np.random.default_rng(11)
    want = sorted(np.random.default_rng(11).random(4 * 20_000 + 4 * 50).tolist())
    got = []

    @jit
    def f(r, n):
        out = np.empty(n)
        for i in range(n):
            out[i] = r.random()
        return out

    f(np.random.default_rng(0), 3)

    def work():
        for _ in range(10):
            got.extend(f(r, 2000).tolist())
            got.extend(r.random(5).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(got) == want
