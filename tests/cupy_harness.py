"""Compiled functions of CuPy's arrays, against plain CuPy.

On a machine without a GPU against NumPy, with arrays in host memory and kernels in Triton's interpreter.
"""

import importlib.util
import types

import numpy as np
import pytest
from devices import HAS_GPU

import npcompile
from npcompile.frontends.cupy import library
from npcompile.runtime import gpu
from npcompile.testing import difference

if importlib.util.find_spec("cupy") is None:
    pytest.skip("CuPy is not installed", allow_module_level=True)
if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed", allow_module_level=True)
import cupy
from cupy.cuda import memory


def _host_memory(size):
    raw = np.empty(max(size, 1), np.uint8)
    return memory.MemoryPointer(memory.UnownedMemory(raw.ctypes.data, raw.nbytes, raw, device_id=0), 0)


if not HAS_GPU:
    cupy.cuda.set_allocator(_host_memory)
    library.current_number = lambda: 0
    library.parts.cache_clear()
    gpu.require = lambda device, otherwise="": None
    gpu.launcher = lambda kernels, spec, cache, failed: (gpu.Interpreted(kernels, failed), None)


def array(x):
    """The values of a NumPy array as an array of CuPy, strides included."""
    x = np.asarray(x)
    if HAS_GPU:
        whole = cupy.asarray(x)
        if whole.strides == x.strides:
            return whole
    out = cupy.ndarray(x.shape, x.dtype, order="F" if x.flags.fnc else "C")
    if HAS_GPU:
        out.set(x)
    else:
        library.as_array(out)[...] = x
    return out


def numpy_of(x):
    """Values and strides of an array of CuPy."""
    if not HAS_GPU:
        return library.as_array(x).copy(order="K")
    return x.get(order="A")


def plain(x):
    """Results in terms of NumPy, marked as arrays."""
    if isinstance(x, (tuple, list)):
        return tuple(map(plain, x))
    if isinstance(x, cupy.ndarray):
        return numpy_of(x)
    return np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x


def oracle(f, args):
    if HAS_GPU:
        return plain(f(*args))
    names = {n: np if v is cupy else v for n, v in f.__globals__.items()}
    with np.errstate(all="ignore"):
        return plain(types.FunctionType(f.__code__, names, f.__name__, f.__defaults__, f.__closure__)(*args))


def as_tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def check(f, *args, tolerance="exact", calls=1, whole=True):
    """The compiled function gives what plain CuPy gives, and leaves its arguments so; `args`: NumPy's arrays, or numbers."""
    jitted = npcompile.jit(f, fullgraph=whole, options={"compile": "first"})
    scale = max((float(np.max(np.abs(a[np.isfinite(a)]), initial=0)) for a in args if isinstance(a, np.ndarray)), default=0.0)
    for _ in range(calls):
        ours = [array(a) if isinstance(a, np.ndarray) else a for a in args]
        copies = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args]
        theirs = [array(a) if HAS_GPU and isinstance(a, np.ndarray) else a for a in copies]
        want = oracle(f, theirs)
        got = jitted(*ours)
        for x, y in zip(as_tuple(got), as_tuple(want), strict=True):
            assert isinstance(x, cupy.ndarray) == isinstance(y, np.ndarray), (type(x), type(y))
        got = plain(got)
        text = difference(want, got, tolerance, scale)
        assert text is None or (not HAS_GPU and "strides" in text), text  # CuPy's results are in C order
        after = [plain(a) for a in ours], [plain(a) for a in theirs]
        text = difference(after[1], after[0], tolerance, scale, "arguments afterwards")
        assert text is None, text
    if whole:
        assert jitted.stats.plain_calls == 0 and jitted.stats.hits == calls and jitted.stats.compiles == 1
    return jitted
