"""What changes from call to call is compiled for at most three times: first values, others, and then any."""

import collections
import dataclasses
import enum
import functools
import warnings

import numpy as np
import pytest

import npcompile
from npcompile.errors import NpcompileWarning

X = np.linspace(0.5, 2.0, 50)
CALLS = 12
Color = enum.Enum("Color", [f"C{k}" for k in range(CALLS)])
Pair = collections.namedtuple("Pair", "a b")
LISTS = {
    "numbers": lambda k: [0.5 * i for i in range(k)],
    "arrays": lambda k: [X * i for i in range(k)],
    "tuple": lambda k: tuple(0.5 * i for i in range(k)),
}


@dataclasses.dataclass
class Layer:
    w: float
    b: np.ndarray

    def forward(self, x):
        return x * self.w + self.b


class Net:
    def __init__(self, n):
        self.layers = [Layer(float(i), X * i) for i in range(n)]
        self.n, self.name, self.sizes = n, f"net {n}", (1.5,) * n


def numbers(n):
    return np.linspace(0.1, 1.0, n)


def over(x, items):
    for v in items:
        x = x * v + 1
    return x * 2


def enumerated(x, items):
    for i, v in enumerate(items):
        x = x * v + i
    return x


def by_index(x, items):
    for i in range(len(items)):
        x = x * items[i] + 1
    return x


def length(x, items):
    return x * len(items)


def last(x, items):
    return x * (items[-1] if items else 2.0)


def summed(x, items):
    return x * sum(items)


def sliced(x, items):
    for v in items[1:]:
        x = x * v + 1
    return x


def backwards(x, items):
    for v in reversed(items):
        x = x * v + 1
    return x


def filled(x, items):
    out = np.empty(len(items))
    for i, _ in enumerate(items):
        out[i] = x[i]
    return out


def listed(x, items):
    return [x * v for v in items]


def paired(x, items):
    for v, w in zip(items, items):
        x = x * v + w
    return x


def forwarded(x, items):
    return received(x, *items)


def received(x, *items):
    return [v * x for v in items]


@pytest.mark.parametrize("made", LISTS)
@pytest.mark.parametrize(
    "fn", [over, enumerated, by_index, length, last, summed, sliced, backwards, filled, listed, paired, forwarded]
)
def test_lengths(fn, made):
    never_more(fn, lambda k: (X, LISTS[made](k)))


def items(x, d):
    for k in d:
        x = x * d[k] + 1
    return x


def made_anew(x, d):
    return {k: v * x for k, v in d.items()}


def layers(x, net):
    for layer in net.layers:
        x = layer.forward(x)
    return x


def turns_of(x, net):
    for i in range(net.n):
        x = x * 0.5 + i
    return x


def name_of(x, net):
    return x * (2 if net.name == "net 3" else 3)


def sizes_of(x, net):
    for v in net.sizes:
        x = x * v + 1
    return x


def turns(x, n):
    for i in range(n):
        x = x * 0.5 + i
    return x


def turns_while(x, n):
    while n > 0:
        x = x * 0.5 + n
        n -= 1
    return x


def keyed(x, n):
    out = {}
    for i in range(n):
        out[i] = x * i
    return out


def keyed_while(x, n):
    out = {}
    while n > 0:
        out[n] = x * n
        n -= 1
    return out


def again(x, n):
    return x if n <= 0 else again(x * 0.5 + n, n - 1)


def broken_turns(x, n):
    for i in range(n):
        x = x * 0.5 + i
        eval("1")
    return x


def copies(x, n):
    return [0.0] * n, x * 2


def every(x, n):
    return x[:: n + 1] * 2


def chosen(x, n):
    return x * {0: 1.0, 1: 2.0}.get(n, 7.0)


def parts(x, n):
    return np.array_split(x, n + 1)[0] * 2


def shape(x, n):
    return np.zeros((n, 3)).sum(axis=0) + x[0]


def text(x, s):
    return x * 2 if s == "ab" * 3 else x + len(s)


def member(x, c):
    return x * 2 if c is Color.C3 else x + 1


@pytest.mark.parametrize(
    "fn, args",
    [
        (items, lambda k: (X, {f"k{i}": X * i for i in range(k)})),
        (items, lambda k: (X, {f"k{k}": 1.5, f"q{k}": 2.5})),
        (items, lambda k: (X, {i: X * i for i in range(k)})),
        (made_anew, lambda k: (X, {f"k{i}": X * i for i in range(k)})),
        (length, lambda k: (X, set(range(k)))),
        (length, lambda k: (X, {i: i for i in range(k)})),
        (layers, lambda k: (X, Net(k))),
        (turns_of, lambda k: (X, Net(k))),
        (name_of, lambda k: (X, Net(k))),
        (sizes_of, lambda k: (X, Net(k))),
        *((f, lambda k: (X, k)) for f in (turns, turns_while, keyed, keyed_while, again, broken_turns)),
        *((f, lambda k: (X, k)) for f in (copies, every, chosen, parts)),
        *((f, lambda k: (X, np.int64(k))) for f in (turns, turns_while, shape)),
        (shape, lambda k: (X, k)),
        (over, lambda k: (X, range(k))),
        (lambda x, s: x[s] * 2, lambda k: (X, slice(None, None, k + 1))),
        (lambda x, s: x[s] * 2, lambda k: (X, slice(k, k + 7))),
        (text, lambda k: (X, "".join(["ab"] * k))),
        (member, lambda k: (X, list(Color)[k])),
        (lambda x, v: x * v, lambda k: (X, 0.5 * k)),
        (lambda x, b: x * 2 if b else x + 1, lambda k: (X, k % 2 == 0)),
        (lambda x, y: x * 2 if y is None else x * y, lambda k: (X, None if k % 2 else X)),
        (lambda x, f: f(x) + 1, lambda k: (X, lambda v, k=k: v * k)),
        (lambda x, f: f(x) + 1, lambda k: (X, functools.partial(np.multiply, k))),
        (lambda x, d: x * d.n, lambda k: (X, dataclasses.make_dataclass("D", [("n", int)])(k))),
        (lambda x, p: x * len(p.b) + p.a, lambda k: (X, Pair(k, (1.0,) * k))),
        (lambda x, *a: x * sum(a), lambda k: (X, *(0.5 * i for i in range(k)))),
    ],
)
def test_values(fn, args):
    never_more(fn, args)


