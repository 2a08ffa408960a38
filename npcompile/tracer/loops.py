"""Loops: for loops unrolled when short and known, native `loop` regions otherwise; while loops always regions.

Every way in which a turn can end (the next turn, `break`, a test that fails) is one end of the region, told apart by a number;
the code after the loop begins with a branch on it.

A region is traced as often as needed until the kinds of the variables that it carries are the same at its start and end
(peel, join, widen; see `carried`). Every attempt is undone before the next. A body that cannot be traced makes the segment
exit at the loop's header.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.cfg import Loop as FlowLoop
from npcompile.bytecode.cfg import control_flow
from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, OuterStore, RangeV, Storage, SymValue, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Region, Value
from npcompile.ir.types import scalar
from npcompile.records import dataclass

from . import genexprs, special
from .carried import Carried, Plan, Replan
from .classes import has_class_attribute
from .containers import advance
from .forks import Way, fork, substitute
from .frames import Frame, NeedsPeel, Refused
from .inputs import describe
from .interpreter import HANDLERS, Trace, handles
from .iterators import RUN_TIME_TURNS, Turns, element, int_dim, iterator, move, parts, step_of, trips_at_trace, turns
from .memory import Failure
from .places import NewPlace, changed_places, check_items, room
from .runlists import UNKNOWN_NUMBERS, UNKNOWN_ROWS, GrowingList, NotFresh, convert
from .runlists import dims_of as item_dims
from .snapshot import Snapshot
from .symbolic import ArrayIterV, EnumerateIterV, GenExprV, InputObject, IterV, JoinV, RangeIterV
from .unrolling import is_taken, keep_unrolled, may_stay_unrolled, too_much, turn_by_turn, unrolls

INT64 = np.dtype(np.int64)
MAX_ROUNDS = 8
MAX_PEELS = 3


@handles(Op.GET_ITER)
def get_iter(t: Trace, f: Frame, i: Instr) -> None:
    own = special.method(t, t.b.force(f.stack[-1]), "__iter__")
    if own is not None:
        special.enter(t, f, 1, own, [f.stack[-1]])
        return
    gen = t.b.force(f.stack[-1])
    if isinstance(gen, GenExprV):
        genexprs.iterate(t, f, gen)
        return
    f.stack[-1] = iterator(t, f.stack[-1])


@handles(Op.FOR_ITER)
def for_iter(t: Trace, f: Frame, i: Instr) -> None:
    it = t.use(f.stack[-1])
    if isinstance(it, InputObject) and it.type is not None and has_class_attribute(it.type, "__next__"):
        _live(t, f, it)
        return
    if not isinstance(it, IterV):
        raise Unsupported("loop-iterator", describe(it))
    if unrolls(t, it) and not too_much(t, it):
        _unrolled_turn(t, f, i, it)
    elif not may_stay_unrolled(it):
        _counted(t, f, i, it)
    else:
        try:
            _counted(t, f, i, it, must=True)
        except Unsupported:
            keep_unrolled(t, it)
            _unrolled_turn(t, f, i, it)


def _unrolled_turn(t: Trace, f: Frame, i: Instr, it: IterV) -> None:
    found = advance(t, it)
    if found is None:
        _leave_header(f, i)
    else:
        f.stack.append(found)


def _counted(t: Trace, f: Frame, i: Instr, it: IterV, must: bool = False) -> None:
    """A loop whose turns can be counted: a region, or (unless it `must` be one) one turn in straight line."""
    counted = turns(t, it)
    if counted is None:
        raise Unsupported("loop-iterator", describe(it))
    shape = _shape(f)
    if must and shape is not None:
        NativeLoop(t, f, it, shape, counted).trace()
    elif shape is None or not _native(t, f, it, shape, counted):  # it is left within its first turn: no loop at all
        _one_turn(t, f, i, it, counted)


def _shape(f: Frame) -> FlowLoop | None:
    """The loop whose header the frame stands at."""
    flow = control_flow(f.code.code)
    return next((x for x in flow.loops if flow.blocks[x.header].start == f.at), None)


def _live(t: Trace, f: Frame, it: InputObject) -> None:
    """A loop that has begun before the segment: the rest of a range can be native, else Python goes on with the iterator."""
    shape = _shape(f)
    own = t.inputs.inside and it.source.kind == "arg" and it.type is type(iter(range(0)))
    if shape is None or not own or t.loops or t.forks or (f.code.code, f.at) in t.memory.loops:
        raise Unsupported("loop-turn", describe(it))
    start, stop, step = t.inputs.range_parts(it)
    rest = RangeIterV(RangeV(start, stop, step), start)
    outside, f.stack[-1] = f.stack[-1], rest
    counted = turns(t, rest)
    assert counted is not None
    try:
        if not NativeLoop(t, f, rest, shape, counted).trace():
            raise Unsupported("loop-turn", describe(it))
    except Unsupported as e:
        t.memory.loops[f.code.code, f.at] = Failure(e.reason, e.detail, getattr(e, "loc", t.b.loc))
        f.stack[-1] = outside
        raise Unsupported("loop-turn", describe(it)) from None


def _native(t: Trace, f: Frame, it: IterV | None, shape: FlowLoop, counted: Turns | None = None) -> bool | None:
    """Trace the loop at this header to a node. None: it cannot be native, and one turn is to be traced in straight line.

    So a loop with something in it that is not compiled runs in segments, from one such place to the next.
    """
    key = f.code.code, f.at
    if t.loops or t.forks or key not in t.memory.loops:
        try:
            return NativeLoop(t, f, it, shape, counted).trace() is not False or it is not None
        except Unsupported as e:
            if turn_by_turn(t, f, it, shape, counted, lambda: _begin(t, f, it)):
                return True
            if t.loops or t.forks:
                raise
            t.memory.loops[key] = Failure(e.reason, e.detail, getattr(e, "loc", t.b.loc))
    if f.at in f.passed:
        raise failed(t.memory.loops[key])
    f.passed |= {f.at}
    t.begun[key] = RUN_TIME_TURNS if counted is None else trips_at_trace(t, counted.trips)
    return None


def _begin(t: Trace, f: Frame, it: IterV | None) -> None:
    """The first turn of a loop that is traced turn by turn."""
    if it is not None:
        _unrolled_turn(t, f, f.code.instrs[f.at], it)
        return
    f.pc = f.at
    t.step(f)


def failed(why: Failure) -> Unsupported:
    e = Unsupported(why.reason, why.detail)
    e.loc = why.loc  # type: ignore[attr-defined]
    return e


def _leave_header(f: Frame, i: Instr) -> None:
    """The iterator is exhausted."""
    f.stack.pop()
    f.pc = i.target


def _one_turn(t: Trace, f: Frame, i: Instr, it: IterV, counted: Turns) -> None:
    """Make one turn in straight line."""
    if not t.b.dim_ge(counted.trips, 1):
        _leave_header(f, i)
        return
    first = element(t, it, Dim.of(0))
    move(t, it, Dim.of(1))
    f.stack.append(first)


@dataclass(eq=False)
class Loop:
    """One loop being traced or traced, as joined values refer to it.

    key : its place, by which attempts recognise each other. start, stop : as rank-0 values outside.
    index : the region's index param while inside, else None.
    """

    key: Any
    trips: Dim
    start: Value
    stop: Value
    step: int
    owner: NativeLoop
    index: Value | None = None
    region: Region | None = None

    def first_holds(self, b: Builder) -> Value:
        """Inside: is this the first turn? After it: was there none?"""
        if self.index is not None:
            return b.emit("eq", self.index, self.start)
        return b.emit("ge" if self.step > 0 else "le", self.start, self.stop)

    def resolve(self, t: Trace, v: JoinV) -> SymValue:
        """Inside by a peeled turn, afterwards by a question about the number of turns."""
        if self in t.loops:
            raise NeedsPeel(self)
        return v.rest if t.b.dim_ge(self.trips, 1) else v.first


ENDLESS = 1 << 62
"""Number of turns of a loop that only ends from within."""


def while_loop(t: Trace, f: Frame) -> bool:
    """At the header of a while loop: trace it. False: go on with the body (a turn is being traced or peeled)."""
    flow = control_flow(f.code.code)
    shape = next(x for x in flow.loops if flow.blocks[x.header].start == f.at)
    if is_taken(t, f) or any(x.owner.f is f and x.owner.shape is shape for x in t.loops):
        return False
    return _leaves_at_once(t, f, shape) or bool(_native(t, f, None, shape))


_TESTS = frozenset(
    {Op.LOAD_FAST, Op.PUSH_CONST, Op.LOAD_DEREF, Op.LOAD_GLOBAL, Op.COMPARE, Op.IS, Op.CONTAINS, Op.UNARY, Op.BINARY}
)


def _leaves_at_once(t: Trace, f: Frame, shape: FlowLoop) -> bool:
    """Is the test of a while loop known to fail before the first turn? Then there is no loop, and nothing of it is run-time."""
    flow = control_flow(f.code.code)
    block = flow.blocks[shape.header]
    test = f.code.instrs[block.end - 1]
    if test.op is not Op.POP_JUMP_IF or any(i.op not in _TESTS for i in f.code.instrs[block.start : block.end - 1]):
        return False
    start = Snapshot(t)
    try:
        for k in range(block.start, block.end - 1):
            HANDLERS[f.code.instrs[k].op](t, f, f.code.instrs[k])
            if t.frames[-1] is not f:
                raise Unsupported("data-dependent-branch", "a call")
        v = t.b.force(f.stack[-1])
        if isinstance(v, Const) and type(v.value) is bool and test.arg in ("true", "false"):
            f.stack.pop()
            at = test.target if v.value == (test.arg == "true") else block.end
            if flow.block_of[at] not in shape.body:
                f.pc = f.at = at
                return True
    except (Unsupported, Refused):
        pass
    start.restore()
    return False


def _position(it: RangeIterV | ArrayIterV | EnumerateIterV) -> SymValue:
    """Where an iterator stands: the number or the index that comes next, or the count."""
    return it.next if isinstance(it, RangeIterV) else it.index if isinstance(it, ArrayIterV) else it.count


class NativeLoop:
    """Traces one loop to a `loop` node.

    it : the iterator of a for loop; None for a while loop, which counts turns without end and is left from within.
    first : where the iterator and those inside it stood.
    exits : instructions at which it is left from within, and whether its iterator is gone by then.
    ended : how the turn being traced has ended: (0 to go on or the number of an exit, where Python would be). The first
        may be a value after branches.
    """

    def __init__(self, t: Trace, f: Frame, it: IterV | None, shape: FlowLoop, counted: Turns | None = None) -> None:
        self.t, self.f, self.it, self.shape = t, f, it, shape
        endless = Turns(Dim.of(0), Dim.of(ENDLESS), 1, Dim.of(ENDLESS))
        self.counted = counted or endless
        self.header = f.at
        self.flow = control_flow(f.code.code)
        self.peeled = it.peeled if it is not None else f.peeled.get(self.header, 0)
        self.key = (*((x.code.code, x.at) for x in t.frames), self.peeled)
        self.depth = len(t.frames)
        self.ended: tuple[int | Value, frozenset[int]] | None = None
        self.exits: list[tuple[int, bool]] = []
        counting = (RangeIterV, ArrayIterV, EnumerateIterV)
        self.first = [(p, int_dim(t, _position(p))) for p in (parts(it) if it else ()) if isinstance(p, counting)]
        self._dead = self._ends_in_place()

    def trace(self) -> bool:
        """False: the first turn has been taken out, or is to be traced in straight line by whoever asked."""
        t = self.t
        start = Snapshot(t)
        plan = t.plans.get(self.key, Plan())
        if plan.peel:
            return self._peel()
        storages: list[Storage] = []
        lists: list[tuple[Any, Any, Dim | None]] = []
        shrinking: list[Any] = []
        for _ in range(MAX_ROUNDS):
            try:
                self.exits = []
                for target, item, capacity in lists:
                    convert(t, target, item, capacity)
                for target in shrinking:
                    target.least = 0
                self._attempt(plan, storages)
                t.plans[self.key] = plan.without_places()
                t.begun.pop((self.f.code.code, self.header), None)
                return True
            except Replan as e:
                start.restore()
                plan = plan.wider(e)
            except GrowingList as e:
                start.restore()
                if any(target is e.target for target in (shrinking if e.shrinks else [x for x, *_ in lists])):
                    raise Unsupported("loop-container", "a list of items of several types") from None
                if e.shrinks:
                    shrinking.append(e.target)
                    continue
                lists.append((e.target, e.item, self._room(e, start)))
            except (NewPlace, NotFresh) as e:
                start.restore()
                if isinstance(e, NotFresh) and self.peeled:
                    raise self._failed(e.reason, e.detail, getattr(e, "loc", None)) from None
                t.plans[self.key] = Plan(peel=True)
                return self._peel()
            except OuterStore as e:
                start.restore()
                if any(s is e.storage for s in storages):
                    raise
                storages.append(e.storage)
            except NeedsPeel as e:
                start.restore()
                if e.loop.key != self.key:
                    raise
                t.plans[self.key] = Plan(peel=True)
                return self._peel()
            except Refused as e:
                start.restore()
                raise self._failed(e.reason, e.detail, e.loc) from None
            except Unsupported as e:
                start.restore()
                raise self._failed(e.reason, e.detail, getattr(e, "loc", None)) from None
        start.restore()
        raise Unsupported("loop-types", "the kinds of its variables do not settle")

    def _room(self, e: GrowingList, start: Snapshot) -> Dim | None:
        """Room for a list that grows in each turn; None if it is not known before."""
        known = self.t.b.facts.hints.keys() - self.t.b.facts.local | start.symbols
        if not all(known >= set(d.syms()) for d in item_dims(e.item)):
            raise Unsupported("loop-container", "a list of arrays of several shapes")
        out = room(e.growth, len(getattr(e.target, "items", ())), self.counted.trips, frozenset(known))
        return out if out is None or not self._comes_again() else out + (UNKNOWN_ROWS if item_dims(e.item) else UNKNOWN_NUMBERS)

    def _comes_again(self) -> bool:
        """Is this a loop in a turn, traced in straight line, of another one?"""
        for f in self.t.frames:
            flow = control_flow(f.code.code)
            around = [x for x in flow.loops if flow.block_of[f.at] in x.body and (f is not self.f or x is not self.shape)]
            if any(not any(y.owner.f is f and y.owner.shape is x for y in self.t.loops) for x in around):
                return True
        return False

    def _failed(self, reason: str, detail: str, loc: Any) -> Unsupported:
        e = Unsupported(reason, detail)
        e.loc = loc or self.t.b.loc  # type: ignore[attr-defined]
        return e

    def _peel(self) -> bool:
        """Take the first turn out of the loop; the interpreter comes back to the header with the types after it."""
        it = self.it
        n = RUN_TIME_TURNS if it is None else trips_at_trace(self.t, self.counted.trips)
        self.t.begun[self.f.code.code, self.header] = n
        if self.peeled >= MAX_PEELS:
            raise Unsupported("loop-types", "types still change after several turns")
        if it is None:
            self.f.peeled[self.header] = self.peeled + 1
            return False
        it.peeled += 1
        _one_turn(self.t, self.f, self.f.code.instrs[self.header], it, self.counted)
        return True

    # -- how a turn ends ------------------------------------------------------------------------------------------------
    def _ends_in_place(self) -> frozenset[int]:
        """Blocks outside the body that only lead out of the segment: they belong to the turn that comes to them."""
        flow, body = self.flow, self.shape.body
        after: set[int] = set()
        if self.it is not None and self.depth == 1:
            todo = [s for s in flow.blocks[self.shape.header].succs if s not in body]
            while todo:
                block = todo.pop()
                if block not in after:
                    after.add(block)
                    todo += flow.blocks[block].succs
        out = set()
        for _, block in self.shape.exits:
            seen, todo = {block}, [block]
            while todo:
                new = [s for s in flow.after(todo.pop()) if s not in seen]
                seen.update(new)
                todo += new
            ends = {flow.instrs[flow.blocks[x].end - 1].op for x in seen if not flow.after(x)}
            if not seen & body and (ends <= {Op.RAISE} or (after and not seen & after)):
                out |= seen
        return frozenset(out)

    def leaves_by(self, block: int) -> bool:
        """Does coming to this block end the turn, by leaving the loop?"""
        return block not in self.shape.body and block not in self._dead

    def turn_ended(self) -> bool:
        """In this loop's own frame: is the turn over?"""
        pc = self.f.pc
        if self.ended is None and pc == self.header:
            self.ended = 0, frozenset({pc})
        elif self.ended is None and self.leaves_by(self.flow.block_of[pc]):
            popped = self.it is not None and len(self.f.stack) == self.height - 1  # by an exception
            if popped:
                self.f.stack.append(self.stack[-1])
            if len(self.f.stack) != self.height:
                raise Unsupported("loop-leaves", "within an expression")
            if (pc, popped) not in self.exits:
                self.exits.append((pc, popped))
            self.ended = self.exits.index((pc, popped)) + 1, frozenset({pc})
        return self.ended is not None

    def arrival(self) -> tuple[int | Value, frozenset[int]]:
        assert self.ended is not None
        return self.ended

    def arrive(self, code: int | Value, ends: frozenset[int]) -> None:
        """The arms of a branch have ended the turn."""
        self.ended = code, ends
        self.f.pc = self.f.at = self.header

    # -- one attempt --------------------------------------------------------------------------------------------------
    def _attempt(self, plan: Plan, storages: list[Storage]) -> None:
        t, f, b = self.t, self.f, self.t.b
        for s in storages:
            b.materialise(s)
        c = self.counted
        start, stop, step = b.dim_value(c.start), b.dim_value(c.stop), b.const(c.step, INT64)
        loop = Loop(self.key, c.trips, start, stop, c.step, self)
        shape = self.shape
        cells = frozenset(k for k in shape.assigned_cells if k in f.locals)
        carried = Carried(t, f, loop, shape.carried | cells, shape.assigned, plan, self._out_only() - cells)
        before = Snapshot(t)
        region = Region([Value(scalar(INT64))])
        self.stack, self.height = list(f.stack), len(f.stack)
        with b.inside(region):
            loop.index, loop.region = region.params[0], region
            t.loops.append(loop)
            turn = None if self.it is None else self._turn(region.params[0])
            carried.enter(region, None if turn is None or abs(c.step) != 1 else (turn - c.start) * c.step)
            self._enter_body(turn)
            t.run_until(self._at_end)
            code, _ = self.arrival()
            leave = self._leave(carried, code, region.params[0])
            self._nothing_else_changed(before, cells, carried)
            carried.leave(region)
            check_items(before)
            t.loops.pop()
            loop.index = None
        self._emit(region, carried, (start, stop, step), leave)
        carried.after()
        self._continue(carried, leave is not None)

    def _out_only(self) -> frozenset[str]:
        """Variables assigned in the body that only code after the loop reads, when it is left from within."""
        flow, out = self.flow, frozenset[str]()
        for _, block in self.shape.exits:
            if block not in self._dead:
                out |= flow.live_at(flow.blocks[block].start)
        return (out & self.shape.assigned) - self.shape.carried

    def _nothing_else_changed(self, before: Snapshot, cells: frozenset[str], carried: Carried) -> None:
        """Only what is carried and the iterator may change in the body."""
        own = {id(p) for p in parts(self.it)} if self.it is not None else set()
        own |= {id(self.f.locals[k]) for k in cells}
        places = [p for p in changed_places(self.t, before, own) if p.name not in carried.places]
        if places:
            raise Replan({}, places)

    def _turn(self, index: Value) -> Dim:
        """The region's index as a dim."""
        b, c = self.t.b, self.counted
        trips_hint = max(b.hint(c.trips), 1)
        low, high = (c.start, c.stop - 1) if c.step > 0 else (c.stop + 1, c.start)
        i = b.sym_of(index, low, high, b.hint(c.start) + c.step * ((trips_hint - 1) // 2))
        for limit in c.limits:
            b.facts.learn_ge(limit - 1 - i)
        return i

    def _enter_body(self, i: Dim | None) -> None:
        """Bind the turn's element and put the iterator where exits of this turn must leave it."""
        t, b, f = self.t, self.t.b, self.f
        self.ended = None
        if self.it is None or i is None:
            t.mark(f, f.code.instrs[self.header])
            b.exit_if(b.emit("poll"), "signal")
            f.pc = self.header
            t.step(f)
            return
        if isinstance(self.it, RangeIterV):
            self.it.next = t.int_of(i)
        else:
            move(t, self.it, i)
        t.mark(f, f.code.instrs[self.header])
        b.exit_if(b.emit("poll"), "signal")
        value = element(t, self.it, Dim.of(0))
        move(t, self.it, Dim.of(1))
        f.stack.append(value)
        f.pc = self.header + 1

    def _at_end(self) -> bool:
        """Is the turn over?"""
        t = self.t
        if len(t.frames) > self.depth:
            return False
        if len(t.frames) < self.depth or t.finished:
            raise Unsupported("loop-leaves", "return")
        return self.turn_ended()

    def _leave(self, carried: Carried, code: int | Value, index: Value) -> Value | None:
        """The bool that ends the loop; None if it never ends from within. Notes which exit was taken, and when."""
        b = self.t.b
        if isinstance(code, int) and code == 0:
            return None
        value = code if isinstance(code, Value) else b.const(code, INT64)
        carried.also = [value, index]
        return b.emit("ne", value, b.const(0, INT64))

    # -- the node -----------------------------------------------------------------------------------------------------
    def _emit(self, region: Region, carried: Carried, bounds: tuple[Value, ...], leave: Value | None) -> None:
        """The loop node; what comes out as it went in is not carried."""
        b = self.t.b
        for v in carried.also:
            region.params.append(Value(v.type))
            region.results.append(v)
            carried.inits.append(b.const(0, INT64))
        index, *params = region.params
        keep = [p is not r for p, r in zip(params, region.results)]
        unchanged = {p: v for p, v, k in zip(params, carried.inits, keep) if not k}
        substitute(region, unchanged)
        region.params = [index, *(p for p, k in zip(params, keep) if k)]
        region.results = [unchanged.get(r, r) for r, k in zip(region.results, keep) if k]
        inits = [v for v, k in zip(carried.inits, keep) if k]
        how: dict[str, Any] = {}
        if leave is not None:
            region.results.insert(0, unchanged.get(leave, leave))
            how["leaves"] = True
        outs = iter(b.emit_multi("loop", *bounds, *inits, regions=(region,), **how))
        self.t.turns[b.region.nodes[-1]] = trips_at_trace(self.t, self.counted.trips)
        carried.outputs = [next(outs) if k else v for v, k in zip(carried.inits, keep)]

    def _continue(self, carried: Carried, leaves: bool) -> None:
        """Go on after the loop: where it is exhausted, or at the exit that was taken."""
        f = self.f
        f.peeled.pop(self.header, None)
        if not leaves:
            if self.it is None:
                raise Unsupported("loop-leaves", "a loop without end")
            self._exhausted()
            f.pc = f.code.instrs[self.header].target
            return
        code, index = carried.outputs[-2:]
        ways = [(k + 1, Way(pc, lambda p=popped: self._left(index, p))) for k, (pc, popped) in enumerate(self.exits)]  # type: ignore[misc]
        if self.it is not None:
            target = f.code.instrs[self.header].target
            ways.insert(0, (0, Way(target, self._exhausted)))
        self._dispatch(code, ways)

    def _exhausted(self) -> None:
        self._place(self.counted.trips)
        self.f.stack.pop()

    def _place(self, k: Dim) -> None:
        """The iterator has made `k` turns, for whoever else holds it."""
        for part, at in self.first:
            if isinstance(part, RangeIterV):
                part.next = self.t.int_of(at + k * step_of(self.t, part.range))
            elif isinstance(part, ArrayIterV):
                part.index = self.t.int_of(at + k)
            elif isinstance(part, EnumerateIterV):
                part.count = self.t.int_of(at + k)
        self.t.mutated()

    def _left(self, index: Value, popped: bool) -> None:
        """The loop was left from within: its iterator has given the element of that turn. popped : an exception has let it go."""
        if self.it is not None:
            c, b = self.counted, self.t.b
            low, high = (c.start, c.stop - 1) if c.step > 0 else (c.stop + 1, c.start)
            i = b.sym_of(index, low, high, b.hint(c.start))
            if isinstance(self.it, RangeIterV):
                self.it.next = self.t.int_of(i + c.step)
            else:
                self._place(i + 1)
        if popped:
            self.f.stack.pop()

    def _dispatch(self, code: Value, ways: list[tuple[int, Way]]) -> None:
        """Go on in the way that `code` tells."""
        (k, way), *rest = ways
        if not rest:
            self.f.pc = way.at
            way.prepare()
            return
        is_first = self.t.b.emit("eq", code, self.t.b.const(k, INT64))
        others = tuple(w.at for _, w in rest[1:])
        fork(self.t, self.f, is_first, (way, Way(rest[0][1].at, lambda: self._dispatch(code, rest), others=others)))
