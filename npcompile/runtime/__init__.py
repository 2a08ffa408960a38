"""Executes compiled segments: the C dispatcher, its memory and threads, and the cache of compiled units."""

from ._dispatch import get_num_threads, set_num_threads

__all__ = ["get_num_threads", "set_num_threads"]
