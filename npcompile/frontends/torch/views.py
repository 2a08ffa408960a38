"""Views: reshape, view, flatten, transposes, expand, squeeze, narrow, chunk, diagonal and relatives.

In: symbolic arguments by torch's own signatures. Out: tensors that share the storage; copies where torch copies.
"""

from __future__ import annotations

import itertools

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import contiguity as flat
from npcompile.frontends.numpy.shaping import new_dims
from npcompile.frontends.values import Const, SymValue, Tensor, TupleV, Unsupported
from npcompile.ir.dims import Dim, dim_max, dim_min, product
from npcompile.ir.layout import c_layout

from . import arguments as args
from . import results
from .promotion import INT64, as_tensor, refuse
from .registry import NONE, attribute, both, functions, method

ZERO, ONE = Dim(), Dim.of(1)


def alias(b: Builder, x: Tensor) -> Tensor:
    """Another tensor on all of `x`."""
    return Tensor(flat.new_view(b, x.array))


def _reshaped(b: Builder, x: Tensor, parts: tuple[SymValue, ...], copy: bool | None) -> Tensor:
    dims = new_dims(b, args.variadic(b, parts), args.size(b, x))
    return Tensor(flat.reshape(b, x.array, dims, "C", copy=copy))


@both("reshape")
def reshape(b: Builder, input: SymValue, *shape: SymValue) -> SymValue:
    return _reshaped(b, as_tensor(b, input), shape, None)


@method("view")
def view(b: Builder, self: Tensor, *shape: SymValue) -> SymValue:
    return _reshaped(b, self, shape, False)


@method("view_as", "reshape_as")
def view_as(b: Builder, self: Tensor, other: SymValue) -> SymValue:
    dims = b.dims(as_tensor(b, other).array)
    if not b.dim_is(product(dims), args.size(b, self)):
        raise refuse("view_as with another number of elements")
    return Tensor(flat.reshape(b, self.array, dims, "C", copy=False))


@both("flatten")
def flatten(b: Builder, input: SymValue, start_dim: SymValue = Const(0), end_dim: SymValue = Const(-1)) -> SymValue:
    x = as_tensor(b, input)
    first, last = args.axis(b, start_dim, x.rank), args.axis(b, end_dim, x.rank)
    if first > last:
        raise refuse("start_dim after end_dim")
    if x.rank and first == last:
        return x
    dims = b.dims(x.array)
    return Tensor(flat.reshape(b, x.array, (*dims[:first], product(dims[first : last + 1]), *dims[last + 1 :]), "C"))


@both("ravel")
def ravel(b: Builder, input: SymValue) -> SymValue:
    return flatten(b, input)


@both("unflatten")
def unflatten(b: Builder, input: SymValue, dim: SymValue, sizes: SymValue) -> SymValue:
    x = as_tensor(b, input)
    at = args.axis(b, dim, x.rank)
    parts = args.items(b, sizes)
    if parts is None or not x.rank:
        raise refuse("unflatten")
    dims = b.dims(x.array)
    inner = new_dims(b, parts, dims[at])
    return Tensor(flat.reshape(b, x.array, (*dims[:at], *inner, *dims[at + 1 :]), "C", copy=False))


@both("squeeze")
def squeeze(b: Builder, input: SymValue, dim: SymValue = NONE) -> SymValue:
    x = as_tensor(b, input)
    candidates = range(x.rank) if not args.given(dim) else args.axes(b, dim, x.rank)
    gone = tuple(a for a in candidates if b.dim_is(x.dims[a], 1))
    return Tensor(b.view(x.array, "squeeze", axes=gone)) if gone else alias(b, x)


@both("unsqueeze")
def unsqueeze(b: Builder, input: SymValue, dim: SymValue) -> SymValue:
    x = as_tensor(b, input)
    return Tensor(b.view(x.array, "expand", axes=(args.axis(b, dim, x.rank + 1),)))


