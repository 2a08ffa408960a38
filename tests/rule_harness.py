"""Runs a small function of NumPy calls through the rules and the reference executor, and compares with plain NumPy.

The function takes `xp` first: NumPy itself, or a stand-in whose functions, methods and operators look up rules.
"""

import warnings

import numpy as np

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy import indexing, operators, registry
from npcompile.frontends.values import Array, Const, ListV, Scalar, SliceV, SymValue, TupleV, Unsupported
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.executor import execute
from npcompile.ir.graph import Loc
from npcompile.ir.layout import canonical
from npcompile.ir.segment import SegmentSpec
from npcompile.ir.types import ViewType, scalar
from npcompile.testing import copy_arguments, difference, sharing


class Leave(Exception):
    """The segment left before its end, at run time."""


class Run:
    """One traced call."""

    def __init__(self):
        self.b = Builder()
        self.b.loc = Loc("user.py", 1)
        self.spec = SegmentSpec()
        self.b.exit_here = lambda reason: (1, ())
        self.word = 0
        self.inputs = []

    # -- inputs -----------------------------------------------------------------------------------------------------
    def sym(self, name, word, hint, **fields):
        s = Sym(name, **fields)
        self.b.hints[s] = hint
        self.spec.input_symbols[name] = word
        return Dim.of(s)

    def lift(self, x):
        if type(x) is np.ndarray:
            return self.array(x)
        if isinstance(x, np.generic):
            value = self.b.input_value(scalar(x.dtype))
            self.inputs.append(x)
            self.word += 2 if x.dtype.itemsize > 8 else 1
            return Scalar("numpy", x.dtype, value)
        if type(x) is int:
            value = self.b.input_value(scalar(np.int64))
            self.inputs.append(x)
            self.word += 1
            return Scalar(
                "python", np.dtype(np.int64), value, self.sym(f"n{self.word - 1}", self.word - 1, x, lo=-(1 << 31), hi=1 << 31)
            )
        if type(x) is float:
            value = self.b.input_value(scalar(np.float64))
            self.inputs.append(x)
            self.word += 1
            return Scalar("python", np.dtype(np.float64), value)
        return to_sym(x)

    def array(self, x):
        n, at, rank = len(self.inputs), self.word, x.ndim
        self.word += 1 + 2 * rank
        self.inputs.append(x)
        dims = tuple(Dim.of(1) if k == 1 else self.sym(f"d{n}_{i}", at + 1 + i, k, not_one=True) for i, k in enumerate(x.shape))
        flat = "C" if x.flags.c_contiguous else "F" if x.flags.f_contiguous else ""
        strides = tuple(0 if k == 1 else s for k, s in zip(x.shape, x.strides))
        if flat:
            out, size = [Dim()] * rank, Dim.of(x.itemsize)
            axes = range(rank) if flat == "F" else range(rank - 1, -1, -1)
            for a in axes:
                out[a], size = size, size * dims[a]
            live = [a for a in axes if x.shape[a] != 1]
            layout = tuple(live.index(a) + 1 if a in live else 0 for a in range(rank))
        else:
            out = []
            for a, s in enumerate(strides):
                sign = {"lo": -(1 << 47), "hi": -1} if s < 0 else {"lo": 1, "hi": 1 << 47}
                known = s in (0, x.itemsize)
                out.append(Dim.of(s) if known else self.sym(f"t{n}_{a}", at + 1 + rank + a, s, **sign))
            layout = canonical([abs(s) for s in strides], dims)
        t = ViewType(x.dtype, dims, tuple(out), layout, flat, tuple(s < 0 for s in strides), x.flags.writeable)
        return self.b.input_array(self.b.input_value(t), self.b.input_mem(), source=n)

    # -- results ----------------------------------------------------------------------------------------------------
    def capture(self, v, captures):
        """How to rebuild a result: a function from the captures and the inputs to the object."""
        if isinstance(v, Array):
            if v.source is not None and v.source in range(len(self.inputs)):
                return lambda got, inputs: inputs[v.source]
            i = len(captures)
            if v.chain:
                self.b.materialise(v.storage)
            captures.append(self.b.view_value(v) if v.storage.pure is None else self.b.read(v))
            fix = (lambda a: a) if v.storage.pure is None else np.asarray
            return lambda got, inputs, i=i: read_only(fix(got[i]), v.writeable)
        if isinstance(v, Scalar):
            i = len(captures)
            captures.append(self.b.value_of(v))
            return lambda got, inputs, i=i: got[i].item() if v.kind == "python" else got[i]
        if isinstance(v, (TupleV, ListV)):
            parts = [self.capture(x, captures) for x in v.items]
            cls = tuple if isinstance(v, TupleV) else list
            return lambda got, inputs: cls(p(got, inputs) for p in parts)
        assert isinstance(v, Const), v
        return lambda got, inputs: v.value


