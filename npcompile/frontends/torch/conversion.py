"""Copies and casts: to, float, int, clone, contiguous memory, copy_, fill_, and the way from tensors to NumPy and back.

In: symbolic arguments by torch's own signatures. Out: the tensor itself where torch returns it, copies, shared memory.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.contiguity import new_view
from npcompile.frontends.values import Array, Const, Scalar, SymValue, Tensor
from npcompile.ir.graph import Value
from npcompile.records import replace

from . import arguments as args
from . import library, results
from .promotion import BOOL, as_operand, as_tensor, convert, dtype_of, is_python_number, operand, refuse
from .registry import FALSE, NONE, both, functions, method


def copied(b: Builder, x: Tensor, dtype: np.dtype) -> Tensor:
    """A copy in another dtype or the same, in the order of the tensor's axes."""
    return results.fresh(b, convert(b, b.read(x.array), dtype), results.kept_order(b, x))


def cast(b: Builder, x: Tensor, dtype: np.dtype) -> Tensor:
    """`x.to(dtype)`: the tensor itself when it has that dtype."""
    if x.dtype.kind == "c" or dtype.kind == "c":
        raise refuse("a complex cast")
    return x if x.dtype == dtype else copied(b, x, dtype)


@both("clone")
def clone(b: Builder, input: SymValue, *, memory_format: SymValue = NONE) -> SymValue:
    x = as_tensor(b, input)
    form = args.static(b, memory_format)
    if form is not None and form is library.module().contiguous_format:
        return results.fresh(b, b.read(x.array))
    if form is not None and form is not library.module().preserve_format:
        raise refuse(f"memory_format {form}")
    return copied(b, x, x.dtype)


@method("to")
def to(b: Builder, self: Tensor, *targets: SymValue, dtype: SymValue = NONE, device: SymValue = NONE,
       non_blocking: SymValue = FALSE, copy: SymValue = FALSE) -> SymValue:  # fmt: skip
    for v in targets:
        v = b.force(v)
        if isinstance(v, Tensor):
            dtype = Const(library.torch_dtypes()[v.dtype])
            continue
        x = args.static(b, v)
        if isinstance(x, library.module().dtype):
            dtype = v
        elif isinstance(x, (str, library.module().device)):
            device = v
        else:
            raise refuse(f"to({x!r})")
    args.here(b, device, None)
    dt = args.dtype(b, dtype) or self.dtype
    if args.flag(b, copy) and dt == self.dtype:
        return copied(b, self, dt)
    return cast(b, self, dt)


def _register_cast(name: str, dtype: np.dtype) -> None:
    def rule(b: Builder, self: Tensor) -> SymValue:
        return cast(b, self, dtype)

    method(name)(rule)


for _name, _dtype in {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
}.items():
    _register_cast(_name, np.dtype(_dtype))


@method("type_as")
def type_as(b: Builder, self: Tensor, other: SymValue) -> SymValue:
    return cast(b, self, as_tensor(b, other).dtype)


@method("cpu")
def cpu(b: Builder, self: Tensor) -> SymValue:
    b.use_device("cpu")
    return self


@method("cuda")
def cuda(b: Builder, self: Tensor, device: SymValue = NONE) -> SymValue:
    """The tensor itself, which is on a device."""
    args.here(b, device if args.given(b.force(device)) else Const("cuda"))
    return self


@both("detach")
def detach(b: Builder, input: SymValue) -> SymValue:
    return Tensor(replace(new_view(b, as_tensor(b, input).array), detached=True))


# ---------------------------------------------------------------------------------------------- stores


@method("copy_")
def copy_(b: Builder, self: Tensor, src: SymValue, non_blocking: SymValue = FALSE) -> SymValue:
    x = as_tensor(b, src)
    if x.dtype.kind == "c" or self.dtype.kind == "c":
        raise refuse("a complex cast")
    return results.store(b, self, b.read(x.array), [x])


def filled(b: Builder, v: SymValue, dtype: np.dtype) -> Value:
    """A number for all elements of a tensor; torch refuses those that the dtype does not hold."""
    v = as_operand(b, v)
    if isinstance(v, Tensor):
        if v.rank or v.dtype.kind == "c":
            raise refuse("a fill value with axes")
        if not np.can_cast(v.dtype, dtype):
            raise refuse("a fill value that may not fit")
        return convert(b, b.read(v.array), dtype)
    need_fit(b, v, dtype)
    return operand(b, v, dtype)


