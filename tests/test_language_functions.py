"""functools, itertools, operator, builtins that take functions, match statements, unpacking."""

import functools
import itertools
import operator

import numpy as np
import pytest
from language_harness import agree

X = np.linspace(-1.0, 2.0, 11)
M = np.arange(12.0).reshape(3, 4) * 1.1 - 5


def reduce(xs):
    return functools.reduce(np.add, xs), functools.reduce(lambda x, y: x * y, xs, 1), functools.reduce(operator.add, xs)


def partial(a):
    f = functools.partial(np.clip, a_min=-0.5)
    g = functools.partial(lambda x, y, z: x * y + z, 2, z=a)
    return f(a, a_max=1.0), g(a), g(3.0), g


def product(a):
    s = 0
    for i, j in itertools.product(range(3), range(2)):
        s += a[i] * (i - j)
    for x, y in itertools.combinations((a, a * 2, a + 1), 2):
        s += (x * y).sum()
    for i in itertools.chain(range(2), (5, 7)):
        s += a[i]
    return (
        s,
        list(itertools.accumulate((1, 2, a))),
        list(itertools.islice(range(9), 2, 8, 3)),
        list(itertools.pairwise((1, 2, 3))),
    )


def operators(a):
    ops = {"add": operator.add, "mul": operator.mul, "neg": operator.neg}
    return ops["add"](a, 1), ops["mul"](a, a), ops["neg"](a), operator.getitem(a, 2), operator.truediv(a, 2), operator.lt(a, 0)


def twice(v):
    return v * 2


def above(v):
    return v > -5


def maps(a, n):
    xs = list(map(twice, (a, a + 1)))
    ys = list(map(float, range(n)))
    big = list(filter(lambda v: v > 0, a))
    return xs, ys, big, sum(map(abs, (1, -2))), any(map(bool, a)), all(map(above, a)), tuple(filter(None, (0, 1, 2)))


def extremes(xs, a):
    return max(xs, key=lambda v: v.sum()), min((3, -4, 1), key=abs), max((), default=a), min([2, 1], default=5)


def sorting(d, a):
    return (
        [a * d[k] for k in sorted(d)],
        sorted((3, 1, 2), reverse=True),
        list(reversed([1, a])),
        list(zip((1, 2), (a, a), strict=True)),
    )


def unpacking(a):
    first, *mid, last = a
    b, *c = a[:3]
    return first, mid, last, b, len(c), [*mid, first]


def match(x, a):
    match x:
        case {"scale": s, "kind": "mul"}:
            return a * s
        case [first, second]:
            return a * first + second
        case int(k) if k > 5:
            return a - k
        case float():
            return a / x
        case None:
            return a
        case _:
            return a + 1


CASES = [
    (reduce, ([X, X, X],), ([M, M],)),
    (partial, (X,)),
    (product, (X,)),
    (operators, (X,)),
    (maps, (X, 12)),
    (extremes, ([X, X * 2], X)),
    (sorting, ({"b": 2, "a": 3}, X)),
    (unpacking, (X,)),
    (match, ({"scale": 2.0, "kind": "mul"}, X), ([2, 3], X), (7, X), (2, X), (2.5, X), (None, X), ("s", X)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_compiles(case):
    fn, *calls = case
    agree(lambda: fn, *calls)


def test_match_on_classes():
    class Circle:
        __match_args__ = ("r",)

        def __init__(self, r):
            self.r = r

    def f(shape, a):
        match shape:
            case Circle(r):
                return a * r
            case _:
                return a

    agree(lambda: f, lambda: (Circle(2.0), X), lambda: (3, X))


def test_a_partial_that_came_in():
    def f(g, a):
        return g(a) + 1

    agree(lambda: f, lambda: (functools.partial(np.multiply, 2.0), X))
