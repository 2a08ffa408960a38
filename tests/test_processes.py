"""Jitted functions in many threads and processes: forked, spawned, pickled, while others fill the same cache directory."""

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import npcompile

X = np.linspace(0.0, 2.0, 1000)
BIG = np.linspace(0.0, 1.0, 400_000)


@npcompile.jit(options={"compile": "first"})
def chain(x, k):
    return np.exp(-x * k).sum() + x[0]


@npcompile.jit(options={"compile": "first"})
def steps(x, n):
    for i in range(n):
        x = x * 0.5 + i
    return x


class Model:
    def __init__(self, k):
        self.k = k

    @npcompile.jit(options={"compile": "first"})
    def apply(self, x):
        return x * self.k + 1


def work(k):
    """What a worker of a pool does; compiled code must have answered."""
    before = chain.stats.hits + steps.stats.hits
    out = float(chain(BIG, k)), steps(X, k).tobytes(), Model(k).apply(X).tobytes()
    assert chain.stats.hits + steps.stats.hits == before + 2
    return out


def expected(k):
    y = X
    for i in range(k):
        y = y * 0.5 + i
    return float(chain.__wrapped__(BIG, k)), y.tobytes(), (X * k + 1).tobytes()


def check(results):
    for k, (total, stepped, applied) in enumerate(results, 1):
        want = expected(k)
        assert abs(total - want[0]) <= 1e-12 * abs(want[0]) and (stepped, applied) == want[1:]


KS = range(1, 7)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools(method):
    work(1)  # threads and libraries of this process exist when it is forked
    with multiprocessing.get_context(method).Pool(2) as pool:
        check(pool.map(work, KS))
    check(map(work, KS))


def test_executors_pickle_jitted_functions_themselves():
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        got = list(pool.map(chain, [BIG] * 6, KS))
    assert all(abs(g - expected(k)[0]) <= 1e-12 * abs(g) for g, k in zip(got, KS, strict=True))


def test_pickles():
    assert pickle.loads(pickle.dumps(chain)) is chain and pickle.loads(pickle.dumps(Model.apply)) is Model.apply
    model = pickle.loads(pickle.dumps(Model(3)))
    assert np.array_equal(pickle.loads(pickle.dumps(model.apply))(X), X * 3 + 1)
    inner = npcompile.jit(lambda x: x)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(inner)


def test_fork_while_another_thread_compiles():
    """The child must not wait for a lock, or a compile, that only its parent's thread would end."""
    started, stop = threading.Event(), threading.Event()

    def compile_all_the_time():
        n = 0
        while not stop.is_set():
            n += 1
            space = {"np": np}
            exec(f"def g(x):\n    return np.sqrt(x + {n}.25) * {n}", space)
            f = npcompile.jit(space["g"], options={"compile": "first"})
            started.set()
            f(X)

    thread = threading.Thread(target=compile_all_the_time)
    thread.start()
    started.wait()
    try:
        for i in range(4):
            pid = os.fork()
            if pid == 0:
                try:
                    f = npcompile.jit(lambda x, i=i: x * (i + 2.5), options={"compile": "first"})
                    ok = np.array_equal(f(X), X * (i + 2.5)) and f.stats.hits == 1 and len(work(2)) == 3
                    os._exit(0 if ok else 3)
                finally:
                    os._exit(4)
            assert os.waitpid(pid, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_many_threads_call_and_compile():
    errors = []

    def work_in_thread(seed):
        try:
            for dtype in ("f8", "f4", "i4", "f8"):
                x = np.arange(seed, seed + 50).astype(dtype)
                y = x
                for i in range(3):
                    y = y * 0.5 + i
                assert np.array_equal(steps(x, 3), y)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work_in_thread, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


FILLER = """
import sys
import numpy as np
import npcompile

x = np.arange(100.0)
for k in range(4):
    space = {"np": np}
    exec(f"def g(x):\\n    return np.sqrt(x * {k}.5) + {k}", space)
    f = npcompile.jit(space["g"], options={"compile": "first"})
    for _ in range(2):
        assert np.array_equal(f(x), space["g"](x)) and f.stats.state == "active"
    assert f.stats.hits == 2, f.stats
    if sys.argv[1] == "0":
        from npcompile import units
        units.loader().cache.clear()  # under the others' feet
"""


def test_processes_fill_and_clear_one_cache(tmp_path):
    env = {**os.environ, "NPCOMPILE_CACHE_DIR": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-P", "-c", FILLER, str(i)], env=env) for i in range(4)]
    assert [p.wait() for p in running] == [0] * 4
    names = [name for _, _, files in os.walk(tmp_path) for name in files]
    assert not [name for name in names if name.startswith("tmp-")]
