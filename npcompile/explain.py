"""`npcompile.explain`: one call of a function under a fresh jit object, and what was and was not compiled in it.

In: a function and arguments. Out: a `Report`. Never: keeps state between calls.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import api
from .config import PROCESS, Options
from .errors import place
from .records import dataclass, field, replace
from .runtime._dispatch import Jit

if TYPE_CHECKING:
    from .compiler import CompileRecord


SHOWN = 6
"""Lines of a kind that a printed report has; the rest is counted."""


@dataclass(frozen=True)
class GraphBreak:
    """A place where Python ran what was not compiled, before compiled code went on.

    id : stable reason id; reason : what it means; detail : what exactly; hint : what to do; file, line, column : where (the
    column counts from 1; None where Python does not say).
    """

    id: str
    reason: str
    detail: str
    hint: str
    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        what = f"{self.reason} ({self.detail})" if self.detail else self.reason
        return f"[{self.id}] {what}\n    at {place(self.file, self.line, self.column)}\n    hint: {self.hint}"


@dataclass(frozen=True)
class Exit:
    """A place where the call left compiled code, and Python ran what comes next.

    A graph break is one; so is what Python does between two pieces of compiled code though nothing failed to compile (it gives
    the next element of its own iterator, lets an object go), and what happened for the values of this call only.

    id, reason, detail : why; file, line : where; count : how often.
    """

    id: str
    reason: str
    detail: str
    file: str
    line: int
    count: int = 0

    def __str__(self) -> str:
        what = f"{self.reason} ({self.detail})" if self.detail else self.reason
        return f"left {self.count} time{'s' * (self.count != 1)} at {self.file}:{self.line}: [{self.id}] {what}"


@dataclass
class Report:
    """What one call compiled. `print` shows a summary; everything is in the attributes.

    Attributes
    ----------
    segments : list of CompileRecord
        One for each compiled segment; a function that only makes views has one without kernels. `place` says where it begins.
    kernels : list of Kernel
        Loop nests: name, dims, prims, fused node count, refused fusions.
    graph_breaks : list of GraphBreak
        What was not compiled. Empty when the whole call ran compiled.
    exits : list of Exit
        Where this call left compiled code before its end, and how often: why there is more than one segment.
    guards : list of str
        What each segment checks before it runs.
    ir : str
        The prim graphs as runnable Python.
    source : str
        The generated C++.
    backend : str
        "C++", "Python" (another backend) or "" when nothing was compiled.
    declined : str
        Why nothing was compiled; "" otherwise.
    allocations, allocations_in_loops, copies_in_loops : int
        Arrays and scratch blocks that one call may allocate, those inside compiled loops, whole-array copies inside them.
    seconds : dict
        Stage -> time spent.
    result : object
        What the call returned (None with ``run=False``).
    """

    name: str
    segments: list[CompileRecord] = field(default_factory=list)
    kernels: list[Any] = field(default_factory=list)
    graph_breaks: list[GraphBreak] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    ir: str = ""
    source: str = ""
    backend: str = ""
    declined: str = ""
    allocations: int = 0
    allocations_in_loops: int = 0
    copies_in_loops: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    result: Any = None

    def __str__(self) -> str:
        counts = ((self.segments, "segment"), (self.kernels, "kernel"), (self.graph_breaks, "graph break"))
        lines = [f"{self.name}: " + ", ".join(_counted(x, what) for x, what in counts)]
        if self.declined:
            lines.append(f"not compiled: {self.declined}")
        for k, record in enumerate(self.segments):
            where = "" if record.place == self.name else f", {record.place}"
            lines.append(f"  segment {k + 1}{where}: {_counted(record.guards, 'guard')}")
            lines += [f"    {text}" for text in _described(record)]
        lines += [f"  {line}" for text in _first(self.graph_breaks, "graph_breaks") for line in text.splitlines()]
        broken = {(b.id, b.detail) for b in self.graph_breaks}
        others = [e for e in self.exits if (e.id, e.detail) not in broken]
        lines += [f"  {line}" for line in _first(others, "exits")]
        lines += [f"  guard: {_cut(line)}" for line in _first(list(dict.fromkeys(self.guards)), "guards")]
        if self.seconds:
            lines.append("  time: " + ", ".join(f"{stage} {1e3 * t:.1f} ms" for stage, t in self.seconds.items()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        parts = [f"<pre>{html.escape(str(self))}</pre>"]
        for title, text in (("IR", self.ir), ("C++", self.source)):
            if text:
                parts.append(f"<details><summary>{title}</summary><pre>{html.escape(text)}</pre></details>")
        return "".join(parts)


def _counted(items: list[Any], what: str) -> str:
    return f"{len(items)} {what}{'s' * (len(items) != 1)}"


def _first(items: list[Any], name: str) -> list[str]:
    more = [f"... and {len(items) - SHOWN} more in .{name}"] if len(items) > SHOWN else []
    return [*map(str, items[:SHOWN]), *more]


def _cut(text: str, width: int = 110) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _described(record: CompileRecord) -> list[str]:
    """A line for each kind of kernel of a segment, most frequent first where there are many."""
    from . import wording

    if record.lowered is None:
        return []
    text = wording.readable(record.trace.spec, record.names)
    kinds = Counter(_cut(text(k.describe())) for k in record.lowered.kernels)
    lines = [f"{n} kernels: {what}" if n > 1 else f"kernel: {what}" for what, n in kinds.most_common(SHOWN)]
    more = sum(kinds.values()) - sum(n for _, n in kinds.most_common(SHOWN))
    return [*lines, f"... and {more} more kernels"] if more else lines


def explain(fn: Callable[..., Any], /, *args: Any, run: bool = True, **kwargs: Any) -> Report:
    """Compile and call a function once and report what happened.

    The call is that of a fresh copy of the decorated function: what is compiled here is not used by later calls (the machine code
    is on disk, though), and ``fn.stats`` counts neither the call nor its compiles.

    Parameters
    ----------
    fn : function or jit object
        A jit object's options are used, its compiled code is not.
    *args, **kwargs
        Arguments of the call; with ``run=True`` the call is real, mutation of arguments included.
    run : bool
        False: compile for these arguments, but call nothing.

    Returns
    -------
    Report
    """
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, (types.FunctionType, Jit)):
        args, fn = (fn.__self__, *args), fn.__func__
    inner: Any = fn.__wrapped__ if isinstance(fn, Jit) else fn
    options = fn.__reduce__()[1][1] if isinstance(fn, Jit) and isinstance(fn.__reduce__(), tuple) else Options()
    options = Options(**{**vars(options), "compile": "first", "fullgraph": False, "trace_debug": True})
    jitted = api.wrap(inner, options)
    report = Report(getattr(inner, "__qualname__", repr(inner)))
    report.declined = _why_plain(jitted, options)
    if report.declined:
        report.result = inner(*args, **kwargs) if run else None
        return report
    state = jitted.stats._state
    if run:
        report.result = jitted(*args, **kwargs)
    else:
        state.miss(jitted, bind(inner, args, kwargs))
    fill(report, state.all_records)
    return report


def _why_plain(jitted: Any, options: Options) -> str:
    """Why calls of what `wrap` gave run plain whatever their arguments are; "" if they do not."""
    if not isinstance(jitted, Jit):
        return "not a Python function: there is nothing to compile"
    if PROCESS.disable:
        return "npcompile is disabled (NPCOMPILE_DISABLE is set)"
    if options.disable:
        return "the function was decorated with disable=True"
    return "generators and coroutines run as plain Python" if jitted.state == "plain" else ""


def bind(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call as the jit object binds them: one object per parameter, in `co_varnames` order."""
    import inspect

    from .bytecode import n_params

    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(bound.arguments[name] for name in fn.__code__.co_varnames[: n_params(fn.__code__)])


