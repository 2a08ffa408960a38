"""Guards in the user's words: which value a guard looks at, what it asks, and what of it a call did not meet.

In: guards and their sources, the names of a place's parameters, a live value. Out: text for `explain`, logs and `.stats`.
Never: decides anything.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import re
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .ir.dims import Dim
from .ir.segment import ArraySpec, Guard, SegmentSpec, Source, TensorSpec

_NUMBERS = {"int": "int", "float": "float", "complex": "complex", "bool": "bool", "range_iter": "an iterator over a range"}
_ORDERS = {"C": "C-contiguous", "F": "Fortran-contiguous", "": "strided"}
_SIGNS = {"eq": "==", "ne": "!=", "ge": ">="}
_TESTS = {"eq": operator.eq, "ne": operator.ne, "ge": operator.ge}


class Names:
    """What the values that a place is called with are called in the source code.

    parameters : one name for each value; code : of the function, for the names of its closure's variables.
    """

    def __init__(self, parameters: Sequence[str], code: types.CodeType, kind: str = "argument") -> None:
        self.parameters = tuple(parameters)
        self.code = code
        self.kind = kind

    def expression(self, s: Source) -> str:
        """The source as Python would write it."""
        if s.kind == "arg":
            return self.parameters[s.key]
        if s.kind == "attr":
            return f"{self._base(s)}.{s.key}"
        if s.kind == "item":
            return f"{self._base(s)}[{s.key!r}]"
        if s.kind == "type":
            return f"type({self._base(s)})"
        if s.kind == "cell":
            free = self.code.co_freevars
            return free[s.key] if s.base is None and s.key < len(free) else f"{self._base(s)}.__closure__[{s.key}]"
        if s.kind == "function":
            return self.code.co_name
        return str(s.key)

    def _base(self, s: Source) -> str:
        return self.code.co_name if s.base is None else self.expression(s.base)

    def source(self, s: Source) -> str:
        """The source with what it is, such as "argument `x`"."""
        if s.kind == "arg" and not self.parameters[s.key].isidentifier():
            return self.parameters[s.key]
        if s.kind == "cell":
            kind = "variable of an enclosing function"
        else:
            kind = {"arg": self.kind, "global": "global", "function": "function"}.get(s.kind, "")
        return f"{kind} `{self.expression(s)}`".strip()


def requirement(g: Guard, spec: SegmentSpec, names: Names) -> str:
    """What a guard asks, such as "argument `x`: float64 array, 2 axes, C-contiguous"."""
    return f"{_subject(g, spec, names)}: {_asks(g, spec, names)}"


def _subject(g: Guard, spec: SegmentSpec, names: Names) -> str:
    if g.source.kind != "const":
        return names.source(g.source)
    x = spec.constants[g.source.key]
    name, owner = getattr(x, "__qualname__", None) or getattr(x, "__name__", None), getattr(x, "__module__", None)
    if name is None:
        return f"an object of class `{type(x).__qualname__}`"
    return f"`{owner}.{name}`" if owner else f"`{name}`"


def failure(g: Guard, spec: SegmentSpec, names: Names, fetch: Callable[[Source], Any]) -> str:
    """What a call did not meet, such as "argument `x`: dtype float32, compiled for float64"."""
    try:
        text = _differs(g, spec, names, fetch(g.source))
    except Exception:  # it is not there any more, or cannot be looked at
        text = f"no longer there, compiled for {_asks(g, spec, names)}"
    return f"{_subject(g, spec, names)}: {text}"


def requirements(spec: SegmentSpec, names: Names, sizes: Sequence[tuple[str, Any, Any]] = ()) -> list[str]:
    """All that is asked before a segment runs: guards, which arrays share memory, sizes (graph guards)."""
    arrays = _arrays(spec)
    out = [requirement(g, spec, names) for g in spec.guards]
    for a in spec.aliases:
        one, other = (names.expression(arrays[k].source) for k in (a.a, a.b))
        out.append(f"`{one}` and `{other}` {_RELATIONS.get(a.relation, a.relation)}")
    text = readable(spec, names)
    return out + [f"{text(str(a))} {_SIGNS[op]} {text(str(b))}" for op, a, b in sizes]


_RELATIONS = {
    "disjoint": "do not overlap in memory",
    "same": "are one array or views of the same elements",
    "other": "overlap in memory",
}


def aliasing(k: int, spec: SegmentSpec, names: Names) -> str:
    """Arrays whose relation is not as alias guard `k` asks."""
    a, arrays = spec.aliases[k], _arrays(spec)
    one, other = (names.expression(arrays[i].source) for i in (a.a, a.b))
    return f"`{one}` and `{other}`: compiled for arrays that {_RELATIONS.get(a.relation, a.relation)}"


def unmet_size(sizes: Sequence[tuple[str, Any, Any]], spec: SegmentSpec, names: Names, fetch: Callable[[Source], Any]) -> str:
    """Which condition on sizes a call does not meet, such as "x.shape[0] == y.shape[0] does not hold: 3, 4"."""
    text = readable(spec, names)
    with contextlib.suppress(Exception):  # a value is not there any more
        values = {symbol: value(fetch(source)) for symbol, (_, source, value) in _symbols(spec, names).items()}
        for op, a, b in sizes:
            x, y = Dim.of(a).evaluate(values), Dim.of(b).evaluate(values)
            if not _TESTS[op](x, y):
                return f"compiled for {text(str(a))} {_SIGNS[op]} {text(str(b))}, here they are {x} and {y}"
    return "sizes or values are not as compiled for"


def readable(spec: SegmentSpec, names: Names) -> Callable[[str], str]:
    """Replaces the names of sizes in a text by expressions such as `x.shape[0]`."""
    table = _symbols(spec, names)
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, table)) + r")\b") if table else None
    return lambda text: text if pattern is None else pattern.sub(lambda m: table[m[1]][0], text)


def _symbols(spec: SegmentSpec, names: Names) -> dict[str, tuple[str, Source, Callable[[Any], int]]]:
    """Symbols that inputs give: what each is in the source code, and how it is found in the input's live object."""
    by_word: dict[int, tuple[str, Source, Callable[[Any], int]]] = {}
    word = 0
    for g in spec.guards:
        text = names.expression(g.source)
        if isinstance(g.arg, ArraySpec):
            for i in range(g.arg.rank):
                by_word[word + 1 + i] = (f"{text}.shape[{i}]", g.source, functools.partial(_length, i))
            word += 1 + 2 * g.arg.rank
        elif g.kind == "length":
            by_word[word] = (f"len({text})", g.source, len)
            word += 1
        elif g.kind in _NUMBERS or g.kind == "scalar":
            by_word[word] = (text, g.source, int)
            word += _words(g)
    return {symbol: by_word[at] for symbol, at in spec.input_symbols.items() if at in by_word}


