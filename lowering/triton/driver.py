"""The one module that knows Triton's insides: compiles kernels to machine code, or runs them in Triton's interpreter.

In: a `DeviceKernel` and a variant. Out: a cubin with what a launch needs, or a callable over host memory. Versions 3.6 to 3.x of
Triton are supported; PyTorch need not be there.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np

from npcompile.records import dataclass

from ..lowered import DeviceKernel, LoweringError

OLDEST, NEWEST = (3, 6), (4, 0)
MISSING = "Triton is not installed: pip install 'npcompile[gpu]'"
SIGNATURE = {
    **{f"*int{n}": f"*i{n}" for n in (8, 16, 32, 64)},
    **{f"*uint{n}": f"*u{n}" for n in (8, 16, 32, 64)},
    **{f"*float{n}": f"*fp{n}" for n in (16, 32, 64)},
}


@dataclass(frozen=True)
class Binary:
    """Machine code of one variant. hidden : pointer arguments that Triton adds after the kernel's own."""

    cubin: bytes
    name: str
    warps: int
    shared: int
    hidden: int = 2


def check_version() -> None:
    """Raise `LoweringError` unless there is a Triton that this module knows."""
    try:
        installed = metadata.version("triton")
    except metadata.PackageNotFoundError:
        raise LoweringError("triton-missing", MISSING) from None
    if not OLDEST <= tuple(int(x) for x in installed.split(".")[:2]) < NEWEST:
        raise LoweringError("triton-version", f"Triton {installed} is installed; 3.6 or newer, below 4, is needed")


def check_interpreter() -> None:
    """Raise `LoweringError` unless Triton runs kernels on host memory."""
    check_version()
    if os.environ.get("TRITON_INTERPRET", "0") != "1":
        raise LoweringError("triton-interpreter", "NumPy arrays need TRITON_INTERPRET=1, set before Triton is imported")


def unpack(variant: int) -> dict[str, int]:
    """The constants of a variant (see `launch` in `kernels/cpp/abi.h`)."""
    return {
        "WIDE": variant & 1,
        "aligned": variant >> 1 & 1,
        "ROWS": 1 << (variant >> 2 & 31),
        "COLS": 1 << (variant >> 7 & 31),
        "warps": 1 << (variant >> 12 & 31),
    }


