"""Times programs under NumPy, npcompile and every installed peer, in one run, with outputs checked.

    python benchmarks/run.py                      all programs, float64 and float32, L2 / L3 / DRAM
    python benchmarks/run.py --only softmax,lu --sizes L2 --rounds 15 --json out.json

Each round times every contestant once (interleaved and in rotating order, so that drift of a shared machine hits all
alike); the figure is the median over rounds of the time of one call; the least time is in the JSON too. First-call time
(trace, compile, run) is reported apart.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import inspect
import json
import statistics
import time
import types
import warnings

import numpy as np
from programs import PROGRAMS, SIZES, Program


def as_numpy(x):
    return np.asarray(x.detach().cpu().numpy() if hasattr(x, "detach") else x)


def thunk_maker(p: Program, args: tuple, fn, convert=lambda a: a, done=lambda r: r):
    """A maker: each call gives a zero-argument call of `fn` on its own copies of the arguments that it writes."""
    moved = [convert(a) for a in args]

    def make():
        own = [convert(a.copy()) if i in p.inplace else m for i, (a, m) in enumerate(zip(args, moved))]
        return lambda: done(fn(*own))

    return make


def by_npcompile(p: Program, args: tuple):
    import npcompile

    return thunk_maker(p, args, npcompile.jit(p.fn, options={"compile": "first"}))


def by_numba(p: Program, args: tuple):
    import numba

    return thunk_maker(p, args, numba.njit(parallel=True)(p.numba or p.fn))


def by_jax(p: Program, args: tuple):
    import jax

    jax.config.update("jax_enable_x64", True)
    same = types.FunctionType(p.fn.__code__, {**p.fn.__globals__, "np": jax.numpy}, p.fn.__name__)
    static = [i for i, a in enumerate(args) if isinstance(a, int)]

    def move(a):
        return jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a

    return thunk_maker(p, args, jax.jit(p.jax or same, static_argnums=static), move, lambda r: r.block_until_ready())


def by_torch(p: Program, args: tuple):
    import torch

    torch.compiler.reset()  # what it compiled for another row looks for its names in another copy of the globals
    same = types.FunctionType(p.fn.__code__, {**p.fn.__globals__, "np": torch}, p.fn.__name__)

    def move(a):
        return torch.from_numpy(a) if isinstance(a, np.ndarray) else a

    return thunk_maker(p, args, torch.compile(p.torch or same), move)


def by_numexpr(p: Program, args: tuple):
    import numexpr

    names = list(inspect.signature(p.fn).parameters)
    return thunk_maker(p, args, lambda *a: numexpr.evaluate(p.numexpr, dict(zip(names, a)), {})) if p.numexpr else None


def threads(n: int) -> None:
    """How many threads every contestant that can be told may use; the others read OMP_NUM_THREADS and the like at import."""
    import npcompile

    npcompile.set_num_threads(n)
    for module, setter in (("numba", "set_num_threads"), ("torch", "set_num_threads"), ("numexpr", "set_num_threads")):
        with contextlib.suppress(ImportError):
            getattr(importlib.import_module(module), setter)(n)


CONTESTANTS = {"npcompile": by_npcompile, "numba": by_numba, "jax": by_jax, "torch": by_torch, "numexpr": by_numexpr}


def contestants(p: Program, args: tuple, names: list[str]) -> dict:
    """name -> maker (see `thunk_maker`) for NumPy and every named contestant that is installed and can say the program."""
    out = {"numpy": thunk_maker(p, args, p.fn)}
    for name in names:
        try:
            make = CONTESTANTS[name](p, args) if name not in p.skip else None
        except ImportError:
            continue
        if make:
            out[name] = make
    return out


def time_one(make, repeat: int, warm: bool = False) -> float:
    """Seconds of one call. `warm`: after a call that is not timed, so that nobody pays for what the one before left behind."""
    call = make()
    if warm:
        call()
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def largest_error(ref: np.ndarray, got: np.ndarray) -> float:
    """Largest difference, relative to the largest value."""
    if not ref.size:
        return 0.0
    return float(np.max(np.abs(ref.astype("f8") - got.astype("f8"))) / max(float(np.max(np.abs(ref.astype("f8")))), 1e-300))


def measure(p: Program, dtype: str, size: str, names: list[str], rounds: int) -> dict:
    args = p.args(SIZES[size] // np.dtype(dtype).itemsize, np.dtype(dtype))
    ref = as_numpy(contestants(p, args, [])["numpy"]()())
    row: dict = {"program": p.name, "dtype": dtype, "size": size, "us": {}, "first_ms": {}, "error": {}}
    racing = {}
    for name, make in contestants(p, args, names).items():
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = as_numpy(make()())
        except Exception as e:
            row["error"][name] = f"{type(e).__name__}: {str(e).splitlines()[0][:100] if str(e) else ''}"
            continue
        row["first_ms"][name] = 1e3 * (time.perf_counter() - start)
        eps = np.finfo(ref.dtype).eps if ref.dtype.kind == "f" else 0
        worst = largest_error(ref, got)
        if worst > (4096 * eps if eps else 0):
            row["error"][name] = f"wrong by {worst:.2g} relative"
            continue
        racing[name] = make
    once = {name: time_one(make, 1) for name, make in racing.items()}
    repeat = {name: 1 if p.inplace else max(1, int(2e-3 / max(t, 1e-7))) for name, t in once.items()}
    times: dict[str, list[float]] = {name: [] for name in racing}
    order = list(racing.items())
    for k in range(rounds):
        for name, make in order[k % len(order) :] + order[: k % len(order)]:
            times[name].append(time_one(make, repeat[name], warm=not p.inplace))
    row["us"] = {name: 1e6 * statistics.median(t) for name, t in times.items()}
    row["least_us"] = {name: 1e6 * min(t) for name, t in times.items()}
    return row


def show(row: dict, figure: str) -> str:
    us = row[figure]
    base = us["numpy"]
    cells = [f"{name} {t:.1f}us ({base / t:.2f}x)" for name, t in us.items()]
    peers = [t for n, t in us.items() if n not in ("numpy", "npcompile")]
    if "npcompile" in us and peers:
        cells.append(f"best peer / npcompile {min(peers) / us['npcompile']:.2f}")
    cells += [f"{n}: {e}" for n, e in row["error"].items()]
    first = row["first_ms"].get("npcompile")
    cells += [f"first call {first:.0f} ms"] if first else []
    return f"{row['program']:14} {row['dtype']} {row['size']:4} " + "  ".join(cells)


def markdown(rows: list[dict]) -> str:
    """The rows as a table: microseconds a call, and how npcompile compares."""
    names = list(dict.fromkeys(n for r in rows for n in r["us"]))
    lines = [
        "| program | dtype | size | " + " | ".join(names) + " | NumPy / npcompile | best peer / npcompile |",
        "| --- " * (len(names) + 5) + "|",
    ]
    for r in rows:
        us = r["us"]
        cells = [f"{us[n]:.4g}" if n in us else "–" for n in names]
        peers = [t for n, t in us.items() if n not in ("numpy", "npcompile")]
        own = us.get("npcompile")
        ratios = [f"{us['numpy'] / own:.2f}" if own else "–", f"{min(peers) / own:.2f}" if own and peers else "–"]
        lines.append(f"| {r['program']} | {r['dtype']} | {r['size']} | " + " | ".join(cells + ratios) + " |")
    return "\n".join(lines) + "\n"


def small_call(rounds: int) -> dict:
    """`a*b + c` on three 100-element float64 arrays: nanoseconds a call."""
    import timeit

    import npcompile

    def f(a, b, c):
        return a * b + c

    args = tuple(np.random.default_rng(0).standard_normal((3, 100)))
    jitted = npcompile.jit(f, options={"compile": "first"})
    np.testing.assert_array_equal(jitted(*args), f(*args))
    out: dict[str, list[float]] = {"numpy": [], "npcompile": []}
    for _ in range(rounds):
        for name, fn in (("numpy", f), ("npcompile", jitted)):
            out[name].append(min(timeit.repeat(functools.partial(fn, *args), number=20_000, repeat=1)) / 20_000 * 1e9)
    return {name: statistics.median(t) for name, t in out.items()}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--only", default="")
    ap.add_argument("--sizes", default="L2,L3,DRAM")
    ap.add_argument("--dtypes", default="f8,f4,u1")
    ap.add_argument("--peers", default="numba,jax,torch,numexpr")
    ap.add_argument("--rounds", type=int, default=9)
    ap.add_argument("--threads", type=int, default=0, help="0: as many as there are processors")
    ap.add_argument("--least", action="store_true", help="print the least time instead of the median: for a busy machine")
    ap.add_argument("--json")
    ap.add_argument("--markdown", help="write the table here")
    a = ap.parse_args()
    names = ["npcompile", *[n for n in a.peers.split(",") if n]]
    if a.threads:
        threads(a.threads)
    rows = []
    small = small_call(a.rounds)
    print(f"small call a*b+c: {small}  ratio {small['npcompile'] / small['numpy']:.2f}", flush=True)
    for p in PROGRAMS:
        if a.only and p.name not in a.only.split(","):
            continue
        for dtype in p.dtypes:
            for size in p.sizes:
                if dtype in a.dtypes.split(",") and size in a.sizes.split(","):
                    rows.append(measure(p, dtype, size, names, a.rounds))
                    print(show(rows[-1], "least_us" if a.least else "us"), flush=True)
    if a.markdown:
        with open(a.markdown, "w") as f:
            f.write(markdown(rows))
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"numpy": np.__version__, "small_call_ns": small, "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
