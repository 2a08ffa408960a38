"""Calls with side effects or results that time or chance decide: made once, in order, from inside the segment, as draws are.

In: functions of `random` and `time`, `warnings.warn`, and writing to text streams. Out: `extern_numpy` nodes whose results are
sure to be of one type. Never: makes such a call while tracing.
"""

from __future__ import annotations

import io
import sys
import types
from typing import Any

import numpy as np

from npcompile.frontends import printing as made
from npcompile.frontends.numpy.externs import Operands
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, ListV, RangeV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.externs import Template
from npcompile.ir.layout import c_layout
from npcompile.ir.types import TensorType

from . import library, sequences
from .inputs import describe
from .interpreter import Trace
from .iterators import trip_count
from .numbers import dtype_of, is_number, python
from .operators import binary_op
from .printing import template
from .symbolic import InputObject, TextV

_FLOATS = "random uniform triangular gauss normalvariate lognormvariate expovariate vonmisesvariate gammavariate betavariate "
_RANDOM = {
    **dict.fromkeys((_FLOATS + "paretovariate weibullvariate").split(), float),
    **dict.fromkeys(("randint", "randrange"), int),
    "seed": None,
    "choice": "choice",
}
_TIME = {
    **dict.fromkeys(("time", "perf_counter", "monotonic", "process_time", "thread_time"), float),
    **dict.fromkeys(("time_ns", "perf_counter_ns", "monotonic_ns", "process_time_ns"), int),
    "sleep": None,
}
_MODULES: dict[str, dict[str, Any]] = {"random": _RANDOM, "time": _TIME, "warnings": {"warn": None}}
"""Module -> function -> type of its result; None of what gives None."""
_DTYPES = {float: np.dtype(np.float64), int: np.dtype(np.int64), bool: np.dtype(np.bool_)}
_STREAMS = (io.TextIOWrapper, io.StringIO)


