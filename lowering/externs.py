"""Library functions called from inside a segment (NumPy's and SciPy's own, as Python functions).

In: `extern_numpy` nodes. Out: host code: operands become ndarrays on the memory they are in, results are checked, and the sizes
that only the call tells are declared. What was reported before the call is reported first, since the function may warn itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from npcompile.kernels import ctype

from npcompile.ir.dims import Dim
from npcompile.ir.externs import BOXES, is_draw, numpy_call, outs, place_of, python_call
from npcompile.ir.graph import Loc, Node, ReportSite, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.types import TensorType, ViewType

from .index_maps import Place, root_place
from .operands import operands
from .typed import ttype

if TYPE_CHECKING:
    from .host import Host


_ANY_SIZE = "(-9223372036854775807ll - 1)"


def emit_extern(h: Host, node: Node) -> None:
    """One `extern_numpy` node."""
    p, types = node.params, node.params["types"]
    if is_draw(p["function"]):
        from .draws import emit_draw  # with it comes `numpy.random`, whose import takes some 10 ms

        if emit_draw(h, node):
            return
    places = _places(h, node)
    args = [*(_slot(h, v, places.get(v)) for v in node.inputs), *(_owner(h, k) for k in p.get("objects", ()))]
    call, slot = h.unit.fresh("call"), h.unit.n_slots
    h.unit.n_slots += len(types)
    h.unit.python_calls.append(numpy_call(p["function"], p["args"], p["kwargs"], p["result"], node.loc))
    pattern: list[int] = []
    for t, (_, _, box) in zip(types, outs(p["result"])):
        pattern += [t.dtype.num, BOXES.index(box), t.rank, *t.layout]
    h.line(f"const npc_i64 {call}_a[] = {{{', '.join(args) or '0'}}}, {call}_p[] = {{{', '.join(map(str, pattern))}}};")
    new = set(p["syms"])
    expected = [_ANY_SIZE if new & set(d.syms()) else h.unit.dim(d) for t in types for d in (Dim.of(0), *t.dims)]
    h.line(f"npc_i64 {call}[] = {{{', '.join(expected)}}};")
    _run(h, call, len(args), f"{len(types)}, {slot}, {call}_p, {call}")
    words = _words(node)
    for sym in p["syms"]:
        k, axis = place_of(sym, types)
        h.line(f"const npc_i64 {h.unit.sym_name(sym)} = {call}[{words[k] + 1 + axis}];")
    as_said = [f"{call}_r"]
    for k, t in enumerate(types):
        as_said += [f"{call}[{words[k] + 1 + axis}] == {h.unit.dim(d)}" for axis, d in enumerate(t.dims) if new & set(d.syms())]
    h.scalars[node.outputs[0]] = h.variable(np.dtype(bool), f"(npc_bool)({' && '.join(as_said)})")
    for k, out in enumerate(node.outputs[1:]):
        _result(h, out, f"{call}[{words[k]}]", str(slot + k))


def emit_store(h: Host, node: Node) -> None:
    """One `extern_store` node: the function gets the view itself."""
    p, places = node.params, _places(h, node)
    view = h.place_of(node.inputs[0])
    # A warning that is an error comes when it is done, and repeating the call would do it twice: having a site, the segment does
    # not run when that may be.
    h.unit.stores_first = True
    h.unit.site(ReportSite(p["function"], node.loc or Loc("", 0)))
    target = node.inputs[0].type
    assert isinstance(target, ViewType)
    args = [_object(h, view, target.dtype), *(_slot(h, v, places.get(v)) for v in node.inputs[2:])]
    args += [_owner(h, k) for k in p.get("objects", ())]
    call, slot = h.unit.fresh("call"), h.new_slot()
    h.unit.python_calls.append(python_call(p["function"], p["args"], p["kwargs"], node.loc))
    h.line(f"const npc_i64 {call}_a[] = {{{', '.join(args)}}};")
    _run(h, call, len(args), f"0, {slot}, 0, 0")
    h.scalars[node.outputs[0]] = h.variable(np.dtype(bool), f"(npc_bool){call}_r")


def _places(h: Host, node: Node) -> dict[Value, Place]:
    """Where array operands lie, once all that stands before the call has been done and reported."""
    arrays = tuple(v for v in node.inputs if isinstance(v.type, TensorType) and v.type.rank)
    places = dict(zip(arrays, operands(h, node, arrays)))
    h.flush()
    h.reports.settle(everything=True)
    return places


def _run(h: Host, call: str, n_args: int, results: str) -> None:
    """Call the unit's latest Python callable; `{call}_r` tells whether it returned what was expected."""
    h.line(f"const npc_i64 {call}_r = rt->call_numpy(ctx, {len(h.unit.python_calls) - 1}, {n_args}, {call}_a, {results});")
    h.line(f"if ({call}_r < 0) return NPC_ERROR;")
    h.note_call()


def _owner(h: Host, k: int) -> str:
    """A slot with an object from outside."""
    slot = str(h.new_slot())
    h.line(f"rt->object(ctx, {slot}, {k});")
    return slot


def _words(node: Node) -> list[int]:
    """Where the words of each result begin."""
    out, at = [], 0
    for t in node.params["types"]:
        out.append(at)
        at += 1 + t.rank
    return out


def _slot(h: Host, v: Value, place: Place | None) -> str:
    """An object slot with the operand as an ndarray."""
    t = ttype(v)
    if place is not None:
        return _object(h, place, t.dtype)
    slot = str(h.new_slot())
    name = h.variable(t.dtype, h.scalar(v), const=False)
    h.line(f"if (rt->lend(ctx, {slot}, {t.dtype.num}, &{name}, 0, 0, 0)) return NPC_ERROR;")
    return slot


def _object(h: Host, place: Place, dtype: np.dtype) -> str:
    """A slot with an ndarray on what is at a place."""
    if _is_whole(h, place) and place.buffer in h.slots and place.buffer not in h.tensors:
        return h.slots[place.buffer]
    slot, name = str(h.new_slot()), h.unit.fresh("lent")
    dims = ", ".join(h.unit.dim(d) for d in place.dims) or "0"
    strides = ", ".join(h.unit.dim(s) for s in place.strides) or "0"
    h.line(f"const npc_i64 {name}_d[] = {{{dims}}}, {name}_t[] = {{{strides}}};")
    data = f"(char *){place.buffer} + {h.unit.dim(place.offset)}"
    h.line(f"if (rt->lend(ctx, {slot}, {dtype.num}, {data}, {len(place.dims)}, {name}_d, {name}_t)) return NPC_ERROR;")
    return slot


def _is_whole(h: Host, place: Place) -> bool:
    """Is it all of a buffer?"""
    b = h.unit.buffers[place.buffer]
    return place == root_place(b.name, b.strides, b.dims)


def _result(h: Host, out: Value, data: str, slot: str) -> None:
    t = ttype(out)
    if t.rank == 0:
        h.scalars[out] = h.variable(t.dtype, f"{data} ? *({ctype(t.dtype)} *){data} : ({ctype(t.dtype)}){{}}")
        return
    strides = packed_strides(t.dims, t.layout, t.dtype.itemsize)
    b = h.unit.new_buffer(t.dtype, t.dims, strides)
    h.line(f"char *{b.name} = (char *){data};")
    h.slots[b.name] = slot
    h.storage[out] = root_place(b.name, strides, t.dims)
