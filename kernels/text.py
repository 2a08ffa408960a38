"""Reads `cpp/*.h` and selects snippets. In: a set of names. Out: C++ text in dependency order. Never runs a compiler.

A snippet starts at a line `//@ labels < needs`: the labels it defines and those it needs, comma-separated; either may be
`name` or `name:types`, where types are joined by `+` and may be a group (`ints`, `floats`, ...). The `types` file is always
part of the text.
"""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np

CTYPES: dict[str, str] = {
    "bool": "npc_bool",
    "i8": "npc_i8",
    "i16": "npc_i16",
    "i32": "npc_i32",
    "i64": "npc_i64",
    "u8": "npc_u8",
    "u16": "npc_u16",
    "u32": "npc_u32",
    "u64": "npc_u64",
    "f16": "npc_f16",
    "f32": "float",
    "f64": "double",
    "c64": "npc_c64",
    "c128": "npc_c128",
}
"""C++ type by short dtype name."""

RANGED = frozenset({"sin", "cos", "tan", "fmod", "mod", "floordiv"})
"""Prims P whose `npc_P` is right everywhere but keeps a loop from being vectorised: there are also `npc_near_P`, which
vectorises and is undefined where `npc_far_P(args)` is nonzero (an unsigned of the width of the arguments, to be gathered by
`|`). For float32 and float64; float16, integers and Python numbers have no such pair."""

_GROUPS = {
    "signed": ("i8", "i16", "i32", "i64"),
    "unsigned": ("u8", "u16", "u32", "u64"),
    "ints": ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"),
    "floats": ("f32", "f64"),
    "complex": ("c64", "c128"),
}
_ROOT = os.path.join(os.path.dirname(__file__), "cpp")


def short(dtype: np.dtype | type | str) -> str:
    """The short name of a dtype: "bool", "i32", "f64", "c128", ..."""
    dt = np.dtype(dtype)
    return "bool" if dt.kind == "b" else f"{dt.kind}{dt.itemsize * 8}"


def ctype(dtype: np.dtype | type | str) -> str:
    """The C++ type that holds one element of this dtype."""
    return CTYPES[short(dtype)]


class _Snippet:
    """One piece of text with what it needs."""

    __slots__ = ("body", "needs", "order")

    def __init__(self, order: int, needs: tuple[str, ...], body: str) -> None:
        self.order = order
        self.needs = needs
        self.body = body


def _labels(spec: str) -> tuple[str, ...]:
    """Expand `a:f32+f64, b` into ("a:f32", "a:f64", "b")."""
    out: list[str] = []
    for part in spec.replace(",", " ").split():
        name, _, types = part.partition(":")
        if not types:
            out.append(name)
            continue
        for t in types.split("+"):
            out.extend(f"{name}:{x}" for x in _GROUPS.get(t, (t,)))
    return tuple(out)


@lru_cache(maxsize=1)
def _library() -> tuple[str, dict[str, list[_Snippet]]]:
    """The base text and the snippets by label (a bare prim name lists all its overloads)."""
    base = ""
    index: dict[str, list[_Snippet]] = {}
    order = 0
    for name in sorted(os.listdir(_ROOT)):
        if not name.endswith(".h") or name == "abi.h":
            continue
        with open(os.path.join(_ROOT, name), encoding="utf-8") as f:
            head, *pieces = f.read().split("\n//@ ")
        if name == "types.h":
            base = head + "\n"
        for piece in pieces:
            line, _, body = piece.partition("\n")
            defines, _, needs = line.partition("<")
            snippet = _Snippet(order, _labels(needs), body.rstrip() + "\n")
            order += 1
            for label in _labels(defines):
                index.setdefault(label, []).append(snippet)
                prim, _, type_ = label.partition(":")
                if not type_:
                    index.setdefault(prim + ":*", []).append(snippet)
                elif snippet not in index.setdefault(prim, []):
                    index[prim].append(snippet)
    return base, index


def available(name: str) -> bool:
    """Is there text for this prim or overload?"""
    index = _library()[1]
    return name in index or name.partition(":")[0] + ":*" in index


def text(names: set[str]) -> str:
    """Type definitions plus the snippets that `names` need, each once, definitions before uses.

    A snippet without types serves every type. `NPC_NUMPY` is the installed NumPy, 205 for 2.5. Raises `KeyError` for a name that
    no snippet defines.
    """
    base, index = _library()
    done: set[int] = set()
    major, minor = np.__version__.split(".")[:2]
    parts = [f"#define NPC_NUMPY {int(major) * 100 + int(minor)}\n", base]

    def visit(label: str) -> None:
        for snippet in index.get(label) or index[label.partition(":")[0] + ":*"]:
            if snippet.order not in done:
                done.add(snippet.order)
                for need in snippet.needs:
                    visit(need)
                parts.append(snippet.body)

    for name in sorted(names):
        visit(name)
    return "".join(parts)
