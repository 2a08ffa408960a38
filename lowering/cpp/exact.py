"""Which conditions operations meet: asked of the loops of NumPy's own ufuncs, only where a condition is suspected.

In: operations of the loop IR, bodies of vector loops. Out: C++ text. A body runs operation by operation over pieces that stay in
cache; it looks on, and stores nothing but private rows. Casts, which are no ufunc, have predicates. Never: inlined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from npcompile.kernels import ctype

from npcompile.ir.prim import PRIMS
from npcompile.records import dataclass, field, replace

from ..forwarding import may_alias
from ..loop_ir import IndexOp, Load, Op, Stm, Store, Turns
from ..loop_order import coefficient
from ..unit import Unit
from .conditions import ask_loop, rep_text, reported
from .literals import literal
from .ops import op_text

if TYPE_CHECKING:
    from .kernel_text import KernelPrinter

Maker = Op | IndexOp | Load
Plain = Maker | Store

PIECE_BYTES = 8192
"""What an operation handles at a time."""
SHORT_CUTS = frozenset({"pow", "powi"})
"""NumPy's loops take short cuts for operands of step 0, which are prims of their own."""


def mask_text(unit: Unit, s: Op) -> str:
    """The conditions of one operation whose operands are known."""
    found = ask_loop(s)
    if found is None:
        params, args, general = _general(s)
        body = f"({', '.join([*params, f'{ctype(s.dtype)} r'])}) {{ return {rep_text(unit, general)}; }}"
        return f"{_function(unit, 'npc_i64', body)}({', '.join([*args, s.name])})"
    unit.helpers.add("met")
    dtypes, texts = _operands(s)
    return f"npc_met<{', '.join(map(ctype, dtypes))}>(ctx, rt, {unit.loop(*found)}, {', '.join(texts)})"


def called_text(unit: Unit, s: Op) -> str:
    """The operation; a long one is called, so that the text around it costs the compiler little."""
    if s.prim not in PRIMS or PRIMS[s.prim].cost != "expensive":
        return op_text(unit, s)
    params, args, general = _general(s)
    body = f"({', '.join(params)}) {{ return {op_text(unit, general)}; }}"
    return f"{_function(unit, ctype(s.dtype), body)}({', '.join(args)})"


def _operands(s: Op) -> tuple[tuple[np.dtype, ...], tuple[str, ...]]:
    """Dtypes and texts of what the ufunc is given."""
    if s.prim == "powi":
        return (s.dtype, s.dtype), (*s.args, literal(s.params["n"], s.dtype))
    return s.arg_dtypes, s.args


def _general(s: Op) -> tuple[list[str], list[str], Op]:
    """Parameters, arguments, and the operation on the parameters."""
    names = [f"a{k}" for k in range(len(s.args))]
    params = [f"{ctype(d)} {n}" for n, d in zip(names, s.arg_dtypes, strict=True)]
    return params, list(s.args), replace(s, name="r", args=tuple(names))


def _function(unit: Unit, result: str, body: str) -> str:
    """Name of the function of this text."""
    key = f"{result} {body}"
    name = unit.cold.get(key)
    if name is None:
        name = unit.cold[key] = unit.fresh("x")
    return name


def cold_text(unit: Unit) -> str:
    """All such functions."""
    return "".join(f"NPC_COLD {key.replace(' ', f' {name}', 1)}\n" for key, name in unit.cold.items())


# ---------------------------------------------------------------------------------------------- bodies of loops


@dataclass
class _Group:
    """Statements that run together over a piece: operations that NumPy runs, else a loop over the rest."""

    stms: list[Plain]
    asked: bool = False


@dataclass
class _Body:
    """A body while it is printed. Places are numbers of elements of the tables `at_` and `by_`, texts of pointers and steps.

    size : elements of a piece; arrays : name -> array of the piece that holds it; free : arrays to be used again.
    """

    p: KernelPrinter
    turns: Turns
    made: dict[str, Maker]
    size: int
    arrays: dict[str, str] = field(default_factory=dict)
    free: dict[str, list[str]] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    """Lines that declare arrays and numbers."""
    numbers: dict[tuple[str, np.dtype, str], str] = field(default_factory=dict)
    places: dict[tuple[str, str], int] = field(default_factory=dict)

    def array(self, name: str, dtype: np.dtype) -> str:
        """An array for the values of a name."""
        free = self.free.setdefault(ctype(dtype), [])
        if not free:
            free.append(self.declare(dtype, f"[{self.size}]"))
        self.arrays[name] = free.pop()
        return self.arrays[name]

    def declare(self, dtype: np.dtype, rest: str) -> str:
        name = f"w{len(self.before)}_"
        self.before.append(f"alignas(64) {ctype(dtype)} {name}{rest};")
        return name

    def number(self, text: str, dtype: np.dtype, size: str = "") -> str:
        """A variable, or an array full, of a number from outside."""
        name = self.numbers.get((text, dtype, size))
        if name is None:
            name = self.numbers[text, dtype, size] = self.declare(dtype, size or f" = {text}")
            if size:
                self.before.append(f"for (npc_i64 q_ = 0; q_ < xn_; ++q_) {name}[q_] = {text};")
        return name

    def release(self, names: Iterable[str]) -> None:
        for name in names:
            self.free[ctype(_dtype(self.made[name]))].append(self.arrays.pop(name))

    def place(self, pointer: str, step: str) -> int:
        return self.places.setdefault((pointer, step), len(self.places))

    def is_direct(self, name: str) -> bool:
        """Is it in memory, a fixed step apart from turn to turn?"""
        s = self.made.get(name)
        return isinstance(s, Load) and coefficient(s.offset, self.turns.sym) is not None and not self.needs(s)

    def needs(self, s: Plain) -> list[str]:
        """Names of the body that a statement reads."""
        return [x for x in _words(self.p.unit, s) if x in self.made]