def transposed(b: Builder, x: Tensor, perm: tuple[int, ...]) -> Tensor:
    return Tensor(b.view(x.array, "transpose", perm=perm)) if x.rank else alias(b, x)


def _swapped(b: Builder, x: Tensor, i: int, j: int) -> Tensor:
    perm = list(range(x.rank))
    if x.rank:
        perm[i], perm[j] = perm[j], perm[i]
    return transposed(b, x, tuple(perm))


@both("transpose", "swapaxes", "swapdims")
def transpose(b: Builder, input: SymValue, dim0: SymValue, dim1: SymValue) -> SymValue:
    x = as_tensor(b, input)
    return _swapped(b, x, args.axis(b, dim0, x.rank), args.axis(b, dim1, x.rank))


@both("t")
def t(b: Builder, input: SymValue) -> SymValue:
    x = as_tensor(b, input)
    if x.rank > 2:
        raise refuse("t() of more than two axes")
    return _swapped(b, x, 0, 1) if x.rank == 2 else alias(b, x)


@attribute("T")
def transposed_attribute(b: Builder, self: Tensor) -> SymValue:
    if self.rank != 2:
        raise refuse("T of other than two axes")
    return _swapped(b, self, 0, 1)


@attribute("mT")
def matrix_transpose(b: Builder, self: Tensor) -> SymValue:
    if self.rank < 2:
        raise refuse("mT of fewer than two axes")
    return _swapped(b, self, self.rank - 2, self.rank - 1)


def _permute(b: Builder, x: Tensor, dims: tuple[SymValue, ...]) -> Tensor:
    perm = tuple(args.axis(b, d, x.rank) for d in args.variadic(b, dims))
    if sorted(perm) != list(range(x.rank)):
        raise refuse("permute")
    return transposed(b, x, perm)


@functions("permute")
def permute(b: Builder, input: SymValue, dims: SymValue) -> SymValue:
    return _permute(b, as_tensor(b, input), (dims,))


@method("permute")
def permute_method(b: Builder, self: Tensor, *dims: SymValue) -> SymValue:
    return _permute(b, self, dims)


@both("movedim", "moveaxis")
def movedim(b: Builder, input: SymValue, source: SymValue, destination: SymValue) -> SymValue:
    x = as_tensor(b, input)
    start, end = ([args.wrap(d, x.rank) for d in args.sequence_of(args.static(b, v))] for v in (source, destination))
    if len(start) != len(end) or len(set(start)) != len(start) or len(set(end)) != len(end):
        raise refuse("movedim")
    rest = iter(a for a in range(x.rank) if a not in start)
    return transposed(b, x, tuple(start[end.index(i)] if i in end else next(rest) for i in range(x.rank)))


def _expanded(b: Builder, x: Tensor, sizes: tuple[SymValue, ...]) -> Tensor:
    """-1 keeps an axis; new axes come in front."""
    have, want = b.dims(x.array), [args.dim(b, s) for s in args.variadic(b, sizes)]
    lead = len(want) - len(have)
    if lead < 0:
        raise refuse("expand to fewer axes")
    for i, d in enumerate(want):
        if d.const == -1 and i >= lead:
            want[i] = have[i - lead]
        elif not b.dim_ge(d, 0):
            raise refuse("a negative length")
        elif i >= lead and not b.dim_is(have[i - lead], d) and not b.dim_is(have[i - lead], 1):
            raise Unsupported("shape-mismatch", "expand")
    dims = tuple(map(b.facts.canon, want))
    return alias(b, x) if dims == b.dims(x.array) else Tensor(b.view(x.array, "broadcast", dims=dims))


@method("expand")
def expand(b: Builder, self: Tensor, *sizes: SymValue) -> SymValue:
    return _expanded(b, self, sizes)


@both("broadcast_to")
def broadcast_to(b: Builder, input: SymValue, size: SymValue) -> SymValue:
    return _expanded(b, as_tensor(b, input), (size,))


