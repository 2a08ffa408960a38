"""Reductions of the loop IR as C++: pairwise trees, folds, early ends.

In: `Tree` and `Fold` nodes and the printer of the kernel around them. Out: lines of that printer. Never: changes the order of
a tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from npcompile.kernels import ctype
from npcompile.kernels.text import short

from npcompile.ir.dims import Dim

from .. import reductions
from ..loop_ir import Fold, For, Load, Op, Stm, Store, Tree, Turns, walk
from ..loop_order import Axis, coefficient
from .conditions import add_loop, note, reported
from .literals import literal
from .parts import cuttable, parts

if TYPE_CHECKING:
    from .kernel_text import KernelPrinter

FOLD_BLOCK = 256


def _direct(p: KernelPrinter, body: list[Stm], value: str, loops: list) -> str | None:
    """Pointer to the first element when the body is one load of consecutive elements."""
    if len(loops) != 1 or len(body) != 1 or not isinstance(body[0], Load) or body[0].name != value:
        return None
    load, sym = body[0], loops[0][0]
    if coefficient(load.offset, sym) != Dim.of(load.dtype.itemsize):
        return None
    start = load.offset.subs({sym: Dim()})
    if p.pointers.get(load.buffer, True):
        return f"{load.buffer} + {p.unit.dim(start // load.dtype.itemsize)}"
    return f"(const {ctype(load.dtype)} *)({load.buffer} + {p.unit.dim(start)})"


def _fill(
    p: KernelPrinter,
    loops: list[Axis],
    body: list[Stm],
    outs: list[tuple[str, str]],
    start: str,
    count: str,
) -> None:
    """Evaluate elements start .. start+count-1 of the loops' product into blocks: (array, value) pairs."""
    sym, extent = loops[-1]
    i = p.unit.sym_name(sym)
    if len(loops) == 1:
        tail = [f"{array}[k_] = {value};" for array, value in outs]
        p.vector_loop(Turns(sym, "k_", "0", count, body, [f"const npc_i64 {i} = {start} + k_;"], tail))
        return
    n = p.unit.dim(extent)
    p.line(f"npc_i64 r_ = {count} > 0 ? {start} / {n} : 0, j_ = {start} - r_ * {n};")  # {n} may be 0 otherwise
    p.line(f"for (npc_i64 b_ = 0; b_ < {count}; ++r_, j_ = 0) {{")
    p.depth += 1
    p.line(f"const npc_i64 z_ = {count} - b_ < {n} - j_ ? {count} - b_ : {n} - j_;")
    rest = "r_"
    for s, e in reversed(loops[1:-1]):
        name, m = p.unit.sym_name(s), p.unit.dim(e)
        p.line(f"const npc_i64 {name} = {rest} % {m}, {name}q_ = {rest} / {m};")
        rest = f"{name}q_"
    p.line(f"const npc_i64 {p.unit.sym_name(loops[0][0])} = {rest};")
    tail = [f"{array}[b_ + k_] = {value};" for array, value in outs]
    p.vector_loop(Turns(sym, "k_", "0", "z_", body, [f"const npc_i64 {i} = j_ + k_;"], tail))
    p.line("b_ += z_;")
    p.depth -= 1
    p.line("}")


def tree(p: KernelPrinter, s: Tree) -> None:
    """A pairwise tree; the exact run also asks for the conditions of its additions.

    A kernel that overwrites what it reads has no exact run: its trees look at their own results.
    """
    if p.mode == "exact" and len(s.results) == 1:
        _asked(p, s, 0)
        return
    _tree(p, s)
    noted = [k for k, node in enumerate(s.nodes) if node in p.slots]
    if not noted or (p.mode != "exact" and not p.in_place):
        return
    p.unit.snippets.add("odd")
    odd = " || ".join(f"npc_top(npc_odd({s.results[k][0]}))" for k in noted)
    p.line(f"if ({p.suspects(f'-(npc_i64)({odd})')}) {{")
    p.depth, mode = p.depth + 1, p.mode
    p.mode = "quiet"
    for k in noted:
        _asked(p, s, k)
    p.depth, p.mode = p.depth - 1, mode
    p.line("}")


