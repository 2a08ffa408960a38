"""Iterators made in the segment: how they begin, how many turns they have, which element a turn gets.

In: symbolic iterables. Out: `IterV`s, turn counts as dims, elements. Never: decides whether a loop is compiled.
"""

from __future__ import annotations

import enum

import numpy as np

from npcompile.frontends.numpy import indexing
from npcompile.frontends.values import Array, Const, DictV, ListV, RangeV, Scalar, SymValue, Tensor, TupleV, Unsupported
from npcompile.ir.dims import Dim, dim_max, dim_min, product
from npcompile.records import dataclass

from . import runlists, tensors
from .containers import MAX_UNROLL, known_items
from .inputs import describe
from .interpreter import Trace
from .numbers import dim_of, dtype_of, int_value, is_number
from .standins import held
from .symbolic import (
    ArrayIterV,
    DictViewV,
    EnumerateIterV,
    InputObject,
    IterV,
    PositionsIterV,
    RangeIterV,
    RunListIterV,
    RunListV,
    SeqIterV,
    ZipIterV,
)

INT64 = np.dtype(np.int64)
RUN_TIME_BOUND = 1 << 62
RUN_TIME_HINT = 16
"""Trace-time value of a loop bound that is computed at run time: any plausible one will do."""
RUN_TIME_TURNS = 1 << 24
"""Turns of such a loop where its cost is estimated: it may be long, so waiting would be a risk."""


def iterator(t: Trace, v: SymValue) -> IterV:
    """`iter(v)`."""
    v = t.use(held(t, v))
    if isinstance(v, IterV):
        return v
    if isinstance(v, RangeV):
        return RangeIterV(v, v.start)
    if isinstance(v, (TupleV, ListV)):
        return SeqIterV(v)
    if isinstance(v, (Array, Tensor)) and v.rank:
        return ArrayIterV(v, Const(0))
    if isinstance(v, RunListV) and not (v.lead or v.extra):
        return RunListIterV(v, Const(0), t.int_of(runlists.count_of(t, v)))
    if (isinstance(v, Const) and isinstance(v.value, (tuple, str, bytes, range, enum.EnumMeta))) or isinstance(
        v, (DictV, DictViewV, InputObject)
    ):
        return SeqIterV(TupleV(tuple(known_items(t, v))), 0, v)
    number = isinstance(v, Scalar) or (
        isinstance(v, Const) and isinstance(v.value, (int, float, complex, np.number, np.bool_, type(None)))
    )
    if number or isinstance(v, (Array, Tensor)):
        raise Unsupported("not-iterable", describe(v))
    raise Unsupported("loop-iterator", describe(v))


# ------------------------------------------------------------------------------------------------ number of turns


def trips_at_trace(t: Trace, trips: Dim) -> int:
    """Turns of the traced call; very many when their number is computed at run time."""
    unknown = any(s.hi == RUN_TIME_BOUND for s in trips.syms())
    return RUN_TIME_TURNS if unknown else t.b.hint(trips)


def int_dim(t: Trace, v: SymValue) -> Dim:
    """A Python int as a dim; one computed at run time is named by a symbol of its own."""
    v = t.use(v)
    if not is_number(v) or dtype_of(v).kind not in "ib":
        raise Unsupported("loop-iterator", f"range of {describe(v)}")
    d = dim_of(v)
    if d is None:
        value = int_value(t, v)
        above, below = t.b.const(RUN_TIME_BOUND, INT64), t.b.const(-RUN_TIME_BOUND, INT64)
        bad = t.b.emit("logical_or", t.b.emit("gt", value, above), t.b.emit("lt", value, below))
        t.b.exit_if(bad, "int-overflow")
        d = t.b.sym_of(value, -RUN_TIME_BOUND, RUN_TIME_BOUND, RUN_TIME_HINT)
    return t.b.facts.canon(d)


def step_of(t: Trace, v: RangeV) -> int:
    """The step of a range; the segment is specialised on it."""
    step = t.b.static_dim(int_dim(t, v.step))
    if step == 0:
        raise Unsupported("builtin", "range() with step 0")
    return step


