"""`print` of numbers, strings and arrays: called from inside the segment, once and in order.

In: the arguments of a call of `print`. Out: a node that calls it, after everything before has been done and reported. What it
cannot take as it is (objects, files) makes the segment leave before the call.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from npcompile.frontends import printing
from npcompile.frontends.numpy.externs import Operands
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, ListV, RangeV, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.externs import Template
from npcompile.ir.layout import c_layout
from npcompile.ir.types import TensorType

from . import strings
from .calls import builtin
from .inputs import describe
from .interpreter import Trace
from .symbolic import TextV

_PURE: dict[Any, str] = {
    str: "builtins.str",
    repr: "builtins.repr",
    ascii: "builtins.ascii",
    format: "builtins.format",
    operator.mod: "operator.mod",
    operator.add: "operator.add",
    str.format: "builtins.str.format",
    str.join: "builtins.str.join",
    strings.concatenated: f"{strings.__name__}.{strings.concatenated.__name__}",
}


@builtin(print)
def print_(t: Trace, *args: SymValue, **kwargs: SymValue) -> SymValue:
    how = {k: t.use(v) for k, v in kwargs.items()}
    if getattr(t.options, "backend", None) not in (None, "cpp") or t.b.device not in ("", "cpu") or "file" in how:
        raise Unsupported("side-effect-call", "print")
    operands = Operands(t.b)
    texts = tuple(template(t, operands, v) for v in args)
    named = tuple((k, template(t, operands, v)) for k, v in how.items())
    done, _ = t.b.emit_multi(
        "extern_numpy",
        *operands.values,
        function=printing.NAME,
        args=texts,
        kwargs=named,
        result=("out", 0, "python"),
        types=(TensorType(np.dtype(bool), (), c_layout(())),),
        syms=(),
    )
    t.b.exit_if(t.b.emit("logical_not", done), "library-call")
    t.mutated()
    return NONE


def template(t: Trace, operands: Operands, v: SymValue) -> Template:
    """How an argument of such a call is made when the call is made."""
    v = t.use(v)
    if isinstance(v, TextV) and v.function in _PURE:
        return ("call", _PURE[v.function], *(template(t, operands, x) for x in v.args))
    if isinstance(v, Scalar):
        return operands.operand(t.b.value_of(v), v.kind)
    if isinstance(v, RangeV):
        return ("call", "builtins.range", *(template(t, operands, x) for x in (v.start, v.stop, v.step)))
    if isinstance(v, TupleV) and v.cls is tuple:
        return ("tuple", *(template(t, operands, x) for x in v.items))
    if isinstance(v, ListV):
        return ("list", *(template(t, operands, x) for x in v.items))
    if isinstance(v, (Array, Const)):
        return operands.template(v)
    raise Unsupported("side-effect-call", f"print of {describe(v)}")
