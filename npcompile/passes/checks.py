"""Did a pass break the graph or change a value?

In: a graph before and after a pass. Out: nothing, or a `PassError` that names the pass and the first rewrite that did it. With
`verify` the verifier looks at the graph; with `inputs` it is executed before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.ir.executor import Reports, execute
from npcompile.ir.graph import Graph
from npcompile.ir.prims.memory import copy_in_place
from npcompile.ir.segment import SegmentSpec
from npcompile.ir.verifier import VerifyError, verify
from npcompile.records import dataclass

from .manager import Pass, PassError, PassOptions
from .rewrite import Fuel, clone

ULP = 4
"""Units in the last place by which a pass may change a float64 or float32 (powers become products)."""


def check(f: Pass, before: Graph, after: Graph, had: int | None, options: PassOptions) -> None:
    """Raise what is wrong with a graph after a pass that had so much fuel."""
    problem = _problem(before, after, options)
    if problem:
        raise PassError(f.__name__, problem, _guilty(f, before, had, options))


def _problem(before: Graph, after: Graph, options: PassOptions) -> str:
    """What is wrong with the graph after a pass, "" when nothing is."""
    if options.verify:
        try:
            verify(after, options.spec)
        except VerifyError as e:
            return str(e)
    if options.inputs is not None and options.spec is not None:
        return difference(observe(before, options.spec, options.inputs), observe(after, options.spec, options.inputs))
    return ""


def _guilty(f: Pass, before: Graph, had: int | None, options: PassOptions) -> str:
    """The first rewrite of a pass after which there is a problem, found by bisection over fuel."""
    log: list[str] = []
    f(clone(before), Fuel(had, log))
    lo, hi = 0, len(log)  # `hi` rewrites are wrong, `lo` are not
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if _problem(before, f(clone(before), Fuel(mid)), options):
            hi = mid
        else:
            lo = mid
    return log[hi - 1] if log else ""


# ---------------------------------------------------------------------------------------------- comparing executions


@dataclass
class Observation:
    """All that a run shows: exit, captures, the input arrays afterwards, reports."""

    exit: int
    captures: tuple[Any, ...]
    arrays: list[np.ndarray]
    reports: Reports


def observe(graph: Graph, spec: SegmentSpec, inputs: Sequence[Any]) -> Observation:
    """Run on copies of the inputs (with the same strides; aliasing between inputs is kept)."""
    fresh = _copies(inputs)
    reports: Reports = []
    exit, captures = execute(graph, spec, fresh, reports=reports)
    return Observation(exit, captures, [x for x in fresh if isinstance(x, np.ndarray)], reports)


def _copies(inputs: Sequence[Any]) -> list[Any]:
    out: list[Any] = []
    for k, x in enumerate(inputs):
        same = next((i for i in range(k) if inputs[i] is x), None)
        if isinstance(x, np.ndarray) and x.flags.writeable:
            out.append(out[same] if same is not None else copy_in_place(x))
        else:
            out.append(x)
    return out


def difference(a: Observation, b: Observation) -> str:
    """What differs between two observations, "" when nothing does."""
    if a.exit != b.exit:
        return f"exit {b.exit} instead of {a.exit}"
    if a.reports != b.reports:
        return f"reports {b.reports} instead of {a.reports}"
    for what, xs, ys in (("capture", a.captures, b.captures), ("input array", a.arrays, b.arrays)):
        if len(xs) != len(ys):
            return f"{len(ys)} {what}s instead of {len(xs)}"
        for k, (x, y) in enumerate(zip(xs, ys)):
            if not same_value(x, y):
                return f"{what} {k} is {y!r} instead of {x!r}"
    return ""


def same_value(x: Any, y: Any) -> bool:
    """Equal type, dtype, shape, strides and values, floats within `ULP` but with the same signs of zeros."""
    if type(x) is not type(y):
        return False
    a, b = np.asarray(x), np.asarray(y)
    if a.dtype != b.dtype or a.shape != b.shape or (a.size and _strides(a) != _strides(b)):
        return False
    if a.dtype.kind not in "fc":
        return bool((a == b).all())
    if a.dtype.kind == "c":
        return same_value(np.array(a.real), np.array(b.real)) and same_value(np.array(a.imag), np.array(b.imag))
    with np.errstate(all="ignore"):
        close = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
        close |= np.abs(a - b) <= ULP * np.spacing(np.maximum(np.abs(a), np.abs(b)))
    return bool(close.all())


def _strides(a: np.ndarray) -> list[int]:
    return [s for s, n in zip(a.strides, a.shape) if n > 1]
