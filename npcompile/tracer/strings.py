"""Strings: those of known values are made while tracing, those of run-time numbers are recipes for when the segment is left.

Numbers never change, so that it does not matter when their text is made. Text of anything else is left to Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.frontends.values import Const, Scalar, SymValue, TupleV, Unsupported

from .calls import builtin
from .frames import Frame
from .inputs import describe
from .interpreter import Trace, handles
from .symbolic import ExceptionV, TextV

_KNOWN = (str, int, float, bool, complex, type(None))
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"str": str, "repr": repr, "ascii": ascii}


def concatenated(*parts: str) -> str:
    return "".join(parts)


def text(t: Trace, function: Callable[..., Any], *args: SymValue) -> SymValue:
    """A string that a pure function makes of strings and numbers.

    Raises
    ------
    Unsupported
        when arguments are something else, or the function would raise.
    """
    values = tuple(_immutable(t, v) for v in args)
    try:
        sample = function(*map(_sample, values))
    except Exception as e:
        raise Unsupported("string-op", str(e)) from None
    if all(isinstance(v, Const) for v in values):
        return Const(sample)
    if type(sample) is not str:
        raise Unsupported("string-op", f"{function.__name__} of run-time values")
    return TextV(function, values, sample)


def _immutable(t: Trace, v: SymValue) -> SymValue:
    v = t.use(v)
    if isinstance(v, Const) and isinstance(v.value, (*_KNOWN, tuple, np.number, np.bool_, np.dtype)):
        return v
    if isinstance(v, TupleV) and v.cls is tuple:
        items = tuple(_immutable(t, x) for x in v.items)
        return Const(tuple(x.value for x in items)) if all(isinstance(x, Const) for x in items) else TupleV(items)  # type: ignore[attr-defined]
    if isinstance(v, (Scalar, TextV)):
        return v
    raise Unsupported("string-op", f"text of {describe(v)}")


def _sample(v: SymValue) -> Any:
    if isinstance(v, Const):
        return v.value
    if isinstance(v, TupleV):
        return tuple(map(_sample, v.items))
    if isinstance(v, TextV):
        return v.sample
    assert isinstance(v, Scalar)
    return {"i": int, "f": float, "b": bool, "c": complex}[v.dtype.kind](1) if v.kind == "python" else v.dtype.type(1)


@handles(Op.FORMAT)
def format_op(t: Trace, f: Frame, i: Instr) -> None:
    conversion, has_spec = i.arg
    n = 2 if has_spec else 1
    value, *spec = f.stack[-n:]
    if conversion:
        value = text(t, _CONVERSIONS[conversion], value)
    spec = [t.look(s) for s in spec]
    if any(isinstance(s, Const) and str(s.value).endswith("c") for s in spec):
        raise Unsupported("string-op", "a character by its number")
    f.stack[-n:] = [text(t, format, value, *spec)]


@handles(Op.CONVERT)
def convert_op(t: Trace, f: Frame, i: Instr) -> None:
    f.stack[-1] = text(t, _CONVERSIONS[i.arg], f.stack[-1])


@handles(Op.BUILD_STRING)
def build_string(t: Trace, f: Frame, i: Instr) -> None:
    made = text(t, concatenated, *f.stack[len(f.stack) - i.arg :])
    del f.stack[len(f.stack) - i.arg :]
    f.stack.append(made)


@builtin(str)
def str_(t: Trace, v: SymValue = Const("")) -> SymValue:
    v = t.look(v)
    if isinstance(v, ExceptionV):
        if v.args is None or v.type.__str__ not in (BaseException.__str__, KeyError.__str__):
            raise Unsupported("string-op", f"text of {describe(v)}")
        if len(v.args) == 1 and v.type.__str__ is KeyError.__str__:
            return text(t, repr, v.args[0])
        return Const("") if not v.args else text(t, str, v.args[0] if len(v.args) == 1 else TupleV(v.args))
    return text(t, str, v)


@builtin(repr)
def repr_(t: Trace, v: SymValue) -> SymValue:
    return text(t, repr, v)


for _function in (bin, hex, oct):

    @builtin(_function)
    def digits(t: Trace, v: SymValue, _of: Any = _function) -> SymValue:
        return text(t, _of, v)


@builtin(format)
def format_(t: Trace, v: SymValue, spec: SymValue = Const("")) -> SymValue:
    return text(t, format, v, spec)


def is_text(v: SymValue) -> bool:
    return isinstance(v, TextV) or (isinstance(v, Const) and type(v.value) is str)


def operation(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue | None:
    """`+` of strings and `%` of a known one, of which some depend on run-time values; None for what is neither."""
    if op == "+" and is_text(a) and is_text(b):
        return text(t, operator.add, a, b)
    if op == "%" and isinstance(a, Const) and type(a.value) is str:
        if "%c" in a.value:
            raise Unsupported("string-op", "a character by its number")
        return text(t, operator.mod, a, b)
    return None
