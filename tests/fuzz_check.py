"""Runs one program of the fuzzer plainly and compiled, and says how they differ."""

from __future__ import annotations

from fuzzer import Program, tolerance_of

import npcompile
from npcompile.testing import compare_calls


def check(p: Program, through: str = "cpp", warnings: bool = True) -> str | None:
    """None, or how the compiled function differs from the plain one. The second call has other values in its arrays."""
    plain, fn = p.function(), p.function()
    backend = "reference" if through == "reference" else None
    jitted = npcompile.jit(fn, backend=backend, options={"compile": "first"})
    for variant in (0, 1):
        text = compare_calls(plain, jitted, p.arguments(variant), tolerance_of(p.source), scale=10.0, warnings=warnings)
        if text:
            return f"call {variant}: {text}"
    return None
