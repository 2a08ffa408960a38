"""Objects of user classes: made in the segment, changed, handed back, and their special methods."""

import dataclasses
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest
from language_harness import agree

import npcompile

X = np.linspace(-1.0, 2.0, 9)


class Vec:
    scale = 2.0

    def __init__(self, x, y=1.0):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __eq__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return self.y == other.y

    __hash__ = None

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]

    def __setitem__(self, i, v):
        self.x[i] = v

    def __iter__(self):
        return iter((self.x, self.y))

    def __call__(self, a):
        return self.x @ a

    def __matmul__(self, other):
        return (self.x * other.x).sum()

    def __abs__(self):
        return np.sqrt((self.x**2).sum())

    @property
    def total(self):
        return self.x.sum() + self.y

    @total.setter
    def total(self, v):
        self.y = v - self.x.sum()

    @staticmethod
    def unit(n):
        return Vec(np.ones(n), 0.0)

    @classmethod
    def twice(cls, x):
        return cls(x * cls.scale)


class Child(Vec):
    def __init__(self, x, name="child"):
        super().__init__(x, 3.0)
        self.name = name

    def __call__(self, a):
        return super().__call__(a) + self.y


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a
        self.b = a.shape


@dataclasses.dataclass
class State:
    pos: np.ndarray
    vel: np.ndarray
    n: int = 0

    def __post_init__(self):
        self.n += 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    k: float = 2.0


@dataclasses.dataclass
class Bag:
    w: np.ndarray
    seen: list = dataclasses.field(default_factory=list)


Point = namedtuple("Point", "x y", defaults=[2.0])


class Typed(NamedTuple):
    x: np.ndarray
    k: float = 3.0


def made_and_returned(a):
    v = Vec(a * 2)
    w = Vec(a, 5.0)
    w.extra = v
    return v, w, v.x is w.extra.x, type(v) is Vec, isinstance(w, Vec)


def operators(a):
    v, w = Vec(a), Vec(a * 3, 4.0)
    u = v + w * 2
    u = 3 * u
    u += v
    return (-u).x, u.y, v @ w, abs(w), v == w, v == v, v != w


def containers(a):
    v = Vec(a * 1)
    v[0] = 7.0
    return v[0], v[1:], len(v), v(a), [p * 2 for p in v]


def properties(a):
    v = Vec(a * 1)
    v.total = 10.0
    return v.total, v.y, hasattr(v, "y"), hasattr(v, "z"), getattr(v, "z", 4), getattr(v, "scale")  # noqa: B009


def class_methods(a):
    return Vec.unit(3).x + Vec.twice(a)[:3], Vec.twice(a).scale


def inheritance(a):
    c = Child(a)
    return c(a), c.name, c.total, c


def slots(a):
    s = Slots(a + 1)
    s.a = s.a * 2
    return s.a, s


def dataclass(a):
    s = State(a, a * 2)
    s.pos = s.pos + 0.1 * s.vel
    return s, s.n


def frozen(a):
    f = Frozen(a + 1)
    return f.w * f.k, f


def factory(a):
    b = Bag(a * 2)
    b.seen.append(a.shape)
    return b


def namedtuples(a):
    p = Point(a, 1.0)
    q = p._replace(y=3.0)
    t = Typed(a)
    return p.x * q.y, p, q, q._asdict(), t.k, p._fields, Point(a), t._replace(k=2)


def in_branches(a):
    if a.sum() > 0:
        v = Vec(a * 2, 1.5)
    else:
        v = Vec(a * 3, 2.5)
    return v.x + v.y


def changed_in_a_loop(a):
    v = Vec(0.0, 1)
    for x in a:
        v.x = v.x + x
        if x > 0:
            v.y += 1
    return v.x, v.y


def carried(a, n):
    s = State(a * 1, a * 2)
    for _ in range(n):
        s.vel = s.vel * 0.9
        s.pos = s.pos + 0.1 * s.vel
    return s.pos, s.n


def exit_inside(a, i):
    v = Vec(a * 2)
    v.y = a[i]
    return v, v.x[i]


