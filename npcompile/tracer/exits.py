"""Exits as data: turns a frame state of symbolic values into recipes, captures and frame specs.

In: frames standing before an instruction, or a result. Out: an `ExitSpec` in the segment and the IR values its node passes.
Identity is kept: an object referenced twice is built once. Never: decides where to exit.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import types
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from npcompile.bytecode.cfg import control_flow
from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import picked
from npcompile.frontends.numpy.library import chosen
from npcompile.frontends.values import (
    Array,
    Const,
    DictV,
    Lazy,
    ListV,
    NullV,
    Opaque,
    Picked,
    RangeV,
    Scalar,
    SetV,
    SliceV,
    Storage,
    SymValue,
    Tensor,
    TupleV,
    Unsupported,
    ViewOp,
)
from npcompile.ir.graph import Loc, Value
from npcompile.ir.segment import ExitSpec, FrameSpec, Recipe, Source
from npcompile.ir.types import TensorType, ViewType
from npcompile.records import replace

from . import runlists
from .effects import Slot
from .frames import Frame, Refused
from .inputs import Inputs
from .standins import MAKERS
from .symbolic import (
    UNBOUND as UNBOUND_VALUE,
)
from .symbolic import (
    ArrayIterV,
    CellV,
    CountIterV,
    DictViewV,
    DimCompare,
    EnumerateIterV,
    ErrStateExitV,
    ErrStateV,
    ExceptionV,
    FlagsV,
    FunctionInfo,
    FunctionV,
    GenExprV,
    GetterV,
    HandledV,
    JoinV,
    ManagerExitV,
    ManagerFunctionV,
    ManagerV,
    MapV,
    MethodV,
    ObjectV,
    PartialV,
    PositionsIterV,
    RangeIterV,
    RunListIterV,
    RunListV,
    SeqIterV,
    SuperV,
    TextV,
    TracebackV,
    UnboundV,
    ZipIterV,
)

FUNCTION = Source("function")
NULL_RECIPE = Recipe("null")
UNBOUND = Recipe("unbound")
_BOXES = {"i": "int", "f": "float", "b": "bool", "c": "complex"}

FrameState = list[tuple[Frame, int, list[SymValue], dict[str, SymValue]]]
"""Frames outermost first: (frame, index of the instruction it stands at, stack, locals)."""


def detach(tensor: Any) -> Any:
    """Whose memory is what the tensor has, and whose gradients are its own."""
    return tensor.detach()


def function_source(info: FunctionInfo) -> Source:
    return info.source or info.globals_base or FUNCTION


def globals_recipe(info: FunctionInfo) -> Recipe:
    return Recipe("source", Source("attr", "__globals__", info.globals_base or FUNCTION))


def make_object(cls: Any, attributes: dict[str, Any]) -> Any:
    """An object as the segment has it."""
    out = object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(out, name, value)
    return out


def make_errstate(kinds: tuple[str, ...]) -> Any:
    """`np.errstate` that ignores these kinds."""
    return np.errstate(**dict.fromkeys(kinds, "ignore"))  # type: ignore[arg-type]


def enter_errstate(kinds: tuple[str, ...]) -> Any:
    """Enter `np.errstate` that ignores these kinds; its exit method."""
    manager = make_errstate(kinds)
    manager.__enter__()
    return manager.__exit__


def make_partial(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`functools.partial(function, *args, **kwargs)`."""
    return functools.partial(function, *args, **kwargs)


