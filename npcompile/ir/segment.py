"""Plain-data description of a segment: where inputs come from, what is guarded, what every exit hands back.

The tracer writes it, the runtime executes it (in C), `explain` prints it. Nothing here runs and no live object is held,
except in `Constant` recipes/guards by identity, which name how the object is found again (`ref`).
"""

from __future__ import annotations

from typing import Any

from npcompile.records import dataclass, field

from .types import Type

# ---------------------------------------------------------------------------------------------- sources


@dataclass(frozen=True)
class Source:
    """How a live Python object is fetched at entry.

    kind : "arg" (key = parameter index in co_varnames order, *args/**kwargs included), "global" (key = name, base None:
        the function's own globals, then builtins; base = function source for an inlined callee), "cell" (key = index into
        `__closure__`), "attr" (base, key = name), "item" (base, key = int index of a tuple/list or str key of a dict),
        "type" (base: its type), "const" (key = index into `SegmentSpec.constants`; a module or builtin found by import path),
        "function" (the traced function object itself).
    """

    kind: str
    key: Any = None
    base: Source | None = None

    def __str__(self) -> str:
        base = "" if self.base is None else str(self.base)
        text = {"attr": f"{base}.{self.key}", "item": f"{base}[{self.key!r}]", "type": f"type({base})"}
        return text.get(self.kind) or f"{self.kind}:{base}{self.key}"


# ---------------------------------------------------------------------------------------------- guards


@dataclass(frozen=True)
class Guard:
    """A condition on one source, checked in C in order. Binding guards also write the graph's inputs.

    kind : one of
        "is"       arg = index into constants: identity
        "type"     arg = index into constants: exact type
        "equal"    arg = index into constants: exact type and equal value (int, float by bits, str, bytes, None, bool)
        "unequal"  the contrary of "equal"
        "code"     arg = index into constants: a Python function with this code object
        "lookup"   arg = (name, index into constants or None): what the type of the object has under a name; None: nothing
        "absent"   arg = name: the object has no such attribute; a dict has no such key
        "distinct", "same" arg = source: not that object, or that one
        "len"      arg = n: tuple, list or dict length
        "length"   of a list, dict, set or string, which is bound
        "array"    arg = `ArraySpec`: binds data pointer, dims, strides
        "tensor"   arg = `TensorSpec`: binds the same words as "array", strides in bytes too
        "opaque_tensor"  arg = library: exact type of its arrays, and one that compiled code never takes as "tensor" (it requires
                   grad, is sparse, ...)
        "torch"    arg = (plain, dtype, device): torch's modes (autocast, function modes, transforms, tracing, ...) leave
                   operations as they are, or do not; its default dtype is this one unless None; its current CUDA device has
                   this number unless None
        "returns"  arg = index into constants: called without arguments the object gives an equal value
        "int"      exact Python int inside int64 (arg = (lo, hi) inclusive or None): binds one word
        "float"    exact Python float: binds one word (bits)
        "complex"  exact Python complex: binds two words
        "bool"     exact Python bool: binds one word
        "range_iter" an iterator over a range that nobody else holds: binds three words, next, stop and step
        "scalar"   arg = dtype str: exact NumPy scalar type: binds one word (two for complex128)
    """

    source: Source
    kind: str
    arg: Any = None


@dataclass(frozen=True)
class ArraySpec:
    """Exact `np.ndarray`, aligned and native. Words bound: data pointer, dims..., strides (bytes)....

    contiguous : "C": C_CONTIGUOUS set; "F": F_CONTIGUOUS set and C not; "": neither set.
    ones : axes whose length is exactly 1 (all others are not 1).
    layout, negative : as in `ViewType`, required pattern when contiguous == "" (an axis of length 1 counts as stride 0).
    unit : axis whose stride equals the item size, or -1; only for contiguous == "".
    writeable : require the WRITEABLE flag and that no two elements share memory (only when the segment stores to it).
    overlaps : require that elements may share memory (the segment leaves where it would store to it).
    access : "r": require that the WRITEABLE flag is not set; "w": that it is, whatever elements share (views of the array are
        given out, which have its flag); "": either.
    """

    dtype: str
    rank: int
    ones: tuple[int, ...] = ()
    contiguous: str = "C"
    layout: tuple[int, ...] = ()
    negative: tuple[bool, ...] = ()
    unit: int = -1
    writeable: bool = False
    overlaps: bool = False
    access: str = ""


@dataclass(frozen=True)
class TensorSpec(ArraySpec):
    """A dense, strided array of exactly the library's own type; a tensor without lazy conjugation or negation, that no gradient
    is recorded for. `contiguous` is what NumPy would say of the same dims and strides; `writeable` asks that a tensor's version
    counter can be counted up.

    library : "torch" or "cupy".
    device : "cpu" or "cuda:0", ...
    """

    library: str = "torch"
    device: str = "cpu"


@dataclass(frozen=True)
class AliasGuard:
    """Required relation of two array inputs (indices into the array inputs, in order of their guards).

    relation : "disjoint", "same" (same pointer, dims, strides) or "other". Only (stored-to, other) pairs have one.
    """

    a: int
    b: int
    relation: str


# ---------------------------------------------------------------------------------------------- recipes and exits


