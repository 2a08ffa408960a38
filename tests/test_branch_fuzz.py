"""Random functions of branches and loops: replayed with every exit forced in turn, and through C++."""

import pytest
from fuzz_branches import by_cpp, by_replay, program


@pytest.mark.parametrize("block", range(6))
def test_replayed(block):
    for seed in range(20 + block * 8, 28 + block * 8):
        told(by_replay, seed)


@pytest.mark.parametrize("block", range(4))
def test_compiled(block):
    for seed in range(1000 + block * 4, 1004 + block * 4):
        told(by_cpp, seed)


@pytest.mark.parametrize("seed", [880496, 1151386, 1152090])
def test_found(seed):
    """Programs that once failed: an open number whose kind before a loop is neither of those in it, an arm that leaves in one
    order of tracing and not in the other."""
    told(by_replay, seed)


def told(run, seed):
    try:
        run(seed)
    except Exception as e:
        raise AssertionError(f"seed {seed}:\n{program(seed)[1]}") from e
