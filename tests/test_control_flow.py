"""Branches on run-time values, while loops, and loops left from within: one segment without a break, with plain Python's results.

Each program is traced and replayed with every exit forced in turn, then run through generated C++.
"""

import copy
import math

import numpy as np
import pytest
from tracer_harness import bound, check, outcome, prims, same

import npcompile
from npcompile.tracer import trace

X = np.linspace(-2.0, 3.0, 12)
M = np.arange(20.0).reshape(4, 5)


def two_arms(x, a):
    if a > 0:
        y = x * 2
    else:
        y = x - 1
    return y + a


def running_maximum(x):
    m = x[0]
    for i in range(len(x)):
        if x[i] > m:
            m = x[i]
    return m


def leaves_and_continues(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0 and x[i] > -1.5:
            continue
        if x[i] > 2:
            break
        s += x[i]
    return s, i


def collatz_steps(n):
    k = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        k += 1
    return k


def finds(x, t):
    for i in range(len(x)):
        if x[i] > t:
            return i
    return -1


def magnitude(a):
    if a < 0:
        return -a
    return a


def helper_with_returns(x):
    s = 0.0
    for v in x:
        s += magnitude(v)
    return s


def elif_chain(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = x[i]
        if v < -1:
            out[i] = -1
        elif v < 0:
            out[i] = v
        elif 0 <= v < 1:
            out[i] = v * v
        else:
            out[i] = np.sqrt(v)
    return out


def raise_in_arm(x, t):
    x[0] = 5.0
    if x.sum() > t:
        x[1] = 7.0
        raise ValueError(f"too large {t}")
    x[2] = 8.0
    return x * 2


def early(x, t):
    s = x.sum()
    if s > t:
        return x - s
    y = x * 2
    if y[0] > 0:
        return y
    return y + 1


def cond_expr(x, a):
    y = x if False else x + 1
    k = 2.0 if a > 0 else 3.0
    z = min(a, 4.0) + max(k, a)
    return y * k + z


def logic(a, b):
    r = a > 0 and b > 0
    q = a > 0 or b > 0
    n = not (a > b)
    return r, q, n, (a and b), (a or b)


def logic_if(x, a, b):
    if (a > 0 and b > 0) or a < -5:
        y = x + 1
    else:
        y = x - 1
    if not (a > 0 or b > 1):
        y = y * 2
    return y


def store_in_arm(x, a):
    y = np.zeros(len(x))
    if a > 0:
        y[2] = 1.0
        x[0] = a
    else:
        y[3] = 2.0
    y[4:6] = a
    return y


def nested(x):
    n = 0
    for i in range(len(x)):
        for j in range(i, len(x)):
            if x[i] * x[j] > 1:
                if i == j:
                    n += 1
                elif x[i] > 0:
                    n += 2
                else:
                    continue
                if n > 60:
                    break
        else:
            n += 100
        if n > 900:
            break
    return n, i, j


def while_true(a):
    k = 0
    while True:
        a = 0.5 * (a + 2.0 / a)
        k += 1
        if abs(a * a - 2.0) < 1e-12:
            break
    return a, k


def converge(x, tol):
    it = 0
    err = 1.0
    while err > tol and it < 50:
        y = 0.5 * (x + 1.0)
        err = np.max(np.abs(y - x))
        x = y
        it += 1
    return x, it


def while_else(n):
    i = 0
    while i < n:
        if i * i == 49:
            break
        i += 1
    else:
        i = -1
    return i


def ret_arr(x):
    for i in range(len(x)):
        if x[i] > 0:
            return x[i:] * 2
    return x


def unbound(x, t):
    for v in x:
        if v > t:
            found = v
            break
    return found


def kind_join(x, t):
    m = 0.0
    for i in range(len(x)):
        if x[i] > t:
            m = x[i]
    return m


def swap(x, y, n):
    for k in range(n):
        if k % 2 == 0:
            x[:] = y + k
        else:
            y[:] = x - k
    return x + y


def neg(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        if x[i] < 0:
            s = s * 0.5 + x[i]
    return s


def zips(x, y):
    s = 0.0
    c = 0
    for k, (a, b) in enumerate(zip(x, y)):
        if a > b:
            s += a - b
            c = k
    return s, c


def rows(m):
    s = np.zeros(m.shape[1])
    for r in m:
        if r[0] > 4:
            s += r
    return s


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def collatz(limit):
    best, arg = 0, 0
    for n in range(1, limit):
        k, m = 0, n
        while m != 1:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            k += 1
        if k > best:
            best, arg = k, n
    return best, arg


def oob(x, n):
    s = 0.0
    for i in range(n):
        if x[i] > 0:
            x[i] = s
        s += x[i + 1]
    return s


def isnan_branch(x):
    s = 0.0
    for v in x:
        if np.isnan(v):
            continue
        if math.isinf(v):
            return -1.0
        s += v
    return s


def array_join(x, a):
    y = x + 1
    if a > 0:
        y = y * a
    else:
        y = np.sqrt(np.abs(y))
    y[0] = 3
    return y


def array_rebind_loop(x, n):
    u = x * 1.0
    for k in range(n):
        if k % 3 == 0:
            u = u * 0.5
        else:
            u = u + 1.0
    return u


def any_all(x):
    k = 0
    y = x.copy()
    while (y > 0.1).any():
        y = y * 0.5
        k += 1
    return k, y


def step(x, v):
    a = -x
    if a > 1.0:
        a = 1.0
    return x + 0.1 * v, v + 0.1 * a


def tuple_state(n):
    state = (1.0, 0.0)
    for _ in range(n):
        state = step(*state)
    return state


def tuple_arrays(x, n):
    s = (x * 1.0, 0)
    for _ in range(n):
        u, k = s
        s = (u * 0.5 + 1.0, k + 1)
    return s


def fib(n):
    a, b = 0, 1
    while b < n:
        a, b = b, a + b
    return a, b


def newton(f0, x0):
    x = x0
    for it in range(50):  # noqa: B007
        fx = x**3 - f0
        if abs(fx) < 1e-10:
            break
        x -= fx / (3 * x**2)
    else:
        raise RuntimeError("no convergence")
    return x, it


def bisect(lo, hi, target):
    while hi - lo > 1e-9:
        mid = 0.5 * (lo + hi)
        if mid * mid < target:
            lo = mid
        else:
            hi = mid
    return 0.5 * (lo + hi)


def bubble(x):
    n = len(x)
    while True:
        swapped = False
        for i in range(n - 1):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
                swapped = True
        if not swapped:
            break
        n -= 1
    return x


def binary_search(x, v):
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return lo


def knapsack(w, v, cap):
    best = np.zeros(cap + 1)
    for i in range(len(w)):
        for c in range(cap, w[i] - 1, -1):
            if best[c - w[i]] + v[i] > best[c]:
                best[c] = best[c - w[i]] + v[i]
    return best


def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


def histogram(x, bins):
    h = np.zeros(bins, np.int64)
    lo, hi = x.min(), x.max()
    for v in x:
        k = int((v - lo) / (hi - lo) * bins)
        if k == bins:
            k -= 1
        h[k] += 1
    return h


def ewm(x, alpha):
    out = np.empty_like(x)
    m = np.nan
    for i, v in enumerate(x):
        if np.isnan(m):
            m = v
        elif not np.isnan(v):
            m = alpha * v + (1 - alpha) * m
        out[i] = m
    return out


def runge(y, h, n):
    t = 0.0
    for _ in range(n):
        k1 = -y * t
        k2 = -(y + 0.5 * h * k1) * (t + 0.5 * h)
        y = y + h * k2
        t += h
    return y, t


def clamp_loop(x, lo, hi):
    for i in range(x.shape[0]):
        x[i] = lo if x[i] < lo else (hi if x[i] > hi else x[i])
    return x


def floor_ops(n):
    s = 0
    for i in range(1, n):
        s += (-i) // 3 + (-i) % 4 + i // 2 - (i**2) % 7
        if s > 1000:
            s -= 1000
    return s


def argmax2(m):
    best = -np.inf
    at = (0, 0)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > best:
                best = m[i, j]
                at = (i, j)
    return best, at


def power_iter(m, tol):
    v = np.ones(m.shape[0])
    lam = 0.0
    for it in range(200):  # noqa: B007
        w = m @ v
        new = np.sqrt((w * w).sum())
        v = w / new
        if abs(new - lam) < tol:
            break
        lam = new
    return lam, it


def run_length(x):
    count = 1
    longest = 0
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            count += 1
        else:
            longest = max(longest, count)
            count = 1
    return max(longest, count)


def exchanged_and_new(n):
    a, b = np.zeros(2), np.ones(2)
    for _ in range(n):
        a, b = b, a + b
    return a, b


S = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 1]])

