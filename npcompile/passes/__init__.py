"""Passes: graph -> graph. `run` applies them all."""

from .manager import PassError, PassOptions, run

__all__ = ["PassError", "PassOptions", "run"]
