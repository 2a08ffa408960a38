"""Parts of the standard library that programs of arrays use: enumerations, abstract classes, dataclass functions, getters,
heaps and sorted lists, positions of shapes."""

import bisect
import dataclasses
import enum
import heapq
import itertools
import operator
import traceback
import types

import numpy as np
import pytest
from language_harness import agree
from language_programs import Clip, Floor

import npcompile

V = np.array([3.1, -1.3, 2.5, 0.0, -4.7])
K = np.array([4, 1, 3, 2], dtype=np.int64)
MANY = (np.sin(np.arange(50.0)) * 100).astype(np.int64)
M = np.arange(12.0).reshape(3, 4) * 1.1 - 5


class Mode(enum.Enum):
    ADD = 1
    MUL = 2
    SAME = "s"


@dataclasses.dataclass
class P:
    x: np.ndarray
    k: float = 2.0


@dataclasses.dataclass(frozen=True, order=True)
class Fixed:
    k: float
    t: tuple = (1, 2)


def test_enumerations():
    def f(a, m):
        if m is Mode.ADD:
            return a + 1
        if m == Mode.MUL:
            return a * m.value, m.name, m
        return {x.name: a * 2 for x in Mode}, m is not Mode.ADD, m != Mode.MUL

    agree(lambda: f, (V, Mode.MUL), (V, Mode.ADD), (V, Mode.SAME), (V, 3), (V, None))


def test_abstract_classes():
    def f(a, layers):
        for layer in layers:
            a = layer(a)
        for layer in [Clip(2.0), Floor(0.5)]:
            a = layer(a)
        return a

    agree(lambda: f, (V, [Floor(2.0), Clip(0.5)]), (V, [Clip(3)]))


def test_dataclass_functions():
    def f(a):
        p = P(a, 3.0)
        q = dataclasses.replace(p, k=1.0)
        return q, q.x is p.x, dataclasses.replace(Fixed(1.0), k=2.0), Fixed(1.0) < Fixed(2.0), Fixed(1.0) == Fixed(1.0), a * q.k

    agree(lambda: f, (V,))


def test_getters():
    def f(a, p):
        two, shape, both = operator.itemgetter(1, 2), operator.attrgetter("shape"), operator.attrgetter("T.shape", "ndim")
        total, mean = operator.methodcaller("sum"), operator.methodcaller("mean", axis=0)
        return (
            two(a),
            shape(a),
            both(a),
            total(a),
            mean(a),
            operator.attrgetter("x.size")(p),
            operator.itemgetter("k")({"k": a * 2}),
            two,
        )

    agree(lambda: f, (V, P(V)), breaks=0)


def test_positions():
    def f(a):
        s = 0.0
        for i, j in np.ndindex(a.shape):
            s += a[i, j] * i
        for (i, j), x in np.ndenumerate(a):
            s += x * i - j
        return s, list(np.ndindex(2, 3)), list(np.ndindex(3))

    agree(lambda: f, (M,), (M[:2],), (M[:0],))


def heap(a):
    h = []
    for x in a:
        heapq.heappush(h, int(x))
    return [heapq.heappop(h) for _ in range(len(h))], a * 2


def heap_of_floats(a):
    h = (a * 1.5).tolist()
    heapq.heapify(h)
    first = heapq.heappop(h)
    heapq.heappush(h, first + 1)
    return h, first


def places(a):
    s = sorted(a.tolist())
    return (
        bisect.bisect_left(s, 1),
        bisect.bisect(s, a[0]),
        bisect.bisect_right(s, a[-1], 1),
        bisect.bisect_left([1, 2, 3], 2),
        a + 1,
    )


@pytest.mark.parametrize("f", [heap, heap_of_floats, places], ids=lambda f: f.__name__)
def test_heaps_and_sorted_lists(f):
    agree(lambda: f, (K,), (MANY,), (K[:1],))


def test_numbers_as_text():
    def f(a):
        n = 13
        return a * n.bit_length(), n.to_bytes(2, "big"), bin(n), hex(int(a.sum())), oct(a.size), (2.5).as_integer_ratio()

    agree(lambda: f, (K,), (MANY,))


class Held:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return iter(self.x)

    def __contains__(self, v):
        return bool((self.x == v).any())

    def __len__(self):
        return len(self.x)


def test_objects_that_are_iterated_over():
    def f(a, given):
        w, short = Held(a), Held([1.0, 2.0])
        lists = list(short), sum(short), max(short), sorted(short), [x * 2 for x in short], tuple(short), list(w), len(w)
        return lists, a[0] in w, 9 not in w, a[0] in given, 9 in given

    agree(lambda: f, (V, Held(V)), (V * 2, Held(V)))


