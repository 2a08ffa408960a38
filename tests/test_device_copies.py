"""Functions of NumPy's arrays that run on a CUDA device (`device="cuda"`): arrays are copied there and back."""

import importlib.util

import numpy as np
import pytest
from devices import need_gpu

import npcompile
from npcompile.testing import compare_calls

if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed", allow_module_level=True)
need_gpu()

RNG = np.random.default_rng(5)


def check(f, *args, tolerance="ulp", scale=0.0, on_device=True):
    jitted = npcompile.jit(f, device="cuda", fullgraph=True, options={"compile": "first"})
    for _ in range(2):
        text = compare_calls(f, jitted, args, tolerance, scale, warnings=False)
        assert text is None, text
    assert jitted.stats.plain_calls == 0
    assert all((e.info.device == "cuda:0") == on_device for e in jitted.entries)
    return jitted


def floats(*shape, dtype=np.float64):
    return RNG.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_are_arrays_and_scalars(dtype):
    x, y = floats(300, 70, dtype=dtype), floats(70, dtype=dtype)
    check(lambda x, y: (np.exp(x) * y + 1, x.sum(), x.max(0), x.argmax(), np.zeros(3), len(x)), x, y, tolerance="sum")
    check(lambda x, y: float((x * y).sum()) > 0, x, y)


def test_strides():
    x = floats(20, 30)
    for v in (x.T, x[::2, ::3], x[::-1], np.asfortranarray(x), x[:, 3:4], x[:0], np.broadcast_to(x[0], (5, 30))):
        check(lambda x: (x + 1, x.T * 2, x[1:] - 1), v)


def test_stores():
    def f(x, y):
        x += y
        x[1:] *= 2.0
        x[0] = 3.0
        return x[1:], x

    check(f, floats(4, 5), floats(5))
    check(f, floats(8, 10)[::2, ::2], floats(5))
    check(f, floats(5, 4).T, floats(5))
    base = floats(4, 10)
    check(f, base[:, ::2], base[0, 1::2])  # interleaved


def test_views_of_inputs_and_of_results():
    f = check(lambda x: (x[1:], (x + 1)[:, 1], x), floats(4, 5))
    x = floats(4, 5)
    a, b, c = f(x)
    assert c is x and np.shares_memory(a, x) and a.base is x and b.base is not None


def test_loops_and_exits():
    def f(x, n):
        for i in range(n):
            x = x * 0.5 + i
        if x.sum() > 1e9:
            print("large")
        return x

    jitted = npcompile.jit(f, device="cuda", options={"compile": "first"})
    assert compare_calls(f, jitted, [floats(50, 5), 4], "sum", warnings=False) is None
    assert compare_calls(f, jitted, [floats(50, 5) + 1e12, 4], "sum", warnings=False) is None
    assert jitted.stats.hits == 2


def test_what_has_no_form_on_devices_is_compiled_for_the_cpu():
    check(lambda x: (x @ x.T).sum(), floats(5, 6), tolerance="contraction", on_device=False)
    check(lambda x: np.cumsum(x), floats(5, 6), on_device=False)


def test_arrays_that_share_memory():
    def f(x, y):
        x += y
        return x

    x = floats(10)
    check(f, x, x, on_device=False)


def test_no_such_device():
    f = npcompile.jit(lambda x: x + 1, device="cuda:63", options={"compile": "first"})
    with pytest.warns(npcompile.NpcompileWarning, match="there is no cuda:63"):
        assert (f(np.ones(3)) == 2).all()
    assert f.stats.hits == 1
