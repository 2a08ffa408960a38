"""Ufuncs and operators: which prims, names and types come out."""

import numpy as np
import pytest

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import operators, promotion
from npcompile.frontends.values import Array, Const, Scalar, Unsupported
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.layout import c_layout, packed_strides
from npcompile.ir.types import ViewType, scalar
from npcompile.tracer.library import rule_of


def builder():
    b = Builder()
    b.exit_here = lambda reason: (1, ())
    b.state_hook = lambda function, value: None
    return b


def array(b, dtype, *names):
    dims = []
    for n in names:
        s = Sym(n, not_one=True)
        b.hints[s] = 5
        dims.append(Dim.of(s))
    dims, dt = tuple(dims), np.dtype(dtype)
    layout = c_layout(dims)
    t = ViewType(dt, dims, packed_strides(dims, layout, dt.itemsize), layout, "C", (False,) * len(dims))
    return b.input_array(b.input_value(t), b.input_mem())


def number(b, dtype, kind="numpy"):
    return Scalar(kind, np.dtype(dtype), b.input_value(scalar(dtype)))


def names(b):
    return [n.report.name for n in b.region.nodes if n.report is not None]


def prims(b):
    return [n.prim for n in b.region.nodes]


def test_weak_numbers_take_the_arrays_dtype():
    b = builder()
    a = array(b, "f4", "n")
    out = operators.binary(b, "*", a, number(b, "f8", "python"))
    assert isinstance(out, Array) and out.dtype == np.float32
    assert names(b) == ["cast", "multiply"]
    assert operators.binary(b, "*", a, number(b, "f8")).dtype == np.float64


def test_reports_have_numpys_names():
    b = builder()
    x = number(b, "f8")
    operators.binary(b, "+", x, Const(1))
    operators.binary(b, "/", number(b, "i4"), number(b, "i4"))
    operators.binary(b, "*", number(b, "i8"), number(b, "f8", "python"))
    assert names(b) == ["scalar add", "scalar divide", "multiply"]


def test_square_and_power():
    b = builder()
    a = array(b, "f8", "n")
    operators.binary(b, "**", a, Const(2))
    operators.binary(b, "**", a, Const(0.5))
    operators.binary(b, "**", a, Const(3))
    assert [p for p in prims(b) if p in ("square", "sqrt", "pow")] == ["square", "sqrt", "pow"]


def test_inplace_keeps_the_object():
    b = builder()
    a = array(b, "f8", "n")
    assert operators.binary(b, "+=", a, Const(1)) is a
    assert prims(b)[-1] == "store"
    i = array(b, "i8", "m")
    with pytest.raises(Unsupported):
        operators.binary(b, "+=", i, Const(1.5))


def test_pure_arrays_are_replaced_without_memory():
    b = builder()
    a = array(b, "f8", "n")
    t = operators.binary(b, "+", a, Const(1.0))
    assert operators.binary(b, "*=", t, Const(2.0)) is t
    assert "store" not in prims(b) and t.storage.pure is not None


def test_out_of_range_ints():
    b = builder()
    u = array(b, "u1", "n")
    with pytest.raises(Unsupported):
        operators.binary(b, "+", u, Const(300))
    assert operators.compare(b, "<", u, Const(300)).dtype == bool
    operators.binary(b, "+", u, number(b, "i8", "python"))
    assert "exit_if" in prims(b)


def test_comparison_of_a_python_complex_with_float64_is_pythons():
    b = builder()
    with pytest.raises(Unsupported):
        operators.compare(b, "==", number(b, "c16", "python"), number(b, "f8"))


def test_every_loop_of_every_ufunc_traces():
    """Each registered loop either gives NumPy's result dtypes or is refused."""
    from npcompile.frontends.numpy.ufuncs import UFUNCS

    for ufunc in UFUNCS:
        for loop in ufunc.types:
            ins, _ = loop.split("->")
            if any(c not in "?bBhHiIlLefdFD" for c in loop.replace("->", "")):
                continue
            b = builder()
            args = [array(b, c, "n") for c in ins]
            want = promotion.resolve(ufunc, tuple(np.dtype(c) for c in ins))[ufunc.nin :]
            try:
                out = rule_of(ufunc)(b, *args)
            except Unsupported as e:  # loops of SciPy's ufuncs for complex numbers
                assert "complex" in e.detail, (ufunc.__name__, loop)
                continue
            got = [out.dtype] if ufunc.nout == 1 else [v.dtype for v in out.items]
            assert got == list(want), (ufunc.__name__, loop)
