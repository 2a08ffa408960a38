"""The cache of compiled units: loaded ones in memory, shared objects in a private directory on disk.

In: a key over everything that decides the machine code, and a way to build it. Out: a loaded library.
Never: trusts a file that is not ours or not whole; such a file is removed and the unit built again.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..digest import digest
from . import _dispatch

_HOUR = 3600.0
Build = Callable[[str], None]
"""Writes a unit's library to a path."""


# ---------------------------------------------------------------------------------------------- keys


@functools.cache
def cpu_features() -> str:
    """What `-march=native` looks at, as text."""
    names = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part")
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            first = f.read(1 << 14).split("\n\n")[0]
        lines = [line for line in first.splitlines() if line.split(":")[0].strip() in names]
    except OSError:
        lines = []
    return "\n".join(lines) or os.uname().machine


def unit_key(source: str, flags: Sequence[str], compiler: str) -> str:
    """Key of a unit: its text, the compiler's identity and flags, this machine's features, the runtime's ABI."""
    parts = [source, *flags, compiler, cpu_features(), sys.platform, str(_dispatch.ABI_VERSION)]
    return digest(*(part.encode("utf-8", "surrogateescape") for part in parts), length=40)


# ---------------------------------------------------------------------------------------------- the directory


def default_directory(env: Mapping[str, str] = os.environ) -> str:
    """NPCOMPILE_CACHE_DIR, else the platform's place for caches of this user."""
    if env.get("NPCOMPILE_CACHE_DIR"):
        return env["NPCOMPILE_CACHE_DIR"]
    if env.get("XDG_CACHE_HOME"):
        return os.path.join(env["XDG_CACHE_HOME"], "npcompile")
    caches = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return os.path.join(os.path.expanduser(caches), "npcompile")


def _ours(st: os.stat_result) -> bool:
    return st.st_uid == os.geteuid() and not st.st_mode & 0o022


def _private(directory: str) -> str:
    """Make the directory; "" or why it cannot be trusted."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(directory)), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, 0o700)
        st = os.lstat(directory)
        if not stat.S_ISDIR(st.st_mode):
            return "it is not a directory"
        if not _ours(st):
            return "it belongs to another user or others may write to it"
        if not os.access(directory, os.W_OK | os.X_OK):
            return "it is not writable"
    except OSError as e:
        return str(e)
    return ""


class UnitCache:
    """Compiled units under one directory.

    Files are named `<key>-<hash of the content>.so`: one atomic rename publishes an entry, any reader can tell whether it
    is whole, and processes that build the same unit at the same time do no harm.

    Parameters
    ----------
    directory : where; a private temporary one when it cannot be used (then `problem` says why).
    max_bytes : least recently used entries are removed beyond this.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, max_bytes: int = 256 << 20) -> None:
        self.max_bytes = max_bytes
        wanted = default_directory() if directory is None else os.fspath(directory)
        self.directory = os.path.join(wanted, "units")
        self.problem = _private(wanted) or _private(self.directory)
        if self.problem:
            self.problem = f"{wanted}: {self.problem}"
            self.directory = self._temporary()
        self._put_bytes = 0

    def _temporary(self) -> str:
        import tempfile

        directory = tempfile.mkdtemp(prefix="npcompile-")
        weakref.finalize(self, _remove_directory, directory, os.getpid())
        return directory

    def get(self, key: str) -> str | None:
        """The whole, trusted file of a key."""
        shard = os.path.join(self.directory, key[:2])
        try:
            names = [n for n in os.listdir(shard) if n.startswith(f"{key}-")]
        except OSError:
            return None
        for name in names:
            path = os.path.join(shard, name)
            if _trusted(path):
                with contextlib.suppress(OSError):  # another process may have removed it, or the file system is read-only
                    if os.stat(path).st_mtime < time.time() - _HOUR:
                        os.utime(path)
                return path
            _remove(path)
        return None

    def put(self, key: str, build: Build) -> str:
        """Build a unit (`build` writes the file it is given) and publish it."""
        import tempfile

        shard = os.path.join(self.directory, key[:2])
        with contextlib.suppress(FileExistsError):
            os.mkdir(shard, 0o700)
        fd, built = tempfile.mkstemp(prefix="tmp-", suffix=".so", dir=shard)
        os.close(fd)
        try:
            build(built)
            os.chmod(built, 0o700)
            with open(built, "rb") as f:
                data = f.read()
            path = os.path.join(shard, f"{key}-{digest(data, length=32)}.so")
            os.rename(built, path)
        finally:
            _remove(built)
        self._put_bytes += len(data)
        if self._prune_is_due():
            self.prune()
        return path

    def _prune_is_due(self) -> bool:
        """Once an hour for all processes, by the time of a file; and when this one alone has written much since."""
        stamp = os.path.join(self.directory, "pruned")
        try:
            due = os.stat(stamp).st_mtime < time.time() - _HOUR
            if due:
                os.utime(stamp)
        except OSError:
            with contextlib.suppress(OSError):
                os.close(os.open(stamp, os.O_CREAT | os.O_WRONLY, 0o600))
            due = False
        return due or self._put_bytes > self.max_bytes // 8

    def discard(self, key: str) -> None:
        """Remove what is there under a key."""
        shard = os.path.join(self.directory, key[:2])
        with contextlib.suppress(OSError):
            for name in os.listdir(shard):
                if name.startswith(f"{key}-"):
                    _remove(os.path.join(shard, name))

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        """All files with their status, unfinished ones included."""
        with contextlib.suppress(OSError):
            for shard in os.scandir(self.directory):
                if not shard.is_dir(follow_symlinks=False):
                    continue
                with contextlib.suppress(OSError):
                    for f in os.scandir(shard.path):
                        with contextlib.suppress(OSError):
                            yield f.path, f.stat(follow_symlinks=False)

    def prune(self) -> None:
        """Remove files left unfinished and, beyond `max_bytes`, the least recently used entries."""
        self._put_bytes = 0
        files = sorted(self.entries(), key=lambda e: e[1].st_mtime)
        total = sum(st.st_size for _, st in files)
        for path, st in files:
            if (_unfinished(path) and _abandoned(st)) or total > self.max_bytes:
                _remove(path)
                total -= st.st_size

    def clear(self) -> int:
        """Remove all entries and what was left unfinished, but nothing that a process may be writing; how many there were."""
        files = [path for path, st in self.entries() if not _unfinished(path) or _abandoned(st)]
        for path in files:
            _remove(path)
        return len(files)


