"""Operations that torch itself executes inside a compiled segment: products on devices, sorts, running totals, gathers.

In: symbolic arguments by torch's own signatures. Out: fresh tensors in C order. Their kernels are a library's; what stands
before and after them is fused as always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue, Tensor, TupleV
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.layout import c_layout, is_c
from npcompile.ir.types import TensorType

from . import arguments as args
from . import library, results
from .promotion import INT64, as_tensor, convert, only_real, refuse
from .registry import FALSE, both, functions

_CALLS = f"{__package__}.calls"


def on_device(b: Builder) -> bool:
    return b.device.startswith("cuda")


def type_of(dtype: np.dtype, dims: Sequence[Dim]) -> TensorType:
    return TensorType(dtype, tuple(dims), c_layout(dims))


def call(b: Builder, how: str, tensors: Sequence[Tensor | Value], types: Sequence[TensorType], **kwargs: Any) -> list[Tensor]:
    """Fresh tensors that a function of `calls` gives."""
    values = [b.read(x.array) if isinstance(x, Tensor) else x for x in tensors]
    return [results.fresh(b, v) for v in b.call_library(f"{_CALLS}.{how}", *values, types=types, **kwargs)]


# ---------------------------------------------------------------------------------------------- order


def _axis(b: Builder, x: Tensor, dim: SymValue) -> int:
    if not x.rank:
        raise refuse("a tensor without axes")
    return args.axis(b, dim, x.rank)


@both("sort")
def sort(b: Builder, input: SymValue, dim: SymValue = Const(-1), descending: SymValue = FALSE) -> SymValue:
    x = as_tensor(b, input)
    only_real(x.dtype)
    at, down = _axis(b, x, dim), args.flag(b, descending)
    _plain_order(b, x)
    types = [type_of(dt, b.dims(x.array)) for dt in (x.dtype, INT64)]
    out = call(b, "function", [x], types, name="sort", dim=at, descending=down)
    return TupleV(tuple(out), None, library.module().return_types.sort)


@both("argsort")
def argsort(b: Builder, input: SymValue, dim: SymValue = Const(-1), descending: SymValue = FALSE) -> SymValue:
    return sort(b, input, dim, descending).items[1]  # type: ignore[attr-defined, no-any-return]


@both("topk")
def topk(
    b: Builder, input: SymValue, k: SymValue, dim: SymValue = Const(-1), largest: SymValue = Const(True),
    sorted: SymValue = Const(True),
) -> SymValue:  # fmt: skip
    x, n = as_tensor(b, input), args.integer(b, k)
    only_real(x.dtype)
    at = _axis(b, x, dim)
    if n < 0 or not b.dim_ge(b.dims(x.array)[at], n):
        raise refuse("topk of more elements than there are")
    _plain_order(b, x)
    dims = tuple(Dim.of(n) if a == at else d for a, d in enumerate(b.dims(x.array)))
    flags = {"largest": args.flag(b, largest), "sorted": args.flag(b, sorted)}
    types = [type_of(x.dtype, dims), type_of(INT64, dims)]
    out = call(b, "function", [x], types, name="topk", k=n, dim=at, **flags)
    return TupleV(tuple(out), None, library.module().return_types.topk)


def _plain_order(b: Builder, x: Tensor) -> None:
    """Results keep the operand's order of axes, which is modelled for C order only."""
    if not is_c(b.facts.canon_type(x.array.type).layout):
        raise refuse("a tensor whose axes are not in C order")


def running(b: Builder, name: str, x: Tensor, axis: int, dtype: np.dtype) -> Tensor:
    """`torch.cumsum` or `cumprod`."""
    (out,) = call(b, "function", [x], [type_of(dtype, b.dims(x.array))], name=name, dim=axis, dtype=library.torch_dtypes()[dtype])
    return out


# ---------------------------------------------------------------------------------------------- gathers and scatters


