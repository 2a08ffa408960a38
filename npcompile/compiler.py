"""One call's way from a miss to a compiled entry: trace, passes, lowering, disk cache, entry.

In: a place (a function, or a point in one) and bound arguments. Out: an entry in its jit object, and a `CompileRecord` that
`explain`, the logs and `.stats` read. Never: lets a defect of ours reach the user; the call then runs plain
(NPCOMPILE_STRICT=1 raises).
"""

from __future__ import annotations

import functools
import math
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

from . import logs, passes, policy, units, wording
from .config import PROCESS, Options
from .continuations import continuations, fetch
from .errors import CompilerError, UnsupportedError
from .frontends import foreign
from .ir.graph import Graph, Loc, ReportSite
from .ir.segment import SegmentSpec, Source
from .lowering import LoweringError, LowerOptions, lower
from .points import points_of
from .records import dataclass, field, replace
from .runtime import _dispatch, libraries
from .runtime.segments import make_entry
from .state import Place
from .tracer import Cause, Refused, TraceResult, trace
from .tracer.reasons import REASONS
from .wording import Names

GAIN = 0.7
"""Share of the time in plain Python that compiled code saves, carefully estimated."""
STEP_SECONDS = 0.5e-6
"""What a step between two segments costs: a segment that saves less is not worth it."""


@dataclass
class CompileRecord:
    """What one attempt to compile gave.

    place : where it begins: the function's name, or that and the line from which it goes on.
    names : what its inputs are called in the source code.
    failed : what the call did not meet of the entries that were there, in words; "" when there were none.
    trace : the tracer's result; None when it refused.
    watched : sites of floating-point conditions in the trace.
    graph : the graph after the passes.
    lowered : C++ text and facts; None when nothing was lowered.
    entry : what was put into the jit object; None when it was declined.
    declined : why there is no compiled code, "" when there is.
    from_cache : the machine code came from the disk cache.
    seconds : stage -> time spent.
    """

    place: str
    names: Names
    failed: str = ""
    trace: Any = None
    watched: list[ReportSite] = field(default_factory=list)
    graph: Any = None
    lowered: Any = None
    entry: Any = None
    declined: str = ""
    from_cache: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def guards(self) -> list[str]:
        """What is checked before the segment runs, in words."""
        if self.trace is None:
            return []
        return wording.requirements(self.trace.spec, self.names, self.graph.guards if self.graph is not None else ())

    @property
    def ir(self) -> str:
        """The graph as runnable Python."""
        from .ir.printer import to_text

        return "" if self.graph is None else to_text(self.graph, self.trace.spec)


def attempt(
    jitted: Any, bound: tuple[Any, ...], place: Place, at_least: float = 0.0, waited: float = math.inf
) -> CompileRecord | None:
    """Compile for one call, defects of ours contained, and give the entry to the jit object.

    None when the call takes less than `at_least` seconds in plain Python, or the compile more than may be spent on a function
    that has cost `waited` seconds (`place.price` is then what it takes): nothing was compiled.
    """
    fn, options = place.fn, place.options
    record = CompileRecord(place.name, place.names)
    if place.records:
        why = cause(jitted, bound, place)
        record.failed = why.text
        if record.failed:
            logs.log("recompiles", f"{place.name}: {record.failed}")
        place.memory.failed(why, place.point, fn.__code__)
    try:
        traced = start(place, bound, record)
        step_only = traced.idle is not None and _too_little(place, traced)  # costs nothing to make
        if traced.plain_seconds * traced.repeats < at_least and not step_only:
            return None
        build(place, bound, record, max(waited, traced.plain_seconds * traced.repeats))
        if record.entry is not None:
            jitted.insert(record.entry)
    except UnsupportedError:
        raise
    except policy.TooDear as e:
        place.price = e.price
        return None
    except LoweringError as e:
        record.declined = str(e)
        if options.fullgraph:
            id = e.reason if e.reason in REASONS else "not-lowered"
            raise unsupported(id, e.detail, fn.__code__.co_filename, fn.__code__.co_firstlineno) from None
    except CompilerError as e:
        if PROCESS.strict and units.compiler() is not None:
            raise
        record.declined = str(e)
        if units.compiler() is not None:
            units.warn_failure(fn)
    except Refused as e:
        record.declined = str(e)
        if options.fullgraph:
            loc = e.loc or Loc(fn.__code__.co_filename, fn.__code__.co_firstlineno)
            raise unsupported(e.reason, e.detail, loc.file, loc.line) from None
    except Exception as e:
        if PROCESS.strict:
            raise
        import traceback

        detail = f"{type(e).__name__}: {e}"
        record.declined = f"internal error: {detail}"
        logs.log("graph_breaks", f"{place.name}: [internal-error] {detail}\n{traceback.format_exc()}")
        if options.fullgraph:
            raise unsupported("internal-error", detail, fn.__code__.co_filename, fn.__code__.co_firstlineno) from e
    return record


