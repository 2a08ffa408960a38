"""Every row of the operations table against plain NumPy: by the reference executor over operands that hypothesis chooses, and by
C++ over operands chosen by a seed, a batch of rows in one unit.

NPCOMPILE_OPERATIONS_SEED=n chooses other operands.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operation_batches import batch, case, compile_together, fault
from operation_operands import Asked
from operations import ROWS

SIZE = 24
BATCHES = [ROWS[k : k + SIZE] for k in range(0, len(ROWS), SIZE)]


@pytest.mark.parametrize("rows", BATCHES, ids=lambda rows: rows[0].name)
def test_compiled(rows):
    cases = batch(list(rows))
    compile_together(cases)
    faults = [f"{c}: {text}" for c in cases if (text := fault(c)) is not None]
    assert not faults, "\n".join([str(len(faults)), *faults])


def by_reference(row):
    """How the reference executor differs from NumPy over operands that hypothesis chooses."""

    @settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data):
        c = case(row, Asked(data), "reference")
        text = fault(c)
        assert text is None, f"{c}: {text}"

    try:
        check()
    except AssertionError as e:
        return str(e)
    return None


@pytest.mark.parametrize("rows", BATCHES, ids=lambda rows: rows[0].name)
def test_reference(rows):
    faults = [text for row in rows if (text := by_reference(row)) is not None]
    assert not faults, "\n".join([str(len(faults)), *faults])
