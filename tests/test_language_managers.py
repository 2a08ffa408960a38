"""`with` blocks of generator functions under `contextlib.contextmanager`; `functools.wraps`."""

import contextlib
import functools

import numpy as np
import pytest
from language_harness import agree

import npcompile

V = np.array([3.1, -1.3, 2.5, 0.0, -4.7])


@contextlib.contextmanager
def noting(log, k=2.0):
    log.append("in")
    try:
        yield len(log) * k
    finally:
        log.append("out")


@contextlib.contextmanager
def scratch(a):
    old = a[0]
    a[0] = 100.0
    yield a
    a[0] = old


@contextlib.contextmanager
def handling():
    try:  # noqa: SIM105
        yield
    except ValueError:
        pass


def made_inside(a):
    @contextlib.contextmanager
    def scaled(k):
        yield k * 2

    with scaled(2.0) as s:
        return a * s


def noted(a):
    log = []
    with noting(log) as n:
        b = a * n
    return b, log


def nested(a):
    log = []
    with noting(log, k=3) as n, noting(log) as m:
        for x in a:
            n += x
        if a[0] > 0:
            return n, m, log, a * n
    return a + 1, log


def stored(a):
    with scratch(a) as b:
        s = b.sum()
    return s, a


def in_loop(a):
    log = []
    for k in range(3):
        with noting(log, k) as n:
            a = a + n
    return a, log


def handled(a):
    with handling():
        if a.ndim == 1:
            raise ValueError("one")
        a = a * 5
    return a + 1


ALL = [made_inside, noted, nested, stored, in_loop, handled]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_blocks(f):
    agree(lambda: f, (V,), (-V,), (V[:2],))


def test_an_exception_leaves_the_block():
    def f(a, x):
        log = []
        try:
            with noting(log) as n:
                if x:
                    raise ValueError("v")
                b = a * n
        except ValueError as e:
            return log, str(e), a - 1
        return log, b

    agree(lambda: f, (V, 0), (V, 1))


def test_errors_inside_are_the_real_ones():
    def f(a, k, log):
        with noting(log) as n:
            x = a[k] * n
            log.append(k)
        return x

    agree(lambda: f, (V, 1, []), (V, 9, []), (V, -9, ["x"]), breaks=None)


def test_a_break_inside_leaves_the_block_to_python():
    def f(a):
        log = []
        with noting(log) as n:
            b = a * n
            eval("n")
            c = b + a
        return c * n, log

    agree(lambda: f, (V,), breaks=None)


def test_a_manager_that_is_handed_out():
    def f(a):
        log = []
        m = noting(log)
        b = a * 2
        with m as n:
            b = b + n
        other = noting(log, 4)
        return b, log, other

    jitted = npcompile.jit(f, options={"compile": "first"})
    for _ in range(2):
        b, log, other = jitted(V)
        assert (b == V * 2 + 2).all() and log == ["in", "out"]
        with other as n:
            assert n == 3 * 4
        assert log == ["in", "out", "in", "out"]


def test_wraps():
    def f(a):
        def twice(g):
            @functools.wraps(g)
            def h(*args, **kwargs):
                return g(g(*args, **kwargs))

            return h

        @twice
        def inc(x):
            """Add one."""
            return x + 1

        return inc(a), inc

    jitted = npcompile.jit(f, options={"compile": "first"})
    for _ in range(2):
        out, inc = jitted(V)
        assert (out == V + 2).all()
        assert (inc.__name__, inc.__doc__, inc(1), inc.__wrapped__(1)) == ("inc", "Add one.", 3, 2)
    assert not npcompile.explain(f, V).graph_breaks
