"""Symbolic dimensions: polynomials over symbols with integer coefficients, in one normal form.

In: ints, symbols and other dims. Out: `Dim` values whose structural equality (`==`) decides equality of polynomials. An
*atom* of a polynomial is a symbol or one of `floordiv`, `max`, `min` applied to dims.
Never: looks at run-time sizes, except in `evaluate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

INF = 1 << 62
"""Bound used for "no bound known"; every real dimension is smaller."""


class Sym:
    """A run-time integer.

    lo, hi : inclusive bounds that guards or the program have established. not_one : 1 is excluded.
    lower, upper : inclusive symbolic bounds (of a loop variable, say), or None.
    """

    __slots__ = ("_hash", "hi", "key", "lo", "lower", "name", "not_one", "upper")

    def __init__(
        self,
        name: str,
        lo: int = 0,
        hi: int = 1 << 47,
        not_one: bool = False,
        lower: Dim | None = None,
        upper: Dim | None = None,
    ) -> None:
        self.name = self.key = name
        self.lo = lo
        self.hi = hi
        self.not_one = not_one
        self.lower = lower
        self.upper = upper
        self._hash = hash((name, lo, hi, not_one))

    def _parts(self) -> tuple[object, ...]:
        return (self.name, self.lo, self.hi, self.not_one, self.lower, self.upper)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Sym) and self._hash == other._hash and self._parts() == other._parts()

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (Sym, self._parts())

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        parts = self._parts()
        return f"Sym({', '.join(map(repr, parts if self.lower is not None or self.upper is not None else parts[:4]))})"


class Fn:
    """An atom that is not a symbol: `floordiv(a, b)`, `max(a, b)` or `min(a, b)` of dims."""

    __slots__ = ("_hash", "a", "b", "key", "op")

    def __init__(self, op: str, a: Dim, b: Dim) -> None:
        self.op = op
        self.a = a
        self.b = b
        self._hash = hash((op, a, b))
        self.key = _call_text(op, str(a), str(b))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Fn) and (self._hash, self.op, self.a, self.b) == (other._hash, other.op, other.a, other.b)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (Fn, (self.op, self.a, self.b))

    def __str__(self) -> str:
        return self.key

    __repr__ = __str__


Atom = Sym | Fn
Monomial = tuple[Atom, ...]


def _call_text(op: str, a: str, b: str) -> str:
    if op != "floordiv":
        return f"{op}({a}, {b})"
    return f"({a} // {b})" if "*" not in b else f"({a} // ({b}))"


def _atom_key(a: Atom) -> str:
    return a.key


def _join(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    if a[-1].key <= b[0].key:
        return a + b
    return tuple(sorted(a + b, key=_atom_key))


def _term_key(t: tuple[Monomial, int]) -> tuple[int, list[str]]:
    return len(t[0]), [a.key for a in t[0]]


class Dim:
    """Sum of `coef * product(atoms)`; `terms` is sorted (a constant comes first) and holds no zero coefficient."""

    __slots__ = ("_bounds", "_hash", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...] = ()) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._bounds: tuple[int, int] | None = None

    # -- construction -------------------------------------------------------------------------------------------
    @staticmethod
    def of(x: int | Dim | Sym | Fn) -> Dim:
        if isinstance(x, Dim):
            return x
        if isinstance(x, (Sym, Fn)):
            return Dim((((x,), 1),))
        n = int(x)
        return _SMALL[n] if 0 <= n < len(_SMALL) else Dim((((), n),))

    @staticmethod
    def _build(acc: Mapping[Monomial, int]) -> Dim:
        items = [t for t in acc.items() if t[1]]
        if len(items) > 1:
            items.sort(key=_term_key)
        return Dim(tuple(items))

    def _shift(self, n: int) -> Dim:
        """Add a constant."""
        if not n:
            return self
        terms = self.terms
        if terms and not terms[0][0]:
            n += terms[0][1]
            return Dim((((), n), *terms[1:])) if n else Dim(terms[1:])
        return Dim((((), n), *terms))

    def __add__(self, other: int | Dim) -> Dim:
        if not isinstance(other, Dim):
            return self._shift(int(other))
        a, b = self.terms, other.terms
        if not b:
            return self
        if not a:
            return other
        if len(b) == 1 and not b[0][0]:
            return self._shift(b[0][1])
        acc = dict(a)
        for m, c in b:
            acc[m] = acc.get(m, 0) + c
        return Dim._build(acc)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Dim(tuple([(m, -c) for m, c in self.terms]))

    def __sub__(self, other: int | Dim) -> Dim:
        if not isinstance(other, Dim):
            return self._shift(-int(other))
        return self + (-other)

    def __rsub__(self, other: int) -> Dim:
        return (-self)._shift(int(other))

    def _scale(self, n: int) -> Dim:
        if n == 1:
            return self
        return Dim(tuple([(m, c * n) for m, c in self.terms])) if n else ZERO

    def __mul__(self, other: int | Dim) -> Dim:
        if not isinstance(other, Dim):
            return self._scale(int(other))
        a, b = self.terms, other.terms
        if not a or not b:
            return ZERO
        if len(b) == 1 and not b[0][0]:
            return self._scale(b[0][1])
        if len(a) == 1 and not a[0][0]:
            return other._scale(a[0][1])
        if len(a) == 1 and len(b) == 1:
            return Dim(((_join(a[0][0], b[0][0]), a[0][1] * b[0][1]),))
        acc: dict[Monomial, int] = {}
        for m1, c1 in a:
            for m2, c2 in b:
                m = _join(m1, m2)
                acc[m] = acc.get(m, 0) + c1 * c2
        return Dim._build(acc)

    __rmul__ = __mul__

    def __floordiv__(self, other: int | Dim) -> Dim:
        """Floor division; `other` must not be zero."""
        d = Dim.of(other)
        k = d.const
        if k is not None:
            return _div_const(self, k)
        whole, rest = _div_terms(self, d)
        if not rest.terms:
            return whole
        if d.bounds()[0] > 0 and rest.bounds()[0] >= 0 and provably_ge(d - 1, rest):
            return whole
        return whole + Dim.of(Fn("floordiv", rest, d))

    def __rfloordiv__(self, other: int) -> Dim:
        return Dim.of(other) // self

    def __mod__(self, other: int | Dim) -> Dim:
        """Python's modulo, as `self - other * (self // other)`."""
        return self - (self // other) * other

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Dim) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (Dim, (self.terms,))

    # -- queries ------------------------------------------------------------------------------------------------
    @property
    def const(self) -> int | None:
        """The value when it is a known integer, else None."""
        t = self.terms
        if not t:
            return 0
        if len(t) == 1 and not t[0][0]:
            return t[0][1]
        return None

    def atoms(self) -> set[Atom]:
        return {a for m, _ in self.terms for a in m}

    def syms(self) -> set[Sym]:
        """Every symbol the value depends on, those inside `floordiv`, `max`, `min` included."""
        out: set[Sym] = set()
        for m, _ in self.terms:
            for a in m:
                if isinstance(a, Sym):
                    out.add(a)
                else:
                    out |= a.a.syms() | a.b.syms()
        return out

    def bounds(self) -> tuple[int, int]:
        """Inclusive interval that holds the value, from the symbols' bounds (±INF when unknown)."""
        if self._bounds is None:
            lo = hi = 0
            for m, c in self.terms:
                a = b = c
                for atom in m:
                    x, y = _atom_bounds(atom)
                    if a >= 0 and x >= 0:
                        a, b = a * x, b * y
                    else:
                        prods = (a * x, a * y, b * x, b * y)
                        a, b = min(prods), max(prods)
                if a > b:
                    a, b = b, a
                lo, hi = lo + a, hi + b
            self._bounds = max(lo, -INF), min(hi, INF)
        return self._bounds

    def subs(self, env: Mapping[Sym, Dim]) -> Dim:
        """Replace symbols by dims."""
        if not env or self.const is not None:
            return self
        out, changed = ZERO, False
        for m, c in self.terms:
            p = Dim.of(c)
            for a in m:
                if isinstance(a, Sym):
                    f = env.get(a)
                    changed |= f is not None
                    p = p * (Dim.of(a) if f is None else f)
                else:
                    x, y = a.a.subs(env), a.b.subs(env)
                    changed |= x is not a.a or y is not a.b
                    p = p * _FN[a.op](x, y)
            out = out + p
        return out if changed else self

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
        plus: list[str] = []
        minus: list[str] = []
        for m, c in (*(t for t in self.terms if t[0]), *(t for t in self.terms if not t[0])):
            fs = [sym(a) if isinstance(a, Sym) else fn(a.op, a.a.render(sym, fn), a.b.render(sym, fn)) for a in m]
            if abs(c) != 1 or not fs:
                fs = [str(abs(c)), *fs]
            (plus if c > 0 else minus).append("*".join(fs))
        if not minus:
            return plus[0] if len(plus) == 1 else f"({' + '.join(plus)})"
        return f"({' + '.join(plus)}{' ' if plus else ''}-{' ' if plus else ''}{' - '.join(minus)})"

    def __str__(self) -> str:
        return self.render(str, _call_text)

    def __repr__(self) -> str:
        return f"Dim({self})"


