"""Changes of objects that existed before the call: attributes, items, lists, globals and cells, made when the segment is left."""

import dataclasses
import types

import numpy as np
import pytest
from language_harness import agree, form

import npcompile
from npcompile.testing import compare_outcomes, observe

X = np.linspace(-1.0, 2.0, 7)


class Model:
    rate = 0.5

    def __init__(self):
        self.n = 0
        self.state = X.copy()

    @property
    def half(self):
        return self._half * 2

    @half.setter
    def half(self, value):
        self._half = value / 2

    def step(self, a):
        self.n += 1
        self.state = self.state * a + self.n
        return self.state.sum()


class Slotted:
    __slots__ = ("b", "w")

    def __init__(self):
        self.w, self.b = X.copy(), 1.0


@dataclasses.dataclass
class Data:
    w: np.ndarray
    count: int = 0


def same_object(make_object, fn, *calls, **kwargs):
    """`fn(obj, *args)` on one object that lives through all calls."""

    def make():
        obj = make_object()

        def call(*args):
            result = fn(obj, *args)
            return result, obj

        return call

    return agree(make, *calls, **kwargs)


def test_attributes():
    same_object(Model, lambda m, a: m.step(a), (X,), (X * 2,), compiles=1)


def test_attribute_read_after_write_and_identity():
    def f(m, a):
        m.state = a * 2
        b = m.state
        m.state += 1
        m.extra = b
        return b, m.extra is m.state

    same_object(Model, f, (X,))


@pytest.mark.parametrize("make_object", [Slotted, lambda: Data(X.copy(), 3), lambda: types.SimpleNamespace(w=X, b=0)])
def test_kinds_of_objects(make_object):
    def f(o, a):
        o.w = o.w + a
        return o.w * 2

    same_object(make_object, f, (X,), (X,))


def test_property_setter():
    def f(m, a):
        m.half = a + 1
        return m.half * a

    same_object(Model, f, (X,), (3.0 * X,))


@pytest.mark.parametrize("sign", [1, -1])
def test_in_branches(sign):
    def f(m, a):
        if a.sum() > 0:
            m.n += 2
            m.state = a
        else:
            m.state = a * 3
        return m.state + m.n

    same_object(Model, f, (sign * X,), (-sign * X,), compiles=1)


def test_new_attribute_in_one_arm():
    def f(m, a):
        if a.sum() > 0:
            m.big = a
        return a * 2

    same_object(Model, f, (X,), (-X,))


def test_exit_in_the_middle():
    def f(m, a, i):
        m.n += 1
        b = a[i] * 2
        m.n += 10
        return b

    same_object(Model, f, (X, 3), (X, 30), (X, 2))


def test_break_in_the_middle():
    def f(m, a):
        m.n += 1
        b = a * 2
        print(m.n, file=None)
        m.n += 10
        return b

    same_object(Model, f, (X,), breaks=1)


def test_two_names():
    def f(m, o, a):
        m.n += 1
        o.n += 1
        return a * m.n

    def call(alias):
        def make():
            m = Model()
            return m, m if alias else Model(), X

        return make

    agree(lambda: f, call(False), call(True), call(False))
    agree(lambda: f, call(True), call(False), breaks=None)


def test_class_changes_between_calls():
    def make():
        class Own:
            def __init__(self):
                self.k = 1.0

            def scale(self, a):
                self.k += 1
                return a * self.k

        obj = Own()

        def f(a):
            return obj.scale(a), obj.k

        f.cls = Own
        return f

    def between(f, n):
        if n == 2:
            f.cls.scale = lambda self, a: a - self.k
        if n == 4:
            f.cls.k = property(lambda self: 7.0, lambda self, v: None)

    agree(make, (X,), (X,), (X,), between=between)


def test_setattr_override_stays_plain():
    class Logged:
        def __init__(self):
            object.__setattr__(self, "log", [])

        def __setattr__(self, k, v):
            self.log.append(k)
            object.__setattr__(self, k, v)

    def f(o, a):
        o.k = a
        return a * 2

    same_object(Logged, f, (X,), breaks=None)


def test_dict_items():
    def f(d, a):
        h = d["w"] * 2 + d["b"]
        d["h"] = h
        d["seen"] = d.get("seen", 0) + 1
        return {"h": h, "keys": list(d), **{"n": len(d)}}, "h" in d, "other" in d

    same_object(lambda: {"w": X, "b": 1}, f, (X,), (X,))


def test_dict_methods():
    def f(d, a):
        d.update(w=a, z=2)
        d.setdefault("w", 1)
        d.setdefault("y", a * 2)
        removed = d.pop("b", None)
        del d["z"]
        return removed, list(d.items()), a + 1

    same_object(lambda: {"w": X, "b": 1}, f, (X,), (X,))


def test_cache_by_key():
    def f(cache, k, a):
        if k not in cache:
            cache[k] = a * 2
        return cache[k] + 1

    same_object(dict, f, ("p", X), ("q", X), ("p", X), compiles=4)


def test_list_append_does_not_ask_for_the_length():
    def f(log, a):
        log.append(a.shape)
        log.extend([1, a.sum()])
        return a * 2

    same_object(list, f, (X,), (X,), compiles=1)


def test_list_changes():
    def f(p, a):
        p[0] = a * 2
        p[-1] += 1
        p.append(3)
        first = p.pop(0)
        p.insert(0, a)
        p += [len(p)]
        return len(p), first + 1, p[1:3]

    same_object(lambda: [1, X, 3], f, (X,))


def test_default_and_global_and_cell():
    def make():
        space = {"np": np, "TOTAL": 1, "LOG": []}
        code = (
            "def outer():\n"
            "    n = 0\n"
            "    def f(a, seen=[]):\n"
            "        global TOTAL\n"
            "        nonlocal n\n"
            "        TOTAL = TOTAL + 1\n"
            "        n += TOTAL\n"
            "        LOG.append(n)\n"
            "        seen.append(a.shape)\n"
            "        return a * n, TOTAL, list(seen)\n"
            "    return f\n"
        )
        exec(code, space)
        f = space["outer"]()
        f.space = space
        return f

    jitted = agree(make, (X,), (X,))
    assert jitted.space["TOTAL"] == 5
    assert form(jitted.space["LOG"]) == form([2, 5, 9, 14])


def test_cell_shared_by_two_functions():
    def make():
        n = 0

        def count():
            nonlocal n
            n += 1
            return n

        def f(a):
            before = n
            count()
            return a * n, before

        return f

    agree(make, (X,), (X,))


def test_not_done_when_a_warning_is_an_error():
    m = Model()

    def f(a):
        b = 1 / a
        m.n += 1
        return b

    jitted = npcompile.jit(f, options={"compile": "first"})
    with np.errstate(divide="warn"), pytest.warns(RuntimeWarning):
        jitted(np.zeros(3))
    assert m.n == 1
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            jitted(np.zeros(3))
    assert m.n == 1


def test_identity_of_classes_that_change_from_call_to_call():
    """After a break a variable that holds another class in each call is no constant any more."""

    def f(x, kind):
        y = x * 2
        print(end=f"{kind}"[:0])
        other = y.dtype.type
        return kind is other, other is kind, kind is None, kind is not int, kind == other, kind in (np.float32, int), y

    calls = [(np.ones(3, c), k) for c, k in zip("efdFD", (np.float16, np.float32, np.float64, int, np.complex128))]
    jitted = npcompile.jit(f)
    for args in calls * 2:
        assert compare_outcomes(observe(f, args), observe(jitted, args)) is None
