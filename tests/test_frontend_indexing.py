"""Indexing, stores, conversions and attributes against NumPy, through the reference executor."""

import numpy as np
import pytest
from frontend_operators import arrays, values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_harness import check

REAL = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8"]
ALL = [*REAL, "F", "D"]
quick = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@st.composite
def keys(draw, shape, elements=False):
    """A basic index of an array of this shape; seldom out of range."""
    out = []
    for n in shape[: draw(st.integers(0, len(shape)))] if not elements else shape:
        kind = draw(st.sampled_from(["int", "slice", "slice", "none"])) if not elements else "int"
        if kind == "none":
            out.append(None)
        if kind == "int":
            k = draw(st.integers(-n, n - 1)) if n and draw(st.integers(0, 20)) else draw(st.sampled_from([n, -n - 1, 0]))
            out.append(draw(st.sampled_from([k, np.int64(k)])))
        else:
            bound = st.one_of(st.none(), st.integers(-n - 2, n + 2))
            out.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, 3, -1, -2]))))
    if not elements and draw(st.booleans()):
        out.insert(draw(st.integers(0, len(out))), Ellipsis)
    return out[0] if len(out) == 1 and draw(st.booleans()) else tuple(out)


def split(key):
    """A key as (template, run-time ints): integers and bounds become arguments of the traced function."""
    ints = []

    def part(k):
        if isinstance(k, slice):
            return ("slice", number(k.start), number(k.stop), k.step)
        if isinstance(k, (int, np.integer)):
            return number(k)
        return k

    def number(k):
        if k is None:
            return None
        ints.append(k)
        return ("int", len(ints) - 1)

    template = tuple(map(part, key)) if isinstance(key, tuple) else part(key)
    return template, ints


def join(template, ints):
    def part(k):
        if isinstance(k, tuple) and k and k[0] == "int":
            return ints[k[1]]
        if isinstance(k, tuple) and k and k[0] == "slice":
            return slice(part(k[1]), part(k[2]), k[3])
        return k

    if isinstance(template, tuple) and not (template and template[0] in ("int", "slice")):
        return tuple(map(part, template))
    return part(template)


@quick
@given(data=st.data())
def test_get(data):
    a = data.draw(arrays(ALL))
    key = data.draw(keys(a.shape))
    check(lambda xp, a: a[key], a)


@quick
@given(data=st.data())
def test_get_with_run_time_indices(data):
    a = data.draw(arrays(["f8", "i4"]))
    template, ints = split(data.draw(keys(a.shape)))
    check(lambda xp, a, *ints: a[join(template, ints)], a, *ints)


@quick
@given(data=st.data())
def test_get_of_a_fresh_array(data):
    a = data.draw(arrays(["f8", "D"], spread=False))
    template, ints = split(data.draw(keys(a.shape)))
    check(lambda xp, a, *ints: (a + a)[join(template, ints)], a, *ints)


@quick
@given(data=st.data())
def test_set(data):
    a = data.draw(arrays(ALL, spread=False)).copy(order="K")
    key = data.draw(keys(a.shape))
    try:
        shape = a[key].shape
    except IndexError:
        shape = ()
    kind = data.draw(st.sampled_from(["array", "scalar", "python", "0d", "wrong"]))
    dt = data.draw(st.sampled_from(ALL))
    if kind == "array":
        cut = data.draw(st.integers(0, len(shape)))
        v = data.draw(arrays([dt], (1,) * data.draw(st.sampled_from([0, 0, 1])) + shape[cut:], spread=False))
    elif kind == "wrong":
        v = data.draw(arrays([dt], spread=False))
    else:
        v = values(data.draw, dt, 1)[0]
        v = v.item() if kind == "python" else np.array(v) if kind == "0d" else v
        if type(v) is int and not -(2**63) <= v < 2**63:
            v = 3

    def f(xp, a, v):
        a[key] = v

    check(f, a, v, copies=True, may_refuse=True)


@quick
@given(data=st.data())
def test_set_element_at_run_time(data):
    a = data.draw(arrays(["f8", "i4", "f4"], spread=False)).copy(order="K")
    template, ints = split(data.draw(keys(a.shape, elements=True)))
    v = data.draw(st.sampled_from([2.5, 3, np.float32(1.5), np.int64(-4), True]))

    def f(xp, a, v, *ints):
        a[join(template, ints)] = v
        return a

    check(f, a, v, *ints, copies=True)


@quick
@given(data=st.data())
def test_store_through_views_of_a_fresh_array(data):
    a = data.draw(arrays(["f8", "i4"], spread=False))
    first, second = data.draw(keys(a.shape)), data.draw(keys(a.shape))

    def f(xp, a):
        t = a + a
        v = t[first]
        w = t[second]
        w[...] = 7
        t *= 2
        return t, v, w

    check(f, a, copies=True, may_refuse=True)


