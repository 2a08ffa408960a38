"""Random functions through the tracer, every exit forced in turn, against plain Python."""

import copy

import pytest
from tracer_harness import bound, check
from tracer_programs import arguments, program

from npcompile.tracer import Refused, trace


@pytest.mark.parametrize("block", range(8))
def test_random_functions(block):
    for seed in range(block * 12, block * 12 + 12):
        f, source = program(seed)
        args = arguments(seed)
        try:
            r = trace(f, bound(f, copy.deepcopy(args)))
        except Refused:
            continue
        try:
            check(f, *args, breaks=tuple(b.reason for b in r.breaks), most=12)
        except Exception as e:
            raise AssertionError(f"seed {seed}:\n{source}") from e
