"""A small graph builder for tests, and a hypothesis strategy for random well-formed graphs with inputs to run them on."""

import numpy as np
from hypothesis import strategies as st
from ir_arrays import arrays, layout_of_array

import npcompile.ir.prims  # noqa: F401
from npcompile.ir.dims import Dim, Sym
from npcompile.ir.graph import Graph, Loc, Node, Region, ReportSite, Value
from npcompile.ir.layout import c_layout, contiguity, f_layout, keep_order, packed_strides
from npcompile.ir.prim import PRIMS
from npcompile.ir.prims.control import carried as packed
from npcompile.ir.prims.index_map import reshape_is_view
from npcompile.ir.segment import ExitSpec, SegmentSpec
from npcompile.ir.types import MemType, TensorType, ViewType, scalar

MEM = MemType()


class Maker:
    """Builds a graph and its spec from concrete inputs; equal sizes share a symbol."""

    def __init__(self):
        self.graph = Graph()
        self.region = self.graph.body
        self.spec = SegmentSpec()
        self.inputs = []
        self.words = 0
        self.size_symbols = {}
        self.hints = {}
        self.line = 0

    def symbol(self, name, word, hint, **kw):
        s = Sym(name, **kw)
        self.spec.input_symbols[name] = word
        self.hints[name] = hint
        return Dim.of(s)

    def size(self, n, word):
        if n == 1:
            return Dim.of(1)
        if n not in self.size_symbols:
            self.size_symbols[n] = self.symbol(f"n{n}", word, n, lo=0, hi=1 << 40, not_one=True)
        return self.size_symbols[n]

    def array(self, a):
        """An array input: its view param (memories are made by `memories`)."""
        k = len(self.inputs)
        dims = tuple(self.size(n, self.words + 1 + i) for i, n in enumerate(a.shape))
        if a.flags.c_contiguous or a.flags.f_contiguous:
            strides = packed_strides(dims, c_layout(dims) if a.flags.c_contiguous else f_layout(dims), a.itemsize)
        else:
            strides = [
                Dim()
                if s == 0 or n == 1
                else self.symbol(f"a{k}s{i}", self.words + 1 + a.ndim + i, s, lo=min(s, 1), hi=max(s, -1))
                for i, (s, n) in enumerate(zip(a.strides, a.shape))
            ]
        neg = tuple(s < 0 and n != 1 for s, n in zip(a.strides, a.shape))
        flat = contiguity(dims, strides, a.itemsize)
        t = ViewType(a.dtype, dims, tuple(strides), layout_of_array(a), flat, neg, a.flags.writeable)
        self.words += 1 + 2 * a.ndim
        self.inputs.append(a)
        self.spec.inputs.append(t)
        self.spec.mem_of.append(len(self.spec.mem_of))
        v = Value(t)
        self.region.params.append(v)
        return v

    def number(self, x, dtype):
        t = scalar(dtype)
        self.words += 1
        self.inputs.append(x)
        self.spec.inputs.append(t)
        v = Value(t)
        self.region.params.append(v)
        return v

    def memories(self):
        ms = [Value(MEM) for _ in self.spec.mem_of]
        self.region.params.extend(ms)
        return ms

    def emit(self, prim, *ins, report=None, regions=(), **params):
        self.line += 1
        loc = Loc("program.py", self.line, "f", "program")
        types = PRIMS[prim].type_rule(tuple(v.type for v in ins), params)
        site = ReportSite(report, loc) if report else None
        node = Node(prim, ins, params, types, tuple(regions), loc, site)
        self.region.nodes.append(node)
        return node.outputs[0] if len(types) == 1 else node.outputs

    def const(self, x, dtype):
        return self.emit("const", value=x, dtype=np.dtype(dtype))

    def exit(self, prim, *ins, kind="return"):
        captures = ins[1:] if prim == "exit_if" else ins
        self.emit(prim, *ins, exit=self.graph.n_exits)
        self.spec.exits.append(ExitSpec(kind, tuple(v.type for v in captures if not isinstance(v.type, MemType))))
        self.graph.n_exits += 1

    def evaluate(self, dims):
        return tuple(d.evaluate(self.hints) for d in dims)


