"""What CUDA's own functions give where NumPy (and torch on the CPU) choose otherwise: the larger and the smaller of two numbers.

In: IR values of one dtype and shape. Out: an IR value. torch and CuPy both call these functions.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.ir.graph import Value

from .builder import Builder
from .torch.promotion import value_dtype


def extreme(larger: bool, skip_nan: bool = False) -> Callable[[Builder, Value, Value], Value]:
    """The larger (smaller) one: of two zeros the positive (negative) one; NaN wins or is skipped."""

    def emit(b: Builder, x: Value, y: Value) -> Value:
        if value_dtype(x).kind != "f":
            return b.emit("maximum" if larger else "minimum", x, y)
        if larger:
            zeros = b.emit("add", x, y)
        else:
            zeros = b.emit("neg", b.emit("add", b.emit("neg", x), b.emit("neg", y)))
        out = b.emit("select", b.emit("gt" if larger else "lt", x, y), x, y)
        both = b.emit("logical_and", b.emit("eq", x, y), b.emit("eq", x, _number(b, x, 0.0)))
        out = b.emit("select", both, zeros, out)
        odd_x, odd_y = b.emit("isnan", x), b.emit("isnan", y)
        if skip_nan:
            return b.emit("select", odd_y, x, b.emit("select", odd_x, y, out))
        return b.emit("select", b.emit("logical_or", odd_x, odd_y), _number(b, x, float("nan")), out)

    return emit


def _number(b: Builder, x: Value, number: float) -> Value:
    return b.broadcast(b.const(number, value_dtype(x)), b.dims(x))
