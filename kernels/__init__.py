"""The C++ text that generated units paste in. In: names of what a unit uses. Out: typedefs plus only those snippets.

A name is "prim" (all its overloads) or "prim:type" (the overload whose first argument has that type), for example
"exp:f64", "rep_div:f32", "to_i32:f64", "pairwise:f64". Nothing here knows about the IR or runs a compiler.
"""

from .text import CTYPES, RANGED, available, ctype, text

__all__ = ["CTYPES", "RANGED", "available", "ctype", "text"]
