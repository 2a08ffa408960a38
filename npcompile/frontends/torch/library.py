"""What is known of torch itself: its dtypes, how a tensor's memory is read, and when its operations are what they say.

In: the module that the user has imported. Out: plain tables and predicates, for the tracer and (as `parts`) for the runtime,
whose guards ask the same questions. Never: imports torch.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

import numpy as np

NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128"
"""Dtypes that are compiled: those that NumPy has too and that torch computes with everywhere."""

NAME = "torch"
_DLPACK = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_N_TYPENUMS = 24


def is_tensor(x: Any) -> bool:
    """Is it exactly a `torch.Tensor`?"""
    cls = type(x)
    return cls.__name__ == "Tensor" and cls.__module__ == "torch" and cls is module().Tensor


def current_number() -> int:
    """Number of the current CUDA device."""
    return module().cuda.current_device()  # type: ignore[no-any-return]


def array_class() -> Any:
    return module().Tensor


def is_size(x: Any) -> bool:
    """Is it a `torch.Size`?"""
    cls = type(x)
    return cls.__name__ == "Size" and cls.__module__ == "torch" and cls is module().Size


def is_constant(x: Any) -> bool:
    """Is it one of torch's own constants (dtypes, layouts, memory formats, devices), which are known by identity?"""
    cls = type(x)
    return cls.__module__ == "torch" and cls.__name__ in ("dtype", "layout", "memory_format", "device")


def module() -> Any:
    """torch, which the user has imported."""
    return sys.modules["torch"]


@functools.cache
def dtypes() -> dict[Any, np.dtype]:
    """NumPy's dtype for each of torch's that is compiled."""
    return {getattr(module(), name): np.dtype(name if name != "bool" else np.bool_) for name in NAMES.split()}


@functools.cache
def torch_dtypes() -> dict[np.dtype, Any]:
    return {v: k for k, v in dtypes().items()}


@functools.cache
def modes() -> tuple[tuple[Any, Any], ...]:
    """Callables, and what each returns while nothing changes what functions on plain tensors do. Where this torch lacks one,
    the mode does not exist."""
    return _known((getattr(module()._C, "_len_torch_function_stack", None), 0))


@functools.cache
def key_modes() -> tuple[tuple[Any, Any], ...]:
    """As `modes`, of those that change the thread's dispatch keys: dispatch modes, transforms, tracing, autocast."""
    c = module()._C
    return _known(
        (getattr(c, "_len_torch_dispatch_stack", None), 0),
        (getattr(getattr(c, "_functorch", None), "peek_interpreter_stack", None), None),
        (getattr(c, "_get_tracing_state", None), None),
        (getattr(c, "_is_any_autocast_enabled", None), False),
    )


