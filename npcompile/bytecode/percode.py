"""One computed value per code object, by identity: equal code objects may come from different files."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def shrink(cache: dict[Any, Any], size: int) -> None:
    """Drop the oldest eighth of a cache that has reached its size; other threads may use it meanwhile."""
    if len(cache) >= size:
        for key in list(cache)[: size // 8]:
            cache.pop(key, None)


class PerCode(Generic[T]):
    """A function of a code object, cached. The cache holds the code objects (so that ids stay theirs) and is bounded."""

    def __init__(self, make: Callable[[CodeType], T], size: int = 2048) -> None:
        self._make = make
        self._size = size
        self._found: dict[int, tuple[CodeType, T]] = {}

    def __call__(self, code: CodeType) -> T:
        found = self._found.get(id(code))
        if found is None:
            made = self._make(code)
            shrink(self._found, self._size)
            found = self._found.setdefault(id(code), (code, made))
        return found[1]
