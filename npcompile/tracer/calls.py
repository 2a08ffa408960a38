"""Calls: which rule, builtin or Python function a callable stands for, and how its arguments are passed.

Python functions are inlined (their frame is pushed); everything else gives its result at once, or is not supported.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.frontends.numpy import registry
from npcompile.frontends.numpy.library import is_followed
from npcompile.frontends.values import Const, DictV, SymValue, TupleV, Unsupported
from npcompile.ir.segment import Source

from . import following, genexprs, library, plain, standins, tensors
from .classes import class_attribute
from .frames import Frame
from .functions import bind, info_of, inline, is_function
from .inputs import describe, is_namedtuple
from .interpreter import Trace, handles, is_null
from .standins import held
from .symbolic import (
    ErrStateExitV,
    ExceptionV,
    FunctionV,
    GenExprV,
    GetterV,
    InputObject,
    ManagerExitV,
    ManagerFunctionV,
    MapV,
    MethodV,
    ObjectV,
    PartialV,
    RunListV,
)

Builtin = Callable[..., SymValue | None]
"""`builtin(t, *args, **kwargs)` of symbolic values; raises Unsupported for what it does not model. None: a frame was entered."""

F = TypeVar("F", bound=Builtin)

_NOT_FOLLOWED = frozenset({"copy", "numpy.testing._private.utils"})
"""Modules whose functions are called as a whole: inside they do little but what is not compiled."""
BUILTINS: dict[Any, Builtin] = {}
"""Rules for Python's own callables, by identity."""

METHODS: dict[Any, Builtin] = {}
"""Rules for method descriptors of Python's own types (`list.append`), by identity; called with self first."""


def builtin(*callables: Any) -> Callable[[F], F]:
    """Register the rule of builtins."""

    def register(fn: F) -> F:
        for c in callables:
            BUILTINS[c] = fn
        return fn

    return register


def builtin_method(*callables: Any) -> Callable[[F], F]:
    """Register the rule of method descriptors."""

    def register(fn: F) -> F:
        for c in callables:
            METHODS[c] = fn
        return fn

    return register


@handles(Op.CALL)
def call_op(t: Trace, f: Frame, i: Instr) -> None:
    n, names = i.arg
    split = len(f.stack) - n
    args = f.stack[split:]
    del f.stack[split:]
    kwargs = dict(zip(names, args[n - len(names) :])) if names else {}
    _call_pair(t, f, args[: n - len(names)], kwargs)


@handles(Op.CALL_EX)
def call_ex(t: Trace, f: Frame, i: Instr) -> None:
    kwargs: dict[str, SymValue] = {}
    if i.arg:
        kwargs = _keywords(t, f.stack.pop())
    args = list(_unpacked(t, f.stack.pop()))
    _call_pair(t, f, args, kwargs)


def _keywords(t: Trace, v: SymValue) -> dict[str, SymValue]:
    from .containers import dict_items

    items = dict_items(t, v)
    if not all(isinstance(k, str) for k in items):
        raise Unsupported("call-arguments", "keywords must be strings")
    return items


def _unpacked(t: Trace, v: SymValue) -> tuple[SymValue, ...]:
    from .containers import known_items

    return tuple(known_items(t, v))


def _call_pair(t: Trace, f: Frame, args: list[SymValue], kwargs: dict[str, SymValue]) -> None:
    """Take the callable pair off the stack and call it; the result, or the callee's frame, is pushed."""
    second, first = f.stack.pop(), f.stack.pop()
    if is_null(first):
        callee = second
    elif is_null(second):
        callee = first
    else:
        callee = first
        args = [second, *args]
    result = call(t, callee, args, kwargs)
    if result is not None:
        f.stack.append(result)


