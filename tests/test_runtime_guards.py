"""Guards: each kind takes exactly what the spec says, binds the right words; sources are fetched live; alias classes."""

import builtins
import enum
import itertools
import pickle
import types
from dataclasses import replace

import numpy as np
import pytest
from segment_units import ArraySpec, Guard, Recipe, Source, arg, f8, jit_of, returns, tensor

from npcompile.ir.segment import AliasGuard
from npcompile.runtime import _dispatch
from npcompile.tracer import aliasing

YES, NO = "compiled", "plain"


def takes(guards, *args, constants=(), fn=None, aliases=(), names="abcdefgh"):
    """Does an entry with these guards take the call?"""
    if fn is None:
        fn = eval(f"lambda {', '.join(names[: len(args)])}: {NO!r}")
    exits = [returns(Recipe("const", len(constants)))]
    jit = jit_of(fn, guards, exits, "return 0;", constants=[*constants, YES], aliases=aliases)
    return jit(*args) == YES


def words(guard, x, n):
    """The words that one guard binds."""
    body = f"for (int i = 0; i < {n}; i++) out[2 * i] = in[i]; return 0;"
    recipe = Recipe("tuple", None, tuple(Recipe("value", (k, "int")) for k in range(n)))
    jit = jit_of(lambda x: NO, [guard], [returns(recipe, *[tensor("i8", 0)] * n)], body)
    return jit(x)


class Sub(np.ndarray):
    pass


class IntEnum(enum.IntEnum):
    A = 1


class Int(int):
    pass


# ---------------------------------------------------------------------------------------------- values

SAMPLES = [
    1, -5, 0, 2**31, 2**63 - 1, -(2**63), 2**63, 2**70, True, False, 1.5, -0.0, 0.0, float("nan"), 1j, None, "a", b"a", (1,), [1],
    np.float64(1.5), np.float32(1.5), np.int64(1), np.int32(1), np.bool_(True), np.complex128(1j), np.complex64(1), np.float16(1),
    np.longdouble(1), np.uint8(1), np.arange(3.0), np.array(1.0), Int(1), IntEnum.A, np.longlong(1),
]  # fmt: skip

TYPES = {
    "int": lambda x: type(x) is int and -(2**63) <= x < 2**63,
    "float": lambda x: type(x) is float,
    "complex": lambda x: type(x) is complex,
    "bool": lambda x: type(x) is bool,
}


@pytest.mark.parametrize("kind", TYPES)
def test_python_numbers(kind):
    for x in SAMPLES:
        assert takes([Guard(arg(0), kind)], x) == TYPES[kind](x), repr(x)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "?", "c16", "c8"])
def test_numpy_scalars(dtype):
    for x in SAMPLES:
        assert takes([Guard(arg(0), "scalar", dtype)], x) == (type(x) is np.dtype(dtype).type), repr(x)


def test_dtypes_that_compiled_code_does_not_know():
    for dtype in ("g", "O", ">f8", "U3", "M8[s]", "V4"):
        with pytest.raises(ValueError):
            takes([Guard(arg(0), "scalar", dtype)], 1)
        with pytest.raises(ValueError):
            takes([Guard(arg(0), "array", ArraySpec(dtype, 1))], 1)


def test_words_of_numbers():
    def bits(x):
        return np.frombuffer(np.asarray(x).tobytes().ljust(8, b"\0"), "i8").tolist()

    for n in (0, 1, -1, 2**30, -(2**30), 2**60, 2**62, 2**63 - 1, -(2**63)):
        assert words(Guard(arg(0), "int"), n, 1) == (n,)
    assert words(Guard(arg(0), "bool"), True, 1) == (1,)
    assert words(Guard(arg(0), "float"), -0.0, 1) == tuple(bits(-0.0))
    assert words(Guard(arg(0), "complex"), 1.5 - 2j, 2) == tuple(bits(1.5 - 2j))
    for x in (
        np.float32(1.5),
        np.float16(2),
        np.int8(-3),
        np.uint8(255),
        np.bool_(True),
        np.complex64(1 + 2j),
        np.complex128(3j),
    ):
        guard = Guard(arg(0), "scalar", x.dtype.str)
        assert words(guard, x, len(bits(x))) == tuple(bits(x))


