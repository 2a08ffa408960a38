"""Rules of `functools`, `itertools`, `operator` and of the builtins that take functions, on iterables of known length.

In: symbolic arguments. Out: values at once, or the frame of a plain function that does the same (see `plain`).
"""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, DictV, ListV, RangeV, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.dims import product

from . import plain, plain_ordered, runlists, sequences
from .calls import builtin, call
from .container_methods import sorted_constants
from .containers import MAX_UNROLL, contains, known_items
from .interpreter import Trace
from .iterators import int_dim
from .numbers import dtype_of, is_number
from .operators import binary_op, compare_op, unary_op
from .runlist_uses import call_plain
from .snapshot import Snapshot
from .subscripts import item
from .symbolic import CountIterV, GetterV, InputObject, IterV, MapV, MethodV, PartialV, PositionsIterV, RunListV, SeqIterV

INT64 = np.dtype(np.int64)
_FAR = 1 << 62


def _binary(symbol: str) -> Callable[..., SymValue]:
    return lambda t, a, b: binary_op(t, symbol, a, b)


def _compare(symbol: str) -> Callable[..., SymValue]:
    return lambda t, a, b: compare_op(t, symbol, a, b)


def _unary(symbol: str) -> Callable[..., SymValue]:
    return lambda t, a: unary_op(t, symbol, a)


for _symbol, _name in {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "&": "and_",
    "|": "or_", "^": "xor", "<<": "lshift", ">>": "rshift",
}.items():  # fmt: skip
    builtin(getattr(operator, _name))(_binary(_symbol))
    builtin(getattr(operator, "i" + _name.rstrip("_")))(_binary(_symbol + "="))
for _symbol, _name in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}.items():
    builtin(getattr(operator, _name))(_compare(_symbol))
for _symbol, _name in {"-": "neg", "+": "pos", "~": "invert", "abs": "abs", "not": "not_", "bool": "truth"}.items():
    builtin(getattr(operator, _name))(_unary(_symbol))
builtin(operator.getitem)(lambda t, v, k: item(t, v, k))
builtin(operator.contains)(lambda t, v, x: Const(contains(t, x, v)))


# ------------------------------------------------------------------------------------------------ functions of functions


@builtin(functools.reduce)
def reduce(t: Trace, function: SymValue, items: SymValue, start: SymValue | None = None) -> SymValue | None:
    if start is not None:
        return call_plain(t, plain.reduce_from, function, items, start)
    values = known_items(t, items)
    if not values:
        raise Unsupported("builtin", "reduce() of an empty sequence")
    return call_plain(t, plain.reduce_from, function, TupleV(tuple(values[1:])), values[0])


for _getter in (operator.itemgetter, operator.attrgetter, operator.methodcaller):

    @builtin(_getter)
    def getter(t: Trace, *args: SymValue, _of: Any = _getter, **kwargs: SymValue) -> SymValue:
        if not args or (kwargs and _of is not operator.methodcaller):
            raise Unsupported("arguments", _of.__name__)
        return GetterV(_of, TupleV(args), DictV(dict(kwargs)))


