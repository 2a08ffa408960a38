"""Runs lowered graphs without the dispatcher: compiles a unit, calls it through ctypes with a Python-made runtime table.

In: a graph, its spec, inputs. Out: the exit taken and its captures, as `ir.executor.execute` gives them.
"""

from __future__ import annotations

import copy
import ctypes
import tempfile
from pathlib import Path

import numpy as np
from npcompile.lowering import Lowered, LowerOptions, compile_unit, lower

from npcompile.ir.executor import execute
from npcompile.ir.types import TensorType, ViewType

I64 = ctypes.c_longlong
P = ctypes.c_void_p
PI64 = ctypes.POINTER(I64)
BODY = ctypes.CFUNCTYPE(None, P, I64, I64)
FIELDS = [
    ("alloc_array", ctypes.CFUNCTYPE(P, P, I64, I64, I64, PI64, PI64)),
    ("scratch", ctypes.CFUNCTYPE(P, P, I64)),
    ("scratch_free", ctypes.CFUNCTYPE(None, P, P)),
    ("no_memory", ctypes.CFUNCTYPE(None, P)),
    ("out_object", ctypes.CFUNCTYPE(None, P, I64, I64)),
    ("out_view", ctypes.CFUNCTYPE(I64, P, I64, I64, I64, P, I64, PI64, PI64, I64)),
    ("parallel_for", ctypes.CFUNCTYPE(None, P, I64, I64, BODY, P)),
    ("n_threads", ctypes.CFUNCTYPE(I64, P)),
    ("gil_release", ctypes.CFUNCTYPE(None, P)),
    ("gil_acquire", ctypes.CFUNCTYPE(None, P)),
    ("poll", ctypes.CFUNCTYPE(I64, P)),
    ("report", ctypes.CFUNCTYPE(I64, P, I64, I64)),
    ("fp_clear", ctypes.CFUNCTYPE(None, P)),
    ("fp_test", ctypes.CFUNCTYPE(I64, P)),
    ("call_python", ctypes.CFUNCTYPE(P, P, I64, I64, PI64, I64)),
    ("alloc_tensor", ctypes.CFUNCTYPE(P, P, I64, I64, I64, PI64, PI64)),
    ("out_tensor", ctypes.CFUNCTYPE(I64, P, I64, I64, I64, P, I64, PI64, PI64, I64)),
    ("parallel_until", ctypes.CFUNCTYPE(I64, P, I64, I64, I64, I64, BODY, P)),
    ("ready", ctypes.CFUNCTYPE(I64, P)),
    *((name, P) for name in ("launch", "fetch", "put", "call_library", "object", "lend", "call_numpy", "generator")),
    ("ask", ctypes.CFUNCTYPE(I64, P, I64, ctypes.POINTER(ctypes.c_ushort), I64, ctypes.POINTER(P), PI64, PI64)),
]
TYPES = {np.dtype(t).num: np.dtype(t) for t in "?bBhHiIlLqQefdFD"}
_DIR = tempfile.TemporaryDirectory(prefix="npcompile-lowering-")
_UNITS: dict[str, ctypes.CDLL] = {}


class Table(ctypes.Structure):
    _fields_ = [("version", I64), *FIELDS]


