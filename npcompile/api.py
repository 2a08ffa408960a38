"""`npcompile.jit`: the decorator and its options. Everything a call does afterwards is in the C jit object and `compiler`."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from .config import PROCESS, Options
from .runtime._dispatch import Jit
from .state import FunctionState
from .stats import Stats

F = TypeVar("F", bound=Callable[..., Any])

_PLAIN_CODE = 0x20 | 0x80 | 0x100 | 0x200  # generator, coroutine, iterable coroutine, async generator


@overload
def jit(fn: F, /) -> F: ...
@overload
def jit(
    fn: None = None,
    /,
    *,
    fullgraph: bool = ...,
    dynamic: bool | None = ...,
    mode: str = ...,
    backend: str | Callable[..., Any] | None = ...,
    device: str | None = ...,
    options: Mapping[str, Any] | None = ...,
    disable: bool = ...,
    fastmath: bool = ...,
    parallel: bool = ...,
) -> Callable[[F], F]: ...
@overload
def jit(
    fn: F,
    /,
    *,
    fullgraph: bool = ...,
    dynamic: bool | None = ...,
    mode: str = ...,
    backend: str | Callable[..., Any] | None = ...,
    device: str | None = ...,
    options: Mapping[str, Any] | None = ...,
    disable: bool = ...,
    fastmath: bool = ...,
    parallel: bool = ...,
) -> F: ...


def jit(
    fn: Any = None,
    /,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str = "default",
    backend: str | Callable[..., Any] | None = None,
    device: str | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
    fastmath: bool = False,
    parallel: bool = True,
) -> Any:
    """Compile a NumPy function just in time; use as ``@jit``, ``@jit(...)`` or ``jit(function, ...)``.

    The decorated function takes and returns exactly what the function itself does, side effects, exceptions and warnings
    included. What cannot be compiled runs as plain Python.

    Parameters
    ----------
    fn : function, staticmethod, classmethod or other callable
        A Python function; methods work by decorating them in the class body, or bound to an object. Callables that are not Python
        functions, generators and coroutines are returned as they are (there is nothing to compile).
    fullgraph : bool
        Raise `UnsupportedError` at the call instead of running a part as plain Python. Compiles at the first call.
    dynamic : bool or None
        Sizes are symbolic (None, True), or each set of sizes is compiled on its own (False).
    mode : {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}
        Accepted for compatibility with ``torch.compile``; all mean the same.
    backend : {"cpp", "triton", "reference"}, callable or None
        What runs the compiled graph; a callable gets ``(graph, spec)`` and returns ``run(inputs) -> (exit, captures)``.
    device : {"cpu", "cuda", "cuda:<number>", None}
        Where functions of NumPy arrays run: on a CUDA device arrays are copied there and results back, once a call. Arrays of
        torch and CuPy stay where they are.
    options : dict
        Further options by name: ``compile`` ("first" or "hot"), ``recompile_limit``, ``debug_passes``, ``fuel``, ``trace_debug``.
    disable : bool
        Return a function that always runs plain.
    fastmath : bool
        Allow results that differ in the last bit: a product and a sum that follows may be rounded once.
    parallel : bool
        Allow threads.

    Returns
    -------
    callable
        With ``.stats`` (see `npcompile.stats.Stats`) and ``.__wrapped__``.

    Raises
    ------
    TypeError, ValueError
        For options that do not exist or have no such value.
    """
    base = Options(
        fullgraph=fullgraph,
        dynamic=dynamic,
        mode=mode,
        backend=backend,
        device=device,
        disable=disable or PROCESS.disable,
        fastmath=fastmath,
        parallel=parallel,
        compile=PROCESS.compile,
        trace_debug=PROCESS.trace_debug,
    ).with_extra(options)
    if fn is None:
        return lambda f: wrap(f, base)
    return wrap(fn, base)


def wrap(fn: Any, options: Options) -> Any:
    """Put a jit object in a function's place."""
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(wrap(fn.__func__, options))
    if isinstance(fn, Jit):
        return wrap(fn.__wrapped__, options)
    if isinstance(fn, types.MethodType) and isinstance(fn.__func__, (types.FunctionType, Jit)):
        return types.MethodType(wrap(fn.__func__, options), fn.__self__)
    if not isinstance(fn, types.FunctionType):
        if not callable(fn):
            raise TypeError(f"jit needs a callable, not {type(fn).__name__}")
        return fn
    state = FunctionState(fn, options)
    out = Jit(fn, state.miss, (wrap, options), options.trace_debug)
    out.stats = Stats(out, state)
    out.tries = options.compile == "hot" and not options.fullgraph
    if options.disable or fn.__code__.co_flags & _PLAIN_CODE:
        out.state = "plain"
    return out
