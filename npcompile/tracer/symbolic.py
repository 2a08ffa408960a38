"""Symbolic values that only the tracer knows: cells, functions made in the segment, bound methods, iterators, joins.

They extend the lattice of `frontends.values`; NumPy rules never see them.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Protocol

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, DictV, ListV, Opaque, RangeV, Scalar, SymValue, TupleV
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Value
from npcompile.ir.segment import Source
from npcompile.records import dataclass, field


@dataclass(eq=False)
class InputObject(Opaque):
    """An input of a type that is not modelled; its type is guarded. `example` is the object of the traced call."""

    example: Any = None


@dataclass(eq=False)
class CellV(SymValue):
    """A closure cell. `source` fetches the cell object when it existed before the segment; such cells are never written."""

    content: SymValue | None
    source: Source | None = None


@dataclass(eq=False)
class FunctionInfo:
    """What inlining a function needs.

    source : of the function object; None for functions made in the segment.
    globals : the live globals dict, read at trace time only to find examples.
    globals_base : base of "global" sources (None: the traced function's own globals).
    live : the function object, of one that existed before.
    annotations : the tuple of names and values that the code gives, or None.
    wrapped : the function whose name and other attributes it has got by `functools.update_wrapper`.
    """

    code: CodeType
    globals: dict[str, Any]
    globals_base: Source | None
    name: str
    source: Source | None = None
    defaults: tuple[SymValue, ...] = ()
    kwdefaults: dict[str, SymValue] = field(default_factory=dict)
    closure: tuple[CellV, ...] = ()
    annotations: SymValue | None = None
    live: Any = None
    wrapped: SymValue | None = None


@dataclass(eq=False)
class FunctionV(SymValue):
    """A function made in the segment (lambda, nested def)."""

    info: FunctionInfo


@dataclass(eq=False)
class ObjectV(SymValue):
    """An object of a plain Python class made in the segment (see `objects`). cls_source : of its class."""

    type: type
    cls_source: Source
    attrs: dict[str, SymValue] = field(default_factory=dict)


@dataclass(eq=False)
class ExceptionV(SymValue):
    """An exception made in the segment (see `raising`).

    cls : its class as a value. args : None when Python itself raises it, with a text that nobody has made.
    raised : it has been raised, and so has a traceback.
    """

    type: type
    cls: SymValue
    args: tuple[SymValue, ...] | None
    raised: bool = False


@dataclass(eq=False)
class HandledV(SymValue):
    """What a handler's frame keeps of the exception that was being handled before."""


@dataclass(eq=False)
class TracebackV(SymValue):
    """The traceback of an exception, for `__exit__`; nothing can be done with it."""


@dataclass(eq=False)
class TextV(SymValue):
    """A string of run-time numbers: `function(*args)`, made when the segment is left. sample : what it may look like."""

    function: Any
    args: tuple[SymValue, ...]
    sample: str


@dataclass(eq=False)
class ErrStateV(SymValue):
    """`np.errstate(kind="ignore", ...)`; bits : of the kinds."""

    kinds: tuple[str, ...]
    bits: int


@dataclass(eq=False)
class ErrStateExitV(SymValue):
    """Its exit method while its block is being executed. before : the bits ignored outside of it."""

    state: ErrStateV
    before: int


@dataclass(eq=False)
class PartialV(SymValue):
    """`functools.partial(function, *args, **kwargs)`."""

    function: SymValue
    args: TupleV
    kwargs: DictV


@dataclass(eq=False)
class GetterV(SymValue):
    """`kind(*args, **kwargs)` of `operator.itemgetter`, `attrgetter` or `methodcaller`, or `np.vectorize`."""

    kind: Any
    args: TupleV
    kwargs: DictV


@dataclass(eq=False)
class MapV(SymValue):
    """`map(function, iterable)` or `filter(function, iterable)` of which nothing has been taken."""

    kind: Any
    function: SymValue
    iterable: SymValue


@dataclass(eq=False)
class GenExprV(SymValue):
    """A generator that has not started: its function, and what it was called with.

    of : the function as Python has it. used : all its items have been taken.
    """

    function: FunctionV
    args: TupleV
    kwargs: DictV
    of: SymValue
    used: bool = False


@dataclass(eq=False)
class ManagerFunctionV(SymValue):
    """`contextlib.contextmanager(function)`."""

    function: SymValue


@dataclass(eq=False)
class ManagerV(SymValue):
    """What such a function gives, before it is entered. of : what was called."""

    function: FunctionV
    of: SymValue
    args: TupleV
    kwargs: DictV


@dataclass(eq=False)
class ManagerExitV(SymValue):
    """The exit method of a manager whose block is being traced: the generator's frame at its yield (see `managers`)."""

    code: Any = None
    info: FunctionInfo | None = None
    pc: int = 0
    at: int = 0
    locals: dict[str, SymValue] = field(default_factory=dict)
    free: dict[str, CellV] = field(default_factory=dict)
    stack: list[SymValue] = field(default_factory=list)


@dataclass(eq=False)
class MethodV(SymValue):
    """A bound method: a Python function or method descriptor with its `self`."""

    function: SymValue
    self: SymValue


@dataclass(eq=False)
class FlagsV(SymValue):
    """`array.flags`."""

    array: Array


@dataclass(eq=False)
class SuperV(SymValue):
    """`super(cls, self)` of a known class and an input."""

    cls: SymValue
    self: SymValue


@dataclass(eq=False)
class DimCompare(Scalar):
    """A Python bool that compares dims (`test` with 0). Becomes a guard when a branch needs it, an IR value otherwise.

    test : "ge" (dim >= 0) or "eq" (dim == 0); inverted : negated.
    """

    test: str = "ge"
    operand: Dim = field(default_factory=Dim)
    inverted: bool = False

    def settled(self, b: Builder) -> Scalar:
        """The bool as an IR value, for uses other than branches."""
        out = b.emit(self.test, b.dim_value(self.operand), b.const(0, "int64"))
        return b.scalar(b.emit("logical_not", out) if self.inverted else out, "python")


@dataclass(eq=False)
class BoolV(Scalar):
    """A run-time bool made of several tests (`a and b`). implied : (if it is this, the test, has this truth)."""

    implied: tuple[tuple[bool, Scalar, bool], ...] = ()


@dataclass(frozen=True)
class Item:
    """What the items of a `RunListV` are.

    kind : "number" (dtype; python: a Python number), "array" (a fresh one; dtype, dims), "tuple" and "row" (a tuple, a list of
        items of several kinds; parts), "list" (dims: its length; parts: what all its items are).
    """

    kind: str
    dtype: np.dtype | None = None
    dims: tuple[Dim, ...] = ()
    python: bool = False
    parts: tuple[Item, ...] = ()


@dataclass(eq=False)
class RunListV(SymValue):
    """A list of run-time length (see `runlists`). Made out of a `ListV`, in place.

    least : a lower bound of the count.
    lead, extra : items before and after those in the buffers, which may be anything.
    count : how many are in the buffers. columns : one buffer for each number of an item, with room for `capacity` items.
    """

    count: SymValue
    columns: list[Array]
    item: Item
    capacity: Dim
    lead: list[SymValue] = field(default_factory=list)
    extra: list[SymValue] = field(default_factory=list)
    least: int = 0

    def __repr__(self) -> str:
        """Short: its arrays refer to it."""
        return f"RunListV({self.item})"


class Choice(Protocol):
    """What decides at run time which side of a join holds: a loop, or a branch."""

    def first_holds(self, b: Builder) -> Value:
        """A bool: is it the first side?"""

    def resolve(self, t: Any, v: JoinV) -> SymValue:
        """The side that holds at the present place, made sure of by a guard, a check or a peeled turn."""


@dataclass(eq=False)
class JoinV(SymValue):
    """A variable that is `first` or `rest`: before and after a loop's first turn, or after the arms of a branch.

    Numbers of both sides have one representation, that of `rest`; only their Python types differ. `first` may be `UNBOUND`.
    """

    first: SymValue
    rest: SymValue
    choice: Choice


class UnboundV(SymValue):
    """An unbound local, as a side of a join."""


UNBOUND = UnboundV()


# ------------------------------------------------------------------------------------------------ iterators


@dataclass(eq=False)
class IterV(SymValue):
    """Base of iterators made in the segment; they are consumed in place at trace time.

    peeled : turns of a native loop that were taken out of it so far.
    unrolled : None until a loop over it starts; then 0 for a native loop, else the number of turns unrolled.
    trial : while the first turn shows whether unrolling is too much: the start, and the number of turns, those of loops around it
        included. work : how much it would have been; 0 when that is no question.
    """

    peeled: int = field(default=0, init=False)
    unrolled: int | None = field(default=None, init=False)
    trial: Any = field(default=None, init=False)
    work: float = field(default=0.0, init=False)


@dataclass(eq=False)
class RangeIterV(IterV):
    """Iterator over `range`; `next` is the value it will give next."""

    range: RangeV
    next: SymValue


@dataclass(eq=False)
class CountIterV(RangeIterV):
    """`itertools.count`: a range that has no end worth mentioning."""


@dataclass(eq=False)
class SeqIterV(IterV):
    """Iterator over the items of a virtual (or taken apart) tuple or list, at `index`.

    seq : a `ListV` is live, so that later appends are seen, as in Python.
    origin : what Python iterates over when that is not `seq` itself (a dict, an input list).
    """

    seq: TupleV | ListV
    index: int = 0
    origin: SymValue | None = None


@dataclass(eq=False)
class ArrayIterV(IterV):
    """Iterator over the first axis of an array, at `index` (a Python int, symbolic inside loops)."""

    array: SymValue
    index: SymValue


@dataclass(eq=False)
class PositionsIterV(ArrayIterV):
    """`np.ndindex(*sizes)`, or `np.ndenumerate(array)`, at flat `index`. Of the former `array` is None."""

    sizes: tuple[SymValue, ...]


@dataclass(eq=False)
class RunListIterV(IterV):
    """Iterator over a list of run-time length, at `index`. length : what it was when the loop began."""

    list: RunListV
    index: SymValue
    length: SymValue


@dataclass(eq=False)
class ZipIterV(IterV):
    iters: tuple[IterV, ...]


@dataclass(eq=False)
class EnumerateIterV(IterV):
    inner: IterV
    count: SymValue


@dataclass(eq=False)
class DictViewV(SymValue):
    """`d.keys()`, `d.values()`, `d.items()` of a dict."""

    dict: DictV | InputObject
    what: str
