"""Attribute look-up without running user code: modules, arrays, NumPy scalars, virtual values, instances of plain classes.

Mirrors `object.__getattribute__`. For instances: the type is guarded, overrides of attribute access and data descriptors
written in Python are not followed (properties are inlined), class attributes are guarded by identity.
"""

from __future__ import annotations

import enum
import functools
import importlib
import sys
import types
from typing import Any

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.bytecode.microops import NULL_FIRST
from npcompile.frontends.numpy import draws, registry
from npcompile.frontends.values import (
    NULL,
    Array,
    Const,
    DictV,
    ListV,
    RangeV,
    Scalar,
    SetV,
    SliceV,
    SymValue,
    Tensor,
    TupleV,
    Unsupported,
    tuple_fields,
)
from npcompile.ir.segment import Source

from . import effects, library, objects, once, standins, tensors
from .classes import MISSING, class_attribute, has_class_attribute
from .frames import Frame
from .functions import info_of, inline, is_function
from .inputs import CONSTANT_MODULES, describe, is_member
from .interpreter import Trace, handles
from .symbolic import ExceptionV, FlagsV, FunctionInfo, FunctionV, InputObject, MethodV, ObjectV, RunListV, SuperV, TextV

_MEMBER_TYPES = (types.MemberDescriptorType,)
_FOLDED_TYPES = (
    np.dtype, np.finfo, np.iinfo, str, bytes, int, float, complex, np.generic, type, type(sys.float_info), type(sys.int_info),
)  # fmt: skip
_LAZY_PARTS = frozenset({"fft", "linalg", "polynomial", "random", "ma", "exceptions", "dtypes", "strings", "char", "rec"})
"""Submodules of NumPy that it imports when they are first asked for."""
_TYPE_OF = {ListV: list, RunListV: list, DictV: dict, SetV: set, TextV: str}


@handles(Op.LOAD_ATTR)
def load_attr(t: Trace, f: Frame, i: Instr) -> None:
    v = f.stack[-1]
    found = lookup(t, v, i.arg)
    f.stack.pop()
    if found is None:  # a property: its getter's frame will push the result
        _enter_property(t, v, i.arg)
    elif isinstance(found, tuple):
        f.stack.append(MethodV(*found))
    else:
        f.stack.append(found)


@handles(Op.LOAD_METHOD)
def load_method(t: Trace, f: Frame, i: Instr) -> None:
    found = lookup(t, f.stack[-1], i.arg)
    if found is None:
        raise Unsupported("attribute", f"property {i.arg!r} that is called")
    f.stack.pop()
    if isinstance(found, tuple):
        f.stack += found
    else:
        f.stack += [NULL, found] if i.extra == NULL_FIRST else [found, NULL]


@handles(Op.STORE_ATTR)
def store_attr(t: Trace, f: Frame, i: Instr) -> None:
    value, owner = f.stack[-2:]
    obj = t.use(owner)
    setter = store(t, obj, i.arg, value)
    del f.stack[-2:]
    if setter is not None:
        inline(t, setter, [obj, value], {}, drops=True)


def store(t: Trace, obj: SymValue, name: str, value: SymValue) -> FunctionInfo | None:
    """`obj.name = value`; the setter of a property, to be entered."""
    if isinstance(obj, ObjectV):
        return objects.store(t, obj, name, value)
    if not isinstance(obj, InputObject):
        raise Unsupported("mutate-attribute", f"{name} of {describe(obj)}")
    return _store(t, obj, name, value)


