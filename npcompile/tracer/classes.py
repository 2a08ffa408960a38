"""Attributes of classes along the method resolution order, as instances see them.

In: a class and a name. Out: what the class holds, not bound. Never: asks the metaclass, as `getattr` and `hasattr` of a class do.
"""

from __future__ import annotations

from typing import Any

MISSING = object()


def class_attribute(cls: type, name: str) -> Any:
    """What the first class that has the name holds under it, or MISSING."""
    for c in cls.__mro__:
        if name in c.__dict__:
            return c.__dict__[name]
    return MISSING


def has_class_attribute(cls: type, name: str) -> bool:
    """Do instances have the attribute by their class?"""
    return class_attribute(cls, name) is not MISSING


__all__ = ["MISSING", "class_attribute", "has_class_attribute"]
