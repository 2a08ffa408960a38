"""Resume stubs: functions that continue other functions natively at an instruction, with given locals, cells and stack.

The state is the stub's argument and nowhere else, so that stubs may be shared by threads and recursive calls.
Never runs user code to find something out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from npcompile.records import dataclass

from .cfg import control_flow
from .microops import Op
from .normalise import normalise
from .percode import PerCode, shrink
from .stubcode import ResumePoint, run_of, shapes, stub_code

REFUSALS = {
    "resume-in-handler": "an exception is being handled: the interpreter keeps it outside the frame",
    "resume-mid-instruction": "the offset is inside an instruction, or between the parts of a call",
    "resume-generator": "generators and coroutines have their own kind of frame",
    "resume-not-a-function": "module and class bodies keep their variables in a namespace",
    "resume-unknown-bytecode": "the function has instructions that this version does not know",
    "resume-too-many-names": "more than 255 free variables and no local: there is no room for the stub's argument",
    "resume-not-a-call": "the instruction does not leave the result of one Python call as it is",
}
"""Stable ids of the reasons for which `resumable` refuses, and what they mean."""

# instructions that may wait for one Python function, whose result they leave (or, where nothing is pushed, drop)
_CALLS = frozenset(
    {Op.CALL, Op.CALL_EX, Op.BINARY, Op.UNARY, Op.COMPARE, Op.GET_ITEM, Op.GET_SLICE, Op.GET_ITER, Op.BEFORE_WITH}
    | {Op.LOAD_ATTR, Op.LOAD_METHOD, Op.LOAD_SUPER_ATTR, Op.LOAD_SUPER_METHOD}
    | {Op.SET_ITEM, Op.DEL_ITEM, Op.SET_SLICE, Op.STORE_ATTR, Op.DELETE_ATTR}
)


def resumable(code: CodeType, offset: int, action: str = "continue") -> str | None:
    """None if a frame of `code` can be resumed at `offset`, else the id of the reason (a key of `REFUSALS`).

    Parameters
    ----------
    action : as in `ResumePoint`; "call" asks about a frame that waits for a call made by the instruction at `offset`.
    """
    refused = _whole_code(code)
    if refused:
        return refused
    index = normalise(code).index_of_offset.get(offset)
    if index is None:
        return "resume-mid-instruction"
    if control_flow(code).handler_depth[index] > 0:
        return "resume-in-handler"
    instr = normalise(code).instrs[index]
    if action == "call" and (instr.op not in _CALLS or (instr.op is Op.UNARY and instr.arg == "not")):
        return "resume-not-a-call"
    return None


def _refusal_of_code(code: CodeType) -> str | None:
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return "resume-generator"
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return "resume-not-a-function"
    if len(code.co_freevars) > 255 and not code.co_nlocals:
        return "resume-too-many-names"
    if any(instr.op is Op.UNKNOWN for instr in normalise(code).instrs):
        return "resume-unknown-bytecode"
    return None


_whole_code = PerCode(_refusal_of_code)


# ---------------------------------------------------------------------------------------------- handing back


def landings(point: ResumePoint) -> tuple[ResumePoint, ...]:
    """Where a frame may stand when a stepping stub hands it back: after its last instruction, and where one has jumped to.

    Empty when it cannot be handed back there. `bound` of a landing is in the order of slots, as the stub packs them.
    """
    found = shapes(point)
    if found is None:
        return ()
    shape, target, jump = found
    instrs = normalise(point.code).instrs
    places = [(run_of(point)[1], shape)]
    if target is not None:
        places.append((instrs[jump].target, target))
    out = []
    for index, shape in places:
        index = _through_jumps(point.code, index)
        if resumable(point.code, instrs[index].offset):
            return ()
        bound = tuple(name for name in control_flow(point.code).slots if name in shape.bound)
        out.append(ResumePoint(point.code, instrs[index].offset, bound, shape.nulls))
    return tuple(out)


def in_loop(code: CodeType, offset: int) -> bool:
    """Is an instruction part of a loop?"""
    flow = control_flow(code)
    return flow.loop_of[flow.block_of[normalise(code).index_of_offset[offset]]] >= 0


_SETTLES = frozenset({Op.STORE_FAST, Op.POP, Op.UNPACK_SEQUENCE})


def settled(code: CodeType, last: int) -> int:
    """Offset of the last of the instructions after the one at `last` that only put its results away.

    A stepping stub had better run them, too: what was there before dies at the right time.
    """
    normal = normalise(code)
    index = normal.index_of_offset[last]
    if normal.instrs[index].op is Op.JUMP:
        return last
    while True:
        while index < len(normal.instrs) and normal.instrs[index].offset == last:
            index += 1
        at = index
        while at < len(normal.instrs) and normal.instrs[at].offset == normal.instrs[index].offset:
            at += 1
        group = normal.instrs[index:at]
        # a fused instruction may load something as well
        if not group or group[0].op not in _SETTLES or any(i.op not in _SETTLES | {Op.LOAD_FAST} for i in group):
            return last
        last = group[0].offset


def _through_jumps(code: CodeType, index: int) -> int:
    instrs = normalise(code).instrs
    for _ in range(len(instrs)):
        if instrs[index].op is Op.JUMP:
            index = instrs[index].target
        elif instrs[index].op is Op.NOP:
            index += 1
        else:
            break
    return index


_WORK = frozenset({Op.BINARY, Op.UNARY, Op.COMPARE, Op.CALL, Op.CALL_EX, Op.GET_ITEM, Op.SET_ITEM, Op.GET_SLICE, Op.SET_SLICE})


def may_work(code: CodeType, offset: int) -> bool:
    """May anything be computed from an instruction on?"""
    flow = control_flow(code)
    start = normalise(code).index_of_offset[offset]
    todo, seen = [flow.block_of[start]], set[int]()
    first = start
    while todo:
        block = flow.blocks[todo.pop()]
        if any(i.op in _WORK for i in flow.instrs[max(first, block.start) : block.end]):
            return True
        first = 0
        new = [s for s in block.succs if s not in seen]
        seen.update(new)
        todo += new
    return False


# ---------------------------------------------------------------------------------------------- one frame

Stub = Callable[[Any], Any]

# An exhausted generator raises what is thrown into it as it is: no new __context__, no traceback entry of its own.
RAISER: Stub = (_ for _ in ()).throw
"""Stands for the callee's stub in the values of a point with action "raise"; the exception stands for its values."""
list(RAISER.__self__)  # type: ignore[attr-defined]