ZERO = Dim()
_SMALL = (ZERO, *(Dim((((), n),)) for n in range(1, 65)))


# ---------------------------------------------------------------------------------------------- division


def _div_const(x: Dim, k: int) -> Dim:
    """`x // k`: what divides exactly moves out, and the remainder keeps no common factor with `k`."""
    if k < 0:
        x, k = -x, -k
    if k == 1:
        return x
    c = x.const
    if c is not None:
        return Dim.of(c // k)
    # c = k * (c // k) + c % k, so every coefficient of the rest is in [0, k)
    whole = Dim(tuple([(m, c // k) for m, c in x.terms if c // k]))
    rest = Dim(tuple([(m, c % k) for m, c in x.terms if c % k]))
    if not rest.terms:
        return whole
    lo, hi = rest.bounds()
    if lo // k == hi // k:
        return whole + lo // k
    g = math.gcd(k, *(c for m, c in rest.terms if m))
    if g > 1:
        rest = Dim(tuple([(m, c // g) for m, c in rest.terms if c // g]))
        return whole + _div_const(rest, k // g)
    if len(rest.terms) == 1 and rest.terms[0][1] == 1 and len(rest.terms[0][0]) == 1:
        (atom,) = rest.terms[0][0]
        if isinstance(atom, Fn) and atom.op == "floordiv" and atom.b.const is not None:
            return whole + _div_const(atom.a, k * atom.b.const)
    return whole + Dim.of(Fn("floordiv", rest, Dim.of(k)))


def _div_terms(x: Dim, d: Dim) -> tuple[Dim, Dim]:
    """(q, r) with `x == q * d + r`: polynomial division by the leading term of `d`."""
    lead, coef = d.terms[-1]
    q, r = ZERO, x
    for _ in range(8):
        for m, c in reversed(r.terms):
            rest = _divide(m, lead)
            if rest is not None and c % coef == 0:
                t = Dim(((rest, c // coef),))
                break
        else:
            break
        q, r = q + t, r - t * d
    return (q, r) if not r.terms or len(d.terms) == 1 else (ZERO, x)


def _divide(m: Monomial, by: Monomial) -> Monomial | None:
    left = list(m)
    for a in by:
        if a not in left:
            return None
        left.remove(a)
    return tuple(left)


# ---------------------------------------------------------------------------------------------- max, min, product


def dim_max(a: int | Dim, b: int | Dim) -> Dim:
    return _extremum("max", Dim.of(a), Dim.of(b))


def dim_min(a: int | Dim, b: int | Dim) -> Dim:
    return _extremum("min", Dim.of(a), Dim.of(b))


def _extremum(op: str, a: Dim, b: Dim) -> Dim:
    more, less = provably_ge(a, b), provably_ge(b, a)
    if more and less:  # equal, though written otherwise: the same spelling whichever comes first
        return min(a, b, key=lambda d: (d.const is None, str(d)))
    if more or less:
        return a if more == (op == "max") else b
    if a.const is not None:
        a, b = b, a
    c = b.const
    if c is not None:  # one spelling for max(n, 1) and 1 + max(n - 1, 0)
        return Dim.of(Fn(op, a - c, ZERO)) + c
    if str(b) < str(a):
        a, b = b, a
    return Dim.of(Fn(op, a, b))


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    out = _SMALL[1]
    for d in dims:
        out = out * d
    return out


# ---------------------------------------------------------------------------------------------- proofs


def provably_ge(a: int | Dim, b: int | Dim) -> bool:
    """True when `a >= b` follows from the symbols' bounds, the symbolic ones included."""
    return _nonnegative(Dim.of(a) - b)


def provably_ne(a: int | Dim, b: int | Dim) -> bool:
    """True when `a != b` follows from bounds or from a symbol's `not_one`."""
    d = Dim.of(a) - b
    c = d.const
    if c is not None:
        return c != 0
    lo, hi = d.bounds()
    if lo > 0 or hi < 0:
        return True
    if len(d.terms) == 2 and not d.terms[0][0] and len(d.terms[1][0]) == 1:
        atom, coef = d.terms[1][0][0], d.terms[1][1]
        if isinstance(atom, Sym) and atom.not_one and d.terms[0][1] == -coef:
            return True
    return _nonnegative(d._shift(-1)) or _nonnegative((-d)._shift(-1))


def _nonnegative(d: Dim) -> bool:
    lo, hi = d.bounds()
    if lo >= 0:
        return True
    return hi >= 0 and d.const is None and _search(d)


@lru_cache(maxsize=8192)
def _search(d: Dim) -> bool:
    return _Proof(60).nonnegative(d)


class _Proof:
    """Proof of `d >= 0` by eliminating atoms one by one: d = A * atom + B, and the atom is replaced by a bound of it that
    A's sign allows. `budget` limits the number of dims looked at."""

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def nonnegative(self, d: Dim) -> bool:
        lo, hi = d.bounds()
        if lo >= 0 or hi < 0:
            return lo >= 0
        self.budget -= 1
        if self.budget < 0:
            return False
        return any(self.without(d, atom) for atom in sorted(d.atoms(), key=_elimination_order))

    def without(self, d: Dim, atom: Atom) -> bool:
        """Does `d >= 0` follow after eliminating `atom`?"""
        if self.budget < 0 or any(m.count(atom) > 1 for m, _ in d.terms):
            return False
        factor = Dim._build({_divide(m, (atom,)) or (): c for m, c in d.terms if atom in m})
        rest = Dim(tuple([t for t in d.terms if atom not in t[0]]))
        lo, hi = factor.bounds()
        if lo < 0 < hi and isinstance(atom, Sym):
            lo, hi = (0 if _interval_ge(factor) else lo), (0 if _interval_ge(-factor) else hi)
        if lo < 0 < hi:
            return False
        up = lo >= 0  # d grows with the atom, so a lower bound of the atom will do
        if isinstance(atom, Sym):
            bounds = [atom.lower if up else atom.upper]
            if factor.const is None:
                x, y = _atom_bounds(atom)
                bounds.append(Dim.of(x if up else y) if abs(x if up else y) < INF else None)
            return any(b is not None and self.nonnegative(factor * b + rest) for b in bounds)
        if atom.op == "floordiv":
            k = atom.b.const
            if k is None or k <= 0:
                return False
            return self.nonnegative(factor * (atom.a._shift(1 - k) if up else atom.a) + rest * k)
        parts = (self.nonnegative(factor * x + rest) for x in (atom.a, atom.b))
        return any(parts) if up == (atom.op == "max") else all(parts)


def _interval_ge(d: Dim) -> bool:
    """`d >= 0` by bounds, after replacing each symbol of a linear term by its symbolic bound."""
    out = ZERO
    for m, c in d.terms:
        t = Dim(((m, c),))
        if len(m) == 1 and isinstance(m[0], Sym):
            b = m[0].lower if c > 0 else m[0].upper
            if b is not None:
                t = b * c
        out = out + t
    return out.bounds()[0] >= 0


def _elimination_order(a: Atom) -> tuple[int, str]:
    return (2 if a.lower is None and a.upper is None else 1) if isinstance(a, Sym) else 0, a.key


def _atom_bounds(a: Atom) -> tuple[int, int]:
    if isinstance(a, Sym):
        return (2 if a.not_one and a.lo == 1 else a.lo), a.hi
    (x, y), (p, q) = a.a.bounds(), a.b.bounds()
    if a.op == "max":
        return max(x, p), max(y, q)
    if a.op == "min":
        return min(x, p), min(y, q)
    if p > 0:
        cands = [x // p, x // q, y // p, y // q]
        return (-INF if x <= -INF else min(cands)), (INF if y >= INF else max(cands))
    return -INF, INF


_FN: dict[str, Callable[[Dim, Dim], Dim]] = {"floordiv": lambda a, b: a // b, "max": dim_max, "min": dim_min}
_EVAL: dict[str, Callable[[int, int], int]] = {"floordiv": lambda a, b: a // b, "max": max, "min": min}
