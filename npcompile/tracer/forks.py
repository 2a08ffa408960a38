"""Branches on run-time values: both arms are traced to where they meet, and become one `cond` node.

In: a condition and the two ways to go on. Out: the trace standing where the arms meet, or in the only arm that comes that far.
An arm that returns, raises, or holds something that is not compiled leaves the segment by itself. Where the states of the
arms cannot be joined, the code after them is traced once for each; where that does not help the segment exits before the branch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from npcompile.bytecode.cfg import ControlFlow, control_flow
from npcompile.bytecode.microops import Op
from npcompile.frontends.values import OuterStore, Storage, SymValue, Unsupported
from npcompile.ir.graph import Region, Value
from npcompile.ir.types import MemType
from npcompile.records import dataclass, field

from .frames import Frame, Refused
from .merge import CannotJoin, Merge
from .runlists import GrowingList, convert
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .interpreter import Trace

END = -1
"""The end of a turn of the loop that is being traced, or of an inlined function."""

MAX_NESTING = 24
MAX_COPIES = 3
"""How deeply branches may nest whose following code is traced once for each arm."""
COPY_STEPS = 3000
"""Steps of a trace after which the code after a branch is no longer traced for each arm: one that forks so often only grows."""


@dataclass(frozen=True)
class Way:
    """One way to go on: at instruction `at`, after `prepare`. finish : run where the arms meet.

    others : further instructions at which `prepare` may leave the trace.
    """

    at: int
    prepare: Callable[[], None]
    finish: Callable[[], None] = lambda: None
    others: tuple[int, ...] = ()


@dataclass
class Arm:
    """A traced arm: its region, and the state at its end. left : it does not come to the meeting point."""

    region: Region
    left: bool
    frames: list[tuple[Frame, dict[str, SymValue], list[SymValue], int]] = field(default_factory=list)
    objects: list[dict[str, Any]] = field(default_factory=list)
    effects: dict[Any, SymValue] = field(default_factory=dict)
    mem: dict[int, Value] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    code: int | Value = 0
    ends: frozenset[int] = frozenset()


class NewInputStored(Exception):
    """An arm stores to an input that nobody had looked at before the branch."""


def fork(t: Trace, f: Frame, cond: Value, ways: tuple[Way, Way], meet: int | None = None) -> None:
    """Go on in both ways, the first where `cond` is true. meet : where they meet, when the caller knows."""
    if t.forks >= MAX_NESTING:
        raise Unsupported("data-dependent-branch", "branches nest too deeply")
    start = Snapshot(t)
    places: list[tuple[Frame, int | None]] = [(f, meet)] if meet is not None else _places(t, f, ways)
    why = ""
    for home, place in places:
        storages: list[Storage] = []
        lists: list[tuple[Any, Any, Any]] = []
        for _ in range(8):
            try:
                for s in storages:
                    t.b.materialise(s)
                for target, item, growth in lists:
                    convert(t, target, item, growth + len(getattr(target, "items", ())))
                _Fork(t, f, cond, ways, home, place, Snapshot(t)).trace()
                return
            except CannotJoin as e:
                start.restore()
                why = why or str(e)
                break
            except GrowingList as e:
                start.restore()
                if e.shrinks:
                    raise
                if not (t.loops or t.copies >= MAX_COPIES) or any(target is e.target for target, *_ in lists):
                    why = why or "a list grows in one arm only"
                    break
                lists.append((e.target, e.item, e.growth))
            except NewInputStored:
                start.restore()
            except OuterStore as e:
                start.restore()
                if e.storage.region is not t.b.region or any(s is e.storage for s in storages):
                    raise
                storages.append(e.storage)
            except Refused as e:
                start.restore()
                raise Unsupported(e.reason, e.detail) from None
    raise Unsupported("data-dependent-branch", why)


def _places(t: Trace, f: Frame, ways: tuple[Way, Way]) -> list[tuple[Frame, int | None]]:
    """Where the two ways may meet: in the frame itself; in one that catches what an inlined function raises; never."""
    places: list[tuple[Frame, int | None]] = [(f, p) for p in _Scope(t, f).meetings(ways)]
    never = [places.pop()] if places and places[-1][1] is None else []
    inside = t.loops[-1].owner.depth if t.loops else 1
    for outer in t.frames[-2 : inside - 2 if inside > 1 else None : -1]:
        handler = outer.instr.handler
        if handler is not None:
            after, caught = (Way(at, lambda: None) for at in (outer.pc, handler.target))
            places += [(outer, p) for p in _Scope(t, outer).meetings((after, caught)) if p is not None]
            break
    return places + never


class _Scope:
    """The code in which the arms of a branch may meet: a frame's, or the body of its innermost loop being traced."""

    def __init__(self, t: Trace, f: Frame) -> None:
        self.flow: ControlFlow = control_flow(f.code.code)
        self.loop = t.loops[-1].owner if t.loops and t.loops[-1].owner.f is f else None
        self.inlined = t.frames[0] is not f
        self.copies, self.loops, self.steps = t.copies, len(t.loops), t.steps
        self.at = f.at

    def meetings(self, ways: tuple[Way, Way]) -> list[int | None]:
        """Where the two ways may meet, the nearest place first: an instruction, `END`, or None (never)."""
        starts = self.starts(ways[0]), self.starts(ways[1])
        out: list[int | None] = []
        for turns in (self._unrolled_headers(), frozenset[int]()):
            out += [p for p in self._nearest(starts, turns) if p not in out]
        ends = [END in self.reach(s) for s in starts]
        if all(ends) and END not in out:
            out.append(END)
        few = self.copies < MAX_COPIES and self.steps < COPY_STEPS
        if (not out and (few or self.loops)) or (few and not (all(ends) and self.loops)):
            out.append(None)
        return out

    def _nearest(self, starts: tuple[list[int], list[int]], turns: frozenset[int]) -> list[int]:
        """The first place that every way from both starts comes to; ways are followed to the headers `turns` only."""
        ra, rb = (self.reach(s, turns=turns) for s in starts)
        common = ra & rb
        for block in (*(x for x in self.flow.order if x in common), *({END} & common)):
            if block == END:
                return [END]
            if not any(self.reach(s, block, turns) & common for s in starts):
                return [] if self._beside(starts, block) else [self.flow.blocks[block].start]
        return []

    def _beside(self, starts: tuple[list[int], list[int]], place: int) -> bool:
        """Do both ways come to a place only because a later turn of an unrolled loop may leave there, as this one does?

        Tracing all later turns to see whether they do, in each turn, would take for ever.
        """
        here = self.flow.block_of[self.at]
        around = [x.body for x in self.flow.loops if here in x.body]
        if not around or any(place in body for body in around):
            return False
        missed = set().union(*(self.reach(s, place) for s in starts))
        return any(x != END and self.flow.instrs[self.flow.blocks[x].end - 1].op is Op.RETURN for x in missed)

    def _unrolled_headers(self) -> frozenset[int]:
        """Headers of the unrolled loops around the branch: coming back to one is the end of a turn."""
        here = self.flow.block_of[self.at]
        around = {x.header for x in self.flow.loops if here in x.body}
        return frozenset(around - ({self.loop.shape.header} if self.loop is not None else set()))

    def block(self, at: int) -> int:
        """The block of an instruction; `END` where the turn ends."""
        block = self.flow.block_of[at]
        if self.loop is None:
            return block
        return END if block == self.loop.shape.header or self.loop.leaves_by(block) else block

    def starts(self, way: Way) -> list[int]:
        return [self.block(at) for at in (way.at, *way.others)]

    def reach(self, starts: list[int], without: int = -2, turns: frozenset[int] = frozenset()) -> set[int]:
        """Blocks on the ways from `starts`, themselves included; not through `without`, and not beyond `turns`."""
        seen: set[int] = set()
        todo = list(starts)
        while todo:
            block = todo.pop()
            if block in seen or block == without:
                continue
            seen.add(block)
            if block != END and block not in turns:
                todo += self.after(block)
        return seen

    def after(self, block: int) -> list[int]:
        succs = [self.block(self.flow.blocks[s].start) for s in self.flow.after(block)]
        last = self.flow.instrs[self.flow.blocks[block].end - 1]
        return [*succs, END] if last.op is Op.RETURN and self.inlined and self.loop is None else succs


