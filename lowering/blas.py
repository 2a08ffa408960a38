"""Contractions: NumPy's own BLAS for float and complex operands, loops for the others, NumPy itself where its BLAS is hidden.

In: `dot_general` nodes. Out: host code that reads operands where they lie in memory, whatever their strides; what is no
memory yet is realised first. The decisions that depend on strides and sizes are made at run time, as NumPy makes them, by
the text in `kernels`. Never: fuses.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from npcompile.kernels import ctype
from npcompile.kernels.text import short

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Node, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.prim import PRIMS
from npcompile.records import dataclass
from npcompile.runtime import libraries

from .index_maps import Place, root_place
from .lowered import Kernel, LoweringError
from .operands import operands
from .typed import ttype
from .unit import Buffer

if TYPE_CHECKING:
    from .host import Host

INTEGERS = {"cblas64": "npc_i64", "cblas32": "int"}
PREFIXES = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
ROUTINES = ("gemm", "gemv", "syrk", "dot", "axpy")
HEAVY = 1 << 16
"""Multiplications above which other Python threads may run meanwhile."""


@dataclass(frozen=True)
class Axes:
    """Axes of both operands by their part: batch, looped over (all free ones but the last), rows, contracted, columns."""

    batch: tuple[tuple[int, int], ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    contracted: tuple[int, int]


def axes_of(node: Node) -> Axes:
    """How a contraction is cut into products of matrices."""
    p = node.params
    a, b = (ttype(v) for v in node.inputs)
    if len(p["lhs_contract"]) != 1:
        raise LoweringError("not-lowered", "dot_general over several axes")
    left = tuple(k for k in range(a.rank) if k not in (*p["lhs_contract"], *p["lhs_batch"]))
    right = tuple(k for k in range(b.rank) if k not in (*p["rhs_contract"], *p["rhs_batch"]))
    batch = tuple(zip(p["lhs_batch"], p["rhs_batch"], strict=True))
    return Axes(batch, left, right, (p["lhs_contract"][0], p["rhs_contract"][0]))


def emit_dot(h: Host, node: Node) -> None:
    """One `dot_general` node."""
    axes = axes_of(node)
    out = node.outputs[0]
    dtype = ttype(out).dtype
    prefix = PREFIXES.get(dtype.str[1:])
    interface = libraries.blas_interface() if prefix else ""
    if prefix and interface not in INTEGERS:
        _by_numpy(h, node)
        return
    a, b = operands(h, node, node.inputs)
    c = h.storage_for(out)
    product = "npc_product"
    h.unit.snippets.add(f"product:{short(dtype)}")
    if prefix:
        h.unit.snippets.add(f"blas:{short(dtype)}")
        room = h.unit.fresh("room")
        h.unit.helpers.add("room")
        h.hoist(f"npc_room {room} = {{ctx, rt, 0, 0}};")
        table = ", ".join(f"syms[{h.unit.symbol(f'{interface}.{_routine(prefix, r)}')}]" for r in ROUTINES)
        plain = len(axes.left) <= 1 and len(axes.right) <= 1
        routine = "matmul" if node.params.get("routine") != "dot" else "dot_product" if plain else "dot_elements"
        product = f"x_.{routine}"
    mask = h.unit.fresh("m") if node.report is not None else ""
    if mask:
        h.line(f"npc_i64 {mask} = 0;")
    h.line("{")
    h.depth += 1
    if prefix:
        h.line(f"npc_blas<{ctype(dtype)}, {INTEGERS[interface]}, npc_room> x_ = {{{room}, {table}}};")
    _products(h, node, axes, (a, b, c), product if prefix else f"{product}<{ctype(dtype)}>", bool(prefix), mask)
    h.depth -= 1
    h.line("}")
    if mask:
        h.reports.add(node, mask)
        h.reports.settle()
    _finish_scalar(h, out)


def _routine(prefix: str, name: str) -> str:
    """CBLAS name; the complex sum of products comes with and without conjugation."""
    return f"{prefix}dotu_sub" if name == "dot" and prefix in "cz" else f"{prefix}{name}"


def _products(
    h: Host, node: Node, axes: Axes, places: tuple[Place, Place, Place], product: str, library: bool, mask: str
) -> None:
    """Loops over batches and extra axes round one product of matrices. mask : variable for the conditions, "" for none."""
    a, b, c = places
    at_a: list[Dim] = [Dim()] * len(a.dims)
    at_b: list[Dim] = [Dim()] * len(b.dims)
    at_c: list[Dim] = []
    loops: list[tuple[Sym, Dim]] = []

    def loop(extent: Dim, *targets: tuple[list[Dim], int]) -> None:
        index = Dim()
        if extent.const != 1:
            sym = h.unit.loop_sym(extent)
            loops.append((sym, extent))
            index = Dim.of(sym)
        for at, k in targets:
            at[k] = index
        at_c.append(index)

    for i, j in axes.batch:
        loop(a.dims[i], (at_a, i), (at_b, j))
    for i in axes.left[:-1]:
        loop(a.dims[i], (at_a, i))
    at_c += [Dim()] * bool(axes.left)
    for j in axes.right[:-1]:
        loop(b.dims[j], (at_b, j))
    at_c += [Dim()] * bool(axes.right)
    one, still = Dim.of(1), Dim()
    rows, columns = len(axes.batch) + len(axes.left) - 1, len(at_c) - 1
    m, am, cm = (a.dims[axes.left[-1]], a.strides[axes.left[-1]], c.strides[rows]) if axes.left else (one, still, still)
    p, bp, cp = (b.dims[axes.right[-1]], b.strides[axes.right[-1]], c.strides[columns]) if axes.right else (one, still, still)
    n, an, bn = a.dims[axes.contracted[0]], a.strides[axes.contracted[0]], b.strides[axes.contracted[1]]
    dim = h.unit.dim
    matrices = ", ".join(
        f"npc_mat{{{x.buffer_text} + {dim(x.place.at(tuple(x.index)))}, {dim(x.rows)}, {dim(x.columns)}}}"
        for x in (_Matrix(a, at_a, am, an), _Matrix(b, at_b, bn, bp), _Matrix(c, at_c, cm, cp))
    )
    vectors = library and not axes.left and not axes.right and not loops and product != "x_.dot_elements"
    if vectors:
        call = f"x_.vectors({matrices}, {dim(n)}, {int(product == 'x_.matmul')})"
    else:
        call = f"{product}({matrices}, {dim(m)}, {dim(n)}, {dim(p)})"
    work = m * n * p
    for _, extent in loops:
        work = work * extent
    if mask and not vectors:
        h.line("rt->fp_clear(ctx);")
    h.line(f"const npc_bool heavy_ = (npc_bool)({dim(work)} > {HEAVY});")
    h.line("if (heavy_) rt->gil_release(ctx);")
    h.line("npc_i64 e_ = 0;")
    for sym, extent in loops:
        i_name = h.unit.sym_name(sym)
        h.line(f"for (npc_i64 {i_name} = 0; {i_name} < {dim(extent)}; ++{i_name})")
    h.line(f"  e_ |= {call};")
    h.line("if (heavy_) rt->gil_acquire(ctx);")
    if library:
        h.line("if (e_) { rt->no_memory(ctx); return NPC_ERROR; }")
    if mask and vectors:  # a sum that met a condition is infinite or NaN: only then is it worth to ask, of a second run
        h.unit.snippets.add("odd")
        h.line(f"if (npc_top(npc_odd(*({ctype(ttype(node.outputs[0]).dtype)} *)((char *){c.buffer} + {dim(c.offset)})))) {{")
        h.line("  rt->fp_clear(ctx);")
        h.line(f"  e_ = {call};")
        h.line(f"  {mask} = rt->fp_test(ctx);")
        h.line("}")
    elif mask:
        h.line(f"{mask} = rt->fp_test(ctx){'' if library else ' | e_'};")
    name = h.unit.fresh("blas" if library else "product")
    extents = (*(str(e) for _, e in loops), str(m), str(n), str(p))
    h.unit.kernel_facts.append(Kernel(name, extents, ("dot_general",), 1, in_loop=bool(h.loop_depth)))


@dataclass(frozen=True)
class _Matrix:
    place: Place
    index: list[Dim]
    rows: Dim
    columns: Dim

    @property
    def buffer_text(self) -> str:
        return f"(char *){self.place.buffer}"


# ---------------------------------------------------------------------------------------------- operands


def _finish_scalar(h: Host, out: Value) -> None:
    """A sum of products of vectors becomes a variable."""
    if ttype(out).rank == 0:
        h.scalars[out] = h.variable(ttype(out).dtype, h.scalars[out])


# ---------------------------------------------------------------------------------------------- without BLAS


class ByNumpy:
    """A contraction as a Python callable; `conditions` gives those of the latest call, in the bits of `rt->report`."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params
        self.latest = threading.local()

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        self.latest.mask = 0
        with np.errstate(all="call", call=self._note):
            (out,) = PRIMS["dot_general"].numpy((a, b), self.params)
        return out

    def _note(self, text: str, mask: int) -> None:
        self.latest.mask |= mask

    def conditions(self) -> np.int64:
        return np.int64(self.latest.mask)


