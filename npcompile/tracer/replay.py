"""Runs a traced segment in pure Python: checks its guards, executes its graph, rebuilds objects, continues natively.

In: a trace result and live arguments. Out: what the call returns. The reference for the runtime's C code, and the means by
which tests force every exit in turn.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any

import numpy as np

from npcompile.bytecode.stubs import NULL, FrameValues, resume
from npcompile.frontends import foreign
from npcompile.frontends.torch import library as torch_library
from npcompile.ir.executor import ExitTaken, Machine, Reports, bind_symbols, capture, run_graph
from npcompile.ir.segment import ArraySpec, ExitSpec, FrameSpec, Guard, Recipe, Source, TensorSpec
from npcompile.records import replace

from .aliasing import overlaps_itself, relation
from .inputs import array_spec, const_key, range_position, warns_on_write
from .trace import TraceResult

INT64_RANGE = (-(1 << 63), (1 << 63) - 1)
_NOTHING = object()


class GuardFailed(Exception):
    """The segment does not apply to these arguments."""


class Call:
    """One call of a segment.

    force : asked at every conditional exit that is not taken, with the exit's number; true takes it.
    """

    def __init__(self, result: TraceResult, fn: FunctionType, args: Sequence[Any], force: Callable[[int], bool] | None = None):
        self.result, self.spec = result, result.spec
        self.fn, self.args, self.force = fn, args, force
        self.reports: Reports = []
        self.exit = -1

    def run(self) -> Any:
        """The value that the call returns; what Python raises after an exit passes through."""
        inputs = self.bind()
        machine = _ForcedMachine(bind_symbols(self.spec, inputs), self.reports, self._forced)
        if not machine.guards_hold(self.result.graph.guards):
            raise GuardFailed("sizes")
        self.exit, captures = run_graph(self.result.graph, machine, inputs, check=True)
        return self.leave(self.spec.exits[self.exit], captures)

    def _forced(self, exit: int) -> bool:
        return self.force is not None and not self.spec.exits[exit].variant and self.force(exit)

    # -- guards -------------------------------------------------------------------------------------------------------
    def bind(self) -> list[Any]:
        """Check the guards; the objects of the graph's params."""
        inputs: list[Any] = []
        arrays: list[np.ndarray] = []
        for g in self.spec.guards:
            x = self.fetch(g.source)
            if not self.holds(g, x):
                raise GuardFailed(f"{g.kind} {g.source}")
            if g.kind == "tensor":
                x = foreign.library_of(x).as_array(x)
            if g.kind in ("array", "tensor", "int", "float", "complex", "bool", "scalar"):
                inputs.append(x)
            if g.kind == "length":
                inputs.append(len(x))
            if g.kind == "range_iter":
                inputs += range_position(x)
            if g.kind in ("array", "tensor"):
                arrays.append(x)
        for a in self.spec.aliases:
            if relation(arrays[a.a], arrays[a.b]) != a.relation:
                raise GuardFailed(f"arrays {a.a} and {a.b} are not {a.relation}")
        return inputs

    def fetch(self, s: Source) -> Any:
        if s.kind == "arg":
            return self.args[s.key]
        if s.kind == "const":
            return self.spec.constants[s.key]
        base = self.fn if s.base is None else self.fetch(s.base)
        return _FETCH[s.kind](base, s.key)

    def holds(self, g: Guard, x: Any) -> bool:
        constants = self.spec.constants
        if g.kind == "is":
            return x is constants[g.arg]
        if g.kind == "type":
            return type(x) is constants[g.arg]
        if g.kind == "equal":
            return type(x) is type(constants[g.arg]) and const_key(x) == const_key(constants[g.arg])
        if g.kind == "unequal":
            return type(x) is not type(constants[g.arg]) or const_key(x) != const_key(constants[g.arg])
        if g.kind == "code":
            return x.__code__ is constants[g.arg]
        if g.kind == "len":
            return len(x) == g.arg
        if g.kind == "length":
            return type(x) in (list, dict, set, str)
        if g.kind == "lookup":
            name, index = g.arg
            found = next((vars(c)[name] for c in type(x).__mro__ if name in vars(c)), _NOTHING)
            return found is (_NOTHING if index is None else constants[index])
        if g.kind == "absent":
            return g.arg not in x if type(x) is dict else not hasattr(x, g.arg)
        if g.kind == "same":
            return x is self.fetch(g.arg)
        if g.kind == "distinct":
            return x is not self.fetch(g.arg)
        if g.kind == "array":
            return type(x) is np.ndarray and x.flags.aligned and not warns_on_write(x) and self._array_holds(g.arg, x)
        if g.kind == "tensor":
            return self._tensor_holds(g.arg, x)
        if g.kind == "opaque_tensor":
            library = foreign.library_of(x)
            return library is not None and g.arg == library.NAME and not library.is_plain(x)
        if g.kind == "returns":
            return bool(x() == constants[g.arg])
        if g.kind == "torch":
            plain, default, device = g.arg
            if device is not None and torch_library.current_number() != device:
                return False
            have = torch_library.dtypes().get(torch_library.module().get_default_dtype())
            return torch_library.plain_modes() == plain and (default is None or have == np.dtype(default))
        if g.kind == "range_iter":
            return type(x) is type(iter(range(0)))
        if g.kind == "int":
            lo, hi = g.arg or INT64_RANGE
            return type(x) is int and lo <= x <= hi
        if g.kind == "scalar":
            return type(x) is np.dtype(g.arg).type and x.dtype.str == g.arg
        return type(x) is {"float": float, "complex": complex, "bool": bool}[g.kind]

    def _array_holds(self, want: Any, x: np.ndarray) -> bool:
        if (want.writeable and (not x.flags.writeable or overlaps_itself(x))) or (want.overlaps and not overlaps_itself(x)):
            return False
        if want.access and x.flags.writeable != (want.access == "w"):
            return False
        return array_spec(x) == replace(want, writeable=False, overlaps=False, access="")

    def _tensor_holds(self, want: TensorSpec, x: Any) -> bool:
        library = foreign.plain(x)
        if library is None or want.library != library.NAME or (want.writeable and library is torch_library and x.is_inference()):
            return False
        plain = ArraySpec(**{k: v for k, v in vars(want).items() if k not in ("library", "device")})
        return library.device_of(x) == want.device and self._array_holds(plain, library.as_array(x))  # type: ignore[no-any-return]

    # -- exits --------------------------------------------------------------------------------------------------------
    def leave(self, e: ExitSpec, captures: Sequence[Any]) -> Any:
        build = _Builder(self, captures)
        for r in e.recipes():
            build.find_definitions(r)
        for r in e.effects:
            build.make(r)
        if e.kind == "return":
            assert e.result is not None
            return build.make(e.result)
        return resume([build.frame(f) for f in e.frames])


