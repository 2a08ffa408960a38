"""Arguments that NumPy refuses or reads in a way of its own: 0-d arrays with an axis, numbers for sequences, explicit None."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls

CALLS = {
    "np.cumsum(x, axis=1)": 3.0,
    "np.cumprod(x, axis=0)": np.array(3),
    "np.nancumsum(x, axis=(0,))": 2.0,
    "np.nancumprod(x, axis=-2)": np.array(2.5),
    "x.cumsum(axis=2)": np.array(2.5),
    "np.indices(x)": 3,
    "np.indices((x, 2))": 3,
    "np.indices(x, sparse=True)": np.array([2, 3]),
    "np.rollaxis([[1, 2], [3, 4]], x)": 1,
    "np.rollaxis(x, 1)": np.ones((2, 3)),
    "np.diff(x, n=0, prepend=1.0)": np.arange(3.0),
    "np.diff(x, n=0)": np.arange(3.0),
    "np.diff(x, n=1, append=[5.0])": np.arange(3.0),
    "np.full_like(x, 2, order='F', shape=(2, 3))": 1.0,
    "np.zeros_like(3, dtype='f4', order='F', shape=x)": (2, 3),
    "np.ones_like(x, order='A', shape=(2, 3))": np.float32(1.0),
    "x.view(None)": np.arange(8, dtype="u1"),
    "x.view()": np.arange(8, dtype="u1"),
    "x.view(type=None)": np.arange(8.0),
    "np.fft.fftn(x)": np.array(2),
    "np.polydiv(x, np.ones((3, 4), 'u1'))": np.arange(1.0, 4.0),
    "np.polydiv(x, np.zeros(2))": np.arange(1.0, 4.0),
    "np.histogram(np.arange(4.0), bins=x)[1] is x": np.array([0.0, 1.0, 5.0]),
    "np.histogram(np.arange(4.0), bins=x)": np.array([0.0, 1.0, 5.0]),
    "np.histogram(x + 1, bins=x.reshape(-1)[::2])": np.arange(7.0),
    "np.linalg.matrix_power(x, 1)": np.eye(2),
    "np.clip(np.ones(3, 'f4'), x, 100)": 1e300,
    "np.clip(np.ones(3, 'f4'), None, x)": -1e300,
    "np.ones(3, 'f2').clip(x)": 1e300,
    "np.clip(np.ones(3, 'f4'), 0.5, x)": 0.75,
    "np.polydiv(np.arange(3), x)": np.array([0, 0, 3]),
}


@pytest.mark.parametrize("backend", ["cpp", "reference"])
@pytest.mark.parametrize("text", CALLS)
def test_calls(text, backend):
    space = {"np": np}
    exec(f"def f(x):\n    return {text}", space)
    fn = npcompile.jit(space["f"], options={"compile": "first", "backend": backend})
    for _ in range(2):
        assert compare_calls(space["f"], fn, (CALLS[text],), "ulp") is None
