"""Code object -> real instructions: EXTENDED_ARG folded, caches skipped, lines and exception-table entries attached.

Reads `co_code`, which CPython gives without specialised or instrumented opcodes. Never interprets an opcode.
"""

from __future__ import annotations

import inspect
import opcode
from collections.abc import Iterator
from types import CodeType

from npcompile.records import dataclass

_entries = opcode._inline_cache_entries  # type: ignore[attr-defined]
# by opcode number on 3.11 and 3.12, by name (and only where there are any) on 3.13
CACHES: tuple[int, ...] = (
    tuple(_entries.get(name, 0) for name in opcode.opname[:256]) if isinstance(_entries, dict) else tuple(_entries)[:256]
)
EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]


@dataclass(frozen=True)
class Raw:
    """One real instruction. offset: of its first EXTENDED_ARG, at: of the opcode, end: of the next instruction."""

    name: str
    arg: int
    offset: int
    at: int
    end: int


@dataclass(frozen=True)
class TableEntry:
    """An entry of the exception table, in byte offsets, end exclusive."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def raw_instructions(code: CodeType) -> Iterator[Raw]:
    """Real instructions of `code` in order."""
    text = code.co_code
    names = opcode.opname
    at, first, arg = 0, 0, 0
    while at < len(text):
        op = text[at]
        arg = arg << 8 | text[at + 1]
        if op == EXTENDED_ARG:
            at += 2
            continue
        end = at + 2 + 2 * CACHES[op]
        yield Raw(names[op], arg, first, at, end)
        at = first = end
        arg = 0


def exception_table(code: CodeType) -> list[TableEntry]:
    """Entries of the exception table (they do not overlap)."""
    entries = []
    data = iter(code.co_exceptiontable)

    def varint(first: int) -> int:
        value = first & 63
        while first & 64:
            first = next(data)
            value = value << 6 | first & 63
        return value

    for byte in data:
        start = varint(byte) * 2
        length = varint(next(data)) * 2
        target = varint(next(data)) * 2
        depth_lasti = varint(next(data))
        entries.append(TableEntry(start, start + length, target, depth_lasti >> 1, bool(depth_lasti & 1)))
    return entries


def lines(code: CodeType) -> list[int | None]:
    """Source line of each code unit (two bytes)."""
    result: list[int | None] = []
    for start, end, line in code.co_lines():
        result += [line] * ((end - start) // 2)
    return result


def n_params(code: CodeType) -> int:
    """Number of parameters in `co_varnames` order, `*args` and `**kwargs` included."""
    flags = code.co_flags
    return code.co_argcount + code.co_kwonlyargcount + bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)


def slot_names(code: CodeType) -> tuple[str, ...]:
    """Names of the frame's slots in the order that opcodes count them: locals, other cells, free variables."""
    local = code.co_varnames
    return (*local, *(name for name in code.co_cellvars if name not in local), *code.co_freevars)
