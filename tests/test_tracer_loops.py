"""Native loops: element loops, slices, buffer swaps, carried scalars, nests, exits in mid-loop with exact state."""

import numpy as np
import pytest
from tracer_harness import bound, check, prims

from npcompile.tracer import replay, trace

X = np.linspace(-2.0, 3.0, 12)
RNG = np.random.default_rng(5)


def n_loops(r):
    return prims(r).count("loop")


def test_element_stores():
    def f(n):
        a = np.zeros(n)
        for i in range(n):
            a[i] = i * 2.0
        return a

    r = check(f, 10)
    assert n_loops(r) == 1
    for n in (0, 1, 50):
        assert np.array_equal(replay.run(r, f, (n,)), f(n)) or n < 2


def test_carried_scalars():
    def f(a, n):
        s = 0.0
        k = 0
        p = 1
        for i in range(n):
            s = s + a[i] * i
            k += i
            p = p * 3 % 1000003
        return s, k, p, i

    r = check(f, X, 12, traced_with=(X, 10))
    assert n_loops(r) == 1


def test_int_overflow_leaves_in_mid_loop():
    def f(n):
        p = 1
        q = 0
        for _ in range(n):
            p = p * 7
            q += 1
        return p, q

    check(f, 40)


def test_zero_turns():
    def f(a, n):
        s = 0.0
        for i in range(n):
            s += a[i]
        return s

    check(f, X, 0)
    check(f, X, 0, traced_with=(X, 5))
    check(f, X, 5, traced_with=(X, 0))

    def g(a, n):
        i = -1
        for i in range(n):
            a[i] = 1
        return i

    check(g, X, 12)
    check(g, X, 0)


def test_loop_variable_unbound_after_no_turn():
    def f(a, n):
        for i in range(n):
            a[i] = 1.0
        return i

    check(f, X, 12)
    check(f, X, 0, breaks=("unbound",))
    with pytest.raises(replay.GuardFailed):
        replay.run(trace(f, (X, 5)), f, (X, 0))


def test_jacobi_1d_with_swap():
    def f(u, steps):
        v = np.empty_like(u)
        v[0] = u[0]
        v[-1] = u[-1]
        for _ in range(steps):
            v[1:-1] = 0.5 * (u[:-2] + u[2:])
            u, v = v, u
        return u

    for steps in (0, 1, 2, 9):
        r = check(f, X, steps, traced_with=(X, 20))
    assert n_loops(r) == 1

    base = X.copy()
    assert replay.run(r, f, (base, 2)) is base


def test_jacobi_2d_two_arguments():
    def f(a, b, steps):
        for _ in range(1, steps):
            b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
            a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])

    a, b = RNG.random((7, 7)), RNG.random((7, 7))
    r = check(f, a, b, 20)
    assert n_loops(r) == 1 and not r.breaks


def test_jacobi_2d_swap_of_arguments():
    def f(u, v, steps):
        for _ in range(steps):
            v[1:-1, 1:-1] = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])
            u, v = v, u
        return u, v

    u, v = RNG.random((6, 7)), RNG.random((6, 7))
    for n in (9, 10):
        check(f, u, v, n)


def test_rebinding():
    def f(u, n, dt):
        for _ in range(n):
            u = u + dt * np.sin(u)
        return u

    r = check(f, X, 12, 0.1)
    assert n_loops(r) == 1
    check(f, X, 0, 0.1)


def test_in_place_update_of_a_fresh_array():
    def f(x, n):
        u = x * 1.0
        for k in range(n):
            u += k
            u[0] = k
        return u

    check(f, X, 12)


def test_triangular_nest():
    def f(c, a, alpha):
        n = c.shape[0]
        m = a.shape[1]
        for i in range(n):
            c[i, : i + 1] *= alpha
            for k in range(m):
                c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]

    c, a = RNG.random((9, 9)), RNG.random((9, 11))
    r = check(f, c, a, 1.5)
    assert n_loops(r) == 2


def test_lu_by_elements():
    def f(a):
        n = a.shape[0]
        for i in range(n):
            for j in range(i):
                w = a[i, j]
                for k in range(j):
                    w -= a[i, k] * a[k, j]
                a[i, j] = w / a[j, j]
            for j in range(i, n):
                w = a[i, j]
                for k in range(i):
                    w -= a[i, k] * a[k, j]
                a[i, j] = w
        return a

    a = RNG.random((9, 9)) + 9 * np.eye(9)
    r = check(f, a)
    assert n_loops(r) == 5 and not r.breaks


