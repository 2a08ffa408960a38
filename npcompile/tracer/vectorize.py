"""`np.vectorize`: a loop over the elements, followed into the function, whole or not at all.

In: a call on arrays of one shape, and numbers. Out: the trace standing after it, its result on the stack. Where anything inside
does not compile, or the function gives something else than numbers, nothing of it stays, and Python makes the call.

NumPy calls the function once more for the type of the result, with the first elements as NumPy's scalars; then with Python's
numbers, in the order of memory, on copies of the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.frontends.numpy.contiguity import is_contiguous
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Array, Const, DictV, ListV, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.segment import Source
from npcompile.ir.types import is_compiled

from .calls import builtin
from .containers import known_items, length
from .frames import Refused
from .functions import info_of, inline
from .inputs import describe
from .interpreter import Trace
from .joins import FLOAT64, kind_of
from .numbers import is_number
from .snapshot import Snapshot
from .symbolic import GetterV, InputObject, JoinV


def over_one(function: Any, a: Any, dtype: Any) -> Any:
    if dtype is None:
        dtype = result_dtype(function(a.reshape(-1)[0]))
    x = a.flatten()
    out = np.empty(a.shape, dtype)
    flat = out.reshape(-1)
    for i in range(x.size):
        flat[i] = function(x[i].item())
    return out


def over_two(function: Any, a: Any, b: Any, dtype: Any) -> Any:
    if dtype is None:
        dtype = result_dtype(function(a.reshape(-1)[0], b.reshape(-1)[0]))
    x, y = a.flatten(), b.flatten()
    out = np.empty(a.shape, dtype)
    flat = out.reshape(-1)
    for i in range(x.size):
        flat[i] = function(x[i].item(), y[i].item())
    return out


def over_first(function: Any, a: Any, number: Any, dtype: Any) -> Any:
    scalar = np.full(1, number)[0]
    if dtype is None:
        dtype = result_dtype(function(a.reshape(-1)[0], scalar))
    x, y = a.flatten(), scalar.item()
    out = np.empty(a.shape, dtype)
    flat = out.reshape(-1)
    for i in range(x.size):
        flat[i] = function(x[i].item(), y)
    return out


def over_second(function: Any, number: Any, b: Any, dtype: Any) -> Any:
    scalar = np.full(1, number)[0]
    if dtype is None:
        dtype = result_dtype(function(scalar, b.reshape(-1)[0]))
    x, y = scalar.item(), b.flatten()
    out = np.empty(b.shape, dtype)
    flat = out.reshape(-1)
    for i in range(y.size):
        flat[i] = function(x, y[i].item())
    return out


def result_dtype(x: Any) -> np.dtype:
    """The dtype that the first result asks for."""
    return np.asarray(x).dtype


@builtin(result_dtype)
def _result_dtype(t: Trace, v: SymValue) -> SymValue:
    v = t.b.force(v)
    if isinstance(v, JoinV):  # its type is known at run time, that of the result would have to be, too
        if kind_of(v.first) != "f" or not isinstance(v.rest, Scalar) or v.rest.dtype != FLOAT64:
            raise Unsupported("builtin", "np.vectorize of a function that gives numbers of several types")
        v = v.rest
    v = t.use(v)
    if isinstance(v, Scalar):
        return Const(v.dtype)
    if not isinstance(v, Const) or not isinstance(v.value, (bool, int, float, complex, np.number, np.bool_)):
        raise Unsupported("builtin", f"np.vectorize of a function that gives {describe(v)}")
    return Const(np.asarray(v.value).dtype)


@builtin(np.vectorize)
def made(t: Trace, pyfunc: SymValue, otypes: SymValue = NONE) -> SymValue:
    return GetterV(np.vectorize, TupleV((pyfunc, otypes)), DictV({}))


def call_input(t: Trace, v: InputObject, args: list[SymValue], kwargs: dict[str, SymValue]) -> None:
    """A call of an object that existed before."""
    x = v.example
    names = ("pyfunc", "otypes", "signature", "excluded", "cache")
    parts = {k: t.inputs.lazy(Source("attr", k, v.source), getattr(x, k)) for k in names}
    signature, cache, excluded = t.look(parts["signature"]), t.look(parts["cache"]), t.look(parts["excluded"])
    plain = isinstance(signature, Const) and signature.value is None and isinstance(cache, Const) and cache.value is False
    if not plain or not isinstance(excluded, InputObject) or excluded.type is not set or length(t, excluded):
        raise Unsupported("builtin", "np.vectorize with a signature, a cache or excluded arguments")
    call(t, parts["pyfunc"], parts["otypes"], args, kwargs)


def call(t: Trace, function: SymValue, otypes: SymValue, args: list[SymValue], kwargs: dict[str, SymValue]) -> None:
    """Call `np.vectorize(function, otypes)`."""
    used = [t.use(a) for a in args]
    place = (np.vectorize, *((f.code.code, f.at) for f in t.frames), len(t.loops))
    if kwargs or place in t.memory.broken:
        raise Unsupported("builtin", "np.vectorize of something that is not followed")
    dtype = _dtype(t, otypes)
    over = _form(t, used, dtype is NONE)
    start, depth = Snapshot(t), len(t.frames)
    try:
        info = info_of(t, Const(over))
        assert info is not None
        inline(t, info, [function, *used, dtype], {})
        t.run_until(lambda: t.finished or len(t.frames) <= depth)
        broken = t.finished or len(t.breaks) > start.breaks
    except (Unsupported, Refused):
        broken = True
    if broken:
        start.restore()
        t.memory.broken.add(place)
        raise Unsupported("builtin", "np.vectorize of a function that does not compile")


def _dtype(t: Trace, otypes: SymValue) -> Const:
    v = t.use(otypes)
    value = t.b.static(ListV(known_items(t, v)) if isinstance(v, InputObject) and v.type is list else v)
    if value is None:
        return NONE
    try:
        kinds = [np.dtype(k) for k in np.vectorize(len, otypes=value).otypes or ""]
    except Exception as e:
        raise Unsupported("invalid-arguments", str(e)) from None
    if len(kinds) != 1 or not is_compiled(kinds[0]):
        raise Unsupported("builtin", "np.vectorize with several results, or none of numbers")
    return Const(kinds[0])


def _form(t: Trace, args: list[SymValue], elements: bool) -> Any:
    """The loop for these arguments; `elements`: there must be some."""
    arrays = [a for a in args if isinstance(a, Array) and a.rank]
    if not arrays or len(args) > 2 or not all(a in arrays or (isinstance(a, Scalar) or is_number(a)) for a in args):
        raise Unsupported("builtin", "np.vectorize on other arguments")
    dims = t.b.dims(arrays[0])
    for a in arrays:
        if a.rank != len(dims) or not all(t.b.dim_is(d, e) for d, e in zip(t.b.dims(a), dims)):
            raise Unsupported("builtin", "np.vectorize on arrays of several shapes")
        if a.rank > 1 and not is_contiguous(t.b, a, "C"):
            raise Unsupported("builtin", "np.vectorize on arrays in another order")
    if elements and not all(t.b.dim_ge(d, 1) for d in dims):
        raise Unsupported("invalid-arguments", "np.vectorize on no elements")
    if len(args) == 1:
        return over_one
    return over_two if len(arrays) == 2 else over_first if args[0] in arrays else over_second
