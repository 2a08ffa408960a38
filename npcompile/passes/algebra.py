"""Exact identities of elementwise prims: each holds bit for bit, signed zeros, infinities and NaN included.

In: a node whose inputs are simplified. Out: a value that equals its output, or None. A result whose layout differs is
copied into the layout that NumPy's result has. Two kinds of rewrite change a result within its error bound: small integer
powers become products, as stated in `_pow`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from npcompile.ir.graph import Node, Value
from npcompile.ir.types import TensorType

from .constants import emit_splat, is_exactly, number, splat
from .rewrite import Emitter, same_type

Rule = Callable[[Emitter, Node], "Value | None"]
RULES: dict[str, Rule] = {}


def rule(*prims: str) -> Callable[[Rule], Rule]:
    def add(f: Rule) -> Rule:
        RULES.update(dict.fromkeys(prims, f))
        return f

    return add


def kind(v: Value) -> str:
    assert isinstance(v.type, TensorType)
    return v.type.dtype.kind


def by(v: Value, prim: str) -> Value | None:
    """The operand of `v` when `prim` made it."""
    return v.node.inputs[0] if v.node is not None and v.node.prim == prim else None


def as_output(e: Emitter, node: Node, v: Value) -> Value | None:
    """`v` with the type of the node's output: itself, or a copy in that layout."""
    t = node.outputs[0].type
    if same_type(v.type, t):
        return v
    if not isinstance(t, TensorType) or not isinstance(v.type, TensorType) or (v.type.dtype, v.type.dims) != (t.dtype, t.dims):
        return None
    if t.strides is not None or not all(r or d.const == 1 for r, d in zip(t.layout, t.dims)):
        return None
    return e.emit(node, "copy", v, layout=t.layout)


def simplify(e: Emitter, node: Node) -> Value | None:
    """A value equal to the node's output, or None."""
    f = RULES.get(node.prim)
    v = None if f is None else f(e, node)
    return None if v is None else as_output(e, node, v)


# ---------------------------------------------------------------------------------------------- arithmetic


