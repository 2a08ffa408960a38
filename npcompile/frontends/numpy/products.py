"""Rules of dot, matmul, `@`, vdot, inner, outer, kron, trace, diagonal.

In: symbolic arguments by NumPy's own signatures. Out: `dot_general` nodes with NumPy's dtypes, shapes and result kinds.
"""

from __future__ import annotations

import functools

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue, Unsupported
from npcompile.ir.dims import Dim, dim_max, dim_min
from npcompile.ir.graph import Loc, ReportSite, Value
from npcompile.ir.layout import c_layout, canonical, korder
from npcompile.ir.types import Layout

from . import arguments as args
from .contiguity import flat, reshape
from .promotion import dtype_of
from .reduce_core import Reduction, finish_cast, reduce_value
from .registry import FALSE, NO_VALUE, NONE, TRUE, method, rule
from .sites import at, loc, site
from .ufuncs import ask_ones
from .ufuncs import call as ufunc_call

ONE = Dim.of(1)


def operands(b: Builder, x: SymValue, y: SymValue) -> tuple[Value, Value, np.dtype]:
    """Both operands as tensors of their common dtype; Python numbers count as int64, float64 here."""
    x, y = args.array_like(b, x), args.array_like(b, y)
    dt = args.as_dtype(np.promote_types(dtype_of(x), dtype_of(y)))
    return b.value_of(x, dt), b.value_of(y, dt), dt


def contract(
    b: Builder,
    x: Value,
    y: Value,
    pair: tuple[int, int],
    report: ReportSite | None,
    batch: int = 0,
    order: Layout | None = None,
    routine: str = "dot",
) -> Value:
    """Sum of products over axis `pair[0]` of `x` and `pair[1]` of `y`; the first `batch` axes of both go together.

    order : layout of the result, C order if None. routine : whose way of calling BLAS gives NumPy's bits, "dot" or "matmul".
    """
    n, m = b.dims(x)[pair[0]], b.dims(y)[pair[1]]
    if not b.dims_agree([n], [m]):
        raise args.refuse("shapes not aligned")
    y = b.broadcast(y, tuple(n if i == pair[1] else d for i, d in enumerate(b.dims(y))))
    x = b.broadcast(x, tuple(b.dims(y)[pair[1]] if i == pair[0] else d for i, d in enumerate(b.dims(x))))
    floating = args.value_dtype(x).kind in "fc"
    return b.emit(
        "dot_general",
        x,
        y,
        lhs_contract=(pair[0],),
        rhs_contract=(pair[1],),
        lhs_batch=tuple(range(batch)),
        rhs_batch=tuple(range(batch)),
        routine=routine,
        **({} if order is None else {"layout": order}),
        report=report if floating else None,
    )


def product_of(b: Builder, x: Value, y: Value) -> Value:
    """`dot` or `inner` of operands one of which is a number: a BLAS call for small ranks of its dtypes, else `multiply`."""
    dims = b.broadcast_dims(b.dims(x), b.dims(y))
    dtype = args.value_dtype(x)
    blas = dtype.char in "fdFD" and len(dims) <= 2
    report = site(b, "dot" if blas else "multiply", None) if dtype.kind in "fc" else None
    prim = "logical_and" if dtype.kind == "b" else "mul"
    out = b.emit(prim, b.broadcast(x, dims), b.broadcast(y, dims), report=report)
    return b.emit("copy", out, layout=c_layout(dims)) if blas else out


# ---------------------------------------------------------------------------------------------- dot, inner, vdot, outer


@rule(np.dot)
def dot(bd: Builder, /, a: SymValue, b: SymValue, out: SymValue = NONE) -> SymValue:
    x, y, dt = operands(bd, a, b)
    target = args.out_array(bd, out)
    if target is not None and (target.dtype != dt or target.type.contiguous != "C" or _overlaps(target, a, b)):
        raise args.refuse("out of dot")
    if not bd.dims(x) or not bd.dims(y):
        return args.finish(bd, product_of(bd, x, y), target)
    axes = (len(bd.dims(x)) - 1, max(len(bd.dims(y)) - 2, 0))
    return args.finish(bd, contract(bd, x, y, axes, site(bd, "dot", None)), target)


def _overlaps(out: Array, *others: SymValue) -> bool:
    return any(isinstance(x, Array) and x.storage is out.storage for x in others)


@method("dot", on="array")
def dot_method(bd: Builder, /, a: SymValue, b: SymValue, out: SymValue = NONE) -> SymValue:
    return dot(bd, a, b, out)


@rule(np.inner)
def inner(bd: Builder, a: SymValue, b: SymValue, /) -> SymValue:
    x, y, _ = operands(bd, a, b)
    if not bd.dims(x) or not bd.dims(y):
        return args.finish(bd, product_of(bd, x, y))
    return args.finish(bd, contract(bd, x, y, (len(bd.dims(x)) - 1, len(bd.dims(y)) - 1), site(bd, "dot", None)))


