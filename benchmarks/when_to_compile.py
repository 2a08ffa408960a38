"""What the time of compiling costs: whole scripts under several policies, with an empty and a filled disk cache.

    python benchmarks/when_to_compile.py [--rounds N] [--functions N]

Policies: "plain" (no npcompile), "first" (compile at the first call), "second" (always at the second call), "waited" (when
plain calls have cost as much as a compile), "hot" (the default: see npcompile/policy.py). Prints seconds of processor time of
the whole process after importing NumPy, compilers included (a busy machine changes it less than wall time).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

POLICIES = ("plain", "first", "second", "waited", "hot")

CHILD = """
import json, os, sys
import numpy as np

policy_name, scenario, n = sys.argv[1], sys.argv[2], int(sys.argv[3])

def now():
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system

start = now()
if policy_name == "plain":
    jit = lambda f: f
else:
    import npcompile
    from npcompile import policy
    jit = lambda f: npcompile.jit(f, options={"compile": "first" if policy_name == "first" else "hot"})
    if policy_name == "second":
        policy.decide = lambda fn, bound, misses, waited: policy.YES if misses > 1 else policy.NO
    elif policy_name == "waited":
        policy.decide = lambda fn, bound, misses, waited: policy.YES if waited >= policy.COMPILE_SECONDS else policy.NO

def straight(k):
    space = {"np": np}
    exec(f"def f(x):\\n    return np.sqrt(x * x + {k}.5) * np.exp(-x / {k + 1}.25) + x.mean()", space)
    return jit(space["f"])

def looping(k):
    space = {"np": np}
    loop = "for i in range(1, len(x)):\\n        s = s * 0.5 + x[i] - x[i - 1]"
    exec(f"def f(x):\\n    s = {k}.5\\n    {loop}\\n    return s", space)
    return jit(space["f"])

def functions(n):
    return [straight(k) if k % 2 else looping(k) for k in range(n)]

def integrate(x, steps):
    y = 0.1
    for i in range(steps):
        y = y + 0.001 * (x - y * y)
        if y > 10.0:
            y = 10.0
    return y

def step(a, b, c):
    return (a * b + c) * 0.5 - a

small, large = np.linspace(0.0, 1.0, 100), np.linspace(0.0, 1.0, 1_000_000)
if scenario == "once":
    for f in functions(n):
        f(small)
elif scenario == "twice":
    for f in functions(n):
        f(small)
        f(small)
elif scenario == "loop":
    jit(integrate)(0.5, n)
elif scenario == "small":
    f = jit(step)
    for _ in range(n):
        f(small, small, small)
elif scenario == "large":
    f = jit(step)
    for _ in range(n):
        f(large, large, large)
print(json.dumps(now() - start))
"""

SCENARIOS = {
    "functions called once": ("once", None),
    "functions called twice": ("twice", None),
    "a loop of 10 turns": ("loop", 10),
    "a loop of 20,000,000 turns": ("loop", 20_000_000),
    "100 elements, 2 calls": ("small", 2),
    "100 elements, 1,000 calls": ("small", 1_000),
    "100 elements, 1,000,000 calls": ("small", 1_000_000),
    "1,000,000 elements, 1 call": ("large", 1),
    "1,000,000 elements, 10 calls": ("large", 10),
    "1,000,000 elements, 300 calls": ("large", 300),
}


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--rounds", type=int, default=2)
    ap.add_argument("--functions", type=int, default=100)
    args = ap.parse_args()
    rows = [
        (f"{args.functions} {name}" if n is None else name, what, n or args.functions) for name, (what, n) in SCENARIOS.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and not k.startswith("NPCOMPILE")}
        env["PYTHONPYCACHEPREFIX"] = str(Path(folder, "pyc"))

        def run(policy: str, what: str, n: int, cache: Path) -> float:
            command = [sys.executable, "-P", "-c", CHILD, policy, what, str(n)]
            out = subprocess.run(command, env={**env, "NPCOMPILE_CACHE_DIR": str(cache)}, check=True, capture_output=True)
            return float(json.loads(out.stdout))

        run("first", "small", 1, Path(folder, "warm-up"))
        print(f"{'seconds, empty / filled cache':32s}" + "".join(f"{p:>16s}" for p in POLICIES), flush=True)
        for title, what, n in rows:
            line = f"{title:32s}"
            for policy in POLICIES:
                cold, warm = [], []
                for i in range(args.rounds):
                    cache = Path(folder, f"{what}-{n}-{policy}-{i}")
                    cold.append(run(policy, what, n, cache))
                    warm.append(run(policy, what, n, cache))
                line += f"{min(cold):9.2f} /{min(warm):5.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
