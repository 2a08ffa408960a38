"""Micro-ops: one instruction set for CPython 3.11 to 3.13. The only vocabulary the tracer knows.

A code object becomes a tuple of `Instr`. The stack is the real interpreter's (same entries, NULLs included), so that a
frame state at a real instruction can be handed back to CPython. `Instr.start` marks instructions at which a real
instruction begins; only those can be resumed (a fused 3.13 instruction becomes several micro-ops at one offset).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class Op(enum.Enum):
    """Stack effects are written `before -- after`, top of stack at the right."""

    NOP = enum.auto()
    # constants, locals, cells, globals
    PUSH_CONST = enum.auto()  # -- arg
    PUSH_NULL = enum.auto()  # -- NULL
    LOAD_FAST = enum.auto()  # -- locals[arg]; unbound raises UnboundLocalError
    LOAD_FAST_CLEAR = enum.auto()  # -- locals[arg] or NULL; unbinds it
    STORE_FAST = enum.auto()  # x --   (x may be NULL when it came from LOAD_FAST_CLEAR)
    DELETE_FAST = enum.auto()
    MAKE_CELL = enum.auto()  # arg = name: local becomes a cell holding its value
    COPY_FREE_VARS = enum.auto()
    LOAD_CLOSURE = enum.auto()  # -- cell arg
    LOAD_DEREF = enum.auto()  # -- contents of cell arg; empty raises NameError/UnboundLocalError
    LOAD_CLASSDEREF = enum.auto()
    STORE_DEREF = enum.auto()
    DELETE_DEREF = enum.auto()
    LOAD_GLOBAL = enum.auto()  # -- globals[arg] or builtins[arg]
    STORE_GLOBAL = enum.auto()
    DELETE_GLOBAL = enum.auto()
    LOAD_NAME = enum.auto()
    STORE_NAME = enum.auto()
    DELETE_NAME = enum.auto()
    LOAD_LOCALS = enum.auto()
    LOAD_BUILD_CLASS = enum.auto()
    LOAD_ASSERTION_ERROR = enum.auto()
    # attributes and items
    LOAD_ATTR = enum.auto()  # o -- o.arg
    LOAD_METHOD = enum.auto()  # o -- (method, self) or (NULL, attr) [order of the version]
    LOAD_SUPER_ATTR = enum.auto()  # super cls self -- attr        (arg = (name, two-argument form))
    LOAD_SUPER_METHOD = enum.auto()
    STORE_ATTR = enum.auto()  # v o --
    DELETE_ATTR = enum.auto()
    GET_ITEM = enum.auto()  # o k -- o[k]
    SET_ITEM = enum.auto()  # v o k --
    DEL_ITEM = enum.auto()  # o k --
    GET_SLICE = enum.auto()  # o lo hi -- o[lo:hi]
    SET_SLICE = enum.auto()  # v o lo hi --
    # operators
    BINARY = enum.auto()  # a b -- a arg b     arg: "+", "-", ..., in-place "+=", ...
    UNARY = enum.auto()  # a -- arg a          arg: "-", "+", "~", "not", "bool"
    COMPARE = enum.auto()  # a b -- a arg b     arg: "<", "<=", "==", "!=", ">", ">="; extra["bool"]: result is made a bool (3.13)
    IS = enum.auto()  # a b -- bool          arg: inverted?
    CONTAINS = enum.auto()  # a b -- a in b        arg: inverted?
    # building and unpacking
    BUILD_TUPLE = enum.auto()
    BUILD_LIST = enum.auto()
    BUILD_SET = enum.auto()
    BUILD_MAP = enum.auto()  # k v ... -- dict, arg pairs
    BUILD_CONST_KEY_MAP = enum.auto()  # v ... keys -- dict
    BUILD_SLICE = enum.auto()  # arg 2 or 3
    BUILD_STRING = enum.auto()
    LIST_EXTEND = enum.auto()  # list ... it -- list ...    arg: depth, as CPython's
    LIST_APPEND = enum.auto()
    SET_ADD = enum.auto()
    SET_UPDATE = enum.auto()
    MAP_ADD = enum.auto()
    DICT_UPDATE = enum.auto()
    DICT_MERGE = enum.auto()
    LIST_TO_TUPLE = enum.auto()
    FORMAT = enum.auto()  # v [spec] -- str     arg: (conversion "", "str", "repr", "ascii"; has spec)
    UNPACK_SEQUENCE = enum.auto()  # s -- items, first on top
    UNPACK_EX = enum.auto()  # arg: (before, after)
    # stack
    POP = enum.auto()
    COPY = enum.auto()  # push a copy of the arg-th entry from the top (1 = top)
    SWAP = enum.auto()  # swap top with the arg-th entry
    # calls: callable pair (two entries, order of the version: one of them may be NULL), then arguments
    CALL = enum.auto()  # pair args... -- result    arg: (number of arguments, tuple of keyword names)
    CALL_EX = enum.auto()  # pair args [kwargs] -- result arg: has kwargs
    CALL_INTRINSIC = (
        enum.auto()
    )  # arg: name ("print", "import_star", "stopiteration_error", "unary_positive", "list_to_tuple", ...)
    MAKE_FUNCTION = (
        enum.auto()
    )  # [parts] code -- function arg: flags of 3.11/3.12 (3.13: 0, parts follow by SET_FUNCTION_ATTRIBUTE)
    SET_FUNCTION_ATTRIBUTE = enum.auto()  # value function -- function  arg: flag
    # control flow; targets are indices into the Instr tuple
    JUMP = enum.auto()
    POP_JUMP_IF = enum.auto()  # c --     arg: "true", "false", "none", "not_none"
    JUMP_IF_OR_POP = enum.auto()  # 3.11 only: arg "true"/"false"
    GET_ITER = enum.auto()
    FOR_ITER = (
        enum.auto()
    )  # it -- it next | on exhaustion jump to target; extra["pops"]: entries popped when exhausted, target is after END_FOR
    GET_LEN = enum.auto()
    RETURN = enum.auto()  # v --
    # exceptions
    RAISE = enum.auto()  # arg: number of entries
    RERAISE = enum.auto()
    PUSH_EXC_INFO = enum.auto()
    POP_EXCEPT = enum.auto()
    CHECK_EXC_MATCH = enum.auto()
    CHECK_EG_MATCH = enum.auto()
    BEFORE_WITH = enum.auto()  # mgr -- exit enter()
    WITH_EXCEPT_START = enum.auto()
    # match statement
    MATCH_CLASS = enum.auto()
    MATCH_MAPPING = enum.auto()
    MATCH_SEQUENCE = enum.auto()
    MATCH_KEYS = enum.auto()
    # imports
    IMPORT_NAME = enum.auto()
    IMPORT_FROM = enum.auto()
    # generators and coroutines: never traced
    GENERATOR = enum.auto()  # any instruction that only such code has; arg: CPython's name
    UNKNOWN = enum.auto()  # an instruction this version of npcompile does not know; arg: name


@dataclass(frozen=True)
class Handler:
    """Exception handler that covers an instruction: jump to `target` (index) with the stack cut to `depth` entries."""

    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True)
class Instr:
    """One micro-op.

    offset : byte offset of the real instruction (of its first EXTENDED_ARG).
    start : True for the first micro-op of a real instruction: the only places a frame can resume at.
    line : source line or None.
    target : index of the jump target or -1.
    handler : innermost covering exception handler or None.
    """

    op: Op
    arg: Any = None
    offset: int = 0
    start: bool = True
    line: int | None = None
    target: int = -1
    handler: Handler | None = None
    extra: Any = None


@dataclass(frozen=True)
class NormalCode:
    """A normalised code object."""

    code: Any
    instrs: tuple[Instr, ...]
    index_of_offset: dict[int, int]
