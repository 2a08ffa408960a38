"""The jit object: behaves as the function it wraps, binds arguments as Python does, finds the entry that applies."""

import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest
from segment_units import Guard, arg, f8, fma_jit, jit_of, returns, tensor, value

from npcompile.runtime import _dispatch
from npcompile.runtime.segments import SegmentSpec, make_entry

A, B, C = (np.linspace(i, i + 1, 100) for i in range(3))


def module_level(a, b=2, *rest, k, d=4, **more):
    """Documentation."""
    return a, b, rest, k, d, more


original = module_level
module_level = _dispatch.Jit(module_level)


class Owner:
    @_dispatch.Jit
    def method(self, x):
        return self, x

    @staticmethod
    @_dispatch.Jit
    def static(x):
        return x

    @classmethod
    @_dispatch.Jit
    def cls(cls, x):
        return cls, x


def test_it_looks_like_the_function():
    assert module_level.__wrapped__ is original
    for name in (
        "__name__",
        "__qualname__",
        "__module__",
        "__doc__",
        "__annotations__",
        "__defaults__",
        "__kwdefaults__",
        "__code__",
    ):
        assert getattr(module_level, name) == getattr(original, name)
    assert inspect.signature(module_level) == inspect.signature(original)
    module_level.extra = 1
    assert module_level.extra == 1 and "extra" in module_level.__dict__
    assert weakref.ref(module_level)() is module_level
    assert "module_level" in repr(module_level) and callable(module_level) and inspect.isroutine(module_level)


def test_it_pickles_by_name_and_copies_as_itself():
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert pickle.loads(pickle.dumps(Owner.method)) is Owner.__dict__["method"]
    assert copy.copy(module_level) is module_level and copy.deepcopy([module_level])[0] is module_level
    rebuilt = pickle.loads(pickle.dumps(_dispatch.Jit(plain_one, None, (rebuild, "option"))))
    assert rebuilt == ("rebuilt", plain_one, "option")


def plain_one():
    return 1


def rebuild(fn, option):
    return "rebuilt", fn, option


def test_main_is_pickled_by_value_for_cloudpickle(monkeypatch):
    jit = _dispatch.Jit(plain_one, None, (rebuild, "option"))
    jit.__module__ = "__main__"
    monkeypatch.setattr(sys.modules["__main__"], "plain_one", jit, raising=False)
    assert jit.__reduce__() == "plain_one"
    as_cloudpickle = eval("lambda f: f.__reduce__()", {"__name__": "joblib.externals.cloudpickle.cloudpickle"})
    assert as_cloudpickle(jit) == (rebuild, (plain_one, "option"))
    assert as_cloudpickle(module_level) == "module_level"


def test_methods():
    o = Owner()
    assert o.method(3) == (o, 3) and Owner.method(o, 3) == (o, 3) and o.method.__func__ is Owner.method
    assert o.static(1) == 1 and o.cls(2) == (Owner, 2)
    assert str(inspect.signature(o.method)) == "(x)"


CALLS = [
    ((1,), {"k": 3}),
    ((1, 2, 3, 4), {"k": 3, "z": 9}),
    ((), {"a": 1, "k": 3, "b": 5, "d": 6}),
    ((1,), {"k": 3, "a": 2}),
    ((), {"k": 3}),
    ((1,), {}),
    ((1,), {"k": 1, "k2": 2, "self": 3}),
]


@pytest.mark.parametrize("args, kwargs", CALLS)
def test_binding_is_pythons(args, kwargs):
    seen = []
    jit = _dispatch.Jit(original, lambda j, bound: seen.append(bound) or False)
    try:
        expected = original(*args, **kwargs)
    except TypeError as e:
        with pytest.raises(TypeError) as info:
            jit(*args, **kwargs)
        assert str(info.value) == str(e) and not seen
    else:
        assert jit(*args, **kwargs) == expected
        a, b, rest, k, d, more = expected
        assert seen == [(a, b, k, d, rest, more)]


def test_positional_only_and_defaults_that_change():
    def f(a, /, b=(1,)):
        return a, b

    seen = []
    jit = _dispatch.Jit(f, lambda j, bound: seen.append(bound) or False)
    assert jit(1) == (1, (1,)) and seen[-1][1] is f.__defaults__[0]
    jit.__defaults__ = (7,)
    assert jit(1) == (1, 7) == f(1) and seen[-1] == (1, 7)
    with pytest.raises(TypeError, match="positional-only"):
        jit(a=1)


def test_hit_miss_and_counters():
    jit = fma_jit()
    r = jit(A, B, C)
    assert r.tobytes() == (A * B + C).tobytes() and r.flags.owndata and r.base is None
    assert jit(a=A, c=C, b=B).tobytes() == r.tobytes()
    assert (jit.hits, jit.misses, jit.plain_calls) == (2, 0, 0) and jit.entries[0].hits == 2
    assert (jit(A, B, 1.0) == A * B + 1.0).all()
    assert jit.plain_calls == 1 and jit.entries[0].failures == (0, 0, 1, 0)
    assert jit.entries[0].check(jit, (A, B, C)) is None and jit.entries[0].check(jit, (A, 1, C)) == 1
    with pytest.raises(ValueError):
        jit(A, B[1:], C)
    assert jit.entries[0].graph_failures == 1


