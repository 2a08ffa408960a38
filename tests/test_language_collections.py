"""Containers of `collections`, and changes of lists and dicts: as plain Python does it, without leaving compiled code."""

import collections

import numpy as np
import pytest
from language_harness import agree, form

V = np.array([3.1, -1.3, 2.5, 0.0, -4.7])
K = np.array([4, 1, 3, 2], dtype=np.int64)
LONG = np.sin(np.arange(40.0))


def bounded_deque(a):
    dq = collections.deque(maxlen=3)
    for k in range(5):
        dq.append(a * k)
    return sum(dq) / len(dq), list(dq), dq[0], dq[-1], bool(dq), dq.maxlen, np.mean(dq)


def running_sums(a):
    dq = collections.deque([0.0], maxlen=2)
    out = []
    for x in a:
        dq.append(x)
        out.append(sum(dq))
    return out, dq


def search(a):
    q = collections.deque([0])
    seen = np.zeros(8, bool)
    out = []
    while q:
        i = q.popleft()
        if seen[i]:
            continue
        seen[i] = True
        out.append(i + a[0])
        for j in ((i * 2 + 1) % 8, (i + 3) % 8):
            q.append(j)
    return out


def deque_methods(a):
    dq = collections.deque(a.tolist())
    dq.rotate(2)
    dq.rotate(-1)
    dq.appendleft(5.0)
    dq.pop()
    dq.extend([1.0, 2.0])
    dq += [a[0]]
    dq[1] = 7.0
    return dq, np.array(dq), 5.0 in dq, [x * 2 for x in dq]


def grouped(a):
    dd = collections.defaultdict(list)
    dd["a"].append(a.sum())
    dd["b"].append(a + 1)
    dd["a"].append(2)
    sums = collections.defaultdict(lambda: np.zeros(3))
    sums["x"] += a[:3]
    return (
        dd,
        dict(dd),
        {**dd},
        list(dd.items()),
        dd.get("q"),
        "a" in dd,
        len(dd),
        isinstance(dd, dict),
        type(dd),
        sums["x"],
        sums["y"],
    )


def ordered(a):
    od = collections.OrderedDict(x=1)
    od["y"] = a
    od.move_to_end("x")
    od.update(z=a.size)
    return od, list(od), od.pop("z"), [len(k) for k in od], od["y"] * 2


def counted(a):
    c = collections.Counter("hello")
    c["l"] += 2
    c.update({"z": 1})
    c.update(c)
    return c, c["q"], "q" in c, len(c), c.total(), dict(c), a * c["l"]


def lists(a):
    x = [a, a + 1]
    y = x
    x += [a * 2]
    x *= 2
    x.reverse()
    x.insert(1, a)
    first = x.pop(0)
    del x[-1]
    return x, len(x), first, y is x


def grown_lists(a):
    out = [x * 2 for x in a]
    out.insert(0, a[0])
    out.insert(2, a[1])
    out.insert(-1, a[0])
    del out[1]
    del out[-1]
    out.reverse()
    return out, len(out), out + [1.0] + list(a)


def mixed_lists(a):
    out = []
    for x in a:
        out.append(x * 2)
    out.extend(a[:2])
    last = out.pop()
    out.insert(0, last)
    out[1:3] = [0]
    del out[0]
    return out, len(out), last in out, a[0] in out, 99 in out


def dicts_and_sets(a):
    d = {"x": a}
    e = d
    d |= {"z": 1}
    s = {1, 2} | {3, a.ndim}
    return d, e is d, d | {"x": a * 2}, s, s & {1, 9}, s - {1}, s ^ {1, 7}


ALL = [
    bounded_deque, running_sums, search, deque_methods, grouped, ordered, counted, lists, grown_lists, mixed_lists,
    dicts_and_sets,
]  # fmt: skip


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_containers(f):
    agree(lambda: f, (V,), (V * 2,), (V[:3],))


@pytest.mark.parametrize("f", [running_sums, grown_lists], ids=lambda f: f.__name__)
def test_long(f):
    agree(lambda: f, (LONG,), breaks=None)


def test_a_break_makes_the_real_objects():
    def f(a):
        dq = collections.deque([a, 1], maxlen=4)
        add = dq.append
        c = collections.Counter("aab")
        dd = collections.defaultdict(list, x=[a])
        od = collections.OrderedDict(k=1)
        eval("1")
        add(2)
        dd["y"].append(3)
        c["b"] += 1
        od["l"] = 2
        return dq, c, dd, od, dd.default_factory, dq == collections.deque([1]), repr(c)

    agree(lambda: f, (V,), breaks=None)


def test_what_is_not_there_is_raised():
    def f(a, how):
        dq = collections.deque([a])
        od = collections.OrderedDict(k=1)
        dq.popleft()
        if how == 1:
            dq.pop()
        if how == 2:
            od["q"]
        if how == 3:
            dq.held  # noqa: B018
        if how == 4:
            collections.defaultdict()["q"]
        return a + 1

    agree(lambda: f, (V, 0), (V, 1), (V, 2), (V, 3), (V, 4))


def test_forms_tell_these_classes_apart():
    assert form(collections.Counter("a")) != form({"a": 1})
