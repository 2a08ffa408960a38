"""Which nodes of a region are live, and which tensors must be realised (put into memory or a register of their own).

In: a region in program order and what its surroundings need of it. Out: a `RegionPlan`. Rules: a load is free to repeat; a
cheap value may be evaluated twice; anything costly is evaluated once, and never under a growing broadcast; a value that
reads memory about to be overwritten is realised before the store. Never: moves or changes nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from npcompile.ir.externs import is_draw
from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType, TensorType, ViewType
from npcompile.records import dataclass, field

from .index_maps import GATHERS, INDEX_MAPS, is_growing, is_partial
from .typed import ttype

CHEAP_OPS = 6
"""A value of at most this many cheap operations may be evaluated at two places."""

STATEMENTS = frozenset({"store", "store_masked", "reduce", "argreduce", "scan", "concat", "pad"})
"""Prims that are loop nests of their own and read their tensor operands element by element."""

INLINE = frozenset({"load", "full", "iota", "select", "convert", "bitcast", "copy", "const", "dim", *GATHERS})


def rank(v: Value) -> int:
    return v.type.rank if isinstance(v.type, TensorType) else -1


def is_inline(node: Node) -> bool:
    """Is a tensor made by this node an expression of an index, rather than something a statement has to produce?"""
    if node.prim in STATEMENTS or not node.outputs or not isinstance(node.outputs[0].type, TensorType):
        return False
    if node.prim in INLINE or node.prim in INDEX_MAPS:
        return True
    row = PRIMS[node.prim]
    return row.loop == "pointwise" and row.group in ("unary", "binary", "select")


def own_cost(node: Node) -> int:
    """Operations per element; large for anything that may not be repeated."""
    if node.prim in INDEX_MAPS or node.prim in ("load", "full", "const", "dim", "copy"):
        return 0
    if node.report is not None:
        return 1000
    return 1 if PRIMS[node.prim].cost in ("free", "cheap") else 1000


STRIDED = frozenset({"transpose", "slice", "expand", "squeeze", "diagonal", "broadcast"})
"""Index maps whose result is in memory where the operand is: only offset and strides differ."""


def memory_root(v: Value, realised: Callable[[Value], bool]) -> Value:
    """The value that a library call reads from memory for its operand `v`: what `v` is a strided window on, else `v` itself.

    An expression is realised as a whole even if a part of it is read, so that strides, which decide on bits, are NumPy's.
    """
    u = v
    while not realised(u) and u.node is not None and u.node.prim in STRIDED:
        u = u.node.inputs[0]
    return v if rank(u) == 0 else u


def is_spread(v: Value) -> bool:
    """Is a tensor one rank-0 value at every index?"""
    while rank(v) > 0 and v.node is not None and (v.node.prim in INDEX_MAPS or v.node.prim in ("full", "copy")):
        v = v.node.inputs[0]
    return rank(v) == 0


def free_values(region: Region) -> set[Value]:
    """Values of outer regions that a region uses."""
    inside = set(region.params)
    used: set[Value] = set(region.results)
    for node in region.walk():
        used.update(node.inputs)
        inside.update(node.outputs)
        for r in node.regions:
            inside.update(r.params)
            used.update(r.results)
    return used - inside


@dataclass
class RegionPlan:
    """nodes : live nodes in program order. position : of every node. realised : tensors of rank >= 1 with storage."""

    nodes: list[Node]
    position: dict[Node, int]
    realised: set[Value]
    live: set[Node]
    results: tuple[Value, ...] = ()
    mem_end: dict[Value, int] = field(default_factory=dict)
    """Position of the node after which a memory state is no longer current."""
    sunk: set[Node] = field(default_factory=set)
    """Allocations, stores and views for one conditional exit alone: done in its branch."""

    def uses(self, node: Node) -> bool:
        """Does a node read its operands, be it in a branch that leaves?"""
        return node in self.live or node.prim == "exit_if" or node in self.sunk


def is_read(plan: RegionPlan, node: Node) -> bool:
    """Does the node only tell where elements of a tensor are?"""
    return node.prim in INDEX_MAPS and not any(v in plan.realised for v in node.outputs)


LIBRARY_CALLS = frozenset({"dot_general", "extern_library", "extern_numpy", "extern_store"})
"""Prims whose operands are read where they lie in memory."""

KEEPS_VIEW = frozenset(
    {"load", "store", "store_masked", "store_item", "item", "move", "dot_general", "extern_store", "exit", "exit_if"}
)
"""Prims that use a view, but give it to nothing that lives on."""


def _may_warn(node: Node) -> bool:
    """Does the node call a Python function that may give warnings? Random draws give none."""
    return node.prim in ("extern_numpy", "extern_store") and not is_draw(node.params["function"])


def escapes(view: Value, plan: RegionPlan) -> bool:
    """Is a view, or one made of it, used by more than loads and stores, or a result of its region?"""
    views = {view}
    region_results = set(plan.results)
    stack = list(plan.position)
    nodes: list[Node] = []
    while stack:
        n = stack.pop(0)
        nodes.append(n)
        for r in n.regions:
            region_results.update(r.results)
            stack[:0] = r.nodes
    for n in nodes:
        if not views.isdisjoint(n.inputs):
            if n.prim in INDEX_MAPS:
                views.update(n.outputs)
            elif n.prim not in KEEPS_VIEW:
                return True
    return not views.isdisjoint(region_results)


def is_effect(node: Node) -> bool:
    return PRIMS[node.prim].effect or bool(node.regions) or node.report is not None or "defines_symbol" in PRIMS[node.prim].flags


def plan_region(region: Region) -> RegionPlan:
    """Decide about one region. Its results are needed at its end, in memory or not."""
    nodes = region.nodes
    position = {n: k for k, n in enumerate(nodes)}
    needs = [v for v in region.results if v.node in position]
    inner = {n: set().union(*(free_values(r) for r in n.regions)) for n in nodes if n.regions}
    sunk = _sunk(nodes, set(region.results).union(*inner.values()))
    live = _live(nodes, position, needs, inner, sunk)
    plan = RegionPlan([n for n in nodes if n in live], position, set(), live, tuple(region.results), sunk=sunk)
    for n in nodes:
        if n in live and any(isinstance(v.type, MemType) for v in n.outputs):
            for v in n.inputs:
                if isinstance(v.type, MemType):
                    plan.mem_end[v] = min(plan.mem_end.get(v, 1 << 60), position[n])
    _Realiser(plan, needs, inner).run(nodes)
    return plan


def _inputs(node: Node, inner: dict[Node, set[Value]]) -> Iterable[Value]:
    """What a live node makes live. Captures of a conditional exit do not count: they are made in its branch."""
    if node.prim == "exit_if":
        return (v for k, v in enumerate(node.inputs) if k == 0 or not isinstance(v.type, TensorType) or v.type.rank == 0)
    return (*node.inputs, *inner.get(node, ()))


def _sunk(nodes: list[Node], elsewhere: set[Value]) -> set[Node]:
    """Allocations that at most one `exit_if` captures and nothing else, with their stores and views.

    elsewhere : values that other regions use.
    """
    out: set[Node] = set()
    users: dict[Value, list[Node]] = {}
    for n in nodes:
        for v in dict.fromkeys(n.inputs):
            users.setdefault(v, []).append(n)
    for n in nodes:
        if n.prim == "alloc":
            found = _uses_of(n, users, elsewhere)
            if found is not None and sum(x.prim == "exit_if" for x in found) <= 1:
                out |= {x for x in found if x.prim != "exit_if"}
    return out


def _uses_of(alloc: Node, users: dict[Value, list[Node]], elsewhere: set[Value]) -> set[Node] | None:
    """An allocation, its stores, views and exits; None if anything else is done with its memory."""
    found, todo = {alloc}, [alloc]
    while todo:
        n = todo.pop()
        if n.prim == "exit_if":
            continue
        if any(v in elsewhere for v in n.outputs):
            return None
        for v in n.outputs:
            for w in users.get(v, ()):
                if w.prim not in ("exit_if", "store") and w.prim not in INDEX_MAPS:
                    return None
                if w not in found:
                    found.add(w)
                    todo.append(w)
    return found


def _live(
    nodes: list[Node], position: dict[Node, int], needs: list[Value], inner: dict[Node, set[Value]], sunk: set[Node]
) -> set[Node]:
    live: set[Node] = set()
    stack = [n for n in nodes if is_effect(n) and n not in sunk] + [v.node for v in needs if v.node]
    while stack:
        n = stack.pop()
        if n in live or n not in position:
            continue
        live.add(n)
        stack.extend(v.node for v in _inputs(n, inner) if v.node is not None and v.node not in sunk)
    return live


class _Realiser:
    """Fills `plan.realised`."""

    def __init__(self, plan: RegionPlan, needs: list[Value], inner: dict[Node, set[Value]]) -> None:
        self.plan = plan
        self.needs = set(needs)
        self.inner = inner
        self.cost: dict[Value, int] = {}
        self.sites: dict[Value, frozenset[tuple[object, ...]]] = {}
        self.grows: set[Value] = set()
        self.roots: set[Value] = set()
        """What library calls read from memory."""
        self.calls = [n for n in plan.nodes if _may_warn(n)]

    def run(self, nodes: list[Node]) -> None:
        plan = self.plan
        consumers: dict[Value, list[Node]] = {}
        for n in plan.nodes:
            for v in dict.fromkeys(_inputs(n, self.inner)):
                consumers.setdefault(v, []).append(n)
        for n in plan.nodes:
            for v in n.outputs:
                self.cost[v] = min(own_cost(n) + sum(self.cost.get(x, 0) for x in dict.fromkeys(n.inputs)), 100000)
        for n in reversed(plan.nodes):
            for v in n.outputs:
                if rank(v) > 0:
                    self._decide(v, consumers.get(v, []))
        self._realise_stale(nodes)

    def _decide(self, v: Value, users: list[Node]) -> None:
        node = v.node
        assert node is not None
        if not is_inline(node) or (v in self.roots and node.prim != "load"):
            self.plan.realised.add(v)
            return
        keys: set[tuple[object, ...]] = set()
        grows = False
        for w in users:
            if self._wants_memory(v, w):
                root = memory_root(v, lambda u: u.node not in self.plan.position) if w.prim in LIBRARY_CALLS else v
                if root is not v:
                    self.roots.add(root)
                    continue
                if node.prim != "load" or w.prim in ("loop", "exit", "while", "cond", "call"):
                    if not self._stays_expression(node, w):
                        self.plan.realised.add(v)
                        return
                continue
            out = w.outputs[0] if w.outputs else None
            if out is None or not is_inline(w) or out in self.plan.realised or rank(out) == 0:
                keys.add((w,))
            elif w.prim in INDEX_MAPS or (w.prim in GATHERS and v is w.inputs[0]):
                keys |= {(*k, w) for k in self.sites.get(out, ())}
                grows = grows or is_growing(w) or out in self.grows
            else:
                keys |= self.sites.get(out, frozenset())
                grows = grows or out in self.grows
        if v in self.needs:
            keys.add(("result",))
        if not keys and node.report is not None:
            self.plan.realised.add(v)  # evaluated for its conditions alone
            return
        if node.report is not None and all(any(map(is_partial, k)) for k in keys):
            self.plan.realised.add(v)  # elements that nobody reads have conditions, too
            return
        if node.report is not None and self._warns_late(node, keys):
            self.plan.realised.add(v)
            return
        cost = self.cost[v]
        if (len(keys) > 1 and (cost > CHEAP_OPS or (cost > 0 and len(keys) > 2))) or (grows and cost > 2):
            self.plan.realised.add(v)
            return
        self.sites[v] = frozenset(keys)
        if grows:
            self.grows.add(v)

    def _warns_late(self, node: Node, keys: set[tuple[object, ...]]) -> bool:
        """Would a function that may warn itself be called before the conditions of an earlier operation are known?"""
        position = self.plan.position
        first = min((position.get(k[0], len(position)) for k in keys), default=len(position))  # type: ignore[call-overload]
        return any(position[node] < position[call] < first for call in self.calls)

    def _wants_memory(self, v: Value, w: Node) -> bool:
        if w.regions:
            return v in self.inner[w]  # what is only carried is evaluated into the loop's own buffer
        if w.prim == "exit":
            return True
        return w.prim not in STATEMENTS and not is_inline(w)

    def _stays_expression(self, node: Node, w: Node) -> bool:
        """May the inner regions of a node evaluate a value of this one anew? It is a scalar everywhere, or a load of memory that
        they leave alone."""
        if w.regions and is_spread(node.outputs[0]):
            return True
        return node.prim == "load" and w.prim in ("loop", "while") and self._steady(node, w)

    def _steady(self, load: Node, loop: Node) -> bool:
        """Is the memory a load reads left alone by a loop?"""
        mem = load.inputs[1]
        return mem not in loop.inputs and self.plan.mem_end.get(mem, 1 << 60) > self.plan.position[loop]

    def _realise_stale(self, nodes: list[Node]) -> None:
        """Values whose memory is overwritten before a consumer runs get storage of their own."""
        plan = self.plan
        end: dict[Value, int] = {}
        never = 1 << 60
        users: dict[Value, int] = {}
        for n in nodes:
            if plan.uses(n):
                for v in (*n.inputs, *self.inner.get(n, ())):
                    users[v] = plan.position[n]
        for v in self.needs:
            users[v] = len(nodes)
        changed = False
        for n in nodes:
            for v in n.outputs:
                if not isinstance(v.type, TensorType):
                    continue
                if n.prim == "load":
                    end[v] = plan.mem_end.get(n.inputs[1], never)
                elif is_inline(n) and ttype(n.outputs[0]).rank:
                    end[v] = min((end.get(x, never) for x in n.inputs), default=never)
                if v.type.rank == 0 or v in plan.realised:
                    end[v] = never
                elif users.get(v, -1) > end.get(v, never):
                    plan.realised.add(v)
                    end[v] = never
                    changed = changed or n not in plan.live
        if changed:
            for n in reversed(nodes):
                if n not in plan.live and any(v in plan.realised or self._feeds(v, nodes) for v in n.outputs):
                    plan.live.add(n)
            plan.nodes = [n for n in nodes if n in plan.live]

    def _feeds(self, v: Value, nodes: list[Node]) -> bool:
        return any(v in n.inputs for n in nodes if n in self.plan.live and n.prim != "exit_if")


__all__ = ["RegionPlan", "ViewType", "free_values", "is_inline", "plan_region", "rank"]
