"""Runs rows of the operations table: functions from rows, many calls compiled in one run of the C++ compiler, comparison.

In: rows and draws. Out: one line for each difference. A row that is not compiled as a whole is a difference, too.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from operation_operands import Draw, operands
from operations import Row

import npcompile
from npcompile.testing import Outcome, compare_outcomes, observe, precompile

SEED = int(os.environ.get("NPCOMPILE_OPERATIONS_SEED", "0"))
"""Another seed chooses other operands."""

OLD_BUFFERS = np.lib.NumpyVersion(np.__version__) < "2.3.0"
"""Did NumPy's iterator copy other numbers of elements at a time?"""


def function(row: Row) -> FunctionType:
    """The row's text as a function of its operands."""
    lines = (
        [part.strip() if ":" not in part else part for part in row.text.split("; ")]
        if "\n" not in row.text
        else row.text.split("\n")
    )
    one = len(lines) == 1 and not _is_statement(lines[0])
    body = "".join(f"    {'return ' * one}{line}\n" for line in lines)
    scope: dict[str, Any] = {"np": np}
    exec(compile(f"def f({', '.join(row.operands)}):\n{body}", f"<{row.name}>", "exec"), scope)
    return scope["f"]


def _is_statement(text: str) -> bool:
    try:
        compile(text, "", "eval")
    except SyntaxError:
        return True
    return False


@dataclass
class Case:
    """One call: of a row's function, plain and jitted."""

    row: Row
    plain: FunctionType
    jitted: Any
    args: list[Any]
    expected: Outcome

    def __str__(self) -> str:
        return f"{self.row.name} [{self.row.text!r}] of {', '.join(map(describe, self.args))}"


def describe(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}" + ("" if x.flags.c_contiguous else f" strides {list(x.strides)}")
    return f"{type(x).__name__} {x!r}"


def case(row: Row, draw: Draw, backend: str) -> Case:
    plain = function(row)
    args = operands(row, draw)
    return Case(row, plain, npcompile.jit(plain, backend=backend), args, observe(plain, args))


def batch(rows: list[Row], backend: str = "cpp") -> list[Case]:
    """All variants of rows."""
    return [case(row, Draw(f"{SEED} {row.name} {k}"), backend) for row in rows for k in range(row.variants)]


def compile_together(cases: list[Case]) -> None:
    precompile((c.jitted, c.args) for c in cases)


def fault(c: Case) -> str | None:
    """How a call differs from NumPy's, in values or in not being compiled."""
    got = observe(c.jitted, c.args)
    text = compare_outcomes(c.expected, got, tolerance(c), scale(c), c.row.warns)
    return text or None if c.row.refuses else text or uncompiled(c)


def uncompiled(c: Case) -> str | None:
    """Why a call is not wholly compiled; NumPy's exceptions and the warnings of its Python code are left to Python."""
    if c.expected.error is not None or any("encountered in" not in w[1] for w in c.expected.warnings):
        return None
    records = c.jitted.stats._state.records
    breaks = [f"[{b.reason}] {b.detail}" for r in records if r.trace is not None for b in r.trace.breaks]
    if breaks:
        return f"breaks: {'; '.join(breaks)}"
    declined = [r.declined for r in records if r.declined]
    if declined:
        return None if declined == ["nothing to compile"] else f"declined: {declined[0][:2000]}"
    if not c.jitted.stats.hits or c.jitted.stats.plain_calls:
        return f"not answered by compiled code: {c.jitted.stats!r}"
    return None


def tolerance(c: Case) -> str:
    if c.row.tolerance != "order":
        return c.row.tolerance
    a = c.args[0]
    one_axis = a.ndim <= 1 or ("axis=" in c.row.text and "axis=(" not in c.row.text and "axis=None" not in c.row.text)
    whole = (a.flags.forc or not OLD_BUFFERS) and "axis" not in c.row.text
    return "exact" if one_axis or whole else "sum"


def scale(c: Case) -> float:
    """Magnitude of what is added up."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        sizes = [np.abs(x[np.isfinite(x)].astype("c16")).sum() for x in map(np.asarray, c.args) if x.dtype.kind in "biufc"]
    return float(max(sizes, default=1.0))
