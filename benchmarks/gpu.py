"""Device kernels against torch.compile, JAX and CuPy on one GPU: medians of device time, outputs checked, one run for all.

    python benchmarks/gpu.py [--log2 20 27] [--dtype float32 float64] [--reps 30] [--json FILE]

Prints, for every program and size, microseconds a call of each library, what a copy of the same bytes would take at the measured
bandwidth, and the best peer's time over ours. Then the cost of a small call from Python, and of the first call in a new process.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import torch

# ---------------------------------------------------------------------------------------------- programs, by library


def chains(xp: Any, erf: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Elementwise programs, which all libraries spell alike."""

    def chain(a, b, c):
        t = a * b + c
        t = xp.exp(-xp.abs(t)) + xp.sqrt(t * t + 1.0)
        return t / (1.0 + b * b) - a

    def black_scholes(s, k, t):
        r, v = 0.02, 0.3
        d1 = (xp.log(s / k) + (r + 0.5 * v * v) * t) / (v * xp.sqrt(t))
        d2 = d1 - v * xp.sqrt(t)
        n1 = 0.5 * (1.0 + erf(d1 * 0.7071067811865476))
        n2 = 0.5 * (1.0 + erf(d2 * 0.7071067811865476))
        call = s * n1 - k * xp.exp(-r * t) * n2
        return call, call - s + k * xp.exp(-r * t)

    return {"chain": chain, "black_scholes": black_scholes}


def softmax_torch(x):
    return torch.softmax(x, 1)


def layer_norm_torch(x):
    return torch.nn.functional.layer_norm(x, (x.shape[1],))


def sum0_torch(x):
    return x.sum(0)


def sum1_torch(x):
    return x.sum(1)


def sum_torch(x):
    return x.sum()


def logsumexp_torch(x):
    return torch.logsumexp(x, 1)


