"""What a library function returns, found out by calling it on small made-up operands of the same dtypes, ranks, axis orders.

In: a call as data (`npcompile.ir.externs`), its operands' types. Out: the structure of the result, dtypes, axis orders, and sizes
as dims of the operands' sizes where two calls agree, else None. A guess: compiled code checks what the real call returns. Never:
calls anything but the functions listed in `library`, which have no effects.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np

from npcompile.frontends.values import Unsupported
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.externs import Template, as_array, boxed, resolve
from npcompile.ir.layout import perm
from npcompile.ir.types import TensorType, is_compiled
from npcompile.records import dataclass

MOST = 1 << 24
"""Elements that a made-up operand has at most; of many axes even short ones make more."""
Call = Callable[..., Any]
_NO_REGISTRY = {"__name__": __name__, "__warningregistry__": 0, "__builtins__": builtins}
"""Globals of code in which a warning becomes a TypeError, since the registry is no dict; it shows nowhere else."""


@dataclass
class Guess:
    """What a call is expected to return.

    result : template; types : of each output, where axes of a length that only the call tells have the dim None.
    """

    result: Template
    types: list[tuple[np.dtype, tuple[Dim | None, ...], tuple[int, ...]]]


def guess(
    call: types.FunctionType,
    operand_types: Sequence[TensorType],
    values: Sequence[Sequence[Any]],
    sizes: Sequence[Mapping[str, int]],
    largest: Sequence[int],
) -> Guess:
    """Call twice and compare.

    Parameters
    ----------
    call : as a Python function of its operands. operand_types : of these.
    values : for each call, the value of each rank-0 operand, or a dim whose value it is; None for arrays.
    sizes : for each call, the value of every symbol in `operand_types`.
    largest : for each call, the largest int in an array.

    Raises
    ------
    Unsupported
        when a call raises or warns, or its result is not made of arrays and numbers of compiled dtypes.
    """
    found = []
    call = types.FunctionType(call.__code__, _NO_REGISTRY, call.__name__, None, call.__closure__)
    for k, env in enumerate(sizes):
        operands = [_operand(t, v, env, largest[k], k) for t, v in zip(operand_types, values[k])]
        leaves: list[Any] = []
        found.append((_structure(_run(call, operands), leaves, operands), leaves))
        if any(np.may_share_memory(x, y) for x in leaves if isinstance(x, np.ndarray) for y in operands):
            raise Unsupported("no-rule", "a result that is a view of an operand")
    (result, first), (other, second) = found
    if result != other or not first:
        raise Unsupported("no-rule", "what the function returns depends on values")
    lengths = [v for v in values[0] if isinstance(v, Dim)]
    known = list(dict.fromkeys(d for d in (*(d for t in operand_types for d in t.dims), *lengths) if d.const is None))
    return Guess(result, [_type(a, b, known, sizes) for a, b in zip(map(as_array, first), map(as_array, second))])


class _OfTrials(type):
    """A warning category that holds all warnings of threads that are making a trial, and no others."""

    threads: ClassVar[set[int]] = set()

    def __subclasscheck__(cls, category: type) -> bool:
        return threading.get_ident() in cls.threads


class _TrialWarning(metaclass=_OfTrials):
    pass


_IGNORE = ("ignore", None, _TrialWarning, None, 0)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No warnings of this thread. Unlike `catch_warnings` it leaves alone what other threads do to the filters meanwhile, and the
    memory of what has been shown once; a filter that stays in a copy of the list which another thread made does nothing there."""
    filters: Any = warnings.filters
    _OfTrials.threads.add(threading.get_ident())
    filters.insert(0, _IGNORE)
    try:
        yield
    finally:
        _OfTrials.threads.discard(threading.get_ident())
        with contextlib.suppress(ValueError):
            filters.remove(_IGNORE)


def _run(call: Call, operands: list[Any]) -> Any:
    try:
        with np.errstate(all="ignore"), _quiet():
            return call(*operands)
    except Exception as e:
        raise Unsupported("no-rule", f"{type(e).__name__}: {e}") from None


