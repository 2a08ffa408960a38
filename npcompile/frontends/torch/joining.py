"""cat, stack and relatives.

In: a sequence of tensors known at trace time. Out: one fresh tensor in C order.
"""

from __future__ import annotations

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue, Tensor
from npcompile.ir.graph import Value
from npcompile.ir.layout import is_c

from . import arguments as args
from . import results
from .elementwise import no_out
from .promotion import as_tensor, convert, refuse, result_type
from .registry import NONE, functions


def _sequence(b: Builder, tensors: SymValue) -> list[Tensor]:
    parts = args.items(b, tensors)
    if not parts:
        raise refuse("a sequence of tensors is needed")
    return [as_tensor(b, x) for x in parts]


def _joined(b: Builder, parts: list[Tensor], values: list[Value], axis: int) -> Tensor:
    dt = result_type(b, *parts)
    first = b.dims(values[0])
    rank = len(first)
    for v, x in zip(values, parts):
        dims = b.dims(v)
        if len(dims) != rank or not all(b.dim_is(p, q) for i, (p, q) in enumerate(zip(dims, first)) if i != axis):
            raise refuse("tensors of different shapes")
        if rank in (4, 5) and not is_c(b.facts.canon_type(x.array.type).layout):
            raise refuse("channels last")
    fitted = []
    for v in values:
        dims = tuple(d if i == axis else f for i, (d, f) in enumerate(zip(b.dims(v), first)))
        fitted.append(convert(b, b.broadcast(v, dims), dt))
    return results.fresh(b, b.emit("concat", *fitted, axis=axis))


@functions("cat", "concat", "concatenate")
def cat(b: Builder, tensors: SymValue, dim: SymValue = Const(0), *, out: SymValue = NONE) -> SymValue:
    no_out(b, out)
    parts = _sequence(b, tensors)
    if any(x.rank == 0 for x in parts):
        raise refuse("cat of tensors without axes")
    return _joined(b, parts, [b.read(x.array) for x in parts], args.axis(b, dim, parts[0].rank))


@functions("stack")
def stack(b: Builder, tensors: SymValue, dim: SymValue = Const(0), *, out: SymValue = NONE) -> SymValue:
    no_out(b, out)
    parts = _sequence(b, tensors)
    at = args.axis(b, dim, parts[0].rank + 1)
    if len({x.rank for x in parts}) != 1:
        raise refuse("tensors of different ranks")
    if not all(b.dim_is(p, q) for x in parts for p, q in zip(b.dims(x.array), b.dims(parts[0].array))):
        raise refuse("tensors of different shapes")
    return _joined(b, parts, [b.emit("expand", b.read(x.array), axes=(at,)) for x in parts], at)


@functions("hstack")
def hstack(b: Builder, tensors: SymValue) -> SymValue:
    parts = _sequence(b, tensors)
    if any(x.rank == 0 for x in parts):
        raise refuse("hstack of tensors without axes")
    return _joined(b, parts, [b.read(x.array) for x in parts], 0 if parts[0].rank == 1 else 1)


@functions("vstack")
def vstack(b: Builder, tensors: SymValue) -> SymValue:
    parts = _sequence(b, tensors)
    if any(x.rank == 0 for x in parts):
        raise refuse("vstack of tensors without axes")
    values = [b.read(x.array) if x.rank > 1 else b.emit("expand", b.read(x.array), axes=(0,)) for x in parts]
    return _joined(b, parts, values, 0)
