"""Loop IR to C++: one static function a kernel.

In: a `KernelIR`, the types of outer scalars and buffers. Out: the function's text and the arguments a call passes. The text
needs no header; names of loop IR are used as they are. Never: changes the order of anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from npcompile.kernels import available, ctype
from npcompile.kernels.text import short

from npcompile.ir.dims import Dim

from .. import reductions
from ..loop_ir import Assign, Fold, For, If, IndexOp, KernelIR, Load, Local, Op, Stm, Store, Tree, walk
from ..schedule import coefficient
from ..unit import Unit
from .literals import literal
from .near import far_text, is_ranged, near_text, ranged_ops, word
from .ops import op_text

STACK_BYTES = 4096
FOLD_BLOCK = 256


def divides(d: Dim, size: int) -> bool:
    """Is an offset surely a multiple of the item size?"""
    return all(c % size == 0 for _, c in d.terms)


@dataclass
class Printed:
    """A printed kernel: `text`, and `args`: (parameter declaration, argument text) of a call."""

    text: str
    args: list[tuple[str, str]]


@dataclass
class KernelPrinter:
    """Prints one kernel. scalars: C++ type of every outer variable a kernel may use by value."""

    unit: Unit
    kernel: KernelIR
    scalars: Mapping[str, np.dtype]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    near: bool = False
    """Printing the first run of a loop, with near variants."""
    pointers: dict[str, bool] = field(default_factory=dict)
    """Buffer -> typed (False: addressed in bytes)."""

    # -- whole kernel -------------------------------------------------------------------------------------------
    def run(self) -> Printed:
        k = self.kernel
        self._find_pointers()
        rows = [x for x in k.private if not self._on_stack(x)]
        for x in k.private:
            self._private(x)
        self._body(k.body, k.split)
        for x in rows:
            self.line(f"if ({x.name} != {x.name}_) rt->scratch_free(ctx, {x.name});")
        body = "\n".join(self.lines)
        args = self._args(body, bool(rows))
        params = ", ".join(p for p, _ in args)
        head = "npc_i64 lo, npc_i64 hi" + (", " if args else "") if k.split else ""
        text = f"{'NPC_COLD' if k.cold else 'NPC_KERNEL'} void {k.name}({head}{params}) {{\n{body}\n}}\n"
        return Printed(text, args)

    def inline(self) -> list[str]:
        """The body's lines for host code, where all buffers are byte pointers."""
        self._find_pointers()
        self.pointers = dict.fromkeys(self.pointers, False)
        self._body(self.kernel.body)
        return self.lines

    def _find_pointers(self) -> None:
        private = {x.name for x in self.kernel.private}
        for s in walk(self.kernel.body):
            if isinstance(s, (Load, Store)):
                ok = divides(s.offset, s.dtype.itemsize)
                if s.buffer in private:
                    continue
                if s.dtype != self.unit.buffers[s.buffer].dtype:
                    ok = False
                self.pointers[s.buffer] = self.pointers.get(s.buffer, True) and ok

    def _args(self, body: str, rows: bool) -> list[tuple[str, str]]:
        out: list[tuple[str, str]] = []
        if rows:
            out += [("npc_ctx *ctx", "ctx"), ("const npc_runtime *rt", "rt"), ("npc_i64 *oom", "&oom")]
        written = {s.buffer for s in walk(self.kernel.body) if isinstance(s, Store)}
        names = list(self.pointers)
        for name in names:
            b = self.unit.buffers[name]
            alone = all(not self.unit.may_alias(name, o) for o in names if o != name and (o in written or name in written))
            type_ = ctype(b.dtype) if self.pointers[name] else "char"
            const = "" if name in written else "const "
            restrict = "__restrict " if alone else ""
            out.append((f"{const}{type_} *{restrict}{name}", f"({const}{type_} *){name}"))
        words = set(re.findall(r"[A-Za-z_]\w*", body))
        for name in sorted(words & set(self.scalars), key=_natural):
            out.append((f"const {ctype(self.scalars[name])} {name}", name))
        inner = self._inner_names()
        for name in sorted((words & set(self.unit.sym_names.values())) - inner - set(self.scalars), key=_natural):
            out.append((f"const npc_i64 {name}", name))
        return out

    def _inner_names(self) -> set[str]:
        """Names that the kernel itself declares."""
        out: set[str] = set()
        for s in walk(self.kernel.body):
            if isinstance(s, (Op, IndexOp, Load, Local)):
                out.add(s.name)
            elif isinstance(s, Tree):
                out |= {self.unit.sym_name(x) for x, _ in s.loops}
            elif isinstance(s, (For, Fold)):
                out.add(self.unit.sym_name(s.sym))
                if isinstance(s, For) and s.length is not None:
                    out.add(self.unit.sym_name(s.length))
        return out

    # -- private arrays -----------------------------------------------------------------------------------------
    def _on_stack(self, x: Local) -> bool:
        return x.size is None or (x.size.const is not None and x.size.const * x.dtype.itemsize <= 16 * STACK_BYTES)

    def _private(self, x: Local) -> None:
        t = ctype(x.dtype)
        assert x.size is not None
        if self._on_stack(x):
            self.line(f"alignas(64) {t} {x.name}[{max(1, x.size.const or 1)}];")
            return
        n = STACK_BYTES // x.dtype.itemsize
        size = self.unit.dim(x.size)
        self.line(f"alignas(64) {t} {x.name}_[{n}];")
        self.line(f"{t} *__restrict {x.name} = {size} <= {n} ? {x.name}_ : ({t} *)rt->scratch(ctx, {size} * {x.dtype.itemsize});")
        self.line(f"if (!{x.name}) {{ *oom = 1; return; }}")

    # -- statements ---------------------------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def _body(self, body: list[Stm], split: bool = False) -> None:
        for k, s in enumerate(body):
            if isinstance(s, For):
                self._for(s, split and k == len(body) - 1)
            elif isinstance(s, Tree):
                self._tree(s)
            elif isinstance(s, Fold):
                self._fold(s)
            elif isinstance(s, If):
                self._if(s)
            else:
                self._simple(s)

    def _simple(self, s: Stm) -> None:
        if isinstance(s, Op):
            if s.prim == "npc_best":
                self._best(s)
            else:
                text = op_text(self.unit, s)
                text = near_text(self.unit, s, text) if self.near and is_ranged(s) else text
                self.line(f"const {ctype(s.dtype)} {s.name} = {text};")
        elif isinstance(s, IndexOp):
            self.line(f"const npc_i64 {s.name} = {self.unit.dim(s.value)};")
        elif isinstance(s, Load):
            self.line(f"const {ctype(s.dtype)} {s.name} = {self.cell(s.buffer, s.offset, s.dtype, False)};")
        elif isinstance(s, Store):
            mask = f"if ({s.mask}) " if s.mask else ""
            self.line(f"{mask}{self.cell(s.buffer, s.offset, s.dtype, True)} = {s.value};")
        elif isinstance(s, Local):
            init = literal(reductions.initial(s.init[1:], s.dtype), s.dtype)
            self.line(f"{ctype(s.dtype)} {s.name} = {init};")
        elif isinstance(s, Assign):
            self.line(f"{s.name} = {s.value};")

    def cell(self, buffer: str, offset: Dim, dtype: np.dtype, store: bool) -> str:
        """An lvalue for the element at a byte offset."""
        if self.pointers.get(buffer, True):
            return f"{buffer}[{self.unit.dim(offset // dtype.itemsize)}]"
        const = "" if store else "const "
        return f"*({const}{ctype(dtype)} *)({buffer} + {self.unit.dim(offset)})"

    def _for(self, s: For, split: bool) -> None:
        i = self.unit.sym_name(s.sym)
        lo, hi = ("lo", "hi") if split else (self.unit.dim(s.start or 0), self.unit.dim(s.extent))
        step = f"{i} += {s.block}" if s.block else f"++{i}"
        head = f"for (npc_i64 {i} = {lo}; {i} < {hi}; {step}) {{"
        if s.kind == "vector" and not self.kernel.cold and s.length is None:
            self._vector_loop(head, s.body, lambda: self._body(s.body))
            return
        self.line(head)
        self.depth += 1
        if s.length is not None:
            n = self.unit.sym_name(s.length)
            self.line(f"const npc_i64 {n} = {hi} - {i} < {s.block} ? {hi} - {i} : {s.block};")
        self._body(s.body)
        self.depth -= 1
        self.line("}")

    def _vector_loop(self, head: str, body: list[Stm], emit: Callable[[], None]) -> None:
        """A loop whose iterations are independent; `emit` prints its body, which holds the statements `body`."""
        ops = [] if self.near else ranged_ops(self.unit, body)
        if ops:
            self.line("{")
            self.depth += 1
            for w in sorted({word(op) for op in ops}):
                self.line(f"npc_u{w[3:-1]} {w} = 0;")
        for again in (False, True)[: 1 + bool(ops)]:
            self.near = bool(ops) and not again
            if not again:
                self.line("NPC_IVDEP")
            self.line(head)
            self.depth += 1
            emit()
            for op in ops if self.near else []:
                self.line(far_text(self.unit, op))
            self.depth -= 1
            self.line("}")
            if self.near:
                self.line(f"if ({' || '.join(f'npc_top({w})' for w in sorted({word(op) for op in ops}))})")
        self.near = False
        if ops:
            self.depth -= 1
            self.line("}")

    def _if(self, s: If) -> None:
        test = " && ".join(f"{self.unit.dim(a)} == {self.unit.dim(b)}" for a, b in s.equal)
        self.line(f"if ({test}) {{")
        self.depth += 1
        self._body(s.then)
        self.depth -= 1
        self.line("} else {")
        self.depth += 1
        self._body(s.other)
        self.depth -= 1
        self.line("}")

    def _best(self, s: Op) -> None:
        best, place, value = s.args
        cmp = "gt" if s.params["op"] == "argmax" else "lt"
        self.need(cmp, s.dtype)
        test = f"npc_{cmp}({value}, {best})"
        if s.dtype.kind in "fc":
            self.need("isnan", s.dtype)
            test = f"!npc_isnan({best}) && ({test} || npc_isnan({value}))"
        self.line(f"if ({test}) {{ {best} = {value}; {place} = {self.unit.dim(s.params['at'])}; }}")

    def need(self, prim: str, dtype: np.dtype) -> None:
        """Ask for the text of a function."""
        key = f"{prim}:{short(dtype)}"
        self.unit.snippets.add(key if available(key) else prim)

    # -- reductions ---------------------------------------------------------------------------------------------
    def _direct(self, body: list[Stm], value: str, loops: list) -> str | None:
        """Pointer to the first element when the body is one load of consecutive elements."""
        if len(loops) != 1 or len(body) != 1 or not isinstance(body[0], Load) or body[0].name != value:
            return None
        load, sym = body[0], loops[0][0]
        if coefficient(load.offset, sym) != Dim.of(load.dtype.itemsize):
            return None
        start = load.offset.subs({sym: Dim()})
        if self.pointers.get(load.buffer, True):
            return f"{load.buffer} + {self.unit.dim(start // load.dtype.itemsize)}"
        return f"(const {ctype(load.dtype)} *)({load.buffer} + {self.unit.dim(start)})"

    def _fill(self, loops: list, body: list[Stm], outs: list[tuple[str, str]], start: str, count: str) -> None:
        """Evaluate elements start .. start+count-1 of the loops' product into blocks: (array, value) pairs."""
        sym, extent = loops[-1]
        i = self.unit.sym_name(sym)
        if len(loops) == 1:

            def element() -> None:
                self.line(f"const npc_i64 {i} = {start} + k_;")
                self._body(body)
                for array, value in outs:
                    self.line(f"{array}[k_] = {value};")

            self._vector_loop(f"for (npc_i64 k_ = 0; k_ < {count}; ++k_) {{", body, element)
            return

        def element_of_row() -> None:
            self.line(f"const npc_i64 {i} = j_ + k_;")
            self._body(body)
            for array, value in outs:
                self.line(f"{array}[q_ + k_] = {value};")

        n = self.unit.dim(extent)
        self.line(f"npc_i64 r_ = {start} / {n}, j_ = {start} - r_ * {n};")
        self.line(f"for (npc_i64 q_ = 0; q_ < {count}; ++r_, j_ = 0) {{")
        self.depth += 1
        self.line(f"const npc_i64 e_ = {count} - q_ < {n} - j_ ? {count} - q_ : {n} - j_;")
        rest = "r_"
        for s, e in reversed(loops[1:-1]):
            name, m = self.unit.sym_name(s), self.unit.dim(e)
            self.line(f"const npc_i64 {name} = {rest} % {m}, {name}q_ = {rest} / {m};")
            rest = f"{name}q_"
        self.line(f"const npc_i64 {self.unit.sym_name(loops[0][0])} = {rest};")
        self._vector_loop("for (npc_i64 k_ = 0; k_ < e_; ++k_) {", body, element_of_row)
        self.line("q_ += e_;")
        self.depth -= 1
        self.line("}")

    def _tree(self, s: Tree) -> None:
        total = Dim.of(1)
        for _, e in s.loops:
            total = total * e
        n = self.unit.dim(total)
        if len(s.results) == 1:
            (name, dt, _), value = s.results[0], s.values[0]
            self.need("pairwise", dt)
            kind = "_complex" if dt.kind == "c" else "_f16" if dt == np.float16 else ""
            t = "float" if dt == np.float16 else ctype(dt)
            direct = self._direct(s.body, value, s.loops)
            if direct and kind != "_f16":
                self.line(f"const {t} {name} = npc_pairwise{kind}_memory({direct}, {n});")
                return
            arg = "" if kind == "_f16" else f"<{t}>"
            elem = ctype(dt)
            self.line(f"const {t} {name} = npc_pairwise{kind}{arg}(0, {n}, [&]({elem} *__restrict o_, npc_i64 f_, npc_i64 n_) {{")
            self.depth += 1
            self._fill(s.loops, s.body, [("o_", value)], "f_", "n_")
            self.depth -= 1
            self.line("});")
            return
        self._tree_of_many(s, n)

    def _tree_of_many(self, s: Tree, n: str) -> None:
        """Several reductions over one tree: the leaf fills one block for each."""
        self.unit.helpers.add("tree")
        self.unit.snippets.add("pairwise:f64")
        struct = f"R{self.kernel.name}_{s.results[0][0]}"
        fields = " ".join(f"{ctype(dt)} {name};" for name, dt, _ in s.results)
        joins = []
        for name, dt, prim in s.results:
            self.need(prim, dt)
            joins.append(f"npc_{prim}({name}, o.{name})")
        self.line(f"struct {struct} {{ {fields} {struct} join(const {struct} &o) const {{ return {{{', '.join(joins)}}}; }} }};")
        self.line(f"const {struct} {struct}_ = npc_tree<{struct}>(0, {n}, [&](npc_i64 f_, npc_i64 n_) -> {struct} {{")
        self.depth += 1
        for name, dt, _ in s.results:
            self.line(f"alignas(64) {ctype(dt)} o_{name}[128];")
        self._fill(s.loops, s.body, [(f"o_{r[0]}", v) for r, v in zip(s.results, s.values, strict=True)], "f_", "n_")
        outs = []
        for name, dt, prim in s.results:
            if prim == "add" and dt.kind == "f":
                outs.append(f"npc_pairwise_leaf(({ctype(dt)} *)o_{name}, n_)")
                continue
            op = next(k for k, v in reductions.BINARY.items() if v == prim)
            self.line(f"{ctype(dt)} a_{name} = {literal(reductions.initial(op, dt), dt)};")
            self.line(f"for (npc_i64 k_ = 0; k_ < n_; ++k_) a_{name} = npc_{prim}(a_{name}, o_{name}[k_]);")
            outs.append(f"a_{name}")
        self.line(f"return {{{', '.join(outs)}}};")
        self.depth -= 1
        self.line("});")
        for name, dt, _ in s.results:
            self.line(f"const {ctype(dt)} {name} = {struct}_.{name};")

    def _fold(self, s: Fold) -> None:
        n = self.unit.dim(s.extent)
        loops = [(s.sym, s.extent)]
        if len(s.ops) == 1:
            acc, prim, value, dt = s.ops[0]
            direct = self._direct(s.body, value, loops)
            if direct and self._blocked(prim, dt):
                self.unit.snippets.add(f"extrema_block:{short(dt)}")
                self.line(f"{acc} = npc_{prim[:3]}_block({direct}, {n}, {acc});")
                return
            if prim in ("logical_or", "logical_and"):
                self._any(s, n)
                return
        if not any(self._blocked(prim, dt) for _, prim, _, dt in s.ops):
            i = self.unit.sym_name(s.sym)
            self.line(f"for (npc_i64 {i} = 0; {i} < {n}; ++{i}) {{")
            self.depth += 1
            self._body(s.body)
            self._combine(s)
            self.depth -= 1
            self.line("}")
            return
        self.line(f"for (npc_i64 f_ = 0; f_ < {n}; f_ += {FOLD_BLOCK}) {{")
        self.depth += 1
        self.line(f"const npc_i64 n_ = {n} - f_ < {FOLD_BLOCK} ? {n} - f_ : {FOLD_BLOCK};")
        outs = []
        for acc, prim, value, dt in s.ops:
            if self._blocked(prim, dt):
                self.line(f"alignas(64) {ctype(dt)} o_{acc}[{FOLD_BLOCK}];")
                outs.append((f"o_{acc}", value))
        self._fill(loops, s.body, outs, "f_", "n_")
        for acc, prim, _, dt in s.ops:
            if self._blocked(prim, dt):
                self.unit.snippets.add(f"extrema_block:{short(dt)}")
                self.line(f"{acc} = npc_{prim[:3]}_block(({ctype(dt)} *)o_{acc}, n_, {acc});")
        self.depth -= 1
        self.line("}")

    def _blocked(self, prim: str, dt: np.dtype) -> bool:
        return prim in ("maximum", "minimum") and dt.kind == "f" and dt.itemsize >= 4

    def _combine(self, s: Fold) -> None:
        for acc, prim, value, dt in s.ops:
            self.need(prim, dt)
            self.line(f"{acc} = npc_{prim}({acc}, {value});")

    def _any(self, s: Fold, n: str) -> None:
        """any and all: blocks, so that the loop vectorises and still ends early."""
        acc, prim, value, _ = s.ops[0]
        i = self.unit.sym_name(s.sym)
        op, stop = ("|", "r_") if prim == "logical_or" else ("&", "!r_")
        self.line(f"for (npc_i64 f_ = 0; f_ < {n}; f_ += 1024) {{")
        self.depth += 1
        self.line(f"const npc_i64 n_ = {n} - f_ < 1024 ? {n} : f_ + 1024;")
        self.line(f"npc_u8 r_ = {0 if op == '|' else 1};")
        self.line(f"for (npc_i64 {i} = f_; {i} < n_; ++{i}) {{")
        self.depth += 1
        self._body(s.body)
        self.line(f"r_ = (npc_u8)(r_ {op} (npc_u8){value});")
        self.depth -= 1
        self.line("}")
        self.line(f"if ({stop}) {{ {acc} = (npc_bool)r_; break; }}")
        self.depth -= 1
        self.line("}")


def _natural(name: str) -> tuple[str, int]:
    m = re.match(r"(.*?)(\d*)$", name)
    assert m is not None
    return m.group(1), int(m.group(2) or 0)


Render = Callable[[Dim], str]