def _store(t: Trace, obj: InputObject, name: str, value: SymValue) -> FunctionInfo | None:
    """`obj.name = value` as `object.__setattr__` does it, at the exit; or the setter of a property, to be entered."""
    cls = obj.type
    assert cls is not None
    if issubclass(cls, types.ModuleType):  # `warnings` among them: what is called meanwhile looks at it
        raise Unsupported("mutate-attribute", f"{name} of a module")
    if cls.__setattr__ not in (object.__setattr__, types.SimpleNamespace.__setattr__) or not _plain_access(cls):
        raise Unsupported("mutate-attribute", f"{cls.__name__} has its own attribute access")
    found = class_attribute(cls, name)
    guarded = None if found is MISSING else t.inputs.const_index(found)
    if isinstance(found, property) and is_function(found.fset):
        t.inputs.guard(obj.source, "lookup", (name, guarded))
        source = Source("attr", "fset", Source("const", guarded))
        t.inputs.guard_is(source, found.fset)
        return info_of(t, Const(found.fset, source))
    if not isinstance(found, _MEMBER_TYPES) and ((found is not MISSING and _is_data_descriptor(found)) or not cls.__dictoffset__):
        raise Unsupported("mutate-attribute", f"{name!r} of {cls.__name__}")
    member = isinstance(found, _MEMBER_TYPES)
    held = getattr(obj.example, name, None) if member else getattr(obj.example, "__dict__", {}).get(name)
    if hasattr(type(held), "__del__"):
        raise Unsupported("mutate-attribute", f"{name!r} holds an object with a finaliser")
    t.inputs.guard(obj.source, "lookup", (name, guarded))
    effects.note(t, obj, "attr", name, value)
    return None


Found = SymValue | tuple[SymValue, SymValue] | None
"""An attribute; (function, self) for a method; None for a property or another descriptor of a class, to be entered."""


def lookup(t: Trace, v: SymValue, name: str) -> Found:
    """`v.name`."""
    v = library.together(t, t.use(v))
    if isinstance(v, Array):
        return FlagsV(v) if name == "flags" else _numpy_attribute(t, v, name, "array", np.ndarray)
    if isinstance(v, FlagsV):
        from .internals import flag

        return flag(t, v, name)
    if isinstance(v, Tensor):
        return tensors.attribute(t, v, name)
    if isinstance(v, Scalar):
        if v.kind == "numpy":
            return _numpy_attribute(t, v, name, "scalar", v.dtype.type)
        return _number_attribute(t, v, name)
    if isinstance(v, Const):
        return _const_attribute(t, v, name)
    if isinstance(v, InputObject):
        return instance_attribute(t, v, name)
    if isinstance(v, ObjectV):
        return objects.attribute(t, v, name)
    if isinstance(v, ExceptionV) and name == "args" and v.args is not None:
        return TupleV(v.args)
    if isinstance(v, TupleV) and v.cls is not tuple and name in tuple_fields(v.cls):
        return v.items[tuple_fields(v.cls).index(name)]
    if isinstance(v, TupleV) and hasattr(v.cls, "_fields") and name in ("_replace", "_asdict", "_fields"):
        found = getattr(v.cls, name)
        return Const(found) if name == "_fields" else (Const(found), v)
    if isinstance(v, (SliceV, RangeV)) and name in ("start", "stop", "step"):
        return getattr(v, name)
    if isinstance(v, MethodV) and name in ("__self__", "__func__"):
        return v.self if name == "__self__" else v.function
    if isinstance(v, SuperV):
        from .supers import attribute

        return attribute(t, v, name)
    if isinstance(v, FunctionV) and name == "__name__":
        return Const(v.info.name)
    cls = v.cls if isinstance(v, TupleV) else _TYPE_OF.get(type(v))
    method = getattr(cls, name, MISSING) if cls is not None else MISSING
    if isinstance(method, types.MethodDescriptorType):
        return Const(method), v
    raise Unsupported("attribute", f"{name!r} of {describe(v)}")


def _numpy_attribute(t: Trace, v: SymValue, name: str, on: str, cls: type) -> Found:
    method = getattr(cls, name, MISSING)
    if callable(method) and not isinstance(method, type) and has_class_attribute(cls, name):
        return Const(method), v
    rule = registry.lookup_attribute(name, on)
    if rule is not None:
        return rule(t.b, v)
    raise Unsupported("no-attribute" if method is MISSING else "no-attribute-rule", f"{cls.__name__}.{name}")


def _number_attribute(t: Trace, v: Scalar, name: str) -> Found:
    if v.dtype.kind in "if" and name == "real":
        return v
    if v.dtype.kind == "c" and name in ("real", "imag"):
        return t.b.scalar(t.b.emit(name, t.b.value_of(v)), "python")
    cls = {"i": int, "f": float, "b": bool, "c": complex}[v.dtype.kind]
    method = getattr(cls, name, MISSING)
    if isinstance(method, types.MethodDescriptorType):
        return Const(method), v
    raise Unsupported("attribute", f"{name!r} of a number")


