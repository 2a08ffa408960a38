"""`with` statements: context managers whose methods are Python functions are inlined; `np.errstate` that ignores is followed.

In: a context manager on the stack. Out: its exit method and what it gives. Within `np.errstate(...="ignore")` operations report
nothing of the kinds ignored; an exit there enters the state before Python goes on, which also deals with what is raised.
"""

from __future__ import annotations

import numpy as np

from npcompile.bytecode import Instr, Op
from npcompile.frontends.numpy.registry import NONE
from npcompile.frontends.values import SymValue, Unsupported

from . import special
from .calls import builtin
from .frames import Frame
from .functions import inline
from .inputs import describe
from .interpreter import Trace, handles
from .symbolic import ErrStateExitV, ErrStateV, ManagerV, MethodV

_BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}


@builtin(np.errstate)
def errstate(t: Trace, **kwargs: SymValue) -> SymValue:
    kinds = {k: t.b.static(t.use(v)) for k, v in kwargs.items()}
    if not set(kinds) <= {*_BITS, "all"} or any(mode != "ignore" for mode in kinds.values()):
        raise Unsupported("with-statement", "np.errstate that does more than ignore")
    bits = 15 if "all" in kinds else sum(_BITS[k] for k in kinds)
    return ErrStateV(tuple(sorted(kinds)), bits)


@handles(Op.BEFORE_WITH)
def before_with(t: Trace, f: Frame, i: Instr) -> None:
    manager = t.use(f.stack[-1])
    if isinstance(manager, ErrStateV):
        f.stack[-1:] = [ErrStateExitV(manager, t.b.ignored), NONE]
        t.b.ignored |= manager.bits
        t.mutated()
        return
    if isinstance(manager, ManagerV):
        from .managers import enter as enter_generator

        enter_generator(t, f, manager)
        return
    enter, exit_ = (special.method(t, manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or exit_ is None or exit_.source is None:
        raise Unsupported("with-statement", describe(manager))
    f.stack[-1] = MethodV(special.function(exit_), manager)
    inline(t, enter, [manager], {})


def leave(t: Trace, v: ErrStateExitV) -> SymValue:
    """The call of `np.errstate.__exit__` at the end of the block."""
    t.b.ignored = v.before
    t.mutated()
    return NONE