def call(t: Trace, callee: SymValue, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """The result, when the callee is such a function; else None."""
    function = callee.value if isinstance(callee, Const) else callee.example if isinstance(callee, InputObject) else None
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    owner: InputObject | None = None
    module = next((m for m, known in _MODULES.items() if name in known and _is(function, m, name)), None)
    if module is None and args and name in _RANDOM:
        first = t.b.force(args[0])
        if isinstance(first, InputObject) and _is(first.type, "random", "Random") and getattr(first.type, name) is function:
            module, owner, args = "random", first, args[1:]
    if module is None:
        return _stream_call(t, callee, args, kwargs)
    if isinstance(callee, InputObject):
        t.inputs.guard_is(callee.source, function)
    kind = _MODULES[module][name]
    if module == "warnings" and (len(args) > 2 or kwargs or not args):
        raise Unsupported("side-effect-call", "warnings.warn with a stack level")
    dotted = f"{module}.{'Random.' if owner is not None else ''}{name}"
    if kind == "choice":
        return _choice(t, dotted, owner, args, kwargs)
    return once(t, dotted, kind, owner, [_argument(t, v) for v in args], {k: _argument(t, v) for k, v in kwargs.items()})


def _is(function: Any, module: str, name: str) -> bool:
    """Without importing the module: who calls its functions has done so."""
    return function is not None and getattr(sys.modules.get(module), name, None) is function


def _argument(t: Trace, v: SymValue) -> SymValue:
    v = t.use(v)
    number = is_number(v) and dtype_of(v).kind in "if"
    known = isinstance(v, Const) and (v.value is None or isinstance(v.value, (str, type)))
    if number or known or isinstance(v, TextV):
        return v
    raise Unsupported("side-effect-call", describe(v))


def once(
    t: Trace, function: str, kind: Any, owner: InputObject | None, args: list[SymValue], kwargs: dict[str, SymValue]
) -> SymValue:
    """Call a function of a dotted name. owner : the object whose method it is. kind : type of its result."""
    if getattr(t.options, "backend", None) not in (None, "cpp") or t.b.device not in ("", "cpu"):
        raise Unsupported("side-effect-call", function)
    operands = Operands(t.b)
    texts: tuple[Template, ...] = tuple(template(t, operands, v) for v in args)
    named = tuple((k, template(t, operands, v)) for k, v in kwargs.items())
    number = None
    if owner is not None:
        if owner.source not in t.spec.objects:
            t.spec.objects.append(owner.source)
        number = t.spec.objects.index(owner.source)
        texts = (("object", 0), *texts)
    if kind is None:
        if named:
            raise Unsupported("side-effect-call", function)
        function, texts = made.DONE, (("call", function, *texts),)
    dtype = _DTYPES[bool if kind is None else kind]
    done, out = t.b.emit_multi(
        "extern_numpy",
        *operands.values,
        function=function,
        args=texts,
        kwargs=named,
        result=("out", 0, "python"),
        types=(TensorType(dtype, (), c_layout(())),),
        syms=(),
        objects=() if number is None else (number,),
    )
    t.b.exit_if(t.b.emit("logical_not", done), "library-call")
    t.mutated()
    return NONE if kind is None else python(out)


def _choice(t: Trace, function: str, owner: InputObject | None, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    """`random.choice(items)`: an item at a position that is drawn."""
    if len(args) != 1 or kwargs:
        raise Unsupported("arguments", "choice")
    v = t.use(args[0])
    known: Any = v.items if isinstance(v, (ListV, TupleV)) else v.value if isinstance(v, Const) else None
    if isinstance(v, Const) and isinstance(known, tuple):
        known = tuple(map(Const, known))
    if isinstance(v, RangeV) and isinstance(v.start, Const) and isinstance(v.step, Const):
        n = trip_count(t, v)
    elif isinstance(v, Array) and v.rank == 1:
        n = t.b.dims(v)[0]
    elif isinstance(known, (str, tuple, list)) and sequences.may_be_picked(t, known):
        n = Dim.of(len(known))
    else:
        raise Unsupported("side-effect-call", f"choice of {describe(v)}")
    if t.b.facts.is_local(n) or not t.b.dim_ge(n, 1):
        raise Unsupported("side-effect-call", "choice of what may be empty")
    drawn = t.b.value_of(once(t, function, int, owner, [RangeV(Const(0), t.int_of(n), Const(1))], {}))
    if known is not None:
        return sequences.item_at(t, known, drawn)
    at = t.int_of(t.b.sym_of(drawn, 0, n - 1, 0))
    if isinstance(v, Array):
        return library.getitem(t, v, at)
    assert isinstance(v, RangeV)
    return binary_op(t, "+", binary_op(t, "*", at, v.step), v.start)


# ------------------------------------------------------------------------------------------------ streams


def method_of(v: InputObject, name: str) -> Any:
    """A method that is called so, of a generator of `random` or of a text stream of the standard library; None for others."""
    cls = v.type
    if name in _RANDOM and _is(cls, "random", "Random"):
        return getattr(cls, name)
    if cls is None or name not in ("write", "flush") or not issubclass(cls, _STREAMS):
        return None
    method = getattr(cls, name)
    return method if any(method is getattr(c, name) for c in _STREAMS) else None


def _stream_call(t: Trace, callee: SymValue, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """A call of such a method."""
    function = callee.value if isinstance(callee, Const) else None
    if not isinstance(function, types.MethodDescriptorType) or not args or kwargs:
        return None
    stream = t.b.force(args[0])
    if not isinstance(stream, InputObject) or method_of(stream, function.__name__) is not function:
        return None
    if function.__name__ == "flush":
        return once(t, "npcompile.frontends.printing.flush", None, stream, [], {})
    (text,) = args[1:]
    looked = t.use(text)
    if not (isinstance(looked, TextV) or (isinstance(looked, Const) and type(looked.value) is str)):
        raise Unsupported("side-effect-call", f"writing of {describe(looked)}")
    return once(t, "npcompile.frontends.printing.write", int, stream, [looked], {})


__all__ = ["call", "method_of", "once"]
