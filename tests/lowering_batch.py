"""Many graphs in few translation units: compiles lowered segments together, so that thousands of cases stay minutes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from pathlib import Path

from lowering_harness import _DIR, _UNITS
from npcompile.lowering import Lowered, compile_unit


def compile_together(lows: Iterable[Lowered], size: int = 30) -> None:
    """Compile what is not compiled yet; `lowering_harness.library` then finds it."""
    todo = list({low.symbol: low for low in lows if low.symbol not in _UNITS}.values())
    for k in range(0, len(todo), size):
        part = todo[k : k + size]
        source = "\n".join(f"namespace u{i} {{\n{low.source}\n}}" for i, low in enumerate(part))
        lib = ctypes.CDLL(str(compile_unit(source, Path(_DIR.name), f"batch_{part[0].symbol}")))
        for low in part:
            _UNITS[low.symbol] = lib
