"""The host program of a device: tensors live in device memory, kernels are launched instead of run in line.

In: what `Host` takes. Out: the same C++, with `rt->launch` for every kernel. Rank-0 tensors stay on the device until the host
program needs one: only then does it wait for the device. Never: decides on fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from npcompile.kernels import ctype

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node, Value
from npcompile.ir.layout import packed_strides
from npcompile.ir.prim import HOST, PRIMS
from npcompile.records import dataclass, field

from .. import calls
from ..analysis import is_inline
from ..host import Host
from ..index_maps import INDEX_MAPS, Place
from ..launch import needed_outside
from ..loop_ir import Store, walk
from ..lowered import Kernel, LoweringError
from ..nests import Memory, normalise
from ..nodes import HANDLERS
from ..schedule import Cluster, single
from ..statements import Stmt
from ..typed import ttype
from ..unit import Buffer
from . import blocks
from .block_ir import BlockKernel
from .kernel_text import BlockPrinter, Launched
from .nests import BlockBuilder, Unfusable, accumulators, is_reduction, product

FLAT_LOG2, FLAT_WARPS_LOG2 = 10, 2
BYTE = np.dtype(np.uint8)


@dataclass
class DeviceHost(Host):
    """lazy : rank-0 values that are expressions over device memory, evaluated wherever they are used."""

    lazy: set[Value] = field(default_factory=set)

    @property
    def handlers(self) -> Mapping[str, Callable[[Any, Node], None]]:
        return DEVICE_HANDLERS

    @property
    def on_device(self) -> bool:
        """Does memory come from the caller's library, on a device? (Else it is NumPy's, for the interpreter.)"""
        return self.unit.spec.device != "cpu"

    # -- scalars ------------------------------------------------------------------------------------------------
    def scalar_node(self, node: Node) -> None:
        """On the host when all operands are there; else where it is used, or at once when it reads memory."""
        out = node.outputs[0]
        if node.prim == "load" or (node.prim in INDEX_MAPS and ttype(node.inputs[0]).rank) or node.prim == "gather":
            self._on_device(out)
        elif all(v in self.scalars for v in node.inputs):
            self.emit_scalar(node)
        elif PRIMS[node.prim].triton == HOST or len(node.outputs) > 1 or not is_inline(node):
            for v in node.inputs:
                self.scalar(v)
            self.emit_scalar(node)
        else:
            self.lazy.add(out)

    def _on_device(self, v: Value) -> None:
        """Statement that puts a rank-0 value into device memory."""
        assert v.node is not None
        s = Stmt("value", v.node, (), (), (v,), (), v)
        self.reader(v).fill(s)
        self.pending.append(s)

    def is_realised(self, v: Value) -> bool:
        if v in self.lazy:
            return v in self.storage or any(s.out is v for s in self.pending)
        return super().is_realised(v)

    def scalar(self, v: Value) -> str:
        """C++ text of a rank-0 value, fetched if it is on the device."""
        if v in self.scalars:
            return self.scalars[v]
        if not self.is_realised(v):
            self._on_device(v)
        if v not in self.storage:
            self.flush({v})
        place = self.storage.get(v)
        if place is None:
            return super().scalar(v)
        dt = ttype(v).dtype
        name = self.unit.fresh("v")
        self.scalar_types[name] = dt
        self.line(f"{ctype(dt)} {name};")
        self.line(
            f"if (rt->fetch(ctx, &{name}, {place.buffer} + {self.unit.dim(place.offset)}, {dt.itemsize})) return NPC_ERROR;"
        )
        self.scalars[v] = name
        return name

    def kernel_scalar(self, v: Value) -> str | None:
        """The variable that a kernel takes by value; constants are written into the kernel."""
        text = self.scalars.get(v)
        return text if text in self.scalar_types else None

    def store_scalar(self, b: Buffer, v: Value) -> None:
        self.copy(v, b)
        self.flush()

    # -- memory -------------------------------------------------------------------------------------------------
    def as_library(self, box: str | None) -> bool:
        return self.on_device or super().as_library(box)

    def alloc_array(self, b: Buffer, slot: str, tensor: bool = False) -> None:
        super().alloc_array(b, slot, tensor or self.on_device)

    def storage_for(self, v: Value) -> Place:
        if v in self.storage:
            return self.storage[v]
        if v in self.targets or ttype(v).rank:
            return super().storage_for(v)
        t = ttype(v)
        b = self.unit.new_buffer(t.dtype, (), ())
        if self.returned.get(v) and not self.loop_depth:
            self.alloc_array(b, str(self.new_slot()), v in self.as_tensor)
        else:
            self.scratch(b)
        self.storage[v] = Place(b.name, Dim(), (), ())
        return self.storage[v]

    def scratch(self, b: Buffer) -> None:
        """Bytes from the caller's library, given back when the call ends, or when a loop needs more."""
        self.unit.allocations += 1
        count = Dim.of(b.dtype.itemsize)
        for d in b.dims:
            count = count * d
        slot = self.new_slot()
        n = f"{b.name}_n"
        make = "alloc_tensor" if self.on_device else "alloc_array"
        call = f"(char *)rt->{make}(ctx, {slot}, {BYTE.num}, 1, &{n}, &{n}_step)"
        if not self.loop_depth:
            self.line(f"const npc_i64 {n} = {self.unit.dim(count)}, {n}_step = 1;")
            self.line(f"char *{b.name} = {call};")
            self.line(f"if (!{b.name}) return NPC_ERROR;")
            return
        self.hoist(f"char *{b.name} = 0; npc_i64 {n} = -1, {n}_step = 1;")
        self.line(f"if ({n} < {self.unit.dim(count)}) {{")
        self.line(f"  {n} = {self.unit.dim(count)};")
        self.line(f"  {b.name} = {call};")
        self.line(f"  if (!{b.name}) return NPC_ERROR;")
        self.line("}")

    # -- kernels ------------------------------------------------------------------------------------------------
    def emit(self, c: Cluster) -> None:
        """Emit the kernels of one cluster and their launches."""
        if not self.unit.kernels:
            self.unit.kernels.append(blocks.TEXT)
        if any(s.kind == "host" for s in c.stmts):
            raise LoweringError("no-triton", c.stmts[0].node.prim)
        if c.is_leaf and not any(is_reduction(s) or s.kind == "scan" for s in c.stmts):
            self._fact(c)
            self._launch(self._builder(c).flat(self.unit.fresh("k")), self._flat_shape)
            return
        outside = needed_outside(self, c)
        for s in c.stmts:
            if s.out is not None and s.place is None and (outside(s.out) or s.kind == "argreduce"):
                self.storage_for(s.out)
        forms, why = self._forms(c)
        if not forms:
            if len(c.stmts) == 1:
                raise LoweringError("no-triton", why)
            self._apart(c)
            return
        self._fact(c)
        self._choose(c, forms)

    def _fact(self, c: Cluster) -> None:
        nodes = [s.node for s in c.stmts] + [n for s in c.stmts for n in s.costs]
        dims = tuple(str(e) for _, e in c.shared) or tuple(str(d) for d in c.stmts[0].dims)
        ops = tuple(dict.fromkeys(n.prim for n in nodes))
        facts = Kernel(
            f"k{len(self.unit.kernel_facts)}", dims, ops, len(set(nodes)), True, bool(self.loop_depth), list(c.why_not)
        )
        self.unit.kernel_facts.append(facts)

    def _builder(self, c: Cluster) -> BlockBuilder:
        memory = Memory(self.place_of, self.storage.get, self.kernel_scalar, self.storage_for)
        return BlockBuilder(self.unit, memory, c, needed_outside(self, c))

    def _forms(self, c: Cluster) -> tuple[list[BlockKernel], str]:
        """The kernels that do a cluster in one go: with all columns at once, and in chunks."""
        out: list[BlockKernel] = []
        why = ""
        for form in ("whole", "chunks"):
            try:
                b = self._builder(c)
                out.append((b.whole if form == "whole" else b.chunks)(self.unit.fresh("k")))
            except Unfusable as e:
                why = str(e)
        return [k for k in out if k.cols], why

    def _choose(self, c: Cluster, forms: list[BlockKernel]) -> None:
        """Which form runs is decided by the sizes, when they are known; few long rows are reduced in parts."""
        rows, cols = product(forms[-1].rows), product(forms[-1].cols)
        last = forms[-1]
        splits = any(map(is_reduction, c.stmts))
        p = self.unit.fresh("p")
        self.line("{")
        self.depth += 1
        self.line(f"npc_i64 {p}[5];")
        flags = f"{str(last.inner).lower()}, {str(forms[0].form == 'whole').lower()}"
        self.line(f"npc_blocks({self.unit.dim(rows)}, {self.unit.dim(cols)}, {last.itemsize}, {flags}, {p});")

        def shape(k: BlockKernel) -> tuple[str, str, str]:
            return f"{p}[0] << 2 | {p}[1] << 7 | {p}[2] << 12", f"npc_cdiv({self.unit.dim(rows)}, 1ll << {p}[0])", "1"

        word = "if"
        if splits:
            self.line(f"if ({p}[4] > 1) {{")
            self.depth += 1
            self._in_parts(c, p, rows, shape)
            self.depth -= 1
            word = "} else if"
        for k in forms:
            self.line(f"{word} ({p}[3]) {{" if k.form == "whole" else "} else {" if word != "if" else "{")
            word = "} else if"
            self.depth += 1
            self._launch(k, shape)
            self.depth -= 1
        self.line("}")
        self.depth -= 1
        self.line("}")

    def _apart(self, c: Cluster) -> None:
        """Every statement in kernels of its own; what only they use gets memory for the while."""
        saved = dict(self.storage)
        for s in c.stmts:
            self.emit(single(self.unit, s))
        self.storage = saved

    def _in_parts(self, c: Cluster, p: str, rows: Dim, shape: Callable[[BlockKernel], tuple[str, str, str]]) -> None:
        """Two kernels for one pass of reductions; a cluster of several passes falls apart."""
        children = normalise(c).children or [c]
        if len(children) > 1:
            self._apart(c)
            return
        q = self.unit.named_sym("q")
        parts = Dim.of(q)
        self.line(f"const npc_i64 {self.unit.sym_name(q)} = {p}[4];")
        reds = [s for s in c.stmts if is_reduction(s)]
        buffers: dict[Stmt, tuple[Buffer, ...]] = {}
        for s in reds:
            made = []
            for d in accumulators(s)[0]:
                made.append(self.unit.new_buffer(d, (parts, rows), packed_strides((parts, rows), (2, 1), d.itemsize)))
                self.scratch(made[-1])
            buffers[s] = tuple(made)
        builder = self._builder(c)
        first = builder.partial(self.unit.fresh("k"), parts, buffers)
        self._launch(first, lambda k: (*shape(k)[:2], self.unit.dim(parts)))
        alone = Cluster(c.shared, reds, {s: c.maps[s] for s in reds}, [], c.why_not)
        second = self._builder(alone).final(self.unit.fresh("k"), builder, parts, buffers)
        r = self.unit.fresh("p")
        self.line(f"npc_i64 {r}[5];")
        inner = str(rows.const == 1).lower()
        self.line(f"npc_blocks({self.unit.dim(rows)}, {self.unit.dim(parts)}, {second.itemsize}, {inner}, true, {r});")
        self.line(f"{r}[1] = npc_log2({self.unit.dim(parts)});")
        self.line(f"if ({r}[0] + {r}[1] > 12) {r}[0] = {r}[1] < 12 ? 12 - {r}[1] : 0;")
        final_shape = f"{r}[0] << 2 | {r}[1] << 7 | {r}[2] << 12", f"npc_cdiv({self.unit.dim(rows)}, 1ll << {r}[0])", "1"
        self._launch(second, lambda k: final_shape)

    def _flat_shape(self, k: BlockKernel) -> tuple[str, str, str]:
        n = product(k.rows)
        block, warps = (0, 0) if n.const == 1 else (FLAT_LOG2, FLAT_WARPS_LOG2)
        return str(block << 2 | warps << 12), f"npc_cdiv({self.unit.dim(n)}, {1 << block})", "1"

    def _launch(self, k: BlockKernel, shape: Callable[[BlockKernel], tuple[str, str, str]]) -> None:
        """The call of one kernel."""
        printed = BlockPrinter(self.unit, k, self.scalar_types).run()
        number = len(self.unit.device_kernels)
        self.unit.device_kernels.append(printed.kernel)
        variant, gx, gy = shape(k)
        self.line("{")
        self.depth += 1
        stores = any(isinstance(s, Store) and self.unit.is_callers(s.buffer) for s in walk(k.body))
        self.line(f"const npc_i64 g_[] = {{{gx}, {gy}, {int(stores)}}};")
        words = [f"npc_word({w})" for w in printed.words]
        args = [*(f"(npc_i64){b}" for b in printed.pointers), *printed.sizes, *words]
        self.line(f"const npc_i64 a_[] = {{{', '.join(args)}}};")
        self.line(f"const npc_i64 wide_ = {self._wide(printed)}, aligned_ = {self._aligned(printed)};")
        call = f"rt->launch(ctx, {number}, {variant} | wide_ | aligned_ << 1, g_, {len(args)}, a_)"
        self.line(f"if (g_[0] > 0 && {call}) return NPC_ERROR;")
        self.depth -= 1
        self.line("}")

    def _wide(self, printed: Launched) -> str:
        """Does an offset or a size need more than 32 bits?"""
        bounds = [d for d in dict.fromkeys(printed.offsets) if d.const is None or d.const >> 30]
        texts = [*(self.unit.dim(d) for d in bounds), *printed.sizes]
        return f"(({' | '.join(f'npc_magnitude({t})' for t in texts)}) >> 30) != 0" if texts else "0"

    def _aligned(self, printed: Launched) -> str:
        texts = [*(f"(npc_i64){b}" for b in printed.pointers), *printed.steady]
        return f"(({' | '.join(texts)}) & 15) == 0"


