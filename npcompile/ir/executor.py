"""The reference executor: runs a graph on plain NumPy, node by node. The living definition of what a graph means.

In: graph, segment spec, run-time inputs. Out: the exit taken and what it captures. Stores write into the actual input
arrays. Slow and obvious; used by tests, by the debug mode of passes, and as an oracle for generated code.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import externs  # (prims: fills the table)
from .dims import Dim
from .graph import Graph, Loc, Node, Region, ReportSite, Value
from .layout import perm, strides_of
from .prim import PRIMS
from .prims.control import leaves
from .prims.select import copy_to
from .segment import SegmentSpec
from .types import MemType, TensorType, Type, ViewType

GUARD_FAILED = -1
CONDITIONS = {
    "divide by zero": "divide",
    "overflow": "overflow",
    "underflow": "underflow",
    "invalid value": "invalid",
}
BITS = {"divide": 1, "overflow": 2, "underflow": 4, "invalid": 8}
"""Of the conditions in `ReportSite.ignored`."""

Body = Callable[..., Sequence[Any]]
Reports = list[tuple[ReportSite, tuple[str, ...]]]


class ExitTaken(Exception):
    """Unwinds the executor when an exit is taken."""

    def __init__(self, exit: int, captures: tuple[Any, ...]) -> None:
        super().__init__(exit)
        self.exit = exit
        self.captures = captures


class Machine:
    """State of one execution: values of symbols and the conditions reported so far.

    env : symbol name -> value.
    reports : (site, conditions) in program order, one entry for each execution of an operation that had any.
    warn : gives the warnings of reports; asked before each call of a library function, which may warn itself.
    """

    def __init__(
        self, env: Mapping[str, int], reports: Reports | None = None, warn: Callable[[Reports], None] | None = None
    ) -> None:
        self.env = dict(env)
        self.reports: Reports = [] if reports is None else reports
        self.warn = warn
        self.open: tuple[int, int | None] = (0, None)  # group of the last reporting node, where its report stands

    def concrete(self, param: Any) -> Any:
        """A param with its dims replaced by numbers."""
        if isinstance(param, Dim):
            return param.evaluate(self.env)
        if isinstance(param, tuple):
            return tuple(self.concrete(p) for p in param)
        return param

    def apply(
        self,
        prim: str,
        types: Sequence[Type],
        ins: tuple[Any, ...],
        params: Mapping[str, Any],
        bodies: Sequence[Body] = (),
        report: ReportSite | None = None,
        loc: Loc | None = None,
    ) -> tuple[Any, ...]:
        """Execute one prim on values of these types; regions are given as functions of packed values. loc : whose warnings its
        own are."""
        if prim == "exit":
            raise ExitTaken(params["exit"], capture(types, ins))
        if prim == "exit_if":
            if bool(ins[0]):
                raise ExitTaken(params["exit"], capture(types[1:], ins[1:]))
            return ()
        if prim in _CONTROL:
            return tuple(_CONTROL[prim]([pack(t, x) for t, x in zip(types, ins, strict=True)], bodies, params))
        concrete = {k: v if k == "sym" else self.concrete(v) for k, v in params.items()}
        seen: list[str] = []
        if PRIMS[prim].group == "extern":  # which warns itself, as the caller's error state says
            concrete["loc"] = loc
            if self.warn is not None:
                self.warn(self.reports)
                self.reports.clear()
                self.open = (0, None)
            outs = PRIMS[prim].numpy(ins, concrete)
        else:
            mode: Any = "ignore" if report is None else "call"
            with np.errstate(
                divide=mode, over=mode, invalid=mode, under="ignore", call=lambda kind, _: seen.append(CONDITIONS[kind])
            ):
                outs = PRIMS[prim].numpy(ins, concrete)
        if report is not None:
            self.note(report, seen)
        if prim == "extern_numpy":
            outs = self.library_results(outs[0], params)
        if "sym" in params:
            self.env[params["sym"].name] = int(ins[0]) if prim == "sym" else len(outs[0])
        return tuple(outs)

    def library_results(self, outs: Any, params: Mapping[str, Any]) -> tuple[Any, ...]:
        """What a library call gave, if it is what the node says, after which the node's symbols are known; else no, and zeros."""
        types, boxes = params["types"], [t[2] for t in externs.outs(params["result"])]
        flat = outs if isinstance(outs, tuple) else (outs,)
        ok = len(flat) == len(types) and [externs.boxed(x) for x in flat] == boxes
        arrays = [externs.as_array(x) for x in flat] if ok else []
        ok = ok and all((a.dtype.num, a.ndim) == (t.dtype.num, t.rank) for a, t in zip(arrays, types))
        for sym in params["syms"]:
            k, axis = externs.place_of(sym, types)
            self.env[sym.name] = arrays[k].shape[axis] if ok else max(sym.lo, 0)
        shapes = [tuple(max(d.evaluate(self.env), 0) for d in t.dims) for t in types]  # of a call that has failed: any
        strides = [tuple(x.evaluate(self.env) for x in strides_of(t)) for t in types]
        ok = ok and all(a.shape == shape and _same_strides(a, want) for a, shape, want in zip(arrays, shapes, strides))
        return (np.array(ok), *(arrays if ok else [new_packed(shape, t) for shape, t in zip(shapes, types)]))

    def note(self, site: ReportSite, seen: Sequence[str]) -> None:
        """Add what an operation reports; conditions of one group are reported together, each once, in NumPy's order."""
        seen = [c for c in seen if not site.ignored & BITS[c]]
        earlier = self.open[1] if site.continues and self.open[0] == site.group else None
        if seen and earlier is not None:
            first, before = self.reports[earlier]
            self.reports[earlier] = (first, tuple(c for c in CONDITIONS.values() if c in before or c in seen))
        elif seen:
            earlier = len(self.reports)
            self.reports.append((site, tuple(c for c in CONDITIONS.values() if c in seen)))
        self.open = (site.group, earlier)

    def guards_hold(self, guards: Sequence[tuple[str, Any, Any]]) -> bool:
        for op, a, b in guards:
            x, y = Dim.of(a).evaluate(self.env), Dim.of(b).evaluate(self.env)
            if not {"eq": x == y, "ne": x != y, "ge": x >= y}[op]:
                return False
        return True


