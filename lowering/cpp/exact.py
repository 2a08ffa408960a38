"""Operations and predicates that run only where a condition is suspected: functions of their own, shared by the whole unit.

In: operations of the loop IR. Out: calls, and the functions in `Unit.cold`. An exact run is a sequence of such calls, which costs
the compiler next to nothing. Never: inlined.
"""

from __future__ import annotations

from npcompile.kernels import ctype

from npcompile.ir.prim import PRIMS
from npcompile.records import replace

from ..loop_ir import Op
from ..unit import Unit
from .conditions import rep_text
from .ops import op_text


def mask_call(unit: Unit, s: Op) -> str:
    """The exact mask of an operation whose operands and result are known."""
    params, args, general = _general(s)
    body = f"({', '.join([*params, f'{ctype(s.dtype)} r'])}) {{ return {rep_text(unit, general)}; }}"
    return f"{_function(unit, 'npc_i64', body)}({', '.join([*args, s.name])})"


def exact_call(unit: Unit, s: Op, slot: int | None) -> str:
    """The operation, its conditions noted in `rep[slot]` if there is a slot."""
    if slot is None and PRIMS[s.prim].cost != "expensive":
        return op_text(unit, s)
    params, args, general = _general(s)
    t = ctype(s.dtype)
    if slot is None:
        body = f"({', '.join(params)}) {{ return {op_text(unit, general)}; }}"
        return f"{_function(unit, t, body)}({', '.join(args)})"
    unit.helpers.add("note")
    head = ", ".join([*params, "npc_i64 *rep", "npc_i64 k"])
    body = f"({head}) {{ const {t} r = {op_text(unit, general)}; npc_note(rep, k, {rep_text(unit, general)}); return r; }}"
    return f"{_function(unit, t, body)}({', '.join([*args, 'rep', str(slot)])})"


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
