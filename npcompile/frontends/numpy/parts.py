"""Rules of functions on the real and imaginary part: `real`, `imag`, `angle`, `isreal`, `iscomplexobj` and the like.

In: symbolic arguments. Out: views, arrays, NumPy scalars, constants.
"""

from __future__ import annotations

import math

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, SymValue

from . import arguments
from .attributes import imag, real
from .conversion import array_of
from .operators import binary
from .promotion import dtype_of, is_python_number
from .registry import FALSE, rule
from .sites import at, loc
from .ufuncs import call


@rule(np.real)
def real_function(b: Builder, val: SymValue) -> SymValue:
    v = arguments.array_like(b, val)
    return v if is_python_number(v) and dtype_of(v).kind != "c" else real(b, _numpy(b, v))


@rule(np.imag)
def imag_function(b: Builder, val: SymValue) -> SymValue:
    v = arguments.array_like(b, val)
    return imag(b, _numpy(b, v))


def _numpy(b: Builder, v: SymValue) -> SymValue:
    """Python numbers have `real` and `imag` of their own, which are not arrays."""
    if is_python_number(v):
        raise arguments.refuse("the real or imaginary part of a Python number")
    return v


@rule(np.angle)
def angle(b: Builder, z: SymValue, deg: SymValue = FALSE) -> SymValue:
    z = arguments.array_like(b, z)
    z = array_of(b, z) if is_python_number(z) else z
    degrees = arguments.flag(b, deg)
    with at(b, loc("lib._function_base_impl.angle", "a = arctan2(")):
        a = call(b, np.arctan2, imag(b, z) if dtype_of(z).kind == "c" else Const(0), real(b, z))
    if not degrees:
        return a
    with at(b, loc("lib._function_base_impl.angle", "a *= 180 / pi")):
        return binary(b, "*=", a, Const(180 / math.pi))


@rule(np.iscomplexobj)
def iscomplexobj(b: Builder, x: SymValue) -> SymValue:
    return Const(dtype_of(arguments.array_like(b, x)).kind == "c")


@rule(np.isrealobj)
def isrealobj(b: Builder, x: SymValue) -> SymValue:
    return Const(dtype_of(arguments.array_like(b, x)).kind != "c")


@rule(np.iscomplex)
def iscomplex(b: Builder, x: SymValue) -> SymValue:
    return _imaginary_part_is(b, np.not_equal, x, "a new array of zeros in C order")


@rule(np.isreal)
def isreal(b: Builder, x: SymValue) -> SymValue:
    return _imaginary_part_is(b, np.equal, x, "the imaginary part of a real array")


def _imaginary_part_is(b: Builder, compare: np.ufunc, x: SymValue, refused: str) -> SymValue:
    """Compare with 0; what NumPy does for real arrays is refused."""
    x = arguments.array_like(b, x)
    if dtype_of(x).kind != "c" or is_python_number(x):
        raise arguments.refuse(refused)
    return call(b, compare, imag(b, x), Const(0))