CASES = [
    (two_arms, (X, 1.0)),
    (two_arms, (X, -1.0)),
    (running_maximum, (X,)),
    (leaves_and_continues, (X,)),
    (collatz_steps, (27,)),
    (finds, (X, 0.5)),
    (finds, (X, 10.0)),
    (helper_with_returns, (X,)),
    (elif_chain, (X,)),
    (raise_in_arm, (X, -100.0)),
    (raise_in_arm, (X, 100.0)),
    (early, (X, 1.0)),
    (early, (X, 100.0)),
    (early, (-X, 100.0)),
    (cond_expr, (X, 1.0)),
    (cond_expr, (X, -1.0)),
    (logic, (1.0, 2.0)),
    (logic, (1.0, 0.0)),
    (logic, (-1.0, 0.0)),
    (logic_if, (X, 1.0, 1.0)),
    (logic_if, (X, -6.0, 1.0)),
    (logic_if, (X, 1.0, -1.0)),
    (store_in_arm, (X, 1.0)),
    (store_in_arm, (X, -1.0)),
    (nested, (X,)),
    (while_true, (1.0,)),
    (converge, (X, 1e-6)),
    (while_else, (20,)),
    (while_else, (5,)),
    (ret_arr, (X,)),
    (ret_arr, (-np.abs(X),)),
    (unbound, (X, 0.0)),
    (unbound, (X, 10.0)),
    (kind_join, (X, 0.0)),
    (kind_join, (X, 10.0)),
    (swap, (X, X + 1, 5)),
    (neg, (X,)),
    (zips, (X, X[::-1].copy())),
    (rows, (M,)),
    (gcd, (1071, 462)),
    (collatz, (100,)),
    (oob, (X, 5)),
    (oob, (X, 20)),
    (isnan_branch, (X,)),
    (isnan_branch, (np.array([1, np.nan, 2]),)),
    (isnan_branch, (np.array([1, np.inf, 2]),)),
    (array_join, (X, 2.0)),
    (array_join, (X, -2.0)),
    (array_rebind_loop, (X, 7)),
    (any_all, (X,)),
    (exchanged_and_new, (0,)),
    (exchanged_and_new, (10,)),
    (tuple_state, (20,)),
    (tuple_arrays, (X, 5)),
    (fib, (1000,)),
    (newton, (5.0, 1.0)),
    (bisect, (0.0, 2.0, 2.0)),
    (bubble, (X[::-1].copy(),)),
    (binary_search, (X, 0.7)),
    (knapsack, (np.array([2, 3, 4]), np.array([3.0, 4.0, 5.0]), 9)),
    (edit_distance, (np.array([1, 2, 3, 4]), np.array([2, 3, 5]))),
    (histogram, (X, 4)),
    (ewm, (X, 0.3)),
    (ewm, (np.array([np.nan, 1, 2, np.nan, 3]), 0.3)),
    (runge, (X, 0.1, 5)),
    (clamp_loop, (X, -1.0, 1.0)),
    (floor_ops, (200,)),
    (argmax2, (S,)),
    (power_iter, (S, 1e-9)),
    (run_length, (np.array([1, 1, 2, 2, 2, 3, 3]),)),
]


