"""The inputs of a segment: sources, guards made on use, graph params and symbols.

In: live example objects of the traced call. Out: `Lazy` values, and what they turn into when looked at, with guards appended
to the `SegmentSpec` in the order of use. Never: runs user code, keeps anything alive but constants.
"""

from __future__ import annotations

import enum
import gc
import operator
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.frontends import foreign
from npcompile.frontends.builder import Builder
from npcompile.frontends.torch import library as torch_library
from npcompile.frontends.values import (
    Array,
    Const,
    Lazy,
    RangeV,
    Scalar,
    SliceV,
    Storage,
    SymValue,
    Tensor,
    TupleV,
    Unsupported,
)
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Value
from npcompile.ir.prim import PRIMS
from npcompile.ir.segment import AliasGuard, ArraySpec, Guard, SegmentSpec, Source, TensorSpec
from npcompile.ir.types import TensorType, ViewType, is_compiled, scalar
from npcompile.records import replace
from npcompile.runtime._dispatch import is_interned

from .aliasing import overlaps_itself, relation
from .memory import FEW, MANY, NUMBERS, ONE, VALUES, Memory
from .symbolic import InputObject

INT_RANGE = (-(1 << 31), 1 << 31)
"""Range of Python int inputs that take part in sizes: polynomials of a few of them provably fit in 64 bits."""
INT64_RANGE = (-(1 << 63), (1 << 63) - 1)
STRIDE_BOUND = 1 << 47

MOST_ITEMS = 1 << 13
"""Items that a tuple has at most for each to be an input."""
IDENTITY_TYPES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    type,
    np.ufunc,
    np.dtype,
    type(np.sum),
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    type(np._NoValue),
    type(sys.float_info),
    type(sys.int_info),
)
CONSTANT_MODULES = frozenset({"math", "cmath", "numpy", "scipy", "sys", "operator", "builtins", "torch", "cupy"})
"""Modules whose numbers are constants rather than inputs."""