def function_of(kernel: DeviceKernel) -> Any:
    """The decorated function; its text can be read by Triton and by tracebacks."""
    name = f"<npcompile kernel {abs(hash(kernel.source)):x}>"
    linecache.cache[name] = (len(kernel.source), None, kernel.source.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": "npcompile_kernel"}
    exec(compile(kernel.source, name, "exec"), namespace)
    return namespace["kernel"]


def compile_kernel(kernel: DeviceKernel, variant: int, capability: int) -> Binary:
    """Compile one variant for GPUs of a compute capability (90 for Hopper)."""
    check_version()
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    v = unpack(variant)
    size = "i64" if v["WIDE"] else "i32"
    kinds = {"size": size, "word": "i64", **SIGNATURE}
    signature = {p: kinds[k] for p, k in zip(kernel.params, kernel.kinds, strict=True)}
    signature |= dict.fromkeys(("ROWS", "COLS", "WIDE"), "constexpr")
    constants = {n: v[n] for n in ("ROWS", "COLS", "WIDE")}
    aligned = [i for i, k in enumerate(kernel.kinds) if k != "word"] if v["aligned"] else []
    if aligned:
        aligned = [i for i in aligned if kernel.kinds[i] != "size" or kernel.params[i] in kernel.steady]
    attrs = {(i,): [["tt.divisibility", 16]] for i in aligned}
    source = ASTSource(function_of(kernel), signature, constants, attrs)
    options = {"num_warps": v["warps"], "enable_fp_fusion": False, "enable_reflect_ftz": False, "sanitize_overflow": False}
    out = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    if out.metadata.global_scratch_size or out.metadata.profile_scratch_size:
        raise LoweringError("no-triton", "a kernel that needs scratch memory of its own")
    return Binary(out.asm["cubin"], out.metadata.name, out.metadata.num_warps, out.metadata.shared)


# ---------------------------------------------------------------------------------------------- the interpreter


class _Pointer:
    """What the interpreter takes for a tensor: an address in host memory."""

    device = "cpu"

    def __init__(self, address: int, dtype: Any) -> None:
        self.address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        return self.address

    def untyped_storage(self) -> _Pointer:
        return self

    def cpu(self) -> _Pointer:
        return self

    def copy_(self, other: object) -> None:
        """The interpreter works on the memory itself."""

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return ()

    def stride(self) -> tuple[int, ...]:
        return ()

    def new_empty(self, n: object, device: object = None) -> _Pointer:
        return _Pointer(self.address, self.dtype)

    def set_(self, *args: object) -> None:
        """See `copy_`."""


def _libdevice() -> Any:
    """NumPy and SciPy in place of CUDA's math library, which the interpreter cannot call."""
    import types

    import scipy.special
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            dtype = args[0].dtype
            data = [a.handle.data for a in args]
            out = np.asarray(f(*data)).astype(data[0].dtype)
            block = any(a.type.is_block() for a in args)
            return tl.tensor(TensorHandle(out, dtype), tl.block_type(dtype, list(out.shape)) if block else dtype)

        return call

    names = {
        **{n: n for n in ("trunc", "rint", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan")},
        **{n: n for n in ("sinh", "cosh", "tanh", "hypot", "fmod", "ldexp")},
        **{n: f"arc{n[1:]}" for n in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
        "pow": "power",
    }
    table = {n: wrap(getattr(np, f)) for n, f in names.items()}
    table |= {"erf": wrap(scipy.special.erf), "lgamma": wrap(scipy.special.gammaln)}
    return types.SimpleNamespace(**table)


def _reduce(self: Any, inputs: Any) -> list[Any]:
    """Reductions by halves, with the kernel's own combining function on whole blocks (Triton's goes one element at a time)."""
    axis = self.axis
    values = [x.handle.data for x in inputs]
    while (n := values[0].shape[axis]) > 1:
        left = [np.take(v, range(n // 2), axis) for v in values]
        right = [np.take(v, range(n // 2, n), axis) for v in values]
        args = [self.to_tensor(v, x.dtype) for half in (left, right) for v, x in zip(half, inputs, strict=True)]
        out = self.combine_fn.fn(*args)
        values = [o.handle.data for o in (out if isinstance(out, tuple) else (out,))]
    return [self.to_tensor(np.squeeze(v, axis), x.dtype) for v, x in zip(values, inputs, strict=True)]


def _patch() -> None:
    """Mend what the interpreter is too slow or too strict at."""
    from triton.runtime import interpreter

    if interpreter.ReduceOps.generic_reduce is _reduce:
        return
    interpreter.ReduceOps.generic_reduce = _reduce
    patch_tensor = interpreter._patch_lang_tensor

    def patched(tensor: Any, scope: Any) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))  # NumPy 2.4 has no int(array([1]))

    def splat(self: Any, block: Any, arg: Any) -> Any:  # the truth of a comparison of scalars is not of the operands' type
        data = np.full(block.shape, arg.data.item(), arg.data.dtype)
        return interpreter.TensorHandle(data, arg.dtype.scalar)

    interpreter._patch_lang_tensor = patched
    interpreter.InterpreterBuilder.create_splat = splat


def interpreted(kernel: DeviceKernel) -> Callable[[int, int, int, tuple[int, ...]], None]:
    """A callable (variant, grid 0, grid 1, argument words) that runs a kernel on host memory."""
    check_interpreter()
    import triton.language as tl

    _patch()
    f = function_of(kernel)
    f.fn.__globals__["libdevice"] = _libdevice()
    types = {p: getattr(tl, k[1:]) for p, k in zip(kernel.params, kernel.kinds, strict=True) if k.startswith("*")}

    def run(variant: int, x: int, y: int, args: tuple[int, ...]) -> None:
        v = unpack(variant)
        values = [_Pointer(a, types[p]) if p in types else a for p, a in zip(kernel.params, args, strict=True)]
        with np.errstate(all="ignore"):
            f[(x, y)](*values, ROWS=v["ROWS"], COLS=v["COLS"], WIDE=v["WIDE"])

    return run
