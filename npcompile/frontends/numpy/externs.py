"""Calls of library functions that have no rule: the function itself is called from inside the segment.

In: a function that `library` lists, symbolic arguments. Out: an `extern_numpy` node, and an exit before the instruction that is
taken when the function raises or returns something else than expected. Never: a function with effects, or one that gives views.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, ListV, Picked, RangeV, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.externs import Template, python_call, resolve
from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType

from .library import changer_of, chosen, name_of
from .picked import parts
from .registry import NONE
from .trials import Guess, guess, sizes_of

_LITERALS = (bool, int, float, complex, str, type(None), type(Ellipsis))
SMALL = 64
"""Ints up to this size are taken for choices, such as an axis or a degree, and compiled in."""
INTS = (((2, 3), (4, 6)), ((2, 3), (1, 1)), ((1, 1), (1, 1)))
"""Largest ints in arrays of the two trial calls, and ints by themselves: all may be indices into short axes."""
ANY_INT = object()
"""A number that the trials choose."""


def call(b: Builder, function: Any, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]) -> SymValue:
    """Call a library function.

    Raises
    ------
    Unsupported
        when it is not listed, or takes or returns what is not modelled.
    """
    name = name_of(function)
    if name is None or b.device not in ("", "cpu"):
        raise Unsupported("no-rule", getattr(function, "__name__", repr(function)))
    if any(_may_change(b, name, k, v) for k, v in _named(function, args, kwargs).items()):
        raise Unsupported("numpy-arguments", "a given result array")
    operands = Operands(b)
    texts = tuple(operands.template(v) for v in args)
    named = tuple((k, operands.template(v)) for k, v in kwargs.items())
    found, equal = _guess(b, name, texts, named, operands)
    for x, y in equal:
        if not b.dims_agree((x,), (y,)):
            raise Unsupported("shape-mismatch", name)
    return _emit(b, name, texts, named, operands, found)


def _named(function: Any, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]) -> Mapping[str, SymValue]:
    """The arguments by name, as far as names are known."""
    if isinstance(function, np.ufunc):
        return {**kwargs, **dict.fromkeys(["out"] * bool(args[function.nin :]), Const(True))}
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # written in C; `out` is no argument of these before the fourth
        return {**kwargs, **dict.fromkeys(["out"] * bool(args[3:]), Const(True))}


def _may_change(b: Builder, function: str, name: str, v: SymValue) -> bool:
    """May a function store to what it is given under this name, or return it?"""
    value = v.value if isinstance(v, Const) else v
    if name == "copy":
        return value is not None and value is not True
    if function.startswith("scipy.ndimage.") and name in ("output", "distances", "indices"):
        return isinstance(b.force(v), Array)  # others are dtypes and flags
    return (name == "out" or name.startswith("overwrite")) and value is not None and value is not False


class Operands:
    """Run-time operands of one call, as arguments are turned into templates."""

    def __init__(self, b: Builder, first: int = 0) -> None:
        self.b = b
        self.first = first
        self.values: list[Value] = []
        self.arrays: dict[int, Array] = {}
        self.numbers: list[Any] = []

    def template(self, v: SymValue) -> Template:
        v = self.b.force(v)
        if isinstance(v, Const):
            return self.constant(v.value)
        if isinstance(v, Array):
            self.arrays[len(self.values)] = v
            return self.operand(self.b.read(v), "array")
        if isinstance(v, Scalar):
            return self.number(v)
        if isinstance(v, TupleV) and v.cls is tuple:
            return ("tuple", *map(self.template, v.items))
        if isinstance(v, ListV):
            return ("list", *map(self.template, v.items))
        if isinstance(v, SliceV):
            return ("slice", *map(self.template, (v.start, v.stop, v.step)))
        if isinstance(v, RangeV):
            return ("const", self.b.static(v))
        if isinstance(v, Picked):
            return self.operand(self.b.read(together(self.b, v)), "array")
        raise Unsupported("operand", type(v).__name__)

    def constant(self, x: Any) -> Template:
        if type(x) in _LITERALS:
            return ("const", x)
        if isinstance(x, np.dtype):
            return ("dtype", x.str)
        if type(x) in (tuple, list):
            return (type(x).__name__, *map(self.constant, x))
        if isinstance(x, slice):
            return ("slice", *map(self.constant, (x.start, x.stop, x.step)))
        if isinstance(x, np.generic) and x.dtype.kind in "biufc":
            return self.operand(self.b.value_of(Const(x)), "numpy", x)
        if isinstance(x, type):
            name = x.__name__ if x.__module__ == "builtins" else f"{x.__module__}.{x.__qualname__}"
            full = f"builtins.{name}" if x.__module__ == "builtins" else name
            with contextlib.suppress(AttributeError, ImportError, TypeError):  # a class made in a function has no name
                if resolve(full) is x:
                    return ("name", full)
        if x is np._NoValue:
            return ("name", "numpy._NoValue")
        raise Unsupported("operand", type(x).__name__)

    def number(self, v: Scalar) -> Template:
        """A small int decides what is computed more often than not; other numbers are operands."""
        if v.kind == "python" and v.dtype.kind in "ib":
            known = v.source is not None and v.dim is not None and abs(self.b.hint(v.dim)) <= SMALL
            if known or v.dtype.kind == "b":
                try:
                    return ("const", self.b.static(v))
                except Unsupported:
                    pass
            if v.dtype.kind == "i" and v.dim is not None:
                return self.operand(self.b.value_of(v), v.kind, v.dim)
        return self.operand(self.b.value_of(v), v.kind)

    def operand(self, value: Value, box: str, number: Any = None) -> Template:
        assert isinstance(value.type, TensorType)
        self.values.append(value)
        if number is None and not value.type.rank:
            number = ANY_INT if value.type.dtype.kind in "iu" else value.type.dtype.type(1)
        self.numbers.append(number)
        return ("in", self.first + len(self.values) - 1, box)


def change(b: Builder, function: Any, a: SymValue, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]) -> SymValue:
    """Call a library function that changes its first argument, an array, in place and returns None."""
    name = changer_of(function)
    a = b.force(a)
    if name is None or not isinstance(a, Array) or b.device not in ("", "cpu"):
        raise Unsupported("no-rule", getattr(function, "__name__", repr(function)))
    operands = Operands(b, first=1)
    texts = (("in", 0, "array"), *(operands.template(v) for v in args))
    named = tuple((k, operands.template(v)) for k, v in kwargs.items())
    if function is np.put and a.dtype.kind != "c" and any(v.type.dtype.kind == "c" for v in operands.values):  # type: ignore[union-attr]
        raise Unsupported("numpy-arguments", "put warns of complex values before it looks at the indices")
    done = b.store_by_call(a, operands.values, function=name, args=texts, kwargs=named)
    b.exit_if(b.emit("logical_not", done), "library-call")
    return NONE


def together(b: Builder, p: Picked) -> Array:
    """The array of the elements chosen by a mask; the value stands for it from now on."""
    if p.together is None:
        if p.whole.storage.region is not b.region:
            raise Unsupported("advanced-indexing", "elements chosen by a mask, brought together in an inner region")
        out = call(b, chosen, parts(b, p), {})
        assert isinstance(out, Array)
        b.bring_together(p, out)
    assert p.together is not None
    return p.together


def _guess(b: Builder, name: str, args: Template, kwargs: Template, operands: Operands) -> tuple[Guess, list[tuple[Dim, Dim]]]:
    """What the call returns, and which sizes must be equal for it; first assuming that all sizes may differ."""
    types = [b.facts.canon_type(v.type) for v in operands.values]
    tensors = [t for t in types if isinstance(t, TensorType)]
    run = python_call(name, args, kwargs)
    failed = Unsupported("no-rule", name)
    lengths = [b.facts.canon(n) for n in operands.numbers if isinstance(n, Dim)]
    for known in (lengths, []) if lengths else ([],):  # an int that is a size may be one of the result's
        for merge, ints in product((False, True), INTS):
            try:
                numbers = [[_number(b, x, n, bool(known)) for x in operands.numbers] for n in ints[1]]
                found = guess(run, tensors, numbers, sizes_of(tensors, b.hints, merge, known), ints[0])
                return found, _equal(b, tensors) if merge else []
            except Unsupported as e:
                failed = e
    raise failed


def _number(b: Builder, x: Any, n: int, by_size: bool) -> Any:
    """What a rank-0 operand is in a trial call; `n` where it may be any int, or is a size that is not asked for."""
    if isinstance(x, Dim):
        return b.facts.canon(x) if by_size else n
    return n if x is ANY_INT else x


def _equal(b: Builder, types: Sequence[TensorType]) -> list[tuple[Dim, Dim]]:
    dims = sorted(dict.fromkeys(d for t in types for d in t.dims), key=lambda d: d.const is None)
    by_size: dict[int, Dim] = {}
    return [(by_size.setdefault(b.hint(d), d), d) for d in dims if by_size.setdefault(b.hint(d), d) != d]


def _emit(b: Builder, name: str, args: Template, kwargs: Template, operands: Operands, found: Guess) -> SymValue:
    syms: list[Sym] = []
    types = []
    for dtype, dims, layout in found.types:
        sizes = tuple(_new_size(b, syms) if d is None else d for d in dims)
        types.append(TensorType(dtype, sizes, layout))
    done, *outs = b.emit_multi(
        "extern_numpy",
        *operands.values,
        function=name,
        args=args,
        kwargs=kwargs,
        result=found.result,
        types=tuple(types),
        syms=tuple(syms),
    )
    b.exit_if(b.emit("logical_not", done), "library-call")
    return _boxed(b, found.result, outs, operands)


def _new_size(b: Builder, syms: list[Sym]) -> Dim:
    sym = b.new_symbol(Dim.of(0), Dim.of(1 << 47), None)
    syms.append(sym)
    return Dim.of(sym)


def _boxed(b: Builder, t: Template, outs: Sequence[Value], operands: Operands) -> SymValue:
    if t[0] == "out":
        value = outs[t[1]]
        return b.array(value) if t[2] == "array" else b.scalar(value, t[2])
    if t[0] == "same":
        if t[1] not in operands.arrays:
            raise Unsupported("no-rule", "elements chosen by a mask, handed back")
        return operands.arrays[t[1]]
    if t[0] == "named":
        return TupleV(tuple(_boxed(b, x, outs, operands) for x in t[2:]), None, resolve(t[1]))
    items = [_boxed(b, x, outs, operands) for x in t[1:]]
    return TupleV(tuple(items)) if t[0] == "tuple" else ListV(items)
