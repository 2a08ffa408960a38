"""Arguments that are other objects at every call: no segment for each of them."""

import functools
import types

import numpy as np
import pytest

import npcompile
from npcompile.testing import difference

X = np.linspace(0.0, 1.0, 50)


def applied(f, x):
    return f(x) + f(x * 2) * 3


def attribute(o, x):
    return o.f(x) * 2 + o.scale


def item(d, x):
    return d["f"](x) * d["k"] + 1


def each(fs, x):
    for f in fs:
        x = f(x)
    return x + 1


def compared(f, x):
    return f(x) if f is doubled else x + 1 if f is not None else x * 3


def labelled(name, x):
    return x * 2 + 1, f"{name}.txt"


def keyed(cfg, key, x):
    return x * cfg[key] + 1


def named(names, x):
    n = 0
    for name in names:
        n += len(name)
    return x * n + 1


def doubled(v):
    return v * 2


def by_order(x, n):
    return np.diff(x, n) + 1


def of_bytes(x, data):
    return x * len(data) + 1


def with_default(k):
    return lambda v, k=k, *, name="b": v * k + len(name)


def in_a_closure(k):
    return lambda v: v * k


@pytest.mark.parametrize(
    "fn, make, most",
    [
        (applied, lambda i: (lambda v: v * 2, X), 1),
        (applied, lambda i: (in_a_closure(i * 0.5), X), 1),
        (applied, lambda i: (with_default(i + 0.5), X), 1),
        (applied, lambda i: ([in_a_closure, with_default][i % 2](i + 0.5), X), 2),
        (applied, lambda i: (functools.partial(lambda v, k: v * k, k=i), X), 2),
        (applied, lambda i: (types.SimpleNamespace(f=in_a_closure(i)).f, X), 1),
        (attribute, lambda i: (types.SimpleNamespace(f=in_a_closure(i), scale=i), X), 2),
        (item, lambda i: ({"f": in_a_closure(i), "k": i}, X), 2),
        (each, lambda i: ([in_a_closure(i), doubled, in_a_closure(2)], X), 3),
        (compared, lambda i: ([doubled, in_a_closure(i), None][i % 3], X), 3),
        (labelled, lambda i: (f"file{i}", X), 5),
        (keyed, lambda i: ({f"k{i}": i * 2.0}, f"k{i}", X), 5),
        (named, lambda i: ((f"a{i}", "b" * i), X), 5),
        (by_order, lambda i: (X, i + 1), 7),
        (of_bytes, lambda i: (X, bytes(i)), 5),
    ],
)
def test_few_segments(fn, make, most):
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for i in range(20):
        assert not difference(fn(*make(i)), jitted(*make(i)))
    assert len(jitted.entries) <= most
    assert jitted.state == "active" and jitted.hits == 20


def test_special_segments_stay_in_front_of_the_general_one():
    def f(x, mode):
        return x.max() - x if mode == "max" else x.min() - x if mode == "min" else x + len(mode)

    jitted = npcompile.jit(f, options={"compile": "first"})
    modes = ["max", "min", "a", "bb", "ccc", "dddd", "eeeee"]
    for mode in modes * 2:
        assert not difference(f(X, mode), jitted(X, mode))
    assert len(jitted.entries) == 5
    assert [e.general for e in jitted.entries] == [0, 0, 0, 0, 1]
    before = jitted.entries[-1].hits
    for _ in range(3):
        jitted(X, "max")
        jitted(X, "min")
    assert jitted.entries[-1].hits == before


def test_a_variable_that_changes_is_known_to_all_points():
    """A list of another length at each break is no constant at the breaks that follow."""

    def f(n):
        kept, out = [], []
        for i in range(n):
            kept.append(object())
            out.append(len(kept) * X[i])
            str(object())
            out.append(X[i] + len(kept))
            str(object())
            out.append(X[i] * 2 + len(kept))
        return out

    jitted = npcompile.jit(f, options={"compile": "first"})
    for _ in range(3):
        assert not difference(f(20), jitted(20))
    lengths = [r for r in jitted.stats.recompiles if ": len " in r]
    assert len(lengths) <= 4, lengths
