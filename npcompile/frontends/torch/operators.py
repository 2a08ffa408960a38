"""Python's operators with at least one tensor among the operands.

In: operator texts ("+", "+=", "<", "-", ...) and symbolic values. Out: the symbolic result; the left tensor itself for
augmented assignments.
"""

from __future__ import annotations

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.operators import COMPARE_PRIM, TURNED
from npcompile.frontends.values import SymValue, Tensor, Unsupported

from . import elementwise
from .registry import TORCH

BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "//": "floor_divide",
    "%": "remainder",
    "**": "pow",
    "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
}
UNARY = {"-": "neg", "+": "positive", "~": "bitwise_not", "abs": "abs"}


def binary(b: Builder, operator: str, x: SymValue, y: SymValue) -> SymValue:
    """`x operator y`; "+=" and the like store into a tensor at the left."""
    inplace = operator.endswith("=")
    base = operator[:-1] if inplace else operator
    if base == "@":
        if inplace:
            raise Unsupported("torch-arguments", "@=")
        return method("matmul")(b, x, y)
    if base not in BINARY:
        raise Unsupported("operand", f"tensor {operator}")
    into = x if inplace and isinstance(x, Tensor) else None
    if base == "/" and not isinstance(x, Tensor):  # `Tensor.__rtruediv__`
        return elementwise.binary(b, "mul", method("reciprocal")(b, y), x)
    return elementwise.binary(b, BINARY[base], x, y, into)


def compare(b: Builder, operator: str, x: SymValue, y: SymValue) -> SymValue:
    """`x operator y` for "==", "!=", "<", "<=", ">", ">="."""
    if not isinstance(x, Tensor):  # Python asks the right operand, with the operator turned round
        x, y, operator = y, x, operator.translate(TURNED)
    return elementwise.binary(b, COMPARE_PRIM[operator], x, y)


def unary(b: Builder, operator: str, x: SymValue) -> SymValue:
    return method(UNARY[operator])(b, x)


def method(name: str):  # type: ignore[no-untyped-def]
    rule = TORCH.lookup_method(name, "tensor")
    if rule is None:
        raise Unsupported("no-rule", name)
    return rule
