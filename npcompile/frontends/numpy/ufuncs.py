"""Rules of the ufuncs that have a prim, called as functions, with `out`, `where`, `dtype`, `casting` and `order`.

In: symbolic arguments of a ufunc call. Out: arrays or NumPy scalars, or the `out` arrays themselves. Never: `reduce`,
`accumulate`, `outer`, `at`, or generalised ufuncs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder, cast_reports
from npcompile.frontends.values import Array, Const, ListV, Picked, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import ReportSite, Value
from npcompile.ir.layout import any_order, c_layout, f_layout, is_c, korder
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import TensorType
from npcompile.records import dataclass

from .promotion import (
    BOOL,
    FLOAT64,
    INT64,
    as_dtype,
    dtype_of,
    fits,
    is_python_number,
    kind_of,
    operand,
    resolve,
    strong,
)
from .registry import NONE, TRUE, Rule, rule

Site = str | ReportSite
Emit = Callable[[Builder, Site, list[Value]], list[Value]]
"""(builder, name in reports or site, inputs of the loop's dtypes and one shape) -> outputs."""


@dataclass(frozen=True)
class Elementwise:
    """How a ufunc is written in prims."""

    emit: Emit
    safe: float = 1.0  # an argument at which nothing is reported, for elements that `where` leaves out


def reports(prim: str, dtype: np.dtype) -> bool:
    """Can the prim report a floating-point condition for operands of this dtype?"""
    if dtype.kind in "fc":
        return bool(PRIMS[prim].reports) and (prim not in _ORDER or dtype.kind == "c")
    return prim in ("floordiv", "mod", "fmod", "reciprocal") and dtype.kind in "iu"


OLD_POWER = tuple(int(p) for p in np.__version__.split(".")[:2]) < (2, 3)
"""Does `**` recognise more exponents, and the loops of `power` none?"""

BUFFER = 8192
"""Elements that NumPy's iterators copy at a time."""

_ORDER = ("lt", "le", "gt", "ge")


def op(b: Builder, prim: str, name: Site, *values: Value) -> Value:
    """Emit a pointwise prim whose conditions are reported under `name`."""
    t = values[0].type
    assert isinstance(t, TensorType)
    return b.emit(prim, *values, report=name if reports(prim, t.dtype) else None)


def _dtype(v: Value) -> np.dtype:
    assert isinstance(v.type, TensorType)
    return v.type.dtype


def _prim(prim: str) -> Emit:
    return lambda b, name, xs: [op(b, prim, name, *xs)]


def _same(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    """The operand itself, in the order in which NumPy copies it."""
    t = xs[0].type
    assert isinstance(t, TensorType)
    return [b.emit("copy", xs[0], layout=korder([t.layout], t.dims))] if t.dims else list(xs)


def _divide(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    if _dtype(xs[0]).kind not in "fc":
        xs = [b.convert(x, FLOAT64) for x in xs]
    return [op(b, "div", name, *xs)]


def _divmod(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    if _dtype(xs[0]).kind != "f":
        return [op(b, "floordiv", name, *xs), b.emit("mod", *xs)]
    assert isinstance(name, str)
    first, second = b.sites(name, 2)
    return [b.emit("floordiv", *xs, report=first), b.emit("mod", *xs, report=second)]


def _modf(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    (x,) = xs
    whole = b.emit("trunc", x)
    zero = b.broadcast(b.const(0, _dtype(x)), b.dims(x))
    rest = b.emit("select", b.emit("isinf", x), zero, b.emit("sub", x, whole))
    return [b.emit("copysign", rest, x), whole]


def _real_same(prim: str) -> Emit:
    """A prim for complex (or inexact) operands, the operand itself otherwise."""
    return lambda b, name, xs: [op(b, prim, name, *xs)] if _dtype(xs[0]).kind == "c" else _same(b, name, xs)


def _float_same(prim: str) -> Emit:
    return lambda b, name, xs: [op(b, prim, name, *xs)] if _dtype(xs[0]).kind in "fc" else _same(b, name, xs)


def _invert(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    return [b.emit("logical_not" if _dtype(xs[0]) == BOOL else "bit_not", *xs)]


def _abs(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    return _same(b, name, xs) if _dtype(xs[0]).kind in "bu" else [op(b, "abs", name, *xs)]


def _power(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    x, y = xs
    dt = _dtype(x)
    if dt.kind == "i":
        _no_negative(b, y)
    e = _constant(y)
    if dt.char not in "fd" or OLD_POWER:
        return [op(b, "pow", name, x, y)]
    # NumPy's loops take these ways when the exponent has stride 0
    if e == 2.0:
        return [op(b, "mul", name, x, x)]
    if e == 1.0:
        return _same(b, name, [x])
    if e == 0.5:
        return [op(b, "sqrt", name, x)]
    if e == -1.0:
        return [op(b, "div", name, b.broadcast(b.const(1, dt), b.dims(x)), x)]
    if e is None and _is_spread(x, y):
        # a root differs from a power at -0.0 and -inf; the way not taken gets operands that report nothing
        dims = b.dims(x)
        root, one = b.emit("eq", y, b.broadcast(b.const(0.5, dt), dims)), b.broadcast(b.const(1, dt), dims)
        by_root = op(b, "sqrt", name, b.emit("select", root, x, one))
        out = b.emit("select", root, by_root, op(b, "pow", name, b.emit("select", root, one, x), y))
        return [_in_order(b, out, xs)]
    return [op(b, "pow", name, x, y)]


def _in_order(b: Builder, out: Value, xs: Sequence[Value]) -> Value:
    """A result in the axis order that its operands ask for, whatever it was made of."""
    dims = b.dims(out)
    layout = korder([v.type.layout for v in xs if isinstance(v.type, TensorType)], dims)
    return b.emit("copy", out, layout=layout) if dims else out


def _is_spread(x: Value, y: Value) -> bool:
    """Does NumPy's loop see `y` as one number for all elements, a stride of 0?"""
    assert isinstance(y.type, TensorType)
    if any(y.type.layout):
        return False
    dims = y.type.dims
    if not dims or any(d.const != 1 for d in dims):
        return True
    # of arrays of one element, those of the same rank keep their strides, also beside a 0-d operand
    return _given_rank(y) == 0 or _given_rank(x) not in (0, len(dims))


def _given_rank(v: Value) -> int:
    """The rank of an operand before it was broadcast."""
    t = v.node.inputs[0].type if v.node is not None and v.node.prim == "broadcast" else v.type
    assert isinstance(t, TensorType)
    return t.rank


def _float_power(b: Builder, name: Site, xs: list[Value]) -> list[Value]:
    """The C library's function for every exponent; unlike the loops of `power` it is silent about infinite ones."""
    x, y = xs
    dt, e = _dtype(x), _constant(y)
    if dt.kind == "f" and (e is None or np.isinf(e)):
        half, two = (b.broadcast(b.const(n, dt), b.dims(x)) for n in (0.5, 2))
        near = b.emit("minimum", b.emit("maximum", b.emit("abs", x), half), two)
        x = b.emit("select", b.emit("isinf", y), near, x)
    return [_in_order(b, op(b, "pow", name, x, y), xs)]


def _constant(v: Value) -> Any:
    """The number that a value is a broadcast of, or None."""
    node = v.node
    while node is not None and node.prim in ("broadcast", "convert") and node.report is None:
        node = node.inputs[0].node
    return node.params["value"] if node is not None and node.prim == "const" else None


def _no_negative(b: Builder, y: Value) -> None:
    """NumPy raises for integers to negative integer powers."""
    e = _constant(y)
    if e is not None:
        if e < 0:
            raise Unsupported("invalid-arguments", "integers to negative integer powers are not allowed")
        return
    negative = b.emit("lt", y, b.broadcast(b.const(0, _dtype(y)), b.dims(y)))
    if b.dims(y):
        negative = b.emit("reduce", negative, op="any", axes=tuple(range(len(b.dims(y)))))
    b.exit_if(negative, "negative-power")


def _table() -> dict[np.ufunc, Elementwise]:
    same_name = (
        "floor_divide:floordiv remainder:mod fmod arctan2:atan2 hypot logaddexp logaddexp2 copysign nextafter "
        "heaviside maximum minimum fmax fmin gcd lcm isnan isinf isfinite bitwise_and:bit_and bitwise_or:bit_or "
        "bitwise_xor:bit_xor left_shift:shl right_shift:shr equal:eq not_equal:ne less:lt less_equal:le greater:gt "
        "greater_equal:ge logical_and logical_or logical_xor logical_not ldexp add subtract:sub multiply:mul "
        "negative:neg sign square reciprocal deg2rad radians:deg2rad rad2deg degrees:rad2deg spacing sqrt cbrt exp "
        "exp2 expm1 log log2 log10 log1p sin cos tan arcsin:asin arccos:acos arctan:atan sinh cosh tanh arcsinh:asinh "
        "arccosh:acosh arctanh:atanh rint signbit fabs:abs"
    )
    out: dict[np.ufunc, Elementwise] = {}
    for item in same_name.split():
        name, _, prim = item.partition(":")
        safe = 0.0 if prim in ("asin", "acos", "atanh") else 1.0
        out[getattr(np, name)] = Elementwise(_prim(prim or name), safe)
    out |= {
        np.divide: Elementwise(_divide),
        np.divmod: Elementwise(_divmod),
        np.modf: Elementwise(_modf),
        np.power: Elementwise(_power),
        np.float_power: Elementwise(_float_power),
        np.positive: Elementwise(_same),
        np.conjugate: Elementwise(_real_same("conj")),
        np.absolute: Elementwise(_abs),
        np.invert: Elementwise(_invert),
        np.floor: Elementwise(_float_same("floor")),
        np.ceil: Elementwise(_float_same("ceil")),
        np.trunc: Elementwise(_float_same("trunc")),
    }
    return out


UFUNCS: dict[np.ufunc, Elementwise] = _table()
_EXACT = frozenset({np.add, np.subtract, np.negative, np.positive, np.conjugate})
_ROUNDED = _EXACT | {
    np.multiply, np.divide, np.floor_divide, np.remainder, np.fmod, np.divmod, np.modf, np.sqrt, np.square, np.reciprocal,
    np.copysign, np.nextafter, np.heaviside, np.maximum, np.minimum, np.fmax, np.fmin, np.ldexp, np.sign, np.spacing, np.fabs,
    np.absolute, np.rint, np.floor, np.ceil, np.trunc, np.deg2rad, np.radians, np.rad2deg, np.degrees,
}  # fmt: skip
"""Functions of which every real result is NumPy's to the bit; `_EXACT`: and every complex one."""
OUT_MAY_BE_ELLIPSIS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
"""`out=...` asks for an array even where a result has no axes."""
_INT_REPORTS = (np.floor_divide, np.remainder, np.fmod, np.divmod, np.reciprocal)
COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


# ---------------------------------------------------------------------------------------------- the call


def call(
    b: Builder,
    ufunc: np.ufunc,
    *args: SymValue,
    out: SymValue = NONE,
    where: SymValue = TRUE,
    casting: SymValue = NONE,
    order: SymValue = NONE,
    dtype: SymValue = NONE,
) -> SymValue:
    """`ufunc(*args, ...)`."""
    args = tuple(map(b.force, args))
    if any(isinstance(v, Picked) for v in args):
        return _picked(b, ufunc, args, (out, casting, order, dtype), where)
    ins, outs = _arguments(b, ufunc, args, out)
    cast = b.static(casting) or "same_kind"
    dt = as_dtype(b, dtype)
    keep = b.static(order) or "K"
    if cast not in ("no", "equiv", "safe", "same_kind", "unsafe") or keep not in ("K", "A", "C", "F"):
        raise Unsupported("invalid-arguments", f"{ufunc.__name__}(casting={cast!r}, order={keep!r})")
    mask = _mask(b, where)
    if mask is not None and not all(outs):
        raise Unsupported("numpy-arguments", "where without out leaves elements uninitialised")
    values = compute(b, ufunc, ins, outs, mask, dt, cast, keep)
    results = [_result(b, v, o, mask) for v, o in zip(values, outs)]
    out = b.force(out)
    if isinstance(out, Const) and out.value is Ellipsis:
        results = [b.array(v) if not b.dims(v) else r for v, r in zip(values, results)]
    return results[0] if ufunc.nout == 1 else TupleV(tuple(results))


def _picked(b: Builder, ufunc: np.ufunc, args: Sequence[SymValue], options: Sequence[SymValue], where: SymValue) -> SymValue:
    """A plain call on elements chosen by a mask."""
    from .picked import apply

    if any(v is not NONE for v in options) or where is not TRUE or ufunc.nout > 1 or len(args) != ufunc.nin:
        raise Unsupported("advanced-indexing", f"{ufunc.__name__} of elements chosen by a mask")
    if ufunc is np.power:
        raise Unsupported("advanced-indexing", "power of elements chosen by a mask")
    return apply(b, ufunc, args)


def compute(
    b: Builder,
    ufunc: np.ufunc,
    ins: Sequence[SymValue],
    outs: Sequence[Array | None] = (),
    mask: Value | None = None,
    dtype: np.dtype | None = None,
    casting: str = "same_kind",
    order: str = "K",
) -> list[Value]:
    """The ufunc's values, in the loop's dtypes and the shape of the call."""
    plan = UFUNCS[ufunc]
    outs = outs or [None] * ufunc.nout
    loop: tuple[np.dtype, ...] = ()
    by_value = None
    if ufunc in COMPARISONS and dtype is None and mask is None and not any(outs):
        by_value = _compare_python_int(b, ufunc, ins)
    if isinstance(by_value, Value):
        return [by_value]
    if by_value is None:
        loop = resolve(ufunc, tuple(map(kind_of, ins)), dtype, casting)
    together = _cast_together(b, ins, loop, mask) if by_value is None else []
    values = list(by_value or [b.value_of(v) if i in together else operand(b, v, loop[i]) for i, v in enumerate(ins)])
    shapes = [b.dims(v) for v in values]
    shapes += [b.dims(o) for o in outs if o is not None] + ([] if mask is None else [b.dims(mask)])
    dims = b.broadcast_dims(*shapes)
    for o in outs:
        if o is not None and not b.dims_agree(b.dims(o), dims):
            raise Unsupported("shape-mismatch", f"{ufunc.__name__}: the operands do not broadcast to out")
    ask_ones(b, values, dims)
    *casts, first, last = _sites(b, ufunc, loop, outs, mask, casting, len(together))
    for i, site in zip(together, casts):
        values[i] = b.convert(values[i], loop[i], report=site)
    if mask is not None and (ufunc in _INT_REPORTS or any(_dtype(v).kind in "fc" for v in values)):
        mask = b.broadcast(mask, dims)
        safe = [b.broadcast(b.const(plan.safe, _dtype(v)), dims) for v in values]
        values = [b.emit("select", mask, b.broadcast(v, dims), s) for v, s in zip(values, safe)]
    if any(o is not None and _shows_rounding(ufunc, dt, o.dtype) for dt, o in zip(loop[ufunc.nin :], outs)):
        results = [b.broadcast(_called(b, ufunc, ins, dtype), dims)]
    else:
        results = plan.emit(b, first, [b.broadcast(v, dims) for v in values])
    results = [v if o is None else b.convert(v, o.dtype, report=last) for v, o in zip(results, outs)]
    if len(dims) < 2:
        return results
    if order != "K":
        return [_reorder(b, r, values, order) for r in results]
    if None in outs and any(outs):
        return [r if o is not None else _beside(b, r, values, outs) for r, o in zip(results, outs)]
    return results


def _shows_rounding(ufunc: np.ufunc, loop: np.dtype, out: np.dtype) -> bool:
    """Is a result that may be off by units in the last place put into an `out` of more digits, where that is far off?"""
    if loop.kind not in "fc" or out.kind not in "fc" or np.finfo(out).eps >= np.finfo(loop).eps:
        return False
    return ufunc not in (_EXACT if loop.kind == "c" else _ROUNDED)


def _called(b: Builder, ufunc: np.ufunc, ins: Sequence[SymValue], dtype: np.dtype | None) -> Value:
    """The values of NumPy's own loop."""
    from . import externs

    return b.value_of(externs.call(b, ufunc, ins, {} if dtype is None else {"dtype": Const(dtype)}))


def _beside(b: Builder, v: Value, operands: Sequence[Value], outs: Sequence[Array | None]) -> Value:
    """A result that is allocated while others have an `out`: NumPy's iterator looks at the outs for the axis order, too."""
    dims = b.dims(v)
    for d in dims:
        b.dim_is(d, 1)
    types = [b.broadcast(x, dims).type for x in operands]
    layout = korder([t.layout for t in types if isinstance(t, TensorType)] + [o.type.layout for o in outs if o is not None], dims)
    assert isinstance(v.type, TensorType)
    return v if v.type.layout == layout and v.type.strides is None else b.emit("copy", v, layout=layout)


def _cast_together(b: Builder, ins: Sequence[SymValue], loop: Sequence[np.dtype], mask: Value | None) -> list[int]:
    """Operands whose cast NumPy reports as part of the operation: its iterator casts them while it runs.

    Numbers and short arrays of one axis are cast beforehand, up to the first operand that is neither.
    """
    out: list[int] = []
    for i, v in enumerate(ins):
        if not isinstance(v, Array) or not v.rank or not cast_reports(v.dtype, loop[i]):
            continue
        if out or mask is not None or v.rank > 1 or not b.dim_ge(BUFFER, b.dims(v)[0]):
            out.append(i)
    return out


def _sites(
    b: Builder,
    ufunc: np.ufunc,
    loop: Sequence[np.dtype],
    outs: Sequence[Array | None],
    mask: Value | None,
    casting: str,
    casts: int,
) -> list[Site]:
    """Where `casts` casts of operands, the operation, and the cast of its result to `out` report; NumPy reports them as one."""
    name = ufunc.__name__
    cast_out = False
    for dt, o in zip(loop[ufunc.nin :], outs):
        if o is None or o.dtype == dt:
            continue
        if not np.can_cast(dt, o.dtype, casting):  # type: ignore[arg-type]
            raise Unsupported("invalid-arguments", f"{name}: cannot cast {dt} to {o.dtype}")
        if mask is not None:
            raise Unsupported("numpy-arguments", "where with an out of another dtype, whose contents NumPy casts too")
        cast_out = cast_out or cast_reports(dt, o.dtype)
    if not cast_out and not casts:
        return [name, name]
    if ufunc.nout > 1:
        raise Unsupported("numpy-arguments", "several outputs and operands or outputs that are cast")
    return list(b.sites(name, casts + 2))


def ask_ones(b: Builder, values: Sequence[Value], dims: Sequence[Dim]) -> None:
    """Whether an axis has length 1 decides the axis order of a result, unless all operands are in C order anyway."""
    if len(dims) < 2 or all(is_c(v.type.layout) for v in values if isinstance(v.type, TensorType)):
        return
    for d in dims:
        b.dim_is(d, 1)


def _reorder(b: Builder, v: Value, operands: Sequence[Value], order: str) -> Value:
    dims = b.dims(v)
    if order == "A":
        full = [x.type for x in operands if isinstance(x.type, TensorType) and x.type.rank == len(dims)]
        fortran = bool(full) and all(any_order(t) == f_layout(t.dims) != c_layout(t.dims) for t in full)
        order = "F" if fortran else "C"
    layout = f_layout(dims) if order == "F" else c_layout(dims)
    assert isinstance(v.type, TensorType)
    return v if v.type.layout == layout and v.type.strides is None else b.emit("copy", v, layout=layout)


def _arguments(b: Builder, ufunc: np.ufunc, args: Sequence[SymValue], out: SymValue) -> tuple[list[SymValue], list[Array | None]]:
    """Inputs and outputs of a call; outputs may be given by position or by `out`."""
    if not ufunc.nin <= len(args) <= ufunc.nin + ufunc.nout:
        raise Unsupported("invalid-arguments", f"{ufunc.__name__} takes {ufunc.nin} to {ufunc.nin + ufunc.nout} arguments")
    given: list[SymValue] = list(args[ufunc.nin :])
    out = b.force(out)
    if isinstance(out, Const) and out.value is Ellipsis and OUT_MAY_BE_ELLIPSIS:
        out = NONE
    if isinstance(out, Const) and type(out.value) is tuple:
        out = TupleV(tuple(map(Const, out.value)))
    if out is not NONE and not (isinstance(out, Const) and out.value is None):
        if given:
            raise Unsupported("invalid-arguments", "out given twice")
        given = list(out.items) if isinstance(out, TupleV) else [out]
        if isinstance(out, TupleV) and len(given) != ufunc.nout:
            raise Unsupported("invalid-arguments", "the length of the out tuple is wrong")
        if len(given) != ufunc.nout:
            raise Unsupported("invalid-arguments", "out must be a tuple for ufuncs with several outputs")
    outs: list[Array | None] = []
    for o in given:
        o = b.force(o)
        if isinstance(o, Array):
            outs.append(o)
        elif isinstance(o, Const) and o.value is None:
            outs.append(None)
        else:
            raise Unsupported("invalid-arguments", "out must be an array")
    outs += [None] * (ufunc.nout - len(outs))
    return [as_operand(b, v) for v in args[: ufunc.nin]], outs


def as_operand(b: Builder, v: SymValue) -> SymValue:
    """A number or array; lists and tuples become arrays as `np.asarray` makes them."""
    v = b.force(v)
    if isinstance(v, (ListV, TupleV)) or (isinstance(v, Const) and isinstance(v.value, (list, tuple))):
        from .conversion import array_of

        return array_of(b, v)
    dtype_of(v)
    return v


def _mask(b: Builder, where: SymValue) -> Value | None:
    where = b.force(where)
    if isinstance(where, Const) and where.value is True:
        return None
    where = as_operand(b, where)
    if dtype_of(where) != BOOL:
        raise Unsupported("invalid-arguments", "where must be bool")
    return b.value_of(where)


def _result(b: Builder, v: Value, out: Array | None, mask: Value | None) -> SymValue:
    if out is None:
        return b.array(v) if b.dims(v) else b.scalar(v)
    b.store(out, v, mask)
    return out


# ---------------------------------------------------------------------------------------------- Python ints in comparisons


def _compare_python_int(b: Builder, ufunc: np.ufunc, ins: Sequence[SymValue]) -> Value | tuple[Value, Value] | None:
    """Comparisons of integer arrays with Python ints are by value, whatever the dtype's range.

    Returns the result for ints out of range, wider operands for ints known at run time only, None for all else.
    """
    pos = next((i for i, v in enumerate(ins) if is_python_number(v) and strong(kind_of(v)) == INT64), None)
    if pos is None or is_python_number(ins[1 - pos]) or dtype_of(ins[1 - pos]).kind not in "iu":
        return None
    number, other = ins[pos], ins[1 - pos]
    dt = dtype_of(other)
    if isinstance(number, Const):
        if fits(number.value, dt):
            return None
        high = (number.value > 0) == (pos == 1)  # is the right side the larger one?
        if ufunc in (np.equal, np.not_equal):
            answer = ufunc is np.not_equal
        else:
            answer = (ufunc in (np.less, np.less_equal)) == high
        x = b.value_of(other)
        return b.emit("eq" if answer else "ne", x, x)
    assert isinstance(number, Scalar)
    if dt == INT64:
        return None
    x, n = b.value_of(other, dt if dt.char in "LQ" else INT64), b.value_of(number)
    return (n, x) if pos == 0 else (x, n)


def rule_of(ufunc: np.ufunc) -> Rule:
    """The rule of one of `UFUNCS`."""

    def call_rule(
        b: Builder,
        *args: SymValue,
        out: SymValue = NONE,
        where: SymValue = TRUE,
        casting: SymValue = NONE,
        order: SymValue = NONE,
        dtype: SymValue = NONE,
        subok: SymValue = TRUE,
    ) -> SymValue:
        return call(b, ufunc, *args, out=out, where=where, casting=casting, order=order, dtype=dtype)

    return call_rule


for _ufunc in UFUNCS:
    rule(_ufunc)(rule_of(_ufunc))
