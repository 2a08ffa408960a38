"""The host program: straight-line code of one region, in program order, with kernels launched in between.

In: a graph's regions and their plans. Out: lines of C++ inside the segment's function. Scalars are C++ variables; tensor work
is collected as statements and scheduled into kernels when something needs it done. Never: decides on fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from npcompile.kernels import ctype

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.types import MemType, TensorType, ViewType
from npcompile.records import dataclass, field

from . import calls, launch, nodes
from .analysis import RegionPlan, is_inline
from .cpp.conditions import KEEPS, reported
from .cpp.exact import mask_text
from .cpp.literals import literal
from .cpp.ops import prim_text
from .elements import Elements, run_time_symbol
from .index_maps import INDEX_MAPS, Place, map_place, root_place
from .loop_ir import IndexOp, Load, Op, Undo
from .lowered import LoweringError
from .range_checks import index_text
from .reports import Reports
from .schedule import Cluster
from .statements import Reader, Stmt, make_axes
from .typed import ttype
from .unit import Buffer, Unit

_PARAM = Node("param", (), {}, ())


@dataclass
class Host:
    """State while one region is emitted. Inner regions share everything but `plan` and `pending`."""

    unit: Unit
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    scalars: dict[Value, str] = field(default_factory=dict)
    scalar_types: dict[str, np.dtype] = field(default_factory=dict)
    places: dict[Value, Place] = field(default_factory=dict)
    storage: dict[Value, Place] = field(default_factory=dict)
    slots: dict[str, str] = field(default_factory=dict)
    """Buffer -> C++ text of its object slot."""
    loop_depth: int = 0
    top: int = 0
    """Line at which the segment's own variables are declared."""
    polls: bool = False
    restart: tuple[str, int] | None = None
    """Label at which the present turn of a loop may begin anew, while no more reports than so many have been written."""
    changed: bool = False
    """Something that the caller can see has been changed."""
    cold: int = 0
    """Inside branches that leave the segment: code is made small."""
    hoist_at: int = 0
    plan: RegionPlan = field(default_factory=lambda: RegionPlan([], {}, set(), set()))
    pending: list[Stmt] = field(default_factory=list)
    together: list[Stmt] = field(default_factory=list)
    """What is being scheduled, or waits for it."""
    consumers: dict[Value, list[Node]] = field(default_factory=dict)
    needs: set[Value] = field(default_factory=set)
    ended: set[Value] = field(default_factory=set)
    """Memory states that a store has replaced."""
    targets: dict[Value, Place] = field(default_factory=dict)
    """Where a value is to be put when it is realised."""
    returned: dict[Value, int] = field(default_factory=dict)
    """Realised value -> how many captures of the final exit want it as an array of its own."""
    as_tensor: set[Value] = field(default_factory=set)
    """Values and whole buffers that are best made as tensors."""
    tensors: set[str] = field(default_factory=set)
    """Buffers whose object is a tensor."""
    reports: Reports = field(init=False)
    in_range: frozenset[tuple[Dim | None, Dim | None]] = frozenset()
    """Indices that are known to be neither negative nor too large for these lengths."""
    keeping: dict[Node, str] = field(default_factory=dict)
    """Stores -> the line, but for the element, that keeps what they overwrite."""
    late: set[Node] = field(default_factory=set)
    """Stores that are made after the loop."""
    recalled: dict[Node, str] = field(default_factory=dict)
    """Reads of elements that earlier turns of the loop have stored -> what holds them."""
    noted: dict[Node, list[str]] = field(default_factory=dict)
    """Stores -> what holds the elements of the last turns, the last one first."""
    tentative: list[Op] | None = None
    """Scalar operations of a run that leaves reports to a second one; None: reports are made."""

    def __post_init__(self) -> None:
        self.reports = Reports(self.unit, self.line)

    @property
    def handlers(self) -> Mapping[str, Callable[[Any, Node], None]]:
        """Prim -> what emits it, for all but expressions."""
        return nodes.HANDLERS

    # -- text ---------------------------------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def hoist(self, text: str) -> None:
        """Put a line before the outermost loop that is open."""
        if self.loop_depth:
            self.lines.insert(self.hoist_at, "  " + text)
            self.hoist_at += 1
        else:
            self.line(text)

    def variable(self, dtype: np.dtype, text: str, const: bool = True) -> str:
        """Declare a scalar variable."""
        name = self.unit.fresh("v")
        self.scalar_types[name] = dtype
        self.line(f"{'const ' if const else ''}{ctype(dtype)} {name} = {text};")
        return name

    def note_store(self, buffer: str) -> None:
        """Memory has been changed: what came before is not to be done again."""
        self.restart = None
        self.changed = self.changed or self.unit.is_callers(buffer)

    def note_call(self) -> None:
        """A function has been called that may have warned, stored or drawn random numbers: nothing before is to be done again."""
        self.restart = None
        self.changed = True

    def undo(self, stored: list[str]) -> Undo | None:
        """What a nest that stores to these buffers does when a signal ends it, while nothing shows of what has been done: begin
        the turn anew, or leave the call to the original function."""
        if self.restart is not None and self.restart[1] == self.reports.made and not stored and not self.cold:
            return Undo(f"{{ tick = -1; goto {self.restart[0]}; }}", False)
        shows = self.changed or any(self.unit.is_callers(b) for b in stored)
        return None if self.loop_depth or self.cold or shows else Undo("return NPC_ORIGINAL;", True)

    def wants(self, v: Value, box: str | None) -> None:
        """An exit hands the value back as an array or tensor of its own."""
        self.returned[v] = self.returned.get(v, 0) + 1
        if box == "tensor":
            self.as_tensor.add(v)

    # -- regions ------------------------------------------------------------------------------------------------
    def region(self, plan: RegionPlan, needs: set[Value], at_end: Callable[[], None] = lambda: None) -> None:
        """Emit all live nodes of a region. `needs`: values used after it; `at_end` may add last statements."""
        saved = self.plan, self.pending, self.consumers, self.needs
        self.plan, self.pending, self.needs = plan, [], needs
        self.consumers = consumers_of(plan)
        with self.reports.region(plan.nodes):
            for node in plan.nodes:
                self.node(node)
                self.end_memories(node)
            at_end()
            self.flush()
        self.plan, self.pending, self.consumers, self.needs = saved

    def end_memories(self, node: Node) -> None:
        """The memory states a node takes are no longer current when it returns new ones."""
        if any(isinstance(v.type, MemType) for v in node.outputs):
            self.ended.update(v for v in node.inputs if isinstance(v.type, MemType))

    def node(self, node: Node) -> None:
        """One live node."""
        prim = node.prim
        if prim in self.handlers:
            self.handlers[prim](self, node)
        elif prim in INDEX_MAPS and isinstance(node.outputs[0].type, ViewType):
            pass
        elif all(isinstance(v.type, TensorType) and v.type.rank == 0 for v in node.outputs) and (
            is_inline(node) or prim in ("libm",) or prim.endswith("_checked") or prim.startswith("py_")
        ):
            self.scalar_node(node)
        elif is_inline(node):
            if node.outputs[0] in self.plan.realised:
                self.add_value(node)
        else:
            raise LoweringError("not-lowered", prim)

    @contextmanager
    def inside_loop(self) -> Iterator[None]:
        """Lines of a loop's body."""
        self.depth += 1
        self.loop_depth += 1
        yield
        self.loop_depth -= 1
        self.depth -= 1

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Code that leaves the segment: what it makes is unknown afterwards, what waits outside keeps waiting."""
        saved = dict(self.scalars), dict(self.storage), dict(self.places), self.pending, self.loop_depth, self.returned
        undo = self.restart, self.changed
        hoist_at, polls = self.hoist_at, self.polls
        self.pending, self.loop_depth, self.returned = [], 0, {}
        self.depth += 1
        self.cold += 1
        with self.reports.branch():
            yield
        self.hoist_at = hoist_at + (self.polls and not polls)
        self.cold -= 1
        self.depth -= 1
        self.scalars, self.storage, self.places, self.pending, self.loop_depth, self.returned = saved
        self.restart, self.changed = undo

    # -- scalars ------------------------------------------------------------------------------------------------
    def scalar_node(self, node: Node) -> None:
        """A rank-0 operation: at once, or after the pending statements it depends on."""
        out = node.outputs[0]
        if node.prim == "load":
            calls.settle(self, node.inputs[0])
        moves = node.prim in INDEX_MAPS and ttype(node.inputs[0]).rank > 0
        if moves or any(s.out in node.inputs or out in s.operands for s in self.pending):
            tensors = tuple(v for v in node.inputs if isinstance(v.type, TensorType))
            s = Stmt("host", node, (), (), (out,) if moves else tensors, (), out)
            self.reader(out).fill(s)
            self.pending.append(s)
            return
        self.emit_scalar(node)

    def emit_scalar(self, node: Node) -> None:
        """Write a rank-0 operation."""
        out = node.outputs[0]
        dt = ttype(out).dtype
        if node.prim in INDEX_MAPS or node.prim in ("load", "iota", "full"):
            self.scalars[out] = self.element(out)
            return
        args = tuple(self.scalar(v) for v in node.inputs)
        dts = tuple(ttype(v).dtype for v in node.inputs)
        if node.prim == "const":
            self.scalars[out] = literal(node.params["value"], dt)
            return
        if len(node.outputs) == 2:
            over = self.variable(np.dtype(bool), "(npc_bool)0", const=False)
            self.scalars[node.outputs[1]] = over
            text = prim_text(self.unit, node.prim, args, dts, dt, {**node.params, "o1": f"&{over}"})
        else:
            text = index_text(self, node) or prim_text(self.unit, node.prim, args, dts, dt, node.params)
        name = self.scalars[out] = self.variable(dt, text)
        op = Op(name, node.prim, args, dt, dts, node.params, node)
        if self.tentative is not None:
            self.tentative.append(op)
        elif reported(op, self.silent()) is not None:
            self.reports.add_later(node, op, mask_text(self.unit, op))

    def note_number(self, v: Value) -> bool:
        """In a run that leaves exits to a second one: leave it at what the results made of a number tell, if it is not finite."""
        node, dt = v.node, ttype(v).dtype
        if node is None or node.prim not in KEEPS or dt.kind != "f" or any(x not in self.scalars for x in node.inputs):
            return False
        dtypes = tuple(ttype(x).dtype for x in node.inputs)
        args = tuple(self.scalars[x] for x in node.inputs)
        self.reports.add_exit(node, Op(self.scalars[v], node.prim, args, dt, dtypes, node.params, node))
        return True

    def silent(self) -> frozenset[Node]:
        """Nodes that have reported already, when code that leaves the segment evaluates them again."""
        return frozenset(self.reports.done) if self.cold else frozenset()

    def element(self, v: Value) -> str:
        """A rank-0 tensor that reads memory or realised tensors, evaluated here."""
        el = Elements(self.unit, self.storage.get, self.scalars.get, self.place_of, prefix="h")
        name = el.element(v, ())
        for s in el.scopes[0].body:
            if isinstance(s, Load):
                text, dt = self.cell(s.buffer, s.offset, s.dtype), s.dtype
            elif isinstance(s, Op):
                text, dt = prim_text(self.unit, s.prim, s.args, s.arg_dtypes, s.dtype, s.params), s.dtype
            elif isinstance(s, IndexOp):
                text, dt = self.unit.dim(s.value), np.dtype(np.int64)
            else:
                raise LoweringError("scalar-expression", type(s).__name__)
            var = self.variable(dt, text)
            self._rename(el, s.name, var)
            name = var if name == s.name else name
        return name

    def _rename(self, el: Elements, old: str, new: str) -> None:
        symbol = run_time_symbol(old)
        if symbol in self.unit.sym_names:
            self.unit.sym_names[symbol] = new
        for s in el.scopes[0].body:
            if isinstance(s, Op):
                s.args = tuple(new if a == old else a for a in s.args)

    def scalar(self, v: Value) -> str:
        """C++ text of a rank-0 value."""
        text = self.scalars.get(v)
        if text is None:
            self.flush({v.node.outputs[0] if v.node else v})  # what waits is known by its first result
            text = self.scalars.get(v)
        if text is None:
            raise LoweringError("no-value", f"{v!r} of {v.node and v.node.prim}")
        return text

    def cell(self, buffer: str, offset: Dim, dtype: np.dtype) -> str:
        """An lvalue in memory, in host code."""
        return f"*({ctype(dtype)} *)((char *){buffer} + {self.unit.dim(offset)})"

    # -- places -------------------------------------------------------------------------------------------------
    def place_of(self, v: Value) -> Place:
        """Place of a view."""
        p = self.places.get(v)
        if p is None:
            node = v.node
            if node is None or node.prim not in INDEX_MAPS:
                raise LoweringError("no-place", f"{v!r} of {node and node.prim}")
            p = map_place(node, self.place_of(node.inputs[0]))
            self.places[v] = p
        return p

    def bind_view(self, v: Value, b: Buffer) -> None:
        """A root view is a buffer."""
        t = v.type
        assert isinstance(t, ViewType)
        self.places[v] = root_place(b.name, t.strides, t.dims)

    def tensor_place(self, v: Value) -> Place | None:
        """Place of a tensor that is in memory as it is: realised, a load, or an index map of one."""
        if v in self.storage:
            return self.storage[v]
        node = v.node
        if node is None or v in self.plan.realised:
            return None
        if node.prim == "load":
            return self.place_of(node.inputs[0])
        if node.prim in ("transpose", "slice", "expand", "squeeze", "diagonal", "broadcast"):
            p = self.tensor_place(node.inputs[0])
            return None if p is None else calls.mapped(node, p)
        return None

    # -- realising ----------------------------------------------------------------------------------------------
    def reader(self, making: Value | None = None) -> Reader:
        """Finds reads of a statement at the present node; `making` is evaluated although it is to be realised."""
        return Reader(
            self.unit,
            lambda v: v is not making and self.is_realised(v),
            self.place_of,
            lambda mem: mem not in self.ended,
        )

    def is_realised(self, v: Value) -> bool:
        t = v.type
        if isinstance(t, TensorType) and t.rank == 0:
            return True
        return v in self.storage or v in self.plan.realised

    def add_value(self, node: Node) -> None:
        """Statement that realises a tensor expression."""
        out = node.outputs[0]
        dims = ttype(out).dims
        axes = make_axes(self.unit, dims)
        s = Stmt("value", node, dims, axes, (out,), tuple(range(len(dims))), out)
        s.index = s.position
        self.reader(out).fill(s)
        self.pending.append(s)

    def storage_for(self, v: Value) -> Place:
        """Memory of a value that outlives its kernel."""
        if v in self.storage:
            return self.storage[v]
        if v in self.targets:
            self.storage[v] = self.targets[v]
            return self.storage[v]
        t = ttype(v)
        if t.rank == 0:
            b = self.unit.new_buffer(t.dtype, (), ())
            self.hoist(f"{ctype(t.dtype)} {b.name}[1];")
            self.scalars[v] = f"{b.name}[0]"
            return Place(b.name, Dim(), (), ())
        strides = packed_strides(t.dims, _dense(t.layout, t.dims), t.dtype.itemsize)
        b = self.unit.new_buffer(t.dtype, t.dims, strides)
        if self.returned.get(v) and not self.loop_depth:
            slot = str(self.new_slot())
            self.alloc_array(b, slot, v in self.as_tensor)
        else:
            self.scratch(b)
        self.storage[v] = root_place(b.name, strides, t.dims)
        return self.storage[v]

    def copy(self, v: Value, b: Buffer) -> None:
        """Statement that evaluates a tensor into a buffer of its own."""
        t = ttype(v)
        axes = make_axes(self.unit, t.dims)
        s = Stmt("store", v.node or _PARAM, t.dims, axes, (v,), tuple(range(t.rank)), place=root_place(b.name, b.strides, t.dims))
        s.index = s.position
        self.reader().fill(s)
        self.pending.append(s)

    def new_slot(self) -> int:
        n = self.unit.n_slots
        self.unit.n_slots += 1
        return n

    def alloc_array(self, b: Buffer, slot: str, tensor: bool = False) -> None:
        """A fresh NumPy array, or tensor of the segment's library, in an object slot."""
        self.unit.allocations += 1
        if self.loop_depth:
            self.unit.allocations_in_loops += 1
        nd, make = len(b.dims), "alloc_tensor" if tensor else "alloc_array"
        dims = ", ".join(self.unit.dim(d) for d in b.dims) or "0"
        strides = ", ".join(self.unit.dim(d) for d in b.strides) or "0"
        self.line(f"const npc_i64 {b.name}_d[] = {{{dims}}}, {b.name}_t[] = {{{strides}}};")
        self.line(f"char *{b.name} = (char *)rt->{make}(ctx, {slot}, {b.dtype.num}, {nd}, {b.name}_d, {b.name}_t);")
        self.line(f"if (!{b.name}) return NPC_ERROR;")
        self.slots[b.name] = slot
        if tensor:
            self.tensors.add(b.name)

    def as_library(self, box: str | None) -> bool:
        """Is what an exit boxes so made and handed back by the segment's library, not as an array of NumPy?"""
        return box == "tensor"

    def store_scalar(self, b: Buffer, v: Value) -> None:
        """Put a rank-0 value into an array of its own."""
        self.line(f"*({ctype(b.dtype)} *){b.name} = {self.scalar(v)};")

    def scratch(self, b: Buffer) -> None:
        """Scratch memory; inside loops it is taken once, before the outermost loop, and grows when needed."""
        self.unit.allocations += 1
        count = Dim.of(b.dtype.itemsize)
        for d in b.dims:
            count = count * d
        size = self.unit.dim(count)
        fail = "{ rt->no_memory(ctx); return NPC_ERROR; }"
        if not self.loop_depth:
            self.line(f"char *{b.name} = (char *)rt->scratch(ctx, {size});")
            self.line(f"if (!{b.name}) {fail}")
            return
        self.hoist(f"char *{b.name} = 0; npc_i64 {b.name}_n = -1;")
        self.line(f"if ({b.name}_n < {size}) {{")
        self.line(f"  if ({b.name}) rt->scratch_free(ctx, {b.name});")
        self.line(f"  {b.name}_n = {size}; {b.name} = (char *)rt->scratch(ctx, {b.name}_n);")
        self.line(f"  if (!{b.name}) {fail}")
        self.line("}")

    def flush(self, only: set[Value] | None = None) -> None:
        """Schedule and emit pending statements: all of them, or those with effects and those that `only` needs."""
        launch.flush(self, only)

    def emit(self, c: Cluster) -> None:
        """Emit the kernels of one cluster of statements, and their calls."""
        launch.emit(self, c)


def _dense(layout: tuple[int, ...], dims: tuple[Dim, ...]) -> tuple[int, ...]:
    """A packed layout: broadcast axes get a place of their own, inside all others."""
    order = sorted((a for a in range(len(dims)) if dims[a].const != 1), key=lambda a: (layout[a], -a))
    out = [0] * len(dims)
    for rank, a in enumerate(order):
        out[a] = rank + 1
    return tuple(out)


def consumers_of(plan: RegionPlan) -> dict[Value, list[Node]]:
    """Live readers of every value; exits and inner regions count."""
    from .analysis import free_values

    out: dict[Value, list[Node]] = {}
    for n in plan.position:
        if plan.uses(n):
            used = dict.fromkeys(n.inputs)
            for r in n.regions:
                used.update(dict.fromkeys(free_values(r)))
            for v in used:
                out.setdefault(v, []).append(n)
    return out
