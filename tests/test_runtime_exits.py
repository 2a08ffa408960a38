"""Exits: every kind of object is built in C, identity is kept, "resume" goes on natively in the right frames."""

import itertools
import sys
import types

import numpy as np
import pytest
from segment_units import ExitSpec, Guard, Recipe, Source, arg, build, f8, jit_of, returns, tensor, value

from npcompile.bytecode import normalise
from npcompile.continuations import continuations
from npcompile.ir.segment import FrameSpec
from npcompile.runtime import _dispatch
from npcompile.runtime.segments import SegmentSpec, make_entry

X = np.arange(6.0)


def run(recipe, body="return 0;", *args, captures=(), constants=(), guards=(), fn=None, n_slots=0, **kw):
    """The object that a segment with this one exit returns."""
    fn = fn or (lambda *args: pytest.fail("ran plain"))
    if fn.__code__.co_flags & 4:
        names = ", ".join(f"a{i}" for i in range(len(args)))
        fn = eval(f"lambda {names}: fail()", {"fail": lambda: pytest.fail("ran plain")})
    exits = [returns(recipe, *captures)]
    jit = jit_of(fn, guards, exits, body, constants=constants, n_slots=n_slots, **kw)
    return jit(*args)


def const(i):
    return Recipe("const", i)


NUMBERS = [
    ("int", "i8", "out[0] = -5;", -5),
    ("int", "u8", "out[0] = -1;", 2**64 - 1),
    ("int", "i1", "out[0] = 0; *(signed char *)out = -3;", -3),
    ("float", "f8", "*(double *)out = 2.5;", 2.5),
    ("float", "f4", "*(float *)out = 0.1f;", float(np.float32(0.1))),
    ("bool", "?", "*(bool *)out = true;", True),
    ("complex", "c16", "((double *)out)[0] = 1.5; ((double *)out)[1] = -0.0;", complex(1.5, -0.0)),
    ("complex", "c8", "((float *)out)[0] = 1.5f; ((float *)out)[1] = 2;", 1.5 + 2j),
    *(
        ("scalar", t, "out[0] = 0; *(unsigned char *)out = 1;", np.frombuffer(bytes([1] + [0] * 15), t, 1)[0])
        for t in "?bBhHiIlL"
    ),
    ("scalar", "f4", "*(float *)out = 3.25f;", np.float32(3.25)),
    ("scalar", "f8", "*(double *)out = 3.25;", np.float64(3.25)),
    ("scalar", "f2", "*(short *)out = 0x3c00;", np.float16(1)),
    ("scalar", "c8", "((float *)out)[0] = 1.5f; ((float *)out)[1] = 2;", np.complex64(1.5 + 2j)),
    ("scalar", "c16", "((double *)out)[0] = 1.5; ((double *)out)[1] = 2;", np.complex128(1.5 + 2j)),
]


@pytest.mark.parametrize("box, dtype, body, expected", NUMBERS)
def test_numbers(box, dtype, body, expected):
    r = run(value(0, box), body + "return 0;", captures=[tensor(dtype, 0)])
    assert type(r) is type(expected) and r == expected and repr(r) == repr(expected)


def test_containers():
    a, b, c = const(0), const(1), const(2)
    constants = ["a", 1, None]
    recipe = Recipe("tuple", None, (
        Recipe("list", None, (a, b)),
        Recipe("dict", None, (a, b, b, c)),
        Recipe("set", None, (a, b)),
        Recipe("slice", None, (b, c, a)),
        Recipe("range", None, (b, b, b)),
        Recipe("tuple"),
        Recipe("source", arg(0)),
    ))  # fmt: skip
    x = object()
    r = run(recipe, "return 0;", x, constants=constants)
    assert r == (["a", 1], {"a": 1, 1: None}, {"a", 1}, slice(1, None, "a"), range(1, 1, 1), (), x)


