"""What `bisect` and `heapq` do, as plain Python functions that the tracer inlines; what moves items in a heap is the standard
library's own.
"""

from __future__ import annotations

import heapq
from typing import Any


def bisect_left(a: Any, x: Any, lo: int = 0, hi: Any = None) -> int:
    if hi is None:
        hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def bisect_right(a: Any, x: Any, lo: int = 0, hi: Any = None) -> int:
    if hi is None:
        hi = len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if x < a[mid]:
            hi = mid
        else:
            lo = mid + 1
    return lo


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    heapq._siftdown(heap, 0, len(heap) - 1)  # type: ignore[attr-defined]


def heappop(heap: Any) -> Any:
    last = heap.pop()
    if heap:
        first = heap[0]
        heap[0] = last
        heapq._siftup(heap, 0)  # type: ignore[attr-defined]
        return first
    return last


def heapify(x: Any) -> None:
    for i in reversed(range(len(x) // 2)):
        heapq._siftup(x, i)  # type: ignore[attr-defined]
