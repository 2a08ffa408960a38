"""A kernel's loop once more, for few elements: inline in the host program, without the processor's flags and without vectors.

In: a kernel that a loop of the host program calls. Out: a C++ function that does all of it, or nothing where a condition may have
to be reported: then the kernel runs. Calling a kernel and reading the flags takes as long as some twenty elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.kernels import ctype

from npcompile.ir.prim import PRIMS

from ..loop_ir import For, IndexOp, Load, Op, Store
from .conditions import gathered, look_texts, word_bits
from .near import ranged_ops

if TYPE_CHECKING:
    from .kernel_text import KernelPrinter

MOST = 16
"""Elements that count as few."""
OPERATIONS = 16
"""Operations of a loop that is worth having twice."""


def suits(p: KernelPrinter) -> bool:
    """Is the kernel one loop of few operations, over elements that may be few?"""
    k = p.kernel
    if k.cold or k.private or not k.split or len(k.body) != 1 or p.threaded:
        return False
    (loop,) = k.body
    if not isinstance(loop, For) or loop.kind != "vector" or loop.length is not None or loop.start is not None:
        return False
    if loop.extent.bounds()[0] > MOST or not all(isinstance(s, (Op, IndexOp, Load, Store)) for s in loop.body):
        return False
    ops = [s for s in loop.body if isinstance(s, Op)]
    cheap = all(s.prim in PRIMS and PRIMS[s.prim].cost != "expensive" for s in ops)
    return cheap and len(ops) <= OPERATIONS and not ranged_ops(p.unit, loop.body)


def short_text(p: KernelPrinter, fields: str) -> str:
    """The function `{name}s`. p : a printer of the kernel with nothing printed. fields : lines that name what it works on."""
    (loop,) = p.kernel.body
    assert isinstance(loop, For)
    body = loop.body
    looks = gathered([s for s in body if isinstance(s, Op)], p.silent) if p.slots else []
    read = p.in_place | {s.buffer for s in body if isinstance(s, Load)}
    stores = {(s.buffer, s.offset): s for s in body if isinstance(s, Store) and s.buffer in read} if looks else {}
    i = p.unit.sym_name(loop.sym)
    saved = [(f"old{k}_[{i}]", p.cell(s.buffer, s.offset, s.dtype, True)) for k, s in enumerate(stores.values())]
    words = sorted({word_bits(x.op) for x in looks})
    for k, s in enumerate(stores.values()):
        p.line(f"{ctype(s.dtype)} old{k}_[{MOST}];")
    for bits in words:
        p.line(f"npc_u{bits} odd{bits}_ = 0;")
    turns = f"for (npc_i64 {i} = 0; {i} < hi; ++{i})"
    p.line(f"{turns} {{")
    p.depth += 1
    p.line('asm volatile("");')
    for old, cell in saved:
        p.line(f"{old} = {cell};")
    p.inner = True
    for x in body:
        p.simple(x)
    for bits, text in look_texts(p.unit, looks).items():
        p.line(f"odd{bits}_ |= {text};")
    p.depth -= 1
    p.line("}")
    if words:
        p.line(f"if (!({' || '.join(f'npc_top(odd{bits}_)' for bits in words)}) || !a_->want) return true;")
        for old, cell in reversed(saved):
            p.line(f"{turns} {cell} = {old};")
        p.line("return false;")
    else:
        p.line("return true;")
    name = p.kernel.name
    return f"NPC_FN bool {name}s({name}_t *__restrict a_, npc_i64 hi) {{\n{fields}" + "\n".join(p.lines) + "\n}\n"


__all__ = ["MOST", "short_text", "suits"]
