"""Methods, super(), properties, operators and containers of classes written in Python: calls that opcodes make."""

from . import Cases

cases = Cases()


class Vector:
    __match_args__ = ("x", "y")

    def __init__(self, x, y=0):
        self.x = x
        self._y = y

    @property
    def y(self):
        return self._y + 0

    @y.setter
    def y(self, value):
        self._y = value

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __lt__(self, other):
        return self.x < other.x and "yes"

    def __eq__(self, other):
        return [self.x] if self.x == other.x else []

    def __getitem__(self, key):
        if isinstance(key, slice):
            return (self.x, self.y)[key]
        if key > 1:
            raise IndexError(key)
        return self.y if key else self.x

    def __setitem__(self, key, value):
        if key:
            self.y = value
        else:
            self.x = value

    def __delitem__(self, key):
        self[key] = 0

    def __iter__(self):
        return iter((self.x, self.y))

    def norm(self):
        return abs(self.x) + abs(self.y)

    @classmethod
    def unit(cls):
        return cls(1)

    @staticmethod
    def zero():
        return Vector(0)


class Named(Vector):
    count = 0

    def __init__(self, x, y, name):
        super().__init__(x, y)
        self.name = name
        type(self).count += 1

    def norm(self):
        tag = [self.name for _ in range(2)]
        return super().norm(), tag

    def explicit(self):
        return super(Named, self).norm(), super().y

    def captures_self(self, k):
        f = lambda: (self.name, k)
        k += 1
        return f(), super().norm()


@cases(lambda: (1, 2))
def operators(a, b):
    v, w = Vector(a, b), Vector(b, a)
    u = v + w
    u += -v
    return u.x, u.y, (v < w), bool(v == w), not v == v, list(v), v[0], v[1], v[:1]


@cases(lambda: (1, 2))
def comparisons_decide(a, b):
    v, w = Vector(a), Vector(b)
    out = []
    if v < w:
        out.append("less")
    while v == w:
        break
    else:
        out.append("different")
    out.append("x" if v == v else "y")
    return out


@cases(lambda: (5,))
def items(k):
    v = Vector(1, 2)
    v[0] = k
    v[1] += k
    before = [*v]
    del v[0]
    try:
        v[2]
    except IndexError as error:
        return before, v.x, str(error)


@cases(lambda: (3, 4))
def methods(a, b):
    n = Named(a, -b, "n")
    return n.norm(), n.explicit(), n.captures_self(1), Named.unit if a == 0 else Vector.unit().norm(), Vector.zero().norm()


@cases(lambda: (3,))
def properties(a):
    v = Vector(a)
    v.y = 7
    v.y -= 1
    f = v.norm
    del v.x
    try:
        return f()
    except AttributeError as error:
        return v.y, str(error).split("'")[-2]


@cases(lambda: (0,), lambda: ("s",))
def init_fails(a):
    class Strict:
        def __init__(self, value):
            self.inverse = 1 / value

    try:
        return Strict(a).inverse
    except ZeroDivisionError:
        return "zero"


@cases(lambda: (2,))
def class_with_bases(n):
    class Meta(type):
        def __new__(mcls, name, bases, namespace, **options):
            cls = super().__new__(mcls, name, bases, namespace)
            cls.options = options
            return cls

    class A(metaclass=Meta, flag=n):
        def who(self):
            return "A"

    class B(A, *[], flag=n + 1):
        def who(self):
            return super().who() + "B"

    return B().who(), A.options, B.options
