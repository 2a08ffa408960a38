"""Instructions, exception-table entries and location entries -> bytes, in the running CPython's formats.

The formats are CPython's Objects/exception_handling_notes.txt and Objects/locations.md. Plans no code itself.
"""

from __future__ import annotations

import opcode
from collections.abc import Iterable

from .decode import CACHES, EXTENDED_ARG, TableEntry

Position = tuple[int | None, int | None, int | None, int | None]
"""line, end line, column, end column, as `co_positions` gives them."""


def instruction(name: str, arg: int = 0) -> bytes:
    """One instruction with its EXTENDED_ARGs and caches."""
    op = opcode.opmap[name]
    prefix = b"".join(bytes((EXTENDED_ARG, arg >> shift & 255)) for shift in (24, 16, 8) if arg >> shift)
    return prefix + bytes((op, arg & 255)) + bytes(2 * CACHES[op])


def exception_table(entries: Iterable[TableEntry]) -> bytes:
    table = bytearray()
    for entry in entries:
        start = len(table)
        for value in (entry.start // 2, (entry.end - entry.start) // 2, entry.target // 2, entry.depth << 1 | entry.lasti):
            shift = 24 if value >> 24 else 18 if value >> 18 else 12 if value >> 12 else 6 if value >> 6 else 0
            while shift:
                table.append(64 | value >> shift & 63)
                shift -= 6
            table.append(value & 63)
        table[start] |= 128
    return bytes(table)


def locations(size: int, position: Position, previous_line: int) -> bytes:
    """Location entries that give `size` bytes of code one position. `previous_line`: the last line the table before says."""
    line, end_line, column, end_column = position
    table = bytearray()
    units = size // 2
    while units:
        length = min(units, 8)
        units -= length
        if line is None:
            table.append(128 | 15 << 3 | length - 1)
            continue
        delta, previous_line = line - previous_line, line
        signed = -delta << 1 | 1 if delta < 0 else delta << 1
        if end_line is None or column is None or end_column is None:
            table.append(128 | 13 << 3 | length - 1)
            table += _varint(signed)
        else:
            table.append(128 | 14 << 3 | length - 1)
            table += _varint(signed) + _varint(end_line - line) + _varint(column + 1) + _varint(end_column + 1)
    return bytes(table)


def _varint(value: int) -> bytes:
    """As location tables have them: six bits a byte, lowest first (exception tables have the highest first)."""
    result = bytearray()
    while value >= 64:
        result.append(64 | value & 63)
        value >>= 6
    result.append(value)
    return bytes(result)
