"""Code object -> `NormalCode`: the running version's dialect applied, jump targets and handlers as indices. Cached.

Knows no opcode itself; opcodes without a rule become `Op.UNKNOWN`.
"""

from __future__ import annotations

import sys
from types import CodeType

from .base import Dialect, Micro, Names
from .decode import Raw, TableEntry, exception_table, lines, raw_instructions
from .microops import Handler, Instr, NormalCode, Op
from .percode import PerCode


def _dialect() -> Dialect | None:
    # imported here: a dialect's tables are made from the running version's `opcode` module
    if sys.implementation.name != "cpython":
        return None
    if sys.version_info[:2] == (3, 11):
        from . import v311 as module
    elif sys.version_info[:2] == (3, 12):
        from . import v312 as module  # type: ignore[no-redef]
    elif sys.version_info[:2] == (3, 13):
        from . import v313 as module  # type: ignore[no-redef]
    else:
        return None
    return module.DIALECT


DIALECT = _dialect()
SUPPORTED = DIALECT is not None
"""False on a CPython that no dialect describes; every function then runs plain."""


def grouped(code: CodeType, dialect: Dialect) -> list[tuple[Raw, ...]]:
    """Real instructions; opcodes that the dialect merges stand together, the one that does the work last."""
    groups: list[tuple[Raw, ...]] = []
    for raw in raw_instructions(code):
        if groups and (groups[-1][-1].name, raw.name) in dialect.merged:
            groups[-1] += (raw,)
        else:
            groups.append((raw,))
    return groups


def _normalise(code: CodeType) -> NormalCode:
    if DIALECT is None:
        raise NotImplementedError(f"bytecode of CPython {sys.version_info.major}.{sys.version_info.minor} is not known")
    names = Names(code)
    groups = grouped(code, DIALECT)
    pieces: list[list[Micro]] = []
    index_of_offset: dict[int, int] = {}
    count = 0
    for group in groups:
        *names.prefix, raw = group  # type: ignore[assignment]
        rule = DIALECT.rules.get(raw.name)
        micros = rule(names, raw) if rule else [Micro(Op.UNKNOWN, raw.name)]
        index_of_offset[group[0].offset] = count
        count += len(micros)
        pieces.append(micros)

    line_of = lines(code)
    entries = exception_table(code)
    handlers = {entry: Handler(index_of_offset[entry.target], entry.depth, entry.lasti) for entry in entries}
    instrs: list[Instr] = []
    for group, micros in zip(groups, pieces):
        raw = group[-1]
        entry = covering(entries, raw.at)
        handler = handlers[entry] if entry else None
        for number, micro in enumerate(micros):
            target = index_of_offset[micro.target] if micro.target >= 0 else -1
            instrs.append(
                Instr(
                    micro.op,
                    micro.arg,
                    group[0].offset,
                    number == 0,
                    line_of[raw.at // 2],
                    target,
                    handler,
                    micro.extra,
                    raw.at,
                    raw.end,
                )
            )
    return NormalCode(code, tuple(instrs), index_of_offset)


def covering(entries: list[TableEntry], offset: int) -> TableEntry | None:
    """The entry that covers an instruction (entries do not overlap), or None."""
    for entry in entries:
        if entry.start <= offset < entry.end:
            return entry
    return None


_normalised = PerCode(_normalise)


def normalise(code: CodeType) -> NormalCode:
    """Micro-ops of a code object (cached)."""
    return _normalised(code)