FLOATS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, float("inf"), float("nan"), 1e300, -3.25])
UNARY = ["neg", "abs", "sqrt", "exp", "log", "floor", "sign", "square", "reciprocal", "sin"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "copysign", "fmod"]
INT_BINARY = ["add", "sub", "mul", "floordiv", "mod", "bit_and", "shl", "maximum"]
STEPS = ["unary", "binary", "binary", "binary", "compare", "select", "convert", "map", "reduce", "const", "store", "load", "view"]
REPORT = {"sqrt", "exp", "log", "reciprocal", "square", "add", "sub", "mul", "div", "pow", "fmod", "floordiv", "mod"}


class Random:
    """Draws steps of a program and emits them."""

    def __init__(self, draw):
        self.draw = draw
        self.m = Maker()
        self.tensors = []
        self.views = []  # (view, key of its memory)
        self.mem = {}

    def pick(self, xs):
        return xs[self.draw(st.integers(0, len(xs) - 1))]

    def inputs(self):
        made = []
        for _ in range(self.draw(st.integers(1, 2))):
            dtype = self.draw(st.sampled_from(["f8", "f8", "f4", "i8"]))
            a = self.draw(arrays(dtype=dtype, max_rank=3, min_side=self.draw(st.sampled_from([0, 1, 1, 1]))))
            # any strides make an array without elements contiguous, and segments read the flag alone
            made.append(self.m.array(a if a.size else np.zeros_like(a, order="C")))
        self.tensors.append(self.m.number(self.draw(FLOATS), "f8"))
        self.tensors.append(self.m.number(self.draw(st.integers(-3, 5)), "i8"))
        for v, mem in zip(made, self.m.memories()):
            self.mem[v] = mem
            self.views.append((v, v))
            self.tensors.append(self.m.emit("load", v, mem))

    def step(self):
        getattr(self, "do_" + self.draw(st.sampled_from(STEPS)))()

    def add(self, v):
        self.tensors.append(v)

    def report(self, prim):
        return prim if prim in REPORT and self.draw(st.integers(0, 3)) == 0 else None

    def of_kind(self, kinds):
        return [t for t in self.tensors if t.type.dtype.kind in kinds]

    def match(self, a, b):
        """Make dtype and dims of `b` those of `a` (or give up and return a constant)."""
        if b.type.dtype != a.type.dtype:
            b = self.m.emit("convert", b, dtype=a.type.dtype)
        if b.type.dims != a.type.dims:
            if len(b.type.dims) > len(a.type.dims) or any(
                x != y and x.const != 1 for x, y in zip(b.type.dims[::-1], a.type.dims[::-1])
            ):
                b = self.m.const(self.draw(st.integers(0, 2)), a.type.dtype)
            if a.type.dims:
                b = self.m.emit("broadcast", b, dims=a.type.dims)
        return b

    def do_unary(self):
        a = self.pick(self.of_kind("f"))
        p = self.draw(st.sampled_from(UNARY))
        self.add(self.m.emit(p, a, report=self.report(p)))

    def do_binary(self):
        a = self.pick(self.of_kind("fi"))
        b = self.match(a, self.pick(self.tensors))
        if self.draw(st.booleans()):
            a, b = b, a
        p = self.draw(st.sampled_from(BINARY if a.type.dtype.kind == "f" else INT_BINARY))
        self.add(self.m.emit(p, a, b, report=self.report(p)))

    def do_compare(self):
        a = self.pick(self.tensors)
        b = self.match(a, self.pick(self.tensors))
        self.add(self.m.emit(self.draw(st.sampled_from(["eq", "lt", "ge", "ne"])), a, b))

    def do_select(self):
        masks = self.of_kind("b")
        if masks:
            mask = self.pick(masks)
            a = self.match(mask, self.pick(self.of_kind("b")))
            b = self.match(mask, self.pick(self.of_kind("b")))
            if self.draw(st.booleans()):
                values = [t for t in self.of_kind("f") if t.type.dims == mask.type.dims]
                if values:
                    a = self.pick(values)
                    b = self.match(a, self.pick(self.tensors))
            self.add(self.m.emit("select", mask, a, b))

    def do_convert(self):
        a = self.pick(self.of_kind("bif"))
        d = self.draw(st.sampled_from(["f8", "f4"] if a.type.dtype.kind == "f" else ["f8", "i8", "i4", "u1"]))
        self.add(self.m.emit("convert", a, dtype=np.dtype(d)))

    def do_const(self):
        v = self.m.const(self.draw(FLOATS), "f8")
        self.add(v)
        t = self.pick(self.tensors)
        if t.type.dims:
            self.add(self.m.emit("full", v, dims=t.type.dims, layout=keep_order(t.type.layout, t.type.dims)))
            axis = self.draw(st.integers(0, len(t.type.dims) - 1))
            self.add(self.m.emit("iota", dims=t.type.dims, axis=axis, dtype=np.dtype("i8")))

    def do_reduce(self):
        ts = [t for t in self.tensors if t.type.dims]
        if ts:
            t = self.pick(ts)
            axes = tuple(a for a in range(len(t.type.dims)) if self.draw(st.booleans()))
            ops = ["any", "all"] if t.type.dtype.kind == "b" else ["add", "mul"]
            sizes = self.m.evaluate(t.type.dims)
            if t.type.dtype.kind != "b" and all(sizes[a] for a in axes):
                ops = [*ops, "max", "min"]
            op = self.draw(st.sampled_from(ops))
            self.add(self.m.emit("reduce", t, op=op, axes=axes, report=self.report(op if op in ("add", "mul") else "")))

    def index_map(self, t):
        rank = len(t.dims)
        kind = self.draw(st.sampled_from(["transpose", "slice", "slice", "expand", "squeeze", "broadcast"]))
        if kind == "transpose":
            return kind, {"perm": tuple(self.draw(st.permutations(range(rank))))}
        if kind == "expand":
            return kind, {"axes": (self.draw(st.integers(0, rank)),)}
        if kind == "squeeze":
            return kind, {"axes": tuple(a for a in range(rank) if t.dims[a].const == 1)}
        if kind == "broadcast":
            return kind, {"dims": (Dim.of(2),) * (rank < 3) + t.dims}
        starts, steps, dims = [], [], []
        for d in t.dims:
            how = self.draw(st.sampled_from(["all", "all", "reverse", "tail", "head", "first"]))
            n = d.evaluate(self.m.hints)
            if how == "reverse":
                starts, steps, dims = [*starts, d - 1], [*steps, -1], [*dims, d]
            elif how == "tail" and n > 2:
                starts, steps, dims = [*starts, 1], [*steps, 1], [*dims, d - 1]
            elif how == "head" and n > 2:
                starts, steps, dims = [*starts, 0], [*steps, 1], [*dims, d - 1]
            elif how == "first" and n > 0:
                starts, steps, dims = [*starts, 0], [*steps, 1], [*dims, 1]
            else:
                starts, steps, dims = [*starts, 0], [*steps, 1], [*dims, d]
        return kind, {"starts": tuple(map(Dim.of, starts)), "steps": tuple(map(Dim.of, steps)), "dims": tuple(map(Dim.of, dims))}

    def do_map(self):
        t = self.pick(self.tensors)
        if 0 < len(t.type.dims) < 4:
            if self.draw(st.integers(0, 3)) == 0:
                size = Dim.of(1)
                for d in t.type.dims:
                    size = size * d
                # with strides that are mere symbols only a guard could tell whether NumPy copies; front ends make one
                if t.type.strides is None or reshape_is_view(t.type, (size,)):
                    self.add(self.m.emit("reshape", t, dims=(size,)))
            else:
                kind, params = self.index_map(t.type)
                self.add(self.m.emit(kind, t, **params))

    def do_view(self):
        v, key = self.pick(self.views)
        if 0 < len(v.type.dims) < 4:
            kind, params = self.index_map(v.type)
            self.views.append((self.m.emit(kind, v, **params), key))

    def do_load(self):
        v, key = self.pick(self.views)
        self.add(self.m.emit("load", v, self.mem[key]))

    def do_store(self):
        views = [(v, k) for v, k in self.views if v.type.writeable]
        if views:
            v, key = self.pick(views)
            like = Value(TensorType(v.type.dtype, v.type.dims, v.type.layout))
            value = self.match(like, self.pick(self.tensors))
            masks = [t for t in self.of_kind("b") if t.type.dims == v.type.dims]
            if masks and self.draw(st.booleans()):
                self.mem[key] = self.m.emit("store_masked", v, self.pick(masks), value, self.mem[key])
            else:
                self.mem[key] = self.m.emit("store", v, value, self.mem[key])

    def do_loop(self, depth=0):
        keys = list(self.mem)
        carried = [self.pick(self.tensors) for _ in range(self.draw(st.integers(0, 2)))]
        bounds = [self.m.const(x, "i8") for x in (0, self.draw(st.integers(0, 3)), 1)]
        outer = self.m.region, list(self.tensors), list(self.views), dict(self.mem)
        params = [Value(scalar("i8")), *(Value(t) for t in packed([c.type for c in carried])), *(Value(MEM) for _ in keys)]
        region = self.m.region = Region(params)
        self.tensors += params[: 1 + len(carried)]
        self.mem = dict(zip(keys, params[1 + len(carried) :]))
        for _ in range(self.draw(st.integers(1, 4))):
            self.step()
        if self.draw(st.integers(0, 3)) == 0:
            self.do_exit_if()
        results = []
        for c in carried:
            same = [t for t in self.tensors if t.type == c.type]
            results.append(same[-1] if self.draw(st.booleans()) else self.pick(same))
        region.results = results + [self.mem[k] for k in keys]
        self.m.region, self.tensors, self.views, before = outer
        ins = (*bounds, *carried, *(before[k] for k in keys))
        outs = self.m.emit("loop", *ins, regions=(region,))
        outs = outs if isinstance(outs, tuple) else (outs,)
        self.tensors += outs[: len(carried)]
        self.mem = dict(zip(keys, outs[len(carried) :]))

    def do_exit_if(self):
        scalars = [t for t in self.of_kind("b") if not t.type.dims]
        if scalars:
            self.m.exit("exit_if", self.pick(scalars), self.pick(self.tensors), *self.mem.values(), kind="resume")

    def finish(self):
        outs = [self.pick(self.tensors) for _ in range(self.draw(st.integers(1, 3)))] + [self.tensors[-1]]
        outs += [v for v, _ in self.views[-1:]]
        self.m.exit("exit", *outs, *self.mem.values())
        return self.m


@st.composite
def programs(draw, loops=True):
    """A `Maker` that holds a random graph, its spec and inputs for it."""
    r = Random(draw)
    r.inputs()
    for _ in range(draw(st.integers(2, 12))):
        which = draw(st.integers(0, 9))
        if which == 0 and loops:
            r.do_loop()
        elif which == 1:
            r.do_exit_if()
        else:
            r.step()
    return r.finish()


def fresh(inputs):
    """Copies with the same strides, so that a program can be run again."""
    from npcompile.ir.prims.memory import copy_in_place

    return [copy_in_place(x) if isinstance(x, np.ndarray) and x.flags.writeable else x for x in inputs]