def _same_strides(a: np.ndarray, want: Sequence[int]) -> bool:
    return a.size == 0 or all(n == 1 or x == w for n, x, w in zip(a.shape, a.strides, want))


def new_packed(shape: tuple[int, ...], t: TensorType) -> np.ndarray:
    """Zeros in the axis order of a packed type."""
    order = perm(t.layout)
    return np.zeros([shape[a] for a in order], t.dtype).transpose(np.argsort(order) if order else ())


def _loop(ins: Sequence[Any], bodies: Sequence[Body], params: Mapping[str, Any]) -> Sequence[Any]:
    start, stop, step, *carried = ins
    for i in range(int(start), int(stop), int(step)):
        carried = list(bodies[0](np.array(i, np.int64), *carried))
        if leaves(params) and carried.pop(0):
            break
    return carried


_CONTROL: dict[str, Callable[[Sequence[Any], Sequence[Body], Mapping[str, Any]], Sequence[Any]]] = {
    "loop": _loop,
    "cond": lambda ins, bodies, params: bodies[0 if bool(ins[0]) else 1](*ins[1:]),
    "call": lambda ins, bodies, params: bodies[0](*ins),
}


class _Run:
    """Runs regions of a graph on a machine, keeping the value of every SSA value."""

    def __init__(self, machine: Machine, check: bool, watch: Callable[[Value, Any], None] | None) -> None:
        self.machine = machine
        self.values: dict[Value, Any] = {}
        self.check = check
        self.watch = watch

    def bind(self, values: Sequence[Value], objects: Sequence[Any], where: Any) -> None:
        for v, x in zip(values, objects, strict=True):
            if self.check:
                check_value(v.type, x, self.machine, where)
            self.values[v] = x
            if self.watch is not None:
                self.watch(v, x)

    def region(self, region: Region, args: Sequence[Any]) -> list[Any]:
        self.bind(region.params, args, "region params")
        for node in region.nodes:
            self.node(node)
        return [pack(v.type, self.values[v]) for v in region.results]

    def node(self, node: Node) -> None:
        bodies = [lambda *args, r=r: self.region(r, args) for r in node.regions]
        ins = tuple(self._operand(v, node) for v in node.inputs)
        outs = self.machine.apply(node.prim, [v.type for v in node.inputs], ins, node.params, bodies, node.report, node.loc)
        self.bind(node.outputs, outs, node.prim)

    def _operand(self, v: Value, node: Node) -> Any:
        """A value; functions that change an array get what is loaded from it as a view: they may meet what they have stored."""
        load = v.node
        seen = node.prim == "extern_store" and load is not None and load.prim == "load" and load.inputs[1] is node.inputs[1]
        return self.values[load.inputs[0] if seen and load is not None else v]


def pack(t: Type, x: Any) -> Any:
    """A tensor as it passes a region's border: packed by its layout (see `prims.control`)."""
    if not isinstance(t, TensorType) or t.strides is None:
        return x
    index = tuple(slice(None) if r else slice(0, 1) for r in t.layout)
    return np.broadcast_to(copy_to(t.layout, x[index]), x.shape) if t.dims and x.size else x