def _asked(p: KernelPrinter, s: Tree, k: int) -> None:
    """One sum of a tree by NumPy's own addition, and the conditions that it meets."""
    (name, dt, _), node = s.results[k], s.nodes[k]
    half = dt == np.float16
    part = np.dtype(np.float32) if half else dt
    p.unit.snippets |= {"pairwise_shape"} | ({"half"} if half else set())
    p.unit.helpers |= {"asked"} | ({"asked_f16"} if half else set())
    zero = literal(np.copysign(np.zeros((), part), -1) if part.kind == "f" else complex(-0.0, -0.0), part)
    sizes = f"{1 + (part.kind == 'c')}, 0, {_count(p, s)}"
    p.line(f"npc_i64 m_{name} = 0;")
    call = f"npc_asked{'_f16' * half}(ctx, rt, {p.unit.loop(*add_loop(part))}, {zero}, {sizes}, m_{name}"
    p.line(f"const {ctype(part)} {name} = {call},")
    p.line(f"    [&]({ctype(dt)} *__restrict o_, npc_i64 f_, npc_i64 n_) {{")
    _filler(p, s, s.values[k])
    if node in p.slots:
        p.line(note(p.slots[node], f"m_{name}"))


def _filler(p: KernelPrinter, s: Tree, value: str) -> None:
    """The rest of a lambda that fills a block."""
    p.depth, p.lambdas = p.depth + 1, p.lambdas + 1
    _fill(p, s.loops, s.body, [("o_", value)], "f_", "n_")
    p.depth, p.lambdas = p.depth - 1, p.lambdas - 1
    p.line("});")


def _kind(dt: np.dtype) -> str:
    """Which of the functions for trees."""
    return "_f16" if dt == np.float16 else f"{'_complex' * (dt.kind == 'c')}<{ctype(dt)}>"


def _count(p: KernelPrinter, s: Tree) -> str:
    """Number of elements of a tree."""
    total = Dim.of(1)
    for _, e in s.loops:
        total = total * e
    return p.unit.dim(total)


def _tree(p: KernelPrinter, s: Tree) -> None:
    n = _count(p, s)
    if len(s.results) > 1:
        _tree_of_many(p, s, n)
        return
    (name, dt, prim), value = s.results[0], s.values[0]
    p.need("pairwise", dt)
    t = "float" if _is_half_sum(prim, dt) else ctype(dt)
    direct = None if dt == np.float16 else _direct(p, s.body, value, s.loops)

    def evaluate(target: str, first: str, count: str) -> None:
        if direct:
            p.line(f"{target} = npc_pairwise{'_complex' * (dt.kind == 'c')}_memory({direct} + {first}, {count});")
            return
        fill = f"[&]({ctype(dt)} *__restrict o_, npc_i64 f_, npc_i64 n_) {{"
        p.line(f"{target} = npc_pairwise{_kind(dt)}({first}, {count}, {fill}")
        _filler(p, s, value)

    if dt.kind == "c" or not cuttable(p):
        evaluate(f"const {t} {name}", "0", n)
        return
    with parts(p, t, n, name) as target:
        evaluate(target, "first_", "count_")
    p.line(f"const {t} {name} = npc_pairwise_join(p_{name}, d_{name});")


def _tree_of_many(p: KernelPrinter, s: Tree, n: str) -> None:
    """Several reductions over one tree: the leaf fills one block for each. float16 sums are float until the end."""
    p.unit.helpers.add("tree")
    p.unit.snippets.add("pairwise:f64")
    struct = f"R{p.kernel.name}_{s.results[0][0]}"
    types = {name: ctype(np.dtype(np.float32) if _is_half_sum(prim, dt) else dt) for name, dt, prim in s.results}
    fields = " ".join(f"{t} {name};" for name, t in types.items())
    joins = []
    for name, dt, prim in s.results:
        p.need(prim, np.dtype(np.float32) if _is_half_sum(prim, dt) else dt)
        joins.append(f"npc_{prim}({name}, o.{name})")
    p.line(f"struct {struct} {{ {fields} {struct} join(const {struct} &o) const {{ return {{{', '.join(joins)}}}; }} }};")
    if cuttable(p):
        with parts(p, struct, n, struct) as target:
            _leaves_of_many(p, s, struct, target, "first_", "count_")
        p.line(f"const {struct} {struct}_ = npc_tree_join(p_{struct}, d_{struct});")
    else:
        _leaves_of_many(p, s, struct, f"const {struct} {struct}_", "0", n)
    for name, t in types.items():
        p.line(f"const {t} {name} = {struct}_.{name};")


