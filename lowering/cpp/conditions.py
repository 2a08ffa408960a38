"""Floating-point conditions of operations: which are reported, by what filter a loop finds out that it has to look closely,
and who knows exactly.

In: operations of the loop IR. Out: C++ text. Two filters: the processor's sticky flags, which cost nothing in the loop but are
right only for operations that the processor itself does; else a word gathered over the elements, whose top bit tells that a
result was infinite or NaN. Never: decides what is reported.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import cache

import numpy as np
from npcompile.kernels import available, ctype
from npcompile.kernels.text import short

from npcompile.ir.conditions import possible_conditions
from npcompile.ir.graph import Node
from npcompile.ir.prim import CONDITIONS, PRIMS
from npcompile.ir.types import TensorType
from npcompile.records import dataclass

from ..loop_ir import IndexOp, Load, Local, Op, Stm
from ..unit import Unit

MASK = 11
"""divide, overflow, invalid: NumPy's default is silent about underflow."""

HARDWARE = frozenset(
    {
        "add", "sub", "mul", "div", "neg", "abs", "sqrt", "square", "reciprocal", "deg2rad", "rad2deg", "copysign",
        "floor", "ceil", "trunc", "rint", "conj", "real", "imag", "copy", "full", "select", "lt", "le", "gt", "ge",
        "eq", "ne", "isnan", "isinf", "isfinite", "signbit", "maximum", "minimum", "fmax", "fmin", "logical_and",
        "logical_or", "logical_not", "logical_xor", "bit_and", "bit_or", "bit_xor", "bit_not", "complex", "bitcast",
        "half_sum", "const", "dim", "iota", "load",
    }
)  # fmt: skip
"""Operations whose conditions raise the processor's flags, and those that have none."""

KEEPS = frozenset(
    {
        "add", "sub", "mul", "neg", "abs", "sqrt", "square", "conj", "copy", "floor", "ceil", "rint", "trunc", "log",
        "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "acosh", "atanh", "cosh", "sinh", "deg2rad",
        "rad2deg", "hypot",
    }
)  # fmt: skip
"""An operand that is infinite or NaN makes the result so too."""

KEEPS_FIRST = frozenset({"div", "fmod", "copysign", "convert"})

HANDS_ON = (KEEPS - {"hypot"}) | {
    "div", "exp", "exp2", "expm1", "tanh", "atan", "asinh", "cbrt", "reciprocal", "maximum", "minimum", "fmod", "mod", "floordiv",
    "atan2",
}  # fmt: skip
"""The result is NaN when an operand is NaN, and that is no condition."""

PREDICATES = frozenset({"convert", "half_sum"})
"""Operations that are no ufunc of NumPy."""

COMPARES = frozenset({"lt", "le", "gt", "ge", "maximum", "minimum", "fmax", "fmin", "sign"})
"""Silent about NaN in NumPy while the processor raises its flag."""


def reported(s: Stm, silent: frozenset[Node] = frozenset()) -> Node | None:
    """The node whose conditions an operation reports, if it does."""
    if isinstance(s, Op) and s.node is not None and s.node.report is not None and s.node not in silent:
        return s.node if may_meet(s.node) and (s.prim in PREDICATES or ask_loop(s) is not None) else None
    return None


def may_meet(node: Node) -> int:
    """Bits of the conditions that a node may have to report."""
    bits = {name: 1 << k for k, name in enumerate(CONDITIONS.values())}
    return sum(bits[c] for c in possible_conditions(node)) & ~(node.report.ignored if node.report else 0)


def ask_loop(s: Op) -> tuple[str, int] | None:
    """The loop of a ufunc of NumPy that the operation is: name, place in `ufunc.types`."""
    if s.prim not in PRIMS or not PRIMS[s.prim].ufunc:
        return None
    return _find_loop(PRIMS[s.prim].ufunc, s.arg_dtypes * (2 if s.prim == "powi" else 1))


def add_loop(dtype: np.dtype) -> tuple[str, int]:
    """NumPy's loop for sums."""
    found = _find_loop("add", (dtype, dtype))
    assert found is not None
    return found


@cache
def _find_loop(ufunc: str, dtypes: tuple[np.dtype, ...]) -> tuple[str, int] | None:
    for k, types in enumerate(getattr(np, ufunc).types):
        if tuple(np.dtype(c) for c in types.partition("->")[0]) == dtypes:
            return ufunc, k
    return None


def by_flags(ops: Iterable[Op], silent: frozenset[Node]) -> bool:
    """May the processor's flags serve as the filter?"""
    for s in ops:
        if s.prim == "npc_check":
            continue
        kinds = {d.kind for d in s.arg_dtypes}
        if s.prim == "convert":
            to_int = s.dtype.kind in "biu" and "f" in kinds
            if reported(s, silent) is not None and (to_int or np.dtype(np.float16) in (s.dtype, *s.arg_dtypes)):
                return False
            continue
        if not kinds & set("fc"):
            if reported(s, silent) is not None:
                return False
            continue
        if s.prim not in HARDWARE or s.prim in COMPARES or np.dtype(np.float16) in s.arg_dtypes:
            return False
        if s.prim in ("div", "reciprocal") and "c" in kinds:
            return False  # of an invariant divisor GCC computes both quotients of its parts before it looks which it needs
    return True


@dataclass(frozen=True)
class Look:
    """An operation whose result a loop looks at. excuses : when one of these is NaN, a NaN result is no condition."""

    op: Op
    excuses: tuple[str, ...] = ()


