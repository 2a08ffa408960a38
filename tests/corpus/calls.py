"""Every way to pass arguments, recursion, methods, builtins, functions with annotations and keyword defaults."""

import functools

from . import Cases

cases = Cases()


def takes(a, b=2, /, c=3, *rest, d, e=5, **more):
    return a, b, c, rest, d, e, more


@cases(lambda: ([1, 2], {"x": 9}))
def all_ways(args, kwargs):
    return (
        takes(1, d=4),
        takes(1, 2, 3, 4, 5, d=6),
        takes(*args, d=1, **kwargs),
        takes(*args, 3, *args, d=len(kwargs), e=[k for k in kwargs], **kwargs, y=1),
        takes(1, c=2 if args else 3, d=4 if kwargs else 5),
    )


@cases(lambda: ())
def wrong_calls():
    out = []
    kw = 3
    for call in (lambda: takes(), lambda: takes(1, d=1, **{"d": 2}), lambda: takes(1, 2), lambda: takes(*3, d=1), lambda: kw()):
        try:
            out.append(call())
        except TypeError as error:
            out.append(type(error).__name__)
    return out


@cases(lambda: (4,))
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@cases(lambda: (4,))
def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


@cases(lambda: (3,))
def fibonacci(n):
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


@cases(lambda: ([3, 1, 2],))
def builtins_and_methods(items):
    text = ",".join(map(str, sorted(items, key=lambda v: -v)))
    return text.split(","), "x".upper().lower(), len(items), isinstance(items, list), max(*items), divmod(7, 3), print is not None


def annotated(a: int, b: "str" = "b", *, c: float = 1.5) -> tuple:
    return a, b, c


@cases(lambda: (1,))
def defines(x):
    def local(a: x, b=x, *, c=x + 1, d: "text" = None) -> x:
        return a, b, c, d, x

    return local(0), local.__kwdefaults__, sorted(local.__annotations__), local.__defaults__, annotated(x, c=2)


@cases(lambda: (2,))
def decorated(n):
    def twice(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs), f(*args, **kwargs)

        return wrapper

    @twice
    def value(k, *, extra=1):
        return k + extra

    return value(n), value(n, extra=5), value.__name__


@cases(lambda: (1,))
def keyword_values_with_control_flow(x):
    return dict(a=x if x else 0, b=[i for i in range(x)], c=x and 5, d=lambda: x)["c"], takes(x, d=(y := x + 1), e=y)


@cases(lambda: ("s",))
def partials(x):
    f = functools.partial(takes, 1, d=x)
    return f(), f(7), f(e=1)


@cases(lambda: (3,))
def imports_inside(n):
    import math
    import os.path as path
    from collections import OrderedDict as Ordered
    from math import sqrt

    try:
        from math import nothing_here
    except ImportError:
        nothing_here = None
    return math.floor(sqrt(n)), path.join("a", "b"), list(Ordered(a=1)), nothing_here


@cases(lambda: (3,))
def generator_expression(n):
    return sum(i * n for i in range(n)), list(zip((i for i in range(2)), "ab")), any(i > 1 for i in range(n))