def test_range_iterator_and_calls():
    numbers = [3, 10, 2, 1, [5, 6, 7]]
    it = run(Recipe("range_iter", None, (const(0), const(1), const(2))), constants=numbers)
    assert type(it) is type(iter(range(0))) and list(it) == [3, 5, 7, 9]
    skip = Recipe("call", 5, (Recipe("call", 6, (const(4),)), const(3), const(7)))
    it = run(skip, constants=[*numbers, itertools.islice, iter, None])
    assert list(it) == [6, 7]


def test_cells_functions_methods():
    def outer():
        n = 0

        def inner(a: int, b=1, *, k=2):
            return n, a, b, k

        return inner

    code = outer().__code__
    cell = Recipe("cell", None, (const(1),))
    none = Recipe("null")
    parts = (
        const(2),
        Recipe("tuple", None, (const(3),)),
        Recipe("dict", None, (const(4), const(3))),
        Recipe("tuple", None, (cell,)),
    )
    recipe = Recipe("function", (0, 0), (*parts, const(5), const(6)))
    f = run(recipe, constants=[code, "cell", globals(), 7, "k", "outer.inner", ("a", int)])
    assert f(0) == ("cell", 0, 7, 7) and f.__qualname__ == "outer.inner" and f.__annotations__ == {"a": int}
    assert f.__globals__ is globals()
    bare = Recipe("function", (0, 0), (const(1), none, none, none, const(2)))
    g = run(bare, constants=[(lambda: 5).__code__, globals(), "g"])
    assert g() == 5 and g.__defaults__ is None and g.__closure__ is None and g.__annotations__ == {}
    m = run(Recipe("method", None, (const(0), const(1))), constants=[g, "self"])
    assert isinstance(m, types.MethodType) and m.__self__ == "self" and m.__func__ is g
    m = run(Recipe("method", None, (const(0), const(1))), constants=[list.append, [1]])
    assert m == m.__self__.append
    empty = run(Recipe("cell", None, (Recipe("unbound"),)))
    assert empty == types.CellType()


def test_identity_within_an_exit():
    shared = Recipe("define", "x", (Recipe("list", None, (const(0),)),))
    r = run(Recipe("tuple", None, (shared, Recipe("shared", "x"))), constants=[1])
    assert r[0] is r[1] == [1]
    late = run(Recipe("tuple", None, (Recipe("shared", "x"), Recipe("tuple", None, (shared,)))), constants=[1])
    assert late[0] is late[1][0]
    loop = run(Recipe("define", 3, (Recipe("list", None, (const(0), Recipe("shared", 3))),)), constants=[1])
    assert loop[1] is loop
    loop = run(
        Recipe("define", 3, (Recipe("dict", None, (const(0), Recipe("tuple", None, (Recipe("shared", 3),)))),)), constants=[1]
    )
    assert loop[1][0] is loop
    loop.clear()
    with pytest.raises(ValueError, match="contains itself"):
        run(Recipe("define", 1, (Recipe("tuple", None, (Recipe("shared", 1),)),)))


def test_input_fresh_and_view():
    body = """
      npc_i64 n = in[1], m = n / 2, stride = 8, twice = 16;
      double *r = (double *)rt->alloc_array(ctx, 1, 12, 1, &n, &stride);
      if (!r) return NPC_ERROR;
      for (npc_i64 i = 0; i < n; i++) r[i] = i;
      rt->out_object(ctx, 0, 0);
      rt->out_object(ctx, 1, 1);
      if (rt->out_view(ctx, 2, 0, 12, (char *)in[0] + 8, 1, &m, &twice, 1)) return NPC_ERROR;
      if (rt->out_view(ctx, 3, 1, 12, r, 1, &m, &twice, 0)) return NPC_ERROR;
      return 0;
    """
    recipe = Recipe("tuple", None, tuple(value(k) for k in range(4)))
    x = np.arange(6.0)
    before = sys.getrefcount(x)
    whole, fresh, view, own = run(recipe, body, x, captures=[tensor()] * 4, guards=[Guard(arg(0), "array", f8())], n_slots=2)
    assert whole is x and fresh.base is None and fresh.flags.owndata and fresh.flags.writeable
    assert view.base is x and view.tolist() == [1, 3, 5] and view.flags.writeable and not view.flags.c_contiguous
    assert own.base is fresh and not own.flags.writeable and own.tolist() == [0, 2, 4]
    view[0] = 9
    assert x[1] == 9
    del whole, view
    assert sys.getrefcount(x) == before
    owner = np.arange(12.0)
    view = run(recipe, body, owner[:6], captures=[tensor()] * 4, guards=[Guard(arg(0), "array", f8())], n_slots=2)[2]
    assert view.base is owner


