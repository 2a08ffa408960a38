"""Programs whose time goes into Python loops: solvers, recurrences, dynamic programming, simulations.

Each is what a scientist would write. `numba` is the same function in the subset that `numba.njit` takes, where `fn` is not in it.
A test compiles all of them to one segment without a break; `benchmarks/loops.py` times them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LoopProgram:
    """name, fn, args(size) -> fresh arguments; small and large : sizes for tests and for timing."""

    name: str
    fn: Callable[..., Any]
    args: Callable[[int], tuple[Any, ...]]
    small: int
    large: int
    numba: Callable[..., Any] | None = None


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


# ------------------------------------------------------------------------------------------------ stencils in time


def jacobi_1d(a, b, steps):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a


def jacobi_1d_args(n):
    x = np.arange(float(n))
    return (x + 2) / n, (x + 3) / n, 40


def jacobi_2d(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def jacobi_2d_args(n):
    u = np.zeros((n, n))
    u[0] = 1.0
    return u, 30


def heat_3d(a, b, steps):
    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = (
            0.125 * (b[2:, 1:-1, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1])
            + 0.125 * (b[1:-1, 2:, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, :-2, 1:-1])
            + 0.125 * (b[1:-1, 1:-1, 2:] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, :-2])
            + b[1:-1, 1:-1, 1:-1]
        )
    return a


def heat_3d_args(n):
    a = rng().random((n, n, n))
    return a, a.copy(), 10


def fdtd_2d(ex, ey, hz, source):
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


def fdtd_2d_args(n):
    g = rng()
    return g.random((n, n)), g.random((n, n)), g.random((n, n)), np.arange(20.0)


def gray_scott(u, v, steps, du, dv, f, k):
    for _ in range(steps):
        lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] + u[1:-1, 2:] + u[2:, 1:-1]
        lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1] + v[1:-1, 2:] + v[2:, 1:-1]
        uc, vc = u[1:-1, 1:-1], v[1:-1, 1:-1]
        uvv = uc * vc * vc
        uc += du * lu - uvv + f * (1 - uc)
        vc += dv * lv + uvv - (f + k) * vc
    return u, v


def gray_scott_args(n):
    u, v = np.ones((n, n)), np.zeros((n, n))
    u[n // 3 : n // 2, n // 3 : n // 2], v[n // 3 : n // 2, n // 3 : n // 2] = 0.5, 0.25
    return u, v, 30, 0.14, 0.06, 0.035, 0.065


def game_of_life(z, steps):
    for _ in range(steps):
        n = (
            z[:-2, :-2] + z[:-2, 1:-1] + z[:-2, 2:]
            + z[1:-1, :-2] + z[1:-1, 2:]
            + z[2:, :-2] + z[2:, 1:-1] + z[2:, 2:]
        )  # fmt: skip
        birth = (n == 3) & (z[1:-1, 1:-1] == 0)
        survive = ((n == 2) | (n == 3)) & (z[1:-1, 1:-1] == 1)
        z[...] = 0
        z[1:-1, 1:-1][birth | survive] = 1
    return z


def game_of_life_numba(z, steps):
    for _ in range(steps):
        n = z[:-2, :-2] + z[:-2, 1:-1] + z[:-2, 2:] + z[1:-1, :-2] + z[1:-1, 2:] + z[2:, :-2] + z[2:, 1:-1] + z[2:, 2:]
        old = z.copy()
        z[...] = 0
        for i in range(n.shape[0]):
            for j in range(n.shape[1]):
                if n[i, j] == 3 or (n[i, j] == 2 and old[i + 1, j + 1] == 1):
                    z[i + 1, j + 1] = 1
    return z


def game_of_life_args(n):
    return rng().integers(0, 2, (n, n)), 20


# ------------------------------------------------------------------------------------------------ element loops


def gauss_seidel(a, steps):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
                    + a[i, j - 1] + a[i, j] + a[i, j + 1]
                    + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip
    return a


def gauss_seidel_args(n):
    return rng().random((n, n)), 10


def crc(data, poly):
    c = 0xFFFF
    for byte in data:
        cur = 0xFF & byte
        for _ in range(8):
            if (c & 0x0001) ^ (cur & 0x0001):
                c = (c >> 1) ^ poly
            else:
                c >>= 1
            cur >>= 1
    c = ~c & 0xFFFF
    return ((c << 8) | ((c >> 8) & 0xFF)) & 0xFFFF


def crc_args(n):
    return rng().integers(0, 256, n).astype(np.int64), 0x8408


def nussinov(seq):
    n = len(seq)
    table = np.zeros((n, n), np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = table[i, j - 1]
            if table[i + 1, j] > best:
                best = table[i + 1, j]
            if i < j - 1:
                pair = 1 if seq[i] + seq[j] == 3 else 0
                best = max(best, table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                if table[i, k] + table[k + 1, j] > best:
                    best = table[i, k] + table[k + 1, j]
            table[i, j] = best
    return table


def nussinov_args(n):
    return (rng().integers(0, 4, n),)


def mandelbrot_escape(re, im, limit):
    out = np.zeros((len(im), len(re)), np.int64)
    for i in range(len(im)):
        for j in range(len(re)):
            c = complex(re[j], im[i])
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                n += 1
            out[i, j] = n
    return out


def mandelbrot_masks(re, im, limit):
    c = re[None, :] + 1j * im[:, None]
    z = np.zeros_like(c)
    n = np.zeros(c.shape, np.int64)
    for k in range(limit):
        alive = np.abs(z) < 2.0
        n[alive] = k
        z = np.where(alive, z * z + c, z)
    return n


def mandelbrot_args(n):
    return np.linspace(-2.0, 0.5, n), np.linspace(-1.2, 1.2, n), 60


def sta_lta(x, nsta, nlta):
    csta = 1.0 / nsta
    clta = 1.0 / nlta
    sta = 0.0
    lta = 1e-99
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        sq = x[i] ** 2
        sta = csta * sq + (1 - csta) * sta
        lta = clta * sq + (1 - clta) * lta
        out[i] = sta / lta
        if i < nlta:
            out[i] = 0
    return out


def sta_lta_args(n):
    return rng().standard_normal(n), 50, 400


def conjugate_gradient(data, indices, indptr, b, tol):
    n = len(b)
    x = np.zeros(n)
    r = b.copy()
    p = b.copy()
    q = np.empty(n)
    rr = r @ r
    its = 0
    while np.sqrt(rr) > tol and its < 10 * n:
        for i in range(n):
            s = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                s += data[k] * p[indices[k]]
            q[i] = s
        alpha = rr / (p @ q)
        x += alpha * p
        r -= alpha * q
        new = r @ r
        p = r + (new / rr) * p
        rr = new
        its += 1
    return x, its


def conjugate_gradient_args(n):
    rows = [[(j, 2.1 if j == i else -1.0) for j in (i - 1, i, i + 1) if 0 <= j < n] for i in range(n)]
    indptr = np.cumsum([0] + [len(r) for r in rows])
    flat = [e for r in rows for e in r]
    return np.array([v for _, v in flat]), np.array([j for j, _ in flat]), indptr, rng().random(n), 1e-8


# ------------------------------------------------------------------------------------------------ factorisations


def lu(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def cholesky(a):
    n = len(a)
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return a


def spd_args(n):
    a = rng().random((n, n))
    return (a @ a.T + n * np.eye(n),)


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def durbin_args(n):
    return (0.5 ** np.arange(1.0, n + 1),)


def thomas(a, b, c, d):
    n = d.shape[0]
    c[0] = c[0] / b[0]
    d[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * c[i - 1]
        c[i] = c[i] / m
        d[i] = (d[i] - a[i] * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


def thomas_args(n):
    g = rng()
    return tuple(g.random((n, 40)) + shift for shift in (0.0, 4.0, 0.0, 0.0))


def floyd_warshall(path):
    for k in range(path.shape[0]):
        for i in range(path.shape[0]):
            path[i, :] = np.minimum(path[i, :], path[i, k] + path[k, :])
    return path


def floyd_warshall_args(n):
    return (rng().integers(1, 1000, (n, n)).astype(float),)


# ------------------------------------------------------------------------------------------------ simulations, statistics


def nbody(pos, vel, mass, dt, steps):
    n = len(mass)
    for _ in range(steps):
        acc = np.zeros((n, 3))
        for i in range(n):
            d = pos - pos[i]
            r2 = (d * d).sum(axis=1) + 0.01
            acc[i] = (mass / (r2 * np.sqrt(r2))) @ d
        vel += dt * acc
        pos += dt * vel
    return pos, vel


def nbody_args(n):
    g = rng()
    return g.standard_normal((n, 3)), g.standard_normal((n, 3)), g.random(n), 0.01, 10


def kmeans(x, centres, tol):
    k = len(centres)
    n = len(x)
    labels = np.zeros(n, np.int64)
    shift = np.inf
    its = 0
    while shift > tol:
        new = np.zeros_like(centres)
        count = np.zeros(k)
        for i in range(n):
            best = np.inf
            for c in range(k):
                d = 0.0
                for a in range(x.shape[1]):
                    d += (x[i, a] - centres[c, a]) ** 2
                if d < best:
                    best = d
                    labels[i] = c
            new[labels[i]] += x[i]
            count[labels[i]] += 1
        for c in range(k):
            if count[c] > 0:
                new[c] /= count[c]
            else:
                new[c] = centres[c]
        shift = np.abs(new - centres).max()
        centres = new
        its += 1
    return centres, labels, its


def kmeans_args(n):
    g = rng()
    x = np.concatenate([g.standard_normal((n, 2)) + 4 * c for c in range(3)])
    return x, x[[0, n, 2 * n]].copy(), 1e-9


def kalman(z, q, r):
    x = np.zeros(2)
    p = np.eye(2)
    f = np.array([[1.0, 1.0], [0.0, 1.0]])
    out = np.empty(len(z))
    for t in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        s = p[0, 0] + r
        gain = p[:, 0] / s
        x = x + gain * (z[t] - x[0])
        p = p - np.outer(gain, p[0])
        out[t] = x[0]
    return out


def kalman_args(n):
    return np.cumsum(rng().standard_normal(n)), 0.01 * np.eye(2), 1.0


def logsumexp(a, axis):
    m = a.max(axis=axis)
    return m + np.log(np.exp(a - np.expand_dims(m, axis)).sum(axis=axis))


def hmm_forward(log_start, log_trans, log_obs):
    alpha = log_start + log_obs[0]
    for t in range(1, len(log_obs)):
        alpha = logsumexp(alpha[:, None] + log_trans, 0) + log_obs[t]
    return logsumexp(alpha, 0)


def hmm_forward_numba(log_start, log_trans, log_obs):
    n = len(log_start)
    alpha = log_start + log_obs[0]
    new = np.empty(n)
    for t in range(1, len(log_obs)):
        for j in range(n):
            a = alpha + log_trans[:, j]
            m = a.max()
            new[j] = m + np.log(np.exp(a - m).sum()) + log_obs[t, j]
        alpha, new = new, alpha
    m = alpha.max()
    return m + np.log(np.exp(alpha - m).sum())


def hmm_forward_args(n):
    g = rng()
    trans = g.random((20, 20))
    trans /= trans.sum(axis=1, keepdims=True)
    return np.log(np.full(20, 0.05)), np.log(trans), np.log(g.random((n, 20)))


def vincenty(lat1, lon1, lat2, lon2):
    a, f = 6378137.0, 1 / 298.257223563
    b = (1 - f) * a
    u1, u2 = np.arctan((1 - f) * np.tan(lat1)), np.arctan((1 - f) * np.tan(lat2))
    su1, cu1, su2, cu2 = np.sin(u1), np.cos(u1), np.sin(u2), np.cos(u2)
    diff = lon2 - lon1
    lam = diff
    for _ in range(100):
        sl, cl = np.sin(lam), np.cos(lam)
        ss = np.sqrt((cu2 * sl) ** 2 + (cu1 * su2 - su1 * cu2 * cl) ** 2)
        cs = su1 * su2 + cu1 * cu2 * cl
        sigma = np.arctan2(ss, cs)
        sa = cu1 * cu2 * sl / ss
        c2a = 1 - sa**2
        c2m = cs - 2 * su1 * su2 / c2a
        c = f / 16 * c2a * (4 + f * (4 - 3 * c2a))
        old = lam
        lam = diff + (1 - c) * f * sa * (sigma + c * ss * (c2m + c * cs * (-1 + 2 * c2m**2)))
        if np.all(np.abs(lam - old) < 1e-12):
            break
    k2 = c2a * (a**2 - b**2) / b**2
    big_a = 1 + k2 / 16384 * (4096 + k2 * (-768 + k2 * (320 - 175 * k2)))
    big_b = k2 / 1024 * (256 + k2 * (-128 + k2 * (74 - 47 * k2)))
    ds = big_b * ss * (c2m + big_b / 4 * (cs * (-1 + 2 * c2m**2) - big_b / 6 * c2m * (-3 + 4 * ss**2) * (-3 + 4 * c2m**2)))
    return b * big_a * (sigma - ds)


def vincenty_args(n):
    g = rng()
    return g.uniform(-1, 1, n), g.uniform(-1, 0, n), g.uniform(-1, 1, n), g.uniform(0.5, 1, n)


def metropolis(x, steps, scale):
    lp = -0.5 * x * x
    accepted = 0
    out = np.empty(steps)
    for t in range(steps):
        new = x + scale * np.random.normal()
        lpn = -0.5 * new * new
        if math.log(np.random.random()) < lpn - lp:
            x, lp = new, lpn
            accepted += 1
        out[t] = x
    return out, accepted


def metropolis_args(n):
    return 0.5, n, 1.0


PROGRAMS = [
    LoopProgram("jacobi 1-D", jacobi_1d, jacobi_1d_args, 30, 2000),
    LoopProgram("jacobi 2-D", jacobi_2d, jacobi_2d_args, 12, 250),
    LoopProgram("heat 3-D", heat_3d, heat_3d_args, 8, 40),
    LoopProgram("FDTD 2-D", fdtd_2d, fdtd_2d_args, 10, 200),
    LoopProgram("Gray-Scott", gray_scott, gray_scott_args, 12, 200),
    LoopProgram("game of life", game_of_life, game_of_life_args, 12, 200, game_of_life_numba),
    LoopProgram("Gauss-Seidel", gauss_seidel, gauss_seidel_args, 8, 200),
    LoopProgram("CRC", crc, crc_args, 20, 20000),
    LoopProgram("Nussinov", nussinov, nussinov_args, 12, 120),
    LoopProgram("Mandelbrot, escape", mandelbrot_escape, mandelbrot_args, 8, 100),
    LoopProgram("Mandelbrot, masks", mandelbrot_masks, mandelbrot_args, 8, 100),
    LoopProgram("STA/LTA", sta_lta, sta_lta_args, 600, 100000),
    LoopProgram("CG on CSR", conjugate_gradient, conjugate_gradient_args, 12, 2000),
    LoopProgram("LU", lu, spd_args, 10, 120),
    LoopProgram("Cholesky", cholesky, spd_args, 10, 120),
    LoopProgram("Durbin", durbin, durbin_args, 12, 1000),
    LoopProgram("Thomas", thomas, thomas_args, 10, 1000),
    LoopProgram("Floyd-Warshall", floyd_warshall, floyd_warshall_args, 10, 150),
    LoopProgram("N-body", nbody, nbody_args, 8, 100),
    LoopProgram("k-means", kmeans, kmeans_args, 10, 1000),
    LoopProgram("Kalman filter", kalman, kalman_args, 20, 2000),
    LoopProgram("HMM forward", hmm_forward, hmm_forward_args, 6, 500, hmm_forward_numba),
    LoopProgram("Vincenty", vincenty, vincenty_args, 9, 5000),
    LoopProgram("Metropolis", metropolis, metropolis_args, 20, 20000),
]
