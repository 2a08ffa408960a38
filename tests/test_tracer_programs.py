"""Whole numerical programs: each is one segment without a break, and equals NumPy."""

import math

import numpy as np
import pytest
from tracer_harness import check, prims

RNG = np.random.default_rng(11)
N = 9


def mat(n=N, m=N):
    return RNG.random((n, m))


def vec(n=N):
    return RNG.random(n)


def spd(n=N):
    a = mat(n, n)
    return a @ a.T + n * np.eye(n)


def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def trisolv(low, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def gramschmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        nrm = np.dot(a[:, k], a[:, k])
        r[k, k] = np.sqrt(nrm)
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def seidel(a, steps):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0


def fdtd(ex, ey, hz, fict):
    for t in range(fict.shape[0]):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def heat3d(a, b, steps):
    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = 0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1]) + a[1:-1, 1:-1, 1:-1]
        a[1:-1, 1:-1, 1:-1] = b[1:-1, 1:-1, 1:-1] * 0.5


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], path[:, k, None] + path[k, :])


def matmul_by_elements(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


def spmv(data, indices, indptr, x):
    y = np.zeros(indptr.shape[0] - 1)
    for i in range(y.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return y


def wave(u, steps, c):
    old = u.copy()
    cur = u.copy()
    new = np.zeros_like(u)
    for _ in range(steps):
        new[1:-1] = 2 * cur[1:-1] - old[1:-1] + c * (cur[2:] - 2 * cur[1:-1] + cur[:-2])
        old, cur, new = cur, new, old
    return cur


def newton(x, steps):
    for _ in range(steps):
        x = x - (x * x - 2.0) / (2.0 * x)
    return x


def life(board, steps):
    for _ in range(steps):
        total = np.zeros_like(board)
        total[1:-1, 1:-1] = (
            board[:-2, :-2] + board[:-2, 1:-1] + board[:-2, 2:] + board[1:-1, :-2] + board[1:-1, 2:]
            + board[2:, :-2] + board[2:, 1:-1] + board[2:, 2:]
        )  # fmt: skip
        board = np.where((total == 3) | ((board == 1) & (total == 2)), 1, 0)
    return board


def power_iteration(a, steps):
    v = np.ones(a.shape[0])
    value = 0.0
    for _ in range(steps):
        w = a @ v
        value = np.sqrt((w * w).sum())
        v = w / value
    return value, v


def pi_series(n):
    s = 0.0
    sign = 1.0
    for k in range(n):
        s += sign / (2 * k + 1)
        sign = -sign
    return 4 * s


def horner(c, x):
    out = np.zeros_like(x)
    for k in range(c.shape[0] - 1, -1, -1):
        out = out * x + c[k]
    return out


def convolve(a, k, out):
    n, m = a.shape
    p, q = k.shape
    for i in range(n - p + 1):
        for j in range(m - q + 1):
            out[i, j] = np.sum(a[i : i + p, j : j + q] * k)
    return out


def nbody(pos, vel, steps, dt):
    n = pos.shape[0]
    for _ in range(steps):
        for i in range(n):
            d = pos - pos[i]
            r2 = (d * d).sum(axis=1) + 0.01
            vel[i] += dt * (d / (r2 * np.sqrt(r2))[:, None]).sum(axis=0)
        pos += dt * vel
    return pos


def cumulative(x):
    out = np.empty(x.shape[0] + 1)
    total = 0.0
    out[0] = total
    for i, v in enumerate(x):
        total += v
        out[i + 1] = total
    return out


def mandelbrot(c, steps):
    z = np.zeros_like(c)
    n = np.zeros(c.shape, dtype=np.int64)
    for _ in range(steps):
        alive = (z.real * z.real + z.imag * z.imag) < 4.0
        z = np.where(alive, z * z + c, z)
        n += alive
    return n


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def lcg(n, seed):
    out = np.empty(n)
    x = seed
    for i in range(n):
        x = (1103515245 * x + 12345) % 2147483648
        out[i] = x / 2147483648
    return out


def simpson(f0, n, h):
    s = f0
    for k in range(1, n):
        s += math.sin(k * h) * (4 if n == 0 else 2)
    return s * h / 3


def csr():
    dense = mat() * (mat() > 0.6)
    indices = [np.nonzero(row)[0] for row in dense]
    indptr = np.concatenate([[0], np.cumsum([len(i) for i in indices])])
    return np.concatenate([row[i] for row, i in zip(dense, indices)]), np.concatenate(indices), indptr, vec()


PROGRAMS = [
    (cholesky, (spd(),)),
    (trisolv, (np.tril(spd()), vec(), vec())),
    (durbin, (vec() / 10,)),
    (gramschmidt, (mat(11, 6),)),
    (seidel, (mat(), 3)),
    (fdtd, (mat(), mat(), mat(), vec())),
    (heat3d, (RNG.random((5, 5, 5)), RNG.random((5, 5, 5)), 9)),
    (floyd_warshall, (mat(),)),
    (matmul_by_elements, (mat(5, 9), mat(9, 4))),
    (spmv, csr()),
    (wave, (vec(), 10, 0.1)),
    (newton, (vec() + 1, 9)),
    (life, ((mat() > 0.5).astype(np.int64), 9)),
    (power_iteration, (spd(), 9)),
    (pi_series, (20,)),
    (horner, (vec(10), vec())),
    (convolve, (mat(), mat(3, 3), np.zeros((N, N)))),
    (nbody, (mat(9, 3), mat(9, 3) / 10, 9, 0.01)),
    (cumulative, (vec(),)),
    (mandelbrot, ((mat() * 3 - 2) + 1j * mat(), 10)),
    (fibonacci, (60,)),
    (lcg, (12, 42)),
    (simpson, (0.5, 12, 0.1)),
]


@pytest.mark.parametrize(("fn", "args"), PROGRAMS, ids=lambda x: getattr(x, "__name__", ""))
def test_program(fn, args):
    r = check(fn, *args, most=40)
    assert "loop" in prims(r)
