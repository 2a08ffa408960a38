"""Random numbers that generated code draws by itself, one at a time: NumPy's own functions on the caller's own bit generator.

In: a class of generators and a method's name. Out: how generated code draws the same numbers, or None. Never: draws from a
generator of the caller.

NumPy's generators hold a `bitgen_t`, and `RandomState` behind it an `aug_bitgen_t`, at places that are found by looking at
objects of our own. What a distribution gives is compared with what NumPy gives before it is first used.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.records import dataclass

from . import _dispatch, libraries

CLASSES = (np.random.Generator, np.random.RandomState)


@dataclass(frozen=True)
class Distribution:
    """How one number is drawn.

    symbol : NumPy's function of a bit generator and doubles; "gauss" and "bounded" are our own text (`kernels/cpp/draws.h`).
    params : (name, default or None, what is asked of it: "any", "nonnegative", "positive" or "rate").
    result : "f8" or "i8". masked : ints are drawn as `RandomState` does.
    """

    symbol: str
    params: tuple[tuple[str, float | None, str], ...] = ()
    result: str = "f8"
    masked: bool = False


_LOC, _SCALE = ("loc", 0.0, "any"), ("scale", 1.0, "nonnegative")
_INTS = (("low", None, "any"), ("high", math.nan, "any"))
_UNIFORM = Distribution("random_standard_uniform")
_BETWEEN = Distribution("random_uniform", (("low", 0.0, "any"), ("high", 1.0, "any")))
_GAUSS = Distribution("gauss")

TABLE: dict[tuple[type, str], Distribution] = {
    (np.random.Generator, "random"): _UNIFORM,
    (np.random.Generator, "uniform"): _BETWEEN,
    (np.random.Generator, "standard_normal"): Distribution("random_standard_normal"),
    (np.random.Generator, "normal"): Distribution("random_normal", (_LOC, _SCALE)),
    (np.random.Generator, "standard_exponential"): Distribution("random_standard_exponential"),
    (np.random.Generator, "exponential"): Distribution("random_exponential", (_SCALE,)),
    (np.random.Generator, "lognormal"): Distribution("random_lognormal", (("mean", 0.0, "any"), ("sigma", 1.0, "nonnegative"))),
    (np.random.Generator, "laplace"): Distribution("random_laplace", (_LOC, _SCALE)),
    (np.random.Generator, "gumbel"): Distribution("random_gumbel", (_LOC, _SCALE)),
    (np.random.Generator, "logistic"): Distribution("random_logistic", (_LOC, _SCALE)),
    (np.random.Generator, "rayleigh"): Distribution("random_rayleigh", (_SCALE,)),
    (np.random.Generator, "standard_cauchy"): Distribution("random_standard_cauchy"),
    (np.random.Generator, "standard_gamma"): Distribution("random_standard_gamma", (("shape", None, "nonnegative"),)),
    (np.random.Generator, "gamma"): Distribution("random_gamma", (("shape", None, "nonnegative"), _SCALE)),
    (np.random.Generator, "beta"): Distribution("random_beta", (("a", None, "positive"), ("b", None, "positive"))),
    (np.random.Generator, "chisquare"): Distribution("random_chisquare", (("df", None, "positive"),)),
    (np.random.Generator, "poisson"): Distribution("random_poisson", (("lam", 1.0, "rate"),), "i8"),
    (np.random.Generator, "integers"): Distribution("bounded", _INTS, "i8"),
    **{(np.random.RandomState, name): _UNIFORM for name in ("random", "random_sample", "rand")},
    **{(np.random.RandomState, name): _GAUSS for name in ("standard_normal", "randn")},
    (np.random.RandomState, "uniform"): _BETWEEN,
    (np.random.RandomState, "normal"): Distribution("gauss", (_LOC, _SCALE)),
    (np.random.RandomState, "randint"): Distribution("bounded", _INTS, "i8", masked=True),
}
"""(class, method) -> how one number is drawn. `nan` as a default: the argument before it is the upper end then."""

_WORD = ctypes.sizeof(ctypes.c_void_p)
_BITGEN = 5 * _WORD
"""Size of `bitgen_t`: a state and four functions."""
_SAMPLES = 300


@functools.cache
def place(cls: type) -> int:
    """Where in an object of the class its `bitgen_t` is; -1 when that is not sure. The runtime is told."""
    found = [_place(_own(cls, seed)) for seed in (1, 2)]
    if found[0] != found[1] or found[0] < 0 or (cls is np.random.RandomState and not _gauss_follows(found[0])):
        return -1
    _dispatch.set_generator(CLASSES.index(cls), found[0], np.random.mtrand._rand)
    return found[0]


@functools.cache
def native(cls: type, name: str) -> Distribution | None:
    """How generated code draws what `cls.name()` gives, when that has been shown to be the same."""
    how = TABLE.get((cls, name))
    if how is None or place(cls) < 0 or (how.symbol != "gauss" and not address(how)):
        return None
    return how if _same(cls, name, how) else None


def symbol(how: Distribution) -> str:
    """The external symbol that it calls, as `libraries.resolve` knows it."""
    return "random." + ("random_bounded_uint64_fill" if how.symbol == "bounded" else how.symbol)


def address(how: Distribution) -> int:
    return libraries.resolve(symbol(how))


# ------------------------------------------------------------------------------------------------ finding out


def _own(cls: type, seed: int) -> Any:
    return np.random.RandomState(seed) if cls is np.random.RandomState else np.random.default_rng(seed)


def _bits(generator: Any) -> Any:
    return getattr(generator, "bit_generator", None) or generator._bit_generator


def _place(generator: Any) -> int:
    size = type(generator).__basicsize__
    memory = ctypes.string_at(id(generator), size)
    wanted = ctypes.string_at(_dispatch.capsule_address(_bits(generator).capsule), _BITGEN)
    places = [at for at in range(2 * _WORD, size - _BITGEN + 1, _WORD) if memory[at : at + _BITGEN] == wanted]
    return places[0] if len(places) == 1 else -1


def _gauss_follows(at: int) -> bool:
    """Is there an `aug_bitgen_t` (pointer to the `bitgen_t`, int has_gauss, double gauss) behind it?"""
    r = _own(np.random.RandomState, 3)
    aug = id(r) + at + _BITGEN
    if at + _BITGEN + 3 * _WORD > type(r).__basicsize__ or ctypes.c_void_p.from_address(aug).value != id(r) + at:
        return False
    for _ in range(5):
        _, _, _, has, gauss = r.get_state()
        if (ctypes.c_int.from_address(aug + _WORD).value, ctypes.c_double.from_address(aug + 2 * _WORD).value) != (has, gauss):
            return False
        r.standard_normal()
    return True


def _same(cls: type, name: str, how: Distribution) -> bool:
    """Does drawing as generated code does give NumPy's numbers, and leave the generator as NumPy does?"""
    for args in _examples(how):
        ours, theirs = _own(cls, 4), _own(cls, 4)
        draw = _by_symbol(how, ours, *args)
        if any(draw() != getattr(theirs, name)(*args) for _ in range(_SAMPLES)):
            return False
        if how.symbol != "gauss" and str(_bits(ours).state) != str(_bits(theirs).state):
            return False
    return True


