"""Translation rules that CPython 3.11 to 3.13 share. A rule gets one real instruction and returns its micro-ops.

Rules are looked up by CPython's opcode name; each version module starts from `COMMON` and adds or replaces rows.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from npcompile.records import dataclass

from .decode import Raw, slot_names
from .microops import FREE, NULL_FIRST, NULL_LAST, Op


class Micro(NamedTuple):
    """A micro-op whose jump target is still a byte offset (-1: none)."""

    op: Op
    arg: Any = None
    target: int = -1
    extra: Any = None


class Names:
    """What the rules need to know of a code object.

    prefix : the opcodes merged with (in front of) the one being translated.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.slots = slot_names(code)
        self.first_free = len(self.slots) - len(code.co_freevars)
        self.prefix: tuple[Raw, ...] = ()


Rule = Callable[[Names, Raw], list[Micro]]


@dataclass(frozen=True)
class Dialect:
    """How one CPython version spells things.

    merged : pairs of neighbouring opcodes that count as one instruction. A frame cannot be resumed between KW_NAMES and
        CALL, which share hidden state, and the others of a call may as well go with them: the stack is the same.
    null_first : a call pair without self is (NULL, callable), else (callable, NULL).
    call : opcodes of a call.
    """

    rules: dict[str, Rule]
    merged: frozenset[tuple[str, str]]
    null_first: bool
    call: tuple[str, ...]


def plain(op: Op, arg: Any = None, extra: Any = None) -> Rule:
    """The opcode's argument is unused."""
    micros = [Micro(op, arg, -1, extra)]
    return lambda names, raw: micros


def number(op: Op) -> Rule:
    return lambda names, raw: [Micro(op, raw.arg)]


def name(op: Op) -> Rule:
    return lambda names, raw: [Micro(op, names.code.co_names[raw.arg])]


def fast(op: Op) -> Rule:
    return lambda names, raw: [Micro(op, names.slots[raw.arg])]


def cell(op: Op) -> Rule:
    return lambda names, raw: [Micro(op, names.slots[raw.arg], -1, FREE if raw.arg >= names.first_free else None)]


def forward(op: Op, arg: Any = None, skip: int = 0) -> Rule:
    """Jump forward; `skip` instructions of the size of one unit at the target are jumped over as well."""
    return lambda names, raw: [Micro(op, arg, raw.end + 2 * (raw.arg + skip))]


def backward(op: Op, arg: Any = None) -> Rule:
    return lambda names, raw: [Micro(op, arg, raw.end - 2 * raw.arg)]


def choose(op: Op, *args: Any) -> Rule:
    """The opcode's argument is an index into `args`."""
    return lambda names, raw: [Micro(op, args[raw.arg])]


def global_pair(null_first: bool) -> Rule:
    """LOAD_GLOBAL, whose low bit asks for the NULL of a call pair as well."""
    null = [Micro(Op.PUSH_NULL), Micro(Op.SWAP, 2)] if null_first else [Micro(Op.PUSH_NULL)]

    def rule(names: Names, raw: Raw) -> list[Micro]:
        load = Micro(Op.LOAD_GLOBAL, names.code.co_names[raw.arg >> 1])
        return [load, *null] if raw.arg & 1 else [load]

    return rule


def attribute(null_first: bool) -> Rule:
    """LOAD_ATTR of 3.12 and later, whose low bit makes it a method look-up."""
    extra = NULL_FIRST if null_first else NULL_LAST

    def rule(names: Names, raw: Raw) -> list[Micro]:
        attr = names.code.co_names[raw.arg >> 1]
        return [Micro(Op.LOAD_METHOD, attr, -1, extra)] if raw.arg & 1 else [Micro(Op.LOAD_ATTR, attr)]

    return rule


def super_attribute(null_first: bool) -> Rule:
    extra = NULL_FIRST if null_first else NULL_LAST

    def rule(names: Names, raw: Raw) -> list[Micro]:
        arg = (names.code.co_names[raw.arg >> 2], bool(raw.arg & 2))
        return [Micro(Op.LOAD_SUPER_METHOD, arg, -1, extra)] if raw.arg & 1 else [Micro(Op.LOAD_SUPER_ATTR, arg)]

    return rule


def format_value(names: Names, raw: Raw) -> list[Micro]:
    """FORMAT_VALUE of 3.11 and 3.12."""
    return [Micro(Op.FORMAT, (("", "str", "repr", "ascii")[raw.arg & 3], bool(raw.arg & 4)))]


def call(names: Names, raw: Raw) -> list[Micro]:
    """CALL, with the keyword names of a KW_NAMES (3.11, 3.12) before it."""
    keywords = [names.code.co_consts[before.arg] for before in names.prefix if before.name == "KW_NAMES"]
    return [Micro(Op.CALL, (raw.arg, keywords[0] if keywords else ()))]


def return_const(names: Names, raw: Raw) -> list[Micro]:
    return [Micro(Op.PUSH_CONST, names.code.co_consts[raw.arg]), Micro(Op.RETURN)]


def intrinsic(descriptions: list[str], taken: int) -> Rule:
    """CALL_INTRINSIC_1 and _2 of 3.12 and later; those that 3.11 has opcodes for keep their micro-ops."""
    table = []
    for text in descriptions:
        short = text.removeprefix("INTRINSIC_").lower()
        own = {"unary_positive": Micro(Op.UNARY, "+"), "list_to_tuple": Micro(Op.LIST_TO_TUPLE)}
        table.append([own.get(short, Micro(Op.CALL_INTRINSIC, (short, taken)))])
    return lambda names, raw: table[raw.arg]


def generator(names: Names, raw: Raw) -> list[Micro]:
    return [Micro(Op.GENERATOR, raw.name)]