def test_sums_started_with_a_python_number():
    def f(a, b):
        n = a.shape[0]
        for i in range(n):
            s = 0.0
            for k in range(i):
                s += a[i, k] * b[k]
            b[i] = b[i] - s
            t = 0
            for k in range(i):
                t = t + a[k, i]
            b[i] += t
        return b

    a, b = RNG.random((9, 9)), RNG.random(9)
    r = check(f, a, b)
    assert n_loops(r) == 3 and not r.breaks


def test_crc_over_bytes():
    def f(data, table):
        crc = 0xFFFFFFFF
        for i in range(len(data)):
            crc = (crc >> 8) ^ int(table[(crc ^ int(data[i])) & 0xFF])
        return crc ^ 0xFFFFFFFF

    table = np.zeros(256, np.uint32)
    for i in range(256):
        c = i
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table[i] = c
    data = RNG.integers(0, 256, 40).astype(np.uint8)
    r = check(f, data, table)
    assert n_loops(r) == 1 and not r.breaks

    def g(data, table):
        crc = np.uint32(0xFFFFFFFF)
        for b in data:
            crc = table[(crc ^ b) & 0xFF] ^ (crc >> np.uint32(8))
        return crc

    r = check(g, data, table)
    assert n_loops(r) == 1 and not r.breaks


def test_out_of_range_index_in_mid_nest():
    def f(a, n):
        for i in range(n):
            for j in range(i + 2):
                a[i, j] = i + j
        return a

    check(f, np.zeros((12, 12)), 12)
    check(f, np.zeros((30, 30)), 12)


def test_index_from_data():
    def f(a, idx):
        s = 0.0
        for i in range(idx.shape[0]):
            a[idx[i]] = i
            s += a[idx[i] - 1]
        return s

    idx = RNG.integers(-5, 12, 20)
    check(f, X, idx)
    idx[13] = 40
    check(f, X, idx, traced_with=(X, idx % 10))


def test_try_around_a_loop():
    def f(a, n):
        i = -1
        try:
            for i in range(n):
                a[i] = i
        except IndexError:
            return i, a
        return a

    check(f, X, 12, traced_with=(X, 12))
    r = trace(f, bound(f, (X.copy(), 12)))
    y, z = X.copy(), X.copy()
    try:
        got = replay.run(r, f, (y, 15))
        assert got[0] == f(z, 15)[0] and np.array_equal(y, z)
    except replay.GuardFailed:
        pass


def test_loops_over_arrays_zip_and_enumerate():
    def f(a, m, out):
        s = 0.0
        for x in a:
            s = s + x
        for i, row in enumerate(m):
            out[i] = row.sum() + i
        for x, y in zip(a, out):
            s = s * 0.5 + x * y
        return s

    m = RNG.random((12, 5))
    r = check(f, X, m, X * 0)
    assert n_loops(r) == 3


def test_steps_and_negative_ranges():
    def f(a, n):
        for i in range(n - 1, -1, -1):
            a[i] = a[i] + i
        for i in range(1, n, 3):
            a[i] = -1.0
        for i in reversed(range(2, n)):
            a[i - 2] = a[i]
        return a

    check(f, X, 12)


def test_helpers_inside_loops():
    def scale(v, k):
        return v * k

    def f(a, n):
        total = 0.0
        for i in range(n):
            a[i] = scale(a[i], i)
            total += scale(a[i], 2)
        return total, a

    r = check(f, X, 12)
    assert n_loops(r) == 1


def test_closure_variable_carried():
    def f(a, n):
        acc = 0.0

        def add(v):
            nonlocal acc
            acc = acc + v

        for i in range(n):
            acc = acc + a[i]
        add(1.0)
        return acc

    check(f, X, 12)


def test_unsupported_bodies_leave_at_the_header():
    def g(a, n):
        b = a + 1
        out = []
        for i in range(n):
            out.append(memoryview(b)[i])
        return out

    check(g, X, 12, breaks=("call-object",))


def test_known_short_ranges_are_unrolled():
    def f(a):
        for i in range(3):
            for j in range(2):
                a[i + j] = i * j
        return a

    assert n_loops(check(f, X)) == 0


def test_long_known_ranges_are_not():
    def f(a):
        for i in range(12):
            a[i] = i
        return a

    assert n_loops(check(f, X)) == 1


def test_ranges_of_known_length_between_symbols():
    def f(a):
        n = a.shape[0]
        for i in range(n - 1, n):
            a[i] = a[i - 1] + 1
        for i in range(n - 1, n - 3, -1):
            a[i] *= 2
        for i in range(n, n - 1):
            a[i] = 7
        return a, i

    assert n_loops(check(f, X)) == 0