@pytest.mark.parametrize(
    "fn, args",
    [
        (lambda a: a * 2 + 1, lambda k: (numbers(k),)),
        (lambda a: (a * 2).sum() + len(a), lambda k: (numbers(k),)),
        (lambda a, b: a * b + 1, lambda k: (numbers(k), numbers(k))),
        (lambda a: a @ a + a.T, lambda k: (np.ones((k, k)),)),
        (lambda a, b: a @ b + 1, lambda k: (np.ones((3, k)), np.ones((k, 3)))),
        (lambda a, b: a * b, lambda k: (np.ones((k, 5)), np.ones(5))),
        (lambda a, b: a * b.T + a.sum(axis=0), lambda k: (np.ones((k, 7)), np.ones((7, k)))),
        (lambda a: sum(v * v for v in a), lambda k: (numbers(k),)),
        (lambda a: a * 2 if len(a) > 5 else a + 1, lambda k: (numbers(k),)),
        (lambda a: a * 2 if a.size else None, lambda k: (numbers(k),)),
        (lambda a: np.append(a, 3.0) * 2, lambda k: (numbers(k),)),
        (lambda a: np.concatenate([a, a]) * 2, lambda k: (numbers(k),)),
        (lambda a: a * 2 + a.T, lambda k: (numbers(k).reshape(-1, 1),)),
        (lambda a: np.cumsum(np.diff(a)), lambda k: (numbers(k + 1),)),
    ],
)
def test_sizes(fn, args):
    never_more(fn, args)


def counter():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * n

    return f


def grown_list():
    made = []

    def f(x):
        made.append(x * 2)
        return x * len(made)

    return f


def grown_array():
    made = np.zeros(0)

    def f(x):
        nonlocal made
        made = np.append(made, x[0])
        return made * 2

    return f


def grown_default():
    def f(x, seen=[]):  # noqa: B006
        seen.append(x[0])
        return x * len(seen)

    return f


def remembered():
    def f(x, memo={}):  # noqa: B006
        n = len(memo)
        if n not in memo:
            memo[n] = x * n
        return memo[n]

    return f


def averaged():
    class Mean:
        def __init__(self):
            self.history, self.t, self.mean = [], 0, 0.0

        def step(self, x):
            self.t += 1
            self.mean = self.mean + (x.mean() - self.mean) / self.t
            self.history.append(self.mean)
            return x * self.t

    m = Mean()
    return lambda x: m.step(x)


@pytest.mark.parametrize("make", [counter, grown_list, grown_array, grown_default, remembered, averaged])
def test_what_functions_keep(make):
    never_more(make(), lambda k: (X,), make())


def never_more(fn, args, again=None):
    for compile in ("hot", "first") if again is None else ("first",):
        jitted = npcompile.jit(again or fn, options={"compile": compile})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for k in range(CALLS):
                want, got = outcome(fn, args(k)), outcome(jitted, args(k))
                assert same(want, got), (k, want, got)
        most = 3 if compile == "hot" else 4  # which compiles pieces between breaks that are not worth it, too
        assert jitted.stats.compiles <= most, jitted.stats
        assert len(jitted.stats._state.all_records) <= 9


def outcome(fn, args):
    try:
        return fn(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-13, atol=0, equal_nan=True)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return a == b


def test_values_that_come_back_have_segments_of_their_own():
    f = npcompile.jit(over)
    for k in (3, 4, 5):
        for _ in range(30):
            f(X, [1.5] * k)
    assert f.stats.plain_calls <= 60 and not any(r.trace.breaks for r in f.stats._state.all_records[:2])


def test_few_choices_have_segments_of_their_own():
    def f(a, axis):
        return (a * 2).sum(axis=axis) + 1

    jitted, a = npcompile.jit(f, options={"compile": "first"}), np.ones((3, 4, 5))
    for axis in (0, 1, 2, -1) * 2:
        assert np.array_equal(jitted(a, axis), f(a, axis))
    assert jitted.stats.compiles == 4 and not any(r.trace.breaks for r in jitted.stats._state.all_records)


def test_the_limit_warns_of_the_guard_that_keeps_failing():
    def many(x):
        return x * 2

    f = npcompile.jit(many, options={"compile": "first", "recompile_limit": 3})
    with pytest.warns(NpcompileWarning, match="many: limit of 3 entries .* argument `x`: dtype int16, compiled for") as caught:
        for dtype in ("f8", "f4", "i2", "i4", "i8"):
            f(np.ones(3, dtype))
    assert len(caught) == 1 and caught[0].filename == __file__ and f.stats.compiles == 3
