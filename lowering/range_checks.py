"""Index checks: one comparison each, and those that the first and the last turn of a loop answer for all turns.

In: the nodes of a loop that runs again in full when something is due. Out: host code: a test before the fast run, in which the
checks of each turn then fall away. Never: takes exits; where the test fails, the full run does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from npcompile.ir.dims import Dim, Sym, provably_ge
from npcompile.ir.graph import Node, Value
from npcompile.records import dataclass

from .element_loops import known
from .loop_order import coefficient
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host


@dataclass(frozen=True)
class Check:
    """An index, linear in the loop's variable, that must be within a length. rises : with the variable."""

    index: Dim
    length: Dim
    rises: bool

    def least(self, h: Host) -> str:
        return f"{h.unit.dim(self.index)} >= 0"

    def most(self, h: Host) -> str:
        return f"{h.unit.dim(self.index)} < {h.unit.dim(self.length)}"


def range_checks(nodes: list[Node], sym_node: Node) -> list[Check]:
    """Checks in the straight code of a loop, each once.

    An index that is surely negative at first, as `i - 1` is where i starts at 0, wraps round by intention: it is left out.
    """
    sym: Sym = sym_node.params["sym"]
    found = [_check(n.inputs[0], sym) for n in nodes if n.prim == "exit_if"]
    return list(dict.fromkeys(c for c in found if c is not None))


def _check(bad: Value, sym: Sym) -> Check | None:
    """`bad` as the rules of indexing make it: index >= length, or that or index < 0 after wrapping."""
    parts = _bounds(bad.node)
    if parts is None:
        return None
    index, length = (known(_unwrapped(v)) for v in parts)
    if index is None or length is None or sym in length.syms():
        return None
    step = coefficient(index, sym)
    if step is None or not step.const or (sym.lower is not None and index.subs({sym: sym.lower}).bounds()[1] < 0):
        return None
    return Check(index, length, step.const > 0)


def _unwrapped(v: Value) -> Value:
    """The index of which `v` is what wrapping makes."""
    parts = _wrapping(v.node)
    return v if parts is None else parts[0]


def _wrapping(node: Node | None) -> tuple[Value, Value] | None:
    """Index and length of a node that wraps an index round: `index + length if index < 0 else index`."""
    if node is None or node.prim != "select":
        return None
    test, more, index = node.inputs
    if not _compares(test.node, "lt", index, 0) or more.node is None or more.node.prim != "add" or index not in more.node.inputs:
        return None
    first, second = more.node.inputs
    return index, second if first is index else first


def _bounds(node: Node | None) -> tuple[Value, Value] | None:
    """Index and length of a node that asks for `index >= length`, or for that or `index < 0`, in either order."""
    if node is None or node.prim not in ("logical_or", "ge"):
        return None
    if node.prim == "ge":
        return node.inputs[0], node.inputs[1]
    for high, low in (node.inputs, node.inputs[::-1]):
        if high.node is not None and high.node.prim == "ge" and _compares(low.node, "lt", high.node.inputs[0], 0):
            return high.node.inputs[0], high.node.inputs[1]
    return None


def _compares(node: Node | None, prim: str, index: Value, number: int) -> bool:
    """Does the node compare an int64 index with this number?"""
    if node is None or node.prim != prim or node.inputs[0] is not index or ttype(index).dtype != np.int64:
        return False
    limit = known(node.inputs[1])
    return limit is not None and limit.const == number


def index_text(h: Host, node: Node) -> str | None:
    """C++ text of a node that wraps an index round, or tells whether it is out of range; None for other nodes.

    An index is rarely negative: one comparison without sign finds those that are and those that are too large.
    """
    wraps = _wrapping(node)
    parts = wraps or _bounds(node)
    if parts is None:
        return None
    index, length = known(_unwrapped(parts[0])), known(parts[1])
    if (index, length) in h.in_range:
        return h.scalar(parts[0]) if wraps else "(npc_bool)0"
    if node.prim == "ge" or length is None or not provably_ge(length, 0):
        return None
    name = "npc_wrapped" if wraps else "npc_outside"
    h.unit.helpers.add("index")
    return f"{name}({h.scalar(parts[0])}, {h.scalar(parts[1])})"


def test_ends(
    h: Host,
    checks: list[Check],
    sym_node: Node,
    counter: str,
    first: str,
    end: str,
    bind: Callable[[], None],
    up: bool,
    outside: str,
) -> None:
    """Code that sets the variable `outside` if an index is out of range in the turn `first` or in the last one before `end`.

    up : the loop's variable goes up.
    """
    saved = dict(h.scalars)
    for turn, at_start in ((first, True), (f"{end} - 1", False)):
        tests = [c.least(h) if (c.rises == up) == at_start else c.most(h) for c in checks]
        h.line("{")
        h.depth += 1
        h.line(f"const npc_i64 {counter} = {turn};")
        bind()
        h.node(sym_node)
        h.line(f"{outside} |= !({' && '.join(dict.fromkeys(tests))});")
        h.depth -= 1
        h.line("}")
        h.scalars = dict(saved)
