"""What drawing functions return whose result depends on an array of theirs: `choice`, `permutation`, `multinomial`, `dirichlet`.

In: a function's name and symbolic arguments. Out: dims, dtype and box of the result, which are sure: a draw cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, ListV, Scalar, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.externs import as_array, boxed
from npcompile.ir.types import is_compiled

from . import arguments as args_of
from .registry import NONE

PARAMETERS = {
    "choice": ("a", "size", "replace", "p", "axis", "shuffle"),
    "permutation": ("x", "axis"),
    "multinomial": ("n", "pvals", "size"),
    "dirichlet": ("alpha", "size"),
}
Result = tuple[tuple[Dim, ...], np.dtype, str]


def result(b: Builder, name: str, own: Any, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]) -> Result:
    """dims, dtype and box of what `name` returns; `own`: a generator of the same class that nobody else uses."""
    names = PARAMETERS[name]
    if len(args) > len(names):
        raise args_of.refuse(f"{name} of {len(args)} arguments")
    found = dict(zip(names, map(b.force, args))) | {k: b.force(v) for k, v in kwargs.items()}
    axis = found.get("axis", Const(0))
    if set(found) - set(names) or not isinstance(axis, Const) or axis.value != 0:
        raise args_of.refuse(f"{name} with other arguments")
    size = found.get("size", NONE)
    shape = args_of.shape(b, size) if args_of.given(size) else None
    if shape == ():
        raise args_of.refuse("an empty size")
    of = found.get({"multinomial": "pvals", "dirichlet": "alpha"}.get(name, names[0]), NONE)
    length, example = _population(b, of, name in ("choice", "permutation"))
    few = None if shape is None else (1,) * len(shape)
    if name == "permutation":
        return (length,), *described(own.permutation(example))
    if name == "choice":
        return shape or (), *described(own.choice(example, few))
    if name == "multinomial" and not isinstance(found.get("n"), (Scalar, Const)):
        raise args_of.refuse("multinomial of several counts")
    value = own.multinomial(1, [1.0], few) if name == "multinomial" else own.dirichlet([1.0], few)
    return (*(shape or ()), length), *described(value)


def described(value: Any) -> tuple[np.dtype, str]:
    """dtype and box of a value that a generator of our own gave."""
    box = boxed(value)
    if box is None or (box != "python" and not is_compiled(value.dtype)):
        raise Unsupported("dtype", "of what is drawn")
    return as_array(value).dtype, box


def _population(b: Builder, v: SymValue, numbers: bool) -> tuple[Dim, Any]:
    """How many there are to draw from, and an example of them: a vector, or (if `numbers`) the numbers below one."""
    if isinstance(v, Array) and v.rank == 1:
        return b.dims(v)[0], np.ones(2, v.dtype)
    if isinstance(v, (ListV, TupleV)) and all(isinstance(x, Const) for x in v.items):
        v = Const([x.value for x in v.items if isinstance(x, Const)])
    if isinstance(v, Const) and type(v.value) in (list, tuple) and v.value and np.ndim(v.value) == 1:
        return Dim.of(len(v.value)), v.value
    if numbers and isinstance(v, Const) and type(v.value) is int:
        return args_of.length(b, v), 2
    if numbers and isinstance(v, Scalar) and v.dtype.kind in "iu":
        return args_of.length(b, v), 2 if v.kind == "python" else v.dtype.type(2)
    raise Unsupported("operand", f"{type(v).__name__} to draw from")
