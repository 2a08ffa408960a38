"""What NumPy's own Python code uses besides NumPy's public functions: needed where such code is followed (see `following`).

In: parts of NumPy written in C, flags of arrays. Out: constants, or symbolic values that stand for them. Never: shown to the user
other than as what they stand for.
"""

from __future__ import annotations

import operator

from numpy.lib.array_utils import normalize_axis_index

from npcompile.frontends.numpy.contiguity import is_contiguous
from npcompile.frontends.values import Array, Const, SymValue, Unsupported

from .builtin_rules import index_of
from .calls import builtin, call
from .interpreter import Trace
from .standins import CONVERTER, Converter
from .symbolic import FlagsV

_ORDERS = {
    **dict.fromkeys(("c_contiguous", "contiguous", "C_CONTIGUOUS", "CONTIGUOUS", "C"), "C"),
    **dict.fromkeys(("f_contiguous", "fortran", "F_CONTIGUOUS", "FORTRAN", "F"), "F"),
}


@builtin(operator.index)
def index(t: Trace, v: SymValue) -> SymValue:
    v = t.use(v)
    return v if isinstance(v, Const) and type(v.value) in (bool, int) else index_of(t, v)


@builtin(normalize_axis_index)
def axis_index(t: Trace, axis: SymValue, ndim: SymValue, msg_prefix: SymValue = Const(None)) -> SymValue:
    values = [t.b.static(t.use(v)) for v in (axis, ndim, msg_prefix)]
    try:
        return Const(normalize_axis_index(*values))
    except Exception as e:
        raise Unsupported("invalid-arguments", str(e)) from None


def flag(t: Trace, v: FlagsV, name: str) -> SymValue:
    """`flags.name` or `flags[name]` of an array."""
    if name in _ORDERS:
        return Const(is_contiguous(t.b, v.array, _ORDERS[name]))
    if name in ("fnc", "FNC"):
        return Const(is_contiguous(t.b, v.array, "F") and not is_contiguous(t.b, v.array, "C"))
    if name in ("forc", "FORC"):
        return Const(is_contiguous(t.b, v.array, "F") or is_contiguous(t.b, v.array, "C"))
    raise Unsupported("attribute", f"flag {name!r} of an array")


def converter(t: Trace, *given: SymValue) -> SymValue | None:
    """`_array_converter` of arrays: it gives them as they are, and wraps nothing."""
    if not all(isinstance(t.use(v), Array) for v in given):
        raise Unsupported("operand", "_array_converter of something else than arrays")
    return call(t, Const(Converter), list(given), {})


if CONVERTER is not None:
    builtin(CONVERTER)(converter)


__all__ = ["flag"]
