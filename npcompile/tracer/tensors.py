"""Tensors in the tracer: which operations are torch's, and how they reach torch's rules.

In: symbolic values with a tensor among them, callables of torch. Out: what torch's rules give. The rules are imported at the
first use: they need torch, which the user has imported by then.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from npcompile.frontends.registry import Registry
from npcompile.frontends.torch import library
from npcompile.frontends.values import Const, ListV, SymValue, Tensor, Unsupported

from .inputs import describe
from .symbolic import InputObject

if TYPE_CHECKING:
    from .interpreter import Trace

_RULES = "npcompile.frontends.torch"


def rules() -> Registry:
    registry: Registry = import_module(f"{_RULES}.registry").TORCH
    return registry


def _operators() -> Any:
    rules().load()
    return import_module(f"{_RULES}.operators")


def handles(*operands: SymValue) -> bool:
    """Is a tensor among the operands of an operator?"""
    return any(isinstance(v, Tensor) for v in operands)


def binary(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    return _operators().binary(t.b, op, a, b)  # type: ignore[no-any-return]


def compare(t: Trace, op: str, a: SymValue, b: SymValue) -> SymValue:
    return _operators().compare(t.b, op, a, b)  # type: ignore[no-any-return]


def unary(t: Trace, op: str, v: SymValue) -> SymValue:
    return _operators().unary(t.b, op, v)  # type: ignore[no-any-return]


def attribute(t: Trace, v: Tensor, name: str) -> SymValue | tuple[SymValue, SymValue]:
    """`v.name`: an attribute's value, or (function, v) for a method."""
    rule = rules().lookup_attribute(name, "tensor")
    if rule is not None:
        return rule(t.b, v)
    found = getattr(library.module().Tensor, name, None)
    if callable(found) and not isinstance(found, type):
        return Const(found), v
    raise Unsupported("no-attribute-rule", f"Tensor.{name}")


def is_torch(x: Any) -> bool:
    """Is it one of torch's own callables? They are never looked into."""
    owner = getattr(x, "__objclass__", None) or getattr(x, "__self__", None)
    for o in (x, owner, type(owner)):
        name = getattr(o, "__module__", None)
        if isinstance(name, str) and (name == "torch" or name.startswith("torch.")):
            return True
    return False


def call(t: Trace, x: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    """Call a function or method of torch."""
    plain = [_looked_at(t, a) for a in args]
    named = {k: _looked_at(t, v) for k, v in kwargs.items()}
    t.inputs.use_torch()
    rule = rules().lookup(x)
    name = getattr(x, "__name__", "")
    if rule is None and plain and isinstance(plain[0], Tensor) and getattr(library.module().Tensor, name, None) is x:
        rule = rules().lookup_method(name, "tensor")
    if rule is None:
        raise Unsupported("no-rule", describe(Const(x)))
    return rule(t.b, *plain, **named)


def _looked_at(t: Trace, v: SymValue) -> SymValue:
    """An argument to compute with; a list from outside by its items, as `torch.cat` takes them."""
    from .containers import known_items

    v = t.use(v)
    return ListV(known_items(t, v)) if isinstance(v, InputObject) and v.type is list else v


def getitem(t: Trace, v: Tensor, key: SymValue) -> SymValue:
    rules().load()
    return import_module(f"{_RULES}.indexing").getitem(t.b, v, key)  # type: ignore[no-any-return]


def setitem(t: Trace, v: Tensor, key: SymValue, value: SymValue) -> None:
    rules().load()
    import_module(f"{_RULES}.indexing").setitem(t.b, v, key, value)


def size_class() -> type:
    """`torch.Size`."""
    return library.module().Size  # type: ignore[no-any-return]