@method("expand_as")
def expand_as(b: Builder, self: Tensor, other: SymValue) -> SymValue:
    from .attributes import shape

    return _expanded(b, self, (shape(b, as_tensor(b, other)),))


# ---------------------------------------------------------------------------------------------- parts


def part(b: Builder, x: Tensor, axis: int, start: Dim, length: Dim) -> Tensor:
    """Elements `start` to `start + length` along one axis, which must exist."""
    dims = b.dims(x.array)
    return Tensor(
        b.view(
            x.array,
            "slice",
            starts=tuple(start if a == axis else ZERO for a in range(x.rank)),
            steps=(ONE,) * x.rank,
            dims=tuple(length if a == axis else d for a, d in enumerate(dims)),
        )
    )


@both("narrow")
def narrow(b: Builder, input: SymValue, dim: SymValue, start: SymValue, length: SymValue) -> SymValue:
    x = as_tensor(b, input)
    at = args.axis(b, dim, x.rank)
    first, n = args.dim(b, start), args.dim(b, length)
    if not x.rank or not (b.dim_ge(first, 0) and b.dim_ge(n, 0) and b.dim_ge(x.dims[at], first + n)):
        raise refuse("narrow")
    return part(b, x, at, first, n)


@both("select")
def select(b: Builder, input: SymValue, dim: SymValue, index: SymValue) -> SymValue:
    x = as_tensor(b, input)
    at, k = args.axis(b, dim, x.rank), args.dim(b, index)
    if not x.rank:
        raise refuse("select of a tensor without axes")
    if not b.dim_ge(k, 0):
        k = k + x.dims[at]
    if not (b.dim_ge(k, 0) and b.dim_ge(x.dims[at], k + 1)):
        raise refuse("select out of range")
    return Tensor(b.view(part(b, x, at, k, ONE).array, "squeeze", axes=(at,)))


@both("unbind")
def unbind(b: Builder, input: SymValue, dim: SymValue = Const(0)) -> SymValue:
    x = as_tensor(b, input)
    at = args.axis(b, dim, x.rank)
    if not x.rank:
        raise refuse("unbind of a tensor without axes")
    n = _known(b, x.dims[at])
    return TupleV(tuple(Tensor(b.view(part(b, x, at, Dim.of(k), ONE).array, "squeeze", axes=(at,))) for k in range(n)))


def _known(b: Builder, n: Dim) -> int:
    """A length that decides how many tensors there are."""
    known = b.static_dim(n)
    if known > 256:
        raise refuse("very many parts")
    return known


