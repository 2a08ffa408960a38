"""Random numbers drawn one at a time by generated code itself, where that gives what NumPy gives (see `runtime.draws`).

In: `extern_numpy` nodes that draw one number. Out: host code: the generator's own functions called on its state, and whether
NumPy takes the parameters; if not, nothing is drawn, and Python repeats the call. Never: draws arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.ir.graph import Node
from npcompile.runtime import draws
from npcompile.runtime.draws import Distribution

from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

_ASKED = {
    "any": "__builtin_isfinite({0})",
    "nonnegative": "(__builtin_isfinite({0}) && !__builtin_signbit({0}))",
    "positive": "(__builtin_isfinite({0}) && {0} > 0)",
    "rate": "({0} >= 0 && {0} < 1e18)",
}


def emit_draw(h: Host, node: Node) -> bool:
    """Draw one number; False: it is none, or NumPy must be called."""
    p = node.params
    if p["result"][0] != "out" or p["result"][2] == "array":
        return False
    *owner, name = p["function"].split(".")[2:]
    cls = getattr(np.random, owner[0]) if owner else np.random.RandomState
    how = draws.native(cls, name)
    given = None if how is None else _given(how, p["args"][len(owner) :], dict(p["kwargs"]))
    if how is None or given is None or ttype(node.outputs[1]).dtype != np.dtype(how.result):
        return False
    numbers = [_number(h, node, x) for x in given]
    if any(x is None for x in numbers):
        return False
    _emit(h, node, how, [x for x in numbers if x is not None], draws.CLASSES.index(cls), p["objects"][0] if owner else -1)
    return True


def _given(how: Distribution, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    """The template of each parameter; None for arguments that are no parameters."""
    if len(args) > len(how.params) and any(x != ("const", None) for x in args[len(how.params) :]):
        return None
    found = dict(zip((name for name, *_ in how.params), args)) | {k: v for k, v in kwargs.items() if k != "size"}
    out = [found.pop(name, None if default is None else ("const", default)) for name, default, _ in how.params]
    if how.symbol == "bounded":
        out = [x for x in out if x not in (("const", None), ("const", _params(how)[-1]))]
    return None if found or None in out or (not out and how.params) else out


def _params(how: Distribution) -> list[float | None]:
    return [default for _, default, _ in how.params]


def _number(h: Host, node: Node, x: Any) -> tuple[str, np.dtype] | None:
    """C++ text and dtype of a parameter that is a number."""
    if x[0] == "const" and type(x[1]) in (int, float) and (type(x[1]) is float or -(1 << 63) <= x[1] < 1 << 63):
        return (float(x[1]).hex(), np.dtype(float)) if type(x[1]) is float else (f"({x[1]}ll)", np.dtype(np.int64))
    if x[0] != "in":
        return None
    v = node.inputs[x[1]]
    t = ttype(v)
    return None if t.rank or t.dtype.kind not in "iuf" else (h.scalar(v), t.dtype)


def _emit(h: Host, node: Node, how: Distribution, numbers: list[tuple[str, np.dtype]], cls: int, owner: int) -> None:
    h.flush()
    h.reports.settle(everything=True)
    symbol = "" if how.symbol == "gauss" else f"syms[{h.unit.symbol(draws.symbol(how))}]"
    params = [h.variable(np.dtype(how.result if how.symbol == "bounded" else float), text) for text, _ in numbers]
    h.unit.snippets.add("legacy_gauss" if how.symbol == "gauss" else "draws")
    g = h.unit.fresh("bits")
    h.line(f"npc_bitgen *{g} = (npc_bitgen *)rt->generator(ctx, {cls}, {owner});")
    h.line(f"if (!{g}) return NPC_ERROR;")
    asked = [_ASKED[what].format(x) for x, (_, _, what) in zip(params, how.params)]
    if how.symbol == "bounded":
        low, high = params if len(params) == 2 else ("0ll", params[0])
        asked, text = [f"{low} < {high}"], f"npc_bounded({g}, {symbol}, {low}, {high}, {int(how.masked)})"
    elif how.symbol == "gauss":
        text = f"npc_legacy_gauss({g})"
        text = f"{params[0]} + {params[1]} * {text}" if params else text
    else:
        if how.symbol == "random_uniform":
            params = [params[0], h.variable(np.dtype(float), f"{params[1]} - {params[0]}")]
            asked = [_ASKED["nonnegative"].format(params[1])]
        result = "double" if how.result == "f8" else "npc_i64"
        takes = ", ".join(["npc_bitgen *", *["double"] * len(params)])
        text = f"(({result} (*)({takes})){symbol})({', '.join([g, *params])})"
    done = h.variable(np.dtype(bool), f"(npc_bool)({' && '.join(asked) or '1'})")
    h.scalars[node.outputs[0]] = done
    h.scalars[node.outputs[1]] = h.variable(np.dtype(how.result), f"(bool){done} ? {text} : 0")
    h.note_call()