def _global(fn: Any, name: str) -> Any:
    namespace = fn.__globals__
    if name in namespace:
        return namespace[name]
    found = namespace.get("__builtins__", builtins)
    return found[name] if isinstance(found, dict) else getattr(found, name)


_FETCH: dict[str, Callable[[Any, Any], Any]] = {
    "global": _global,
    "cell": lambda fn, i: fn.__closure__[i].cell_contents,
    "attr": getattr,
    "item": operator.getitem,
    "type": lambda base, key: type(base),
    "function": lambda fn, key: fn,
}


class _ForcedMachine(Machine):
    def __init__(self, env: Any, reports: Reports, force: Callable[[int], bool]) -> None:
        super().__init__(env, reports)
        self.force = force

    def apply(self, prim: Any, types: Any, ins: Any, params: Any, bodies: Any = (), report: Any = None, loc: Any = None) -> Any:
        if prim == "exit_if" and not bool(ins[0]) and self.force(params["exit"]):
            raise ExitTaken(params["exit"], capture(types[1:], ins[1:]))
        return super().apply(prim, types, ins, params, bodies, report, loc)


class _Builder:
    """Builds the objects of one exit."""

    def __init__(self, call: Call, captures: Sequence[Any]) -> None:
        self.call = call
        self.captures = captures
        self.shared: dict[int, Any] = {}
        self.definitions: dict[int, Recipe] = {}

    def find_definitions(self, r: Recipe) -> None:
        """Objects referred to from several places are built where they are first needed."""
        if r.op == "define":
            self.definitions[r.arg] = r.items[0]
        for x in r.items:
            self.find_definitions(x)

    def frame(self, f: FrameSpec) -> FrameValues:
        code = self.call.spec.constants[f.code]
        split = len(f.cells) - len(code.co_freevars)
        cells = {k: self.make(r) for k, r in f.cells[:split]}
        closure = tuple(self.make(r) for _, r in f.cells[split:])
        local = {k: self.make(r) for k, r in f.locals}
        stack = tuple(NULL if r.op == "null" else self.make(r) for r in f.stack)
        return FrameValues(code, self.make(f.globals), f.offset, local, cells, closure, stack, f.pushes)

    def make(self, r: Recipe) -> Any:
        if r.op == "define":
            return self._define(r.arg, r.items[0])
        if r.op == "shared":
            return self._define(r.arg, self.definitions[r.arg])
        if r.op == "source":
            return self.call.fetch(r.arg)
        if r.op == "const":
            return self.call.spec.constants[r.arg]
        if r.op == "value":
            return self._value(*r.arg)
        if r.op == "null":
            return None
        if r.op == "cell":
            return self._fill_cell(CellType(), r)
        if r.op == "choose":
            return self.make(r.items[0 if self.captures[r.arg] else 1])
        if r.op == "call":
            return self.call.spec.constants[r.arg](*map(self.make, r.items))
        if r.op == "function":
            return self._function(r)
        return _MAKE[r.op](*map(self.make, r.items))

    def _define(self, key: int, r: Recipe) -> Any:
        if key in self.shared:
            return self.shared[key]
        if r.op == "cell":
            self.shared[key] = CellType()
            return self._fill_cell(self.shared[key], r)
        if r.op == "list":
            self.shared[key] = []
            self.shared[key].extend(map(self.make, r.items))
        elif r.op == "dict":
            self.shared[key] = {}
            self.shared[key].update(_MAKE["dict"](*map(self.make, r.items)))
        else:
            self.shared[key] = self.make(r)
        return self.shared[key]

    def _fill_cell(self, cell: CellType, r: Recipe) -> CellType:
        if r.items[0].op != "unbound":
            cell.cell_contents = self.make(r.items[0])
        return cell

    def _value(self, k: int, box: str) -> Any:
        x = self.captures[k]
        if box == "array":
            return np.asarray(x)
        if box == "tensor":
            return torch_library.module().from_numpy(np.asarray(x))
        return x if box == "scalar" else {"int": int, "float": float, "bool": bool, "complex": complex}[box](x)

    def _function(self, r: Recipe) -> Any:
        code = self.call.spec.constants[r.arg[0]]
        namespace, defaults, kwdefaults, closure, qualname, annotations = map(self.make, r.items)
        f = FunctionType(code, namespace, code.co_name, defaults, closure)
        f.__kwdefaults__ = kwdefaults
        f.__qualname__ = qualname
        if annotations:
            f.__annotations__ = dict(zip(annotations[::2], annotations[1::2]))
        return f


_MAKE: dict[str, Callable[..., Any]] = {
    "tuple": lambda *items: items,
    "list": lambda *items: list(items),
    "set": lambda *items: set(items),
    "dict": lambda *items: dict(zip(items[::2], items[1::2])),
    "slice": slice,
    "range": range,
    "range_iter": lambda *items: iter(range(*items)),
    "method": lambda f, self: f.__get__(self),
}


def run(result: TraceResult, fn: FunctionType, args: Sequence[Any], force: Callable[[int], bool] | None = None) -> Any:
    """Run a segment for these bound parameters; `GuardFailed` when it does not apply."""
    return Call(result, fn, args, force).run()


__all__ = ["Call", "GuardFailed", "run"]
