"""Rounding, real and imaginary parts, fill: against NumPy, through the reference executor."""

import numpy as np
from frontend_operators import arrays, values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_harness import check

ALL = ["?", "i1", "u2", "i8", "f2", "f4", "f8", "F", "D"]
quick = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@quick
@given(data=st.data())
def test_round(data):
    a = data.draw(arrays(["i1", "u2", "i8", "f2", "f4", "f8"]))
    n = data.draw(st.sampled_from([0, 1, 2, 5, -1, -2]))
    check(lambda xp, a: (xp.round(a, n), a.round(n), xp.around(a, decimals=n)), a)
    x = values(data.draw, a.dtype, 1)[0]
    check(lambda xp, x: (xp.round(x, n), x.round(n)), x)


@quick
@given(data=st.data())
def test_parts(data):
    a = data.draw(arrays(["F", "D"]))
    check(lambda xp, a: (xp.real(a), xp.imag(a), xp.iscomplexobj(a), xp.isrealobj(a), xp.iscomplex(a), xp.isreal(a)), a)
    check(lambda xp, a: (xp.angle(a), xp.angle(a, deg=True)), a, tolerance="ulp")
    r = data.draw(arrays(["i4", "f4", "f8", "?"]))
    check(lambda xp, a: (xp.real(a), xp.iscomplexobj(a)), r)
    check(lambda xp, a: xp.angle(a), r, tolerance="ulp")


@quick
@given(data=st.data())
def test_fill(data):
    b = data.draw(arrays(ALL, spread=False)).copy(order="K")
    v = data.draw(st.sampled_from([2.5, 3, True, np.float32(1.5), np.int64(-4), -1]))

    def f(xp, a):
        a.fill(v)

    check(f, b, copies=True, may_refuse=True)
