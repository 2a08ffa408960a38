"""Strings at trace time: formatting and joining of known values; text of run-time values is left to Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.bytecode import Instr, Op
from npcompile.frontends.values import Const, Unsupported

from .frames import Frame
from .interpreter import Trace, handles

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda x: x, "str": str, "repr": repr, "ascii": ascii}


@handles(Op.FORMAT)
def format_op(t: Trace, f: Frame, i: Instr) -> None:
    conversion, has_spec = i.arg
    n = 2 if has_spec else 1
    parts = [t.look(v) for v in f.stack[-n:]]
    if not all(isinstance(v, Const) and isinstance(v.value, (str, int, float, bool, type(None))) for v in parts):
        raise Unsupported("string-op", "formatting")
    value, *spec = (v.value for v in parts)  # type: ignore[attr-defined]
    value = _CONVERSIONS[conversion](value)
    try:
        f.stack[-n:] = [Const(format(value, *spec))]
    except Exception as e:
        raise Unsupported("string-op", str(e)) from None


@handles(Op.CONVERT)
def convert_op(t: Trace, f: Frame, i: Instr) -> None:
    v = t.look(f.stack[-1])
    if not (isinstance(v, Const) and isinstance(v.value, (str, int, float, bool, type(None)))):
        raise Unsupported("string-op", "formatting")
    f.stack[-1] = Const(_CONVERSIONS[i.arg](v.value))


@handles(Op.BUILD_STRING)
def build_string(t: Trace, f: Frame, i: Instr) -> None:
    parts = f.stack[len(f.stack) - i.arg :]
    if not all(isinstance(v, Const) for v in parts):
        raise Unsupported("string-op", "joining")
    del f.stack[len(f.stack) - i.arg :]
    f.stack.append(Const("".join(v.value for v in parts)))  # type: ignore[attr-defined]
