"""Times the loop programs under plain Python with NumPy, npcompile and `numba.njit` (`parallel=True`, too), outputs checked.

    python benchmarks/loops.py [--only lu,crc] [--rounds 7] [--small] [--others]

Contestants take turns in every round, in changing order; a figure is the median time of one call on fresh arguments.
First calls are apart.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

import numpy as np
from loop_programs import PROGRAMS, LoopProgram
from loop_variants import PROGRAMS as OTHERS


def contestants(p: LoopProgram) -> dict[str, object]:
    import npcompile

    out: dict[str, object] = {"npcompile": npcompile.jit(p.fn, options={"compile": "first"})}
    try:
        import numba

        out["numba"] = numba.njit(p.numba or p.fn)
        out["numba, parallel"] = numba.njit(p.numba or p.fn, parallel=True)
    except ImportError:
        pass
    return {"NumPy": p.fn, **out}


def timed(fn, args) -> tuple[float, object]:
    np.random.seed(3)
    start = time.perf_counter()
    result = fn(*args)
    return time.perf_counter() - start, result


def leaves(x) -> list[np.ndarray]:
    return [a for y in x for a in leaves(y)] if isinstance(x, tuple) else [np.asarray(x)]


def close(a, b) -> bool:
    a, b = leaves(a), leaves(b)
    return len(a) == len(b) and all(x.shape == y.shape and np.allclose(x, y, rtol=1e-9, atol=1e-12) for x, y in zip(a, b))


def run(p: LoopProgram, rounds: int, size: int) -> str:
    who = contestants(p)
    first: dict[str, float] = {}
    want = timed(p.fn, p.args(size))[1]
    for name, fn in list(who.items()):
        try:
            first[name], got = timed(fn, p.args(size))
        except Exception as e:  # a peer that does not take the program
            print(f"  {p.name}: {name}: {type(e).__name__}")
            del who[name]
            continue
        if not close(want, got):
            print(f"  {p.name}: {name}: another result")
    times: dict[str, list[float]] = {name: [] for name in who}
    plain_rounds = max(1, min(rounds, int(2.0 / max(first["NumPy"], 1e-6))))
    for k in range(rounds):
        for name in random.Random(k).sample(list(who), len(who)):  # who comes after plain Python finds cold caches
            if name != "NumPy" or k < plain_rounds:
                times[name].append(timed(who[name], p.args(size))[0])
    median = {name: statistics.median(ts) for name, ts in times.items()}
    ours = median["npcompile"]
    peers = {name: t for name, t in median.items() if name.startswith("numba")}
    best = min(peers, key=peers.__getitem__, default="")
    peer = f"{peers[best] / ours:.2f}{' (parallel)' * best.endswith('parallel')}" if best else "-"
    return f"| {p.name} | {size} | {ours * 1e3:.3g} | {median['NumPy'] / ours:.3g} | {peer} | {first['npcompile']:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--others", action="store_true", help="the programs of loop_variants.py instead")
    options = parser.parse_args()
    print("| program | size | npcompile ms | NumPy / npcompile | best of Numba / npcompile | first call s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for p in OTHERS if options.others else PROGRAMS:
        if not options.only or any(k in p.fn.__name__ for k in options.only.split(",")):
            print(run(p, options.rounds, p.small if options.small else p.large), flush=True)


if __name__ == "__main__":
    main()
