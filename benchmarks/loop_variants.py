"""The loop programs as others might write them: other names, dtypes and ranks, `while` for `for`, helpers, single elements.

A test compiles all of them to one segment without a break; `benchmarks/loops.py --others` times them. Numba takes no helper
function that is not compiled itself.
"""

from __future__ import annotations

import math

import numpy as np
from loop_programs import LoopProgram, conjugate_gradient_args, kmeans_args, rng, sta_lta_args

f4 = np.float32


def cast(args, dtype):
    return tuple(a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args)


# --- CG
def spmv(vals, cols, ptr, x, y):
    for row in range(len(ptr) - 1):
        acc = 0.0
        for jj in range(ptr[row], ptr[row + 1]):
            acc += vals[jj] * x[cols[jj]]
        y[row] = acc


def cg_helper(vals, cols, ptr, b, iters):
    x = np.zeros_like(b)
    r = b.copy()
    d = r.copy()
    Ad = np.zeros_like(b)
    delta = np.dot(r, r)
    for _k in range(iters):
        spmv(vals, cols, ptr, d, Ad)
        a = delta / np.dot(d, Ad)
        x = x + a * d
        r = r - a * Ad
        new = np.dot(r, r)
        d = r + new / delta * d
        delta = new
    return x


def cg_while(vals, cols, ptr, x):
    n = x.shape[0]
    y = np.zeros(n)
    i = 0
    while i < n:
        k = ptr[i]
        while k < ptr[i + 1]:
            y[i] += vals[k] * x[cols[k]]
            k += 1
        i += 1
    return y


def csr_rep(vals, cols, ptr, x, reps):
    n = x.shape[0]
    y = np.zeros(n)
    for _ in range(reps):
        for i in range(n):
            y[i] = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                y[i] += vals[k] * x[cols[k]]
    return y


def coo(rows, cols, vals, x, reps):
    y = np.zeros(x.shape[0])
    for _ in range(reps):
        for k in range(len(vals)):
            y[rows[k]] += vals[k] * x[cols[k]]
    return y


def cg_a(n):
    d, i, p, b, _ = conjugate_gradient_args(n)
    return d, i, p, b


def i32(args):
    return tuple(a.astype(np.int32) if isinstance(a, np.ndarray) and a.dtype.kind == "i" else a for a in args)


def coo_args(n):
    d, i, p, b = cg_a(n)
    return np.repeat(np.arange(n), np.diff(p)), i, d, b, 50


# --- k-means
def assign(points, centers, labels):
    for i in range(points.shape[0]):
        best = 1e300
        for c in range(centers.shape[0]):
            dx = points[i, 0] - centers[c, 0]
            dy = points[i, 1] - centers[c, 1]
            d = dx * dx + dy * dy
            if d < best:
                best = d
                labels[i] = c


def km_flat(px, py, cx, cy, iters):
    n = px.shape[0]
    k = cx.shape[0]
    lab = np.zeros(n, np.int64)
    for _it in range(iters):
        sx, sy, cnt = np.zeros(k), np.zeros(k), np.zeros(k, np.int64)
        for i in range(n):
            bj = 0
            bd = (px[i] - cx[0]) ** 2 + (py[i] - cy[0]) ** 2
            for j in range(1, k):
                d = (px[i] - cx[j]) ** 2 + (py[i] - cy[j]) ** 2
                if d < bd:
                    bd = d
                    bj = j
            lab[i] = bj
            sx[bj] += px[i]
            sy[bj] += py[i]
            cnt[bj] += 1
        for j in range(k):
            if cnt[j] > 0:
                cx[j] = sx[j] / cnt[j]
                cy[j] = sy[j] / cnt[j]
    return lab


def km_flat_args(n):
    x, c, _ = kmeans_args(n)
    return x[:, 0].copy(), x[:, 1].copy(), c[:, 0].copy(), c[:, 1].copy(), 5


def sqdist(x, c, i, j):
    s = 0.0
    for a in range(x.shape[1]):
        t = x[i, a] - c[j, a]
        s += t * t
    return s


