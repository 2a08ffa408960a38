"""What builtins do with iterables, as plain Python functions: the tracer inlines them, and their loops compile as others do.

Each does what the builtin does for what the tracer passes: lists of numbers.
"""

from __future__ import annotations

import math
from typing import Any


def compute_once(function: Any, obj: Any, name: str) -> Any:
    """What `functools.cached_property` does when it has nothing yet."""
    value = function(obj)
    setattr(obj, name, value)
    return value


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


def call_with_items(function: Any, make: Any, args: Any, *rest: Any) -> Any:
    """`function(generator, *rest)` of a function that takes all items; `make(*args)` gives their list."""
    return function(make(*args), *rest)


def call_with_items_and_keywords(function: Any, make: Any, args: Any, *rest: Any, **keywords: Any) -> Any:
    return function(make(*args), *rest, **keywords)


def call_with_items_second(function: Any, first: Any, make: Any, args: Any, *rest: Any) -> Any:
    return function(first, make(*args), *rest)


def call_with_iterator(function: Any, iterable: Any, *rest: Any, **keywords: Any) -> Any:
    """What a builtin makes of an object that gives an iterator."""
    return function(iterable.__iter__(), *rest, **keywords)


def is_in(container: Any, x: Any) -> bool:
    return bool(container.__contains__(x))


def is_not_in(container: Any, x: Any) -> bool:
    return not container.__contains__(x)


def iterate(make: Any, args: Any) -> Any:
    return iter(make(*args))


def call_with_made(function: Any, make: Any, inner: Any, iterable: Any, *rest: Any) -> Any:
    """`function(map(inner, iterable), *rest)`, or of `filter`; `make` gives the list."""
    return function(make(inner, iterable), *rest)


def map_list(function: Any, iterable: Any) -> list[Any]:
    return [function(x) for x in iterable]


def filter_list(function: Any, iterable: Any) -> list[Any]:
    return [x for x in iterable if function(x)]


def filter_true(function: Any, iterable: Any) -> list[Any]:
    return [x for x in iterable if x]


def any_map(function: Any, iterable: Any) -> bool:
    for x in iterable:  # noqa: SIM110
        if function(x):
            return True
    return False


def all_map(function: Any, iterable: Any) -> bool:
    for x in iterable:  # noqa: SIM110
        if not function(x):
            return False
    return True


def reduce_from(function: Any, iterable: Any, start: Any) -> Any:
    for x in iterable:
        start = function(start, x)
    return start


def min_by(items: Any, key: Any) -> Any:
    best, least = items[0], key(items[0])
    for x in items[1:]:
        k = key(x)
        if k < least:
            best, least = x, k
    return best


def max_by(items: Any, key: Any) -> Any:
    best, most = items[0], key(items[0])
    for x in items[1:]:
        k = key(x)
        if k > most:
            best, most = x, k
    return best


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


def ordered(keys: Any, reverse: bool) -> Any:
    """The positions of keys in their order; compiled code finds them by sorting an array."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def sorted_list(items: Any, reverse: Any) -> list[Any]:
    items = [x for x in items]  # noqa: C416
    return [items[i] for i in ordered(items, reverse)]


def sorted_by(items: Any, key: Any, reverse: Any) -> list[Any]:
    items = [x for x in items]  # noqa: C416
    keys = [key(x) for x in items]
    return [items[i] for i in ordered(keys, reverse)]


def min_by_of(items: Any, key: Any) -> Any:
    return min_by([x for x in items], key)  # noqa: C416


def max_by_of(items: Any, key: Any) -> Any:
    return max_by([x for x in items], key)  # noqa: C416
