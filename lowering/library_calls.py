"""Calls of the segment's library from the host program: products on a device, sorts, running totals, gathers.

In: `extern_library` nodes, whose operands are tensors. Out: host code that hands the library views of memory it knows, and takes
the memory of its results. Never: fuses.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.externs import resolve
from npcompile.ir.graph import Node, Value
from npcompile.ir.types import TensorType

from . import blas
from .index_maps import Place, root_place
from .lowered import Kernel, LoweringError
from .operands import operands
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host

MOST = 8
"""Operands that `rt->call_library` takes."""


def emit(h: Host, node: Node) -> None:
    """One call."""
    if h.unit.spec.library == "numpy" or len(node.inputs) > MOST or not all(isinstance(v.type, TensorType) for v in node.inputs):
        raise LoweringError("not-lowered", f"a call of {node.params['function']}")
    words = [_words(h, v, place) for v, place in zip(node.inputs, _operands(h, node), strict=True)]
    function = resolve(node.params["function"])
    h.unit.python_calls.append(functools.partial(function, **dict(node.params.get("kwargs", ()))))
    number, n = len(h.unit.python_calls) - 1, len(node.outputs)
    slots = [h.new_slot() for _ in node.outputs]
    name = h.unit.fresh("call")
    h.line(f"void *{name}_d[{n}];")
    h.line("{")
    h.line(f"  const npc_i64 w_[] = {{{', '.join(words)}}};")
    h.line(f"  if (rt->call_library(ctx, {number}, {len(words)}, w_, {slots[0]}, {n}, {name}_d)) return NPC_ERROR;")
    h.line("}")
    for k, (v, slot) in enumerate(zip(node.outputs, slots, strict=True)):
        _take(h, v, str(slot), f"{name}_d[{k}]")
    ops = (node.params["function"].rpartition(".")[2],)
    dims = tuple(str(d) for d in ttype(node.outputs[0]).dims)
    h.unit.kernel_facts.append(Kernel(name, dims, ops, 1, in_loop=bool(h.loop_depth)))


def _operands(h: Host, node: Node) -> list[Place]:
    """Where the operands are, in memory that object slots hold."""
    arrays = tuple(v for v in node.inputs if ttype(v).rank)
    for v in arrays:
        if v not in h.storage:
            h.wants(v, "tensor")  # what has no memory yet gets it from the library
    found = dict(zip(arrays, operands(h, node, arrays), strict=True))
    copied = {v: _copied(h, v) for v in node.inputs if v not in found or found[v].buffer not in h.slots}
    if copied:
        h.flush(set())
    return [copied.get(v) or found[v] for v in node.inputs]


def _copied(h: Host, v: Value) -> Place:
    b = blas.fresh(h, v)
    h.alloc_array(b, str(h.new_slot()), True)
    if ttype(v).rank:
        h.copy(v, b)
    else:
        h.store_scalar(b, v)
    return root_place(b.name, b.strides, ttype(v).dims)


def _words(h: Host, v: Value, p: Place) -> str:
    t = ttype(v)
    numbers = [h.unit.dim(d) for d in (*p.dims, *p.strides)]
    pointer = f"(npc_i64)({p.buffer} + {h.unit.dim(p.offset)})"
    return ", ".join([h.slots[p.buffer], str(t.dtype.num), pointer, str(t.rank), *numbers])


def _take(h: Host, v: Value, slot: str, pointer: str) -> None:
    """A result has come, laid out as its type says."""
    t = ttype(v)
    b = blas.fresh(h, v)
    h.line(f"char *{b.name} = (char *){pointer};")
    h.slots[b.name] = slot
    h.tensors.add(b.name)
    if t.rank == 0 and h.unit.spec.device == "cpu":
        h.scalars[v] = h.variable(t.dtype, f"*({ctype(t.dtype)} *){b.name}")
        return
    h.storage[v] = root_place(b.name, b.strides, t.dims)
