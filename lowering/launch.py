"""Pending statements become kernels and their calls in host code.

In: the host program and its pending statements. Out: kernels of the unit, and the lines that call them. Never: decides on fusion
or prints loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.ir.graph import Value

from .analysis import is_inline
from .cpp.kernel_text import KernelPrinter
from .cpp.short_rows import MOST
from .forwarding import forwarded
from .loop_ir import For, KernelIR
from .nests import Memory, NestBuilder
from .schedule import Cluster, Scheduler, is_scalar
from .statements import Stmt, conflict
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

OUTSIDE = object()


def flush(h: Host, only: set[Value] | None = None) -> None:
    """Schedule and emit pending statements: all of them, or those with effects and those that `only` needs."""
    stmts = h.pending
    if only is not None:
        wanted: list[Stmt] = []
        for s in reversed(stmts):
            if s.place is not None or s.out in only or any(conflict(h.unit, s, w) for w in wanted):
                wanted.append(s)
        stmts = wanted[::-1]
    h.pending = [s for s in h.pending if s not in stmts] if only is not None else []
    h.together = [*stmts, *h.pending]
    for c in Scheduler(h.unit).run(stmts) if stmts else ():
        if c.stmts[0].kind == "host":
            h.emit_scalar(c.stmts[0].node)
        else:
            h.emit(c)
    h.reports.settle()


def emit(h: Host, c: Cluster) -> None:
    """One cluster as loops of the unit."""
    if is_scalar(c.stmts[0]):
        _inline(h, c)
    else:
        _launch(h, c)


def _terminals(h: Host, v: Value, seen: dict[Value, frozenset[object]]) -> frozenset[object]:
    """Nodes that read a value when they run, expressions in between looked through."""
    if v in seen:
        return seen[v]
    out: set[object] = set()
    if v in h.needs:
        out.add(OUTSIDE)
    for w in h.consumers.get(v, ()):
        o = w.outputs[0] if w.outputs else None
        if o is not None and is_inline(w) and ttype(o).rank and o not in h.plan.realised:
            out |= _terminals(h, o, seen)
        else:
            out.add(w)
    seen[v] = frozenset(out)
    return seen[v]


def needed_outside(h: Host, c: Cluster) -> Callable[[Value], bool]:
    """Does anything but a cluster's own statements read a value?"""
    nodes: set[object] = {s.node for s in c.stmts}
    seen: dict[Value, frozenset[object]] = {}
    # a node of several statements, such as a concatenation, may have some of them elsewhere
    elsewhere = {r.value for s in h.together if s.node in nodes and s not in c.stmts for r in s.reads}
    return lambda v: ttype(v).rank == 0 or v in elsewhere or not _terminals(h, v, seen) <= nodes


def _nest(h: Host, c: Cluster) -> NestBuilder:
    memory = Memory(h.place_of, h.storage.get, h.scalars.get, h.storage_for)
    return NestBuilder(h.unit, memory, c, needed_outside(h, c))


def _launch(h: Host, c: Cluster) -> None:
    """Emit one kernel and its call."""
    name = h.unit.fresh("k")
    kernel, facts = _nest(h, c).build(name)
    kernel.body = forwarded(h.unit, kernel.body)
    if h.cold:
        kernel.cold, kernel.split, facts.parallel = True, False, False
    facts.in_loop = bool(h.loop_depth)
    undo = kernel.undo = h.undo(_stored(c))
    printed = KernelPrinter(h.unit, kernel, h.scalar_types, h.silent(), in_loop=facts.in_loop).run()
    h.unit.kernels.append(printed.text)
    facts.parallel = facts.parallel or printed.threaded
    h.unit.kernel_facts.append(facts)
    args = f"{name}_a"
    h.line(f"{name}_t {args} = {{{printed.args}}};")
    work = h.unit.dim(kernel.work)
    polls, chunks = h.polls and h.loop_depth > 0, kernel.split and (h.unit.options.parallel or undo is not None)
    if chunks:
        h.line(f"const npc_i64 {name}_w = {work};")
        work = f"{name}_w"
    if polls:
        h.line(f"tick -= ({work}) >> 10;")
    if printed.short:
        n = _trips(h, kernel)
        h.line(f"if ({n} > {MOST} || !{name}s(&{args}, {n})) {{")
        h.depth += 1
    if chunks:
        _call_in_chunks(h, kernel, args, work)
    elif kernel.split:
        h.line(f"{name}(&{args}, 0, {_trips(h, kernel)});")
    else:
        h.line(f"{name}(&{args}, 0, 0);")
    if printed.short:
        h.depth -= 1
        h.line("}")
    if printed.stops and undo is not None:
        h.line(f"if ({args}.left) {undo.text}")
    for b in _stored(c):
        h.note_store(b)
    if printed.oom:
        h.line(f"if ({args}.oom) {{ rt->no_memory(ctx); return NPC_ERROR; }}")
    h.reports.add_all(printed.reports, f"{args}.rep")
    for s in c.stmts:
        if s.out is not None and ttype(s.out).rank == 0 and s.out in h.scalars:
            text = h.scalars[s.out]
            if text.endswith("[0]"):
                h.scalars[s.out] = h.variable(ttype(s.out).dtype, text)


def _stored(c: Cluster) -> list[str]:
    """Buffers that statements of the program store to (what a loop carries is made anew and does not count)."""
    return [s.place.buffer for s in c.stmts if s.place is not None and s.node.prim in ("store", "store_masked")]


def _trips(h: Host, kernel: KernelIR) -> str:
    outer = kernel.body[-1]
    assert isinstance(outer, For)
    return h.unit.dim(outer.extent)


def _call_in_chunks(h: Host, kernel: KernelIR, args: str, work: str) -> None:
    """Call a kernel, in chunks when it is large enough: over threads, and so that a signal can end what can be undone."""
    n = _trips(h, kernel)
    small = f"{work} < {h.unit.ready_ps} || ({work} < {h.unit.parallel_ps} && !rt->ready(ctx))"
    h.line(f"if ({small if h.unit.options.parallel else f'{work} < {h.unit.parallel_ps}'}) {kernel.name}(&{args}, 0, {n});")
    body = f"(void (*)(void *, npc_i64, npc_i64)){kernel.name}, &{args}"
    undo = kernel.undo
    if undo is None:
        h.unit.helpers.add("parallel")
        h.line(f"else npc_parallel(ctx, rt, {n}, {kernel.grain}, {body});")
    else:
        h.unit.helpers.add("parallel_until")
        h.line(f"else if (npc_parallel_until(ctx, rt, {n}, {kernel.grain}, {work}, {int(undo.call)}, {body})) {undo.text}")


def _inline(h: Host, c: Cluster) -> None:
    """Statements about single elements need no kernel: they are written where they stand."""
    kernel, _ = _nest(h, c).build("")
    printer = KernelPrinter(h.unit, kernel, h.scalar_types, h.silent(), depth=h.depth + 1)
    body = printer.inline()
    nodes = list(printer.slots)
    rep = h.unit.fresh("m") if nodes else ""
    if nodes:
        h.line(f"npc_i64 {rep}[{len(nodes) + 1}] = {{0}};")
    h.line("{")
    if nodes:
        h.line(f"  npc_i64 *rep = {rep};")
    h.lines += body
    h.line("}")
    for b in _stored(c):
        h.note_store(b)
    h.reports.add_all(nodes, rep)
