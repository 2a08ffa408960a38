"""What a loop carries from turn to turn: variables by kind, and memory states.

Kinds: "same" (one object throughout, lives outside the region), "scalar" (a number of one kind and dtype, maybe joined with
another Python type before the first turn), "open" (a number of one of two kinds, or unbound, with a bool that tells), "tensor"
(a fresh array rebound in each turn, carried by value), "buffer" (an array in memory that the loop exchanges with others, carried
as view and memory), "unbound" (bound in the loop only), "made" (a container or object made anew in each turn: its parts are
carried as variables),
"affine" (a length that grows by the same number in each turn: nothing is carried).
Besides variables, what else a turn changes is carried by the same kinds (see `places`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.frontends.values import Array, Const, Scalar, Storage, SymValue, Tensor, Unsupported
from npcompile.ir.dims import Dim
from npcompile.ir.graph import Region, Value
from npcompile.ir.types import MemType, TensorType, ViewType
from npcompile.records import dataclass, field, replace

from .apart import apart
from .exits import pruned, reachable
from .frames import Frame, NeedsPeel
from .inputs import describe
from .kinds import (
    BUFFER,
    SAME,
    TENSOR,
    UNBOUND_KIND,
    Kind,
    equal_constants,
    fits_open,
    memory,
    number_kind,
    open_kind,
    packed,
    representable,
)
from .numbers import dim_of
from .places import Place
from .symbolic import UNBOUND, CellV, JoinV

if TYPE_CHECKING:
    from .interpreter import Trace


@dataclass(eq=False)
class CarriedChoice:
    """The kind of an open number that a loop carries: `value` is true for the first one."""

    value: Value
    loop: Any

    def first_holds(self, b: Any) -> Value:
        return self.value

    def resolve(self, t: Trace, v: JoinV) -> SymValue:
        """Inside by a peeled turn, afterwards by an exit."""
        if self.loop in t.loops:
            raise NeedsPeel(self.loop)
        t.b.exit_if(self.value, "unbound" if v.first is UNBOUND else "branch-types")
        return v.rest


class Replan(Exception):
    """An attempt has shown that variables must be carried in other ways."""

    def __init__(self, kinds: dict[str, Kind], places: Iterable[Place] = ()) -> None:
        super().__init__(", ".join(kinds))
        self.kinds, self.places = kinds, tuple(places)


@dataclass(frozen=True)
class Plan:
    """Kinds found so far, by variable.

    places : what else is carried. peel : the first turn is taken out before anything is tried.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    peel: bool = False
    places: tuple[Place, ...] = ()

    def wider(self, e: Replan) -> Plan:
        return replace(self, kinds={**self.kinds, **e.kinds}, places=(*self.places, *e.places))

    def without_places(self) -> Plan:
        """What holds for other objects, too."""
        own = {p.name for p in self.places}
        return replace(self, kinds={k: v for k, v in self.kinds.items() if k not in own}, places=())


@dataclass(eq=False)
class Variable:
    """One carried variable. before : its value at the header, first : as a side of a join."""

    name: str
    before: SymValue
    kind: Kind
    header: SymValue | None = None
    inits: list[Value] = field(default_factory=list)
    params: list[Value] = field(default_factory=list)


