"""Loop regions as native loops: carried scalars in registers, carried views as pointers with slots, carried tensors in
two buffers that take turns.

In: `loop` nodes. Out: host code. Never: unrolls or reorders iterations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.prim import PRIMS
from npcompile.ir.prims.control import leaves
from npcompile.ir.types import MemType, TensorType, ViewType
from npcompile.records import dataclass, replace

from . import element_loops, recurrences, serial_loops
from .analysis import RegionPlan, is_read, plan_region
from .index_maps import root_place
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

CHUNK = 1 << 16
"""Operations, roughly, between two looks at the clock in an innermost loop."""


def trip_count(start: str, stop: str, step: str) -> str:
    """Number of iterations of range(start, stop, step) for any step but 0."""
    return f"npc_trips({start}, {stop}, {step})"


def emit_loop(h: Host, node: Node) -> None:
    """One `loop` node.

    A turn that has changed nothing yet (carried tensors are made in buffers of their own) is left undone by a nest that a signal
    ends: it begins again, and the exit at its head is taken with the state of the head.

    A loop without loops inside that looks for signals runs in chunks: the exit that stands before its first turn is tested
    between chunks only, so that the turns themselves stay free of it.
    """
    start, stop, step = (h.scalar(v) for v in node.inputs[:3])
    h.flush()
    h.reports.settle(everything=True)
    (region,) = node.regions
    if h.loop_depth == 0:
        h.hoist_at = len(h.lines)
    tensors = _carry_in(h, node, region)
    h.end_memories(node)
    trips, counter = h.unit.fresh("n"), h.unit.fresh("j")
    h.unit.helpers.add("trips")
    h.line(f"const npc_i64 {trips} = {trip_count(start, stop, step)};")
    plan = plan_region(region)
    leave = region.results[0] if leaves(node.params) else None
    yields = region.results[leave is not None :]
    carried = [(p, v) for p, v in zip(region.params[1:], yields, strict=True) if p in tensors and v is not p]
    turn = Turn(region.params[0], start, step, counter)
    head, asking = _polled_head(plan)
    saved = dict(h.scalars), dict(h.storage), dict(h.places), dict(h.targets)
    if head and not any(_is_heavy(n) and not is_read(plan, n) for n in plan.nodes):
        cost = max(1, len(plan.nodes) // 2)
        end = h.unit.fresh("e")
        done = h.unit.fresh("done") if leave is not None else ""
        if done:
            h.line(f"int {done} = 0;")
        h.line(f"for (npc_i64 {counter} = 0; {counter} < {trips}{' && !' + done if done else ''};) {{")
        with h.inside_loop():
            turn.bind(h)
            h.region(replace(plan, nodes=head), set())
            size = max(1, CHUNK // cost)
            h.line(f"const npc_i64 {end} = {trips} - {counter} < {size} ? {trips} : {counter} + {size};")
            h.line(f"tick -= ({end} - {counter}) * {cost};")
            rest = [n for n in plan.nodes if n not in asking]

            def plain(to: str) -> None:
                fast = serial is None or h.reports.gather is not None
                with recurrences.kept(h, again if fast else [], sym_node, by, lambda: turn.bind(h)):
                    h.line(f"for (; {counter} < {to}; ++{counter}) {{")
                    with h.inside_loop():
                        _body(h, region, replace(plan, nodes=rest), turn, carried, tensors, leave, done)
                    h.line("}")

            h.scalars, h.storage, h.places, h.targets = dict(saved[0]), dict(saved[1]), dict(saved[2]), dict(saved[3])
            sym_node = next((n for n in rest if n.prim == "sym" and n.inputs[0] is region.params[0]), None)
            by = known.const if (known := element_loops.known(node.inputs[2])) is not None else None
            again = recurrences.recurrences(h, rest, sym_node, by)
            recurrences.declare(h, again)
            found = None if done else element_loops.independent(h, region, rest)
            serial = None if found is not None else serial_loops.repeatable(h, plan, region, rest, node.inputs[2], again)
            if serial is not None:
                serial_loops.emit(h, serial, counter, end, lambda: turn.bind(h), plain, done)
            elif found is None:
                plain(end)
            else:
                element_loops.emit(h, found, counter, end, lambda: turn.bind(h), plain)
        h.line("}")
    else:
        h.line(f"for (npc_i64 {counter} = 0; {counter} < {trips}; ++{counter}) {{")
        restart = h.restart
        with h.inside_loop():
            h.restart = None
            if head:
                h.restart = h.unit.fresh("turn"), h.reports.made
                h.line(f"{h.restart[0]}:;")
            _body(h, region, plan, turn, carried, tensors, leave)
        h.line("}")
        h.restart = None if any(isinstance(v.type, MemType) for n in region.walk() for v in n.outputs) else restart
    h.scalars, h.storage, h.places, h.targets = saved
    for p, out in zip(region.params[1:], node.outputs, strict=True):
        _carry_out(h, p, out)


@dataclass
class Turn:
    """How an iteration gets its index."""

    param: Value
    start: str
    step: str
    counter: str

    def bind(self, h: Host) -> None:
        """Declare the index of the current iteration."""
        text = self.counter if self.step == "1ll" else f"{self.counter} * {self.step}"
        if self.start != "0ll":
            text = f"{self.start} + {text}"
        h.scalars[self.param] = h.variable(ttype(self.param).dtype, text)


def _is_heavy(node: Node) -> bool:
    """More than some scalar operations: a loop of its own, tensors, Python."""
    if node.prim == "cond":
        return any(_is_heavy(n) for r in node.regions for n in r.nodes)
    heavy = node.prim in ("alloc", "store", "store_masked", "move", "reduce", "dot_general") or node.prim.startswith("extern")
    return heavy or bool(node.regions) or any(isinstance(v.type, TensorType) and v.type.rank > 0 for v in node.outputs)


def _polled_head(plan: RegionPlan) -> tuple[list[Node], set[Node]]:
    """Nodes up to the last exit at the start of a region that is taken for signals only; those of them that ask for signals."""
    polls: set[Value] = set()
    asking: set[Node] = set()
    last = 0
    for k, n in enumerate(plan.nodes):
        if n.prim == "poll" or (n.outputs and any(v in polls for v in n.inputs)):
            polls.update(n.outputs)
            asking.add(n)
        elif n.prim == "exit_if":
            if n.inputs[0] not in polls:
                break
            last = k + 1
            asking.add(n)
        elif PRIMS[n.prim].effect or n.regions:
            break
    head = plan.nodes[:last]
    return head, asking.intersection(head)


def _body(
    h: Host,
    region: Region,
    plan: RegionPlan,
    turn: Turn,
    carried: list[tuple[Value, Value]],
    tensors: dict[Value, tuple[str, str]],
    leave: Value | None,
    done: str = "",
) -> None:
    """One iteration: index, nodes, carried variables, the way out. done : variable to set when the loop is left."""
    turn.bind(h)
    for p, v in carried:
        if v.node in region.nodes and v not in h.targets:
            h.targets[v] = h.storage[p].moved(tensors[p][1])
    h.region(plan, set(region.results), lambda: _yield_tensors(h, carried, tensors))
    text = "" if leave is None else h.scalar(leave)
    _carry_over(h, region, region.results[leave is not None :], tensors)
    if leave is not None:
        h.line(f"if ({text}) {{ {done + ' = 1; ' if done else ''}break; }}")


def _yield_tensors(h: Host, carried: list[tuple[Value, Value]], tensors: dict[Value, tuple[str, str]]) -> None:
    """Bring yielded tensors into the buffers of the next turn, unless they were made there."""
    for p, v in carried:
        spare = tensors[p][1]
        if v in h.storage and h.storage[v].buffer == spare:
            continue
        h.copy(v, h.unit.buffers[spare])


def _carry_in(h: Host, node: Node, region: Region) -> dict[Value, tuple[str, str]]:
    """Declare the carried variables; returns the two buffers of every carried tensor."""
    tensors: dict[Value, tuple[str, str]] = {}
    for p, v in zip(region.params[1:], node.inputs[3:], strict=True):
        t = p.type
        if isinstance(t, TensorType) and t.rank == 0:
            name = h.unit.fresh("v")
            h.scalar_types[name] = t.dtype
            h.line(f"{ctype(t.dtype)} {name} = {h.scalar(v)};")
            h.scalars[p] = name
        elif isinstance(t, TensorType):
            strides = packed_strides(t.dims, t.layout, t.dtype.itemsize)
            pair = []
            for _ in range(2):
                b = h.unit.new_buffer(t.dtype, t.dims, strides)
                h.scratch(b)
                pair.append(b.name)
            h.storage[p] = root_place(pair[0], strides, t.dims)
            h.copy(v, h.unit.buffers[pair[0]])
            h.flush()
            tensors[p] = (pair[0], pair[1])
        elif isinstance(t, ViewType):
            _carry_view(h, p, v)
    return tensors


def _carry_view(h: Host, p: Value, v: Value) -> None:
    t = p.type
    assert isinstance(t, ViewType)
    src = h.place_of(v)
    outer = h.unit.buffers[src.buffer]
    b = h.unit.new_buffer(t.dtype, t.dims, t.strides, outer.alias)
    h.line(f"char *{b.name} = {src.buffer} + {h.unit.dim(src.offset)};")
    slot = f"{b.name}_s"
    h.line(f"npc_i64 {slot} = {h.slots[src.buffer]};")
    h.slots[b.name] = slot
    h.bind_view(p, b)


def _carry_over(h: Host, region: Region, yields: list[Value], tensors: dict[Value, tuple[str, str]]) -> None:
    """End of an iteration: the carried variables take the yielded values, all at once."""
    moves: list[tuple[str, str]] = []
    for p, v in zip(region.params[1:], yields, strict=True):
        t = p.type
        if v is p or isinstance(t, MemType):
            continue
        if isinstance(t, TensorType) and t.rank == 0:
            moves.append((h.scalars[p], h.scalar(v)))
        elif isinstance(t, TensorType):
            a, b = tensors[p]
            moves += [(a, b), (b, a)]
        elif isinstance(t, ViewType):
            mine, src = h.place_of(p), h.place_of(v)
            moves.append((mine.buffer, f"{src.buffer} + {h.unit.dim(src.offset)}"))
            moves.append((h.slots[mine.buffer], h.slots[src.buffer]))
    targets = {a for a, _ in moves}
    temps = []
    for a, text in moves:
        if any(w in text.replace("+", " ").split() for w in targets):
            name = h.unit.fresh("y")
            h.line(f"const auto {name} = {text};")
            temps.append((a, name))
        else:
            temps.append((a, text))
    for a, text in temps:
        h.line(f"{a} = {text};")


def _carry_out(h: Host, p: Value, out: Value) -> None:
    """A result of the loop is the carried variable."""
    t = p.type
    if isinstance(t, TensorType):
        if t.rank:
            h.storage[out] = h.storage[p]
        else:
            h.scalars[out] = h.scalars[p]
    elif isinstance(t, ViewType):
        h.places[out] = h.places[p]
