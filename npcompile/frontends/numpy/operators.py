"""Python's operators with at least one array or NumPy scalar among the operands.

In: operator texts ("+", "+=", "<", "-", ...) and symbolic values. Out: the symbolic result. Never: operators between Python
numbers only, which are the tracer's.
"""

from __future__ import annotations

import functools

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, Picked, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.graph import Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import TensorType

from . import picked
from .promotion import BOOL, FLOAT64, INT64, dtype_of, is_numpy, is_python_number, operand, scalar_type
from .registry import lookup
from .ufuncs import OLD_POWER, UFUNCS, call, compute, op

BINARY: dict[str, np.ufunc] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "divmod": np.divmod,
    "**": np.power,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}
COMPARE: dict[str, np.ufunc] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
COMPARE_PRIM = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
UNARY: dict[str, np.ufunc] = {"-": np.negative, "+": np.positive, "~": np.invert, "abs": np.absolute}


SCALAR_PRIMS = {"%": "mod", "**": "pow"}
"""Operators whose prim has `scalars_warn`."""

TURNED = str.maketrans("<>", "><")


def handles(*operands: SymValue) -> bool:
    """Is this an operator on arrays or NumPy scalars?"""
    return any(is_numpy(v) or isinstance(v, Picked) for v in operands)


def binary(b: Builder, operator: str, x: SymValue, y: SymValue) -> SymValue:
    """`x operator y`; "+=" and the like store into an array at the left, and are plain operators otherwise."""
    x, y = b.force(x), b.force(y)
    inplace = len(operator) > 1 and operator.endswith("=")
    base = operator[:-1] if inplace else operator
    if not handles(x, y):
        raise Unsupported("operand", f"operands of {operator} are neither arrays nor NumPy scalars")
    if isinstance(x, Picked) or isinstance(y, Picked):
        return _picked(b, base, x, y, inplace and isinstance(x, Picked))
    if base == "@":
        rule = lookup(np.matmul)
        if rule is None or (inplace and not (isinstance(x, Array) and isinstance(y, Array) and y.rank > 1)):
            raise Unsupported("no-rule", "matmul")
        return rule(b, x, y, **_out(x if inplace and isinstance(x, Array) else None))
    ufunc = BINARY[base]
    if not isinstance(x, Array) and not isinstance(y, Array) and is_number_pair(x, y):
        return _scalars(b, base, x, y)
    if not isinstance(x, Array) and not isinstance(y, Array):
        raise Unsupported("operand", "a NumPy scalar and a sequence")
    target = x if inplace and isinstance(x, Array) else None
    if base == "**" and isinstance(x, Array):
        fast = _fast_power(b, x, y)
        if fast is not None:
            return call(b, fast, x, **_out(target))
        if isinstance(y, Scalar) and y.kind == "python" and x.dtype.kind in "fc" and x.rank and not OLD_POWER:
            return _varying_power(b, x, y, target)
    return call(b, ufunc, x, y, **_out(target))


def _picked(b: Builder, base: str, x: SymValue, y: SymValue, inplace: bool) -> SymValue:
    """Operators on elements chosen by a mask."""
    ufunc: np.ufunc | None = BINARY.get(base)
    operands = [x, y]
    if base == "**" and isinstance(x, Picked):
        ufunc = _fast_power(b, x.whole, y)
        operands = [x]
    if ufunc is None or ufunc in (np.power, np.divmod):
        raise Unsupported("advanced-indexing", f"{base} of elements chosen by a mask")
    return picked.apply(b, ufunc, operands, inplace)


def _out(target: Array | None) -> dict[str, SymValue]:
    return {} if target is None else {"out": target}


def is_number_pair(x: SymValue, y: SymValue) -> bool:
    return all(
        isinstance(v, Scalar) or (isinstance(v, Const) and isinstance(v.value, (bool, int, float, complex, np.generic)))
        for v in (x, y)
    )


