"""The loop programs of the benchmarks: each is one segment without a break, with plain Python's results."""

import sys
from pathlib import Path

import numpy as np
import pytest

import npcompile
from npcompile.testing import difference

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from loop_programs import PROGRAMS
from loop_variants import PROGRAMS as OTHERS

TOLERANCE = {"HMM forward": "ulp", "Vincenty": "ulp", "LU": "contraction", "Cholesky": "contraction", "Durbin": "contraction"}


@pytest.mark.parametrize("p", [*PROGRAMS, *OTHERS], ids=[p.name for p in [*PROGRAMS, *OTHERS]])
def test_loop_program(p):
    args, own = p.args(p.small), p.args(p.small)
    np.random.seed(1)
    want = p.fn(*args)
    np.random.seed(1)
    report = npcompile.explain(p.fn, *own)
    assert len(report.segments) == 1 and report.graph_breaks == [] and report.backend == "C++", str(report)
    assert report.allocations_in_loops == 0
    tolerance = TOLERANCE.get(p.name, "exact")
    assert difference(want, report.result, tolerance, 1.0) is None
    for a, b in zip(args, own):
        assert difference(a, b, tolerance, 1.0) is None