def _length(axis: int, x: Any) -> int:
    return x.shape[axis]


def _words(g: Guard) -> int:
    if g.kind == "range_iter":
        return 3
    return 2 if g.kind == "complex" or (g.kind == "scalar" and np.dtype(g.arg).itemsize > 8) else 1


def _arrays(spec: SegmentSpec) -> list[Guard]:
    return [g for g in spec.guards if isinstance(g.arg, ArraySpec)]


def _asks(g: Guard, spec: SegmentSpec, names: Names) -> str:
    if isinstance(g.arg, ArraySpec):
        return _array(g.arg)
    if g.kind in ("is", "code", "type", "equal", "unequal"):
        what = _short(spec.constants[g.arg])
        if g.kind == "unequal":
            return f"!= {what}"
        form = {"is": "is {}", "code": "a function with the code of {}", "type": "of type {}", "equal": "== {}"}[g.kind]
        return form.format(what)
    if g.kind == "lookup":
        name, constant = g.arg
        return f"its class has no `{name}`" if constant is None else f"its class has the same `{name}`"
    if g.kind == "absent":
        return f"has no `{g.arg}`"
    if g.kind in ("distinct", "same"):
        return f"is {'not ' if g.kind == 'distinct' else ''}`{names.expression(g.arg)}`"
    if g.kind == "len":
        return f"length {g.arg}"
    if g.kind == "length":
        return "of any length"
    if g.kind == "int" and g.arg:
        return f"int from {g.arg[0]} to {g.arg[1]}"
    if g.kind == "scalar":
        return f"np.{np.dtype(g.arg).name}"
    if g.kind == "opaque_tensor":
        return f"an array of {g.arg} that is not compiled"
    if g.kind == "returns":
        return "gives what it gave"
    if g.kind == "torch":
        return "modes and defaults of torch are as they were"
    return _NUMBERS.get(g.kind, g.kind)


