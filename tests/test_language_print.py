"""`print` in compiled code: once, in order, and what Python prints."""

import numpy as np
import pytest
from language_harness import agree, stays

import npcompile

X = np.array([3.1, -1.3, 2.5, 0.5, -4.7])


def values(a):
    b = a * 2
    print("sum", b.sum(), len(b), b.shape, sep=" | ")
    print(b, [b[0], float(b[1]), 3], (1, "x", None), True, b[0] > 1, end="!\n")
    print()
    return b


def texts(a):
    s = a.sum()
    print(f"{s:.3f} {len(a)}", "n=%d" % len(a), "x" + str(s), repr(s), f"{float(s)!r:>12}")  # noqa: UP031
    return a + s


def in_a_loop(a, n):
    x = a.copy()
    for i in range(n):
        x = x * 0.5 + i
        if i % 3 == 0:
            print("step", i, x.sum())
    return x


def by_elements(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        if s > 3:
            print(f"s={s}", i)
    return s


def helper(a):
    print("helper", a.sum())
    return a + 1


def in_callees(a):
    b = helper(a)
    if b.sum() > 3:
        print("big")
    return helper(b)


def stores_before(a):
    a[0] = 5.0
    print(a)
    a[0] = 6.0
    print(a)
    return a


@pytest.mark.parametrize(
    "f, args",
    [(values, (X,)), (texts, (X,)), (in_a_loop, (X, 10)), (by_elements, (X,)), (in_callees, (X,)), (stores_before, (X,))],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_printed(f, args):
    stays(agree(lambda: f, args, (-X, *args[1:]), (X[:3], *args[1:])))


def warns_between(a):
    print("before")
    b = 1 / a
    print("after", b)
    return b


def raises_after(a, i):
    print("one")
    x = a[i]
    print("two", x)
    return x


def to_a_file(a, log):
    print("x", a.sum(), file=log)
    return a * 2


class Named:
    def __str__(self):
        return "named"


def an_object(a):
    print(Named(), a.sum())
    return a * 2


@pytest.mark.parametrize(
    "f, args",
    [(warns_between, (np.array([1.0, 0.0, 2.0]),)), (raises_after, (X, 9)), (raises_after, (X, 1)), (an_object, (X,))],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_order(f, args):
    agree(lambda: f, args, breaks=None)


def test_where_it_goes(capsys):
    """To what `sys.stdout` is at the call, or the file that is given."""
    import io

    g, h = (npcompile.jit(f, options={"compile": "first"}) for f in (in_callees, to_a_file))
    for _ in range(2):
        g(X)
        assert capsys.readouterr().out.count("helper") == 2
        log = io.StringIO()
        h(X, log)
        assert log.getvalue().startswith("x ") and not capsys.readouterr().out


def test_numbers_are_not_compiled_in():
    def f(a, n):
        print("n", n)
        return a * n

    g = npcompile.jit(f, options={"compile": "first"})
    for n in range(2, 9):
        g(X, n)
    assert g.stats.compiles == 1