def test_counting_without_end():
    def f(a):
        up, down = itertools.count(3), itertools.count(10, -2)
        s = 0.0
        for i, x in zip(itertools.count(1), a):
            s += i * x
        return [x * next(up) for x in a], next(down), next(down), s

    def g(a):
        return a * 2, [i * x for i, x in zip(itertools.count(), a)], itertools.count(2, 3)

    agree(lambda: f, (V,), (K,))
    jitted = npcompile.jit(g, options={"compile": "first"})
    for _ in range(2):
        assert repr(jitted(V)[2]) == "count(2, 3)"


def test_namespaces():
    def f(a):
        ns = types.SimpleNamespace(x=a, k=2)
        ns.k += 1
        ns.z = a * 2
        return ns.x * ns.k, ns, hasattr(ns, "q"), ns.z is ns.z

    agree(lambda: f, (V,))


def test_text_of_dtypes():
    agree(lambda: lambda a: (f"{a.dtype} {a.size}", "%s" % a.dtype, str(a.dtype).upper(), a * 2), (V,), (K,))  # noqa: UP031


def test_errors_of_heaps_and_bisections():
    """They are raised by the functions themselves, in the caller's line; lists that existed before change as in plain Python."""

    def emptied(n):
        h = [3.0, 1.0, 2.0]
        s = 0.0
        for _ in range(n):
            s += heapq.heappop(h)
        return s

    def caught():
        try:
            return heapq.heappop([])
        except IndexError as e:
            return str(e)

    def argument(h, n):
        return [heapq.heappop(h) for _ in range(n)], heapq.heappush(h, 0.5)

    def below(x, low):
        return bisect.bisect_left([1.0, 2.0, 3.0], x, low), bisect.bisect([1.0, 2.0, 3.0], x, low)

    calls = [(emptied, (2,)), (emptied, (5,)), (caught, ()), (argument, ([1.0, 2.0, 3.0], 2)), (argument, ([1.0], 2))]
    for f, args in [*calls, (below, (2.0, 1)), (below, (2.0, -1)), (below, (2.0, 7))]:
        jitted = npcompile.jit(f, options={"compile": "first"})
        for _ in range(2):
            outcomes = []
            for g in (f, jitted):
                own = [list(x) if isinstance(x, list) else x for x in args]
                try:
                    out = g(*own)
                except (IndexError, ValueError) as e:
                    frames = [entry.name for entry in traceback.extract_tb(e.__traceback__)][1:]
                    out = (type(e), str(e), frames)
                outcomes.append((out, own))
            assert outcomes[0] == outcomes[1], (f.__name__, args)


def indices(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * i - j
    return s


def enumerated(a):
    out = np.zeros_like(a)
    for (i, j), x in np.ndenumerate(a):
        out[i, j] = x * i + j
    return out


def in_place(a):
    for idx in np.ndindex(*a.shape):
        a[idx] = a[idx] * 2 + sum(idx)
    return a


def behind(a):
    for i, j in np.ndindex(a.shape):
        a[i - 1, j - 1] += a[i, j]
    return a


def found(a):
    for idx, x in np.ndenumerate(a):
        if x > 5:
            return idx, x
    return None


def rows(a):
    s = 0.0
    for i in np.ndindex(a.shape[:-1]):
        s += a[i].sum()
    return s


def listed(a):
    return [x * i for (i, j), x in np.ndenumerate(a)], [k for k, _ in enumerate(np.ndindex(a.shape))]


def begun(a):
    it = np.ndindex(a.shape)
    first, s = next(it), 0
    for at in it:
        s += at[0] + a[at]
    return first, s, next(it, None)


@pytest.mark.parametrize("f", [indices, enumerated, in_place, behind, found, rows, listed, begun])
def test_positions_of_any_shape(f):
    big = np.sin(np.arange(200.0)).reshape(10, 20) * 8
    agree(lambda: f, (big,), (big.T,), (M,), (big[::2, ::-1],), (big[:0],), (big[:, :0],), (M[:1],), (M[:1, :1],), compiles=8)
    if f is not begun:
        agree(lambda: f, (big[:0],), (big,), (M[:, :0],), (M,), breaks=None)


def test_positions_of_sizes():
    def f(n, m):
        out = np.zeros((n, m))
        for i, j in np.ndindex(n, m):
            out[i, j] = i * 10 + j
        return out

    agree(lambda: f, (30, 40), (3, 4), (1, 1), (1, 7), breaks=0, compiles=3)
    agree(lambda: f, (3, 4), (0, 4), (4, 0), (-1, 3), (3, 4), breaks=0)


def test_positions_with_a_break_in_each_turn():
    def f(a):
        s = 0.0
        for (i, j), x in np.ndenumerate(a):
            s += x * j
            note(0, i)
        return s

    note = {}.setdefault
    agree(lambda: f, (M,), (M[:, :0],), (M.T,), breaks=None)