def call(t: Trace, callee: SymValue, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    """Call a value; None when a Python function has been entered instead."""
    callee = t.look(callee)
    if isinstance(callee, ErrStateExitV):
        from .withs import leave

        return leave(t, callee)
    if isinstance(callee, ManagerExitV):
        return _managers().leave(t, callee, args)
    if isinstance(callee, ManagerFunctionV):
        return _managers().made(t, callee, callee.function, args, kwargs)
    if isinstance(callee, GetterV) and callee.kind is np.vectorize:
        return _vectorize().call(t, *callee.args.items, args, kwargs)  # type: ignore[no-any-return]
    if isinstance(callee, GetterV):
        return _functional().call_getter(t, callee, args, kwargs)  # type: ignore[no-any-return]
    if isinstance(callee, PartialV):
        return _functional().call_partial(t, callee, args, kwargs)
    if isinstance(callee, MethodV):
        return call(t, callee.function, [callee.self, *args], kwargs)
    if args and isinstance(callee, Const) and isinstance(args[0], TupleV) and hasattr(args[0].cls, "_fields"):
        rule = _namedtuple_method(callee.value, args[0].cls)
        if rule is not None:
            return _run(t, rule, args, kwargs)
    if isinstance(callee, Const):
        owner = tensors.owner_of(callee.value)
        if owner is not None:
            return tensors.call(t, owner, callee.value, args, kwargs)
    done = _once().call(t, callee, args, kwargs)
    if done is not None:
        return done  # type: ignore[no-any-return]
    info = info_of(t, callee)
    if info is not None:
        manager = _managers().manager_of(t, callee, info, args, kwargs)
        if manager is not None:
            return manager  # type: ignore[no-any-return]
        replaced = _rule_of(callee.value) if isinstance(callee, Const) else None
        if replaced is None and genexprs.is_generator(info.code):
            bind(info, args, kwargs)
            return GenExprV(FunctionV(info), TupleV(tuple(args)), DictV(dict(kwargs)), callee)
        if replaced is None:
            if getattr(info.live, "__module__", None) in _NOT_FOLLOWED:
                raise Unsupported("no-rule", f"{info.live.__module__}.{info.name}")
            inline(t, info, args, kwargs)
            return None
    drawn = library.draw(t, callee, args, kwargs)
    if drawn is not None:
        return drawn
    if isinstance(callee, InputObject) and library.is_listed(callee.example):
        t.inputs.guard_is(callee.source, callee.example)
        callee = Const(callee.example, callee.source)
    if isinstance(callee, ObjectV):
        from .special import method

        own = method(t, callee, "__call__")
        if own is not None:
            inline(t, own, [callee, *args], kwargs)
            return None
    if isinstance(callee, InputObject):
        return _call_object(t, callee, args, kwargs)
    if not isinstance(callee, Const):
        raise Unsupported("call-object", describe(callee))
    return _call_const(t, callee, args, kwargs)


def _once() -> Any:
    from . import once

    return once


def _managers() -> Any:
    from . import managers

    return managers


def _functional() -> Any:
    from . import functional

    return functional


def _vectorize() -> Any:
    from . import vectorize

    return vectorize


def _raising() -> Any:
    from . import raising

    return raising


def _objects() -> Any:
    from . import objects

    return objects


def hashable_rule(x: Any) -> bool:
    """Has a class a rule of its own?"""
    return x in BUILTINS or x in FOLDED


def _rule_of(x: Any) -> Any:
    try:
        return BUILTINS.get(x) or library.rule_of(x) or library.is_listed(x) or None
    except TypeError:
        return None


def _call_const(t: Trace, callee: Const, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    x = callee.value
    if args and isinstance(args[0], GenExprV):
        return genexprs.consume(t, callee, args[0], args[1:], kwargs)
    if args and isinstance(args[0], MapV) and not kwargs and (x in genexprs.TAKE_ALL or x in (any, all, list)):
        return _functional().consume(t, callee, args[0], args[1:])
    if len(args) > 1 and isinstance(args[1], GenExprV) and not kwargs:
        return genexprs.consume_second(t, callee, args)
    hashable = getattr(type(x), "__hash__", None) is not None
    if hashable and x in standins.STANDINS:
        return _objects().construct(t, Const(standins.STANDINS[x]), args, kwargs)
    if hashable and x in _TAKES_ITEMS:
        args = [held(t, a) for a in args]
        if args and x not in (len, bool, zip) and special_iter(args[0]):
            entered = info_of(t, Const(plain.call_with_iterator))
            assert entered is not None
            inline(t, entered, [callee, *args], kwargs)
            return None
    if hashable and x in BUILTINS:
        return _run(t, BUILTINS[x], [library.together(t, a) for a in args], kwargs)
    if hashable and x in METHODS:
        return _run(t, METHODS[x], args, kwargs)
    rule = _array_method(t, x, args) if isinstance(x, types.MethodDescriptorType) and args else None
    rule = rule or library.rule_of(x)
    if rule is not None or (hashable and (library.is_listed(x) or is_followed(x))):
        args = [held(t, a) if isinstance(a, ObjectV) and a.type is standins.Deque else a for a in args]
        used, named = [t.use(a) for a in args], {k: t.use(v) for k, v in kwargs.items()}
        if any(isinstance(v, RunListV) for v in used):
            from .runlist_uses import ROWS, as_arrays

            used = as_arrays(t, x, used, named)
            if x in ROWS:
                return used[0]
        theirs = tensors.counterpart(t, x, used, named)
        if theirs is not None:
            return tensors.call(t, tensors.library_of(t), theirs, used, named)
        if rule is None and following.follow(t, x, used, named):
            return None
        from .containers import by_items

        used, named = [by_items(t, v) for v in used], {k: by_items(t, v) for k, v in named.items()}
        return library.call(t, x, rule, used, named)
    if isinstance(x, type) and issubclass(x, tuple) and is_namedtuple(x):
        return _namedtuple(x, args, kwargs)
    if isinstance(x, type) and issubclass(x, BaseException):
        return _raising().construct(t, callee, args, kwargs)
    if isinstance(x, type) and not hashable_rule(x) and _objects().plain_class(x):
        return _objects().construct(t, callee, args, kwargs)
    if isinstance(x, types.MethodDescriptorType) and x.__objclass__ in (int, float, complex, bytes) and args and not kwargs:
        return _fold(t, x, args, kwargs)
    if x in FOLDED if hashable else False:
        return _fold(t, x, args, kwargs)
    raise Unsupported(_why_not(x), describe(callee))


_TAKES_ITEMS = frozenset({
    list, tuple, set, frozenset, dict, sum, min, max, any, all, sorted, len, reversed, enumerate, zip, iter, bool, list.extend,
    dict.update,
})  # fmt: skip
"""Callables that look at nothing but the items of a container."""


def special_iter(v: SymValue) -> bool:
    """Is it an object made here whose class gives an iterator by a Python function?"""
    return isinstance(v, ObjectV) and is_function(class_attribute(v.type, "__iter__"))


def _run(t: Trace, rule: Builtin, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    try:
        return rule(t, *args, **kwargs)
    except TypeError as e:
        if e.__traceback__ is not None and e.__traceback__.tb_next is None:
            raise Unsupported("arguments", str(e)) from None
        raise


def _array_method(t: Trace, x: types.MethodDescriptorType, args: list[SymValue]) -> Any:
    """The rule of `ndarray.name` or `generic.name`, called with self first."""
    from .attributes import type_of

    v = args[0] = t.use(args[0])
    cls = type_of(t, v)
    if cls is None or not issubclass(cls, (np.ndarray, np.generic)):
        return None
    return registry.lookup_method(x.__name__, "array" if cls is np.ndarray else "scalar")


def _why_not(x: Any) -> str:
    if x is print or (isinstance(x, types.BuiltinMethodType) and not isinstance(x.__self__, types.ModuleType | type(None))):
        return "side-effect-call"
    if isinstance(x, type) and issubclass(x, BaseException):
        return "exception-handling"
    module = getattr(x, "__module__", None) or ""
    return "no-rule" if isinstance(x, np.ufunc) or module.partition(".")[0] in ("numpy", "scipy") else "call-object"


FOLDED: frozenset[Any] = frozenset(
    {np.dtype, np.finfo, np.iinfo, np.issubdtype, np.result_type, np.promote_types, np.can_cast, np.isscalar}
)
"""Pure functions that are run at trace time on constants."""


def _fold(t: Trace, x: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    plain = [t.use(a) for a in args]
    named = {k: t.use(a) for k, a in kwargs.items()}
    if not all(isinstance(a, Const) for a in (*plain, *named.values())):
        raise Unsupported("no-rule", f"{x.__name__} of run-time values")
    try:
        return Const(x(*(a.value for a in plain), **{k: a.value for k, a in named.items()}))  # type: ignore[attr-defined]
    except Exception as e:
        raise Unsupported("invalid-arguments", str(e)) from None


def _namedtuple(cls: Any, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue:
    fields = cls._fields
    slots = dict(zip(fields, args))
    slots.update({k: v for k, v in kwargs.items() if k in fields})
    for k, v in cls._field_defaults.items():
        slots.setdefault(k, Const(v))
    if len(args) > len(fields) or set(slots) != set(fields) or set(kwargs) - set(fields):
        raise Unsupported("call-arguments", cls.__name__)
    return TupleV(tuple(slots[k] for k in fields), None, cls)


def _namedtuple_method(function: Any, cls: Any) -> Any:
    """The rule of a method that the namedtuple's class was generated with."""
    from .container_methods import as_dict, replace_fields

    rules = {cls._replace: replace_fields, cls._asdict: as_dict}
    generated = getattr(function, "__module__", "").startswith("collections") if type(function) is types.FunctionType else False
    return rules.get(function) if generated else None


def _call_object(t: Trace, v: InputObject, args: list[SymValue], kwargs: dict[str, SymValue]) -> SymValue | None:
    if v.type is types.MethodType:
        function = t.inputs.lazy(Source("attr", "__func__", v.source), v.example.__func__)
        self = t.inputs.lazy(Source("attr", "__self__", v.source), v.example.__self__)
        return call(t, function, [self, *args], kwargs)
    if v.type is np.vectorize:
        return _vectorize().call_input(t, v, args, kwargs)  # type: ignore[no-any-return]
    if v.type is functools.partial:
        return _functional().call_input_partial(t, v, args, kwargs)
    method = None if v.type is None else class_attribute(v.type, "__call__")
    if is_function(method):
        source = Source("attr", "__call__", Source("type", None, v.source))
        t.inputs.guard_is(source, method)
        return call(t, Const(method, source), [v, *args], kwargs)
    raise Unsupported("call-object", describe(v))


@handles(Op.CALL_INTRINSIC)
def call_intrinsic(t: Trace, f: Frame, i: Instr) -> None:
    if "stopiteration" in i.arg[0].lower() and isinstance(f.stack[-1], ExceptionV) and f.stack[-1].type is not StopIteration:
        return  # at the end of a generator's code: other exceptions go on as they are
    raise Unsupported("unknown-instruction", i.arg[0])


__all__ = ["BUILTINS", "METHODS", "builtin", "builtin_method", "call"]