def _leaves_of_many(p: KernelPrinter, s: Tree, struct: str, target: str, first: str, count: str) -> None:
    p.line(f"{target} = npc_tree<{struct}>({first}, {count}, [&](npc_i64 f_, npc_i64 n_) -> {struct} {{")
    p.depth, p.lambdas = p.depth + 1, p.lambdas + 1
    for name, dt, _ in s.results:
        p.line(f"alignas(64) {ctype(dt)} o_{name}[128];")
    outs = [(f"o_{r[0]}", v) for r, v in zip(s.results, s.values, strict=True)]
    _fill(p, s.loops, s.body, outs, "f_", "n_")
    leaves = []
    for name, dt, prim in s.results:
        if prim == "add" and dt.kind == "f":
            block = f"({ctype(dt)} *)o_{name}"
            if _is_half_sum(prim, dt):
                p.need("pairwise", dt)
                p.line(f"alignas(64) float w_{name}[128];")
                p.line(f"for (npc_i64 k_ = 0; k_ < n_; ++k_) w_{name}[k_] = npc_float(o_{name}[k_]);")
                block = f"(float *)w_{name}"
            leaves.append(f"npc_pairwise_leaf({block}, n_)")
            continue
        p.line(f"{ctype(dt)} a_{name} = {_start(prim, dt)};")
        p.line(f"for (npc_i64 k_ = 0; k_ < n_; ++k_) a_{name} = npc_{prim}(a_{name}, o_{name}[k_]);")
        leaves.append(f"a_{name}")
    p.line(f"return {{{', '.join(leaves)}}};")
    p.depth, p.lambdas = p.depth - 1, p.lambdas - 1
    p.line("});")


def _start(prim: str, dt: np.dtype) -> str:
    """What an accumulator starts with."""
    op = next(k for k, v in reductions.BINARY.items() if v == prim)
    return literal(reductions.initial(op, dt), dt)


def _is_half_sum(prim: str, dt: np.dtype) -> bool:
    return prim == "add" and dt == np.float16


def fold(p: KernelPrinter, s: Fold) -> None:
    n = p.unit.dim(s.extent)
    if any(prim in ("logical_or", "logical_and") for _, prim, _, _ in s.ops) or not cuttable(p):
        _fold(p, s, "0", n)
        return
    struct = f"R{p.kernel.name}_{s.ops[0][0]}"
    p.line(f"struct {struct} {{ {' '.join(f'{ctype(dt)} {acc};' for acc, _, _, dt in s.ops)} }};")
    with parts(p, struct, n, struct) as target:
        for acc, prim, _, dt in s.ops:
            p.line(f"{ctype(dt)} {acc} = {_start(prim, dt)};")
        p.line("const npc_i64 end_ = first_ + count_;")
        _fold(p, s, "first_", "end_")
        p.line(f"{target} = {{{', '.join(acc for acc, *_ in s.ops)}}};")
    for acc, prim, _, dt in s.ops:
        p.need(prim, dt)
        p.line(f"for (npc_i64 q_ = 0; q_ >> d_{struct} == 0; ++q_) {acc} = npc_{prim}({acc}, p_{struct}[q_].{acc});")