@rule("add")
def _add(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    zero = 0 if kind(a) in "biu" else -0.0  # x + 0.0 turns -0.0 into 0.0
    for x, y in ((a, b), (b, a)):
        if is_exactly(y, zero):
            return x
        n = by(y, "neg")
        if n is not None and kind(x) != "c":
            return e.emit(node, "sub", x, n, report=True)
    return None


@rule("sub")
def _sub(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    if is_exactly(b, 0.0 if kind(a) == "f" else 0):
        return a
    n = by(b, "neg")
    if n is not None and kind(a) != "c":
        return e.emit(node, "add", a, n, report=True)
    return None


@rule("mul")
def _mul(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    for x, y in ((a, b), (b, a)):
        if is_exactly(y, 1):
            return x
        if kind(x) in "biu" and is_exactly(y, 0):
            return y
        if kind(x) in "if" and is_exactly(y, -1):
            return e.emit(node, "neg", x)
    return None


@rule("div")
def _div(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    if is_exactly(b, 1):
        return a
    c = splat(b)
    if c is not None and c.dtype.kind == "f" and _has_exact_reciprocal(c):
        assert isinstance(b.type, TensorType)
        inverse = e.emit(node, "const", value=1.0 / c.item(), dtype=c.dtype)
        if b.type.dims:
            inverse = e.emit(node, "broadcast", inverse, dims=b.type.dims)
        return e.emit(node, "mul", a, inverse, report=True)
    return None


def _has_exact_reciprocal(c: np.ndarray) -> bool:
    """Is it a power of two whose inverse is a normal number?"""
    x = abs(c.item())
    if not 0 < x < math.inf:
        return False
    info = np.finfo(c.dtype)
    return math.frexp(x)[0] == 0.5 and float(info.tiny) <= 1.0 / x <= float(info.max) and x >= float(info.tiny)


MAX_POWER = 32
"""Largest constant exponent that becomes products: beyond it they cost as much as `pow`."""


@rule("pow")
def _pow(e: Emitter, node: Node) -> Value | None:
    """x**1 and x**0 are exact; x**2, 1/x and small integer powers are at least as near to the true value as NumPy's."""
    a, b = node.inputs
    n = number(b)
    if n is None or isinstance(n, complex) or kind(a) == "c":
        return None
    t = node.outputs[0].type
    assert isinstance(t, TensorType)
    if n == 0:
        return emit_splat(e, node, np.array(1, t.dtype), t)
    if n == 1:
        return a
    if n == 2:
        return e.emit(node, "square", a, report=True)
    if n == -1 and kind(a) == "f":
        return e.emit(node, "reciprocal", a, report=True)
    if 2 < n <= MAX_POWER and n == int(n):
        return e.emit(node, "powi", a, report=True, n=int(n))
    return None


@rule("floordiv", "py_floordiv")
def _floordiv(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    return a if kind(a) in "iu" and is_exactly(b, 1) else None


@rule("mod", "py_mod", "fmod")
def _mod(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    if kind(a) in "iu" and is_exactly(b, 1):
        return e.emit(node, "sub", a, a)
    return None


@rule("neg")
def _neg(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    return by(a, "neg")


@rule("abs")
def _abs(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    if kind(a) in "bu" or by(a, "abs") is not None:
        return a
    n = by(a, "neg")
    return e.emit(node, "abs", n) if n is not None and kind(n) in "if" else None


@rule("square")
def _square(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    if kind(a) == "c":
        return None
    for p in ("neg", "abs"):
        n = by(a, p)
        if n is not None and kind(n) == kind(a) != "u":
            return e.emit(node, "square", n, report=True)
    return None


@rule("conj")
def _conj(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    return by(a, "conj") if kind(a) == "c" else a


@rule("real", "imag")
def _part(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    if a.node is not None and a.node.prim == "complex":
        return a.node.inputs[0 if node.prim == "real" else 1]
    return None


@rule("floor", "ceil", "trunc", "rint")
def _round(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    whole = kind(a) in "biu" or any(by(a, p) is not None for p in ("floor", "ceil", "trunc", "rint"))
    return a if whole and kind(a) != "c" else None


# ---------------------------------------------------------------------------------------------- bits and logic


@rule("bit_not")
def _bit_not(e: Emitter, node: Node) -> Value | None:
    return by(node.inputs[0], "bit_not")


@rule("logical_not")
def _logical_not(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    n = by(a, "logical_not")
    return n if n is not None and kind(n) == "b" else None


@rule("bit_and", "logical_and", "bit_or", "logical_or")
def _and_or(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    if node.prim.startswith("logical") and (kind(a) != "b" or kind(b) != "b"):
        return None
    if a is b:
        return a
    for x, y in ((a, b), (b, a)):
        c, ones = number(y), _all_bits(y)
        neutral, final = (ones, 0) if node.prim.endswith("and") else (0, ones)
        if c is not None and c in (neutral, final):
            return x if c == neutral else y
    return None


def _all_bits(v: Value) -> int:
    """The number of this dtype that has every bit set."""
    assert isinstance(v.type, TensorType)
    d = v.type.dtype
    return 1 if d.kind == "b" else -1 if d.kind == "i" else int(np.iinfo(d).max)


@rule("bit_xor", "shl", "shr")
def _by_zero(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    if is_exactly(b, 0):
        return a
    return b if node.prim == "bit_xor" and is_exactly(a, 0) else None


@rule("maximum", "minimum", "fmax", "fmin")
def _extremum(e: Emitter, node: Node) -> Value | None:
    a, b = node.inputs
    return a if a is b else None


# ---------------------------------------------------------------------------------------------- select, convert


@rule("select")
def _select(e: Emitter, node: Node) -> Value | None:
    mask, a, b = node.inputs
    if a is b:
        return a
    c = number(mask)
    if c is not None:
        return a if c else b
    n = by(mask, "logical_not") or by(mask, "bit_not")
    if n is not None and kind(n) == "b":
        return e.emit(node, "select", n, b, a)
    return None


@rule("convert")
def _convert(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    assert isinstance(a.type, TensorType)
    target = np.dtype(node.params["dtype"])
    if a.type.dtype == target:
        return a
    inner = by(a, "convert")
    if inner is None:
        return None
    assert isinstance(inner.type, TensorType)
    source, between = inner.type.dtype, a.type.dtype
    if not (_keeps_value(source, between) and _one_step(source, between, target)):
        return None
    if source == target:
        return inner
    params = {"layout": node.params["layout"]} if "layout" in node.params else {}
    return e.emit(node, "convert", inner, report=True, dtype=target, **params)


def _keeps_value(a: np.dtype, b: np.dtype) -> bool:
    """Does every value of `a` have an equal in `b`?"""
    if a.kind == "b":
        return True
    if a.kind in "iu" and b.kind in "fc":
        part = np.finfo(b)
        return np.iinfo(a).bits - (a.kind == "i") <= part.nmant + 1 and np.iinfo(a).max < part.max
    return bool(np.can_cast(a, b, "safe"))


def _one_step(source: np.dtype, between: np.dtype, target: np.dtype) -> bool:
    """Given that `between` keeps values, does source -> target give what source -> between -> target gives?

    Yes unless the second step leaves the target's range where a direct conversion would wrap.
    """
    if source.kind == "b" or target.kind in "fc" or target.kind == "b":
        return not (between.kind == "c" and target.kind != "c")
    return between.kind in "biu" or _keeps_value(source, target)


@rule("copy")
def _copy(e: Emitter, node: Node) -> Value | None:
    (a,) = node.inputs
    if same_type(a.type, node.outputs[0].type):
        return a
    n = by(a, "copy")
    return e.emit(node, "copy", n, layout=node.params["layout"]) if n is not None else None
