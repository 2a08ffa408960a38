"""Order of loops: memory order of the accesses decides, adjacent axes that memory joins become one loop.

In: axes with extents and the byte offsets of all accesses. Out: loops, outermost first, and every axis as an expression of
them. Never: changes what is computed; sums with a prescribed order do not come here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from npcompile.ir.dims import Dim, Sym

Axis = tuple[Sym, Dim]
TYPICAL = 64
"""Size that stands for an unknown dim when strides are compared."""


def coefficient(d: Dim, sym: Sym) -> Dim | None:
    """Factor of a variable in an index expression that is linear in it, else None."""
    out = Dim()
    for m, c in d.terms:
        n = m.count(sym)
        if n > 1 or any(not isinstance(a, Sym) and sym in (a.a.syms() | a.b.syms()) for a in m):
            return None
        if n == 1:
            rest = list(m)
            rest.remove(sym)
            out = out + Dim(((tuple(rest), c),))
    return out


def typical(d: Dim, strides: Mapping[str, int]) -> int:
    """A plausible size of an expression; `strides` gives values to symbols that are strides."""
    return d.evaluate(_Typical(strides))


class _Typical(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return TYPICAL


def order_axes(axes: Sequence[Axis], offsets: Sequence[tuple[Dim, int]], strides: Mapping[str, int]) -> list[Axis]:
    """Axes from the outermost to the innermost loop: each access votes with its weight for its larger stride outside."""
    mags: list[tuple[dict[Sym, int], int]] = []
    for off, weight in offsets:
        c = {s: coefficient(off, s) for s, _ in axes}
        mags.append(({s: abs(typical(d, strides)) for s, d in c.items() if d is not None}, weight))
    out: list[Axis] = []
    for axis in axes:
        pos = len(out)
        for k in range(len(out) - 1, -1, -1):
            vote = 0
            for m, weight in mags:
                a, b = m.get(out[k][0], 0), m.get(axis[0], 0)
                if a and b and a != b:
                    vote += weight if a < b else -weight
            if vote > 0:
                pos = k
            elif vote < 0:
                break
        out.insert(pos, axis)
    return out


def collapse(axes: Sequence[Axis], offsets: Sequence[Dim], new_sym: Callable[[Dim], Sym]) -> tuple[list[Axis], dict[Sym, Dim]]:
    """Merge neighbours (outer, inner) for which every access moves by `extent of inner` steps of inner per step of outer.

    The merged loop runs over the inner variable; the outer one is 0, which gives the same offsets.
    """
    bind = {s: Dim.of(s) for s, _ in axes}
    out: list[Axis] = []
    groups: list[list[Axis]] = []
    for axis in axes:
        if groups and all(_joins(off, groups[-1][-1], axis) for off in offsets):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    for g in groups:
        if len(g) == 1:
            out.append(g[0])
            continue
        extent = Dim.of(1)
        for _, e in g:
            extent = extent * e
        s = new_sym(extent)
        out.append((s, extent))
        for a, _ in g[:-1]:
            bind[a] = Dim()
        bind[g[-1][0]] = Dim.of(s)
    return out, bind


def _joins(off: Dim, outer: Axis, inner: Axis) -> bool:
    a, b = coefficient(off, outer[0]), coefficient(off, inner[0])
    return a is not None and b is not None and a == b * inner[1]