def test_order_and_shape_of_fresh_arrays():
    def fresh(dims, strides):
        n = len(dims)
        body = f"npc_i64 d[] = {{{','.join(map(str, dims))}}}, s[] = {{{','.join(map(str, strides))}}};"
        body += f"if (!rt->alloc_array(ctx, 0, 12, {n}, d, s)) return NPC_ERROR; rt->out_object(ctx, 0, 0); return 0;"
        return run(value(), body, captures=[tensor(rank=n)], n_slots=1)

    for shape, order in [((2, 3), "C"), ((2, 3), "F"), ((2, 0), "C"), ((1, 1), "C"), ((4,), "C"), ((2, 3, 4), "F")]:
        expected = np.empty(shape, order=order)
        r = fresh(shape, expected.strides)
        assert (r.shape, r.strides, r.flags.owndata, r.base) == (shape, expected.strides, True, None)
        assert str(r.flags) == str(expected.flags)
    k = np.empty((3, 4, 2)).transpose(1, 0, 2)
    r = fresh(k.shape, k.strides)
    assert r.strides == k.strides and r.flags.owndata and not r.flags.c_contiguous and not r.flags.f_contiguous
    with pytest.raises((ValueError, MemoryError)):
        fresh((1 << 40, 1 << 40), (8, 8))


def test_faulty_segments_raise():
    with pytest.raises(SystemError, match="exit 7 of 1"):
        run(const(0), "return 7;", constants=[1])
    with pytest.raises(SystemError, match="without an exception"):
        run(const(0), "return NPC_ERROR;", constants=[1])
    with pytest.raises(SystemError, match="capture 0"):
        run(value(), captures=[tensor()])
    with pytest.raises(MemoryError):
        run(const(0), "rt->no_memory(ctx); return NPC_ERROR;", constants=[1])


def test_call_python():
    body = """
      npc_i64 args[2] = {0, 0};
      double *r = (double *)rt->call_python(ctx, 1, 2, args, 1);
      if (!r) return NPC_ERROR;
      rt->out_object(ctx, 0, 1);
      return 0;
    """
    guards = [Guard(arg(0), "array", f8())]

    def call(f):
        return run(value(), body, X, captures=[tensor()], guards=guards, n_slots=2, python_calls=[None, f])

    assert call(np.add).tolist() == (X + X).tolist()
    with pytest.raises(TypeError, match="returned float"):
        call(lambda a, b: 1.0)
    assert call(np.dot).shape == () and call(np.dot) == np.dot(X, X)
    with pytest.raises(ZeroDivisionError):
        call(lambda a, b: 1 / 0)


# ---------------------------------------------------------------------------------------------- resuming


def resume_jit(fn, frames, captures, guards, body, constants, bound, **kw):
    exit_ = ExitSpec("resume", tuple(captures), frames=tuple(frames))
    spec = SegmentSpec(guards=list(guards), exits=[exit_], constants=list(constants))
    jit = _dispatch.Jit(fn)
    jit.insert(make_entry(spec, fn.__code__, build(body), continuations=continuations(spec, fn, bound), **kw))
    return jit


