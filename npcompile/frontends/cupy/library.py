"""What is known of CuPy itself: its dtypes, how an array's memory is read, which of its functions NumPy's stand for.

In: the module that the user has imported. Out: plain tables and predicates, for the tracer and (as `parts`) for the runtime,
whose guards ask the same questions. Never: imports CuPy.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import numpy as np

NAME = "cupy"
DTYPES = tuple(np.dtype(c) for c in "?bBhHiIlLefd")
"""Dtypes that are compiled."""

_N_TYPENUMS = 24


def module() -> Any:
    """CuPy, which the user has imported."""
    return sys.modules["cupy"]


def array_class() -> Any:
    return module().ndarray


def is_tensor(x: Any) -> bool:
    """Is it exactly a `cupy.ndarray`?"""
    cls = type(x)
    return cls.__name__ == "ndarray" and cls.__module__ == "cupy" and cls is array_class()


def is_constant(x: Any) -> bool:
    """Is it a ufunc of CuPy, which is known by identity?"""
    cls = type(x)
    return cls.__name__ in ("ufunc", "_GUFunc") and cls.__module__.startswith("cupy.")


def current_number() -> int:
    """Number of the current device."""
    return module().cuda.runtime.getDevice()  # type: ignore[no-any-return]


def current_device() -> str:
    return f"cuda:{current_number()}"


def private_ufunc(module_name: str, name: str) -> Any:
    """A ufunc that CuPy's own functions call; None where this CuPy has none of that name."""
    try:
        return getattr(importlib.import_module(module_name), name, None)
    except ImportError:
        return None


def is_plain(x: Any) -> bool:
    """Is it of a dtype that is compiled, in memory of the current device? The runtime's guard asks the same."""
    return x.dtype.isnative and x.dtype in DTYPES and x.data.device_id == current_number()


def why_not_plain(x: Any) -> str:
    """Reason id for an array that is not plain."""
    return "dtype" if x.dtype not in DTYPES else "unsupported-tensor"


class _Memory:
    """Memory of an array as NumPy's array interface describes it."""

    def __init__(self, x: Any) -> None:
        pointer = x.data.ptr or np.empty(1).ctypes.data  # an array without elements may have no memory
        self.__array_interface__ = {
            "version": 3,
            "typestr": x.dtype.str,
            "shape": x.shape,
            "strides": x.strides,
            "data": (pointer, False),
        }


def as_array(x: Any) -> np.ndarray:
    """The array's memory as an ndarray whose contents must not be looked at."""
    return np.asarray(_Memory(x))


def device_of(x: Any) -> str:
    return f"cuda:{x.data.device_id}"


def counterpart(x: Any) -> Any:
    """CuPy's function for one of NumPy's, as `__array_ufunc__` and `__array_function__` find it; None where there is none."""
    if isinstance(x, np.ufunc):
        return getattr(module(), x.__name__, None)
    path = (getattr(x, "__module__", None) or "").split(".")
    if path[0] != "numpy" or not hasattr(x, "__name__"):
        return None
    space = module()
    for part in path[1:]:
        space = getattr(space, part, None)
    found = getattr(space, x.__name__, None)
    return None if found is x else found


@functools.cache
def parts() -> dict[str, Any]:
    """What the runtime needs of CuPy, by the names it uses."""
    by_number: list[Any] = [None] * _N_TYPENUMS
    for dt in DTYPES:
        by_number[dt.num] = dt
    return {"ndarray": array_class(), "dtypes": tuple(by_number), "get_device": current_number}
