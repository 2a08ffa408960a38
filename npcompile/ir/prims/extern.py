"""Rows that call Python: functions of NumPy and SciPy, as they are, inside a segment.

extern_numpy {function, args, kwargs, result, types, syms}: a pure function of its inputs, but for warnings. `args`, `kwargs` and
`result` are templates (`npcompile.ir.externs`). Outputs: did the call return what `types` say (a bool), and its arrays. Sizes
that only the call tells are the symbols `syms`, which the node defines.
extern_store {function, args, kwargs}: a function that changes its operand 0 in place, which is a view, and gives nothing else.
Operands: the view, its memory state, others. Outputs: was it done (a bool; what raises has changed nothing), and the next state.
extern_library {function: dotted name, types, kwargs: sorted (name, value) pairs}: a pure function of arrays of the segment's own
library (torch, CuPy), which gives arrays of just these types.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dims import Sym
from ..externs import numpy_call, python_call, resolve
from ..prim import Prim, register
from ..types import MemType, Type, scalar
from ._rules import Params, tensors
from .memory import MEM, view_input


def _numpy_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    tensors(ins)
    _need_name(params)
    if not all(isinstance(s, Sym) for s in params["syms"]):
        raise TypeError(f"takes symbols, got {params['syms']!r}")
    return (scalar(np.bool_), *params["types"])


def _numpy(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    """What the call gave, or None for outputs of a call that gave something else: the executor knows the sizes."""
    call = numpy_call(params["function"], params["args"], params["kwargs"], params["result"], params.get("loc"))
    try:
        return (call(*ins),)
    except Exception:
        return (None,)


def _store_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    view_input(ins[0], store=True)
    if not isinstance(ins[1], MemType):
        raise TypeError(f"takes a memory state, got {ins[1]}")
    tensors(ins[2:])
    _need_name(params)
    return (scalar(np.bool_), MEM)


def _store(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    call = python_call(params["function"], params["args"], params["kwargs"], params.get("loc"))
    try:
        call(ins[0], *ins[2:])
    except Exception:
        return (np.array(False), None)
    return (np.array(True), None)


def _library_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    tensors(ins)
    _need_name(params)
    return tuple(params["types"])


def _library(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    out = resolve(params["function"])(*ins, **dict(params["kwargs"]))
    outs = tuple(out) if isinstance(out, tuple) else (out,)
    if len(outs) != len(params["types"]):
        raise TypeError(f"{params['function']} returned {len(outs)} values, not {len(params['types'])}")
    return tuple(np.asarray(o, t.dtype) for o, t in zip(outs, params["types"]))


def _need_name(params: Params) -> None:
    if not isinstance(params["function"], str):
        raise TypeError(f"takes the dotted name of a function, got {params['function']!r}")


def _row(name: str, rule: Any, run: Any, *flags: str, effect: bool = True) -> None:
    register(
        Prim(
            name=name,
            group="extern",
            type_rule=rule,
            numpy=run,
            loop="opaque",
            cost="extern",
            effect=effect,
            flags=frozenset(flags),
        )
    )


_row("extern_numpy", _numpy_rule, _numpy, "defines_symbol")
_row("extern_store", _store_rule, _store)
_row("extern_library", _library_rule, _library, effect=False)
