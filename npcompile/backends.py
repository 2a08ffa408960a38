"""Backends that run in Python: the reference executor, and any callable a user passes.

In: a graph and its segment description. Out: `run(inputs) -> (exit, captures)`, and an entry that the dispatcher can call.
The C++ backend is not here: it is the pipeline's own (`compiler`).
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .bytecode import n_params
from .ir.executor import GUARD_FAILED, Reports, execute
from .ir.graph import Graph, ReportSite
from .ir.segment import ExitSpec, Recipe, SegmentSpec, Source
from .records import replace
from .runtime import _dispatch
from .runtime.segments import make_entry
from .tracer import TraceResult
from .tracer.replay import Call

Run = Callable[[Sequence[Any]], tuple[int, Sequence[Any]]]
"""Runs a segment for the objects of the graph's inputs; exit -1: the graph's guards do not hold."""

Backend = Callable[[Graph, SegmentSpec], Run]

_TEXTS = {"divide": "divide by zero", "overflow": "overflow", "underflow": "underflow", "invalid": "invalid value"}
_MODES = {"divide": "divide", "overflow": "over", "underflow": "under", "invalid": "invalid"}


def reference(graph: Graph, spec: SegmentSpec) -> Run:
    """The reference executor on plain NumPy."""

    def run(inputs: Sequence[Any]) -> tuple[int, Sequence[Any]]:
        reports: Reports = []
        out = execute(graph, spec, inputs, reports=reports, warn=warn)
        warn(reports)
        return out

    return run


def warn(reports: Reports) -> None:
    """Give the warnings of floating-point conditions as NumPy does under the current errstate."""
    modes = dict(np.geterr())
    for site, conditions in reports:
        module = sys.modules.get(site.loc.module)
        registry = None if module is None else vars(module).setdefault("__warningregistry__", {})
        for c in conditions:
            if modes[_MODES[c]] == "warn":
                text = f"{_TEXTS[c]} encountered in {site.name}"
                warnings.warn_explicit(text, RuntimeWarning, site.loc.file, site.loc.line, site.loc.module, registry)


class PythonSegment:
    """A traced function run by a Python backend; called with the tuple of bound parameters, as a continuation is."""

    def __init__(
        self, fn: types.FunctionType, traced: TraceResult, backend: Backend, retrace: Callable[..., TraceResult]
    ) -> None:
        self.fn, self.traced, self.backend, self.retrace = fn, traced, backend, retrace
        self.run = backend(traced.graph, traced.spec)

    def __call__(self, args: tuple[Any, ...]) -> Any:
        call = Call(self.traced, self.fn, args)
        exit_id, captures = self.run(call.bind())
        if exit_id == GUARD_FAILED:  # sizes that this trace does not fit
            return PythonSegment(self.fn, self.retrace(args), self.backend, self.retrace)(args)
        return call.leave(self.traced.spec.exits[exit_id], captures)

    def entry(self, sites: Sequence[ReportSite]) -> _dispatch.Entry:
        """An entry whose machine code does nothing but take exit 0, which continues here; `sites`: where it may warn."""
        args = tuple(Recipe("source", Source("arg", i)) for i in range(n_params(self.fn.__code__)))
        spec = replace(self.traced.spec, exits=[ExitSpec("resume")])
        continuation = (self, Recipe("tuple", None, args))
        return make_entry(
            spec,
            self.fn.__code__,
            _dispatch.EXIT_0,
            n_slots=64,
            report_sites=sites,
            continuations=[continuation],
            info=self.traced.spec,
        )
