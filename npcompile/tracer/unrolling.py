"""Which loops are unrolled: short ones of known length, as long as all turns together are little code.

In: an iterator at a loop's header. Out: yes or no. How much code a turn is, the first turn shows: where all turns would be too
much, it is taken back, and the loop becomes a region. What can only be unrolled (a loop over Python objects) may be more.

A loop that cannot be a region, and has few turns in the traced call, is traced turn by turn to its end; how many turns it has
becomes a guard. Where that does not do without a break either, nothing of it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from npcompile.bytecode.cfg import Loop as FlowLoop
from npcompile.bytecode.cfg import control_flow
from npcompile.frontends.values import Unsupported
from npcompile.ir.graph import Node
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType
from npcompile.records import dataclass

from .frames import Frame, Refused
from .interpreter import Trace
from .iterators import Turns, guarded_trips, known_trips, parts
from .snapshot import Snapshot
from .symbolic import IterV, SeqIterV

TURNS = 8
TURNS_OF_NEST = 64
"""Most turns of one loop, and of all unrolled loops of a nest."""
WORK = 64.0
"""Array operations in all turns of a nest. A compiler takes about 5 ms for each, and a region is nearly as fast."""
WORK_AT_MOST = 400.0
"""The same for a loop that cannot be a region."""
NUMBER = 0.1
"""What an operation on numbers counts."""
REGION = 2.0
"""What the code of an inner region counts more than straight code: unrolling what is around it gains little."""


@dataclass(eq=False)
class Taken:
    """A loop that is being traced turn by turn. forks : how many were around it."""

    frame: Frame
    header: int
    forks: int
    turns: int = 0


def unrolls(t: Trace, it: IterV) -> bool:
    """Is the loop unrolled? Decided when it starts; whether that is too much, `too_much` tells later."""
    if it.unrolled is None:
        n = known_trips(t, it)
        only = any(isinstance(p, SeqIterV) for p in parts(it))
        if only and n is None:
            n = guarded_trips(t, it)
        around = _around(t, it)
        short = n is not None and n <= TURNS and n * around <= TURNS_OF_NEST
        it.unrolled = max(n or 1, 1) if short or only else 0
        if only and n is not None and n > TURNS_OF_NEST:
            raise Unsupported("unroll-limit", f"{n} items")
        if it.unrolled > 1 and not only:
            known = t.unrolling.get(_place(t))
            if known is None:
                it.trial = Snapshot(t), it.unrolled * around
            elif known:
                it.unrolled, it.work = 0, known
    return bool(it.unrolled)


def too_much(t: Trace, it: IterV) -> bool:
    """After the first turn: would all be too much code? Then the trace stands before that turn, and a region is to be tried."""
    if it.trial is None or it.trial[0].mark.nodes == len(t.b.region.nodes):
        return False
    (start, n), it.trial = it.trial, None
    if start.mark.region is not t.b.region:
        return False  # the turn has left a branch whose arms go on apart
    work = n * _work(t.b.region.nodes[start.mark.nodes :])
    if work <= WORK:
        return False
    start.restore()
    it.trial, it.unrolled, it.work = None, 0, work
    t.unrolling[_place(t)] = work
    return True


def may_stay_unrolled(it: IterV) -> bool:
    """A region is only the better way: is the loop unrolled where it cannot be one?"""
    return 0 < it.work <= WORK_AT_MOST


def keep_unrolled(t: Trace, it: IterV) -> None:
    """The loop cannot be a region."""
    t.unrolling[_place(t)] = it.work = 0.0
    it.unrolled = known_trips(t, it) or 1


def turn_by_turn(t: Trace, f: Frame, it: IterV | None, shape: FlowLoop, counted: Turns | None, begin: Callable[[], None]) -> bool:
    """Trace a loop that cannot be a region turn by turn, to its end. `begin` makes the first turn. False: nothing is changed."""
    place = (*_place(t), len(t.loops))
    if place in t.memory.broken or (counted is not None and (it is None or not _few(t, counted))):
        return False
    if counted is None and f.code.code in t.memory.restless:
        return False
    start, blocks = Snapshot(t), control_flow(f.code.code).block_of
    nodes, region, depth = len(t.b.region.nodes), t.b.region, len(t.frames)
    mine = Taken(f, f.at, t.forks)
    t.taken.append(mine)
    try:
        if counted is not None and it is not None:
            it.unrolled = max(t.b.static_dim(counted.trips), 1)
        begin()
        t.run_until(lambda: t.finished or len(t.frames) < depth or (t.frames[-1] is f and blocks[f.pc] not in shape.body))
        broken = len(t.breaks) > start.breaks or (t.b.region is region and _work(region.nodes[nodes:]) > WORK_AT_MOST)
    except (Unsupported, Refused):
        broken = True
    finally:
        t.taken.pop()
    if broken:
        start.restore()
        t.memory.broken.add(place)
    return not broken


def _few(t: Trace, counted: Turns) -> bool:
    n = t.b.facts.canon(counted.trips)
    return not t.b.facts.is_local(n) and 1 <= t.b.hint(n) <= (TURNS if n.const is None else TURNS_OF_NEST)


def is_taken(t: Trace, f: Frame) -> bool:
    """At the header of a while loop: is it being traced turn by turn?"""
    for mine in t.taken:
        if mine.frame is f and mine.header == f.at:
            mine.turns += 1
            if mine.turns > TURNS or t.forks > mine.forks:
                e = Unsupported("unroll-limit", "a while loop")
                e.whole = True  # type: ignore[attr-defined]
                raise e
            return True
    return False


def _place(t: Trace) -> tuple[object, ...]:
    return tuple((f.code.code, f.at) for f in t.frames)


def _around(t: Trace, it: IterV) -> int:
    """How many copies of this loop the unrolled loops around it make."""
    n = 1
    for frame in t.frames:
        for v in frame.stack:
            n *= (v.unrolled or 1) if isinstance(v, IterV) and v is not it else 1
    return n


def _work(nodes: Iterable[Node]) -> float:
    return sum(_weight(node) for node in nodes)


def _weight(node: Node) -> float:
    if node.regions:
        return (REGION if node.prim == "loop" else 1.0) * sum(_work(r.nodes) for r in node.regions)
    if node.prim in ("const", "dim", "sym", "poll") or PRIMS[node.prim].loop == "index_map":
        return 0.0
    array = any(not isinstance(v.type, MemType) and v.type.dims for v in (*node.inputs, *node.outputs))
    return 1.0 if array and node.prim != "exit_if" and not node.prim.endswith("_item") else NUMBER
