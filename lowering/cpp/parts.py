"""Reductions of a whole array over threads: cut where NumPy's tree has its top branches, so that the bits never depend on the
number of threads.

In: the printer of a kernel, at its outermost level. Out: lines that run a part as a function, over threads when the work is
large, and the join of the parts. Never: decides what is computed in a part.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kernel_text import KernelPrinter

DEPTH = 5
"""Branches from the root to a part: 32 parts."""


def cuttable(p: KernelPrinter) -> bool:
    """Is the printer at a place where threads may be started?"""
    return p.threads and p.level == 0 and p.mode == "fast" and not p.in_place


@contextmanager
def parts(p: KernelPrinter, type_: str, n: str, name: str) -> Iterator[str]:
    """Inside: lines that put the result of elements `first_` .. `first_ + count_` into the returned lvalue. Afterwards they are
    in `p_{name}`, 1 << `d_{name}` of them."""
    p.threaded = True
    p.unit.helpers |= {"chunk", "parallel" if p.kernel.undo is None else "parallel_until"}
    p.unit.snippets.add("pairwise_shape")
    flags, words = p.again and p.flags, p.again and not p.flags
    work = p.unit.dim(p.kernel.work)
    p.line(f"const npc_i64 n_{name} = {n};")
    p.line(f"const npc_i64 d_{name} = {work} >= {p.unit.parallel_ps} && n_{name} >= (512 << {DEPTH}) ? {DEPTH} : 0;")
    p.line(f"{type_} p_{name}[1 << {DEPTH}];")
    if words:
        p.line(f"npc_i64 *const all_{name} = &odd_;")
    p.line(f"const auto part_{name} = [&](npc_i64 lo_, npc_i64 hi_) {{")
    p.line("for (npc_i64 q_ = lo_; q_ < hi_; ++q_) {")
    p.depth += 1
    p.line(f"npc_i64 first_, count_ = npc_pairwise_part(n_{name}, d_{name}, q_, &first_);")
    if words:
        p.line("npc_i64 odd_ = 0;")
    yield f"p_{name}[q_]"
    if words:
        p.line(f"if (odd_) __atomic_store_n(all_{name}, odd_, __ATOMIC_RELAXED);")
    p.depth -= 1
    p.line("}")
    p.line("};")
    body = f"npc_chunk<decltype(part_{name})>, (void *)&part_{name}"
    call = f"npc_parallel(ctx, rt, 1 << d_{name}, 1, {body});"
    if p.kernel.undo is not None:
        p.stops = True
        whole = int(p.kernel.undo.call)
        call = f"if (npc_parallel_until(ctx, rt, 1 << d_{name}, 1, {work}, {whole}, {body})) {{ a_->left = 1; return; }}"
    if flags:
        call = f"odd_ |= npc_flags(); rt->fp_clear(ctx); {call} odd_ |= rt->fp_test(ctx) & 11;"
    p.line(f"if (d_{name}) {{ {call} }}")
    p.line(f"else part_{name}(0, 1);")