@pytest.mark.parametrize("fn, args", CASES, ids=[f.__name__ for f, _ in CASES])
def test_control_flow(fn, args):
    r = check(fn, *args, most=60)
    assert "cond" in prims(r) or any(node.prim == "loop" for node in r.graph.body.walk())
    compiled(fn, *args)


def compiled(fn, *args):
    """C++ gives plain Python's results and exceptions, and changes the arguments alike, at every call."""
    if not isinstance(outcome(lambda: fn(*copy.deepcopy(args)))[0], Exception):
        report = npcompile.explain(fn, *copy.deepcopy(args))
        assert len(report.segments) == 1 and report.graph_breaks == [] and report.backend == "C++", str(report)
    j = npcompile.jit(fn)
    for _ in range(2):
        a, b = copy.deepcopy(args), copy.deepcopy(args)
        want, got = outcome(lambda: fn(*a)), outcome(lambda: j(*b))  # noqa: B023
        assert same(want[0], got[0]) and want[1] == got[1], (want, got)
        assert same(list(a), list(b)), (a, b)
    assert j.stats.plain_calls == 0 and j.stats.compiles == 1, j.stats


def test_an_error_in_an_arm_is_no_break():
    r = check(raise_in_arm, X, -100.0)
    assert r.breaks == []


