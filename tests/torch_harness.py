"""Compares compiled functions of tensors with eager torch: values, dtypes, strides, sharing, mutation, versions, and that the
whole call was compiled to C++."""

import os

import hypothesis.strategies as st
import numpy as np
import pytest
from devices import HAS_GPU

import npcompile
from npcompile.testing import compare_calls

torch = pytest.importorskip("torch", reason="torch is not installed")

ON_DEVICE = os.environ.get("NPCOMPILE_TEST_DEVICE") == "1" and HAS_GPU
"""Tensors of tests for the CPU are moved to a GPU."""

FLOATS = ("float32", "float64")
INTS = ("int64", "int32", "uint8", "int8", "int16")


def compiled(fn, *, breaks=0, **options):
    """A jit object of `fn` whose calls are checked to be compiled whole, by `assert_compiled`."""
    if ON_DEVICE and options.get("backend") == "reference":
        del options["backend"]  # it works in host memory
    jitted = npcompile.jit(fn, options={"compile": "first"}, **options)
    jitted.expected_breaks = breaks
    return jitted


def assert_compiled(jitted):
    """Every call so far was taken by compiled C++ with as many breaks as expected."""
    stats = jitted.stats
    assert stats.plain_calls == 0, stats
    assert stats.hits > 0 and stats.compiles > 0, stats
    for entry in jitted.entries:
        breaks = [e.reason for e in entry.info.exits if e.kind == "resume" and e.reason not in RUN_TIME]
        assert len(breaks) == jitted.expected_breaks, breaks


RUN_TIME = frozenset(
    (
        "dim-changed",
        "integer-division",
        "negative-power",
        "negative-shift",
        "index-range",
        "empty-reduction",
        "signal",
        "float-to-int",
        "number-range",
    )
)
"""Reasons of conditional exits."""


def moved(args):
    """The same tensors on the device, strides and shared memory kept."""
    storages = {}

    def move(x):
        if not isinstance(x, torch.Tensor) or x.is_cuda or x.requires_grad:
            return x
        s = x.untyped_storage()
        storages.setdefault(s.data_ptr(), s.cuda())
        new = torch.empty(0, dtype=x.dtype, device="cuda")
        return new.set_(storages[s.data_ptr()], x.storage_offset(), x.shape, x.stride())

    return [move(x) for x in args]


def check(jitted, args, tolerance="exact", scale=0.0):
    """One call of a function made by `compiled`, against eager torch."""
    plain = jitted.__wrapped__
    if ON_DEVICE:
        args = moved(args)
    text = compare_calls(plain, jitted, args, tolerance, scale)
    assert text is None, text


def check_all(fn, calls, tolerance="exact", **kw):
    """Several argument lists; the function must be compiled whole for all of them."""
    jitted = compiled(fn, **kw)
    for args in calls:
        check(jitted, args, tolerance)
    assert_compiled(jitted)
    return jitted


SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, float("inf"), float("-inf"), float("nan"), 1e-3, -7.25)


def tensor(shape, dtype="float32", seed=0, special=False, low=-4.0, high=4.0):
    """Pseudo-random values; a few special ones among them if asked for."""
    rng = np.random.default_rng(seed)
    dt = np.dtype(dtype)
    if dt.kind == "b":
        x = rng.integers(0, 2, shape).astype(bool)
    elif dt.kind in "iu":
        x = rng.integers(0 if dt.kind == "u" else -20, 20, shape).astype(dt)
    else:
        x = rng.uniform(low, high, shape).astype(dt)
        if special and x.size:
            at = rng.integers(0, x.size, max(1, x.size // 3))
            x.reshape(-1)[at] = rng.choice(SPECIAL, at.size)
    return torch.from_numpy(np.asarray(x))


def layouts(x):
    """The same values with other strides: contiguous, transposed memory, gaps, an expanded axis."""
    yield x
    if x.dim() >= 2:
        yield x.t().contiguous().t() if x.dim() == 2 else x.transpose(0, -1).contiguous().transpose(0, -1)
    if x.dim() >= 1:
        wide = torch.zeros(*x.shape[:-1], x.shape[-1] * 2, dtype=x.dtype)
        wide[..., ::2] = x
        yield wide[..., ::2]


@st.composite
def tensors(draw, dtypes=FLOATS, max_rank=3, max_side=5):
    shape = tuple(draw(st.lists(st.integers(0, max_side), min_size=0, max_size=max_rank)))
    x = tensor(shape, draw(st.sampled_from(dtypes)), draw(st.integers(0, 1 << 16)), special=True)
    return draw(st.sampled_from(list(layouts(x))))
