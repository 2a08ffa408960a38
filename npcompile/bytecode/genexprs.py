"""Generator expressions as plain functions: the same code, but it collects its items in a list, or tests them.

In: the code object of a generator expression. Out: the code object of a function of the same arguments that returns what
`list(g)`, `any(g)` or `all(g)` returns. Every instruction stays in its place, so names, lines and jumps are as they were.
"""

from __future__ import annotations

import inspect
import opcode
from types import CodeType

from .assemble import instruction, locations
from .decode import Raw, raw_instructions
from .percode import PerCode

HOW = ("list", "any", "all")


def is_genexpr(code: CodeType) -> bool:
    """Is it the code of a (synchronous) generator expression?"""
    return code.co_name == "<genexpr>" and bool(code.co_flags & inspect.CO_GENERATOR)


def as_function(code: CodeType, how: str) -> CodeType | None:
    """The function that consumes the generator expression in one way of `HOW`; None if its code is not as expected."""
    return _functions(code)[HOW.index(how)]


def _make(code: CodeType) -> tuple[CodeType | None, ...]:
    raws = list(raw_instructions(code))
    names = [r.name for r in raws]
    try:
        begin, at = names.index("RETURN_GENERATOR"), names.index("YIELD_VALUE")
    except ValueError:
        return (None,) * len(HOW)
    known = names[begin : begin + 3] == ["RETURN_GENERATOR", "POP_TOP", "RESUME"]
    known = known and names[at : at + 3] == ["YIELD_VALUE", "RESUME", "POP_TOP"] and names.count("YIELD_VALUE") == 1
    if not known or any(r.at != r.offset for r in (*raws[begin : begin + 3], *raws[at : at + 3])):
        return (None,) * len(HOW)
    return tuple(_variant(code, raws, begin, at, how) for how in HOW)


def _variant(code: CodeType, raws: list[Raw], begin: int, at: int, how: str) -> CodeType | None:
    text = bytearray(code.co_code)
    first, yields = raws[begin].at, raws[at].at
    depth = sum(r.name == "FOR_ITER" and r.at < yields < r.end + 2 * r.arg for r in raws)
    start = instruction("BUILD_LIST") if how == "list" else instruction("NOP")
    text[first : first + 6] = instruction("RESUME") + start + instruction("NOP")
    consts = (*code.co_consts, True, False)
    if len(consts) > 255:
        return None
    yes, no = len(consts) - 2, len(consts) - 1
    if not _replace_return(text, raws, None if how == "list" else yes if how == "all" else no):
        return None
    tail = b""
    if how == "list":
        text[yields : yields + 6] = instruction("LIST_APPEND", depth + 1) + instruction("NOP") * 2
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


def _replace_return(text: bytearray, raws: list[Raw], value: int | None) -> bool:
    """Let the one `return None` at the end return what is on the stack, or a constant."""
    at = [k for k, r in enumerate(raws) if r.name in ("RETURN_VALUE", "RETURN_CONST")]
    if len(at) != 1:
        return False
    r, before = raws[at[0]], raws[at[0] - 1]
    if r.name == "RETURN_CONST":
        text[r.at : r.end] = instruction("RETURN_VALUE") if value is None else instruction("RETURN_CONST", value)
        return r.at == r.offset
    if before.name != "LOAD_CONST" or before.at != before.offset:
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