def km_helper(x, c, iters):
    n, k, dim = x.shape[0], c.shape[0], x.shape[1]
    lab = np.zeros(n, np.int64)
    for _it in range(iters):
        for i in range(n):
            best = sqdist(x, c, i, 0)
            lab[i] = 0
            for j in range(1, k):
                d = sqdist(x, c, i, j)
                if d < best:
                    best = d
                    lab[i] = j
        tot = np.zeros((k, dim))
        cnt = np.zeros(k)
        for i in range(n):
            for a in range(dim):
                tot[lab[i], a] += x[i, a]
            cnt[lab[i]] += 1.0
        for j in range(k):
            for a in range(dim):
                if cnt[j] > 0:
                    c[j, a] = tot[j, a] / cnt[j]
    return lab, c


def km_helper_args(n):
    x, c, _ = kmeans_args(n)
    return x, c, 5


def km_norm(x, c, iters):
    n = len(x)
    lab = np.zeros(n, np.int64)
    for _it in range(iters):
        for i in range(n):
            best = np.inf
            for j in range(len(c)):
                d = np.sum((x[i] - c[j]) ** 2)
                if d < best:
                    best = d
                    lab[i] = j
        for j in range(len(c)):
            total = np.zeros(x.shape[1])
            m = 0
            for i in range(n):
                if lab[i] == j:
                    total += x[i]
                    m += 1
            if m:
                c[j] = total / m
    return lab, c


# --- STA/LTA
def ratio_while(sig, ns, nl):
    a = 1.0 / ns
    b = 1.0 / nl
    s = 0.0
    m = 1e-10
    r = np.zeros_like(sig)
    k = 1
    while k < sig.shape[0]:
        e = sig[k] * sig[k]
        s = s + a * (e - s)
        m = m + b * (e - m)
        if k >= nl:
            r[k] = s / m
        k += 1
    return r


def sta_arrays(x, ns, nl):
    n = len(x)
    sta = np.zeros(n)
    lta = np.zeros(n)
    for i in range(1, n):
        sta[i] = sta[i - 1] + (x[i] ** 2 - sta[i - 1]) / ns
        lta[i] = lta[i - 1] + (x[i] ** 2 - lta[i - 1]) / nl
    return sta, lta


def ema(x, alpha):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return y


def windowed(x, ns, nl):
    n = len(x)
    out = np.zeros(n)
    for i in range(nl, n):
        s = 0.0
        for k in range(i - ns, i):
            s += x[k] * x[k]
        m = 0.0
        for k in range(i - nl, i):
            m += x[k] * x[k]
        if m > 0:
            out[i] = (s / ns) / (m / nl)
    return out


# --- Gauss-Seidel
def sor(u, f, h2, omega, sweeps):
    ny, nx = u.shape
    for _s in range(sweeps):
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                new = 0.25 * (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - h2 * f[y, x])
                u[y, x] += omega * (new - u[y, x])
    return u


def sor_args(n):
    g = rng()
    return g.random((n, n)), g.random((n, n)), 0.01, 1.5, 10


def gs_residual(u, tol):
    n = u.shape[0]
    err = 1.0
    it = 0
    while err > tol and it < 20:
        err = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                old = u[i, j]
                u[i, j] = 0.25 * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1])
                err = max(err, abs(u[i, j] - old))
        it += 1
    return u, it


def gs_1d(u, n, sweeps):
    for _s in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                k = i * n + j
                u[k] = (u[k - 1] + u[k + 1] + u[k - n] + u[k + n]) / 4.0
    return u


def gs_1d_args(n):
    return rng().random(n * n), n, 10


def gs_dense(A, b, x, sweeps):
    n = len(b)
    for _s in range(sweeps):
        for i in range(n):
            t = b[i]
            for j in range(n):
                if j != i:
                    t -= A[i, j] * x[j]
            x[i] = t / A[i, i]
    return x


def gs_dense_args(n):
    a = rng().random((n, n))
    return a + n * np.eye(n), rng().random(n), np.zeros(n), 20


# --- other common ones
def matmul3(a, b):
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


def forces(pos, eps):
    n = pos.shape[0]
    f = np.zeros_like(pos)
    for i in range(n):
        for j in range(n):
            if i != j:
                r2 = 0.0
                for a in range(3):
                    r2 += (pos[i, a] - pos[j, a]) ** 2
                r2 += eps
                for a in range(3):
                    f[i, a] += (pos[j, a] - pos[i, a]) / (r2 * math.sqrt(r2))
    return f


