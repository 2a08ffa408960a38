"""Functions of NumPy and SciPy that may be called from inside a segment: pure, and their results are no views of operands.

In: a callable. Out: its dotted name, or None. Never: functions that take callbacks, draw random numbers, read or write files or
state, or change an argument.
"""

from __future__ import annotations

import functools
import operator
import sys
import types
from typing import Any

import numpy as np

from npcompile.runtime._dispatch import chosen

_NAMES = {
    "numpy": """
        sort argsort lexsort partition argpartition searchsorted nonzero flatnonzero argwhere extract digitize bincount
        histogram histogram2d histogramdd histogram_bin_edges unique unique_all unique_counts unique_inverse unique_values
        intersect1d union1d setdiff1d setxor1d isin in1d ediff1d
        sum prod mean std var min max amin amax ptp any all argmin argmax count_nonzero average median percentile quantile
        nansum nanprod nanmean nanstd nanvar nanmin nanmax nanargmin nanargmax nanmedian nanpercentile nanquantile
        cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod diff gradient trapezoid convolve correlate interp
        cross kron outer inner dot vdot matmul tensordot einsum vecdot matvec vecmat trace
        vander poly polyval polyfit polyadd polysub polymul polydiv polyder polyint roots cov corrcoef
        unwrap i0 sinc nan_to_num fix angle around round clip where allclose isclose array_equal array_equiv
        isneginf isposinf bartlett blackman hamming hanning kaiser heaviside
        tile repeat pad roll append insert delete resize block concatenate stack vstack hstack dstack column_stack
        take take_along_axis choose compress select indices ix_ meshgrid tril triu tri tril_indices triu_indices
        tril_indices_from triu_indices_from diagflat diag_indices diag_indices_from unravel_index ravel_multi_index mask_indices
        packbits unpackbits copy array geomspace logspace linspace arange eye identity full zeros ones full_like zeros_like
        ones_like bitwise_count spacing
    """,
    "numpy.linalg": """
        norm det slogdet inv pinv solve lstsq eig eigh eigvals eigvalsh svd svdvals qr cholesky matrix_power matrix_rank cond
        multi_dot tensorsolve tensorinv cross outer matmul vecdot trace matrix_norm vector_norm tensordot
    """,
    "numpy.fft": """
        fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftshift ifftshift fftfreq rfftfreq
    """,
    "scipy.special": "logsumexp softmax log_softmax factorial comb perm multigammaln",
    "scipy.linalg": """
        norm det inv pinv solve solve_triangular solve_banded solve_toeplitz toeplitz circulant hankel expm logm sqrtm lu
        lu_factor lu_solve cho_factor cho_solve cholesky qr svd svdvals eigh eigvals eigvalsh block_diag null_space orth
        lstsq khatri_rao
    """,
    "scipy.fft": "fft ifft rfft irfft fft2 ifft2 fftn ifftn rfftn irfftn dct idct dst idst fftshift ifftshift fftfreq rfftfreq",
    "scipy.signal": "convolve correlate fftconvolve oaconvolve lfilter filtfilt sosfilt detrend hilbert convolve2d correlate2d",
    "scipy.ndimage": """
        gaussian_filter gaussian_filter1d uniform_filter uniform_filter1d median_filter maximum_filter minimum_filter
        convolve convolve1d correlate correlate1d laplace sobel prewitt gaussian_laplace binary_erosion binary_dilation label
        map_coordinates zoom shift rotate distance_transform_edt
    """,
}
_METHODS = """
    argsort argpartition searchsorted nonzero cumsum cumprod repeat take choose compress trace dot std var mean sum prod min max
    argmin argmax any all ptp round clip conj conjugate copy __getitem__
"""
_CHANGERS = "put place putmask copyto fill_diagonal put_along_axis"
"""Functions that change their first argument, once they have looked at all arguments, and give None."""
_FOLLOWED = """
    allclose array_equal array_equiv corrcoef cov cross delete diag_indices diag_indices_from ediff1d fix geomspace gradient
    isclose isin isneginf isposinf ix_ logspace median nanargmax nanargmin piecewise polyadd polyder polysub polyval
    put_along_axis real_if_close sinc sort_complex take_along_axis trapezoid tril_indices tril_indices_from trim_zeros
    triu_indices triu_indices_from unwrap vander
"""
"""Functions that NumPy writes in Python, and that are faster when that is compiled than when they are called, or just as fast."""
_OF_UFUNC = ("reduce", "accumulate", "outer", "reduceat")


@functools.cache
def _followed() -> frozenset[int]:
    return frozenset(id(getattr(np, name)) for name in _FOLLOWED.split() if hasattr(np, name))


def is_followed(function: Any) -> bool:
    """Is the function written in Python, and better compiled from its source than called?"""
    return id(function) in _followed()


def indices_of_nonzero(a: np.ndarray) -> Any:
    """The array, of one row for each element, whose columns `np.nonzero` gives for several axes."""
    return np.nonzero(a)[0].base


_table: dict[int, tuple[Any, str]] = {}
_added: set[str] = set()
"""Modules whose functions are in the table; nobody can call a function before its module is imported."""


def _listed() -> dict[int, tuple[Any, str]]:
    """id -> (callable, dotted name) of the listed functions of all modules that are imported by now."""
    if not _table:
        for name in _METHODS.split():
            if hasattr(np.ndarray, name):
                f = getattr(np.ndarray, name)
                _table[id(f)] = f, f"numpy.ndarray.{name}"
        _table[id(chosen)] = chosen, f"{chosen.__module__}.chosen"
        _table[id(operator.getitem)] = operator.getitem, "operator.getitem"
        _table[id(indices_of_nonzero)] = indices_of_nonzero, f"{__name__}.indices_of_nonzero"
    for name in _NAMES:
        module = sys.modules.get(name) if name not in _added else None
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            _add(_table, module, _NAMES[name])
            _added.add(name)
    return _table


@functools.cache
def _changers() -> dict[int, tuple[Any, str]]:
    out: dict[int, tuple[Any, str]] = {}
    _add(out, np, _CHANGERS)
    out[id(np.ndarray.put)] = np.ndarray.put, "numpy.ndarray.put"
    out[id(operator.setitem)] = operator.setitem, "operator.setitem"
    return out


def changer_of(function: Any) -> str | None:
    """The dotted name of a listed function that changes its first argument in place; `at` of ufuncs is one."""
    found = _changers().get(id(function))
    if found is not None:
        return found[1]
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, np.ufunc) and function.__name__ == "at":
        name = _ufunc_name(function.__self__)
        return f"{name}.at" if name else None
    return None


def _add(out: dict[int, tuple[Any, str]], module: types.ModuleType, names: str) -> None:
    for name in names.split():
        f = getattr(module, name, None)
        if f is not None:
            out.setdefault(id(f), (f, f"{module.__name__}.{name}"))


def name_of(function: Any) -> str | None:
    """The dotted name of a listed function; any ufunc of NumPy or SciPy, and their pure methods, are listed."""
    found = _listed().get(id(function))
    if found is not None:
        return found[1]
    if isinstance(function, np.ufunc):
        return _ufunc_name(function)
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, np.ufunc):
        name = _ufunc_name(function.__self__)
        return f"{name}.{function.__name__}" if name and function.__name__ in _OF_UFUNC else None
    return None


def _ufunc_name(f: np.ufunc) -> str | None:
    for module in ("numpy", "scipy.special"):
        if module in sys.modules and getattr(sys.modules[module], f.__name__, None) is f:
            return f"{module}.{f.__name__}"
    return None