def test_int_range():
    guard = Guard(arg(0), "int", (-5, 2**31))
    assert [takes([guard], x) for x in (-6, -5, 0, 2**31, 2**31 + 1, 2**80)] == [False, True, True, True, False, False]


def test_equal():
    values = [*SAMPLES, (1, 2.0, "x"), (1, 2, "x"), (1, (2, 3)), "b" * 30, 0.0, -0.0, 2**100]
    exact = (int, float, complex, bool, str, bytes, tuple, type(None))
    for x, y in itertools.product(values, values):
        if type(x) not in exact:
            continue
        same = x is y or (type(x) is type(y) and repr(x) == repr(y))
        assert takes([Guard(arg(0), "equal", 0)], y, constants=[x]) == same, (x, y)
    copies = [2**100 + 0, "b" * 3, (1, 2.5, ("x", None)), 1e300, b"xy"]
    for x in copies:
        assert takes([Guard(arg(0), "equal", 0)], pickle.loads(pickle.dumps(x)), constants=[x])
    f4 = np.dtype("f4")
    assert takes([Guard(arg(0), "equal", 0)], pickle.loads(pickle.dumps(f4)), constants=[f4])
    assert not takes([Guard(arg(0), "equal", 0)], np.dtype(">f4"), constants=[f4])
    assert not takes([Guard(arg(0), "equal", 0)], np.dtype("f4", metadata={"a": 1}), constants=[f4])


def test_identity_type_length():
    x = [1]
    assert takes([Guard(arg(0), "is", 0)], x, constants=[x]) and not takes([Guard(arg(0), "is", 0)], [1], constants=[x])
    assert takes([Guard(arg(0), "type", 0)], 1, constants=[int]) and not takes([Guard(arg(0), "type", 0)], True, constants=[int])
    for container in ([1, 2], (1, 2), {1: 1, 2: 2}):
        assert takes([Guard(arg(0), "len", 2)], container) and not takes([Guard(arg(0), "len", 1)], container)
        assert takes([Guard(arg(0), "length")], container)
    unequal = Guard(arg(0), "unequal", 0)
    assert takes([unequal], "a", constants=["ab"]) and takes([unequal], 1, constants=["ab"])
    assert not takes([unequal], "".join("ab"), constants=["ab"])
    assert takes([Guard(arg(0), "length")], {1}) and takes([Guard(arg(0), "length")], "ab")
    assert not takes([Guard(arg(0), "len", 2)], 2) and not takes([Guard(arg(0), "length")], 2)


# ---------------------------------------------------------------------------------------------- arrays


def spec_of(a):
    """The spec that the documentation of `ArraySpec` gives for an array."""
    ones = tuple(i for i, n in enumerate(a.shape) if n == 1)
    if a.flags.c_contiguous:
        return ArraySpec(a.dtype.str, a.ndim, ones, "C")
    if a.flags.f_contiguous:
        return ArraySpec(a.dtype.str, a.ndim, ones, "F")
    strides = [0 if n == 1 else s for n, s in zip(a.shape, a.strides)]
    sizes = sorted({abs(s) for s in strides if s})
    layout = tuple(sizes.index(abs(s)) + 1 if s else 0 for s in strides)
    unit = next((i for i, s in enumerate(strides) if s == a.itemsize), -1)
    return ArraySpec(a.dtype.str, a.ndim, ones, "", layout, tuple(s < 0 for s in strides), unit)


def arrays():
    x = np.arange(240.0).reshape(4, 5, 12)
    out = [
        x,
        x.T,
        x[::2],
        x[:, ::-1],
        x[..., ::2],
        x[:, :, ::-1],
        x.transpose(1, 0, 2),
        x.transpose(0, 2, 1),
        x[::-1, ::-1, ::-1],
    ]
    out += [x[:1], x[:, :1], x[..., :1], x[:0], x[:, :0].T, x[:1].T, x[1:, 1:, 1:], x.transpose(2, 0, 1)[::2], x[1:2, ::2]]
    out += [np.broadcast_to(x[:, :1], x.shape), np.broadcast_to(x[0], x.shape), np.broadcast_to(1.0, x.shape)]
    out += [np.lib.stride_tricks.as_strided(x, (3, 4, 5), (8, 8, 160)), x.astype("f4")[::2], x.T.astype("f4")[::2]]
    return [*out, x.ravel(), x.ravel()[::3], x[0, 0, 0, ...], x[0]]