class Runtime:
    """What one call of generated code sees. `chunks`: into how many parts parallel_for cuts. `warn`: what it warns about."""

    def __init__(self, inputs, constants=(), chunks=3, poll_after=None, stop_at=None, ready=0, warn=11) -> None:
        self.slots = dict(enumerate(inputs))
        self.constants = constants
        self.blocks = {}
        self.out = {}
        self.reports = []
        self.allocs = self.scratches = self.polls = self.parallel = 0
        self.chunks = chunks
        self.poll_after = poll_after
        self.stop_at = stop_at
        self.workers_ready = ready
        self.untils = 0
        self.flags = 0
        self.gil = 0
        self.warn = warn
        self.loops = ()
        self._keep = [t(getattr(self, name)) if t is not P else None for name, t in FIELDS]
        self.table = Table(1, *self._keep)

    def alloc_array(self, ctx, slot, num, nd, dims, strides):
        dtype = TYPES[num]
        shape, steps = tuple(dims[:nd]), tuple(strides[:nd])
        size = max(1, dtype.itemsize * int(np.prod(shape, dtype=np.int64)))
        raw = np.full(size + 64, 0xA5, np.uint8)
        start = -raw.ctypes.data % 64
        a = np.ndarray(shape, dtype, raw, start, steps)
        self.slots[slot] = a
        self.allocs += 1
        return a.__array_interface__["data"][0]

    def scratch(self, ctx, size):
        raw = np.full(size + 128, 0xA5, np.uint8)
        address = raw.ctypes.data + -raw.ctypes.data % 64
        self.blocks[address] = raw
        self.scratches += 1
        return address

    def scratch_free(self, ctx, p):
        del self.blocks[p]

    def no_memory(self, ctx):
        raise MemoryError

    def out_object(self, ctx, k, slot):
        self.out[k] = self.slots[slot]

    def out_view(self, ctx, k, slot, num, data, nd, dims, strides, writeable):
        base = self.slots[slot]
        shape, steps = tuple(dims[:nd]), tuple(strides[:nd])
        info = {"shape": shape, "strides": steps, "typestr": TYPES[num].str, "version": 3, "data": (data or 1, not writeable)}
        holder = type("View", (), {"__array_interface__": info, "base": base})()
        self.out[k] = np.asarray(holder)
        return 0

    def parallel_for(self, ctx, n, grain, body, env):
        self.parallel += 1
        step = max(grain, -(-n // self.chunks) // grain * grain)
        for lo in range(0, n, step):
            body(env, lo, min(n, lo + step))

    def parallel_until(self, ctx, n, grain, work, call, body, env):
        """Stops after the first chunk of its call number `stop_at`."""
        self.untils += 1
        if self.untils == self.stop_at:
            body(env, 0, min(n, grain))
            return 1
        self.parallel_for(ctx, n, grain, body, env)
        return 0

    def ready(self, ctx):
        return self.workers_ready

    def n_threads(self, ctx):
        return self.chunks

    def gil_release(self, ctx):
        self.gil += 1

    def gil_acquire(self, ctx):
        self.gil -= 1

    def poll(self, ctx):
        self.polls += 1
        return int(self.poll_after is not None and self.polls > self.poll_after)

    def report(self, ctx, site, mask):
        self.reports.append((site, mask))
        return 0

    def ask(self, ctx, count, loops, n, at, by, rep):
        seen = 0
        for j in range(0, 5 * count, 5):
            found = self._met(*self.loops[loops[j]], n, loops[j + 2 : j + 5], at, by)
            seen |= found
            if found and loops[j + 1]:
                rep[loops[j + 1]] |= found
                rep[0] |= found
        return seen

    def _met(self, name, place, n, where, at, by):
        ufunc = getattr(np, name)
        dtypes = [np.dtype(c) for c in ufunc.types[place].replace("->", "")]
        arrays = [_memory(at[k], n, by[k], t) for k, t in zip(where, dtypes, strict=False)]
        seen = [0]

        def note(kind, flag):
            seen[0] |= flag

        with np.errstate(all="call", call=note):
            if where[0] == where[2]:
                arrays[2][...] = arrays[0][0] + ufunc.reduce(arrays[1])
            else:
                ufunc(*arrays[:-1], out=arrays[-1])
        return seen[0] & 11

    def fp_clear(self, ctx):
        self.flags = 0

    def fp_test(self, ctx):
        return 15

    def alloc_tensor(self, ctx, *args):
        return self.alloc_array(ctx, *args)

    def out_tensor(self, ctx, *args):
        return self.out_view(ctx, *args)

    def call_python(self, ctx, fn, n, args, slot):
        self.slots[slot] = self.constants[fn](*(self.slots[args[i]] for i in range(n)))
        return self.slots[slot].__array_interface__["data"][0]


def _memory(address, n, step, dtype):
    info = {"shape": (n,), "strides": (step,), "typestr": dtype.str, "version": 3, "data": (address, False)}
    return np.asarray(type("Memory", (), {"__array_interface__": info})())


def library(low: Lowered) -> ctypes.CDLL:
    """The compiled unit, cached by its text."""
    if low.symbol not in _UNITS:
        _UNITS[low.symbol] = ctypes.CDLL(str(compile_unit(low.source, Path(_DIR.name), low.symbol)))
    return _UNITS[low.symbol]


def words(types, inputs) -> np.ndarray:
    """The input block."""
    out: list[int] = []
    for t, x in zip([t for t in types if isinstance(t, (TensorType, ViewType))], inputs, strict=True):
        if isinstance(t, ViewType):
            out += [x.__array_interface__["data"][0], *x.shape, *x.strides]
        else:
            raw = np.zeros(16, np.uint8)
            size = t.dtype.itemsize
            raw[:size] = np.frombuffer(np.asarray(x, t.dtype).tobytes(), np.uint8)
            if t.dtype.kind in "bi":
                raw[:8] = np.frombuffer(np.int64(int(x)).tobytes(), np.uint8)
            w = raw.view(np.int64)
            out += [int(w[0])] if size <= 8 else [int(w[0]), int(w[1])]
    return np.array(out or [0], np.int64)


def run(low: Lowered, graph, spec, inputs, runtime: Runtime | None = None):
    """Exit and captures of one call of generated code."""
    rt = runtime or Runtime([x for x in inputs if isinstance(x, np.ndarray) and x is not None])
    block = words([p.type for p in graph.body.params], inputs)
    rt.loops = low.loops
    n_out = max([len(e.captures) for e in spec.exits] or [0]) + 1
    out = np.zeros(2 * n_out, np.int64)
    f = getattr(library(low), low.symbol)
    f.restype = I64
    syms = (P * max(1, len(low.symbols)))(*(symbol_address(s) for s in low.symbols))
    code = f(ctypes.byref(I64(rt.warn)), ctypes.byref(rt.table), P(block.ctypes.data), P(out.ctypes.data), syms)
    if code < 0:
        return code, ()
    captures = []
    for k, t in enumerate(spec.exits[code].captures):
        if k in rt.out:
            captures.append(rt.out[k])
        else:
            size = t.dtype.itemsize
            captures.append(np.frombuffer(out[2 * k : 2 * k + 2].tobytes()[:size], t.dtype)[0])
    assert rt.gil == 0
    return code, tuple(captures)


NAMES = ("divide", "overflow", "underflow", "invalid")


def reports_of(low: Lowered, rt: Runtime) -> list:
    """What a call reported, as the executor lists it."""
    return [(low.report_sites[s], tuple(n for k, n in enumerate(NAMES) if mask >> k & 1)) for s, mask in rt.reports]


def by_place(reports) -> list:
    """Reports in an order that does not depend on scheduling."""
    return sorted((site.loc.line, site.name, tuple(sorted(conditions))) for site, conditions in reports)


def symbol_address(name: str) -> int:
    """Address of an external symbol of NumPy's own BLAS."""
    import glob

    root = Path(np.__file__).parent
    for path in glob.glob(str(root.parent / "numpy.libs" / "*openblas*")):
        lib = ctypes.CDLL(path)
        return ctypes.cast(getattr(lib, name), P).value or 0
    return 0


def same(a, b, ulp: int = 0) -> None:
    """Equal dtype, shape, strides and bits (NaNs equal NaNs); `ulp` allows some units in the last place."""
    assert np.asarray(a).dtype == np.asarray(b).dtype
    assert np.shape(a) == np.shape(b)
    if isinstance(a, np.ndarray) and a.size:
        sa = [s for s, n in zip(a.strides, a.shape) if n != 1]
        sb = [s for s, n in zip(b.strides, b.shape) if n != 1]
        assert sa == sb, (a.strides, b.strides)
    a, b = np.asarray(a), np.asarray(b)
    if ulp and a.dtype.kind in "fc":
        np.testing.assert_array_max_ulp(a, b, ulp) if a.dtype.kind == "f" else np.testing.assert_allclose(a, b, rtol=ulp * 3e-16)
    else:
        np.testing.assert_array_equal(a, b)


def check(graph, spec, inputs, ulp: int = 0, options: LowerOptions | None = None, **kw):
    """Generated code against the executor: exit, captures, and what happened to the inputs. Returns (lowered, runtime)."""
    theirs = [copy.deepcopy(x) if not isinstance(x, np.ndarray) else clone(x) for x in inputs]
    low = lower(graph, spec, options)
    reports: list = []
    expected = execute(graph, spec, theirs, reports=reports)
    rt = Runtime([x for x in inputs if isinstance(x, np.ndarray)], **kw)
    got = run(low, graph, spec, inputs, rt)
    assert got[0] == expected[0]
    for a, b in zip(got[1], expected[1], strict=True):
        same(a, b, ulp)
    for a, b in zip(inputs, theirs, strict=True):
        if isinstance(a, np.ndarray):
            same(a, b, ulp)
    assert by_place(reports_of(low, rt)) == by_place(reports)
    return low, rt


def clone(a: np.ndarray) -> np.ndarray:
    """A copy with the same strides."""
    low, high = np.lib.array_utils.byte_bounds(a)
    raw = np.zeros(max(1, high - low), np.uint8)
    out = np.ndarray(a.shape, a.dtype, raw, a.__array_interface__["data"][0] - low if a.size else 0, a.strides)
    out[...] = a
    return out