class Inputs:
    """Inputs of one trace.

    dynamic : sizes and Python ints are symbols; otherwise the segment is specialised on them.
    inside : the trace begins in the middle of a function.
    changing : inputs whose value, length or identity may not be guarded: it differs from call to call.
    turning : inputs that are set in a loop around the place where the trace begins: numbers there change from turn to turn.
    general : something was not guarded for that reason, or because there are segments for other values already.
    """

    inside = False
    changing: frozenset[Source] = frozenset()
    turning: frozenset[Source] = frozenset()
    general = False

    def __init__(self, builder: Builder, spec: SegmentSpec, memory: Memory, dynamic: bool = True) -> None:
        self.builder = builder
        self.memory = memory
        self.dynamic = dynamic
        self.spec = spec
        self._lazy: dict[Source, Lazy] = {}
        self._forced: dict[Source, SymValue] = {}
        self._guards: set[tuple[Source, str, Any]] = set()
        self._lengths: dict[Source, Dim] = {}
        self._ints: dict[Sym, Source] = {}
        self._const_index: dict[Any, int] = {}
        self._arrays: list[tuple[np.ndarray, Storage]] = []
        self._specs: list[int] = []
        self._announced: list[np.ndarray] = []
        self._tensors: dict[int, tuple[Any, np.ndarray]] = {}
        self._tensor_inputs: dict[int, Any] = {}
        self._stored: set[int] = set()
        self._overlapping: set[int] = set()
        self._viewed: set[int] = set()
        self._all_viewed = False
        self._origins: dict[int, tuple[Storage, list[Storage]]] = {}
        self._word = 0

    # -- constants and guards -------------------------------------------------------------------------------------
    def const_index(self, value: Any) -> int:
        """Index of an object in the segment's constants."""
        key = const_key(value)
        if key not in self._const_index:
            self._const_index[key] = len(self.spec.constants)
            self.spec.constants.append(value)
        return self._const_index[key]

    def guard(self, source: Source, kind: str, arg: Any = None) -> bool:
        """Append a guard; False when it was there already."""
        key = (source, kind, arg)
        if key in self._guards:
            return False
        if kind in ("equal", "len", "is") and self.changes(source):
            raise Unsupported("static-value", f"{source} changes from call to call")
        self._guards.add(key)
        self.spec.guards.append(Guard(source, kind, arg))
        return True

    def changes(self, source: Source) -> bool:
        """Does the value, length or identity of an input differ from call to call?"""
        if source not in self.changing:
            return False
        self.general = True
        return True

    def _varies(self, place: Any, value: Any, most: int, hasty: int = MANY) -> bool:
        """Are there segments for so many other values of an input that it is no constant?

        hasty : so many are enough where values do not come back.
        """
        if not self.memory.varies(place, value, min(most, hasty) if self.memory.hasty else most):
            return False
        self.general = True
        return True

    def guard_is(self, source: Source, value: Any) -> None:
        self.guard(source, "is", self.const_index(value))

    def guard_equal(self, source: Source, value: Any) -> None:
        self.guard(source, "equal", self.const_index(value))

    def is_equal(self, source: Source, x: str, value: str) -> bool:
        """Is a string that is no constant equal to another one? Only that is asked."""
        same = x == value
        key = source, "equal" if same else "unequal", self.const_index(value)
        if key not in self._guards:
            self._guards.add(key)
            self.spec.guards.append(Guard(*key))
        return same

    def guard_type(self, source: Source, cls: type) -> None:
        self.guard(source, "type", self.const_index(cls))

    def guard_code(self, source: Source, code: types.CodeType) -> None:
        """A function that is inlined must still have the code that was traced."""
        self.guard(source, "code", self.const_index(code))

    def guard_state(self, function: Callable[[], Any], value: Any) -> None:
        """The function, called without arguments, must give an equal value."""
        self.guard(Source("const", self.const_index(function)), "returns", self.const_index(value))

    # -- looking at inputs ------------------------------------------------------------------------------------------
    def lazy(self, source: Source, example: Any) -> Lazy:
        """The input at `source`; the same object for the same source."""
        if source not in self._lazy:
            self._lazy[source] = Lazy(source, example)
        return self._lazy[source]

    def forced(self, v: SymValue) -> SymValue:
        """What `v` was turned into if it was looked at, else `v`."""
        return self._forced.get(v.source, v) if isinstance(v, Lazy) else v

    def announce(self, example: Any) -> None:
        """An array that may become an input: alias classes must be settled before the first is used."""
        if type(example) is np.ndarray:
            self._announced.append(example)
        elif foreign.plain(example) is not None:
            self._announced.append(self._memory(example))

    def force(self, v: SymValue) -> SymValue:
        """Look at an input: make its guards, bind its words."""
        if not isinstance(v, Lazy):
            return v
        if v.source not in self._forced:
            self._forced[v.source] = self._look(v.source, v.example)
        return self._forced[v.source]

    def _look(self, source: Source, x: Any) -> SymValue:
        cls = type(x)
        make = _BY_TYPE.get(cls)
        if make is not None:
            return make(self, source, x)
        if cls is np.ndarray:
            return self._array(source, x)
        if foreign.library_of(x) is not None:
            return self._tensor(source, x)
        if torch_library.is_size(x):
            return self._tuple(source, x)
        if isinstance(x, np.generic) and is_compiled(x.dtype) and cls is x.dtype.type:
            return self._numpy_scalar(source, x)
        if isinstance(x, tuple) and is_namedtuple(cls):
            return self._tuple(source, x)
        if isinstance(x, IDENTITY_TYPES) or is_member(x) or foreign.is_constant(x):
            if (x is not None and self.changes(source)) or (source.kind == "arg" and _may_be_made_anew(x)):
                return self._opaque(source, x)
            if is_member(x) and self._varies(source, const_key(x), VALUES, ONE):
                return self._opaque(source, x)
            self.guard_is(source, x)
            return Const(x, source)
        return self._opaque(source, x)

    def _opaque(self, source: Source, x: Any) -> SymValue:
        if type(x) in (list, dict, set) and records_warnings(x):
            raise Unsupported("recorded-warnings", str(source))
        cls = type(x)
        if self._varies((source, cls.__module__, cls.__qualname__), id(cls), FEW):  # made anew by a function
            raise Unsupported("static-value", f"the class of {source} changes from call to call")
        self.guard_type(source, cls)
        return InputObject(source, type(x), x)

    def _equal(self, source: Source, x: Any) -> SymValue:
        text = type(x) in (str, bytes)
        if self.changes(source) or (text and self._varies(source, x, VALUES, VALUES if is_interned(x) else ONE)):
            return self._number(source, "bool", "bool") if type(x) is bool else self._opaque(source, x)
        self.guard_equal(source, x)
        return Const(x, source)

    def _int(self, source: Source, x: int) -> SymValue:
        if not self.dynamic or not INT64_RANGE[0] <= x <= INT64_RANGE[1]:
            return self._equal(source, x)
        small = INT_RANGE[0] <= x <= INT_RANGE[1]
        self.guard(source, "int", INT_RANGE if small else None)
        value = self.builder.input_value(scalar(np.int64))
        self.spec.inputs.append(value.type)
        word = self._words(1)
        if not small:
            return Scalar("python", np.dtype(np.int64), value, source=source)
        sym = Sym(f"n{word}", *INT_RANGE)
        self._symbol(sym, word, x)
        self._ints[sym] = source
        return Scalar("python", np.dtype(np.int64), value, Dim.of(sym), source)

    def length(self, source: Source, x: Any) -> Dim:
        """The length of a list, dict, set or string that changes from call to call: nothing is guarded of it."""
        if source not in self._lengths:
            self.guard(source, "length")
            self.spec.inputs.append(self.builder.input_value(scalar(np.int64)).type)
            word = self._words(1)
            sym = Sym(f"n{word}", 0, INT_RANGE[1])
            self._symbol(sym, word, len(x))
            self._lengths[source] = Dim.of(sym)
        self.builder.facts.local |= self._lengths[source].syms()
        return self._lengths[source]

    def range_parts(self, v: InputObject) -> tuple[Scalar, Scalar, Scalar]:
        """The next number, stop and step of a range iterator; it must be nobody else's."""
        parts = range_position(v.example)
        if not all(INT_RANGE[0] <= x <= INT_RANGE[1] for x in parts) or not self.dynamic:
            raise Unsupported("loop-turn", "a range beyond 32 bits")
        if sum(x.example is v.example for x in self._lazy.values()) > 1:
            raise Unsupported("loop-turn", "an iterator that is shared")
        self.guard(v.source, "range_iter")
        out = []
        for x in parts:
            value = self.builder.input_value(scalar(np.int64))
            self.spec.inputs.append(value.type)
            word = self._words(1)
            sym = Sym(f"n{word}", *INT_RANGE)
            self._symbol(sym, word, x)
            out.append(Scalar("python", np.dtype(np.int64), value, Dim.of(sym)))
        return out[0], out[1], out[2]

    def _number(self, source: Source, kind: str, dtype: str) -> SymValue:
        self.guard(source, kind)
        value = self.builder.input_value(scalar(dtype))
        self.spec.inputs.append(value.type)
        self._words(2 if kind == "complex" else 1)
        return Scalar("python", np.dtype(dtype), value, source=source)

    def _numpy_scalar(self, source: Source, x: np.generic) -> SymValue:
        self.guard(source, "scalar", x.dtype.str)
        value = self.builder.input_value(scalar(x.dtype))
        self.spec.inputs.append(value.type)
        self._words(2 if x.dtype.char == "D" else 1)
        return Scalar("numpy", x.dtype, value, source=source)

    def _tuple(self, source: Source, x: tuple) -> SymValue:
        if len(x) > MOST_ITEMS:
            return self._opaque(source, x)
        self.guard_type(source, type(x))
        self.guard(source, "len", len(x))
        items = tuple(self.lazy(Source("item", i, source), item) for i, item in enumerate(x))
        return TupleV(items, source, type(x))

    def _slice(self, source: Source, x: slice) -> SymValue:
        self.guard_type(source, slice)
        return SliceV(*self._parts(source, x))

    def _range(self, source: Source, x: range) -> SymValue:
        self.guard_type(source, range)
        return RangeV(*self._parts(source, x))

    def _parts(self, source: Source, x: Any) -> tuple[Lazy, Lazy, Lazy]:
        start, stop, step = (self.lazy(Source("attr", k, source), getattr(x, k)) for k in ("start", "stop", "step"))
        return start, stop, step

    # -- arrays -----------------------------------------------------------------------------------------------------
    def _array(self, source: Source, x: np.ndarray) -> SymValue:
        if not is_compiled(x.dtype) or not x.flags.aligned or warns_on_write(x):
            return self._opaque(source, x)
        self.on_device("cpu")
        spec = array_spec(x)
        array = self._bind(source, "array", x, spec if x.flags.writeable else replace(spec, access="r"))
        array.source = source
        return array

    def _tensor(self, source: Source, x: Any) -> SymValue:
        library = foreign.library_of(x)
        self.use_library(library)
        if not library.is_plain(x):
            self.guard(source, "opaque_tensor", library.NAME)
            raise Unsupported(library.why_not_plain(x), f"the array {source}")
        device = library.device_of(x)
        self.on_device(device)
        memory = self._memory(x)
        spec = TensorSpec(**vars(array_spec(memory)), library=library.NAME, device=device)
        self._tensor_inputs[len(self._arrays)] = x
        return Tensor(self._bind(source, "tensor", memory, spec), source)

    def on_device(self, device: str) -> None:
        """The segment works on memory of this device, and of no other."""
        self.builder.use_device(device)
        self.spec.device = device

    def _memory(self, x: Any) -> np.ndarray:
        """A tensor's memory; the same array for the same tensor."""
        if id(x) not in self._tensors:
            self._tensors[id(x)] = x, foreign.library_of(x).as_array(x)
        return self._tensors[id(x)][1]

    def use_library(self, library: Any) -> None:
        """The segment stands for operations of torch or CuPy (of torch, whose modes must leave them as they are)."""
        if self.spec.library not in ("numpy", library.NAME):
            raise Unsupported("mixed-devices", f"arrays of {self.spec.library} and {library.NAME}")
        self.spec.library = library.NAME
        if library is torch_library:
            self._guard_torch()

    def default_dtype(self) -> np.dtype:
        """torch's default dtype, guarded."""
        dtype = torch_library.dtypes().get(torch_library.module().get_default_dtype())
        if dtype is None:
            raise Unsupported("dtype", "torch's default dtype")
        self._guard_torch(default=dtype.name)
        return dtype

    def current_device(self) -> str:
        """The device that torch calls "cuda", guarded."""
        number = torch_library.current_number()
        self._guard_torch(device=number)
        return f"cuda:{number}"

    def _guard_torch(self, default: str | None = None, device: int | None = None) -> None:
        plain = torch_library.plain_modes()
        self.guard(Source("const", self.const_index(torch_library.module())), "torch", (plain, default, device))
        if not plain:
            raise Unsupported("torch-mode", "autocast, a function mode, a transform or tracing")

    def _bind(self, source: Source, kind: str, x: np.ndarray, spec: ArraySpec) -> Array:
        n = len(self._arrays)
        base = self._words(1 + 2 * x.ndim)
        dims = tuple(self._dim(Sym(f"d{n}_{i}", not_one=True), base + 1 + i, size) for i, size in enumerate(x.shape))
        strides = self._strides(spec, dims, x, base + 1 + x.ndim, n)
        t = ViewType(
            x.dtype, dims, strides, view_layout(spec, x), spec.contiguous, tuple(s < 0 for s in strides_of(x)), x.flags.writeable
        )
        mem = self._mem_key(x)
        root = self.builder.input_value(t)
        self.guard(source, kind, spec)
        self._specs.append(len(self.spec.guards) - 1)
        self.spec.inputs.append(t)
        array = self.builder.input_array(root, mem)
        array.storage.source = source
        self._arrays.append((x, array.storage))
        return array

    def _dim(self, sym: Sym, word: int, size: int) -> Dim:
        if size == 1:
            return Dim.of(1)
        self._symbol(sym, word, size)
        if not self.dynamic:
            self.builder.graph.guards.append(("eq", Dim.of(sym), Dim.of(size)))
            self.builder.facts.learn_eq(Dim.of(sym) - size)
        return self.builder.facts.canon(Dim.of(sym))

    def _strides(self, spec: ArraySpec, dims: tuple[Dim, ...], x: np.ndarray, word: int, n: int) -> tuple[Dim, ...]:
        if spec.contiguous:
            order = range(x.ndim) if spec.contiguous == "F" else range(x.ndim - 1, -1, -1)
            out = [Dim.of(0)] * x.ndim
            size = Dim.of(x.itemsize)
            for a in order:
                out[a] = size
                size = size * dims[a]
            return tuple(out)
        return tuple(self._stride(spec, a, x, word + a, n) for a in range(x.ndim))

    def _stride(self, spec: ArraySpec, axis: int, x: np.ndarray, word: int, n: int) -> Dim:
        if axis == spec.unit:
            return Dim.of(x.itemsize)
        if axis not in spec.ones and spec.layout[axis] == 0:
            return Dim.of(0)
        negative = axis not in spec.ones and spec.negative[axis]
        lo, hi = (-STRIDE_BOUND, -1) if negative else (1, STRIDE_BOUND)
        if axis in spec.ones:
            lo, hi = -STRIDE_BOUND, STRIDE_BOUND
        sym = Sym(f"t{n}_{axis}", lo, hi)
        self._symbol(sym, word, x.strides[axis])
        return Dim.of(sym)

    def _symbol(self, sym: Sym, word: int, example: int) -> None:
        self.spec.input_symbols[sym.name] = word
        self.builder.facts.hints[sym] = example

    def _words(self, n: int) -> int:
        first = self._word
        self._word += n
        return first

    def _mem_key(self, x: np.ndarray) -> int:
        """Memory state of the array's alias class: inputs linked by overlaps at trace time, through unused arguments too."""
        known: dict[int, np.ndarray] = {id(y): y for y in self._announced} | {id(y): y for y, _ in self._arrays}
        linked, frontier = {id(x)}, [x]
        while frontier:
            y = frontier.pop()
            for k, z in known.items():
                if k not in linked and relation(y, z) != "disjoint":
                    linked.add(k)
                    frontier.append(z)
        keys = {s.mem for y, s in self._arrays if id(y) in linked}
        if len(keys) > 1:
            raise Unsupported("alias-merge", "an input overlaps two arrays of different alias classes")
        (key,) = keys or {self.builder.input_mem()}
        assert key is not None
        return key

    def note_store(self, s: Storage) -> None:
        """The segment stores to memory of inputs: that of `s`, or of those that `s` may be after exchanges in a loop.

        Unsupported when elements of one may share memory: what a store leaves there depends on the order of its elements.
        """
        for origin in self._origins.get(id(s), (s, []))[1] or [s]:
            if origin is not s:
                self.note_store(origin)
        for i, (x, storage) in enumerate(self._arrays):
            if storage is not s:
                continue
            if overlaps_itself(x):
                self._overlapping.add(i)
                raise Unsupported("self-overlap", "the array was made by as_strided, sliding_window_view or the like")
            if torch_library.is_tensor(self._tensor_inputs.get(i)) and self._tensor_inputs[i].is_inference():
                raise Unsupported("unsupported-tensor", "a store to a tensor made in inference mode, which has no version")
            self._stored.add(i)

    def note_view(self, v: Value) -> None:
        """A view leaves the segment: it is read-only where the array is that it was made from."""
        root = v
        while root.node is not None and PRIMS[root.node.prim].loop == "index_map":
            root = root.node.inputs[0]
        if root.node is not None and root.node.prim == "alloc":
            return
        own = [i for i, (_, s) in enumerate(self._arrays) if s.root is root]
        self._viewed.update(own if root is not v else ())
        self._all_viewed |= not own  # what a loop exchanges may be any of them

    def stored_inputs(self) -> tuple[int, ...]:
        """Array inputs, by number, that may have been stored to by now."""
        keys = self.builder.stored_inputs()
        return tuple(i for i in sorted(self._stored) if self._arrays[i][1].mem in keys)

    def note_origins(self, s: Storage, origins: list[Storage]) -> None:
        """`s` stands for any of `origins`, which a loop exchanges."""
        self._origins[id(s)] = (s, origins)

    def shares_class(self, storages: list[Storage]) -> bool:
        """Is another input in the alias class of one of these?"""
        keys = {s.mem for s in storages if s.source is not None}
        own = {id(s) for s in storages}
        return any(s.mem in keys and id(s) not in own for _, s in self._arrays)

    # -- numbers that must be known ---------------------------------------------------------------------------------
    def specialise(self, v: SymValue, choice: bool = False) -> Any:
        """The example of a number input, guarded; for what has no other way of being known at trace time."""
        if isinstance(v, Scalar) and v.source is not None and v.kind == "python":
            example = self._lazy[v.source].example
            turning = v.source in self.turning and not choice
            if turning or self._varies(v.source, const_key(example), NUMBERS, NUMBERS if choice else ONE):
                raise Unsupported("static-value", f"{v.source} changes from call to call")
            self.guard_equal(v.source, example)
            return example
        raise Unsupported("static-value", describe(v))

    def note_static(self, d: Dim, n: int, choice: bool) -> None:
        """The segment will be specialised on a dim."""
        turning = not choice and any(self._ints.get(s) in self.turning for s in d.syms())
        if turning or self._varies(d, n, NUMBERS, NUMBERS if choice else ONE):
            raise Unsupported("static-value", f"{d} changes from call to call")

    def release(self) -> None:
        """Let go of the live objects: a trace is in cycles, and would keep them until the garbage collector comes."""
        for v in (*self._lazy.values(), *self._forced.values()):
            if isinstance(v, (Lazy, InputObject)):
                v.example = None
        self._arrays = []
        self._announced = []
        self._tensors = {}
        self._tensor_inputs = {}

    # -- finishing ------------------------------------------------------------------------------------------------
    def finish(self) -> None:
        """Alias classes and alias guards; write access of arrays that are stored to."""
        keys = sorted({s.mem for _, s in self._arrays if s.mem is not None})
        self.spec.mem_of = [keys.index(s.mem) for _, s in self._arrays if s.mem is not None]
        viewed = set(range(len(self._arrays))) if self._all_viewed else self._viewed
        viewed = {i for i in viewed if i not in self._tensor_inputs and self._arrays[i][0].flags.writeable}
        for i in self._stored | self._overlapping | viewed:
            at = self._specs[i]
            g = self.spec.guards[at]
            arg = replace(g.arg, writeable=i in self._stored, overlaps=i in self._overlapping)
            arg = replace(arg, access="w") if i in viewed - self._stored else arg
            self.spec.guards[at] = Guard(g.source, g.kind, arg)
        for i, (x, _) in enumerate(self._arrays):
            for j in range(i + 1, len(self._arrays)):
                if i in self._stored or j in self._stored:
                    self.spec.aliases.append(AliasGuard(i, j, relation(x, self._arrays[j][0])))


