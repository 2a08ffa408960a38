"""Reads the arguments of torch's functions: dims, sizes, dtypes, flags.

In: symbolic values as the call passes them. Out: plain Python values, dims, axes. Never: emits arithmetic; an argument that
torch would refuse, or that is known at run time only, raises `Unsupported`, so that torch itself answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Const, ListV, Scalar, SymValue, Tensor, TupleV, Unsupported
from npcompile.ir.dims import Dim, product

from . import library
from .promotion import refuse


def given(v: SymValue) -> bool:
    """Is it something else than None?"""
    return not (isinstance(v, Const) and v.value is None)


def static(b: Builder, v: SymValue) -> Any:
    return b.static(b.force(v), choice=True)


def flag(b: Builder, v: SymValue) -> bool:
    x = static(b, v)
    if not isinstance(x, bool):
        raise refuse(f"flag {x!r}")
    return x


def integer(b: Builder, v: SymValue) -> int:
    x = static(b, v)
    if type(x) is not int:
        raise refuse(f"{x!r} as an integer")
    return x


def number(b: Builder, v: SymValue) -> float:
    x = static(b, v)
    if type(x) not in (int, float):
        raise refuse(f"{x!r} as a number")
    return x  # type: ignore[no-any-return]


def wrap(dim: int, rank: int) -> int:
    """A dimension number as a non-negative axis; tensors without axes accept 0 and -1."""
    n = max(rank, 1)
    if not -n <= dim < n:
        raise refuse(f"dim {dim} of rank {rank}")
    return dim % n


def axis(b: Builder, v: SymValue, rank: int) -> int:
    return wrap(integer(b, v), rank)


def one_axis(b: Builder, v: SymValue, rank: int) -> tuple[int, ...]:
    """A `dim` argument that must be a number; a tensor without axes has none that it could name."""
    at = axis(b, v, rank)
    return (at,) if rank else ()


def axes(b: Builder, v: SymValue, rank: int) -> tuple[int, ...]:
    """A `dim` argument of a reduction: None or () for all axes, a number or a sequence; sorted."""
    x = static(b, v)
    if x is None or x == () or x == []:
        return tuple(range(rank))
    found = sequence_of(x)
    out = tuple(sorted(wrap(d, rank) for d in found))
    if len(set(out)) != len(out):
        raise refuse("a dim appears twice")
    return out if rank else ()


def sequence_of(x: Any) -> tuple[int, ...]:
    """A number or a sequence of numbers."""
    found = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    if not all(type(d) is int for d in found):
        raise refuse(f"{x!r} as dims")
    return found


def items(b: Builder, v: SymValue) -> tuple[SymValue, ...] | None:
    """The items of a tuple or list, or None when `v` is neither."""
    v = b.force(v)
    if isinstance(v, (TupleV, ListV)):
        return tuple(v.items)
    if isinstance(v, Const) and isinstance(v.value, (tuple, list)):
        return tuple(Const(x) for x in v.value)
    return None


def variadic(b: Builder, parts: tuple[SymValue, ...]) -> tuple[SymValue, ...]:
    """`f(2, 3)` or `f((2, 3))`."""
    if len(parts) == 1:
        found = items(b, parts[0])
        if found is not None:
            return found
    return parts


def dim(b: Builder, v: SymValue) -> Dim:
    """A length or position: a Python int, known or symbolic."""
    v = b.force(v)
    if isinstance(v, Const) and type(v.value) is int:
        return Dim.of(v.value)
    if isinstance(v, Scalar) and v.kind == "python" and v.dtype.kind == "i":
        if v.dim is None:
            raise Unsupported("data-dependent-shape", "a length that is computed from values")
        return v.dim
    raise refuse(f"{type(v).__name__} as a length")


def shape(b: Builder, parts: tuple[SymValue, ...]) -> tuple[Dim, ...]:
    """Lengths, none negative."""
    out = tuple(dim(b, p) for p in variadic(b, parts))
    if not all(b.dim_ge(d, 0) for d in out):
        raise refuse("a negative length")
    return out


def dtype(b: Builder, v: SymValue) -> np.dtype | None:
    """A `dtype` argument; None when it was not given."""
    x = static(b, v)
    if x is None:
        return None
    try:
        return library.dtypes()[x]
    except (KeyError, TypeError):
        raise Unsupported("dtype", str(x)) from None


def only(b: Builder, v: SymValue, *allowed: Any) -> None:
    """Refuse other values than these."""
    x = static(b, v)
    if not any(x is a or (type(x) is type(a) and x == a) for a in allowed):
        raise refuse(f"argument {x!r}")


def here(b: Builder, device: SymValue, default: str | None = "cpu") -> None:
    """The device that a result is asked to be on (`default` when none is asked for; None: that of the tensors)."""
    x = static(b, device)
    name = default if x is None else str(x)
    if name is not None:
        b.use_device(b.current_device_hook() if name == "cuda" else name)


def size(b: Builder, x: Tensor) -> Dim:
    """Number of elements."""
    return product(b.dims(x.array))


def same_dims(b: Builder, x: tuple[Dim, ...], y: tuple[Dim, ...]) -> bool:
    return b.dims_agree(x, y)
