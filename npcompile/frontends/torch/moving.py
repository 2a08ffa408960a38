"""Elements moved to other places: roll, constant padding, differences, grids.

In: symbolic arguments by torch's own signatures. Out: fresh tensors in C order; of meshgrid views.
"""

from __future__ import annotations

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import shaping
from npcompile.frontends.values import Const, SymValue, Tensor, TupleV
from npcompile.ir.dims import Dim, dim_max
from npcompile.ir.graph import Value
from npcompile.ir.layout import is_c

from . import arguments as args
from . import results
from .conversion import copied, filled
from .elementwise import binary
from .promotion import BOOL, as_tensor, refuse
from .registry import NONE, both, functions
from .views import alias, part

ZERO, ONE = Dim(), Dim.of(1)


def _not_channels_last(b: Builder, x: Tensor) -> None:
    """Results for images keep that order of axes, which is not modelled."""
    if x.rank in (4, 5) and not is_c(b.facts.canon_type(x.array.type).layout):
        raise refuse("channels last")


def _rolled(b: Builder, v: Value, axis: int, shift: Dim) -> Value:
    dims = b.dims(v)
    offset = shaping.offset_of(b, shift, dims[axis])
    if offset.const == 0:
        return v
    parts = []
    for start, n in ((dims[axis] - offset, offset), (ZERO, dims[axis] - offset)):
        starts = tuple(start if a == axis else ZERO for a in range(len(dims)))
        lengths = tuple(n if a == axis else d for a, d in enumerate(dims))
        parts.append(b.emit("slice", v, starts=starts, steps=(ONE,) * len(dims), dims=lengths))
    return b.emit("concat", *parts, axis=axis)


@both("roll")
def roll(b: Builder, input: SymValue, shifts: SymValue, dims: SymValue = Const(())) -> SymValue:
    x = as_tensor(b, input)
    steps = [args.dim(b, s) for s in args.variadic(b, (shifts,))]
    axes = [args.wrap(d, x.rank) for d in args.sequence_of(args.static(b, dims))]
    if not x.rank or len(axes) != len(steps) or not b.dim_ge(args.size(b, x), 1):
        raise refuse("roll of all elements, or of none")
    _not_channels_last(b, x)
    v = b.read(x.array)
    for at, step in zip(axes, steps):
        v = _rolled(b, v, at, step)
    return results.fresh(b, v)


@functions("nn.functional.pad")
def pad(b: Builder, input: SymValue, pad: SymValue, mode: SymValue = Const("constant"), value: SymValue = NONE) -> SymValue:
    x, widths = as_tensor(b, input), args.items(b, pad)
    args.only(b, mode, "constant")
    if widths is None or len(widths) % 2 or len(widths) > 2 * x.rank or x.dtype.kind == "c":
        raise refuse("pad")
    sizes = [args.dim(b, w) for w in widths]
    if not all(b.dim_ge(w, 0) for w in sizes):
        raise refuse("a negative width")
    sizes = [dim_max(w, ZERO) for w in sizes]  # the prim asks for a proof
    _not_channels_last(b, x)
    number = filled(b, value, x.dtype) if args.given(b.force(value)) else b.const(0, x.dtype)
    if not any(b.dim_ge(w, 1) for w in sizes):
        return copied(b, x, x.dtype)
    missing = (ZERO,) * (x.rank - len(sizes) // 2)
    low, high = ((*missing, *sizes[k::2][::-1]) for k in (0, 1))
    return results.fresh(b, b.emit("pad", b.read(x.array), number, low=low, high=high))


@both("diff")
def diff(
    b: Builder,
    input: SymValue,
    n: SymValue = Const(1),
    dim: SymValue = Const(-1),
    prepend: SymValue = NONE,
    append: SymValue = NONE,
) -> SymValue:
    x = as_tensor(b, input)
    for option in (prepend, append):
        args.only(b, option, None)
    at = args.axis(b, dim, x.rank)
    if not x.rank or args.integer(b, n) != 1 or x.dtype == BOOL:
        raise refuse("diff of this order or of bools")
    left = b.dims(x.array)[at] - 1
    if not b.dim_ge(left, 0):
        raise refuse("diff of nothing")
    return binary(b, "sub", part(b, x, at, ONE, left), part(b, x, at, ZERO, left))


@functions("meshgrid")
def meshgrid(b: Builder, *tensors: SymValue, indexing: SymValue = NONE) -> SymValue:
    how = args.static(b, indexing)
    xs = [as_tensor(b, v) for v in args.variadic(b, tensors)]
    if how not in ("ij", "xy") or len(xs) < 2 or any(x.rank != 1 or x.dtype != xs[0].dtype for x in xs):
        raise refuse("meshgrid")
    if how == "xy":
        xs[:2] = xs[1::-1]
    dims = tuple(b.dims(x.array)[0] for x in xs)
    grids = []
    for k, x in enumerate(xs):
        column = b.view(x.array, "expand", axes=tuple(a for a in range(len(xs)) if a != k))
        grids.append(Tensor(b.view(column, "broadcast", dims=dims)) if b.dims(column) != dims else alias(b, Tensor(column)))
    if how == "xy":
        grids[:2] = grids[1::-1]
    return TupleV(tuple(grids))
