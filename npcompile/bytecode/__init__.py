"""CPython bytecode: code objects as micro-ops, control flow, resume stubs. The only place that names a Python version."""

from .microops import Handler, Instr, NormalCode, Op
from .normalise import SUPPORTED, normalise

__all__ = ["SUPPORTED", "Handler", "Instr", "NormalCode", "Op", "normalise"]
