"""Exceptions that are raised and caught within compiled code, and strings of run-time numbers."""

import contextlib
import math

import numpy as np
import pytest
from language_harness import agree, stays

X = np.array([3.1, -1.3, 2.5, 0.5, -4.7, 9.0])


class Bad(ValueError):
    """A class of the user's own."""


class WithCode(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def raised_and_caught(a):
    try:
        if a.ndim == 1:
            raise ValueError("one")
        b = a * 2
    except ValueError:
        b = a * 3
    return b + 1


def on_a_value(a):
    try:
        if a.sum() < 100:
            raise ValueError("small")
        b = a * 2
    except ValueError:
        b = a * 3
    return b + 1


def else_and_finally(a):
    n = 0
    try:
        b = np.sqrt(np.abs(a))
    except (ValueError, TypeError):
        b = a
    else:
        b = b + 1
        n += 1
    finally:
        n += 10
    return b, n


def finally_after_a_raise(a):
    n = 0
    try:
        try:
            raise Bad("x")
        finally:
            n += 1
    except ValueError:
        n += 10
    return a * n


def return_in_finally(a):
    try:
        raise ValueError
    finally:
        return a * 2  # noqa: B012


def bare_raise(a):
    try:
        try:
            raise KeyError("k")
        except LookupError:
            b = a + 1
            raise
    except KeyError:
        b = b * 2
    return b


def another_one_instead(a):
    try:
        try:
            raise KeyError("k")
        except KeyError as e:
            raise Bad("in " + str(e)) from e
    except Bad as e:
        n = len(e.args)
    return a * n


def checked(x):
    if x < 0:
        raise Bad(f"negative: {x}")
    return np.sqrt(x)


def in_a_helper(a):
    try:
        b = checked(a[1])
    except Bad:
        b = 0.5
    return a * b


def in_a_helper_of_a_loop(a):
    out = np.zeros(len(a))
    bad = 0
    for i in range(len(a)):
        try:
            out[i] = checked(a[i])
        except Bad:
            out[i] = -1.0
            bad += 1
    return out, bad


def in_a_loop(a):
    s, n = 0.0, 0
    for x in a:
        try:
            if x < 0:
                raise ValueError("negative")
            s += math.sqrt(x)
        except ValueError:
            n += 1
            continue
        finally:
            s += 0.5
        s += 0.25
    return s, n


def around_a_loop(a):
    s = 0.0
    at = -1
    try:
        for i in range(len(a)):
            if a[i] > 8:
                at = i
                raise OverflowError("large")
            s += a[i]
    except OverflowError:
        s = -s
    return s, at


def breaks_out(a):
    n = 0
    while True:
        try:
            n += 1
            if n > 5:
                raise StopIteration
        except StopIteration:
            break
    return a * n


def deep(a, k):
    if k == 0:
        raise Bad("deep")
    return deep(a, k - 1) + 1


def through_frames(a):
    try:
        b = deep(a, 4)
    except Bad as e:
        b = a + len(e.args)
    return b * 2


def missing_key(a):
    d = {"k": 2.0}
    try:
        s = d["scale"]
    except KeyError:
        s = 1.5
    try:
        t = (1.0, 2.0)[5]
    except IndexError:
        t = 3.0
    return a * s + t


def missing_attribute(a):
    try:
        n = a.nonexistent
    except AttributeError:
        n = 3
    try:
        x = a[100]
    except IndexError:
        x = 0.5
    return a * n + x


def unbound(a):
    b = a + 1
    del a
    try:
        return a  # noqa: F821
    except UnboundLocalError:
        return b


def divided_by_zero(a):
    n = 0
    try:
        r = 1 / n
    except ZeroDivisionError:
        r = 0.25
    try:
        x, y = (1, 2, 3)
    except ValueError:
        x, y = 5, 6
    return a + r * x + y


class Manager:
    def __init__(self, log, swallow):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        return self

    def __exit__(self, cls, e, tb):
        self.log.append(None if cls is None else cls.__name__)
        return self.swallow


def managers(a):
    log = []
    b = a
    with Manager(log, True):
        b = b + 1
        raise ValueError("x")
    try:
        with Manager(log, False):
            b = b * 2
            raise Bad("y")
    except Bad:
        b = b - 1
    return b, log


def suppressed(a):
    b = a
    with contextlib.suppress(ValueError, KeyError):
        b = b + 1
        raise Bad("x")
    return b * 2


def in_errstate(a):
    try:
        with np.errstate(divide="ignore"):
            b = 1 / a
            raise Bad("x")
    except Bad:
        b = a * 2
    return b, a / (a - a[0])


ASSERTED = """
def asserted(a):
    try:
        assert a.ndim == 2, "two"
        b = a
    except AssertionError as e:
        b = a * len(str(e))
    assert a.ndim == 1, f"ndim {a.ndim}"
    return b
"""
exec(ASSERTED)  # pytest would write the assertions anew


CAUGHT = [
    raised_and_caught, on_a_value, else_and_finally, finally_after_a_raise, return_in_finally, bare_raise, another_one_instead,
    in_a_helper, in_a_helper_of_a_loop, in_a_loop, around_a_loop, breaks_out, through_frames, missing_key, missing_attribute,
    unbound, divided_by_zero, managers, suppressed, in_errstate, globals()["asserted"],
]  # fmt: skip


@pytest.mark.parametrize("f", CAUGHT, ids=lambda f: f.__name__)
def test_caught(f):
    """One segment, which no call leaves but by returning."""
    stays(agree(lambda: f, (X,), (-X,), (X[:4],)))


def escapes(a):
    if a.ndim != 1:
        raise ValueError(f"bad {a.shape}")
    try:
        if a.sum() > 100:
            raise Bad(f"sum {a.sum():.2f}")
        b = checked(a[0])
    except KeyError:
        b = 0.0
    return a * b


def kept(a):
    try:
        raise Bad("x")
    except Bad as e:
        err = e
    return a * 2, err.args, repr(err)


def returned(a):
    try:
        raise Bad("x", 1)
    except Bad as e:
        r = e
    return a * 2, r


def made_only(a):
    return a * 2, ValueError("v", 3), KeyError


def own_constructor(a):
    try:
        raise WithCode(3)
    except WithCode as e:
        return a * e.code


def stores_before_it_escapes(a):
    a[0] = 7.0
    try:
        a[1] = 8.0
        raise Bad("x")
    except KeyError:
        a[2] = 9.0
    return a


def raised_in_a_handler(a):
    try:
        raise Bad("first")
    except Bad:
        a[0] += 1
        raise KeyError("second")  # noqa: B904


def groups(a):
    try:
        raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
    except* ValueError as g:
        n = len(g.exceptions)
    except* TypeError as g:
        n += 10 * len(g.exceptions)
    return a + n


@pytest.mark.parametrize(
    "f",
    [escapes, kept, returned, made_only, own_constructor, stores_before_it_escapes, raised_in_a_handler, groups],
    ids=lambda f: f.__name__,
)
def test_what_leaves_is_genuine(f):
    agree(lambda: f, (X.copy(),), (-X,), (X * 100,), (X.reshape(2, 3),), breaks=None)


def test_traceback_and_context_are_pythons():
    def f(a):
        try:
            if a.sum() > 0:
                raise Bad("inner")
            return a
        except Bad:
            b = a * 2
            raise KeyError(f"outer {b[0]}")  # noqa: B904

    import npcompile

    for g in (f, npcompile.jit(f, options={"compile": "first"})):
        for _ in range(3):
            with pytest.raises(KeyError) as e:
                g(X)
            assert type(e.value.__context__) is Bad and str(e.value.__context__) == "inner"
            assert e.traceback[-1].lineno == f.__code__.co_firstlineno + 6


# ------------------------------------------------------------------------------------------------ strings


def formatted(a):
    s = a.sum()
    n = len(a)
    return f"{s:.3f} of {n:>4d}{n!r:>5}", "mean: " + str(a.mean()) + ", n=%d, %s" % (n, s), a * 2  # noqa: UP031


def by_methods(a):
    x, k = a[0], int(a[2])
    return "{} and {:.2e}".format(x, x * k), ", ".join([str(x), str(k), "end"]), f"{x!s}|{float(x)!r}|{k:+d}", a + 1  # noqa: UP032


def in_branches(a):
    if a.sum() > 0:
        label = f"positive {a.sum():.1f}"
    else:
        label = f"negative {a.sum():.1f}"
    return label, a * 2


def unused(a):
    msg = f"sum {a.sum()}"
    if a.ndim > 3:
        raise ValueError(msg)
    return a * 2


@pytest.mark.parametrize("f", [formatted, by_methods, in_branches, unused], ids=lambda f: f.__name__)
def test_text(f):
    stays(agree(lambda: f, (X,), (-X,), (X.astype("f4"),), (np.array([1.5, np.nan, 3.0]),)))


def bad_format(a):
    n = len(a)
    return f"{a.sum():d}", n


def text_of_an_array(a):
    b = a * 2
    s = f"{b}"
    b[0] = 99
    return s, b


def compared(a):
    s = str(a.sum())
    return s == "9.1", len(s), s[0], a * 2


@pytest.mark.parametrize("f", [bad_format, text_of_an_array, compared], ids=lambda f: f.__name__)
def test_text_that_python_makes(f):
    agree(lambda: f, (X,), (-X,), breaks=None)
