"""Compiles batches of kernel functions into one library and calls them on arrays. In: prim, types. Out: NumPy arrays."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import itertools
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from npcompile.kernels import CTYPES, text

FLAGS = [
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-rtti",
    "-shared",
    "-fPIC",
    "-nostdlib",
]
NP = {
    "bool": np.bool_,
    **{f"{k}{b}": np.dtype(f"{k}{b // 8}").type for k in "iu" for b in (8, 16, 32, 64)},
    **{f"f{b}": np.dtype(f"f{b // 8}").type for b in (16, 32, 64)},
    "c64": np.complex64,
    "c128": np.complex128,
}
INTS = [t for t in NP if t[0] in "iu"]
FLOATS = ["f16", "f32", "f64"]
COMPLEX = ["c64", "c128"]


def compiled(source: str, flags: tuple[str, ...] = ("-O3", "-march=native")) -> ctypes.CDLL:
    """The library of a source text; kept in the temporary directory, so that parallel and later runs compile once."""
    key = hashlib.sha256("\0".join([source, *flags, *FLAGS, os.uname().nodename]).encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir()) / f"npcompile-kernel-tests-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    so = folder / f"{key}.so"
    with open(folder / f"{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not so.exists():
            with tempfile.TemporaryDirectory(dir=folder) as d:
                src, out = Path(d) / "k.cpp", Path(d) / "k.so"
                src.write_text(source)
                subprocess.run(["g++", *flags, *FLAGS, str(src), "-o", str(out), "-lm"], check=True)
                os.replace(out, so)
    return ctypes.CDLL(str(so))


class Batch:
    """Functions to compile together; `add` before the first call."""

    def __init__(self, flags: tuple[str, ...] = ("-O3", "-march=native")) -> None:
        self.flags = flags
        self.names: set[str] = set()
        self.parts: list[str] = []
        self.keys: dict[tuple, int] = {}
        self.lib: ctypes.CDLL | None = None

    def add(self, prim: str, types: tuple[str, ...], out: str, expr: str | None = None, needs: tuple[str, ...] = ()) -> None:
        """`prim` on element arrays of `types`; `expr` over x0, x1, ... (with more `needs`) when it is not the plain call."""
        key = (prim, types, out)
        if key in self.keys:
            return
        self.keys[key] = len(self.keys)
        self.names |= {f"{prim}:{types[0]}", *needs}
        params = ", ".join(f"const {CTYPES[t]} *__restrict a{i}" for i, t in enumerate(types))
        loads = " ".join(f"{CTYPES[t]} x{i} = a{i}[i];" for i, t in enumerate(types))
        call = expr or f"npc_{prim}({', '.join(f'x{i}' for i in range(len(types)))})"
        self.parts.append(
            f'extern "C" void f{self.keys[key]}(npc_i64 n, {CTYPES[out]} *__restrict r, {params}) '
            f"{{ for (npc_i64 i = 0; i < n; i++) {{ {loads} r[i] = {call}; }} }}\n"
        )

    def build(self) -> ctypes.CDLL:
        if self.lib is None:
            self.lib = compiled(text(self.names) + "".join(self.parts), self.flags)
        return self.lib

    def __call__(self, prim: str, types: tuple[str, ...], out: str, *arrays: np.ndarray) -> np.ndarray:
        """The compiled function's values over 1-d arrays of one length."""
        f = getattr(self.build(), f"f{self.keys[prim, types, out]}")
        arrays = tuple(np.ascontiguousarray(a, NP[t]) for a, t in zip(arrays, types))
        r = np.empty(len(arrays[0]), NP[out])
        f(ctypes.c_longlong(r.size), *(ctypes.c_void_p(a.ctypes.data) for a in (r, *arrays)))
        return r


