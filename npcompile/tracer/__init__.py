"""The tracer: symbolic execution of a function's bytecode into a prim graph and a plain-data segment description.

In: a function, the live arguments of one call, options. Out: a `TraceResult`. Never: runs user code or changes anything.
"""

from .memory import Cause, Memory
from .trace import Break, Refused, TraceResult, trace

__all__ = ["Break", "Cause", "Memory", "Refused", "TraceResult", "trace"]
