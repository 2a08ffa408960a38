"""What is known about dims while tracing: equalities, inequalities and hints, and proofs from them.

In: facts as dims (`d >= 0`, `d == 0`, `d != 0`). Out: canonical dims, proofs, and conditions on input symbols that would
suffice for one. Never: emits IR or guards; `Builder` does that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from npcompile.ir.dims import Dim, Sym, provably_ge
from npcompile.ir.layout import canonical, contiguity
from npcompile.ir.types import TensorType, Type, ViewType
from npcompile.records import replace

T = TypeVar("T", bound=Type)

_DEPTH = 4
_TRIES = 200


class DimFacts:
    """Facts of one trace.

    hints : trace-time value of every symbol.
    local : symbols made inside the segment (loop variables, run-time ints); facts about them are checked in place and
        hold from there to the end of the region only. All other symbols are inputs; facts about them are entry guards.
    unknown : local symbols of which nothing is known at trace time.
    equal : substitution that makes dims canonical: input symbol -> dim over the remaining symbols.
    """

    def __init__(self) -> None:
        self.hints: dict[Sym, int] = {}
        self.local: set[Sym] = set()
        self.unknown: set[Sym] = set()
        self.equal: dict[Sym, Dim] = {}
        self._ge: list[Dim] = []
        self._ge_local: list[Dim] = []
        self._ne: set[Dim] = set()
        self._ne_local: list[Dim] = []

    # -- canonical forms ------------------------------------------------------------------------------------------
    def canon(self, d: Dim | int) -> Dim:
        d = Dim.of(d)
        for monomial, _ in d.terms:
            for atom in monomial:
                if not isinstance(atom, Sym) or atom in self.equal:
                    return d.subs(self.equal)
        return d

    def canon_type(self, t: T) -> T:
        """The type in canonical dims; axes that turned out to have length 1 lose their rank in the layout."""
        if not self.equal or not isinstance(t, (TensorType, ViewType)):
            return t
        dims = tuple(map(self.canon, t.dims))
        strides = None if t.strides is None else tuple(map(self.canon, t.strides))
        if dims == t.dims and strides == t.strides:
            return t
        layout = canonical(t.layout, dims)
        if isinstance(t, TensorType):
            return replace(t, dims=dims, strides=strides, layout=layout)
        assert strides is not None
        negative = tuple(n and d.const != 1 and s.const != 0 for n, d, s in zip(t.negative, dims, strides))
        flat = contiguity(dims, strides, t.dtype.itemsize) or t.contiguous
        return replace(t, dims=dims, strides=strides, layout=layout, negative=negative, contiguous=flat)

    def canon_param(self, p: Any) -> Any:
        """A node parameter with the dims in it made canonical."""
        if isinstance(p, Dim):
            return self.canon(p)
        if isinstance(p, tuple):
            return tuple(map(self.canon_param, p))
        if isinstance(p, (TensorType, ViewType)):
            return self.canon_type(p)
        return p

    def hint(self, d: Dim | int) -> int:
        return Dim.of(d).evaluate({s.name: v for s, v in self.hints.items()})

    def is_local(self, d: Dim) -> bool:
        """Does the value depend on a symbol made inside the segment?"""
        return bool(self.local) and not self.local.isdisjoint(d.syms())

    def suppose_equal(self, a: Dim, b: Dim) -> None:
        """Where a size that nothing is known of meets another one (and not 1), they are taken to be equal."""
        for x, y in ((a, b), (b, a)):
            sym = next(iter(x.syms()), None)
            if sym in self.unknown and x == Dim.of(sym) and y.const != 1:
                self.hints[sym] = self.hint(y)
                return

    # -- learning -------------------------------------------------------------------------------------------------
    def learn_ge(self, d: Dim) -> None:
        """`d >= 0` holds from here on."""
        (self._ge_local if self.is_local(d) else self._ge).append(d)

    def learn_ne(self, d: Dim) -> None:
        """`d != 0` holds from here on."""
        if self.is_local(d):
            self._ne_local.append(d)
        else:
            self._ne.add(d)

    def learn_eq(self, d: Dim) -> None:
        """`d == 0` holds from here on; over input symbols it also makes types canonical."""
        if self.is_local(d) or not self._substitute(d):
            self.learn_ge(d)
            self.learn_ge(-d)

    def _substitute(self, d: Dim) -> bool:
        order = {s: i for i, s in enumerate(self.hints)}
        best: tuple[int, Sym, Dim] | None = None
        for m, c in d.terms:
            if len(m) != 1 or abs(c) != 1 or not isinstance(m[0], Sym):
                continue
            s = m[0]
            rest = Dim(tuple(t for t in d.terms if t[0] != m)) * -c
            if s not in rest.syms() and (best is None or order.get(s, 0) > best[0]):
                best = (order.get(s, 0), s, rest)
        if best is None:
            return False
        _, s, rest = best
        env = {s: rest}
        self.equal = {k: v.subs(env) for k, v in self.equal.items()}
        self.equal[s] = rest
        self._ge = [f.subs(env) for f in self._ge]
        self._ge_local = [f.subs(env) for f in self._ge_local]
        self._ne = {f.subs(env) for f in self._ne}
        self._ne_local = [f.subs(env) for f in self._ne_local]
        lo, hi = rest.bounds()
        if s.lo > lo:
            self._ge.append(rest - s.lo)
        if s.hi < hi:
            self._ge.append(s.hi - rest)
        if s.not_one:
            self._ne.add(rest - 1)
        return True

    def mark(self) -> tuple[int, int]:
        """State of the local facts, for `drop_local`."""
        return len(self._ge_local), len(self._ne_local)

    def drop_local(self, mark: tuple[int, int]) -> None:
        """Forget local facts learnt since `mark`: the region that checked them is left."""
        del self._ge_local[mark[0] :]
        del self._ne_local[mark[1] :]

    # -- proofs -----------------------------------------------------------------------------------------------------
    def residuals(self, d: Dim) -> Iterator[Dim]:
        """Dims r such that `r >= 0` implies `d >= 0` by the known facts; `d` itself first."""
        seen = {d}
        frontier = [d]
        yield d
        facts = [*self._ge_local, *self._ge]
        for _ in range(_DEPTH):
            nxt: list[Dim] = []
            for t in frontier:
                coefs = dict(t.terms)
                for f in facts:
                    for m, g in f.terms:
                        c = coefs.get(m, 0)
                        if not m or c * g <= 0 or c % g:
                            continue
                        r = t - f * (c // g)
                        if r not in seen:
                            seen.add(r)
                            nxt.append(r)
                            yield r
                            if len(seen) > _TRIES:
                                return
            frontier = nxt

    def prove_ge(self, d: Dim) -> bool:
        """Does `d >= 0` follow? What the traced call itself does not meet is not looked at."""
        return any(self._holds_now(r) and provably_ge(r, 0) for r in self.residuals(d)) if self._holds_now(d) else False

    def _holds_now(self, d: Dim) -> bool:
        """Is `d >= 0` in the traced call? True where one call does not tell, as in the turns of a loop."""
        return self.is_local(d) or self.hint(d) >= 0

    def prove_ne(self, d: Dim) -> bool:
        """Does `d != 0` follow?"""
        if d in self._ne or -d in self._ne or d in self._ne_local or -d in self._ne_local or _not_one(d) or _not_one(-d):
            return True
        return self.prove_ge(d - 1) or self.prove_ge(-d - 1)

    def prove_eq(self, d: Dim) -> bool:
        """Does `d == 0` follow?"""
        return d.const == 0 or (d.const is None and self.prove_ge(d) and self.prove_ge(-d))


def _not_one(d: Dim) -> bool:
    """Is `d` a symbol that cannot be 1, minus 1?"""
    if len(d.terms) != 2 or d.terms[0] != ((), -1):
        return False
    m, c = d.terms[1]
    return c == 1 and len(m) == 1 and isinstance(m[0], Sym) and m[0].not_one