class Carried:
    """The carried state of one attempt. Made in the region outside, then `enter`, `leave`, `after`.

    late : names that are dead at the header: they are only carried out of the loop, to where it is left from within.
    also : further results of each turn, for the loop's own use.
    inits, outputs : values before and after the loop, in the order of the region's params (without the index).
    """

    def __init__(
        self,
        t: Trace,
        f: Frame,
        loop: Any,
        names: Iterable[str],
        assigned: frozenset[str],
        plan: Plan,
        late: frozenset[str] = frozenset(),
    ) -> None:
        self.t, self.f, self.loop, self.plan, self.late = t, f, loop, plan, late
        self.assigned = assigned
        self.also: list[Value] = []
        self.places = {p.name: p for p in plan.places}
        names = frozenset(names) | late
        self.locals = dict(f.locals)
        self.stack = list(f.stack)
        self.live = self._live_roots(frozenset(names))
        self.parts: dict[str, tuple[str, int]] = {}
        self.tuples: list[tuple[str, Kind]] = []
        self.makers: dict[str, Any] = {}
        self.names = sorted((*names, *self.places))
        apart = self._taken_apart(self.names)
        self._check_tuples()
        self.variables = [self._variable(name) for name in apart]
        self.buffers = [v for v in self.variables if v.kind == BUFFER]
        self._check_buffers()
        self.mem_keys = [k for k in sorted(t.b.mem) if k not in {v.before.storage.mem for v in self.buffers}]  # type: ignore
        self.inits = [t.b.mem[k] for k in self.mem_keys] + [x for v in self.variables for x in v.inits]
        self.outputs: list[Value] = []

    # -- before the loop ------------------------------------------------------------------------------------------------
    def get(self, name: str) -> SymValue:
        """The variable's value now, or that of an item; the content of its cell if it has one."""
        if name in self.parts:
            whole, i = self.parts[name]
            return self._items(self.get(whole), dict(self.tuples)[whole])[i]
        if name in self.places:
            return self.places[name].get(self.t)
        v = self.f.locals.get(name, UNBOUND)
        if isinstance(v, CellV):
            return UNBOUND if v.content is None else v.content
        return v

    def set(self, name: str, value: SymValue) -> None:
        if name in self.places:
            self.places[name].set(self.t, value)
            return
        slot = self.f.locals.get(name)
        if isinstance(slot, CellV):
            slot.content = None if value is UNBOUND else value
        elif value is UNBOUND:
            self.f.locals.pop(name, None)
        else:
            self.f.locals[name] = value

    def _taken_apart(self, names: list[str]) -> list[str]:
        """The names, with what is carried by its parts replaced by names of these."""
        out, todo = [], list(names)
        while todo:
            name = todo.pop(0)
            kind = self.plan.kinds.get(name)
            if kind is None or kind.name != "made":
                out.append(name)
                continue
            found = apart(self.t.look(self.get(name)))
            if found is None:
                raise NeedsPeel(self.loop)
            self.makers[name] = found[2]
            self.tuples.append((name, kind))
            for i in range(kind.size):
                self.parts[f"{name}[{i}]"] = name, i
                todo.append(f"{name}[{i}]")
        return out

    def _items(self, v: SymValue, kind: Kind) -> list[SymValue]:
        """The parts of what was made in the segment."""
        found = apart(self.t.look(v)) if v is not UNBOUND else None
        if found is None or found[0] != kind.shape:
            raise NeedsPeel(self.loop)
        return found[1]

    def _check_tuples(self) -> None:
        """Items are carried, not objects: two names of one object would become names of two."""
        forced = self.t.inputs.forced
        for name in {whole for whole, _ in self.tuples} & set(self.names):
            own = {id(v) for v in reachable([forced(self.get(name))]) if apart(v) is not None and not isinstance(v, Const)}
            others = reachable([forced(self.get(n)) for n in self.names if n != name])
            if any(id(v) in own for v in (*self.live, *others)):
                raise Unsupported("loop-alias", "two names of one object")

    def _bind(self, values: dict[str, SymValue]) -> None:
        """Set the variables; those taken apart are put together first."""
        for name, kind in reversed(self.tuples):
            values[name] = self.makers[name]([values.pop(f"{name}[{i}]") for i in range(kind.size)])
        for name, value in values.items():
            self.set(name, value)

    def _live_roots(self, names: frozenset[str]) -> list[SymValue]:
        """Live values other than the carried variables."""
        t = self.t
        held = {p: p.get(t) for p in self.places.values()}
        for p in held:
            p.set(t, UNBOUND)
        state = pruned(t.inputs, [(f, f.at, f.stack, f.locals) for f in t.frames])
        out: list[SymValue] = [*t.effects.values()]
        for frame, _, stack, local in state:
            out += [*stack, *frame.free.values()]
            out += [v for k, v in local.items() if frame is not self.f or k not in names]
        out = reachable([t.inputs.forced(v) for v in out])
        for p, v in held.items():
            p.set(t, v)
        return out

    def _variable(self, name: str) -> Variable:
        before = UNBOUND if name in self.late else self.get(name)
        # a turn that was taken out was to settle open types
        if before is not UNBOUND and (self.loop.owner.peeled or open_kind(self.t.b.force(before)) is None):
            before = self.t.look(before)
        before = self.t.b.force(before)
        kind = self.plan.kinds.get(name) or self._first_guess(before)
        v = Variable(name, before, kind)
        if kind.name == "scalar":
            v.inits = [self._number_before(v)]
        elif kind.name == "open":
            v.inits = self._open_before(v)
        elif kind.name == "tensor":
            v.inits = [self._tensor_before(v)]
            if kind.kept is not None:
                v.inits.append(self._position(memory(before), kind.kept))
        elif kind == BUFFER:
            v.inits = self._buffer_before(v)
        return v

    def _first_guess(self, before: SymValue) -> Kind:
        """A number that is assigned in the loop changes; other objects may well stay."""
        if before is UNBOUND:
            return UNBOUND_KIND
        if isinstance(before, JoinV):
            return open_kind(before) or SAME
        if isinstance(before, Const) and type(before.value) not in (int, float, complex):
            return SAME
        if isinstance(before, Const) and type(before.value) is int and not -(1 << 63) <= before.value < 1 << 63:
            return SAME
        return number_kind(before) or SAME

    def _number_before(self, v: Variable) -> Value:
        assert v.kind.dtype is not None
        if v.before is UNBOUND:
            return self.t.b.const(0, v.kind.dtype)
        if number_kind(v.before) is None or not representable(v.before, v.kind):
            raise NeedsPeel(self.loop)
        return self.t.b.value_of(self.t.use(v.before), v.kind.dtype)

    def _open_before(self, v: Variable) -> list[Value]:
        kind = v.kind
        if isinstance(v.before, JoinV):
            if open_kind(v.before) != kind:
                raise NeedsPeel(self.loop)
            return [self.t.b.value_of(v.before.rest), v.before.choice.first_holds(self.t.b)]
        is_first = self._is_first(kind, v.before)
        if is_first is None:
            raise NeedsPeel(self.loop)
        assert kind.dtype is not None
        if v.before is UNBOUND:
            value = self.t.b.const(0, kind.dtype)
        else:
            value = self.t.b.value_of(self.t.use(v.before), kind.dtype)
        return [value, self.t.b.const(is_first, bool)]

    def _is_first(self, kind: Kind, value: SymValue) -> bool | None:
        """Which of the two kinds of an open number has this one? None: neither, or not exactly."""
        assert kind.first is not None
        if value is UNBOUND:
            return True if kind.first == UNBOUND_KIND else None
        have = number_kind(value)
        if have == replace(kind, name="scalar", first=None):
            return False
        return True if have == kind.first and fits_open(value, kind) else None

    def _tensor_before(self, v: Variable) -> Value:
        """A fresh array that nothing else refers to, by value; any other one needs a peeled turn."""
        a = memory(v.before)
        if a is None or a.chain or not a.storage.fresh or not a.writeable or self._referenced(a.storage, v):
            raise NeedsPeel(self.loop)
        return packed(self.t, self.t.b.read(a))

    def _referenced(self, s: Storage, but: Variable) -> bool:
        others = [memory(self.get(x.name)) for x in getattr(self, "variables", ()) if x is not but]
        return any(isinstance(v, Array) and v.storage is s for v in (*self.live, *others))

    def _buffer_before(self, v: Variable) -> list[Value]:
        a = v.before
        if not isinstance(a, Array):
            raise NeedsPeel(self.loop)
        if a.chain or not a.writeable:
            raise Unsupported("loop-alias", "a view is exchanged")
        s = a.storage
        if s.kept is not None:
            raise Unsupported("loop-alias", "an array is exchanged that a list holds")
        self.t.b.materialise(s)
        source = s.source
        if source is not None and source.kind != "arg":
            raise Unsupported("loop-alias", f"{source} is exchanged")
        assert s.root is not None and s.mem is not None
        return [s.root, self.t.b.mem[s.mem]]

    def _check_buffers(self) -> None:
        """Exchanged buffers must be different, alone in their alias classes, and of one type."""
        arrays = [v.before for v in self.buffers]
        keys = {a.storage.mem for a in arrays if isinstance(a, Array)}
        if len(keys) != len(arrays):
            raise Unsupported("loop-alias", "two names of one buffer are exchanged")
        storages = [a.storage for a in arrays if isinstance(a, Array)]
        for x in (*self.live, *(v.before for v in self.variables if v.kind != BUFFER)):
            if isinstance(x, Array) and (x.storage in storages or x.storage.mem in keys):
                raise Unsupported("loop-alias", "an exchanged array is used under another name")
        if self.t.inputs.shares_class(storages):
            raise Unsupported("loop-alias", "an exchanged array overlaps another input")
        for a in arrays[1:]:
            self._same_type(arrays[0], a)

    def _same_type(self, a: Any, b: Any) -> None:
        t = self.t.b
        if a.rank != b.rank or not all(t.dim_is(x, y) for x, y in zip(a.dims, b.dims)):
            raise Unsupported("loop-types", "exchanged arrays differ in shape")
        if t.facts.canon_type(a.storage.root.type) != t.facts.canon_type(b.storage.root.type):
            raise Unsupported("loop-types", f"exchanged arrays differ: {a.storage.root.type} and {b.storage.root.type}")

    # -- inside -----------------------------------------------------------------------------------------------------------
    def enter(self, region: Region, turn: Dim | None) -> None:
        """Give the region its params and the variables the values that they have at its start. turn : counted from 0, or None."""
        self.turn = turn
        b = self.t.b
        known = {k: self._param(region, MemType()) for k in self.mem_keys}
        b.mem = dict(known)
        headers: dict[str, SymValue] = {}
        for v in self.variables:
            v.params = [self._param(region, x.type) for x in v.inits]
            v.header = headers[v.name] = self._at_header(v)
        self._bind(headers)

    def _param(self, region: Region, type: Any) -> Value:
        region.params.append(Value(replace(type, strides=None) if isinstance(type, TensorType) else type))
        return region.params[-1]

    def _at_header(self, v: Variable) -> SymValue:
        if v.kind.name == "scalar" and v.name in self.places and self.places[v.name].is_count:
            return self._count(v, v.params[0])
        if v.kind.name == "scalar":
            return self._number(v, v.params[0])
        if v.kind.name == "affine":
            assert self.turn is not None
            return self.t.int_of(self._dim_before(v) + self.turn * v.kind.size)
        if v.kind.name == "open":
            return self._open(v.kind, *v.params)
        if v.kind.name == "tensor":
            return self._array(v, *v.params)
        if v.kind == BUFFER:
            return self._buffer(*v.params)
        return v.before

    def _count(self, v: Variable, value: Value) -> Scalar:
        """The length of a list as a number that is a dim."""
        capacity = self.places[v.name].owner.capacity
        d = self.t.b.name_of(value, self.places[v.name].owner.least, capacity, max(self.t.b.hint(capacity) // 2, 0))
        return Scalar("python", np.dtype(np.int64), value, d)

    def _dim_before(self, v: Variable) -> Dim:
        d = dim_of(v.before)
        if d is None:
            raise Replan({v.name: Kind("scalar", True, np.dtype(np.int64), size=-1)})
        return self.t.b.facts.canon(d)

    def _array(self, v: Variable, value: Value, position: Value | None = None) -> SymValue:
        """A fresh array, or tensor as the variable was before."""
        array = self.t.b.array(value)
        if position is not None:
            self.t.b.keep(array.storage, v.kind.kept, Scalar("python", np.dtype(np.int64), position))
        return Tensor(array) if isinstance(v.before, Tensor) else array

    def _number(self, v: Variable, value: Value) -> SymValue:
        assert v.kind.dtype is not None
        rest = Scalar("python" if v.kind.python else "numpy", v.kind.dtype, value)
        return JoinV(v.before, rest, self.loop) if v.kind.joined else rest

    def _open(self, kind: Kind, value: Value, is_first: Value) -> JoinV:
        assert kind.first is not None
        first: SymValue = UNBOUND
        if kind.first.dtype is not None:
            first = kind.first.scalar(self.t.b.convert(value, kind.first.dtype, report=None))  # type: ignore[arg-type]
        return JoinV(first, kind.scalar(value), CarriedChoice(is_first, self.loop))

    def _buffer(self, view: Value, mem: Value) -> Array:
        key = self.t.b.new_mem(mem)
        arrays = [v.before for v in self.buffers if isinstance(v.before, Array)]
        assert isinstance(view.type, ViewType)
        s = Storage(view.type, root=view, mem=key, fresh=all(a.storage.fresh for a in arrays))
        self.t.inputs.note_origins(s, [a.storage for a in arrays])
        return Array(s, (), view.type)

    def leave(self, region: Region) -> None:
        """At the end of the body: what the next turn gets. Raises `Replan` or `NeedsPeel` when kinds do not fit."""
        t, b = self.t, self.t.b
        if len(self.f.stack) != len(self.stack) or any(x is not y for x, y in zip(self.f.stack, self.stack)):
            raise Unsupported("loop-container", "the expression around the loop changes")
        new: dict[str, Kind] = {}
        yields: list[list[Value]] = []
        for v in self.variables:
            after = self.get(v.name)
            after = after if after is UNBOUND or after is v.header else t.b.force(after)
            found = self._yield(v, after)
            if isinstance(found, Kind):
                new[v.name] = found
            else:
                yields.append(found)
        new |= self._exchanged(new)
        if new:
            raise Replan(new)
        self._check_distinct()
        self._check_tuples()
        if b.stored_inputs() - set(self.mem_keys) - {v.before.storage.mem for v in self.buffers}:  # type: ignore
            raise Replan({})  # an input was stored to that had not been looked at before the loop
        region.results = [b.mem[k] for k in self.mem_keys] + [x for y in yields for x in y]

    def _yield(self, v: Variable, after: SymValue) -> list[Value] | Kind:
        """The values for the next turn, or the kind that would be needed."""
        if after is v.header and not (v.kind.name == "tensor" and self._is_kept(after)):
            return list(v.params) if v.kind != BUFFER else self._buffer_values(after)
        if isinstance(after, JoinV) or v.kind.name == "open":
            return self._open_yield(v, after)
        if v.kind.name == "affine":
            return [] if self._step(v, after) == v.kind.size else Kind("scalar", True, np.dtype(np.int64), size=-1)
        if v.kind.name == "scalar":
            step = self._step(v, after) if v.kind.size == 0 else None
            return self._number_yield(v, after) if step is None else Kind("affine", size=step)
        if v.kind.name == "tensor":
            return self._tensor_yield(v, after)
        if v.kind == BUFFER:
            return self._buffer_values(after)
        if v.kind == SAME and equal_constants(v.before, after):
            return []
        return self._kind_for(v, after)

    def _step(self, v: Variable, after: SymValue) -> int | None:
        """By how much every turn lengthens a list; None if that is not the same for all."""
        if v.name not in self.places or not self.places[v.name].is_count or self.turn is None or v.header is None:
            return None
        old, new, code = dim_of(v.header), dim_of(after), self.loop.owner.arrival()[0]
        if old is None or new is None or dim_of(v.before) is None or isinstance(code, Value) or code:
            return None
        return self.t.b.facts.canon(new - old).const

    def _kind_for(self, v: Variable, after: SymValue) -> Kind:
        """The kind of a variable that does not stay the same."""
        found = number_kind(after)
        if found is not None:
            if v.before is UNBOUND:
                return replace(found, joined=True)
            if number_kind(v.before) is None:
                raise NeedsPeel(self.loop)
            return found if found == number_kind(v.before) else self._joined(v, found)
        old, made = apart(v.before), apart(after)
        if old is not None and made is not None and old[0] == made[0]:
            return Kind("made", size=len(made[1]), shape=made[0])
        new = memory(after)
        if new is not None and type(after) is type(v.before) and not new.chain:
            if new.storage.region is self.t.b.region:
                return TENSOR
            if isinstance(after, Array):
                return BUFFER
            raise Unsupported("loop-alias", "tensors are exchanged")
        raise NeedsPeel(self.loop)

    def _joined(self, v: Variable, found: Kind) -> Kind:
        kind = replace(found, joined=True)
        if not representable(v.before, kind):
            raise NeedsPeel(self.loop)
        return kind

    def _number_yield(self, v: Variable, after: SymValue) -> list[Value] | Kind:
        if after is UNBOUND:
            if v.name in self.late:
                return list(v.params)
            raise Unsupported("unbound", v.name)
        after = self.t.use(after)
        found = number_kind(after)
        if found is None:
            raise NeedsPeel(self.loop)
        if (found.python, found.dtype) != (v.kind.python, v.kind.dtype):
            if v.kind.joined:
                raise NeedsPeel(self.loop)
            return self._joined(v, found)
        return [self.t.b.value_of(after, v.kind.dtype)]

    def _open_yield(self, v: Variable, after: SymValue) -> list[Value] | Kind:
        """A number whose kind depends on the way that the turn took."""
        b = self.t.b
        if not isinstance(after, JoinV):
            is_first = self._is_first(v.kind, after)
            if is_first is None:
                raise NeedsPeel(self.loop)
            value = b.const(0, v.kind.dtype) if after is UNBOUND else b.value_of(self.t.use(after), v.kind.dtype)  # type: ignore
            return [value, b.const(is_first, bool)]
        kind = open_kind(after)
        if kind is None:
            raise NeedsPeel(self.loop)
        if v.kind == kind:
            return [b.value_of(after.rest), after.choice.first_holds(b)]
        if v.kind.name == "open" or self._is_first(kind, v.before) is None:
            raise NeedsPeel(self.loop)
        return kind

    def _tensor_yield(self, v: Variable, after: SymValue) -> list[Value] | Kind:
        a = memory(after)
        if (
            a is None
            or type(after) is not type(v.before)
            or a.chain
            or a.storage.region is not self.t.b.region
            or not a.writeable
        ):
            raise Unsupported("loop-types", f"{v.name} becomes {describe(after)}")
        value = packed(self.t, self.t.b.read(a))
        canon = self.t.b.facts.canon_type
        if canon(value.type) != canon(v.params[0].type):
            raise NeedsPeel(self.loop)
        kept = a.storage.kept
        if kept is not None and v.kind.kept is not kept[0]:
            return replace(v.kind, kept=kept[0])
        return [value] if v.kind.kept is None else [value, self._position(a, v.kind.kept)]

    def _is_kept(self, after: SymValue) -> bool:
        a = memory(after)
        return a is not None and a.storage.kept is not None

    def _position(self, a: Array | None, owner: Any) -> Value:
        """Where a list holds an array; -1 where it does not."""
        assert a is not None
        if a.storage.kept is None or a.storage.kept[0] is not owner:
            return self.t.b.const(-1, np.dtype(np.int64))
        return self.t.b.value_of(a.storage.kept[1])

    def _buffer_values(self, after: SymValue) -> list[Value]:
        own = [x.header.storage for x in self.buffers if isinstance(x.header, Array)]
        if not isinstance(after, Array) or after.chain or after.storage not in own:
            raise Unsupported("loop-alias", "exchanged buffers are mixed with other arrays")
        assert after.storage.root is not None and after.storage.mem is not None
        return [after.storage.root, self.t.b.mem[after.storage.mem]]

    def _exchanged(self, new: dict[str, Kind]) -> dict[str, Kind]:
        """When one variable becomes a buffer, so do those whose buffers it exchanges; all go by value if one is made anew."""
        if BUFFER not in new.values():
            return {}
        kinds = {**self.plan.kinds, **new}
        after = {v.name: self.t.b.force(self.get(v.name)) for v in self.variables}
        involved = {id(after[v.name]) for v in self.variables if new.get(v.name) == BUFFER}
        kinds.update((v.name, BUFFER) for v in self.variables if id(v.before) in involved and not _is_tensor(kinds.get(v.name)))
        todo = [v for v in self.variables if _is_tensor(kinds.get(v.name))]
        while todo:
            x = todo.pop()
            for v in self.variables:
                if kinds.get(v.name) == BUFFER and (
                    after[v.name] in (x.before, x.header) or after[x.name] in (v.before, v.header)
                ):
                    kinds[v.name] = TENSOR
                    todo.append(v)
        return {k: kind for k, kind in kinds.items() if self.plan.kinds.get(k) != kind}

    def _check_distinct(self) -> None:
        """Two carried arrays must not end up as one object: later stores to one would be stores to the other."""
        arrays = [memory(self.get(v.name)) for v in self.variables if v.kind.name in ("tensor", "buffer")]
        storages = [a.storage for a in arrays if a is not None]
        if len({id(s) for s in storages}) != len(storages):
            raise Unsupported("loop-alias", "two variables come to share one array")

    # -- after the loop -----------------------------------------------------------------------------------------------
    def after(self) -> None:
        """Bind the variables to what came out of the loop."""
        b = self.t.b
        cells = {k: v for k, v in self.f.locals.items() if isinstance(v, CellV)}
        self.f.locals = {k: v for k, v in self.locals.items() if k not in self.assigned} | cells
        outputs = iter(self.outputs)
        for k in self.mem_keys:
            b.mem[k] = next(outputs)
        for v in self.buffers:
            assert isinstance(v.before, Array) and v.before.storage.mem is not None
            del b.mem[v.before.storage.mem]
        self._bind({v.name: self._value_after(v, [next(outputs) for _ in v.params]) for v in self.variables})

    def _value_after(self, v: Variable, values: list[Value]) -> SymValue:
        if v.kind.name == "affine":
            return self.t.int_of(self._dim_before(v) + self.loop.trips * v.kind.size)
        if v.kind.name == "scalar" and v.name in self.places and self.places[v.name].is_count:
            return self._count(v, values[0])
        if v.kind.name == "open":
            open_ = self._open(v.kind, *values)
            return open_.rest if v.name in self.late else open_
        if v.kind.name == "scalar":
            out = self._number(v, values[0])
            if v.name in self.late:
                return out.rest if isinstance(out, JoinV) else out
            turned = isinstance(out, JoinV) and self.t.b.facts.prove_ge(self.t.b.facts.canon(self.loop.trips) - 1)
            return out.rest if turned and isinstance(out, JoinV) else out
        if v.kind.name == "tensor":
            return self._array(v, *values)
        if v.kind == BUFFER:
            return self._buffer(*values)
        return v.before


def _is_tensor(kind: Kind | None) -> bool:
    return kind is not None and kind.name == "tensor"