# ------------------------------------------------------------------------------------------------ constants


def _const_attribute(t: Trace, v: Const, name: str) -> Found:
    x = v.value
    if type(x) is types.ModuleType or isinstance(x, types.ModuleType):
        return module_attribute(t, v, name)
    if isinstance(x, _FOLDED_TYPES) and not (isinstance(x, type) and not _plain_type(x)):
        return _folded_attribute(v, name)
    if isinstance(x, (np.ufunc, type(np.sum))):
        found = getattr(x, name, MISSING)
        if found is not MISSING:
            return Const(found)
    if is_member(x) and name in ("name", "value") and plain_enumeration(type(x)):
        return t.inputs.lazy(Source("attr", name, v.source or Source("const", t.inputs.const_index(x))), getattr(x, name))
    if isinstance(x, type):
        return _class_attribute_of_type(t, v, name)
    if isinstance(x, tuple):
        method = getattr(tuple, name, MISSING)
        if isinstance(method, types.MethodDescriptorType):
            return Const(method), v
    raise Unsupported("attribute", f"{name!r} of {describe(v)}")


def _plain_type(cls: type) -> bool:
    return cls.__module__ in ("builtins", "numpy") or issubclass(cls, np.generic)


def _folded_attribute(v: Const, name: str) -> Found:
    """An attribute of an immutable object whose class is written in C or is known to be pure."""
    x = v.value
    cls = x if isinstance(x, type) else type(x)
    method = getattr(cls, name, MISSING)
    if isinstance(method, types.MethodDescriptorType) and not isinstance(x, type):
        return Const(method), v
    try:
        found = getattr(x, name)
    except Exception:
        raise Unsupported("attribute", f"{name!r} of {describe(v)}") from None
    return Const(found)


def module_attribute(t: Trace, module: Const, name: str) -> SymValue:
    """An attribute of a module: an input, or a constant for numbers of well-known modules."""
    namespace = vars(module.value)
    if module.value is np and name in _LAZY_PARTS and name not in namespace:
        importlib.import_module(f"numpy.{name}")
    if name not in namespace:
        submodule = sys.modules.get(f"{module.value.__name__}.{name}")
        if submodule is None or getattr(module.value, name, None) is not submodule:
            raise Unsupported("attribute", f"{name!r} of module {module.value.__name__}")
        return Const(submodule)
    x = namespace[name]
    base = module.source or Source("const", t.inputs.const_index(module.value))
    source = Source("attr", name, base)
    if type(x) in (int, float, complex) and module.value.__name__.partition(".")[0] in CONSTANT_MODULES:
        t.inputs.guard_is(source, x)
        return Const(x, source)
    return t.inputs.lazy(source, x)


def plain_enumeration(cls: Any) -> bool:
    """An enumeration whose members have the usual names and values."""
    if type(cls) is not enum.EnumMeta:
        return False
    return all(class_attribute(cls, k) is vars(enum.Enum)[k] for k in ("name", "value"))


def _class_attribute_of_type(t: Trace, v: Const, name: str) -> Found:
    """`Class.name` of a class without a metaclass of its own."""
    cls = v.value
    if name in ("__name__", "__qualname__") and type(cls) is type:
        source = Source("attr", name, v.source or Source("const", t.inputs.const_index(cls)))
        t.inputs.guard_is(source, getattr(cls, name))
        return Const(getattr(cls, name), source)
    if plain_enumeration(cls) and name in cls.__members__:
        source = Source("attr", name, v.source or Source("const", t.inputs.const_index(cls)))
        t.inputs.guard_is(source, cls.__members__[name])
        return Const(cls.__members__[name], source)
    if type(cls).__getattribute__ is not type.__getattribute__ or hasattr(type(cls), "__getattr__"):
        raise Unsupported("attribute", f"{name!r} of class {cls.__name__}")
    x = class_attribute(cls, name)
    if x is MISSING or hasattr(type, name):
        raise Unsupported("attribute", f"{name!r} of class {cls.__name__}")
    source = Source("attr", name, v.source or Source("const", t.inputs.const_index(cls)))
    if isinstance(x, staticmethod):
        return t.inputs.lazy(source, x.__func__)
    if is_function(x) or not hasattr(type(x), "__get__"):
        return t.inputs.lazy(source, x)
    if isinstance(x, classmethod) and is_function(x.__func__):
        function = Source("attr", "__func__", source)
        t.inputs.guard_is(function, x.__func__)
        return Const(x.__func__, function), v
    raise Unsupported("attribute", f"{name!r} of class {cls.__name__}")