CASES = [
    (made_and_returned, (X,)),
    (operators, (X,)),
    (containers, (X,)),
    (properties, (X,)),
    (class_methods, (X,)),
    (inheritance, (X,)),
    (slots, (X,)),
    (dataclass, (X,)),
    (frozen, (X,)),
    (factory, (X,)),
    (namedtuples, (X,)),
    (in_branches, (X,), (-X,)),
    (changed_in_a_loop, (X,)),
    (carried, (X, 12)),
    (exit_inside, (X, 2), (X, 20)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_compiles(case):
    fn, *calls = case
    agree(lambda: fn, *calls)


def test_objects_that_came_in():
    def f(v, w, a):
        u = v + w
        return u.x * 2, v[1], len(w), v @ w, v(a), u == v, 2 * v

    agree(lambda: f, lambda: (Vec(X), Vec(X * 2), X))


def test_a_method_is_replaced_between_calls():
    def make():
        class Own:
            def __init__(self, k):
                self.k = k

            def __mul__(self, a):
                return a * self.k

        def f(a):
            return Own(2.0) * a

        f.cls = Own
        return f

    def between(f, n):
        if n == 2:
            f.cls.__mul__ = lambda self, a: a - self.k
        if n == 4:

            def init(self, k):
                self.k = k * 10

            f.cls.__init__ = init

    agree(make, (X,), (X,), (X,), between=between)


def test_array_priority():
    class Duck:
        __array_ufunc__ = None

        def __init__(self, k):
            self.k = k

        def __radd__(self, a):
            return a.sum() + self.k

        def __rmul__(self, a):
            return NotImplemented

    def f(d, a):
        return a * 2 + d

    agree(lambda: f, lambda: (Duck(3.0), X))

    def g(d, a):
        return a * d

    agree(lambda: g, lambda: (Duck(3.0), X), breaks=None)


class Cyclic:
    def __init__(self, a):
        self.a = a
        self.me = self


class Counted:
    alive = 0

    def __init__(self, a):
        self.a = a

    def __del__(self):
        Counted.alive += 1


@pytest.mark.parametrize("cls", [Cyclic, Counted, Frozen])
def test_what_is_left_to_python(cls):
    def f(a):
        o = cls(a * 2)
        if cls is Frozen:
            o.w = a
        return o.a + 1

    agree(lambda: f, (X,), breaks=None)


class Decorated:
    """Every method decorated, as the functions of a module may be."""

    @npcompile.jit
    def __init__(self, a, k=2.0):
        self.a = a
        self.k = k

    @npcompile.jit
    def scaled(self, b):
        return self.a * self.k + b

    @staticmethod
    @npcompile.jit
    def twice(b):
        return b * 2

    @classmethod
    @npcompile.jit
    def of(cls, a):
        return cls(a + 1)

    @property
    @npcompile.jit
    def size(self):
        return self.a.sum()

    @size.setter
    @npcompile.jit
    def size(self, n):
        self.k = n

    @npcompile.jit
    def __add__(self, other):
        return self.a + other.a

    @npcompile.jit
    def __call__(self, b):
        return self.twice(b) - self.size


class Derived(Decorated):
    @npcompile.jit
    def scaled(self, b):
        return super().scaled(b) * 3

    def step(self, b):
        self.size = 4.0
        method = self.scaled
        return method(b)


def test_decorated_methods_are_inlined():
    def f(d, a):
        e, g = Decorated.of(a), Derived(a, k=3.0)
        e.size = 0.5
        return d.scaled(a) + d(a) + (d + e) + e.scaled(a) + Decorated.scaled(e, a) + e.size + e(a) + g.step(a) + g.scaled(a), e

    agree(lambda: f, lambda: (Decorated(X), X))
    agree(lambda: f, lambda: (Derived(X), X))


class Meta(type):
    """Has what its classes' objects have not."""

    def __call__(cls, *args):
        return super().__call__(*args)

    def __len__(cls):
        return 0

    def shape(cls):
        return 3


class OfMeta(metaclass=Meta):
    pass


class Callable_:
    def __call__(self):
        return 1.0


QUESTIONS = """
callable(v)
hasattr(v, "__call__"), hasattr(v, "__name__"), hasattr(v, "mro")
hasattr(v, "__len__"), hasattr(v, "__iter__"), hasattr(v, "__array__")
hasattr(v, "shape"), hasattr(v, "__or__"), hasattr(v, "__next__")
getattr(v, "__name__", "none"), getattr(v, "shape", "none")
bool(v) if not isinstance(v, np.ndarray) else 1
"""
ASKED = ["e", "", 1, 2.5, None, True, np.float64(1.5), X, [1], (2, X), {}, {"a": 1}, {3}, slice(1), range(3), len, np.sin, np.sum]
ASKED += [OfMeta, OfMeta(), Vec, Callable_(), Meta, agree, X.sum, int, np.dtype("f4"), np.float64]


@pytest.mark.parametrize("question", QUESTIONS.split("\n")[1:-1])
def test_what_an_object_has_its_metaclass_may_have_not(question):
    f = eval(f"lambda a, v: (a + 1, {question})", {"np": np})
    g = eval(f"lambda a, v: (lambda v: (a + 1, {question}))(v)", {"np": np})
    made = eval(f"lambda a, make: (lambda v: (a + 1, {question}))(make())", {"np": np})
    for v in ASKED:
        agree(lambda: f, lambda v=v: (X, v), breaks=None)
        agree(lambda: g, lambda v=v: (X, v), breaks=None)
    for cls in (OfMeta, Callable_):
        agree(lambda: made, lambda cls=cls: (X, cls), breaks=None)


def test_a_comparison_that_gives_up_is_by_identity():
    def f(x):
        v = Vec(x * 2, x)
        return v == None, v != None, v == Vec(x, x[:1]), (v == 3) is False  # noqa: E711

    agree(lambda: f, lambda: (X,), breaks=None)
