"""The unit cache: private, atomic, whole or rebuilt, bounded, safe with many threads and processes; libraries of others."""

import ctypes
import multiprocessing
import os
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from npcompile.runtime import _dispatch, cache, libraries
from npcompile.runtime.cache import Loader, UnitCache, unit_key


def builder(n, built=None):
    """Builds a library whose `answer` returns n; counts the builds in `built`."""

    def build(path):
        if built is not None:
            built.append(path)
        source = f'extern "C" int answer() {{ return {n}; }}'
        command = ["g++", "-x", "c++", "-", "-shared", "-fPIC", "-nostdlib", "-o", str(path)]
        subprocess.run(command, input=source, text=True, check=True)

    return build


def answer(handle):
    return ctypes.CFUNCTYPE(ctypes.c_int)(_dispatch.symbol(handle, "answer"))()


KEY = unit_key("text", ["-O3"], "g++ 1")


def files(units):
    return [Path(path) for path, _ in units.entries()]


def test_key_depends_on_everything():
    keys = {unit_key("a", ["x"], "c"), unit_key("b", ["x"], "c"), unit_key("a", ["y"], "c"), unit_key("a", ["x"], "d")}
    keys |= {unit_key("ax", [], "c"), unit_key("a", ["x", ""], "c")}
    assert len(keys) == 6 and unit_key("a", ["x"], "c") in keys


def test_default_directory():
    assert cache.default_directory({"NPCOMPILE_CACHE_DIR": "/x", "XDG_CACHE_HOME": "/y"}) == "/x"
    assert cache.default_directory({"XDG_CACHE_HOME": "/y"}) == "/y/npcompile"
    assert os.path.basename(cache.default_directory({})) == "npcompile"


def test_build_once_then_load(tmp_path):
    built = []
    loader = Loader(UnitCache(tmp_path / "c"))
    handle, cached = loader.load(KEY, builder(41, built))
    assert answer(handle) == 41 and not cached
    assert loader.load(KEY, builder(41, built)) == (handle, True)
    assert Loader(UnitCache(tmp_path / "c")).load(KEY, builder(41, built))[1]
    assert len(built) == 1
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o700 and not loader.cache.problem
    assert [p.name.startswith(KEY) for p in files(loader.cache)] == [True]


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "symlink", "writable", "other key"])
def test_damaged_and_foreign_files_are_rebuilt(tmp_path, damage):
    units = UnitCache(tmp_path)
    path = Path(units.put(KEY, builder(1)))
    data = path.read_bytes()
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "symlink":
        path.rename(tmp_path / "elsewhere.so")
        path.symlink_to(tmp_path / "elsewhere.so")
    elif damage == "writable":
        path.chmod(0o777)
    else:
        path.rename(path.with_name(f"{KEY}-{'0' * 32}.so"))
    built = []
    handle, cached = Loader(units).load(KEY, builder(2, built))
    assert answer(handle) == 2 and not cached and len(built) == 1 and len(files(units)) == 1


def test_whole_file_that_is_no_library_is_rebuilt(tmp_path):
    units = UnitCache(tmp_path)
    units.put(KEY, lambda path: Path(path).write_bytes(b"not a library"))
    handle, cached = Loader(units).load(KEY, builder(3))
    assert answer(handle) == 3 and not cached and len(files(units)) == 1


def test_a_cache_that_others_clear_while_a_unit_is_built_and_before_it_is_loaded(tmp_path):
    units = UnitCache(tmp_path)

    def build(path):
        builder(6)(path)
        assert UnitCache(tmp_path).clear() == 0 and os.path.exists(path)

    assert answer(Loader(units).load(KEY, build)[0]) == 6

    class Cleared(UnitCache):
        def put(self, key, build):
            path = super().put(key, build)
            assert self.clear() == 2
            return path

    assert answer(Loader(Cleared(tmp_path)).load(unit_key("other", [], ""), builder(7))[0]) == 7


def test_failing_build_leaves_nothing(tmp_path):
    loader = Loader(UnitCache(tmp_path))
    with pytest.raises(ZeroDivisionError):
        loader.load(KEY, lambda path: 1 / 0)
    assert not files(loader.cache)
    assert answer(loader.load(KEY, builder(4))[0]) == 4


