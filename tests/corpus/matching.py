"""The match statement, each kind of pattern."""

from . import Cases
from .classes import Vector

cases = Cases()


@cases(*[lambda v=v: (v,) for v in (0, 7, "a", None, True, (1, 2), (1, 2, 3, 4), [], {"k": 1, "x": 2}, {}, 2.5)])
def patterns(value):
    match value:
        case 0:
            return "zero"
        case None | True:
            return "constant"
        case int(n) if n > 5:
            return "big", n
        case str() as text:
            return text
        case (a, b):
            return a, b
        case [first, *rest]:
            return first, rest
        case []:
            return "empty"
        case {"k": k, **others}:
            return k, others
        case {}:
            return "mapping"
        case _:
            return "other"


@cases(lambda: (1, 2), lambda: (0, 3), lambda: (5, 5))
def class_patterns(x, y):
    v = Vector(x, y)
    out = []
    for item in (v, x, [v, {"v": v}]):
        match item:
            case Vector(0, y=b):
                out.append(b)
            case Vector(a, b) if a == b:
                out.append("same")
            case Vector(x=a):
                out.append(a)
            case [Vector(), {"v": Vector(a, _)}]:
                out.append(("nested", a))
            case int() | float():
                out.append("number")
    return out


@cases(lambda: ([1, [2, (3, 4)], {"deep": {"er": 5}}],), lambda: ([1, 2],))
def deep(value):
    match value:
        case [a, [b, (c, *d)], {"deep": {"er": e}}]:
            return a, b, c, d, e
    return "no match"
