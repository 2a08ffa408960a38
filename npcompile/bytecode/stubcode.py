"""The code object of a resume stub: a jump, the original bytecode unchanged, and a tail that restores the frame.

    JUMP_FORWARD tail | original code | tail: unpack the values, store the slots, arrange the stack, jump back

All jumps are relative, so only exception and line table need to be shifted. The tail comes last because CPython decides
by position whether a frame is complete and its cells are made. Checks nothing: see `stubs.resumable`.

A stepping stub does not jump back: its tail has a copy of the instructions that it is to run, under their own handlers and
positions, then packs the frame up and returns it. A handler that catches something goes on in the original code.
"""

from __future__ import annotations

import inspect
import opcode
from types import CodeType
from typing import Any

from npcompile.records import dataclass

from .assemble import Position, exception_table, instruction, locations
from .decode import Raw, TableEntry, raw_instructions, slot_names
from .decode import exception_table as read_exception_table
from .microops import AS_BOOL, NULL_FIRST, NULL_LAST, Instr, Op
from .normalise import DIALECT, covering, normalise
from .percode import PerCode
from .shapes import Shape, after


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
    last : offset of the last instruction that the stub runs before it hands the frame back; -1: it goes on to the end. The
        instructions from `offset` to `last` follow one another, and one of them may jump, which ends the run as well.
    """

    code: CodeType
    offset: int
    bound: tuple[str, ...] = ()
    nulls: tuple[bool, ...] = ()
    action: str = "continue"
    pushes: bool = True
    last: int = -1


class Landing:
    """The mark at the end of a frame that is handed back: where it stands now."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<landing {self.name}>"


LANDINGS = (Landing("next"), Landing("target"))
"""After the last instruction, and at the place that it has jumped to."""


def stub_code(point: ResumePoint) -> CodeType:
    """Code object whose first argument is the point's values (see `stubs.make_stub`)."""
    assert DIALECT is not None
    layout = _layout(point.code)
    normal = normalise(point.code)
    instr = normal.instrs[normal.index_of_offset[point.offset]]
    nulls = list(point.nulls)
    if point.action != "continue":
        nulls += [True, False, False] if DIALECT.null_first else [False, True, False]

    tail = _Tail(layout)
    here = layout.position(instr.at), covering(layout.entries, instr.at)
    tail.add(layout.unpack(point.bound, nulls.count(False)) + _insert_nulls(nulls), here[0])
    # From here to the jump back, what happens happens at the instruction: a signal noticed by RESUME, the callee's exception.
    # RESUME 2 does not look for signals: a KeyboardInterrupt must not replace the exception that is to be raised.
    if point.action != "continue" or point.offset > layout.entry:
        tail.add(instruction("RESUME", 2 if point.action == "raise" else 0), *here)
    target = point.offset
    if point.action != "continue":
        call = b"".join(instruction(name, 1) for name in DIALECT.call)
        tail.add(call + _after_call(instr, point.pushes), *here)
        target = instr.end
    if point.last >= 0:
        _step(point, layout, tail)
    else:
        if instr.op is Op.COPY_FREE_VARS and point.action == "continue":
            target = instr.end  # the values have the cells
        tail.add(_jump_back(len(point.code.co_code) + len(tail.code) - target), here[0])
    return layout.template.replace(
        co_code=layout.head + layout.template.co_code + tail.code,
        co_consts=layout.template.co_consts + (LANDINGS if point.last >= 0 else ()),
        co_exceptiontable=layout.exceptions + exception_table(tail.handlers),
        co_linetable=layout.lines + tail.lines,
        co_stacksize=max(point.code.co_stacksize, len(nulls)) + len(point.bound) + len(layout.free) + 2,
    )


class _Tail:
    """Code after the original, each piece with its position and under a copy of its handler."""

    def __init__(self, layout: _Layout) -> None:
        self.layout = layout
        self.code = b""
        self.lines = b""
        self.handlers: list[TableEntry] = []
        self._line = layout.last_line

    def add(self, code: bytes, position: Position, entry: TableEntry | None = None) -> None:
        if not code:
            return
        start = self.layout.shift + len(self.layout.template.co_code) + len(self.code)
        self.code += code
        self.lines += locations(len(code), position, self._line)
        self._line = self._line if position[0] is None else position[0]
        if entry:
            target = entry.target + self.layout.shift
            self.handlers.append(TableEntry(start, start + len(code), target, entry.depth, entry.lasti))