def key(a):
    s = spec_of(a)
    return (s.dtype, s.rank, s.ones, s.contiguous, s.layout, s.negative, s.unit)


def test_array_patterns():
    """A guard made for one array takes another exactly when their patterns are the same."""
    samples = arrays()
    for a in samples:
        fn = lambda x: NO  # noqa: E731
        exits = [returns(Recipe("const", 0))]
        jit = jit_of(fn, [Guard(arg(0), "array", spec_of(a))], exits, "return 0;", constants=[YES])
        for b in samples:
            assert (jit(b) == YES) == (key(a) == key(b)), (spec_of(a), spec_of(b))


def test_array_words():
    a = np.arange(24.0).reshape(4, 6)[::2, ::-1]
    pointer = a.__array_interface__["data"][0]
    assert words(Guard(arg(0), "array", spec_of(a)), a, 5) == (pointer, *a.shape, *a.strides)


def test_arrays_that_are_refused():
    x = np.arange(4.0)
    guard = [Guard(arg(0), "array", f8())]
    assert takes(guard, x) and takes(guard, pickle.loads(pickle.dumps(x)))
    unaligned = np.frombuffer(bytearray(33), "u1")[1:].view("f8")
    for bad in (
        x.view(Sub),
        x.astype(">f8"),
        x.astype("f4"),
        unaligned,
        np.ma.array(x),
        np.array(x, dtype=object),
        x.tolist(),
        None,
    ):
        assert not takes(guard, bad)
    assert not takes(guard, np.zeros(3, np.dtype("f8", metadata={"a": 1})))
    assert not takes([Guard(arg(0), "array", ArraySpec("i8", 1))], np.arange(3, dtype="q"))  # result types differ


def test_writeable():
    x = np.arange(6.0)
    guard = [Guard(arg(0), "array", f8(writeable=True))]
    assert takes(guard, x)
    x.flags.writeable = False
    assert not takes(guard, x) and takes([Guard(arg(0), "array", f8())], x)
    windows = np.lib.stride_tricks.as_strided(np.arange(8.0), (3, 3), (8, 8))
    spec = ArraySpec("f8", 2, (), "", (1, 1), (False, False), 0)
    assert takes([Guard(arg(0), "array", spec)], windows)
    assert not takes([Guard(arg(0), "array", replace(spec, writeable=True))], windows)
    assert takes([Guard(arg(0), "array", replace(spec, overlaps=True))], windows)


def test_arrays_that_overlap_themselves():
    """The guard, and the tracer by the same rule."""
    x = np.arange(60.0)
    strided = np.lib.stride_tricks.as_strided
    apart = [
        x,
        x[::2],
        x.reshape(6, 10).T[::2],
        x[:0],
        x.reshape(6, 10)[:, ::-1],
        strided(x, (2, 3), (24, 8)),
        strided(x[30:], (4, 3), (-24, 8)),
    ]
    apart = [*apart, np.broadcast_to(x[:1], (1, 1)), strided(x, (0, 3), (0, 8))]
    close = [strided(x, (3, 3), (8, 8)), strided(x, (3, 3), (16, 8)), np.broadcast_to(x, (2, 60))]
    close.append(strided(x[30:], (3, 4), (-8, 16)))
    for a in apart + close:
        overlaps = any(a is b for b in close)
        assert _dispatch.overlaps_itself(a) == aliasing.overlaps_itself(a) == overlaps, (a.shape, a.strides)
        assert not overlaps or takes([Guard(arg(0), "array", replace(spec_of(a), overlaps=True))], a)


# ---------------------------------------------------------------------------------------------- sources

GLOBAL = 1


class Thing:
    def __init__(self, value):
        self.value = value

    @property
    def fails(self):
        raise AttributeError("no")

    @property
    def interrupts(self):
        raise KeyboardInterrupt


def equal(source, index=0):
    return Guard(source, "equal", index)


