"""Addresses of external functions that compiled units may ask for: the BLAS that NumPy itself uses, else SciPy's; NumPy's
distributions of random numbers.

In: names as `Lowered.symbols` has them. Out: addresses, 0 where there is none. Never: links or loads a further BLAS.

Names are `<interface>.<routine>`, such as `cblas64.dgemm`; a name without a dot is looked up in the global scope.
"""

from __future__ import annotations

import functools

from . import _dispatch

_PATTERNS = {
    "cblas64": ("scipy_cblas_{}64_", "cblas_{}64_", "cblas_{}$NEWLAPACK$ILP64"),
    "cblas32": ("scipy_cblas_{}", "cblas_{}", "cblas_{}$NEWLAPACK"),
    "lapack64": ("scipy_{}_64_", "{}_64_", "{}$NEWLAPACK$ILP64"),
    "lapack32": ("scipy_{}_", "{}_", "{}$NEWLAPACK"),
}
"""Interface -> how a routine is called in the library that NumPy links. 64/32: width of its integers."""


@functools.cache
def _numpy_blas() -> int:
    """Handle whose dependencies hold the BLAS that NumPy's matmul calls."""
    from numpy.linalg import _umath_linalg

    return _dispatch.open_loaded(_umath_linalg.__file__)


@functools.cache
def _numpy_random() -> int:
    from numpy.random import _generator

    return _dispatch.open_loaded(_generator.__file__)


@functools.cache
def _scipy_routines(module: str) -> dict[str, object]:
    import importlib

    try:
        return importlib.import_module(f"scipy.linalg.{module}").__pyx_capi__
    except (ImportError, AttributeError):
        return {}


@functools.cache
def resolve(name: str) -> int:
    """Address of an external function, 0 when it is not available.

    Interfaces: `cblas64`, `cblas32` (CBLAS with integers of that width), `lapack64`, `lapack32` (Fortran conventions),
    `fortran32` (BLAS by Fortran conventions, from SciPy), `fortranlapack32` (LAPACK likewise), `random` (the distributions of
    NumPy's C interface).
    """
    interface, dot, routine = name.partition(".")
    if not dot:
        return _dispatch.symbol(None, name)
    if interface in ("fortran32", "fortranlapack32"):
        capsule = _scipy_routines("cython_blas" if interface == "fortran32" else "cython_lapack").get(routine)
        return 0 if capsule is None else _dispatch.capsule_address(capsule)
    if interface == "random":
        return _dispatch.symbol(_numpy_random(), routine) if _numpy_random() else 0
    for pattern in _PATTERNS[interface]:
        address = _dispatch.symbol(_numpy_blas(), pattern.format(routine)) if _numpy_blas() else 0
        if address:
            return address
    return 0


@functools.cache
def blas_interface() -> str:
    """The best interface to BLAS there is: "cblas64", "cblas32", "fortran32", or "" for none."""
    for interface in ("cblas64", "cblas32", "fortran32"):
        if resolve(f"{interface}.dgemm"):
            return interface
    return ""
