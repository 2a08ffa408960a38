"""The libraries besides NumPy whose arrays are compiled: torch and CuPy, each known by its module `library`.

In: live objects. Out: the module that answers questions about them, under these names:
`NAME`, `is_tensor`, `is_plain`, `why_not_plain`, `as_array`, `device_of`, `array_class`, `owns`, `parts`.
Never: imports torch or CuPy.
"""

from __future__ import annotations

from typing import Any

from .cupy import library as cupy_library
from .torch import library as torch_library

LIBRARIES: dict[str, Any] = {x.NAME: x for x in (torch_library, cupy_library)}


def library_of(x: Any) -> Any:
    """The library whose array `x` is; None for everything else."""
    if torch_library.is_tensor(x):
        return torch_library
    return cupy_library if cupy_library.is_tensor(x) else None


def plain(x: Any) -> Any:
    """`library_of`, None also for arrays that are not compiled."""
    found = library_of(x)
    return found if found is not None and found.is_plain(x) else None


def is_constant(x: Any) -> bool:
    """Is it an object of a library that is known by identity?"""
    return torch_library.is_constant(x) or cupy_library.is_constant(x)


def owner_of(x: Any) -> Any:
    """The library that a callable is part of, or None. Its functions are never looked into."""
    owner = getattr(x, "__objclass__", None) or getattr(x, "__self__", None)
    for o in (x, owner, type(owner), type(x)):
        name = getattr(o, "__module__", None)
        if isinstance(name, str):
            first = name.partition(".")[0]
            if first in LIBRARIES:
                return LIBRARIES[first]
    return None