@both("chunk")
def chunk(b: Builder, input: SymValue, chunks: SymValue, dim: SymValue = Const(0)) -> SymValue:
    x = as_tensor(b, input)
    at, count = args.axis(b, dim, x.rank), args.integer(b, chunks)
    if not x.rank or count < 1:
        raise refuse("chunk")
    n = _known(b, x.dims[at])
    if not n:
        raise refuse("chunk of nothing")
    return _pieces(b, x, at, n, -(-n // count))


def _pieces(b: Builder, x: Tensor, at: int, n: int, step: int) -> TupleV:
    return TupleV(tuple(part(b, x, at, Dim.of(k), Dim.of(min(step, n - k))) for k in range(0, n, step)))


@both("split")
def split(b: Builder, tensor: SymValue, split_size_or_sections: SymValue, dim: SymValue = Const(0)) -> SymValue:
    x = as_tensor(b, tensor)
    at = args.axis(b, dim, x.rank)
    step = args.static(b, split_size_or_sections)
    if not x.rank:
        raise refuse("split of a tensor without axes")
    n = _known(b, x.dims[at])
    if isinstance(step, (tuple, list)):
        if not step or any(type(k) is not int or k < 0 for k in step) or sum(step) != n:
            raise refuse("sections that are not all of the tensor")
        ends = itertools.accumulate(step)
        return TupleV(tuple(part(b, x, at, Dim.of(end - k), Dim.of(k)) for end, k in zip(ends, step)))
    if type(step) is not int or step < 1:
        raise refuse("split")
    if not n:
        raise refuse("split of nothing")
    return _pieces(b, x, at, n, step)


@both("diagonal")
def diagonal(
    b: Builder, input: SymValue, offset: SymValue = Const(0), dim1: SymValue = Const(0), dim2: SymValue = Const(1)
) -> SymValue:
    x = as_tensor(b, input)
    k, i, j = args.integer(b, offset), args.axis(b, dim1, x.rank), args.axis(b, dim2, x.rank)
    if x.rank < 2 or i == j:
        raise refuse("diagonal")
    n, m = b.dims(x.array)[i], b.dims(x.array)[j]
    length = dim_max(dim_min(n, m - k) if k >= 0 else dim_min(n + k, m), 0)
    try:
        return Tensor(b.view(x.array, "diagonal", offset=k, axis1=i, axis2=j, dim=length))
    except TypeError as e:
        raise refuse(str(e)) from None


# ---------------------------------------------------------------------------------------------- orders of memory


@method("contiguous")
def contiguous(b: Builder, self: Tensor) -> SymValue:
    return self if flat.is_contiguous(b, self.array, "C") else results.fresh(b, b.read(self.array))


@both("flip")
def flip(b: Builder, input: SymValue, *dims: SymValue) -> SymValue:
    """A copy: tensors have no negative strides."""
    x = as_tensor(b, input)
    turned = [args.axis(b, d, x.rank) for d in args.variadic(b, dims)]
    if not x.rank or len(set(turned)) != len(turned):
        raise refuse("flip")
    v = b.read(x.array)
    have = b.dims(v)
    out = b.emit(
        "slice",
        v,
        starts=tuple(d - 1 if a in turned else ZERO for a, d in enumerate(have)),
        steps=tuple(Dim.of(-1) if a in turned else ONE for a in range(x.rank)),
        dims=have,
    )
    return results.fresh(b, out, results.iterator_layout(b, [v], have))


@method("repeat")
def repeat(b: Builder, self: Tensor, *repeats: SymValue) -> SymValue:
    """Copies side by side; new axes come in front."""
    counts = args.shape(b, repeats)
    v = b.read(self.array)
    lead = len(counts) - self.rank
    if lead < 0:
        raise refuse("fewer repeats than axes")
    if lead:
        v = b.emit("expand", v, axes=tuple(range(lead)))
    dims = b.dims(v)
    v = b.emit("expand", v, axes=tuple(2 * a for a in range(len(dims))))
    v = b.broadcast(v, tuple(d for pair in zip(counts, dims) for d in pair))
    v = b.emit("copy", v, layout=c_layout(b.dims(v)))
    return results.fresh(b, b.emit("reshape", v, dims=tuple(n * d for n, d in zip(counts, dims))))


def _register_triangle(name: str, test: str) -> None:
    def triangle(b: Builder, input: SymValue, diagonal: SymValue = Const(0)) -> SymValue:
        x, k = as_tensor(b, input), args.integer(b, diagonal)
        if x.rank < 2:
            raise refuse(f"{name} of fewer than two axes")
        dims = b.dims(x.array)
        rows, columns = (b.emit("iota", dims=dims, axis=a, dtype=INT64, layout=c_layout(dims)) for a in (x.rank - 2, x.rank - 1))
        moved = b.emit("add", rows, b.broadcast(b.const(k, INT64), dims))
        kept = b.emit(test, columns, moved)
        zero = b.broadcast(b.const(0, x.dtype), dims)
        return results.fresh(b, b.emit("select", kept, b.read(x.array), zero))

    both(name)(triangle)


_register_triangle("tril", "le")
_register_triangle("triu", "ge")

__all__ = ["alias", "part", "transposed"]
