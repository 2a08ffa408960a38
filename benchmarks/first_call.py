"""What a first call costs: import, trace, compile, run, in a fresh process with an empty and with a filled disk cache.

    python benchmarks/first_call.py [--rounds N]

Prints medians in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

CHILD = """
import time, json
t0 = time.perf_counter()
import numpy as np
t1 = time.perf_counter()
import npcompile
t2 = time.perf_counter()

def hypot(x, y):
    return np.sqrt(x * x + y * y)

def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def jacobi(u, v, steps):
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u

x = np.random.default_rng(0).random((100, 100))
out = {"import numpy": t1 - t0, "import npcompile": t2 - t1}
for f, args in ((hypot, (x, x)), (softmax, (x,)), (jacobi, (x, x.copy(), 10))):
    j = npcompile.jit(f, options={"compile": "first"})
    t = time.perf_counter()
    j(*args)
    out["first call of " + f.__name__] = time.perf_counter() - t
print(json.dumps(out))
"""


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--rounds", type=int, default=7)
    rounds = ap.parse_args().rounds
    seen: dict[str, dict[str, list[float]]] = {"empty cache": {}, "filled cache": {}}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for times in seen.values():
                env = {**os.environ, "NPCOMPILE_CACHE_DIR": cache}
                text = subprocess.run([sys.executable, "-c", CHILD], env=env, check=True, capture_output=True, text=True).stdout
                for what, t in json.loads(text).items():
                    times.setdefault(what, []).append(1e3 * t)
    for name, times in seen.items():
        print(name + ": " + ", ".join(f"{what} {statistics.median(t):.0f} ms" for what, t in times.items()))


if __name__ == "__main__":
    main()
