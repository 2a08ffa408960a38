"""Random numbers: functions of `np.random` and methods of its generators, called from inside the segment, once and in order.

In: a method's name, the generator, symbolic arguments. Out: `extern_numpy` nodes whose results are sure: a call that is repeated
would draw again. Never: draws while tracing from a generator of the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.externs import Template
from npcompile.ir.layout import c_layout
from npcompile.ir.types import TensorType

from . import arguments as args_of
from . import samples
from .externs import Operands
from .registry import NONE

_DIMS = ("rand", "randn")
"""Functions whose arguments are the shape."""
_SIZE = {
    name: at
    for at, names in (
        (0, "random random_sample ranf sample standard_normal standard_exponential standard_cauchy"),
        (1, "standard_gamma standard_t exponential poisson chisquare geometric logseries pareto power rayleigh weibull zipf"),
        (2, "uniform normal gamma beta binomial laplace logistic lognormal gumbel vonmises wald negative_binomial f"),
        (2, "noncentral_chisquare integers randint"),
        (3, "triangular hypergeometric noncentral_f"),
    )
    for name in names.split()
}
"""Name -> position of `size`."""
_IN_PLACE = "shuffle"


def is_generator(cls: type) -> bool:
    """Is it a class of generators? Does not import `numpy.random`, which takes some 10 ms."""
    return cls.__name__ in ("Generator", "RandomState") and getattr(np.random, cls.__name__) is cls


def is_drawing(name: str) -> bool:
    """Is it what functions that draw are called?"""
    return name in _SIZE or name in _DIMS or name in samples.PARAMETERS or name == _IN_PLACE


def name_of(function: Any) -> str | None:
    """The name of a function of `np.random`, which draws from NumPy's global generator; None for others."""
    name = getattr(function, "__name__", "")
    return name if is_drawing(name) and getattr(np.random, name, None) is function else None


def method_of(cls: type, name: str) -> Any:
    """The method of a generator class that draws; None when there is no such one."""
    return getattr(cls, name, None) if is_drawing(name) and is_generator(cls) else None


def draw(
    b: Builder, name: str, owner: tuple[type, int] | None, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]
) -> SymValue:
    """Draw random numbers.

    Parameters
    ----------
    owner : class of the generator, and its number among the segment's objects; None: NumPy's global one.

    Raises
    ------
    Unsupported
        for parameters that are arrays without a size, and what the function itself refuses.
    """
    if b.device not in ("", "cpu"):
        raise Unsupported("no-rule", name)
    if name == _IN_PLACE:
        return _shuffle(b, owner, args, kwargs)
    cls = owner[0] if owner else np.random.RandomState
    if name in samples.PARAMETERS:
        dims, dtype, box = samples.result(b, name, _own(cls), args, kwargs)
    else:
        shape = _shape(b, name, args, kwargs)
        dtype, box = _kind(name, cls, args, kwargs, shape)
        dims = shape or ()
    operands = Operands(b)
    texts: tuple[Template, ...] = tuple(map(operands.template, args))
    named = tuple((k, operands.template(v)) for k, v in kwargs.items())
    function, first, objects = _called(name, owner)
    done, out = b.emit_multi(
        "extern_numpy",
        *operands.values,
        function=function,
        args=(*first, *texts),
        kwargs=named,
        result=("out", 0, box),
        types=(TensorType(dtype, dims, c_layout(dims)),),
        syms=(),
        objects=objects,
    )
    b.exit_if(b.emit("logical_not", done), "library-call")
    return b.array(out) if box == "array" else b.scalar(out, box)


def _called(name: str, owner: tuple[type, int] | None) -> tuple[str, tuple[Template, ...], tuple[int, ...]]:
    """Dotted name of the function, the generator as its first argument, and the objects that it takes."""
    if owner is None:
        return f"numpy.random.{name}", (), ()
    return f"numpy.random.{owner[0].__name__}.{name}", (("object", 0),), (owner[1],)


def _shuffle(b: Builder, owner: tuple[type, int] | None, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]) -> SymValue:
    """Shuffle an array along its first axis, in place."""
    if len(args) != 1 or kwargs or not isinstance(a := b.force(args[0]), Array) or not a.rank:
        raise Unsupported("numpy-arguments", "shuffle of no array, or along another axis")
    function, first, objects = _called(_IN_PLACE, owner)
    done = b.store_by_call(a, (), function=function, args=(*first, ("in", 0, "array")), kwargs=(), objects=objects)
    b.exit_if(b.emit("logical_not", done), "library-call")
    return NONE


def _own(cls: type) -> Any:
    """A generator of our own."""
    return np.random.RandomState(0) if cls is np.random.RandomState else np.random.default_rng(0)


def _shape(b: Builder, name: str, args: Sequence[SymValue], kwargs: Mapping[str, SymValue]) -> tuple[Dim, ...] | None:
    """The shape asked for; None for one number."""
    if name in _DIMS:
        return tuple(args_of.length(b, x) for x in args) or None
    at = _SIZE[name]
    size = kwargs.get("size", args[at] if len(args) > at else Const(None))
    if args_of.given(b.force(size)):
        return args_of.shape(b, size)
    if any(isinstance(b.force(v), Array) for v in (*args, *kwargs.values())):
        raise Unsupported("numpy-arguments", "arrays of parameters without a size")
    return None


def _kind(
    name: str, cls: type, args: Sequence[SymValue], kwargs: Mapping[str, SymValue], shape: tuple[Dim, ...] | None
) -> tuple[np.dtype, str]:
    """dtype and box of the result, as a generator of our own gives them."""
    own = _own(cls)
    size = None if shape is None else (1,) * len(shape)
    if name in _DIMS:
        value = getattr(own, name)(*(size or ()))
    else:
        params = [_example(v) for v in args[: _SIZE[name]]]
        named = {k: _example(v) for k, v in kwargs.items() if k != "size"}
        if len(args) > _SIZE[name] + 1:
            raise Unsupported("numpy-arguments", f"positional arguments after the size in {name}")
        try:
            with np.errstate(all="ignore"):
                value = getattr(own, name)(*params, size=size, **named)
        except Exception as e:
            raise Unsupported("numpy-arguments", f"{type(e).__name__}: {e}") from None
    return samples.described(value)


def _example(v: SymValue) -> Any:
    """A parameter that any distribution takes."""
    if isinstance(v, Const):
        return v.value
    if isinstance(v, (Scalar, Array)) and v.dtype.kind in "iuf":
        return 2 if v.dtype.kind in "iu" else 0.5
    raise Unsupported("operand", type(v).__name__)
