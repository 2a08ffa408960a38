"""Everyday programs of many kinds, as people write them: some made for a compiler, many not. Used by `everyday.py`."""

from __future__ import annotations

import collections
import functools
import heapq
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RNG = np.random.default_rng(12)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {}
"""Name -> (function, what gives the arguments of a call)."""


def program(make: Callable[[], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function with its arguments."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[fn.__name__] = fn, make
        return fn

    return register


# ------------------------------------------------------------------------------------------------ numbers in Python

Z = [complex(x, y) for x in np.linspace(-2, 1, 12) for y in np.linspace(-1, 1, 8)]
SIGNAL = RNG.normal(size=4096)
IMAGE = RNG.random((120, 160))
TABLE = RNG.random((300, 6))
LABELS = RNG.integers(0, 5, 300)
GRID = RNG.random((40, 50)) < 0.3
WEIGHTS = np.where(RNG.random((40, 40)) < 0.2, RNG.random((40, 40)), 0.0)
WORDS = " ".join(RNG.choice(["alpha", "beta", "gamma", "delta", "eps"], 400)).split()


@program(lambda: (Z, 60))
def mandelbrot_of_complex(points, limit):
    counts = []
    for c in points:
        z, n = 0j, 0
        while abs(z) <= 2 and n < limit:
            z = z * z + c
            n += 1
        counts.append(n)
    return counts


@program(lambda: (14,))
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@program(lambda: (np.random.default_rng(3), 30, 60))
def gambler(rng, money, goal):
    turns = 0
    while 0 < money < goal and turns < 2000:
        money += 1 if rng.random() < 0.5 else -1
        turns += 1
    return turns


@program(lambda: (3000,))
def primes(n):
    sieve = np.ones(n + 1, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.flatnonzero(sieve)


@program(lambda: (27,))
def collatz(n):
    steps = [n]
    while steps[-1] != 1:
        k = steps[-1]
        steps.append(k // 2 if k % 2 == 0 else 3 * k + 1)
    return steps


@program(lambda: (2.0,))
def newton(a):
    x = a
    for _ in range(50):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-14:
            break
        x = new
    return x


@program(lambda: (1234567890123456789, 65537, 998244353))
def modular_power(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


# ------------------------------------------------------------------------------------------------ text and containers


@program(lambda: (WORDS,))
def word_counts(words):
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda kv: -kv[1])


@program(lambda: ("(()((())()))" * 20,))
def balanced(text):
    stack = []
    for ch in text:
        if ch == "(":
            stack.append(ch)
        elif ch == ")":
            if not stack:
                return False
            stack.pop()
    return not stack


@program(lambda: ('{"x": [1, 2.5, 3], "name": "run", "scale": 2}',))
def parsed(text):
    data = json.loads(text)
    return np.array(data["x"]) * data["scale"], data["name"].upper()


@program(lambda: (TABLE, LABELS))
def group_means(values, labels):
    out = {}
    for label in np.unique(labels):
        out[int(label)] = values[labels == label].mean(axis=0)
    return out


@program(lambda: ([f"{k},{k * 0.5}" for k in range(60)],))
def read_table(lines):
    rows = []
    for line in lines:
        left, right = line.split(",")
        rows.append((int(left), float(right)))
    return np.array(rows)


# ------------------------------------------------------------------------------------------------ graphs


@program(lambda: (GRID | (np.arange(GRID.size).reshape(GRID.shape) == -1), (0, 0)))
def flood_fill(walls, start):
    h, w = walls.shape
    seen = np.zeros(walls.shape, dtype=bool)
    stack = [start]
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= h or j >= w or seen[i, j] or walls[i, j]:
            continue
        seen[i, j] = True
        stack += [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    return seen


@program(lambda: (WEIGHTS, 0))
def dijkstra(weights, start):
    n = len(weights)
    dist = np.full(n, np.inf)
    dist[start] = 0.0
    heap = [(0.0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v in range(n):
            if weights[u, v] > 0 and d + weights[u, v] < dist[v]:
                dist[v] = d + weights[u, v]
                heapq.heappush(heap, (dist[v], v))
    return dist


@program(lambda: (WEIGHTS > 0, 0))
def breadth_first(links, start):
    dist = -np.ones(len(links), dtype=int)
    dist[start] = 0
    queue = collections.deque([start])
    while queue:
        u = queue.popleft()
        for v in np.flatnonzero(links[u]):
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue.append(v)
    return dist


@program(lambda: (WEIGHTS + 0.05,))
def page_rank(links):
    p = links / links.sum(axis=0)
    r = np.full(len(p), 1.0 / len(p))
    for _ in range(100):
        new = 0.85 * p @ r + 0.15 / len(p)
        if np.abs(new - r).sum() < 1e-10:
            break
        r = new
    return r


# ------------------------------------------------------------------------------------------------ signals and images


@program(lambda: (SIGNAL, 1000.0, 60.0))
def low_pass(x, rate, cut):
    spectrum = np.fft.fft(x)
    f = np.fft.fftfreq(len(x), 1 / rate)
    spectrum[np.abs(f) > cut] = 0
    return np.fft.ifft(spectrum).real


def filtered(img, kernel):
    kh, kw = kernel.shape
    padded = np.pad(img, ((kh // 2, kh // 2), (kw // 2, kw // 2)), mode="edge")
    out = np.zeros_like(img)
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * padded[i : i + img.shape[0], j : j + img.shape[1]]
    return out


@program(lambda: (IMAGE,))
def sobel(img):
    gx = filtered(img, np.array([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]]))
    gy = filtered(img, gx.shape and np.array([[-1.0, -2, -1], [0, 0, 0], [1, 2, 1]]))
    return np.hypot(gx, gy)


@program(lambda: (IMAGE, 2.0, 0.1))
def bilateral(img, spread, step):
    h, w = img.shape
    padded = np.pad(img, 2, mode="edge")
    total, norm = np.zeros_like(img), np.zeros_like(img)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            moved = padded[2 + dy : 2 + dy + h, 2 + dx : 2 + dx + w]
            diff = moved - img
            weight = np.exp(-(dy * dy + dx * dx) / (2 * spread**2)) * np.exp(-diff * diff / (2 * step**2))
            total += weight * moved
            norm += weight
    return total / norm


@program(lambda: (SIGNAL, 25))
def moving_average(x, n):
    c = np.cumsum(np.insert(x, 0, 0.0))
    return (c[n:] - c[:-n]) / n


@program(lambda: (SIGNAL,))
def peaks(x):
    inside = x[1:-1]
    at = np.where((inside > x[:-2]) & (inside > x[2:]) & (inside > 1.0))[0] + 1
    return at, x[at]


@program(lambda: ((IMAGE * 255).astype(np.uint8),))
def equalised(img):
    counts = np.bincount(img.ravel(), minlength=256)
    cdf = counts.cumsum()
    low = cdf[cdf > 0][0]
    table = np.round((cdf - low) / (img.size - low) * 255).astype(np.uint8)
    return table[img]


# ------------------------------------------------------------------------------------------------ simulation


@program(lambda: (GRID.astype(np.int64), 8))
def life(cells, n):
    for _ in range(n):
        around = sum(np.roll(np.roll(cells, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)
    return cells


@dataclass
class Body:
    position: np.ndarray
    velocity: np.ndarray
    mass: float


def bodies() -> list[Body]:
    rng = np.random.default_rng(5)
    return [Body(rng.normal(size=3), rng.normal(size=3), float(m)) for m in rng.random(5)]


@program(lambda: (bodies(), 0.01, 10))
def n_bodies(system, dt, steps):
    for _ in range(steps):
        for a in system:
            force = np.zeros(3)
            for b in system:
                if b is not a:
                    d = b.position - a.position
                    force += b.mass * d / (np.sqrt((d**2).sum()) + 1e-3) ** 3
            a.velocity = a.velocity + dt * force
        for a in system:
            a.position = a.position + dt * a.velocity
    return system[0].position


def pendulum(t, y, length=1.0):
    return np.array([y[1], -9.81 / length * np.sin(y[0])])


@program(lambda: (pendulum, np.array([0.3, 0.0]), 0.0, 0.01, 100))
def runge_kutta(f, y, t, h, n):
    out = [y]
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        out.append(y)
    return np.array(out)


@program(lambda: (np.random.default_rng(4), 2000))
def monte_carlo_pi(rng, n):
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


@program(lambda: (np.random.default_rng(6), 200))
def random_walks(rng, n):
    steps = rng.choice([-1, 1], size=(n, 100))
    paths = steps.cumsum(axis=1)
    return paths.max(axis=1).mean(), (paths[:, -1] ** 2).mean()


@program(lambda: (lambda v: (v - 1.5) ** 2 + np.sin(v), 0.0))
def golden_section(f, low):
    high, ratio = low + 4.0, (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    while high - low > 1e-8:
        if f(a) < f(b):
            high = b
        else:
            low = a
        a, b = high - ratio * (high - low), low + ratio * (high - low)
    return (low + high) / 2


# ------------------------------------------------------------------------------------------------ data


@program(lambda: (TABLE, 4, 8))
def k_means(x, k, rounds):
    centres = x[:k].copy()
    for _ in range(rounds):
        distance = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        for j in range(k):
            own = x[nearest == j]
            if len(own):
                centres[j] = own.mean(axis=0)
    return centres, nearest


@program(lambda: (TABLE, TABLE @ np.arange(6.0) + 0.1 * LABELS, 0.05, 60))
def gradient_descent(x, y, rate, rounds):
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        w -= rate * 2 / len(y) * x.T @ (x @ w - y)
    return w


@program(lambda: (TABLE,))
def principal_axes(x):
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / (len(x) - 1))
    order = np.argsort(values)[::-1]
    return values[order], np.abs(centred @ vectors[:, order])


@program(lambda: (TABLE[:, 0].copy(), 0.1))
def without_outliers(x, share):
    low, high = np.quantile(x, [share, 1 - share])
    kept = x[(x >= low) & (x <= high)]
    return kept.mean(), kept.std(), len(kept)


@program(lambda: ("kitten sitting on the mitten", "sitting kitten on the kitchen"))
def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


@program(lambda: ([3, 4, 5, 9, 4], [3.0, 4.0, 4.0, 10.0, 4.0], 110))
def knapsack(weights, values, room):
    best = np.zeros(room + 1)
    for w, v in zip(weights, values):
        for c in range(room, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[room]


@functools.cache
def _binomial(n: int, k: int) -> int:
    return 1 if k in (0, n) else _binomial(n - 1, k - 1) + _binomial(n - 1, k)


@program(lambda: (np.linspace(0, 1, 200), 12))
def bernstein(x, n):
    return [_binomial(n, k) * x**k * (1 - x) ** (n - k) for k in range(n + 1)]


class Account:
    def __init__(self, rate):
        self.rate, self.balance, self.log = rate, 100.0, []

    def month(self, paid):
        self.balance = self.balance * (1 + self.rate / 12) + paid
        self.log.append(self.balance)


@program(lambda: (Account(0.05), [10.0, 20.0, -5.0] * 8))
def savings(account, payments):
    for paid in payments:
        account.month(paid)
        if account.balance < 0:
            raise ValueError("overdrawn")
    return account.balance, len(account.log)


@program(lambda: (np.arange(30.0), "mean"))
def summary(x, kind):
    try:
        return {"mean": x.mean, "max": x.max, "spread": lambda: x.max() - x.min()}[kind]()
    except KeyError:
        return None
