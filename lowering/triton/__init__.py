"""The second back end: clusters of statements become Triton kernels, launched by the same host program.

`nests` lays clusters out in blocks, `kernel_text` prints them, `host` prints the launches, `driver` is the only module that
imports Triton. Everything else works without it.
"""
