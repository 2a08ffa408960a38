"""What compiled segments call of CuPy itself: functions of arrays that return a new one in C order.

In: arrays, plain keyword arguments. Out: a contiguous array. Never: registers rules.
"""

from __future__ import annotations

from typing import Any

from . import library


def function(*arrays: Any, name: str, **kwargs: Any) -> Any:
    """`cupy.name(*arrays, **kwargs)`."""
    out = getattr(library.module(), name)(*arrays, **kwargs)
    return out if out.flags.c_contiguous else library.module().ascontiguousarray(out)