def _count_exits(record: CompileRecord, counts: Counter[Exit]) -> None:
    """Count the exits of a segment that were taken, but for the ends of the call."""
    from . import wording
    from .tracer import reasons

    text = wording.readable(record.trace.spec, record.names)
    for spec, count in zip(record.entry.info.exits, record.entry.exits):
        if count and spec.kind == "resume":
            counts[Exit(spec.reason, reasons.REASONS[spec.reason].explanation, text(spec.detail), spec.file, spec.line)] += count


def fill(report: Report, records: list[CompileRecord]) -> None:
    """Gather what records say into a report."""
    from . import wording
    from .tracer import reasons

    counts: Counter[Exit] = Counter()
    for r in records:
        if r.trace is not None:
            text = wording.readable(r.trace.spec, r.names)
            for brk in r.trace.breaks:
                reason = reasons.REASONS[brk.reason]
                found = GraphBreak(brk.reason, reason.explanation, text(brk.detail), reason.hint, brk.file, brk.line, brk.column)
                if found not in report.graph_breaks:  # several segments may end at one
                    report.graph_breaks.append(found)
            report.guards += r.guards
        if r.declined:
            report.declined = r.declined
        if r.trace is not None and r.entry is not None:
            _count_exits(r, counts)
        if r.graph is not None and r.entry is not None:
            report.segments.append(r)
            report.ir += r.ir
            report.backend = "C++" if r.lowered is not None else "Python"
        if r.lowered is not None:
            report.kernels += r.lowered.kernels
            report.source += r.lowered.source
            report.allocations += r.lowered.allocations
            report.allocations_in_loops += r.lowered.allocations_in_loops
            report.copies_in_loops += r.lowered.copies_in_loops
        for stage, t in r.seconds.items():
            report.seconds[stage] = report.seconds.get(stage, 0.0) + t
    report.exits = [replace(e, count=n) for e, n in counts.items()]
    if report.segments and any(r.trace is not None and not r.trace.n_work for r in records):
        report.declined = ""
    if not records and not report.declined:
        report.declined = "nothing was traced"
