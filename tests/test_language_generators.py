"""Generator expressions that a builtin takes at once, recursion of known depth."""

import sys
from types import CellType, FunctionType

import numpy as np
import pytest
from language_harness import agree

from npcompile.bytecode.genexprs import HOW, as_function

X = np.linspace(-1.0, 2.0, 20)
M = np.arange(36.0).reshape(12, 3) - 7
G = (np.arange(64).reshape(8, 8) % 3 == 0).astype(int)


def consumers(a):
    return sum(x * x for x in a), any(x > 2 for x in a), all(x > -9 for x in a), max(abs(x) for x in a), min(x for x in a)


def life(g):
    for _ in range(3):
        k = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        g = ((k == 3) | ((g == 1) & (k == 2))).astype(g.dtype)
    return g


def known_items(xs, a):
    return (
        tuple(i * 2 for i in range(3)),
        dict((i, x) for i, x in enumerate(xs)),  # noqa: C402
        sum(x.sum() for x in xs),
        ",".join(str(i) for i in range(3)),
    )


def filtered(a, n):
    return list(x + 1 for x in a if x > 0), sum(a[i] * i for i in range(n) if a[i] > 0), any(a[i] > 1.5 for i in range(n))  # noqa: C400


def nested(m):
    return sum(sum(v for v in row) for row in m), max(max(v for v in row) for row in m), all(any(v > 0 for v in row) for row in m)


def closure(a):
    k = a.sum()
    return sum(x * k for x in a), any(x > k for x in a)


def handed_back(a):
    g = (x * 2 for x in a)
    return list(g), a + 1


def factorial(a, n):
    def f(k):
        return 1 if k <= 1 else k * f(k - 1)

    return a * f(n)


CASES = [
    (consumers, (X,)),
    (life, (G,), (G.astype("u1"),)),
    (known_items, ([X, M], X)),
    (filtered, (X, 20), (-X, 20)),
    (nested, (M,)),
    (closure, (X,)),
    (handed_back, (X,)),
    (factorial, (X, 5), (X, 3)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_compiles(case):
    fn, *calls = case
    agree(lambda: fn, *calls)


def test_an_error_after_the_deciding_item_is_not_raised():
    def f(a, n):
        return any(a[i] > 0 for i in range(n)), a * 2

    agree(lambda: f, (X, 20), (X, 25), breaks=None)


def test_an_error_on_the_way():
    def f(a, n):
        return sum(a[i] for i in range(n))

    agree(lambda: f, (X, 20), (X, 25), breaks=None)


def test_a_generator_that_escapes():
    def f(a):
        g = (x * 2 for x in a)
        b = a + 1
        return g, b

    def g(a):
        gen, b = f(a)
        return list(gen), b

    agree(lambda: g, (X,))


def genexprs(b, c):
    a = [1, -2, 3]
    return [
        (x for x in a),
        (x * y + c for x in a if x > 0 for y in b),
        ((lambda: x)() > 1 for x in a),
        (x > 1 for x in a if x != c if x < 9),
        (x for x in a if all(x > y for y in b)),
    ]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("k", range(5))
def test_code_as_function(how, k):
    consume = {"list": list, "any": any, "all": all}[how]
    cells = {"b": [5, 6], "c": 2}
    for items in ([1, -2, 3], [], [7]):
        code = genexprs([5, 6], 2)[k].gi_code
        closure = tuple(CellType(cells[name]) for name in code.co_freevars)
        generator = FunctionType(code, globals(), "g", None, closure)(iter(items))
        function = FunctionType(as_function(code, how), globals(), "f", None, closure)
        assert function(iter(items)) == consume(generator)


def test_code_as_function_keeps_lines():
    gen = (1 / x for x in [1])
    f = FunctionType(as_function(gen.gi_code, "any"), globals())
    with pytest.raises(ZeroDivisionError) as e:
        f(iter([0]))
    assert e.traceback[-1].lineno + 1 == gen.gi_code.co_firstlineno
    assert sys.version_info >= (3, 11)