def capture(types: Sequence[Type], objects: Sequence[Any]) -> tuple[Any, ...]:
    """What an exit hands over: fresh arrays for tensors (NumPy scalars for rank 0), views as they are, no memories.

    Every capture is an object of its own, also where the passes merged equal views.
    """
    out: list[Any] = []
    for t, x in zip(types, objects, strict=True):
        if isinstance(t, TensorType):
            out.append(copy_to(t.layout, x) if t.dims else np.asarray(x, t.dtype)[()])
        elif isinstance(t, ViewType):
            out.append(x.view() if any(x is o for o in out) else x)
    return tuple(out)


def execute(
    graph: Graph,
    spec: SegmentSpec,
    inputs: Sequence[Any],
    *,
    reports: Reports | None = None,
    warn: Callable[[Reports], None] | None = None,
    check: bool = False,
    watch: Callable[[Value, Any], None] | None = None,
) -> tuple[int, tuple[Any, ...]]:
    """Run a segment.

    Parameters
    ----------
    inputs : Python objects for the graph's params, memories left out: ndarrays for views, numbers for scalars.
    reports : receives (site, conditions) of every reporting operation that had any, in program order.
    warn : gets, before a library function is called, the reports so far, which are then forgotten.
    check : compare every value with its type: dtype, shape, strides.
    watch : called with every SSA value and the object it gets.

    Returns
    -------
    (exit, captures), or (-1, ()) when the graph's guards do not hold.
    """
    machine = Machine(bind_symbols(spec, inputs), reports, warn)
    if not machine.guards_hold(graph.guards):
        return GUARD_FAILED, ()
    return run_graph(graph, machine, inputs, check=check, watch=watch)


def run_graph(
    graph: Graph,
    machine: Machine,
    inputs: Sequence[Any],
    *,
    check: bool = False,
    watch: Callable[[Value, Any], None] | None = None,
) -> tuple[int, tuple[Any, ...]]:
    """Run a graph on a machine whose symbols are bound."""
    args = arguments([p.type for p in graph.body.params], inputs)
    try:
        _Run(machine, check, watch).region(graph.body, args)
    except ExitTaken as e:
        return e.exit, e.captures
    raise RuntimeError("the graph ended without an exit")


def arguments(types: Sequence[Type], inputs: Sequence[Any]) -> list[Any]:
    """Values of graph params: arrays as they are, numbers as rank-0 arrays, None for memories."""
    given = iter(inputs)
    args: list[Any] = []
    for t in types:
        if isinstance(t, MemType):
            args.append(None)
        elif isinstance(t, ViewType):
            args.append(next(given))
        else:
            args.append(np.array(next(given), t.dtype))
    return args


def words(inputs: Sequence[Any]) -> list[int]:
    """The input block a segment gets (see `kernels/cpp/abi.h`)."""
    out: list[int] = []
    for x in inputs:
        if isinstance(x, np.ndarray):
            out += [x.__array_interface__["data"][0], *x.shape, *x.strides]
        elif isinstance(x, (bool, int, np.bool_, np.integer)):
            out.append(int(x))
        elif isinstance(x, np.inexact):  # as it lies in memory: a complex64 is one word
            raw = x.tobytes()
            out += struct.unpack(f"{-(-len(raw) // 8)}q", raw.ljust(8, b"\0"))
        elif isinstance(x, complex):
            out += [_bits(x.real), _bits(x.imag)]
        else:
            out.append(_bits(float(x)))
    return out


def _bits(x: float) -> int:
    return struct.unpack("q", struct.pack("d", x))[0]


def bind_symbols(spec: SegmentSpec, inputs: Sequence[Any]) -> dict[str, int]:
    block = words(inputs)
    return {name: block[index] for name, index in spec.input_symbols.items()}


def check_value(t: Type, x: Any, machine: Machine, where: Any) -> None:
    """Raise `AssertionError` unless the object is what the type says."""
    if isinstance(t, MemType):
        assert x is None, f"{where}: a memory state is {x!r}"
        return
    shape = tuple(d.evaluate(machine.env) for d in t.dims)
    assert isinstance(x, np.ndarray), f"{where}: {t} is a {type(x).__name__}"
    assert x.dtype == t.dtype, f"{where}: {t} has dtype {x.dtype}"
    assert x.shape == shape, f"{where}: {t} has shape {x.shape}"
    if x.size:
        want = [s.evaluate(machine.env) for s in strides_of(t)]
        wrong = [a for a, n in enumerate(shape) if n > 1 and want[a] != x.strides[a]]
        assert not wrong, f"{where}: {t} should have strides {want}, has {x.strides}"


__all__ = ["GUARD_FAILED", "ExitTaken", "Machine", "bind_symbols", "capture", "execute", "run_graph"]