def _unfinished(path: str) -> bool:
    return os.path.basename(path).startswith("tmp-")


def _abandoned(st: os.stat_result) -> bool:
    return st.st_mtime < time.time() - _HOUR


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_directory(directory: str, pid: int) -> None:
    if os.getpid() == pid:  # not in a forked child
        import shutil

        shutil.rmtree(directory, ignore_errors=True)


def _trusted(path: str) -> bool:
    """A regular file of ours whose content is what its name says."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(fd, "rb") as f:
        st = os.fstat(fd)
        return stat.S_ISREG(st.st_mode) and _ours(st) and path.endswith(f"-{digest(f.read(), length=32)}.so")


# ---------------------------------------------------------------------------------------------- loading


_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


def _after_fork() -> None:
    for loader in _loaders:
        loader._reset()


os.register_at_fork(after_in_child=_after_fork)


class Loader:
    """Loads units through a cache, each key once a process."""

    def __init__(self, cache: UnitCache) -> None:
        self.cache = cache
        self._handles: dict[str, int] = {}
        self._reset()
        _loaders.add(self)

    def _reset(self) -> None:
        """New locks: another thread may have held one when this process was forked off."""
        self._lock = threading.Lock()
        self._building: dict[str, threading.Lock] = {}

    def load(self, key: str, build: Build) -> tuple[int, bool]:
        """Handle of the unit's library, and whether it needed no building.

        Raises
        ------
        OSError
            If what was built cannot be loaded. Exceptions of `build` pass.
        """
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        with building:
            handle = self._handles.get(key)
            if handle is not None:
                return handle, True
            handle, cached = self._from_disk(key, build)
            self._handles[key] = handle
        return handle, cached

    def adopt(self, keys: Iterable[str], handle: int) -> None:
        """A library that was loaded under another key holds these units, too."""
        with self._lock:
            for key in keys:
                self._handles.setdefault(key, handle)

    def _from_disk(self, key: str, build: Build) -> tuple[int, bool]:
        path = self.cache.get(key)
        if path is not None:
            try:
                return _dispatch.load_library(path), True
            except OSError:  # whole, but of another system or removed meanwhile
                self.cache.discard(key)
        path = self.cache.put(key, build)
        try:
            return _dispatch.load_library(path), False
        except OSError:
            import shutil
            import tempfile

            with tempfile.TemporaryDirectory(prefix="npcompile-") as elsewhere:
                own = os.path.join(elsewhere, os.path.basename(path))
                try:
                    shutil.copy(path, own)  # the cache may be mounted "noexec"
                except FileNotFoundError:  # or another process has cleared it just now
                    build(own)
                return _dispatch.load_library(own), False
