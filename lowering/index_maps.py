"""Index maps folded into index expressions, and views into (buffer, offset, strides).

In: index-map nodes and the index of a result element (one `Dim` an axis, over loop variables and input symbols). Out: the
index of the operand's element, or a view's byte offset. Never: emits code or looks at sizes at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from npcompile.ir.dims import Dim, Monomial, Sym, product
from npcompile.ir.graph import Node, Value
from npcompile.records import dataclass, replace

from .lowered import LoweringError
from .typed import atype, ttype, vtype

ZERO = Dim()
Index = tuple[Dim, ...]
Extents = Mapping[Sym, Dim]
"""Extent of every loop variable: its values are 0 .. extent-1."""


# ---------------------------------------------------------------------------------------------- division


def _monomial_quotient(m: Monomial, c: int, dm: Monomial, dc: int) -> tuple[Monomial, int] | None:
    """(m*c) / (dm*dc) when it is exact, else None."""
    if c % dc:
        return None
    rest = list(m)
    for atom in dm:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest), c // dc


def upper(d: Dim, extents: Extents) -> Dim | None:
    """The value when every loop variable stands at its last turn, if that is the maximum; None when that is not evident."""
    env: dict[Sym, Dim] = {}
    for m, c in d.terms:
        for a in m:
            if not isinstance(a, Sym):
                return None
            if a in extents:
                if c < 0:
                    return None
                env[a] = extents[a] - 1
            elif a.lo < 0:
                return None
    return d.subs(env)


def divmod_dim(a: Dim, d: Dim, extents: Extents) -> tuple[Dim, Dim]:
    """Quotient and remainder of a non-negative index by a dim, split exactly where provable."""
    if d.const == 1:
        return a, ZERO
    if d.const == 0:
        return ZERO, a  # an axis without elements: nothing is read there, and nothing must be outside of the loop
    if len(d.terms) == 1:
        dm, dc = d.terms[0]
        q: dict[Monomial, int] = {}
        rest = ZERO
        for m, c in a.terms:
            t = _monomial_quotient(m, c, dm, dc)
            if t is None:
                rest = rest + Dim(((m, c),))
            else:
                q[t[0]] = q.get(t[0], 0) + t[1]
        top = upper(rest, extents)
        if top is not None and (d - 1 - top).bounds()[0] >= 0 and rest.bounds()[0] >= 0:
            return Dim._build(q), rest
    quotient = a // d
    return quotient, a - quotient * d


# ---------------------------------------------------------------------------------------------- reshape


def reshape_groups(src: tuple[Dim, ...], dst: tuple[Dim, ...]) -> list[tuple[list[int], list[int]]]:
    """Axes of `src` and `dst` (length-1 axes left out) paired into the smallest runs of equal product."""
    s = [a for a, d in enumerate(src) if d.const != 1]
    t = [a for a, d in enumerate(dst) if d.const != 1]
    groups = []
    i = j = 0
    while i < len(s) and j < len(t):
        found = None
        for total in range(2, len(s) - i + len(t) - j + 1):
            for k in range(max(1, total - (len(t) - j)), min(total - 1, len(s) - i) + 1):
                if product([src[a] for a in s[i : i + k]]) == product([dst[a] for a in t[j : j + total - k]]):
                    found = (k, total - k)
                    break
            if found:
                break
        k, m = found or (len(s) - i, len(t) - j)
        groups.append((s[i : i + k], t[j : j + m]))
        i, j = i + k, j + m
    if i < len(s) or j < len(t):
        if groups:
            groups[-1][0].extend(s[i:])
            groups[-1][1].extend(t[j:])
        else:
            groups.append((s[i:], t[j:]))
    return groups


def _reshape(src: tuple[Dim, ...], dst: tuple[Dim, ...], index: Index, extents: Extents) -> Index:
    out = [ZERO] * len(src)
    for s, t in reshape_groups(src, dst):
        linear = ZERO
        for a in t:
            linear = linear * dst[a] + index[a]
        for a in reversed(s[1:]):
            linear, out[a] = divmod_dim(linear, src[a], extents)
        if s:
            out[s[0]] = linear
    return tuple(out)


# ---------------------------------------------------------------------------------------------- index maps of tensors


def _transpose(node: Node, index: Index, extents: Extents) -> Index:
    out = [ZERO] * len(index)
    for k, a in enumerate(node.params["perm"]):
        out[a] = index[k]
    return tuple(out)


def _broadcast(node: Node, index: Index, extents: Extents) -> Index:
    dims = atype(node.inputs[0]).dims
    off = len(index) - len(dims)
    return tuple(ZERO if d.const == 1 else index[off + a] for a, d in enumerate(dims))


def _slice(node: Node, index: Index, extents: Extents) -> Index:
    p = node.params
    return tuple(Dim.of(s) + Dim.of(st) * i for s, st, i in zip(p["starts"], p["steps"], index, strict=True))


def diagonal_shift(node: Node) -> tuple[int, int, Dim, Dim]:
    """(axis1, axis2, first index along axis1, along axis2) of a diagonal."""
    off = Dim.of(node.params.get("offset", 0))
    a1, a2 = node.params["axis1"], node.params["axis2"]
    if off.bounds()[0] >= 0:
        return a1, a2, ZERO, off
    if off.bounds()[1] <= 0:
        return a1, a2, -off, ZERO
    raise LoweringError("diagonal-offset", f"sign of {off} is not known")


def _diagonal(node: Node, index: Index, extents: Extents) -> Index:
    a1, a2, s1, s2 = diagonal_shift(node)
    rest = list(index[:-1])
    out = []
    for a in range(len(index) + 1):
        out.append(index[-1] + s1 if a == a1 else index[-1] + s2 if a == a2 else rest.pop(0))
    return tuple(out)


def _expand(node: Node, index: Index, extents: Extents) -> Index:
    return tuple(i for a, i in enumerate(index) if a not in node.params["axes"])


def _squeeze(node: Node, index: Index, extents: Extents) -> Index:
    rest = list(index)
    rank = len(atype(node.inputs[0]).dims)
    return tuple(ZERO if a in node.params["axes"] else rest.pop(0) for a in range(rank))


def _reshape_node(node: Node, index: Index, extents: Extents) -> Index:
    return _reshape(atype(node.inputs[0]).dims, atype(node.outputs[0]).dims, index, extents)


def _same(node: Node, index: Index, extents: Extents) -> Index:
    return index


INDEX_MAPS: dict[str, Callable[[Node, Index, Extents], Index]] = {
    "reshape": _reshape_node,
    "transpose": _transpose,
    "broadcast": _broadcast,
    "slice": _slice,
    "diagonal": _diagonal,
    "expand": _expand,
    "squeeze": _squeeze,
    "real_view": _same,
    "imag_view": _same,
}


def operand_index(node: Node, index: Index, extents: Extents) -> Index:
    """The element of the operand that element `index` of an index map's result is."""
    return INDEX_MAPS[node.prim](node, index, extents)


