"""Arrays and numbers that rule tests run over: dtypes, layouts, sizes 0 and 1, special values."""

import numpy as np

_rng = np.random.default_rng(7)
_a = _rng.standard_normal((3, 4))

SAMPLES = {
    "C": _a,
    "F": np.asfortranarray(_a),
    "strided": _rng.standard_normal((6, 9))[::2, ::-2],
    "3d": _rng.standard_normal((2, 3, 4)),
    "3d permuted": _rng.standard_normal((2, 3, 4)).transpose(2, 0, 1),
    "axis of 1": _rng.standard_normal((3, 1, 4)),
    "1d": _rng.standard_normal(7),
    "1d reversed": _rng.standard_normal(20)[::-3],
    "long": _rng.standard_normal(1000),
    "0d": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "broadcast": np.broadcast_to(_a[0], (3, 4)),
    "int32": _rng.integers(-9, 9, (3, 4)).astype("i4"),
    "uint8": _rng.integers(0, 255, (3, 4)).astype("u1"),
    "bool": _rng.integers(0, 2, (3, 4)).astype(bool),
    "float32": _a.astype("f4"),
    "float16": _a.astype("f2"),
    "complex128": _a + 1j * _a[::-1],
    "complex64": (_a + 1j * _a[::-1]).astype("c8"),
    "special": np.array([[np.nan, np.inf, -np.inf], [0.0, -0.0, 1e308]]),
    "float32 scalar": np.float32(1.25),
    "int": 3,
    "float": 2.5,
}
COMPLEX = {"complex64", "complex128"}


def function(text, names="np, a"):
    """An expression of `np` and `a` as a function."""
    return eval(f"lambda {names}: {text}")
