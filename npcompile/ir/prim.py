"""The row type of the prim table and its registry. Rows live in `npcompile/ir/prims/`, one file a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from npcompile.records import dataclass, field

from .types import Type

LoopRule = Literal["pointwise", "index_map", "reduce", "memory", "control", "opaque"]
Cost = Literal["free", "cheap", "expensive", "extern"]


@dataclass(frozen=True)
class Prim:
    """Everything about one primitive.

    name : unique name.
    group : "unary", "binary", "select", "create", "index_map", "reduce", "memory", "control", "linalg", "extern".
    type_rule : (input types, params) -> output types; raises `TypeError` on misuse. Prims never promote nor broadcast.
    numpy : (input values, params) -> tuple of output values; the reference implementation on plain NumPy.
    ufunc : name of the ufunc of NumPy that it is, "" if it is none; its loops are asked for the conditions they meet.
    vjp : reverse-mode rule, or the marker "later".
    loop : how lowering treats it.
    cost : what recomputing one element costs.
    cpp, triton : expression templates over {0}, {1}, ...; {T} is the type of the output, {params...} static params.
        None is allowed only for loop rules other than "pointwise". triton may be `HOST`.
    flags : "defines_symbol": param `sym` is defined by the node; "regions:n".
    conditions : floating-point conditions it can raise, by the dtype kind of the first operand: subsets of ("divide",
        "overflow", "underflow", "invalid"). Signalling NaNs do not count.
    scalars_warn : last operands at which NumPy's scalars warn otherwise than its arrays do: dtype characters, and values.
    commutative : swapping real operands gives the same bits (NaNs and complex infinities of complex operands may differ).
    effect : reads or writes memory or leaves the segment; never removed, merged or moved across another effect.
    """

    name: str
    group: str
    type_rule: Callable[[tuple[Type, ...], Mapping[str, Any]], tuple[Type, ...]]
    numpy: Callable[..., Any]
    loop: LoopRule
    cost: Cost
    ufunc: str = ""
    vjp: Callable[..., Any] | Literal["later"] = "later"
    cpp: str | None = None
    triton: str | None = None
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scalars_warn: tuple[tuple[str, tuple[float, ...]], ...] = ()
    commutative: bool = False
    effect: bool = False
    flags: frozenset[str] = field(default_factory=frozenset)

    @property
    def reports(self) -> tuple[str, ...]:
        """Conditions for operands of any dtype."""
        return tuple(dict.fromkeys(c for cs in self.conditions.values() for c in cs))


HOST = "host"
"""In place of a device's expression: takes and gives Python numbers, so only the host program evaluates it."""

CONDITIONS = {"d": "divide", "o": "overflow", "u": "underflow", "i": "invalid"}


def conditions_of(text: str) -> dict[str, tuple[str, ...]]:
    """ "f:do c:oi" reads: divide and overflow for float operands, overflow and invalid for complex ones."""
    return {part[0]: tuple(CONDITIONS[c] for c in part[2:]) for part in text.split()}


PRIMS: dict[str, Prim] = {}
"""The prim table; filled by importing `npcompile.ir.prims`."""


def register(prim: Prim) -> Prim:
    """Add a row; a second row of the same name is an error."""
    if prim.name in PRIMS:
        raise ValueError(f"prim {prim.name!r} is already in the table")
    PRIMS[prim.name] = prim
    return prim
