"""Reductions over layouts, axes and dtypes: the bits of NumPy, from generated code."""

import itertools

import numpy as np
import pytest
from ir_graphs import Maker, fresh
from lowering_batch import compile_together
from lowering_harness import Runtime, run, same
from npcompile.lowering import lower

from npcompile.ir.executor import execute

RNG = np.random.default_rng(7)
OLD_BUFFERS = np.lib.NumpyVersion(np.__version__) < "2.3.0"


def values(shape, dtype):
    x = RNG.standard_normal(shape) * 10.0 ** RNG.integers(-3, 4, shape)
    if np.dtype(dtype).kind == "c":
        return (x + 1j * RNG.standard_normal(shape)).astype(dtype)
    return (x * 10).astype(dtype) if np.dtype(dtype).kind in "iu" else x.astype(dtype)


def layouts(shape, dtype):
    """The same kind of array laid out in several ways."""
    yield values(shape, dtype)
    if len(shape) > 1:
        for p in itertools.permutations(range(len(shape))):
            if p != tuple(range(len(shape))):
                yield values(tuple(shape[i] for i in p), dtype).transpose(np.argsort(p))
    big = values(tuple(n + 3 for n in shape), dtype)
    yield big[tuple(slice(1, 1 + n) for n in shape)]
    yield values(tuple(2 * n for n in shape), dtype)[tuple(slice(None, None, 2) for _ in shape)]
    yield values(shape, dtype)[tuple(slice(None, None, -1) for _ in shape)]


def graph(a, op, axes, producer):
    m = Maker()
    v = m.array(a)
    (k,) = m.memories()
    x = m.emit("load", v, k)
    if producer:
        x = m.emit("mul", x, x)
    acc = {"acc": np.dtype(np.int64)} if op == "add" and a.dtype.kind in "iub" else {}
    m.exit("exit", m.emit("reduce", x, op=op, axes=axes, **acc), k)
    return m


def cases(dtype, ops, shapes, producers=(False, True)):
    for shape in shapes:
        for a in layouts(shape, dtype):
            for n in range(1, len(shape) + 1):
                for axes in itertools.combinations(range(len(shape)), n):
                    for op in ops:
                        for producer in producers:
                            yield a, op, axes, producer


def compare(made, ulp=0):
    lows = [lower(m.graph, m.spec) for m in made]
    compile_together(lows, 60)
    wrong = []
    for m, low in zip(made, lows, strict=True):
        theirs, ours = fresh(m.inputs), fresh(m.inputs)
        with np.errstate(all="ignore"):
            _, expected = execute(m.graph, m.spec, theirs)
        _, got = run(low, m.graph, m.spec, ours, Runtime(ours))
        a, last = m.inputs[0], m.region.nodes[-2]
        # over several axes that do not join in memory, NumPy's order followed other buffers before
        free = OLD_BUFFERS and len(last.params.get("axes", ())) > 1 and not (a.flags.c_contiguous or a.flags.f_contiguous)
        try:
            if free and a.dtype.kind in "fc":
                np.testing.assert_allclose(got[0], expected[0], rtol={"f2": 0.02, "f4": 1e-3}.get(a.dtype.str[1:], 1e-12))
            else:
                for x, y in zip(got, expected, strict=True):
                    same(x, y, ulp)
        except AssertionError as e:
            wrong.append((a.shape, a.strides, last.params, str(e).strip().splitlines()[-1][:60]))
    assert not wrong, "\n".join(map(str, [len(wrong), *wrong[:40]]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_sums_have_numpys_bits(dtype):
    shapes = {"f8": [(300,), (5, 300), (300, 5), (3, 7, 140)], "f4": [(1000,), (9, 130)], "c16": [(300,), (6, 130)]}[dtype]
    compare([graph(*c) for c in itertools.islice(cases(dtype, ["add"], shapes), RNG.integers(3), None, 3)])


@pytest.mark.skipif(OLD_BUFFERS, reason="NumPy's iterator copied other numbers of elements at a time before 2.3")
@pytest.mark.parametrize("dtype", ["f8", "f2"])
def test_sums_of_more_rows_than_a_buffer_holds(dtype):
    def graphs():
        for shape in ((82, 100), (3, 9000), (9000, 3), (20, 30, 41), (2, 3000, 2), (0, 4), (4, 0)):
            for gaps in (2, 3):
                a = values(tuple(gaps * n for n in shape), dtype)[tuple(slice(None, None, gaps) for _ in shape)]
                for axes in (tuple(range(len(shape))), tuple(range(len(shape)))[1:]):
                    yield graph(a, "add", axes, False)
        yield graph(np.broadcast_to(values((100, 1), dtype), (100, 90)), "add", (0, 1), False)

    compare(list(graphs()))


def test_products_and_extrema():
    made = [graph(*c) for c in cases("f8", ["mul", "max", "min", "fmax"], [(70,), (4, 37)], (True,))]
    compare(made)


@pytest.mark.parametrize("dtype, ops", [("i4", ["add", "max", "xor"]), ("u1", ["add", "min", "and"]), ("f2", ["add", "max"])])
def test_other_dtypes(dtype, ops):
    compare([graph(*c) for c in cases(dtype, ops, [(300,), (6, 40)], (False,))])


def test_nan_wins():
    a = values((40, 33), "f8")
    a[3, 5] = a[20, 0] = np.nan
    compare([graph(a, op, axes, False) for op in ("max", "min", "fmin") for axes in ((0,), (1,), (0, 1))])


@pytest.mark.parametrize("op", ["any", "all"])
def test_any_all_end_early(op):
    made = []
    for fill, at in ((0, None), (0, 7), (1, None), (1, 900)):
        a = np.full((3, 1000), bool(fill))
        if at is not None:
            a[1, at] = not fill
        made += [graph(a, op, axes, False) for axes in ((0,), (1,), (0, 1))]
    compare(made)


def test_empty():
    for shape in ((0,), (0, 3), (3, 0)):
        a = np.zeros(shape)
        compare([graph(a, op, axes, True) for op in ("add", "mul") for axes in ((0,), tuple(range(len(shape))))])


@pytest.mark.parametrize("dtype", ["f8", "i4", "f4"])
def test_positions(dtype):
    made = []
    for shape in ((50,), (7, 9), (3, 4, 5)):
        a = RNG.integers(-5, 5, shape).astype(dtype)
        if dtype != "i4":
            a.reshape(-1)[11] = np.nan
        for op in ("argmax", "argmin"):
            for axis in range(len(shape)):
                m = Maker()
                v = m.array(a)
                (k,) = m.memories()
                m.exit("exit", m.emit("argreduce", m.emit("load", v, k), op=op, axis=axis), k)
                made.append(m)
    compare(made)


@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_scans(dtype):
    made = []
    for a in [x for shape in ((40,), (6, 7), (3, 4, 5)) for x in layouts(shape, dtype)]:
        for axis in range(a.ndim):
            for op in ("add", "mul", "max"):
                m = Maker()
                v = m.array(a)
                (k,) = m.memories()
                m.exit("exit", m.emit("scan", m.emit("load", v, k), op=op, axis=axis), k)
                made.append(m)
    compare(made)