def count(start: Dim, stop: Dim, step: int) -> Dim:
    """Length of `range(start, stop, step)`."""
    span = stop - start if step > 0 else start - stop
    size = abs(step)
    return dim_max(span if size == 1 else (span + (size - 1)) // size, 0)


def trip_count(t: Trace, v: RangeV) -> Dim:
    return count(int_dim(t, v.start), int_dim(t, v.stop), step_of(t, v))


@dataclass(frozen=True)
class Turns:
    """The turns of a countable iterator: a native loop runs `i` over range(start, stop, step).

    limits : dims that the turn number (for step 1 from 0: `i` itself) stays below, all of them.
    """

    start: Dim
    stop: Dim
    step: int
    trips: Dim
    limits: tuple[Dim, ...] = ()


def turns(t: Trace, it: IterV) -> Turns | None:
    """How a native loop counts the remaining turns of an iterator; None if it is not countable."""
    if isinstance(it, RangeIterV):
        start, stop, step = int_dim(t, it.next), int_dim(t, it.range.stop), step_of(t, it.range)
        return Turns(start, stop, step, count(start, stop, step))
    limits = limits_of(t, it)
    if not limits:
        return None
    trips = limits[0]
    for d in limits[1:]:
        trips = dim_min(trips, d)
    return Turns(Dim.of(0), trips, 1, trips, tuple(limits))


def limits_of(t: Trace, it: IterV) -> list[Dim] | None:
    """Remaining turns of each part of a composed iterator."""
    if isinstance(it, RangeIterV):
        return [count(int_dim(t, it.next), int_dim(t, it.range.stop), step_of(t, it.range))]
    if isinstance(it, PositionsIterV):
        return [product([int_dim(t, n) for n in it.sizes]) - int_dim(t, it.index)]
    if isinstance(it, ArrayIterV):
        assert isinstance(it.array, (Array, Tensor))
        return [it.array.dims[0] - int_dim(t, it.index)]
    if isinstance(it, RunListIterV):
        return [int_dim(t, it.length) - int_dim(t, it.index)]
    if isinstance(it, EnumerateIterV):
        return limits_of(t, it.inner)
    if isinstance(it, ZipIterV):
        parts = [limits_of(t, inner) for inner in it.iters]
        if parts and all(parts):
            return [d for p in parts for d in p]  # type: ignore[union-attr]
    return None


def known_trips(t: Trace, it: IterV) -> int | None:
    """The number of remaining turns when it is a constant."""
    if isinstance(it, SeqIterV):
        return len(it.seq.items) - it.index
    if isinstance(it, ZipIterV):
        parts = [known_trips(t, inner) for inner in it.iters]
        return min(parts, default=0) if None not in parts else None  # type: ignore[type-var]
    if isinstance(it, EnumerateIterV):
        return known_trips(t, it.inner)
    limits = limits_of(t, it)
    return None if limits is None else t.b.facts.canon(limits[0]).const


def guarded_trips(t: Trace, it: IterV) -> int:
    """The number of turns of a container beside what is as long as a size tells, which becomes a guard."""
    leaves = [p for p in parts(it) if not isinstance(p, (ZipIterV, EnumerateIterV))]
    n = min(k for p in leaves if (k := known_trips(t, p)) is not None)
    for p in leaves:
        for d in (limits_of(t, p) or ()) if known_trips(t, p) is None else ():
            if t.b.facts.is_local(d):
                raise Unsupported("loop-iterator", "a container next to a range of unknown length")
            if not t.b.dim_ge(d, n):
                n = t.b.static_dim(d)
    return n


def short(t: Trace, v: SymValue) -> bool:
    """Has an iterable a known, small number of items?"""
    n = known_trips(t, iterator(t, v))
    return n is not None and n <= MAX_UNROLL


# ------------------------------------------------------------------------------------------------ elements


def element(t: Trace, it: IterV, k: Dim) -> SymValue:
    """The item of turn `k` (counted from the iterator's present position) of a countable iterator."""
    if isinstance(it, RangeIterV):
        return t.int_of(int_dim(t, it.next) + k * step_of(t, it.range))
    if isinstance(it, PositionsIterV):
        at = _position(t, it, k)
        return TupleV((at, indexing.getitem(t.b, it.array, at))) if isinstance(it.array, Array) else at
    if isinstance(it, ArrayIterV) and isinstance(it.array, Array):
        return indexing.getitem(t.b, it.array, t.int_of(int_dim(t, it.index) + k))
    if isinstance(it, ArrayIterV) and isinstance(it.array, Tensor):
        return tensors.getitem(t, it.array, t.int_of(int_dim(t, it.index) + k))
    if isinstance(it, RunListIterV):
        if it.list.count is not it.length and runlists.count_of(t, it.list) != int_dim(t, it.length):
            raise Unsupported("loop-container", "a list changes while it is iterated over")
        return runlists.element(t, it.list, int_dim(t, it.index) + k)
    if isinstance(it, EnumerateIterV):
        return TupleV((t.int_of(int_dim(t, it.count) + k), element(t, it.inner, k)))
    if isinstance(it, ZipIterV):
        return TupleV(tuple(element(t, inner, k) for inner in it.iters))
    raise Unsupported("loop-iterator", describe(it))


def _position(t: Trace, it: PositionsIterV, k: Dim) -> TupleV:
    """The position of turn `k`, the last index first."""
    rest, out = int_dim(t, it.index) + k, list[SymValue]()
    for n in reversed(it.sizes):
        size = int_dim(t, n)
        whole = rest // size if len(out) < len(it.sizes) - 1 else Dim.of(0)
        at = t.b.facts.canon(rest - whole * size)
        if t.b.facts.is_local(at):  # it is one: no store or load has to ask
            t.b.facts.learn_ge(at)
            t.b.facts.learn_ge(size - 1 - at)
        out.append(t.int_of(at))
        rest = whole
    return TupleV(tuple(out[::-1]))


def move(t: Trace, it: IterV, k: Dim) -> None:
    """Advance a countable iterator by `k` turns, in place."""
    if isinstance(it, RangeIterV):
        it.next = t.int_of(int_dim(t, it.next) + k * step_of(t, it.range))
    elif isinstance(it, (ArrayIterV, RunListIterV)):
        it.index = t.int_of(int_dim(t, it.index) + k)
    elif isinstance(it, EnumerateIterV):
        it.count = t.int_of(int_dim(t, it.count) + k)
        move(t, it.inner, k)
    elif isinstance(it, ZipIterV):
        for inner in it.iters:
            move(t, inner, k)
    t.mutated()


def parts(it: IterV) -> list[IterV]:
    """The iterator and those inside it."""
    inner = it.iters if isinstance(it, ZipIterV) else (it.inner,) if isinstance(it, EnumerateIterV) else ()
    return [it, *(p for i in inner for p in parts(i))]