def need_fit(b: Builder, v: SymValue, dtype: np.dtype) -> None:
    """Leave where torch raises an error because a Python number is beyond the dtype; tensors are not looked at."""
    if isinstance(v, Const):
        check_fits(v.value, dtype)
    if not isinstance(v, Scalar) or v.dtype.kind == "b" or dtype.kind not in "iuf" or dtype.itemsize == 8 == v.dtype.itemsize:
        return
    x = b.value_of(v)
    if dtype.kind in "iu":
        if v.dtype.kind != "i":
            raise refuse(f"a float as {dtype}")
        low, high = (b.const(n, v.dtype) for n in held(dtype))
        b.exit_if(b.emit("logical_or", b.emit("lt", x, low), b.emit("lt", high, x)), "number-range")
    elif v.dtype.kind == "f" or dtype.itemsize == 2:
        x = b.emit("abs", convert(b, x, np.dtype(np.float64)))
        top, infinite = (b.const(n, np.dtype(np.float64)) for n in (float(np.finfo(dtype).max), float("inf")))
        b.exit_if(b.emit("logical_and", b.emit("lt", top, x), b.emit("lt", x, infinite)), "number-range")


def held(dtype: np.dtype) -> tuple[int, int]:
    """The integers that torch converts to an integer dtype; negative ones wrap round in unsigned dtypes."""
    info = np.iinfo(dtype)
    return int(info.min) or -int(info.max), int(info.max)


def check_fits(value: object, dtype: np.dtype) -> None:
    """Refuse numbers for which torch raises an overflow error."""
    if dtype.kind in "iu":
        low, high = held(dtype)
        if not isinstance(value, (bool, int)) or not low <= value <= high:
            raise refuse(f"{value} as {dtype}")
    elif dtype.kind == "f":
        if not isinstance(value, (bool, int, float)) or (abs(value) > float(np.finfo(dtype).max) and abs(value) != float("inf")):
            raise refuse(f"{value} as {dtype}")


@method("fill_")
def fill_(b: Builder, self: Tensor, value: SymValue) -> SymValue:
    v = b.force(value)
    return results.store(b, self, filled(b, v, self.dtype), [v])


@method("zero_")
def zero_(b: Builder, self: Tensor) -> SymValue:
    return results.store(b, self, b.const(0, self.dtype))


@both("masked_fill")
def masked_fill(b: Builder, input: SymValue, mask: SymValue, value: SymValue) -> SymValue:
    x, m = as_tensor(b, input), as_tensor(b, mask)
    if m.dtype != BOOL:
        raise refuse("a mask that is not bool")
    v = filled(b, b.force(value), x.dtype)
    dims = b.broadcast_dims(b.dims(x.array), b.dims(m.array))
    values = [b.broadcast(y, dims) for y in (b.read(m.array), v, b.read(x.array))]
    return results.fresh(b, b.emit("select", *values))


@method("masked_fill_")
def masked_fill_(b: Builder, self: Tensor, mask: SymValue, value: SymValue) -> SymValue:
    m = as_tensor(b, mask)
    if m.dtype != BOOL:
        raise refuse("a mask that is not bool")
    v = filled(b, b.force(value), self.dtype)
    dims = b.dims(self.array)
    if not args.same_dims(b, b.broadcast_dims(b.dims(m.array), dims), dims):
        raise refuse("a mask of a larger shape")
    values = [b.broadcast(y, dims) for y in (b.read(m.array), v, b.read(self.array))]
    return results.store(b, self, b.emit("select", *values), [m])


# ---------------------------------------------------------------------------------------------- NumPy


@method("numpy")
def numpy(b: Builder, self: Tensor) -> SymValue:
    """An array on the tensor's memory."""
    b.use_device("cpu")
    if not self.array.type.writeable:
        raise refuse("numpy() of an expanded tensor")
    return replace(new_view(b, self.array), detached=True)


@functions("from_numpy")
def from_numpy(b: Builder, ndarray: SymValue) -> SymValue:
    """A tensor on the array's memory."""
    a = b.force(ndarray)
    if not isinstance(a, Array):
        raise refuse("from_numpy of something else than an array")
    if not a.writeable or any(a.type.negative) or a.dtype not in library.torch_dtypes():
        raise refuse("an array that torch warns of or refuses")
    return Tensor(replace(new_view(b, a), detached=True))


@functions("as_tensor")
def as_tensor_rule(b: Builder, data: SymValue, dtype: SymValue = NONE, device: SymValue = NONE) -> SymValue:
    x, dt = b.force(data), args.dtype(b, dtype)
    args.here(b, device, None if isinstance(x, Tensor) else "cpu")
    if isinstance(x, Array):
        x = from_numpy(b, x)
    if isinstance(x, Tensor):
        return x if dt is None else cast(b, x, dt)
    return tensor(b, x, dtype=dtype)


@functions("tensor")
def tensor(b: Builder, data: SymValue, *, dtype: SymValue = NONE, device: SymValue = NONE) -> SymValue:
    """A tensor of one number."""
    args.here(b, device)
    v, dt = b.force(data), args.dtype(b, dtype)
    if not is_python_number(v):
        raise refuse("tensor of something else than a number")
    own = dtype_of(v)
    if dt is None:
        dt = b.default_dtype_hook() if own.kind == "f" else own
    if own.kind == "c":
        raise refuse("a complex number")
    return results.fresh(b, filled(b, v, dt))


__all__ = ["cast", "check_fits", "copied", "filled", "need_fit"]
