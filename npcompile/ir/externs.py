"""Calls of library functions as data: a dotted name and templates of arguments and result; and the callables made of them.

A template is a nested tuple. Of arguments: ("in", k, box) is operand k as an "array", "numpy" scalar or "python" number;
("object", k) is an object from outside; ("const", value), ("name", dotted name), ("dtype", string); ("tuple" or "list", *items),
("slice", start, stop, step); ("call", dotted name, *arguments) is what a pure function makes of them.
Of results: ("out", k, box), ("same", k) is operand k itself, and ("tuple" or "list", *items), ("named", dotted name of a tuple
class, *items).
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .dims import Dim, Sym
from .graph import Loc
from .types import TensorType

Template = tuple[Any, ...]
Flat = Callable[..., Any]
"""Takes operands; gives the one result, a tuple of all of them, or None when the result has another structure."""

BOXES = ("array", "numpy", "python")
_WARN_AND_RAISE = frozenset({"numpy.polydiv", "numpy.polyfit", "numpy.roots"})
"""Functions that may raise, or return something of another size, after they have warned in code of their own: the call ends at
the first condition, so that the repeated one gives its warnings once."""
_NUMBERS = {float: "d", bool: "?", int: "l", complex: "D"}


def resolve(name: str) -> Any:
    """The object with this dotted name."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            out: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            out = getattr(out, part)
        return out
    raise TypeError(f"no function {name!r}")


def outs(result: Template) -> list[Template]:
    """The ("out", k, box) of a result, by k."""
    found: list[Template] = []

    def visit(t: Template) -> None:
        if t[0] == "out":
            found.append(t)
        for x in t[1:]:
            if isinstance(x, tuple):
                visit(x)

    visit(result)
    return sorted(found, key=lambda t: t[1])


def place_of(sym: Sym, types: Sequence[TensorType]) -> tuple[int, int]:
    """The (output, axis) whose length a symbol is."""
    d = Dim.of(sym)
    return next((k, axis) for k, t in enumerate(types) for axis, x in enumerate(t.dims) if x == d)


def is_draw(function: str) -> bool:
    """Does a function of this dotted name draw random numbers?"""
    return function.startswith("numpy.random.")


def numpy_call(function: str, args: Template, kwargs: Template, result: Template, loc: Loc | None = None) -> Flat:
    """The callable of a call.

    Parameters
    ----------
    loc : whose code makes the call: warnings come from there.
    """
    call = python_call(function, args, kwargs, loc)
    if result[0] == "out":
        return call
    n = len(outs(result))

    def flat(*operands: Any) -> Any:
        found: list[Any] = [None] * n
        return tuple(found) if _take(result, call(*operands), found, operands) else None

    return flat


def python_call(function: str, args: Template, kwargs: Template, loc: Loc | None = None) -> types.FunctionType:
    """The call as a Python function of its operands."""
    values: list[Any] = [resolve(function)]
    n_in, n_objects = (
        1 + max((k for t in (*args, *(t for _, t in kwargs)) for k in _numbered(kind, t)), default=-1)
        for kind in ("in", "object")
    )
    texts = [*(_text(t, values) for t in args), *(f"{name}={_text(t, values)}" for name, t in kwargs)]
    params = ", ".join([*(f"x{k}" for k in range(n_in)), *(f"o{k}" for k in range(n_objects))])
    made: dict[str, Any] = {}
    body = f"return c0({', '.join(texts)})"
    ends_early = loc is not None and function in _WARN_AND_RAISE
    if ends_early:
        values.append(np.errstate)
        body = f"\n  with c{len(values) - 1}(divide='raise', over='raise', invalid='raise'): {body}"
    names = ", ".join(f"c{k}" for k in range(len(values)))
    exec(f"def make({names}):\n def call({params}): {body}\n return call", made)
    call: types.FunctionType = made["make"](*values)
    if loc is None:
        return call
    name = loc.function or "<module>"
    code = call.__code__.replace(co_filename=loc.file, co_firstlineno=loc.line - ends_early, co_name=name)
    module = sys.modules.get(loc.module)
    space = vars(module) if module else {"__name__": loc.module, "__builtins__": builtins}
    return types.FunctionType(code, space, name, None, call.__closure__)


def _numbered(kind: str, t: Template) -> Iterator[int]:
    if t[0] == kind:
        yield t[1]
    elif t[0] in ("tuple", "list", "slice", "call"):
        for x in t[2 if t[0] == "call" else 1 :]:
            yield from _numbered(kind, x)


def _text(t: Template, values: list[Any]) -> str:
    """Source of an argument; what has no literal is appended to `values`."""
    kind = t[0]
    if kind == "in":
        return f"x{t[1]}" + {"array": "", "numpy": "[()]", "python": ".item()"}[t[2]]
    if kind == "object":
        return f"o{t[1]}"
    if kind == "tuple":
        return "(" + "".join(_text(x, values) + ", " for x in t[1:]) + ")"
    if kind == "list":
        return "[" + ", ".join(_text(x, values) for x in t[1:]) + "]"
    if kind in ("slice", "call"):
        values.append(slice if kind == "slice" else resolve(t[1]))
        k = len(values) - 1
        return f"c{k}({', '.join(_text(x, values) for x in t[2 if kind == 'call' else 1 :])})"
    values.append(resolve(t[1]) if kind == "name" else np.dtype(t[1]) if kind == "dtype" else t[1])
    return f"c{len(values) - 1}"


def _take(t: Template, value: Any, found: list[Any], operands: Sequence[Any]) -> bool:
    """Put the leaves of a result into `found`; False when it is built otherwise than `t`."""
    if t[0] == "out":
        found[t[1]] = value
        return True
    if t[0] == "same":
        return value is operands[t[1]]
    cls, items = (resolve(t[1]), t[2:]) if t[0] == "named" else ({"tuple": tuple, "list": list}[t[0]], t[1:])
    return type(value) is cls and len(value) == len(items) and all(map(lambda x, v: _take(x, v, found, operands), items, value))


def boxed(value: Any) -> str | None:
    """How a value comes boxed; None when it is no array and no number."""
    if type(value) is np.ndarray:
        return "array"
    if isinstance(value, np.generic):
        return "numpy"
    return "python" if type(value) in _NUMBERS else None


def as_array(value: Any) -> np.ndarray:
    """The array of a boxed value; int64 for Python's ints (OverflowError beyond)."""
    return np.array(value, _NUMBERS[type(value)]) if type(value) in _NUMBERS else np.asarray(value)