class _Fork:
    """One attempt to trace both arms to one place of the frame `home` (None: they never meet)."""

    def __init__(
        self, t: Trace, f: Frame, cond: Value, ways: tuple[Way, Way], home: Frame, place: int | None, start: Snapshot
    ) -> None:
        self.t, self.f, self.cond, self.ways, self.home, self.place, self.start = t, f, cond, ways, home, place, start
        self.scope = _Scope(t, home)
        self.depth = t.frames.index(home) + 1
        self.back = t.frames[self.depth - 2].pc if self.depth > 1 else -1
        self.mem_keys = sorted(t.b.mem)
        self.at = f.at

    def trace(self) -> None:
        order = self._order()
        first = self._arm(order[0])
        if first.left:
            self._go_on(first, order)
            return
        second = self._arm(order[1])
        if second.left:  # trace again, so that what the other one makes belongs to the region outside
            self.start.restore()
            order = order[::-1]
            first = self._arm(order[0])
            if not first.left:  # the other arm had used up what this one left for
                raise CannotJoin("an arm leaves in one order of tracing and not in the other")
            self._go_on(first, order)
            return
        self._join((first, second) if order == (0, 1) else (second, first))

    def _order(self) -> tuple[int, int]:
        """An arm that does not reach the meeting point first; of two, the shorter one."""
        own = self.scope if self.home is self.f else _Scope(self.t, self.f)
        a, b = (own.reach(own.starts(w)) for w in self.ways)
        if self.place is None and (END in a) != (END in b):
            return (1, 0) if END in a else (0, 1)
        if self.place is None or self.home is not self.f:
            return (0, 1) if len(a) <= len(b) else (1, 0)
        goal = self.place if self.place == END else self.scope.flow.block_of[self.place]
        return (1, 0) if goal not in b and goal in a else (0, 1)

    # -- one arm --------------------------------------------------------------------------------------------------------
    def _arm(self, k: int) -> Arm:
        t, way = self.t, self.ways[k]
        region = Region([Value(MemType()) for _ in self.mem_keys])
        if self.scope.loop is not None:
            self.scope.loop.ended = None
        conditional, t.conditional = t.conditional, True
        t.forks += 1
        t.copies += self.place is None
        try:
            with t.b.inside(region):
                t.b.mem.update(zip(self.mem_keys, region.params))
                self.f.pc = way.at
                way.prepare()
                left = self._run(way)
                arm = self._state(region, left)
                if t.b.stored_inputs() - set(self.mem_keys):
                    raise NewInputStored
        finally:
            t.conditional = conditional
            t.forks -= 1
            t.copies -= self.place is None
        self.start.rewind()
        return arm

    def _run(self, way: Way) -> bool:
        """Trace an arm; does it leave?"""
        t = self.t
        try:
            while not self._arrived():
                t.step(t.frames[-1])
            if not t.finished:
                way.finish()
        except Unsupported as e:
            if getattr(e, "whole", False):
                raise
            t.leave(e)
        left = t.finished
        t.finished = False
        return left

    def _arrived(self) -> bool:
        t, loop = self.t, self.scope.loop
        if t.finished:
            return True
        if self.place is None and not t.loops:  # on through the callers, to the end
            return False
        if len(t.frames) < self.depth:
            if len(t.frames) < self.depth - 1 or t.frames[-1].pc != self.back:
                raise CannotJoin("an arm raises what a caller catches")
            return self._at(END)
        if len(t.frames) > self.depth:
            return False
        if loop is not None and loop.turn_ended():
            return self._at(END)
        return self.home.pc == self.place

    def _at(self, place: int) -> bool:
        if self.place != place:
            raise CannotJoin("an arm does not come to where the other one goes on")
        return True

    def _state(self, region: Region, left: bool) -> Arm:
        t = self.t
        if left:
            return Arm(region, True, mem=dict(t.b.mem))
        frames = [(f, dict(f.locals), list(f.stack), f.pc) for f in t.frames]
        arm = Arm(region, False, frames, self.start.fields(), dict(t.effects), dict(t.b.mem))
        flow = self.scope.flow
        if self.place != END:
            assert self.place is not None
            arm.live = flow.live_at(self.place)
        elif self.scope.loop is not None:
            arm.code, arm.ends = self.scope.loop.arrival()
            arm.live = frozenset().union(*(flow.live_at(pc) for pc in arm.ends))
        return arm

    # -- afterwards -----------------------------------------------------------------------------------------------------
    def _go_on(self, left: Arm, order: tuple[int, int]) -> None:
        """The first arm has left the segment: the other one is what follows."""
        other = Region([Value(MemType()) for _ in self.mem_keys])
        other.results = list(other.params)
        arms = [(left.region, left.mem), (other, dict(zip(self.mem_keys, other.params)))]
        (a, mem_a), (b, mem_b) = arms if order[0] == 0 else arms[::-1]
        self._emit((a, b), [mem_a, mem_b], [])
        if self.scope.loop is not None:
            self.scope.loop.ended = None  # an attempt within the arm may have ended the turn
        self.t.conditional = True
        self.f.pc = self.ways[order[1]].at
        self.ways[order[1]].prepare()

    def _join(self, arms: tuple[Arm, Arm]) -> None:
        t = self.t
        merge = Merge(t, self.cond, (arms[0].region, arms[1].region), (arms[0].mem, arms[1].mem), self.start.symbols)
        frames = merge.frames(self.home, arms)
        effects = merge.effects(arms)
        objects = merge.objects(self.start.objects, arms)
        code = merge.number(arms[0].code, arms[1].code) if self.place == END and self.scope.loop is not None else None
        values = self._emit((arms[0].region, arms[1].region), [arms[0].mem, arms[1].mem], merge.pairs)
        for frame, local, stack, pc in frames:
            frame.locals = {k: make(values) for k, make in local.items()}
            frame.stack = [make(values) for make in stack]
            frame.pc = pc
        t.frames = [frame for frame, *_ in frames]
        t.frames[-1].at = t.frames[-1].pc  # the others wait at their calls
        objects(values)
        t.effects = {slot: make(values) for slot, make in effects.items()}
        t.mutated()
        if self.place != END:
            self.home.pc = self.place  # type: ignore[assignment]
        elif self.scope.loop is not None:
            assert code is not None
            self.scope.loop.arrive(code(values), arms[0].ends | arms[1].ends)

    def _emit(
        self, regions: tuple[Region, Region], mems: list[dict[int, Value]], pairs: list[tuple[Value, Value]]
    ) -> list[Value]:
        """The `cond` node; memories that no arm stores to do not pass through it."""
        b = self.t.b
        outer = [b.mem[k] for k in self.mem_keys]
        changed = [
            k
            for k, *params in zip(self.mem_keys, *(r.params for r in regions))
            if any(m[k] is not p for m, p in zip(mems, params))
        ]
        for region, mem, side in zip(regions, mems, (0, 1)):
            params = dict(zip(self.mem_keys, region.params))
            same = {params[k]: v for k, v in zip(self.mem_keys, outer) if k not in changed}
            region.results = [mem[k] for k in changed] + [pair[side] for pair in pairs]
            substitute(region, same)
            region.params = [params[k] for k in changed]
        types = tuple([MemType()] * len(changed) + [a.type for a, _ in pairs])
        outs = b.emit_multi("cond", self.cond, *(b.mem[k] for k in changed), types=types, regions=regions)
        for k, out in zip(changed, outs):
            b.mem[k] = out
        return list(outs[len(changed) :])


def substitute(region: Region, values: dict[Value, Value]) -> None:
    """Replace values in all inputs and results."""
    if not values:
        return
    region.results = [values.get(v, v) for v in region.results]
    for node in region.walk():
        node.inputs = tuple(values.get(v, v) for v in node.inputs)
        for inner in node.regions:
            inner.results = [values.get(v, v) for v in inner.results]


__all__ = ["END", "Way", "fork", "substitute"]
