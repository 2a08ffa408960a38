"""argmax and argmin of rows that are longer than the blocks in which generated code looks for the best element."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 9.0, -9.0)


def rows(n, dtype):
    """Rows with ties across blocks, with NaN (several), infinities, zeros of both signs, and of one value."""
    rng = np.random.default_rng(n)
    x = rng.integers(-9, 10, (40, n)).astype(dtype)
    for row in x[:20]:
        row[rng.integers(0, n, 3)] = rng.choice(SPECIAL, 3)
    for row, value in zip(x[20:27], SPECIAL):
        row[:] = value
    x[27], x[28] = np.where(np.arange(n) % 2, 0.0, -0.0), np.where(np.arange(n) % 2, -0.0, 0.0)
    x[29, -1], x[30, n // 2], x[31, 0] = np.nan, np.nan, np.nan
    x[32:36] = rng.standard_normal((4, n))
    return x


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_places_of_rows(dtype):
    fs = (
        lambda x: (x.argmax(axis=1), x.argmin(axis=-1)),
        lambda x: [(row.argmax(), row.argmin()) for row in x[:5]],
        lambda x: (x.ravel().argmax(), x[7:].argmin(), x[33].argmax()),
        lambda x: ((x + 1).argmax(axis=1), x.argmin(axis=0)),
    )
    jits = [npcompile.jit(f, options={"compile": "first"}, fullgraph=True) for f in fs]
    for n in (1, 3, 31, 255, 256, 257, 300, 512, 1025):
        x = rows(n, dtype)
        for f, j in zip(fs, jits):
            for a in (x, x[:, ::2], x[::-1], x[:, ::-1], np.asfortranarray(x)):
                text = compare_calls(f, j, [a])
                assert text is None, text
