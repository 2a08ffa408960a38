"""Stepping stubs: a function run one instruction at a time, each in a stub that hands the frame back, does what it does plain."""

import contextlib
import sys
import traceback
import types
import weakref

import pytest

from npcompile.bytecode import LANDINGS, Op, landings, make_stub, normalise, resumable
from npcompile.bytecode.stubcode import ResumePoint
from npcompile.records import replace

PROLOGUE = (Op.COPY_FREE_VARS, Op.MAKE_CELL, Op.NOP)


def stepped(function, *args, run=1):
    """Run a function by steps of up to `run` instructions: (result, number of steps)."""
    code = function.__code__
    instrs = normalise(code).instrs
    index = next(k for k, i in enumerate(instrs) if i.op not in PROLOGUE)
    slots = dict(zip(code.co_varnames, args))
    for name in code.co_cellvars:
        slots[name] = types.CellType(slots[name]) if name in slots else types.CellType()
    order = [n for n in (*code.co_varnames, *code.co_cellvars) if n in slots]
    order = list(dict.fromkeys(order))
    point = ResumePoint(code, instrs[index].offset, tuple(order), ())
    stack, bound, free = [], [slots[n] for n in order], list(function.__closure__ or ())
    slots = args = None
    for n in range(100_000):
        step, after = point, ()
        offsets = sorted(o for o in normalise(code).index_of_offset if o >= point.offset)
        for last in reversed(offsets[:run]):
            step = replace(point, last=last)
            after = landings(step)
            if after:
                break
        else:
            step = point
        stub = make_stub(step, function.__globals__)
        values = iter((*free, *bound, *reversed(stack)))
        bound = stack = None
        result = stub(values)
        if not (type(result) is tuple and result and result[-1] in LANDINGS):
            return result, n
        assert after
        point = after[LANDINGS.index(result[-1])]
        assert resumable(code, point.offset) is None
        depth = point.nulls.count(False)
        stack, bound = list(result[:depth]), list(result[depth : depth + len(point.bound)])
        assert len(result) == depth + len(point.bound) + len(code.co_freevars) + 1
        del result
    raise AssertionError("no end")


class Base:
    def value(self, k, *, by=1):
        return k + by


class Derived(Base):
    def value(self, k, *, by=1):
        for j in range(3):
            k += super().value(j, by=by)
        return k, (lambda: self)() is self


def straight(a, b):
    c = a + b
    d = [c, -a, *range(b)]
    d.append(max(min(a, b), abs(a - b)))
    x, (y, *z) = a, d
    e = {"a": a, **{"b": b}}
    e["c"] = f"{a!r:>5} {b}"
    del d[0], c
    return d, e, x, y, z, (a if a > b else b), a < b < 10, (a and b) or not a, {a, b}, d[1:3], slice(a)


def loops(n):
    out = []
    for i, j in enumerate(range(n)):
        if i % 3 == 0:
            continue
        for k in (1, 2, 3):
            if k > j:
                break
            out.append((i, j, k))
        else:
            out.append("all")
    k = 0
    while k < n:
        k += 1
        if k == 7:
            return out, k
    return out


def with_and_try(n):
    log = []

    @contextlib.contextmanager
    def noted(x):
        log.append(("in", x))
        try:
            yield x + 1
        finally:
            log.append(("out", x))

    for i in range(n):
        with noted(i) as v, noted(v):
            log.append(v)
        try:
            log.append(10 // (i - 1))
        except ZeroDivisionError as e:
            log.append(str(e))
            continue
        finally:
            log.append("end")
    return log


def closures(n):
    total = 0

    def add(k):
        nonlocal total
        total += k
        return total

    parts = [add(i) for i in range(n)]
    return total, parts, {k: [k * n for _ in range(2)] for k in range(3)}, sorted(locals())


def nested(a):
    return str(len(str(max(a, int("3")), *())) + (lambda q, r=2: q * r)(len([a, a])))


def keywords(a, *rest, k=1, **others):
    def show(*x, **y):
        return x, y

    return show(a, *rest, k=k, **others), show(k=show(a)), print("", end=""), {"x": rest}


def matching(v):
    match v:
        case {"k": [x, y]}:
            return x, y
        case [1, *rest]:
            return rest
        case str() as s:
            return s.upper()
    return None


def raises(n):
    s = [1, 2, 3]
    for i in range(n):
        s[i] += 1
    return s


def imports():
    import os.path as p
    from math import floor, sqrt

    global imported
    imported = p is not None
    return floor(sqrt(17)), imported


def method(k):
    return Derived().value(k, by=2)


def make_free():
    free = 5

    def only_free():
        return [free + x for x in (1, 2)], free

    return only_free


CASES = [
    (straight, (3, 4)),
    (straight, (9, 2)),
    (loops, (0,)),
    (loops, (9,)),
    (with_and_try, (4,)),
    (closures, (5,)),
    (nested, (4,)),
    (keywords, (1,)),
    (matching, ({"k": [1, 2]},)),
    (matching, ([1, 2],)),
    (matching, ("x",)),
    (matching, (5,)),
    (raises, (3,)),
    (raises, (5,)),
    (imports, ()),
    (method, (1,)),
    (Derived.value, (Derived(), 4, 2)),
    (make_free(), ()),
]


def outcome(call):
    try:
        return call()
    except Exception as e:
        lines = [(f.name, f.lineno) for f in traceback.extract_tb(e.__traceback__) if f.filename == __file__]
        return type(e), str(e), lines[-1]


@pytest.mark.parametrize("run", [1, 2, 5])
@pytest.mark.parametrize("function, args", CASES)
def test_one_step_after_the_other(function, args, run):
    if function is keywords:
        args = (1, 4, (), {"z": 5})
        plain = outcome(lambda: keywords(1, k=4, z=5))
    elif function is Derived.value:
        plain = outcome(lambda: function(args[0], args[1], by=args[2]))
    else:
        plain = outcome(lambda: function(*args))
    n = []
    got = outcome(lambda: (lambda r: (n.append(r[1]), r[0])[1])(stepped(function, *args, run=run)))
    assert got == plain
    if n and function is loops and args[0]:
        assert n[0] > (30 if run == 1 else 5)


class Watched:
    pass


def test_nothing_is_kept_alive():
    seen = []

    def f(ref):
        a = Watched()
        r = ref(a)
        a = None
        seen.append(r())
        b = Watched()
        seen.append(sys.getrefcount(b))
        return ref(b)

    plain = f(weakref.ref)
    expected = seen[:]
    seen.clear()
    got, _ = stepped(f, weakref.ref)
    assert plain() is None and got() is None and seen == expected
