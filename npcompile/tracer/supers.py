"""`super()`: methods of base classes, found along the method resolution order of the exact type of `self`.

In: a class and an instance that is an input. Out: the function to call with `self`, guarded in every class on the way.
"""

from __future__ import annotations

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.microops import NULL_FIRST
from npcompile.frontends.values import NULL, Const, SymValue, Unsupported
from npcompile.ir.segment import Source

from .calls import builtin
from .frames import Frame
from .functions import is_function
from .interpreter import Trace, handles
from .symbolic import CellV, InputObject, ObjectV, SuperV


@builtin(super)
def make(t: Trace, *args: SymValue) -> SymValue:
    """`super()` and `super(cls, self)` as a value (3.11; later versions have an instruction for the usual form)."""
    if len(args) == 2:
        return _checked(t, *args)
    frame = t.frames[-1]
    names = frame.code.code.co_varnames
    cell = frame.free.get("__class__")
    first = frame.locals.get(names[0]) if names else None
    if isinstance(first, CellV):
        first = first.content
    if args or cell is None or cell.content is None or first is None:
        raise Unsupported("super", "not in a method")
    return _checked(t, cell.content, first)


@handles(Op.LOAD_SUPER_ATTR, Op.LOAD_SUPER_METHOD)
def load_super(t: Trace, f: Frame, i: Instr) -> None:
    function, cls, self = f.stack[-3:]
    looked = t.look(function)
    if not isinstance(looked, Const) or looked.value is not super:
        raise Unsupported("super", "the name stands for something else")
    found = attribute(t, _checked(t, cls, self), i.arg[0])
    del f.stack[-3:]
    if i.op is Op.LOAD_SUPER_ATTR:
        raise Unsupported("super", f"{i.arg[0]} is not called")
    if isinstance(found, tuple):
        f.stack += found
    else:
        f.stack += [NULL, found] if i.extra == NULL_FIRST else [found, NULL]


def _checked(t: Trace, cls: SymValue, self: SymValue) -> SuperV:
    looked, instance = t.look(cls), t.look(self)
    of_type = isinstance(looked, Const) and isinstance(looked.value, type)
    if not of_type or not isinstance(instance, (InputObject, ObjectV)) or not issubclass(instance.type or object, looked.value):  # type: ignore
        raise Unsupported("super", "of something else than a class and its instance")
    return SuperV(looked, instance)


def attribute(t: Trace, v: SuperV, name: str) -> SymValue | tuple[SymValue, SymValue]:
    """`super().name`: a static method's function, or (function, self)."""
    cls = v.cls.value  # type: ignore[attr-defined]
    order = v.self.type.__mro__  # type: ignore[attr-defined]
    for c in order[order.index(cls) + 1 :]:
        found = vars(c).get(name)
        reached = getattr(c, name, None)
        function = found.__func__ if isinstance(found, staticmethod) else found
        if (
            not is_function(reached)
            or type(c).__getattribute__ is not type.__getattribute__
            or (name in vars(c) and reached is not function)
        ):
            raise Unsupported("super", f"{name} of {c.__name__}")
        source = Source("attr", name, Source("const", t.inputs.const_index(c)))
        t.inputs.guard_is(source, reached)
        if name in vars(c):
            return Const(reached, source) if isinstance(found, staticmethod) else (Const(reached, source), v.self)
    raise Unsupported("super", name)
