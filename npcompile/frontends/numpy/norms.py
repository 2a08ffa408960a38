"""Rule of `np.linalg.norm`, step by step as NumPy's Python code computes it.

In: symbolic arguments. Out: dot products, reductions and elementwise nodes. Orders that need singular values are left to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue
from npcompile.ir.graph import Loc, Value

from . import arguments as args
from .contiguity import flat_copy
from .conversion import copied
from .operators import binary
from .products import contract
from .promotion import dtype_of
from .reduce_core import Reduction, reduce_value
from .registry import FALSE, NONE, rule
from .sites import at, loc, site

F8 = np.dtype(np.float64)


def _place(text: str) -> Loc | None:
    return loc("linalg._linalg.norm", text)


@rule(np.linalg.norm)
def norm(b: Builder, x: SymValue, ord: SymValue = NONE, axis: SymValue = NONE, keepdims: SymValue = FALSE) -> SymValue:
    a = args.as_array(b, x)
    kind = args.static(b, ord)
    keep = args.flag(b, keepdims)
    if isinstance(kind, (bool, np.bool_)) or not (kind is None or isinstance(kind, (int, float, str, np.number))):
        raise args.refuse(f"ord {kind!r}")
    rank = a.rank
    if not args.given(axis) and (kind is None or (kind in ("f", "fro") and rank == 2) or (kind == 2 and rank == 1)):
        return _flat_norm(b, args.array_like(b, a), keep)
    if a.dtype.kind in "biu":
        a = copied(b, a, F8, "K")
    v = b.read(a)
    axes = args.axis_sequence(b, axis, rank) if args.given(axis) else tuple(range(rank))
    if len(axes) == 1:
        return args.finish(b, _vector_norm(b, v, kind, axes[0], keep))
    if len(axes) == 2:
        return args.finish(b, _matrix_norm(b, v, kind, axes, keep))
    raise args.refuse("norm over this number of axes")


def _flat_norm(b: Builder, a: SymValue, keep: bool) -> SymValue:
    """`sqrt(dot(x, x))` over the elements in memory order."""
    array = args.as_array(b, a)
    rank = array.rank
    v = b.read(flat_copy(b, array, "K")) if rank != 1 else b.read(array)
    if array.dtype.kind in "biu":
        v = b.convert(v, F8)
    if array.dtype.kind == "c":
        parts = []
        for part in ("real", "imag"):
            p = b.emit(part, v)
            parts.append(contract(b, p, p, (0, 0), site(b, "dot", _place("sqnorm = x_real.dot("))))
        square = b.emit("add", *parts, report=site(b, "scalar add", _place("sqnorm = x_real.dot(")))
    else:
        square = contract(b, v, v, (0, 0), site(b, "dot", _place("sqnorm = x.dot(")))
    out = b.emit("sqrt", square, report=site(b, "sqrt", _place("ret = sqrt(sqnorm)")))
    if keep and rank:
        out = b.emit("expand", out, axes=tuple(range(rank)))
    return args.finish(b, out)


def _absolute(b: Builder, v: Value, text: str) -> Value:
    report = site(b, "absolute", _place(text)) if args.value_dtype(v).kind == "c" else None
    return b.emit("abs", v, report=report)


def _squares(b: Builder, v: Value, text: str) -> Value:
    """`(x.conj() * x).real`."""
    kind = args.value_dtype(v).kind
    product = b.emit("mul", b.emit("conj", v), v, report=site(b, "multiply", _place(text)))
    return b.emit("real", product) if kind == "c" else product


def _root(b: Builder, v: Value) -> Value:
    """A square root of a sum of squares: nothing to report."""
    return b.emit("sqrt", v)


def _vector_norm(b: Builder, v: Value, kind: Any, axis: int, keep: bool) -> Value:
    axes = (axis,)
    if kind == np.inf:
        zero = Const(0)
        return reduce_value(b, _absolute(b, v, "return abs(x).max("), Reduction(np.maximum, axes, keepdims=keep, initial=zero))
    if kind == -np.inf:
        return reduce_value(b, _absolute(b, v, "return abs(x).min("), Reduction(np.minimum, axes, keepdims=keep))
    if kind == 0:
        dt = args.value_dtype(v)
        real = np.dtype(f"f{dt.itemsize // 2}") if dt.kind == "c" else dt
        nonzero = b.emit("ne", v, b.broadcast(b.const(0, dt), b.dims(v)))
        nonzero = b.convert(nonzero, real)
        return reduce_value(b, nonzero, Reduction(np.add, axes, keepdims=keep))
    if kind == 1:
        text = "return add.reduce(abs(x)"
        return reduce_value(b, _absolute(b, v, text), Reduction(np.add, axes, keepdims=keep, place=_place(text)))
    if kind is None or kind == 2:
        place = _place("return sqrt(add.reduce(s")
        s = _squares(b, v, "s = (x.conj() * x).real")
        return _root(b, reduce_value(b, s, Reduction(np.add, axes, keepdims=keep, place=place)))
    if isinstance(kind, str):
        raise args.refuse(f"ord {kind!r}")
    return _power_norm(b, v, kind, axes, keep)


def _power_norm(b: Builder, v: Value, kind: Any, axes: tuple[int, ...], keep: bool) -> Value:
    """`add.reduce(abs(x) ** ord) ** (1 / ord)`."""
    absolute = b.array(_absolute(b, v, "absx = abs(x)"))
    with at(b, _place("absx **= ord")):
        powers = b.value_of(binary(b, "**=", absolute, Const(kind)))
    text = "ret = add.reduce(absx"
    sums = args.finish(b, reduce_value(b, powers, Reduction(np.add, axes, keepdims=keep, place=_place(text))))
    dtype = dtype_of(sums)
    inverse = Const(np.reciprocal(kind, dtype=dtype))
    with at(b, _place("ret **= reciprocal(")):
        return b.value_of(binary(b, "**=", sums, inverse))


def _matrix_norm(b: Builder, v: Value, kind: Any, axes: tuple[int, ...], keep: bool) -> Value:
    row, col = axes
    if kind is None or kind in ("fro", "f"):
        text = "ret = sqrt(add.reduce((x.conj() * x).real"
        sums = reduce_value(b, _squares(b, v, text), Reduction(np.add, tuple(sorted(axes)), place=_place(text)))
        out = _root(b, sums)
    elif isinstance(kind, str) or abs(kind) not in (1, np.inf):
        raise args.refuse(f"ord {kind!r}")
    else:
        first, second = (row, col) if abs(kind) == 1 else (col, row)
        line = f"ret = add.reduce(abs(x), axis={'row' if first == row else 'col'}_axis).{'max' if kind > 0 else 'min'}("
        sums = reduce_value(b, _absolute(b, v, line), Reduction(np.add, (first,), place=_place(line)))
        last = (second - 1 if second > first else second,)
        if kind > 0:
            out = reduce_value(b, sums, Reduction(np.maximum, last, initial=Const(0)))
        else:
            out = reduce_value(b, sums, Reduction(np.minimum, last))
    return b.emit("expand", out, axes=tuple(sorted(axes))) if keep else out
