"""Floating-point conditions become NumPy's warnings: text, category, place, registry, errstate, errors."""

import traceback
import warnings

import numpy as np
import pytest
from segment_units import Guard, Recipe, arg, jit_of, returns

import npcompile
from npcompile.ir.graph import Loc, ReportSite

BODY = "if (rt->report(ctx, in[0], in[1])) return NPC_ERROR; return 0;"
TEXTS = ["divide by zero", "overflow", "underflow", "invalid value"]


def sites():
    return [ReportSite("multiply", Loc(__file__, 77, "user", __name__)), ReportSite("log", Loc("other.py", 5, "g", "no.such"))]


def report_jit():
    guards = [Guard(arg(0), "int"), Guard(arg(1), "int")]
    return jit_of(lambda s, m: "plain", guards, [returns(Recipe("const", 0))], BODY, constants=["compiled"], report_sites=sites())


def caught(call):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        call()
    return [(x.category, str(x.message), x.filename, x.lineno) for x in w]


def test_texts_places_and_order():
    jit = report_jit()
    assert caught(lambda: jit(0, 15)) == [
        (RuntimeWarning, f"{TEXTS[i]} encountered in multiply", __file__, 77) for i in (0, 1, 3)
    ]  # underflow is ignored by default, as in NumPy
    assert caught(lambda: jit(1, 8)) == [(RuntimeWarning, "invalid value encountered in log", "other.py", 5)]
    assert caught(lambda: jit(0, 0)) == []


def test_errstate_filters():
    jit = report_jit()
    with np.errstate(divide="ignore"):
        assert [m for _, m, _, _ in caught(lambda: jit(0, 15))] == [f"{TEXTS[i]} encountered in multiply" for i in (1, 3)]
    with np.errstate(under="warn"):  # compiled code does not look for underflow
        assert jit(0, 0) == "plain"
    with np.errstate(all="ignore"):
        assert caught(lambda: jit(0, 15)) == [] and jit(0, 15) == "compiled"
    for mode in ("raise", "print"):
        with np.errstate(over=mode):
            assert jit(0, 0) == "plain"
    with np.errstate(all="call", call=lambda *a: None):
        assert jit(0, 0) == "plain"
    assert len(caught(lambda: jit(0, 15))) == 3
    for _ in range(20):  # values come and go at the same addresses
        with np.errstate(over="raise"):
            assert jit(0, 0) == "plain"
        with np.errstate(over="ignore"):
            assert jit(0, 2) == "compiled"
    old = np.seterr(all="raise")
    assert jit(0, 0) == "plain"
    np.seterr(**old)
    assert jit(0, 0) == "compiled"


def test_segments_without_reports_do_not_look_at_errstate():
    jit = jit_of(lambda: "plain", [], [returns(Recipe("const", 0))], "return 0;", constants=["compiled"])
    with np.errstate(all="raise"):
        assert jit() == "compiled"


def test_once_per_place_through_the_modules_registry():
    jit = report_jit()
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("default")
        for _ in range(3):
            jit(0, 1)
    assert len(w) == 1
    key = ("divide by zero encountered in multiply", RuntimeWarning, 77)
    assert key in globals()["__warningregistry__"]
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
        jit(0, 2)
    assert not w


def test_warning_as_error_shows_the_users_line():
    jit = report_jit()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="overflow encountered in multiply") as info:
            jit(0, 2)
    last = traceback.extract_tb(info.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (__file__, 77, "user")


def test_unknown_site():
    with pytest.raises(SystemError, match="unknown site 9"):
        report_jit()(9, 1)


def stored(x, y, out):
    out[:] = np.sqrt(x) / y
    out += 1.0


def test_a_warning_that_is_an_error_comes_before_the_stores_that_follow():
    x, y = np.ones(1000), np.ones(1000)
    y[600] = 0.0
    f = npcompile.jit(stored, options={"compile": "first"})
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        f(x, y, np.empty(1000))
    assert f.stats.plain_calls == 0
    for g in (stored, f):
        out = np.zeros(1000)
        with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="divide by zero"):
            warnings.simplefilter("error")
            g(x, y, out)
        assert not out.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        before = f.stats.plain_calls
        with pytest.warns(RuntimeWarning):
            f(x, y, np.empty(1000))
    assert f.stats.plain_calls == before


def test_nothing_is_looked_for_while_all_warnings_are_ignored():
    def f(x):
        return np.sqrt(x) + 1

    jitted, x = npcompile.jit(f), np.array([-1.0, 4.0])
    jitted(x), jitted(x)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore")
            jitted(x)
        assert not seen
        assert [(c, t) for c, t, _, _ in caught(lambda: jitted(x))] == [(RuntimeWarning, "invalid value encountered in sqrt")]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "another text")
            warnings.filterwarnings("ignore", module="another")
            warnings.simplefilter("ignore", DeprecationWarning)
            jitted(x)
        assert len(seen) == 1
    assert jitted.stats.hits
