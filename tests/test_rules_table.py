"""The rule tables name real things: methods that arrays and scalars have, parameters that NumPy's functions have."""

import inspect

import numpy as np
import pytest

from npcompile.frontends.numpy import registry


def test_methods_and_attributes_exist():
    registry.load()
    for kind, owner in (("array", np.ndarray), ("scalar", np.float64)):
        tables = registry.NUMPY._methods, registry.NUMPY._attributes
        missing = [n for table in tables for n in table[kind] if not hasattr(owner, n)]
        assert not missing, f"{kind} has no {missing}"


def python_functions():
    registry.load()
    out = []
    for f in registry.all_rules():
        f = inspect.unwrap(f) if callable(f) and hasattr(f, "__wrapped__") else f
        if inspect.isfunction(f):
            out.append(f)
    return sorted(set(out), key=lambda f: f.__name__)


@pytest.mark.parametrize("function", python_functions(), ids=lambda f: f.__name__)
def test_parameters_are_numpys(function):
    """Same parameter names, kinds and order as in NumPy (versions may lack the last ones)."""
    rules = {inspect.unwrap(k) if hasattr(k, "__wrapped__") else k: v for k, v in registry.all_rules().items()}
    theirs = list(inspect.signature(function).parameters.values())
    ours = list(inspect.signature(rules[function]).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in theirs):
        ours, theirs = ([p for p in ps if p.kind is not p.VAR_KEYWORD] for ps in (ours, theirs))
    if [p.kind for p in ours] == [inspect.Parameter.VAR_POSITIONAL]:
        return
    for mine, real in zip(ours, theirs, strict=False):
        variadic = real.kind is real.VAR_POSITIONAL
        keyword_able = not variadic and real.kind is not real.POSITIONAL_ONLY and mine.kind is not mine.POSITIONAL_ONLY
        assert not keyword_able or mine.name == real.name, f"{mine.name} is {real.name} in NumPy"
        assert (mine.kind is mine.KEYWORD_ONLY) == (real.kind is real.KEYWORD_ONLY), mine.name
    assert len(ours) <= len(theirs)