def array_programs(xp: Any, erf: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """All programs for libraries with NumPy's names."""

    def softmax(x):
        e = xp.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def layer_norm(x):
        m = x.mean(axis=1, keepdims=True)
        return (x - m) / xp.sqrt(x.var(axis=1, keepdims=True) + 1e-5)

    def logsumexp(x):
        m = x.max(axis=1, keepdims=True)
        return xp.log(xp.exp(x - m).sum(axis=1)) + m[:, 0]

    return {
        **chains(xp, erf),
        "softmax": softmax,
        "layer_norm": layer_norm,
        "sum0": lambda x: x.sum(axis=0),
        "sum1": lambda x: x.sum(axis=1),
        "sum": lambda x: x.sum(),
        "logsumexp": logsumexp,
    }


PROGRAMS = chains(torch, torch.erf) | {
    name.removesuffix("_torch"): f for name, f in list(globals().items()) if name.endswith("_torch")
}


def inputs(name: str, n: int, dtype: torch.dtype) -> list[torch.Tensor]:
    g = torch.Generator("cuda").manual_seed(0)
    shape = (1 << (n + 1) // 2, 1 << n // 2)

    def normal() -> torch.Tensor:
        return torch.randn(shape, generator=g, device="cuda", dtype=dtype)

    if name == "chain":
        return [normal() for _ in range(3)]
    if name == "black_scholes":
        return [torch.rand(shape, generator=g, device="cuda", dtype=dtype) + 0.5 for _ in range(3)]
    return [normal()]


def moved_bytes(args: list[torch.Tensor], out: Any) -> int:
    outs = out if isinstance(out, tuple) else (out,)
    return sum(t.numel() * t.element_size() for t in (*args, *outs))


# ---------------------------------------------------------------------------------------------- timing


def device_time(f: Callable[[], Any], reps: int) -> float:
    """Median microseconds between two events around a call, after warming up."""
    for _ in range(3):
        f()
    torch.cuda.synchronize()
    times = []
    for _ in range(reps):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        f()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times)


def wall_time(f: Callable[[], Any], reps: int, wait: Callable[[Any], Any]) -> float:
    """Median microseconds of a call that is waited for: for libraries with streams of their own."""
    for _ in range(3):
        wait(f())
    times = []
    for _ in range(reps):
        t = time.perf_counter()
        wait(f())
        times.append((time.perf_counter() - t) * 1e6)
    return statistics.median(times)


def call_time(f: Callable[[], Any], reps: int = 2000) -> float:
    """Microseconds of Python's time a call, launched back to back."""
    for _ in range(100):
        f()
    torch.cuda.synchronize()
    best = []
    for _ in range(7):
        t = time.perf_counter()
        for _ in range(reps // 7):
            f()
        best.append((time.perf_counter() - t) * 1e6 / (reps // 7))
        torch.cuda.synchronize()
    return statistics.median(best)


def bandwidth() -> float:
    """Bytes a microsecond of a large copy, read and written."""
    a = torch.empty(1 << 30, dtype=torch.uint8, device="cuda").random_()
    b = torch.empty_like(a)
    return 2 * a.numel() / device_time(lambda: b.copy_(a), 20)


# ---------------------------------------------------------------------------------------------- peers


def peers(names: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "jax" in names:
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as jnp
        from jax.scipy.special import erf

        out["jax"] = {k: jax.jit(f) for k, f in array_programs(jnp, erf).items()}
    if "cupy" in names:
        import cupy
        from cupyx.scipy.special import erf as cupy_erf

        out["cupy"] = array_programs(cupy, cupy_erf)
    return out


def check(name: str, got: Any, want: Any, dtype: torch.dtype) -> float:
    """Largest error over the scale of the result; raises beyond what rounding explains."""
    worst = 0.0
    for g, w in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True):
        g, w = torch.as_tensor(g, device="cuda").double(), w.double()
        scale = float(w.abs().max()) if not name.startswith("sum") else float(w.numel()) ** 0.5 * 1e3
        worst = max(worst, float((g - w).abs().max()) / scale)
    if not worst <= (2e-5 if dtype == torch.float32 else 1e-12):
        raise AssertionError(f"{name}: off by {worst:.2e} of the result's scale")
    return worst


def measure(
    name: str, args: list[torch.Tensor], want: Any, reps: int, with_: list[str], others: dict[str, Any]
) -> dict[str, float]:
    """Median microseconds by library; every result is checked."""
    import npcompile

    f, dtype = PROGRAMS[name], args[0].dtype
    ours = npcompile.jit(f, fullgraph=True, options={"compile": "first"})
    check(name, ours(*args), want, dtype)
    times = {"npcompile": device_time(lambda: ours(*args), reps)}
    if ours.stats.plain_calls or not ours.stats.hits:
        raise AssertionError(f"{name} was not compiled: {ours.stats}")
    if "torch" in with_:
        compiled = torch.compile(f, dynamic=False)
        check(name, compiled(*args), want, dtype)
        times["torch.compile"] = device_time(lambda: compiled(*args), reps)
    if "jax" in others:
        import jax

        xs = [jax.dlpack.from_dlpack(x) for x in args]
        g = others["jax"][name]
        out = jax.block_until_ready(g(*xs))
        back = tuple(map(torch.from_dlpack, out)) if isinstance(out, tuple) else torch.from_dlpack(out)
        check(name, back, want, dtype)
        del out, back
        times["jax"] = wall_time(lambda: g(*xs), reps, jax.block_until_ready)
    if "cupy" in others:
        import cupy

        with cupy.cuda.Stream.from_external(torch.cuda.current_stream()):
            ys = [cupy.from_dlpack(x) for x in args]
            h = others["cupy"][name]
            times["cupy"] = device_time(lambda: h(*ys), reps)
            same = npcompile.jit(h, fullgraph=True, options={"compile": "first"})
            check(name, same(*ys), want, dtype)
            times["on CuPy's"] = device_time(lambda: same(*ys), reps)
            if same.stats.plain_calls or not same.stats.hits:
                raise AssertionError(f"{name} of CuPy's arrays was not compiled: {same.stats}")
            cupy.get_default_memory_pool().free_all_blocks()
    return times


def run(log2: list[int], dtypes: list[str], reps: int, with_: list[str], only: list[str]) -> list[dict[str, Any]]:
    """All programs and sizes, a line for each."""
    rate = bandwidth()
    print(f"{torch.cuda.get_device_name()}: copies move {rate / 1e6:.2f} TB/s")
    others = peers(with_)
    rows = []
    head = ["npcompile", *(["on CuPy's"] if "cupy" in others else []), *(["torch.compile"] if "torch" in with_ else []), *others]
    print(f"{'program':14} {'dtype':8} {'n':>5} {'copy':>8} " + " ".join(f"{h:>13}" for h in head) + "  peer/ours")
    for n in log2:
        for d in dtypes:
            for name, f in PROGRAMS.items():
                if only and name not in only:
                    continue
                args = inputs(name, n, getattr(torch, d))
                want = f(*args)
                copy = moved_bytes(args, want) / rate
                try:
                    times = measure(name, args, want, reps, with_, others)
                except Exception as e:
                    print(f"{name:14} {d:8} {n:5} failed: {type(e).__name__}: {str(e)[:300]}", flush=True)
                    rows.append({"program": name, "dtype": d, "log2": n, "error": str(e)})
                    continue
                best = min((v for k, v in times.items() if k not in ("npcompile", "on CuPy's")), default=float("nan"))
                rows.append({"program": name, "dtype": d, "log2": n, "copy": copy, **times, "ratio": best / times["npcompile"]})
                texts = " ".join(f"{times.get(h, float('nan')):13.1f}" for h in head)
                print(f"{name:14} {d:8} {n:5} {copy:8.1f} {texts}  {rows[-1]['ratio']:.2f}", flush=True)
                del args, want
                torch.cuda.empty_cache()
    return rows


def small_calls(with_: list[str]) -> dict[str, float]:
    """An elementwise call on three 1,024-element tensors."""
    import npcompile

    a, b, c = (torch.randn(1024, device="cuda") for _ in range(3))

    def f(a, b, c):
        return a * b + c

    ours = npcompile.jit(f, fullgraph=True, options={"compile": "first"})
    compiled = torch.compile(f)
    out = {"npcompile": call_time(lambda: ours(a, b, c)), "torch eager": call_time(lambda: f(a, b, c))}
    out["torch.compile"] = call_time(lambda: compiled(a, b, c))
    if "cupy" in with_:
        import cupy

        x, y, z = (cupy.from_dlpack(t) for t in (a, b, c))
        same = npcompile.jit(f, fullgraph=True, options={"compile": "first"})
        out["on CuPy's"] = call_time(lambda: same(x, y, z))
        out["cupy"] = call_time(lambda: f(x, y, z))
    return out


FIRST = """
import time, torch
x = torch.randn(1024, 1024, device="cuda"); torch.cuda.synchronize()
def f(x): return torch.softmax(x * 2 + 1, 1)
t = time.perf_counter()
{make}
g(x); torch.cuda.synchronize()
print(time.perf_counter() - t)
"""
MAKE = {
    "npcompile": 'import npcompile; g = npcompile.jit(f, fullgraph=True, options={"compile": "first"})',
    "torch.compile": "g = torch.compile(f)",
}


def first_calls() -> dict[str, float]:
    """Seconds from the import (of npcompile; torch is there) to the first result, in a new process, without and with a cache."""
    out = {}
    for name, make in MAKE.items():
        with tempfile.TemporaryDirectory() as folder:
            env = {
                **os.environ,
                "NPCOMPILE_CACHE_DIR": folder,
                "TRITON_CACHE_DIR": f"{folder}/t",
                "TORCHINDUCTOR_CACHE_DIR": f"{folder}/i",
            }
            for kind in ("new", "cached"):
                p = subprocess.run(
                    [sys.executable, "-c", FIRST.format(make=make)], env=env, capture_output=True, text=True, check=False
                )
                out[f"{name}, {kind}"] = float(p.stdout.split()[-1]) if p.returncode == 0 else float("nan")
                if p.returncode:
                    print(p.stderr[-2000:])
    return out


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--log2", nargs="*", type=int, default=[20, 27])
    p.add_argument("--dtype", nargs="*", default=["float32", "float64"])
    p.add_argument("--reps", type=int, default=30)
    p.add_argument("--peers", nargs="*", default=["torch", "jax", "cupy"])
    p.add_argument("--only", nargs="*", default=[])
    p.add_argument("--json")
    p.add_argument("--no-calls", action="store_true")
    a = p.parse_args()
    report: dict[str, Any] = {"rows": run(a.log2, a.dtype, a.reps, a.peers, a.only)}
    if not a.no_calls:
        report["call_us"] = small_calls(a.peers)
        report["first_call_s"] = first_calls()
        for key in ("call_us", "first_call_s"):
            print(key, {k: round(v, 2) for k, v in report[key].items()})
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()
