"""Micro-ops: one instruction set for CPython 3.11 to 3.13. The only vocabulary the tracer knows.

A code object becomes a tuple of `Instr`. The stack is the real interpreter's (same entries, NULLs included), so that a
frame state at a real instruction can be handed back to CPython. `Instr.start` marks instructions at which a real
instruction begins; only those can be resumed (a fused 3.13 instruction becomes several micro-ops at one offset).
Only the first micro-op of a real instruction can fail: whoever gives up at a micro-op still has the state of its start.

Slots. FAST ops and MAKE_CELL name the slots of `co_varnames` and `co_cellvars` (a name in both is one slot), and move
what is in them as it is: after MAKE_CELL a slot holds a cell, which LOAD_FAST, LOAD_FAST_CLEAR and STORE_FAST move like
any value (inlined comprehensions save and restore cells so). DEREF ops and LOAD_CLOSURE name a cell: of `co_freevars`
when `Instr.extra` is FREE, else the cell in the slot of that name. One name can be a fast slot and a free variable.
"""

from __future__ import annotations

import enum
from typing import Any

from npcompile.records import dataclass


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
    LOAD_CLOSURE = enum.auto()  # -- cell arg (see Slots above for extra)
    LOAD_DEREF = enum.auto()  # -- contents of cell arg; empty raises NameError/UnboundLocalError
    LOAD_CLASSDEREF = enum.auto()  # class bodies (3.11): local namespace first, then the cell
    LOAD_FROM_DICT_OR_DEREF = enum.auto()  # class bodies (3.12+): namespace -- value
    LOAD_FROM_DICT_OR_GLOBALS = enum.auto()  # class bodies (3.12+): namespace -- value
    STORE_DEREF = enum.auto()
    DELETE_DEREF = enum.auto()
    LOAD_GLOBAL = enum.auto()  # -- globals[arg] or builtins[arg]
    STORE_GLOBAL = enum.auto()
    DELETE_GLOBAL = enum.auto()
    LOAD_NAME = enum.auto()
    STORE_NAME = enum.auto()
    DELETE_NAME = enum.auto()
    LOAD_LOCALS = enum.auto()
    SETUP_ANNOTATIONS = enum.auto()
    LOAD_BUILD_CLASS = enum.auto()
    LOAD_ASSERTION_ERROR = enum.auto()
    # attributes and items
    LOAD_ATTR = enum.auto()  # o -- o.arg
    LOAD_METHOD = enum.auto()  # o -- method self | NULL attr (extra NULL_FIRST) or attr NULL (extra NULL_LAST)
    LOAD_SUPER_ATTR = enum.auto()  # super cls self -- attr        (arg = (name, two-argument form))
    LOAD_SUPER_METHOD = enum.auto()  # super cls self -- a pair as LOAD_METHOD pushes
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
    COMPARE = enum.auto()  # a b -- a arg b     arg: "<", "<=", "==", "!=", ">", ">="; extra AS_BOOL: result is made a bool (3.13)
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
    CONVERT = enum.auto()  # v -- str            arg: "str", "repr", "ascii" (3.13: a FORMAT without conversion follows)
    UNPACK_SEQUENCE = enum.auto()  # s -- items, first on top
    UNPACK_EX = enum.auto()  # arg: (before, after)
    # stack
    POP = enum.auto()
    COPY = enum.auto()  # push a copy of the arg-th entry from the top (1 = top)
    SWAP = enum.auto()  # swap top with the arg-th entry
    # calls: callable pair (two entries, order of the version: one of them may be NULL), then arguments
    CALL = enum.auto()  # pair args... -- result    arg: (number of arguments, tuple of keyword names)
    CALL_EX = enum.auto()  # pair args [kwargs] -- result arg: has kwargs
    # arg: (name, number of entries taken); "print" "import_star" "stopiteration_error" "prep_reraise_star" "typevar" ...
    CALL_INTRINSIC = enum.auto()
    # [defaults] [kwdefaults] [annotations] [closure] code -- function    arg: flags 1 2 4 8 of the parts present
    # (3.13: always 0, the parts follow by SET_FUNCTION_ATTRIBUTE with one of these flags)
    MAKE_FUNCTION = enum.auto()
    SET_FUNCTION_ATTRIBUTE = enum.auto()  # value function -- function  arg: flag
    # control flow; targets are indices into the Instr tuple
    JUMP = enum.auto()
    POP_JUMP_IF = enum.auto()  # c --     arg: "true", "false", "none", "not_none"
    JUMP_IF_OR_POP = enum.auto()  # 3.11 only: arg "true"/"false"
    GET_ITER = enum.auto()
    FOR_ITER = enum.auto()  # it -- it next | exhausted: it is popped, jump to target
    RETURN = enum.auto()  # v --
    # exceptions
    RAISE = enum.auto()  # arg: number of entries
    RERAISE = enum.auto()  # exc --          arg: depth below exc of the offset to report, 0 = none
    PUSH_EXC_INFO = enum.auto()  # exc -- previous exc
    POP_EXCEPT = enum.auto()  # previous --
    CHECK_EXC_MATCH = enum.auto()  # exc type -- exc bool
    CHECK_EG_MATCH = enum.auto()  # group type -- rest match
    BEFORE_WITH = enum.auto()  # mgr -- exit enter()
    WITH_EXCEPT_START = enum.auto()  # exit lasti previous exc -- exit lasti previous exc result
    # match statement
    GET_LEN = enum.auto()  # o -- o len(o)
    MATCH_CLASS = enum.auto()  # subject cls names -- tuple|None      arg: number of positional patterns
    MATCH_MAPPING = enum.auto()  # o -- o bool
    MATCH_SEQUENCE = enum.auto()  # o -- o bool
    MATCH_KEYS = enum.auto()  # subject keys -- subject keys tuple|None
    # imports
    IMPORT_NAME = enum.auto()  # level fromlist -- module
    IMPORT_FROM = enum.auto()  # module -- module attr
    # generators and coroutines: never traced
    GENERATOR = enum.auto()  # any instruction that only such code has; arg: CPython's name
    UNKNOWN = enum.auto()  # an instruction this version of npcompile does not know; arg: name


# values of Instr.extra
FREE = "free"
NULL_FIRST = "null first"
NULL_LAST = "null last"
AS_BOOL = "as bool"


@dataclass(frozen=True)
class Handler:
    """Exception handler that covers an instruction: jump to `target` (index) with the stack cut to `depth` entries."""

    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True)
class Instr:
    """One micro-op.

    offset : byte offset of the real instruction (of its first EXTENDED_ARG; of KW_NAMES or PRECALL for a call).
    at : byte offset of the opcode that does the work (where CPython looks up line and handler), >= offset.
    end : byte offset just after the real instruction, where its frame goes on when the instruction is a call.
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
    at: int = 0
    end: int = 0


@dataclass(frozen=True)
class NormalCode:
    """A normalised code object.

    index_of_offset : index of the first micro-op of each real instruction, by its `Instr.offset`.
    """

    code: Any
    instrs: tuple[Instr, ...]
    index_of_offset: dict[int, int]
