"""Expressions as compiled functions of named operands, compared with plain NumPy."""

import numpy as np

import npcompile
from npcompile.testing import compare_outcomes, observe, precompile


def functions(text, names):
    """A function of these names that returns an expression, plain and compiled at its first call."""
    scope = {"np": np}
    exec(compile(f"def f({', '.join(names)}):\n    return {text}\n", f"<{text}>", "exec"), scope)
    return scope["f"], npcompile.jit(scope["f"], options={"compile": "first"})


def compared(texts, names, argument_sets):
    """For each expression and set of arguments: the text, what plain NumPy did, the compiled function, the arguments, and how two
    compiled calls differed."""
    calls = [(text, *functions(text, names), args) for text in texts for args in argument_sets]
    precompile((jitted, args) for _, _, jitted, args in calls)
    for text, plain, jitted, args in calls:
        expected = observe(plain, args)
        found = [compare_outcomes(expected, observe(jitted, args), "ulp") for _ in range(2)]
        yield text, expected, jitted, args, [f"{text} [{args[0].dtype}, {args[0].size}]: {fault}" for fault in found if fault]
