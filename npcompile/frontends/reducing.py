"""What reductions of the libraries besides NumPy share.

In: tensor values and axes. Out: reduced values, exits by `Unsupported`. Never: knows a library's own rules.
"""

from __future__ import annotations

from npcompile.ir.graph import Value

from .builder import Builder
from .values import Unsupported


def reduced(b: Builder, v: Value, op: str, axes: tuple[int, ...], keep: bool = False) -> Value:
    """A reduction over some axes; the value itself over none (of an array without axes)."""
    if not axes:
        return v
    v = b.emit("reduce", v, op=op, axes=axes)
    return b.emit("expand", v, axes=axes) if keep else v


def need_elements(b: Builder, v: Value, axes: tuple[int, ...]) -> None:
    """Unsupported when there is nothing to reduce: the library raises the error itself."""
    if not all(b.dim_ge(b.dims(v)[a], 1) for a in axes):
        raise Unsupported("empty-reduction", "no elements")
