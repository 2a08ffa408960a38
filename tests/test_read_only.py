"""Read-only and writeable arrays that come to the same function in turn: the flag of views, and stores."""

import itertools

import numpy as np
import pytest

import npcompile
from npcompile.testing import compare_calls


def views(a, b, n):
    return a.T, a[::-1], a[...], b[None], a.reshape(-1), b.real, a


def views_beside_a_break(a, b, n):
    c = a[1:]
    print(end="")
    return c, b.T


def exchanged_in_a_loop(a, b, n):
    for _ in range(n):
        a, b = b, a
    return a[1:], b.T


def row_chosen_in_a_loop(a, b, n):
    c = a[0]
    for i in range(n):
        c = a[i % 2] if i % 2 else b[i % 2]
    return c


def chosen_by_a_value(a, b, n):
    c = a if a.sum() > n else b
    return c.T, c


def stored_to(a, b, n):
    a[0] = n
    b[0] += 1
    return a


def refused_store_caught(a, b, n):
    try:
        a[0, 0] = n
    except ValueError as e:
        return str(e), a[1:]
    return a[1:]


def values_alone(a, b, n):
    return a + b * n, a.sum()


PROGRAMS = [
    views,
    views_beside_a_break,
    exchanged_in_a_loop,
    row_chosen_in_a_loop,
    chosen_by_a_value,
    stored_to,
    refused_store_caught,
]


def array(writeable):
    a = np.arange(6.0).reshape(2, 3)
    a.flags.writeable = writeable
    return a


def shared(first):
    """Two arrays of the same memory, one of them read-only."""
    a = np.arange(6.0).reshape(2, 3)
    b = a.view()
    (a if first else b).flags.writeable = False
    return a, b, 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_either_in_turn(program):
    kinds = [(array(x), array(y), 2) for x, y in itertools.product((True, False), repeat=2)]
    kinds += [shared(False), shared(True), (np.broadcast_to(np.arange(3.0), (2, 3)), array(True), 2)]
    for order in (kinds, kinds[::-1]):
        fn = npcompile.jit(program, options={"compile": "first"})
        for args in (*order, *order):
            assert compare_calls(program, fn, args) is None


def test_code_for_writeable_arrays_serves_read_only_ones_where_values_alone_count():
    fn = npcompile.jit(values_alone, options={"compile": "first"})
    for args in itertools.product((array(True), array(False)), (array(True), array(False)), (2,)):
        assert compare_calls(values_alone, fn, args) is None
    assert fn.stats.compiles + fn.stats.cached == 1