def _operand(t: TensorType, value: Any, env: Mapping[str, int], largest: int, k: int) -> np.ndarray:
    """A made-up operand: numbers that repeat and grow, a zero among them, ints up to `largest`, so that they may be indices; a
    square matrix can be inverted and factorised. In the second call (k = 1) the numbers of zeros and of different numbers are
    others, so that what depends on them is no size of an operand by chance."""
    if value is not None:
        return np.array(value.evaluate(env) if isinstance(value, Dim) else value, t.dtype)
    shape = tuple(d.evaluate(env) for d in t.dims)
    if min(shape, default=0) < 0:
        raise Unsupported("no-rule", "sizes")
    order = perm(t.layout)
    n = math.prod(shape)
    if n > MOST:
        raise Unsupported("no-rule", "an operand of many elements, whatever its sizes")
    i = np.arange(n)
    steps = (i + 2 * k) // (k + 2)
    if t.dtype.kind == "b":
        x = i % 3 == 1
    elif t.dtype.kind in "iu":
        x = np.minimum(steps, largest)
    else:
        x = steps * 0.125 if n > 1 else i + 1.0
    out = x.astype(t.dtype).reshape([shape[a] for a in order]).transpose(np.argsort(order) if order else ())
    if t.dtype.kind in "fc" and len(shape) > 1 and shape[-1] == shape[-2]:
        out = out + np.swapaxes(out, -1, -2) + np.eye(shape[-1], dtype=t.dtype) * 4 * n
        out = np.asarray(out, t.dtype, order="K")
    return out


def _structure(value: Any, leaves: list[Any], operands: Sequence[Any]) -> Template:
    """Template of a result; its arrays and numbers, other than operands, are appended to `leaves`."""
    same = next((k for k, x in enumerate(operands) if x is value and x.ndim), None)
    if same is not None:
        return ("same", same)
    box = boxed(value)
    if box is not None:
        if box != "python" and not is_compiled(value.dtype):
            raise Unsupported("dtype", str(value.dtype))
        leaves.append(value)
        return ("out", len(leaves) - 1, box)
    if type(value) in (tuple, list):
        return ("tuple" if type(value) is tuple else "list", *(_structure(x, leaves, operands) for x in value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if resolve(name) is type(value):
            return ("named", name, *(_structure(x, leaves, operands) for x in value))
    raise Unsupported("no-rule", f"it returns a {type(value).__name__}")


def _type(
    a: np.ndarray, b: np.ndarray, known: Sequence[Dim], sizes: Sequence[Mapping[str, int]]
) -> tuple[np.dtype, tuple[Dim | None, ...], tuple[int, ...]]:
    if a.dtype != b.dtype or a.ndim != b.ndim:
        raise Unsupported("no-rule", "what the function returns depends on values")
    dims = tuple(_size(pair, known, sizes) for pair in zip(a.shape, b.shape))
    axes = [k for k in range(b.ndim) if dims[k] != Dim.of(1)]
    order = sorted(axes, key=lambda k: (b.strides[k], -k))
    step = b.itemsize
    for k in order:
        if b.size and b.strides[k] != step:
            raise Unsupported("no-rule", "its result has gaps")
        step *= b.shape[k]
    return b.dtype, dims, tuple(order.index(k) + 1 if k in axes else 0 for k in range(b.ndim))


def _size(pair: tuple[int, int], known: Sequence[Dim], sizes: Sequence[Mapping[str, int]]) -> Dim | None:
    """The dim that has these lengths in the two calls."""
    for d in _candidates(known):
        if tuple(d.evaluate(env) for env in sizes) == pair:
            return d
    if pair[0] == pair[1]:
        return Dim.of(pair[0])
    return next((d + c for d in known for c in [pair[0] - d.evaluate(sizes[0])] if d.evaluate(sizes[1]) + c == pair[1]), None)


def _candidates(known: Sequence[Dim]) -> Iterator[Dim]:
    yield from known
    for d in known:
        yield from (d - 1, d + 1, d // 2 + 1)
    for a, b in combinations_with_replacement(known, 2):
        yield from (a * b, a + b, a + b - 1)


def sizes_of(
    types: Sequence[TensorType], hints: Mapping[Sym, int], merge: bool, lengths: Sequence[Dim] = ()
) -> list[dict[str, int]]:
    """Two assignments of small sizes to the symbols of some types and lengths.

    merge : what is equal in the traced call stays equal, constant sizes included.
    """
    symbols = list(dict.fromkeys(s for d in (*(d for t in types for d in t.dims), *lengths) for s in d.syms()))
    constants = {d.const for t in types for d in t.dims}
    numbers: dict[Any, int] = {}
    out = []
    for start, step in ((5, 2), (8, 3)):
        env = {}
        for s in symbols:
            hint = hints.get(s)
            if merge and hint is not None and hint in constants:
                env[s.name] = hint
                continue
            n = start + step * numbers.setdefault(hint if merge else s, len(numbers))
            env[s.name] = min(n + max(s.lo, 0), s.hi)
        out.append(env)
    return out
