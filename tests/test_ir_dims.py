"""Dims: normal form, arithmetic, simplification and proofs, against plain integers."""

import pickle

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from npcompile.ir.dims import Dim, Sym, dim_max, dim_min, provably_ge, provably_ne

n, m, k = Sym("n", 0, 1 << 40), Sym("m", 1, 1 << 40), Sym("k", -50, 50)
N, M, K = map(Dim.of, (n, m, k))
I = Dim.of(Sym("i", 0, 1 << 40, lower=Dim.of(0), upper=N - 1))
J = Dim.of(Sym("j", 0, 1 << 40, lower=I + 1, upper=N - 1))
P = Dim.of(Sym("p", 0, 1 << 40, not_one=True))


def worlds(draw):
    """Values for all symbols within their bounds."""
    size = draw(st.integers(1, 12))
    env = {"n": size, "m": draw(st.integers(1, 12)), "k": draw(st.integers(-50, 50))}
    env["i"] = draw(st.integers(0, size - 1))
    return env


@st.composite
def exprs(draw, depth=3):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([N, M, K, I]) | st.integers(-6, 6).map(Dim.of))
    a, b = draw(exprs(depth=depth - 1)), draw(exprs(depth=depth - 1))
    op = draw(st.sampled_from(["+", "-", "*", "max", "min", "//", "%"]))
    if op in "//%":
        b = draw(st.integers(1, 6).map(Dim.of) | st.just(M) | st.just(M * 2))
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "max": lambda: dim_max(a, b),
        "min": lambda: dim_min(a, b),
        "//": lambda: a // b,
        "%": lambda: a % b,
    }[op]()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_operations_mean_what_integers_do(data):
    env = worlds(data.draw)
    a, b = data.draw(exprs()), data.draw(exprs())
    x, y = a.evaluate(env), b.evaluate(env)
    assert (a + b).evaluate(env) == x + y and (a - b).evaluate(env) == x - y and (a * b).evaluate(env) == x * y
    assert dim_max(a, b).evaluate(env) == max(x, y) and dim_min(a, b).evaluate(env) == min(x, y)
    for d in (Dim.of(data.draw(st.integers(1, 9))), M, M * N + 1, Dim.of(-3)):
        z = d.evaluate(env)
        assert (a // d).evaluate(env) == x // z and (a % d).evaluate(env) == x % z
    lo, hi = a.bounds()
    assert lo <= x <= hi
    assert not provably_ge(a, b) or x >= y
    assert not provably_ne(a, b) or x != y
    assert a.subs({n: M + 2, k: K}).evaluate(env) == a.evaluate({**env, "n": env["m"] + 2}) or "i" in str(a)
    assert eval(str(a), {"max": max, "min": min, **env}) == x
    assert pickle.loads(pickle.dumps(a)) == a and hash(pickle.loads(pickle.dumps(a))) == hash(a)


@given(st.data())
def test_normal_form(data):
    a, b, c = (data.draw(exprs(depth=2)) for _ in range(3))
    assert a + b == b + a and (a + b) * c == c * a + c * b and a - a == Dim() and (a + b) - b == a
    assert dim_max(a, b) == dim_max(b, a) and dim_min(a, b) == dim_min(b, a)
    d = data.draw(st.integers(1, 6))
    assert (a * d + b) // d == a + b // d
    assert (a * d) % d == Dim()
    assume(c == c)


def test_slice_lengths_simplify():
    def length(start, stop, step=1):
        return (dim_max(stop - start, 0) + step - 1) // step

    assert length(Dim.of(0), N) == N
    assert length(Dim.of(0), dim_min(N, M + N)) == N
    assert length(dim_min(1, M), M) == M - 1
    assert length(I, N) == N - I
    assert length(Dim.of(0), dim_min(I + 1, N)) == I + 1
    assert length(I + 1, dim_min(J, N)) == J - I - 1
    assert length(Dim.of(0), N * 4, 2) == N * 2
    assert length(Dim.of(0), N * 4 + 1, 4) == N + 1
    assert dim_max(0, dim_min(N, dim_max(N - 2, 0))) == dim_max(N - 2, 0)
    assert (N * 2 + 1) // 2 == N and (N * M) // M == N and (N * M + N) // (M + 1) == N
    assert (N // 2) // 3 == N // 6 and (N + 6) // 3 == N // 3 + 2


def test_proofs():
    assert provably_ge(N - I, 1) and provably_ge(N, I) and not provably_ge(I, 1)
    assert provably_ge(J - I, 1) and provably_ge(N - J + I, 1) and provably_ge(N - 2, I - 0) is False
    assert provably_ge(N * M, N) and provably_ge(N * M - I * M, M) and provably_ge(N * N, I * N)
    assert provably_ge(N, N // 2) and provably_ge(N + 1, 2 * ((N + 1) // 2)) and provably_ge(3, N % 4)
    assert provably_ge(dim_max(N, M), M) and provably_ge(N, dim_min(N, M)) and not provably_ge(N, dim_max(N, M))
    assert provably_ne(P, 1) and provably_ne(P * 3, 3) and not provably_ne(P, 0) and provably_ne(I, N) and provably_ne(I, J)
    assert provably_ge(Dim.of(Sym("q", 1, 100, not_one=True)), 2)


def test_text():
    assert str(N - 1) == "(n - 1)" and str(2 * N * M + 3) == "(2*m*n + 3)" and str(-N) == "(-n)" and str(4 - N) == "(4 - n)"
    assert str(dim_max(N, M)) == "max(m, n)" and str((N + 1) // 2) == "((n + 1) // 2)"