def exact_loop(p: KernelPrinter, turns: Turns, looks_on: bool) -> bool:
    """Print the body so that each operation that reports notes its conditions. False: it has no such form.

    looks_on : nothing at all is stored; else private rows, and what `turns.suffix` says.
    """
    body = _plain(p.unit, turns.body)
    if body is None:
        return False
    keeps = [] if looks_on else [s for s in body if isinstance(s, Store) and s.buffer not in p.pointers]
    suffix = [] if looks_on else turns.suffix
    made = {s.name: s for s in body if not isinstance(s, Store)}
    b = _Body(p, turns, made, PIECE_BYTES // max([1, *(_dtype(s).itemsize for s in made.values())]))
    body = _needed(b, body, keeps, suffix)
    groups = _groups(b, body, suffix)
    if not groups:
        return True
    last: dict[str, int] = {}
    for k, g in enumerate(groups):
        for s in g.stms:
            last.update(dict.fromkeys(b.needs(s), k))
    if suffix:
        last.update(dict.fromkeys((x for x in _names(suffix) if x in made), len(groups) - 1))
    p.line(f"for (npc_i64 x_ = {turns.lo}; x_ < {turns.hi}; x_ += {b.size}) {{")
    p.depth += 1
    p.line(f"const npc_i64 xn_ = {turns.hi} - x_ < {b.size} ? {turns.hi} - x_ : {b.size};")
    lines, p.lines = p.lines, []
    for k, g in enumerate(groups):
        if g.asked:
            _by_numpy(b, g, last, k)
        else:
            _by_turns(b, g, suffix if k == len(groups) - 1 else [], {x for x, at in last.items() if at > k})
        b.release([x for x in b.arrays if last.get(x, -1) <= k])
    body_lines, p.lines = p.lines, lines
    for text in b.before:
        p.line(text)
    if b.places:
        p.line(f"const npc_i64 by_[] = {{{', '.join(step for _, step in b.places)}}};")
        p.line(f"char *at_[{len(b.places)}];")
        p.line("{")
        for text in (*_counter(turns, "x_"), *(f"at_[{k}] = (char *){at};" for k, (at, _) in enumerate(b.places))):
            p.line(f"  {text}")
        p.line("}")
    p.lines += body_lines
    if p.mode == "exact" and not p.lambdas:
        p.stop_when_found()
    p.depth -= 1
    p.line("}")
    return True


def _plain(unit: Unit, body: list[Stm]) -> list[Plain] | None:
    """The body if all its loads see what was there before it, and it has no other kinds of statements."""
    out: list[Plain] = []
    stored: set[str] = set()
    for s in body:
        if not isinstance(s, (Op, IndexOp, Load, Store)) or (isinstance(s, Op) and s.prim.startswith("npc_")):
            return None
        if isinstance(s, Load) and any(may_alias(unit, b, s.buffer) for b in stored):
            return None
        if isinstance(s, Store):
            stored.add(s.buffer)
        out.append(s)
    return out


def _needed(b: _Body, body: list[Plain], keeps: list[Store], suffix: list[str]) -> list[Plain]:
    """Statements that lead to a condition, or to something that is kept."""
    used = set(_names(suffix))
    out: list[Plain] = []
    for s in reversed(body):
        if s in keeps if isinstance(s, Store) else (s.name in used or _slot(b.p, s) is not None):
            used.update(b.needs(s))
            out.append(s)
    return out[::-1]


def _slot(p: KernelPrinter, s: Plain) -> int | None:
    node = reported(s, p.silent)
    return p.slots.get(node) if node is not None else None


def _groups(b: _Body, body: list[Plain], suffix: list[str]) -> list[_Group]:
    """The statements in turn: all that need not be asked and can run, then all operations of NumPy that can run."""
    out: list[_Group] = []
    left = [s for s in body if not (isinstance(s, Load) and b.is_direct(s.name))]
    done = {x for x in b.made if b.is_direct(x)}
    while left:
        for asked in (False, True):
            g = _Group([], asked)
            for s in list(left):
                by_numpy = isinstance(s, Op) and (_slot(b.p, s) is not None or _is_long(s)) and ask_loop(s) is not None
                if by_numpy is asked and all(x in done for x in b.needs(s)):
                    left.remove(s)
                    g.stms.append(s)
                    if not isinstance(s, Store):
                        done.add(s.name)
            if g.stms:
                out.append(g)
    if suffix and (not out or out[-1].asked):
        out.append(_Group([]))
    return out


def _is_long(s: Op) -> bool:
    return s.prim in PRIMS and PRIMS[s.prim].cost == "expensive"


def _by_numpy(b: _Body, g: _Group, last: dict[str, int], k: int) -> None:
    """Have NumPy's loops run on the piece. last : group number `k` or later in which a name is read last."""
    p, steps = b.p, []
    reads = {s.name: b.needs(s) for s in g.stms if isinstance(s, Op)}
    for i, s in enumerate(g.stms):
        assert isinstance(s, Op)
        loop, slot = ask_loop(s), _slot(p, s)
        assert loop is not None
        places = [_operand(b, s, text, dtype) for dtype, text in zip(*_operands(s), strict=True)]
        result = b.place(b.array(s.name, s.dtype), str(s.dtype.itemsize))
        steps.append([p.unit.loop(*loop), 0 if slot is None else slot + 1, places[0], *places[1:], *[result] * (3 - len(places))])
        later = {x for o in g.stms[i + 1 :] if isinstance(o, Op) for x in reads[o.name]}
        b.release([x for x in b.arrays if last.get(x, -1) <= k and x not in later and (x in reads[s.name] or x == s.name)])
    table = ", ".join(str(x) for step in steps for x in step)
    p.line("{")
    p.line(f"  static const npc_u16 loops_[] = {{{table}}};")
    p.line(f"  rt->ask(ctx, {len(steps)}, loops_, xn_, at_, by_, rep);")
    p.line("}")


def _operand(b: _Body, s: Op, text: str, dtype: np.dtype) -> int:
    """Place of an operand."""
    size = str(dtype.itemsize)
    if text in b.arrays:
        return b.place(b.arrays[text], size)
    if text in b.made:
        load = b.made[text]
        assert isinstance(load, Load)
        step = coefficient(load.offset, b.turns.sym)
        assert step is not None
        return b.place(f"&{b.p.cell(load.buffer, load.offset, load.dtype, False)}", b.p.unit.dim(step))
    if s.prim not in SHORT_CUTS:
        return b.place(f"&{b.number(text, dtype)}", "0")
    name = b.number(text, dtype, f"[{b.size}]")
    return b.place(name, size)


def _by_turns(b: _Body, g: _Group, suffix: list[str], later: set[str]) -> None:
    """A loop over the piece. later : names that later groups read."""
    p, unit = b.p, b.p.unit
    masks: dict[int, str] = {}
    for s in g.stms:
        slot = _slot(p, s)
        if slot is not None:
            masks[slot] = f"m{slot}_"
    own = {s.name for s in g.stms if not isinstance(s, Store)}
    used = dict.fromkeys([x for s in g.stms for x in b.needs(s)] + [x for x in _names(suffix) if x in b.made])
    kept = {s.name: b.array(s.name, _dtype(s)) for s in g.stms if not isinstance(s, Store) and s.name in later}
    p.line("{")
    p.depth += 1
    for m in masks.values():
        p.line(f"npc_i64 {m} = 0;")
    p.line("for (npc_i64 q_ = 0; q_ < xn_; ++q_) {")
    p.depth += 1
    for x in _counter(b.turns, "x_ + q_"):
        p.line(x)
    for x in used:
        if x not in own:
            made = b.made[x]
            if x in b.arrays:
                p.line(f"const {ctype(_dtype(made))} {x} = {b.arrays[x]}[q_];")
            else:
                p.simple(made)
    for s in g.stms:
        slot = _slot(p, s)
        if isinstance(s, Op):
            p.line(f"const {ctype(s.dtype)} {s.name} = {called_text(unit, s)};")
            if slot is not None:
                p.line(f"{masks[slot]} |= {rep_text(unit, s)};")
        else:
            p.simple(s)
    for name, array in kept.items():
        p.line(f"{array}[q_] = {name};")
    for x in suffix:
        p.line(x)
    p.depth -= 1
    p.line("}")
    for slot, m in masks.items():
        p.line(f"npc_note(rep, {slot + 1}, {m});")
    p.depth -= 1
    p.line("}")


def _counter(turns: Turns, value: str) -> list[str]:
    """Declares the turn."""
    return [f"const npc_i64 {turns.i} = {value};", *turns.prefix]


def _dtype(s: Maker) -> np.dtype:
    return s.dtype if isinstance(s, (Op, Load)) else np.dtype(np.int64)


def _words(unit: Unit, s: Plain) -> list[str]:
    """Names in a statement, that which it defines excepted."""
    if isinstance(s, Op):
        return list(s.args)
    if isinstance(s, Store):
        return [s.value, s.mask, *_names([unit.dim(s.offset)])]
    return _names([unit.dim(s.offset if isinstance(s, Load) else s.value)])


def _names(texts: Iterable[str]) -> list[str]:
    return [x for t in texts for x in _split(t)]


@cache
def _split(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[A-Za-z_]\w*", text))
