"""Random programs, a few in every run of the suite; `python tests/fuzzer.py --count N` runs as many as one likes."""

import numpy as np
import pytest
from fuzz_check import check, check_all
from fuzzer import program

from npcompile import jit
from npcompile.testing import precompile


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_programs_through_the_reference_executor(first):
    for seed in range(first, first + 20):
        p = program(seed, loops=seed % 2 == 1)
        text = check(p, "reference")
        assert text is None, f"seed {seed}: {text}\n{p.source}{p.arg_texts}"


def test_programs_through_cpp():
    for p, text in check_all([program(seed, loops=seed % 2 == 1) for seed in range(10_000, 10_040)]):
        assert text is None, f"seed {p.seed}: {text}\n{p.source}{p.arg_texts}"


def test_precompiled_units_are_found():
    pairs = [(jit(f, options={"compile": "first"}), (np.arange(3.0),)) for f in (lambda a: a * 1.25 + 7, lambda a: a - 17.5)]
    precompile(pairs)
    for jitted, args in pairs:
        jitted(*args)
        assert jitted.stats.compiles == jitted.stats.cached == jitted.stats.hits == 1
