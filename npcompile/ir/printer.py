"""Prints a graph as Python text that runs. In: a graph and its spec. Out: text that `text.parse` reads back.

One line a node; types stand in comments, and the source line stands where it changes.
"""

from __future__ import annotations

import keyword
import linecache
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from .dims import Dim, Sym
from .graph import Graph, Loc, Node, Region, Value
from .segment import SegmentSpec
from .text import NAMESPACE
from .types import MemType, TensorType, Type, ViewType, symbols_of


def to_text(graph: Graph, spec: SegmentSpec | None = None) -> str:
    """The graph as a Python module (see the module's docstring)."""
    return _Printer(graph, spec).text()


class _Printer:
    def __init__(self, graph: Graph, spec: SegmentSpec | None) -> None:
        self.graph = graph
        self.spec = spec
        self.names: dict[Value, str] = {}
        self.symbols: dict[Sym, str] = {}
        self.lines: list[str] = []
        self.loc: Loc | None = None
        self.taken = set(NAMESPACE) | {"ir", "segment", "INPUTS", "SYMBOLS", "GUARDS", "EXITS"}

    def text(self) -> str:
        params = self.graph.body.params
        inputs = [self.type(p.type) for p in params]
        guards = ", ".join(f"({op!r}, {self.literal(Dim.of(a))}, {self.literal(Dim.of(b))})" for op, a, b in self.graph.guards)
        self.lines = []
        self.block(self.graph.body, "segment", ["ir", *(self.define(p) for p in params)], 0)
        symbols = {} if self.spec is None else dict(self.spec.input_symbols)
        head = ["from npcompile.ir.text import *", ""]
        head += [f"{name} = Dim.of({self.sym(s)})" for s, name in self.symbols.items()]
        head += ["INPUTS = (", *(f"    {t}," for t in inputs), ")"]
        head += [f"SYMBOLS = {symbols!r}", f"GUARDS = [{guards}]", f"EXITS = {self.graph.n_exits}"]
        if self.spec is not None:
            head += [f"# exit {k}: {e.kind} {e.reason} {e.detail}".rstrip() for k, e in enumerate(self.spec.exits)]
        return "\n".join([*head, "", "", *self.lines, ""])

    # -- names ----------------------------------------------------------------------------------------------------
    def define(self, v: Value) -> str:
        kind = "m" if isinstance(v.type, MemType) else "v" if isinstance(v.type, ViewType) else "t"
        name = self.names[v] = f"{kind}{len(self.names)}"
        return name

    def symbol(self, s: Sym) -> str:
        if s not in self.symbols:
            name = "".join(c if c.isalnum() else "_" for c in s.name)
            if not name.isidentifier() or keyword.iskeyword(name) or name[0] in "tvm":
                name = f"s_{name}"
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.sym(s)  # names the symbols of its bounds, which stand first
            self.symbols[s] = name
        return self.symbols[s]

    def sym(self, s: Sym) -> str:
        parts = [*map(repr, (s.name, s.lo, s.hi, s.not_one))]
        for key, bound in (("lower", s.lower), ("upper", s.upper)):
            if bound is not None:
                parts.append(f"{key}=Dim.of({self.literal(bound)})")
        return f"Sym({', '.join(parts)})"

    # -- values of params -------------------------------------------------------------------------------------------
    def literal(self, x: Any) -> str:
        if isinstance(x, Dim):
            if x.const is not None:
                return str(x.const)
            fn = {"floordiv": "floordiv", "max": "dim_max", "min": "dim_min"}
            return x.render(self.symbol, lambda op, a, b: f"{fn.get(op, op)}({a}, {b})")
        if isinstance(x, np.dtype):
            return x.str[1:]
        if isinstance(x, (TensorType, ViewType, MemType)):
            return self.type(x)
        if isinstance(x, tuple):
            return "(" + "".join(f"{self.literal(y)}, " for y in x).rstrip(" " if len(x) == 1 else ", ") + ")"
        if isinstance(x, np.generic):
            return self.literal(x.item())
        if isinstance(x, float):
            return _float(x)
        if isinstance(x, complex):
            return f"complex({_float(x.real)}, {_float(x.imag)})"
        for s in symbols_of(x):
            self.symbol(s)
        return repr(x)

    def type(self, t: Type) -> str:
        if isinstance(t, MemType):
            return "mem"
        dtype, dims = t.dtype.str[1:], self.literal(t.dims)
        if isinstance(t, TensorType):
            if not t.dims:
                return f"tensor({dtype})"
            return f"tensor({dtype}, {dims}, {t.layout}{', ' + self.literal(t.strides) if t.strides is not None else ''})"
        rest = (t.layout, t.contiguous, t.negative, t.writeable)
        return f"view({dtype}, {dims}, {self.literal(t.strides)}, {', '.join(map(repr, rest))})"

    # -- nodes ------------------------------------------------------------------------------------------------------
    def block(self, region: Region, name: str, params: Sequence[str], depth: int) -> None:
        pad = "    " * depth
        comment = ", ".join(str(p.type) for p in region.params)
        self.lines.append(f"{pad}def {name}({', '.join(params)}):{'  # ' + comment if comment else ''}")
        for node in region.nodes:
            self.node(node, depth + 1)
        results = [self.names[r] for r in region.results]
        if results or not region.nodes:
            self.lines.append(f"{pad}    return ({', '.join(results)}{',' if len(results) == 1 else ''})")

    def node(self, node: Node, depth: int) -> None:
        pad = "    " * depth
        if node.loc is not None and node.loc != self.loc:
            self.loc = node.loc
            source = linecache.getline(node.loc.file, node.loc.line).strip()
            at = (node.loc.file, node.loc.line, node.loc.function, node.loc.module)
            self.lines.append(f"{pad}ir.at({', '.join(map(repr, at))}){'  # ' + source if source else ''}")
        elif node.loc is None and self.loc is not None:
            self.loc = None
            self.lines.append(f"{pad}ir.at()")
        args = [self.names[v] for v in node.inputs]
        args += [f"{k}={self.param(k, v)}" for k, v in node.params.items()]
        if node.regions:
            before = self.loc
            names = []
            for region in node.regions:
                names.append(f"body{len(self.names)}")
                self.block(region, names[-1], [self.define(p) for p in region.params], depth)
            self.loc = before
            args.append(f"regions=[{', '.join(names)}]")
            if before is not None:
                at = (before.file, before.line, before.function, before.module)
                self.lines.append(f"{pad}ir.at({', '.join(map(repr, at))})")
        if node.report is not None:
            same = node.report.loc == node.loc
            r = node.report
            if r.ignored:
                args.append(f"report=({r.name!r}, {r.loc!r}, {r.group}, {r.continues}, {r.ignored})")
            elif r.group:
                args.append(f"report=({r.name!r}, {r.loc!r}, {r.group}, {r.continues})")
            else:
                args.append(f"report={r.name!r}" if same else f"report=({r.name!r}, {r.loc!r})")
        call = f"ir.{node.prim}{'_' if keyword.iskeyword(node.prim) else ''}({', '.join(args)})"
        outs = [self.define(o) for o in node.outputs]
        types = ", ".join(str(o.type) for o in node.outputs)
        self.lines.append(f"{pad}{', '.join(outs) + ' = ' if outs else ''}{call}{'  # ' + types if types else ''}")

    def param(self, key: str, x: Any) -> str:
        if isinstance(x, Sym):
            self.symbol(x)
            return self.sym(x)
        return self.literal(x)


def _float(x: float) -> str:
    if math.isnan(x):
        b = struct.unpack("Q", struct.pack("d", x))[0]
        return "nan" if b == 0x7FF8000000000000 else f"bits({b:#x})"
    return repr(x)


__all__ = ["to_text"]