def test_miss_compiles_and_is_asked_once():
    def f(a, b, c):
        return a * b + c

    calls = []

    def miss(jit, bound):
        calls.append(bound)
        if not isinstance(bound[2], np.ndarray):
            return False
        jit.insert(fma_jit().entries[0])
        return True

    jit = _dispatch.Jit(f, miss)
    for _ in range(3):
        assert (jit(A, B, C) == A * B + C).all()
    assert len(calls) == 1 == jit.misses and jit.hits == 3
    assert (jit(A, B, 2) == A * B + 2).all() and len(calls) == 2
    jit.state = "frozen"
    assert (jit(A, B, 2) == A * B + 2).all() and len(calls) == 2 and (jit(A, B, C) == A * B + C).all() and jit.hits == 4
    jit.state = "plain"
    assert (jit(A, B, C) == A * B + C).all() and jit.hits == 4 and jit.state == "plain"


def test_exception_in_miss_propagates():
    jit = _dispatch.Jit(plain_one, lambda j, bound: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        jit()
    with pytest.raises(ZeroDivisionError):
        jit()


def test_plain_entry():
    jit = jit_of(plain := lambda x: ("plain", x), [Guard(arg(0), "int")], [], miss=lambda *a: pytest.fail("asked"))
    assert jit(3) == ("plain", 3) == plain(3) and jit.entries[0].hits == 1


def test_recursion_and_calls_while_compiling_run_plain():
    def fact(n):
        return 1 if n == 0 else n * jit(n - 1)

    depth = []

    def miss(j, bound):
        depth.append(bound)
        assert j(3) == 6
        return False

    jit = _dispatch.Jit(fact, miss)
    assert jit(5) == 120 and depth[0] == (5,)


def test_one_compile_while_other_threads_run_plain():
    started, go, calls = threading.Event(), threading.Event(), []

    def miss(j, bound):
        calls.append(threading.get_ident())
        started.set()
        go.wait(10)
        j.insert(fma_jit().entries[0])
        return True

    jit = _dispatch.Jit(fma_jit().__wrapped__, miss)
    results = []
    first = threading.Thread(target=lambda: results.append(jit(A, B, C)))
    first.start()
    started.wait(10)
    results.append(jit(A, B, C))
    assert jit.plain_calls == 1 and len(calls) == 1
    go.set()
    first.join()
    assert len(results) == 2 and all((r == A * B + C).all() for r in results) and len(calls) == 1 and jit.hits == 1


def test_deep_recursion():
    def down(n):
        return 0 if n == 0 else 1 + jit(n - 1)

    jit = _dispatch.Jit(down)
    assert jit(400) == 400
    with pytest.raises(RecursionError):
        jit(10**6)
    assert jit(5) == 5


def test_most_recent_entry_comes_first():
    jit = jit_of(
        lambda x: x, [Guard(arg(0), "array", f8())], [returns(value(), tensor())], "rt->out_object(ctx, 0, 0); return 0;"
    )
    first = jit.entries[0]
    spec = SegmentSpec(guards=[Guard(arg(0), "int")])
    jit.insert(make_entry(spec, jit.__code__))
    assert jit.entries[1] is first
    assert jit(A) is A and jit.entries[0] is first
    assert jit(1) == 1 and jit.entries[1] is first


def test_replaced_code_runs_plain():
    jit = fma_jit()
    jit.__code__ = (lambda a, b, c: "new").__code__
    assert jit(A, B, C) == "new"


def test_trace_function_runs_the_original():
    jit = fma_jit()
    lines = []
    sys.settrace(lambda frame, event, arg: lines.append(event))
    try:
        jit(A, B, C)
    finally:
        sys.settrace(None)
    assert lines and jit.hits == 0
    jit.run_traced = 1
    sys.setprofile(lambda frame, event, arg: None)
    try:
        jit(A, B, C)
    finally:
        sys.setprofile(None)
    assert jit.hits == 1


def test_it_is_collected_in_cycles():
    jit = fma_jit()
    jit.me = jit
    jit.__wrapped__.jit = jit
    r, a = weakref.ref(jit), jit.entries
    del jit, a
    gc.collect()
    assert r() is None


def test_no_reference_leaks():
    jit = fma_jit()
    jit(A, B, C)
    before = [sys.getrefcount(x) for x in (A, B, C, np.dtype("f8"), jit, jit.entries[0])]
    for _ in range(20000):
        jit(A, B, c=C)
        jit(A, B, 1)
    assert [sys.getrefcount(x) for x in (A, B, C, np.dtype("f8"), jit, jit.entries[0])] == before


def test_many_threads():
    jit, errors = fma_jit(), []

    def work(seed):
        a = np.random.default_rng(seed).random(257)
        for _ in range(300):
            if not (jit(a, a, a) == a * a + a).all():
                errors.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and jit.hits == 2400
