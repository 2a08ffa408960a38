"""Type parameters and type aliases inside functions, whose syntax is new in 3.12."""

import sys

from . import Cases

cases = Cases()

SOURCE = """
def generics(x):
    def same[T](y: T) -> T:
        return y

    class Box[S]:
        def __init__(self, content: S):
            self.content = content

    type Pair[K, *Rest, **P] = tuple[K, x]
    def bounded[B: int, C: (int, str)](b: B, c: C = 3) -> tuple[B, C]:
        return b, c

    return same(x), Box(x).content, Pair.__name__, bounded(1), [p.__name__ for p in bounded.__type_params__]
"""

if sys.version_info >= (3, 12):
    exec(compile(SOURCE, __file__, "exec"))
    cases(lambda: (5,))(generics)  # noqa: F821
