"""Machines without a compiler, with a broken one, with one that fails: functions run plain, and a warning says why."""

import os
import stat
import subprocess
import sys

import pytest
from npcompile.lowering.cpp import driver

SCRIPT = """
import sys, warnings
import numpy as np
import npcompile

@npcompile.jit(options={"compile": "first"})
def f(x):
    return x * 2 + 1

g = npcompile.jit(lambda x: x - 1, options={"compile": "first"})
x = np.arange(5.0)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(10):
        assert np.array_equal(f(x), x * 2 + 1) and np.array_equal(g(x), x - 1)
print(f.stats.compiles, f.stats.state)
for w in seen:
    print(w.category.__name__, w.message)
"""


def run(tmp_path, **env):
    """(compiles, state, warnings) of a process with only these variables."""
    env = {"NPCOMPILE_CACHE_DIR": str(tmp_path / "cache"), **env}
    out = subprocess.run([sys.executable, "-P", "-c", SCRIPT], env=env, text=True, capture_output=True, check=True)
    first, *rest = out.stdout.splitlines()
    return (*first.split(), rest)


def executable(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def have_zig():
    import importlib.util

    return importlib.util.find_spec("ziglang") is not None


@pytest.mark.skipif(have_zig(), reason="the zig wheel is installed: there is a compiler wherever PATH leads")
def test_no_compiler_on_the_path(tmp_path):
    compiles, state, said = run(tmp_path, PATH=str(tmp_path))
    assert (compiles, state) == ("0", "plain")
    assert len(said) == 1 and "pip install 'npcompile[compiler]'" in said[0]


def test_a_command_that_is_not_there(tmp_path):
    compiles, _, said = run(tmp_path, NPCOMPILE_CXX="no-such-compiler", PATH=os.environ["PATH"])
    assert compiles == "0" and len(said) == 1 and "NPCOMPILE_CXX is 'no-such-compiler'" in said[0]


def test_a_broken_compiler_is_passed_over(tmp_path):
    executable(tmp_path / "g++", "exit 1")
    good = driver.which("g++") or driver.which("clang++")
    (tmp_path / "clang++").symlink_to(good)
    compiles, _, said = run(tmp_path, PATH=f"{tmp_path}:{os.path.dirname(good)}")
    assert compiles == "1" and said == []


def test_a_compiler_that_rejects_the_code_warns(tmp_path):
    cc = executable(
        tmp_path / "mine", 'case "$*" in *--version*) echo "gcc (Mine) 1.0";; *) echo "no such luck" >&2; exit 1;; esac'
    )
    compiles, state, said = run(tmp_path, NPCOMPILE_CXX=str(cc), PATH=os.environ["PATH"])
    assert (compiles, state) == ("0", "plain")
    assert len(said) == 1 and "NpcompileWarning" in said[0] and "gcc (Mine) 1.0" in said[0]


@pytest.mark.parametrize(
    "command, kind",
    [
        (("/opt/zig/zig", "c++"), "zig"),
        (("python", "-m", "ziglang", "c++"), "zig"),
        (("clang++",), "clang"),
        (("/usr/lib/llvm/bin/clang++-19", "-m64"), "clang"),
    ],
)
def test_kinds_by_name(command, kind):
    assert driver._kind(command) == kind


def test_kinds_by_version_text(tmp_path):
    clang = executable(tmp_path / "c++", 'echo "Apple clang version 17"')
    gcc = executable(tmp_path / "cc", 'echo "c++ (GCC) 12"')
    assert driver._kind((str(clang),)) == "clang" and driver._kind((str(gcc),)) == "gcc"
    link = tmp_path / "CC"
    link.symlink_to(executable(tmp_path / "x86_64-linux-gnu-g++-14", "exit 1"))
    assert driver._kind((str(link),)) == "gcc" and os.stat(link).st_mode & stat.S_IXUSR