def special(t: str) -> np.ndarray:
    """Values at which functions change their mind, for one dtype."""
    dt = np.dtype(NP[t])
    if t == "bool":
        return np.array([False, True])
    if dt.kind in "iu":
        i = np.iinfo(dt)
        vals = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, i.max, i.max - 1, i.max // 2, i.min, i.min + 1]
        vals += [-v for v in (1, 2, 3, 7, 8, 64, 100)] if dt.kind == "i" else []
        return np.array(sorted({v for v in vals if i.min <= v <= i.max}), dt)
    if dt.kind == "c":
        part = np.dtype(f"f{dt.itemsize // 2}")
        p = np.array(
            [0.0, -0.0, 1.0, -1.0, 2.5, -0.25, np.inf, -np.inf, np.nan, np.finfo(part).max, np.finfo(part).tiny, 1e-3], part
        )
        out = np.empty((len(p), len(p)), dt)
        out.real, out.imag = p[:, None], p
        return out.ravel()
    f = np.finfo(dt)
    pos = [0.0, f.smallest_subnormal, f.smallest_subnormal * 3, f.tiny / 2, f.tiny, f.tiny * 1.5, f.eps / 4, f.eps / 2, f.eps]
    pos += [0.25, 0.5, 1 - f.epsneg, 1.0, 1 + f.eps, 1.5, 2.0, 2.5, 3.0, np.pi / 4, np.pi / 2, np.pi, np.e, 10.0, 88.0, 100.0]
    pos += [
        x
        for x in (709.0, 709.782712893384, 710.0, 745.0, 746.0, 1024.0, 1e5, 1e15, 2.0**52, 2.0**53, 1e22, 1e300)
        if x < float(f.max)
    ]
    pos += [float(f.max) / 2, float(f.max), np.inf, np.nan]
    return np.array(pos + [-x for x in pos], dt)


def random_bits(t: str, n: int, seed: int = 0) -> np.ndarray:
    """Random bit patterns of one dtype (so every exponent is as likely)."""
    rng = np.random.default_rng(seed)
    dt = np.dtype(NP[t])
    if t == "bool":
        return rng.integers(0, 2, n).astype(bool)
    return np.frombuffer(rng.bytes(n * dt.itemsize), dt).copy()


def sample(t: str, n: int = 4000, seed: int = 0) -> np.ndarray:
    """Special values, random bit patterns, and moderate values."""
    rng = np.random.default_rng(seed + 1)
    dt = np.dtype(NP[t])
    parts = [special(t), random_bits(t, n, seed)]
    if dt.kind in "iu":
        parts.append(rng.integers(max(np.iinfo(dt).min, -50), 50, n).astype(dt))
    elif dt.kind in "fc":
        parts.append((rng.standard_normal(n) * 3).astype(dt))
        if dt.kind == "c":
            parts[-1] = parts[-1] + (1j * rng.standard_normal(n)).astype(dt)
    return np.concatenate(parts)


def pairs(t: str, n: int = 4000, second: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values, then random pairs."""
    u = second or t
    prod = list(itertools.product(range(len(special(t))), range(len(special(u)))))
    a, b = special(t)[[i for i, _ in prod]], special(u)[[j for _, j in prod]]
    x, y = sample(t, n, 5), sample(u, n, 9)
    m = min(len(x), len(y))
    return np.concatenate([a, x[-m:]]), np.concatenate([b, y[-m:]])


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal bits, any NaN being equal to any other; complex numbers part by part."""
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    if got.dtype.kind == "c":
        return same(got.real, want.real) & same(got.imag, want.imag)
    if got.dtype.kind == "f":
        u = f"u{got.dtype.itemsize}"
        return (np.ascontiguousarray(got).view(u) == np.ascontiguousarray(want).view(u)) | (np.isnan(got) & np.isnan(want))
    return got == want


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance from values of higher precision, in units in the last place of the result's dtype; classes must agree."""
    dt = got.dtype
    f = np.finfo(dt)
    with np.errstate(all="ignore"):
        ref = exact.astype(dt)
        finite = np.isfinite(ref) & np.isfinite(got)
        e = np.maximum(np.frexp(np.where(finite, ref, 1))[1] - 1, f.minexp)
        err = np.abs(got.astype(exact.dtype) - exact) / np.ldexp(np.ones(1, exact.dtype), e - f.nmant)
        classes = (np.isnan(got) & np.isnan(ref)) | ((got == ref) & ((got != 0) | (np.signbit(got) == np.signbit(ref))))
        near = np.isfinite(exact) & (np.abs(exact) >= float(f.max)) & (np.abs(got) >= float(f.max))
        tiny = (ref == 0) | (got == 0)
        ok_tiny = tiny & (np.signbit(got) == np.signbit(ref)) & (np.abs(got) <= 4 * f.smallest_subnormal)
    return np.where(finite & ~tiny, err, np.where(classes, 0.0, np.where(near, 1.0, np.where(ok_tiny, err, np.inf)))).astype(
        float
    )