class Stage:
    """Times one stage into a record."""

    def __init__(self, record: CompileRecord, name: str) -> None:
        self.record, self.name = record, name

    def __enter__(self) -> None:
        self.start = time.perf_counter()

    def __exit__(self, *exc: object) -> None:
        self.record.seconds[self.name] = time.perf_counter() - self.start


def cause(jitted: Any, bound: Sequence[Any], place: Place) -> Cause:
    """Which guard sent a call to `miss`: the failure in the entry that got furthest."""
    best, furthest = Cause(), -1
    names = place.names
    graphs = {id(r.entry): r.graph for r in place.records if r.graph is not None}
    idle = {id(r.entry): r.trace.graph for r in place.records if r.graph is None and r.entry is not None}
    for entry in jitted.entries:
        failed = entry.check(jitted, bound)
        spec = entry.info
        if spec is None:
            continue
        n = len(spec.guards)
        guard = spec.guards[failed] if failed is not None and failed < n else None

        def live(s: Source, spec: SegmentSpec = spec) -> Any:
            return fetch(s, place.fn, bound, spec.constants)

        sizes = False
        if guard is not None:
            text = wording.failure(guard, spec, names, live)
        elif failed is not None and id(entry) in idle:
            sizes = True
            text = wording.unmet_size(idle[id(entry)].guards, spec, names, live)
        elif failed is not None:
            text = wording.aliasing(failed - n, spec, names)
        elif id(entry) in graphs:  # what the segment itself asks of sizes
            text = wording.unmet_size(graphs[id(entry)].guards, spec, names, live)
            failed, sizes = n + len(spec.aliases), True
        else:
            continue
        if failed > furthest:
            furthest, best = failed, Cause(text, guard, sizes=sizes, hits=entry.hits)
            if guard is not None:
                best.was = spec.constants[guard.arg] if guard.kind in ("is", "equal") else None
                best.gone = _gone(guard.source, live)
    return best


def _gone(s: Source, live: Callable[[Source], Any]) -> bool:
    """Is it a key that a dict does not have any more?"""
    try:
        return s.kind == "item" and s.base is not None and type(live(s.base)) is dict and s.key not in live(s.base)
    except Exception:  # nor is the dict there
        return False


def start(place: Place, bound: tuple[Any, ...], record: CompileRecord) -> TraceResult:
    """Trace the call."""
    with Stage(record, "trace"):
        record.trace = traced = trace(place.fn, bound, place.options, place.point, place.memory)
    return traced