def compare(b: Builder, operator: str, x: SymValue, y: SymValue) -> SymValue:
    """`x operator y` for "==", "!=", "<", "<=", ">", ">="."""
    x, y = b.force(x), b.force(y)
    if not handles(x, y):
        raise Unsupported("operand", f"operands of {operator} are neither arrays nor NumPy scalars")
    if isinstance(x, Picked) or isinstance(y, Picked):
        return picked.apply(b, COMPARE[operator], [x, y])
    _refuse_python_complex(x, y)
    if is_python_number(x):  # Python asks the right operand, with the operator turned round
        x, y, operator = y, x, operator.translate(TURNED)
    if not isinstance(x, Array) and not isinstance(y, Array) and is_number_pair(x, y):
        dt = _scalar_type(x, y)
        if dt is not None and dt.kind == "c":  # where NumPy's scalars compare by themselves, they are silent about NaN
            return b.scalar(b.emit(COMPARE_PRIM[operator], operand(b, x, dt), operand(b, y, dt)))
    return call(b, COMPARE[operator], x, y)


def unary(b: Builder, operator: str, x: SymValue) -> SymValue:
    """`-x`, `+x`, `~x` and `abs(x)`."""
    x = b.force(x)
    if not handles(x):
        raise Unsupported("operand", f"operand of {operator} is neither array nor NumPy scalar")
    ufunc = UNARY[operator]
    if isinstance(x, Picked):
        return picked.apply(b, ufunc, [x])
    dt = dtype_of(x)
    if isinstance(x, Array) or dt.kind not in "iu" or operator not in ("-", "abs"):
        return call(b, ufunc, x)
    v = b.value_of(x)
    if dt.kind == "u":
        if operator == "abs":
            return b.scalar(v)
        overflow = b.emit("ne", v, b.const(0, dt))
    else:
        overflow = b.emit("eq", v, b.const(np.iinfo(dt).min, dt))
    b.exit_if(overflow, "int-overflow")
    return b.scalar(b.emit("neg" if operator == "-" else "abs", v))


# ---------------------------------------------------------------------------------------------- powers of arrays


def _fast_power(b: Builder, x: Array, y: SymValue) -> np.ufunc | None:
    """The ufunc that NumPy takes for `x ** y` with a Python number of a few values; None for `np.power`."""
    y = b.force(y)
    inexact = x.dtype.kind in "fc"
    if isinstance(y, Scalar) and y.kind == "python" and y.dim is not None and not b.facts.is_local(y.dim):
        if b.dim_is(y.dim, 2):
            return np.square
        return np.reciprocal if inexact and b.dim_is(y.dim, -1) else None
    if not isinstance(y, Const) or not (type(y.value) in (int, float) or (OLD_POWER and isinstance(y.value, np.number))):
        return None
    e = y.value
    if e == 2 and (type(e) is int or (OLD_POWER and inexact)):
        return np.square
    if e == -1 and inexact and (type(e) is int or OLD_POWER):
        return np.reciprocal
    return np.sqrt if e == 0.5 and inexact else None


def _varying_power(b: Builder, x: Array, y: Scalar, target: Array | None) -> SymValue:
    """`x ** y` with a Python number that is known at run time only.

    NumPy takes other ufuncs for a few values. All of them run; those not meant get operands that report nothing.
    """
    special: dict[str, tuple[tuple[float, np.ufunc], ...]] = {"i": ((2, np.square), (-1, np.reciprocal)), "f": ((0.5, np.sqrt),)}
    v, dims = b.value_of(x), b.dims(x)
    one = b.broadcast(b.const(1, x.dtype), dims)
    rest, results = v, []
    for value, ufunc in special.get(y.dtype.kind, ()):
        meant = b.broadcast(b.emit("eq", b.value_of(y), b.const(value, y.dtype)), dims)
        (out,) = compute(b, ufunc, [b.array(b.emit("select", meant, v, one))])
        results.append((meant, out))
        rest = b.emit("select", meant, one, rest)
    (power,) = compute(b, np.power, [b.array(rest), y])
    for meant, out in results:
        power = b.emit("select", meant, out, power)
    if target is None:
        return b.array(power)
    b.store(target, power)
    return target


# ---------------------------------------------------------------------------------------------- NumPy scalars