def read_only(a, writeable):
    if a.flags.writeable and not writeable:
        a = a.view()
        a.flags.writeable = False
    return a


def to_sym(x):
    if isinstance(x, SymProxy):
        return x.v
    if hasattr(x, "numpy_object"):
        return Const(x.numpy_object)
    if isinstance(x, SymValue):
        return x
    if isinstance(x, tuple) and any(map(deep_symbolic, x)):
        return TupleV(tuple(map(to_sym, x)))
    if isinstance(x, list):
        return ListV(list(map(to_sym, x)))
    return Const(x)


def deep_symbolic(x):
    return isinstance(x, SymProxy) or (isinstance(x, (tuple, list)) and any(map(deep_symbolic, x)))


class SymProxy:
    """A symbolic value that looks like an array: attributes and methods go to rules."""

    def __init__(self, run, v):
        self.run, self.v = run, v

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        run, v = self.run, self.v
        if isinstance(v, Scalar) and v.kind == "python":
            raise AttributeError(name)
        on = "array" if isinstance(v, Array) else "scalar"
        if name == "shape" and isinstance(v, Array):
            return tuple(
                wrap(run, Scalar("python", np.dtype(np.int64), dim=d) if d.const is None else Const(d.const)) for d in v.dims
            )
        attribute = registry.lookup_attribute(name, on)
        if attribute is not None:
            return wrap(run, attribute(run.b, v))
        method = registry.lookup_method(name, on)
        if method is None:
            raise LookupError(f"no rule for .{name}")
        return lambda *a, **k: wrap(run, method(run.b, v, *map(to_sym, a), **{n: to_sym(x) for n, x in k.items()}))

    def __index__(self):
        return self.run.b.static(self.v)

    def __getitem__(self, key):
        return wrap(self.run, indexing.getitem(self.run.b, self.v, index_of(key)))

    def __setitem__(self, key, value):
        indexing.setitem(self.run.b, self.v, index_of(key), to_sym(value))


def index_of(key):
    if isinstance(key, tuple):
        return TupleV(tuple(map(index_of, key)))
    if isinstance(key, slice):
        return SliceV(to_sym(key.start), to_sym(key.stop), to_sym(key.step))
    return to_sym(key)


def _operators():
    """Python's operators on proxies."""
    names = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"}
    names |= {"lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^"}

    def forward(op):
        return lambda self, other: wrap(self.run, operators.binary(self.run.b, op, self.v, to_sym(other)))

    def reflected(op):
        return lambda self, other: wrap(self.run, operators.binary(self.run.b, op, to_sym(other), self.v))

    def comparison(op):
        return lambda self, other: wrap(self.run, operators.compare(self.run.b, op, self.v, to_sym(other)))

    def inplace(op):
        def apply(self, other):
            out = operators.binary(self.run.b, op + "=", self.v, to_sym(other))
            return self if out is self.v else wrap(self.run, out)

        return apply

    for name, op in names.items():
        setattr(SymProxy, f"__{name}__", forward(op))
        setattr(SymProxy, f"__r{name}__", reflected(op))
        setattr(SymProxy, f"__i{name}__", inplace(op))
    for name, op in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
        setattr(SymProxy, f"__{name}__", comparison(op))
    for name, op in {"neg": "-", "pos": "+", "invert": "~", "abs": "abs"}.items():
        setattr(SymProxy, f"__{name}__", lambda self, op=op: wrap(self.run, operators.unary(self.run.b, op, self.v)))


_operators()


def wrap(run, v):
    """Symbolic results as proxies; constants and containers as they are."""
    if isinstance(v, Const):
        return v.value
    if isinstance(v, TupleV):
        return tuple(wrap(run, x) for x in v.items)
    if isinstance(v, ListV):
        return [wrap(run, x) for x in v.items]
    return SymProxy(run, v)


class SymNumpy:
    """Stands for the numpy module."""

    def __init__(self, run, path=()):
        self._run, self._path = run, path

    def __getattr__(self, name):
        target = np
        for p in (*self._path, name):
            target = getattr(target, p)
        if isinstance(target, type(np)):
            return SymNumpy(self._run, (*self._path, name))
        rule = registry.lookup(target)
        if rule is None:
            if isinstance(target, np.ufunc):
                return SymNumpy(self._run, (*self._path, name))
            if callable(target) and not isinstance(target, type):
                raise LookupError(f"no rule for {name}")
            return target
        run = self._run

        def call(*a, **k):
            return wrap(run, rule(run.b, *map(to_sym, a), **{n: to_sym(x) for n, x in k.items()}))

        call.numpy_object = target
        if isinstance(target, np.ufunc):
            for n in ("reduce", "accumulate", "outer"):
                r = registry.lookup(getattr(target, n))
                if r is not None:
                    setattr(
                        call, n, lambda *a, r=r, **k: wrap(run, r(run.b, *map(to_sym, a), **{m: to_sym(x) for m, x in k.items()}))
                    )
        return call


