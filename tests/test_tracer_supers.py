"""Methods of base classes through super(): inlined, guarded, and handed back exactly at exits."""

import numpy as np
import pytest
from tracer_harness import bound, check

import npcompile
from npcompile.testing import difference
from npcompile.tracer import replay, trace

X = np.linspace(-2.0, 3.0, 12)


class Base:
    scale = 2.0

    def __init__(self, k):
        self.k = k

    def run(self, x, y=1.0):
        return x * self.k + y

    @staticmethod
    def helper(x):
        return x - 1

    @classmethod
    def name(cls, x):
        return x


class Left(Base):
    def run(self, x, y=2.0):
        return super().run(x, y) * 3


class Right(Base):
    def run(self, x, y=3.0):
        return super().run(x + 1, y=y)


class Both(Left, Right):
    def run(self, x, y=4.0):
        out = super().run(x, y) + super().helper(x)
        return out / y

    def middle(self, x, y):
        return (lambda: self)() is self, x * 2 + super().run(x)

    def attribute(self, x):
        return x * super().scale

    def class_method(self, x):
        return super().name(x * 2)


@pytest.mark.parametrize("cls", [Left, Right, Both])
def test_inlined(cls):
    def f(o, x, y):
        return o.run(x, y)

    r = check(cls.run, cls(1.5), X, 2.0, args_out=False)
    assert r.n_work >= 2
    check(f, cls(1.5), X, 2.0, args_out=False)


def test_self_that_a_closure_holds():
    check(Both.middle, Both(2.5), X, 2.0, args_out=False)


@pytest.mark.parametrize("method", [Both.attribute, Both.class_method])
def test_what_is_not_modelled_leaves(method):
    check(method, Both(2.0), X, breaks=("super",), args_out=False)


def test_compiled():
    for cls in (Left, Right, Both):
        report = npcompile.explain(cls.run, cls(1.5), X, 2.0)
        assert len(report.segments) == 1 and not report.graph_breaks and report.backend == "C++"
        assert difference(cls(1.5).run(X, 2.0), report.result) is None


def test_a_method_that_is_replaced_is_noticed():
    class A:
        def run(self, x):
            return x + 1

    class B(A):
        pass

    class C(B):
        def run(self, x):
            return super().run(x) * 2

    r = trace(C.run, bound(C.run, (C(), X)))
    assert np.array_equal(replay.run(r, C.run, (C(), X)), (X + 1) * 2)
    A.run = lambda self, x: x - 1
    with pytest.raises(replay.GuardFailed):
        replay.run(r, C.run, (C(), X))
    r = trace(C.run, bound(C.run, (C(), X)))
    B.run = lambda self, x: x - 2
    with pytest.raises(replay.GuardFailed):
        replay.run(r, C.run, (C(), X))
    check(C.run, C(), X, args_out=False)
