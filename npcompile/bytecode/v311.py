"""CPython 3.11: PRECALL, LOAD_METHOD, opcodes of their own for `+x`, `import *` and jumps in both directions."""

from __future__ import annotations

from . import base
from .base import COMMON, Dialect, Micro, Names, Rule
from .decode import Raw
from .microops import NULL_FIRST, Op


def _intrinsic_and_pop(name: str) -> Rule:
    """An opcode that only pops what later versions give an intrinsic, whose None is popped."""
    micros = [Micro(Op.CALL_INTRINSIC, (name, 1)), Micro(Op.POP)]
    return lambda names, raw: micros


def _load_method(names: Names, raw: Raw) -> list[Micro]:
    return [Micro(Op.LOAD_METHOD, names.code.co_names[raw.arg], -1, NULL_FIRST)]


DIALECT = Dialect(
    rules={
        **COMMON,
        "UNARY_POSITIVE": base.plain(Op.UNARY, "+"),
        "LIST_TO_TUPLE": base.plain(Op.LIST_TO_TUPLE),
        "PREP_RERAISE_STAR": base.plain(Op.CALL_INTRINSIC, ("prep_reraise_star", 2)),
        "PRINT_EXPR": _intrinsic_and_pop("print"),
        "IMPORT_STAR": _intrinsic_and_pop("import_star"),
        "LOAD_CLOSURE": base.cell(Op.LOAD_CLOSURE),
        "LOAD_CLASSDEREF": base.cell(Op.LOAD_CLASSDEREF),
        "LOAD_GLOBAL": base.global_pair(null_first=True),
        "LOAD_ATTR": base.name(Op.LOAD_ATTR),
        "LOAD_METHOD": _load_method,
        "COMPARE_OP": base.choose(Op.COMPARE, "<", "<=", "==", "!=", ">", ">="),
        "FORMAT_VALUE": base.format_value,
        "MAKE_FUNCTION": base.number(Op.MAKE_FUNCTION),
        "FOR_ITER": base.forward(Op.FOR_ITER),
        "JUMP_IF_FALSE_OR_POP": base.forward(Op.JUMP_IF_OR_POP, "false"),
        "JUMP_IF_TRUE_OR_POP": base.forward(Op.JUMP_IF_OR_POP, "true"),
        **{f"POP_JUMP_FORWARD_IF_{c.upper()}": base.forward(Op.POP_JUMP_IF, c) for c in ("true", "false", "none", "not_none")},
        **{f"POP_JUMP_BACKWARD_IF_{c.upper()}": base.backward(Op.POP_JUMP_IF, c) for c in ("true", "false", "none", "not_none")},
        "ASYNC_GEN_WRAP": base.generator,
    },
    merged=frozenset({("KW_NAMES", "PRECALL"), ("PRECALL", "CALL")}),
    null_first=True,
    call=("PRECALL", "CALL"),
)
