"""Index checks that the first and the last turn of a loop answer for all turns.

In: the nodes of a loop that runs again in full when something is due. Out: host code: a test before the fast run, and what it
lets the C++ compiler assume in it, so that the checks of each turn fall away. Never: takes exits; where the test fails, the full
run does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Node, Value
from npcompile.records import dataclass

from .element_loops import known
from .loop_order import coefficient

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
    node = bad.node
    if node is not None and node.prim == "logical_or":
        node = node.inputs[0].node
    if node is None or node.prim != "ge":
        return None
    index, length = (known(_unwrapped(v)) for v in node.inputs)
    if index is None or length is None or sym in length.syms():
        return None
    step = coefficient(index, sym)
    if step is None or not step.const or (sym.lower is not None and index.subs({sym: sym.lower}).bounds()[1] < 0):
        return None
    return Check(index, length, step.const > 0)


def _unwrapped(v: Value) -> Value:
    """The index of which `v` is what wrapping makes."""
    node = v.node
    if node is not None and node.prim == "select":
        test = node.inputs[0].node
        if test is not None and test.prim == "lt" and test.inputs[0] is node.inputs[2]:
            return node.inputs[2]
    return v


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


def assume(h: Host, checks: list[Check], sym_node: Node, start: int) -> None:
    """Let the loop whose lines begin at `start` take all indices for being in range."""
    declares = f"const npc_i64 {h.unit.sym_name(sym_node.params['sym'])} ="
    at = next(k for k in range(start, len(h.lines)) if h.lines[k].lstrip().startswith(declares))
    indent = h.lines[at][: len(h.lines[at]) - len(h.lines[at].lstrip())]
    tests = dict.fromkeys(t for c in checks for t in (c.least(h), c.most(h)))
    h.lines[at + 1 : at + 1] = [f"{indent}if (!({text})) __builtin_unreachable();" for text in tests]