def build(place: Place, bound: tuple[Any, ...], record: CompileRecord, worth: float = math.inf) -> None:
    """Run the stages for one call and fill the record; `record.entry` stays None when a compiled entry cannot be made.

    Raises `policy.TooDear` when the C++ compiler would have to run for longer than `worth` seconds, and than may be spent.
    """
    generate(place, bound, record)
    _log(record)
    lowered = record.lowered
    if lowered is None:
        return
    traced = record.trace
    with Stage(record, "compile"):
        address, record.from_cache = units.load(lowered.source, lowered.symbol, functools.partial(_can_pay, worth))
    launcher = stream = None
    if lowered.device_kernels or traced.spec.device != "cpu":
        launcher, stream = _gpu().launcher(
            lowered.device_kernels, traced.spec, units.loader().cache, functools.partial(setattr, record, "declined")
        )
    with Stage(record, "entry"):
        record.entry = make_entry(
            traced.spec,
            len(bound),
            address,
            n_slots=lowered.n_slots,
            report_sites=lowered.report_sites or record.watched[:1],
            symbols=[libraries.resolve(s) for s in lowered.symbols],
            loops=lowered.loops,
            python_calls=lowered.python_calls,
            continuations=continuations(traced.spec, place.fn, bound, points_of(place)),
            gain=GAIN * traced.plain_seconds,
            max_threads=0 if place.options.parallel else 1,
            stores_first=lowered.stores_first,
            info=traced.spec,
            launcher=launcher,
            stream=stream,
            general=traced.general,
        )


def _can_pay(worth: float, source: str) -> None:
    price = policy.BYTE_SECONDS * len(source)
    if not policy.affordable(price, worth):
        raise policy.TooDear(price)


def _log(record: CompileRecord) -> None:
    """Write what was made to the topics that someone reads."""
    if record.graph is not None:
        texts = {"guards": lambda: "\n  ".join(record.guards), "ir": lambda: record.ir}
        if record.lowered is not None:
            texts["kernels"] = record.lowered.describe
        for topic, text in texts.items():
            if logs.enabled(topic):
                logs.log(topic, f"{record.place}:\n  {text()}" if topic == "guards" else f"{record.place}:\n{text()}")


def generate(place: Place, bound: tuple[Any, ...], record: CompileRecord) -> None:
    """The stages before the C++ compiler; where no C++ is needed, `record.entry` is made (or the reason given) here."""
    fn, options = place.fn, place.options
    traced = record.trace or start(place, bound, record)
    if traced.spec.library in foreign.LIBRARIES:
        getattr(_dispatch, f"use_{traced.spec.library}")(foreign.LIBRARIES[traced.spec.library].parts())
    for b in traced.breaks:
        logs.log("graph_breaks", f"{place.name}: [{b.reason}] {b.detail} at {b.file}:{b.line}")
    if options.fullgraph and traced.breaks:
        b = traced.breaks[0]
        raise unsupported(b.reason, b.detail, b.file, b.line, b.column)
    if _too_little(place, traced):
        record.declined = "nothing to compile before the first break" if traced.breaks else "nothing to compile"
        record.entry = _idle(place, bound, traced)
        return
    if options.backend not in (None, "cpp", "triton"):
        if traced.spec.device != "cpu":
            raise LoweringError("backend-device", f"arrays on {traced.spec.device}")
        from .backends import PythonSegment, reference

        graph = _passes(fn, bound, options, record, False)
        backend = options.backend if callable(options.backend) else reference
        record.entry = PythonSegment(fn, replace(traced, graph=graph), backend, lambda a: trace(fn, a, options)).entry(
            record.watched
        )
        return
    if traced.spec.library == "numpy" and (options.device or "cpu") != "cpu":
        _lower_for_copies(fn, bound, options, record)
    else:
        _lower(fn, bound, options, record, options.backend == "triton" or traced.spec.device != "cpu")


def _passes(fn: types.FunctionType, bound: tuple[Any, ...], options: Options, record: CompileRecord, on_device: bool) -> Graph:
    traced = record.trace
    record.watched = [] if on_device else passes.watched_sites(traced.graph)
    with Stage(record, "passes"):
        source = passes.silenced(traced.graph) if on_device else traced.graph
        record.graph = graph = passes.run(source, _pass_options(traced, fn, bound, options))
    return graph