_MAX_STUBS = 4096
_stubs: dict[tuple[Any, ...], tuple[Stub, ResumePoint]] = {}


def make_stub(point: ResumePoint, globals: dict[str, Any]) -> Stub:
    """The stub of a point (cached).

    It is called with one argument: the values, as a tuple, or as an iterator over a tuple that nobody else holds. The
    iterator lets go of the tuple before user code runs, so that locals die as early as in the original. The values are:

    1. the cells of `co_freevars`;
    2. the contents of the `bound` slots (the cell itself where MAKE_CELL has run);
    3. for "call" the callee's values and the callee's stub; for "raise" the exception and `RAISER`;
    4. the stack entries that are not NULL, the top first.

    Raises
    ------
    ValueError
        if `resumable` refuses the point.
    """
    key = (id(point.code), point.offset, point.bound, point.nulls, point.action, point.pushes, point.last, id(globals))
    found = _stubs.get(key)
    if found is None:
        refused = resumable(point.code, point.offset, point.action)
        if refused:
            raise ValueError(f"{refused}: {point.code.co_qualname} at offset {point.offset}")
        code = stub_code(point)
        defaults = (None,) * (code.co_argcount - 1) or None
        # never read: the values have the cells
        closure = tuple(CellType() for _ in code.co_freevars) or None
        made = FunctionType(code, globals, code.co_name, defaults, closure)
        shrink(_stubs, _MAX_STUBS)
        # the point holds the code object and the function its globals: their ids stay theirs
        found = _stubs.setdefault(key, (made, point))
    return found[0]


# ---------------------------------------------------------------------------------------------- several frames


class _Null:
    def __repr__(self) -> str:
        return "NULL"


NULL = _Null()
"""The interpreter's NULL in `FrameValues.stack`."""


@dataclass(frozen=True)
class FrameValues:
    """One live frame: what a stub needs, as objects.

    closure : the cells of `co_freevars`. locals, cells : slots that hold a value, or a cell made by MAKE_CELL.
    stack : entries from the bottom, `NULL` for the interpreter's NULL; of a frame that waits for a call, without the
        call's operands. pushes : as in `ResumePoint`.
    """

    code: CodeType
    globals: dict[str, Any]
    offset: int
    locals: Mapping[str, Any]
    cells: Mapping[str, CellType]
    closure: tuple[CellType, ...] = ()
    stack: tuple[Any, ...] = ()
    pushes: bool = True


def prepare(frames: Sequence[FrameValues], pending: BaseException | None = None) -> tuple[Stub, Iterator[Any]]:
    """Stub and argument that continue `frames`, outermost first; `pending` is raised at the innermost one's instruction.

    The outer frame's stub calls the inner one's where the original has the call, so that the outer frame's handlers
    catch and a traceback shows both.
    """
    *outer, inner = frames
    if pending is None:
        stub, values = _one(inner, "continue", ())
    else:
        stub, values = _one(inner, "raise", (pending, RAISER))
    for frame in reversed(outer):
        stub, values = _one(frame, "call", (values, stub))
    return stub, values


def resume(frames: Sequence[FrameValues], pending: BaseException | None = None) -> Any:
    """Continue `frames` natively (see `prepare`) and return what the outermost one returns."""
    stub, values = prepare(frames, pending)
    return stub(values)


def _one(frame: FrameValues, action: str, callee: tuple[Any, ...]) -> tuple[Stub, Iterator[Any]]:
    slots = {**frame.locals, **frame.cells}
    nulls = tuple(entry is NULL for entry in frame.stack)
    point = ResumePoint(frame.code, frame.offset, tuple(slots), nulls, action, frame.pushes)
    stack = [entry for entry in reversed(frame.stack) if entry is not NULL]
    return make_stub(point, frame.globals), iter((*frame.closure, *slots.values(), *callee, *stack))
