"""Rows with regions, and exits. Their reference implementation is the executor itself.

Tensors that pass a region's border are packed there by their layout: their types have no strides.

loop(start, stop, step, *carried) {leaves} region(i, *carried) -> *carried: i64 bounds, Python's range semantics. With
    `leaves` the region's first result is a bool: true ends the loop after this turn, whose other results count
cond(c, *inputs) {types} regions then(*inputs), else(*inputs) -> values of those types
call(*inputs) {types} region(*inputs) -> values of those types
exit_if(c, *captures, *mems) {exit} and exit(*captures, *mems) {exit}
poll() -> bool: does a signal wait to be handled? Looked up about every millisecond, False otherwise
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..prim import Prim, register
from ..types import TensorType, Type
from ._rules import B1, BOOL, I64, INT64, Params, TypeRule, int_attr, scalar_inputs


def carried(types: Sequence[Type]) -> tuple[Type, ...]:
    """Types of values inside (or after) a region, given their types outside."""
    return tuple(TensorType(t.dtype, t.dims, t.layout) if isinstance(t, TensorType) and t.strides else t for t in types)


def leaves(params: Params) -> bool:
    """Does the region of such a `loop` say whether to go on?"""
    return bool(params.get("leaves", False))


def _loop_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    scalar_inputs(ins[:3], (INT64,) * 3)
    return carried(ins[3:])


def _cond_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    scalar_inputs(ins[:1], (BOOL,))
    return carried(params["types"])


def _call_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    return carried(params["types"])


def _exit_if_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    scalar_inputs(ins[:1], (BOOL,))
    int_attr(params, "exit")
    return ()


def _exit_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    int_attr(params, "exit")
    return ()


def region_types(prim: str, ins: Sequence[Type], outs: Sequence[Type], params: Params) -> list[tuple[list[Type], list[Type]]]:
    """Param and result types that each region of such a node has."""
    inside = list(carried(ins))
    if prim == "loop":
        return [([I64, *inside[3:]], [B1] * leaves(params) + list(outs))]
    if prim == "cond":
        return [(inside[1:], list(outs))] * 2
    if prim == "call":
        return [(inside, list(outs))]
    return []


def by_executor(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    raise TypeError("control flow is run by npcompile.ir.executor")


def _row(name: str, rule: TypeRule, regions: int) -> None:
    register(
        Prim(
            name=name,
            group="control",
            type_rule=rule,
            numpy=by_executor,
            loop="control",
            cost="extern",
            effect=True,
            flags=frozenset({f"regions:{regions}"}),
        )
    )


_row("loop", _loop_rule, 1)
_row("cond", _cond_rule, 2)
_row("call", _call_rule, 1)
_row("exit_if", _exit_if_rule, 0)
_row("exit", _exit_rule, 0)

register(
    Prim(
        name="poll",
        group="control",
        type_rule=lambda ins, params: (B1,),
        numpy=lambda ins, params: (np.asarray(False),),
        loop="control",
        cost="free",
        effect=True,
    )
)