def call_getter(t: Trace, v: GetterV, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """A call of what `operator.itemgetter` and the like have made."""
    if len(args) != 1 or kwargs:
        raise Unsupported("arguments", v.kind.__name__)
    (obj,), first = args, v.args.items
    if v.kind is operator.itemgetter:
        items = [item(t, obj, k) for k in first]
        return items[0] if len(items) == 1 else TupleV(tuple(items))
    names = [t.b.static(t.use(x)) for x in (first[:1] if v.kind is operator.methodcaller else first)]
    found = [_attribute(t, obj, name) for name in names]
    if v.kind is operator.methodcaller:
        return call(t, found[0], list(first[1:]), v.kwargs.items)
    return found[0] if len(found) == 1 else TupleV(tuple(found))


def _attribute(t: Trace, v: SymValue, dotted: Any) -> SymValue:
    from .attributes import lookup

    if not isinstance(dotted, str):
        raise Unsupported("attribute", "a name that is no string")
    for name in dotted.split("."):
        found = lookup(t, v, name)
        if found is None:
            raise Unsupported("attribute", f"property {name!r}")
        v = MethodV(*found) if isinstance(found, tuple) else found
    return v


@builtin(functools.partial)
def partial(t: Trace, function: SymValue, *args: SymValue, **kwargs: SymValue) -> SymValue:
    return PartialV(function, TupleV(args), DictV(dict(kwargs)))


def call_partial(t: Trace, v: PartialV, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    return call(t, v.function, [*v.args.items, *args], {**v.kwargs.items, **kwargs})


@builtin(map)
def map_(t: Trace, function: SymValue, *iterables: SymValue) -> SymValue:
    if len(iterables) != 1:
        raise Unsupported("builtin", "map of several iterables")
    return MapV(map, function, iterables[0])


@builtin(filter)
def filter_(t: Trace, function: SymValue, iterable: SymValue) -> SymValue:
    return MapV(filter, function, iterable)


def consume(t: Trace, callee: Const, v: MapV, rest: list[SymValue]) -> SymValue | None:
    """`callee(map(...), *rest)` of a function that takes all items at once."""
    kind = v.kind.__name__
    if callee.value in (any, all) and not rest and kind == "map":
        return call_plain(t, plain.any_map if callee.value is any else plain.all_map, v.function, v.iterable)
    none = isinstance(t.b.force(v.function), Const) and t.b.force(v.function).value is None  # type: ignore[attr-defined]
    make = plain.filter_true if none else {"map": plain.map_list, "filter": plain.filter_list}[kind]
    if callee.value is list and not rest:
        return call_plain(t, make, v.function, v.iterable)
    return call_plain(t, plain.call_with_made, callee, Const(make), v.function, v.iterable, *rest)


# ------------------------------------------------------------------------------------------------ sorting, extremes


@builtin(sorted)
def sorted_(t: Trace, items: SymValue, *, key: SymValue = NONE, reverse: SymValue = Const(False)) -> SymValue | None:
    if sequences.is_long(t, items):
        return sequences.sorted_list(t, items, key, reverse)
    mark = Snapshot(t)
    try:
        return ListV(sorted_constants(t, known_items(t, items), key, reverse))
    except Unsupported as e:
        mark.restore()
        try:
            return sequences.sorted_list(t, items, key, reverse)
        except Unsupported:
            raise e from None


def extreme_by(t: Trace, name: str, args: tuple[SymValue, ...], kwargs: dict[str, SymValue]) -> SymValue | None:
    """`min` or `max` with `key` or `default`."""
    if not set(kwargs) <= {"key", "default"}:
        raise Unsupported("builtin", name)
    if len(args) == 1 and "default" not in kwargs and (sequences.is_long(t, args[0]) or isinstance(t.use(args[0]), IterV)):
        return call_plain(t, plain.min_by_of if name == "min" else plain.max_by_of, args[0], kwargs["key"])
    items = known_items(t, args[0]) if len(args) == 1 else list(args)
    if not items:
        if "default" not in kwargs:
            raise Unsupported("builtin", f"{name} of nothing")
        return kwargs["default"]
    key = t.look(kwargs.get("key", NONE))
    if isinstance(key, Const) and key.value is None:
        return call_plain(t, plain.min_of if name == "min" else plain.max_of, ListV(items))
    return call_plain(t, plain.min_by if name == "min" else plain.max_by, ListV(items), key)


def _own_list(t: Trace, heap: SymValue) -> SymValue:
    """A list made inside. What existed before is `heapq`'s own affair: a frame of ours would be seen where it fails."""
    v = t.use(heap)
    if not isinstance(v, (ListV, RunListV)):
        raise Unsupported("builtin", "a heap that existed before")
    return v


@builtin(heapq.heappush)
def heappush(t: Trace, heap: SymValue, entry: SymValue) -> SymValue | None:
    return call_plain(t, plain_ordered.heappush, _own_list(t, heap), entry)


@builtin(heapq.heapify)
def heapify(t: Trace, heap: SymValue) -> SymValue | None:
    return call_plain(t, plain_ordered.heapify, _own_list(t, heap))


@builtin(heapq.heappop)
def heappop(t: Trace, heap: SymValue) -> SymValue | None:
    """Left before the call where the heap is empty, so that the error is `heapq`'s own."""
    v = _own_list(t, heap)
    if isinstance(v, RunListV) and not (v.lead or v.extra):
        n = runlists.count_of(t, v)
        if not t.b.facts.prove_ge(n - 1):
            t.b.exit_if(t.b.emit("lt", t.b.dim_value(n), t.b.const(1, INT64)), "key-error")
            t.b.facts.learn_ge(n - 1)
    elif isinstance(v, ListV) and not v.items:
        raise Unsupported("key-error", "the heap is empty")
    return call_plain(t, plain_ordered.heappop, v)


def _bisection(function: Any) -> Callable[..., SymValue | None]:
    """Left before the call where a position to begin at is negative, which is an error."""

    def rule(t: Trace, *args: SymValue) -> SymValue | None:
        low = t.use(args[2]) if len(args) > 2 else Const(0)
        if isinstance(low, Const):
            if type(low.value) is not int or low.value < 0:
                raise Unsupported("builtin", "bisect from such a position")
        elif isinstance(low, Scalar) and low.kind == "python" and low.dtype == INT64:
            t.b.exit_if(t.b.emit("lt", t.b.value_of(low), t.b.const(0, INT64)), "invalid-arguments")
        else:
            raise Unsupported("builtin", "bisect from such a position")
        return call_plain(t, function, *args)

    return rule


builtin(bisect.bisect_left)(_bisection(plain_ordered.bisect_left))
builtin(bisect.bisect_right)(_bisection(plain_ordered.bisect_right))


# ------------------------------------------------------------------------------------------------ itertools


def _known(function: Any) -> Any:
    """The rule of a function of `itertools` that only arranges items."""

    def rule(t: Trace, *args: SymValue, **kwargs: SymValue) -> SymValue:
        parts: list[Any] = []
        for v in args:
            looked = t.use(v)
            number = isinstance(looked, Const) and (isinstance(looked.value, int) or looked.value is None)
            parts.append(looked.value if number else known_items(t, looked))  # type: ignore[attr-defined]
        named = {k: t.b.static(t.use(v)) for k, v in kwargs.items()}
        try:
            made = list(itertools.islice(function(*parts, **named), 65))
        except Exception as e:
            raise Unsupported("builtin", str(e)) from None
        if len(made) > 64:
            raise Unsupported("unroll-limit", f"more than 64 items of itertools.{function.__name__}")
        items = [TupleV(tuple(_value(y) for y in x)) if isinstance(x, tuple) else _value(x) for x in made]
        return SeqIterV(TupleV(tuple(items)))

    return rule


def _value(x: Any) -> SymValue:
    return x if isinstance(x, SymValue) else Const(x)


for _function in (
    itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement, itertools.chain,
    itertools.islice, itertools.pairwise, itertools.zip_longest,
):  # fmt: skip
    builtin(_function)(_known(_function))


@builtin(itertools.count)
def count(t: Trace, start: SymValue = Const(0), step: SymValue = Const(1)) -> SymValue:
    first, by = t.use(start), t.b.static(t.use(step))
    if not (is_number(first) and dtype_of(first) == np.dtype(np.int64)) or type(by) is not int or by == 0:
        raise Unsupported("builtin", "itertools.count of other numbers")
    return CountIterV(RangeV(first, Const(_FAR if by > 0 else -_FAR), Const(by)), first)


@builtin(np.ndindex)
def ndindex(t: Trace, *shape: SymValue) -> SymValue | None:
    """All positions of a shape, the last index first."""
    first = t.use(shape[0]) if len(shape) == 1 else None
    sizes = known_items(t, first) if isinstance(first, TupleV) else list(shape)
    if _is_long(t, sizes):
        return PositionsIterV(NONE, Const(0), tuple(sizes))
    return _known(itertools.product)(t, *(RangeV(Const(0), n, Const(1)) for n in sizes))  # type: ignore[no-any-return]


def _is_long(t: Trace, sizes: list[SymValue]) -> bool:
    """Are there more positions than are worth knowing, or as many as a size says? Not where there are none."""
    dims = [t.b.facts.canon(int_dim(t, n)) for n in sizes]
    n = product(dims)
    if not dims or (n.const is not None and n.const <= MAX_UNROLL) or any(t.b.hint(d) < 1 for d in dims):
        return False
    return all(t.b.dim_ge(d, 0) for d in dims)


@builtin(np.ndenumerate)
def ndenumerate(t: Trace, a: SymValue) -> SymValue | None:
    v = t.use(a)
    if not isinstance(v, Array):
        raise Unsupported("builtin", "ndenumerate of something else than an array")
    sizes = [t.int_of(d) for d in t.b.dims(v)]
    if _is_long(t, sizes):
        return PositionsIterV(v, Const(0), tuple(sizes))
    at = known_items(t, ndindex(t, *(t.int_of(d) for d in t.b.dims(v))))  # type: ignore[arg-type]
    return SeqIterV(TupleV(tuple(TupleV((k, item(t, v, k))) for k in at)))


@builtin(itertools.chain.from_iterable)
def from_iterable(t: Trace, items: SymValue) -> SymValue:
    return SeqIterV(TupleV(tuple(x for v in known_items(t, items) for x in known_items(t, v))))


@builtin(itertools.repeat)
def repeat(t: Trace, x: SymValue, times: SymValue) -> SymValue:
    n = t.b.static(t.use(times))
    if not isinstance(n, int) or n > 64:
        raise Unsupported("unroll-limit", f"{n} items")
    return SeqIterV(TupleV((x,) * n))


@builtin(itertools.accumulate)
def accumulate(t: Trace, items: SymValue) -> SymValue | None:
    values = known_items(t, items)
    out = values[:1]
    for v in values[1:]:
        out.append(binary_op(t, "+", out[-1], v))
    return SeqIterV(TupleV(tuple(out)))


def call_input_partial(t: Trace, v: InputObject, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """A call of a `functools.partial` that came in."""
    from npcompile.ir.segment import Source

    from .containers import dict_items

    x = v.example
    function, own, named = (t.inputs.lazy(Source("attr", k, v.source), getattr(x, k)) for k in ("func", "args", "keywords"))
    return call(t, function, [*known_items(t, own), *args], {**dict_items(t, named), **kwargs})
