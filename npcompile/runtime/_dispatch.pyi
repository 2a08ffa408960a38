"""Types of the C dispatcher extension."""

from collections.abc import Callable
from os import PathLike
from types import CodeType
from typing import Any, Literal

import numpy as np

ABI_VERSION: int
EXIT_0: int

class Entry:
    """One compiled segment with its guards and exits; made by `segments.make_entry`."""

    hits: int
    graph_failures: int
    info: Any
    constants: tuple[Any, ...]
    gain: int
    general: int
    resting: int
    max_threads: int
    failures: tuple[int, ...]
    exits: tuple[int, ...]
    def __init__(
        self,
        code: int,
        n_args: int,
        n_guards: int,
        n_regs: int,
        n_slots: int,
        max_threads: int,
        stores_first: bool,
        steps: tuple[Any, ...],
        aliases: tuple[Any, ...],
        exits: tuple[Any, ...],
        sites: tuple[Any, ...],
        syms: tuple[int, ...],
        constants: tuple[Any, ...],
        calls: tuple[Any, ...],
        info: Any,
        launcher: Callable[..., Any] | None = None,
        stream: Callable[[], int] | None = None,
        library: int = 0,
        device: int = -1,
        gain: int = 0,
        objects: tuple[int, ...] = (),
        general: bool = False,
        loops: tuple[tuple[np.ufunc, int], ...] = (),
    ) -> None: ...
    def check(self, jit: Jit, bound: tuple[Any, ...], /) -> int | None: ...

class Jit:
    """What `@jit` puts in a function's place."""

    __wrapped__: Callable[..., Any]
    __code__: CodeType
    __name__: str
    __qualname__: str
    entries: tuple[Entry, ...]
    state: Literal["active", "frozen", "plain"]
    hits: int
    misses: int
    plain_calls: int
    waiting: float
    run_traced: int
    tries: int
    rest: int
    def __init__(
        self,
        function: Callable[..., Any],
        miss: Callable[[Jit, tuple[Any, ...]], bool] | None = None,
        rebuild: tuple[Any, ...] | None = None,
        run_traced: bool = False,
        point: tuple[CodeType, int, int, int, Callable[[], tuple[Any, Any]]] | None = None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def __get__(self, obj: Any, cls: type | None = None) -> Any: ...
    def insert(self, entry: Entry, /) -> None: ...
    def clear(self) -> None: ...

class Steps:
    """A stub that hands its frame back, and the points where it may stand then."""

    stub: Callable[[Any], Any]
    points: list[Any]
    def __init__(self, stub: Callable[[Any], Any], points: list[Callable[[], Jit]], /) -> None: ...
    def __call__(self, values: Any, /) -> Any: ...

def set_landings(next: object, target: object, /) -> None: ...
def alias_relation(a: np.ndarray, b: np.ndarray, /) -> Literal["disjoint", "same", "other"]: ...
def overlaps_itself(a: np.ndarray, /) -> bool: ...
def is_interned(x: object, /) -> bool: ...
def chosen(a: object, mask: object, /) -> Any: ...
def use_cupy(parts: dict[str, Any], /) -> None: ...
def use_torch(parts: dict[str, Any], /) -> None: ...
def set_num_threads(n: int, /) -> None: ...
def get_num_threads() -> int: ...
def memory_limit(n_bytes: int, /) -> None: ...
def memory_trim() -> int: ...
def memory_stats() -> dict[str, int]: ...
def load_library(path: str | PathLike[str], /) -> int: ...
def symbol(handle: int | None, name: str, /) -> int: ...
def loaded_objects() -> list[str]: ...
def open_loaded(path: str, /) -> int: ...
def set_generator(cls: int, place: int, its_global: object, /) -> None: ...
def capsule_address(capsule: object, /) -> int: ...
def device_load(cubin: bytes, name: str, shared: int, /) -> int: ...
def device_count() -> int: ...
def device_capability() -> int: ...
