"""Runs programs of the fuzzer plainly and compiled, and says how they differ."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator

from fuzzer import Program, tolerance_of

import npcompile
from npcompile.testing import Outcome, compare_calls, observe, precompile


def check(p: Program, through: str = "cpp", warnings: bool = True) -> str | None:
    """None, or how the compiled function differs from the plain one."""
    return next(check_all([p], through, warnings))[1]


def check_all(
    programs: Iterable[Program], through: str = "cpp", warnings: bool = True, seen: Counter[str] | None = None
) -> Iterator[tuple[Program, str | None]]:
    """Every program with how it differs. Their C++ is compiled together; the second call has other values in its arrays.

    seen : counts the programs that ran compiled throughout, that left compiled code early, and that ran plain.
    """
    backend = None if through == "cpp" else through
    pairs = [(p, npcompile.jit(p.function(), backend=backend, options={"compile": "first"})) for p in programs]
    if backend is None and len(pairs) > 1:
        with contextlib.suppress(Exception):  # the program to blame says so when it is called
            precompile((jitted, p.arguments()) for p, jitted in pairs)
    for p, jitted in pairs:
        yield p, difference(p, jitted, warnings and not (through == "reference" and _multiplies(p)))
        if seen is not None:
            traces = [r.trace for r in jitted.stats._state.records if r.trace is not None and r.entry is not None]
            seen["plain" if not traces else "left early" if any(t.breaks for t in traces) else "compiled"] += 1


def difference(p: Program, jitted: object, warnings: bool) -> str | None:
    plain = p.function()
    for variant in (0, 1):
        args = p.arguments(variant)
        classes = [tolerance_of(p.source + str(p.arg_texts)), *(["single"] if _widens(p) else [])]
        for name in classes:
            text = compare_calls(plain, jitted, args, name, scale=10.0, warnings=warnings)
            if not text:
                break
        if text and not _unspecified(p, observe(plain, args)):
            return f"call {variant}: {text}"
    return None


def _widens(p: Program) -> bool:
    """May errors of a float32 show in a float64?"""
    text = p.source + str(p.arg_texts)
    narrow = ("'f4'", "'f2'", "'c8'", "float32", "float16", "'i1'", "'u1'", "'i2'", "'u2'", "'?'", "int8", "int16", "bool")
    return tolerance_of(text) != "exact" and any(t in text for t in narrow)


def _multiplies(p: Program) -> bool:
    """Products of matrices: the executor's operands are copies, for which BLAS meets other conditions on the way."""
    return tolerance_of(p.source) == "contraction"


def _unspecified(p: Program, plain: Outcome) -> bool:
    """Does a value depend on what differs from one processor's NumPy to another's?

    How floats are cast that a wide unsigned integer cannot hold is undefined in C; NumPy warns, and its vector body and scalar
    tail give different values. (The narrower and the signed types are cast in one way everywhere.) And functions that make a
    NaN do not say with which sign.
    """
    if any(t in p.source for t in ("signbit", "copysign")) and any(text.startswith("invalid") for _, text, _ in plain.warnings):
        return True
    wide = any(t in p.source + str(p.arg_texts) for t in ("'u4'", "'u8'", "uint32", "uint64"))
    return wide and any(text == "invalid value encountered in cast" for _, text, _ in plain.warnings)
