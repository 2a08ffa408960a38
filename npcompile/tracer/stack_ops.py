"""Handlers of micro-ops that move values: constants, locals, cells, globals, stack, jumps, functions, return.

Everything here is exact and makes no guards, except that looking up a global makes an input of it.
"""

from __future__ import annotations

import builtins
import sys
from types import CodeType
from typing import Any

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.microops import FREE
from npcompile.frontends.values import NULL, Const, DictV, Lazy, NullV, SymValue, TupleV, Unsupported
from npcompile.ir.segment import Source

from . import effects
from .exits import seen_to_die
from .frames import Frame
from .interpreter import Trace, handles
from .symbolic import UNBOUND, CellV, FunctionInfo, FunctionV, JoinV


@handles(Op.NOP, Op.COPY_FREE_VARS)
def nop(t: Trace, f: Frame, i: Instr) -> None:
    """Free variables are in place when a frame is made."""


@handles(Op.PUSH_CONST)
def push_const(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(Const(i.arg))


@handles(Op.PUSH_NULL)
def push_null(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(NULL)


@handles(Op.POP)
def pop(t: Trace, f: Frame, i: Instr) -> None:
    let_go(t, f.stack[-1])
    f.stack.pop()


def let_go(t: Trace, v: SymValue | None) -> None:
    """A value leaves its variable: Python shall do it if others may see when it dies.

    Only values of the frame itself may die in the middle of a function; the caller holds its arguments.
    """
    if t.inputs.inside and isinstance(v, Lazy) and v.source.kind == "arg" and seen_to_die(v.example):
        raise Unsupported("release", type(v.example).__name__)


@handles(Op.COPY)
def copy(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(f.stack[-i.arg])


@handles(Op.SWAP)
def swap(t: Trace, f: Frame, i: Instr) -> None:
    s = f.stack
    s[-1], s[-i.arg] = s[-i.arg], s[-1]


# ------------------------------------------------------------------------------------------------ locals


@handles(Op.LOAD_FAST)
def load_fast(t: Trace, f: Frame, i: Instr) -> None:
    v = f.locals.get(i.arg, UNBOUND)
    if isinstance(v, JoinV) and v.first is UNBOUND:
        v = f.locals[i.arg] = t.resolve_join(v)
    if v is UNBOUND:
        raise Unsupported("unbound", i.arg)
    f.stack.append(v)


@handles(Op.LOAD_FAST_CLEAR)
def load_fast_clear(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(f.locals.pop(i.arg, NULL))


@handles(Op.STORE_FAST)
def store_fast(t: Trace, f: Frame, i: Instr) -> None:
    let_go(t, f.locals.get(i.arg))
    v = f.stack.pop()
    f.locals.pop(i.arg, None)
    if not isinstance(v, NullV):
        f.locals[i.arg] = v


@handles(Op.DELETE_FAST)
def delete_fast(t: Trace, f: Frame, i: Instr) -> None:
    if i.arg not in f.locals:
        raise Unsupported("unbound", i.arg)
    let_go(t, f.locals[i.arg])
    del f.locals[i.arg]


# ------------------------------------------------------------------------------------------------ cells


@handles(Op.MAKE_CELL)
def make_cell(t: Trace, f: Frame, i: Instr) -> None:
    f.locals[i.arg] = CellV(f.locals.get(i.arg))


def cell_at(f: Frame, i: Instr) -> CellV:
    cell = f.free.get(i.arg) if i.extra is FREE else f.locals.get(i.arg)
    if not isinstance(cell, CellV):
        raise Unsupported("unbound", str(i.arg))
    return cell


@handles(Op.LOAD_CLOSURE)
def load_closure(t: Trace, f: Frame, i: Instr) -> None:
    f.stack.append(cell_at(f, i))


@handles(Op.LOAD_DEREF)
def load_deref(t: Trace, f: Frame, i: Instr) -> None:
    content = cell_at(f, i).content
    if isinstance(content, JoinV) and content.first is UNBOUND:
        content = t.resolve_join(content)
    if content is None or content is UNBOUND:
        raise Unsupported("unbound", i.arg)
    f.stack.append(content)


@handles(Op.STORE_DEREF)
def store_deref(t: Trace, f: Frame, i: Instr) -> None:
    cell = cell_at(f, i)
    cell.content = f.stack.pop()
    if cell.source is not None:
        effects.note_cell(t, cell)
    t.mutated()


@handles(Op.DELETE_DEREF)
def delete_deref(t: Trace, f: Frame, i: Instr) -> None:
    cell = cell_at(f, i)
    if cell.content is None:
        raise Unsupported("unbound", i.arg)
    cell.content = None
    if cell.source is not None:
        effects.note_cell(t, cell)
    t.mutated()


# ------------------------------------------------------------------------------------------------ globals


@handles(Op.LOAD_GLOBAL)
def load_global(t: Trace, f: Frame, i: Instr) -> None:
    changed = t.effects.get(effects.global_slot(t, f.info.globals, f.info.globals_base, i.arg)) if t.spaces else None
    f.stack.append(global_value(t, f.info, i.arg) if changed is None else changed)


def global_value(t: Trace, info: FunctionInfo, name: str) -> SymValue:
    """A global or builtin as an input."""
    example = info.globals.get(name, MISSING)
    if example is MISSING:
        example = builtins_of(info.globals).get(name, MISSING)
    if example is MISSING:
        raise Unsupported("undefined-name", name)
    return t.inputs.lazy(Source("global", name, info.globals_base), example)


MISSING = object()


def builtins_of(namespace: dict[str, Any]) -> dict[str, Any]:
    found = namespace.get("__builtins__", builtins)
    return found if isinstance(found, dict) else vars(found)


@handles(Op.STORE_GLOBAL)
def store_global(t: Trace, f: Frame, i: Instr) -> None:
    slot = effects.global_slot(t, f.info.globals, f.info.globals_base, i.arg)
    t.effects[slot] = f.stack.pop()
    t.mutated()


@handles(Op.DELETE_GLOBAL)
def delete_global(t: Trace, f: Frame, i: Instr) -> None:
    raise Unsupported("mutate-global", i.arg)


@handles(
    Op.LOAD_CLASSDEREF,
    Op.LOAD_FROM_DICT_OR_DEREF,
    Op.LOAD_FROM_DICT_OR_GLOBALS,
    Op.LOAD_NAME,
    Op.STORE_NAME,
    Op.DELETE_NAME,
    Op.LOAD_LOCALS,
    Op.SETUP_ANNOTATIONS,
    Op.LOAD_BUILD_CLASS,
)
def class_body(t: Trace, f: Frame, i: Instr) -> None:
    raise Unsupported("class-definition", str(i.arg or ""))


# ------------------------------------------------------------------------------------------------ functions and returns


@handles(Op.MAKE_FUNCTION)
def make_function(t: Trace, f: Frame, i: Instr) -> None:
    code = f.stack.pop()
    assert isinstance(code, Const) and isinstance(code.value, CodeType)
    base = f.info
    info = FunctionInfo(code.value, base.globals, base.globals_base, code.value.co_name)
    for flag in (8, 4, 2, 1):
        if i.arg & flag:
            _set_part(info, flag, f.stack.pop())
    f.stack.append(FunctionV(info))


@handles(Op.SET_FUNCTION_ATTRIBUTE)
def set_function_attribute(t: Trace, f: Frame, i: Instr) -> None:
    function = f.stack.pop()
    if not isinstance(function, FunctionV):
        raise Unsupported("mutate-object", "a function that was made before")
    _set_part(function.info, i.arg, f.stack.pop())
    f.stack.append(function)


def _set_part(info: FunctionInfo, flag: int, part: SymValue) -> None:
    if flag == 1:
        info.defaults = tuple_items(part)
    elif flag == 2:
        if not isinstance(part, DictV):
            raise Unsupported("container-op", "keyword defaults")
        info.kwdefaults = dict(part.items)
    elif flag == 8:
        info.closure = tuple(c for c in tuple_items(part) if isinstance(c, CellV))
    else:
        info.annotations = part


def tuple_items(v: SymValue) -> tuple[SymValue, ...]:
    """The items of a tuple built in the segment or written as a constant."""
    if isinstance(v, TupleV):
        return v.items
    if isinstance(v, Const) and isinstance(v.value, tuple):
        return tuple(map(Const, v.value))
    raise Unsupported("container-op", type(v).__name__)


@handles(Op.RETURN)
def return_value(t: Trace, f: Frame, i: Instr) -> None:
    t.pop_frame(f.stack.pop())


@handles(Op.JUMP)
def jump(t: Trace, f: Frame, i: Instr) -> None:
    f.pc = i.target


# ------------------------------------------------------------------------------------------------ imports


@handles(Op.IMPORT_NAME)
def import_name(t: Trace, f: Frame, i: Instr) -> None:
    """An import of a module that is loaded already is a look-up."""
    level, names = f.stack[-2:]
    plain = isinstance(level, Const) and level.value == 0 and isinstance(names, Const)
    top = i.arg.partition(".")[0]
    wanted = i.arg if plain and names.value else top  # type: ignore[attr-defined]
    if not plain or i.arg not in sys.modules or builtins_of(f.info.globals).get("__import__") is not builtins.__import__:
        raise Unsupported("import", i.arg)
    f.stack[-2:] = [Const(sys.modules[wanted])]


@handles(Op.IMPORT_FROM)
def import_from(t: Trace, f: Frame, i: Instr) -> None:
    from .attributes import module_attribute

    module = t.look(f.stack[-1])
    if not isinstance(module, Const):
        raise Unsupported("import", i.arg)
    f.stack.append(module_attribute(t, module, i.arg))


# ------------------------------------------------------------------------------------------------ never compiled here


@handles(Op.UNKNOWN)
def unknown(t: Trace, f: Frame, i: Instr) -> None:
    raise Unsupported("unknown-instruction", str(i.arg))


@handles(Op.DELETE_ATTR)
def delete_attr(t: Trace, f: Frame, i: Instr) -> None:
    raise Unsupported("mutate-attribute", i.arg)
