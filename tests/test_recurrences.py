"""Loops that read what earlier turns have stored, that store through indices read from memory, and that leave half done."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls


def numbers(n, seed=0, dtype=np.float64):
    return (np.random.default_rng(seed).random(n) + 0.5).astype(dtype)


def check(fn, *calls, how="always"):
    """Values, warnings, exceptions and the state of the arguments, call after call of one jitted function."""
    jitted = npcompile.jit(fn, options={"compile": "first"})
    for args in calls:
        for _ in range(2):
            with warnings.catch_warnings():
                warnings.simplefilter(how)
                assert compare_calls(fn, jitted, args) is None, (fn.__name__, args)


def one_back(a, x):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * 0.5 + x[i]


def two_back(a, x):
    for i in range(2, len(a)):
        a[i] = a[i - 1] * x[i] - a[i - 2]


def three_back(a, x):
    for i in range(3, len(a)):
        a[i] = a[i - 3] / x[i] + a[i - 1]


def five_back(a, x):
    for i in range(5, len(a)):
        a[i] = a[i - 5] / x[i]


def backwards(a, x):
    for i in range(len(a) - 2, -1, -1):
        a[i] = x[i] - a[i + 1] * a[i]


def every_second(a, x):
    for i in range(2, len(a), 2):
        a[i] = a[i - 2] + a[i - 1] * x[i]


def read_after_the_store(a, x):
    s = 0.0
    for i in range(1, len(a)):
        a[i] = a[i - 1] + x[i]
        s += a[i - 1] * a[i]
    return s


def two_stores(a, x):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + x[i]
        a[i - 1] = a[i] * 2


def stored_sometimes(a, x):
    for i in range(1, len(a)):
        if x[i] > 0.9:
            a[i] = a[i - 1] + x[i]


def read_sometimes(a, x):
    s = 0.0
    for i in range(1, len(a)):
        if x[i] > 0.9:
            s += a[i - 1]
        a[i] = x[i] + s


def one_cell(a, x):
    for i in range(len(x)):
        a[3] += x[i]


def one_cell_and_others(a, x):
    for i in range(len(x)):
        a[3] = a[3] * 0.5 + x[i]
        x[i] = a[3]


def windows_on_one_array(a, x):
    old, new = a[:-1], a[1:]
    for i in range(len(new)):
        new[i] = old[i] + x[i]


def left_in_the_middle(a, x):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + x[i]
        if a[i] > 20.0:
            break
    return i


def left_between_stores(a, x):
    s = 0.0
    for i in range(1, len(a)):
        a[i] = a[i - 1] + x[i]
        s = 0.9 * s + a[i] / x[i]
        x[i] = s


ALL = [
    one_back, two_back, three_back, five_back, backwards, every_second, read_after_the_store, two_stores, stored_sometimes,
    read_sometimes, one_cell, one_cell_and_others, windows_on_one_array, left_in_the_middle, left_between_stores,
]  # fmt: skip


@pytest.mark.parametrize("fn", ALL)
def test_turns_read_what_earlier_ones_stored(fn):
    """All dtypes; lengths below the first turn, of one piece and of several; windows with steps; conditions at any turn."""
    calls = [(numbers(n), numbers(n, 1)) for n in (4, 5, 7, 40, 1300)]
    calls += [(numbers(90)[::3], numbers(30, 1)), (numbers(30)[::-1], numbers(30, 1))]
    for at, x in ((0, np.inf), (3, np.nan), (600, 1e308), (1299, np.inf), (700, 0.0)):
        for which in (0, 1):
            args = (numbers(1300), numbers(1300, 1))
            args[which][at] = x
            calls.append(args)
    check(fn, *calls)
    check(fn, *[(numbers(50, 2, d), numbers(50, 3, d)) for d in (np.float32,)])
    whole = [(np.arange(50, dtype=d), np.arange(50, dtype=d)[::-1].copy() + 1) for d in (np.int64,)]
    if fn not in (three_back, five_back):
        check(fn, *whole)


@pytest.mark.parametrize("fn", [one_back, two_back, one_cell, left_between_stores, two_stores, one_cell_and_others])
@pytest.mark.parametrize("at", [3, 600, 1100])
def test_a_warning_that_is_an_error_keeps_what_was_stored_before(fn, at):
    for which in (0, 1):
        args = (numbers(1300), numbers(1300, 1))
        args[which][at] = 1e308 if which else np.inf
        args[1][at + 1] = -1e308
        check(fn, args, how="error")


def grid(a):
    n, m = a.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            a[i, j] = (a[i, j - 1] + a[i - 1, j] + a[i, j + 1] * a[i + 1, j]) / 3.0


def columns(a):
    n, m = a.shape
    for j in range(m):
        for i in range(1, n):
            a[i, j] = a[i - 1, j] * 0.5 + a[i, j]


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def picked_by_the_loop(a, m):
    for i, _ in enumerate(a):
        for j in range(m):
            a[i] = a[i] + a[j] * 0.25


def test_one_cell_with_indices_that_are_checked():
    for n in (0, 1, 5, 600):
        check(picked_by_the_loop, (numbers(n), 0), (numbers(n), n), (numbers(2 * n)[::2], n), (numbers(n), n + 1))


def nearest(labels, x, centres):
    for i in range(len(x)):
        best = np.inf
        for c in range(len(centres)):
            d = (x[i] - centres[c]) ** 2
            if d < best:
                best = d
                labels[i] = c
        x[i] = best


def summed(y, x, cols, starts):
    for i in range(len(starts) - 1):
        y[i] = 0.0
        for k in range(starts[i], starts[i + 1]):
            y[i] += x[cols[k]] * 2.0


def summed_and_left(y, x, cols, starts):
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            y[i] += x[cols[k]] * 2.0
            x[k] = y[i]
            if y[i] > 9.0:
                break


def test_one_cell_that_a_branch_stores_to():
    for value in (1.0, np.inf, np.nan, 1e308):
        for n in (1, 7):
            x, centres = numbers(n), numbers(5, 1)
            x[n // 2] = value
            check(nearest, (np.zeros(n, np.int64), x.copy(), centres), (np.zeros(max(n - 2, 0), np.int64), x.copy(), centres))
            centres[3] = value
            check(nearest, (np.zeros(n), x, centres))


def test_one_cell_whose_index_is_checked():
    starts = np.array([0, 3, 3, 8, 9, 20])
    for fn in (summed, summed_and_left):
        for value in (1.0, np.inf, 1e308):
            x = numbers(20)
            x[4] = x[15] = value
            cols = np.random.default_rng(3).integers(-20, 20, 20)
            check(fn, (numbers(5), x, cols, starts), (numbers(4), x, cols, starts), (numbers(9), x[:12], cols, starts))
            cols[17] = 20
            check(fn, (numbers(5), x, cols, starts), (numbers(5), x, cols, starts[::-1].copy()))
            check(fn, (numbers(5), x, cols, starts), how="error")


def test_two_axes():
    for shape in ((3, 3), (9, 4), (4, 600), (600, 4)):
        for a in (numbers(shape[0] * shape[1]).reshape(shape), np.asfortranarray(numbers(shape[0] * shape[1]).reshape(shape))):
            for x in (None, np.inf, np.nan):
                b = a.copy(order="K")
                if x is not None:
                    b[shape[0] // 2, shape[1] // 2] = x
                check(grid, (b.copy(order="K"),))
                check(columns, (b.copy(order="K"),))
    for x in (1.0, 1e308, np.inf):
        a, b, c = numbers(30).reshape(5, 6), numbers(24, 1).reshape(6, 4), numbers(20, 2).reshape(5, 4)
        a[2, 3] = b[3, 1] = x
        check(product, (a, b, c))


def picked(x, at):
    s = 0.0
    for k in range(len(at)):
        s += x[at[k]] * 2.0
    return s


def counted(count, at):
    for k in range(len(at)):
        count[at[k]] += 1


def rows_added(total, x, at):
    for k in range(len(at)):
        total[at[k]] += x[k]


def rows_added_long(total, x, at):
    for k in range(len(at)):
        total[at[k]] = total[at[k]] + x[k]


def rows_moved(total, x, at):
    for k in range(1, len(at)):
        total[at[k]] = total[at[k - 1]] * 0.5 + x[k]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.uint64])
def test_indices_read_from_memory(dtype):
    """In range, negative, the least and the largest, and beyond both ends, at the first turn, in between and at the last."""
    n = 6
    least = [] if np.dtype(dtype).kind == "u" else [-1, -n, -n - 1, np.iinfo(dtype).min]
    special = [0, n - 1, n, n + 1, 200, *least, np.iinfo(dtype).max]
    for value in special:
        for place in (0, 3, 7):
            at = np.array([1, 2, 0, 5, 3, 3, 1, 4], dtype)
            at[place] = value
            check(picked, (numbers(n), at))
            check(counted, (np.zeros(n, np.int64), at))
            for fn in (rows_added, rows_added_long, rows_moved):
                check(fn, (numbers(n * 3).reshape(n, 3), numbers(24, 1).reshape(8, 3), at))


def test_indices_read_from_memory_of_empty_arrays():
    check(picked, (np.zeros(0), np.array([0])), (np.zeros(0), np.array([-1])), (np.zeros(0), np.zeros(0, np.int64)))


AT_THE_END = """
import ctypes, mmap, sys
import numpy as np, npcompile

def partly(a, counts):
    for i in range(len(counts)):
        for j in range(counts[i]):
            a[j] = a[j] * 0.5 + a[0]
    return a

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
page = mmap.PAGESIZE
room = mmap.mmap(-1, 3 * page)
whole = np.frombuffer(room, np.uint8)
start = whole.ctypes.data
assert libc.mprotect(start + 2 * page, page, 0) == 0
a = whole[2 * page - 80 : 2 * page].view(np.float64)  # the next byte cannot be read
a[:] = 1.0
f = npcompile.jit(partly, options={"compile": "first"})
f(np.ones(10), np.array([3, 10, 5]))
f(a, np.array([3, 10, 5]))
try:
    f(a, np.array([3, 10, 400, 2]))
except IndexError:
    print("left", f.stats.compiles)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect")
def test_nothing_is_read_beyond_the_end_before_an_index_is_checked():
    run = subprocess.run([sys.executable, "-P", "-c", AT_THE_END], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("left")
