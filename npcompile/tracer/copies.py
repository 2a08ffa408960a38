"""`copy.copy` and `copy.deepcopy` of arrays, numbers and virtual containers.

In: symbolic values. Out: fresh arrays and containers. Never: follows the functions into their code, which asks for identities.
"""

from __future__ import annotations

import copy

from npcompile.frontends.numpy.conversion import copied
from npcompile.frontends.values import Array, Const, DictV, ListV, Scalar, SymValue, TupleV, Unsupported

from .calls import builtin
from .inputs import describe
from .interpreter import Trace
from .numbers import is_number

_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type, range)


def _is_immutable(x: object) -> bool:
    return type(x) in _IMMUTABLE or (type(x) is tuple and all(map(_is_immutable, x)))


@builtin(copy.copy)
def shallow(t: Trace, x: SymValue) -> SymValue:
    return _copy(t, t.use(x), {}, False)


@builtin(copy.deepcopy)
def deep(t: Trace, x: SymValue) -> SymValue:
    return _copy(t, t.use(x), {}, True)


def _copy(t: Trace, v: SymValue, seen: dict[int, tuple[SymValue, SymValue]], deeply: bool) -> SymValue:
    """A copy; what stands in several places (`seen`: by identity, itself and its copy) is copied once."""

    def part(x: SymValue) -> SymValue:
        return _copy(t, t.use(x), seen, True) if deeply else x

    if id(v) in seen:
        return seen[id(v)][1]
    if is_number(v) or isinstance(v, Scalar) or (isinstance(v, Const) and _is_immutable(v.value)):
        return v
    out: SymValue
    if isinstance(v, Array):
        out = copied(t.b, v, v.dtype, "K")
    elif isinstance(v, TupleV):
        items = tuple(part(x) for x in v.items)
        out = v if all(x is y for x, y in zip(items, v.items)) else TupleV(items, None, v.cls)
    elif isinstance(v, ListV):
        out = ListV([part(x) for x in v.items])
    elif isinstance(v, DictV):
        out = DictV({k: part(x) for k, x in v.items.items()})
    else:
        raise Unsupported("builtin", f"a copy of {describe(v)}")
    seen[id(v)] = v, out  # `v` may have been made for this call: it must not make room for another of the same identity
    return out


__all__ = ["deep", "shallow"]