def _checked(b: Builder, index: Tensor, length: Dim) -> None:
    """On the CPU torch raises for an index that is out of range; a device does not tell."""
    if on_device(b):
        return
    i = convert(b, b.read(index.array), INT64)
    dims = b.dims(i)
    size, zero = (b.broadcast(b.dim_value(d), dims) for d in (length, Dim()))
    bad = b.emit("logical_or", b.emit("lt", i, zero), b.emit("ge", i, size))
    if dims:
        bad = b.emit("reduce", bad, op="any", axes=tuple(range(len(dims))))
    b.exit_if(bad, "index-range")


def _within(b: Builder, index: Tensor, x: Tensor, but: int | None) -> bool:
    """Is an index tensor nowhere longer than another, one axis apart?"""
    pairs = zip(b.dims(index.array), b.dims(x.array), strict=True)
    return all(a == but or b.dim_ge(d, n) for a, (n, d) in enumerate(pairs))


@both("gather")
def gather(b: Builder, input: SymValue, dim: SymValue, index: SymValue, *, sparse_grad: SymValue = FALSE) -> SymValue:
    args.flag(b, sparse_grad)
    x, i = as_tensor(b, input), as_tensor(b, index)
    at = _axis(b, x, dim)
    if i.dtype != INT64 or i.rank != x.rank or not _within(b, i, x, at):
        raise refuse("gather of these shapes")
    _plain_order(b, i)
    _checked(b, i, b.dims(x.array)[at])
    (out,) = call(b, "method", [x, i], [type_of(x.dtype, b.dims(i.array))], name="gather", args=(at,))
    return out


def _register_scatter(name: str) -> None:
    def rule(b: Builder, input: SymValue, dim: SymValue, index: SymValue, src: SymValue) -> SymValue:
        x, i, y = as_tensor(b, input), as_tensor(b, index), as_tensor(b, src)
        at = _axis(b, x, dim)
        fits = i.dtype == INT64 and i.rank == x.rank == y.rank and y.dtype == x.dtype
        if not fits or not _within(b, i, x, at) or not _within(b, i, y, None):
            raise refuse(f"{name} of these shapes")
        _plain_order(b, x)
        _checked(b, i, b.dims(x.array)[at])
        (out,) = call(b, "method", [x, i, y], [type_of(x.dtype, b.dims(x.array))], name=name, args=(at,))
        return out

    both(name)(rule)


_register_scatter("scatter_add")
_register_scatter("scatter")


@both("index_add")
def index_add(b: Builder, input: SymValue, dim: SymValue, index: SymValue, source: SymValue) -> SymValue:
    x, i, y = as_tensor(b, input), as_tensor(b, index), as_tensor(b, source)
    at = _axis(b, x, dim)
    if i.dtype != INT64 or i.rank != 1 or y.rank != x.rank or y.dtype != x.dtype:
        raise refuse("index_add of these shapes")
    want = tuple(b.dims(i.array)[0] if a == at else d for a, d in enumerate(b.dims(x.array)))
    if not args.same_dims(b, b.dims(y.array), want):
        raise refuse("index_add of these shapes")
    _plain_order(b, x)
    _checked(b, i, b.dims(x.array)[at])
    (out,) = call(b, "method", [x, i, y], [type_of(x.dtype, b.dims(x.array))], name="index_add", args=(at,))
    return out


