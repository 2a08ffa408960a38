"""`divmod` for the stand-in arrays of `rule_harness`, and hypothesis strategies for operands."""

import numpy as np
from hypothesis import strategies as st
from rule_harness import SymProxy, to_sym, wrap

from npcompile.frontends.numpy import operators

SymProxy.__divmod__ = lambda self, y: wrap(self.run, operators.binary(self.run.b, "divmod", self.v, to_sym(y)))
SymProxy.__rdivmod__ = lambda self, x: wrap(self.run, operators.binary(self.run.b, "divmod", to_sym(x), self.v))


# ---------------------------------------------------------------------------------------------- strategies

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.25, -7.75, 1e-3, 1e4, np.inf, -np.inf, np.nan]
TAME = [0.0, 1.0, -1.0, 0.5, 2.0, 3.25, -7.75, 1e-3, 17.0]
INTS = [0, 1, -1, 2, 3, 5, 7, -8, 100, 127, -128]


def values(draw, dtype, size, tame=False):
    dt = np.dtype(dtype)
    if dt.kind == "b":
        pool = [True, False]
    elif dt.kind == "i":
        pool = INTS if tame else [*INTS, np.iinfo(dt).max, np.iinfo(dt).min]
    elif dt.kind == "u":
        pool = [0, 1, 2, 3, 5, 100, 255] if tame else [0, 1, 2, 3, 5, 100, 255, np.iinfo(dt).max]
    else:
        pool = TAME if tame else FLOATS
    xs = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    if dt.kind == "c":
        ys = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
        out = np.empty(size, dt)
        out.real, out.imag = xs, ys
        return out
    with np.errstate(all="ignore"):
        return np.array(xs, dt)


@st.composite
def arrays(draw, dtypes, shape=None, max_rank=3, tame=False, spread=True):
    """An array of one of the dtypes in any memory order: C, F, transposed, reversed, with gaps, broadcast."""
    dt = np.dtype(draw(st.sampled_from(dtypes)))
    if shape is None:
        shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3, 4]), max_size=max_rank)))
    kind = draw(st.sampled_from(["C", "C", "F", "perm", "reversed", "gaps", "broadcast"][: 7 if spread else 6]))
    n = len(shape)
    perm = draw(st.permutations(range(n))) if kind == "perm" else list(range(n))[:: -1 if kind == "F" else 1]
    axis = draw(st.integers(0, n - 1)) if n else 0
    real = [shape[p] for p in perm]
    if kind == "gaps" and n:
        real[axis] *= 2
    if kind == "broadcast" and n:
        real[axis] = 1
    flat = values(draw, dt, int(np.prod(real)), tame)
    a = flat.reshape(real).transpose(np.argsort(perm)) if n else flat.reshape(())
    if n and kind == "gaps":
        a = a[(slice(None),) * axis + (slice(None, None, 2),)]
    if n and kind == "reversed":
        a = a[(slice(None),) * axis + (slice(None, None, -1),)]
    if n and kind == "broadcast":
        a = np.lib.stride_tricks.as_strided(a, shape, [0 if i == axis else s for i, s in enumerate(a.strides)])
    assert a.shape == tuple(shape)
    return a


@st.composite
def pairs(draw, dtypes, tame=False):
    """Two operands that broadcast: arrays, NumPy scalars or Python numbers, at least one of them NumPy's."""
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3)))

    def one(allow_python):
        kind = draw(st.sampled_from(["array", "array", "array", "scalar", "python"][: 5 if allow_python else 4]))
        dt = np.dtype(draw(st.sampled_from(dtypes)))
        if kind == "array":
            cut = draw(st.integers(0, len(shape)))
            own = tuple(1 if draw(st.integers(0, 4)) == 0 else k for k in shape[cut:])
            return draw(arrays([dt], own, tame=tame))
        x = values(draw, dt, 1, tame)[0]
        x = x.item() if kind == "python" else x
        return x if type(x) is not int or -(2**63) <= x < 2**63 else 7

    x = one(True)
    y = one(isinstance(x, (np.ndarray, np.generic)))
    return x, y


__all__ = ["arrays", "pairs", "values"]
