"""Elements that an earlier turn of a loop has stored stay in a register: `a[i]` made of `a[i - 1]` need not wait for memory.

In: an innermost loop of scalar operations, element reads and stores. Out: host code: variables that hold what the last turns have
stored, read in place of memory. The store itself stays. Never: where something else in the loop may store to the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.dims import Dim, Sym, provably_ge
from npcompile.ir.graph import Node
from npcompile.ir.types import MemType
from npcompile.records import dataclass

from .element_loops import Access, access
from .loop_order import coefficient

if TYPE_CHECKING:
    from .host import Host

FURTHEST = 3
"""Turns back of which elements are kept."""


@dataclass
class Recurrence:
    """A store, and the reads of what it has stored so many turns ago. names : what holds that, of the last turn first."""

    store: Access
    reads: dict[Node, int]
    names: list[str]


def recurrences(h: Host, nodes: list[Node], sym_node: Node | None, step: int | None) -> list[Recurrence]:
    """Stores whose elements later turns read. `nodes`: of a loop's body. step : of the loop's variable."""
    if sym_node is None or not step:
        return []
    sym = sym_node.params["sym"]
    inner = [n for m in nodes for r in m.regions for n in r.walk()]
    changes = [n for n in (*nodes, *inner) if any(isinstance(v.type, MemType) for v in n.outputs) and not n.regions]
    if any(n.prim != "store_item" for n in changes):
        return []
    buffers = [h.place_of(n.inputs[0]).buffer for n in changes]
    found = []
    for k, n in enumerate(nodes):
        if n.prim != "store_item" or sum(h.unit.may_alias(h.place_of(n.inputs[0]).buffer, b) for b in buffers) > 1:
            continue
        store = access(h, n)
        if store is None or any((c := coefficient(d, sym)) is None or c.const is None for d in store.index):
            continue
        reads = {m: back for m in nodes[:k] if (back := _back(h, store, m, sym, step))}
        if reads:
            found.append(Recurrence(store, reads, [h.unit.fresh("last") for _ in range(max(reads.values()))]))
    return found


def _back(h: Host, store: Access, read: Node, sym: Sym, step: int) -> int:
    """How many turns ago the element was stored that a node reads; 0: it is no such read."""
    if read.prim != "item":
        return 0
    a = access(h, read)
    p, q = store.place, a.place if a is not None else None
    if a is None or q is None or a.dtype != store.dtype:
        return 0
    if (p.buffer, p.offset, p.strides, p.dims) != (q.buffer, q.offset, q.strides, q.dims):
        return 0
    for back in range(1, FURTHEST + 1):
        if a.index == _earlier(store, sym, step, back):
            return back if back == 1 or _apart(store, sym, step) else 0
    return 0


def _earlier(store: Access, sym: Sym, step: int, back: int) -> tuple[Dim, ...]:
    """Where the store of an earlier turn went."""
    return tuple(d.subs({sym: Dim.of(sym) - back * step}) for d in store.index)


def _apart(store: Access, sym: Sym, step: int) -> bool:
    """Do two turns store to bytes of their own, whatever the strides of the window?"""
    by = store.place.at(_earlier(store, sym, step, 1)) - store.place.at(store.index)
    size = store.dtype.itemsize
    return provably_ge(by, size) or provably_ge(-by, size)


def declare(h: Host, found: list[Recurrence]) -> None:
    """Declare what the loop keeps."""
    for r in found:
        for name in r.names:
            h.line(f"{ctype(r.store.dtype)} {name} = {{}};")


def inside(h: Host, index: tuple[Dim, ...], dims: tuple[Dim, ...]) -> str:
    """Test whether an element is there; "" if it surely is."""
    tests = []
    for d, n in zip(index, dims, strict=True):
        if not _surely(h, d):
            tests.append(f"{h.unit.dim(d)} >= 0")
        if not _surely(h, n - d - 1):
            tests.append(f"{h.unit.dim(d)} < {h.unit.dim(n)}")
    return " && ".join(tests)


def _surely(h: Host, d: Dim) -> bool:
    """Is it never negative, by bounds or by one of the segment's guards?"""
    guards = (Dim.of(a) - b for op, a, b in h.unit.graph.guards if op == "ge")
    return provably_ge(d, 0) or any(provably_ge(d, g) for g in guards)


@contextmanager
def kept(h: Host, found: list[Recurrence], sym_node: Node | None, step: int | None, bind: Callable[[], None]) -> Iterator[None]:
    """The code of the loop; before it, what is kept is read from memory. bind : declares the first turn's index."""
    saved = h.recalled, h.noted
    h.recalled, h.noted = dict(h.recalled), dict(h.noted)
    for r in found:
        assert sym_node is not None and step is not None
        scalars = dict(h.scalars)
        h.line("{")
        h.depth += 1
        bind()
        h.node(sym_node)
        for back, name in enumerate(r.names, 1):
            index = _earlier(r.store, sym_node.params["sym"], step, back)
            cell = h.cell(r.store.place.buffer, r.store.place.at(index), r.store.dtype)
            test = inside(h, index, r.store.place.dims)
            h.line(f"{f'if ({test}) ' if test else ''}{name} = {cell};")
        h.depth -= 1
        h.line("}")
        h.scalars = scalars
        h.recalled.update({n: r.names[back - 1] for n, back in r.reads.items()})
        h.noted[r.store.node] = r.names
    yield
    h.recalled, h.noted = saved


__all__ = ["Recurrence", "declare", "inside", "kept", "recurrences"]