def _fold(p: KernelPrinter, s: Fold, lo: str, hi: str) -> None:
    """Accumulate the elements lo .. hi-1."""
    loops = [(s.sym, s.extent)]
    if len(s.ops) == 1:
        acc, prim, value, dt = s.ops[0]
        direct = _direct(p, s.body, value, loops)
        if direct and _blocked(prim, dt):
            p.unit.snippets.add(f"extrema_block:{short(dt)}")
            p.line(f"{acc} = npc_{prim[:3]}_block({direct} + {lo}, {hi} - {lo}, {acc});")
            return
        if prim in ("logical_or", "logical_and") and _may_end_early(p, s.body):
            _any(p, s, hi)
            return
    if p.mode != "exact" and not any(_blocked(prim, dt) for _, prim, _, dt in s.ops):
        i = p.unit.sym_name(s.sym)
        if counted := _counted(s):
            lo = _count_bytes(p, s, counted, lo, hi)
        p.line(f"for (npc_i64 {i} = {lo}; {i} < {hi}; ++{i}) {{")
        p.depth += 1
        p._body(s.body)
        _combine(p, s)
        p.depth -= 1
        p.line("}")
        return
    p.line(f"for (npc_i64 f_ = {lo}; f_ < {hi}; f_ += {FOLD_BLOCK}) {{")
    p.depth += 1
    p.line(f"const npc_i64 n_ = {hi} - f_ < {FOLD_BLOCK} ? {hi} - f_ : {FOLD_BLOCK};")
    for acc, _, _, dt in s.ops:
        p.line(f"alignas(64) {ctype(dt)} o_{acc}[{FOLD_BLOCK}];")
    _fill(p, loops, s.body, [(f"o_{acc}", value) for acc, _, value, _ in s.ops], "f_", "n_")
    for acc, prim, _, dt in s.ops:
        if _blocked(prim, dt):
            p.unit.snippets.add(f"extrema_block:{short(dt)}")
            p.line(f"{acc} = npc_{prim[:3]}_block(({ctype(dt)} *)o_{acc}, n_, {acc});")
        else:
            p.need(prim, dt)
            p.line(f"for (npc_i64 k_ = 0; k_ < n_; ++k_) {acc} = npc_{prim}({acc}, o_{acc}[k_]);")
    p.depth -= 1
    p.line("}")


def _counted(s: Fold) -> list[tuple[str, str]]:
    """(sum, bool) where all that is summed up is bools, made of nothing but bytes; else nothing."""
    ops = [x for x in s.body if isinstance(x, Op)]
    if any(not isinstance(x, (Load, Op)) for x in s.body) or any(x.dtype.itemsize > 1 for x in s.body if isinstance(x, Load)):
        return []
    made = {x.name: x for x in ops}
    sums = [(acc, made[value]) for acc, prim, value, _ in s.ops if prim == "add" and value in made]
    if len(sums) < len(s.ops) or any(x.prim != "convert" or x.arg_dtypes[0] != np.bool_ or x.dtype.kind != "i" for _, x in sums):
        return []
    summed = {x.name for _, x in sums}
    rest = [x for x in ops if x.name not in summed]
    if any(x.dtype.itemsize > 1 or not summed.isdisjoint(x.args) for x in rest):
        return []
    return [(acc, x.args[0]) for acc, x in sums]


def _count_bytes(p: KernelPrinter, s: Fold, counted: list[tuple[str, str]], lo: str, hi: str) -> str:
    """Count most of the elements lo .. hi-1 in bytes, of which a register holds many; where the rest begins."""
    i = p.unit.sym_name(s.sym)
    rest, lanes, turns = p.unit.fresh("c"), 64, 255
    dropped = {value for _, _, value, _ in s.ops}
    p.line(f"npc_i64 {rest} = {lo};")
    p.line(f"while ({hi} - {rest} >= {2 * lanes}) {{")
    p.depth += 1
    p.line(f"const npc_i64 n_ = ({hi} - {rest}) / {lanes} < {turns} ? ({hi} - {rest}) / {lanes} : {turns};")
    for acc, _ in counted:
        p.line(f"alignas(64) npc_u8 c_{acc}[{lanes}] = {{0}};")
    p.line(f"for (npc_i64 k_ = 0; k_ < n_; ++k_, {rest} += {lanes}) {{")
    p.depth += 1
    p.line("NPC_IVDEP")
    p.line(f"for (npc_i64 l_ = 0; l_ < {lanes}; ++l_) {{")
    p.depth += 1
    p.line(f"const npc_i64 {i} = {rest} + l_;")
    p._body([x for x in s.body if not (isinstance(x, Op) and x.name in dropped)])
    for acc, name in counted:
        p.line(f"c_{acc}[l_] += {name} != 0;")
    for _ in range(2):
        p.depth -= 1
        p.line("}")
    for acc, _ in counted:
        p.line(f"for (npc_i64 l_ = 0; l_ < {lanes}; ++l_) {acc} += c_{acc}[l_];")
    p.depth -= 1
    p.line("}")
    return rest


