"""npcompile: a just-in-time compiler for unchanged NumPy functions."""

from . import logs
from .api import jit
from .config import PROCESS
from .errors import CompilerError, NpcompileError, NpcompileWarning, UnsupportedError
from .explain import explain

__version__ = "0.1.0"
__all__ = ["CompilerError", "NpcompileError", "NpcompileWarning", "UnsupportedError", "__version__", "explain", "jit"]

if PROCESS.logs:
    logs.setup(PROCESS.logs)