def test_directory_that_others_may_write_is_not_used(tmp_path):
    tmp_path.chmod(0o777)
    units = UnitCache(tmp_path)
    assert "others may write" in units.problem and os.stat(units.directory).st_mode & 0o777 == 0o700
    assert answer(Loader(units).load(KEY, builder(5))[0]) == 5 and not list(tmp_path.iterdir())
    directory = units.directory
    del units
    assert not os.path.exists(directory)


def test_directory_that_is_a_file(tmp_path):
    (tmp_path / "f").write_text("")
    assert UnitCache(tmp_path / "f").problem


def writes(i, n=1000):
    return lambda path: Path(path).write_bytes(bytes([i]) * n)


def test_least_recently_used_go_first(tmp_path):
    units = UnitCache(tmp_path)
    paths = [Path(units.put(f"{i:040d}", writes(i))) for i in range(3)]
    for age, path in zip((3, 1, 2), paths):
        os.utime(path, (time.time() - age * 86400,) * 2)
    left = paths[0].with_name("tmp-left.so")
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    assert units.get(f"{0:040d}") == str(paths[0])  # now it is the youngest
    units.max_bytes = 2500
    units.prune()
    assert sorted(files(units)) == sorted([paths[0], paths[1]])
    assert units.clear() == 2 and not files(units)


def test_pruning_is_rare(tmp_path, monkeypatch):
    """Not at the first entry of a process, but once an hour for all, and when one process writes much."""
    pruned = []
    monkeypatch.setattr(UnitCache, "prune", lambda self: (pruned.append(self), setattr(self, "_put_bytes", 0)))
    for i in range(5):
        UnitCache(tmp_path).put(f"{i:040d}", writes(i))
    assert not pruned
    os.utime(tmp_path / "units" / "pruned", (0, 0))
    for i in range(5, 10):
        units = UnitCache(tmp_path)
        units.put(f"{i:040d}", writes(i))
        units.get(f"{i:040d}")
    assert len(pruned) == 1
    units = UnitCache(tmp_path, max_bytes=8000)
    for i in range(10, 16):
        units.put(f"{i:040d}", writes(i, 400))
    assert len(pruned) == 3


def test_one_build_for_many_threads(tmp_path):
    built, handles = [], []
    loader = Loader(UnitCache(tmp_path))
    threads = [threading.Thread(target=lambda: handles.append(loader.load(KEY, builder(6, built)))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(built) == 1 and len({h for h, _ in handles}) == 1


def _process(directory):
    loader = Loader(UnitCache(Path(directory)))
    return [answer(loader.load(unit_key(str(i), [], ""), builder(i))[0]) for i in range(4)]


def test_many_processes(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_process, [str(tmp_path)] * 3) == [[0, 1, 2, 3]] * 3
    assert all(not p.name.startswith("tmp-") for p in files(UnitCache(tmp_path)))


def test_blas_of_numpy():
    interface = libraries.blas_interface()
    assert interface in ("cblas64", "cblas32", "fortran32")  # SciPy is a dependency
    assert libraries.resolve("cblas64.no_such_routine") == 0 and libraries.resolve("no_such_function_anywhere") == 0
    if interface == "fortran32":
        return
    integer = ctypes.c_int64 if interface == "cblas64" else ctypes.c_int32
    double, pointer = ctypes.c_double, ctypes.c_void_p
    dims = [integer] * 3
    types = [ctypes.c_int] * 3 + dims + [double, pointer, integer, pointer, integer, double, pointer, integer]
    dgemm = ctypes.CFUNCTYPE(None, *types)(libraries.resolve(f"{interface}.dgemm"))
    rng = np.random.default_rng(0)
    a, b, c = rng.random((5, 7)), rng.random((7, 3)), np.empty((5, 3))
    dgemm(101, 111, 111, 5, 3, 7, 1.0, a.ctypes.data, 7, b.ctypes.data, 3, 0.0, c.ctypes.data, 3)
    assert c.tobytes() == (a @ b).tobytes()


def test_scipy_routines():
    ddot = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 5)(libraries.resolve("fortran32.ddot"))
    n, one, x = ctypes.c_int(3), ctypes.c_int(1), np.arange(3.0)
    assert ddot(ctypes.addressof(n), x.ctypes.data, ctypes.addressof(one), x.ctypes.data, ctypes.addressof(one)) == 5.0
    assert libraries.resolve("fortranlapack32.dgesv")