def forces_rows(pos, eps):
    n = len(pos)
    f = np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            if i != j:
                d = pos[j] - pos[i]
                r2 = d @ d + eps
                f[i] += d / (r2 * np.sqrt(r2))
    return f


def hist(x, lo, hi, nb):
    h = np.zeros(nb, np.int64)
    for i in range(len(x)):
        k = int((x[i] - lo) / (hi - lo) * nb)
        if 0 <= k < nb:
            h[k] += 1
    return h


def thomas1(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def thomas1_args(n):
    g = rng()
    return g.random(n), g.random(n) + 4, g.random(n), g.random(n)


def fib(n):
    f = np.zeros(n)
    f[1] = 1.0
    for i in range(2, n):
        f[i] = 0.5 * f[i - 1] + 0.49 * f[i - 2]
    return f


def lcs(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n + 1, m + 1), np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])
    return t[n, m]


def prefix(x):
    c = np.empty_like(x)
    c[0] = x[0]
    for i in range(1, len(x)):
        c[i] = c[i - 1] + x[i]
    return c


def P(name, fn, args, large, small=10):
    return LoopProgram(name, fn, args, small, large)


PROGRAMS = [
    P("cg helper", cg_helper, lambda n: (*cg_a(n), 60), 2000),
    P("cg i32", cg_helper, lambda n: i32((*cg_a(n), 60)), 2000),
    P("spmv f32 y[i]+=", csr_rep, lambda n: (*cast(cg_a(n), f4), 50), 2000),
    P("spmv y[i]+=", csr_rep, lambda n: (*cg_a(n), 50), 2000),
    P("spmv while", cg_while, cg_a, 20000),
    P("coo", coo, coo_args, 2000),
    P("assign", assign, lambda n: (*kmeans_args(n)[:2], np.zeros(3 * n, np.int64)), 3000),
    P("assign f32", assign, lambda n: (*cast(kmeans_args(n)[:2], f4), np.zeros(3 * n, np.int64)), 3000),
    P("km flat", km_flat, km_flat_args, 1000),
    P("km helper", km_helper, km_helper_args, 1000),
    P("km helper f32", km_helper, lambda n: cast(km_helper_args(n), f4), 1000),
    P("km norm", km_norm, km_helper_args, 300),
    P("ratio while", ratio_while, sta_lta_args, 100000),
    P("ratio while f32", ratio_while, lambda n: cast(sta_lta_args(n), f4), 100000),
    P("sta arrays", sta_arrays, sta_lta_args, 100000),
    P("ema", ema, lambda n: (rng().random(n), 0.1), 100000),
    P("ema f32", ema, lambda n: (rng().random(n).astype(f4), f4(0.1)), 100000),
    P("windowed", windowed, lambda n: (rng().random(n), 10, 100), 5000),
    P("sor", sor, sor_args, 200),
    P("sor f32", sor, lambda n: cast(sor_args(n), f4), 200),
    P("gs residual", gs_residual, lambda n: (rng().random((n, n)), 1e-9), 150),
    P("gs 1-D", gs_1d, gs_1d_args, 200),
    P("gs dense", gs_dense, gs_dense_args, 200),
    P("matmul3", matmul3, lambda n: (rng().random((n, n)), rng().random((n, n))), 120),
    P("forces", forces, lambda n: (rng().random((n, 3)), 0.01), 150),
    P("forces rows", forces_rows, lambda n: (rng().random((n, 3)), 0.01), 80),
    P("hist", hist, lambda n: (rng().random(n), 0.0, 1.0, 50), 100000),
    P("thomas 1-D", thomas1, thomas1_args, 50000),
    P("fib", fib, lambda n: (n,), 50000),
    P("lcs", lcs, lambda n: (rng().integers(0, 4, n), rng().integers(0, 4, n)), 400),
    P("prefix", prefix, lambda n: (rng().random(n),), 100000),
    P("prefix int", prefix, lambda n: (rng().integers(0, 9, n),), 100000),
]
