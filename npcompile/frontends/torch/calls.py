"""What compiled segments call of torch itself, by dotted name: functions of tensors that return new ones without gaps.

In: tensors, or arrays in the reference executor; plain keyword arguments. Out: tensors in C order unless told otherwise. Never:
registers rules.
"""

from __future__ import annotations

from typing import Any

from . import library


def _contiguous(out: Any) -> Any:
    if isinstance(out, tuple):
        return tuple(x.contiguous() for x in out)
    return out.contiguous()


def function(*tensors: Any, name: str, args: tuple[Any, ...] = (), **kwargs: Any) -> Any:
    """`torch.name(*tensors, *args, **kwargs)`; `name` is dotted."""
    f = library.module()
    for part in name.split("."):
        f = getattr(f, part)
    return _contiguous(f(*map(_tensor, tensors), *args, **kwargs))


def equation(*tensors: Any, text: str, order: tuple[int, ...]) -> Any:
    """`torch.einsum`; `order`: axes of the result from the largest stride to the smallest."""
    out = library.module().einsum(text, *map(_tensor, tensors)).permute(order).contiguous()
    return out.permute(tuple(order.index(a) for a in range(len(order))))


def method(first: Any, *tensors: Any, name: str, args: tuple[Any, ...] = (), **kwargs: Any) -> Any:
    """`first.name(*args, *tensors, **kwargs)`: methods whose dim comes before the tensors."""
    return _contiguous(getattr(_tensor(first), name)(*args, *map(_tensor, tensors), **kwargs))


def item(x: Any, *indices: Any, key: tuple[Any, ...]) -> Any:
    """`x[key]`; a number n in `key` stands for index tensor n, None and pairs of slices for themselves."""
    found = tuple(_tensor(indices[k[1]]) if k[0] == "index" else slice(*k[1]) for k in key)
    return _contiguous(_tensor(x)[found])


def _tensor(x: Any) -> Any:
    return x if library.is_tensor(x) else library.module().as_tensor(x)
