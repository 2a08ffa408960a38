"""The shape of a frame after an instruction: which slots are bound, and which stack entries are NULL.

In: a shape and one micro-op. Out: the shape after it (of a jump: where it falls through, and at its target). Knows nothing of
values. LOAD_METHOD counts as what a stepping stub makes of it: an attribute look-up and a NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.records import dataclass

from .microops import NULL_FIRST, Instr, Op


@dataclass(frozen=True)
class Shape:
    """bound : names of the slots that hold something. nulls : for each stack entry from the bottom, whether it is NULL."""

    bound: frozenset[str]
    nulls: tuple[bool, ...]


def _fixed(pops: int, pushes: int) -> Callable[[Instr], tuple[int, int]]:
    return lambda i: (pops, pushes)


_EFFECTS: dict[Op, Callable[[Instr], tuple[int, int]]] = {
    **dict.fromkeys((Op.NOP, Op.COPY_FREE_VARS, Op.DELETE_DEREF, Op.DELETE_GLOBAL, Op.JUMP), _fixed(0, 0)),
    **dict.fromkeys((Op.PUSH_CONST, Op.LOAD_FAST, Op.LOAD_CLOSURE, Op.LOAD_DEREF, Op.LOAD_GLOBAL), _fixed(0, 1)),
    **dict.fromkeys((Op.LOAD_BUILD_CLASS, Op.LOAD_ASSERTION_ERROR, Op.IMPORT_FROM, Op.GET_LEN), _fixed(0, 1)),
    **dict.fromkeys((Op.MATCH_MAPPING, Op.MATCH_SEQUENCE, Op.MATCH_KEYS), _fixed(0, 1)),
    **dict.fromkeys((Op.STORE_DEREF, Op.STORE_GLOBAL, Op.DELETE_ATTR, Op.POP, Op.POP_JUMP_IF), _fixed(1, 0)),
    **dict.fromkeys((Op.LIST_EXTEND, Op.LIST_APPEND, Op.SET_ADD, Op.SET_UPDATE, Op.DICT_UPDATE, Op.DICT_MERGE), _fixed(1, 0)),
    **dict.fromkeys((Op.LOAD_ATTR, Op.UNARY, Op.LIST_TO_TUPLE, Op.CONVERT, Op.GET_ITER), _fixed(1, 1)),
    **dict.fromkeys((Op.STORE_ATTR, Op.DEL_ITEM, Op.MAP_ADD), _fixed(2, 0)),
    **dict.fromkeys((Op.GET_ITEM, Op.BINARY, Op.COMPARE, Op.IS, Op.CONTAINS, Op.IMPORT_NAME), _fixed(2, 1)),
    **dict.fromkeys((Op.SET_FUNCTION_ATTRIBUTE,), _fixed(2, 1)),
    Op.BEFORE_WITH: _fixed(1, 2),
    Op.SET_ITEM: _fixed(3, 0),
    Op.SET_SLICE: _fixed(4, 0),
    **dict.fromkeys((Op.GET_SLICE, Op.MATCH_CLASS, Op.LOAD_SUPER_ATTR), _fixed(3, 1)),
    **dict.fromkeys((Op.BUILD_TUPLE, Op.BUILD_LIST, Op.BUILD_SET, Op.BUILD_SLICE, Op.BUILD_STRING), lambda i: (i.arg, 1)),
    Op.BUILD_MAP: lambda i: (2 * i.arg, 1),
    Op.BUILD_CONST_KEY_MAP: lambda i: (i.arg + 1, 1),
    Op.FORMAT: lambda i: (1 + i.arg[1], 1),
    Op.UNPACK_SEQUENCE: lambda i: (1, i.arg),
    Op.UNPACK_EX: lambda i: (1, i.arg[0] + 1 + i.arg[1]),
    Op.CALL: lambda i: (i.arg[0] + 2, 1),
    Op.CALL_EX: lambda i: (3 + i.arg, 1),
    Op.CALL_INTRINSIC: lambda i: (i.arg[1], 1),
    Op.MAKE_FUNCTION: lambda i: (1 + i.arg.bit_count(), 1),
}


def after(shape: Shape, i: Instr) -> tuple[Shape, Shape | None] | None:
    """The shapes after an instruction: in the way it falls through, and at its jump target (None: it has none).

    None for instructions after which the frame is not known, or does not go on.
    """
    bound, nulls = shape.bound, list(shape.nulls)
    target: Shape | None = None
    if i.op in _EFFECTS:
        pops, pushes = _EFFECTS[i.op](i)
        if pops > len(nulls):
            return None
        nulls[len(nulls) - pops :] = [False] * pushes
        if i.op is Op.POP_JUMP_IF:
            target = Shape(bound, tuple(nulls))
    elif i.op is Op.PUSH_NULL:
        nulls.append(True)
    elif i.op is Op.COPY:
        nulls.append(nulls[-i.arg])
    elif i.op is Op.SWAP:
        nulls[-1], nulls[-i.arg] = nulls[-i.arg], nulls[-1]
    elif i.op is Op.STORE_FAST:
        bound = bound - {i.arg} if nulls.pop() else bound | {i.arg}
    elif i.op is Op.DELETE_FAST:
        bound -= {i.arg}
    elif i.op is Op.LOAD_FAST_CLEAR:
        nulls.append(i.arg not in bound)
        bound -= {i.arg}
    elif i.op is Op.MAKE_CELL:
        bound |= {i.arg}
    elif i.op in (Op.LOAD_METHOD, Op.LOAD_SUPER_METHOD):
        del nulls[len(nulls) - (1 if i.op is Op.LOAD_METHOD else 3) :]
        nulls += [True, False] if i.extra == NULL_FIRST else [False, True]
    elif i.op is Op.FOR_ITER:
        target = Shape(bound, tuple(nulls[:-1]))
        nulls.append(False)
    elif i.op is Op.JUMP_IF_OR_POP:
        target = Shape(bound, tuple(nulls))
        nulls.pop()
    else:
        return None
    return Shape(bound, tuple(nulls)), target


__all__ = ["Shape", "after"]
