"""Reductions and statistics against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_arrays import arrays
from rule_harness import check, check_sizes
from rule_samples import SAMPLES, function

import npcompile
from npcompile.testing import compare_outcomes, observe

REDUCTIONS = [
    "np.sum(a)", "np.sum(a, axis=0)", "np.sum(a, axis=-1, keepdims=True)", "np.sum(a, axis=(0, 1))", "np.sum(a, axis=())",
    "np.sum(a, axis=4)", "np.sum(a, axis=(0, 0))", "np.sum(a, keepdims=True)", "np.sum(a, dtype='f8')", "np.sum(a, dtype='i4')",
    "np.sum(a, initial=3)", "np.sum(a, where=True)", "np.prod(a)", "np.prod(a, axis=0)", "np.prod(a, axis=(-1, 0))",
    "np.max(a)", "np.max(a, axis=0)", "np.min(a, axis=-1, keepdims=True)", "np.amax(a, axis=(0, 1))", "np.amin(a, 0)",
    "np.max(a, initial=0)", "np.max(a, axis=())", "np.any(a)", "np.all(a, axis=0)", "np.any(a, axis=-1, keepdims=True)",
    "np.argmax(a)", "np.argmin(a, axis=0)", "np.argmax(a, axis=-1, keepdims=True)", "np.argmin(a, keepdims=True)",
    "np.ptp(a)", "np.ptp(a, axis=0)", "np.count_nonzero(a)", "np.count_nonzero(a, axis=0)", "np.count_nonzero(a, keepdims=True)",
    "np.add.reduce(a)", "np.multiply.reduce(a, axis=None)", "np.maximum.reduce(a, axis=-1)", "np.logical_or.reduce(a)",
    "np.bitwise_or.reduce(a)", "a.sum()", "a.sum(0)", "a.prod()", "a.max(axis=0)", "a.any()", "a.all(-1)", "a.argmax()",
    "a.argmin(0)",
]  # fmt: skip
STATISTICS = [
    "np.mean(a)", "np.mean(a, axis=0)", "np.mean(a, axis=-1, keepdims=True)", "np.mean(a, axis=(0, 1))", "np.mean(a, axis=())",
    "np.mean(a, dtype='f4')", "np.mean(a, dtype='i4')", "np.mean(a, axis=0, dtype='c8')", "a.mean()", "a.mean(-1)",
    "np.var(a)", "np.var(a, axis=0)", "np.var(a, axis=-1, keepdims=True)", "np.var(a, ddof=1)", "np.var(a, axis=0, ddof=0.5)",
    "np.var(a, ddof=100)", "np.var(a, correction=1)", "np.var(a, dtype='f4')", "np.var(a, axis=0, dtype='f8')",
    "np.var(a, axis=0, dtype='c8')", "np.var(a, dtype='i4')", "np.var(a, mean=1.5)", "np.std(a)", "np.std(a, axis=0)",
    "np.var(a, axis=0, mean=np.mean(a, axis=0, keepdims=True))", "np.std(a, axis=(0, 1), keepdims=True)", "a.std(ddof=1)",
    "a.var(0)", "np.average(a)", "np.average(a, axis=0, keepdims=True)", "np.nansum(a)", "np.nansum(a, axis=0)", "np.nanprod(a)",
    "np.nanmean(a)", "np.nanmean(a, axis=0)", "np.nanmean(a, axis=-1, keepdims=True)", "np.nanmax(a)", "np.nanmin(a, axis=0)",
    "np.nanmax(a, axis=-1, keepdims=True)", "np.nanmax(a, initial=0)", "np.nanvar(a)", "np.nanvar(a, axis=0, ddof=1)",
    "np.nanstd(a, axis=-1, keepdims=True)", "np.nanvar(a, axis=())", "np.nanstd(a, dtype='c8')", "np.nanvar(a, dtype='f4')",
    "np.std(a, dtype='c8')",
]  # fmt: skip
SCANS = [
    "np.nancumsum(a)",
    "np.nancumprod(a, axis=0)",
    "np.cumsum(a)",
    "np.cumsum(a, axis=0)",
    "np.cumprod(a, axis=-1)",
    "a.cumsum(dtype='f4')",
    "np.add.accumulate(a)",
]


@pytest.mark.parametrize("text", REDUCTIONS + STATISTICS + SCANS)
def test_over_samples(text):
    f = function(text)
    for name, x in SAMPLES.items():
        try:
            check(f, x, may_refuse=np.ndim(x) == 0 and "nanm" in text)
        except AssertionError as e:
            raise AssertionError(f"{name}: {e}") from None


MASKS = {
    "whole": np.eye(3, 4, dtype=bool),
    "row": np.array([True, False, True, True]),
    "column": np.array([[True], [False], [True]]),
}
MASKS |= {"all": np.ones((3, 4), bool), "none": np.zeros((3, 4), bool), "F": np.asfortranarray(MASKS["whole"])}


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(a, where=m)", "np.sum(a, axis=0, where=m)", "np.sum(a, axis=-1, where=m, initial=2)", "np.prod(a, where=m)",
        "np.prod(a, axis=1, where=m, keepdims=True)", "np.max(a, where=m, initial=1)", "np.min(a, axis=0, where=m, initial=1)",
        "np.max(a, where=m)", "np.any(a, where=m)", "np.all(a, axis=0, where=m)", "np.mean(a, where=m)",
        "np.mean(a, axis=0, where=m)", "a.mean(axis=0, where=m)", "np.var(a, where=m)", "np.var(a, axis=-1, where=m)",
        "np.std(a, axis=0, where=m, ddof=1)", "np.std(a, keepdims=True, where=m)", "np.nansum(a, where=m)",
        "np.nanmean(a, axis=0, where=m)", "np.add.reduce(a, where=m)",
    ],
)  # fmt: skip
def test_where(text):
    f = function(text, "np, a, m")
    for name in ("C", "F", "strided", "int32", "uint8", "bool", "float32", "float16", "complex128", "broadcast"):
        for m in MASKS.values():
            check(f, SAMPLES[name], m, tolerance="sum", scale=10.0)


@pytest.mark.parametrize(
    "text", [f"np.{f}(a, axis=0, out=o)" for f in ("sum", "prod", "max", "mean", "var", "std", "any", "argmax", "ptp")]
)
def test_out(text):
    f = function(text, "np, a, o")
    for name in ("C", "F", "int32", "uint8", "bool", "float32", "float16", "complex128", "special"):
        for dtype in ("f8", "f4", "i8", "?", "c16"):
            for shape in ((4,), (3,), (), (1, 4)):
                same = SAMPLES[name].dtype == dtype == "f8" and shape == SAMPLES[name].shape[1:] and "argmax" not in text
                check(f, SAMPLES[name], np.zeros(shape, dtype), tolerance="sum", scale=10.0, copies=True, may_refuse=not same)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_layout(data):
    """Random layouts, axes, dtypes: exact wherever NumPy reduces one axis of float64 in its own order."""
    x = data.draw(arrays(dtype=data.draw(st.sampled_from(["f8", "f4", "i2", "u4", "c16", "?"])), min_side=0))
    x = x if x.size else np.ascontiguousarray(x)  # strides of empty arrays are no part of what is specialised on
    axis = data.draw(st.none() | st.sets(st.integers(0, max(x.ndim - 1, 0))).map(tuple)) if x.ndim else None
    keep = data.draw(st.booleans())
    name = data.draw(st.sampled_from(["sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "count_nonzero"]))
    check(lambda np, a: getattr(np, name)(a, axis=axis, keepdims=keep), x, tolerance="sum", scale=4.0)


@pytest.mark.parametrize("text", ["np.sum(a)", "np.mean(a, axis=0)", "np.std(a, axis=1, ddof=1)", "np.argmax(a)", "np.max(a, 0)"])
def test_one_trace_for_all_sizes(text):
    sizes = [(2, 3), (5, 7), (30, 2), (3, 300), (0, 2), (2, 0)]
    rng = np.random.default_rng(3)
    through = check_sizes(function(text), [np.ones((4, 6))], *([rng.standard_normal(s)] for s in sizes))
    assert through >= 4


@pytest.mark.parametrize("dtype", "efdFD")
def test_sums_keep_a_negative_zero_that_they_begin_with(dtype):
    def static(a):
        return np.sum(a, initial=-0.0), np.add.reduce(a, axis=0, initial=0.0)

    def dynamic(a, s):
        return np.sum(a, initial=s), np.add.reduce(a, initial=s, where=a == 0)

    zero = np.dtype(dtype).type(complex(-0.0, -0.0) if dtype in "FD" else -0.0)
    for n in (0, 1, 3, 200):
        a = np.full(n, zero)
        jitted = npcompile.jit(static)
        assert compare_outcomes(observe(static, (a,)), observe(jitted, (a,))) is None
        jitted = npcompile.jit(dynamic)
        for start in (zero, zero + 0.0, zero.dtype.type(2)):
            assert compare_outcomes(observe(dynamic, (a, start)), observe(jitted, (a, start))) is None
    assert npcompile.explain(dynamic, a, zero.dtype.type(2)).graph_breaks == []
