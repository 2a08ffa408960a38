"""`npcompile.explain`: one call of a function under a fresh jit object, and what was and was not compiled in it.

In: a function and arguments. Out: a `Report`. Never: keeps state between calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import api
from .config import Options
from .records import dataclass, field
from .runtime._dispatch import Jit

if TYPE_CHECKING:
    from .compiler import CompileRecord


@dataclass(frozen=True)
class GraphBreak:
    """A place where Python ran what was not compiled, before compiled code went on.

    id : stable reason id; reason : what it means; detail : what exactly; hint : what to do; file, line : where.
    """

    id: str
    reason: str
    detail: str
    hint: str
    file: str
    line: int

    def __str__(self) -> str:
        what = f"{self.reason} ({self.detail})" if self.detail else self.reason
        return f"[{self.id}] {what}\n    at {self.file}:{self.line}\n    hint: {self.hint}"


@dataclass
class Report:
    """What one call compiled.

    Attributes
    ----------
    segments : list of CompileRecord
        One for each compiled segment; a function that only makes views has one without kernels.
    kernels : list of Kernel
        Loop nests: name, dims, prims, fused node count, refused fusions.
    graph_breaks : list of GraphBreak
        Empty when the whole call ran compiled.
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
    result : object
        What the call returned (None with ``run=False``).
    """

    name: str
    segments: list[CompileRecord] = field(default_factory=list)
    kernels: list[Any] = field(default_factory=list)
    graph_breaks: list[GraphBreak] = field(default_factory=list)
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
        n, k, b = len(self.segments), len(self.kernels), len(self.graph_breaks)
        lines = [f"{self.name}: {n} segment{'s' * (n != 1)}, {k} kernel{'s' * (k != 1)}, {b} graph break{'s' * (b != 1)}"]
        if self.declined:
            lines.append(f"not compiled: {self.declined}")
        for kernel in self.kernels:
            lines.append(f"  {kernel}")
        lines += [f"  {line}" for brk in self.graph_breaks for line in str(brk).splitlines()]
        if self.guards:
            lines.append("  guards: " + "; ".join(self.guards))
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


def explain(fn: Callable[..., Any], /, *args: Any, run: bool = True, **kwargs: Any) -> Report:
    """Compile and call a function once and report what happened.

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
    inner: Any = fn.__wrapped__ if isinstance(fn, Jit) else fn
    options = fn.__reduce__()[1][1] if isinstance(fn, Jit) and isinstance(fn.__reduce__(), tuple) else Options()
    options = Options(**{**vars(options), "compile": "first", "fullgraph": False, "trace_debug": True})
    jitted = api.wrap(inner, options)
    report = Report(getattr(inner, "__qualname__", repr(inner)))
    if not isinstance(jitted, Jit):
        report.declined = "not a Python function: there is nothing to compile"
        report.result = jitted(*args, **kwargs) if run else None
        return report
    state = jitted.stats._state
    if run:
        report.result = jitted(*args, **kwargs)
    else:
        state.miss(jitted, bind(inner, args, kwargs))
    fill(report, state.all_records)
    return report


def bind(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call as the jit object binds them: one object per parameter, in `co_varnames` order."""
    import inspect

    from .bytecode import n_params

    bound = inspect.signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(bound.arguments[name] for name in fn.__code__.co_varnames[: n_params(fn.__code__)])


def fill(report: Report, records: list[CompileRecord]) -> None:
    """Gather what records say into a report."""
    from .tracer import reasons

    for r in records:
        if r.trace is not None:
            for brk in r.trace.breaks:
                reason = reasons.REASONS[brk.reason]
                found = GraphBreak(brk.reason, reason.explanation, brk.detail, reason.hint, brk.file, brk.line)
                if found not in report.graph_breaks:  # several segments may end at one
                    report.graph_breaks.append(found)
            report.guards += [f"{g.source}: {g.kind}{'' if g.arg is None else f' {g.arg}'}" for g in r.trace.spec.guards]
        if r.declined:
            report.declined = r.declined
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
    if report.segments and any(r.trace is not None and not r.trace.n_work for r in records):
        report.declined = ""
    if not records and not report.declined:
        report.declined = "nothing was traced"
