"""Questions about sizes, as rules ask them: answered by proof, or by the sizes of the traced call and then checked.

In: dims. Out: yes or no; an answer that holds for this call only becomes a guard of the segment, or, where a symbol is made
inside of it, an exit. The base of `Builder`, which emits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Graph, Value

from .facts import DimFacts
from .values import Unsupported


class DimQuestions:
    """graph : whose guards answers become. facts : what is known, and the sizes of the traced call."""

    graph: Graph
    facts: DimFacts

    @abstractmethod
    def emit(self, prim: str, *inputs: Value, **params: Any) -> Value: ...

    @abstractmethod
    def dim_value(self, dim: Dim | int) -> Value: ...

    @abstractmethod
    def exit_if(self, cond: Value, reason: str) -> None: ...

    def dim_is(self, a: Dim | int, b: Dim | int) -> bool:
        """Are the dims equal? Proved, refuted, or answered by the hints and guarded."""
        f = self.facts
        d = f.canon(a) - f.canon(b)
        if d.const is not None:
            return d.const == 0
        if f.prove_ne(d):
            return False
        if f.prove_eq(d):
            return True
        if not f.is_local(d):
            same = f.hint(d) == 0
            self._guard("eq" if same else "ne", d)
        else:
            # inside a loop "is it 1?" is no for the general turn, whatever it is at the turn the hints describe
            same = f.hint(d) == 0 and f.canon(b).const != 1 and f.canon(a).const != 1
            self._check("ne" if same else "eq", a, b)
        (f.learn_eq if same else f.learn_ne)(d)
        return same

    def dims_agree(self, a: Sequence[Dim], b: Sequence[Dim]) -> bool:
        """Are sizes equal, as an operation needs them to be? One of which nothing is known is taken to be; that is checked."""
        if len(a) != len(b):
            return False
        for x, y in zip(a, b):
            self.facts.suppose_equal(self.facts.canon(x), self.facts.canon(y))
            if not self.dim_is(x, y):
                return False
        return True

    def dim_ge(self, a: Dim | int, b: Dim | int) -> bool:
        """Is `a >= b`? Proved, refuted, or answered by the hints and guarded."""
        known = self.dim_ge_outside(a, b)
        if known is not None:
            return known
        f = self.facts
        d = f.canon(a) - f.canon(b)
        yes = f.hint(d) >= 0
        self._check("lt" if yes else "ge", a, b)
        f.learn_ge(d if yes else -d - 1)
        return yes

    def dim_ge_outside(self, a: Dim | int, b: Dim | int) -> bool | None:
        """`dim_ge`, but None where only a check inside the segment would tell."""
        f = self.facts
        d = f.canon(a) - f.canon(b)
        if f.prove_ge(d):
            return True
        if f.prove_ge(-d - 1):
            return False
        yes = f.hint(d) >= 0
        fact = d if yes else -d - 1
        if not f.is_local(d):
            self._guard("ge", fact)
            f.learn_ge(fact)
            return yes
        for r in f.residuals(fact):
            if not f.is_local(r) and f.hint(r) >= 0:
                self._guard("ge", r)
                f.learn_ge(r)
                return yes
        return None

    def _guard(self, op: str, d: Dim) -> None:
        """Guard the segment by `d op 0`, written with positive terms on both sides."""
        left = Dim(tuple(t for t in d.terms if t[1] > 0))
        self.graph.guards.append((op, left, left - d))

    def _check(self, leave_when: str, a: Dim | int, b: Dim | int) -> None:
        self.exit_if(self.emit(leave_when, self.dim_value(a), self.dim_value(b)), "dim-changed")

    def broadcast_dims(self, *shapes: Sequence[Dim]) -> tuple[Dim, ...]:
        """NumPy's broadcast of shapes; Unsupported("shape-mismatch") when they do not match at trace time."""
        rank = max(map(len, shapes), default=0)
        out: list[Dim] = []
        for axis in range(-rank, 0):
            result = Dim.of(1)
            for shape in shapes:
                if len(shape) < -axis:
                    continue
                d = self.facts.canon(shape[axis])
                if d.const == 1 or d == result:
                    continue
                self.facts.suppose_equal(result, d)
                if result.const == 1:
                    result = d
                elif self.facts.prove_eq(d - self.facts.canon(result)) or (
                    self.facts.hint(d) == self.facts.hint(result) and self.dim_is(result, d)
                ):
                    continue
                elif self.dim_is(result, 1):
                    result = d
                elif not self.dim_is(d, 1) and not self.dim_is(result, d):
                    raise Unsupported("shape-mismatch", f"shapes do not broadcast: {d} and {result}")
            out.append(self.facts.canon(result))
        return tuple(out)
