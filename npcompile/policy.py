"""When to compile: decides at a call that no entry takes. In: the function and its bound arguments. Out: yes or no.

"hot" is ski-rental: a first call with little work in it runs plain, because tracing and compiling cost more than it can
save; a second call shows that there is repetition. The limits are measured (docs/performance.md, "When to compile").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .frontends.torch import library as torch_library

FIRST_CALL_BYTES = 4 << 20
"""Arguments this large make even the first call worth compiling: a handful of NumPy passes over them costs a compile."""

_BACKWARD = frozenset(("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "FOR_ITER"))


def worth_compiling(code: Any, bound: Sequence[Any], misses: int) -> bool:
    """Compile now? `misses` counts the calls so far that nothing took, this one included."""
    if misses > 1:
        return True
    nbytes = sum(a.nbytes for a in bound if type(a) is np.ndarray or (torch_library.is_tensor(a) and torch_library.is_plain(a)))
    return nbytes >= FIRST_CALL_BYTES or (has_loop(code) and nbytes > 0)


def has_loop(code: Any) -> bool:
    """Does the function itself loop? (A call that loops may run for any time, so waiting for a second one does not pay.)"""
    import dis

    return any(i.opname in _BACKWARD for i in dis.get_instructions(code))
