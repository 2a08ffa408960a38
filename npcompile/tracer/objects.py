"""Objects of plain Python classes that the segment makes: virtual until they leave it.

In: a call of a class whose instances are made by `object.__new__`. Out: an `ObjectV` whose `__init__` is inlined; its attributes,
found as `object.__getattribute__` finds them. What the class gives is guarded by identity. Never: runs code of the class.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Const, SymValue, Unsupported
from npcompile.ir.segment import Source

from . import standins
from .calls import builtin, builtin_method
from .classes import MISSING, class_attribute
from .functions import info_of, inline, is_function
from .symbolic import FunctionInfo, MethodV, ObjectV

if TYPE_CHECKING:
    from .attributes import Found
    from .interpreter import Trace


def plain_class(cls: Any) -> bool:
    """Does calling the class make an ordinary instance and run `__init__`, nothing else?"""
    return (
        type(cls).__call__ is type.__call__
        and cls.__new__ is object.__new__
        and cls.__getattribute__ is object.__getattribute__
        and not hasattr(cls, "__del__")
        and cls.__module__.partition(".")[0] not in ("numpy", "scipy", "torch", "cupy")
        and not issubclass(cls, BaseException)
        and bool(cls.__flags__ & 1 << 9)  # made by a class statement
        and not getattr(cls, "__abstractmethods__", None)
    )


def construct(t: Trace, callee: Const, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """`cls(*args, **kwargs)`: the object is pushed, then the frame of its `__init__`, whose result is dropped."""
    cls = callee.value
    obj = ObjectV(cls, source_of(t, callee))
    for name in ("__new__", "__getattribute__"):
        t.inputs.guard_is(Source("attr", name, obj.cls_source), getattr(object, name))
    found = class_attribute(cls, "__init__")
    if found is object.__init__:
        if args or kwargs:
            raise Unsupported("call-arguments", cls.__name__)
        t.inputs.guard_is(Source("attr", "__init__", obj.cls_source), found)
        return obj
    info = method_info(t, obj, "__init__", found)
    t.frames[-1].stack.append(obj)
    try:
        inline(t, info, [obj, *args], kwargs, drops=True)
    except Unsupported:
        t.frames[-1].stack.pop()
        raise
    return None


def source_of(t: Trace, cls: Const) -> Source:
    return cls.source or Source("const", t.inputs.const_index(cls.value))


def method_info(t: Trace, obj: ObjectV, name: str, found: Any) -> FunctionInfo:
    """A function of the class, guarded."""
    if not is_function(found):
        raise Unsupported("attribute", f"{name!r} of {obj.type.__name__}")
    source = Source("attr", name, obj.cls_source)
    t.inputs.guard_is(source, found)
    info = info_of(t, Const(found, source))
    assert info is not None
    return info


def attribute(t: Trace, v: ObjectV, name: str) -> Found:
    """`v.name`; None for a property, to be entered."""
    if _is_hidden(t, v, name):
        raise Unsupported("attribute", f"{name!r} of {standins.REAL[v.type].__name__}")
    if name == "__class__" and v.type not in standins.REAL and class_attribute(v.type, name) is vars(object)["__class__"]:
        return Const(v.type, v.cls_source)
    found = class_attribute(v.type, name)
    if isinstance(found, property):
        return None
    if found is not MISSING and not isinstance(found, types.MemberDescriptorType) and hasattr(type(found), "__set__"):
        raise Unsupported("attribute", f"{name!r} of {v.type.__name__} is a descriptor")
    if name in v.attrs:
        return v.attrs[name]
    if name == "__class__":
        return Const(v.type, v.cls_source)
    source = Source("attr", name, v.cls_source)
    if found is MISSING or isinstance(found, types.MemberDescriptorType):
        raise Unsupported("attribute", f"{v.type.__name__} object has no attribute {name!r}")
    if isinstance(found, staticmethod):
        return t.inputs.lazy(source, found.__func__)
    if isinstance(found, classmethod) and is_function(found.__func__):
        function = Source("attr", "__func__", source)
        t.inputs.guard_is(function, found.__func__)
        return Const(found.__func__, function), Const(v.type, v.cls_source)
    if is_function(found):
        t.inputs.guard_is(source, found)
        bound = Const(found, source), v
        return MethodV(*bound) if v.type in standins.REAL else bound
    if hasattr(type(found), "__get__"):
        raise Unsupported("attribute", f"{name!r} of {v.type.__name__}")
    return t.inputs.lazy(source, found)


def _is_hidden(t: Trace, v: ObjectV, name: str) -> bool:
    """Is it an attribute that only what stands for a container has?"""
    return v.type in standins.REAL and name in ("held", "given") and t.frames[-1].code.code.co_filename != standins.__file__


def property_info(t: Trace, v: ObjectV, name: str, part: str) -> FunctionInfo:
    """The getter ("fget") or setter ("fset") of a property, guarded."""
    prop = class_attribute(v.type, name)
    function = getattr(prop, part)
    if not is_function(function):
        raise Unsupported("attribute", f"property {name!r}")
    source = Source("attr", part, Source("attr", name, v.cls_source))
    t.inputs.guard_is(source, function)
    info = info_of(t, Const(function, source))
    assert info is not None
    return info


def store(t: Trace, v: ObjectV, name: str, value: SymValue) -> FunctionInfo | None:
    """`v.name = value`; the setter of a property, to be entered."""
    if v.type in standins.REAL and t.frames[-1].code.code.co_filename != standins.__file__:
        raise Unsupported("mutate-attribute", f"{name!r} of {standins.REAL[v.type].__name__}")
    if v.type is types.SimpleNamespace:
        v.attrs[name] = value
        t.mutated()
        return None
    if v.type.__setattr__ is not object.__setattr__:
        raise Unsupported("mutate-attribute", f"{v.type.__name__} has its own attribute access")
    t.inputs.guard_is(Source("attr", "__setattr__", v.cls_source), object.__setattr__)
    if isinstance(class_attribute(v.type, name), property):
        return property_info(t, v, name, "fset")
    set_directly(t, v, name, value)
    return None


def set_directly(t: Trace, v: ObjectV, name: str, value: SymValue) -> None:
    """`object.__setattr__(v, name, value)`."""
    found = class_attribute(v.type, name)
    member = isinstance(found, types.MemberDescriptorType)
    if not member and ((found is not MISSING and hasattr(type(found), "__set__")) or not v.type.__dictoffset__):
        raise Unsupported("mutate-attribute", f"{name!r} of {v.type.__name__}")
    if found is MISSING:
        t.inputs.guard(v.cls_source, "absent", name)
    v.attrs[name] = value
    t.mutated()


@builtin(types.SimpleNamespace)
def namespace(t: Trace, **kwargs: SymValue) -> SymValue:
    cls = types.SimpleNamespace
    return ObjectV(cls, Source("const", t.inputs.const_index(cls)), dict(kwargs))


@builtin_method(object.__setattr__)
def object_setattr(t: Trace, self: SymValue, name: SymValue, value: SymValue) -> SymValue:
    v, key = t.use(self), t.b.static(t.use(name))
    if not isinstance(v, ObjectV) or not isinstance(key, str):
        raise Unsupported("mutate-attribute", "object.__setattr__")
    set_directly(t, v, key, value)
    return NONE