def _array(a: ArraySpec) -> str:
    kind = f"{a.library} tensor on {a.device}" if isinstance(a, TensorSpec) else "array"
    parts = [f"{np.dtype(a.dtype).name} {kind}", _axes(a.rank)]
    parts += [f"length 1 along {_list(a.ones)}"] if a.ones else []
    parts += [_ORDERS[a.contiguous]] if a.rank else []
    parts += ["writeable"] if a.writeable or a.access == "w" else ["read-only"] if a.access else []
    parts += ["elements share memory"] if a.overlaps else []
    return ", ".join(parts)


def _axes(n: int) -> str:
    return f"{n} {'axis' if n == 1 else 'axes'}"


def _list(axes: Sequence[int]) -> str:
    return f"{'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}"


def _differs(g: Guard, spec: SegmentSpec, names: Names, live: Any) -> str:
    if isinstance(g.arg, TensorSpec):
        return f"{_type(live)} with other properties, compiled for {_array(g.arg)}"
    if isinstance(g.arg, ArraySpec):
        return _array_differs(g.arg, live) if type(live) is np.ndarray else f"{_type(live)}, compiled for {_array(g.arg)}"
    if g.kind == "equal" and type(live) is type(spec.constants[g.arg]):
        return f"{_short(live)}, compiled for {_short(spec.constants[g.arg])}"
    if g.kind == "unequal":
        return f"{_short(live)}, compiled for other values"
    if g.kind == "is":
        return f"another object ({_short(live)}), compiled for {_short(spec.constants[g.arg])}"
    if g.kind == "code":
        return f"another function ({_short(live)}), compiled for {_short(spec.constants[g.arg])}"
    if g.kind in ("type", "equal"):
        wanted = spec.constants[g.arg]
        return f"{_type(live)}, compiled for {_short(wanted) if g.kind == 'type' else _type(wanted)}"
    if g.kind == "len":
        return f"length {len(live)}, compiled for {g.arg}"
    if g.kind == "int" and type(live) is int:
        return f"value {live}, compiled for {_asks(g, spec, names)}"
    if g.kind in _NUMBERS or g.kind == "scalar":
        return f"{_type(live)}, compiled for {_asks(g, spec, names)}"
    return f"no longer as compiled for ({_asks(g, spec, names)})"


def _array_differs(a: ArraySpec, x: np.ndarray) -> str:
    ones = tuple(i for i, n in enumerate(x.shape) if n == 1)
    order = "C" if x.flags.c_contiguous else "F" if x.flags.f_contiguous else ""
    if x.dtype != np.dtype(a.dtype):
        return f"dtype {x.dtype}, compiled for {np.dtype(a.dtype).name}"
    if x.ndim != a.rank:
        return f"{_axes(x.ndim)}, compiled for {a.rank}"
    if ones != a.ones:
        return f"length 1 along {_list(ones) if ones else 'no axis'}, compiled for {_list(a.ones) if a.ones else 'no axis'}"
    if order != a.contiguous:
        return f"{_ORDERS[order]}, compiled for {_ORDERS[a.contiguous]}"
    if (a.writeable or a.access == "w") and not x.flags.writeable:
        return "read-only, compiled for a writeable array"
    if a.access == "r" and x.flags.writeable:
        return "writeable, compiled for a read-only array"
    if not x.flags.aligned:
        return "unaligned, compiled for an aligned array"
    return f"strides {x.strides}, compiled for another order of axes or elements"


def _type(x: Any) -> str:
    cls = type(x)
    return f"np.{x.dtype.name}" if isinstance(x, np.generic) else cls.__qualname__


def _short(x: Any) -> str:
    """A name or a short text of an object, without running code of its class."""
    if isinstance(x, (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        return f"`{getattr(x, '__qualname__', None) or x.__name__}`"
    if isinstance(x, types.CodeType):
        return f"`{x.co_qualname}`"
    if type(x) in (int, float, complex, bool, str, bytes, type(None)):
        text = hex(x) if type(x) is int and x.bit_length() > 64 else repr(x)
        return text if len(text) <= 40 else f"{text[:37]}..."
    return f"an object of type {type(x).__qualname__}"
