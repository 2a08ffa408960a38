"""For loops: unrolled when short and known, native `loop` regions otherwise.

A region is traced as often as needed until the kinds of the variables that it carries are the same at its start and end
(peel, join, widen; see `carried`). Every attempt is undone before the next. A body that cannot be traced makes the segment
exit at the loop's header.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.cfg import Loop as FlowLoop
from npcompile.bytecode.cfg import control_flow
from npcompile.frontends.builder import Builder
from npcompile.frontends.values import OuterStore, Storage, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Region, Value
from npcompile.ir.types import scalar

from .carried import Carried, Plan, Replan
from .containers import advance
from .frames import Frame, NeedsPeel, Refused
from .inputs import describe
from .interpreter import Trace, handles
from .iterators import Turns, element, iterator, known_trips, move, parts, turns
from .snapshot import Snapshot
from .symbolic import IterV, RangeIterV, SeqIterV

INT64 = np.dtype(np.int64)
UNROLL = 8
UNROLL_NEST = 64
MAX_ROUNDS = 8
MAX_PEELS = 3


@handles(Op.GET_ITER)
def get_iter(t: Trace, f: Frame, i: Instr) -> None:
    f.stack[-1] = iterator(t, f.stack[-1])


@handles(Op.FOR_ITER)
def for_iter(t: Trace, f: Frame, i: Instr) -> None:
    it = t.use(f.stack[-1])
    if not isinstance(it, IterV):
        raise Unsupported("loop-iterator", describe(it))
    if _unrolls(t, it):
        found = advance(t, it)
        if found is None:
            _leave_header(f, i)
        else:
            f.stack.append(found)
        return
    counted = turns(t, it)
    if counted is None:
        raise Unsupported("loop-iterator", describe(it))
    flow = control_flow(f.code.code)
    shape = next((x for x in flow.loops if flow.blocks[x.header].start == f.at), None)
    if shape is None:  # it is left within its first turn: no loop at all
        _one_turn(t, f, i, it, counted)
    else:
        NativeLoop(t, f, i, it, counted, shape).trace()


def _leave_header(f: Frame, i: Instr) -> None:
    """The iterator is exhausted."""
    f.stack.pop()
    f.pc = i.target


def _unrolls(t: Trace, it: IterV) -> bool:
    """Is the loop unrolled? Decided when it starts; nested unrolled loops share a budget."""
    if it.unrolled is None:
        n = known_trips(t, it)
        only = any(isinstance(p, SeqIterV) for p in parts(it))
        around = 1
        for frame in t.frames:
            for v in frame.stack:
                around *= (v.unrolled or 1) if isinstance(v, IterV) else 1
        if only and n is None:
            raise Unsupported("loop-iterator", "a container next to a range of unknown length")
        short = n is not None and n <= UNROLL and n * around <= UNROLL_NEST
        it.unrolled = max(n or 1, 1) if short or only else 0
        if only and n is not None and n > UNROLL_NEST:
            raise Unsupported("unroll-limit", f"{n} items")
    return bool(it.unrolled)


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
    index: Value | None = None

    def before_first_turn(self, b: Builder) -> Value:
        """Inside: is this the first turn? After it: was there none?"""
        if self.index is not None:
            return b.emit("eq", self.index, self.start)
        return b.emit("ge" if self.step > 0 else "le", self.start, self.stop)


class NativeLoop:
    """Traces one loop to a `loop` node."""

    def __init__(self, t: Trace, f: Frame, i: Instr, it: IterV, counted: Turns, shape: FlowLoop) -> None:
        self.t, self.f, self.i, self.it, self.counted, self.shape = t, f, i, it, counted, shape
        self.header = f.at
        self.flow = control_flow(f.code.code)
        self.key = (*((x.code.code, x.at) for x in t.frames), it.peeled)
        self.depth = len(t.frames)

    def trace(self) -> None:
        t = self.t
        start = Snapshot(t)
        plan = t.plans.get(self.key, Plan())
        if plan.peel:
            self._peel()
            return
        storages: list[Storage] = []
        for _ in range(MAX_ROUNDS):
            try:
                self._attempt(plan, storages)
                t.plans[self.key] = plan
                return
            except Replan as e:
                start.restore()
                plan = plan.wider(e)
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
                self._peel()
                return
            except Refused as e:
                start.restore()
                raise self._failed(e.reason, e.detail, e.loc) from None
            except Unsupported as e:
                start.restore()
                raise self._failed(e.reason, e.detail, getattr(e, "loc", None)) from None
        start.restore()
        raise Unsupported("loop-types", "the kinds of its variables do not settle")

    def _failed(self, reason: str, detail: str, loc: Any) -> Unsupported:
        e = Unsupported(reason, detail)
        e.loc = loc or self.t.b.loc  # type: ignore[attr-defined]
        return e

    def _peel(self) -> None:
        """Take the first turn out of the loop; the interpreter comes back to the header with the types after it."""
        it = self.it
        if it.peeled >= MAX_PEELS:
            raise Unsupported("loop-types", "types still change after several turns")
        it.peeled += 1
        _one_turn(self.t, self.f, self.i, it, self.counted)

    # -- one attempt --------------------------------------------------------------------------------------------------
    def _attempt(self, plan: Plan, storages: list[Storage]) -> None:
        t, f, b = self.t, self.f, self.t.b
        for s in storages:
            b.materialise(s)
        c = self.counted
        start, stop, step = b.dim_value(c.start), b.dim_value(c.stop), b.const(c.step, INT64)
        loop = Loop(self.key, c.trips, start, stop, c.step)
        shape = self.shape
        cells = frozenset(k for k in shape.assigned_cells if k in f.locals)
        carried = Carried(t, f, loop, shape.carried | cells, shape.assigned, plan)
        before = Snapshot(t)
        region = Region([Value(scalar(INT64))])
        with b.inside(region):
            loop.index = region.params[0]
            t.loops.append(loop)
            carried.enter(region)
            self._enter_body(region.params[0])
            t.run_until(self._at_end)
            carried.leave(region)
            self._nothing_else_changed(before, cells)
            t.loops.pop()
            loop.index = None
        self._emit(region, carried, (start, stop, step))
        carried.after()
        f.stack.pop()
        f.pc = self.i.target

    def _nothing_else_changed(self, before: Snapshot, cells: frozenset[str]) -> None:
        """Only carried variables and the iterator may change in the body."""
        own = {id(p) for p in parts(self.it)} | {id(self.f.locals[k]) for k in cells}
        for v in before.changed():
            if id(v) not in own:
                raise Unsupported("loop-container", describe(v))

    def _enter_body(self, index: Value) -> None:
        """Bind the turn's element and put the iterator where exits of this turn must leave it."""
        t, b, c = self.t, self.t.b, self.counted
        trips_hint = max(b.hint(c.trips), 1)
        first = b.hint(c.start)
        low, high = (c.start, c.stop - 1) if c.step > 0 else (c.stop + 1, c.start)
        i = b.sym_of(index, low, high, first + c.step * ((trips_hint - 1) // 2))
        for limit in c.limits:
            b.facts.learn_ge(limit - 1 - i)
        if isinstance(self.it, RangeIterV):
            self.it.next = t.int_of(i)
        else:
            move(t, self.it, i)
        t.mark(self.f, self.i)
        b.exit_if(b.emit("poll"), "signal")
        value = element(t, self.it, Dim.of(0))
        move(t, self.it, Dim.of(1))
        self.f.stack.append(value)
        self.f.pc = self.header + 1

    def _at_end(self) -> bool:
        """Back at the header? Leaving the loop any other way is not compiled."""
        t, f = self.t, self.f
        if len(t.frames) > self.depth:
            return False
        if len(t.frames) < self.depth or t.finished:
            raise Unsupported("loop-leaves", "return")
        if f.pc == self.header:
            return True
        if self.flow.block_of[f.pc] not in self.shape.body:
            raise Unsupported("loop-leaves", "break")
        return False

    # -- the node -----------------------------------------------------------------------------------------------------
    def _emit(self, region: Region, carried: Carried, bounds: tuple[Value, ...]) -> None:
        """The loop node; what comes out as it went in is not carried."""
        index, *params = region.params
        keep = [p is not r for p, r in zip(params, region.results)]
        unchanged = {p: v for p, v, k in zip(params, carried.inits, keep) if not k}
        _substitute(region, unchanged)
        region.params = [index, *(p for p, k in zip(params, keep) if k)]
        region.results = [unchanged.get(r, r) for r, k in zip(region.results, keep) if k]
        inits = [v for v, k in zip(carried.inits, keep) if k]
        outs = iter(self.t.b.emit_multi("loop", *bounds, *inits, regions=(region,)))
        carried.outputs = [next(outs) if k else v for v, k in zip(carried.inits, keep)]


def _substitute(region: Region, values: dict[Value, Value]) -> None:
    """Replace values in all inputs and inner results."""
    if not values:
        return
    for node in region.walk():
        node.inputs = tuple(values.get(v, v) for v in node.inputs)
        for inner in node.regions:
            inner.results = [values.get(v, v) for v in inner.results]
