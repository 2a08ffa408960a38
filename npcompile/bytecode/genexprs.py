"""Generators as plain functions: the same code, but it collects its items in a list; of generator expressions also: tests them.

In: the code object of a generator. Out: the code object of a function of the same arguments that returns what `list(g)`, `any(g)`
or `all(g)` returns. Every instruction stays in its place, so names, lines and jumps are as they were.
"""

from __future__ import annotations

import inspect
import opcode
from types import CodeType

from .assemble import instruction, locations
from .decode import Raw, exception_table, raw_instructions
from .percode import PerCode

HOW = ("list", "any", "all")


def is_genexpr(code: CodeType) -> bool:
    """Is it the code of a (synchronous) generator expression?"""
    return code.co_name == "<genexpr>" and bool(code.co_flags & inspect.CO_GENERATOR)


def is_generator(code: CodeType) -> bool:
    """Is it the code of a (synchronous) generator?"""
    return bool(code.co_flags & inspect.CO_GENERATOR)


def as_function(code: CodeType, how: str) -> CodeType | None:
    """The function that consumes the generator in one way of `HOW`; None if its code is not as expected."""
    return _functions(code)[HOW.index(how)]


def _make(code: CodeType) -> tuple[CodeType | None, ...]:
    raws = list(raw_instructions(code))
    names = [r.name for r in raws]
    none = (None,) * len(HOW)
    yields = [k for k, name in enumerate(names) if name == "YIELD_VALUE"]
    if "RETURN_GENERATOR" not in names or not yields or "BEFORE_WITH" in names:
        return none
    begin = names.index("RETURN_GENERATOR")
    known = names[begin : begin + 3] == ["RETURN_GENERATOR", "POP_TOP", "RESUME"]
    known = known and all(names[at : at + 3] == ["YIELD_VALUE", "RESUME", "POP_TOP"] for at in yields)
    places = [*range(begin, begin + 3), *(k for at in yields for k in range(at, at + 3))]
    handlers = {r.name for r in raws for e in exception_table(code) if r.offset == e.target}
    if not known or any(raws[k].at != raws[k].offset for k in places) or not handlers <= {"CALL_INTRINSIC_1"}:
        return none  # a handler cuts the stack to what it was without the list
    if is_genexpr(code) and len(yields) == 1:
        return tuple(_variant(code, raws, begin, yields, how) for how in HOW)
    return _variant(code, raws, begin, yields, "list"), None, None


def _variant(code: CodeType, raws: list[Raw], begin: int, ends: list[int], how: str) -> CodeType | None:
    text = bytearray(code.co_code)
    first, yields = raws[begin].at, raws[ends[0]].at
    depth = _depth(raws, yields)
    start = instruction("BUILD_LIST") if how == "list" else instruction("NOP")
    text[first : first + 6] = instruction("RESUME") + start + instruction("NOP")
    consts = (*code.co_consts, True, False)
    if len(consts) > 255:
        return None
    yes, no = len(consts) - 2, len(consts) - 1
    if not _replace_return(code, text, raws, None if how == "list" else yes if how == "all" else no):
        return None
    tail = b""
    if how == "list":
        for at in (raws[k].at for k in ends):
            text[at : at + 6] = instruction("LIST_APPEND", _depth(raws, at) + 1) + instruction("NOP") * 2
    else:
        distance = (len(text) - yields - 4) // 2
        if distance >= 1 << 16:
            return None
        jump = bytes((opcode.opmap["EXTENDED_ARG"], distance >> 8)) + instruction("JUMP_FORWARD", distance & 255)
        text[yields : yields + 6] = jump + instruction("NOP")
        tail = _test(len(text), yields + 6, how == "any", depth, yes if how == "any" else no)
    positions = list(code.co_positions())
    last = [line for *_, line in code.co_lines() if line is not None][-1]
    return code.replace(
        co_code=bytes(text) + tail,
        co_consts=consts,
        co_flags=code.co_flags & ~inspect.CO_GENERATOR,
        co_stacksize=code.co_stacksize + 1,
        co_linetable=code.co_linetable + locations(len(tail), positions[yields // 2], last),
    )


def _depth(raws: list[Raw], at: int) -> int:
    """How many loops are around an instruction: each has its iterator on the stack."""
    return sum(r.name == "FOR_ITER" and r.at < at < r.end + 2 * r.arg for r in raws)


def _replace_return(code: CodeType, text: bytearray, raws: list[Raw], value: int | None) -> bool:
    """Let every `return None` return what is on the stack, or a constant."""
    for k, r in enumerate(raws):
        if r.name == "RETURN_CONST" and r.at == r.offset and code.co_consts[r.arg] is None:
            text[r.at : r.end] = instruction("RETURN_VALUE") if value is None else instruction("RETURN_CONST", value)
        elif r.name in ("RETURN_VALUE", "RETURN_CONST"):
            before = raws[k - 1]
            if before.name != "LOAD_CONST" or before.at != before.offset or code.co_consts[before.arg] is not None:
                return False
            text[before.at : before.end] = instruction("NOP") if value is None else instruction("LOAD_CONST", value)
    return True


def _test(here: int, back: int, wanted: bool, depth: int, result: int) -> bytes:
    """Leave with a constant if the item on the stack has the wanted truth, else go back for the next one."""
    names = opcode.opmap
    when = "TRUE" if wanted else "FALSE"
    jump = f"POP_JUMP_IF_{when}" if f"POP_JUMP_IF_{when}" in names else f"POP_JUMP_FORWARD_IF_{when}"
    code = instruction("TO_BOOL") if "TO_BOOL" in names else b""
    position = here + len(code) + len(instruction(jump, 0))
    size = len(instruction("JUMP_BACKWARD", 0))
    while True:  # as long as its argument makes it
        again = instruction("JUMP_BACKWARD", (position + size - back) // 2)
        if len(again) == size:
            break
        size = len(again)
    code += instruction(jump, len(again) // 2) + again
    return code + instruction("POP_TOP") * depth + instruction("LOAD_CONST", result) + instruction("RETURN_VALUE")


_functions = PerCode(_make)
