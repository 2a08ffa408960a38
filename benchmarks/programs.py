"""The programs that are timed: plain NumPy functions, their arguments, and how each peer spells them.

A program's `fn` is what a user would write. `numexpr` is the expression when one can say it; `numba` is the same function
written as loops where Numba cannot compile `fn` itself (axis arguments it lacks), `jax` and `torch` likewise where the same
text with their module in NumPy's place does not do.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

with contextlib.suppress(ImportError):
    import numba
with contextlib.suppress(ImportError):
    import torch

SIZES = {"L2": 1 << 17, "L3": 1 << 22, "DRAM": 1 << 26}
"""Bytes of the largest argument; DRAM is out of every cache where the last level is below 64 MB."""


@dataclass(frozen=True)
class Program:
    """name, fn, args(n elements, dtype) -> tuple; numexpr text; peer spellings; inplace: which arguments it writes."""

    name: str
    fn: Callable[..., Any]
    args: Callable[[int, Any], tuple[Any, ...]]
    numexpr: str | None = None
    numba: Callable[..., Any] | None = None
    jax: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] = ("f8", "f4")
    sizes: tuple[str, ...] = ("L2", "L3", "DRAM")
    inplace: tuple[int, ...] = ()
    skip: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


def rng() -> np.random.Generator:
    return np.random.default_rng(12345)


# ------------------------------------------------------------------------------------------------ fused chains


def black_scholes(s, k, t):
    r, sigma = 0.05, 0.2
    d1 = (np.log(s / k) + (r + 0.5 * sigma * sigma) * t) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    # Normal CDF by tanh, as spreadsheets do, so that plain NumPy can say it.
    n1 = 0.5 * (1.0 + np.tanh(0.7978845608 * (d1 + 0.044715 * d1 * d1 * d1)))
    n2 = 0.5 * (1.0 + np.tanh(0.7978845608 * (d2 + 0.044715 * d2 * d2 * d2)))
    return s * n1 - k * np.exp(-r * t) * n2


def black_scholes_args(n, dt):
    g = rng()
    return g.uniform(10, 50, n).astype(dt), g.uniform(10, 50, n).astype(dt), g.uniform(0.1, 2, n).astype(dt)


D1 = "(log(s / k) + 0.07 * t) / (0.2 * sqrt(t))"
D2 = f"({D1} - 0.2 * sqrt(t))"
BS_NUMEXPR = (
    f"s * 0.5 * (1 + tanh(0.7978845608 * ({D1} + 0.044715 * ({D1}) ** 3)))"
    f" - k * exp(-0.05 * t) * 0.5 * (1 + tanh(0.7978845608 * ({D2} + 0.044715 * {D2} ** 3)))"
)


def haversine(lat1, lon1, lat2, lon2):
    p1, p2 = np.radians(lat1), np.radians(lat2)
    a = np.sin((p2 - p1) * 0.5) ** 2 + np.cos(p1) * np.cos(p2) * np.sin(np.radians(lon2 - lon1) * 0.5) ** 2
    return 12742.0 * np.arcsin(np.sqrt(a))


def haversine_args(n, dt):
    g = rng()
    return tuple(g.uniform(lo, hi, n).astype(dt) for lo, hi in ((-80, 80), (-179, 179)) * 2)


RADIANS = "0.017453292519943295"
HAVERSINE_NUMEXPR = (
    f"12742.0 * arcsin(sqrt(sin((lat2 - lat1) * {RADIANS} * 0.5) ** 2"
    f" + cos(lat1 * {RADIANS}) * cos(lat2 * {RADIANS}) * sin((lon2 - lon1) * {RADIANS} * 0.5) ** 2))"
)


def polynomial(x, y, z):
    """48 terms of three fields, as geometric models and equations of state are written."""
    return (
        1.0 + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625)))
        + y * (0.3 + y * (0.2 + y * (0.1 + y * 0.05))) + z * (0.7 + z * (0.6 + z * (0.5 + z * 0.4)))
        + x * y * (1.1 - 0.2 * x + 0.3 * y - 0.4 * x * y + 0.5 * x * x - 0.6 * y * y)
        + y * z * (1.2 - 0.3 * y + 0.4 * z - 0.5 * y * z + 0.6 * y * y - 0.7 * z * z)
        + z * x * (1.3 - 0.4 * z + 0.5 * x - 0.6 * z * x + 0.7 * z * z - 0.8 * x * x)
        + x * y * z * (0.01 + 0.02 * x + 0.03 * y + 0.04 * z + 0.05 * x * y + 0.06 * y * z + 0.07 * z * x + 0.08 * x * y * z)
        - x * x * y * z * (0.9 + 0.1 * x - 0.2 * y + 0.3 * z)
        - y * y * z * x * (0.8 + 0.2 * x - 0.3 * y + 0.4 * z)
        - z * z * x * y * (0.7 + 0.3 * x - 0.4 * y + 0.5 * z)
    )  # fmt: skip


def polynomial_args(n, dt):
    g = rng()
    m = round(n ** (1 / 3))
    return tuple(g.uniform(-1, 1, (m, m, m)).astype(dt) for _ in range(3))


POLY_NUMEXPR = (
    "1.0 + x * (0.5 + x * (0.25 + x * (0.125 + x * 0.0625)))"
    " + y * (0.3 + y * (0.2 + y * (0.1 + y * 0.05))) + z * (0.7 + z * (0.6 + z * (0.5 + z * 0.4)))"
    " + x * y * (1.1 - 0.2 * x + 0.3 * y - 0.4 * x * y + 0.5 * x * x - 0.6 * y * y)"
    " + y * z * (1.2 - 0.3 * y + 0.4 * z - 0.5 * y * z + 0.6 * y * y - 0.7 * z * z)"
    " + z * x * (1.3 - 0.4 * z + 0.5 * x - 0.6 * z * x + 0.7 * z * z - 0.8 * x * x)"
    " + x * y * z * (0.01 + 0.02 * x + 0.03 * y + 0.04 * z + 0.05 * x * y + 0.06 * y * z + 0.07 * z * x + 0.08 * x * y * z)"
    " - x * x * y * z * (0.9 + 0.1 * x - 0.2 * y + 0.3 * z)"
    " - y * y * z * x * (0.8 + 0.2 * x - 0.3 * y + 0.4 * z)"
    " - z * z * x * y * (0.7 + 0.3 * x - 0.4 * y + 0.5 * z)"
)


def hypot(x, y):
    return np.sqrt(x * x + y * y)


def pair_args(n, dt):
    g = rng()
    return g.standard_normal(n).astype(dt), g.standard_normal(n).astype(dt)


def matrix_args(n, dt):
    m = math.isqrt(n)
    return (rng().standard_normal((m, m)).astype(dt),)


def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def standardise_loops(x):
    n, m = x.shape
    out = np.empty_like(x)
    mean, sq = np.zeros(m, x.dtype), np.zeros(m, x.dtype)
    for i in range(n):
        mean += x[i]
    mean /= n
    for i in range(n):
        d = x[i] - mean
        sq += d * d
    std = np.sqrt(sq / n)
    for i in range(n):
        out[i] = (x[i] - mean) / std
    return out


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def logsumexp(x):
    m = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - m).sum(axis=1)) + m[:, 0]


def softmax_loops(x):
    out = np.empty_like(x)
    for i in numba.prange(x.shape[0]):
        top = x[i, 0]
        for j in range(1, x.shape[1]):
            top = max(top, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            out[i, j] = np.exp(x[i, j] - top)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


def logsumexp_loops(x):
    out = np.empty(x.shape[0], x.dtype)
    for i in numba.prange(x.shape[0]):
        top = x[i, 0]
        for j in range(1, x.shape[1]):
            top = max(top, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += np.exp(x[i, j] - top)
        out[i] = np.log(total) + top
    return out


def softmax_torch(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


def logsumexp_torch(x):
    m = x.amax(1, keepdim=True)
    return torch.log(torch.exp(x - m).sum(1)) + m[:, 0]


def standardise_torch(x):
    return (x - x.mean(0)) / x.std(0, correction=0)


def haversine_torch(lat1, lon1, lat2, lon2):
    p1, p2 = torch.deg2rad(lat1), torch.deg2rad(lat2)
    a = torch.sin((p2 - p1) * 0.5) ** 2 + torch.cos(p1) * torch.cos(p2) * torch.sin(torch.deg2rad(lon2 - lon1) * 0.5) ** 2
    return 12742.0 * torch.arcsin(torch.sqrt(a))


def separable(x, y):
    """x a column, y a row: each sine is needed once per element of x, not once per element of the grid."""
    return np.sin(x**2) + np.cos(y**2)


def separable_args(n, dt):
    m = math.isqrt(n)
    g = rng()
    return g.standard_normal((m, 1)).astype(dt), g.standard_normal((1, m)).astype(dt)


# ------------------------------------------------------------------------------------------------ loops


def jacobi(u, v, steps):
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


def jacobi_args(n, dt):
    m = math.isqrt(n)
    u = rng().standard_normal((m, m)).astype(dt)
    return u, u.copy(), 100


def jacobi_jax(u, v, steps):
    import jax

    def body(_, c):
        a, b = c
        b = b.at[1:-1, 1:-1].set(0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]))
        return b, a

    return jax.lax.fori_loop(0, steps, body, (u, v))[0]


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
    return a


def lu_args(n, dt):
    m = math.isqrt(n)
    return ((rng().uniform(0, 1, (m, m)) + m * np.eye(m)).astype(dt),)


def crc(data, table):
    c = 0xFFFFFFFF
    for i in range(len(data)):
        c = (c >> 8) ^ int(table[(c ^ int(data[i])) & 0xFF])
    return c ^ 0xFFFFFFFF


def crc_args(n, dt):
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ 0xEDB88320 if i & 1 else i >> 1
        table.append(i)
    return rng().integers(0, 256, n // 8).astype(np.uint8), np.array(table, np.int64)


PROGRAMS = [
    Program("black_scholes", black_scholes, black_scholes_args, numexpr=BS_NUMEXPR),
    Program("haversine", haversine, haversine_args, numexpr=HAVERSINE_NUMEXPR, torch=haversine_torch),
    Program("polynomial48", polynomial, polynomial_args, numexpr=POLY_NUMEXPR),
    Program("hypot", hypot, pair_args, numexpr="sqrt(x * x + y * y)"),
    Program("standardise", standardise, matrix_args, numba=standardise_loops, torch=standardise_torch),
    Program("softmax", softmax, matrix_args, numba=softmax_loops, torch=softmax_torch),
    Program("logsumexp", logsumexp, matrix_args, numba=logsumexp_loops, torch=logsumexp_torch),
    Program("separable", separable, separable_args, numexpr="sin(x ** 2) + cos(y ** 2)"),
    Program("jacobi2d", jacobi, jacobi_args, jax=jacobi_jax, dtypes=("f8",), sizes=("L2", "L3"), inplace=(0, 1), skip=("torch",)),
    Program("lu", lu, lu_args, dtypes=("f8",), sizes=("L2",), inplace=(0,), skip=("jax", "torch")),
    Program("crc", crc, crc_args, dtypes=("u1",), sizes=("L2",), skip=("jax", "torch")),
]  # fmt: skip
