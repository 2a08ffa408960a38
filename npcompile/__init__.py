"""npcompile: a just-in-time compiler for unchanged NumPy functions."""

from . import logs
from .api import jit
from .config import PROCESS
from .errors import CompilerError, NpcompileError, NpcompileWarning, UnsupportedError
from .explain import explain
from .runtime import get_num_threads, set_num_threads

__version__ = "0.1.0"
__all__ = [
    "CompilerError",
    "NpcompileError",
    "NpcompileWarning",
    "UnsupportedError",
    "__version__",
    "explain",
    "get_num_threads",
    "jit",
    "set_num_threads",
]

if PROCESS.logs:
    logs.setup(PROCESS.logs)
