"""Rules of `round`, function and method.

In: symbolic arguments. Out: arrays, NumPy scalars or `out`. Never: complex operands, whose parts NumPy rounds one by one.
"""

from __future__ import annotations

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, SymValue, Unsupported
from npcompile.ir.layout import any_order, c_layout, f_layout

from . import arguments
from .conversion import copied, element
from .promotion import dtype_of, is_python_number
from .registry import NONE, method, rule
from .sites import at, loc
from .ufuncs import call

ZERO = Const(0)


@rule(np.round, np.around)
def round_function(b: Builder, a: SymValue, decimals: SymValue = ZERO, out: SymValue = NONE) -> SymValue:
    a = arguments.array_like(b, a)
    if is_python_number(a):
        raise arguments.refuse("round of a Python number")
    with at(b, loc("_core.fromnumeric._wrapfunc", "return bound(")):
        return round_method(b, a, decimals, out)


@method("round")
def round_method(b: Builder, self: SymValue, decimals: SymValue = ZERO, out: SymValue = NONE) -> SymValue:
    n = arguments.index(arguments.static(b, decimals))
    dt = dtype_of(self)
    if dt.kind == "c" or (dt.kind == "b" and n) or arguments.given(out):
        raise Unsupported("numpy-arguments", "round of complex or bool, or into out")
    if n >= 0 and dt.kind in "iu":
        return copied(b, self, dt, "K") if isinstance(self, Array) and self.rank else b.scalar(element(b, self))
    if n == 0:
        return call(b, np.rint, self)
    if isinstance(self, Array) and self.rank == 0:
        self = b.scalar(b.read(self))
    scale = Const(float(10 ** abs(n)))
    first, last = (np.multiply, np.divide) if n > 0 else (np.divide, np.multiply)
    out = call(b, last, call(b, np.rint, call(b, first, self, scale)), scale)
    if not isinstance(out, Array):
        return b.scalar(b.convert(b.value_of(out), dt))
    assert isinstance(self, Array)
    dims = b.dims(self)
    fortran = any_order(arguments.view_type(b, self)) != c_layout(dims)
    v = b.convert(b.read(out), dt)
    return b.array(b.emit("copy", v, layout=f_layout(dims) if fortran else c_layout(dims)))
