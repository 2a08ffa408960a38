"""Arrays of torch and CuPy in the tracer: which operations are theirs, and how they reach the rules of their library.

In: symbolic values with such an array (a `Tensor`) among them, callables of their library. Out: what its rules give. The rules
are imported at the first use: they need the library, which the user has imported by then.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from npcompile.frontends import foreign
from npcompile.frontends.foreign import owner_of
from npcompile.frontends.registry import Registry
from npcompile.frontends.values import Const, ListV, SymValue, Tensor, TupleV, Unsupported

from .inputs import describe
from .symbolic import InputObject

if TYPE_CHECKING:
    from .interpreter import Trace


def library_of(t: Trace) -> Any:
    """The library that the segment's arrays are of."""
    return foreign.LIBRARIES[t.spec.library]


def _rules(library: Any) -> Registry:
    module = import_module(f"npcompile.frontends.{library.NAME}.registry")
    registry: Registry = getattr(module, library.NAME.upper())
    registry.load()
    return registry


def _module(t: Trace, name: str) -> Any:
    _rules(library_of(t))
    return import_module(f"npcompile.frontends.{t.spec.library}.{name}")


def handles(*operands: SymValue) -> bool:
    """Is a tensor among the operands of an operator?"""
    return any(isinstance(v, Tensor) for v in operands)


def binary(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    return _module(t, "operators").binary(t.b, op, a, b)  # type: ignore[no-any-return]


def compare(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    return _module(t, "operators").compare(t.b, op, a, b)  # type: ignore[no-any-return]


def unary(t: Trace, op: str, v: SymValue) -> SymValue:
    return _module(t, "operators").unary(t.b, op, v)  # type: ignore[no-any-return]


def attribute(t: Trace, v: Tensor, name: str) -> SymValue | tuple[SymValue, SymValue]:
    """`v.name`: an attribute's value, or (function, v) for a method."""
    library = library_of(t)
    rule = _rules(library).lookup_attribute(name, "tensor")
    if rule is not None:
        return rule(t.b, v)
    found = getattr(library.array_class(), name, None)
    if callable(found) and not isinstance(found, type):
        return Const(found), v
    raise Unsupported("no-attribute-rule", f"{library.array_class().__name__}.{name}")


def call(t: Trace, library: Any, x: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    """Call a function or method of a library."""
    plain = [_looked_at(t, a) for a in args]
    named = {k: _looked_at(t, v) for k, v in kwargs.items()}
    t.inputs.use_library(library)
    rule = _rules(library).lookup(x)
    name = getattr(x, "__name__", "")
    if rule is None and plain and isinstance(plain[0], Tensor) and getattr(library.array_class(), name, None) is x:
        rule = _rules(library).lookup_method(name, "tensor")
    if rule is None:
        raise Unsupported("no-rule", describe(Const(x)))
    return rule(t.b, *plain, **named)


def counterpart(t: Trace, x: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> Any:
    """The library's function that NumPy hands a call with arrays of the library to; None for other calls."""
    if not any(_holds_tensor(t, v) for v in (*args, *kwargs.values())):
        return None
    find = getattr(foreign.LIBRARIES.get(t.spec.library), "counterpart", None)
    return None if find is None else find(x)


def _holds_tensor(t: Trace, v: SymValue) -> bool:
    v = t.b.force(v)
    return any(_holds_tensor(t, x) for x in v.items) if isinstance(v, (TupleV, ListV)) else isinstance(v, Tensor)


def _looked_at(t: Trace, v: SymValue) -> SymValue:
    """An argument to compute with; a list from outside by its items, as `torch.cat` takes them."""
    from .containers import known_items

    v = t.use(v)
    return ListV(known_items(t, v)) if isinstance(v, InputObject) and v.type is list else v


def getitem(t: Trace, v: Tensor, key: SymValue) -> SymValue:
    return _module(t, "indexing").getitem(t.b, v, key)  # type: ignore[no-any-return]


def setitem(t: Trace, v: Tensor, key: SymValue, value: SymValue) -> None:
    _module(t, "indexing").setitem(t.b, v, key, value)


def array_class(t: Trace) -> type:
    """The class of the arrays, `torch.Tensor` for example."""
    return library_of(t).array_class()  # type: ignore[no-any-return]


__all__ = ["array_class", "attribute", "binary", "call", "compare", "counterpart", "getitem", "handles", "owner_of", "setitem"]
