"""The cache of compiled units: loaded ones in memory, shared objects in a private directory on disk.

In: a key over everything that decides the machine code, and a way to build it. Out: a loaded library.
Never: trusts a file that is not ours or not whole; such a file is removed and the unit built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from . import _dispatch

_HOUR = 3600.0


# ---------------------------------------------------------------------------------------------- keys


def cpu_features() -> str:
    """What `-march=native` looks at, as text."""
    names = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU implementer", "CPU part")
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            first = f.read(1 << 14).split("\n\n")[0]
        lines = [line for line in first.splitlines() if line.split(":")[0].strip() in names]
    except OSError:
        lines = []
    return "\n".join(lines) or f"{platform.machine()} {platform.processor()}"


def unit_key(source: str, flags: Sequence[str], compiler: str) -> str:
    """Key of a unit: its text, the compiler's identity and flags, this machine's features, the runtime's ABI."""
    parts = [source, *flags, compiler, cpu_features(), platform.system(), str(_dispatch.ABI_VERSION)]
    h = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()[:40]


# ---------------------------------------------------------------------------------------------- the directory


def default_directory(env: Mapping[str, str] = os.environ) -> Path:
    """NPCOMPILE_CACHE_DIR, else the platform's place for caches of this user."""
    if env.get("NPCOMPILE_CACHE_DIR"):
        return Path(env["NPCOMPILE_CACHE_DIR"])
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]) / "npcompile"
    home = Path.home()
    return (home / "Library" / "Caches" if platform.system() == "Darwin" else home / ".cache") / "npcompile"


def _ours(st: os.stat_result) -> bool:
    return st.st_uid == os.geteuid() and not st.st_mode & 0o022


def _private(directory: Path) -> str:
    """Make the directory; "" or why it cannot be trusted."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        st = directory.lstat()
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

    def __init__(self, directory: Path | None = None, max_bytes: int = 256 << 20) -> None:
        self.max_bytes = max_bytes
        wanted = default_directory() if directory is None else directory
        self.directory = wanted / "units"
        self.problem = _private(wanted) or _private(self.directory)
        if self.problem:
            self.problem = f"{wanted}: {self.problem}"
            self.directory = self._temporary()
        self._puts = 0

    def _temporary(self) -> Path:
        directory = Path(tempfile.mkdtemp(prefix="npcompile-"))
        weakref.finalize(self, _remove_directory, directory, os.getpid())
        return directory

    def get(self, key: str) -> Path | None:
        """The whole, trusted file of a key."""
        shard = self.directory / key[:2]
        try:
            names = [n for n in os.listdir(shard) if n.startswith(f"{key}-")]
        except OSError:
            return None
        for name in names:
            path = shard / name
            if _trusted(path):
                with contextlib.suppress(OSError):  # another process may have removed it, or the file system is read-only
                    if path.stat().st_mtime < time.time() - _HOUR:
                        os.utime(path)
                return path
            _remove(path)
        return None

    def put(self, key: str, build: Callable[[Path], None]) -> Path:
        """Build a unit (`build` writes the file it is given) and publish it."""
        shard = self.directory / key[:2]
        shard.mkdir(mode=0o700, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix="tmp-", suffix=".so", dir=shard)
        os.close(fd)
        built = Path(name)
        try:
            build(built)
            built.chmod(0o700)
            path = shard / f"{key}-{_digest(built.read_bytes())}.so"
            built.rename(path)
        finally:
            _remove(built)
        if self._puts % 32 == 0:
            self.prune()
        self._puts += 1
        return path

    def discard(self, key: str) -> None:
        """Remove what is there under a key."""
        shard = self.directory / key[:2]
        with contextlib.suppress(OSError):
            for name in os.listdir(shard):
                if name.startswith(f"{key}-"):
                    _remove(shard / name)

    def entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        """All files with their status, unfinished ones included."""
        with contextlib.suppress(OSError):
            for shard in os.scandir(self.directory):
                if not shard.is_dir(follow_symlinks=False):
                    continue
                with contextlib.suppress(OSError):
                    for f in os.scandir(shard.path):
                        with contextlib.suppress(OSError):
                            yield Path(f.path), f.stat(follow_symlinks=False)

    def prune(self) -> None:
        """Remove files left unfinished and, beyond `max_bytes`, the least recently used entries."""
        files = sorted(self.entries(), key=lambda e: e[1].st_mtime)
        total = sum(st.st_size for _, st in files)
        abandoned = time.time() - _HOUR
        for path, st in files:
            old = path.name.startswith("tmp-") and st.st_mtime < abandoned
            if old or total > self.max_bytes:
                _remove(path)
                total -= st.st_size

    def clear(self) -> int:
        """Remove all entries; how many there were."""
        files = [path for path, _ in self.entries()]
        for path in files:
            _remove(path)
        return len(files)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _remove_directory(directory: Path, pid: int) -> None:
    if os.getpid() == pid:  # not in a forked child
        shutil.rmtree(directory, ignore_errors=True)


def _trusted(path: Path) -> bool:
    """A regular file of ours whose content is what its name says."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(fd, "rb") as f:
        st = os.fstat(fd)
        return stat.S_ISREG(st.st_mode) and _ours(st) and path.stem.endswith(f"-{_digest(f.read())}")


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

    def load(self, key: str, build: Callable[[Path], None]) -> tuple[int, bool]:
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

    def _from_disk(self, key: str, build: Callable[[Path], None]) -> tuple[int, bool]:
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
            with tempfile.TemporaryDirectory(prefix="npcompile-") as elsewhere:  # the cache may be mounted "noexec"
                return _dispatch.load_library(shutil.copy(path, elsewhere)), False