def _blocked(prim: str, dt: np.dtype) -> bool:
    return prim in ("maximum", "minimum") and dt.kind == "f" and dt.itemsize >= 4


def _combine(p: KernelPrinter, s: Fold) -> None:
    for acc, prim, value, dt in s.ops:
        p.need(prim, dt)
        p.line(f"{acc} = npc_{prim}({acc}, {value});")


def searches(s: For) -> Op | None:
    """The search that a loop is, with nothing in it but what it searches."""
    last = s.body[-1] if s.body and not s.block and s.start is None else None
    if not isinstance(last, Op) or last.prim != "npc_best" or not all(isinstance(x, (Load, Op)) for x in s.body[:-1]):
        return None
    return None if last.dtype.kind == "c" or last.dtype == np.float16 else last


def best(p: KernelPrinter, s: For, lo: str, hi: str) -> bool:
    """A search for the best of what a loop computes: elements in blocks, each of which is searched only if it has a better one.

    False when the body is more than that.
    """
    last = searches(s)
    if last is None:
        return False
    dt, body = last.dtype, s.body[:-1]
    found, place, value = last.args
    p.unit.snippets.add(f"arg_block:{short(dt)}")
    call = f"npc_{last.params['op']}_block"
    direct = _direct(p, body, value, [(s.sym, s.extent)])
    size = 16 * FOLD_BLOCK if direct else FOLD_BLOCK
    p.line(f"for (npc_i64 f_ = {lo}; f_ < {hi}; f_ += {size}) {{")
    p.depth += 1
    p.line(f"const npc_i64 n_ = {hi} - f_ < {size} ? {hi} - f_ : {size};")
    if direct:
        p.line(f"if ({call}({direct} + f_, n_, f_, &{found}, &{place})) break;")
    else:
        p.line(f"alignas(64) {ctype(dt)} o_[{size}];")
        _fill(p, [(s.sym, s.extent)], body, [("o_", value)], "f_", "n_")
        # whatever else elements report, they report in full
        end = "" if any(reported(x, p.silent) is not None for x in body) else "break;"
        p.line(f"if ({call}(({ctype(dt)} *)o_, n_, f_, &{found}, &{place})) {{ {end} }}")
    p.depth -= 1
    p.line("}")
    return True


def _may_end_early(p: KernelPrinter, body: list[Stm]) -> bool:
    """Does the body do nothing but find the value? Whatever else it stores or reports, it must do for all elements."""
    return not any(isinstance(s, Store) or reported(s, p.silent) is not None for s in walk(body))


def _any(p: KernelPrinter, s: Fold, n: str) -> None:
    """any and all: blocks, so that the loop vectorises and still ends early."""
    acc, prim, value, _ = s.ops[0]
    i = p.unit.sym_name(s.sym)
    op, stop = ("|", "r_") if prim == "logical_or" else ("&", "!r_")
    p.line(f"for (npc_i64 f_ = 0; f_ < {n}; f_ += 1024) {{")
    p.depth += 1
    p.line(f"const npc_i64 n_ = {n} - f_ < 1024 ? {n} : f_ + 1024;")
    p.line(f"npc_u8 r_ = {0 if op == '|' else 1};")
    p.line(f"for (npc_i64 {i} = f_; {i} < n_; ++{i}) {{")
    p.depth += 1
    p._body(s.body)
    p.line(f"r_ = (npc_u8)(r_ {op} (npc_u8){value});")
    p.depth -= 1
    p.line("}")
    p.line(f"if ({stop}) {{ {acc} = (npc_bool)r_; break; }}")
    p.depth -= 1
    p.line("}")