def test_global_and_builtin():
    names = globals()
    jit = jit_of(lambda: NO, [equal(Source("global", "GLOBAL"))], [returns(Recipe("const", 1))], "return 0;", constants=[1, YES])
    assert jit() == YES
    names["GLOBAL"] = 2
    assert jit() == NO
    del names["GLOBAL"]
    assert jit() == NO
    names["GLOBAL"] = 1
    assert jit() == YES
    assert takes([Guard(Source("global", "len"), "is", 0)], constants=[len], fn=lambda: NO)
    other = eval("lambda: 0", {"GLOBAL": 7})
    of_other = Source("global", "GLOBAL", arg(0))
    assert takes([equal(of_other)], other, constants=[7]) and takes([equal(of_other)], _dispatch.Jit(other), constants=[7])
    assert not takes([equal(of_other)], 3, constants=[7])


def test_names_are_looked_up_again_when_they_change(monkeypatch):
    module = types.ModuleType("module")
    module.sub, module.f, module.g = types.ModuleType("sub"), abs, len
    module.sub.h = max
    names = {"module": module, "__builtins__": {"b": 1, **vars(builtins)}}
    fn = eval("lambda: 'plain'", names)
    base, sub = Source("global", "module"), Source("attr", "sub", Source("global", "module"))
    sources = [base, sub, Source("attr", "f", base), Source("attr", "g", base), Source("attr", "h", sub), Source("global", "b")]
    constants = [module, module.sub, abs, len, max, 1, YES]
    guards = [Guard(s, "is", i) for i, s in enumerate(sources)]
    recipe = Recipe("tuple", None, (Recipe("const", 6), Recipe("source", sources[2]), Recipe("source", base)))
    jit = jit_of(fn, guards, [returns(recipe)], "return 0;", constants=constants)
    changes = [
        (names, "module", types.ModuleType("module")),
        (vars(module), "f", len),
        (vars(module), "g", abs),
        (vars(module.sub), "h", min),
        (vars(module), "sub", types.ModuleType("sub")),
        (names, "b", 2),
        (names["__builtins__"], "b", 2),
    ]
    for space, name, value in changes:
        assert [jit() for _ in range(3)] == [(YES, abs, module)] * 3
        with monkeypatch.context() as m:
            m.setitem(space, name, value)
            assert jit() == jit() == NO
        if name != "b" or space is not names:
            old = space.pop(name)
            assert jit() == jit() == NO
            space[name] = old
    names["unrelated"] = vars(module)["unrelated"] = 1
    assert jit() == (YES, abs, module)
    assert jit.entries[0].failures == (4, 4, 4, 4, 4, 6, 0)


def test_lazy_attribute_of_a_module():
    module = types.ModuleType("lazy")
    module.__getattr__ = lambda name: abs
    fn = eval("lambda: 'plain'", {"module": module})
    base = Source("global", "module")
    guards = [Guard(base, "is", 0), Guard(Source("attr", "f", base), "is", 1)]
    jit = jit_of(fn, guards, [returns(Recipe("const", 2))], "return 0;", constants=[module, abs, YES])
    assert jit() == YES
    module.f = len
    assert jit() == NO


def test_cell():
    def make():
        x = 1

        def set_x(v):
            nonlocal x
            x = v

        def f():
            return NO, x

        return f, set_x

    f, set_x = make()
    jit = jit_of(f, [equal(Source("cell", 0))], [returns(Recipe("const", 1))], "return 0;", constants=[1, YES])
    assert jit() == YES
    set_x(2)
    assert jit() == (NO, 2)
    assert takes([equal(Source("cell", 0, arg(0)))], f, constants=[2])
    assert not takes([equal(Source("cell", 1, arg(0)))], f, constants=[2])


