"""Passes: graph -> graph. `run` applies them all."""

from .manager import PassError, PassOptions, run
from .rewrite import watched_sites
from .silence import silenced

__all__ = ["PassError", "PassOptions", "run", "silenced", "watched_sites"]