def range_position(it: Any) -> tuple[int, int, int]:
    """(next, stop, step) of a range iterator."""
    _, (whole,), *index = it.__reduce__()
    start = whole.start + (index[0] or 0) * whole.step if index else whole.start
    return start, start + operator.length_hint(it) * whole.step, whole.step


def _may_be_made_anew(x: Any) -> bool:
    """Is it a function that a caller may have made for the call, as a lambda? Then its code is guarded, not its identity."""
    return type(x) is types.FunctionType and str(x.__module__).partition(".")[0] not in CONSTANT_MODULES


def is_member(x: Any) -> bool:
    """Is it a member of an enumeration that is no number or string besides?"""
    return isinstance(x, enum.Enum) and not isinstance(x, (int, float, complex, str, bytes))


def is_namedtuple(cls: Any) -> bool:
    """A namedtuple class whose constructor is the generated one."""
    generated = str(getattr(cls.__new__, "__module__", "")).startswith("namedtuple_")
    plain = cls.__init__ is object.__init__ and cls.__getitem__ is tuple.__getitem__ and cls.__iter__ is tuple.__iter__
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and generated and plain


def const_key(value: Any) -> Any:
    """Key under which equal constants share a place: immutable ones by type and value, others by identity."""
    if type(value) in (int, str, bytes, bool, type(None)):
        return (type(value), value)
    if type(value) in (float, complex):
        return (type(value), np.array(value).tobytes())
    return ("id", id(value))


