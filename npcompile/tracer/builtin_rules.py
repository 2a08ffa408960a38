"""Rules for Python's builtin functions and types on symbolic values.

Each takes symbolic values and gives one, at trace time or as IR; cases that Python refuses or that are not modelled raise
`Unsupported`, and real Python runs the call.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import (
    Array,
    Const,
    DictV,
    ListV,
    RangeV,
    Scalar,
    SetV,
    SliceV,
    SymValue,
    Tensor,
    TupleV,
    Unsupported,
)
from npcompile.ir.graph import Value

from . import joins, runlist_uses, runlists, sequences, special
from .attributes import has_attribute, lookup, store, type_of
from .branches import question, truth
from .calls import builtin, builtin_method
from .classes import has_class_attribute
from .containers import advance, key_of, known_items, length_of
from .inputs import describe
from .interpreter import Trace
from .iterators import iterator, known_trips, short, trip_count
from .numbers import (
    BOOL,
    COMPLEX128,
    FLOAT64,
    INT64,
    binary,
    complex_value,
    dim_of,
    dtype_of,
    extreme,
    float_value,
    is_number,
    python,
)
from .operators import binary_op, number_or_none, unary_op
from .standins import held
from .symbolic import (
    UNBOUND,
    DictViewV,
    EnumerateIterV,
    FunctionV,
    InputObject,
    IterV,
    JoinV,
    MethodV,
    ObjectV,
    RunListV,
    SeqIterV,
    ZipIterV,
)

_ABSENT = Const(object())


def folded(t: Trace, function: Any, *values: Const) -> Const:
    """A pure function of constants, called while tracing."""
    try:
        return Const(function(*(v.value for v in values)))
    except Exception as e:
        raise Unsupported("builtin", str(e)) from None


def _unsupported(name: str, *values: SymValue) -> Unsupported:
    return Unsupported("builtin", f"{name} of {', '.join(map(describe, values))}")


# ------------------------------------------------------------------------------------------------ sizes and types


@builtin(len)
def len_(t: Trace, v: SymValue) -> SymValue | None:
    v = t.use(v)
    if special.call_method(t, v, "__len__"):
        return None
    if isinstance(v, (Array, Tensor)) and v.rank:
        return t.int_of(v.dims[0])
    if isinstance(v, (TupleV, ListV, DictV, SetV)):
        return Const(len(v.items))
    if isinstance(v, RunListV):
        return t.int_of(runlists.length_of(t, v))
    if isinstance(v, DictViewV):
        return Const(len(known_items(t, v)))
    if isinstance(v, RangeV):
        return t.int_of(trip_count(t, v))
    if isinstance(v, Const) and isinstance(v.value, (str, bytes, tuple, frozenset, range)):
        return Const(len(v.value))
    if isinstance(v, InputObject) and v.type in (list, dict, set, str):
        return length_of(t, v)
    raise _unsupported("len", v)


@builtin(type)
def type_(t: Trace, v: SymValue) -> SymValue:
    v = t.look(v)
    cls = type_of(t, v)
    if cls is None:
        raise _unsupported("type", v)
    return Const(cls)


@builtin(isinstance)
def isinstance_(t: Trace, v: SymValue, cls: SymValue) -> SymValue:
    v = t.look(v)
    have = type_of(t, v)
    classes = t.b.static(t.use(cls))
    if have is None or not _plain_classes(classes):
        raise _unsupported("isinstance", v)
    return Const(issubclass(have, classes))


def _plain_classes(c: Any) -> bool:
    """Classes whose `isinstance` runs no user code; abstract base classes of the standard library do not either."""
    if isinstance(c, tuple):
        return all(map(_plain_classes, c))
    if isinstance(c, types.UnionType):
        return all(map(_plain_classes, c.__args__))
    return isinstance(c, type) and (type(c) is type or c.__module__ in ("numbers", "collections.abc", "typing"))


@builtin(issubclass)
def issubclass_(t: Trace, a: SymValue, b: SymValue) -> SymValue:
    x, y = t.b.static(t.use(a)), t.b.static(t.use(b))
    if not isinstance(x, type) or not _plain_classes(y):
        raise _unsupported("issubclass", a)
    return Const(issubclass(x, y))


@builtin(callable)
def callable_(t: Trace, v: SymValue) -> SymValue:
    v = t.look(v)
    if isinstance(v, (FunctionV, MethodV)):
        return Const(True)
    cls = type_of(t, v)
    if cls is None:
        raise _unsupported("callable", v)
    return Const(has_class_attribute(cls, "__call__"))


@builtin(getattr)
def getattr_(t: Trace, v: SymValue, name: SymValue, default: SymValue = _ABSENT) -> SymValue:
    key = t.b.static(t.use(name))
    if not isinstance(key, str) or (default is not _ABSENT and not has_attribute(t, v, key)):
        if isinstance(key, str) and default is not _ABSENT:
            return default
        raise _unsupported("getattr", v)
    found = lookup(t, v, key)
    if found is None:
        raise _unsupported("getattr", v)
    return MethodV(*found) if isinstance(found, tuple) else found


@builtin(setattr)
def setattr_(t: Trace, v: SymValue, name: SymValue, value: SymValue) -> SymValue:
    key, obj = t.b.static(t.use(name)), t.use(v)
    if not isinstance(key, str) or not isinstance(obj, (InputObject, ObjectV)) or store(t, obj, key, value) is not None:
        raise _unsupported("setattr", v)
    return NONE


@builtin(hasattr)
def hasattr_(t: Trace, v: SymValue, name: SymValue) -> SymValue:
    return Const(has_attribute(t, v, t.b.static(t.use(name))))


@builtin(id)
def id_(t: Trace, v: SymValue) -> SymValue:
    raise _unsupported("id", v)


# ------------------------------------------------------------------------------------------------ numbers


def item_value(t: Trace, v: SymValue) -> Value | None:
    """A NumPy scalar, or an array or tensor of rank 0, as a rank-0 value."""
    if isinstance(v, Scalar) and v.kind == "numpy":
        return t.b.value_of(v)
    if isinstance(v, Array) and v.rank == 0:
        return t.b.read(v)
    if isinstance(v, Tensor) and v.rank == 0:
        return t.b.read(v.array)
    if isinstance(v, Const) and isinstance(v.value, np.generic):
        return t.b.value_of(v)
    return None


@builtin(int)
def int_(t: Trace, v: SymValue = Const(0), base: SymValue = _ABSENT) -> SymValue:
    v = t.use(v)
    if base is not _ABSENT:
        raise _unsupported("int", v)
    if isinstance(v, Const) and isinstance(v.value, (int, float, bool, str, np.generic)):
        try:
            return Const(int(v.value))
        except Exception as e:
            raise Unsupported("builtin", str(e)) from None
    if is_number(v):
        d = dim_of(v)
        if d is not None:
            return t.int_of(d)
        value = t.b.value_of(v)
    else:
        known = v.dim if isinstance(v, Scalar) else None
        if known is not None:
            return t.int_of(known)
        found = item_value(t, v)
        if found is None:
            raise _unsupported("int", v)
        value = found
    return python(to_int64(t, value))


def to_int64(t: Trace, value: Value) -> Value:
    """A rank-0 value truncated to int64; exit where Python has a larger int or raises."""
    dtype = value.type.dtype  # type: ignore[union-attr]
    if dtype.kind == "c":
        raise Unsupported("number-op", "int of a complex number")
    if dtype.kind == "f":
        wide = t.b.convert(value, FLOAT64)
        inside = t.b.emit("lt", t.b.emit("abs", wide), t.b.const(2.0**63, FLOAT64))
        t.b.exit_if(t.b.emit("logical_not", inside), "float-to-int")
        return t.b.emit("convert", t.b.emit("trunc", wide), dtype=INT64)
    if dtype == np.dtype(np.uint64):
        top = t.b.const((1 << 63) - 1, dtype)
        t.b.exit_if(t.b.emit("gt", value, top), "int-overflow")
    return t.b.convert(value, INT64)


@builtin(float)
def float_(t: Trace, v: SymValue = Const(0.0)) -> SymValue:
    v = t.use(v)
    if isinstance(v, Const) and isinstance(v.value, (int, float, bool, str, np.generic)):
        try:
            return Const(float(v.value))
        except Exception as e:
            raise Unsupported("builtin", str(e)) from None
    if is_number(v):
        if dtype_of(v).kind == "c":
            raise _unsupported("float", v)
        return python(float_value(t, v))
    found = item_value(t, v)
    if found is None or found.type.dtype.kind == "c":  # type: ignore[union-attr]
        raise _unsupported("float", v)
    return python(t.b.convert(found, FLOAT64))


@builtin(complex)
def complex_(t: Trace, re: SymValue = Const(0.0), im: SymValue = _ABSENT) -> SymValue:
    re = t.use(re)
    if im is _ABSENT:
        if is_number(re):
            return Const(complex(re.value)) if isinstance(re, Const) else python(complex_value(t, re))
        found = item_value(t, re)
        if found is None:
            raise _unsupported("complex", re)
        return python(t.b.convert(found, COMPLEX128))
    parts = [_real(t, t.use(v)) for v in (re, im)]
    return python(t.b.emit("complex", *parts))


def _real(t: Trace, v: SymValue) -> Value:
    """A real number of any kind as float64."""
    if is_number(v) and dtype_of(v).kind != "c":
        return float_value(t, v)
    found = item_value(t, v)
    if found is None or found.type.dtype.kind == "c":  # type: ignore[union-attr]
        raise _unsupported("complex", v)
    return t.b.convert(found, FLOAT64)


@builtin(bool)
def bool_(t: Trace, v: SymValue = Const(False)) -> SymValue:
    return to_bool(t, v)


def to_bool(t: Trace, v: SymValue) -> SymValue:
    """`bool(v)`: known, or a run-time bool of a number."""
    v = t.b.force(v)
    if isinstance(v, JoinV) and v.first is not UNBOUND and isinstance(v.rest, Scalar):
        v = v.rest  # the same truth, whatever its Python type
    v = t.look(held(t, v))
    if isinstance(v, RunListV):
        v = t.int_of(runlists.length_of(t, v))
    if isinstance(v, Scalar) and v.kind == "python" and v.dtype == BOOL:
        return v
    asked = question(t, v)
    if asked is not None:
        return asked
    value = None
    if is_number(v) and not isinstance(v, Const) and dim_of(v) is None:
        value = t.b.value_of(v)
    elif not isinstance(v, Const):
        value = item_value(t, v)
    if value is None:
        return Const(truth(t, v))
    dtype = value.type.dtype  # type: ignore[union-attr]
    return python(value if dtype == BOOL else t.b.emit("ne", value, t.b.const(0, dtype)))


@builtin(abs)
def abs_(t: Trace, v: SymValue) -> SymValue | None:
    v = t.use(v)
    if special.call_method(t, v, "__abs__"):
        return None
    return unary_op(t, "abs", v)


@builtin(round)
def round_(t: Trace, v: SymValue, digits: SymValue = NONE) -> SymValue:
    v, digits = t.use(v), t.use(digits)
    if isinstance(v, Const) and isinstance(digits, Const) and is_number(v):
        try:
            return Const(round(v.value, digits.value))
        except Exception as e:
            raise Unsupported("builtin", str(e)) from None
    if not (isinstance(digits, Const) and digits.value is None) or not is_number(v):
        raise _unsupported("round", v)
    if dtype_of(v).kind in "ib":
        return int_(t, v)
    if dtype_of(v) != FLOAT64:
        raise _unsupported("round", v)
    return python(to_int64(t, t.b.emit("py_round", t.b.value_of(v))))


@builtin(divmod)
def divmod_(t: Trace, a: SymValue, b: SymValue) -> SymValue:
    a, b = t.use(a), t.use(b)
    if not (is_number(a) and is_number(b)):
        return binary_op(t, "divmod", a, b)
    return TupleV((binary(t, "//", a, b), binary(t, "%", a, b)))


@builtin(pow)
def pow_(t: Trace, a: SymValue, b: SymValue, mod: SymValue = NONE) -> SymValue:
    mod = t.use(mod)
    if not (isinstance(mod, Const) and mod.value is None):
        numbers = [t.b.static(t.use(v)) for v in (a, b, mod)]
        if not all(type(x) is int for x in numbers):
            raise _unsupported("pow", a, b, mod)
        return folded(t, pow, *map(Const, numbers))
    return binary_op(t, "**", a, b)


def _min_max(name: str) -> Any:
    def rule(t: Trace, *args: SymValue, **kwargs: SymValue) -> SymValue | None:
        if kwargs:
            from .functional import extreme_by

            return extreme_by(t, name, args, kwargs)
        if len(args) == 1 and sequences.is_long(t, args[0]):
            return sequences.reduced(t, name, args[0])
        items = [v if joins.is_open_float(v) else t.use(v) for v in (known_items(t, args[0]) if len(args) == 1 else args)]
        if not items:
            raise _unsupported(name)
        out = items[0]
        for v in items[1:]:
            out = _pick(t, name, out, v)
        return out

    return rule


def _pick(t: Trace, name: str, a: SymValue, b: SymValue) -> SymValue:
    """`b` if it is less (greater) than `a`, else `a`."""
    if is_number(a) and is_number(b):
        return extreme(t, name, a, b)
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.kind == b.kind == "numpy" and a.dtype == b.dtype:
        if a.dtype.kind != "c":
            va, vb = t.b.value_of(a), t.b.value_of(b)
            better = t.b.emit("lt" if name == "min" else "gt", vb, va)
            return t.b.scalar(t.b.emit("select", better, vb, va))
    out = joins.open_extreme(t, "lt" if name == "min" else "gt", a, b)
    if out is None:
        raise _unsupported(name, a, b)
    return out


builtin(min)(_min_max("min"))
builtin(max)(_min_max("max"))


@builtin(sum)
def sum_(t: Trace, items: SymValue, start: SymValue = Const(0)) -> SymValue | None:
    if sequences.is_long(t, items):
        return sequences.summed(t, items, start)
    values = [t.use(v) for v in known_items(t, items)]
    out = t.use(start)
    if sum(is_number(v) and dtype_of(v).kind in "fc" for v in (out, *values)) > 1:
        floats = all(is_number(v) and dtype_of(v).kind == "f" for v in values)
        added = runlist_uses.sum_of_floats(t, values, out) if floats else None
        if added is not None:
            return added()
        if runlist_uses.COMPENSATES:
            raise _unsupported("sum", *values[:1])
    for v in values:
        out = binary_op(t, "+", out, v)
    return out


def _any_all(name: str) -> Any:
    def rule(t: Trace, items: SymValue) -> SymValue | None:
        if sequences.is_long(t, items):
            return sequences.reduced(t, name, items)
        return runlist_uses.any_all(t, name, known_items(t, items))

    return rule


builtin(any)(_any_all("any"))
builtin(all)(_any_all("all"))


# ------------------------------------------------------------------------------------------------ iteration


@builtin(range)
def range_(t: Trace, *args: SymValue, **kwargs: SymValue) -> SymValue:
    if kwargs or not 1 <= len(args) <= 3:
        raise Unsupported("arguments", "range")
    parts = [index_of(t, v) for v in args]
    start, stop, step = (Const(0), parts[0], Const(1)) if len(parts) == 1 else (*parts, Const(1))[:3]
    d = dim_of(step)
    if d is None or t.b.dim_is(d, 0):
        raise _unsupported("range", step)
    return RangeV(start, stop, step)


def index_of(t: Trace, v: SymValue) -> SymValue:
    """`operator.index(v)`."""
    v = t.use(v)
    if is_number(v) and dtype_of(v).kind in "ib":
        return int_(t, v)
    if isinstance(v, (Scalar, Const)) and number_or_none(v) is None:
        value = item_value(t, v)
        if value is not None and value.type.dtype.kind in "iu":  # type: ignore[union-attr]
            return int_(t, v)
    raise _unsupported("index", v)


@builtin(iter)
def iter_(t: Trace, v: SymValue, *rest: SymValue) -> SymValue:
    if rest:
        raise _unsupported("iter", v)
    return iterator(t, v)


@builtin(next)
def next_(t: Trace, v: SymValue, default: SymValue = _ABSENT) -> SymValue:
    v = t.use(v)
    if not isinstance(v, IterV):
        raise _unsupported("next", v)
    found = advance(t, v)
    if found is None:
        if default is _ABSENT:
            raise _unsupported("next", v)
        return default
    return found


@builtin(zip)
def zip_(t: Trace, *args: SymValue, strict: SymValue = Const(False)) -> SymValue:
    if t.b.static(t.use(strict)):
        its = [iterator(t, v) for v in args]
        lengths = [known_trips(t, it) for it in its]
        if (len(set(lengths)) > 1 or None in lengths) and not sequences.same_lengths(t, its):
            raise _unsupported("zip", *args)
        return ZipIterV(tuple(its))
    return ZipIterV(tuple(iterator(t, v) for v in args))


@builtin(enumerate)
def enumerate_(t: Trace, items: SymValue, start: SymValue = Const(0)) -> SymValue:
    first = t.use(start)
    if not (is_number(first) and dtype_of(first) == INT64):
        raise _unsupported("enumerate", first)
    return EnumerateIterV(iterator(t, items), first)


@builtin(reversed)
def reversed_(t: Trace, v: SymValue) -> SymValue:
    v = t.use(v)
    if isinstance(v, RangeV):
        n = trip_count(t, v)
        start, step = dim_of(t.use(v.start)), dim_of(t.use(v.step))
        if start is not None and step is not None:
            last = start + (n - 1) * step
            return iterator(t, RangeV(t.int_of(last), t.int_of(start - step), t.int_of(-step)))
    if isinstance(v, (TupleV, Const, ListV, DictV)) or (isinstance(v, InputObject) and v.type in (list, dict)):
        return SeqIterV(TupleV(tuple(reversed(known_items(t, v)))))
    if isinstance(v, Array) and v.rank:
        return sequences.reversed_array(t, v)
    raise _unsupported("reversed", v)


@builtin(tuple)
def tuple_(t: Trace, items: SymValue = TupleV(())) -> SymValue:  # noqa: B008
    v = t.use(items)
    if isinstance(v, TupleV) and v.cls is tuple:
        return v
    return TupleV(tuple(known_items(t, v)))


@builtin(list)
def list_(t: Trace, items: SymValue = TupleV(())) -> SymValue | None:  # noqa: B008
    looked = t.use(items)
    if isinstance(looked, RunListV):
        return runlists.copied(t, looked)
    out = ListV([])
    if isinstance(looked, Array) and not short(t, looked) and runlists.extend(t, out, looked):
        return out
    if isinstance(looked, IterV | Array | RangeV) and not short(t, looked):
        return runlist_uses.inline_plain(t, "list", looked)
    return ListV(list(known_items(t, looked)))


@builtin(set)
def set_(t: Trace, items: SymValue = TupleV(())) -> SymValue:  # noqa: B008
    return SetV({key_of(t, v) for v in known_items(t, items)})


@builtin(frozenset)
def frozenset_(t: Trace, items: SymValue = TupleV(())) -> SymValue:  # noqa: B008
    return Const(frozenset(key_of(t, v) for v in known_items(t, items)))


@builtin(dict)
def dict_(t: Trace, items: SymValue = DictV({}), **kwargs: SymValue) -> SymValue:  # noqa: B008
    from .container_methods import pairs_of

    return DictV({**pairs_of(t, items), **kwargs})


@builtin(slice)
def slice_(t: Trace, *args: SymValue) -> SymValue:
    none = NONE
    if not 1 <= len(args) <= 3:
        raise Unsupported("arguments", "slice")
    return SliceV(none, args[0], none) if len(args) == 1 else SliceV(*(*args, none)[:3])


# ------------------------------------------------------------------------------------------------ methods of numbers


@builtin_method(float.is_integer)
def is_integer(t: Trace, self: SymValue) -> SymValue:
    v = t.use(self)
    if isinstance(v, Const):
        return Const(v.value.is_integer())
    value = t.b.value_of(v)
    whole = t.b.emit("eq", t.b.emit("floor", value), value)
    return python(t.b.emit("logical_and", t.b.emit("isfinite", value), whole))


@builtin_method(float.conjugate, int.conjugate)
def conjugate(t: Trace, self: SymValue) -> SymValue:
    return t.use(self)


@builtin_method(complex.conjugate)
def complex_conjugate(t: Trace, self: SymValue) -> SymValue:
    v = t.use(self)
    return Const(v.value.conjugate()) if isinstance(v, Const) else python(t.b.emit("conj", t.b.value_of(v)))
