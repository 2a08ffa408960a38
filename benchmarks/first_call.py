"""What importing, decorating and first calls cost, each in fresh processes: with an empty disk cache, with a filled one, and
with a filled one that holds many units of others.

    python benchmarks/first_call.py [--rounds N] [--others N]

Prints milliseconds: the least wall time of the rounds and, after the slash, the least processor time (compilers included),
which a busy machine changes less. Byte code is kept in a folder of its own, as an installed package has it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, os, time

def now():
    t = os.times()
    return time.perf_counter(), t.user + t.system + t.children_user + t.children_system, time.process_time()

seen = {}

def note(what, since):
    a = now()
    own, children = a[2] - since[2], a[1] - since[1] - (a[2] - since[2])
    seen[what] = a[0] - since[0], own + (children if children > 0.02 else 0)  # os.times counts in steps of 10 ms

t = now()
import numpy as np
note("import numpy", t)
t = now()
import npcompile
note("import npcompile", t)

def hypot(x, y):
    return np.sqrt(x * x + y * y)

def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)

def jacobi(u, v, steps):
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u

t = now()
for _ in range(100):
    npcompile.jit(hypot)
note("decorate 100 functions", t)
x = np.random.default_rng(0).random((100, 100))
for f, args in ((hypot, (x, x)), (softmax, (x,)), (standardise, (x,)), (jacobi, (x, x.copy(), 10))):
    j = npcompile.jit(f, options={"compile": "first"})
    t = now()
    j(*args)
    note("first call, " + f.__name__, t)
    assert j.stats.hits == 1, j.stats
print(json.dumps(seen))
"""


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--rounds", type=int, default=7)
    ap.add_argument("--others", type=int, default=1500, help="units of others in the third kind of cache")
    args = ap.parse_args()
    kinds = ("empty cache", "filled cache", "crowded cache")
    seen: dict[str, dict[str, tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        pyc, crowded = Path(folder, "pyc"), Path(folder, "crowded")
        crowd(crowded, args.others)
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        for i in range(args.rounds + 1):
            fresh = Path(folder, str(i))
            for kind, cache in zip(kinds, (fresh, fresh, crowded), strict=True):
                own = {**env, "NPCOMPILE_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(pyc)}
                text = subprocess.run([sys.executable, "-P", "-c", CHILD], env=own, check=True, capture_output=True, text=True)
                if i == 0:
                    continue  # byte code was compiled
                for what, times in json.loads(text.stdout).items():
                    row = seen.setdefault(what, {})
                    row[kind] = tuple(map(min, row.get(kind, times), times))  # type: ignore[assignment]
    print(f"{'ms, wall / processor':26s}" + "".join(f"{kind:>20s}" for kind in kinds))
    for what, row in seen.items():
        print(f"{what:26s}" + "".join(f"{1e3 * row[k][0]:12.1f} /{1e3 * row[k][1]:6.1f}" for k in kinds))


def crowd(directory: Path, n: int) -> None:
    """Fill a cache with units that nobody asks for."""
    for i in range(n):
        shard = directory / "units" / f"{i % 256:02x}"
        shard.mkdir(mode=0o700, parents=True, exist_ok=True)
        (shard / f"{i % 256:02x}{i:038x}-{'0' * 32}.so").write_bytes(bytes(16384))
    directory.chmod(0o700)
    (directory / "units").chmod(0o700)


if __name__ == "__main__":
    main()
