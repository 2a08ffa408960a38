"""Lists from outside that NumPy's functions, operators and indices take: by their items, without a break where they are short."""

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls, copy_arguments

A = np.arange(12.0).reshape(3, 4)
ROW = [1.0, 2.0, 3.0, 4.0]


def put_rows(a, rows, values):
    a[rows] = values
    a[:, [0, 2]] += 1
    return a


def grown(x, v):
    x.append(v)
    return np.array(x) * 2


def changed(x, v):
    x[0] = v
    return np.array(x) * 2


def changed_in_a_loop(x, n):
    s = 0.0
    for _ in range(n):
        s += np.sum(x)
        x[0] += 1.0
    return s


def joined_then_stored_to(x):
    both = np.concatenate(x)
    x[0][:] = 0
    return both, np.stack(x)


def copied(x):
    a = np.asarray(x)
    a[0] = 5.0
    return a


ONES = np.ones(3)
CASES = {
    "asarray": (lambda x: np.asarray(x) * 2, (ROW,)),
    "rows": (lambda x: np.array(x) * 2, ([[1.0, 2.0], [3.0, 4.0]],)),
    "tuples in a list": (lambda x: np.array(x) * 2, ([(1, 2), (3, 4)],)),
    "lists in a tuple": (lambda x: np.array(x) * 2, (([True, False], [True, True]),)),
    "list in a list made here": (lambda x: np.array([x, [1.0, 2.0, 3.0, 4.0]]), (ROW,)),
    "list in a dict": (lambda d: np.array(d["k"]) * 2, ({"k": ROW},)),
    "numpy numbers": (lambda x: np.array(x) * 2, ([np.float32(1), np.float32(2)],)),
    "dtype": (lambda x: np.array(x, dtype=float) * 2, ([1, 2],)),
    "reductions": (lambda x: (np.sum(x), np.mean(x), np.max(x), np.linalg.norm(x)), (ROW,)),
    "ufunc": (lambda x: np.maximum(np.sqrt(x), x), (ROW,)),
    "keyword": (lambda a, x: np.take(a, indices=x, axis=1), (A, [0, 1])),
    "method": (lambda a, x: a.dot(x), (A, ROW)),
    "where": (lambda a, x: np.where(a > 2, x, a), (A, ROW)),
    "shape": (lambda x: np.zeros(x), ([2, 3],)),
    "reshape": (lambda a, x: a.reshape(x), (A, [4, 3])),
    "axes": (lambda a, x: np.transpose(a, x), (A, [1, 0])),
    "called": (lambda a, x, y: (np.percentile(a, [25, 50]), np.interp(a, x, y), np.searchsorted(x, a)), (A, ROW, ROW)),
    "index": (lambda a, x: a[x], (A, [0, -1])),
    "indices": (lambda a, x, y: a[x, y], (A, [0, 2], [1, 1])),
    "store": (put_rows, (A, [0, 2], ROW)),
    "arrays": (joined_then_stored_to, ([ONES, 2 * ONES],)),
    "copied": (copied, (ROW,)),
    "grown": (grown, (ROW, 3.0)),
    "changed": (changed, (ROW, 3.0)),
    "changed in a loop": (changed_in_a_loop, (ROW, 30)),
}


@pytest.mark.parametrize("name", CASES)
def test_list_is_taken_by_its_items(name):
    fn, args = CASES[name]
    report = npcompile.explain(fn, *copy_arguments(args))
    assert report.segments and not report.graph_breaks, report
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for _ in range(3):
        assert compare_calls(fn, jitted, args) is None


ALIKE = np.random.default_rng(3)
SERIES = {
    "lengths": (lambda x: np.sum(np.asarray(x) * 2), [(ALIKE.random(n).tolist(),) for n in (1, 2, 3, 4, 5, 80, 3, 0, 2)]),
    "types": (lambda x: np.array(x) * 2, [(x,) for x in ([1, 2], [1.0, 2.0], [2, 1.0], [True, 2], ["a", "b"], [None])]),
    "beyond int64": (lambda x: np.array(x) * 2, [(x,) for x in ([1, 2], [1, 2**70], [1, 2**62], [2**63, 1])]),
    "ragged": (lambda x: np.array(x) * 2, [(x,) for x in ([[1, 2], [3, 4]], [[1, 2], [3]], [[], []])]),
    "indices": (lambda a, x: a[x], [(A, x) for x in ([0, 2], [2, 0], [0, 5], [True, False, True], [], [[0, 1], [1, 2]])]),
    "shapes": (lambda x: np.zeros(x), [(x,) for x in ([2, 3], [4, 5], [2], [], [-1, 2])]),
    "one array twice": (joined_then_stored_to, [([ONES, ONES],), ([ONES.copy(), ONES],), ([ONES, np.ones(4)],), ([A] * 2,)]),
    "subclass": (lambda x: np.mean(x), [(type("Own", (list,), {})([1, 2.0]),)]),
    "empty": (lambda x: np.max(x), [([],), ([1.0],)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_lists_of_other_lengths_and_types(name):
    fn, calls = SERIES[name]
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for args in calls * 2:
        assert compare_calls(fn, jitted, args) is None, args


def test_no_copy_where_none_is_needed():
    """`copy=False` gives the argument itself, or raises."""

    def taken(x, dtype):
        a = np.array(x, dtype=dtype, copy=False)
        a[0] = 7
        return a

    assert not npcompile.explain(taken, A.copy(), np.float64).graph_breaks
    jitted = npcompile.jit(taken, options={"compile": "first"})
    for args in ((A, np.float64), (A, np.float32), (ROW, None), (A.T, float)) * 2:
        assert compare_calls(taken, jitted, args) is None
