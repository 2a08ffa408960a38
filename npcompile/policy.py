"""When to compile: decides at a call that no entry takes. In: the function, its bound arguments, what plain calls have cost so
far. Out: yes, no, or "if the trace shows that this call takes long".

"hot" is ski-rental. Compiling costs about `COMPILE_SECONDS`. A first call runs plain unless it takes about that long by itself:
a script that calls a hundred functions once must not pay for a hundred compiles. A second call shows that there is
repetition and compiles, as long as the process has not spent more than its credit on compiling; beyond that a function
compiles once plain calls of it have cost as much. All numbers are measured (docs/performance.md, "When to compile").
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import types
from collections.abc import Iterable, Iterator, Sequence
from opcode import opmap
from typing import Any

import numpy as np

from .runtime._dispatch import Jit

COMPILE_SECONDS = 0.15
"""What tracing and compiling one function costs, about."""
CREDIT_SECONDS = 8.0
CREDIT_SHARE = 0.25
"""What a process may spend on compiling before its functions have cost as much: so much, and this share of its life."""
BYTE_SECONDS = 16e-6
"""What the C++ compiler takes for one byte of generated text, about."""
LARGE_BYTES = 4 << 20
"""Arguments so large make a NumPy operation a matter of a millisecond, and a trace worth its time."""

NO, IF_LONG, YES = range(3)

_BACKWARD = frozenset(code for name, code in opmap.items() if "JUMP_BACKWARD" in name or name == "FOR_ITER")
_MAX_CODES = 64


class Credit:
    """What this process has spent on compiling."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.spent = 0.0

    def left(self) -> bool:
        return self.rest() > 0

    def rest(self) -> float:
        """Seconds that may still be spent."""
        return CREDIT_SECONDS + CREDIT_SHARE * (time.perf_counter() - self.start) - self.spent

    @contextlib.contextmanager
    def spending(self) -> Iterator[None]:
        """Count what is done here: by the clock, or by processor time where a busy machine made the clock run ahead."""
        before = _now()
        try:
            yield
        finally:
            self.spent += min(b - a for a, b in zip(before, _now(), strict=True))


def _now() -> tuple[float, float]:
    t = os.times()
    return time.perf_counter(), time.process_time() + t.children_user + t.children_system


CREDIT = Credit()


class TooDear(Exception):
    """Compiling costs `price` seconds, more than may be spent on one function that has not cost as much itself."""

    def __init__(self, price: float) -> None:
        super().__init__(f"compiling takes about {price:.1f} s")
        self.price = price


def affordable(price: float, waited: float) -> bool:
    """May a compile cost so much? One gets at most half of the credit that is left, unless plain calls have cost as much."""
    return price <= max(waited, CREDIT.rest() / 2, COMPILE_SECONDS)


def in_vain(decision: int, waited: float, looked: float, refused: float) -> bool:
    """Must what attempts in vain took be earned first? `looked`: that calls are short, which says nothing of a second one;
    `refused`: that there is no code, which matters where finding out took long."""
    return waited < max(looked if decision == IF_LONG else 0.0, refused if refused > COMPILE_SECONDS else 0.0)


def decide(fn: types.FunctionType, bound: Sequence[Any], misses: int, waited: float, again: bool = True) -> int:
    """Compile now? NO, YES, or IF_LONG: when the trace says that this call takes `COMPILE_SECONDS` or more.

    Parameters
    ----------
    misses : calls so far that nothing took, this one included.
    waited : seconds that plain calls have taken since the last compile.
    again : such arguments have missed before; a function called once with each of many types does not repeat.
    """
    if misses > 1 and (waited >= COMPILE_SECONDS or (again and CREDIT.left())):
        return YES
    nbytes = sum(map(_nbytes, bound))
    return IF_LONG if nbytes >= LARGE_BYTES or loops(fn, bound) else NO


def pattern(bound: Sequence[Any]) -> tuple[Any, ...]:
    """What most guards ask of arguments, roughly: types, dtypes, numbers of axes, memory order."""
    return tuple(map(_kind, bound))


def _kind(x: Any) -> Any:
    if type(x) is np.ndarray:
        return x.dtype, x.flags.c_contiguous, tuple(n == 1 for n in x.shape)
    if type(x) in (tuple, list):
        return type(x), len(x), *(_kind(item) for item in x[:_MOST_ITEMS])
    if type(x) is dict:
        return dict, *((k, _kind(v)) for k, v in list(x.items())[:_MOST_ITEMS] if type(k) is str)
    return type(x)


_MOST_ITEMS = 8


def decide_point(misses: int, expected: bool, waited: float, loops: bool) -> int:
    """Compile at a point in the middle of a function?

    Parameters
    ----------
    misses : frames so far that nothing took there, this one included.
    expected : this is not the first call of the function that comes here, or would have come here had it been compiled.
    waited : as in `decide`.
    loops : the point is part of a loop, whose rest may take any time.
    """
    if (misses > 1 or expected) and (waited >= COMPILE_SECONDS or CREDIT.left()):
        return YES
    return IF_LONG if loops else NO


def _nbytes(x: Any) -> int:
    if type(x) is np.ndarray:
        return x.nbytes
    if "torch" in sys.modules:
        from .frontends.torch import library

        return x.nbytes if library.is_tensor(x) and library.is_plain(x) else 0
    return 0


def loops(fn: types.FunctionType, bound: Sequence[Any]) -> bool:
    """Does the function loop, or one that it calls by a name that is easily looked up? Such a call may take any time."""
    return any(set(code.co_code[::2]) & _BACKWARD for code in _codes(fn, bound))


def _codes(fn: types.FunctionType, bound: Sequence[Any]) -> Iterator[types.CodeType]:
    """Code objects that a call may run: the function's, those inside it, those of functions that it names or holds."""
    classes = [cls for a in bound for cls in type(a).__mro__ if cls.__module__ not in _LIBRARIES]
    functions = [fn]
    codes: list[tuple[types.CodeType, dict[str, Any]]] = []
    seen: set[types.CodeType] = set()
    while (functions or codes) and len(seen) < _MAX_CODES:
        if functions:
            f = functions.pop()
            if f.__code__ in seen:  # it may hold itself
                continue
            codes.append((f.__code__, f.__globals__))
            functions += _found(c.cell_contents for c in f.__closure__ or () if c != _EMPTY_CELL)
        code, space = codes.pop()
        if code in seen:
            continue
        seen.add(code)
        yield code
        codes += [(c, space) for c in code.co_consts if isinstance(c, types.CodeType)]
        named = [space[name] for name in code.co_names if name in space]
        spaces = [space, *(vars(x) for x in (*named, *classes) if issubclass(type(x), (type, types.ModuleType)))]
        functions += _found(names[name] for names in spaces for name in code.co_names if name in names)


_EMPTY_CELL = types.CellType()
_WRAPPERS = frozenset({Jit, types.MethodType, staticmethod, classmethod})
_LIBRARIES = frozenset({"builtins", "numpy", "scipy", "math"})


def _found(values: Iterable[Any]) -> Iterator[types.FunctionType]:
    """The Python functions among some objects, out of the wrappers that are known; no code of other objects runs."""
    for x in values:
        while type(x) in _WRAPPERS:  # not isinstance, which asks the object
            x = x.__wrapped__ if type(x) is Jit else x.__func__
        if type(x) is types.FunctionType and str(x.__module__).partition(".")[0] not in _LIBRARIES:
            yield x
