"""`lower`: a graph becomes one C++ translation unit.

In: a verified graph with its `SegmentSpec`. Out: a `Lowered`. Never: runs a compiler or the code.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from npcompile.kernels import ctype

from npcompile import kernels
from npcompile.digest import digest
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Graph
from npcompile.ir.segment import SegmentSpec
from npcompile.ir.types import MemType, TensorType, ViewType

from .analysis import plan_region
from .cpp.exact import cold_text
from .cpp.helpers import helper_text
from .exits import captured, tensor_roots, wants_array
from .host import Host
from .lowered import Lowered, LowerOptions
from .unit import Unit

GUARDS = {"eq": "==", "ne": "!=", "ge": ">="}


@lru_cache(maxsize=1)
def abi_text() -> str:
    """The ABI header without its comments."""
    with open(os.path.join(os.path.dirname(kernels.__file__), "cpp", "abi.h"), encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return "\n".join(x.rstrip() for x in text.splitlines() if x.strip()) + "\n"


def lower(graph: Graph, spec: SegmentSpec, options: LowerOptions | None = None) -> Lowered:
    """C++ for one segment, with facts about it. Raises `LoweringError` for what has no C++ form."""
    unit = Unit(graph, spec, options or LowerOptions())
    device = unit.options.backend == "triton" or spec.device != "cpu"
    host: Host
    if device:
        from .triton.host import DeviceHost

        host = DeviceHost(unit)
    else:
        host = Host(unit)
    host.as_tensor |= tensor_roots(graph.body.walk(), spec)
    _inputs(host)
    _guards(host)
    if any(n.report is not None for n in graph.body.walk()):
        host.line("const npc_i64 &warn = *(const npc_i64 *)ctx;")
    host.top = len(host.lines)
    plan = plan_region(graph.body)
    last = graph.body.nodes[-1] if graph.body.nodes else None
    needs = set()
    if last is not None and last.prim == "exit":
        values, box = captured(host, last)
        for k, v in enumerate(values):
            if wants_array(v, box.get(k)):
                host.wants(v, box.get(k))
            if isinstance(v.type, TensorType):
                needs.add(v)
    host.region(plan, needs)
    return _assemble(unit, host)


def _inputs(h: Host) -> None:
    """Declare input symbols, buffers and scalars from the input words."""
    spec, unit = h.unit.spec, h.unit
    kinds = [g.kind for g in spec.guards if g.kind in ("array", "tensor")]
    word = 0
    arrays: list[str] = []
    for p in h.unit.graph.body.params:
        t = p.type
        if isinstance(t, ViewType):
            k = len(arrays)
            cls = spec.mem_of[k] if k < len(spec.mem_of) else k
            b = unit.new_buffer(t.dtype, t.dims, t.strides, cls)
            h.line(f"char *{b.name} = (char *)in[{word}];")
            h.slots[b.name] = str(k)
            if (k < len(kinds) and kinds[k] == "tensor") or spec.device != "cpu":
                h.tensors.add(b.name)
            h.bind_view(p, b)
            arrays.append(b.name)
            for s, rank in zip(t.strides, t.layout, strict=True):
                for sym in s.syms():
                    if s == Dim.of(sym):
                        unit.stride_values[sym.name] = t.dtype.itemsize * 64 ** max(0, rank - 1)
            word += 1 + 2 * t.rank
        elif isinstance(t, TensorType):
            c = ctype(t.dtype)
            text = f"({c})in[{word}]" if t.dtype.kind in "biu" else f"*(const {c} *)(in + {word})"
            h.scalars[p] = h.variable(t.dtype, text)
            word += 2 if t.dtype.itemsize > 8 else 1
        elif isinstance(t, MemType):
            continue
    unit.n_slots = len(arrays)
    from npcompile.ir.dims import Sym

    for name, w in spec.input_symbols.items():
        h.line(f"const npc_i64 {unit.sym_name(Sym(name))} = in[{w}];")


def _guards(h: Host) -> None:
    for op, a, b in h.unit.graph.guards:
        x, y = h.unit.dim(Dim.of(a)), h.unit.dim(Dim.of(b))
        h.line(f"if (!({x} {GUARDS[op]} {y})) return NPC_GUARD_FAILED;")


def _assemble(unit: Unit, h: Host) -> Lowered:
    body = "\n".join(h.lines)
    kernels_text = "\n".join(unit.kernels)
    cold = cold_text(unit)
    text = kernels.text(unit.snippets)
    helpers = [abi_text().replace("typedef long long npc_i64;\n", ""), helper_text(unit.helpers, unit.options.fastmath)]
    code = "\n".join([*helpers, cold, kernels_text])
    symbol = unit.options.symbol
    main = (
        'extern "C" NPC_SEGMENT npc_i64 {symbol}(npc_ctx *ctx, const npc_runtime *rt, '
        "const npc_i64 *in, npc_i64 *out, void *const *syms) {{\n{body}\n}}\n"
    )
    if not symbol:
        symbol = "npc_segment_" + digest((text + code + body).encode(), length=16)
    source = text + code + main.format(symbol=symbol, body=body)
    return Lowered(
        source,
        symbol,
        unit.n_slots,
        unit.report_sites,
        tuple(unit.symbols),
        tuple(unit.loops),
        unit.python_calls,
        unit.kernel_facts,
        unit.allocations,
        unit.allocations_in_loops,
        unit.copies_in_loops,
        unit.stores_first and bool(unit.report_sites),
        unit.device_kernels,
        prelude=len(text) + len("\n".join(helpers)),
    )