def _scalars(b: Builder, base: str, x: SymValue, y: SymValue) -> SymValue:
    """An operator between two numbers, at least one of them a NumPy scalar.

    NumPy computes in one operand's type when that holds the other (and then names the operation "scalar add"); for all
    other pairs it calls the ufunc.
    """
    _refuse_python_complex(x, y)
    dt = _scalar_type(x, y)
    if dt is None or base in ("<<", ">>", "&", "|", "^"):
        return call(b, BINARY[base], x, y)
    if dt.kind == "c" and base in ("//", "%", "divmod"):
        raise Unsupported("invalid-arguments", "not defined for complex")
    if base in SCALAR_PRIMS:
        _leave_where_scalars_warn(b, SCALAR_PRIMS[base], y, dt)
    values = [operand(b, v, dt) for v in (x, y)]
    name = f"scalar {BINARY[base].__name__}"
    if dt.kind in "iu" and base in ("+", "-", "*"):
        return b.scalar(_checked(b, base, values[0], values[1], dt))
    if base == "**" and dt.kind in "fc":
        return b.scalar(op(b, "pow", name, *values))
    outs = UFUNCS[BINARY[base]].emit(b, name, values)
    return b.scalar(outs[0]) if len(outs) == 1 else TupleV(tuple(b.scalar(v) for v in outs))


def _leave_where_scalars_warn(b: Builder, prim: str, y: SymValue, dt: np.dtype) -> None:
    """Leave for right operands of which NumPy's scalars warn otherwise than its arrays, which compiled code follows."""
    for chars, values in PRIMS[prim].scalars_warn:
        if dt.char in chars:
            value = b.value_of(y)
            if dtype_of(y) != dt:
                value = b.emit("convert", value, dtype=dt)  # the operation itself reports the cast
            tests = [b.emit("eq", value, b.const(x, dt)) for x in values]
            b.exit_if(functools.reduce(lambda p, q: b.emit("logical_or", p, q), tests), "scalar-warning")


def _refuse_python_complex(x: SymValue, y: SymValue) -> None:
    """A Python complex before a float64 scalar (which is a Python float) is Python's own operation."""
    if is_python_number(x) and dtype_of(x).kind == "c" and not isinstance(y, Array) and dtype_of(y) == FLOAT64:
        raise Unsupported("operand", "a Python complex and a float64 scalar")


def _scalar_type(x: SymValue, y: SymValue) -> np.dtype | None:
    """The type whose scalar operator NumPy takes, None when it takes the ufunc."""
    dx, dy = dtype_of(x), dtype_of(y)
    if is_python_number(x) or is_python_number(y):
        number, dt = (dx, dy) if is_python_number(x) else (dy, dx)
        if dt == BOOL:
            return None
        fits = {"b": True, "i": True, "f": dt.kind in "fc", "c": dt.kind == "c"}[number.kind]
        return dt if fits else None
    return scalar_type(dx, dy)


def _checked(b: Builder, base: str, x: Value, y: Value, dt: np.dtype) -> Value:
    """Integer arithmetic; leaves on overflow, of which NumPy warns."""
    prim = {"+": "add", "-": "sub", "*": "mul"}[base]
    if dt == INT64:
        out, overflow = b.emit_multi(f"{prim}_checked", x, y)
    elif dt.itemsize < 8:
        wide = np.dtype(np.uint64) if dt.kind == "u" and base == "*" else INT64
        exact = b.emit(prim, b.convert(x, wide), b.convert(y, wide))
        out = b.convert(exact, dt)
        overflow = b.emit("ne", exact, b.convert(out, wide))
    else:
        out = b.emit(prim, x, y)
        if base == "*":
            zero = b.emit("eq", x, b.const(0, dt))
            quotient = b.emit("floordiv", out, b.emit("select", zero, b.const(1, dt), x))
            overflow = b.emit("logical_and", b.emit("logical_not", zero), b.emit("ne", quotient, y))
        else:
            overflow = b.emit("lt", out, x) if base == "+" else b.emit("lt", x, y)
    b.exit_if(overflow, "int-overflow")
    assert isinstance(out.type, TensorType)
    return out