# ------------------------------------------------------------------------------------------------ instances


def _class_source(v: InputObject, name: str) -> Source:
    return Source("attr", name, Source("type", None, v.source))


def instance_attribute(t: Trace, v: InputObject, name: str) -> Found:
    """`object.__getattribute__` on an input object."""
    cls, example = v.type, v.example
    if cls is not None and (draw := draws.method_of(cls, name)) is not None:
        return Const(draw), v
    assert cls is not None
    if (method := once.method_of(v, name)) is not None:
        return Const(method), v
    if cls in (list, dict, set):
        method = getattr(cls, name, MISSING)
        if isinstance(method, types.MethodDescriptorType):
            return Const(method), v
    if not _plain_access(cls):
        raise Unsupported("attribute", f"{cls.__name__} has its own attribute access")
    found = class_attribute(cls, name)
    source = Source("attr", name, v.source)
    if isinstance(found, property) or (found is not MISSING and _is_data_descriptor(found) and _own_getter(found)):
        return None
    stored = effects.read(t, v, "attr", name)
    if stored is not None:
        return stored
    if isinstance(found, _MEMBER_TYPES):
        return _member(t, v, name, source)
    if found is not MISSING and _is_data_descriptor(found):
        raise Unsupported("attribute", f"{name!r} of {cls.__name__} is a descriptor")
    own = getattr(example, "__dict__", None)
    if isinstance(own, dict) and name in own:
        return t.inputs.lazy(source, own[name])
    if found is MISSING:
        raise Unsupported("attribute", f"{cls.__name__} object has no attribute {name!r}")
    if type(found) is functools.cached_property or _own_getter(found):
        return None
    return _from_class(t, v, name, found)


def _plain_access(cls: type) -> bool:
    """Do instances and the class itself find attributes as `object` and `type` do?"""
    own = cls is types.SimpleNamespace or cls is types.MethodType or cls.__getattribute__ is object.__getattribute__
    return own and type(cls).__getattribute__ is type.__getattribute__


def _member(t: Trace, v: InputObject, name: str, source: Source) -> SymValue:
    """A slot."""
    try:
        return t.inputs.lazy(source, getattr(v.example, name))
    except AttributeError:
        raise Unsupported("attribute", f"slot {name!r} is empty") from None


def _is_data_descriptor(x: Any) -> bool:
    return hasattr(type(x), "__set__") or hasattr(type(x), "__delete__")


def _from_class(t: Trace, v: InputObject, name: str, found: Any) -> Found:
    """An attribute found in the class: a method, a static or class method, a value.

    All are fetched through the instance at entry, which may come to hide them.
    """
    source = Source("attr", name, v.source)
    if isinstance(found, staticmethod):
        return t.inputs.lazy(source, found.__func__)
    if not hasattr(type(found), "__get__"):
        return t.inputs.lazy(source, found)
    function = Source("attr", "__func__", source)
    if is_function(found):
        t.inputs.guard_is(function, found)
        return Const(found, function), v
    if isinstance(found, classmethod) and is_function(found.__func__):
        t.inputs.guard_is(function, found.__func__)
        return Const(found.__func__, function), Const(v.type, Source("type", None, v.source))
    raise Unsupported("attribute", f"{name!r} of {v.type.__name__ if v.type else '?'}")


def _enter_property(t: Trace, v: SymValue, name: str) -> None:
    obj = t.look(v)
    if isinstance(obj, ObjectV):
        inline(t, objects.property_info(t, obj, name, "fget"), [obj], {})
        return
    assert isinstance(obj, InputObject) and obj.type is not None
    prop = class_attribute(obj.type, name)
    if not isinstance(prop, property):
        _enter_descriptor(t, obj, name, prop)
        return
    getter = Const(prop.fget, Source("attr", "fget", _class_source(obj, name)))
    t.inputs.guard_is(getter.source, prop.fget)  # type: ignore[arg-type]
    info = info_of(t, getter)
    if info is None:
        raise Unsupported("attribute", f"property {name!r}")
    inline(t, info, [obj], {})


