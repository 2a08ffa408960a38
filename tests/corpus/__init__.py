"""Functions that between them use every ordinary opcode. A case is a function and a maker of fresh arguments for it.

They return plain data (compared by `repr`) or raise; what they do to their arguments is compared as well.
"""

from __future__ import annotations

import importlib

MODULES = (
    "loops",
    "comprehensions",
    "scopes",
    "exceptions",
    "calls",
    "classes",
    "matching",
    "expressions",
    "generics",
    "longcode",
    "numerics",
)


class Cases(list):
    """`@cases(make, ...)` registers a function with one case for each maker and returns it unchanged."""

    def __call__(self, *makers):
        def register(function):
            self.extend((function, maker) for maker in makers)
            return function

        return register


def load():
    """All cases as (name, function, maker)."""
    result = []
    for module in MODULES:
        for number, (function, maker) in enumerate(importlib.import_module(f"corpus.{module}").cases):
            result.append((f"{module}.{function.__qualname__}-{number}", function, maker))
    return result
