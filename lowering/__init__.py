"""Prim graph to C++: fusion, loop nests, host program, one translation unit a segment.

In: a verified graph with its `SegmentSpec`. Out: `Lowered` (source text and facts); `cpp.driver` compiles it. Never: traces,
runs user code, or touches Python objects.
"""

from .cpp.driver import CompilerError, compile_unit, find_compiler
from .lower import lower
from .lowered import Kernel, Lowered, LoweringError, LowerOptions, WhyNot

__all__ = [
    "CompilerError",
    "Kernel",
    "LowerOptions",
    "Lowered",
    "LoweringError",
    "WhyNot",
    "compile_unit",
    "find_compiler",
    "lower",
]
