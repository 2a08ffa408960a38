"""The C++ compiler: finds one, compiles one unit.

In: source text. Out: path of a shared library. Looks for NPCOMPILE_CXX, g++, clang++, c++, then the PyPI zig wheel. A compiler
that its name tells is not run before it is needed; one that then does not even tell its version is passed over. Never: caches
(the runtime does).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from npcompile.records import dataclass

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

_OWN_FLAGS = {
    "gcc": ("-march=native", "-fvect-cost-model=dynamic"),
    "clang": ("-march=native",),
    "zig": ("-mcpu=native",),
}


class CompilerError(Exception):
    """No compiler, or it rejected a unit. `log` is what it printed."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class BrokenCompiler(CompilerError):
    """A command that is no working compiler; `find_compiler` gives another from now on."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C++. kind : "gcc", "clang" or "zig"."""

    command: tuple[str, ...]
    kind: str

    @property
    def flags(self) -> tuple[str, ...]:
        # Compilers stay at 256 bits by themselves. Fused chains gain a fifth to a third, square roots lose 8 %.
        wide = ("-mprefer-vector-width=512",) if os.uname().machine in ("x86_64", "AMD64") else ()
        return FLAGS + _OWN_FLAGS[self.kind] + wide

    def __str__(self) -> str:
        return f"{' '.join(self.command)} ({version(self.command)})"


def which(name: str) -> str | None:
    """The executable of this name on the PATH, or at this path."""
    folders = [""] if os.sep in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


@lru_cache(maxsize=8)
def version(command: tuple[str, ...]) -> str:
    """First line of what the command says about itself; "" when it is no working compiler."""
    import subprocess

    try:
        run = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.splitlines()[0] if run.returncode == 0 and run.stdout else ""


def _candidates(chosen: str) -> Iterator[tuple[str, ...]]:
    if chosen:
        import shlex

        try:
            command = tuple(shlex.split(chosen))
        except ValueError:  # a quote is not closed
            return
        if command and which(command[0]):
            yield command
        return
    for name in ("g++", "clang++", "c++"):
        path = which(name)
        if path:
            yield (path,)
    import importlib.util

    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield (os.path.join(folder, "zig"), "c++")


def _kind(command: tuple[str, ...]) -> str:
    """What a command is: by its name (or that of the file it is a link to) where that tells, else by its version text."""
    names = [os.path.basename(p) for p in (command[0], os.path.realpath(which(command[0]) or command[0]))]
    if any(os.path.basename(word).startswith(("zig", "ziglang")) for word in command):
        return "zig"
    if any("clang" in name for name in names):
        return "clang"
    if "g++" in names[1]:
        return "gcc"
    return "clang" if "clang" in version(command) else "gcc"


_broken: set[tuple[str, ...]] = set()


@lru_cache(maxsize=4)
def _find(chosen: str) -> Compiler | None:
    for command in _candidates(chosen):
        if command not in _broken:
            return Compiler(command, _kind(command))
    return None


def find_compiler() -> Compiler:
    """The compiler to use; raises `CompilerError` when there is none."""
    chosen = os.environ.get("NPCOMPILE_CXX", "").strip()
    c = _find(chosen)
    if c is None and chosen:
        what = "does not work as a compiler" if any(_candidates(chosen)) else "is no command that can be run"
        raise CompilerError(f"NPCOMPILE_CXX is {chosen!r}, which {what}; unset it, or name a C++ compiler")
    if c is None:
        raise CompilerError("no C++ compiler was found: install g++ or clang, or run: pip install 'npcompile[compiler]'")
    return c


def compile_unit(source: str, directory: str | os.PathLike[str], stem: str = "unit") -> str:
    """Compile one unit into `directory`; returns the library's path. The source is kept next to it."""
    import subprocess

    c = find_compiler()
    src, lib = (os.path.join(directory, f"{stem}.{end}") for end in ("cpp", "so"))
    with open(src, "w", encoding="utf-8") as f:
        f.write(source)
    command = [*c.command, *c.flags, "-o", lib, src]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        log = run.stderr
    except OSError as e:
        run, log = None, str(e)
    if run is not None and run.returncode == 0:
        return lib
    if not version(c.command):
        _broken.add(c.command)
        _find.cache_clear()
        raise BrokenCompiler(f"{' '.join(c.command)} does not work", log)
    raise CompilerError(f"{' '.join(c.command)} failed on {src}", log)
