"""split, array_split, hsplit, vsplit, dsplit, unstack against NumPy: views in lists and tuples, without a break."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_outcomes, observe

X, Y, Z = np.arange(24.0).reshape(6, 4), np.arange(7), np.arange(24.0).reshape(2, 3, 4)
CASES = {
    "np.split(a, 3)": X,
    "np.split(a, 2, axis=1)": X,
    "np.split(a, 2, -1)": X,
    "np.split(a, [2, 5])": Y,
    "np.split(a, (-3, 2, 20))": Y,
    "np.split(a, [])": Y,
    "np.array_split(a, 3)": Y,
    "np.array_split(a, 9)": Y,
    "np.array_split(a, 5, axis=-1)": X,
    "np.hsplit(a, 2)": X,
    "np.hsplit(a, 7)": Y,
    "np.vsplit(a, (1, 3))": X,
    "np.dsplit(a, 2)": Z,
    "[p.sum() for p in np.split(a, 3)]": X,
    "np.concatenate(np.array_split(a, 4)[::-1])": Y,
    "np.linalg.diagonal(a)": Z,
    "np.linalg.diagonal(a, offset=-1) * 2": Z,
    "np.linalg.matrix_transpose(a)": Z,
}
if hasattr(np, "unstack"):
    CASES |= {"np.unstack(a)": X, "np.unstack(a, axis=-1)": Z, "sum(np.unstack(a, axis=1))": Z}
WRONG = """
np.split(a, 5)
np.split(a, 0)
np.split(a, 1.5)
np.split(a, 2, axis=3)
np.array_split(a, -1)
np.dsplit(a, 2)
"""


def function(text):
    return eval(f"lambda a: {text}", {"np": np})


@pytest.mark.parametrize("text", CASES)
def test_parts(text):
    a, fn = CASES[text], function(text)
    jitted = npcompile.jit(fn)
    for x in (a, a[::-1], np.asfortranarray(a), a.astype("f4"), a[..., ::1].copy()):
        assert compare_outcomes(observe(fn, (x,)), observe(jitted, (x,))) is None
    report = npcompile.explain(fn, a)
    assert report.graph_breaks == [] and len(report.segments) == 1


@pytest.mark.parametrize("text", WRONG.split("\n")[1:-1])
def test_wrong_parts_raise_as_numpy_does(text):
    fn = function(text)
    jitted = npcompile.jit(fn)
    for _ in range(2):
        assert compare_outcomes(observe(fn, (X,)), observe(jitted, (X,))) is None


def test_parts_are_views():
    def store(a):
        first, second = np.split(a, 2)
        first[:] = second + 1
        return first

    assert compare_outcomes(observe(store, (X,)), observe(npcompile.jit(store), (X,))) is None
    assert npcompile.explain(store, X.copy()).graph_breaks == []
