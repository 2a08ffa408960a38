"""What builtins do with iterables, as plain Python functions: the tracer inlines them, and their loops compile as others do.

Each does what the builtin does for what the tracer passes: lists of numbers.
"""

from __future__ import annotations

import math
from typing import Any


def sum_of(items: Any, start: Any) -> Any:
    for x in items:
        start = start + x
    return start


def sum_of_floats(items: Any, start: float) -> float:
    """From Python 3.12 on, floats are added with the compensation of Neumaier."""
    lost = 0.0
    for x in items:
        t = start + x
        if abs(start) >= abs(x):
            lost += (start - t) + x
        else:
            lost += (x - t) + start
        start = t
    if lost and math.isfinite(lost):
        return start + lost
    return start


def call_with_items(function: Any, make: Any, iterator: Any, *rest: Any) -> Any:
    """`function(generator expression, *rest)` of a function that takes all items; `make` gives their list."""
    return function(make(iterator), *rest)


def call_with_items_and_keywords(function: Any, make: Any, iterator: Any, *rest: Any, **keywords: Any) -> Any:
    return function(make(iterator), *rest, **keywords)


def call_with_items_second(function: Any, first: Any, make: Any, iterator: Any, *rest: Any) -> Any:
    return function(first, make(iterator), *rest)


def any_of(items: Any) -> bool:
    for x in items:  # noqa: SIM110  (the loop is the point)
        if x:
            return True
    return False


def all_of(items: Any) -> bool:
    for x in items:  # noqa: SIM110
        if not x:
            return False
    return True


def min_of(items: Any) -> Any:
    best = items[0]
    for x in items:
        if x < best:
            best = x
    return best


def max_of(items: Any) -> Any:
    best = items[0]
    for x in items:
        if x > best:
            best = x
    return best


def list_of(items: Any) -> list[Any]:
    return [x for x in items]  # noqa: C416
