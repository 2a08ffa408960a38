"""Random programs, a few in every run of the suite; `python tests/fuzzer.py --count N` runs as many as one likes."""

import pytest
from fuzz_check import check
from fuzzer import program


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_programs_through_the_reference_executor(first):
    for seed in range(first, first + 20):
        p = program(seed, loops=seed % 2 == 1)
        text = check(p, "reference")
        assert text is None, f"seed {seed}: {text}\n{p.source}{p.arg_texts}"


@pytest.mark.parametrize("first", range(10_000, 10_040, 10))
def test_programs_through_cpp(first):
    for seed in range(first, first + 10):
        p = program(seed, loops=seed % 2 == 1)
        text = check(p, "cpp")
        assert text is None, f"seed {seed}: {text}\n{p.source}{p.arg_texts}"
