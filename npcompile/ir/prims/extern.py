"""Rows that call Python: NumPy's own functions and user callables, on owned arrays.

extern_numpy {function: dotted name, types: output types, kwargs: sorted (name, value) pairs}: a pure function of its inputs,
which NumPy or the library of the segment's arrays executes.
extern_py {function: dotted name, types, kwargs}: anything; ordered with every other effect. Both may take memory states,
which they hand through: one more output for each.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..prim import Prim, register
from ..types import MemType, TensorType, Type
from ._rules import Params


def resolve(name: str) -> Any:
    """The object with this dotted name."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            out: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            out = getattr(out, part)
        return out
    raise TypeError(f"no function {name!r}")


def _extern_rule(ins: tuple[Type, ...], params: Params) -> tuple[Type, ...]:
    if not isinstance(params["function"], str):
        raise TypeError(f"takes the dotted name of a function, got {params['function']!r}")
    mems = tuple(t for t in ins if isinstance(t, MemType))
    return (*params["types"], *mems)


def _extern(ins: tuple[Any, ...], params: Params) -> tuple[Any, ...]:
    args = [x for x in ins if x is not None]
    out = resolve(params["function"])(*args, **dict(params.get("kwargs", ())))
    outs = tuple(out) if isinstance(out, (tuple, list)) else () if out is None and not params["types"] else (out,)
    if len(outs) != len(params["types"]):
        raise TypeError(f"{params['function']} returned {len(outs)} values, not {len(params['types'])}")
    arrays = tuple(np.asarray(o, t.dtype) if isinstance(t, TensorType) else o for o, t in zip(outs, params["types"]))
    return (*arrays, *(None for x in ins if x is None))


for _name, _effect in (("extern_numpy", False), ("extern_py", True)):
    register(
        Prim(
            name=_name,
            group="extern",
            type_rule=_extern_rule,
            numpy=_extern,
            loop="opaque",
            cost="extern",
            effect=_effect,
        )
    )
