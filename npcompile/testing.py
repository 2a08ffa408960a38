"""Comparing compiled results with plain NumPy's: the one table of tolerances, a strict comparison, whole-call comparison.

In: what plain Python did and what the compiled function did. Out: None, or one line that says how they differ.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .frontends.torch import library as torch_library
from .records import dataclass, field


@dataclass(frozen=True)
class Tolerance:
    """How far a float may be from NumPy's.

    ulp : units in the last place of the larger magnitude (0: the same bits, but for NaN payloads).
    scaled : units are those of the largest finite magnitude in the result or `scale`, not of each value (sums, contractions).
    zeros : signs of zeros must agree.
    eps : the unit of 1.0, where it is not the dtype's own but larger.
    """

    ulp: float
    scaled: bool = False
    zeros: bool = True
    eps: float = 0.0


TOLERANCES = {
    # integers, bools, + - * /, sqrt, comparisons, casts, rounding, indexing, sums in NumPy's order
    "exact": Tolerance(0),
    # transcendentals, pow, complex * / abs exp: 4 ulp of the true value on our side and as much on NumPy's
    "ulp": Tolerance(8),
    # reductions whose order NumPy leaves to buffering or to several axes: pairwise error bound
    "sum": Tolerance(64, scaled=True, zeros=False),
    # matmul, dot, einsum: n eps |A||B|, for the sizes that tests use
    "contraction": Tolerance(256, scaled=True, zeros=False),
    # linalg, fft: backward error
    "factorisation": Tolerance(1e4, scaled=True, zeros=False),
    # what inexact functions of float32 gave, in float64
    "single": Tolerance(64, scaled=True, zeros=False, eps=2.0**-23),
}
"""The tolerance classes of the project; every test names one of them."""


def difference(expected: Any, got: Any, tolerance: str = "exact", scale: float = 0.0, where: str = "result") -> str | None:
    """None when `got` is what plain NumPy gave, else one line that says how it differs.

    Types, dtypes, shapes, memory order (of arrays with more than one axis longer than 1), containers and their contents are
    compared; NaN equals NaN. `scale` is the magnitude of the inputs for scaled tolerances.
    """
    if type(expected) is not type(got):
        return f"{where}: type {type(expected).__name__} expected, {type(got).__name__} got"
    if torch_library.is_tensor(expected):
        return _tensor_difference(expected, got, tolerance, scale, where)
    if isinstance(expected, np.ndarray):
        if expected.shape != got.shape:
            return f"{where}: shape {expected.shape} expected, {got.shape} got"
        if expected.size > 1 and type(expected) is np.ndarray and _order(expected) != _order(got):
            return f"{where}: strides {expected.strides} expected, {got.strides} got"
        if expected.flags.writeable != got.flags.writeable:
            return f"{where}: writeable {expected.flags.writeable} expected"
    if isinstance(expected, (np.ndarray, np.generic)):
        if expected.dtype != got.dtype:
            return f"{where}: dtype {expected.dtype} expected, {got.dtype} got"
        return _values(np.asarray(expected), np.asarray(got), TOLERANCES[tolerance], scale, where)
    if isinstance(expected, (float, complex)):
        return _values(np.asarray(expected), np.asarray(got), TOLERANCES[tolerance], scale, where)
    if isinstance(expected, BaseException):
        return None if str(expected) == str(got) else f"{where}: {expected!r} expected, {got!r} got"
    if isinstance(expected, (tuple, list)):
        if len(expected) != len(got):
            return f"{where}: {len(expected)} items expected, {len(got)} got"
        pairs: Iterator[tuple[Any, Any, Any]] = ((i, e, g) for i, (e, g) in enumerate(zip(expected, got, strict=True)))
    elif isinstance(expected, dict):
        if list(expected) != list(got):
            return f"{where}: keys {list(expected)} expected, {list(got)} got"
        pairs = ((k, expected[k], got[k]) for k in expected)
    else:
        return None if expected is got or expected == got else f"{where}: {expected!r} expected, {got!r} got"
    for key, e, g in pairs:
        text = difference(e, g, tolerance, scale, f"{where}[{key!r}]")
        if text:
            return text
    return None


def _tensor_difference(expected: Any, got: Any, tolerance: str, scale: float, where: str) -> str | None:
    """As `difference`, of two tensors: what torch says of them, then their memory as arrays."""
    for name in ("dtype", "device", "layout", "requires_grad", "is_leaf"):
        e, g = getattr(expected, name), getattr(got, name)
        if e != g:
            return f"{where}: {name} {e} expected, {g} got"
    if not torch_library.is_plain(expected):
        return None if torch_library.module().equal(expected, got) else f"{where}: another value"
    e, g = (x.detach().cpu().numpy() for x in (expected, got))
    return difference(e, g, tolerance, scale, where)


def _order(a: np.ndarray) -> tuple[int, ...]:
    """Strides of the axes that matter."""
    return tuple(s for s, n in zip(a.strides, a.shape, strict=True) if n > 1)


def _values(e: np.ndarray, g: np.ndarray, tol: Tolerance, scale: float, where: str) -> str | None:
    if e.dtype.kind == "c":
        with np.errstate(all="ignore"):
            top = max(float(np.max(np.abs(e), initial=0.0, where=np.isfinite(e))), scale) if tol.ulp else 0.0
        part = tol if not tol.ulp else Tolerance(tol.ulp, True, tol.zeros, tol.eps)
        return _values(e.real, g.real, part, top, f"{where}.real") or _values(e.imag, g.imag, part, top, f"{where}.imag")
    if e.dtype.kind != "f":
        same = np.asarray(e == g)
        if e.dtype.kind in "mM":
            same = same | (np.isnat(e) & np.isnat(g))
        if same.all():
            return None
        i = int(np.argmin(same.ravel()))
        return f"{where}: {e.ravel()[i]!r} expected, {g.ravel()[i]!r} got at {i} ({int((~same).sum())} of {e.size} differ)"
    wide = np.longdouble
    ee, gg = e.ravel().astype(wide), g.ravel().astype(wide)
    with np.errstate(all="ignore"):
        finfo = np.finfo(e.dtype)
        size: Any = np.abs(ee)
        if tol.scaled:
            size = np.full_like(ee, max(float(np.max(size, initial=0.0, where=np.isfinite(size))), scale))
        eps = max(float(finfo.eps), tol.eps)
        unit = np.maximum(size * wide(eps), wide(finfo.smallest_subnormal))
        err = np.abs(ee - gg)
        ok = (ee == gg) | (np.isnan(ee) & np.isnan(gg)) | (err <= tol.ulp * unit)
        # An overflow may fall on either side of the largest number within the tolerance.
        edge = (np.isinf(ee) != np.isinf(gg)) & (np.fmin(np.abs(ee), np.abs(gg)) >= wide(finfo.max) * (1 - tol.ulp * eps))
        ok |= edge & (tol.ulp > 0)
        if tol.zeros:
            ok &= ~((ee == 0) & (gg == 0)) | (np.signbit(ee) == np.signbit(gg))
    if ok.all():
        return None
    i = int(np.argmin(ok))
    ulp = float(err[i] / unit[i])
    return (
        f"{where}: {e.ravel()[i]!r} expected, {g.ravel()[i]!r} got at {i} ({ulp:.3g} ulp; {int((~ok).sum())} of {e.size} differ)"
    )


def precompile(calls: Iterable[tuple[Any, Sequence[Any]]]) -> None:
    """Compile what calls of jitted functions will need, all of it in one run of the C++ compiler; nothing is executed.

    Parameters
    ----------
    calls : pairs of a function made by `npcompile.jit` and the arguments of a call to come. Arguments that compile to the
        same text share it.

    Raises
    ------
    CompilerError
        When the C++ compiler fails.
    """
    from . import compiler, units
    from .errors import UnsupportedError
    from .explain import bind
    from .lowering import LoweringError
    from .tracer import Refused

    sources: dict[str, None] = {}
    for jitted, args in calls:
        place = jitted.stats._state
        record = compiler.CompileRecord(place.name, place.names)
        try:
            compiler.generate(place, bind(jitted.__wrapped__, tuple(copy_arguments(args)), {}), record)
        except (Refused, LoweringError, UnsupportedError):
            continue
        if record.lowered is not None:
            sources[record.lowered.source] = None
    if sources:
        units.load_together(list(sources))


@dataclass
class Outcome:
    """What one call did: its result or exception, its arguments afterwards, its warnings (category, text, line), in order."""

    result: Any = None
    error: BaseException | None = None
    args: tuple[Any, ...] = ()
    warnings: list[tuple[str, str, int]] = field(default_factory=list)


def observe(fn: Callable[..., Any], args: Sequence[Any]) -> Outcome:
    """Call `fn` on deep copies of `args` (aliasing among them kept) and note everything that can be seen."""
    own = copy_arguments(args)
    out = Outcome()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            out.result = fn(*own)
        except Exception as e:
            out.error = e
    out.args = tuple(own)
    out.warnings = [(w.category.__name__, str(w.message), w.lineno) for w in seen]
    return out


def copy_arguments(args: Sequence[Any]) -> list[Any]:
    """Copies that keep strides, offsets, shared memory and what is read-only: every base buffer is copied once."""
    memo: dict[int, Any] = {}
    out = [_copy(a, memo) for a in args]
    for a, new in zip(args, out):
        if type(a) is np.ndarray and not a.flags.writeable:
            new.flags.writeable = False
    return out


def _copy(a: Any, memo: dict[int, Any]) -> Any:
    if torch_library.is_tensor(a) and torch_library.is_plain(a):
        storage = a.untyped_storage()
        if storage.data_ptr() not in memo:
            memo[storage.data_ptr()] = storage.clone()
        new = torch_library.module().empty(0, dtype=a.dtype, device=a.device)
        return new.set_(memo[storage.data_ptr()], a.storage_offset(), a.shape, a.stride())
    if type(a) is not np.ndarray or a.dtype.hasobject:
        return copy.deepcopy(a)
    base = a
    while isinstance(base.base, np.ndarray):
        base = base.base
    if id(base) not in memo:
        memo[id(base)] = base.copy(order="K") if base.flags.forc else np.array(base, order="K", copy=True)
    new = memo[id(base)]
    if base is a:
        return new
    if new.strides != base.strides:
        return a.copy(order="K")
    offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    view = np.lib.stride_tricks.as_strided(_bytes_at(new, offset, a), a.shape, a.strides, writeable=a.flags.writeable)
    return view


def _bytes_at(new: np.ndarray, offset: int, a: np.ndarray) -> np.ndarray:
    """A one-element window of `a`'s dtype on `new`'s memory, `offset` bytes from its first element."""
    if a.size == 0:
        return np.empty(0, a.dtype)
    flat = np.lib.stride_tricks.as_strided(new.ravel(order="K"), (new.size,), (new.itemsize,))
    raw = flat.view(np.uint8)
    return raw[offset : offset + a.itemsize].view(a.dtype)


def compare_calls(
    plain: Callable[..., Any],
    jitted: Callable[..., Any],
    args: Sequence[Any],
    tolerance: str = "exact",
    scale: float = 0.0,
    warnings: bool = True,
) -> str | None:
    """Call both on copies of the arguments and compare results, exceptions, arguments afterwards, sharing and warnings."""
    return compare_outcomes(observe(plain, args), observe(jitted, args), tolerance, scale, warnings)


def compare_outcomes(a: Outcome, b: Outcome, tolerance: str = "exact", scale: float = 0.0, warnings: bool = True) -> str | None:
    """`compare_calls` of calls already made: what plain NumPy did, what compiled code did."""
    if a.error is not None or b.error is not None:
        text = difference(a.error, b.error, tolerance, scale, "exception")
    else:
        text = difference(a.result, b.result, tolerance, scale)
    text = text or difference(list(a.args), list(b.args), tolerance, scale, "arguments afterwards")
    if text is None and a.error is None and sharing(a.result, a.args) != sharing(b.result, b.args):
        text = "result: shares memory with other arguments than NumPy's"
    if text is None and warnings and a.warnings != b.warnings:
        text = f"warnings {a.warnings} expected, {b.warnings} got"
    return text


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Every array in a result or argument list, and the memory of every tensor on the CPU."""
    if isinstance(value, np.ndarray):
        yield value
    elif torch_library.is_tensor(value) and value.device.type == "cpu" and torch_library.is_plain(value):
        yield torch_library.as_array(value)
    elif isinstance(value, (tuple, list)):
        for v in value:
            yield from arrays_in(v)
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))


def sharing(result: Any, args: Sequence[Any]) -> list[list[bool]]:
    """For every array of the result, which argument arrays (and which other result arrays) it shares memory with."""
    others = [*arrays_in(list(args)), *arrays_in(result)]
    return [[r is o or overlap(r, o) for o in others] for r in arrays_in(result)]


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Do two arrays share an element? (When that is too hard to tell: could they?)"""
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]  # NumPy's stub knows -1 and 0 only
    except np.exceptions.TooHardError:
        return True