BINARY_SYMBOLS = tuple(symbol for _, symbol in opcode._nb_ops)  # type: ignore[attr-defined]

GENERATOR_ONLY = (
    "RETURN_GENERATOR YIELD_VALUE SEND GET_AWAITABLE GET_AITER GET_ANEXT END_ASYNC_FOR BEFORE_ASYNC_WITH GET_YIELD_FROM_ITER"
)

COMMON: dict[str, Rule] = {
    "NOP": plain(Op.NOP),
    "RESUME": plain(Op.NOP),
    "POP_TOP": plain(Op.POP),
    "PUSH_NULL": plain(Op.PUSH_NULL),
    "COPY": number(Op.COPY),
    "SWAP": number(Op.SWAP),
    "LOAD_CONST": lambda names, raw: [Micro(Op.PUSH_CONST, names.code.co_consts[raw.arg])],
    "LOAD_FAST": fast(Op.LOAD_FAST),
    "STORE_FAST": fast(Op.STORE_FAST),
    "DELETE_FAST": fast(Op.DELETE_FAST),
    "MAKE_CELL": fast(Op.MAKE_CELL),
    "COPY_FREE_VARS": number(Op.COPY_FREE_VARS),
    "LOAD_DEREF": cell(Op.LOAD_DEREF),
    "STORE_DEREF": cell(Op.STORE_DEREF),
    "DELETE_DEREF": cell(Op.DELETE_DEREF),
    "STORE_GLOBAL": name(Op.STORE_GLOBAL),
    "DELETE_GLOBAL": name(Op.DELETE_GLOBAL),
    "LOAD_NAME": name(Op.LOAD_NAME),
    "STORE_NAME": name(Op.STORE_NAME),
    "DELETE_NAME": name(Op.DELETE_NAME),
    "SETUP_ANNOTATIONS": plain(Op.SETUP_ANNOTATIONS),
    "LOAD_BUILD_CLASS": plain(Op.LOAD_BUILD_CLASS),
    "LOAD_ASSERTION_ERROR": plain(Op.LOAD_ASSERTION_ERROR),
    "STORE_ATTR": name(Op.STORE_ATTR),
    "DELETE_ATTR": name(Op.DELETE_ATTR),
    "BINARY_SUBSCR": plain(Op.GET_ITEM),
    "STORE_SUBSCR": plain(Op.SET_ITEM),
    "DELETE_SUBSCR": plain(Op.DEL_ITEM),
    "BINARY_OP": choose(Op.BINARY, *BINARY_SYMBOLS),
    "UNARY_NEGATIVE": plain(Op.UNARY, "-"),
    "UNARY_NOT": plain(Op.UNARY, "not"),
    "UNARY_INVERT": plain(Op.UNARY, "~"),
    "IS_OP": choose(Op.IS, False, True),
    "CONTAINS_OP": choose(Op.CONTAINS, False, True),
    "BUILD_TUPLE": number(Op.BUILD_TUPLE),
    "BUILD_LIST": number(Op.BUILD_LIST),
    "BUILD_SET": number(Op.BUILD_SET),
    "BUILD_MAP": number(Op.BUILD_MAP),
    "BUILD_CONST_KEY_MAP": number(Op.BUILD_CONST_KEY_MAP),
    "BUILD_SLICE": number(Op.BUILD_SLICE),
    "BUILD_STRING": number(Op.BUILD_STRING),
    "LIST_EXTEND": number(Op.LIST_EXTEND),
    "LIST_APPEND": number(Op.LIST_APPEND),
    "SET_ADD": number(Op.SET_ADD),
    "SET_UPDATE": number(Op.SET_UPDATE),
    "MAP_ADD": number(Op.MAP_ADD),
    "DICT_UPDATE": number(Op.DICT_UPDATE),
    "DICT_MERGE": number(Op.DICT_MERGE),
    "UNPACK_SEQUENCE": number(Op.UNPACK_SEQUENCE),
    "UNPACK_EX": lambda names, raw: [Micro(Op.UNPACK_EX, (raw.arg & 255, raw.arg >> 8))],
    "CALL": call,
    "CALL_FUNCTION_EX": lambda names, raw: [Micro(Op.CALL_EX, bool(raw.arg & 1))],
    "JUMP_FORWARD": forward(Op.JUMP),
    "JUMP_BACKWARD": backward(Op.JUMP),
    "JUMP_BACKWARD_NO_INTERRUPT": backward(Op.JUMP),
    "GET_ITER": plain(Op.GET_ITER),
    "GET_LEN": plain(Op.GET_LEN),
    "RETURN_VALUE": plain(Op.RETURN),
    "RAISE_VARARGS": number(Op.RAISE),
    "RERAISE": number(Op.RERAISE),
    "PUSH_EXC_INFO": plain(Op.PUSH_EXC_INFO),
    "POP_EXCEPT": plain(Op.POP_EXCEPT),
    "CHECK_EXC_MATCH": plain(Op.CHECK_EXC_MATCH),
    "CHECK_EG_MATCH": plain(Op.CHECK_EG_MATCH),
    "BEFORE_WITH": plain(Op.BEFORE_WITH),
    "WITH_EXCEPT_START": plain(Op.WITH_EXCEPT_START),
    "MATCH_CLASS": number(Op.MATCH_CLASS),
    "MATCH_MAPPING": plain(Op.MATCH_MAPPING),
    "MATCH_SEQUENCE": plain(Op.MATCH_SEQUENCE),
    "MATCH_KEYS": plain(Op.MATCH_KEYS),
    "IMPORT_NAME": name(Op.IMPORT_NAME),
    "IMPORT_FROM": name(Op.IMPORT_FROM),
    **dict.fromkeys(GENERATOR_ONLY.split(), generator),
}
