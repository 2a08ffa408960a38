"""Loads of what the same turn of a loop has just stored become the value, and stores that it overwrites go.

In: a kernel's body. Out: the same with other bodies of vector loops. Never: looks beyond one turn.
"""

from __future__ import annotations

import re

from npcompile.records import replace

from .loop_ir import For, If, IndexOp, Load, Op, Stm, Store
from .unit import Unit


def forwarded(unit: Unit, body: list[Stm]) -> list[Stm]:
    """The statements with all vector loops among them changed."""
    out: list[Stm] = []
    for s in body:
        if isinstance(s, For):
            inner = _turn(unit, s.body) if s.kind == "vector" else forwarded(unit, s.body)
            s = replace(s, body=inner)
        elif isinstance(s, If):
            s = replace(s, then=forwarded(unit, s.then), other=forwarded(unit, s.other))
        out.append(s)
    return out


def _turn(unit: Unit, body: list[Stm]) -> list[Stm]:
    if not all(isinstance(s, (Op, IndexOp, Load, Store)) for s in body):
        return body
    stored: dict[str, Store] = {}
    names: dict[str, str] = {}
    out: list[Stm] = []
    for s in body:
        if isinstance(s, Op):
            out.append(replace(s, args=tuple(names.get(a, a) for a in s.args)))
        elif isinstance(s, Store):
            now = replace(s, value=names.get(s.value, s.value), mask=names.get(s.mask, s.mask))
            before = stored.get(s.buffer)
            if before is not None and before.offset == s.offset and not s.mask and before.dtype == s.dtype:
                out = [x for x in out if x is not before]
            for b in [b for b in stored if may_alias(unit, b, s.buffer)]:
                del stored[b]
            stored[s.buffer] = now
            out.append(now)
        elif isinstance(s, Load) and (near := [x for b, x in stored.items() if may_alias(unit, b, s.buffer)]):
            last = near[-1]
            if len(near) == 1 and (last.buffer, last.offset, last.dtype, last.mask) == (s.buffer, s.offset, s.dtype, ""):
                names[s.name] = last.value
            else:
                for x in near:
                    del stored[x.buffer]  # it is read here: later stores do not make up for it
                out.append(s)
        else:
            out.append(s)
    indices = {x for s in out if isinstance(s, (IndexOp, Load, Store)) for x in _index_names(unit, s)}
    return body if indices & names.keys() else out


def _index_names(unit: Unit, s: IndexOp | Load | Store) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", unit.dim(s.value if isinstance(s, IndexOp) else s.offset))


def may_alias(unit: Unit, a: str, b: str) -> bool:
    """Can two buffers, private ones included, share memory?"""
    return unit.may_alias(a, b) if a in unit.buffers and b in unit.buffers else a == b