def test_attributes_items_types():
    thing = Thing(5)
    assert takes([equal(Source("attr", "value", arg(0)))], thing, constants=[5])
    thing.value = 6
    assert not takes([equal(Source("attr", "value", arg(0)))], thing, constants=[5])
    assert not takes([equal(Source("attr", "absent", arg(0)))], thing, constants=[5])
    assert not takes([equal(Source("attr", "fails", arg(0)))], thing, constants=[5])
    with pytest.raises(KeyboardInterrupt):
        takes([equal(Source("attr", "interrupts", arg(0)))], thing, constants=[5])
    assert takes([Guard(Source("attr", "sqrt", arg(0)), "is", 0)], np, constants=[np.sqrt])
    assert takes([Guard(Source("attr", "__dict__", arg(0)), "is", 0)], np, constants=[np.__dict__])
    assert not takes([Guard(Source("attr", "no_such_name", arg(0)), "is", 0)], np, constants=[np.sqrt])
    for container in ([1, 2, 3], (1, 2, 3)):
        assert takes([equal(Source("item", 1, arg(0)))], container, constants=[2])
        assert takes([equal(Source("item", -1, arg(0)))], container, constants=[3])
        assert not takes([equal(Source("item", 3, arg(0)))], container, constants=[3])
        assert not takes([equal(Source("item", -4, arg(0)))], container, constants=[3])
    assert not takes([equal(Source("item", 0, arg(0)))], "abc", constants=["a"])
    assert takes([equal(Source("item", "k", arg(0)))], {"k": 2}, constants=[2])
    assert not takes([equal(Source("item", "k", arg(0)))], {}, constants=[2])
    assert not takes([equal(Source("item", "k", arg(0)))], [], constants=[2])
    assert takes([Guard(Source("type", None, arg(0)), "is", 0)], 3, constants=[int])
    assert takes([Guard(Source("attr", "value", Source("const", 0)), "equal", 1)], constants=[Thing(3), 3], fn=lambda: NO)
    nested = Source("attr", "value", Source("item", 0, Source("attr", "value", arg(0))))
    assert takes([equal(nested)], Thing([Thing(9)]), constants=[9])


def test_arrays_behind_sources():
    body = """
      npc_i64 n = in[1];
      double s = 0;
      for (npc_i64 i = 0; i < n; i++) s += ((const double *)in[0])[i];
      *(double *)out = s;
      return 0;
    """
    guard = Guard(Source("attr", "value", arg(0)), "array", f8())
    jit = jit_of(lambda t: NO, [guard], [returns(Recipe("value", (0, "float")), tensor("f8", 0))], body)
    assert jit(Thing(np.arange(4.0))) == 6.0 and jit(Thing([1])) == NO


def test_name_that_only_an_exit_needs_fails_the_guard_when_gone():
    recipe = Recipe("tuple", None, (Recipe("source", Source("attr", "value", arg(0))), Recipe("source", arg(0))))
    jit = jit_of(lambda t: NO, [], [returns(recipe)], "return 0;")
    thing = Thing(4)
    assert jit(thing) == (4, thing)
    del thing.value
    assert jit(thing) == NO and jit.entries[0].failures[-1] == 1


# ---------------------------------------------------------------------------------------------- aliasing


def relation_by_numpy(a, b):
    same = (a.itemsize, a.shape) == (b.itemsize, b.shape) and all(
        s == t or n == 1 for s, t, n in zip(a.strides, b.strides, a.shape)
    )
    if same and a.__array_interface__["data"] == b.__array_interface__["data"] and a.size:
        return "same"
    return "other" if np.shares_memory(a, b) else "disjoint"


def test_alias_relations():
    x, z = np.arange(60.0).reshape(6, 10), np.zeros((4, 5), complex)
    samples = [x, x.copy(), x[:], x[1:], x[:-1], x[:, 0], x[:, 1], x[::2], x[1::2], x[:, ::2], x[:, 1::2], x[::-1], x.T, x[:0]]
    samples += [x[2:3], x[:, :5], x[:, 5:], x[::2, ::3], x[1::2, 1::3], z, z.real, z.imag, z.real[1:], x.view("f4")[:, ::2]]
    for a, b in itertools.product(samples, samples):
        assert _dispatch.alias_relation(a, b) == relation_by_numpy(a, b), (a.shape, a.strides, b.shape, b.strides)


def test_alias_guards():
    x = np.arange(20.0)
    guards = [Guard(arg(i), "array", f8()) for i in range(2)]
    relations = {"disjoint": (x[:10], x[10:]), "same": (x[:], x[:]), "other": (x[1:], x[:-1])}
    for relation in relations:
        for other, pair in relations.items():
            assert takes(guards, *pair, aliases=[AliasGuard(0, 1, relation)]) == (relation == other)


def test_alias_with_too_hard_a_problem_is_other():
    """NumPy's own example of a hard one: no common element, and the search for one takes too long."""
    x = np.zeros([192163377], dtype=np.int8)
    x1 = np.lib.stride_tricks.as_strided(x, strides=(36674, 61119, 85569), shape=(1049, 1049, 1049))
    x2 = np.lib.stride_tricks.as_strided(x[64023025:], strides=(12223, 12224, 1), shape=(1049, 1049, 1))
    assert _dispatch.alias_relation(x1, x2) == "other"