def _own_getter(x: Any) -> bool:
    """Is it a descriptor of the user's, which gives attributes by a Python function?"""
    return is_function(class_attribute(type(x), "__get__"))


def _enter_descriptor(t: Trace, obj: InputObject, name: str, found: Any) -> None:
    """What a descriptor in the class gives; the class is asked for it at each call."""
    from . import plain

    k = t.inputs.const_index(found)
    t.inputs.guard(obj.source, "lookup", (name, k))
    source = Source("const", k)
    if not _is_data_descriptor(found) and getattr(obj.example, "__dict__", None) is not None:
        t.inputs.guard(Source("attr", "__dict__", obj.source), "absent", name)
    if type(found) is functools.cached_property:
        getter = Source("attr", "func", source)
        t.inputs.guard_is(getter, found.func)
        info = info_of(t, Const(plain.compute_once))
        assert info is not None
        inline(t, info, [Const(found.func, getter), obj, Const(name)], {})
        return
    function = class_attribute(type(found), "__get__")
    where = Source("attr", "__get__", Source("type", None, source))
    t.inputs.guard_is(where, function)
    info = info_of(t, Const(function, where))
    assert info is not None
    inline(t, info, [t.inputs.lazy(source, found), obj, Const(obj.type, Source("type", None, obj.source))], {})


def has_attribute(t: Trace, v: SymValue, name: str) -> bool:
    """`hasattr(v, name)` for values whose attributes are known."""
    v = t.use(v)
    cls = type_of(t, v)
    if isinstance(v, ObjectV) and v.type in standins.REAL:
        return hasattr(standins.REAL[v.type], name)
    if isinstance(v, ObjectV):
        return name in v.attrs or has_class_attribute(v.type, name)
    if isinstance(v, InputObject) and cls is not None and _plain_access(cls):
        return _has_input_attribute(t, v, cls, name)
    if isinstance(v, Const) and isinstance(v.value, type) and type(v.value).__getattribute__ is type.__getattribute__:
        base = v.source or Source("const", t.inputs.const_index(v.value))
        if not hasattr(v.value, name):
            t.inputs.guard(base, "absent", name)
            return False
        t.inputs.guard_type(Source("attr", name, base), type(getattr(v.value, name)))
        return True
    if cls is None or isinstance(v, (InputObject, FunctionV)) or (isinstance(v, Const) and hasattr(v.value, "__dict__")):
        raise Unsupported("attribute", f"hasattr of {describe(v)}")
    return has_class_attribute(cls, name)


def _has_input_attribute(t: Trace, v: InputObject, cls: type, name: str) -> bool:
    """`hasattr` of an input: guarded either way."""
    found = class_attribute(cls, name)
    if isinstance(found, property):
        raise Unsupported("attribute", f"hasattr of property {name!r}")
    if effects.read(t, v, "attr", name) is not None:
        return True
    if not hasattr(v.example, name):
        t.inputs.guard(v.source, "absent", name)
        return False
    x = getattr(v.example, name)
    t.inputs.guard_type(Source("attr", name, v.source), type(x))
    return True


def type_of(t: Trace, v: SymValue) -> type | None:
    """The exact Python type of a value that has been looked at; None when it is not known."""
    if isinstance(v, Const):
        return type(v.value)
    if isinstance(v, Scalar):
        return {"i": int, "f": float, "b": bool, "c": complex}[v.dtype.kind] if v.kind == "python" else v.dtype.type
    if isinstance(v, (InputObject, ObjectV, ExceptionV)):
        return standins.REAL.get(v.type, v.type)
    if isinstance(v, Tensor):
        return tensors.array_class(t)
    if isinstance(v, TupleV):
        return v.cls
    return _PYTHON_TYPES.get(type(v))


_PYTHON_TYPES: dict[type, type] = {
    Array: np.ndarray,
    ListV: list,
    RunListV: list,
    DictV: dict,
    SetV: set,
    SliceV: slice,
    RangeV: range,
    FunctionV: types.FunctionType,
    MethodV: types.MethodType,
    TextV: str,
}

__all__ = ["has_attribute", "lookup", "module_attribute", "type_of"]
