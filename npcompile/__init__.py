"""npcompile: a just-in-time compiler for unchanged NumPy functions."""

__version__ = "0.1.0"
