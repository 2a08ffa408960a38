"""CPython 3.13: fused loads and stores, call pairs with the NULL last, CALL_KW, TO_BOOL, function attributes one by one."""

from __future__ import annotations

from . import base
from .base import COMMON, Dialect, Micro, Names, Rule
from .decode import Raw
from .microops import AS_BOOL, FREE, Op
from .v312 import SHARED

_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


def _two_slots(first: Op, second: Op) -> Rule:
    """A fused instruction: two slot numbers in four bits each."""
    return lambda names, raw: [Micro(first, names.slots[raw.arg >> 4]), Micro(second, names.slots[raw.arg & 15])]


def _load_fast(names: Names, raw: Raw) -> list[Micro]:
    """LOAD_FAST also loads cells; it is told apart where the slot can hold nothing else."""
    name = names.slots[raw.arg]
    if raw.arg >= names.code.co_nlocals:
        return [Micro(Op.LOAD_CLOSURE, name, -1, FREE if raw.arg >= names.first_free else None)]
    return [Micro(Op.LOAD_FAST, name)]


def _call_kw(names: Names, raw: Raw) -> list[Micro]:
    (load,) = names.prefix
    return [Micro(Op.CALL, (raw.arg, names.code.co_consts[load.arg]))]


def _compare(names: Names, raw: Raw) -> list[Micro]:
    return [Micro(Op.COMPARE, _COMPARISONS[raw.arg >> 5], -1, AS_BOOL if raw.arg & 16 else None)]


DIALECT = Dialect(
    rules={
        **COMMON,
        **SHARED,
        "LOAD_FAST": _load_fast,
        "LOAD_FAST_LOAD_FAST": _two_slots(Op.LOAD_FAST, Op.LOAD_FAST),
        "STORE_FAST_LOAD_FAST": _two_slots(Op.STORE_FAST, Op.LOAD_FAST),
        "STORE_FAST_STORE_FAST": _two_slots(Op.STORE_FAST, Op.STORE_FAST),
        "LOAD_GLOBAL": base.global_pair(null_first=False),
        "LOAD_ATTR": base.attribute(null_first=False),
        "LOAD_SUPER_ATTR": base.super_attribute(null_first=False),
        "COMPARE_OP": _compare,
        "TO_BOOL": base.plain(Op.UNARY, "bool"),
        "FORMAT_SIMPLE": base.plain(Op.FORMAT, ("", False)),
        "FORMAT_WITH_SPEC": base.plain(Op.FORMAT, ("", True)),
        "CONVERT_VALUE": base.choose(Op.CONVERT, None, "str", "repr", "ascii"),
        "MAKE_FUNCTION": base.plain(Op.MAKE_FUNCTION, 0),
        "SET_FUNCTION_ATTRIBUTE": base.number(Op.SET_FUNCTION_ATTRIBUTE),
        "CALL_KW": _call_kw,
        # exhausted, FOR_ITER pops the iterator itself and skips END_FOR and the POP_TOP after it
        "FOR_ITER": base.forward(Op.FOR_ITER, skip=2),
        "END_FOR": base.plain(Op.POP),
    },
    merged=frozenset({("LOAD_CONST", "CALL_KW")}),
    null_first=False,
    call=("CALL",),
)
