"""Reads `triton/*.py` and selects functions. In: a set of names. Out: Python text in dependency order, with the installed NumPy
for `NPC_NUMPY`. Never imports Triton."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from .text import numpy_version

_ROOT = Path(__file__).parent / "triton"


@lru_cache(maxsize=1)
def _library() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Text of every function (its docstring left out), and which other ones it uses."""
    texts: dict[str, str] = {}
    used: dict[str, set[str]] = {}
    for path in sorted(_ROOT.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef):
                used[node.name] = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {node.name}
                if ast.get_docstring(node):
                    del node.body[0]
                texts[node.name] = ast.unparse(node) + "\n"
    return {name: (text, tuple(sorted(used[name] & set(texts)))) for name, text in texts.items()}


def triton_text(names: set[str]) -> str:
    """The functions that `names` need, each once, definitions before uses. Raises `KeyError` for an unknown name."""
    library = _library()
    done: set[str] = set()
    parts: list[str] = []

    def visit(name: str) -> None:
        if name not in done:
            done.add(name)
            text, needs = library[name]
            for need in needs:
                visit(need)
            parts.append(text.replace("NPC_NUMPY", str(numpy_version())))

    for name in sorted(names):
        visit(name)
    return "\n\n".join(parts)
