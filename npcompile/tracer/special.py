"""Special methods of user classes (operators, calls, subscripts, `len`, iteration): inlined as CPython would call them.

In: operands of which one is an object of a Python class. Out: the frame of its method, entered by the operator's instruction; the
method's result is the operator's. A method that may return NotImplemented is inlined whole or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.frontends.values import Array, Const, Scalar, SymValue, Unsupported
from npcompile.ir.segment import Source

from . import standins
from .classes import MISSING, class_attribute
from .functions import info_of, inline, is_function
from .numbers import is_number
from .symbolic import FunctionInfo, InputObject, ObjectV

if TYPE_CHECKING:
    from .frames import Frame
    from .interpreter import Trace

_NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "&": "and",
    "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_COMPARE = {"<": ("lt", "gt"), "<=": ("le", "ge"), ">": ("gt", "lt"), ">=": ("ge", "le"), "==": ("eq", "eq"), "!=": ("ne", "ne")}
UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__", "abs": "__abs__"}


def user_class(v: SymValue) -> type | None:
    """The class of an object whose special methods may be Python functions."""
    cls = v.type if isinstance(v, (InputObject, ObjectV)) else None
    return cls if cls is not None and cls.__flags__ & 1 << 9 else None


def method(t: Trace, v: SymValue, name: str) -> FunctionInfo | None:
    """A special method of a user object's class, guarded; None if there is none. Unsupported if it is no Python function."""
    cls = user_class(v)
    if cls is not None and cls in standins.REAL and class_attribute(cls, name) in (MISSING, vars(object).get(name)):
        if name in standins.BY_ITEMS:
            return None
        raise Unsupported("operand", f"{name} of {standins.REAL[cls].__name__}")
    found = None if cls is None else class_attribute(cls, name)
    if cls is None or not is_function(found):
        if cls is None or found is MISSING or found in (object.__eq__, object.__ne__):
            return None
        raise Unsupported("operand", f"{name} of {cls.__name__}")
    base = v.cls_source if isinstance(v, ObjectV) else Source("type", None, v.source)  # type: ignore[attr-defined]
    source = Source("attr", name, base)
    t.inputs.guard_is(source, found)
    return info_of(t, Const(found, source))


def function(info: FunctionInfo) -> Const:
    """The function of a guarded method."""
    assert info.source is not None
    return Const(info.live, info.source)


def enter(t: Trace, f: Frame, n: int, info: FunctionInfo, args: list[SymValue], drops: bool = False) -> None:
    """Take `n` operands off the stack and enter the method."""
    if n:
        del f.stack[-n:]
    inline(t, info, args, {}, drops=drops)
    if "NotImplemented" in info.code.co_names:
        t.frames[-1].can_exit = False


def binary(t: Trace, f: Frame, op: str, compare: bool = False) -> bool:
    """Enter the method for an operator on the two topmost entries; False if neither is a user object."""
    a, b = t.b.force(f.stack[-2]), t.b.force(f.stack[-1])
    if user_class(a) is None and user_class(b) is None:
        return False
    if compare:
        own, other = (f"__{x}__" for x in _COMPARE[op])
        names = [(a, b, own), (b, a, other)]
    else:
        base = _NAMES[op.rstrip("=")] if op not in _NAMES else _NAMES[op]
        names = [(a, b, f"__{base}__"), (b, a, f"__r{base}__")]
        if op not in _NAMES:
            names.insert(0, (a, b, f"__i{base}__"))
    if _later_first(a, b):
        names[-2:] = names[-2:][::-1]
    for x, y, name in names:
        if user_class(x) is None:
            _check_gives_up(x, y)
            continue
        info = method(t, x, name)
        if info is not None:
            enter(t, f, 2, info, [x, y])
            return True
    if compare and op in ("==", "!=") and not isinstance(a, Array) and not isinstance(b, Array):
        from .branches import same_object

        f.stack[-2:] = [Const(same_object(t, a, b) == (op == "=="))]
        return True
    raise Unsupported("operand", f"{op} of objects")


def _later_first(a: SymValue, b: SymValue) -> bool:
    """Is the right operand of a class derived from the left one's? Then its method is asked first."""
    x, y = user_class(a), user_class(b)
    return x is not None and y is not None and x is not y and issubclass(y, x)


def _check_gives_up(x: SymValue, other: SymValue) -> None:
    """A built-in operand leaves the operation to the user's object."""
    cls = user_class(other)
    if is_number(x) or (isinstance(x, Const) and isinstance(x.value, (str, type(None)))):
        return
    asks = getattr(cls, "__array_ufunc__", 0)
    if isinstance(x, (Array, Scalar)) and (asks is None or (asks == 0 and getattr(cls, "__array_priority__", -1.0) > 1e6)):
        return
    raise Unsupported("operand", "an array and an object")


def call_method(t: Trace, v: SymValue, name: str, *args: SymValue) -> bool:
    """Enter a special method for a call that is being made (its operands are off the stack); False if there is none."""
    info = method(t, v, name)
    if info is None:
        return False
    inline(t, info, [v, *args], {})
    return True


def has_method(v: SymValue, name: str) -> bool:
    """Does a user object's class define the method in Python?"""
    cls = user_class(v)
    return cls is not None and is_function(class_attribute(cls, name))


__all__ = ["binary", "call_method", "enter", "has_method", "method", "user_class"]
