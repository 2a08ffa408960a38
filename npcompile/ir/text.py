"""What printed graphs import: names for types and dtypes, and the two readings of a text, execution and graph building.

In: the text of `printer.to_text`. Out: a `Program`, which runs on the reference executor or becomes a `Graph` again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from npcompile.records import dataclass, field

from .dims import Dim, Sym, dim_max, dim_min
from .executor import GUARD_FAILED, ExitTaken, Machine, Reports, arguments, pack, words
from .graph import Graph, Loc, Node, Region, ReportSite, Value
from .prim import PRIMS
from .prims.control import region_types
from .types import MemType, TensorType, Type, ViewType

DTYPES = {np.dtype(c).str[1:]: np.dtype(c) for c in "?bBhHiIlLefdFD"}
mem = MemType()
nan = float("nan")
inf = float("inf")


def bits(b: int) -> float:
    """The float64 with these bits (NaNs that `nan` is not)."""
    return struct.unpack("d", struct.pack("Q", b))[0]


def floordiv(a: Any, b: Any) -> Dim:
    return Dim.of(a) // b


def tensor(dtype: np.dtype, dims: tuple[Any, ...] = (), layout: tuple[int, ...] = (), strides: Any = None) -> TensorType:
    return TensorType(dtype, _dims(dims), layout, None if strides is None else _dims(strides))


def view(dtype: np.dtype, dims: Any, strides: Any, layout: Any, contiguous: str, negative: Any, writeable: bool) -> ViewType:
    return ViewType(dtype, _dims(dims), _dims(strides), layout, contiguous, negative, writeable)


def _dims(xs: Sequence[Any]) -> tuple[Dim, ...]:
    return tuple(Dim.of(x) for x in xs)


NAMESPACE: dict[str, Any] = {
    **DTYPES,
    **{f.__name__: f for f in (bits, floordiv, tensor, view, dim_max, dim_min)},
    **{"mem": mem, "nan": nan, "inf": inf, "Sym": Sym, "Loc": Loc, "Dim": Dim},
}


@dataclass
class Program:
    """A text that has been read.

    inputs : types of the params. symbols : name -> word of the input block. body : function of a reading and the params.
    """

    inputs: tuple[Type, ...]
    symbols: dict[str, int]
    guards: list[tuple[str, Any, Any]]
    n_exits: int
    body: Callable[..., Any]
    env: dict[str, Any] = field(repr=False, default_factory=dict)

    def execute(self, inputs: Sequence[Any], *, reports: Reports | None = None) -> tuple[int, tuple[Any, ...]]:
        """As `executor.execute`."""
        block = words(inputs)
        machine = Machine({name: block[k] for name, k in self.symbols.items()}, reports)
        if not machine.guards_hold(self.guards):
            return GUARD_FAILED, ()
        params = [_Traced(t, x) for t, x in zip(self.inputs, arguments(self.inputs, inputs), strict=True)]
        try:
            self.body(_Execute(machine), *params)
        except ExitTaken as e:
            return e.exit, e.captures
        raise RuntimeError("the program ended without an exit")

    def graph(self) -> Graph:
        """The graph that was printed."""
        region = Region([Value(t) for t in self.inputs])
        self.body(_Build(region), *region.params)
        return Graph(region, self.n_exits, [(op, Dim.of(a), Dim.of(b)) for op, a, b in self.guards])


def parse(text: str) -> Program:
    """Read a text that `printer.to_text` wrote."""
    env = dict(NAMESPACE)
    exec(compile("\n".join("" if s.startswith("from ") else s for s in text.split("\n")), "<graph>", "exec"), env)
    return Program(env["INPUTS"], env["SYMBOLS"], env["GUARDS"], env["EXITS"], env["segment"], env)


class _Reading:
    """`ir` of a text: `ir.add(x, y)` means prim "add"; `ir.at(...)` sets the source position."""

    def __init__(self) -> None:
        self.loc: Loc | None = None

    def at(self, *loc: Any) -> None:
        self.loc = Loc(*loc) if loc else None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self.emit, name.rstrip("_"))

    def emit(self, prim: str, *ins: Any, regions: Sequence[Any] = (), report: Any = None, **params: Any) -> Any:
        site = None
        if report is not None:
            site = ReportSite(*report) if isinstance(report, tuple) else ReportSite(report, self.loc or Loc("", 0))
        outs = self.node(prim, ins, params, regions, site)
        return outs[0] if len(outs) == 1 else outs or None

    def node(self, prim: str, ins: Any, params: Any, regions: Any, site: ReportSite | None) -> tuple[Any, ...]:
        raise NotImplementedError


@dataclass
class _Traced:
    """A value in execution: its type and the object."""

    type: Type
    obj: Any


def _results(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else () if x is None else (x,)


class _Execute(_Reading):
    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self.machine = machine

    def node(self, prim: str, ins: Any, params: Any, regions: Any, site: ReportSite | None) -> tuple[Any, ...]:
        types = tuple(x.type for x in ins)
        outs = PRIMS[prim].type_rule(types, params)
        bodies = [
            lambda *args, f=f, ps=ps: [
                pack(r.type, r.obj) for r in _results(f(*(_Traced(t, a) for t, a in zip(ps, args, strict=True))))
            ]
            for f, (ps, _) in zip(regions, region_types(prim, types, outs, params), strict=True)
        ]
        values = self.machine.apply(prim, types, tuple(x.obj for x in ins), params, bodies, site)
        return tuple(_Traced(t, x) for t, x in zip(outs, values, strict=True))


class _Build(_Reading):
    def __init__(self, region: Region) -> None:
        super().__init__()
        self.region = region

    def node(self, prim: str, ins: Any, params: Any, regions: Any, site: ReportSite | None) -> tuple[Any, ...]:
        types = tuple(x.type for x in ins)
        outs = PRIMS[prim].type_rule(types, params)
        loc, outer, inner = self.loc, self.region, []
        for f, (ps, _) in zip(regions, region_types(prim, types, outs, params), strict=True):
            self.region = Region([Value(t) for t in ps])
            self.region.results = list(_results(f(*self.region.params)))
            inner.append(self.region)
        self.region, self.loc = outer, loc
        node = Node(prim, ins, params, outs, tuple(inner), loc, site)
        self.region.nodes.append(node)
        return node.outputs


__all__ = ["NAMESPACE", "Program", "parse"]