GATHERS = frozenset({"take", "gather", "take_along"})
"""Prims whose first operand is read at indices that other operands hold."""


def gather_parts(node: Node, index: Index) -> tuple[list[tuple[Value, Index]], Callable[[tuple[Dim, ...]], Index]]:
    """Elements of index operands that an element of the result needs, and how they index the first operand."""
    _, *others = node.inputs
    if node.prim == "gather":
        return [(v, index) for v in others], lambda found: found
    axis = node.params["axis"]
    n = ttype(others[0]).rank if node.prim == "take" else 1
    key = index[axis : axis + n] if node.prim == "take" else index
    return [(others[0], key)], lambda found: index[:axis] + found + index[axis + n :]


def is_partial(x: object) -> bool:
    """Is it a node that may leave elements of its operand out?"""
    if not isinstance(x, Node) or x.prim not in ("slice", "diagonal", *GATHERS):
        return False
    return x.prim != "slice" or atype(x.outputs[0]).dims != atype(x.inputs[0]).dims


def is_growing(node: Node) -> bool:
    """Does the index map read an element of its operand more than once?"""
    if node.prim in GATHERS:
        return True
    if node.prim != "broadcast":
        return False
    src, dst = atype(node.inputs[0]).dims, atype(node.outputs[0]).dims
    off = len(dst) - len(src)
    return any(d.const != 1 for d in dst[:off]) or any(s.const == 1 and d.const != 1 for s, d in zip(src, dst[off:], strict=True))