@rule(np.vdot)
def vdot(bd: Builder, a: SymValue, b: SymValue, /) -> SymValue:
    x, y, dt = operands(bd, a, b)
    x, y = flat(bd, x), flat(bd, y)
    if dt.kind == "c":
        x = bd.emit("conj", x)
    return args.finish(bd, contract(bd, x, y, (0, 0), None))


@rule(np.outer)
def outer(bd: Builder, /, a: SymValue, b: SymValue, out: SymValue = NONE) -> SymValue:
    """`multiply(a.ravel()[:, None], b.ravel()[None, :], out)`."""
    x, y, dt = operands(bd, a, b)
    target = args.out_array(bd, out)
    if target is not None and not np.can_cast(dt, target.dtype, "same_kind"):
        raise args.refuse("out of outer")
    x, y = bd.emit("expand", flat(bd, x), axes=(1,)), bd.emit("expand", flat(bd, y), axes=(0,))
    dims = (bd.dims(x)[0], bd.dims(y)[1])
    place = site(bd, "multiply", loc("_core.numeric.outer", "return multiply("))
    prim, report = ("logical_and", None) if dt.kind == "b" else ("mul", place if dt.kind in "fc" else None)
    return finish_cast(bd, bd.emit(prim, bd.broadcast(x, dims), bd.broadcast(y, dims), report=report), target, place)


@rule(np.kron)
def kron(bd: Builder, a: SymValue, b: SymValue) -> SymValue:
    """The product of every two elements, whose axes are taken together in pairs."""
    y, x = args.as_array(bd, b), args.as_array(bd, a)
    place = loc("lib._shape_base_impl.kron", "result = _nx.multiply(a_arr" if x.rank and y.rank else "return _nx.multiply(a, b)")
    if x.rank and y.rank:
        n = max(x.rank, y.rank)
        dims = [(ONE,) * (n - v.rank) + bd.dims(v) for v in (x, y)]
        taken = tuple(p * q for p, q in zip(*dims))
        x = reshape(bd, x, tuple(d for p in dims[0] for d in (p, ONE)), "C")
        y = reshape(bd, y, tuple(d for q in dims[1] for d in (ONE, q)), "C")
    with at(bd, place):
        out = ufunc_call(bd, np.multiply, x, y)
    return reshape(bd, out, taken, "C") if isinstance(out, Array) and x.rank and y.rank else out


# ---------------------------------------------------------------------------------------------- matmul


