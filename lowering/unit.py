"""State of one lowering: names, buffers, symbols, what the unit needs from outside, and the facts it reports.

In: a graph and its `SegmentSpec`. Out: short deterministic names, so that equal graphs give equal text. Never: holds run-time
sizes or live objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Graph, ReportSite
from npcompile.ir.segment import SegmentSpec
from npcompile.records import dataclass, field

from .index_maps import Place
from .lowered import DeviceKernel, Kernel, LowerOptions

FRESH = 1 << 20
"""First alias class of memory that the segment makes itself."""


@dataclass(eq=False)
class Buffer:
    """A piece of memory known to generated code by a pointer variable.

    alias : alias class; buffers of different classes never share a byte. slot : C++ text of its object slot, "" for scratch.
    strides : byte strides of the whole; const: nothing in this unit writes to it.
    """

    name: str
    dtype: np.dtype
    dims: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    alias: int
    slot: str = ""


@dataclass
class Unit:
    """Everything that is shared while one graph is lowered."""

    graph: Graph
    spec: SegmentSpec
    options: LowerOptions
    buffers: dict[str, Buffer] = field(default_factory=dict)
    sym_names: dict[str, str] = field(default_factory=dict)
    loop_extents: dict[Sym, Dim] = field(default_factory=dict)
    stride_values: dict[str, int] = field(default_factory=dict)
    """Stand-ins for symbols that are strides, when strides are compared."""
    snippets: set[str] = field(default_factory=set)
    helpers: set[str] = field(default_factory=set)
    cold: dict[str, str] = field(default_factory=dict)
    """Functions that run rarely: text -> name."""
    kernels: list[str] = field(default_factory=list)
    kernel_facts: list[Kernel] = field(default_factory=list)
    report_sites: list[ReportSite] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    loops: list[tuple[str, int]] = field(default_factory=list)
    """Loops of NumPy's ufuncs: name, place in `ufunc.types`."""
    python_calls: list[Callable[..., Any]] = field(default_factory=list)
    parallel_ps: int = 40_000_000
    """Estimated picoseconds above which a kernel is split over threads."""
    ready_ps: int = 10_000_000
    """The same when other threads are ready: awake, or soon to be needed again."""
    device_kernels: list[DeviceKernel] = field(default_factory=list)
    n_slots: int = 0
    allocations: int = 0
    allocations_in_loops: int = 0
    copies_in_loops: int = 0
    stores_first: bool = False
    """Fused stores to memory of the caller."""
    _counts: dict[str, int] = field(default_factory=dict)

    # -- names --------------------------------------------------------------------------------------------------
    def fresh(self, prefix: str) -> str:
        """A new name: prefix and a number."""
        n = self._counts.get(prefix, 0)
        self._counts[prefix] = n + 1
        return f"{prefix}{n}"

    def loop_sym(self, extent: Dim) -> Sym:
        """A new loop variable with values 0 .. extent-1."""
        name = self.fresh("i")
        sym = Sym(f"_{name}", 0, max(0, min(extent.bounds()[1], 1 << 47) - 1))
        self.loop_extents[sym] = extent
        self.sym_names[sym.name] = name
        return sym

    def named_sym(self, prefix: str) -> Sym:
        """A new run-time integer of generated code that is no loop variable."""
        name = self.fresh(prefix)
        sym = Sym(f"_{name}")
        self.sym_names[sym.name] = name
        return sym

    def sym_name(self, sym: Sym) -> str:
        """C++ name of a symbol."""
        name = self.sym_names.get(sym.name)
        if name is None:
            clean = re.sub(r"\W", "_", sym.name)
            name = f"s_{clean}"
            if name in self.sym_names.values():
                name = self.fresh(f"s_{clean}_")
            self.sym_names[sym.name] = name
        return name

    def dim(self, d: Dim | int) -> str:
        """C++ text of a dim."""
        return Dim.of(d).render(self.sym_name, self._dim_fn)

    def _dim_fn(self, op: str, a: str, b: str) -> str:
        self.helpers.add("dims")
        return f"npc_dim_{op}({a}, {b})"

    # -- memory -------------------------------------------------------------------------------------------------
    def new_buffer(self, dtype: np.dtype, dims: tuple[Dim, ...], strides: tuple[Dim, ...], alias: int | None = None) -> Buffer:
        """A buffer with a new pointer name; without `alias` it is disjoint from all others."""
        name = self.fresh("b")
        b = Buffer(name, dtype, dims, strides, self.new_alias() if alias is None else alias)
        self.buffers[name] = b
        return b

    def new_alias(self) -> int:
        """A new alias class."""
        n = self._counts.get("alias class", FRESH)
        self._counts["alias class"] = n + 1
        return n

    def may_alias(self, a: str, b: str) -> bool:
        """Can two buffers share memory?"""
        return a == b or self.buffers[a].alias == self.buffers[b].alias

    def is_callers(self, name: str) -> bool:
        """Can the memory be seen from outside before the segment ends?"""
        return self.buffers[name].alias < FRESH

    def alias_of(self, p: Place) -> int:
        return self.buffers[p.buffer].alias

    def site(self, site: ReportSite) -> int:
        """Number of a report site."""
        if site not in self.report_sites:
            self.report_sites.append(site)
        return self.report_sites.index(site)

    def loop(self, ufunc: str, k: int) -> int:
        """Number of a loop of NumPy."""
        if (ufunc, k) not in self.loops:
            self.loops.append((ufunc, k))
        return self.loops.index((ufunc, k))

    def symbol(self, name: str) -> int:
        """Position of an external symbol in `syms`."""
        if name not in self.symbols:
            self.symbols.append(name)
        return self.symbols.index(name)
