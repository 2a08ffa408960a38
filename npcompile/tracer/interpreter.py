"""The symbolic interpreter: runs micro-ops over symbolic values, never user code.

In: a function and the live arguments of one call. Out: a `Trace` whose graph, spec and breaks `trace` packs up. Handlers
of micro-ops live in the files of their area and register themselves in `HANDLERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from types import CellType
from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op, ResumePoint, n_params, normalise
from npcompile.bytecode.stubs import resumable
from npcompile.frontends.builder import Builder
from npcompile.frontends.values import NULL, Const, Lazy, NullV, Scalar, SymValue, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Loc, Node, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.segment import ExitSpec, SegmentSpec, Source
from npcompile.records import dataclass, replace

from .exits import ExitBuilder, FrameState, pruned, reachable
from .frames import Frame, Point, Refused, only_raises, while_headers
from .inputs import Inputs
from .memory import Memory
from .reasons import BETWEEN, RAISES
from .symbolic import UNBOUND, CellV, DimCompare, ExceptionV, FunctionInfo, InputObject, JoinV

INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)

MAX_STEPS = 20_000
MAX_DEPTH = 24
MAX_RECURSION = 12
MAX_OPEN_RECURSION = 200
"""Instructions of all levels of a recursion whose depth is decided at run time: each level has both arms of the decision."""
MAX_RECURSIVE_CALLS = 16
"""Of a function in itself, at any depth: one that calls itself twice has thousands of calls within the depth."""


@dataclass(frozen=True)
class Break:
    """A place where the segment ends before the function does. column : counted from 1; None where Python does not say."""

    reason: str
    detail: str
    file: str
    line: int
    column: int | None = None


Handler = Callable[["Trace", Frame, Instr], None]
HANDLERS: dict[Op, Handler] = {}


def handles(*ops: Op) -> Callable[[Handler], Handler]:
    """Register the handler of micro-ops."""

    def register(fn: Handler) -> Handler:
        for op in ops:
            if op in HANDLERS:
                raise ValueError(f"{op} has a handler already")
            HANDLERS[op] = fn
        return fn

    return register


class TraceBuilder(Builder):
    """The builder of a trace: exits may need one variant for each type that a joined value can have."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace

    def exit_if(self, cond: Value, reason: str) -> None:
        self._trace.exit_if(cond, reason)


