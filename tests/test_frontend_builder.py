"""Builder and registry: questions about dims, canonical types, argument binding."""

import pytest

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import registry
from npcompile.frontends.values import Const, Scalar, Unsupported
from npcompile.ir.dims import Dim, Sym


def syms(b, **hints):
    out = []
    for name, (hint, fields) in hints.items():
        s = Sym(name, **fields)
        b.hints[s] = hint
        out.append(Dim.of(s))
    return out


def test_dim_questions_are_guarded_once():
    b = Builder()
    n, m, k = syms(b, n=(10, {}), m=(10, {}), k=(3, {}))
    assert b.dim_is(n, m)
    assert b.graph.guards == [("eq", n, m)]
    assert b.dim_is(m, n) and b.dim_is(n + 1, m + 1)
    assert not b.dim_is(n, k)
    assert not b.dim_is(k, m)
    assert len(b.graph.guards) == 2
    assert b.facts.canon(m) == b.facts.canon(n)


def test_inequalities_follow_from_guards():
    b = Builder()
    n, k = syms(b, n=(10, {}), k=(3, {}))
    assert b.dim_ge(n, k + 2)
    assert b.dim_ge(n, k)
    assert b.dim_ge(n, 1)
    assert not b.dim_ge(k, n)
    assert b.graph.guards == [("ge", n, k + 2)]


def test_not_one():
    b = Builder()
    (n,) = syms(b, n=(10, {"not_one": True}))
    assert not b.dim_is(n, 1)
    assert b.broadcast_dims((n,), (Dim.of(1), n), ()) == (Dim.of(1), n)
    assert b.graph.guards == []
    with pytest.raises(Unsupported):
        b.broadcast_dims((n,), (Dim.of(7),))


def test_facts_about_loop_symbols():
    b = Builder()
    n, m = syms(b, n=(10, {}), m=(12, {}))
    i = Sym("i", 0, 1 << 40)
    b.facts.local.add(i)
    b.hints[i] = 4
    d = Dim.of(i)
    b.facts.learn_ge(n - 1 - d)
    assert b.dim_ge(n, d + 1) and b.graph.guards == []
    assert b.dim_ge(m, d + 1)
    assert b.graph.guards == [("ge", m, n)]
    assert b.dim_ge(d, 0)
    assert len(b.graph.guards) == 1


def test_static_specialises():
    b = Builder()
    (n,) = syms(b, n=(10, {}))
    assert b.static(Scalar("python", "i8", dim=n + 1)) == 11
    assert b.facts.canon(n).const == 10


def test_rules_bind_by_their_own_signature():
    def f(b, x, axis=registry.NONE):
        return axis

    marker = object()
    registry.rule(marker)(f)
    bound = registry.lookup(marker)
    assert bound is not None
    assert bound(Builder(), Const(1)) is registry.NONE
    assert bound(Builder(), Const(1), axis=registry.TRUE) is registry.TRUE
    with pytest.raises(Unsupported):
        bound(Builder(), Const(1), where=registry.TRUE)
    del registry.NUMPY._rules[marker]
