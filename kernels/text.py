"""Reads `cpp/*.h` and selects snippets. In: a set of names. Out: C++ text in dependency order. Never runs a compiler.

A snippet starts at a line `//@ labels < needs`: the labels it defines and those it needs, comma-separated; either may be
`name` or `name:types`, where types are joined by `+` and may be a group (`ints`, `floats`, ...). The `types` file is always
part of the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache, lru_cache

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

    def __init__(self, order: int, needs: str, body: str) -> None:
        self.order = order
        self.needs = needs
        self.body = body


def _parts(spec: str) -> Iterator[tuple[str, str]]:
    """`a:f32+ints, b` as ("a", "f32+ints"), ("b", "")."""
    for part in spec.replace(",", " ").split():
        name, _, types = part.partition(":")
        yield name, types


def _types(text: str) -> tuple[str, ...]:
    """`f32+ints` as single types."""
    return tuple(x for t in text.split("+") for x in _GROUPS.get(t, (t,)))


@lru_cache(maxsize=1)
def _library() -> tuple[str, dict[str, list[tuple[str, _Snippet]]]]:
    """The base text and, by name, the snippets that define it, each with the types that it serves ("": all)."""
    base = ""
    index: dict[str, list[tuple[str, _Snippet]]] = {}
    order = 0
    for file in sorted(os.listdir(_ROOT)):
        if not file.endswith(".h") or file == "abi.h":
            continue
        with open(os.path.join(_ROOT, file), encoding="utf-8") as f:
            head, *pieces = f.read().split("\n//@ ")
        if file == "types.h":
            base = head + "\n"
        for piece in pieces:
            line, _, body = piece.partition("\n")
            defines, _, needs = line.partition("<")
            snippet = _Snippet(order, needs, body)
            order += 1
            for name, types in _parts(defines):
                index.setdefault(name, []).append((types, snippet))
    return base, index


def numpy_version() -> int:
    """The installed NumPy, 205 for 2.5: the text of a few functions follows it."""
    major, minor = np.__version__.split(".")[:2]
    return int(major) * 100 + int(minor)


@cache
def _defining(label: str) -> tuple[_Snippet, ...]:
    """The snippets of a prim, or of its overload for one type (else those that serve every type)."""
    name, _, type_ = label.partition(":")
    found = _library()[1].get(name, [])
    if not type_:
        return tuple(s for _, s in found)
    return tuple(s for types, s in found if type_ in _types(types)) or tuple(s for types, s in found if not types)


def available(name: str) -> bool:
    """Is there text for this prim or overload?"""
    return bool(_defining(name))


def labels() -> set[str]:
    """All that `text` can be asked for: `name`, and `name:type` where there are overloads."""
    found = {(name, types) for name, entries in _library()[1].items() for types, _ in entries}
    return {name for name, _ in found} | {f"{name}:{t}" for name, types in found if types for t in _types(types)}


def text(names: set[str]) -> str:
    """Type definitions plus the snippets that `names` need, each once, definitions before uses.

    A snippet without types serves every type. `NPC_NUMPY` is `numpy_version()`. Raises `KeyError` for a name that no snippet
    defines.
    """
    done: set[int] = set()
    parts = [f"#define NPC_NUMPY {numpy_version()}\n", _library()[0]]

    def visit(label: str) -> None:
        if not available(label):
            raise KeyError(label)
        for snippet in _defining(label):
            if snippet.order not in done:
                done.add(snippet.order)
                for name, types in _parts(snippet.needs):
                    for need in (f"{name}:{t}" for t in _types(types)) if types else (name,):
                        visit(need)
                parts.append(snippet.body.rstrip() + "\n")

    for name in sorted(names):
        visit(name)
    return "".join(parts)
