"""Block reductions: NumPy's pairwise sums bit for bit, extrema and their places with NaN."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from kernels_harness import compiled
from npcompile.kernels import text

SOURCE = """
#define SUM(T, N) \
  extern "C" void sum_##N(npc_i64 n, const T *p, T *r) { *r = npc_pairwise_memory(p, n); } \
  extern "C" void fill_##N(npc_i64 n, const T *p, T *r) { \
    *r = npc_pairwise<T>(0, n, [&](T *o, npc_i64 s, npc_i64 c) { for (npc_i64 i = 0; i < c; i++) o[i] = p[s + i]; }); } \
  extern "C" void parts_##N(npc_i64 n, const T *p, T *r) { \
    npc_i64 d = 0; T part[8]; \
    while (d < 3 && n >= (npc_i64)512 << (d + 1)) d++; \
    for (npc_i64 k = 0; k < 1 << d; k++) { npc_i64 f, c = npc_pairwise_part(n, d, k, &f); \
      part[k] = npc_pairwise_memory(p + f, c); } \
    *r = npc_pairwise_join(part, d); } \
  extern "C" void max_##N(npc_i64 n, const T *p, T *r) { *r = npc_max_block(p, n, p[0]); } \
  extern "C" void min_##N(npc_i64 n, const T *p, T *r) { *r = npc_min_block(p, n, p[0]); }
SUM(double, f64)
SUM(float, f32)
#define SEARCH(T, N) \
  extern "C" npc_i64 argmax_##N(npc_i64 n, const T *p) { T b = p[0]; npc_i64 k = 0; \
    for (npc_i64 i = 0; i < n; i += 100) npc_arg_block<1>(p + i, n - i < 100 ? n - i : 100, i, &b, &k); return k; } \
  extern "C" npc_i64 argmin_##N(npc_i64 n, const T *p) { T b = p[0]; npc_i64 k = 0; \
    for (npc_i64 i = 0; i < n; i += 100) npc_arg_block<-1>(p + i, n - i < 100 ? n - i : 100, i, &b, &k); return k; }
SEARCH(double, f64)
SEARCH(float, f32)
SEARCH(npc_i64, i64)
SEARCH(npc_u64, u64)
SEARCH(npc_i32, i32)
SEARCH(npc_u32, u32)
SEARCH(npc_i16, i16)
SEARCH(npc_u16, u16)
SEARCH(npc_i8, i8)
SEARCH(npc_u8, u8)
#define CSUM(T, N) \
  extern "C" void sum_##N(npc_i64 n, const T *p, T *r) { *r = npc_pairwise_complex_memory(p, n); } \
  extern "C" void fill_##N(npc_i64 n, const T *p, T *r) { \
    *r = npc_pairwise_complex<T>(0, n, [&](T *o, npc_i64 s, npc_i64 c) { for (npc_i64 i = 0; i < c; i++) o[i] = p[s + i]; }); }
CSUM(npc_c128, c128)
CSUM(npc_c64, c64)
extern "C" void fill_f16(npc_i64 n, const npc_f16 *p, npc_f16 *r) {
  *r = npc_half(npc_pairwise_f16(0, n, [&](npc_f16 *o, npc_i64 s, npc_i64 c) {
    for (npc_i64 i = 0; i < c; i++) o[i] = p[s + i]; })); }
"""
SIZES = [*range(1, 140), 255, 256, 257, 511, 1000, 1023, 1025, 4096, 5001, 20000, 65537]
TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "c128": "c16", "c64": "c8"}


@pytest.fixture(scope="module", params=[("-O3", "-march=native"), ("-O2", "-march=x86-64")], ids=["native", "sse2"])
def lib(request):
    return compiled(text({"pairwise", "arg_block", "half"}) + SOURCE, request.param)


def call(f, x: np.ndarray) -> np.generic:
    r = np.empty(1, x.dtype)
    f(ctypes.c_longlong(len(x)), ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(r.ctypes.data))
    return r[0]


def data(t: str, n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.standard_normal(n) * (1 if t == "f16" else 10.0 ** rng.integers(-6, 6))
    return (x + 1j * x[::-1] if t[0] == "c" else x).astype(TYPES[t])


@pytest.mark.parametrize("t", TYPES)
def test_sum_has_the_bits_of_numpy(lib, t):
    rng = np.random.default_rng(1)
    ways = [k for k in ("sum", "fill", "parts") if hasattr(lib, f"{k}_{t}")]
    for n in SIZES:
        x = data(t, n, rng)
        for k in ways:
            assert call(getattr(lib, f"{k}_{t}"), x) == x.sum(), (k, n)


@pytest.mark.parametrize("t", ["f64", "f32"])
@pytest.mark.parametrize("nan", [False, True])
def test_extrema(lib, t, nan):
    rng = np.random.default_rng(2)
    for n in SIZES:
        x = np.round(data(t, n, rng), 1)
        if nan:
            x[rng.integers(n)] = np.nan
        for k in ("max", "min"):
            assert np.array_equal(call(getattr(lib, f"{k}_{t}"), x), getattr(x, k)(), equal_nan=True), (k, n)
            f = getattr(lib, f"arg{k}_{t}")
            f.restype = ctypes.c_longlong
            assert f(ctypes.c_longlong(n), ctypes.c_void_p(x.ctypes.data)) == getattr(x, f"arg{k}")(), (k, n)


@pytest.mark.parametrize("t", ["i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8"])
def test_places_of_integers(lib, t):
    rng = np.random.default_rng(3)
    info = np.iinfo(f"{t[0]}{int(t[1:]) // 8}")
    for n in SIZES:
        few = rng.integers(0, 3, n).astype(info.dtype)
        ends = rng.integers(info.min, info.max, n, info.dtype, endpoint=True)
        ends[rng.integers(n)], ends[rng.integers(n)] = info.min, info.max
        for x in (few, ends):
            for k in ("argmax", "argmin"):
                f = getattr(lib, f"{k}_{t}")
                f.restype = ctypes.c_longlong
                assert f(ctypes.c_longlong(n), ctypes.c_void_p(x.ctypes.data)) == getattr(x, k)(), (k, n)
