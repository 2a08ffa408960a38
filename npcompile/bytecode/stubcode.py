"""The code object of a resume stub: a jump, the original bytecode unchanged, and a tail that restores the frame.

    JUMP_FORWARD tail | original code | tail: unpack the values, store the slots, arrange the stack, jump back

All jumps are relative, so only exception and line table need to be shifted. The tail comes last because CPython decides
by position whether a frame is complete and its cells are made. Checks nothing: see `stubs.resumable`.
"""

from __future__ import annotations

import inspect
import opcode
from types import CodeType
from typing import Any

from npcompile.records import dataclass

from .assemble import exception_table, instruction, locations
from .decode import TableEntry, raw_instructions, slot_names
from .decode import exception_table as read_exception_table
from .microops import AS_BOOL, NULL_FIRST, NULL_LAST, Instr, Op
from .normalise import DIALECT, covering, normalise
from .percode import PerCode


@dataclass(frozen=True)
class ResumePoint:
    """Where and how a frame goes on: all that decides a stub's bytecode.

    offset : `Instr.offset` of a real instruction.
    bound : names of the slots (`co_varnames`, `co_cellvars`) that hold something, in the order of the values.
    nulls : for each stack entry from the bottom, whether it is NULL.
    action : "continue" runs the instruction at `offset` next; "raise" raises a given exception as if that instruction
        had raised it; "call" first calls the stub of the callee that the instruction had called (its operands are off
        the stack), then goes on after the instruction.
    pushes : for "call", whether the callee's result is pushed (else dropped: `__init__`, `__setitem__`).
    """

    code: CodeType
    offset: int
    bound: tuple[str, ...] = ()
    nulls: tuple[bool, ...] = ()
    action: str = "continue"
    pushes: bool = True


