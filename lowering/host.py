"""The host program: straight-line code of one region, in program order, with kernels launched in between.

In: a graph's regions and their plans. Out: lines of C++ inside the segment's function. Scalars are C++ variables; tensor work
is collected as statements and scheduled into kernels when something needs it done. Never: decides on fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from npcompile.kernels import ctype

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.types import MemType, TensorType, ViewType

from . import blas, calls, exits, loops
from .analysis import RegionPlan, is_inline, plan_region
from .cpp.conditions import odd_text, rep_text, reported
from .cpp.kernel_text import KernelPrinter
from .cpp.literals import literal
from .cpp.ops import prim_text
from .elements import Elements
from .index_maps import INDEX_MAPS, Place, map_place, root_place
from .loop_ir import For, IndexOp, KernelIR, Load, Op
from .lowered import LoweringError
from .nests import Memory, NestBuilder
from .reports import Reports
from .schedule import Cluster, Scheduler, is_scalar
from .statements import Reader, Stmt, conflict, make_axes, overlaps_itself
from .typed import ttype
from .unit import Buffer, Unit

PARALLEL_PS = 40_000_000
"""Estimated picoseconds above which a kernel is split over threads."""

POLL_NS = 1_000_000
"""Estimated nanoseconds between two looks for signals."""

OUTSIDE = object()
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
    cold: int = 0
    """Inside branches that leave the segment: code is made small."""
    hoist_at: int = 0
    plan: RegionPlan = field(default_factory=lambda: RegionPlan([], {}, set(), set()))
    pending: list[Stmt] = field(default_factory=list)
    consumers: dict[Value, list[Node]] = field(default_factory=dict)
    needs: set[Value] = field(default_factory=set)
    ended: set[Value] = field(default_factory=set)
    """Memory states that a store has replaced."""
    targets: dict[Value, Place] = field(default_factory=dict)
    """Where a value is to be put when it is realised."""
    returned: dict[Value, int] = field(default_factory=dict)
    """Realised value -> how many captures of the final exit want it as an array of its own."""
    reports: Reports = field(init=False)

    def __post_init__(self) -> None:
        self.reports = Reports(self.unit, self.line)

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
        if prim in HANDLERS:
            HANDLERS[prim](self, node)
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
        self.pending, self.loop_depth, self.returned = [], 0, {}
        self.depth += 1
        self.cold += 1
        with self.reports.branch():
            yield
        self.cold -= 1
        self.depth -= 1
        self.scalars, self.storage, self.places, self.pending, self.loop_depth, self.returned = saved

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
            text = prim_text(self.unit, node.prim, args, dts, dt, node.params)
        name = self.scalars[out] = self.variable(dt, text)
        op = Op(name, node.prim, args, dt, dts, node.params, node)
        if reported(op, self.silent()) is not None:
            self.scalar_report(node, odd_text(self.unit, op), rep_text(self.unit, op))

    def scalar_report(self, node: Node, odd: str, mask: str) -> None:
        """Conditions of a scalar operation: reported at once if all earlier ones are."""
        if self.reports.is_next(node):
            self.line(f"if (npc_top({odd})) {{")
            self.line(f"  const npc_i64 m_ = {mask};")
            self.reports.report(node, "m_")
            self.line("}")
            self.reports.done.add(node)
            return
        name = self.unit.fresh("m")
        self.line(f"const npc_i64 {name} = npc_top({odd}) ? {mask} : 0;")
        self.reports.add(node, name)

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
        for s in el.scopes[0].body:
            if isinstance(s, Op):
                s.args = tuple(new if a == old else a for a in s.args)

    def scalar(self, v: Value) -> str:
        """C++ text of a rank-0 value."""
        text = self.scalars.get(v)
        if text is None:
            self.flush({v})
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
            self.alloc_array(b, slot)
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

    def alloc_array(self, b: Buffer, slot: str) -> None:
        """A fresh NumPy array in an object slot."""
        self.unit.allocations += 1
        if self.loop_depth:
            self.unit.allocations_in_loops += 1
        nd = len(b.dims)
        dims = ", ".join(self.unit.dim(d) for d in b.dims) or "0"
        strides = ", ".join(self.unit.dim(d) for d in b.strides) or "0"
        self.line(f"const npc_i64 {b.name}_d[] = {{{dims}}}, {b.name}_t[] = {{{strides}}};")
        self.line(f"char *{b.name} = (char *)rt->alloc_array(ctx, {slot}, {b.dtype.num}, {nd}, {b.name}_d, {b.name}_t);")
        self.line(f"if (!{b.name}) return NPC_ERROR;")
        self.slots[b.name] = slot

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

    # -- kernels ------------------------------------------------------------------------------------------------
    def flush(self, only: set[Value] | None = None) -> None:
        """Schedule and emit pending statements: all of them, or those with effects and those that `only` needs."""
        stmts = self.pending
        if only is not None:
            wanted: list[Stmt] = []
            for s in reversed(stmts):
                if s.place is not None or s.out in only or any(conflict(self.unit, s, w) for w in wanted):
                    wanted.append(s)
            stmts = wanted[::-1]
        self.pending = [s for s in self.pending if s not in stmts] if only is not None else []
        for c in Scheduler(self.unit).run(stmts) if stmts else ():
            if c.stmts[0].kind == "host":
                self.emit_scalar(c.stmts[0].node)
            elif is_scalar(c.stmts[0]):
                self.inline(c)
            else:
                self.launch(c)
        self.reports.settle()

    def terminals(self, v: Value, seen: dict[Value, frozenset[object]]) -> frozenset[object]:
        """Nodes that read a value when they run, expressions in between looked through."""
        if v in seen:
            return seen[v]
        out: set[object] = set()
        if v in self.needs:
            out.add(OUTSIDE)
        for w in self.consumers.get(v, ()):
            o = w.outputs[0] if w.outputs else None
            if o is not None and is_inline(w) and ttype(o).rank and o not in self.plan.realised:
                out |= self.terminals(o, seen)
            else:
                out.add(w)
        seen[v] = frozenset(out)
        return seen[v]

    def launch(self, c: Cluster) -> None:
        """Emit one kernel and its call."""
        name = self.unit.fresh("k")
        kernel, facts = self._nest(c).build(name)
        if self.cold:
            kernel.cold, kernel.split, facts.parallel = True, False, False
        facts.in_loop = bool(self.loop_depth)
        printed = KernelPrinter(self.unit, kernel, self.scalar_types, self.silent()).run()
        self.unit.kernels.append(printed.text)
        self.unit.kernel_facts.append(facts)
        masks = self.notes(printed.reports)
        args = [masks if a == "rep" else a for _, a in printed.args]
        if "&oom" in args:
            self.line("{")
            self.line("npc_i64 oom = 0;")
        if self.polls and self.loop_depth:
            self.line(f"tick -= ({self.unit.dim(kernel.work)}) >> 10;")
        if not kernel.split:
            self.line(f"{name}({', '.join(args)});")
        else:
            self._launch_split(kernel, args)
        if "&oom" in args:
            self.line("if (oom) { rt->no_memory(ctx); return NPC_ERROR; }")
            self.line("}")
        for s in c.stmts:
            if s.out is not None and ttype(s.out).rank == 0 and s.out in self.scalars:
                text = self.scalars[s.out]
                if text.endswith("[0]"):
                    self.scalars[s.out] = self.variable(ttype(s.out).dtype, text)

    def inline(self, c: Cluster) -> None:
        """Statements about single elements need no kernel: they are written where they stand."""
        kernel, _ = self._nest(c).build("")
        printer = KernelPrinter(self.unit, kernel, self.scalar_types, self.silent(), depth=self.depth + 1)
        body = printer.inline()
        masks = self.notes(list(printer.slots))
        self.line(f"{{ npc_i64 *rep = {masks};" if masks else "{")
        self.lines += body
        self.line("}")

    def notes(self, nodes: list[Node]) -> str:
        """Room for the conditions of nodes that a kernel reports: the name of an array, "" for none."""
        if not nodes:
            return ""
        name = self.unit.fresh("rep")
        self.line(f"npc_i64 {name}_[{len(nodes)}] = {{0}}, *const {name} = {name}_;")
        for k, node in enumerate(nodes):
            self.reports.add(node, f"{name}[{k}]")
        return name

    def _nest(self, c: Cluster) -> NestBuilder:
        nodes: set[object] = {s.node for s in c.stmts}
        seen: dict[Value, frozenset[object]] = {}
        memory = Memory(self.place_of, self.storage.get, self.scalars.get, self.storage_for)
        return NestBuilder(self.unit, memory, c, lambda v: ttype(v).rank == 0 or not self.terminals(v, seen) <= nodes)

    def _launch_split(self, kernel: KernelIR, args: list[str]) -> None:
        outer = kernel.body[-1]
        assert isinstance(outer, For)
        n = self.unit.dim(outer.extent)
        call = f"{kernel.name}({{}}, {{}}{''.join(', ' + a for a in args)})"
        if not self.unit.options.parallel:
            self.line(call.format(0, n) + ";")
            return
        self.unit.helpers.add("parallel")
        self.line(f"if ({self.unit.dim(kernel.work)} < {PARALLEL_PS}) {call.format(0, n)};")
        oom = "&oom" in args
        body = call.format("lo", "hi").replace("&oom", "oom_")
        before, after = ("{ npc_i64 *oom_ = &oom; ", " }") if oom else ("", "")
        self.line(f"else {before}npc_parallel(ctx, rt, {n}, {kernel.grain}, [=](npc_i64 lo, npc_i64 hi) {{ {body}; }});{after}")


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
        if n in plan.live or n.prim == "exit_if":
            used = dict.fromkeys(n.inputs)
            for r in n.regions:
                used.update(dict.fromkeys(free_values(r)))
            for v in used:
                out.setdefault(v, []).append(n)
    return out


# ---------------------------------------------------------------------------------------------- nodes


def _store(h: Host, node: Node, settled: bool = False) -> None:
    """A store statement; `settled`: its operands are in temporaries by now."""
    masked = node.prim == "store_masked"
    view = node.inputs[0]
    operands = node.inputs[1:3] if masked else node.inputs[1:2]
    place = h.place_of(view)
    dims = place.dims
    axes = make_axes(h.unit, dims)
    s = Stmt("store", node, dims, axes, tuple(operands), tuple(range(len(dims))), place=place)
    s.index = s.position
    reader = h.reader()
    if settled:
        reader.current = lambda mem: False
    reader.fill(s)
    if overlaps_itself(h.unit, s):
        _store_through_temporary(h, node, operands)
        return
    h.pending.append(s)


def _store_through_temporary(h: Host, node: Node, operands: tuple[Value, ...]) -> None:
    """Evaluate everything first, then store."""
    for v in operands:
        if v not in h.storage and ttype(v).rank:
            h.plan.realised.add(v)
            assert v.node is not None
            h.consumers.setdefault(v, []).append(node)
            h.add_value(v.node)
            if h.loop_depth:
                h.unit.copies_in_loops += 1
    _store(h, node, settled=True)


def _concat(h: Host, node: Node) -> None:
    """One statement for each part, shifted along the axis."""
    out, axis = node.outputs[0], node.params["axis"]
    start = Dim()
    for x in node.inputs:
        t = ttype(x)
        axes = make_axes(h.unit, t.dims)
        s = Stmt("value", node, t.dims, axes, (x,), tuple(range(t.rank)), out)
        s.index = tuple(p + start if a == axis else p for a, p in enumerate(s.position))
        h.reader().fill(s)
        h.pending.append(s)
        start = start + t.dims[axis]


def _pad(h: Host, node: Node) -> None:
    """The border value everywhere, then the operand in its middle."""
    a, value = node.inputs
    out = node.outputs[0]
    for x, dims, low in ((value, ttype(out).dims, None), (a, ttype(a).dims, node.params["low"])):
        s = Stmt("value", node, dims, make_axes(h.unit, dims), (x,), tuple(range(len(dims))), out)
        s.index = s.position if low is None else tuple(p + w for p, w in zip(s.position, low, strict=True))
        h.reader().fill(s)
        h.pending.append(s)


def _scan(h: Host, node: Node) -> None:
    (a,) = node.inputs
    dims = ttype(a).dims
    s = Stmt("scan", node, dims, make_axes(h.unit, dims), (a,), tuple(range(len(dims))), node.outputs[0])
    s.index = s.position
    h.reader().fill(s)
    h.pending.append(s)


def _reduce(h: Host, node: Node) -> None:
    (a,) = node.inputs
    dims = ttype(a).dims
    axes = make_axes(h.unit, dims)
    axis = node.params.get("axis")
    reduced = tuple(node.params["axes"]) if axis is None else (axis,)
    kept = tuple(k for k in range(len(dims)) if k not in reduced)
    kind = "reduce" if node.prim == "reduce" else "argreduce"
    s = Stmt(kind, node, dims, axes, (a,), kept, node.outputs[0])
    s.index = tuple(s.position[k] for k in kept)
    h.reader().fill(s)
    h.pending.append(s)


def _alloc(h: Host, node: Node) -> None:
    view = node.outputs[0]
    t = view.type
    assert isinstance(t, ViewType)
    b = h.unit.new_buffer(t.dtype, t.dims, t.strides)
    h.alloc_array(b, str(h.new_slot()))
    h.bind_view(view, b)


def _sym(h: Host, node: Node) -> None:
    text = h.scalar(node.inputs[0])
    name = h.unit.sym_name(node.params["sym"])
    h.line(f"const npc_i64 {name} = {text};")


def _poll(h: Host, node: Node) -> None:
    """Has a millisecond passed, and does a signal wait?"""
    if not h.polls:
        h.polls = True
        h.lines.insert(h.top, f"  npc_i64 tick = {POLL_NS};")
        h.hoist_at += 1
    text = f"(npc_bool)(__builtin_expect(tick < 0, 0) && (tick = {POLL_NS}, rt->poll(ctx) != 0))"
    h.scalars[node.outputs[0]] = h.variable(np.dtype(bool), text)


HANDLERS = {
    "store": _store,
    "store_masked": _store,
    "reduce": _reduce,
    "concat": _concat,
    "pad": _pad,
    "scan": _scan,
    "argreduce": _reduce,
    "dot_general": blas.emit_dot,
    "alloc": _alloc,
    "sym": _sym,
    "poll": _poll,
    "exit": exits.emit_exit,
    "exit_if": exits.emit_exit_if,
    "item": calls.item,
    "store_item": calls.store_item,
    "loop": loops.emit_loop,
}

__all__ = ["Host", "MemType", "plan_region"]
