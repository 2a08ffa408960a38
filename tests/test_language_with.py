"""`with` statements, `try` around array code."""

import contextlib
import warnings

import numpy as np
import pytest
from language_harness import agree

import npcompile
from npcompile.testing import compare_outcomes, observe

X = np.linspace(-1.0, 2.0, 13)
Z = np.array([0.0, 1.0, -2.0, 0.0, 5.0])


def everything(a):
    with np.errstate(all="ignore"):
        b = 1 / a
        c = np.log(a)
    return b, c


def some_kinds(a):
    with np.errstate(divide="ignore"):
        b = 1 / a
        c = np.sqrt(-a)
    return b, c, a / 0


def nested(a):
    with np.errstate(divide="ignore"):
        with np.errstate(invalid="ignore"):
            b = np.log(a)
        c = np.log(a - 1)
    return b + c


def scalars_in_a_loop(a):
    s = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for x in a:
            s += np.float64(1.0) / x
    return s, a / 0


def returned_from_within(a):
    with np.errstate(all="ignore"):
        if a.sum() > 0:
            return 1 / a
        b = a / 0
    return b


def exit_within(a, i):
    with np.errstate(divide="ignore"):
        with np.errstate(invalid="ignore"):
            b = 1 / a
            k = int(b[i])
            c = k // i
        d = 1 / (a * 0)
    return b, c, d, 1 / (a * 0)


class Manager:
    def __init__(self, k):
        self.k = k
        self.log = []

    def __enter__(self):
        self.log.append("in")
        return self.k

    def __exit__(self, *exc):
        self.log.append(len(exc))
        return False


def made_inside(a):
    m = Manager(3.0)
    with m as k:
        b = a * k
    return b, m.log


def nothing(a):
    with contextlib.nullcontext(a * 2) as b, contextlib.suppress(ValueError):
        c = b + 1
    return c


def try_except(a):
    try:
        b = a[2] * a
    except IndexError:
        b = a * 0
    else:
        b = b + 1
    finally:
        c = a * 2
    return b, c


def finally_with_return(a):
    try:
        return a * 2
    finally:
        a = a + 1


CASES = [
    (everything, (Z,)),
    (some_kinds, (Z,)),
    (nested, (Z,)),
    (scalars_in_a_loop, (X,), (Z,)),
    (returned_from_within, (Z,), (-Z,)),
    (exit_within, (Z + 1, 2)),
    (made_inside, (X,)),
    (nothing, (X,)),
    (try_except, (X,)),
    (finally_with_return, (X,)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_compiles(case):
    fn, *calls = case
    agree(lambda: fn, *calls)


def test_exits_within_enter_the_state():
    agree(lambda: exit_within, (Z + 1, 2), (Z + 1, 0))


def test_a_manager_that_came_in():
    def f(m, a):
        with m as k:
            b = a * k
            m.k = 5.0
        return b, m

    agree(lambda: f, lambda: (Manager(2.0), X))


def test_what_raises_within_is_caught():
    def f(a, i):
        try:
            b = a[i]
        except IndexError:
            b = -1.0
        return b, a * 2

    agree(lambda: f, (X, 2), (X, 50), breaks=0)


@pytest.mark.parametrize("mode", ["raise", "warn", "call"])
def test_other_states_are_left_to_python(mode):
    def f(a):
        with np.errstate(divide=mode, call=lambda *x: None):
            return 1 / a

    agree(lambda: f, (X,), (Z,), breaks=None)


# -- warnings that the function itself records ---------------------------------------------------------------------


def recorded(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = 1 / x
        n = len(seen)
        y = y + np.log(x - 1)
        return n, len(seen), [(str(w.message), w.lineno) for w in seen], y


def recorded_by_a_library_call(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.nanmedian(x * np.nan)
        return len(seen), bool(seen), seen == [], [w.category for w in seen]


def recorded_without_a_filter(x):
    with warnings.catch_warnings(record=True) as seen:
        y = 1 / x
        return len(seen), y


def recorded_by_an_own_hook(x):
    old, seen = warnings.showwarning, []
    warnings.showwarning = lambda message, *rest, **named: seen.append(str(message))
    try:
        y = 1 / x
        return len(seen), y
    finally:
        warnings.showwarning = old


class Recorder(warnings.catch_warnings):
    def __init__(self):
        super().__init__(record=True)
        self.by_category = {}

    def __enter__(self):
        self.all = super().__enter__()
        warnings.showwarning = self.note
        return self

    def note(self, message, category, *rest, **named):
        self.by_category.setdefault(category, []).append(str(message))


def recorded_by_an_object(x):
    with Recorder() as r:
        warnings.simplefilter("always")
        y = 1 / x
        return len(r.by_category), r.by_category[RuntimeWarning], y


RECORDED = [recorded, recorded_by_a_library_call, recorded_without_a_filter, recorded_by_an_own_hook, recorded_by_an_object]


@pytest.mark.parametrize("fn", RECORDED)
def test_warnings_that_the_function_records(fn):
    x = np.array([0.0, 1.0, 0.0])
    jitted = npcompile.jit(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for _ in range(3):
            assert compare_outcomes(observe(fn, (x,)), observe(jitted, (x,))) is None