# ---------------------------------------------------------------------------------------------- views


Box = tuple[tuple[Dim, Dim], ...]


@dataclass(frozen=True)
class Place:
    """Where the elements of a view stand: root buffer (by name), byte offset of element 0, byte strides.

    box : inclusive index interval along every axis of the root, when only slices, transposes and the like led here.
    box_axis : for each axis of the view, the root axis it runs along (-1: none).
    """

    buffer: str
    offset: Dim
    strides: tuple[Dim, ...]
    dims: tuple[Dim, ...]
    box: Box | None = None
    box_axis: tuple[int, ...] = ()

    def at(self, index: Index) -> Dim:
        """Byte offset of an element from the root's data pointer."""
        off = self.offset
        for s, i in zip(self.strides, index, strict=True):
            off = off + s * i
        return off

    def moved(self, buffer: str) -> Place:
        """The same window on another buffer."""
        return replace(self, buffer=buffer)


def root_place(buffer: str, strides: tuple[Dim, ...], dims: tuple[Dim, ...]) -> Place:
    """A whole buffer."""
    return Place(buffer, ZERO, strides, dims, tuple((ZERO, d - 1) for d in dims), tuple(range(len(dims))))


def map_place(node: Node, p: Place) -> Place:
    """The place of an index map's result when its operand is a view at `p`."""
    t = vtype(node.outputs[0])
    params = node.params
    off, box, axes = p.offset, p.box, p.box_axis
    if node.prim == "slice":
        boxes = list(box or ())
        for a, (start, step, n, stride) in enumerate(zip(params["starts"], params["steps"], t.dims, p.strides, strict=True)):
            start, step = Dim.of(start), Dim.of(step)
            off = off + start * stride
            if boxes and axes[a] >= 0:
                boxes[axes[a]] = _narrow(boxes[axes[a]], p.dims[a], start, step, n)
        box = tuple(boxes) if box is not None else None
    elif node.prim == "diagonal":
        a1, a2, s1, s2 = diagonal_shift(node)
        off = off + s1 * p.strides[a1] + s2 * p.strides[a2]
        axes = (*(x for a, x in enumerate(axes) if a not in (a1, a2)), -1)
    elif node.prim == "imag_view":
        off = off + t.dtype.itemsize
        box = None
    elif node.prim in ("reshape", "real_view", "bitcast"):
        box = None
    elif node.prim == "transpose":
        axes = tuple(axes[a] for a in params["perm"]) if box is not None else ()
    elif node.prim == "expand":
        rest = iter(axes)
        axes = tuple(-1 if a in params["axes"] else next(rest) for a in range(len(t.dims))) if box is not None else ()
    elif node.prim == "squeeze":
        axes = tuple(x for a, x in enumerate(axes) if a not in params["axes"])
    elif node.prim == "broadcast":
        axes = (-1,) * (len(t.dims) - len(axes)) + axes
    return Place(p.buffer, off, t.strides, t.dims, box, axes if box is not None else ())


def _narrow(span: tuple[Dim, Dim], dim: Dim, start: Dim, step: Dim, n: Dim) -> tuple[Dim, Dim]:
    """Part of a root axis that a slice of a window touches; `span` when the window itself is not of step 1."""
    if span[1] - span[0] != dim - 1:
        return span
    first, last = span[0] + start, span[0] + start + step * (n - 1)
    return (first, last) if step.bounds()[0] >= 0 else (last, first)
