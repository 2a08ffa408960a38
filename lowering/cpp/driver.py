"""The C++ compiler: finds one, compiles one unit.

In: source text. Out: path of a shared library. Looks for NPCOMPILE_CXX, g++, clang++, c++, then the PyPI zig wheel. Never:
caches (the runtime does).
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FLAGS = (
    "-O2",  # with the vectoriser at its full cost model: the same loops as -O3 in about half the time
    "-ftree-vectorize",
    "-std=gnu++17",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-stack-protector",
    "-fvisibility=hidden",
    "-shared",
    "-fPIC",
    "-nostdlib",
    "-w",
)


class CompilerError(Exception):
    """No compiler, or it rejected a unit. `log` is what it printed."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C++. name : "g++", "clang++", "zig", ... version : first line of its version text."""

    command: tuple[str, ...]
    name: str
    version: str
    flags: tuple[str, ...] = FLAGS


def _version(command: tuple[str, ...]) -> str | None:
    try:
        run = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.splitlines()[0] if run.returncode == 0 and run.stdout else None


def _candidates() -> list[tuple[str, ...]]:
    chosen = os.environ.get("NPCOMPILE_CXX")
    if chosen:
        return [tuple(shlex.split(chosen))]
    out: list[tuple[str, ...]] = [(p,) for n in ("g++", "clang++", "c++") if (p := shutil.which(n))]
    spec = importlib.util.find_spec("ziglang")
    if spec is not None and spec.submodule_search_locations:
        zig = Path(spec.submodule_search_locations[0]) / "zig"
        out.append((str(zig), "c++"))
    return out


@lru_cache(maxsize=4)
def _find(chosen: str | None) -> Compiler | None:
    for command in _candidates():
        version = _version(command)
        if version is not None:
            zig = command[-1] == "c++" and Path(command[0]).name.startswith("zig")
            arch: tuple[str, ...] = ("-mcpu=native",) if zig else ("-march=native",)
            if platform.machine() in ("x86_64", "AMD64"):
                # Compilers stay at 256 bits by themselves. Fused chains gain a fifth to a third, square roots lose 8 %.
                arch += ("-mprefer-vector-width=512",)
            if not zig and "clang" not in version:
                arch += ("-fvect-cost-model=dynamic",)
            return Compiler(command, "zig" if zig else Path(command[0]).name, version, FLAGS + arch)
    return None


def find_compiler() -> Compiler:
    """The compiler to use; raises `CompilerError` when there is none."""
    c = _find(os.environ.get("NPCOMPILE_CXX"))
    if c is None:
        raise CompilerError("no C++ compiler found: install g++ or clang++, or `pip install npcompile[compiler]`")
    return c


def compile_unit(source: str, directory: str | Path, stem: str = "unit") -> Path:
    """Compile one unit into `directory`; returns the library's path. The source is kept next to it."""
    c = find_compiler()
    folder = Path(directory)
    src, lib = folder / f"{stem}.cpp", folder / f"{stem}.so"
    src.write_text(source, encoding="utf-8")
    run = subprocess.run(
        [*c.command, *c.flags, "-o", str(lib), str(src)], capture_output=True, text=True, timeout=300, check=False
    )
    if run.returncode != 0:
        raise CompilerError(f"{c.name} failed on {src}", run.stderr)
    return lib