def items(b: Builder, x: Tensor, key: Sequence[SymValue], indices: Sequence[Tensor]) -> Tensor:
    """`x[key]` with several index tensors of integers, or slices of whole axes beside them; `key` has one item for each axis."""
    _plain_order(b, x)
    dims = b.dims(x.array)
    places = [a for a, k in enumerate(key) if isinstance(k, Tensor)]
    shape = b.broadcast_dims(*(b.dims(i.array) for i in indices))
    for a, i in zip(places, indices, strict=True):
        if i.dtype.kind != "i":
            raise refuse("a mask among several indices")
        _plain_order(b, i)
        n = dims[a]
        wrapped = convert(b, b.read(i.array), INT64)
        size = b.broadcast(b.dim_value(n), b.dims(wrapped))
        _checked(b, Tensor(b.array(b.emit("add", wrapped, size))), n * 2)
    together = places == list(range(places[0], places[-1] + 1))
    rest = [(a, d) for a, d in enumerate(dims) if a not in places]
    first = places[0] if together else 0
    out = (*(d for a, d in rest if a < first), *shape, *(d for a, d in rest if a >= first))
    numbers = iter(range(len(indices)))
    how = tuple(("index", next(numbers)) if isinstance(k, Tensor) else ("slice", (None,)) for k in key)
    (got,) = call(b, "item", [x, *indices], [type_of(x.dtype, out)], key=how)
    return got


# ---------------------------------------------------------------------------------------------- products


def product(b: Builder, name: str, tensors: Sequence[Tensor], dims: Sequence[Dim]) -> Tensor:
    """A product of matrices by torch's own function."""
    if any(x.dtype != tensors[0].dtype for x in tensors) or tensors[0].dtype.kind != "f":
        raise refuse(f"{name} of these dtypes")
    (out,) = call(b, "function", tensors, [type_of(tensors[0].dtype, dims)], name=name)
    return out


@functions("einsum")
def einsum(b: Builder, equation: SymValue, *operands: SymValue) -> SymValue:
    text = args.static(b, equation)
    tensors = [as_tensor(b, v) for v in args.variadic(b, operands)]
    if not isinstance(text, str) or "." in text or len({x.dtype for x in tensors}) != 1 or tensors[0].dtype.kind != "f":
        raise refuse("einsum")
    ins, arrow, out = text.replace(" ", "").partition("->")
    terms = ins.split(",")
    if len(terms) != len(tensors) or any(len(t) != x.rank for t, x in zip(terms, tensors, strict=True)):
        raise refuse("einsum")
    sizes: dict[str, Dim] = {}
    for t, x in zip(terms, tensors, strict=True):
        for letter, d in zip(t, b.dims(x.array), strict=True):
            if not b.dim_is(sizes.setdefault(letter, d), d):
                raise refuse("einsum of axes of different lengths")
    if not arrow:
        out = "".join(sorted(c for c in sizes if ins.count(c) == 1))
    if len(set(out)) != len(out) or not set(out) <= set(sizes) or not all(map(str.isalpha, sizes)):
        raise refuse("einsum")
    dims = tuple(sizes[c] for c in out)
    order = _einsum_order(b, text, tensors)
    layout = tuple(len(dims) - order.index(a) if d.const != 1 else 0 for a, d in enumerate(dims))
    ranks = tuple(sorted(x for x in layout if x).index(x) + 1 if x else 0 for x in layout)
    values = [b.read(x.array) for x in tensors]
    (v,) = b.call_library(
        f"{_CALLS}.equation", *values, types=[TensorType(tensors[0].dtype, dims, ranks)], text=text, order=order
    )
    return results.fresh(b, v, ranks)


def _einsum_order(b: Builder, text: str, tensors: Sequence[Tensor]) -> tuple[int, ...]:
    """Axes of the result from the largest stride to the smallest, as torch finds them for tensors without memory."""
    torch = library.module()
    shapes = [tuple(b.hint(d) for d in b.dims(x.array)) for x in tensors]
    strides = [tuple(b.hint(s) // x.dtype.itemsize for s in b.facts.canon_type(x.array.type).strides) for x in tensors]
    metas = [torch.empty_strided(n, s, device="meta") for n, s in zip(shapes, strides, strict=True)]
    out = torch.einsum(text, *metas)
    return tuple(sorted(range(out.dim()), key=lambda a: (-out.stride(a), a)))


__all__ = ["call", "items", "on_device", "product", "running", "type_of"]
