"""Passes: graph -> graph. `run` applies them all."""

from .manager import PassError, PassOptions, run
from .rewrite import watched_sites

__all__ = ["PassError", "PassOptions", "run", "watched_sites"]
