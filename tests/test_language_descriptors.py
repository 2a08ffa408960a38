"""Attributes that descriptors give: cached properties, descriptors of the user's own; containers beside arrays in `zip`."""

import functools

import numpy as np
import pytest
from language_harness import agree, stays

X = np.array([3.1, -1.3, 2.5, 0.5, -4.7])


class Shifted:
    def __init__(self, by):
        self.by = by

    def __get__(self, obj, cls=None):
        return self if obj is None else obj.raw + self.by


class Checked:
    def __set_name__(self, cls, name):
        self.name = "_" + name

    def __get__(self, obj, cls=None):
        return getattr(obj, self.name)

    def __set__(self, obj, value):
        setattr(obj, self.name, value)


class Model:
    near = Shifted(1.0)
    far = Shifted(100.0)
    w = Checked()

    def __init__(self, raw):
        self.raw = raw
        self.w = raw * 2

    @functools.cached_property
    def heavy(self):
        return self.raw**2 + 1

    @property
    def both(self):
        return self.heavy + self.near


def reads(m, a):
    return a * m.near + m.far


def data_descriptor(m, a):
    return a + m.w


def cached(m, a):
    return a * m.heavy + m.heavy


def through_a_property(m, a):
    return a * m.both


def by_name(m, a):
    setattr(m, "extra", a.sum())  # noqa: B010
    return m.extra * a


@pytest.mark.parametrize("f", [reads, data_descriptor, cached, through_a_property, by_name], ids=lambda f: f.__name__)
def test_descriptors(f):
    stays(agree(lambda: f, lambda: (Model(3.0), X), lambda: (Model(5.0), -X)))


def test_what_a_cached_property_keeps():
    """It is computed once for an object, and what it gave is found there."""
    m, n = Model(3.0), Model(4.0)
    import npcompile

    g = npcompile.jit(cached, options={"compile": "first"})
    for _ in range(3):
        for x in (m, n):
            assert np.array_equal(g(x, X), X * (x.raw**2 + 1) + (x.raw**2 + 1)) and vars(x)["heavy"] == x.raw**2 + 1
    m.heavy = 7.0
    assert np.array_equal(g(m, X), X * 7.0 + 7.0)


def test_a_descriptor_hidden_by_the_object():
    def between(f, n):
        if n > 1:
            m.__dict__["near"] = 50.0 + n

    m = Model(2.0)
    agree(lambda: lambda a: a * m.near, (X,), (X,), breaks=None, between=between)


def weights(a):
    s = 0.0
    for w, x in zip([0.5, 1.0, 2.0], a):
        s += w * x
    return s


def enumerated(a, b):
    out = []
    for i, (k, x, y) in enumerate(zip(("a", "b", "c", "d"), a, b)):
        out.append((k, i, x + y))
    return out


def with_a_range(a, n):
    s = 0.0
    for k, i in zip((1.0, 2.0, 3.0), range(n)):
        s += k * a[i]
    return s


@pytest.mark.parametrize("f, args", [(weights, (X,)), (enumerated, (X, X[::-1])), (with_a_range, (X, 5))])
def test_a_container_beside_an_array(f, args):
    stays(agree(lambda: f, args))
    short = tuple(x[:2] if isinstance(x, np.ndarray) else 2 for x in args)
    agree(lambda: f, args, short, args, breaks=None)
    agree(lambda: f, tuple(x[:0] if isinstance(x, np.ndarray) else 0 for x in args), breaks=None)