@functools.cache
def matmul_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype in which `np.matmul` works for operands of these."""
    try:
        return args.as_dtype(np.matmul.resolve_dtypes((a, b, None))[2])
    except TypeError as e:
        raise args.refuse(str(e)) from None


def matmul_value(b: Builder, x: Value, y: Value) -> Value:
    """`x @ y` of tensors of one dtype; batch axes of the result in K-order of the operands, matrices in C order within."""
    report = site(b, "matmul", None)
    nx, ny = len(b.dims(x)), len(b.dims(y))
    if nx == 0 or ny == 0:
        raise args.refuse("matmul of a number")
    core_x, core_y = min(nx, 2), min(ny, 2)
    lead_x, lead_y = b.dims(x)[: nx - core_x], b.dims(y)[: ny - core_y]
    batch = b.broadcast_dims(lead_x, lead_y)
    core = (*b.dims(x)[nx - core_x : nx - 1], *b.dims(y)[ny - core_y + 1 :])
    if lead_y:
        x = b.broadcast(x, (*batch, *b.dims(x)[nx - core_x :]))
        y = b.broadcast(y, (*batch, *b.dims(y)[ny - core_y :]))
    n = len(batch)
    order = None
    if n > 1:
        ask_ones(b, [x, y], batch)
        layouts = [args.value_layout(v)[:n] for v in ((x, y) if lead_y else (x,))]
        wide = (*batch, *(Dim.of(2) for _ in core))
        order = canonical(korder([(*layout, *(0 for _ in core)) for layout in layouts], wide), (*batch, *core))
    pair = (n + core_x - 1, (n if lead_y else 0) + max(core_y - 2, 0))
    return contract(b, x, y, pair, report, n if lead_y else 0, order, "matmul")


@rule(np.matmul)
def matmul(
    b: Builder, x1: SymValue, x2: SymValue, /, out: SymValue = NONE, *, casting: SymValue = Const("same_kind"),
    order: SymValue = Const("K"), dtype: SymValue = NONE, subok: SymValue = TRUE, axes: SymValue = NO_VALUE,
    axis: SymValue = NO_VALUE, keepdims: SymValue = FALSE, signature: SymValue = NONE,
) -> SymValue:  # fmt: skip
    if args.passed(axes) or args.passed(axis) or args.given(signature) or args.given(dtype) or args.flag(b, keepdims):
        raise args.refuse("axes, axis, keepdims, dtype or signature of matmul")
    args.only_default(b, casting, "same_kind")
    args.only_default(b, order, "K", "C")
    args.flag(b, subok)
    parts = args.items(b, out)
    target = args.out_array(b, parts[0] if parts is not None and len(parts) == 1 else out)
    x, y = args.array_like(b, x1), args.array_like(b, x2)
    dt = matmul_dtype(dtype_of(x), dtype_of(y))
    value = matmul_value(b, b.value_of(x, dt), b.value_of(y, dt))
    if target is not None and not np.can_cast(dt, target.dtype, "same_kind"):
        raise args.refuse("out of matmul")
    return finish_cast(b, value, target, site(b, "matmul", None))


# ---------------------------------------------------------------------------------------------- diagonals


def diagonal_view(b: Builder, a: Array, offset: Dim, axis1: int, axis2: int) -> Array:
    """`a.diagonal(offset, axis1, axis2)`: a read-only view."""
    if offset.const is None:
        raise Unsupported("static-value", "the offset of a diagonal")
    n, m = b.dims(a)[axis1], b.dims(a)[axis2]
    k = offset.const
    length = dim_max(dim_min(n, m - k) if k >= 0 else dim_min(n + k, m), 0)
    try:
        return b.view(a, "diagonal", offset=k, axis1=axis1, axis2=axis2, dim=length)
    except TypeError as e:
        raise args.refuse(str(e)) from None


def _planes(b: Builder, a: Array, axis1: SymValue, axis2: SymValue) -> tuple[int, int]:
    if a.rank < 2:
        raise args.refuse("a diagonal of fewer than two axes")
    i, j = args.one_axis(b, axis1, a.rank), args.one_axis(b, axis2, a.rank)
    if i == j:
        raise args.refuse("axis1 and axis2 are the same")
    return i, j


@rule(np.diagonal)
def diagonal(
    b: Builder, a: SymValue, offset: SymValue = Const(0), axis1: SymValue = Const(0), axis2: SymValue = Const(1)
) -> SymValue:
    array = args.as_array(b, a)
    return diagonal_view(b, array, args.dim(b, offset), *_planes(b, array, axis1, axis2))


method("diagonal", on="array")(diagonal)


@rule(np.linalg.diagonal)
def diagonals(b: Builder, x: SymValue, /, *, offset: SymValue = Const(0)) -> SymValue:
    return diagonal(b, x, offset, Const(-2), Const(-1))


@rule(np.trace)
def trace(
    b: Builder, a: SymValue, offset: SymValue = Const(0), axis1: SymValue = Const(0), axis2: SymValue = Const(1),
    dtype: SymValue = NONE, out: SymValue = NONE,
) -> SymValue:  # fmt: skip
    return _trace(b, a, offset, axis1, axis2, dtype, out, loc("_core.fromnumeric.trace", "return asanyarray(a).trace("))


@method("trace", on="array")
def trace_method(
    b: Builder, a: SymValue, offset: SymValue = Const(0), axis1: SymValue = Const(0), axis2: SymValue = Const(1),
    dtype: SymValue = NONE, out: SymValue = NONE,
) -> SymValue:  # fmt: skip
    return _trace(b, a, offset, axis1, axis2, dtype, out, None)


def _trace(
    b: Builder, a: SymValue, offset: SymValue, axis1: SymValue, axis2: SymValue, dtype: SymValue, out: SymValue,
    place: Loc | None,
) -> SymValue:  # fmt: skip
    """The sum over the diagonal, as `np.add.reduce`."""
    array = args.as_array(b, a)
    if args.out_array(b, out) is not None:
        raise args.refuse("out of trace")
    v = b.read(diagonal_view(b, array, args.dim(b, offset), *_planes(b, array, axis1, axis2)))
    r = Reduction(np.add, (len(b.dims(v)) - 1,), args.dtype(b, dtype), place=place)
    return args.finish(b, reduce_value(b, v, r))


@rule(np.diag)
def diag(b: Builder, v: SymValue, k: SymValue = Const(0)) -> SymValue:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    a = args.as_array(b, v)
    offset = args.dim(b, k)
    if a.rank == 2:
        return diagonal_view(b, a, offset, 0, 1)
    if a.rank != 1 or offset.const is None:
        raise args.refuse("diag of this rank")
    from .creation import below_diagonal

    n = b.dims(a)[0] + abs(offset.const)
    zeros = (max(offset.const, 0), max(-offset.const, 0))
    low = (Dim.of(zeros[0]),)
    high = (Dim.of(zeros[1]),)
    row = b.emit("pad", b.read(a), b.const(0, a.dtype), low=low, high=high)
    on = below_diagonal(b, n, n, offset, "eq")
    value = b.emit("select", on, b.broadcast(row, (n, n)), b.broadcast(b.const(0, a.dtype), (n, n)))
    return b.array(b.emit("copy", value, layout=c_layout((n, n))))