def test_what_is_not_compiled_in_one_arm_leaves_there():
    def f(x, a):
        y = x * 2
        if a > 0:
            print(end="", file=None)
            y = y + 1
        return y

    r = check(f, X, -1.0, breaks=("side-effect-call",))
    assert "cond" in prims(r)


def test_arms_that_cannot_be_joined_go_on_apart():
    def f(x, a):
        if a > 0:
            y = x
        else:
            y = x[2:] * 1.0
        return y + y.sum()

    for a in (1.0, -1.0):
        check(f, X, a)
        compiled(f, X, a)


def test_the_code_after_tests_joined_by_and_is_traced_once():
    def f(x, a, b, c):
        if a > 0 and b > 0 and c > 0:
            y = np.sin(x)
        else:
            y = np.cos(x)
        return y

    r = check(f, X, 1.0, 1.0, 1.0)
    assert prims(r).count("sin") == prims(r).count("cos") == 1


def test_element_loops_do_not_allocate():
    report = npcompile.explain(elif_chain, X)
    assert report.allocations_in_loops == 0


def test_an_exit_from_a_loop_makes_arrays_of_its_scratch_memory():
    def f(x, n):
        p = 1
        for i in range(n):
            acc = np.zeros(4)
            part = acc[1:]
            part[0] = i
            acc[3] = x[i % 5]
            p = p * 9
        return acc, part, p

    got = npcompile.jit(f)(X, 40)
    want = f(X, 40)
    assert all(map(same, want, got)) and got[1].base is got[0]
    assert npcompile.explain(f, X, 5).allocations_in_loops == 0


def test_an_exit_after_a_join_in_an_inlined_function():
    def inner(a, i):
        k = 1 if a.sum() > 0 else 2
        return i // (k - 1)

    def f(a, i):
        b = a + 1
        return 3 * inner(a, i) + 1, b

    check(f, X, 3)
    check(f, -X, 3)


def test_an_arm_that_leaves_after_attempts_to_join_it():
    def f(w, m, n, s):
        k = 0
        for _ in range(m):
            c = 0
            while k > 2 and c < 6:
                c += 1
                if c > 7:
                    break
            else:
                k += 5
            k += 1
            if n > 3:
                if s > 5:
                    break
                w = w + 1
            else:
                s *= 2.0
        return s, k

    for n, s in ((5, -1.5), (5, 9.0), (2, 1.0)):
        r = trace(f, bound(f, (X, 6, n, s)))
        check(f, X, 6, n, s, breaks=tuple(b.reason for b in r.breaks))


def test_ways_that_never_meet_are_bounded():
    def f(x, n, a):
        s = x[0]
        flag = False
        k = int(a)
        c = 0
        while True:
            c += 1
            if c > 7:
                break
            if (0 < s < 2 or s < -4) and s > 1:
                x = x * 0.5
                if np.isnan(s) and n > 3:
                    x[1:] += 1.0
            elif k & 1:
                if k & 2 and flag:
                    break
                flag = flag or s > 1
            elif np.isnan(s):
                s = -k * 0.5
            k = k // 2 + 1
        return s, k, x

    args = X, 5, 9.0
    r = trace(f, bound(f, args))
    check(f, *args, breaks=tuple(b.reason for b in r.breaks), most=40)
    assert len(r.spec.exits) < 200
