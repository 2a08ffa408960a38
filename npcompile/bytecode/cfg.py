"""Control flow of a `NormalCode`: blocks, dominators, post-dominators, natural loops, live locals, handler depth.

Dominators and post-dominators follow normal flow only; loops, live locals and handler depth follow exceptions as well.
Everything is computed on first use and never changes.
"""

from __future__ import annotations

from functools import cached_property
from types import CodeType

from npcompile.records import dataclass

from .microops import FREE, Instr, NormalCode, Op
from .normalise import normalise
from .percode import PerCode

_STOPS = frozenset({Op.RETURN, Op.RAISE, Op.RERAISE})
_DEREFS = frozenset({Op.LOAD_CLOSURE, Op.LOAD_DEREF, Op.STORE_DEREF, Op.DELETE_DEREF, Op.LOAD_CLASSDEREF})
_DEREFS |= {Op.LOAD_FROM_DICT_OR_DEREF}
_READS = frozenset({Op.LOAD_FAST, Op.LOAD_FAST_CLEAR, Op.DELETE_FAST, Op.MAKE_CELL}) | _DEREFS
_WRITES = frozenset({Op.STORE_FAST, Op.LOAD_FAST_CLEAR, Op.DELETE_FAST})
_MAX_DEPTH = 64  # deeper nesting than CPython's compiler accepts: ends the iteration on hand-made code that loops
# a function that uses one of these names may look at any of its locals
_LOOKS_AT_FRAME = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "super", "breakpoint", "set_trace", "_getframe", "currentframe", "stack"}
    | {"evaluate", "query"}  # numexpr, pandas
)


@dataclass(frozen=True)
class Block:
    """Instructions [start, end) that run one after another.

    succs : blocks that follow in normal flow, the fall-through first.
    handlers : blocks that an exception in this one may go to.
    """

    start: int
    end: int
    succs: tuple[int, ...]
    handlers: tuple[int, ...]


@dataclass(frozen=True)
class Loop:
    """A natural loop; blocks by index. Code that leaves for good (before a break or return) is not in the body.

    exits : edges (from, to) out of the body. parent : index of the innermost loop around it, or -1.
    assigned : slots stored to in the body. carried : those of them that are live at the header.
    assigned_cells : names stored to through cells in the body.
    """

    header: int
    body: frozenset[int]
    latches: tuple[int, ...]
    exits: tuple[tuple[int, int], ...]
    parent: int
    assigned: frozenset[str]
    carried: frozenset[str]
    assigned_cells: frozenset[str]