def stub_code(point: ResumePoint) -> CodeType:
    """Code object whose first argument is the point's values (see `stubs.make_stub`)."""
    assert DIALECT is not None
    layout = _layout(point.code)
    normal = normalise(point.code)
    instr = normal.instrs[normal.index_of_offset[point.offset]]
    nulls = list(point.nulls)
    if point.action != "continue":
        nulls += [True, False, False] if DIALECT.null_first else [False, True, False]

    tail = layout.unpack(point.bound, nulls.count(False)) + _insert_nulls(nulls)
    # From here to the jump back, what happens happens at the instruction: a signal noticed by RESUME, the callee's exception.
    # RESUME 2 does not look for signals: a KeyboardInterrupt must not replace the exception that is to be raised.
    start = len(tail)
    if point.action != "continue" or point.offset > layout.entry:
        tail += instruction("RESUME", 2 if point.action == "raise" else 0)
    target = point.offset
    if point.action != "continue":
        tail += b"".join(instruction(name, 1) for name in DIALECT.call) + _after_call(instr, point.pushes)
        target = instr.end
    stop = len(tail)
    if instr.op is Op.COPY_FREE_VARS and point.action == "continue":
        target = instr.end  # the values have the cells
    before = layout.shift + len(point.code.co_code)
    tail += _jump_back(before + len(tail) - layout.shift - target)

    handlers = layout.exceptions
    entry = covering(layout.entries, instr.at)
    if entry:
        copy = TableEntry(before + start, before + stop, entry.target + layout.shift, entry.depth, entry.lasti)
        handlers += exception_table([copy])
    return layout.template.replace(
        co_code=layout.head + layout.template.co_code + tail,
        co_exceptiontable=handlers,
        co_linetable=layout.lines + locations(len(tail), layout.positions[instr.at // 2], layout.last_line),
        co_stacksize=max(point.code.co_stacksize, len(nulls) + len(point.bound) + len(layout.free) + 1),
    )


def _insert_nulls(nulls: list[bool]) -> bytes:
    """The stack has all entries but the NULLs: push each and let it sink to its place."""
    code = b""
    size = nulls.count(False)
    for place, null in enumerate(nulls):
        if null:
            code += instruction("PUSH_NULL")
            code += b"".join(instruction("SWAP", depth + 1) for depth in range(size - place, 0, -1))
            size += 1
    return code


def _after_call(instr: Instr, pushes: bool) -> bytes:
    """What the instruction still does with the result of the call it made."""
    if not pushes:
        return instruction("POP_TOP")
    if instr.extra == AS_BOOL:
        return instruction("TO_BOOL")
    if instr.extra == NULL_FIRST:
        return instruction("PUSH_NULL") + instruction("SWAP", 2)
    if instr.extra == NULL_LAST:
        return instruction("PUSH_NULL")
    return b""


def _jump_back(distance: int) -> bytes:
    """A jump to `distance` bytes before its own start."""
    code = b""
    while True:
        longer = instruction("JUMP_BACKWARD_NO_INTERRUPT", (distance + len(code)) // 2)
        if len(longer) == len(code):
            return longer
        code = longer


class _Layout:
    """What the stubs of one code object share.

    template : the code object with a signature that takes the values. head : the jump before it. shift : its length.
    exceptions, lines : the tables of head and original code. entry : offset of the original's own RESUME.
    slot, free : slots by name, and of the free variables.
    """

    def __init__(self, code: CodeType) -> None:
        names = slot_names(code)
        self.free = range(len(names) - len(code.co_freevars), len(names))
        self.slot = {name: index for index, name in enumerate(names[: self.free.start])}
        self.entry = next((raw.offset for raw in raw_instructions(code) if raw.name == "RESUME"), -1)
        self.entries = read_exception_table(code)
        self.positions = list(code.co_positions())
        known_lines = [line for *_, line in code.co_lines() if line is not None]
        self.last_line = known_lines[-1] if known_lines else code.co_firstlineno
        self.template = self._template(code)
        self.head = instruction("JUMP_FORWARD", len(code.co_code) // 2)
        self.shift = by = len(self.head)
        shifted = [TableEntry(e.start + by, e.end + by, e.target + by, e.depth, e.lasti) for e in self.entries]
        self.exceptions = exception_table(shifted)
        self.lines = locations(by, (None, None, None, None), 0) + code.co_linetable

    def _template(self, code: CodeType) -> CodeType:
        """`code` with a signature that takes the values in slot 0.

        The number of positional arguments stays (`super()` asks for it); if there is none, the values come as *args.
        """
        flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        if code.co_argcount:
            return code.replace(co_kwonlyargcount=0, co_flags=flags)
        changes: dict[str, Any] = {"co_kwonlyargcount": 0, "co_flags": flags | inspect.CO_VARARGS}
        if not code.co_nlocals:
            # slot 0 must become a local: the first cell is made one; else free variables, if any, move up by one
            changes |= {"co_varnames": code.co_cellvars[:1] or (".values",), "co_nlocals": 1}
            if not code.co_cellvars:
                changes["co_code"] = _slots_moved_up(code)
                self.free = range(1, len(code.co_freevars) + 1)
        return code.replace(**changes)

    def unpack(self, bound: tuple[str, ...], entries: int) -> bytes:
        """Code that takes the values apart: `bound` and free variables into their slots, `entries` onto the stack."""
        arguments = self.template.co_argcount
        stored = [*self.free, *(self.slot[name] for name in bound)]
        code = instruction("LOAD_FAST", 0)
        if not arguments:
            code += instruction("UNPACK_SEQUENCE", 1)
        code += instruction("UNPACK_SEQUENCE", len(stored) + entries)
        code += b"".join(instruction("STORE_FAST", slot) for slot in stored)
        unbound = set(range(arguments or 1)).difference(stored)
        return code + b"".join(instruction("DELETE_FAST", slot) for slot in sorted(unbound))


def _slots_moved_up(code: CodeType) -> bytes:
    """The bytecode with all slot numbers increased by one."""
    text = bytearray(code.co_code)
    for raw in raw_instructions(code):
        if opcode.opmap[raw.name] in _USES_SLOT:
            at = raw.at + 1
            while text[at] == 255:  # carry into the EXTENDED_ARG before
                text[at] = 0
                at -= 2
            text[at] += 1
    return bytes(text)


_USES_SLOT = frozenset(opcode.haslocal) | frozenset(opcode.hasfree)

_layout = PerCode(_Layout)
