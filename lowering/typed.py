"""Narrowing of value types. In: values. Out: their tensor or view type, asserted."""

from __future__ import annotations

from npcompile.ir.graph import Value
from npcompile.ir.types import TensorType, ViewType


def ttype(v: Value) -> TensorType:
    """The type of a value that is known to be a tensor."""
    assert isinstance(v.type, TensorType)
    return v.type


def atype(v: Value) -> TensorType | ViewType:
    """The type of a value that is known to be a tensor or a view."""
    assert isinstance(v.type, (TensorType, ViewType))
    return v.type


def vtype(v: Value) -> ViewType:
    """The type of a value that is known to be a view."""
    assert isinstance(v.type, ViewType)
    return v.type
