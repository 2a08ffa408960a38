"""CPython 3.12: inlined comprehensions, END_FOR, method look-ups by LOAD_ATTR, slices, super() and intrinsics as opcodes."""

from __future__ import annotations

import opcode

from . import base
from .base import COMMON, Dialect, Micro, Rule
from .microops import Op

# rules that 3.13 has as well
SHARED: dict[str, Rule] = {
    "LOAD_LOCALS": base.plain(Op.LOAD_LOCALS),
    "LOAD_FAST_CHECK": base.fast(Op.LOAD_FAST),
    "LOAD_FAST_AND_CLEAR": base.fast(Op.LOAD_FAST_CLEAR),
    "LOAD_FROM_DICT_OR_DEREF": base.cell(Op.LOAD_FROM_DICT_OR_DEREF),
    "LOAD_FROM_DICT_OR_GLOBALS": base.name(Op.LOAD_FROM_DICT_OR_GLOBALS),
    "BINARY_SLICE": base.plain(Op.GET_SLICE),
    "STORE_SLICE": base.plain(Op.SET_SLICE),
    "RETURN_CONST": base.return_const,
    "CALL_INTRINSIC_1": base.intrinsic(getattr(opcode, "_intrinsic_1_descs", []), 1),
    "CALL_INTRINSIC_2": base.intrinsic(getattr(opcode, "_intrinsic_2_descs", []), 2),
    **{f"POP_JUMP_IF_{c.upper()}": base.forward(Op.POP_JUMP_IF, c) for c in ("true", "false", "none", "not_none")},
    "END_SEND": base.generator,
    "CLEANUP_THROW": base.generator,
}

_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")

DIALECT = Dialect(
    rules={
        **COMMON,
        **SHARED,
        "LOAD_CLOSURE": base.cell(Op.LOAD_CLOSURE),
        "LOAD_GLOBAL": base.global_pair(null_first=True),
        "LOAD_ATTR": base.attribute(null_first=True),
        "LOAD_SUPER_ATTR": base.super_attribute(null_first=True),
        "COMPARE_OP": lambda names, raw: [Micro(Op.COMPARE, _COMPARISONS[raw.arg >> 4])],
        "FORMAT_VALUE": base.format_value,
        "MAKE_FUNCTION": base.number(Op.MAKE_FUNCTION),
        # exhausted, FOR_ITER pops the iterator itself and skips the END_FOR at its target
        "FOR_ITER": base.forward(Op.FOR_ITER, skip=1),
        "END_FOR": lambda names, raw: [Micro(Op.POP), Micro(Op.POP)],
    },
    merged=frozenset({("KW_NAMES", "CALL")}),
    null_first=True,
    call=("CALL",),
)