def describe(v: SymValue) -> str:
    """What a value is, in words, for messages."""
    if isinstance(v, Scalar):
        return f"a {v.kind} {v.dtype} number computed at run time"
    if isinstance(v, Array):
        return f"an array of {v.dtype}, rank {v.rank}"
    if isinstance(v, Tensor):
        return f"a tensor of {v.dtype}, rank {v.rank}"
    if isinstance(v, Const):
        return f"{type(v.value).__name__} {getattr(v.value, '__name__', None) or repr(v.value)[:60]}"
    if isinstance(v, InputObject):
        if v.type is np.ndarray and type(v.example) is np.ndarray:
            return f"an array of dtype {v.example.dtype}" + ("" if v.example.flags.aligned else ", unaligned")
        return f"an object of type {v.type.__name__ if v.type else '?'}"
    return type(v).__name__.removesuffix("V").lower()


def strides_of(x: np.ndarray) -> tuple[int, ...]:
    """Strides with those of axes of length 1 taken as 0."""
    return tuple(0 if n == 1 else s for n, s in zip(x.shape, x.strides))


def records_warnings(x: Any) -> bool:
    """May functions that are called for warnings now change this object? Compiled code looks at what existed before it begins,
    and warns when it ends."""
    hooks = [warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None)]
    if all(type(h) is types.FunctionType and h.__module__ == "warnings" for h in hooks):
        return False
    seen: set[int] = set()
    for _ in range(_HOOK_DEPTH):  # what they hold
        found = [r for h in hooks for r in gc.get_referents(h) if type(h) is not types.FunctionType or r is not h.__globals__]
        if any(r is x for r in found):
            return True
        hooks = [r for r in {id(r): r for r in found}.values() if id(r) not in seen and type(r) not in _ENDS][:_HOOK_WIDTH]
        seen.update(map(id, hooks))
    return False


