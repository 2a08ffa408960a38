"""Comprehensions of each kind: nested, with conditions, with cells, shadowing names, and inside handlers' reach."""

from . import Cases

cases = Cases()


@cases(lambda: (4,))
def kinds(n):
    return [i * i for i in range(n)], {i % 2 for i in range(n)}, {i: -i for i in range(n)}, tuple(i for i in range(n))


@cases(lambda: (3,))
def nested(n):
    return [[i * j for j in range(i)] for i in range(n)], [(i, j) for i in range(n) for j in range(i) if i != j]


@cases(lambda: (3, 5))
def uses_locals(n, k):
    return [i * k + n for i in range(n)]


@cases(lambda: (1, [1, 2]))
def shadows(x, items):
    doubled = [x * 2 for x in items]
    return x, doubled, [x for x in doubled if x > 2], x


@cases(lambda: ([1, 2],))
def shadows_unbound(items):
    doubled = [y * 2 for y in items]
    try:
        return y
    except NameError:
        return doubled
    y = 1


@cases(lambda: ([1, 2, 3],))
def closures_inside(items):
    makers = [lambda: x for x in items]
    pairs = [(lambda k: lambda: (k, x))(x + 10) for x in items]
    return [f() for f in makers], [f() for f in pairs]


@cases(lambda: (7, [1, 2]))
def local_is_cell_outside(x, items):
    outside = lambda: x
    inside = [x + 1 for x in items]
    return outside(), inside, [(lambda: x)() for x in items], outside()


def make():
    x = 10

    @cases(lambda: ([1, 2],))
    def free_outside(items):
        return [x for x in items], x, [x + y for y in items], {x: y for x in items for y in [x]}

    return free_outside


make()


@cases(lambda: ([1, 5, 2],))
def walrus(items):
    big = [last := i for i in items if (square := i * i) > 3]
    return big, last, square


@cases(lambda: ([1, 0],), lambda: ([1, 2],))
def fails_inside(items):
    i = "kept"
    try:
        out = [10 // i for i in items]
    except ZeroDivisionError:
        out = None
    return i, out


@cases(lambda: ([2, 1, 0],))
def raises_out(items):
    return {i: [1 // j for j in range(i, 3)] for i in items}


@cases(lambda: ([[1, 2], [3]],))
def unpacking(rows):
    return [*rows[0], *(r for r in rows[1])], {*rows[0]}, {**{"a": 1}, "b": [(a, *b) for a, *b in rows]}
