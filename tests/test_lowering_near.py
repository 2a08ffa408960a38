"""Functions of limited range in vector loops: near variants run first, far arguments make the loop run again."""

import numpy as np
import pytest
from ir_graphs import Maker, fresh
from lowering_harness import Runtime, run
from npcompile.lowering import lower

from npcompile.ir.executor import execute

FAR = np.random.default_rng(3).standard_normal(1003)
FAR[[5, 400, 1002]] = [1e22, -1e300, 2.0**60]
NEAR = np.random.default_rng(4).standard_normal(1003) * 50


def check(m):
    low = lower(m.graph, m.spec)
    theirs, ours = fresh(m.inputs), fresh(m.inputs)
    with np.errstate(all="ignore"):
        _, expected = execute(m.graph, m.spec, theirs)
    _, got = run(low, m.graph, m.spec, ours, Runtime(ours))
    for x, y in [*zip(got, expected, strict=True), *zip(ours, theirs, strict=True)]:
        np.testing.assert_allclose(x, y, rtol=4e-16 if np.asarray(y).dtype == np.float64 else 3e-7, atol=0)
    return low.source


@pytest.mark.parametrize("prim", ["sin", "cos", "tan"])
@pytest.mark.parametrize("x", [NEAR, FAR, NEAR.astype("f4"), FAR.clip(-1e30, 1e30).astype("f4")])
def test_elementwise(prim, x):
    m = Maker()
    v = m.array(x)
    (k,) = m.memories()
    m.exit("exit", m.emit(prim, m.emit("load", v, k)), k)
    source = check(m)
    assert f"far{x.itemsize * 8}_ |= npc_far_{prim}(" in source


@pytest.mark.parametrize("prim", ["fmod", "mod", "floordiv"])
@pytest.mark.parametrize("x", [NEAR, FAR])
def test_remainders(prim, x):
    m = Maker()
    v, w = m.array(x), m.array(NEAR[::-1].copy())
    ks = m.memories()
    m.exit("exit", m.emit(prim, m.emit("load", v, ks[0]), m.emit("load", w, ks[-1])), *ks)
    assert f"far64_ |= npc_far_{prim}(" in check(m)


@pytest.mark.parametrize("x", [NEAR, FAR])
def test_producer_of_a_sum(x):
    m = Maker()
    v = m.array(x)
    (k,) = m.memories()
    y = m.emit("sin", m.emit("load", v, k))
    m.exit("exit", m.emit("reduce", m.emit("mul", y, y), op="add", axes=(0,)), k)
    assert "far64_ |= npc_far_sin(" in check(m)


@pytest.mark.parametrize("x", [NEAR, FAR])
def test_in_place_runs_once(x):
    m = Maker()
    v = m.array(x.copy())
    (k,) = m.memories()
    m.exit("exit", m.emit("store", v, m.emit("sin", m.emit("load", v, k)), k))
    assert "far64_" not in check(m)
