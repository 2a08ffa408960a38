"""Rows of the operations table through Triton's interpreter, with the tolerances of the C++ back end (sums: in another order).

A call may be declined only for what devices do not do: complex numbers, scans, products, and what NumPy is called for.
"""

import os
from collections import Counter

import pytest
import triton_harness  # noqa: F401  (skips without Triton)
from devices import need_interpreter
from operation_batches import batch, compile_together, scale, tolerance
from operations import ROWS

from npcompile.testing import compare_outcomes, observe

need_interpreter()

STEP = int(os.environ.get("NPCOMPILE_OPERATIONS_STEP", "9"))
"""Every how many rows one is tried; 1 takes many minutes."""

SIZE = 12
CHOSEN = [r for r in ROWS if not r.refuses and r.dtypes not in ("FD", "F", "D")][::STEP]
BATCHES = [CHOSEN[k : k + SIZE] for k in range(0, len(CHOSEN), SIZE)]
seen: Counter[str] = Counter()


def fault(c):
    """How a call differs from NumPy's; what ran where is counted."""
    got = observe(c.jitted, c.args)
    kind = "sum" if c.row.tolerance in ("order", "sum") else tolerance(c)
    text = compare_outcomes(c.expected, got, kind, scale(c), False)
    if text:
        return text
    declined = [r.declined for r in c.jitted.stats._state.records if r.declined]
    seen["compiled" if c.jitted.stats.hits else "declined"] += 1
    if declined and not declined[0].startswith(("no-triton", "nothing to compile")):
        return f"declined: {declined[0][:1000]}"
    return None


@pytest.mark.parametrize("rows", BATCHES, ids=lambda rows: rows[0].name)
def test_rows(rows):
    cases = batch(list(rows), "triton")
    compile_together(cases)
    faults = [f"{c}: {text}" for c in cases if (text := fault(c)) is not None]
    assert not faults, "\n".join([str(len(faults)), *faults])
    assert seen["compiled"] * 2 > seen["declined"]
