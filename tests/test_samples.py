"""Draws from an array of the caller's, inside segments: `choice`, `permutation`, `shuffle`, `multinomial`, `dirichlet`."""

import random

import numpy as np
import pytest
from test_draws import check, jit, state_of

import npcompile
from npcompile.testing import compare_calls

GENERATORS = [lambda: np.random.default_rng(5), lambda: np.random.RandomState(5)]


def choices(r, x, p, n):
    a = r.choice(x, n) * 2
    b = r.choice(10, size=(2, n)) + 1
    c = r.choice(x, 3, replace=False)
    d = r.choice(len(x), 4, True, p)
    return a, b, c, d, r.choice(x), r.choice(7), r.choice([0.5, 2.5], n), r.choice(x, size=n, p=p) + 1


def permutations(r, x, p, n):
    return r.permutation(x) + 1, r.permutation(n) * 2, r.permutation(5), r.permutation([1, 2, 3])


def counts(r, x, p, n):
    return (
        r.multinomial(n, p) + 1,
        r.multinomial(5, p, size=3),
        r.dirichlet(p),
        r.dirichlet(p, 4) * 2,
        r.multinomial(3, [0.5, 0.5]),
    )


def shuffles(r, x, p, n):
    y = x + 1
    r.shuffle(y)
    m = y.reshape(2, -1).copy()
    r.shuffle(m)
    r.shuffle(m[0])
    return y, m * 2, y[::-1]


def bootstrap(r, x, p, n):
    means = np.empty(n)
    for i in range(n):
        means[i] = r.choice(x, len(x)).mean()
    return means, means.std()


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("f", [choices, permutations, counts, shuffles, bootstrap])
def test_programs(f, make):
    check(f, make, np.arange(8.0), np.full(8, 1 / 8), 6)
    check(
        f,
        make,
        np.arange(4, dtype=np.int16),
        np.array([0.5, 0.25, 0.25, 0.0][::-1]) if f is permutations else np.full(4, 0.25),
        1,
    )


def of_numpy(x, n):
    np.random.shuffle(x)
    return np.random.choice(x, n), np.random.permutation(x), np.random.multinomial(n, [0.25, 0.75])


def test_the_global_generator_and_the_argument_that_is_shuffled():
    f = jit(of_numpy)
    for n in (3, 5, 4):
        np.random.seed(n)
        x = np.arange(6)
        want, state = of_numpy(x, n), state_of(np.random.mtrand._rand)
        np.random.seed(n)
        y = np.arange(6)
        got = f(y, n)
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip((*want, x), (*got, y)))
        assert state_of(np.random.mtrand._rand) == state
    assert f.stats.hits == 3


def refused(r, x, p, n):
    try:
        return r.choice(x, n, p=p) + 1, r.permutation(x)
    except ValueError as e:
        return str(e), r.random()


@pytest.mark.parametrize("make", GENERATORS)
def test_refused_arguments_draw_nothing(make):
    f = jit(refused)
    for x, p, n in (
        (np.arange(3.0), np.full(3, 1 / 3), 2),
        (np.arange(3.0), np.array([0.5, 0.5, 0.5]), 2),
        (np.arange(0.0), np.arange(0.0), 2),
        (np.arange(3.0), np.full(3, 1 / 3), 2),
    ):
        a, b = make(), make()
        want, got = refused(a, x, p, n), f(b, x, p, n)
        assert str(want) == str(got) and state_of(a) == state_of(b)


def of_many_axes(r, a):
    return r.permutation(a), r.choice(a[0], (), True)


def test_what_is_not_modelled_runs_as_python():
    f = jit(of_many_axes)
    a, b = GENERATORS[0](), GENERATORS[0]()
    for _ in range(3):
        want, got = of_many_axes(a, np.eye(4)), f(b, np.eye(4))
        assert all(np.array_equal(x, y) and type(x) is type(y) for x, y in zip(want, got))


def two_generators(r, s, x):
    return r.normal(size=3) * 2, s.normal(size=3) + x, s.choice(x, 2), r.permutation(x)


def two_of_python(r, s, x):
    return x * r.random() + s.random(), s.gauss(0.0, 1.0), r.randint(1, 6)


def test_two_generators():
    f, g = jit(two_generators), jit(two_of_python)
    x = np.arange(3.0)
    for seed in range(3):
        pairs = [(np.random.default_rng(seed), np.random.default_rng(seed + 9)) for _ in range(2)]
        assert str(two_generators(*pairs[0], x)) == str(f(*pairs[1], x))
        pairs = [(random.Random(seed), random.Random(seed + 9)) for _ in range(2)]
        assert str(two_of_python(*pairs[0], x)) == str(g(*pairs[1], x))
    assert f.stats.hits == g.stats.hits == 3


def shuffled_list(r, x):
    items = [1.0, 2.0, 3.0]
    r.shuffle(items)
    return x * items[0], r.choice(["a", "b"])


def test_lists_and_strings():
    a, b = GENERATORS[0](), GENERATORS[0]()
    f = jit(shuffled_list)
    assert str(shuffled_list(a, np.arange(3.0))) == str(f(b, np.arange(3.0)))
    read_only = np.arange(4.0)
    read_only.flags.writeable = False
    assert compare_calls(shuffles_in_place, npcompile.jit(shuffles_in_place), (read_only,)) is None


def shuffles_in_place(x):
    np.random.shuffle(x)
    return x
