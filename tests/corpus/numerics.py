"""Ordinary array programs on lists and numbers: time loops, stencils, factorisations, tables, element loops."""

import math

from . import Cases

cases = Cases()


@cases(lambda: ([0.0, 1.0, 2.0, 5.0, 3.0], 3))
def jacobi(u, steps):
    n = len(u)
    v = u[:]
    for _ in range(steps):
        for i in range(1, n - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
        u, v = v, u
    return u, v


@cases(lambda: ([[4.0, 3.0, 1.0], [6.0, 3.0, 2.0], [1.0, 5.0, 9.0]],))
def lu(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i][j] -= a[i][k] * a[k][j]
            a[i][j] /= a[j][j]
        for j in range(i, n):
            for k in range(i):
                a[i][j] -= a[i][k] * a[k][j]
    return a


@cases(lambda: (b"abc",))
def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(3):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


@cases(lambda: (0.3, 0.5, 8))
def mandelbrot(x, y, limit):
    z = c = complex(x, y)
    for count in range(limit):
        if abs(z) > 2.0:
            return count
        z = z * z + c
    return limit


def clamp(value, low=-1.0, high=1.0):
    if value < low:
        return low
    return min(value, high)


@cases(lambda: ([0.5, -3.0, 2.5, math.pi],))
def statistics(values):
    clipped = [clamp(v) for v in values]
    mean = sum(clipped) / len(clipped)
    variance = sum((v - mean) ** 2 for v in clipped) / (len(clipped) - 1)
    top = max(range(len(values)), key=values.__getitem__)
    return round(mean, 6), round(math.sqrt(variance), 6), top


def force(position, /, *, stiffness=2.0, damping=0.1, velocity=0.0):
    return -stiffness * position - damping * velocity


@cases(lambda: (1.0, 0.0, 0.1, 4))
def oscillator(x, v, dt, steps):
    trace = []
    for step in range(steps):
        a = force(x, velocity=v)
        v += a * dt
        x += v * dt
        if step % 2 == 0:
            trace.append((step, round(x, 9)))
    return trace


@cases(lambda: ([5, 2, 9, 1, 7],))
def quicksort(a):
    if len(a) <= 1:
        return a
    pivot, *rest = a
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])


@cases(lambda: ([3.0, 4.0], 1e-3))
def newton(start, tolerance):
    roots = []
    for x in start:
        while True:
            step = (x * x - 2.0) / (2.0 * x)
            x -= step
            if abs(step) < tolerance:
                break
        roots.append(round(x, 3))
    return roots


@cases(lambda: ([1, 2, 2, 3, 3, 3],))
def histogram(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    best, most = None, 0
    for value, count in counts.items():
        if count > most:
            best, most = value, count
    return counts, best


@cases(lambda: ([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
def matmul(a, b):
    n, m, p = len(a), len(b), len(b[0])
    c = [[0] * p for _ in range(n)]
    for i in range(n):
        for j in range(p):
            total = 0
            for k in range(m):
                total += a[i][k] * b[k][j]
            c[i][j] = total
    return c
