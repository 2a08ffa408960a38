"""Operands of the operations table: shapes, dtypes, memory layouts and contents, chosen by a `Draw`.

In: a row of the table and something that chooses. Out: the arguments of one call. Plain NumPy: backends with other arrays
convert what this gives.
"""

from __future__ import annotations

import random

import numpy as np

SHAPES = (
    (),
    (0,),
    (1,),
    (2,),
    (7,),
    (37,),
    (300,),
    (3, 4),
    (1, 5),
    (5, 1),
    (0, 3),
    (2, 0),
    (17, 9),
    (3, 150),
    (2, 3, 4),
    (3, 1, 2),
    (2, 0, 3),
)
"""Sizes on both sides of vectors, blocks and NumPy's leaves of 128, axes of length 0 and 1."""

LAYOUTS = ("C", "C", "F", "strided", "negative", "broadcast", "permuted", "offset")
CONTENTS = ("plain", "special", "wide", "integral")
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 1e-3)


class Draw:
    """Chooses by a seeded generator; `operation_draws` has one that asks hypothesis."""

    def __init__(self, seed: object) -> None:
        self.random = random.Random(str(seed))

    def choice(self, items):
        return self.random.choice(items)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


class Asked(Draw):
    """Chooses by a hypothesis `data()` object, so that failures shrink."""

    def __init__(self, data) -> None:
        self.data = data

    def choice(self, items):
        from hypothesis import strategies as st

        return self.data.draw(st.sampled_from(items))

    def integer(self, low: int, high: int) -> int:
        from hypothesis import strategies as st

        return self.data.draw(st.integers(low, high))


# ---------------------------------------------------------------------------------------------- contents


def values(draw: Draw, size: int, dtype: np.dtype, contents: str) -> np.ndarray:
    """`size` numbers. "plain": of order 1; "special": NaN, infinities, zeros and limits among them; "wide": any exponent or
    integer; "integral": small whole numbers; "small": positive, for what grows fast."""
    rng = np.random.default_rng(draw.integer(0, 1 << 20))
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        return _integers(rng, size, dtype, contents)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        out = np.empty(size, dtype)
        out.real, out.imag = _floats(rng, size, part, contents), _floats(rng, size, part, contents)
        return out
    return _floats(rng, size, dtype, contents)


def _integers(rng, size, dtype, contents):
    info = np.iinfo(dtype)
    if contents == "small":
        return rng.integers(0, 6, size).astype(dtype)
    if contents == "wide":
        return rng.integers(info.min, info.max, size, dtype, endpoint=True)
    out = rng.integers(max(info.min, -9), 9, size).astype(dtype)
    if contents == "special":
        limits = np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1], dtype)
        at = rng.random(size) < 0.5
        out[at] = rng.choice(limits, size)[at]
    return out


def _floats(rng, size, dtype, contents):
    info = np.finfo(dtype)
    if contents == "small":
        return (rng.random(size) * 3).astype(dtype)
    if contents == "integral":
        return rng.integers(-9, 9, size).astype(dtype)
    if contents == "wide":
        span = np.log10(float(info.max))
        return (rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(-span, span, size)).astype(dtype)
    out = (rng.standard_normal(size) * 3).astype(dtype)
    if contents == "special":
        limits = np.array([*SPECIAL, info.max, -info.max, info.tiny, info.smallest_subnormal, -info.smallest_subnormal], dtype)
        at = rng.random(size) < 0.4
        out[at] = rng.choice(limits, size)[at]
    return out


# ---------------------------------------------------------------------------------------------- layouts


def laid_out(draw: Draw, flat: np.ndarray, shape: tuple[int, ...], layout: str) -> np.ndarray:
    """An array of this shape with these contents (fewer, where it is a broadcast one) in a layout."""
    rank, dtype = len(shape), flat.dtype
    full = np.resize(flat, shape) if flat.size else np.zeros(shape, dtype)
    if rank == 0:
        return np.array(full, dtype)
    if layout == "F":
        return np.asfortranarray(full)
    if layout == "strided":
        room = np.zeros(tuple(2 * n + 1 for n in shape), dtype)
        out = room[tuple(slice(1, 1 + 2 * n, 2) for n in shape)]
    elif layout == "negative":
        axes = [a for a in range(rank) if rank == 1 or draw.integer(0, 1)] or [rank - 1]
        out = np.zeros(shape, dtype)[tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(rank))]
    elif layout == "broadcast":
        axis = draw.integer(0, rank - 1)
        return np.broadcast_to(
            np.ascontiguousarray(full[tuple(slice(0, 1) if a == axis else slice(None) for a in range(rank))]), shape
        )
    elif layout == "permuted":
        order = list(range(rank))
        order = order[1:] + order[:1]
        out = np.zeros([shape[a] for a in order], dtype).transpose([order.index(a) for a in range(rank)])
    elif layout == "offset":
        out = np.zeros(tuple(n + 2 for n in shape), dtype)[tuple(slice(1, 1 + n) for n in shape)]
    else:
        return np.ascontiguousarray(full)
    out[...] = full
    return out


