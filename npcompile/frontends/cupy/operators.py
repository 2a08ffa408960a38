"""Python's operators with at least one array of CuPy among the operands.

In: operator texts ("+", "+=", "<", "-", ...) and symbolic values. Out: the symbolic result; the left array itself for augmented
assignments.
"""

from __future__ import annotations

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import operators
from npcompile.frontends.values import SymValue, Tensor, Unsupported

from . import elementwise, products

BINARY = {op: f.__name__ for op, f in operators.BINARY.items() if f.nout == 1} | {"/": "true_divide"}
COMPARE, UNARY = ({op: f.__name__ for op, f in table.items()} for table in (operators.COMPARE, operators.UNARY))


def binary(b: Builder, operator: str, x: SymValue, y: SymValue) -> SymValue:
    """`x operator y`; "+=" and the like store into an array at the left."""
    inplace = operator.endswith("=")
    base = operator[:-1] if inplace else operator
    if base == "@" and not inplace:
        return products.matmul(b, x, y)
    if base not in BINARY:
        raise Unsupported("operand", f"{operator} of an array of CuPy")
    return elementwise.binary(b, BINARY[base], x, y, x if inplace and isinstance(x, Tensor) else None)


def compare(b: Builder, operator: str, x: SymValue, y: SymValue) -> SymValue:
    """`x operator y` for "==", "!=", "<", "<=", ">", ">="."""
    if not isinstance(x, Tensor):  # Python asks the right operand, with the operator turned round
        x, y, operator = y, x, operator.translate(operators.TURNED)
    return elementwise.binary(b, COMPARE[operator], x, y)


def unary(b: Builder, operator: str, x: SymValue) -> SymValue:
    return elementwise.unary(b, UNARY[operator], x)
