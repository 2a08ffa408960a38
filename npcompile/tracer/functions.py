"""Python functions: what inlining needs to know of them, and binding of call arguments to parameters.

Mirrors CPython's argument binding; a call that does not match is left to CPython, which raises the TypeError.
"""

from __future__ import annotations

import inspect
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.bytecode import normalise
from npcompile.frontends.values import Const, DictV, Lazy, SymValue, TupleV, Unsupported
from npcompile.ir.segment import Source
from npcompile.runtime._dispatch import Jit

from . import standins
from .frames import Frame
from .symbolic import CellV, FunctionInfo, FunctionV, InputObject

if TYPE_CHECKING:
    from .interpreter import Trace

_NOT_INLINED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_FUNCTION = Source("function")
_PLAIN = (int, float, complex, bool, str, bytes, type(None), type, np.dtype, type(np._NoValue))


def cells_of(t: Trace, fn: FunctionType, source: Source | None) -> tuple[CellV, ...]:
    """The closure of a live function; contents are inputs read at entry. source : None for the traced function."""
    return tuple(_cell(t, cell, i, source) for i, cell in enumerate(fn.__closure__ or ()))


def _cell(t: Trace, cell: CellType, i: int, source: Source | None) -> CellV:
    """One `CellV` for each cell, whichever functions share it: what one stores the others see."""
    if id(cell) not in t.cells:
        try:
            content: SymValue | None = t.inputs.lazy(Source("cell", i, source), cell.cell_contents)
        except ValueError:
            content = None
        t.cells[id(cell)] = CellV(content, Source("item", i, Source("attr", "__closure__", source or _FUNCTION)))
    return t.cells[id(cell)]


def cell_at(t: Trace, v: Lazy) -> CellV:
    """A cell that is an input itself; its content is read when it is used."""
    if id(v.example) not in t.cells:
        t.inputs.guard_type(v.source, CellType)
        try:
            content: SymValue | None = t.inputs.lazy(Source("attr", "cell_contents", v.source), v.example.cell_contents)
        except ValueError:
            content = None
        t.cells[id(v.example)] = CellV(content, v.source)
    return t.cells[id(v.example)]


def is_function(x: Any) -> bool:
    """Is it a Python function, or one decorated with `npcompile.jit`?"""
    return type(x) is FunctionType or type(x) is Jit


def info_of(t: Trace, callee: SymValue) -> FunctionInfo | None:
    """Inlining information of a function value; None when it is not a Python function.

    A function among the values of a frame was probably made by this very call: its code is guarded, not its identity.
    """
    if isinstance(callee, FunctionV):
        return callee.info
    source: Source | None
    if isinstance(callee, InputObject) and callee.type is Jit:
        return info_of(t, t.look(t.inputs.lazy(Source("attr", "__wrapped__", callee.source), callee.example.__wrapped__)))
    if isinstance(callee, Const) and type(callee.value) is Jit:
        inner = Source("attr", "__wrapped__", callee.source or Source("const", t.inputs.const_index(callee.value)))
        return info_of(t, Const(callee.value.__wrapped__, inner))
    if isinstance(callee, InputObject) and callee.type is FunctionType:
        fn, source = callee.example, callee.source
    elif isinstance(callee, Const) and type(callee.value) is FunctionType:
        fn, source = callee.value, callee.source
    else:
        return None
    if source is None:  # found through another constant (a module's or class's function): fetched by itself
        source = Source("const", t.inputs.const_index(fn))
    t.inputs.guard_code(source, fn.__code__)
    return FunctionInfo(
        fn.__code__,
        fn.__globals__,
        source,
        fn.__name__,
        source,
        _defaults(t, fn, source),
        _kwdefaults(t, fn, source),
        cells_of(t, fn, source),
        live=fn,
    )


def _defaults(t: Trace, fn: FunctionType, source: Source) -> tuple[SymValue, ...]:
    """Default values; plain ones are constants, the tuple that holds them being guarded."""
    values = fn.__defaults__
    if not values:
        return ()
    base = Source("attr", "__defaults__", source)
    if not _is_known(t, source):
        t.inputs.guard_type(base, tuple)
        t.inputs.guard(base, "len", len(values))
        return tuple(t.inputs.lazy(Source("item", i, base), x) for i, x in enumerate(values))
    t.inputs.guard_is(base, values)
    return tuple(Const(x) if type(x) in _PLAIN else t.inputs.lazy(Source("item", i, base), x) for i, x in enumerate(values))


def _is_known(t: Trace, source: Source) -> bool:
    """Is it always the same function?"""
    return source.kind == "const" or any(g.source == source and g.kind == "is" for g in t.spec.guards)


def _kwdefaults(t: Trace, fn: FunctionType, source: Source) -> dict[str, SymValue]:
    kwdefaults = Source("attr", "__kwdefaults__", source)
    return {k: t.inputs.lazy(Source("item", k, kwdefaults), x) for k, x in (fn.__kwdefaults__ or {}).items()}


def inline(t: Trace, info: FunctionInfo, args: list[SymValue], kwargs: dict[str, SymValue], drops: bool = False) -> None:
    """Enter the function: its frame is pushed, the interpreter goes on there. drops : its result is dropped."""
    if info.code.co_flags & _NOT_INLINED:
        raise Unsupported("generator", info.code.co_qualname)
    slots = bind(info, args, kwargs)
    standing_in = getattr(info.live, "__module__", None) == standins.__name__
    t.push_frame(Frame(normalise(info.code), info, slots, dict(zip(info.code.co_freevars, info.closure)), drops=drops))
    if standing_in:
        t.frames[-1].can_exit = False


def bind(info: FunctionInfo, args: list[SymValue], kwargs: dict[str, SymValue]) -> dict[str, SymValue]:
    """Parameter slots of a call."""
    code = info.code
    n, k = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[: n + k]
    slots: dict[str, SymValue] = dict(zip(names[:n], args))
    rest: dict[str, SymValue] = {}
    at = n + k
    varargs = code.co_flags & inspect.CO_VARARGS
    varkeywords = code.co_flags & inspect.CO_VARKEYWORDS
    for name, value in kwargs.items():
        if name in names[code.co_posonlyargcount :]:
            if name in slots:
                raise Unsupported("call-arguments", f"{info.name}() got multiple values for {name!r}")
            slots[name] = value
        elif varkeywords:
            rest[name] = value
        else:
            raise Unsupported("call-arguments", f"{info.name}() got an unexpected keyword {name!r}")
    if varargs:
        slots[code.co_varnames[at]] = TupleV(tuple(args[n:]))
        at += 1
    elif len(args) > n:
        raise Unsupported("call-arguments", f"{info.name}() takes {n} positional arguments")
    if varkeywords:
        slots[code.co_varnames[at]] = DictV(dict(rest))
    first_default = n - len(info.defaults)
    for i, name in enumerate(names):
        if name in slots:
            continue
        if i < n and i >= first_default:
            slots[name] = info.defaults[i - first_default]
        elif i >= n and name in info.kwdefaults:
            slots[name] = info.kwdefaults[name]
        else:
            raise Unsupported("call-arguments", f"{info.name}() misses the argument {name!r}")
    return slots