def _lower(fn: types.FunctionType, bound: tuple[Any, ...], options: Options, record: CompileRecord, on_device: bool) -> None:
    spec = record.trace.spec
    if on_device:
        _gpu().require(spec.device)
    graph = _passes(fn, bound, options, record, on_device)
    with Stage(record, "lower"):
        kernels = "triton" if on_device else "cpp"
        low_options = LowerOptions(parallel=options.parallel, fastmath=options.fastmath, backend=kernels)
        record.lowered = lower(graph, spec, low_options)


def _lower_for_copies(fn: types.FunctionType, bound: tuple[Any, ...], options: Options, record: CompileRecord) -> None:
    """NumPy's arrays are copied to a device. What has no form there, or where there is no device, is compiled for the CPU."""
    spec = record.trace.spec
    spec.device = "cuda:0" if options.device == "cuda" else str(options.device)
    try:
        _gpu().require(spec.device, "are compiled for the CPU")
        if any(a.relation != "disjoint" for a in spec.aliases):
            raise LoweringError("alias-merge", "arrays that share memory are copied to a device apart from one another")
        _lower(fn, bound, options, record, True)
    except LoweringError as e:
        logs.log("graph_breaks", f"{fn.__qualname__}: compiled for the CPU instead of {spec.device}: {e}")
        spec.device = "cpu"
        _lower(fn, bound, options, record, False)


def _gpu() -> Any:
    from .runtime import gpu

    return gpu


def _too_little(place: Place, traced: TraceResult) -> bool:
    """Is there nothing to compute, or in the middle of a function less than coming here costs?"""
    hot = place.point is not None and place.options.compile == "hot"
    return not traced.n_work or (hot and traced.plain_seconds < STEP_SECONDS)


def _idle(place: Place, bound: tuple[Any, ...], traced: TraceResult) -> _dispatch.Entry:
    """The entry of a trace without work: Python runs up to the break and over it, or, where that is no single way, to the end."""
    spec, points = traced.spec, points_of(place)
    end = spec.exits[-1]
    trivial = not traced.n_work and len(spec.exits) == 1 and end.kind == "resume" and not end.captures and not traced.graph.guards
    leave = end if trivial else traced.idle
    plain = replace(spec, exits=[], aliases=[])
    sizes = traced.graph.guards  # a loop may have had no turn, or a branch have led to the end at once
    if leave is None or points is None or place.options.backend not in (None, "cpp", "triton"):
        return make_entry(plain, len(bound), info=spec, general=traced.general, sizes=sizes)
    spec = replace(plain, exits=[leave])
    after = continuations(spec, place.fn, bound, points)
    if not isinstance(after[0][0], _dispatch.Steps):  # type: ignore[index]
        return make_entry(plain, len(bound), info=traced.spec, general=traced.general, sizes=sizes)
    n_slots = sum(g.kind in ("array", "tensor") for g in spec.guards)
    return make_entry(
        spec, len(bound), _dispatch.EXIT_0, n_slots=n_slots, continuations=after, info=traced.spec, general=traced.general
    )


def _pass_options(traced: Any, fn: types.FunctionType, bound: Sequence[Any], options: Options) -> passes.PassOptions:
    if not options.debug_passes or traced.spec.device != "cpu":
        return passes.PassOptions(fuel=options.fuel, verify=PROCESS.strict, spec=traced.spec)
    from .tracer.replay import Call

    inputs = Call(traced, fn, bound).bind()
    return passes.PassOptions(fuel=options.fuel, verify=True, spec=traced.spec, inputs=inputs)


def unsupported(id: str, detail: str, file: str, line: int, column: int | None = None) -> UnsupportedError:
    """The error of `fullgraph=True` for a reason of the tracer."""
    reason = REASONS[id]
    return UnsupportedError(id, detail, file, line, reason.explanation, reason.hint, column)
