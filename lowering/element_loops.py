"""Innermost loops over single elements whose turns are independent: run vectorised in pieces, a piece again one by one when
something in it may have to be reported.

In: a loop region without loops, tensors or exits of its own. Out: host code. Independent means: what a turn stores, no other turn
reads or stores, by index proofs. The second run is the plain loop: it reports each element's conditions in order, and stops
where a warning that is an error stops NumPy. Never: sees a carried scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from npcompile.kernels import RANGED, ctype

from npcompile.ir.dims import Dim, Sym, provably_ge
from npcompile.ir.graph import Node, Region, Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import MemType
from npcompile.records import dataclass

from .cpp.conditions import by_flags, gathered, look_texts, reported, word_bits
from .index_maps import Place
from .loop_order import coefficient
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

PIECE = 512
"""Elements a piece: what it overwrites is kept on the stack until it is known to be clean."""

PLAIN = frozenset({"const", "dim", "sym", "item", "store_item"})
SERIAL = RANGED | {"pow", "floordiv", "mod", "fmod", "libm"}
"""Operations that keep a loop from being vectorised, so that running it twice would not pay."""


@dataclass(frozen=True)
class Access:
    """One element read or written: of which window, at which indices."""

    node: Node
    place: Place
    index: tuple[Dim, ...]
    dtype: np.dtype


@dataclass
class Pieces:
    """An independent loop. steady : nodes whose value is the same in every turn, read before the loop."""

    nodes: list[Node]
    sym_node: Node
    stores: list[Access]
    steady: set[Node]
    reports: bool


def independent(h: Host, region: Region, nodes: list[Node]) -> Pieces | None:
    """The loop as independent turns, or None. `nodes`: what remains of it without the look for signals."""
    if any(not isinstance(p.type, MemType) for p in region.params[1:]):
        return None
    if any(n.prim not in PLAIN and not _vectorises(n) for n in nodes):
        return None
    sym_node = next((n for n in nodes if n.prim == "sym" and n.inputs[0] is region.params[0]), None)
    accesses = [access(h, n) for n in nodes if n.prim in ("item", "store_item")]
    known = [a for a in accesses if a is not None]
    stores = [a for a in known if a.node.prim == "store_item"]
    if sym_node is None or len(known) != len(accesses) or not stores:
        return None
    sym = sym_node.params["sym"]
    if not all(_apart(h, s, a, sym) for s in stores for a in known):
        return None
    steady = _steady(region, nodes, sym)
    if any(s.node in steady for s in stores):
        return None
    return Pieces(nodes, sym_node, stores, steady, any(n.report is not None for n in nodes))


def _vectorises(n: Node) -> bool:
    row = PRIMS[n.prim]
    if n.prim in SERIAL or n.prim.startswith("py_") or len(n.outputs) != 1 or row.effect or n.regions:
        return False
    return (row.loop == "pointwise" and row.group in ("unary", "binary", "select")) or n.prim == "convert"


def access(h: Host, n: Node) -> Access | None:
    """An element that is read or stored to, if its indices are known."""
    view, indices = n.inputs[0], n.inputs[2:] if n.prim == "item" else n.inputs[3:]
    index = tuple(known(v) for v in indices)
    value = n.outputs[0] if n.prim == "item" else n.inputs[1]
    if any(d is None for d in index):
        return None
    return Access(n, h.place_of(view), tuple(d for d in index if d is not None), ttype(value).dtype)


def known(v: Value) -> Dim | None:
    """An index that is known as an expression."""
    if v.node is None or v.node.prim not in ("dim", "const"):
        return None
    return Dim.of(v.node.params["dim"]) if v.node.prim == "dim" else Dim.of(int(v.node.params["value"]))


def _apart(h: Host, store: Access, other: Access, sym: Sym) -> bool:
    """Does no turn touch what another turn stores?"""
    p, q = store.place, other.place
    if not h.unit.may_alias(p.buffer, q.buffer):
        return True
    if (p.buffer, p.offset, p.strides, store.dtype) != (q.buffer, q.offset, q.strides, other.dtype):
        return False
    moves = [coefficient(d, sym) for d in store.index]
    if store.index == other.index and any(c is not None and c.const for c in moves):
        return True
    for a, b in zip(store.index, other.index, strict=True):
        x, y = _range(a, sym), _range(b, sym)
        if x and y and (provably_ge(x[0] - y[1], 1) or provably_ge(y[0] - x[1], 1)):
            return True
        c, d = coefficient(a, sym), (a - b).const
        if c is not None and c.const and d is not None and d % c.const:
            return True
    return False


def _range(d: Dim, sym: Sym) -> tuple[Dim, Dim] | None:
    """Least and greatest value over all turns."""
    c = coefficient(d, sym)
    if c is None or c.const is None:
        return None
    if c.const == 0:
        return d, d
    if sym.lower is None or sym.upper is None:
        return None
    ends = d.subs({sym: sym.lower}), d.subs({sym: sym.upper})
    return ends if c.const > 0 else ends[::-1]


def _steady(region: Region, nodes: list[Node], sym: Sym) -> set[Node]:
    """Nodes that do not depend on the turn. Their memory is not stored to by the loop."""
    turning: set[Value] = {region.params[0]}
    out: set[Node] = set()
    for n in nodes:
        own = n.prim == "dim" and sym in Dim.of(n.params["dim"]).syms()
        if n.prim != "sym" and not own and not any(v in turning for v in n.inputs):
            out.add(n)
        else:
            turning.update(n.outputs)
    return out


def emit(h: Host, found: Pieces, counter: str, end: str, bind: Callable[[], None], plain: Callable[[str], None]) -> None:
    """The turns from `counter` to `end`. bind : declares the index of a turn; plain : emits the plain loop up to a variable."""
    if not found.reports:
        _vector_loop(h, found, counter, end, bind)
        h.line(f"{counter} = {end};")
        return
    with pieces(h, found.stores, counter, end) as to:
        h.line("if (warn) {")
        _copies(h, found.stores, found.sym_node, counter, to, bind, "old{k}_[q_] = {cell};")
        h.line("}")
        suspect = _vector_loop(h, found, counter, to, bind)
        h.line(f"if (!warn || !({suspect})) {{ {counter} = {to}; continue; }}")
        _copies(h, found.stores, found.sym_node, counter, to, bind, "{cell} = old{k}_[q_];")
        plain(to)


@contextmanager
def pieces(h: Host, stores: list[Access], counter: str, end: str, more: str = "") -> Iterator[str]:
    """The body of a loop over pieces of the turns from `counter` to `end`, with room for what the stores overwrite.

    more : a further condition for going on. Gives the variable that holds the end of a piece.
    """
    to = h.unit.fresh("p")
    h.line(f"while ({counter} < {end}{more}) {{")
    h.depth += 1
    h.line(f"const npc_i64 {to} = {end} - {counter} < {PIECE} ? {end} : {counter} + {PIECE};")
    for k, s in enumerate(stores):
        h.line(f"alignas(64) {ctype(s.dtype)} old{k}_[{PIECE}];")
    yield to
    h.depth -= 1
    h.line("}")


def _vector_loop(h: Host, found: Pieces, counter: str, to: str, bind: Callable[[], None]) -> str:
    """The turns as a loop that reports nothing; returns what is true afterwards when something may be due."""
    saved = dict(h.scalars)
    h.tentative = []
    for n in found.nodes:
        if n in found.steady:
            h.node(n)
    steady_reports = any(reported(op) for op in h.tentative)
    start = len(h.lines)
    h.depth += 1
    bind()
    for n in found.nodes:
        if n not in found.steady:
            h.node(n)
    h.depth -= 1
    body, h.lines[start:] = h.lines[start:], []
    ops, h.tentative = h.tentative, None
    h.scalars = saved
    # Steady operations may move to before the flags are cleared, and what nobody uses is never computed.
    flags = not steady_reports and by_flags(ops, frozenset()) and _all_used(found.nodes)
    words = gathered(ops, frozenset()) if found.reports and not flags else []
    names = sorted({f"odd{word_bits(x.op)}_" for x in words})
    for w in names:
        h.line(f"npc_u{w[3:-1]} {w} = 0;")
    if found.reports and flags:
        h.unit.helpers.add("flags")
        h.line("npc_flags_clear();")
    _turns(h, counter, to, body + [f"odd{bits}_ |= {text};" for bits, text in look_texts(h.unit, words).items()])
    return "npc_flags()" if flags else " || ".join(f"npc_top({w})" for w in names)


def _turns(h: Host, counter: str, to: str, body: list[str]) -> None:
    """A loop of independent turns that leaves the counter alone."""
    h.line("NPC_IVDEP")
    h.line(f"for (npc_i64 t_ = {counter}; t_ < {to}; ++t_) {{")
    h.line(f"  const npc_i64 {counter} = t_;")
    h.lines += ["  " * h.depth + "  " + x.strip() for x in body]
    h.line("}")


def _all_used(nodes: list[Node]) -> bool:
    """Does the result of every operation that reports surely reach memory?"""
    used: set[Value] = set()
    for n in reversed(nodes):
        if n.prim == "store_item" or any(v in used for v in n.outputs):
            used.update(n.inputs[:1] if n.prim == "select" else n.inputs)
    return all(n.outputs[0] in used for n in nodes if n.report is not None)


def _copies(h: Host, stores: list[Access], sym_node: Node, counter: str, to: str, bind: Callable[[], None], text: str) -> None:
    """Keep, or bring back, what the piece overwrites."""
    saved = dict(h.scalars)
    for k, s in enumerate(stores):
        start = len(h.lines)
        h.depth += 1
        bind()
        h.node(sym_node)
        cell = h.cell(s.place.buffer, s.place.at(s.index), s.dtype)
        h.depth -= 1
        body, h.lines[start:] = h.lines[start:], []
        h.line("{")
        h.line(f"  const npc_i64 first_ = {counter};")
        _turns(h, counter, to, [*body, "const npc_i64 q_ = t_ - first_;", text.format(k=k, cell=cell)])
        h.line("}")
        h.scalars = dict(saved)
