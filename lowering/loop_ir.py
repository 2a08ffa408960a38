"""The loop IR: nests of loops over index variables with scalar operations inside. Plain data.

In: nothing. Out: the node types that `nests` builds and a printer reads. Names are text, unique within a kernel; index
expressions are `Dim`s over loop variables and symbols. Never: knows a target language.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Node
from npcompile.records import dataclass, field


@dataclass
class Op:
    """`name = prim(args)`: one scalar operation. `node` is the graph node it comes from."""

    name: str
    prim: str
    args: tuple[str, ...]
    dtype: np.dtype
    arg_dtypes: tuple[np.dtype, ...]
    params: dict[str, Any]
    node: Node | None = None


@dataclass
class IndexOp:
    """`name = value` of an index expression as int64."""

    name: str
    value: Dim


@dataclass
class Load:
    """`name = buffer[offset]`, offset in bytes."""

    name: str
    buffer: str
    offset: Dim
    dtype: np.dtype


@dataclass
class Store:
    """`buffer[offset] = value`, only where `mask` holds if there is one."""

    buffer: str
    offset: Dim
    value: str
    dtype: np.dtype
    mask: str = ""


@dataclass
class Local:
    """A variable (size None) or an array of `size` elements. `init`: "=op" starts with the start value of a reduction."""

    name: str
    dtype: np.dtype
    size: Dim | None = None
    init: str = ""


@dataclass
class Assign:
    """`name = value` for a `Local` variable."""

    name: str
    value: str


@dataclass
class For:
    """`for sym in range(extent)`.

    kind : "plain"; "vector": iterations are independent and innermost; "serial": order matters.
    block : steps of `block` with `sym` = start of the block and `length` the symbol of its length (last one shorter).
    together : this many turns may run side by side in the one vector loop inside, if it is short.
    """

    sym: Sym
    extent: Dim
    body: list[Stm]
    kind: str = "plain"
    block: int = 0
    length: Sym | None = None
    start: Dim | None = None
    together: int = 1


@dataclass
class Tree:
    """NumPy's pairwise tree over the product of `loops`, the last one fastest.

    results : (name, dtype, combining prim). `values[k]` is a name bound in `body`, the summand of `results[k]`.
    """

    loops: list[tuple[Sym, Dim]]
    body: list[Stm]
    results: list[tuple[str, np.dtype, str]]
    values: list[str]
    nodes: list[Node | None] = field(default_factory=list)
    """The reduction whose conditions a result has, if they are reported."""


@dataclass
class Fold:
    """Order-free reduction over `sym` in range(extent): `acc = op(acc, value)`; `accs` are declared `Local`s."""

    sym: Sym
    extent: Dim
    body: list[Stm]
    ops: list[tuple[str, str, str, np.dtype]]
    """(acc, op, value, dtype)."""


@dataclass
class If:
    """`then` when all pairs of index expressions are equal, else `other`."""

    equal: list[tuple[Dim, Dim]]
    then: list[Stm]
    other: list[Stm]


@dataclass(frozen=True)
class Turns:
    """Independent turns, to be printed: `i` from `lo` to `hi` (texts). sym : the variable that goes up by one from turn to turn.

    prefix : lines before the body, which know `i`; suffix : lines after it.
    """

    sym: Sym
    i: str
    lo: str
    hi: str
    body: list[Stm]
    prefix: list[str] = field(default_factory=list)
    suffix: list[str] = field(default_factory=list)

    @property
    def head(self) -> str:
        return f"for (npc_i64 {self.i} = {self.lo}; {self.i} < {self.hi}; ++{self.i}) {{"


Stm = Op | IndexOp | Load | Store | Local | Assign | For | Tree | Fold | If


@dataclass(frozen=True)
class Undo:
    """Host code that drops what has been done since a state that is known: the turn's (`call` False) or the call's."""

    text: str
    call: bool


@dataclass
class KernelIR:
    """One kernel: `body` with its outermost loop `body[-1]` run over a sub-range lo..hi when `split`.

    cold : rarely run, so made small. undo : what to do when a signal ends it, None: it runs to its end.
    private : row buffers of one thread, declared before the outermost loop.
    """

    name: str
    body: list[Stm]
    split: bool = False
    grain: int = 1
    cold: bool = False
    undo: Undo | None = None
    private: list[Local] = field(default_factory=list)
    work: Dim = field(default_factory=Dim)
    """Estimated picoseconds of one call."""


def walk(body: list[Stm]) -> Iterator[Stm]:
    """Every statement, those inside loops included, in order."""
    for s in body:
        yield s
        if isinstance(s, (For, Tree, Fold)):
            yield from walk(s.body)
        elif isinstance(s, If):
            yield from walk(s.then)
            yield from walk(s.other)


def used_names(kernel: KernelIR) -> set[str]:
    """Names whose values surely reach memory outside of the kernel. The compiler drops the others, or computes them only where a
    mask or a choice wants them."""
    own = {x.name for x in kernel.private}
    used: set[str] = set()
    before = -1
    while before != len(used):
        before = len(used)
        for s in reversed(list(walk(kernel.body))):
            if isinstance(s, Store) and (s.buffer in used or s.buffer not in own):
                used.add(s.mask or s.value)
            elif isinstance(s, Load) and s.name in used:
                used.add(s.buffer)
            elif isinstance(s, Assign) and s.name in used:
                used.add(s.value)
            elif isinstance(s, Tree):
                used.update(value for (name, _, _), value in zip(s.results, s.values) if name in used)
            elif isinstance(s, Fold):
                used.update(value for acc, _, value, _ in s.ops if acc in used)
            elif isinstance(s, Op) and (s.name in used or (s.prim == "npc_best" and not used.isdisjoint(s.args[:2]))):
                used.update(s.args[:1] if s.prim == "select" else s.args)
    return used


def known_names(body: list[Stm]) -> set[str]:
    """Names whose values the compiler of the printed text may find out, or narrow down to a few, and compute with itself."""
    known: set[str] = set()
    buffers: set[str] = set()
    before = -1

    def is_known(name: str) -> bool:
        return name in known or not name.isidentifier()

    while before != len(known) + len(buffers):
        before = len(known) + len(buffers)
        for s in walk(body):
            if isinstance(s, Op) and (s.dtype.kind == "b" or _cancels(s) or all(map(is_known, s.args[s.prim == "select" :]))):
                known.add(s.name)
            elif isinstance(s, Store) and is_known(s.value):
                buffers.add(s.buffer)
            elif isinstance(s, IndexOp) or (isinstance(s, Load) and s.buffer in buffers):
                known.add(s.name)
    return known


def _cancels(s: Op) -> bool:
    """Is it an integer operation whose result is the same for all operands, or for all of one of them?"""
    if s.dtype.kind not in "iu":
        return False
    return (s.prim in ("sub", "bit_xor") and s.args[0] == s.args[1]) or (
        s.prim in ("mul", "bit_and", "mod", "fmod", "floordiv") and not all(a.isidentifier() for a in s.args)
    )