def offset_of_line(code, line, op=None):
    """Offset of the first real instruction of a line relative to the function's first, optionally the first of a kind."""
    for i in normalise(code).instrs:
        if i.start and i.line == code.co_firstlineno + line and (op is None or i.op.name == op):
            return i.offset
    raise LookupError


def globals_of(base=None):
    return Recipe("source", Source("attr", "__globals__", base or Source("function")))


def test_resume_in_one_frame():
    def f(n, bonus):
        total = 0
        for i in range(n):
            total += i
        total += bonus
        return total, n

    # As if the loop had run natively: `total` comes from the segment, the loop's iterator stands at 3.
    at = offset_of_line(f.__code__, 2, "FOR_ITER")
    total, it = value(0, "int"), Recipe("range_iter", None, (value(1, "int"), Recipe("source", arg(0)), const(1)))
    local = (("n", Recipe("source", arg(0))), ("bonus", Recipe("source", arg(1))), ("total", total))
    frame = FrameSpec(0, at, globals_of(), local, (), (it,))
    jit = resume_jit(f, [frame], [tensor("i8", 0)] * 2, [], "out[0] = 3; out[2] = 3; return 0;", [f.__code__, 1], (10, 5))
    assert jit(10, 5) == f(10, 5) == (50, 10) and jit.hits == 1 and jit.entries[0].exits == (1,)
    with pytest.raises(TypeError) as info:
        jit(10, "x")
    assert info.traceback[-1].name.startswith("f") and info.traceback[-1].lineno == f.__code__.co_firstlineno + 3


def inner(x):
    y = x + 1
    return y / 0 if y > 5 else y


def test_resume_in_a_callee_whose_caller_catches():
    def f(x):
        try:
            r = inner(x)
        except ZeroDivisionError:
            r = "caught"
        return [x], r

    source = Source("global", "inner")
    outer = FrameSpec(0, offset_of_line(f.__code__, 2, "CALL"), globals_of(), (("x", Recipe("source", arg(0))),), (), ())
    callee = FrameSpec(1, offset_of_line(inner.__code__, 2), globals_of(source), (("y", value(0, "int")),), (), ())
    body = "out[0] = in[0] + 1; return 0;"
    jit = resume_jit(
        f, [outer, callee], [tensor("i8", 0)], [Guard(arg(0), "int")], body, [f.__code__, inner.__code__], (1,)
    )  # fmt: skip
    assert jit(1) == f(1) == ([1], 2) and jit(9) == f(9) == ([9], "caught") and jit.hits == 2


def test_resume_with_cells():
    def make():
        free = 10

        def f(a):
            b = a + 1
            g = lambda: (a, b, free)  # noqa: E731
            return g

        return f

    f = make()
    a, b = Recipe("cell", None, (Recipe("source", arg(0)),)), Recipe("cell", None, (value(0, "int"),))
    free = Recipe("source", Source("item", 0, Source("attr", "__closure__", Source("function"))))
    frame = FrameSpec(0, offset_of_line(f.__code__, 2), globals_of(), (), (("a", a), ("b", b), ("free", free)), ())
    jit = resume_jit(f, [frame], [tensor("i8", 0)], [], "out[0] = 77; return 0;", [f.__code__], (1,))
    g = jit(1)
    assert g() == (1, 77, 10) and g.__closure__[2] is f.__closure__[0]


def test_flat_continuation():
    seen = []

    def f(x):
        return x

    frame = FrameSpec(0, 0, const(1), (("x", Recipe("source", arg(0))), ("u", Recipe("unbound"))), (), (Recipe("null"), const(2)))
    exits = [ExitSpec("resume", (), frames=(frame,))]
    jit = jit_of(f, [], exits, "return 0;", constants=[f.__code__, "globals", "top"], continuations=[lambda *v: seen.append(v)])
    assert jit(5) is None and seen == [("globals", 5, "top")]
    with pytest.raises(ValueError, match="no continuation"):
        jit_of(f, [], exits, "return 0;", constants=[f.__code__, 0, 0], continuations=[None])
