"""Turns a `SegmentSpec` and the address of its machine code into an entry that the C dispatcher executes.

In: plain data. Out: an `Entry`. Never: traces, compiles, or looks at arguments.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npcompile.bytecode import n_params
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import ReportSite
from npcompile.ir.segment import ArraySpec, ExitSpec, Guard, Recipe, SegmentSpec, Source, TensorSpec
from npcompile.ir.types import MemType

from . import _dispatch

Continuation = Callable[..., Any] | tuple[Callable[[Any], Any], Recipe]
"""Continues after a "resume" exit: a callable for the objects of `frame_values(exit)`, or one for the one object of a recipe."""

_FETCHES = ("global", "cell", "function", "attr", "item", "key", "type", "const")
_TESTS = (
    *("is", "type", "equal", "code", "len", "array", "int", "float", "complex", "bool", "scalar", "names"),
    *("tensor", "opaque_tensor", "torch", "lookup", "distinct", "absent", "range_iter", "same", "returns", "sizes"),
    *("length", "unequal"),
)
_SIZES = {k: i for i, k in enumerate(("const", "word", "add", "mul", "floordiv", "max", "min", "eq", "ne", "ge"))}
_STEP = {**{f"fetch {k}": i for i, k in enumerate(_FETCHES)}, **{k: i + len(_FETCHES) for i, k in enumerate(_TESTS)}}

_BUILDS = (
    *("int", "float", "bool", "complex", "scalar", "array", "reg", "const", "null"),
    *("tuple", "list", "set", "dict", "slice", "range", "range_iter", "cell", "function", "method", "call", "choose"),
    *("define", "shared", "open", "fill", "drop"),
)
_BUILD = {k: i for i, k in enumerate(_BUILDS)}
_OPEN = ("list", "dict", "cell")  # may be referred to by their own items
_RELATIONS = ("disjoint", "same", "other")
_CONTIGUOUS = ("", "C", "F")
_ACCESS = ("", "r", "w")
_LIBRARIES = ("numpy", "torch", "cupy")
_INT64 = (-(1 << 63), (1 << 63) - 1)
_FUNCTION_ITEMS = 6
_CODES = "?bBhHiIlLqQefdFD"  # dtypes that compiled code knows, by type character

Step = tuple[int, int, int, int, Any, int, int]
Condition = tuple[str, Dim, Dim]
Build = tuple[int, int, int, Any]


class _Steps:
    """Fetch and test instructions; every source is fetched once, into a register of its own.

    Names that must be identical to constants (globals, functions of modules) are tested first and together, and not fetched:
    their values are known.
    """

    def __init__(self, spec: SegmentSpec, n_args: int) -> None:
        self.constants = spec.constants
        self.n_args = n_args
        self.out: list[Step] = []
        self.registers: dict[Source, int] = {}
        self.known: dict[Source, Any] = {}
        self.names: dict[types.ModuleType | None, list[tuple[str, Any, int]]] = {}
        others = [(i, g) for i, g in enumerate(spec.guards) if not self._name(g, i)]
        for space, names in self.names.items():
            self.out.append((_STEP["names"], names[0][2], 0, -1, (space, tuple(names)), 0, 0))
        for i, g in others:
            self.test(g, i)

    def _name(self, g: Guard, index: int) -> bool:
        """Take the guard into a block of names if it says what a name means."""
        s = g.source
        if g.kind != "is" or s in self.known:
            return False
        value = self.constants[g.arg]
        space = self.known.get(s.base) if s.kind == "attr" and s.base is not None else None
        own = s.kind == "global" and s.base is None
        if not own and not (type(space) is types.ModuleType and _holds(space, s.key, value)):
            return False
        self.names.setdefault(space, []).append((s.key, value, index))
        self.known[s] = value
        return True

    def register(self, s: Source, guard: int) -> int:
        """The register that holds `s`; instructions to fetch it are written on first use (a failure counts for `guard`)."""
        if s.kind == "arg":
            return int(s.key)
        if s in self.registers:
            return self.registers[s]
        kind, base, obj, a = s.kind, -1, None, 0
        if s in self.known:
            kind, obj = "const", self.known[s]
        else:
            base = -1 if s.base is None else self.register(s.base, guard)
            if kind in ("global", "attr"):
                obj = s.key
            elif kind == "cell" or (kind == "item" and isinstance(s.key, int)):
                a = s.key
            elif kind == "item":
                kind, obj = "key", s.key
            elif kind == "const":
                obj = self.constants[s.key]
        reg = self.registers[s] = self.n_args + len(self.registers)
        self.out.append((_STEP[f"fetch {kind}"], guard, reg, base, obj, a, 0))
        return reg

    def test(self, g: Guard, index: int) -> None:
        obj, a, b = None, 0, 0
        if g.kind in ("is", "type", "equal", "unequal", "code", "returns"):
            obj = self.constants[g.arg]
        elif g.kind == "len":
            a = g.arg
        elif g.kind in ("array", "tensor"):
            obj = _array(g.arg)
        elif g.kind == "opaque_tensor":
            a = _LIBRARIES.index(g.arg)
        elif g.kind == "torch":
            plain, default, device = g.arg
            a = int(plain) | (0 if device is None else device + 1) << 1
            b = -1 if default is None else np.dtype(default).num
        elif g.kind == "int":
            a, b = g.arg or _INT64
        elif g.kind == "lookup":
            name, k = g.arg
            obj, a = ((name,), 0) if k is None else ((name, self.constants[k]), 1)
        elif g.kind == "absent":
            obj = g.arg
        elif g.kind in ("distinct", "same"):
            a = self.register(g.arg, index)
        elif g.kind == "scalar":
            dtype = _native(g.arg)
            obj, a = dtype.type, dtype.itemsize // 9 + 1
        self.out.append((_STEP[g.kind], index, 0, self.register(g.source, index), obj, a, b))

    def sizes(self, conditions: Sequence[Condition], words: Mapping[str, int], index: int) -> None:
        """Test sizes and ints; the words of all inputs are there by now."""
        for op, a, b in conditions:
            program = (*_size(Dim.of(a), words), *_size(Dim.of(b), words), (_SIZES[op], 0))
            self.out.append((_STEP["sizes"], index, 0, -1, program, 0, 0))


def _size(d: Dim, words: Mapping[str, int]) -> list[tuple[int, int]]:
    """The postfix program of a size."""
    out = [(_SIZES["const"], d.terms[0][1] if d.terms and not d.terms[0][0] else 0)]
    for atoms, factor in d.terms:
        if not atoms:
            continue
        out.append((_SIZES["const"], factor))
        for x in atoms:
            out += (
                [(_SIZES["word"], words[x.name])]
                if isinstance(x, Sym)
                else [*_size(x.a, words), *_size(x.b, words), (_SIZES[x.op], 0)]
            )
            out.append((_SIZES["mul"], 0))
        out.append((_SIZES["add"], 0))
    return out


def _holds(module: types.ModuleType, name: str, value: Any) -> bool:
    """The module's namespace gives this value, without `__getattr__` of the module or attributes of its type."""
    return vars(module).get(name) is value and not hasattr(types.ModuleType, name)