_HOOK_DEPTH, _HOOK_WIDTH = 6, 200
_ENDS = frozenset({types.ModuleType, types.CodeType, type, str, int, float, bytes, type(None), np.ndarray})


def warns_on_write(x: np.ndarray) -> bool:
    """Is it a result of `broadcast_arrays` that NumPy warns about when it is stored to? (Asking `flags.writeable` warns, too.)"""
    return x.flags.num < 0


def array_spec(x: np.ndarray) -> ArraySpec:
    """The specialisation class of an array (not yet asked to be writeable)."""
    ones = tuple(i for i, n in enumerate(x.shape) if n == 1)
    if x.flags.c_contiguous:
        return ArraySpec(x.dtype.str, x.ndim, ones, "C")
    if x.flags.f_contiguous:
        return ArraySpec(x.dtype.str, x.ndim, ones, "F")
    strides = strides_of(x)
    unit = next((i for i, s in enumerate(strides) if s == x.itemsize), -1)
    return ArraySpec(x.dtype.str, x.ndim, ones, "", ranks(strides), tuple(s < 0 for s in strides), unit)


def ranks(strides: tuple[int, ...]) -> tuple[int, ...]:
    """Layout of explicit strides: 0 for stride 0, otherwise the rank of the absolute value."""
    order = sorted({abs(s) for s in strides if s})
    return tuple(order.index(abs(s)) + 1 if s else 0 for s in strides)


def view_layout(spec: ArraySpec, x: np.ndarray) -> tuple[int, ...]:
    """The layout of an input array by its specialisation class: for contiguous arrays it must not depend on sizes."""
    if not spec.contiguous:
        return spec.layout
    axes = [a for a in range(x.ndim) if a not in spec.ones]
    if spec.contiguous == "C":
        axes.reverse()
    return tuple(axes.index(a) + 1 if a in axes else 0 for a in range(x.ndim))


_BY_TYPE: dict[type, Any] = {
    bool: Inputs._equal,
    str: Inputs._equal,
    bytes: Inputs._equal,
    int: Inputs._int,
    float: lambda self, source, x: self._number(source, "float", "float64"),
    complex: lambda self, source, x: self._number(source, "complex", "complex128"),
    tuple: Inputs._tuple,
    slice: Inputs._slice,
    range: Inputs._range,
}

__all__ = ["CONSTANT_MODULES", "Inputs", "TensorType", "array_spec", "describe"]