def _step(point: ResumePoint, layout: _Layout, tail: _Tail) -> None:
    """Run the instructions of the point and hand the frame back."""
    instrs = normalise(point.code).instrs
    found = shapes(point)
    assert found is not None
    shape, target, jump = found
    start, stop = run_of(point)
    last = layout.position(instrs[stop - 1].at)
    done = layout.pack(shape, 0)
    if start == stop:
        tail.add(done, last)
        return
    raws = layout.raws[layout.raw_at[instrs[start].offset] : layout.raw_at[instrs[stop - 1].at] + 1]
    pieces = [(raw, _copied(layout, point.code, raw)) for raw in raws]
    for k, (raw, code) in enumerate(pieces):
        if target is not None and raw.at == instrs[jump].at:
            # the jump leads over what follows, and the code that packs the frame then
            over = sum(len(c) for _, c in pieces[k + 1 :]) + len(done)
            code = instruction(raw.name.replace("BACKWARD", "FORWARD"), over // 2)
        tail.add(code, layout.position(raw.at), covering(layout.entries, raw.at))
    tail.add(done, last)
    if target is not None:
        raw = layout.raws[layout.raw_at[instrs[jump].at]]
        if instrs[jump].op is Op.FOR_ITER:  # goes on after the instructions at its target by itself
            skipped = layout.template.co_code[raw.end + 2 * raw.arg : instrs[instrs[jump].target].offset]
            tail.add(skipped, layout.position(raw.at))
        tail.add(layout.pack(target, 1), layout.position(raw.at))


def _copied(layout: _Layout, code: CodeType, raw: Raw) -> bytes:
    """An instruction to be run elsewhere; a method look-up as one of an attribute, so that the stack's NULLs are known."""
    micro = normalise(code).instrs[normalise(code).index_of_offset.get(raw.offset, 0)]
    if micro.at == raw.at and micro.op in (Op.LOAD_METHOD, Op.LOAD_SUPER_METHOD):
        arg = raw.arg if raw.name == "LOAD_METHOD" else raw.arg - 1
        name = "LOAD_ATTR" if micro.op is Op.LOAD_METHOD else raw.name
        return instruction(name, arg) + _after_call(micro, True)
    return layout.template.co_code[raw.offset : raw.end]


def run_of(point: ResumePoint) -> tuple[int, int]:
    """The micro-ops [start, stop) that a stepping stub runs; those of a call that it makes itself are not among them."""
    normal = normalise(point.code)
    start, stop = normal.index_of_offset[point.offset], normal.index_of_offset[point.last]
    while stop < len(normal.instrs) and normal.instrs[stop].offset == point.last:
        stop += 1
    if point.action != "continue":
        while start < stop and normal.instrs[start].offset == point.offset:
            start += 1
    return start, stop


def shapes(point: ResumePoint) -> tuple[Shape, Shape | None, int] | None:
    """The shapes of a frame that a stepping stub hands back: after its last instruction, and at the target of the one that may
    jump, with the index of that one.

    None when it cannot hand it back there.
    """
    instrs = normalise(point.code).instrs
    start, stop = run_of(point)
    shape, target, jump = Shape(frozenset(point.bound), tuple(point.nulls)), None, -1
    if point.action != "continue":
        made_by = instrs[normalise(point.code).index_of_offset[point.offset]]
        pushed = {NULL_FIRST: (True, False), NULL_LAST: (False, True)}.get(made_by.extra, (False,))
        shape = Shape(shape.bound, shape.nulls + (pushed if point.pushes else ()))
    for index in range(start, stop):
        found = None if instrs[index].op is Op.JUMP else after(shape, instrs[index])
        if found is None or (found[1] is not None and jump >= 0):
            return None
        shape = found[0]
        if found[1] is not None:
            target, jump = found[1], index
    return (shape, target, jump) if stop < len(instrs) else None


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
    raws, raw_at : the original's instructions, and which one is at an offset (its own, or its first EXTENDED_ARG's).
    slot, free : slots by name, and of the free variables.
    """

    def __init__(self, code: CodeType) -> None:
        names = slot_names(code)
        self.free = range(len(names) - len(code.co_freevars), len(names))
        self.slot = {name: index for index, name in enumerate(names[: self.free.start])}
        self.entries = read_exception_table(code)
        self.raws = list(raw_instructions(code))
        self.raw_at = {at: k for k, raw in enumerate(self.raws) for at in (raw.at, raw.offset)}
        self._positions = list(code.co_positions())
        self.entry = next((raw.offset for raw in self.raws if raw.name == "RESUME"), -1)
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

    def position(self, at: int) -> Position:
        """The position of the instruction at an offset."""
        return self._positions[at // 2]

    def pack(self, shape: Shape, landing: int) -> bytes:
        """Code that returns a tuple of the stack entries (from the bottom, without NULLs), the bound slots and the free
        variables (each in their order), and the landing's mark.
        """
        code = b""
        slots = sorted(self.slot[name] for name in shape.bound)
        size = len(shape.nulls)
        places = [place for place, null in enumerate(shape.nulls) if null]
        if places and slots and slots[0] == 0:  # a NULL goes away by being stored: slot 0 is free once it has been read
            code += instruction("LOAD_FAST", slots.pop(0))
            size += 1
        for place in reversed(places):
            code += b"".join(instruction("SWAP", depth) for depth in range(2, size - place + 1))
            code += instruction("STORE_FAST", 0)
            size -= 1
        code += b"".join(instruction("LOAD_FAST", slot) for slot in (*slots, *self.free))
        code += instruction("LOAD_CONST", len(self.template.co_consts) + landing)
        return code + instruction("BUILD_TUPLE", size + len(slots) + len(self.free) + 1) + instruction("RETURN_VALUE")

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