def call_with(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`."""
    return function(*args, **kwargs)


def item_or(items: list[Any], at: int, otherwise: Any) -> Any:
    """`items[at]`, unless that is not in the list."""
    return items[at] if at >= 0 else otherwise


def replace_items(container: Any, items: Any) -> None:
    """Give a list or dict other contents."""
    if type(container) is list:
        container[:] = items
    else:
        container.clear()
        container.update(items)


def costs_nothing(inputs: Inputs, v: SymValue) -> bool:
    """Can an exit hand the value back without any capture?"""
    v = inputs.forced(v)
    return isinstance(v, (Lazy, Const, Opaque)) or getattr(v, "source", None) is not None


def pruned(inputs: Inputs, state: FrameState) -> FrameState:
    """The state without dead locals; parameters that are as they came in stay, for who looks at the frame.

    So do objects that are more than values.
    """
    out: FrameState = []
    for i, (frame, at, stack, local) in enumerate(state):
        live = control_flow(frame.code.code).live_at(at if i == len(state) - 1 else at + 1)
        stay = (CellV, ObjectV)  # an object made here may be watched by a weak reference that the next instruction makes
        kept = {k: v for k, v in local.items() if k in live or isinstance(v, stay) or _at_hand(inputs, frame, k, v)}
        out.append((frame, at, stack, kept))
    return out


def _at_hand(inputs: Inputs, frame: Frame, name: str, v: SymValue) -> bool:
    source = getattr(inputs.forced(v), "source", None)
    if source is None or source.kind != "arg":
        return False
    return frame.own.get(name) == source or (inputs.inside and not _mere_value(inputs.lazy(source, None).example))


_VALUES = (np.ndarray, int, float, complex, bool, str, bytes, type(None))


def _mere_value(x: Any) -> bool:
    """Does nobody care how long the object lives? Small lists and tuples of such are such."""
    if type(x) in (list, tuple):
        return len(x) <= 8 and all(type(item) in _VALUES or isinstance(item, np.generic) for item in x)
    return type(x) in _VALUES or isinstance(x, np.generic)


def seen_to_die(x: Any) -> bool:
    """May others notice when an object dies? Of small lists and tuples the items count."""
    if type(x) in (list, tuple):
        return len(x) <= 8 and any(seen_to_die(item) for item in x if type(item) not in (list, tuple))
    return type(x) in _FINALISED or hasattr(type(x), "__del__") or weakref.getweakrefcount(x) > 0


_FINALISED = frozenset({types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType})


class ExitBuilder:
    """Builds one exit.

    choose : tells whether the exit is for the unbound side of a join. effects : changes of objects that existed before.
    """

    def __init__(
        self, builder: Builder, inputs: Inputs, choose: Callable[[JoinV], bool], effects: Mapping[Slot, SymValue]
    ) -> None:
        self.effects = effects
        self.b = builder
        self.inputs = inputs
        self.choose = choose
        self.captures: list[Value] = []
        self._uses: Counter[int] = Counter()
        self._views: dict[int, list[Array]] = {}
        self._memory: dict[int, Value] = {}
        self._shared: dict[int, int] = {}
        self._firsts: dict[int, int] = {}
        self._ids = itertools.count()
        self._building: set[int] = set()
        self._holders: list[RunListV] = []

    # -- the two kinds of exit --------------------------------------------------------------------------------------
    def returning(self, result: SymValue, loc: Loc) -> ExitSpec:
        self._count_effects()
        self._count(result)
        self._count_holders()
        effects = self._effects()
        recipe = self._recipe(result)
        stored = self.inputs.stored_inputs()
        return ExitSpec("return", self._types(), recipe, file=loc.file, line=loc.line, stored=stored, effects=effects)

    def resuming(self, state: FrameState, reason: str, detail: str, loc: Loc) -> ExitSpec:
        plans = [self._plan(*entry) for entry in state]
        self._count_effects()
        for _, _, local_values, stack, cells in plans:
            for v in itertools.chain(local_values.values(), stack, (c for _, c in cells)):
                self._count(v)
        self._count_holders()
        effects = (*self._effects(), *self._errstates(state))
        drops = [frame.drops for frame, *_ in state[1:]] + [False]
        frames = tuple(replace(self._frame(*plan), pushes=not drop) for plan, drop in zip(plans, drops))
        stored = self.inputs.stored_inputs()
        types = self._types()
        return ExitSpec("resume", types, None, frames, reason, detail, loc.file, loc.line, stored=stored, effects=effects)

    def _count_holders(self) -> None:
        """Lists that are handed back are needed for those of their items that are handed back, too."""
        for owner in self._holders:
            if self._uses[id(owner)]:
                self._uses[id(owner)] += 1

    # -- effects --------------------------------------------------------------------------------------------------------
    def _count_effects(self) -> None:
        for slot, v in self.effects.items():
            if slot.kind == "cell":
                assert isinstance(v, CellV)
                self._count(v.content or UNBOUND_VALUE)
            else:
                self._count(v)

    def _effects(self) -> tuple[Recipe, ...]:
        return tuple(self._effect(slot, v) for slot, v in self.effects.items())

    def _errstates(self, state: FrameState) -> tuple[Recipe, ...]:
        """`np.errstate` blocks around the point, entered in their order."""
        out = []
        for _, _, stack, _ in state:
            for v in stack:
                if isinstance(v, ErrStateExitV):
                    self._shared[id(v)] = next(self._ids)
                    kinds = Recipe("tuple", None, tuple(map(self._const, v.state.kinds)))
                    out.append(Recipe("define", self._shared[id(v)], (self._call(enter_errstate, kinds),)))
        return tuple(out)

    def _effect(self, slot: Slot, v: SymValue) -> Recipe:
        owner = Recipe("source", slot.owner)
        if slot.kind == "cell":
            assert isinstance(v, CellV)
            if v.content is None:
                return self._call(delattr, owner, self._const("cell_contents"))
            return self._call(setattr, owner, self._const("cell_contents"), self._recipe(v.content))
        value = self._recipe(v)
        if slot.kind == "attr":
            return self._call(setattr, owner, self._const(slot.name), value)
        if slot.kind == "tail":
            return self._call(list.extend, owner, value)
        if slot.kind == "whole":
            return self._call(replace_items, owner, value)
        if slot.kind == "global":
            owner = Recipe("source", Source("attr", "__globals__", slot.owner))
        return self._call(operator.setitem, owner, self._const(slot.name), value)

    def _types(self) -> tuple[Any, ...]:
        return tuple(v.type for v in self.captures)

    def _plan(self, frame: Frame, at: int, stack: list[SymValue], local: dict[str, SymValue]) -> Any:
        """Locals that hold something, cells of slots and of free variables."""
        cells: list[tuple[str, SymValue]] = [(k, v) for k, v in local.items() if isinstance(v, CellV)]
        cells += [(k, frame.free[k]) for k in frame.code.code.co_freevars]
        settled = {k: self._settle(v) for k, v in local.items() if not isinstance(v, CellV)}
        return frame, at, {k: v for k, v in settled.items() if not isinstance(v, UnboundV)}, stack, cells

    def _is_free(self, v: SymValue) -> bool:
        return costs_nothing(self.inputs, v)

    def _frame(
        self,
        frame: Frame,
        at: int,
        local: dict[str, SymValue],
        stack: list[SymValue],
        cells: list[tuple[str, SymValue]],
    ) -> FrameSpec:
        return FrameSpec(
            self.inputs.const_index(frame.code.code),
            frame.code.instrs[at].offset,
            globals_recipe(frame.info),
            tuple((k, self._recipe(v)) for k, v in local.items()),
            tuple((k, self._recipe(v)) for k, v in cells),
            tuple(self._recipe(v) for v in stack),
        )

    # -- first pass: who is referenced how often ----------------------------------------------------------------------
    def _count(self, v: SymValue) -> None:
        v = self._settle(v)
        if self._is_free(v):
            return
        self._uses[id(v)] += 1
        if self._uses[id(v)] > 1:
            return
        if isinstance(v, Array):
            self._views.setdefault(id(v.storage), []).append(v)
            if v.storage.kept is not None:
                self._holders.append(v.storage.kept[0])
        for child in self._children(v):
            self._count(child)

    def _settle(self, v: SymValue) -> SymValue:
        v = self.inputs.forced(v)
        if isinstance(v, Picked) and v.together is not None:
            return v.together
        if isinstance(v, JoinV) and v.first is UNBOUND_VALUE:
            return self._settle(v.first if self.choose(v) else v.rest)
        return v

    def _children(self, v: SymValue) -> Iterable[SymValue]:
        if isinstance(v, Picked):
            return picked.parts(self.b, v)
        children = _CHILDREN.get(type(v))
        return children(v) if children else ()

    # -- second pass ----------------------------------------------------------------------------------------------------
    def _recipe(self, v: SymValue) -> Recipe:
        v = self._settle(v)
        if isinstance(v, Lazy):
            return Recipe("source", v.source)
        if isinstance(v, Const):
            return self._const(v.value)
        if isinstance(v, UnboundV):
            return UNBOUND
        if isinstance(v, NullV):
            return NULL_RECIPE
        source = getattr(v, "source", None)
        if source is not None:
            return Recipe("source", source)
        if id(v) in self._shared:
            return Recipe("shared", self._shared[id(v)])
        shared = self._uses[id(v)] > 1 and not isinstance(v, (NullV, Scalar))
        if shared:
            self._shared[id(v)] = next(self._ids)
        recipe = self._build(v)
        return Recipe("define", self._shared[id(v)], (recipe,)) if shared else recipe

    def _build(self, v: SymValue) -> Recipe:
        if isinstance(v, Scalar):
            return self._number(v)
        if isinstance(v, Array):
            return self._kept(v, self._capture(self._array_value(v), "array"))
        if isinstance(v, Tensor):
            recipe = self._capture(self._array_value(v.array), "tensor")
            return self._call(detach, recipe) if v.array.detached else recipe
        build = _BUILDERS.get(type(v))
        if build is None:
            raise AssertionError(f"no recipe for {type(v).__name__}")
        return build(self, v)

    def _kept(self, v: Array, recipe: Recipe) -> Recipe:
        """An array that a list holds, too, when that is handed back: the list's item."""
        kept = v.storage.kept
        if kept is None or v.chain or not self._uses[id(kept[0])]:
            return recipe
        owner, at = kept
        return self._call(item_or, self._recipe(owner), self._recipe(at), recipe)

    def _object(self, v: ObjectV) -> Recipe:
        if id(v) in self._building:
            raise Unsupported("opaque-object", "an object that refers to itself")
        self._building.add(id(v))
        attributes = tuple(r for k, x in v.attrs.items() for r in (self._const(k), self._recipe(x)))
        if v.type in MAKERS:
            return self._call(MAKERS[v.type], Recipe("dict", None, attributes))
        return self._call(make_object, self._const(v.type), Recipe("dict", None, attributes))

    def _method(self, v: MethodV) -> Recipe:
        if isinstance(v.self, ObjectV) and v.self.type in MAKERS:
            return self._call(getattr, self._recipe(v.self), self._const(v.function.value.__name__))  # type: ignore[attr-defined]
        return Recipe("method", None, self._items((v.function, v.self)))

    def _run_list(self, v: RunListV) -> Recipe:
        parts = [self._capture(self.b.view_value(a), "array") for a in runlists.in_use(self.b, v)]
        if v.item.kind == "number":
            recipe = self._call(np.ndarray.tolist if v.item.python else list, *parts)
        else:
            recipe = self._call(runlists.box, self._const(runlists.plain_kind(v.item)), *parts)
        if v.lead:
            recipe = self._call(operator.add, Recipe("list", None, self._items(v.lead)), recipe)
        return self._call(operator.add, recipe, Recipe("list", None, self._items(v.extra))) if v.extra else recipe

    def _join(self, v: JoinV) -> Recipe:
        """A number of either Python type."""
        if id(v.choice) not in self._firsts:
            self._firsts[id(v.choice)] = self._capture(v.choice.first_holds(self.b), "bool").arg[0]
        return Recipe("choose", self._firsts[id(v.choice)], self._items((v.first, v.rest)))

    def _const(self, value: Any) -> Recipe:
        return Recipe("const", self.inputs.const_index(value))

    def _capture(self, value: Value, box: str) -> Recipe:
        self.captures.append(value)
        if isinstance(value.type, ViewType):
            self.inputs.note_view(value)
        return Recipe("value", (len(self.captures) - 1, box))

    def _number(self, v: Scalar) -> Recipe:
        if isinstance(v, DimCompare):
            v = v.settled(self.b)
        if v.dim is not None and v.kind == "python":
            known = self.b.facts.canon(v.dim).const
            if known is not None:
                return self._const(known)
        box = _BOXES[v.dtype.kind] if v.kind == "python" else "scalar"
        return self._capture(self.b.value_of(v), box)

    def _array_value(self, a: Array) -> Value:
        """The IR value to capture: a pure array alone as a tensor, arrays that share memory as views."""
        s = a.storage
        if s.pure is None:
            return self.b.view_value(a)
        if self._views.get(id(s)) == [a] and not a.chain and a.writeable:
            return s.pure
        return self._follow(self._own_memory(s), a.chain)

    def _own_memory(self, s: Storage) -> Value:
        """A buffer for a pure storage, made for this exit alone; lowering sinks it into the exit."""
        if id(s) not in self._memory:
            assert s.pure is not None and isinstance(s.pure.type, TensorType)
            root, mem = self.b.emit_multi("alloc", dtype=s.type.dtype, dims=s.type.dims, layout=s.type.layout)
            self.mems.append(self.b.emit("store", root, s.pure, mem))
            self._memory[id(s)] = root
        return self._memory[id(s)]

    @property
    def mems(self) -> list[Value]:
        """Memory states made for this exit; its node takes them after all others."""
        return self.__dict__.setdefault("_mems", [])

    def _follow(self, v: Value, chain: tuple[ViewOp, ...]) -> Value:
        for op in chain:
            v = self.b.emit(op.prim, v, **dict(op.params))
        return v

    def _items(self, items: Iterable[SymValue]) -> tuple[Recipe, ...]:
        return tuple(map(self._recipe, items))

    def _call(self, function: Any, *items: Recipe) -> Recipe:
        return Recipe("call", self.inputs.const_index(function), items)

    # -- one builder a kind of value ------------------------------------------------------------------------------------
    def _tuple(self, v: TupleV) -> Recipe:
        items = self._items(v.items)
        if v.cls is tuple or not hasattr(v.cls, "_fields"):
            plain = Recipe("tuple", None, items)
            return plain if v.cls is tuple else self._call(v.cls, plain)
        return self._call(v.cls, *items)

    def _dict(self, v: DictV) -> Recipe:
        return Recipe("dict", None, tuple(r for k, x in v.items.items() for r in (self._const(k), self._recipe(x))))

    def _cell(self, v: CellV) -> Recipe:
        return Recipe("cell", None, (UNBOUND if v.content is None else self._recipe(v.content),))

    def _function(self, v: FunctionV) -> Recipe:
        f = v.info
        defaults = Recipe("tuple", None, self._items(f.defaults)) if f.defaults else NULL_RECIPE
        pairs = tuple(r for k, x in f.kwdefaults.items() for r in (self._const(k), self._recipe(x)))
        kwdefaults = Recipe("dict", None, pairs) if pairs else NULL_RECIPE
        closure = Recipe("tuple", None, self._items(f.closure)) if f.closure else NULL_RECIPE
        annotations = NULL_RECIPE if f.annotations is None else self._recipe(f.annotations)
        items = (globals_recipe(f), defaults, kwdefaults, closure, self._const(f.code.co_qualname), annotations)
        made = Recipe("function", (self.inputs.const_index(f.code), 0), items)
        return made if f.wrapped is None else self._call(functools.update_wrapper, made, self._recipe(f.wrapped))

    def _generator(self, v: GenExprV) -> Recipe:
        if v.used:
            raise Refused("generator", "one that is used up is kept")
        return self._call(call_with, *self._items((v.of, v.args, v.kwargs)))

    def _part_of_a_raise(self, v: SymValue) -> Recipe:
        raise Refused("exception-handling", "what belongs to an exception being handled is kept")

    def _exception(self, v: ExceptionV) -> Recipe:
        if v.raised or v.args is None:
            raise Refused("exception-handling", "an exception that was raised is kept")
        return self._call(operator.call, self._recipe(v.cls), *self._items(v.args))

    def _seq_iter(self, v: SeqIterV) -> Recipe:
        """An iterator at its position; `islice` on the live list, so that later changes to it are seen."""
        if isinstance(v.seq, TupleV) and v.origin is None:
            rest = TupleV(v.seq.items[v.index :])
            return self._call(iter, self._recipe(rest))
        return self._skipping(self._recipe(v.origin or v.seq), self._const(v.index), v.index == 0)

    def _skipping(self, iterable: Recipe, count: Recipe, none: bool) -> Recipe:
        it = self._call(iter, iterable)
        return it if none else self._call(itertools.islice, it, count, self._const(None))

    def _positions(self, v: PositionsIterV) -> Recipe:
        whole = isinstance(v.array, Array)
        iterable = self._call(np.ndenumerate, self._recipe(v.array)) if whole else self._call(np.ndindex, *self._items(v.sizes))
        return self._skipping(iterable, self._recipe(v.index), isinstance(v.index, Const) and v.index.value == 0)

    def _array_iter(self, v: ArrayIterV) -> Recipe:
        start = isinstance(v.index, Const) and v.index.value == 0
        return self._skipping(self._recipe(v.array), self._recipe(v.index), start)


def _function_parts(f: FunctionInfo) -> tuple[SymValue, ...]:
    annotations = () if f.annotations is None else (f.annotations,)
    return (*f.defaults, *f.kwdefaults.values(), *f.closure, *annotations, *(() if f.wrapped is None else (f.wrapped,)))


_CHILDREN: dict[type, Callable[[Any], Iterable[SymValue]]] = {
    TupleV: lambda v: v.items,
    RunListV: lambda v: (*v.lead, *v.extra),
    Tensor: lambda v: (v.array,),
    Picked: lambda v: (v.together,) if v.together else (v.whole, v.mask, v.array, v.by),
    ListV: lambda v: v.items,
    DictV: lambda v: v.items.values(),
    SliceV: lambda v: (v.start, v.stop, v.step),
    RangeV: lambda v: (v.start, v.stop, v.step),
    CellV: lambda v: () if v.content is None else (v.content,),
    FunctionV: lambda v: _function_parts(v.info),
    ObjectV: lambda v: v.attrs.values(),
    ExceptionV: lambda v: v.args or (),
    MapV: lambda v: (v.function, v.iterable),
    PartialV: lambda v: (v.function, v.args, v.kwargs),
    GetterV: lambda v: (v.args, v.kwargs),
    MethodV: lambda v: (v.function, v.self),
    FlagsV: lambda v: (v.array,),
    ManagerFunctionV: lambda v: (v.function,),
    ManagerV: lambda v: (v.of, v.args, v.kwargs),
    ManagerExitV: lambda v: (*v.locals.values(), *v.free.values(), *v.stack),
    GenExprV: lambda v: (v.of, v.args, v.kwargs),
    SuperV: lambda v: (v.cls, v.self),
    TextV: lambda v: v.args,
    RangeIterV: lambda v: (v.next, v.range.stop, v.range.step),
    CountIterV: lambda v: (v.next, v.range.stop, v.range.step),
    SeqIterV: lambda v: (v.origin,) if v.origin else v.seq.items[v.index :] if isinstance(v.seq, TupleV) else (v.seq,),
    ArrayIterV: lambda v: (v.array, v.index),
    PositionsIterV: lambda v: (v.array, v.index, *v.sizes),
    RunListIterV: lambda v: (v.list, v.index),
    ZipIterV: lambda v: v.iters,
    EnumerateIterV: lambda v: (v.inner, v.count),
    DictViewV: lambda v: (v.dict,),
    JoinV: lambda v: (v.first, v.rest),
}

_BUILDERS: dict[type, Callable[[ExitBuilder, Any], Recipe]] = {
    TupleV: ExitBuilder._tuple,
    RunListV: ExitBuilder._run_list,
    ListV: lambda e, v: Recipe("list", None, e._items(v.items)),
    DictV: ExitBuilder._dict,
    SetV: lambda e, v: Recipe("set", None, tuple(map(e._const, v.items))),
    SliceV: lambda e, v: Recipe("slice", None, e._items((v.start, v.stop, v.step))),
    RangeV: lambda e, v: Recipe("range", None, e._items((v.start, v.stop, v.step))),
    CellV: ExitBuilder._cell,
    JoinV: ExitBuilder._join,
    FunctionV: ExitBuilder._function,
    GenExprV: ExitBuilder._generator,
    ErrStateV: lambda e, v: e._call(make_errstate, Recipe("tuple", None, tuple(map(e._const, v.kinds)))),
    ObjectV: ExitBuilder._object,
    MapV: lambda e, v: e._call(v.kind, *e._items((v.function, v.iterable))),
    GetterV: lambda e, v: e._call(call_with, e._const(v.kind), *e._items((v.args, v.kwargs))),
    PartialV: lambda e, v: e._call(make_partial, *e._items((v.function, v.args, v.kwargs))),
    MethodV: ExitBuilder._method,
    FlagsV: lambda e, v: e._call(getattr, e._recipe(v.array), e._const("flags")),
    ManagerFunctionV: lambda e, v: e._call(contextlib.contextmanager, e._recipe(v.function)),
    ManagerV: lambda e, v: e._call(call_with, *e._items((v.of, v.args, v.kwargs))),
    ManagerExitV: ExitBuilder._part_of_a_raise,
    TextV: lambda e, v: e._call(v.function, *e._items(v.args)),
    SuperV: lambda e, v: e._call(super, *e._items((v.cls, v.self))),
    RangeIterV: lambda e, v: Recipe("range_iter", None, e._items((v.next, v.range.stop, v.range.step))),
    CountIterV: lambda e, v: e._call(itertools.count, *e._items((v.next, v.range.step))),
    ExceptionV: ExitBuilder._exception,
    HandledV: ExitBuilder._part_of_a_raise,
    TracebackV: ExitBuilder._part_of_a_raise,
    SeqIterV: ExitBuilder._seq_iter,
    ArrayIterV: ExitBuilder._array_iter,
    PositionsIterV: ExitBuilder._positions,
    RunListIterV: lambda e, v: e._skipping(e._recipe(v.list), e._recipe(v.index), False),
    ZipIterV: lambda e, v: e._call(zip, *e._items(v.iters)),
    EnumerateIterV: lambda e, v: e._call(enumerate, *e._items((v.inner, v.count))),
    Picked: lambda e, v: e._call(chosen, *e._items(picked.parts(e.b, v))),
    DictViewV: lambda e, v: e._call({"keys": dict.keys, "values": dict.values, "items": dict.items}[v.what], e._recipe(v.dict)),
}


def reachable(roots: Iterable[SymValue]) -> list[SymValue]:
    """Every symbolic value reachable from the roots, once each."""
    seen: dict[int, SymValue] = {}
    todo = list(roots)
    while todo:
        v = todo.pop()
        if id(v) in seen:
            continue
        seen[id(v)] = v
        children = _CHILDREN.get(type(v))
        if children:
            todo.extend(children(v))
    return list(seen.values())