# ---------------------------------------------------------------------------------------------- nodes


def _item(h: DeviceHost, node: Node) -> None:
    """Read one element: the host waits for it."""
    view = node.inputs[0]
    calls.settle(h, view)
    dt = ttype(node.outputs[0]).dtype
    off = calls._element(h, view, node.inputs[2:])
    name = h.unit.fresh("v")
    h.scalar_types[name] = dt
    h.line(f"{ctype(dt)} {name};")
    h.line(f"if (rt->fetch(ctx, &{name}, {h.place_of(view).buffer} + {off}, {dt.itemsize})) return NPC_ERROR;")
    h.scalars[node.outputs[0]] = name


def _store_item(h: DeviceHost, node: Node) -> None:
    """Write one element."""
    view, value = node.inputs[:2]
    calls.settle(h, view)
    dt = ttype(value).dtype
    text = h.scalar(value)
    off = calls._element(h, view, node.inputs[3:])
    name = h.variable(dt, text)
    h.line(f"if (rt->put(ctx, {h.place_of(view).buffer} + {off}, &{name}, {dt.itemsize})) return NPC_ERROR;")


def _unsupported(h: DeviceHost, node: Node) -> None:
    raise LoweringError("no-triton", node.prim)


DEVICE_HANDLERS: dict[str, Callable[[Any, Node], None]] = {
    **HANDLERS,
    "item": _item,
    "store_item": _store_item,
    "dot_general": _unsupported,
    "extern_numpy": _unsupported,
    "extern_store": _unsupported,
}

__all__ = ["DeviceHost"]
