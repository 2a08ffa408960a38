"""What lowering hands over: C++ text plus the facts that tests and `explain` read.

In: nothing. Out: plain data types. Never: any logic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.ir.graph import ReportSite
from npcompile.records import dataclass, field


class LoweringError(Exception):
    """The graph holds something that has no C++ form yet; the caller runs the function plain.

    reason : stable reason id, detail : what exactly.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class LowerOptions:
    """Knobs of code generation.

    parallel : may nests be split over threads.
    fastmath : a product and a sum may be rounded once.
    fuse : False keeps every statement in a nest of its own (for bisecting a wrong value).
    symbol : name of the exported function; derived from the text when empty.
    backend : "cpp": nests are loops of the unit; "triton": they are kernels that the unit launches.
    """

    parallel: bool = True
    fastmath: bool = False
    fuse: bool = True
    symbol: str = ""
    backend: str = "cpp"


@dataclass(frozen=True)
class WhyNot:
    """Why two statements do not share a nest, or why something is not parallel.

    reason : stable id, detail : text for people.
    """

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


_SHOWN = 8


@dataclass
class Kernel:
    """One loop nest of the unit.

    dims : extents of its loops, outermost first, as text.
    ops : prims evaluated in it, in order. fused : number of graph nodes it covers.
    parallel : may be split over threads at run time. why_not : fusions refused at its borders.
    evaluations : (prim, extents of the loops round it, outermost first) for every costly operation.
    """

    name: str
    dims: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    fused: int = 0
    parallel: bool = False
    in_loop: bool = False
    why_not: list[WhyNot] = field(default_factory=list)
    evaluations: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.name}: {self.describe()}"

    def describe(self) -> str:
        """All but the name, in a line."""
        ops = ", ".join(self.ops[:_SHOWN]) + (f", ... ({len(self.ops)} in all)" if len(self.ops) > _SHOWN else "")
        how = [*["threads"] * self.parallel, *["in a loop"] * self.in_loop]
        where = f" over {' × '.join(self.dims)}" if self.dims else ""
        return f"{ops or 'copy'}{where}" + (f" ({', '.join(how)})" if how else "")


@dataclass(frozen=True)
class DeviceKernel:
    """One kernel for a device: a module of Triton text whose function is called `kernel`.

    params : names of its arguments without the constants ROWS, COLS and WIDE.
    kinds : for each, "*" and the type of what it points to, "size" (32 bits wide unless WIDE), or "word" (64 bits).
    steady : sizes that are multiples of 16 in an aligned variant. ops : prims evaluated in it.
    """

    name: str
    source: str
    params: tuple[str, ...]
    kinds: tuple[str, ...]
    steady: frozenset[str] = frozenset()
    ops: tuple[str, ...] = ()


@dataclass
class Lowered:
    """A lowered segment.

    source : one C++ translation unit. symbol : its exported function.
    prelude : length of the text at the beginning of `source` that is not this segment's own: types and helpers.
    n_slots : object slots it needs, those of the input arrays included.
    report_sites : sites of floating-point reports, by the number passed to `rt->report`.
    symbols : external symbols, in the order of `syms`.
    loops : inner loops of NumPy's ufuncs, for `rt->met`: name, place in `ufunc.types`.
    python_calls : callables (as graph params name them) for `rt->call_python`, by number.
    allocations : arrays and scratch blocks that one call may allocate; allocations_in_loops : those inside loops.
    copies_in_loops : whole-array copies inside loops.
    stores_first : may store to memory of the caller before it reports conditions of an earlier operation.
    device_kernels : what the unit launches, by number.
    """

    source: str
    symbol: str
    n_slots: int
    report_sites: list[ReportSite] = field(default_factory=list)
    symbols: tuple[str, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()
    python_calls: list[Callable[..., Any]] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    allocations: int = 0
    allocations_in_loops: int = 0
    copies_in_loops: int = 0
    stores_first: bool = False
    device_kernels: list[DeviceKernel] = field(default_factory=list)
    prelude: int = 0

    def describe(self) -> str:
        """The kernels in words, then their code and the host program that runs them."""
        device = [f"// {k.name} for the device:\n{k.source}" for k in self.device_kernels]
        return "\n".join([*(f"// {k}" for k in self.kernels), *device, self.source[self.prelude :].strip()])
