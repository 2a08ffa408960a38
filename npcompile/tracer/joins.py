"""Numbers whose Python type is open: Python number or NumPy scalar, depending on a loop's turns or on a branch.

The value has one representation; where the other operand makes the type irrelevant, `rest` stands for both. Arithmetic with
Python floats gives a number of open type again. Everywhere else the type must be settled: by a peeled turn, a guard or an exit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.frontends.values import Array, Const, Scalar, SymValue

from .interpreter import Trace
from .merge import BranchChoice
from .symbolic import JoinV

if TYPE_CHECKING:
    from npcompile.ir.graph import Value

FLOAT64 = np.dtype(np.float64)


def for_operand(t: Trace, v: JoinV, other: SymValue) -> SymValue:
    """`v` as an operand next to `other`."""
    first, rest = kind_of(v.first), v.rest
    if first is None or not isinstance(rest, Scalar):
        return v
    if rest.kind == "numpy":
        # int or float, then float64: NumPy computes in float64 (or wider) either way if the other is a NumPy float64
        # or complex128 number or array; a float next to integers gives float64 either way, too
        dt = other.dtype if isinstance(other, (Array, Scalar)) and not is_python(other) else None
        same = dt is not None and (dt.char in "dD" or (first == "f" and dt.kind in "iu" and isinstance(other, Array)))
        return rest if same and rest.dtype == FLOAT64 else v
    # int, then float: next to a float Python computes in float either way
    return rest if kind_of(other) == "f" else v


_OPEN = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_COMPARE = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}


def open_binary(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue | None:
    """`a op b` where one operand is a Python or NumPy float, and the other one that, too, or a Python float. None: not such."""
    opens = [v for v in (a, b) if isinstance(v, JoinV)]
    choices = {id(v.choice) for v in opens}
    if len(choices) != 1 or (op not in _OPEN and op not in _COMPARE) or not (_open_float(a) and _open_float(b)):
        return None
    value_a, value_b = (t.b.value_of(v.rest if isinstance(v, JoinV) else v, FLOAT64) for v in (a, b))
    if op in _COMPARE:
        out = t.b.emit(_COMPARE[op], value_a, value_b)
        return JoinV(t.b.scalar(out, "python"), t.b.scalar(out), opens[0].choice)
    # NumPy warns of what Python computes silently, or raises for
    out = t.b.emit(_OPEN[op], value_a, value_b)
    t.b.exit_if(t.b.emit("logical_not", t.b.emit("isfinite", out)), "branch-types")
    return JoinV(t.b.scalar(out, "python"), t.b.scalar(out), opens[0].choice)


def _open_float(v: SymValue) -> bool:
    if isinstance(v, JoinV):
        float_first = isinstance(v.first, (Const, Scalar)) and kind_of(v.first) == "f"
        return float_first and isinstance(v.rest, Scalar) and v.rest.kind == "numpy" and v.rest.dtype == FLOAT64
    return kind_of(v) == "f"


def is_open_float(v: SymValue) -> bool:
    """Is it a Python float or a float64 number of NumPy, and open which?"""
    return isinstance(v, JoinV) and _open_float(v)


def for_dtype(t: Trace, v: SymValue, dtype: np.dtype) -> SymValue:
    """`v` as a value stored to an array of `dtype`: cast alike, whatever its type."""
    if isinstance(v, JoinV) and dtype.kind in "fc" and kind_of(v.first) is not None and dtype.itemsize >= 8:
        return v.rest
    return v


def kind_of(v: SymValue) -> str | None:
    """ "i" or "f" of a Python int or float, None for others."""
    if isinstance(v, Const):
        return {int: "i", float: "f"}.get(type(v.value))
    if isinstance(v, Scalar) and v.kind == "python" and v.dtype.kind in "if":
        return v.dtype.kind
    return None


def is_python(v: SymValue) -> bool:
    return kind_of(v) is not None


def open_extreme(t: Trace, better: str, a: SymValue, b: SymValue) -> SymValue | None:
    """`b` if it compares so with `a`, else `a`: a Python number or a float64 of NumPy, as the chosen one is. None: not such."""
    python = [_python_number(t, v) for v in (a, b)]
    if python[0] is None or python[1] is None:
        return None
    ints = [v for v in (a, b) if kind_of(v) == "i"]
    if ints and (len(ints) == 2 or any(isinstance(v, JoinV) or kind_of(v) == "f" for v in (a, b))):
        return None
    va, vb = (t.b.value_of(v.rest if isinstance(v, JoinV) else v, FLOAT64) for v in (a, b))
    test = t.b.emit(better, vb, va)
    out = t.b.emit("select", test, vb, va)
    choice = BranchChoice(t.b.emit("select", test, python[1], python[0]))
    return JoinV(ints[0] if ints else t.b.scalar(out, "python"), t.b.scalar(out), choice)


def _python_number(t: Trace, v: SymValue) -> Value | None:
    """Is it a number of Python, not one of NumPy? None: it is no number of which float64 tells all."""
    if isinstance(v, JoinV):
        return v.choice.first_holds(t.b) if _open_float(v) else None
    if kind_of(v) == "f" or (isinstance(v, Const) and type(v.value) is int and abs(v.value) <= 1 << 53):
        return t.b.const(True, bool)
    numpy = isinstance(v, Scalar) and v.kind == "numpy" and v.dtype == FLOAT64
    return t.b.const(False, bool) if numpy or (isinstance(v, Const) and type(v.value) is np.float64) else None
