"""Match statements: patterns of sequences, mappings and classes on values whose types are known."""

from __future__ import annotations

from npcompile.bytecode import Instr, Op
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import Const, SymValue, TupleV, Unsupported

from .attributes import lookup, type_of
from .builtin_rules import isinstance_, len_
from .containers import dict_value
from .frames import Frame
from .inputs import describe
from .interpreter import Trace, handles

SEQUENCE, MAPPING = 1 << 5, 1 << 6
"""Flags of types that patterns of sequences and mappings match."""
_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose one positional pattern is the object itself."""


@handles(Op.MATCH_SEQUENCE, Op.MATCH_MAPPING)
def match_kind(t: Trace, f: Frame, i: Instr) -> None:
    cls = type_of(t, t.look(f.stack[-1]))
    if cls is None:
        raise Unsupported("match-statement", describe(f.stack[-1]))
    f.stack.append(Const(bool(cls.__flags__ & (SEQUENCE if i.op is Op.MATCH_SEQUENCE else MAPPING))))


@handles(Op.GET_LEN)
def get_len(t: Trace, f: Frame, i: Instr) -> None:
    from .special import has_method

    v = t.use(f.stack[-1])
    if has_method(v, "__len__"):
        raise Unsupported("match-statement", describe(v))
    n = len_(t, v)
    assert n is not None
    f.stack.append(n)


@handles(Op.MATCH_KEYS)
def match_keys(t: Trace, f: Frame, i: Instr) -> None:
    subject, keys = f.stack[-2:]
    if type_of(t, t.look(subject)) is not dict:
        raise Unsupported("match-statement", describe(subject))
    wanted = t.look(keys)
    names = [Const(k) for k in wanted.value] if isinstance(wanted, Const) else list(wanted.items)  # type: ignore[attr-defined]
    found = [dict_value(t, subject, k) for k in names]
    f.stack.append(NONE if None in found else TupleV(tuple(x for x in found if x is not None)))


@handles(Op.MATCH_CLASS)
def match_class(t: Trace, f: Frame, i: Instr) -> None:
    subject, cls, names = f.stack[-3:]
    f.stack[-3:] = [_class_pattern(t, subject, cls, t.b.static(names), i.arg)]


def _class_pattern(t: Trace, subject: SymValue, cls: SymValue, names: tuple[str, ...], n: int) -> SymValue:
    known = isinstance_(t, subject, cls)
    assert isinstance(known, Const)
    if not known.value:
        return known if known.value is None else NONE
    wanted = t.b.static(t.use(cls))
    if n and wanted in _SELF:
        own: list[SymValue] = [subject]
        positional: tuple[str, ...] = ()
    else:
        own, positional = [], tuple(getattr(wanted, "__match_args__", ())[:n])
    if len(own) + len(positional) != n:
        raise Unsupported("match-statement", f"{n} positional patterns")
    for name in (*positional, *names):
        found = lookup(t, subject, name)
        if found is None or isinstance(found, tuple):
            raise Unsupported("match-statement", f"{name} of {wanted.__name__}")
        own.append(found)
    return TupleV(tuple(own))