@pytest.mark.parametrize(
    "f",
    [
        lambda xp, a: a.__setitem__(slice(1, None), a[:-1]),
        lambda xp, a: a.__setitem__(slice(None, -1), a[1:]),
        lambda xp, a: a.__setitem__(slice(None, None, -1), a),
        lambda xp, a: a.__setitem__(slice(1, -1), a[:-2] + a[2:]),
        lambda xp, a: a[1:].__iadd__(a[:-1]),
        lambda xp, a: xp.add(a[1:], a[:-1], out=a[1:]),
    ],
)
def test_overlap_inside_one_statement(f):
    check(f, np.arange(7.0), copies=True)


@quick
@given(data=st.data())
def test_masked_store(data):
    a = data.draw(arrays(["f8", "i4", "u1", "F"], spread=False)).copy(order="K")
    lead = data.draw(st.integers(1, max(a.ndim, 1)))
    mask = data.draw(arrays(["?"], a.shape[:lead], spread=False))
    v = data.draw(st.sampled_from([2.5, 3, np.float32(1.5), np.int64(-4), True, np.array(2.0), np.array([2.0]), np.ones(2)]))

    def f(xp, a, mask, v):
        a[mask] = v

    check(f, a, mask, v, copies=True, may_refuse=True)


def test_masked_stores_are_compiled():
    a, m = np.arange(12.0).reshape(3, 4), np.eye(3, 4, dtype=bool)

    def f(xp, a, m):
        a[m] = 0.5
        a[a > 6.0] = -1
        a[m[:, 0]] = np.float32(2)
        t = a * 2
        t[m] = 1
        return t

    check(f, a, m, copies=True)


def test_take():
    a = np.arange(5.0)
    check(lambda xp, a, i: a[i], a, np.array([0, -1, 3, 3]))
    check(lambda xp, a, i: a[i], a, np.array([0, 5]))
    check(lambda xp, a, i: a[i], a, np.array([0, 3], "u1"))


@settings(quick, max_examples=60)
@given(data=st.data())
def test_astype_and_copy(data):
    a = data.draw(arrays(ALL))
    dt, order = np.dtype(data.draw(st.sampled_from(ALL))), data.draw(st.sampled_from("CFAK"))
    copy = data.draw(st.booleans())
    check(lambda xp, a: a.astype(dt, order=order, copy=copy), a)
    check(lambda xp, a: (a.copy(), a.copy(order), xp.copy(a)), a)
    check(lambda xp, a: (xp.asarray(a), xp.array(a, order=order), xp.asarray(a, dtype=dt), xp.ascontiguousarray(a)), a)
    check(lambda xp, a: (xp.asarray(a, order=order), xp.asfortranarray(a), xp.array(a, ndmin=2)), a)


@quick
@given(data=st.data())
def test_attributes(data):
    a = data.draw(arrays(ALL))
    check(lambda xp, a: (a.shape, a.ndim, a.size, a.dtype, a.itemsize, a.nbytes, a.T, a.real, a.conj()), a)
    if a.size and all(n > 1 for n in a.shape):
        check(lambda xp, a: a.strides, a)
    if a.dtype.kind == "c":
        check(lambda xp, a: (a.real, a.imag), a)


@quick
@given(data=st.data())
def test_scalars(data):
    x = values(data.draw, data.draw(st.sampled_from(ALL)), 1)[0]
    check(lambda xp, x: (x.shape, x.ndim, x.size, x.dtype, x.T, x.real, x.imag, x.conj(), x.copy()), x)
    check(lambda xp, x: x.item(), x, may_refuse=x.dtype == np.uint64)
    check(lambda xp, x: x.astype(np.float32), x)


@quick
@given(data=st.data())
def test_constructors(data):
    dt = data.draw(st.sampled_from(ALL))
    cls = np.dtype(data.draw(st.sampled_from(ALL))).type
    x = values(data.draw, dt, 1)[0]
    x = data.draw(st.sampled_from([x, x.item(), np.array(x), np.array([x, x])]))
    if type(x) is int and not -(2**63) <= x < 2**63:
        x = 3
    check(lambda xp, x: getattr(xp, cls.__name__)(x), x, may_refuse=True)


def test_lists():
    check(lambda xp, x: (xp.array([1, 2.5, x]), xp.array([[1, 2], [3, 4]]), xp.asarray((x, x))), 2.5)
    check(lambda xp, a: xp.array([a, a[::-1]]), np.arange(3.0))
    check(lambda xp, a: xp.array([1, 2, 3], dtype=xp.float32), np.arange(3.0))
    check(lambda xp, a: xp.array([]), np.arange(3.0))
    check(lambda xp, a: a + [1, 2, 3], np.arange(3.0))
    check(lambda xp, a: a.item(1), np.arange(3.0))


def test_identity():
    def f(xp, a):
        b = xp.asarray(a)
        c = a.astype(a.dtype, copy=False)
        b += 1
        return b, c, xp.add(a, 1, out=a)

    check(f, np.arange(3.0), copies=True)
    check(lambda xp, a: (a[...], a[:], a.T, a.real), np.arange(3.0))