def array(draw: Draw, shape: tuple[int, ...], dtype: str | np.dtype, contents: str, layouts=LAYOUTS) -> np.ndarray:
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    return laid_out(draw, values(draw, size, dtype, contents), shape, draw.choice(layouts))


def broadcastable(draw: Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`: mostly the same."""
    if not shape or draw.integer(0, 2):
        return shape
    out = [n if draw.integer(0, 1) else 1 for n in shape]
    return tuple(out[draw.integer(0, len(out)) :])


# ---------------------------------------------------------------------------------------------- operands of a row


def operands(row, draw: Draw) -> list:
    """Arguments for one call of a row.

    Kinds: "a" the main array, "b" one that broadcasts with it, of another dtype now and then; "c" one of the same shape and
    dtype; "s" a number, Python's or NumPy's; "p" a Python number; "m" a mask; "o" an output; "v" a window on the memory of
    "a"; "i" an index into the first axis; "n" a small count.
    """
    dtype = np.dtype(draw.choice(row.dtypes))
    contents = draw.choice(row.contents)
    shapes = [s for s in SHAPES if row.ranks[0] <= len(s) <= row.ranks[1] and (row.empty or 0 not in s)]
    given = draw.choice(row.shapes) if row.shapes else None
    made: dict[str, object] = {}
    for k, kind in enumerate(row.operands):
        shape = given[k] if given else draw.choice(shapes) if kind == "a" else made["a"].shape if "a" in made else ()
        if kind == "a":
            made[kind] = array(draw, shape, dtype, contents, row.layouts)
        elif kind in "bc":
            other = dtype
            if kind == "b" and row.others:
                other = np.dtype(draw.choice(row.others))
            elif kind == "b" and row.mixed and draw.integer(0, 1):
                other = np.dtype(draw.choice(row.dtypes))
            shape = shape if given or kind == "c" or not row.spread else broadcastable(draw, shape)
            made[kind] = array(draw, shape, other, row.second or draw.choice(row.contents), row.layouts)
        elif kind in "sp":
            made[kind] = number(draw, dtype, kind, row)
        elif kind == "m":
            made[kind] = array(draw, broadcastable(draw, shape) if row.spread else shape, bool, "plain")
        elif kind == "v":
            made[kind] = window(draw, made["a"])
        elif kind == "i":
            n = max(1, made["a"].shape[0])
            made[kind] = draw.integer(-n, n - 1)
        elif kind == "n":
            made[kind] = draw.integer(0, 3)
        else:
            made[kind] = None
    if "o" in made:
        made["o"] = output(row, draw, made)
    return [made[k] for k in row.operands]


def number(draw: Draw, dtype: np.dtype, kind: str, row):
    """A Python number, or a NumPy scalar of a dtype of the row."""
    if kind == "s" and draw.integer(0, 1):
        own = np.dtype(draw.choice(row.dtypes)) if row.mixed else dtype
        return values(draw, 1, own, row.second or draw.choice(row.contents))[0]
    if dtype.kind in "biu":
        return draw.choice((0, 1, 2, 3, 7, True) if row.second == "small" else (0, 1, 2, -1, 3, 7, True, 1.5, -0.5))
    pool = (0, 1, 2, -1, 3, 0.0, -0.0, 0.5, 1.5, -2.5, 1e-3)
    return draw.choice((*pool, 1.5 - 0.5j) if dtype.kind == "c" else pool)


def window(draw: Draw, a: np.ndarray) -> np.ndarray:
    """`a` itself, `a` turned round, or a part of it that broadcasts."""
    if a.ndim == 0:
        return a
    return draw.choice((a, a[::-1], a[..., ::-1], a[:1], a[..., -1:]))


def output(row, draw: Draw, made: dict) -> np.ndarray:
    """An array that takes the result of `row.makes`: of its dtype, or of one that it casts to; full of old contents."""
    scope = {"np": np, **made}
    with np.errstate(all="ignore"):
        try:
            like = np.asarray(eval(row.makes, scope))
        except Exception:
            like = np.asarray(made["a"])
    wider = [d for d in "?bhilBHILefdFD" if np.can_cast(like.dtype, d, "same_kind")]
    dtype = like.dtype if not row.casts or draw.integer(0, 1) else np.dtype(draw.choice(wider))
    return array(draw, like.shape, dtype, "plain", row.outs)
