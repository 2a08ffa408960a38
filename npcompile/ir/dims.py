"""Symbolic dimensions: polynomials over symbols with integer coefficients, hash-consed by value.

In: ints, symbols and other dims. Out: `Dim` values in one normal form, so that structural equality (`==`) decides
equality for polynomials. An *atom* of a polynomial is a symbol or one of `floordiv`, `max`, `min` applied to dims.
Never: looks at run-time sizes, except in `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

INF = 1 << 62
"""Bound used for "no bound known"; every real dimension is smaller."""


@dataclass(frozen=True, order=True)
class Sym:
    """A run-time integer. `lo`/`hi` are inclusive bounds that guards have established; `not_one` says that 1 is excluded."""

    name: str
    lo: int = 0
    hi: int = 1 << 47
    not_one: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Fn:
    """An atom that is not a symbol: `floordiv(a, b)`, `max(a, b)` or `min(a, b)` of dims."""

    op: str
    a: Dim
    b: Dim

    def __str__(self) -> str:
        return f"({self.a} // {self.b})" if self.op == "floordiv" else f"{self.op}({self.a}, {self.b})"


Atom = Sym | Fn
Monomial = tuple[Atom, ...]


def _key(atom: Atom) -> str:
    return str(atom)


@dataclass(frozen=True)
class Dim:
    """Sum of `coef * product(atoms)`; `terms` is sorted and holds no zero coefficient."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    # -- construction -------------------------------------------------------------------------------------------
    @staticmethod
    def of(x: int | Dim | Sym | Fn) -> Dim:
        if isinstance(x, Dim):
            return x
        if isinstance(x, (Sym, Fn)):
            return Dim((((x,), 1),))
        return Dim((((), int(x)),)) if x else Dim()

    @staticmethod
    def _build(acc: Mapping[Monomial, int]) -> Dim:
        items = [(m, c) for m, c in acc.items() if c]
        items.sort(key=lambda t: (len(t[0]), [_key(a) for a in t[0]]))
        return Dim(tuple(items))

    def __add__(self, other: int | Dim) -> Dim:
        acc = dict(self.terms)
        for m, c in Dim.of(other).terms:
            acc[m] = acc.get(m, 0) + c
        return Dim._build(acc)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: int | Dim) -> Dim:
        return self + (-Dim.of(other))

    def __rsub__(self, other: int) -> Dim:
        return Dim.of(other) - self

    def __mul__(self, other: int | Dim) -> Dim:
        acc: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in Dim.of(other).terms:
                m = tuple(sorted(m1 + m2, key=_key))
                acc[m] = acc.get(m, 0) + c1 * c2
        return Dim._build(acc)

    __rmul__ = __mul__

    def __floordiv__(self, other: int | Dim) -> Dim:
        """Floor division; `other` must not be zero. Exact divisions of all terms by a constant are carried out."""
        d = Dim.of(other)
        if d.const == 1:
            return self
        if self.const is not None and d.const:
            return Dim.of(self.const // d.const)
        if d.const and all(c % d.const == 0 for _, c in self.terms):
            return Dim(tuple((m, c // d.const) for m, c in self.terms))
        if self == d:
            return Dim.of(1)
        return Dim.of(Fn("floordiv", self, d))

    # -- queries ------------------------------------------------------------------------------------------------
    @property
    def const(self) -> int | None:
        """The value when it is a known integer, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    def atoms(self) -> set[Atom]:
        return {a for m, _ in self.terms for a in m}

    def syms(self) -> set[Sym]:
        """Every symbol the value depends on, those inside `floordiv`, `max`, `min` included."""
        out: set[Sym] = set()
        for a in self.atoms():
            out |= {a} if isinstance(a, Sym) else a.a.syms() | a.b.syms()
        return out

    def bounds(self) -> tuple[int, int]:
        """Inclusive interval that holds the value, from the symbols' bounds (±INF when unknown)."""
        lo = hi = 0
        for m, c in self.terms:
            a, b = 1, 1
            for atom in m:
                x, y = _atom_bounds(atom)
                prods = (a * x, a * y, b * x, b * y)
                a, b = min(prods), max(prods)
            lo, hi = lo + min(a * c, b * c), hi + max(a * c, b * c)
        return max(lo, -INF), min(hi, INF)

    def subs(self, env: Mapping[Sym, Dim]) -> Dim:
        """Replace symbols by dims."""
        if not env:
            return self
        out = Dim()
        for m, c in self.terms:
            p = Dim.of(c)
            for a in m:
                if isinstance(a, Sym):
                    p = p * env.get(a, Dim.of(a))
                else:
                    p = p * _FN[a.op](a.a.subs(env), a.b.subs(env))
            out = out + p
        return out

    def evaluate(self, env: Mapping[str, int]) -> int:
        """The value for given symbol values (by name)."""
        total = 0
        for m, c in self.terms:
            for a in m:
                c *= env[a.name] if isinstance(a, Sym) else _EVAL[a.op](a.a.evaluate(env), a.b.evaluate(env))
            total += c
        return total

    def render(self, sym: Callable[[Sym], str], fn: Callable[[str, str, str], str]) -> str:
        """Text of the value; `fn(op, a, b)` writes floordiv/max/min (C++ and Python printers share this)."""
        if not self.terms:
            return "0"
        parts = []
        for m, c in self.terms:
            fs = [sym(a) if isinstance(a, Sym) else fn(a.op, a.a.render(sym, fn), a.b.render(sym, fn)) for a in m]
            if c != 1 or not fs:
                fs = [str(c) if c >= 0 else f"({c})", *fs]
            parts.append("*".join(fs))
        return parts[0] if len(parts) == 1 else "(" + " + ".join(parts) + ")"

    def __str__(self) -> str:
        return self.render(str, lambda op, a, b: f"({a} // {b})" if op == "floordiv" else f"{op}({a}, {b})")

    def __repr__(self) -> str:
        return f"Dim({self})"


def dim_max(a: int | Dim, b: int | Dim) -> Dim:
    a, b = Dim.of(a), Dim.of(b)
    if provably_ge(a, b):
        return a
    if provably_ge(b, a):
        return b
    return Dim.of(Fn("max", a, b))


def dim_min(a: int | Dim, b: int | Dim) -> Dim:
    a, b = Dim.of(a), Dim.of(b)
    if provably_ge(a, b):
        return b
    if provably_ge(b, a):
        return a
    return Dim.of(Fn("min", a, b))


def provably_ge(a: int | Dim, b: int | Dim) -> bool:
    """True when `a >= b` follows from the symbols' bounds."""
    return (Dim.of(a) - Dim.of(b)).bounds()[0] >= 0


def provably_ne(a: int | Dim, b: int | Dim) -> bool:
    """True when `a != b` follows from bounds or from a symbol's `not_one`."""
    d = Dim.of(a) - Dim.of(b)
    lo, hi = d.bounds()
    if lo > 0 or hi < 0:
        return True
    if len(d.terms) == 2 and d.terms[0] == ((), -1) and d.terms[1][1] == 1 and len(d.terms[1][0]) == 1:
        atom = d.terms[1][0][0]
        return isinstance(atom, Sym) and atom.not_one
    return False


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    out = Dim.of(1)
    for d in dims:
        out = out * d
    return out


def _atom_bounds(a: Atom) -> tuple[int, int]:
    if isinstance(a, Sym):
        return a.lo, a.hi
    (x, y), (p, q) = a.a.bounds(), a.b.bounds()
    if a.op == "max":
        return max(x, p), max(y, q)
    if a.op == "min":
        return min(x, p), min(y, q)
    if p > 0:
        cands = [x // p, x // q, y // p, y // q]
        return min(cands), max(cands)
    return -INF, INF


_FN: dict[str, Callable[[Dim, Dim], Dim]] = {"floordiv": lambda a, b: a // b, "max": dim_max, "min": dim_min}
_EVAL: dict[str, Callable[[int, int], int]] = {"floordiv": lambda a, b: a // b, "max": max, "min": min}
