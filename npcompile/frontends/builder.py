"""The one object rules write IR through: emits prims, reads and stores arrays, asks about dims (each answer a guard).

In: symbolic values and static params. Out: nodes in the current region. Knows nothing of bytecode: the tracer installs
hooks and sets `loc`. Rules never touch `Region` directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from npcompile.ir import prims as _prims  # noqa: F401  (fills the table)
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Graph, Loc, Node, Region, ReportSite, Value
from npcompile.ir.layout import c_layout, is_packed, keep_order
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType, TensorType, Type, ViewType
from npcompile.records import dataclass, replace

from .facts import DimFacts
from .questions import DimQuestions
from .values import (
    Array,
    Const,
    DictV,
    Lazy,
    ListV,
    OuterStore,
    Picked,
    RangeV,
    Scalar,
    SetV,
    SliceV,
    Storage,
    SymValue,
    TupleV,
    Unsupported,
    ViewOp,
    make_tuple,
)

INT64 = np.dtype(np.int64)

UNKNOWN = 1_000_003
"""Hints of sizes that only a call tells are larger, and all different."""


def _no_exit(reason: str) -> tuple[int, tuple[Value, ...]]:
    raise Unsupported(reason, "no exit is possible here")


def _no_force(v: SymValue) -> SymValue:
    raise Unsupported("lazy-input", "inputs cannot be looked at here")


def _no_default() -> np.dtype:
    raise Unsupported("static-value", "the default dtype is not known here")


def _no_device() -> str:
    raise Unsupported("static-value", "the current device is not known here")


def _no_state(function: Callable[[], Any], value: Any) -> None:
    raise Unsupported("static-value", "nothing can be guarded here")


def _no_static(v: SymValue, choice: bool) -> Any:
    raise Unsupported("static-value", "the value is known at run time only")


@dataclass
class Mark:
    """A point of the trace to roll back to."""

    region: Region
    nodes: int
    mem: dict[int, Value]
    n_mems: int
    journal: int
    facts: tuple[int, int]


REPORTED = 11
"""Bits of the conditions that compiled code looks for."""


class Builder(DimQuestions):
    """State of one trace.

    graph, region : the graph and the region being appended to.
    mem : current memory state by alias class.
    loc : source position that new nodes and report sites get. regions : the regions that are being emitted into, outermost first.
    facts : what is known about dims; `facts.hints` has the trace-time value of every symbol: it decides questions about
        dims and is never baked into code.
    exit_here : hook; returns (exit id, captured IR values) of an exit before the current instruction, whose reason is given.
    force_hook : hook; turns a `Lazy` into a concrete symbolic value, making its guards.
    static_dim_hook : hook; told that the segment will be specialised on a dim, with its value.
    static_hook : hook; specialises the segment on a run-time number that is no dim: guards it, returns the Python object.
    ignored : bits of the floating-point conditions that nothing is to report now (1 divide, 2 overflow, 4 underflow, 8 invalid).
    n_reports : how many nodes were emitted that may report.
    device : where the memory of the segment's arrays lives ("cpu", "cuda:0", ...); "" while there is none.
    default_dtype_hook : hook; torch's default dtype, guarded. current_device_hook : hook; the device it calls "cuda", guarded.
    state_hook : hook; guards that a function of no arguments gives an equal value.
    unchanged_hook : hook; told that memory is, for an exit that follows, in the state it had before the current instruction.
    store_hook : hook; told about every store to memory that the segment did not create, before it happens.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = graph or Graph()
        self.region: Region = self.graph.body
        self.regions: list[Region] = [self.graph.body]
        self.mem: dict[int, Value] = {}
        self.loc = Loc("<unknown>", 0)
        self.facts = DimFacts()
        self.exit_here: Callable[[str], tuple[int, tuple[Value, ...]]] = _no_exit
        self.force_hook: Callable[[SymValue], SymValue] = _no_force
        self.static_hook: Callable[[SymValue, bool], Any] = _no_static
        self.static_dim_hook: Callable[[Dim, int, bool], None] = lambda d, n, choice: None
        self.device = ""
        self.default_dtype_hook: Callable[[], np.dtype] = _no_default
        self.current_device_hook: Callable[[], str] = _no_device
        self.state_hook: Callable[[Callable[[], Any], Any], None] = _no_state
        self.store_hook: Callable[[Storage], None] = lambda s: None
        self.unchanged_hook: Callable[[int], None] = lambda key: None
        self._input_mems: dict[int, Value] = {}
        self._journal: list[tuple[Storage | Picked, dict[str, Any]]] = []
        self._n_mems = 0
        self._n_syms = 0
        self._names: dict[tuple[Value, Region], Dim] = {}
        self._made: dict[tuple[Any, ...], Value] = {}
        self._n_groups = 0
        self.ignored = 0
        self.n_reports = 0

    @property
    def hints(self) -> dict[Sym, int]:
        return self.facts.hints

    # -- emitting -----------------------------------------------------------------------------------------------
    def emit(self, prim: str, *inputs: Value, report: str | ReportSite | None = None, **params: Any) -> Value:
        """Append one node with one output; its type comes from the prim's type rule.

        report : NumPy's name of the operation when its floating-point conditions are to be reported.
        """
        (out,) = self.emit_multi(prim, *inputs, report=report, **params)
        return out

    def emit_multi(
        self,
        prim: str,
        *inputs: Value,
        report: str | ReportSite | None = None,
        regions: tuple[Region, ...] = (),
        **params: Any,
    ) -> tuple[Value, ...]:
        """`emit` for prims with any number of outputs, and with regions."""
        row = PRIMS[prim]
        if self.ignored and prim.startswith("extern"):
            raise Unsupported("with-statement", "a call of a library, which asks for the state itself")
        for v in inputs:
            v.type = self.facts.canon_type(v.type)
        params = {k: self.facts.canon_param(p) for k, p in params.items()}
        if prim == "squeeze" and (cut := _cut_to_one(inputs[0].type, params["axes"])):
            inputs = (self.emit("slice", *inputs, **cut),)
        outs = row.type_rule(tuple(v.type for v in inputs), params)
        if isinstance(report, str):
            report = ReportSite(report, self.loc) if row.reports else None
        if report is not None and self.ignored:
            report = None if self.ignored & REPORTED == REPORTED else replace(report, ignored=self.ignored)
        node = Node(prim, inputs, params, outs, regions, self.loc, report)
        self.n_reports += report is not None
        self.region.nodes.append(node)
        return node.outputs

    def sites(self, name: str, count: int) -> list[ReportSite]:
        """Where the nodes of one operation report, so that each condition is reported once for all of them."""
        self._n_groups += 1
        return [ReportSite(name, self.loc, self._n_groups, i > 0) for i in range(count)]

    def call_library(self, function: str, *inputs: Value, types: Sequence[Type], **kwargs: Any) -> tuple[Value, ...]:
        """A call of a library's function, given by its dotted name, which gives new arrays of these types; pure."""
        extras = tuple(sorted(kwargs.items()))
        return self.emit_multi("extern_library", *inputs, function=function, types=tuple(types), kwargs=extras)

    def const(self, value: Any, dtype: np.dtype | type | str) -> Value:
        """A rank-0 constant of exactly this dtype."""
        dt = np.dtype(dtype)
        return self.emit("const", value=np.asarray(value, dtype=dt).item(), dtype=dt)

    def dim_value(self, dim: Dim | int) -> Value:
        """A dim as an int64 rank-0 value."""
        d = self.facts.canon(dim)
        return self.const(d.const, INT64) if d.const is not None else self.emit("dim", dim=d)

    def sym_of(self, value: Value, lo: int | Dim, hi: int | Dim, hint: int | None) -> Dim:
        """Name an int64 rank-0 value so that dims can mention it; bounds must be true (proved or already checked)."""
        if value.node is not None and value.node.prim == "dim":
            return Dim.of(value.node.params["dim"])
        low, high = Dim.of(lo), Dim.of(hi)
        sym = self.new_symbol(low, high, hint)
        self.emit_multi("sym", value, sym=sym)
        d = Dim.of(sym)
        if low.const is None:
            self.facts.learn_ge(d - low)
        if high.const is None:
            self.facts.learn_ge(high - d)
        return d

    def name_of(self, value: Value, lo: int | Dim, hi: int | Dim, hint: int | None) -> Dim:
        """As `sym_of`, but the same dim for the same value in one region: windows at it are known to be one window."""
        key = (value, self.region)
        d = self._names.get(key)
        if d is None:
            d = self._names[key] = self.sym_of(value, lo, hi, hint)
        else:
            for low, high in ((Dim.of(lo), d), (d, Dim.of(hi))):
                if low.const is None or high.const is None:
                    self.facts.learn_ge(high - low)
        return d

    def once(self, key: tuple[Any, ...], make: Callable[[], Value]) -> Value:
        """The value that was made for this key in this region, or a new one."""
        key = (*key, self.region)
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def keep(self, s: Storage, owner: Any, at: SymValue) -> None:
        """A list of run-time length holds the array at this position from now on."""
        self._change(s, kept=(owner, at))

    def new_symbol(self, low: Dim, high: Dim, hint: int | None) -> Sym:
        """A symbol for a run-time int made in the segment. hint : None when nothing is known of it at trace time."""
        self._n_syms += 1
        lower, upper = (None if x.const is not None else x for x in (low, high))
        sym = Sym(f"s{self._n_syms}", low.bounds()[0], high.bounds()[1], lower=lower, upper=upper)
        self.facts.local.add(sym)
        if hint is None:
            self.facts.unknown.add(sym)
            hint = UNKNOWN + self._n_syms
        self.hints[sym] = hint
        return sym

    def exit_if(self, cond: Value, reason: str) -> None:
        """Leave before the current instruction when the bool value is true at run time."""
        exit_id, captures = self.exit_here(reason)
        self.emit_multi("exit_if", cond, *captures, *self.mem_values(), exit=exit_id)

    def mem_values(self) -> tuple[Value, ...]:
        """The current state of every memory, as exits take them."""
        return tuple(self.mem[k] for k in sorted(self.mem))

    # -- inputs and regions -----------------------------------------------------------------------------------------
    def input_mem(self) -> int:
        """A new alias class of input memory; returns its key. Its param follows all other params (`finish`)."""
        key = self.new_mem(Value(MemType()))
        self._input_mems[key] = self.mem[key]
        return key

    def new_mem(self, state: Value) -> int:
        """A new alias class in the given state; returns its key."""
        self._n_mems += 1
        self.mem[self._n_mems] = state
        return self._n_mems

    def _with_new_inputs(self, mem: dict[int, Value], n_mems: int) -> dict[int, Value]:
        """Earlier memory states, and those of inputs looked at since there were `n_mems`."""
        return {**mem, **{k: v for k, v in self._input_mems.items() if k > n_mems}}

    def stored_inputs(self) -> set[int]:
        """Alias classes of inputs whose memory has been stored to."""
        return {k for k, v in self._input_mems.items() if self.mem.get(k, v) is not v}

    def input_value(self, type: Type) -> Value:
        """A new param of the graph."""
        value = Value(type)
        self.graph.body.params.append(value)
        return value

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Emit into `region` (an inner one); on leaving, the outer memory states are current again."""
        outer, mem, n_mems, facts = self.region, dict(self.mem), self._n_mems, self.facts.mark()
        self.region = region
        self.regions.append(region)
        try:
            yield
        finally:
            self.regions.pop()
            self.region, self.mem = outer, self._with_new_inputs(mem, n_mems)
            self.facts.drop_local(facts)

    def mark(self) -> Mark:
        """The present point, for `rollback`."""
        return Mark(self.region, len(self.region.nodes), dict(self.mem), self._n_mems, len(self._journal), self.facts.mark())

    def rollback(self, mark: Mark) -> None:
        """Forget what was emitted and stored since `mark`. Guards and facts about inputs stay: they are only stricter."""
        self.region = mark.region
        self._names.clear()
        self._made.clear()
        del self.region.nodes[mark.nodes :]
        self.mem = self._with_new_inputs(mark.mem, mark.n_mems)
        while len(self._journal) > mark.journal:
            storage, fields = self._journal.pop()
            for k, v in fields.items():
                setattr(storage, k, v)
        self.facts.drop_local(mark.facts)

    def use_device(self, device: str) -> None:
        """Arrays of the segment live on this device; Unsupported when others live elsewhere."""
        if self.device not in ("", device):
            raise Unsupported("mixed-devices", f"{device} and {self.device}")
        self.device = device

    def finish(self) -> Graph:
        """The finished graph: memory params appended, every type and param in terms of the canonical symbols."""
        body = self.graph.body
        body.params.extend(m for m in self._input_mems.values() if m not in body.params)
        self._canon_region(body)
        return self.graph

    def _canon_region(self, region: Region) -> None:
        canon = self.facts.canon_type
        for v in region.params:
            v.type = canon(v.type)
        for node in region.nodes:
            for v in node.outputs:
                v.type = canon(v.type)
            node.params = {k: self.facts.canon_param(p) for k, p in node.params.items()}
            for inner in node.regions:
                self._canon_region(inner)

    # -- sizes ----------------------------------------------------------------------------------------------------
    def hint(self, d: Dim | int) -> int:
        """The value at trace time."""
        return self.facts.hint(d)

    def dims(self, v: Value | Array) -> tuple[Dim, ...]:
        """Canonical dims: equal ones compare equal."""
        if isinstance(v.type, MemType):
            raise TypeError("a memory state has no dims")
        return tuple(map(self.facts.canon, v.type.dims))

    # -- symbolic values ------------------------------------------------------------------------------------------
    def force(self, v: SymValue) -> SymValue:
        """Look at a lazy input (guards are made); others are returned as they are."""
        if isinstance(v, Picked):
            return v.together or v
        return self.force_hook(v) if isinstance(v, Lazy) else v

    def bring_together(self, p: Picked, array: Array) -> None:
        """From now on the chosen elements are the array."""
        self._change(p, together=array)

    def static(self, v: SymValue, choice: bool = False) -> Any:
        """The Python object when it is known (a symbolic int/float input is specialised: guarded equal to its example);
        tuples, lists and slices of such too. Raises `Unsupported("static-value")` for values made at run time.

        choice : the value is one of few, such as an axis, so that each may have a segment of its own.
        """
        v = self.force(v)
        if isinstance(v, Const):
            return v.value
        for x in self._parts(v):  # all or none: what is asked of one would stay
            self._may_be_static(x, choice)
        if isinstance(v, TupleV):
            return make_tuple(v.cls, [self.static(x, choice) for x in v.items])
        if isinstance(v, ListV):
            return [self.static(x, choice) for x in v.items]
        if isinstance(v, DictV):
            return {k: self.static(x, choice) for k, x in v.items.items()}
        if isinstance(v, SetV):
            return set(v.items)
        if isinstance(v, SliceV):
            return slice(self.static(v.start, choice), self.static(v.stop, choice), self.static(v.step, choice))
        if isinstance(v, RangeV):
            return range(self.static(v.start, choice), self.static(v.stop, choice), self.static(v.step, choice))
        if isinstance(v, Scalar) and v.dim is not None:
            n = self.static_dim(v.dim, choice)
            return n if v.kind == "python" else v.dtype.type(n)
        return self.static_hook(v, choice)

    def _parts(self, v: SymValue) -> list[SymValue]:
        if isinstance(v, (TupleV, ListV)):
            return list(v.items)
        if isinstance(v, DictV):
            return list(v.items.values())
        return [v.start, v.stop, v.step] if isinstance(v, (SliceV, RangeV)) else []

    def _may_be_static(self, v: SymValue, choice: bool) -> None:
        """Raise `Unsupported` where a number that is a dim may not be known."""
        v = self.force(v)
        for x in self._parts(v):
            self._may_be_static(x, choice)
        d = self.facts.canon(v.dim) if isinstance(v, Scalar) and v.dim is not None else None
        if d is not None and d.const is None:
            if self.facts.is_local(d):
                raise Unsupported("static-value", "the value changes inside the segment")
            self.static_dim_hook(d, self.hint(d), choice)

    def static_dim(self, dim: Dim, choice: bool = False) -> int:
        """The dim as a plain int; the segment is specialised on it where it is not constant."""
        d = self.facts.canon(dim)
        if d.const is None:
            if self.facts.is_local(d):
                raise Unsupported("static-value", "the value changes inside the segment")
            n = self.hint(d)
            self.static_dim_hook(d, n, choice)
            self._guard("eq", d - n)
            self.facts.learn_eq(d - n)
            return n
        return d.const

    def value_of(self, v: SymValue, dtype: np.dtype | None = None) -> Value:
        """A number, NumPy scalar or array as a tensor value (arrays are read at the current state), converted to `dtype`."""
        v = self.force(v)
        if isinstance(v, Array):
            out = self.read(v)
        elif isinstance(v, Scalar):
            if v.value is None:
                if v.dim is None:
                    raise TypeError("a scalar has a value or a dim")
                out = self.convert(self.dim_value(v.dim), v.dtype)  # not kept: it belongs to the present region
            else:
                out = v.value
        elif isinstance(v, Const) and isinstance(v.value, (bool, int, float, complex, np.generic)):
            own = const_dtype(v.value)
            out = self.const(v.value, own)
        else:
            raise Unsupported("operand", f"{type(v).__name__} is not a number or array")
        return out if dtype is None else self.convert(out, dtype)

    # -- arrays -----------------------------------------------------------------------------------------------------
    def array(self, value: Value) -> Array:
        """A fresh array whose contents are `value` (packed in the order of its axes if it is not yet)."""
        t = value.type
        assert isinstance(t, TensorType)
        if not is_packed(t):
            return self.array(self.emit("copy", value, layout=keep_order(t.layout, t.dims)))
        root = self._packed(t.dtype, t.dims, t.layout)
        return Array(Storage(root, pure=value, region=self.region), (), root)

    def input_array(self, root: Value, mem: int, **fields: Any) -> Array:
        """The array of a view-typed param in the alias class `mem`; `fields` are further fields of `Array`."""
        assert isinstance(root.type, ViewType)
        s = Storage(root.type, root=root, mem=mem, source=fields.get("source"), fresh=False)
        return Array(s, (), root.type, **{"writeable": root.type.writeable, **fields})

    def scalar(self, value: Value, kind: str = "numpy") -> Scalar:
        """A rank-0 value as a NumPy (or Python) scalar."""
        assert isinstance(value.type, TensorType) and not value.type.dims
        return Scalar("python" if kind == "python" else "numpy", value.type.dtype, value)

    def view(self, a: Array, prim: str, **params: Any) -> Array:
        """A view of `a` by one more index map (shares storage; type by the prim's type rule)."""
        params = {k: self.facts.canon_param(p) for k, p in params.items()}
        if prim == "squeeze" and (cut := _cut_to_one(self.facts.canon_type(a.type), params["axes"])):
            a = self.view(a, "slice", **cut)
        (t,) = PRIMS[prim].type_rule((self.facts.canon_type(a.type),), params)
        assert isinstance(t, ViewType)
        chain = (*a.chain, ViewOp(prim, tuple(params.items())))
        return Array(a.storage, chain, t, writeable=a.writeable and t.writeable, detached=a.detached)

    def read(self, a: Array) -> Value:
        """The contents of `a` now."""
        s = a.storage
        if s.pure is not None:
            return self._follow(s.pure, a)
        assert s.mem is not None
        return self.emit("load", self.view_value(a), self.mem[s.mem])

    def view_value(self, a: Array) -> Value:
        """`a` as a view value; it must be in memory (`materialise`)."""
        assert a.storage.root is not None
        return self._follow(a.storage.root, a)

    def _follow(self, v: Value, a: Array) -> Value:
        for op in a.chain:
            v = self.emit(op.prim, v, **dict(op.params))
        return v

    def materialise(self, s: Storage) -> None:
        """Give a pure storage a buffer (alloc + store); arrays on it are views of that from now on."""
        if s.pure is None:
            return
        if s.region is not self.region:
            raise OuterStore(s)
        root, mem = self.emit_multi("alloc", dtype=s.type.dtype, dims=s.type.dims, layout=s.type.layout)
        key = self.new_mem(self.emit("store", root, s.pure, mem))
        self._change(s, root=root, mem=key, pure=None)

    def store(self, a: Array, value: Value, mask: Value | None = None) -> None:
        """`a[...] = value` (same dims and dtype as `a`; where `mask` if given). Raises Unsupported when `a` is read-only."""
        if not a.writeable:
            raise Unsupported("read-only", "assignment destination is read-only")
        self._check_kept(a.storage)
        value = self.broadcast(value, a.dims)
        mask = None if mask is None else self.broadcast(mask, a.dims)
        s = a.storage
        if s.pure is not None:
            if s.region is not self.region:
                raise OuterStore(s)
            if not a.chain:
                return self._replace(s, value, mask)
            self.materialise(s)
        if mask is None:
            self._to_memory(a, lambda view, mem: ("store", (view, value, mem)))
        else:
            self._to_memory(a, lambda view, mem: ("store_masked", (view, mask, value, mem)))

    def move(self, a: Array, source: Array) -> None:
        """`a[...] = source` of vectors (same dims and dtype) of one memory, in the order in which NumPy takes their elements."""
        if not a.writeable:
            raise Unsupported("read-only", "assignment destination is read-only")
        self._check_kept(a.storage)
        self.materialise(a.storage)
        self._to_memory(a, lambda view, mem: ("move", (view, self.view_value(source), mem)))

    def _check_kept(self, s: Storage) -> None:
        if s.kept is not None:
            raise Unsupported("loop-container", "an array is stored to that a list holds")

    def _replace(self, s: Storage, value: Value, mask: Value | None) -> None:
        """Store to all of a pure storage: it gets another value in the same axis order."""
        if mask is not None:
            assert s.pure is not None
            value = self.emit("select", mask, value, s.pure)
        assert isinstance(value.type, TensorType)
        layout = self.facts.canon_type(s.type).layout
        if value.type.layout != layout or not is_packed(value.type):
            value = self.emit("copy", value, layout=layout)
        self._change(s, pure=value)

    def item(self, a: Array, indices: Sequence[Value]) -> Value:
        """One element of an array in memory by int64 indices, already checked to be in range and non-negative."""
        s = a.storage
        assert s.mem is not None
        view, mem = self.view_value(a), self.mem[s.mem]
        places = (v.node.params.get("dim", v) if v.node is not None and v.node.prim == "dim" else v for v in indices)
        return self.once(("item", view, mem, *places), lambda: self.emit("item", view, mem, *indices))

    def store_item(self, a: Array, value: Value, indices: Sequence[Value]) -> None:
        """Store one element (rank-0, of `a`'s dtype) at int64 indices, already checked to be in range and non-negative."""
        if not a.writeable:
            raise Unsupported("read-only", "assignment destination is read-only")
        self._check_kept(a.storage)
        self.materialise(a.storage)
        self._to_memory(a, lambda view, mem: ("store_item", (view, value, mem, *indices)))

    def _to_memory(self, a: Array, node: Callable[[Value, Value], tuple[str, tuple[Value, ...]]]) -> None:
        s = a.storage
        assert s.mem is not None
        if not s.fresh:
            self.store_hook(s)
        prim, inputs = node(self.view_value(a), self.mem[s.mem])
        self.mem[s.mem] = self.emit(prim, *inputs)

    def store_by_call(self, a: Array, values: Sequence[Value], **params: Any) -> Value:
        """A library function changes `a` in place (see `extern_store`). Gives whether it did; if not, nothing was changed."""
        if not a.writeable:
            raise Unsupported("read-only", "assignment destination is read-only")
        self.materialise(a.storage)
        s = a.storage
        assert s.mem is not None
        if not s.fresh:
            self.store_hook(s)
        done, self.mem[s.mem] = self.emit_multi("extern_store", self.view_value(a), self.mem[s.mem], *values, **params)
        self.unchanged_hook(s.mem)
        return done

    def new_array(self, dtype: np.dtype, dims: Sequence[Dim], layout: tuple[int, ...] | None = None) -> Array:
        """An uninitialised fresh array in memory (C order unless `layout` says otherwise)."""
        root, mem = self.emit_multi("alloc", dtype=np.dtype(dtype), dims=tuple(dims), layout=layout or c_layout(dims))
        key = self.new_mem(mem)
        assert isinstance(root.type, ViewType)
        return Array(Storage(root.type, root=root, mem=key, region=self.region), (), root.type)

    def _packed(self, dtype: np.dtype, dims: tuple[Dim, ...], layout: tuple[int, ...]) -> ViewType:
        (root, _) = PRIMS["alloc"].type_rule((), {"dtype": dtype, "dims": dims, "layout": layout})
        assert isinstance(root, ViewType)
        return root

    def _change(self, s: Storage | Picked, **fields: Any) -> None:
        self._journal.append((s, {k: getattr(s, k) for k in fields}))
        for k, v in fields.items():
            setattr(s, k, v)

    # -- broadcasting and promotion -------------------------------------------------------------------------------
    def broadcast(self, v: Value, dims: Sequence[Dim]) -> Value:
        """`v` broadcast to `dims`, which it must be known to broadcast to."""
        have, want = self.dims(v), tuple(map(self.facts.canon, dims))
        if have == want:
            return v
        lead = len(want) - len(have)
        if lead < 0:
            raise Unsupported("shape-mismatch", "too many axes")
        # a size known to be equal (or 1) only by a check inside the segment keeps its own name: rename it by a whole slice
        same = tuple(self._size_before(h, w) for h, w in zip(have, want[lead:]))
        if same != have:
            v = self.emit("slice", v, starts=(Dim.of(0),) * len(same), steps=(1,) * len(same), dims=same)
        return v if same == want else self.emit("broadcast", v, dims=want)

    def _size_before(self, have: Dim, want: Dim) -> Dim:
        if have == want or have.const == 1:
            return have
        if self.facts.prove_eq(have - want):
            return want
        if self.facts.prove_eq(have - 1):
            return Dim.of(1)
        raise Unsupported("shape-mismatch", f"{have} does not broadcast to {want}")

    def convert(self, v: Value, dtype: np.dtype | type | str, report: str | ReportSite = "cast") -> Value:
        """A cast as `astype(dtype, casting="unsafe")` does it; no node when the dtype is the same."""
        t, dt = v.type, np.dtype(dtype)
        assert isinstance(t, TensorType)
        if t.dtype == dt:
            return v
        if t.dtype.kind == "c" and dt.kind not in "cb":
            raise Unsupported("complex-to-real", "the cast warns ComplexWarning")
        return self.emit("convert", v, dtype=dt, report=report if cast_reports(t.dtype, dt) else None)


def _cut_to_one(t: Type, axes: Sequence[int]) -> dict[str, Any]:
    """Params of a slice that makes axes constant whose length is 1 by a fact that types cannot express; {}: none needed."""
    assert not isinstance(t, MemType)
    if all(t.dims[a].const == 1 for a in axes):
        return {}
    zero, one = Dim.of(0), Dim.of(1)
    dims = tuple(one if a in axes else d for a, d in enumerate(t.dims))
    return {"starts": (zero,) * t.rank, "steps": (one,) * t.rank, "dims": dims}


def cast_reports(a: np.dtype, b: np.dtype) -> bool:
    """Can a cast from `a` to `b` raise a floating-point condition?"""
    if a.kind in "fc":
        return b.kind in "iu" or (b.kind in "fc" and np.finfo(b).max < np.finfo(a).max)
    return b.char == "e" and a.kind in "iu" and a.itemsize > 1


def const_dtype(value: Any) -> np.dtype:
    """The dtype in which a number stands in the IR."""
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise Unsupported("big-int", "a Python int beyond 64 bits")
        return INT64
    return np.dtype(np.float64 if isinstance(value, float) else np.complex128)


__all__ = ["Builder", "Mark", "const_dtype"]