class Trace:
    """State of one trace.

    frames : the Python frames, outermost first.
    point : the last place to which an exit can return.
    mutations : counts changes of virtual containers, iterators and cells.
    effects : changes of objects that existed before the call; owners, spaces : the objects and global namespaces (see `effects`).
    cells : closure cells that existed before, by identity.
    loops : loops being traced, outermost first.
    taken : loops being traced turn by turn (see `unrolling`).
    unrolling : work of short loops that are regions, by place; 0 for those that cannot be (see `unrolling`).
    conditional : an arm of a branch has left the segment, so that what follows runs in some calls only.
    forks, copies : number of branches whose arms are being traced; of those, whose arms go on apart.
    turns : how often each traced loop turns in this call.
    begun : turns of loops of which one turn is, or was last, traced in straight line, by code and header.
    memory : what earlier traces have found out.
    recursive : number of calls of a function in itself that were inlined.
    handled : exceptions being handled, the latest last; catching : the frame whose handler is being traced, and how many handlers
        it was in before.
    """

    def __init__(self, options: Any = None, memory: Memory | None = None) -> None:
        self.options = options
        self.memory = memory or Memory()
        self.spec = SegmentSpec()
        self.b = TraceBuilder(self)
        self.inputs = Inputs(self.b, self.spec, self.memory, dynamic=getattr(options, "dynamic", None) is not False)
        self.b.force_hook = self.inputs.force
        self.b.static_hook = self.inputs.specialise
        self.b.static_dim_hook = self.inputs.note_static
        self.b.store_hook = self.inputs.note_store
        self.b.unchanged_hook = self._unchanged
        self.b.state_hook = self.inputs.guard_state
        self.b.default_dtype_hook = self.inputs.default_dtype
        self.b.current_device_hook = self.inputs.current_device
        self.frames: list[Frame] = []
        self.point: Point | None = None
        self.breaks: list[Break] = []
        self.mutations = 0
        self.effects: dict[Any, SymValue] = {}
        self.owners: dict[Source, InputObject] = {}
        self.spaces: dict[Source, dict[str, Any]] = {}
        self.cells: dict[int, CellV] = {}
        self.loops: list[Any] = []
        self.plans: dict[Any, Any] = {}
        self.taken: list[Any] = []
        self.unrolling: dict[Any, float] = {}
        self.conditional = False
        self.forks = 0
        self.copies = 0
        self.turns: dict[Node, int] = {}
        self.begun: dict[Any, int] = {}
        self.finished = False
        self.recursive = 0
        self.steps = 0
        self.handled: list[ExceptionV] = []
        self.catching: tuple[Frame, int] | None = None

    # -- running --------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Interpret until the outermost frame returns or something is not supported; either way the graph is ended."""
        try:
            self.run_until(lambda: self.finished)
        except Unsupported as e:
            self.leave(e)

    def run_until(self, done: Callable[[], bool]) -> None:
        while not done():
            self.step(self.frames[-1])

    def step(self, frame: Frame) -> None:
        at = frame.pc
        instr = frame.code.instrs[at]
        if instr.start:
            frame.at = at
            self.mark(frame, instr)
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Refused("too-long", f"more than {MAX_STEPS} instructions", frame.loc())
        frame.pc = at + 1
        self.b.loc = frame.loc()
        handler = HANDLERS.get(instr.op)
        try:
            if at in while_headers(frame.code.code):
                from .loops import while_loop

                if while_loop(self, frame):
                    return
            if handler is None:
                raise Unsupported("unknown-instruction", instr.op.name)
            handler(self, frame, instr)
        except Unsupported as e:
            if hasattr(e, "loc"):
                raise
            e.loc = self.b.loc  # type: ignore[attr-defined]
            e.column = frame.column()  # type: ignore[attr-defined]
            from .raising import throw_for

            if not throw_for(self, frame, e):
                raise

    def mark(self, frame: Frame, instr: Instr) -> None:
        """Note the state before a real instruction, when Python could take over here."""
        if frame.can_exit and resumable(frame.code.code, instr.offset) is None:
            self.point = Point(
                len(self.frames),
                frame,
                frame.at,
                list(frame.stack),
                dict(frame.locals),
                dict(self.b.mem),
                self.mutations,
                dict(self.effects),
                self.b.region,
                len(self.b.region.nodes),
                self.b.n_reports,
            )

    def push_frame(self, frame: Frame) -> None:
        """Enter an inlined function; its result will be pushed on the caller's stack."""
        if self.frames:
            caller = self.frames[-1]
            if len(self.frames) >= MAX_DEPTH:
                raise Unsupported("inline-depth", f"{len(self.frames)} frames")
            depth = sum(f.code.code is frame.code.code for f in self.frames)
            self.recursive += depth > 0
            again = depth > 0 and frame.code.code in self.memory.restless
            inner = next((f for f in reversed(self.frames) if f.code.code is frame.code.code), None)
            if inner is not None and self.forks > inner.forks and depth * len(frame.code.instrs) > MAX_OPEN_RECURSION:
                again = True
            if depth >= MAX_RECURSION or self.recursive > MAX_RECURSIVE_CALLS or again:
                raise Unsupported("recursion", frame.code.code.co_qualname)
            frame.can_exit = caller.can_exit and resumable(caller.code.code, caller.instr.offset, "call") is None
        frame.forks = self.forks
        self.frames.append(frame)

    def pop_frame(self, result: SymValue) -> None:
        """The innermost frame returns."""
        if len(self.frames) == 1:
            self.return_value(result)
            return
        if not self.frames[-1].can_exit:  # it may be the method of an operator
            result = self.b.force(result)
            if isinstance(result, Const) and result.value is NotImplemented:
                raise Unsupported("operand", "a method gives NotImplemented")
        frame = self.frames.pop()
        if frame.on_return is not None:
            result = frame.on_return(result)
        if not frame.drops:
            self.frames[-1].stack.append(result)

    # -- looking at values ------------------------------------------------------------------------------------------
    def look(self, v: SymValue) -> SymValue:
        """A value to be looked at: inputs are guarded, joins resolved. Comparisons of sizes stay questions."""
        v = self.b.force(v)
        return self.look(self.resolve_join(v)) if isinstance(v, JoinV) else v

    def use(self, v: SymValue) -> SymValue:
        """A value to compute with: as `look`, and comparisons of sizes become run-time values."""
        v = self.look(v)
        return v.settled(self.b) if isinstance(v, DimCompare) else v

    def resolve_join(self, v: JoinV) -> SymValue:
        """The side of a join that holds here."""
        return v.choice.resolve(self, v)

    def int_of(self, d: Dim | int) -> SymValue:
        """A Python int given as a dim."""
        d = self.b.facts.canon(d)
        return Const(d.const) if d.const is not None else Scalar("python", INT64, None, d)

    def _unchanged(self, key: int) -> None:
        if self.point is not None and key in self.point.mem:
            self.point.mem[key] = self.b.mem[key]

    def mutated(self) -> None:
        """A virtual object was changed in place: earlier points cannot be returned to."""
        self.mutations += 1

    # -- exits ----------------------------------------------------------------------------------------------------
    def exit_state(self) -> FrameState:
        """The frames an exit before the current instruction hands back."""
        p = self.point
        if p is None:
            raise Refused("not-resumable", "nothing before can be returned to", self.b.loc)
        if p.mutations != self.mutations or any(self.b.mem.get(k) is not m for k, m in p.mem.items()):
            raise Refused("not-resumable", "something was stored since the last instruction that can be resumed", self.b.loc)
        outer: FrameState = p.outer if p.outer is not None else self.waiting(p.depth - 1)
        return pruned(self.inputs, [*outer, (p.frame, p.at, p.stack, p.locals)])

    def waiting(self, n: int) -> FrameState:
        """The outermost `n` frames, which wait at calls."""
        return [(f, f.at, list(f.stack), dict(f.locals)) for f in self.frames[:n]]

    def exit_if(self, cond: Value, reason: str) -> None:
        """A conditional exit before the current instruction."""
        with self._before_stores(cond):
            state = self.exit_state()
            self._silence(may_go_on=True)
            variants = self._variants(self._values(state))
            for extra, choose in variants:
                self._exit_node(state, "exit_if", (cond,), extra, choose, reason, "", len(variants) > 1)

    @contextmanager
    def _before_stores(self, cond: Value) -> Iterator[None]:
        """In a handler, where Python cannot take over: an exit whose condition was known at the raise stands there, before what
        the handler has stored."""
        p, region = self.point, self.b.region
        changed = p is not None and any(self.b.mem.get(k) is not m for k, m in p.mem.items())
        if self.catching is None or p is None or not changed or p.region is not region or p.mutations != self.mutations:
            yield
            return
        later = region.nodes[p.nodes :]
        first = _needed(cond, later)
        if any(n.report is not None or n.regions or (PRIMS[n.prim].effect and n.prim not in ("load", "item")) for n in first):
            yield
            return
        mem = self.b.mem
        region.nodes[p.nodes :] = first
        self.b.mem = dict(p.mem)
        try:
            yield
        finally:
            region.nodes += [n for n in later if n not in first]
            self.b.mem = mem

    def _silence(self, may_go_on: bool) -> None:
        """Python runs again what was emitted since the point of an exit: compiled code must not have reported it by then."""
        assert self.point is not None
        nodes = self.point.reporting()
        elsewhere = self.point.region is not self.b.region and self.point.reports != self.b.n_reports
        if elsewhere or (nodes and may_go_on):
            raise Refused("not-resumable", "something may warn since the last instruction that can be resumed", self.b.loc)
        for n in nodes:
            n.report = None

    def leave(self, e: Unsupported) -> None:
        """End the graph: what is not supported, and all after it, runs natively."""
        loc = getattr(e, "loc", None) or self.b.loc
        frame = self.frames[-1]
        expected = self.conditional and (e.reason in RAISES or only_raises(frame.code.code, frame.at))
        if not expected and e.reason not in BETWEEN:
            self.breaks.append(Break(e.reason, e.detail, loc.file, loc.line, getattr(e, "column", None)))
        state = self.exit_state()
        self._silence(may_go_on=False)
        *variants, last = self._variants(self._values(state))
        for extra, choose in variants:
            self._exit_node(state, "exit_if", (), extra, choose, e.reason, e.detail, variant=True)
        self._exit_node(state, "exit", (), (), last[1], e.reason, e.detail)
        self.finished = True

    def exit_at(self, frame: Frame, at: int) -> ExitSpec:
        """The description of an exit in the root frame before anything has run."""
        local = dict(frame.locals)
        local.update({k: CellV(local.get(k)) for k in _cells_made(frame, at)})
        build = ExitBuilder(self.b, self.inputs, lambda v: False, {})
        return build.resuming([(frame, at, list(frame.stack), local)], "", "", frame.loc())

    def return_value(self, v: SymValue) -> None:
        *variants, last = self._variants([v, *self.effects.values()])
        for extra, choose in variants:
            self._return_node(v, "exit_if", extra, choose)
        self._return_node(v, "exit", (), last[1])
        self.finished = True

    def _values(self, state: FrameState) -> list[SymValue]:
        assert self.point is not None
        out: list[SymValue] = [*self.point.effects.values()]
        for frame, _, stack, local in state:
            out += [*stack, *local.values(), *frame.free.values()]
        return out

    def _variants(self, roots: list[SymValue]) -> list[tuple[tuple[Value, ...], Callable[[JoinV], bool]]]:
        """One (conditions, choice) for each way in which variables in sight are bound or not; the last has no condition."""
        open_ = [v.choice for v in reachable(roots) if isinstance(v, JoinV) and v.first is UNBOUND]
        choices = list({id(c): c for c in open_}.values())
        out: list[tuple[tuple[Value, ...], Callable[[JoinV], bool]]] = []
        for sides in product((True, False), repeat=len(choices)):
            first = {id(c): side for c, side in zip(choices, sides)}
            conds = tuple(c.first_holds(self.b) for c, side in zip(choices, sides) if side)
            out.append((conds, lambda v, first=first: first[id(v.choice)]))  # type: ignore[misc]
        return out

    def _condition(self, conds: tuple[Value, ...]) -> Value:
        out = conds[0]
        for c in conds[1:]:
            out = self.b.emit("logical_and", out, c)
        return out

    def _exit_node(
        self,
        state: FrameState,
        prim: str,
        conds: tuple[Value, ...],
        extra: tuple[Value, ...],
        choose: Callable[[JoinV], bool],
        reason: str,
        detail: str,
        variant: bool = False,
    ) -> None:
        frame, at = state[-1][:2]
        line = frame.code.instrs[at].line or frame.code.code.co_firstlineno
        assert self.point is not None
        build = ExitBuilder(self.b, self.inputs, choose, self.point.effects)
        spec = build.resuming(state, reason, detail, Loc(frame.code.code.co_filename, line))
        spec = replace(spec, variant=variant, expected=prim == "exit" and not self.forks)
        self._emit_exit(prim, (*conds, *extra), build, spec)

    def _return_node(self, v: SymValue, prim: str, extra: tuple[Value, ...], choose: Callable[[JoinV], bool]) -> None:
        build = ExitBuilder(self.b, self.inputs, choose, self.effects)
        self._emit_exit(prim, extra, build, replace(build.returning(v, self.b.loc), variant=prim == "exit_if"))

    def _emit_exit(self, prim: str, conds: tuple[Value, ...], build: ExitBuilder, spec: ExitSpec) -> None:
        exit_id = len(self.spec.exits)
        self.spec.exits.append(spec)
        cond = (self._condition(conds),) if conds else ()
        self.b.emit_multi(prim, *cond, *build.captures, *self.b.mem_values(), *build.mems, exit=exit_id)