def trace(f, args):
    """(run, rebuild) of one traced call; `run.b.graph` is the graph."""
    run = Run()
    lifted = [wrap(run, run.lift(a)) for a in args]
    result = to_sym(f(SymNumpy(run), *lifted))
    captures = []
    rebuild = run.capture(result, captures)
    run.b.emit_multi("exit", *captures, *run.b.mem_values(), exit=0)
    run.b.finish()
    return run, rebuild


def compiled(f, args, reports=None):
    """What the rules make of `f(*args)`; raises `Unsupported` (refused when tracing) or `Leave` (left at run time)."""
    run, rebuild = trace(f, args)
    exit_, got = execute(run.b.graph, run.spec, run.inputs, reports=reports, check=True)
    assert exit_ != -1, "guards do not hold for the inputs traced with"
    if exit_ != 0:
        raise Leave
    return rebuild(got, args)


def check(f, *args, tolerance="exact", scale=0.0, may_refuse=False, copies=None, warned=True):
    """Assert that the rules give what NumPy gives: value, type, layout, sharing, arguments afterwards.

    Where NumPy raises or warns from Python code, the rules must refuse or leave. `may_refuse` allows it elsewhere too.
    `warned`: compare the floating-point conditions reported, too.
    """
    plain_args = copy_arguments(args) if copies else args
    with warnings.catch_warnings(record=True) as seen, np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        try:
            expected = f(np, *plain_args)
            failed = None
        except Exception as e:
            failed = e
    python_warnings = [w for w in seen if "encountered in" not in str(w.message)]
    reports = []
    try:
        with warnings.catch_warnings(record=True) as called, np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("always")
            got = compiled(f, list(args), reports)
    except (Unsupported, Leave, AttributeError) as e:
        if isinstance(e, AttributeError) and not isinstance(failed, AttributeError):
            raise
        if failed is None and not python_warnings and not may_refuse:
            raise AssertionError(f"refused: {e!r}") from e
        return None
    assert failed is None, f"NumPy raises {failed!r}"
    assert not python_warnings, f"NumPy warns {[str(w.message) for w in python_warnings]}"
    text = difference(expected, got, tolerance, scale)
    if text is None and sharing(expected, plain_args) != sharing(got, args):
        text = f"sharing {sharing(expected, plain_args)} expected, {sharing(got, args)} got"
    if text is None and copies:
        text = difference(plain_args, list(args), tolerance, scale, "arguments")
    assert text is None, text
    if not warned:
        return got
    want = [(str(w.message), w.filename, w.lineno) for w in seen]
    have = report_lines(reports)
    if not have:  # functions of NumPy that are called warn themselves
        assert [w[0] for w in want] == [str(w.message) for w in called], f"warnings {want} expected, {called} given"
        return got
    assert [w[0] for w in want] == [h[0] for h in have], f"warnings {want} expected, {have} reported"
    for (_, file, line), (_, place) in zip(want, have):
        if "numpy" in file:
            assert (place.file, place.line) == (file, line), f"warned at {file}:{line}, reported at {place}"
    return got


def check_sizes(f, example, *others, tolerance="exact", scale=0.0):
    """Trace once with `example`, run on arguments of the same class with other sizes: what the guards let through must be
    right. Returns how many got through."""
    run, rebuild = trace(f, example)
    through = 0
    for args in others:
        exit_, got = execute(run.b.graph, run.spec, args, check=True)
        if exit_ == -1:
            continue
        assert exit_ == 0
        through += 1
        expected = f(np, *args)
        text = difference(expected, rebuild(got, args), tolerance, scale)
        assert text is None, f"{[getattr(a, 'shape', a) for a in args]}: {text}"
    return through


_TEXT = {"divide": "divide by zero", "overflow": "overflow", "invalid": "invalid value"}


def report_lines(reports):
    """Reports as (text of NumPy's warning, place)."""
    out = []
    for site, conditions in reports:
        for c in ("divide", "overflow", "invalid"):
            if c in conditions:
                out.append((f"{_TEXT[c]} encountered in {site.name}", site.loc))
    return out


__all__ = ["Leave", "check", "check_sizes", "compiled", "trace"]
