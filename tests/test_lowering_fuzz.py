"""Random graphs: generated C++ against the reference executor."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from ir_graphs import fresh, programs
from lowering_batch import compile_together
from lowering_harness import Runtime, by_place, reports_of, run, same
from npcompile.lowering import lower

from npcompile.ir.executor import execute


def draw(n, loops, number):
    """`n` random programs."""
    made = []

    @seed(number)
    @settings(max_examples=n, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(programs(loops=loops))
    def collect(m):
        made.append(m)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return made


def close(a, b):
    """The same bits, but for transcendental functions (float32 ones may have gone through a conversion)."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "f":
        same(np.zeros_like(a), np.zeros_like(b))
        np.testing.assert_allclose(a, b, rtol=5e-7, atol=0)
    else:
        same(a, b)


@pytest.mark.parametrize("loops, number", [(False, 11), (True, 12)])
def test_random_graphs(loops, number):
    made = draw(120, loops, number)
    lows = [lower(m.graph, m.spec) for m in made]
    compile_together(lows)
    for m, low in zip(made, lows, strict=True):
        theirs, ours = fresh(m.inputs), fresh(m.inputs)
        with np.errstate(all="ignore"):
            reports = []
            expected = execute(m.graph, m.spec, theirs, reports=reports)
        rt = Runtime([x for x in ours if isinstance(x, np.ndarray)])
        got = run(low, m.graph, m.spec, ours, rt)
        assert by_place(reports_of(low, rt)) == by_place(reports)
        assert got[0] == expected[0]
        for a, b in zip(got[1], expected[1], strict=True):
            close(a, b)
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(a, np.ndarray):
                close(a, b)