def _known(*pairs: tuple[Any, Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple((f, value) for f, value in pairs if f is not None)


def forward_ad() -> dict[str, Any] | None:
    """Namespace whose "_current_level" is -1 outside forward differentiation."""
    namespace = vars(sys.modules.get("torch.autograd.forward_ad", object))
    return namespace if "_current_level" in namespace else None  # type: ignore[return-value]


KEYS = "_ZN3c104impl26raw_local_dispatch_key_setE"
"""`c10::impl::raw_local_dispatch_key_set`: a thread's included and excluded dispatch keys, relative to the defaults."""


def keys() -> tuple[int, str] | None:
    """Where the runtime reads a thread's dispatch keys, which is faster than asking about each mode: (handle, symbol).

    Taken only if the words are zero now and change under autocast, as they must.
    """
    torch = module()
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    try:
        lib = ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_NOW)
        words = (ctypes.c_uint64 * 2).in_dll(lib, KEYS)
        if any(words) or not all(f() == value for f, value in key_modes()):
            return None
        with torch.autocast("cpu", dtype=torch.bfloat16):
            seen = any(words)
    except (OSError, ValueError, AttributeError, RuntimeError):
        return None
    return (lib._handle, KEYS) if seen and not any(words) else None


def describe(x: Any) -> tuple[int, int, int, int, int, tuple[int, ...], tuple[int, ...]]:
    """Pointer, DLPack code and bits of the dtype, DLPack device type and index, shape and strides; raises for tensors without
    strided memory or of a dtype that is not compiled."""
    if x.layout is not module().strided or x.device.type not in ("cpu", "cuda"):
        raise TypeError("no strided memory")
    dt = dtypes()[x.dtype]
    device = 1 if x.device.type == "cpu" else 2
    return (x.data_ptr(), _DLPACK[dt.kind], dt.itemsize * 8, device, x.device.index or 0, tuple(x.shape), x.stride())


def plain_modes() -> bool:
    """Do operations on plain tensors do what they say?"""
    forward = forward_ad()
    return all(f() == value for f, value in (*modes(), *key_modes())) and (forward is None or forward["_current_level"] == -1)


def is_plain(x: Any) -> bool:
    """Does the tensor's memory hold its values, on the CPU or a CUDA device, and is no gradient recorded for it? The runtime's
    guard asks the same."""
    try:
        describe(x)
    except (TypeError, KeyError, RuntimeError):
        return False
    if x.requires_grad and module().is_grad_enabled():
        return False
    return not (x.is_neg() or x.is_conj() or (hasattr(x, "has_names") and x.has_names()))


def why_not_plain(x: Any) -> str:
    """Reason id for a tensor that is not plain."""
    return "requires-grad" if x.requires_grad and module().is_grad_enabled() else "unsupported-tensor"


class _Memory:
    """Memory of a tensor as NumPy's array interface describes it."""

    def __init__(self, x: Any) -> None:
        dt = dtypes()[x.dtype]
        strides = tuple(s * dt.itemsize for s in x.stride())
        pointer = x.data_ptr() or np.empty(1).ctypes.data  # a tensor without elements has no memory
        self.__array_interface__ = {
            "version": 3,
            "typestr": dt.str,
            "shape": tuple(x.shape),
            "strides": strides,
            "data": (pointer, False),
        }


def as_array(x: Any) -> np.ndarray:
    """The tensor's memory as an ndarray whose contents must not be looked at (they may be on a device)."""
    return np.asarray(_Memory(x))


def device_of(x: Any) -> str:
    """ "cpu", "cuda:0", ..."""
    return "cpu" if x.device.type == "cpu" else f"{x.device.type}:{x.device.index}"


@functools.cache
def parts() -> dict[str, Any]:
    """What the runtime needs of torch, by the names it uses."""
    torch = module()
    base = torch._C.TensorBase
    by_number: list[Any] = [None] * _N_TYPENUMS
    for dt, t in torch_dtypes().items():
        by_number[dt.num] = t
    graph = getattr(torch.autograd, "graph", None)
    return {
        "Tensor": torch.Tensor,
        "exchange": getattr(torch.Tensor, "__dlpack_c_exchange_api__", None),
        "describe": describe,
        "dtypes": tuple(by_number),
        "modes": modes(),
        "key_modes": key_modes(),
        "forward_ad": forward_ad(),
        "keys": keys(),
        "requires_grad": base.__dict__["requires_grad"],
        "is_grad_enabled": torch.is_grad_enabled,
        "get_default_dtype": torch.get_default_dtype,
        "is_neg": base.is_neg,
        "is_conj": base.is_conj,
        "has_names": getattr(base, "has_names", None),
        "is_inference": base.is_inference,
        "current_device": current_number,
        "increment_version": getattr(graph, "increment_version", None) or (lambda x: torch._C._increment_version([x])),
        "empty_strided": torch.empty_strided,
        "as_strided": torch.as_strided,
        "storage_offset": base.storage_offset,
        "from_numpy": torch.from_numpy,
        "device": torch.device,
    }