def _native(dtype: str) -> np.dtype:
    d = np.dtype(dtype)
    if d.char not in _CODES or not d.isnative:
        raise ValueError(f"compiled code does not take dtype {dtype}")
    return d


def _array(s: ArraySpec) -> tuple:
    return (
        _native(s.dtype),
        s.rank,
        s.ones,
        _CONTIGUOUS.index(s.contiguous),
        s.layout,
        s.negative,
        s.unit,
        int(s.writeable),
        int(s.overlaps),
        _ACCESS.index(s.access),
        *((_LIBRARIES.index(s.library), *_device(s.device)) if isinstance(s, TensorSpec) else (0, 0, 0)),
    )


def _device(name: str) -> tuple[int, int]:
    """Device type and index as DLPack numbers them."""
    kind, _, index = name.partition(":")
    return {"cpu": 1, "cuda": 2}[kind], int(index or 0)


class _Exit:
    """The postfix program of one exit.

    An object that several recipes refer to is built where the program first needs it, whatever the recipes' own order.
    """

    def __init__(self, spec: ExitSpec, steps: _Steps, guard: int, roots: Sequence[Recipe]) -> None:
        self.captures = [t for t in spec.captures if not isinstance(t, MemType)]
        self.steps = steps
        self.guard = guard
        self.out: list[Build] = []
        self.definitions: dict[Any, Recipe] = {}
        self.built: dict[Any, int] = {}
        self.building: set[Any] = set()
        for r in (*spec.effects, *roots):
            self._find_definitions(r)
        for r in spec.effects:
            self._build(r)
            self._emit("drop")
        for r in roots:
            self._build(r)

    def _find_definitions(self, r: Recipe) -> None:
        if r.op == "define":
            self.definitions[r.arg] = r.items[0]
        for item in r.items:
            self._find_definitions(item)

    def _emit(self, op: str, a: int = 0, b: int = 0, obj: Any = None) -> None:
        self.out.append((_BUILD[op], a, b, obj))

    def _build_shared(self, key: Any) -> None:
        if key in self.built:
            self._emit("shared", b=self.built[key])
            return
        inner = self.definitions[key]
        if inner.op in _OPEN:
            items = [item for item in inner.items if item.op != "unbound"]
            self.built[key] = len(self.built)
            self._emit("open", _OPEN.index(inner.op), self.built[key])
            for item in items:
                self._build(item)
            self._emit("fill", len(items))
            return
        if key in self.building:
            raise ValueError("a tuple that contains itself cannot be rebuilt")
        self.building.add(key)
        self._build(inner)
        self.built[key] = len(self.built)
        self._emit("define", b=self.built[key])

    def _build(self, r: Recipe) -> None:
        if r.op in ("define", "shared"):
            self._build_shared(r.arg)
            return
        for item in r.items:
            self._build(item)
        n = len(r.items)
        constants = self.steps.constants
        if r.op == "value":
            k, box = r.arg
            self._emit("array" if box == "tensor" else box, k, self.captures[k].dtype.num)
        elif r.op == "source":
            self._emit("reg", self.steps.register(r.arg, self.guard))
        elif r.op == "const":
            self._emit("const", obj=constants[r.arg])
        elif r.op in ("null", "unbound"):
            self._emit("null")
        elif r.op == "function":
            for _ in range(n, _FUNCTION_ITEMS):
                self._emit("null")
            self._emit("function", obj=constants[r.arg[0]])
        elif r.op == "call":
            self._emit("call", n, obj=constants[r.arg])
        elif r.op == "choose":
            self._emit("choose", r.arg)
        else:
            self._emit(r.op, n)


