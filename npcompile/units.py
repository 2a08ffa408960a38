"""Compiled units of this process: the one loader over the disk cache, and the compiler that fills it.

In: C++ text. Out: the address of its segment. Without a compiler on the machine: `CompilerError`, and one warning.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable, Sequence

from .errors import CompilerError, tell
from .lowering.cpp import driver
from .runtime import _dispatch
from .runtime.cache import Loader, UnitCache, unit_key


@functools.cache
def loader() -> Loader:
    """The loader of this process."""
    cache = UnitCache()
    if cache.problem and os.environ.get("NPCOMPILE_CACHE_DIR"):
        tell(f"NPCOMPILE_CACHE_DIR is not used: {cache.problem}. Compiled code is kept for this process only")
    return Loader(cache)


@functools.cache
def compiler() -> driver.Compiler | None:
    """The compiler of this machine; None (after one warning) when there is none."""
    why = missing()
    if why:
        tell(f"{why}; decorated functions run as plain Python")
    return None if why else driver.find_compiler()


def missing() -> str:
    """Why there is no compiler; "" when there is one."""
    try:
        driver.find_compiler()
    except driver.CompilerError as e:
        return str(e)
    return ""


@functools.cache
def identity(cc: driver.Compiler) -> str:
    """Which compiler it is, without running it: path, size and time of the executable."""
    path = os.path.realpath(driver.which(cc.command[0]) or cc.command[0])
    try:
        st = os.stat(path)
    except OSError:
        return " ".join(cc.command)
    return f"{' '.join(cc.command)} {path} {st.st_size} {st.st_mtime_ns}"


_failed: set[str] = set()


def warn_failure(fn: types.FunctionType) -> None:
    """Say that the compiler failed on the code of a function, at the function; once for a compiler."""
    name = str(compiler())
    if name not in _failed:
        _failed.add(name)
        text = f"{name} failed on the code of {fn.__qualname__}, which runs as plain Python; npcompile.explain shows why"
        tell(text, fn.__code__.co_filename, fn.__code__.co_firstlineno, str(fn.__module__))


def load(source: str, symbol: str, before: Callable[[str], None] | None = None) -> tuple[int, bool]:
    """Address of a unit's segment, and whether its machine code was there already.

    Parameters
    ----------
    before : called with the source before the compiler runs; what it raises passes.

    Raises
    ------
    CompilerError
        When there is no compiler or it fails.
    """
    handle, cached = _library(source, before)
    return _dispatch.symbol(handle, symbol), cached


def load_together(sources: Sequence[str]) -> None:
    """Compile many units as one, so that `load` finds each of them: for tests, whose units are many and small.

    Raises
    ------
    CompilerError
        As `load`; the message does not say which of the units is at fault.
    """
    handle, _ = _library("\n".join(f"namespace unit{i} {{\n{s}\n}}" for i, s in enumerate(sources)))
    cc = compiler()
    if cc is not None:
        loader().adopt([unit_key(s, cc.flags, identity(cc)) for s in sources], handle)


def _library(source: str, before: Callable[[str], None] | None = None) -> tuple[int, bool]:
    def build(path: str) -> None:
        if before is not None:
            before(source)
        _build(source, path)

    while (cc := compiler()) is not None:
        try:
            return loader().load(unit_key(source, cc.flags, identity(cc)), build)
        except driver.BrokenCompiler:
            compiler.cache_clear()  # another one, or none
        except (driver.CompilerError, OSError) as e:
            raise CompilerError(f"{e}\n{getattr(e, 'log', '')}".strip()) from e
    raise CompilerError("no C++ compiler")


def _build(source: str, path: str) -> None:
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="npcompile-") as folder:
        shutil.copyfile(driver.compile_unit(source, folder), path)
