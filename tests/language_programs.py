"""Small functions of arrays that use the Python language, as users write them: control flow, containers, classes, exceptions,
generators, the standard library. How many compile without a break is in docs/coverage.md; that number may only rise.

BREAKS names those that do not. A mechanism that makes one compile takes it out.
"""
# ruff: noqa

import abc
import bisect
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import inspect
import itertools
import math
import operator
import pickle
import random
import sys
import time
import types
import typing
import warnings
import weakref

import numpy as np

V = np.array([3.1, -1.3, 2.5, 0.0, -4.7])
M = np.arange(12.0).reshape(3, 4) * 1.1 - 5
K = np.array([4, 1, 3, 2], dtype=np.int64)
PROGRAMS = {}
"""Name -> (function, arguments)."""


def c(*args):
    def register(fn):
        PROGRAMS[fn.__name__] = fn, args
        return fn

    return register


@c(V)
def match_stmt(a):
    match a.shape:
        case (n,):
            r = n
        case (n, m):
            r = n * m
        case _:
            r = 0
    match a.ndim:
        case 1 | 2:
            a = a + 1
    match {"op": "mul", "k": 2}:
        case {"op": "add", "k": k}:
            return a + k
        case {"op": "mul", "k": k}:
            return a * k + r


@c(V)
def walrus(a):
    if (m := a.mean()) > 0:
        return a - m
    return [y for x in a if (y := x * 2) > 0]


@c(V)
def zip_enum_rev(a):
    s = 0.0
    for i, (x, y) in enumerate(zip(a, reversed(a)), 1):
        s += i * x * y
    for x in reversed(a):
        s = s * 0.5 + x
    return s


@c(V)
def zip_strict(a):
    return [x * y for x, y in zip(a, a[::-1], strict=True)]


@c(V)
def shrink(x):
    s = 0.0
    while len(x) > 1:
        s += x[0]
        x = x[1:]
    return s, x


@c(M)
def trans_loop(x):
    for _ in range(3):
        x = x.T
    return x


@c(V)
def roll_loop(x):
    for _ in range(4):
        x = np.roll(x, 1)
    return x