@dataclass(frozen=True)
class Recipe:
    """How an exit rebuilds one Python object; a small expression tree, executed in C.

    op : one of
        "value"     arg = (k, box): capture k of this exit. box: "int" "float" "bool" "complex" (Python numbers),
                    "scalar" (NumPy scalar of the capture's dtype), "array" (ndarray: fresh, a view, or the input itself),
                    "tensor" (the same as a tensor of the segment's library)
        "source"    arg = Source
        "const"     arg = index into constants
        "null"      the interpreter's NULL on the stack
        "unbound"   a local or cell without value
        "tuple" "list" "set" "dict" (items flat: k0, v0, k1, v1) "slice" (3 items) "range" (3) "range_iter" (3: next, stop, step)
        "cell"      one item or "unbound": a new cell holding it
        "function"  arg = (index of code in constants, flags), items: globals, defaults tuple|null,
                    kwdefaults|null, closure tuple|null, qualname, annotations tuple (name, value, ...)|null
        "method"    items: function, self: the descriptor's `__get__(self)`, so a bound method or a bound builtin method
        "call"      arg = index of a builtin in constants, items: its arguments (iter, zip, enumerate, reversed, islice: iterators
                    of loops that are unrolled, at their position)
        "choose"    arg = k: the first item where bool capture k is true, else the second; both are numbers
        "shared"    arg = id: the object that the first "define" of the same id built (identity is kept within one exit)
        "define"    arg = id, one item. A "cell", "list" or "dict" is registered before its items are built, so that they may
                    refer to it
    """

    op: str
    arg: Any = None
    items: tuple[Recipe, ...] = ()


@dataclass(frozen=True)
class FrameSpec:
    """One Python frame of an exit, outermost first: continue `code` at `offset` (byte offset of a real instruction).

    Every frame but the last stands at a calling instruction: `offset` is that instruction, `stack` is without its operands,
    and what the next frame returns is pushed as its result.

    code, globals, closure : recipes ("source"/"const") of the function's parts; closure items are cells.
    locals : name -> recipe for bound fast locals (cells of this frame are in `cells`).
    cells : name -> recipe of the cell object: of slots that hold a cell, then of all of `co_freevars` in order.
    pushes : False if the calling instruction drops what the next frame returns (`__init__`, `__setitem__`, property setters).
    last : offset of the last instruction that Python runs before compiled code may go on; -1: that at `offset`.
    """

    code: int
    offset: int
    globals: Recipe
    locals: tuple[tuple[str, Recipe], ...]
    cells: tuple[tuple[str, Recipe], ...]
    stack: tuple[Recipe, ...]
    pushes: bool = True
    last: int = -1


@dataclass(frozen=True)
class ExitSpec:
    """kind "return": `result` is the value returned. kind "resume": continue natively from `frames`.

    captures : types of the IR values that the exit node passes, in order.
    stored : array inputs (by index) whose memory may have been stored to: versions of tensors count up, device copies of NumPy's
        arrays come back.
    effects : what is done to objects that existed before, in order, before anything else is built: calls, results dropped.
    variant : right only where its own node's condition is true (a variable is bound or not): may not be taken by force.
    expected : every call that gets so far leaves here; otherwise only under some condition.
    reason : reason id ("" for return), detail : text for explain, file/line : where.
    """

    kind: str
    captures: tuple[Type, ...] = ()
    result: Recipe | None = None
    frames: tuple[FrameSpec, ...] = ()
    reason: str = ""
    detail: str = ""
    file: str = ""
    line: int = 0
    variant: bool = False
    stored: tuple[int, ...] = ()
    effects: tuple[Recipe, ...] = ()
    expected: bool = False

    def recipes(self) -> tuple[Recipe, ...]:
        """Every recipe of the exit, in the order of evaluation."""
        out = [*self.effects]
        for f in self.frames:
            out += [f.globals, *(r for _, r in f.locals), *(r for _, r in f.cells), *f.stack]
        return tuple(out if self.result is None else [*out, self.result])


@dataclass
class SegmentSpec:
    """Everything but the machine code of a segment.

    inputs : types of the graph's params, in the order in which binding guards bind them; an "array" or "tensor" guard gives one
        `ViewType` param *and one `MemType` param per alias class follow after all other params* (see `mem_of`).
    input_symbols : symbol name -> word index in the input block (dims, strides, ints).
    mem_of : for every array input, the index of its alias class; the graph's last `max(mem_of)+1` params are these memories.
    objects : what calls from inside the segment get besides arrays and numbers (generators of random numbers), by number.
    library : whose arrays the segment works on: "numpy", "torch" (CPU tensors may come with NumPy arrays) or "cupy".
    device : where their memory lives: "cpu", "cuda:0", ...; NumPy's arrays are copied there and back.
    """

    guards: list[Guard] = field(default_factory=list)
    aliases: list[AliasGuard] = field(default_factory=list)
    inputs: list[Type] = field(default_factory=list)
    input_symbols: dict[str, int] = field(default_factory=dict)
    mem_of: list[int] = field(default_factory=list)
    exits: list[ExitSpec] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    objects: list[Source] = field(default_factory=list)
    library: str = "numpy"
    device: str = "cpu"
