"""Loop IR to C++: one static function a kernel.

In: a `KernelIR`, the types of outer scalars and buffers. Out: the function's text, and the struct that hands it everything. The
text needs no header; names of loop IR are used as they are. Never: changes the order of anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from npcompile.kernels import available, ctype
from npcompile.kernels.text import short

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Node
from npcompile.ir.prim import PRIMS
from npcompile.records import dataclass, field, replace

from .. import reductions
from ..loop_ir import (
    Assign,
    Fold,
    For,
    If,
    IndexOp,
    KernelIR,
    Load,
    Local,
    Op,
    Stm,
    Store,
    Tree,
    Turns,
    known_names,
    used_names,
    walk,
)
from ..unit import Unit
from .conditions import (
    COMPARES,
    Look,
    by_flags,
    gathered,
    has_elements,
    look_texts,
    may_meet,
    note,
    odd_text,
    reported,
    steady_numbers,
    total_text,
    word_bits,
)
from .exact import called_text, exact_loop, mask_text
from .literals import literal
from .near import far_text, is_ranged, near_text, ranged_ops
from .ops import op_text
from .reduction_text import best, fold, searches, tree
from .short_rows import short_text, suits

STACK_BYTES = 4096
SHORT = 8
"""Operations of a loop that several turns of the loop round it may share."""
PIECE = 512
"""Elements that a loop that overwrites what it reads handles at a time."""


def divides(d: Dim, size: int) -> bool:
    """Is an offset surely a multiple of the item size?"""
    return all(c % size == 0 for _, c in d.terms)


@dataclass
class Field:
    """A member of a kernel's struct: its declaration, the host's initialiser, the line that names it inside the kernel."""

    declaration: str
    value: str
    local: str

    @classmethod
    def of(cls, type_: str, name: str, value: str = "") -> Field:
        """A member that the kernel calls by the same name."""
        return cls(f"{type_}{name}", value or name, f"{type_}{name} = a_->{name};")


@dataclass
class Printed:
    """A printed kernel: `text`, and `args`: the initialiser of its `struct {name}_t`, which every call passes.

    oom : may run out of memory and says so in the struct. stops : may be ended by a signal, and says so there.
    reports : nodes whose conditions the kernel notes in the struct's `rep`, by slot.
    """

    text: str
    args: str
    oom: bool = False
    threaded: bool = False
    """Starts threads itself."""
    stops: bool = False
    reports: list[Node] = field(default_factory=list)
    short: bool = False
    """Has a version for few elements."""


@dataclass
class KernelPrinter:
    """Prints one kernel.

    scalars : C++ type of every outer variable a kernel may use by value. silent : nodes that have reported already.
    """

    unit: Unit
    kernel: KernelIR
    scalars: Mapping[str, np.dtype]
    silent: frozenset[Node] = frozenset()
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    in_loop: bool = False
    """A loop of the host program calls the kernel."""
    mode: str = "fast"
    """"fast": conditions are filtered; "exact": every operation that reports is asked; "quiet": values only."""
    inner: bool = False
    """In a loop whose conditions are filtered, or asked for otherwise."""
    lambdas: int = 0
    """Functions inside the kernel's function."""
    near: bool = False
    """Printing the first run of a loop, with near variants."""
    far: bool = False
    """Printing the second one."""
    want: str = "a_->want"
    """Text of the conditions that the call warns about."""
    pointers: dict[str, bool] = field(default_factory=dict)
    """Buffer -> typed (False: addressed in bytes)."""
    slots: dict[Node, int] = field(default_factory=dict)
    flags: bool = False
    """The processor's flags are the filter."""
    again: bool = False
    """There is an exact run."""
    threads: bool = False
    """May start threads itself, and, below, has."""
    threaded: bool = False
    stops: bool = False
    level: int = 0
    """Loops round the place that is printed."""
    side_by_side: list[str] = field(default_factory=lambda: [""])
    """What declares the turn of the loop outside, for each of those that run side by side."""
    looked_at: set[str] = field(default_factory=set)
    """Results of operations that report."""
    in_place: set[str] = field(default_factory=set)
    """Outer buffers that the kernel both reads and writes: loops that must be able to run again save what they overwrite."""

    # -- whole kernel -------------------------------------------------------------------------------------------
    def run(self) -> Printed:
        k = self.kernel
        self._find_pointers()
        self._find_conditions()
        self.again = bool(self.slots) and not self.in_place and self._filters()
        self.threads = self.unit.options.parallel and not k.split and not k.cold
        rows = [x for x in k.private if not self._on_stack(x)]
        body = self._function_body(rows)
        fields, outer = self._fields(bool(rows)), self._outer(body)
        shared, text = outer, ""
        if self.again:
            exact = KernelPrinter(self.unit, k, self.scalars, self.silent, mode="exact", pointers=self.pointers, slots=self.slots)
            exact_body = exact._function_body(rows)
            shared = self._outer(f"{body}\n{exact_body}")
            text = self._function("NPC_COLD", f"{k.name}x", [*fields, *self._outer(exact_body)], exact_body, ", npc_i64 hit_")
            if self.flags:
                self.unit.helpers.add("flags")
            met = ["npc_flags()"] * self.flags + ["odd_"] * (self.threaded or not self.flags)
            start = ("npc_flags_clear();" if self.flags else "") + (" npc_i64 odd_ = 0;" if "odd_" in met else "")
            body = f"  {start}\n{body}\n  {self._ask_about('lo', 'hi', ' | '.join(met))}"
        if self.slots:
            bits = ", ".join(str(may_meet(n)) for n in self.slots)
            text = f"static const npc_u8 {k.name}_can[] = {{{bits}}};\n{text}"
        text += self._function("NPC_COLD" if k.cold else "NPC_KERNEL", k.name, [*fields, *outer], body)
        members = "".join(f" {x.declaration};" for x in (*fields, *shared))
        args = ", ".join(x.value for x in (*fields, *shared))
        text = f"struct {k.name}_t {{{members} }};\n{text}"
        short = self.in_loop and suits(self)
        if short:
            small = KernelPrinter(self.unit, k, self.scalars, self.silent, pointers=self.pointers, slots=self.slots)
            small.in_place, small.looked_at = self.in_place, self.looked_at
            named = "".join(f"  {x.local}\n" for x in (*fields, *shared) if x.local and not x.local.startswith("npc_i64 *rep"))
            text += short_text(small, named)
        return Printed(text, args, bool(rows), self.threaded, self.stops, list(self.slots), short)

    def _function(self, kind: str, name: str, fields: list[Field], body: str, more: str = "") -> str:
        """Fields become local names; the compiler believes `restrict` of fields when the struct is a restrict parameter."""
        head = f"{kind} void {name}({self.kernel.name}_t *__restrict a_, npc_i64 lo, npc_i64 hi{more}) {{\n"
        return head + "".join(f"  {x.local}\n" for x in fields if x.local) + body + "\n}\n"

    def _function_body(self, rows: list[Local]) -> str:
        for x in self.kernel.private:
            self._private(x)
        self._body(self.kernel.body, self.kernel.split)
        for x in rows:
            self.line(_freed(x))
        return "\n".join(self.lines)

    def suspects(self, met: str) -> str:
        """Test whether an operation may have met, for the first time, one of these conditions; they are in `hit_` then."""
        return f"const npc_i64 hit_ = ({met}) & a_->want; __builtin_expect(hit_ != 0, 0) && {self._open()}"

    def _ask_about(self, lo: str, hi: str, met: str = "odd_") -> str:
        """Statement that runs the exact version of a part of the outermost loop if need be."""
        return f"if ({self.suspects(met)}) {self.kernel.name}x(a_, {lo}, {hi}, hit_);"

    def _open(self, conditions: str = "hit_") -> str:
        return f"npc_open(rep, {self.kernel.name}_can, {len(self.slots)}, {conditions})"

    def stop_when_found(self) -> None:
        """End the exact run where there is nothing more to find."""
        free = "".join(f"{_freed(x)} " for x in self.kernel.private if not self._on_stack(x))
        self.line(f"if (!{self._open()}) {{ {free}return; }}")

    def _find_conditions(self) -> None:
        """Slots of reporting nodes, the filter, and whether the kernel overwrites what it reads."""
        ops = [s for s in walk(self.kernel.body) if isinstance(s, Op)]
        for s in ops:
            node = reported(s, self.silent)
            if node is not None:
                self.slots.setdefault(node, len(self.slots))
                self.looked_at.add(s.name)
        if not self.slots:
            return
        self.unit.helpers.add("note")
        # A result that nobody uses, or that the compiler knows, is never computed, so it raises no flag.
        used, known = used_names(self.kernel), known_names(self.kernel.body)
        mine = [s for s in ops if reported(s, self.silent) is not None]
        self.flags = by_flags(ops, self.silent) and all(s.name in used and s.name not in known for s in mine)
        folds = [op for s in walk(self.kernel.body) if isinstance(s, Fold) for op in s.ops]
        self.flags = self.flags and not any(prim in COMPARES and dt.kind in "fc" for _, prim, _, dt in folds)
        private = {x.name for x in self.kernel.private}
        stored = {s.buffer for s in walk(self.kernel.body) if isinstance(s, Store)} - private
        loaded = {s.buffer for s in walk(self.kernel.body) if isinstance(s, Load)} - private
        self.in_place = {b for b in stored if any(self.unit.may_alias(b, o) for o in loaded)}

    def _filters(self) -> bool:
        """Is there anything that the fast run leaves to the exact one?"""
        for s in walk(self.kernel.body):
            inner: list[Stm] = []
            if isinstance(s, (Tree, Fold)) or (isinstance(s, For) and (s.kind == "vector" or searches(s) is not None)):
                inner = s.body
            if any(reported(x, self.silent) is not None for x in inner):
                return True
            if isinstance(s, Op) and s.params.get("total") and s.node in self.slots:
                return True
        return False

    def inline(self) -> list[str]:
        """The body's lines for host code, where all buffers are byte pointers."""
        self._find_pointers()
        self._find_conditions()
        self.in_place, self.want = set(), "warn"
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

    def _fields(self, rows: bool) -> list[Field]:
        """What the kernel gets besides numbers: the runtime, room for conditions, buffers."""
        out: list[Field] = []
        if rows or self.threaded or self.slots:
            out += [Field.of("npc_ctx *", "ctx"), Field.of("const npc_runtime *", "rt")]
        if rows:
            out.append(Field("npc_i64 oom", "0", ""))
        if self.stops:
            out.append(Field("npc_i64 left", "0", ""))
        if self.slots:
            out.append(Field(f"npc_i64 rep[{len(self.slots) + 1}]", "{0}", "npc_i64 *rep = a_->rep;"))
            out.append(Field("npc_i64 want", "warn", ""))
        written = {s.buffer for s in walk(self.kernel.body) if isinstance(s, Store)}
        names = list(self.pointers)
        for name in names:
            b = self.unit.buffers[name]
            alone = all(not self.unit.may_alias(name, o) for o in names if o != name and (o in written or name in written))
            type_ = f"{'' if name in written else 'const '}{ctype(b.dtype) if self.pointers[name] else 'char'} *"
            out.append(Field.of(f"{type_}{'__restrict ' if alone else ''}", name, f"({type_}){name}"))
        return out

    def _outer(self, body: str) -> list[Field]:
        """Scalars and sizes of the host that the body names."""
        words = set(re.findall(r"[A-Za-z_]\w*", body))
        out = [Field.of(f"const {ctype(self.scalars[n])} ", n) for n in sorted(words & set(self.scalars), key=_natural)]
        inner = self._inner_names()
        sizes = (words & set(self.unit.sym_names.values())) - inner - set(self.scalars)
        return out + [Field.of("const npc_i64 ", n) for n in sorted(sizes, key=_natural)]

    def _inner_names(self) -> set[str]:
        """Names that the kernel itself declares."""
        out: set[str] = set()
        for s in walk(self.kernel.body):
            if isinstance(s, (Op, IndexOp, Load, Local)):
                out.add(s.name)
            elif isinstance(s, Tree):
                out |= {self.unit.sym_name(x) for x, _ in s.loops} | {name for name, *_ in s.results}
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
        self.line(f"if (!{x.name}) {{ a_->oom = 1; return; }}")

    # -- statements ---------------------------------------------------------------------------------------------
    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def _body(self, body: list[Stm], split: bool = False) -> None:
        for k, s in enumerate(body):
            if isinstance(s, For):
                self._for(s, split and k == len(body) - 1)
            elif isinstance(s, Tree):
                tree(self, s)
            elif isinstance(s, Fold):
                fold(self, s)
            elif isinstance(s, If):
                self._if(s)
            else:
                self.simple(s)

    def simple(self, s: Stm) -> None:
        """A statement without others inside."""
        if isinstance(s, Op):
            if s.prim == "npc_best":
                self._best(s)
            elif s.prim == "npc_check":
                self._check(s)
            else:
                self._op(s)
        elif isinstance(s, IndexOp):
            self.line(f"const npc_i64 {s.name} = {self.unit.dim(s.value)};")
        elif isinstance(s, Load):
            self.line(f"const {ctype(s.dtype)} {s.name} = {self.cell(s.buffer, s.offset, s.dtype, False)};")
        elif isinstance(s, Store):
            mask, cell = f"if ({s.mask}) " if s.mask else "", self.cell(s.buffer, s.offset, s.dtype, True)
            if s.dtype.kind == "c" and s.value.isidentifier() and not mask:
                # GCC does not vectorise the store of a whole number whose parts are used elsewhere
                self.line(f"({cell}).re = {s.value}.re; ({cell}).im = {s.value}.im;")
            else:
                self.line(f"{mask}{cell} = {s.value};")
        elif isinstance(s, Local):
            init = literal(reductions.initial(s.init[1:], s.dtype), s.dtype)
            self.line(f"{ctype(s.dtype)} {s.name} = {init};")
        elif isinstance(s, Assign):
            self.line(f"{s.name} = {s.value};")

    def _op(self, s: Op) -> None:
        """An operation; if it reports, conditions are noted when exact, or when no loop around it will run again."""
        node = reported(s, self.silent)
        slot = self.slots.get(node) if node is not None else None
        if self.mode != "fast" or self.kernel.cold or (self.far and is_ranged(s)):
            text = called_text(self.unit, s)
        else:
            text = op_text(self.unit, s)
            text = near_text(self.unit, s, text) if self.near and is_ranged(s) else text
        self.line(f"const {ctype(s.dtype)} {s.name} = {text};")
        total = bool(s.params.get("total")) and not self.in_place
        if (
            node is not None
            and slot is not None
            and not self.inner
            and self.mode != "quiet"
            and (self.mode == "exact" or not total)
        ):
            tests = [f"npc_top({odd_text(self.unit, s)})", self.want, *has_elements(self.unit, node)]
            self.line(f"if ({' && '.join(tests)}) {note(slot, mask_text(self.unit, s))}")

    def _check(self, s: Op) -> None:
        """The result of a reduction that reports."""
        if self.mode == "fast" and not self.flags and not self.in_place and not self.inner:
            self.line(f"odd_ |= -(npc_i64)npc_top({total_text(self.unit, s, self.looked_at)});")

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
        if s.kind == "vector" and s.length is None:
            self.vector_loop(Turns(s.sym, i, lo, hi, s.body))
            return
        if s.together > 1 and self._is_short(s):
            self._together(s, i, lo, hi)
            return
        if best(self, s, lo, hi):
            return
        self.line(head)
        self.depth += 1
        self.level += 1
        if s.length is not None:
            n = self.unit.sym_name(s.length)
            self.line(f"const npc_i64 {n} = {hi} - {i} < {s.block} ? {hi} - {i} : {s.block};")
        self._body(s.body)
        if self.mode == "exact" and not self.lambdas:
            self.stop_when_found()
        elif split and self.again and not self.flags and not self.threaded:
            end = f"{i} + {s.block} < {hi} ? {i} + {s.block} : {hi}" if s.block else f"{i} + 1"
            self.line(f"if (__builtin_expect(odd_ != 0, 0)) {{ {self._ask_about(i, end)} odd_ = 0; }}")
        self.level -= 1
        self.depth -= 1
        self.line("}")

    def _is_short(self, s: For) -> bool:
        """Is there nothing inside but a vector loop of few operations?"""
        if self.mode != "fast" or self.in_place or len(s.body) != 1:
            return False
        inner = s.body[0]
        if not isinstance(inner, For) or inner.kind != "vector" or ranged_ops(self.unit, inner.body):
            return False
        ops = [x for x in inner.body if isinstance(x, Op)]
        return len(ops) <= SHORT and all(PRIMS[x.prim].cost != "expensive" for x in ops if x.prim in PRIMS)

    def _together(self, s: For, i: str, lo: str, hi: str) -> None:
        """Some turns at once in every turn of the loop inside, then the rest one by one."""
        self.level += 1
        self.line(f"npc_i64 {i}_ = {lo};")
        self.line(f"for (; {i}_ + {s.together} <= {hi}; {i}_ += {s.together}) {{")
        self.depth += 1
        self.side_by_side = [f"const npc_i64 {i} = {i}_ + {k};" for k in range(s.together)]
        self._body(s.body)
        self.side_by_side = [""]
        self.depth -= 1
        self.line("}")
        self.line(f"for (npc_i64 {i} = {i}_; {i} < {hi}; ++{i}) {{")
        self.depth += 1
        self._body(s.body)
        self.depth -= 1
        self.line("}")
        self.level -= 1

    def vector_loop(self, turns: Turns) -> None:
        """A loop whose iterations are independent.

        It runs with near variants and filters first, and in full if an argument was far. If a filter says so, its operations
        are asked for their conditions: in the exact run, or at once by a kernel that has none.
        """
        ops = [s for s in turns.body if isinstance(s, Op)]
        noted = any(reported(s, self.silent) in self.slots for s in ops) if self.slots else False
        if self.mode == "exact":
            if not exact_loop(self, turns, False):
                self._iterations(turns)
        elif self.mode == "quiet":
            self._iterations(turns)
        elif noted and self.in_place:
            self._saving_loop(turns)
        else:
            gather = gathered(ops, self.silent) if self.slots and not self.flags and not self.in_place else []
            self._filtered(turns, gather, ranged_ops(self.unit, turns.body))
            if gather:
                self.line(f"odd_ |= -(npc_i64)({_tops(gather)});")
                self._close()

    def _filtered(self, turns: Turns, gather: list[Look], ranged: list[Op], undo: Callable[[], None] = lambda: None) -> None:
        """The loop, with near variants first. Opens a block in which words are known when any are gathered.

        undo : prints what brings back the contents of memory before the loop.
        """
        ranged = [] if self.kernel.cold else ranged
        far = sorted({f"far{word_bits(s)}_" for s in ranged})
        odd = sorted({f"odd{word_bits(x.op)}_" for x in gather})
        steady = steady_numbers(self.unit, gather, turns.body)
        copies = {name: self.unit.fresh("o") for name in steady}
        for name, copy in copies.items():
            self.line(f"const auto {copy} = {name};")
        if gather:
            self._open_block()
        for name, text in steady.items():
            # A variable of its own: what a lambda captures would be loaded again in every iteration.
            self.line(f"const auto {name} = {copies[name]}; const auto no_{name} = {text};")
        for w in odd:
            self.line(f"npc_u{w[3:-1]} {w} = 0;")
        looks = [f"odd{bits}_ |= {text};" for bits, text in look_texts(self.unit, gather, self.looked_at, steady).items()]
        if far:
            self._open_block()
            for w in far:
                self.line(f"npc_u{w[3:-1]} {w} = 0;")
        self.near, self.inner = bool(ranged), True
        self.line("NPC_IVDEP")
        self._iterations(turns, [*looks, *(f"far{word_bits(s)}_ |= {far_text(self.unit, s)};" for s in ranged)])
        self.near = False
        if far:
            self.line(f"if ({' || '.join(f'npc_top({w})' for w in far)}) {{")
            self.depth += 1
            for w in odd:
                self.line(f"{w} = 0;")
            undo()
            self.far = True
            self._iterations(turns, looks)
            self.far = False
            self._close()
            self._close()
        self.inner = False

    def _open_block(self, head: str = "{") -> None:
        self.line(head)
        self.depth += 1

    def _close(self) -> None:
        self.depth -= 1
        self.line("}")

    def _iterations(self, turns: Turns, looks: Sequence[str] = ()) -> None:
        self.line(turns.head)
        self.depth += 1
        for x in turns.prefix:
            self.line(x)
        for turn in self.side_by_side:
            if turn:
                self.line(f"{{ {turn}")
            self._body(turns.body)
            for x in (*looks, *turns.suffix):
                self.line(x)
            if turn:
                self.line("}")
        self.depth -= 1
        self.line("}")

    def _saving_loop(self, turns: Turns) -> None:
        """A loop that overwrites what it reads, accumulators included: in pieces, whose old contents are kept until the filter
        is content, and brought back for asking. After a hit the next piece is asked before it runs (`hot_`)."""
        body = turns.body
        again = self.in_place | {s.buffer for s in body if isinstance(s, Load)}
        stores = {(s.buffer, s.offset): s for s in body if isinstance(s, Store) and s.buffer in again}
        saved = {f"old{k}_": s for k, s in enumerate(stores.values())}
        ranged = [s for s in body if is_ranged(s) and isinstance(s, Op) and not self.kernel.cold]
        gather = [] if self.flags else gathered([s for s in body if isinstance(s, Op)], self.silent)
        met = "npc_flags()" if self.flags else f"-(npc_i64)({_tops(gather)})"
        piece = replace(turns, lo="p_", hi="s_")
        bring_back = partial(self._copies, piece, saved, "{cell} = {old};")
        swap = "{{ const auto u_ = {cell}; {cell} = {old}; {old} = u_; }}"
        self._open_block("{")
        self.line("npc_i64 want_ = a_->want, hot_ = 0;")
        self._open_block(f"for (npc_i64 p_ = {turns.lo}; p_ < {turns.hi}; p_ += {PIECE}) {{")
        self.line(f"const npc_i64 s_ = {turns.hi} - p_ < {PIECE} ? {turns.hi} : p_ + {PIECE};")
        for old, s in saved.items():
            self.line(f"alignas(64) {ctype(s.dtype)} {old}[{PIECE}];")
        self._open_block("for (npc_i64 step_ = 0; step_ < 2; ++step_) {")
        self._open_block("if (step_ == hot_) {")
        if not ranged:
            self._open_block("if (want_ && !hot_) {")
        self._copies(piece, saved, "{old} = {cell};")
        if not ranged:
            self._close()
        if self.flags:
            self.unit.helpers.add("flags")
            self.line("npc_flags_clear();")
        self._filtered(piece, gather, ranged, bring_back)
        self.line(f"const npc_i64 hit_ = ({met}) & want_;")
        self.line("if (hot_) { hot_ = hit_ != 0; break; }")
        self.line(f"if (__builtin_expect(hit_ == 0, 1) || !{self._open()}) break;")
        start = len(self.lines)
        self._copies(piece, saved, swap)
        if gather:
            self._close()
        self._close()
        self._open_block("else {")
        if exact_loop(self, piece, True):
            self._open_block("if (!hot_) {")
            self._copies(piece, dict(reversed(saved.items())), swap)
            self.line("hot_ = 1;")
            self._close()
        else:
            del self.lines[start:]
            self.depth += bool(gather)
            bring_back()
            self.mode = "exact"
            self._iterations(piece)
            self.mode = "fast"
            if gather:
                self._close()
        self._close()
        self._close()
        self.line(f"if (hot_ && !{self._open('want_')}) want_ = hot_ = 0;")
        self._close()
        self._close()

    def _copies(self, turns: Turns, saved: Mapping[str, Store], text: str) -> None:
        """Do something with each cell that is stored to and its old contents."""
        for old, s in saved.items():
            self.line("NPC_IVDEP")
            cell = self.cell(s.buffer, s.offset, s.dtype, True)
            line = text.format(old=f"{old}[{turns.i} - p_]", cell=cell)
            self._iterations(replace(turns, body=[], suffix=[line]))

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


def _tops(looks: Sequence[Look]) -> str:
    """Did any of the words say that something is due?"""
    return " || ".join(sorted({f"npc_top(odd{word_bits(x.op)}_)" for x in looks}))


def _freed(x: Local) -> str:
    return f"if ({x.name} != {x.name}_) rt->scratch_free(ctx, {x.name});"


def _natural(name: str) -> tuple[str, int]:
    m = re.match(r"(.*?)(\d*)$", name)
    assert m is not None
    return m.group(1), int(m.group(2) or 0)


Render = Callable[[Dim], str]