def frame_values(exit_spec: ExitSpec) -> list[Recipe]:
    """What a continuation is called with: for each frame, outermost first, its globals, bound locals, cells and stack
    entries, in the order of the `FrameSpec`; NULLs and unbound names are part of the spec and are left out."""
    out: list[Recipe] = []
    for f in exit_spec.frames:
        values = [f.globals, *(r for _, r in f.locals), *(r for _, r in f.cells), *f.stack]
        out += [r for r in values if r.op not in ("null", "unbound")]
    return out


def make_entry(
    spec: SegmentSpec,
    code: types.CodeType | int,
    address: int = 0,
    *,
    n_slots: int = 0,
    report_sites: Sequence[ReportSite] = (),
    symbols: Sequence[int] = (),
    loops: Sequence[tuple[str, int]] = (),
    python_calls: Sequence[Callable[..., Any]] = (),
    continuations: Sequence[Continuation | None] = (),
    max_threads: int = 0,
    stores_first: bool = False,
    info: Any = None,
    launcher: Callable[..., Any] | None = None,
    stream: Callable[[], int] | None = None,
    gain: float = 0.0,
    general: bool = False,
    sizes: Sequence[Condition] = (),
) -> _dispatch.Entry:
    """Make the entry of one segment of the function with code object `code` (or of a point with so many values).

    Parameters
    ----------
    address : of the segment; 0 makes an entry that says "arguments of this pattern run plain".
    n_slots : object slots that the segment needs, those of its array inputs included.
    report_sites : by site number.
    symbols : addresses of the external symbols that the unit asks for, in order.
    loops : inner loops of NumPy's ufuncs that the unit asks for conditions: name, place in `ufunc.types`.
    python_calls : what `call_python` calls, by number.
    continuations : by exit number; None for "return" exits.
    max_threads : upper bound for this segment, 0 for none.
    stores_first : the segment may store to the caller's arrays before it warns of an earlier operation, so it does not run
        while warnings may be errors. So it is when an exit changes objects.
    info : kept as `Entry.info`.
    gain : seconds that a call of it saves, about; 0 when nothing is computed.
    general : it takes what more special entries do better: it is asked last.
    launcher, stream : of device kernels (see `runtime.gpu`); without a stream memory is the host's.
    sizes : conditions on sizes and ints, of an entry without code, which would ask for them itself.
    """
    n_args = code if isinstance(code, int) else n_params(code)
    steps = _Steps(spec, n_args)
    n_guards = len(spec.guards)
    aliases = tuple((a.a, a.b, _RELATIONS.index(a.relation), n_guards + i) for i, a in enumerate(spec.aliases))
    exits = []
    told = [g.kind == "tensor" or spec.device != "cpu" for g in spec.guards if g.kind in ("array", "tensor")]
    # What only an exit needs is fetched at entry, too: a name that is gone must fail a guard, not an exit.
    fetch_guard = n_guards + len(aliases)
    for i, e in enumerate(spec.exits):
        resume: Any = None
        if e.kind == "return":
            assert e.result is not None
            roots = [e.result]
        else:
            resume = continuations[i]
            if resume is None:
                raise ValueError(f"exit {i} resumes and has no continuation")
            roots = frame_values(e)
            if isinstance(resume, tuple):
                resume, recipe = resume
                roots = [recipe]
        program = _Exit(e, steps, fetch_guard, roots)
        exits.append((resume, len(program.captures), tuple(program.out), tuple(k for k in e.stored if told[k])))
    objects = tuple(steps.register(s, fetch_guard) for s in spec.objects)
    steps.sizes(sizes, spec.input_symbols, fetch_guard)
    sites = tuple((s.name, s.loc.file, s.loc.line, s.loc.function, s.loc.module, 15 & ~s.ignored) for s in report_sites)
    return _dispatch.Entry(
        code=address,
        n_args=n_args,
        n_guards=fetch_guard + 1,
        n_regs=len(steps.registers),
        n_slots=n_slots,
        max_threads=max_threads,
        stores_first=stores_first or (bool(report_sites) and any(e.effects for e in spec.exits)),
        steps=tuple(steps.out),
        aliases=aliases,
        exits=tuple(exits),
        sites=sites,
        syms=tuple(symbols),
        loops=tuple((getattr(np, name), k) for name, k in loops),
        objects=objects,
        constants=tuple(spec.constants),
        calls=tuple(python_calls),
        info=info,
        launcher=launcher,
        stream=stream,
        library=_LIBRARIES.index(spec.library),
        device=-1 if spec.device == "cpu" else _device(spec.device)[1],
        general=general,
        gain=min(max(1, round(1e9 * gain)), 1 << 40) if gain else 0,
    )