class ControlFlow:
    """Analyses of one `NormalCode`. A block is an index into `blocks`; block 0 is the entry."""

    def __init__(self, normal: NormalCode) -> None:
        self.normal = normal
        self.instrs = normal.instrs

    # ------------------------------------------------------------------------------------------ blocks

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        starts = self._leaders
        number = {start: index for index, start in enumerate(starts)}
        result = []
        for start, end in zip(starts, (*starts[1:], len(self.instrs))):
            succs = tuple(dict.fromkeys(number[s] for s in successors(self.instrs, end - 1)))
            targets = {i.handler.target for i in self.instrs[start:end] if i.handler}
            result.append(Block(start, end, succs, tuple(sorted(number[t] for t in targets))))
        return tuple(result)

    @cached_property
    def _leaders(self) -> tuple[int, ...]:
        leaders = {0}
        for index, instr in enumerate(self.instrs):
            if instr.target >= 0:
                leaders.add(instr.target)
            if instr.handler:
                leaders.add(instr.handler.target)
            if instr.target >= 0 or instr.op in _STOPS:
                leaders.add(index + 1)
        leaders.discard(len(self.instrs))
        return tuple(sorted(leaders))

    @cached_property
    def block_of(self) -> tuple[int, ...]:
        """Block of each instruction."""
        return tuple(index for index, block in enumerate(self.blocks) for _ in range(block.start, block.end))

    @cached_property
    def preds(self) -> tuple[tuple[int, ...], ...]:
        """Predecessors in normal flow of each block, reachable or not."""
        return _reverse([block.succs for block in self.blocks])

    # ------------------------------------------------------------------------------------------ dominators

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Blocks reachable in normal flow, in reverse post-order."""
        return _reverse_postorder([block.succs for block in self.blocks], 0)

    @cached_property
    def idom(self) -> tuple[int, ...]:
        """Immediate dominator of each block; the entry's is itself, an unreachable block's -1."""
        return _dominators(self.order, self.preds)

    @cached_property
    def ipdom(self) -> tuple[int, ...]:
        """Immediate post-dominator of each block: where its branches join. -1 if there is none: they end apart, or never."""
        end = len(self.blocks)
        reachable = set(self.order)
        succs = [block.succs if index in reachable else () for index, block in enumerate(self.blocks)]
        leaving = tuple(index for index in self.order if not succs[index])
        backward = [*_reverse(succs), leaving]
        forward = [*(s or (end,) for s in succs), ()]
        idom = _dominators(_reverse_postorder(backward, end), tuple(forward))
        return tuple(-1 if d == end else d for d in idom[:end])

    def dominates(self, a: int, b: int) -> bool:
        """Every way from the entry to block `b` leads through `a` (or is `a`)."""
        return _dominates(self.idom, a, b)

    # ------------------------------------------------------------------------------------------ loops

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Natural loops, one for each header, outer loops before those inside. A turn may go on through a handler."""
        succs = [tuple(dict.fromkeys((*block.succs, *block.handlers))) for block in self.blocks]
        preds, order = _reverse(succs), _reverse_postorder(succs, 0)
        idom = _dominators(order, preds)
        reachable = set(order)
        latches: dict[int, list[int]] = {}
        for block in order:
            for succ in succs[block]:
                if _dominates(idom, succ, block):
                    latches.setdefault(succ, []).append(block)
        bodies = {header: _body(header, tails, preds, reachable) for header, tails in latches.items()}
        headers = sorted(bodies, key=lambda h: (-len(bodies[h]), h))
        result: list[Loop] = []
        for header in headers:
            body = bodies[header]
            around = [k for k, other in enumerate(result) if header in other.body]
            exits = tuple((b, s) for b in sorted(body) for s in self.after(b) if s not in body)
            inside = [i for b in sorted(body) for i in self.instrs[self.blocks[b].start : self.blocks[b].end]]
            assigned = frozenset(i.arg for i in inside if i.op in _WRITES)
            cells = frozenset(i.arg for i in inside if i.op in (Op.STORE_DEREF, Op.DELETE_DEREF))
            carried = assigned & self.live_at(self.blocks[header].start)
            parent = around[-1] if around else -1
            result.append(Loop(header, body, tuple(sorted(latches[header])), exits, parent, assigned, carried, cells))
        return tuple(result)

    def after(self, block: int) -> tuple[int, ...]:
        """Blocks that follow in normal flow, and the handler of a block that raises at its end."""
        last = self.instrs[self.blocks[block].end - 1]
        raised = (self.block_of[last.handler.target],) if last.op in (Op.RAISE, Op.RERAISE) and last.handler else ()
        return (*self.blocks[block].succs, *raised)

    @cached_property
    def loop_of(self) -> tuple[int, ...]:
        """Innermost loop of each block (index into `loops`), or -1."""
        result = [-1] * len(self.blocks)
        for index, loop in enumerate(self.loops):
            for block in loop.body:
                result[block] = index
        return tuple(result)

    # ------------------------------------------------------------------------------------------ locals

    def live_at(self, index: int) -> frozenset[str]:
        """Slots that may still be read when instruction `index` is about to run, by it or later, handlers included.

        A local that is not live need not be restored at an exit. All are live in functions that look at their frame.
        """
        mask = self._live[index]
        return frozenset(name for bit, name in enumerate(self.slots) if mask >> bit & 1)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of local and cell variables, in the order of their slots."""
        code = self.normal.code
        return (*code.co_varnames, *(name for name in code.co_cellvars if name not in code.co_varnames))

    @cached_property
    def _live(self) -> list[int]:
        code = self.normal.code
        count = len(self.instrs)
        if _LOOKS_AT_FRAME.intersection(code.co_names):
            return [(1 << len(self.slots)) - 1] * count
        bit = {name: 1 << number for number, name in enumerate(self.slots)}
        reads = [bit[i.arg] if i.op in _READS and i.extra is not FREE else 0 for i in self.instrs]
        keeps = [~bit[i.arg] if i.op in _WRITES else -1 for i in self.instrs]
        after = [successors(self.instrs, index) for index in range(count)]
        live = [0] * count
        changed = True
        while changed:
            changed = False
            for index in range(count - 1, -1, -1):
                out = 0
                for succ in after[index]:
                    out |= live[succ]
                now = out & keeps[index] | reads[index]
                handler = self.instrs[index].handler
                if handler:
                    now |= live[handler.target]
                if now != live[index]:
                    live[index] = now
                    changed = True
        return live

    # ------------------------------------------------------------------------------------------ handlers

    @cached_property
    def handler_depth(self) -> tuple[int, ...]:
        """Exceptions being handled (or about to be) when each instruction runs: 0 outside handlers, -1 unreachable."""
        depth = [-1] * len(self.instrs)
        todo = [(0, 0)]
        while todo:
            index, now = todo.pop()
            if now <= depth[index] or now > _MAX_DEPTH:
                continue
            depth[index] = now
            instr = self.instrs[index]
            if instr.handler:
                todo.append((instr.handler.target, now + 1))
            then = now - (instr.op is Op.POP_EXCEPT)
            todo += [(succ, then) for succ in successors(self.instrs, index)]
        return tuple(depth)


def successors(instrs: tuple[Instr, ...], index: int) -> tuple[int, ...]:
    """Instructions that may run after `index` in normal flow, the fall-through first."""
    instr = instrs[index]
    if instr.op in _STOPS:
        return ()
    if instr.op is Op.JUMP:
        return (instr.target,)
    following = (index + 1,) if index + 1 < len(instrs) else ()
    return (*following, instr.target) if instr.target >= 0 else following


def _body(header: int, tails: list[int], preds: tuple[tuple[int, ...], ...], reachable: set[int]) -> frozenset[int]:
    body = {header}
    todo = list(tails)
    while todo:
        block = todo.pop()
        if block not in body:
            body.add(block)
            todo += [p for p in preds[block] if p in reachable]
    return frozenset(body)


def _dominates(idom: tuple[int, ...], a: int, b: int) -> bool:
    while b != a and b > 0:
        b = idom[b]
    return a == b


def _reverse(succs: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    preds: list[list[int]] = [[] for _ in succs]
    for node, following in enumerate(succs):
        for succ in following:
            preds[succ].append(node)
    return tuple(tuple(p) for p in preds)


def _reverse_postorder(succs: list[tuple[int, ...]], root: int) -> tuple[int, ...]:
    result: list[int] = []
    seen = {root}
    stack = [(root, iter(succs[root]))]
    while stack:
        node, rest = stack[-1]
        for succ in rest:
            if succ not in seen:
                seen.add(succ)
                stack.append((succ, iter(succs[succ])))
                break
        else:
            stack.pop()
            result.append(node)
    return tuple(reversed(result))


def _dominators(order: tuple[int, ...], preds: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Immediate dominators by Cooper, Harvey and Kennedy's iteration; -1 for nodes not in `order`, whose first is the root."""
    position = {node: place for place, node in enumerate(order)}
    idom = [-1] * len(preds)
    idom[order[0]] = order[0]
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            new = -1
            for pred in preds[node]:
                if pred not in position or idom[pred] < 0:
                    continue
                a, b = pred, new if new >= 0 else pred
                while a != b:
                    if position[a] > position[b]:
                        a = idom[a]
                    else:
                        b = idom[b]
                new = a
            if idom[node] != new:
                idom[node] = new
                changed = True
    return tuple(idom)


_analysed = PerCode(lambda code: ControlFlow(normalise(code)))


def control_flow(code: CodeType) -> ControlFlow:
    """Control flow of a code object (cached)."""
    return _analysed(code)
