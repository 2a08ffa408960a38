"""The prim table: importing this package registers every row, one file a group.

Templates of C++ text call inline functions `npc_<prim>(...)`, overloaded on C types, which the kernels provide. In them
{0}, {1}, ... are operands, {T} the C type of the output, {o1} the address of a second output; C booleans are unsigned
char 0 or 1. Triton text works on `tl` blocks; `npc_<prim>` are functions of `kernels/triton/`,
`libdevice` is `triton.language.extra.libdevice`. `numpy` takes
(inputs, params) and returns a tuple of outputs.
"""

from . import binary, control, create, extern, index_map, linalg, memory, reduce, select, unary

__all__ = ["binary", "control", "create", "extern", "index_map", "linalg", "memory", "reduce", "select", "unary"]