def _by_numpy(h: Host, node: Node) -> None:
    """Call NumPy on copies of the operands."""
    slots = []
    for v in node.inputs:
        buffer = fresh(h, v)
        slots.append(str(h.new_slot()))
        h.alloc_array(buffer, slots[-1])
        h.copy(v, buffer)
    h.flush()
    out = node.outputs[0]
    t = ttype(out)
    result, slot, calls = fresh(h, out), h.new_slot(), h.unit.python_calls
    python = ByNumpy(node.params)
    calls += [python, python.conditions]
    h.line(f"const npc_i64 {result.name}_a[] = {{{', '.join(slots)}}};")
    h.line(f"char *{result.name} = (char *)rt->call_python(ctx, {len(calls) - 2}, 2, {result.name}_a, {slot});")
    h.line(f"if (!{result.name}) return NPC_ERROR;")
    if node.report is not None:
        h.line(f"const npc_i64 *{result.name}_f = (npc_i64 *)rt->call_python(ctx, {len(calls) - 1}, 0, 0, {h.new_slot()});")
        h.line(f"if (!{result.name}_f) return NPC_ERROR;")
        h.reports.add(node, f"{result.name}_f[0]")
        h.reports.settle()
    if t.rank == 0:
        h.scalars[out] = h.variable(t.dtype, f"*({ctype(t.dtype)} *){result.name}")
        return
    h.slots[result.name] = str(slot)
    h.storage[out] = root_place(result.name, result.strides, t.dims)


def fresh(h: Host, v: Value) -> Buffer:
    """A buffer laid out as a new array for a value."""
    t = ttype(v)
    return h.unit.new_buffer(t.dtype, t.dims, packed_strides(t.dims, t.layout, t.dtype.itemsize))
