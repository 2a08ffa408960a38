"""Operators, comparisons, conditions, slices, displays, unpacking, formatted strings, assignment expressions."""

import math

from . import Cases

cases = Cases()


@cases(lambda: (7, 3))
def arithmetic(a, b):
    r = [a + b, a - b, a * b, a / b, a // b, a % b, a**b, a & b, a | b, a ^ b, a << b, a >> b, -a, +a, ~a, not a]
    a += 1; a -= 2; a *= 3; a //= 2; a %= 50; a **= 2; a &= 255; a |= 1; a ^= 6; a <<= 2; a >>= 1; a /= 2  # fmt: skip
    return r, a


@cases(lambda: (1, 2, 3), lambda: (3, 2, 1), lambda: (2, 2, 2))
def chained(a, b, c):
    return a < b < c, a <= b == c, a != b is not c, a in (b, c), a not in (b, c), a > b > c or b >= a, (a < b) is (b < c)


@cases(lambda: (0, "x"), lambda: (5, ""), lambda: (None, None))
def conditions(a, b):
    out = []
    if a and b or not a:
        out.append(1)
    if a is None:
        out.append(2)
    elif a is not None and (b or a > 3):
        out.append(3)
    x = a or b or "default"
    y = a and b and "both"
    z = "yes" if a else "maybe" if b else "no"
    if not (a or b):
        out.append(4)
    return out, x, y, z


@cases(lambda: (list(range(8)),))
def slices(s):
    t = s[1:4], s[:2], s[-2:], s[::2], s[5:1:-2], s[:]
    s[1:3] = ["a"]
    s[::3] = [0] * len(s[::3])
    del s[4:]
    del s[0]
    low = 1
    s[low : low + 1] += [9, 9]
    return t, s, s[low], s[slice(None, low)]


@cases(lambda: ((1, 2, 3), [4, 5]))
def unpacking(t, s):
    a, b, c = t
    d, e = s
    f, *g = t
    *h, i = t
    j, *k, l = *t, *s
    (m, [n, o]), p = (1, [2, 3]), 4
    a, b = b, a
    a, b, c = c, a, b
    x = y = [0]
    q, w, r, v = t[0], t[1], s[0], s
    q, w, r, v = v, r, w, q
    return (
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        i,
        j,
        k,
        l,
        m,
        n,
        o,
        p,
        x is y,
        [*t, 0, *s],
        (*s,),
        {*t, *s},
        {**{"u": 1}, "v": t, **{"u": 2}},
        q,
        w,
    )


@cases(lambda: ((1, 2),), lambda: ((1, 2, 3, 4),))
def unpacking_fails(t):
    try:
        a, b, c = t
    except ValueError as error:
        return str(error)


@cases(lambda: (3.14159, "text", 8))
def formatted(x, s, w):
    return (
        f"{x}", f"{x:.2f}", f"{s!r}", f"{s!s:>{w}}", f"{s!a}", f"{x=}", f"a{x}b{s}c{w:>{w}}d", f"{{}}", f"{w:0{w}d}",
        "%s and %r" % (x, s), f"{f'{x:.1f}':>10}", f"{'q' if w else 'p'}", rf"\{s}",
    )  # fmt: skip


@cases(lambda: ([5, 3],))
def walrus(items):
    if (n := len(items)) > 1:
        while (last := items.pop()) > 3 or n:
            n -= 1
            if n == 0:
                break
    return n, last, (y := 1) + (z := y + 1), z


@cases(lambda: (2,))
def constants(n):
    big = 12345678901234567890
    return (
        big + n,
        1.5e300 * n,
        2j * n,
        b"bytes"[n],
        "str" * n,
        (1, (2, "x")),
        None,
        ...,
        True + n,
        -0.0,
        math.inf,
        {1: "a", 2: "b"},
    )


@cases(lambda: ({"a": 1},))
def dictionaries(d):
    d["b"] = d["a"] + 1
    d |= {"c": 3}
    del d["a"]
    d.setdefault("z", []).append(1)
    keys = {k: v for k, v in d.items() if k != "c"}
    return d, keys, {"const": 1, "keys": d["b"], "here": keys}, {d["b"]: 1, **d, 5: 5}


@cases(lambda: ([1, 2], [3]))
def augmented_targets(a, b):
    class Holder:
        pass

    h = Holder()
    h.items = a
    h.items += b
    h.count = 0
    h.count += len(h.items)
    table = {"n": 1}
    table["n"] *= 10
    a[0] -= 5
    a[-1:] += [7, 8]
    h.items[1:2], table["m"] = [9, 9], h.count
    return a, h.count, table, h.items is a


@cases(lambda: (3,))
def nothing_much(n):
    pass


@cases(lambda: ())
def constant():
    return 42


@cases(lambda: (1, 2))
def deep_stack(a, b):
    return [
        a,
        [b, [a, b, [a + b, (a, b, {a: b, b: [a if a < b else b, max(a, min(b, a, *[b]), *(a, b)), [i for i in (a, b)]]})]]],
    ]