def _needed(v: Value, nodes: list[Node]) -> list[Node]:
    """Of some nodes, those that a value is made of."""
    wanted = {v}
    out = []
    for n in reversed(nodes):
        if any(x in wanted for x in n.outputs):
            wanted.update(n.inputs)
            out.append(n)
    return out[::-1]


def _cells_made(frame: Frame, at: int) -> list[str]:
    """Cells that the instructions before `at` make."""
    return [i.arg for i in frame.code.instrs[frame.pc : at] if i.op is Op.MAKE_CELL]


def root_frame(trace: Trace, fn: Any, args: tuple[Any, ...]) -> Frame:
    """The frame of the traced call: every argument an input that nobody has looked at."""
    from .functions import cells_of

    code = fn.__code__
    info = FunctionInfo(code, fn.__globals__, None, fn.__name__, closure=cells_of(trace, fn, None))
    frame = Frame(normalise(code), info, free=dict(zip(code.co_freevars, info.closure)))
    for i, (name, x) in enumerate(zip(code.co_varnames, args)):
        trace.inputs.announce(x)
        frame.locals[name] = trace.inputs.lazy(Source("arg", i), x)
        frame.own[name] = Source("arg", i)
    return frame


def point_frame(trace: Trace, fn: Any, point: ResumePoint, args: tuple[Any, ...]) -> Frame:
    """The frame of a function that goes on in mid-code; `args` as stepping stubs pack them: stack, slots, free variables."""
    from .functions import cell_at

    code = point.code
    values = []
    for i, x in enumerate(args):
        trace.inputs.announce(x)
        values.append(trace.inputs.lazy(Source("arg", i), x))
    rest = iter(values)
    stack: list[SymValue] = [NULL if null else next(rest) for null in point.nulls]
    local: dict[str, SymValue] = {}
    for name in point.bound:
        v = next(rest)
        is_cell = name in code.co_cellvars and isinstance(v.example, CellType)
        local[name] = cell_at(trace, v) if is_cell else v
    free = {name: cell_at(trace, next(rest)) for name in code.co_freevars}
    info = FunctionInfo(code, fn.__globals__, None, code.co_name, closure=tuple(free.values()))
    at = normalise(code).index_of_offset[point.offset]
    parameters = code.co_varnames[: n_params(code)]
    own = {name: v.source for name, v in local.items() if isinstance(v, Lazy) and name in parameters}
    return Frame(normalise(code), info, local, free, stack, pc=at, at=at, own=own)


def is_null(v: SymValue) -> bool:
    return isinstance(v, NullV)


__all__ = ["HANDLERS", "Break", "Trace", "handles", "is_null", "point_frame", "root_frame"]