def gathered(ops: list[Op], silent: frozenset[Node]) -> list[Look]:
    """Operations of a body whose results have to be looked at, so that no reported one can go unnoticed.

    A result that is infinite or NaN and feeds an operation that keeps it so need not be looked at itself, unless that
    operation has more excuses.
    """
    made = {s.name: s for s in ops}
    seen: dict[str, frozenset[str]] = {}
    out: list[Look] = []
    for k in range(len(ops) - 1, -1, -1):
        s = ops[k]
        if s.prim == "npc_check":
            out.append(Look(s))
            continue
        found = _excuses(s, made)
        if any(u.name in seen and seen[u.name] <= found and keeps(u, s) for u in ops[k + 1 :]):
            seen[s.name] = found
        elif reported(s, silent) is not None:
            seen[s.name] = found
            out.append(Look(s, tuple(sorted(found))))
    return out[::-1]


def telling(ops: list[Op]) -> list[Op]:
    """Of reported operations in straight code, those whose results tell that one of them was infinite or NaN."""
    return [s for k, s in enumerate(ops) if not any(keeps(u, s) for u in ops[k + 1 :])]


def keeps(u: Op, s: Op) -> bool:
    """Is what `u` makes of the result of `s` infinite or NaN when that is?"""
    in_first = u.prim in KEEPS_FIRST and u.args[0] == s.name and _stays(u)
    return s.dtype.kind in "fc" and ((u.prim in KEEPS and s.name in u.args) or in_first)


def _excuses(s: Op, made: Mapping[str, Op]) -> frozenset[str]:
    """What an operation is made of by operations that hand a NaN on: names from outside, loads, results of others."""
    if s.dtype not in (np.float32, np.float64) or s.prim not in HANDS_ON:
        return frozenset()
    out: set[str] = set()
    done: set[str] = set()
    stack = [s]
    while stack:
        for name, dtype in zip((u := stack.pop()).args, u.arg_dtypes, strict=True):
            if dtype != s.dtype:
                return frozenset()
            if name in done or not name.isidentifier():
                continue
            done.add(name)
            inner = made.get(name)
            if inner is not None and inner.prim in HANDS_ON and inner.arg_dtypes[0] == s.dtype:
                stack.append(inner)
            else:
                out.add(name)
    return frozenset(out)


def _stays(s: Op) -> bool:
    return s.prim != "convert" or s.dtype.kind in "fc"


def word_bits(s: Op) -> int:
    """Width of the word that `npc_odd_P` gives."""
    d = s.arg_dtypes[0]
    return d.itemsize * (4 if d.kind == "c" else 8)


def odd_text(unit: Unit, s: Op) -> str:
    """The word of one element."""
    if s.prim == "npc_check":
        unit.snippets.add("odd")
        return f"npc_odd({s.args[0]})"
    name = f"odd_{s.prim}"
    key = f"{name}:{short(s.arg_dtypes[0])}"
    if available(key):
        unit.snippets.add(key)
        return _applied(name, s)
    unit.snippets.add("odd")
    return f"npc_odd({s.name})"


def total_text(unit: Unit, s: Op, looked_at: Container[str]) -> str:
    """The word of a total. When all that is added up is looked at itself, infinities included, a NaN total tells nothing new."""
    text = odd_text(unit, s)
    if s.dtype not in (np.float32, np.float64) or not all(x in looked_at for x in s.params["of"]):
        return text
    unit.snippets.add("number")
    return f"{text} & npc_number({s.args[0]})"


def steady_numbers(unit: Unit, looks: Iterable[Look], body: list[Stm]) -> dict[str, str]:
    """Excuses that are the same for a whole loop: name -> word that tells once for all that it is no NaN."""
    inside = {s.name for s in body if isinstance(s, (Op, Load, IndexOp, Local))}
    names = sorted({x for look in looks for x in look.excuses} - inside)
    if names:
        unit.snippets.add("number")
    return {x: f"npc_number({x})" for x in names}


def look_texts(unit: Unit, looks: Iterable[Look], looked_at: Container[str] = (), steady: Container[str] = ()) -> dict[int, str]:
    """The words of one element by width: 0 at the top when nothing is due. An infinite result has no NaN among its excuses.

    steady : excuses whose word is in `no_{name}`.
    """
    groups: dict[int, dict[tuple[str, ...], list[str]]] = {}
    for x in looks:
        text = total_text(unit, x.op, looked_at) if x.op.prim == "npc_check" else odd_text(unit, x.op)
        groups.setdefault(word_bits(x.op), {}).setdefault(x.excuses, []).append(text)
    out = {}
    for bits, by_excuse in groups.items():
        terms = []
        for excuses, texts in by_excuse.items():
            if excuses:
                unit.snippets.add("number")
            numbers = "".join(f" & no_{x}" if x in steady else f" & npc_number({x})" for x in excuses)
            terms.append(f"(({' | '.join(texts)}){numbers})")
        out[bits] = " | ".join(terms)
    return out


def rep_text(unit: Unit, s: Op) -> str:
    """The exact mask of one element, of an operation that is no ufunc."""
    unit.snippets.add("rep_convert" if s.prim == "convert" else "rep_half_sum:f16")
    return f"({_applied(f'rep_{s.prim}', s)} & {MASK})"


def _applied(name: str, s: Op) -> str:
    """A filter or predicate of an operation, applied to it."""
    if s.prim == "convert":
        return f"npc_{name}<{ctype(s.dtype)}>({s.args[0]})"
    return f"npc_{name}({', '.join((*s.args, s.name))})"


def note(slot: int, mask: str) -> str:
    """Statement that adds conditions to those of a node."""
    return f"npc_note(rep, {slot + 1}, {mask});"


def has_elements(unit: Unit, node: Node) -> list[str]:
    """Tests whether NumPy computes anything: what was moved out of loops is computed here even if they have no turn."""
    t = node.outputs[0].type
    return [f"{unit.dim(d)} > 0" for d in t.dims if d.bounds()[0] < 1] if isinstance(t, TensorType) else []