@c(V)
def halves(x):
    while x.size > 1:
        x = x[: x.size // 2] + x[x.size // 2 : x.size // 2 * 2]
    return x


@c(K)
def heap(a):
    h = []
    for x in a:
        heapq.heappush(h, int(x))
    return [heapq.heappop(h) for _ in range(len(h))]


@c(K)
def str_index(a):
    s = "abcdefg"
    return [s[int(x)] for x in a]


@c(K)
def dict_count(a):
    d = {}
    for x in a:
        d[int(x)] = d.get(int(x), 0) + 1
    return d


@c(K)
def counter(a):
    return collections.Counter(a.tolist()), collections.Counter("hello")["l"]


@c(V)
def defdict(a):
    dd = collections.defaultdict(list)
    dd["a"].append(a.sum())
    dd["b"].append(a + 1)
    dd["a"].append(2)
    return dict(dd)


@c(V)
def deque_hist(a):
    dq = collections.deque(maxlen=3)
    for k in range(5):
        dq.append(a * k)
    return sum(dq) / len(dq)


@c(V)
def deque_loop(a):
    dq = collections.deque([0.0], maxlen=2)
    out = []
    for x in a:
        dq.append(x)
        out.append(sum(dq))
    return out


@c(V)
def ctxman(a):
    @contextlib.contextmanager
    def scaled(k):
        yield k * 2

    with scaled(2.0) as s:
        return a * s


@contextlib.contextmanager
def _noting(log):
    log.append("in")
    try:
        yield len(log)
    finally:
        log.append("out")


@c(V)
def ctxman_global(a):
    log = []
    with _noting(log) as n:
        b = a * n
    return b, log


@c(V)
def suppress(a):
    with contextlib.suppress(ZeroDivisionError):
        x = 1 // 0
    return a + 1


@c(V)
def nullctx(a):
    with contextlib.nullcontext(3) as k:
        return a * k


@c(V)
def errstate_raise_ok(a):
    with np.errstate(over="raise"):
        return a * a


@c(V + 10)
def errstate_warn(a):
    with np.errstate(divide="warn", invalid="ignore"):
        return 1 / a


@c(V)
def errstate_catch(a):
    try:
        with np.errstate(divide="raise"):
            return 1 / a
    except FloatingPointError:
        return a * 0


@c(V)
def warn_inside(a):
    warnings.warn("careful")
    return a + 1


@c(V)
def catch_warn(a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sqrt(a)


class Mode(enum.Enum):
    ADD = 1
    MUL = 2


class Fl(enum.IntFlag):
    A = 1
    B = 2


@c(V, Mode.MUL)
def enums(a, m):
    if m is Mode.ADD:
        return a + 1
    if m == Mode.MUL:
        return a * m.value


@c(V)
def intflag(a):
    f = Fl.A | Fl.B
    return a * f if Fl.A in f else a


@c(V)
def enum_name(a):
    return {m.name: a * m.value for m in Mode}


class Base(abc.ABC):
    def __init__(self, w):
        self.w = w

    @abc.abstractmethod
    def act(self, x): ...
    def __call__(self, x):
        return self.act(x * self.w)


class Clip(Base):
    def act(self, x):
        return np.maximum(x, 0)


class Floor(Base):
    def act(self, x):
        return np.floor(x)

    def __call__(self, x):
        return super().__call__(x) + 1


@c(V, [Clip(2.0), Floor(0.5)])
def abstract_layers(a, layers):
    for l in layers:
        a = l(a)
    return a


@c(V)
def made_layers(a):
    for l in [Clip(2.0), Floor(0.5)]:
        a = l(a)
    return a


@dataclasses.dataclass
class P:
    x: np.ndarray
    k: float = 2.0

    def norm(self):
        return np.sqrt((self.x**2).sum())

    def __post_init__(self):
        self.n = len(self.x)


@c(V)
def dc_make(a):
    p = P(a, 3.0)
    q = dataclasses.replace(p, k=1.0)
    return p.norm() * q.k, q


@dataclasses.dataclass(frozen=True, order=True)
class Fz:
    k: float
    t: tuple = (1, 2)


@c(V)
def dc_frozen(a):
    return a * Fz(2.0).k, Fz(1.0) < Fz(2.0), Fz(1.0) == Fz(1.0), hash(Fz(1.0)) == hash(Fz(1.0))


@c(V)
def partial_op(a):
    f = functools.partial(np.multiply, 3)
    g = operator.itemgetter(1, 2)
    h = operator.attrgetter("shape")
    m = operator.methodcaller("sum")
    return f(a), g(a), h(a), m(a), operator.add(a, 1), operator.matmul(a, a), operator.neg(a)


@c(V)
def map_filter(a):
    return (
        list(map(lambda x: x * 2, a)),
        list(filter(lambda x: x > 0, a)),
        sorted(a, key=lambda x: -x),
        sorted(a.tolist(), reverse=True),
    )


@c(V)
def strings(a):
    return (
        f"{a.sum():.3f} {a.shape!r} {a.size:>5}",
        "%s %d" % (a.dtype, a.size),
        "-".join(str(x) for x in a.shape),
        str(a.dtype).upper(),
    )


@c(V)
def deepcopy_(a):
    d = {"a": a, "l": [a, 1]}
    e = copy.deepcopy(d)
    e["a"][0] = 99
    return d, e, copy.copy(d)["l"] is d["l"]


@c(V)
def recursion(a):
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    return a * fact(5)


@c(5, V)
def recursion_rt(n, a):
    def power(n):
        return a if n == 0 else power(n - 1) * a

    return power(n)


@c(V)
def nonlocal_(a):
    total = 0.0

    def add(x):
        nonlocal total
        total += x

    for x in a:
        add(x)
    return total


@c(V)
def gen_local(a):
    def windows(x, k):
        for i in range(len(x) - k + 1):
            yield x[i : i + k]

    return [w.mean() for w in windows(a, 2)]


@c(V)
def gen_yield_from(a):
    def inner(x):
        yield from x

    return sum(inner(a))


@c(V)
def gen_fib(a):
    def fib():
        x, y = 0, 1
        while True:
            yield x
            x, y = y, x + y

    return [a[0] * f for f, _ in zip(fib(), range(6))]


@c(V)
def gen_next(a):
    def g():
        yield a
        yield a + 1

    it = g()
    return next(it) * next(it)


@c(V)
def itercount(a):
    c = itertools.count(3)
    return [x * next(c) for x in a]


@c(V)
def itertools2(a):
    out = []
    for k, g in itertools.groupby(a.tolist(), key=lambda x: x > 0):
        out.append((k, list(g)))
    return (
        out,
        list(itertools.accumulate(a, max)),
        list(itertools.islice(a, 1, 3)),
        list(itertools.chain(a, a[:1])),
        list(itertools.starmap(pow, [(2, 3), (3, 2)])),
        list(itertools.takewhile(lambda x: x > 0, a)),
        list(itertools.pairwise(a)),
    )


@c(M)
def itertools_prod(a):
    s = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(a.shape[1])):
        s += a[i, j] * (i - j)
    return s


@c(M)
def itertools_comb(a):
    s = 0.0
    for x, y in itertools.combinations(a, 2):
        s += (x * y).sum()
    return s


@c(M)
def itertools_perm_idx(a):
    s = 0.0
    for i, j in itertools.combinations(range(len(a)), 2):
        s += a[i] @ a[j]
    for i, j in itertools.permutations(range(len(a)), 2):
        s += a[i, 0] - a[j, 1]
    return s


@c(V)
def set_ops(a):
    s = {1, 2, 3} & {2, 3, 4}
    t = set()
    t.add(a.ndim)
    t.add(5)
    t.discard(1)
    return a * len(s), t, 2 in s, s | t, frozenset((1, 2))


@c(K)
def set_rt(a):
    seen = set()
    for x in a:
        if int(x) in seen:
            return True
        seen.add(int(x))
    return len(seen)


@c(V)
def try_except_else_finally(a):
    log = []
    try:
        r = a[10]
    except IndexError as e:
        r = -1
        log.append(type(e).__name__)
    else:
        log.append("else")
    finally:
        log.append("fin")
    return r, log, a + 1


@c(V)
def raise_custom(a):
    class Bad(ValueError):
        pass

    try:
        if a.min() < 0:
            raise Bad("neg")
    except Bad as e:
        return a - a.min(), str(e)
    return a


@c(V)
def raise_from(a):
    try:
        try:
            {}["k"]
        except KeyError as e:
            raise ValueError("v") from e
    except ValueError as e:
        return a + 1, type(e.__cause__).__name__


@c(V)
def assert_isinstance(a):
    assert isinstance(a, np.ndarray) and a.ndim == 1, "x"
    return a.copy()


@c(V)
def global_dispatch(a):
    ops = {"sign": np.sign, "ceil": np.ceil}
    return sum(ops[k](a) for k in ("sign", "ceil"))


@c(V)
def locals_kw(a):
    def f(a, *args, k=1, **kw):
        return a * k + sum(args) + kw.get("z", 0)

    return f(a, 1, 2, k=3, z=4), f(*[a, 1], **{"k": 2})


@c(V)
def list_ops(a):
    l = [a, a + 1]
    l += [a * 2]
    l *= 2
    l.reverse()
    l.insert(1, a)
    x = l.pop(0)
    del l[-1]
    return l, len(l), x, l.count(1) if False else 0, [1, 2, 3].index(2)


@c(V)
def list_rt(a):
    out = []
    for x in a:
        out.append(x * 2)
    out.reverse()
    out.insert(0, 1.5)
    del out[1]
    out.sort()
    out[0] = 7.0
    return out, out.index(7.0), out[1:3], max(out), out.count(7.0)


@c(V)
def stack_loop(a):
    st = [0]
    n = 0
    while st:
        i = st.pop()
        n += 1
        if 2 * i + 2 < len(a):
            st.append(2 * i + 1)
            st.append(2 * i + 2)
    return n


@c(K)
def queue_bfs(a):
    q = collections.deque([0])
    seen = np.zeros(8, bool)
    out = []
    while q:
        i = q.popleft()
        if seen[i]:
            continue
        seen[i] = True
        out.append(i)
        for j in ((i * 2 + 1) % 8, (i + 3) % 8):
            q.append(j)
    return out


@c(V)
def rand_py(a):
    random.seed(3)
    return a * random.random() + random.randint(0, 5) + random.uniform(1, 2) + random.gauss(0, 1)


@c(V)
def time_(a):
    t = time.perf_counter()
    b = a + 1
    dt = time.perf_counter() - t
    return b, dt >= 0


@c(V)
def stdout_write(a):
    sys.stdout.write(f"{a.size}\n")
    return a + 1


@c(V)
def string_methods(a):
    key = "abc".upper().replace("B", "x")
    parts = "a,b,c".split(",")
    return a * len(parts), key, "abc"[1], "x".startswith("x"), key.find("x")


@c(V)
def np_iter(a):
    return [float(x) for x in np.nditer(a)], [(i, float(x)) for i, x in np.ndenumerate(a)], [x for x in a.flat]


@c(M)
def ndindex(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * i
    return s


@c(M)
def ndenum(a):
    s = 0.0
    for (i, j), x in np.ndenumerate(a):
        s += x * i
    return s


@c(V)
def view_method(a):
    v = a.view()
    w = a.view(np.int64)
    v[0] = 5
    return v, w, a


@c(V)
def shape_assign(a):
    b = a.copy()
    b.shape = (5, 1)
    return b


@c(V)
def vectorize_inside(a):
    f = np.vectorize(lambda x: x * 2 if x > 0 else -x)
    return f(a)


@c(V)
def ternary(a):
    return a * (2 if a.sum() > 0 else 3), "pos" if a[0] > 0 else "neg"


@c(V)
def chained_assign(a):
    x = y = a + 1
    x[0] = 5
    (p, q), r = (1, 2), 3
    a[0], a[1] = a[1], a[0]
    return x, y, p + q + r, a


@c(V)
def augmented(a):
    a += 1
    a[1:] *= 2
    a[a > 3] = 0
    a **= 2
    a //= 2
    return a


@c(V)
def lambda_default(a):
    fs = [lambda x, i=i: x * i for i in range(3)]
    return [f(a) for f in fs]


@c(V)
def closures_counter(a):
    def mk():
        n = 0

        def inc():
            nonlocal n
            n += 1
            return n

        return inc

    c = mk()
    c()
    return a * c()


@c(V)
def decorator_inside(a):
    def twice(f):
        @functools.wraps(f)
        def g(*args, **kw):
            return f(f(*args, **kw))

        return g

    @twice
    def inc(x):
        return x + 1

    return inc(a)


@functools.lru_cache(maxsize=None)
def _w(n):
    return np.arange(n) / n


@c(V)
def lru(a):
    return a * _w(len(a))


@functools.singledispatch
def _sd(x):
    return x


@_sd.register
def _(x: np.ndarray):
    return x * 2


@c(V)
def singledisp(a):
    return _sd(a)


class Vec:
    def __init__(self, x):
        self.x = x

    def __add__(self, o):
        return Vec(self.x + (o.x if isinstance(o, Vec) else o))

    __radd__ = __add__

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]

    def __setitem__(self, i, v):
        self.x[i] = v

    def __iter__(self):
        return iter(self.x)

    def __eq__(self, o):
        return bool((self.x == o.x).all())

    def __contains__(self, v):
        return bool((self.x == v).any())

    def __bool__(self):
        return len(self.x) > 0

    def __enter__(self):
        return self

    def __exit__(self, *e):
        return False

    @classmethod
    def zeros(cls, n):
        return cls(np.zeros(n))

    @property
    def n(self):
        return self.x.size

    @n.setter
    def n(self, v):
        self.x = self.x[:v]


@c(V)
def vec_class(a):
    v = Vec(a) + 1
    w = 2 + v
    w[0] = 5
    with w:
        pass
    return w.x, len(w), w[1:], list(w), v == w, 5 in w, bool(w), Vec.zeros(3).x


@c(V)
def prop_setter(a):
    v = Vec(a)
    v.n = 2
    return v.x, v.n


class It:
    def __init__(self, n):
        self.n = n
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i


@c(V)
def own_iter(a):
    for k in It(3):
        a = a * k
    return a


class Sub(np.ndarray):
    pass


@c(V.view(Sub))
def subclass(a):
    return (a * 2).sum()


@c(np.ma.masked_array(V, V > 2))
def masked(a):
    return (a * 2).sum()


@c(V)
def try_in_loop(a):
    n = 0
    for i in range(8):
        try:
            a[i] += 1
        except IndexError:
            n += 1
    return n, a


@c(V)
def while_true(a):
    n = 0
    while True:
        a = a * 0.5
        n += 1
        if np.abs(a).max() < 0.1:
            break
        if n > 100:
            raise RuntimeError
    return a, n


@c(M)
def loop_rows_modify(a):
    for row in a:
        row += row.sum()
        row[0] = 0
    return a


@c(V)
def dict_iter(a):
    d = {"x": a, "y": a * 2}
    s = 0
    for k, v in d.items():
        s = s + v * len(k)
    for k in d:
        d[k] = d[k] + 1
    d |= {"z": 1}
    del d["x"]
    return s, d, {**d}, d == d if False else 0


@c({"w": V, "layers": [{"k": 2.0}, {"k": 3.0}]})
def nested_input(p):
    x = p["w"]
    for l in p["layers"]:
        x = x * l["k"]
    p["out"] = x
    return x


@c(V)
def bits(a):
    n = 5
    return a * (n << 2 | 1 & 3 ^ 2), ~n, n // 2, -7 // 2, -7 % 3, divmod(7, 2), pow(2, 10, 1000), round(2.567, 2)


@c(K)
def int_methods(a):
    n = int(a.sum())
    return n.bit_length(), (n).to_bytes(2, "big"), bin(n), hex(n), float(n).is_integer(), a * n


@c(K)
def bigint(a):
    x = 1
    for i in range(30):
        x *= i + 1
    return x, a


@c(V)
def typing_stuff(a):
    def g(x: typing.Optional[np.ndarray] = None) -> np.ndarray:
        return a if x is None else x

    return g(), g(a + 1)


@c(V)
def star_expr(a):
    h, *t = a.tolist()
    return h, t, [*t, h], {**{"a": 1}}, max(*t), (lambda *x: len(x))(*t)


@c(V)
def bisect_(a):
    s = sorted(a.tolist())
    return bisect.bisect_left(s, 1.0), a + 1


@c(V)
def simple_ns(a):
    ns = types.SimpleNamespace(x=a, k=2)
    ns.k += 1
    return ns.x * ns.k


@c(V)
def local_class(a):
    class Q:
        k = 2

        def f(self, x):
            return x * self.k

    return Q().f(a)


@c(V)
def local_import(a):
    import math as m
    from numpy import ceil

    return ceil(a) * m.pi


@c(V)
def evaluated(a):
    return eval("a + 1")


@c(V)
def inspect_(a):
    return inspect.currentframe().f_code.co_name, a + 1


@c(V)
def weak(a):
    o = Vec(a)
    r = weakref.ref(o)
    return r() is o, a + 1


@c(V)
def pickle_(a):
    return pickle.loads(pickle.dumps(a)) + 1


@c(V)
def get_set_attr(a):
    v = Vec(a)
    setattr(v, "k", 3)
    return getattr(v, "k") * a, hasattr(v, "zz"), vars(v)["k"], v.__dict__


@c(V)
def isinst_abc(a):
    return isinstance(a.sum(), float), isinstance([1], collections.abc.Sequence), issubclass(int, object), a


@c(V)
def ufunc_methods(a):
    return np.add.reduce(a), np.add.accumulate(a), np.multiply.outer(a, a), np.maximum.at


@c(V)
def where_out(a):
    out = np.empty_like(a)
    np.sqrt(a, out=out, where=a > 0)
    return np.where(a > 0, a, -a)


@c(K)
def sorted_pairs(a):
    return sorted([(int(x), i) for i, x in enumerate(a)]), sorted(range(len(a)), key=lambda i: a[i])


@c(V)
def minmax_key(a):
    return max(a, key=abs), min(range(len(a)), key=lambda i: a[i]), max(enumerate(a), key=lambda p: p[1])[0]


@c(V)
def any_zip(a):
    return any(x > y for x, y in zip(a, a[1:])), sum(1 for x in a if x > 0), all(map(np.isfinite, a))


@c(K)
def memo_dict(a):
    memo = {}

    def fib(n):
        if n < 2:
            return n
        if n not in memo:
            memo[n] = fib(n - 1) + fib(n - 2)
        return memo[n]

    return fib(10), a


@c(M)
def dict_comp(a):
    return {i: row.sum() for i, row in enumerate(a)}


@c(K)
def dict_group(a):
    d = {}
    for i, x in enumerate(a):
        d.setdefault(int(x) % 2, []).append(i)
    return d


@c(V)
def print_it(a):
    print("sum", a.sum(), a)
    return a


@c(V)
def none_default(a, b=None, out=None):
    if b is None:
        b = np.ones_like(a)
    if out is None:
        out = np.empty_like(a)
    np.add(a, b, out=out)
    return out


@c(V)
def loop_list_arrays(a):
    hist = []
    for _ in range(3):
        a = a * 0.5
        hist.append(a.copy())
    return np.array(hist), np.stack(hist)


@c(V)
def cond_expr_types(a):
    x = 1 if a[0] > 0 else 2.5
    return x, a * x


@c(V)
def complex_py(a):
    return a * (1 + 2j), abs(3 + 4j), (1 + 2j).conjugate()


BREAKS = {
    "bigint",
    "catch_warn",
    "counter",
    "dc_frozen",
    "dict_count",
    "dict_group",
    "errstate_catch",
    "errstate_raise_ok",
    "errstate_warn",
    "evaluated",
    "gen_fib",
    "gen_local",
    "gen_next",
    "gen_yield_from",
    "get_set_attr",
    "inspect_",
    "int_methods",
    "intflag",
    "itertools2",
    "list_rt",
    "local_class",
    "lru",
    "masked",
    "memo_dict",
    "np_iter",
    "own_iter",
    "pickle_",
    "raise_custom",
    "raise_from",
    "set_rt",
    "shape_assign",
    "singledisp",
    "subclass",
    "typing_stuff",
    "vec_class",
    "view_method",
    "weak",
}
