"""Locals, cells, free variables, globals; deleting them; nonlocal and global statements; argument cells."""

from . import Cases

cases = Cases()
counter = 0
PREFIX = "global"


@cases(lambda: (3,))
def nonlocals(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return total

    seen = [add(i) for i in range(n)]
    total *= 2
    return seen, total, add(1)


@cases(lambda: (2, 3))
def argument_cells(a, b, *rest, key=4, **more):
    def look():
        return a, b, rest, key, more

    before = look()
    a += 1
    rest += (1,)
    key = more
    return before, look()


@cases(lambda: (1,))
def deletes(x):
    y = x + 1
    del x
    z = lambda: y
    w = z()
    del w
    try:
        w
    except UnboundLocalError as error:
        return str(error), y


@cases(lambda: (1,))
def deletes_cell(x):
    def get():
        return x

    first = get()
    del x
    try:
        return get()
    except NameError as error:
        second = str(error)
    try:
        return x
    except NameError as error:
        third = str(error)
    try:
        del x
    except NameError:
        x = 5
    return first, second, third, get()


@cases(lambda: (2,))
def globals_too(n):
    global counter, temporary
    counter = 0
    for _ in range(n):
        counter += 1
    temporary = counter
    result = counter, temporary, PREFIX
    del temporary
    try:
        temporary
    except NameError as error:
        return result, str(error)


@cases(lambda: (True,), lambda: (False,))
def maybe_unbound(flag):
    if flag:
        value = 1
    return value


@cases(lambda: (True,), lambda: (False,))
def maybe_unbound_free(flag):
    def get():
        return value

    if flag:
        value = 1
    return get()


def outer(k):
    hidden = k + 1

    def middle(m):
        nonlocal hidden
        hidden += m

        def inner(i):
            nonlocal hidden, k
            hidden += i
            k -= 1
            return hidden, k, m

        return inner

    return middle


@cases(lambda: (1,))
def three_levels(k):
    inner = outer(k)(10)
    return inner(1), inner(2), outer(5)(0)(0)


@cases(lambda: (3,))
def lambdas(n):
    adders = [lambda x, k=k: x + k for k in range(n)]
    late = [(lambda: k) for k in range(n)]
    return [f(10) for f in adders], [f() for f in late], (lambda *a, **k: (a, k))(1, *"ab", z=n)


@cases(lambda: (2,))
def sees_locals(a):
    b = a + 1
    free = b
    f = lambda: free
    names = sorted(locals())
    return names, f()


@cases(lambda: (1,))
def class_inside(x):
    class Local:
        y = x + 1
        z = [x for x in (1, 2)]

        def get(self):
            return self.y + x, __class__.__name__

    return Local().get(), Local.z, Local.__qualname__


def only_free_variables():
    a, b = 1, 2

    def f():
        return (a if b else b) + b

    def g():
        return [a for _ in (1, 2)] if b else b

    return f, g


for function in only_free_variables():
    cases(lambda: ())(function)


@cases(lambda: ())
def only_cells():
    first, second = 1, 2
    return (lambda: (first, second))(), (lambda: first + second)()