def _examples(how: Distribution) -> list[tuple[Any, ...]]:
    if how.symbol == "bounded":
        return [(10,), (-3, 1 << 20), (0, 1 << 40), (-(1 << 63), (1 << 63) - 1)]
    return [tuple(v + k for k, (name, *_) in enumerate(how.params)) for v in (0.7, 3.1)][: len(how.params) + 1]


def _by_symbol(how: Distribution, generator: Any, *args: Any) -> Callable[[], float]:
    cls: type = type(generator)
    bits = ctypes.c_void_p(id(generator) + place(cls))
    if how.symbol == "gauss":
        return _gauss(generator, *args)
    if how.symbol == "bounded":
        low, high = args if len(args) == 2 else (0, args[0])
        out = ctypes.c_uint64()
        fill = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_ssize_t, ctypes.c_bool, ctypes.c_void_p
        )(address(how))

        def bounded() -> int:
            fill(bits, low & (1 << 64) - 1, high - 1 - low, 1, how.masked, ctypes.addressof(out))
            return ctypes.c_int64(out.value).value

        return bounded
    result = ctypes.c_double if how.result == "f8" else ctypes.c_int64
    call = ctypes.CFUNCTYPE(result, ctypes.c_void_p, *[ctypes.c_double] * len(args))(address(how))
    if how.symbol == "random_uniform":
        args = args[0], args[1] - args[0]
    return lambda: call(bits, *args)


def _gauss(generator: Any, loc: float = 0.0, scale: float = 1.0) -> Callable[[], float]:
    """What `npc_legacy_gauss` does, in Python."""
    rest: list[float] = []

    def draw() -> float:
        if rest:
            return loc + scale * rest.pop()
        r2 = 0.0
        while r2 >= 1.0 or r2 == 0.0:
            x, y = 2.0 * generator.random_sample() - 1.0, 2.0 * generator.random_sample() - 1.0
            r2 = x * x + y * y
        f = math.sqrt(-2.0 * math.log(r2) / r2)
        rest.append(f * x)
        return loc + scale * (f * y)

    return draw
