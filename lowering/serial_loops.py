"""Innermost loops whose turns come one after the other: a fast run that looks at conditions at its end, and a plain run instead
when one may have been met, or an exit is due.

In: a loop region of scalar operations, element reads and stores, and branches. Out: host code. The plain run reports each
operation's conditions in order and takes the exits; it begins with what the carried variables were, and with the elements that
the fast run has stored to as they were. Each is kept just before its store, so that nothing is read whose index has not been
checked, and so that the first turns can overlap the last ones of the loop before; they are brought back from the last store to
the first. An element that is the same in all turns is kept once, before the first; the fast run stores to it after the last turn
if nothing but the loop's own sum reads it. Memory that the loop never reads and nobody else sees is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType, TensorType
from npcompile.records import dataclass

from .analysis import RegionPlan, is_read
from .element_loops import Access, access, known, pieces
from .range_checks import Check, range_checks, test_ends
from .recurrences import Recurrence, inside
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

_ALLOWED = frozenset({"item", "store_item", "exit_if", "exit", "cond", "sym", "const", "dim"})


@dataclass
class Serial:
    """A loop that can be run again. kept : stores whose elements must be kept before; fixed : those to one element in all turns.

    late : of the fixed ones, those that the fast run makes after its last turn. checks : answered before the fast run.
    up : the loop's variable goes up.
    """

    region: Region
    sym_node: Node | None
    kept: list[Access]
    fixed: list[Access]
    late: list[Recurrence]
    checks: list[Check]
    up: bool


def repeatable(
    h: Host, plan: RegionPlan, region: Region, nodes: list[Node], step: Value, known_again: list[Recurrence]
) -> Serial | None:
    """The loop, if a fast run pays and can be undone. `nodes`: what remains of it without the look for signals.

    known_again : stores that later turns read.
    """
    if not all(isinstance(p.type, MemType) or (isinstance(p.type, TensorType) and not p.type.rank) for p in region.params[1:]):
        return None
    all_nodes = list(_walk(nodes))
    if not any(n.report is not None for n in all_nodes) or not all(_is_simple(n) or is_read(plan, n) for n in all_nodes):
        return None
    read = [h.place_of(n.inputs[0]).buffer for n in all_nodes if n.prim == "item"]
    inner = {n.params["sym"] for n in all_nodes if n.prim == "sym"}
    sym_node = next((n for n in nodes if n.prim == "sym" and n.inputs[0] is region.params[0]), None)
    kept, fixed = [], []
    for n in all_nodes:
        if n.prim != "store_item":
            continue
        buffer = h.place_of(n.inputs[0]).buffer
        if not h.unit.is_callers(buffer) and not any(h.unit.may_alias(buffer, b) for b in read):
            continue
        found = access(h, n)
        if found is None:
            return None
        syms = set().union(*(d.syms() for d in found.index))
        if not syms & inner:
            fixed.append(found)
        elif n in nodes and sym_node is not None and syms & inner == {sym_node.params["sym"]}:
            kept.append(found)
        else:
            return None
    late = [r for r in known_again if r.store.node in [f.node for f in fixed] and _reads_alone(h, r, all_nodes)]
    up = known(step)
    checks = range_checks(nodes, sym_node) if sym_node is not None and up is not None and up.const else []
    return Serial(region, sym_node, kept, fixed, late, checks, up is not None and (up.const or 0) > 0)


def _reads_alone(h: Host, r: Recurrence, nodes: list[Node]) -> bool:
    """Are the known reads of a store all that may see it while the loop runs?"""
    others = [n for n in nodes if n.prim == "item" and n not in r.reads]
    return not any(h.unit.may_alias(h.place_of(n.inputs[0]).buffer, r.store.place.buffer) for n in others)


def _walk(nodes: list[Node]) -> Iterator[Node]:
    for n in nodes:
        yield n
        for r in n.regions:
            yield from r.walk()


def _is_simple(n: Node) -> bool:
    if n.prim in _ALLOWED:
        return True
    row = PRIMS[n.prim]
    scalars = all(isinstance(v.type, TensorType) and not v.type.rank for v in (*n.inputs, *n.outputs))
    return scalars and not row.effect and not n.regions


def emit(
    h: Host,
    found: Serial,
    counter: str,
    end: str,
    bind: Callable[[], None],
    plain: Callable[[str], None],
    done: str,
) -> None:
    """The turns from `counter` to `end`. plain : emits the plain loop up to a variable. done : set to leave the loop, or ""."""
    if not found.kept:
        _run(h, found, counter, end, bind, plain, done)
        return
    with pieces(h, found.kept, counter, end, f" && !{done}" if done else "") as to:
        _run(h, found, counter, to, bind, plain, done)


def _run(
    h: Host,
    found: Serial,
    counter: str,
    to: str,
    bind: Callable[[], None],
    plain: Callable[[str], None],
    done: str,
) -> None:
    """One fast run, and the plain run after it."""
    for k, s in enumerate(found.fixed):
        cell, test = h.cell(s.place.buffer, s.place.at(s.index), s.dtype), inside(h, s.index, s.place.dims)
        h.line(f"const {ctype(s.dtype)} one{k}_ = {f'{test} ? {cell} : {ctype(s.dtype)}()' if test else cell};")
    first, again = h.unit.fresh("first"), h.unit.fresh("again")
    carried = {h.scalars[p]: ttype(p).dtype for p in found.region.params[1:] if isinstance(p.type, TensorType)}
    kept = {name: h.unit.fresh("w") for name in carried}
    h.line(f"const npc_i64 {first} = {counter};")
    h.line(f"npc_i64 {again} = 0;")
    for name, copy in kept.items():
        h.line(f"const {ctype(carried[name])} {copy} = {name};")
    words = {bits: h.unit.fresh("odd") for bits in (16, 32, 64)}
    declared = len(h.lines)
    if found.checks:
        assert found.sym_node is not None
        test_ends(h, found.checks, found.sym_node, counter, first, to, bind, found.up, again)
        h.line(f"if (!{again}) {{")
        h.depth += 1
    start = len(h.lines)
    saved = dict(h.scalars), dict(h.storage), dict(h.places), dict(h.targets)
    h.in_range = frozenset((c.index, c.length) for c in found.checks)
    h.keeping = {s.node: f"old{k}_[{counter} - {first}] = {{}};" for k, s in enumerate(found.kept)}
    h.late = {r.store.node for r in found.late}
    with h.reports.gathering(words, again, lambda: _handed_on(h, found.region)) as gather:
        plain(to)
    h.in_range, h.keeping, h.late = frozenset(), {}, set()
    for r in found.late:
        cell = h.cell(r.store.place.buffer, r.store.place.at(r.store.index), r.store.dtype)
        h.line(f"if (!{again}) {cell} = {r.names[0]};")
    h.scalars, h.storage, h.places, h.targets = saved
    used = [w for w in words.values() if any(f"{w} |=" in x for x in h.lines[start:])]
    if gather.looks:  # sums in order: vectors would only make short loops slow
        body = next(k for k in range(start, len(h.lines)) if h.lines[k].lstrip().startswith("for (;"))
        h.lines.insert(body + 1, "  " * h.depth + '  asm volatile("");')
    if found.checks:
        h.depth -= 1
        h.line("}")
    h.lines[declared:declared] = ["  " * h.depth + f"npc_u{bits} {w} = 0;" for bits, w in words.items() if w in used]
    due = " || ".join(f"npc_top({w})" for w in (*used, *gather.looks))
    more = f" || (({due}){'' if gather.exits else ' && warn'})" if due else ""
    h.line(f"if (__builtin_expect({again}{more}, 0)) {{")
    h.depth += 1
    if found.kept:
        _put_back(h, found, counter, first, bind, f"{again} > {{}}{f' || {done}' if done else ''}")
    for k, s in enumerate(found.fixed):
        test = inside(h, s.index, s.place.dims)
        h.line(f"{f'if ({test}) ' if test else ''}{h.cell(s.place.buffer, s.place.at(s.index), s.dtype)} = one{k}_;")
    h.line(f"{counter} = {first};")
    if done:
        h.line(f"{done} = 0;")
    for name, copy in kept.items():
        h.line(f"{name} = {copy};")
    plain(to)
    h.depth -= 1
    h.line("}")


def _put_back(h: Host, found: Serial, counter: str, first: str, bind: Callable[[], None], reached: str) -> None:
    """Bring back what the turns from `first` to `counter` have overwritten. reached : has the last turn done its k-th store?"""
    assert found.sym_node is not None
    saved = dict(h.scalars)
    h.line(f"for (npc_i64 t_ = {counter}, last_ = t_; t_ >= {first}; --t_) {{")
    h.depth += 1
    h.line(f"const npc_i64 {counter} = t_;")
    bind()
    h.node(found.sym_node)
    for k in reversed(range(len(found.kept))):
        s = found.kept[k]
        cell = h.cell(s.place.buffer, s.place.at(s.index), s.dtype)
        h.line(f"if (t_ < last_ || {reached.format(k + 1)}) {cell} = old{k}_[t_ - {first}];")
    h.depth -= 1
    h.line("}")
    h.scalars = saved


def _handed_on(h: Host, region: Region) -> dict[str, tuple[str, str]]:
    """Names of what a turn makes -> the variable that becomes it, and the name of that in the next turn."""
    params = region.params[1:]
    results = region.results[len(region.results) - len(params) :]
    out = {
        h.scalars[v]: (h.scalars[p], h.scalars[p])
        for p, v in zip(params, results, strict=True)
        if v is not p and v in h.scalars and isinstance(p.type, TensorType)
    }
    for store, names in h.noted.items():
        value = h.scalars.get(store.inputs[1])
        again = [h.scalars[n.outputs[0]] for n, name in h.recalled.items() if name == names[0] and n.outputs[0] in h.scalars]
        if value is not None and again:
            out[value] = names[0], again[0]
    return out


__all__ = ["Serial", "emit", "repeatable"]
