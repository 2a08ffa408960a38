"""Frames of the symbolic interpreter and points to which an exit can return.

A frame state is a list of frames, outermost first. All but the last stand at a call (their stack is without its operands).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import CodeType
from typing import Any

from npcompile.bytecode.cfg import control_flow
from npcompile.bytecode.microops import Instr, NormalCode, Op
from npcompile.bytecode.percode import PerCode
from npcompile.frontends.values import SymValue, Unsupported
from npcompile.ir.graph import Loc, Node, Region, Value
from npcompile.ir.segment import Source
from npcompile.records import dataclass, field

from .symbolic import CellV, FunctionInfo


@dataclass(eq=False)
class Frame:
    """One Python frame.

    locals : slots of local and cell variables, bound ones only (a slot may hold a `CellV`); free : cells of free variables.
    pc : index of the next instruction; at : of the current one.
    can_exit : the caller's call instruction can be resumed with this frame's result.
    peeled : header of a while loop -> number of turns that were taken out of it so far.
    drops : the caller's instruction drops the result (`__init__`, property setters).
    own : sources of the parameters of the outermost frame, while they may be as they came in.
    on_yield, on_return : of a generator's frame: what its yield does, and what its end gives (see `managers`).
    passed : headers of loops that cannot be native, of which one turn has been begun in straight line.
    forks : branches on run-time values that were open when the frame was entered.
    """

    code: NormalCode
    info: FunctionInfo
    locals: dict[str, SymValue] = field(default_factory=dict)
    free: dict[str, CellV] = field(default_factory=dict)
    stack: list[SymValue] = field(default_factory=list)
    pc: int = 0
    at: int = 0
    can_exit: bool = True
    peeled: dict[int, int] = field(default_factory=dict)
    drops: bool = False
    passed: frozenset[int] = frozenset()
    own: dict[str, Source] = field(default_factory=dict)
    on_yield: Any = None
    on_return: Any = None
    forks: int = 0

    @property
    def instr(self) -> Instr:
        return self.code.instrs[self.at]

    def loc(self) -> Loc:
        code = self.code.code
        line = self.instr.line or code.co_firstlineno
        return Loc(code.co_filename, line, code.co_name, str(self.info.globals.get("__name__", "")))

    def column(self) -> int | None:
        """Where the current instruction's expression begins in its line, counted from 1; None where Python does not say."""
        position = next(islice(self.code.code.co_positions(), self.instr.at // 2, None), None)
        return None if position is None or position[2] is None else position[2] + 1


@dataclass(eq=False)
class Point:
    """State before an instruction at which Python can take over: what an exit hands back.

    depth : number of frames; the last is `frame`, standing before instruction `at`.
    mem, mutations : state of memory and of virtual containers; an exit may only use the point while they are unchanged.
    effects : changes of objects that existed before, made up to here.
    region, nodes, reports : where code stood, and how much could report: after an exit, Python runs again what came since.
    """

    depth: int
    frame: Frame
    at: int
    stack: list[SymValue]
    locals: dict[str, SymValue]
    mem: dict[int, Value]
    mutations: int
    effects: dict[Any, SymValue]
    region: Region
    nodes: int
    reports: int
    outer: list[Any] | None = None
    """The frames around as they wait (see `exits.FrameState`); None: they are in the trace."""

    def reporting(self) -> list[Node]:
        """What was emitted since, in the same region, that may report floating-point conditions."""
        return [n for node in self.region.nodes[self.nodes :] for n in (node, *_inside(node)) if n.report is not None]


def _inside(node: Node) -> Iterator[Node]:
    for region in node.regions:
        yield from region.walk()


class Refused(Exception):
    """The whole trace is given up: the function runs plain for such arguments."""

    def __init__(self, reason: str, detail: str = "", loc: Loc | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail
        self.loc = loc


class NeedsPeel(Exception):
    """A value is used whose Python type is only known after the first turn of `loop`."""

    def __init__(self, loop: Any) -> None:
        super().__init__("the loop's first turn must be taken apart")
        self.loop = loop


@PerCode
def while_headers(code: CodeType) -> frozenset[int]:
    """Instructions at which loops begin that are not for loops."""
    flow = control_flow(code)
    starts = (flow.blocks[loop.header].start for loop in flow.loops)
    return frozenset(s for s in starts if flow.instrs[s].op is not Op.FOR_ITER)


def only_raises(code: CodeType, at: int) -> bool:
    """Do all ways from an instruction end in an exception? Leaving compiled code there is no loss."""
    flow = control_flow(code)
    block = flow.block_of[at]
    seen, todo = {block}, [block]
    while todo:
        x = flow.blocks[todo.pop()]
        if not x.succs and flow.instrs[x.end - 1].op is not Op.RAISE:
            return False
        new = [s for s in x.succs if s not in seen]
        seen.update(new)
        todo += new
    return True


__all__ = ["Frame", "NeedsPeel", "Point", "Refused", "Unsupported", "only_raises", "while_headers"]
