"""NumPy's own tests with their bodies under `jit`: which fail that plain Python passes.

    python tests/numpy_suite.py                          # the usual files
    python tests/numpy_suite.py numpy.lib.tests.test_histograms -k "not slow"
    python tests/numpy_suite.py --callers                # the tests as they are; what they call of NumPy is compiled

Every test function (and method) is compiled at its first call, helper functions that it calls are inlined. Defects of npcompile
raise. Each file runs twice, plain and compiled, and the outcomes are compared; the exit status is 1 when one is worse compiled.

With `--callers` it is the other way round: the tests run as plain Python, and each function of NumPy that their module names
becomes a compiled function of one line that calls it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import types
from typing import Any

import numpy as np

FILES = """
_core.tests.test_umath _core.tests.test_numeric _core.tests.test_multiarray _core.tests.test_indexing _core.tests.test_ufunc
_core.tests.test_scalarmath _core.tests.test_shape_base _core.tests.test_item_selection _core.tests.test_einsum
_core.tests.test_mem_overlap _core.tests.test_errstate _core.tests.test_function_base _core.tests.test_half
_core.tests.test_nep50_promotions _core.tests.test_regression _core.tests.test_umath_complex _core.tests.test_scalar_methods
lib.tests.test_function_base lib.tests.test_nanfunctions lib.tests.test_arraysetops lib.tests.test_index_tricks
lib.tests.test_twodim_base lib.tests.test_stride_tricks lib.tests.test_histograms lib.tests.test_shape_base
lib.tests.test_type_check lib.tests.test_polynomial lib.tests.test_arraypad lib.tests.test_regression
linalg.tests.test_linalg fft.tests.test_pocketfft fft.tests.test_helper
""".split()  # noqa: SIM905


COUNTING = "refcount", "reference_leak", "small_regressions", "frompyfunc_leaks", "scalar_interface", "casterrors"
"""Tests that count references to objects that all share (dtypes, small ints): compiling in their midst makes some."""


class Caller:
    """Stands for a function of NumPy, and is one for those who look: calls a function of one line that calls it."""

    def __init__(self, function: Any, compiled: Any) -> None:
        self._function, self._compiled, self._methods = function, compiled, {}
        self._call = compiled(_one_line(function))

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        x = getattr(self._function, name)
        if isinstance(self._function, np.ufunc) and callable(x) and not name.startswith("_"):
            return self._methods.setdefault(name, Caller(x, self._compiled))
        return x

    __class__ = property(lambda self: type(self._function))
    __doc__ = property(lambda self: self._function.__doc__)


def _one_line(function: Any) -> Any:
    def caller(*args, **kwargs):
        return function(*args, **kwargs)

    return caller


class Names(types.ModuleType):
    """A module of NumPy whose functions are callers."""

    def __init__(self, module: types.ModuleType, compiled: Any) -> None:
        super().__init__(module.__name__)
        self._module, self._compiled = module, compiled

    def __getattr__(self, name: str) -> Any:
        x = called(getattr(self._module, name), self._compiled)
        if isinstance(x, (Caller, Names)):
            self.__dict__[name] = x
        return x

    def __dir__(self):
        return dir(self._module)


OF_NUMPY = frozenset({"numpy", "numpy.linalg", "numpy.fft", "numpy.lib", "numpy.lib.stride_tricks", "numpy.polynomial.polyutils"})


def called(x: Any, compiled: Any) -> Any:
    """What stands for a value that a test module names."""
    if isinstance(x, types.ModuleType):
        return Names(x, compiled) if x.__name__ in OF_NUMPY else x
    builtin = isinstance(x, types.BuiltinFunctionType) and x.__self__ is None
    array_function = type(x).__name__ == "_ArrayFunctionDispatcher"
    if isinstance(x, np.ufunc) or array_function or (builtin and x.__module__ == "numpy"):
        return Caller(x, compiled)
    if isinstance(x, types.FunctionType) and x.__module__ in OF_NUMPY:
        return Caller(x, compiled)
    return x


class Plugin:
    """Runs test functions under `jit` (or as they are) and writes down each that begins and its outcome; what has begun in an
    earlier process that crashed is left out."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.jit, self.callers, self.backend = args.child == "jit", args.callers, args.backend
        self.seconds, self.every, self.out = args.timeout, args.every, args.out
        self.jitted: dict[object, object] = {}
        self.plain: dict[int, dict[str, Any]] = {}

    def pytest_collection_modifyitems(self, items):
        begun = read(self.out)
        items[:] = [x for x in items[:: self.every] if x.nodeid not in begun and not any(c in x.name for c in COUNTING)]

    def note(self, nodeid: str, text: str) -> None:
        with open(self.out, "a") as f:
            print(json.dumps([nodeid, text]), file=f)

    def compiled(self, fn):
        if not self.jit:
            return fn
        import npcompile

        if not isinstance(fn, types.FunctionType):
            return fn
        if fn not in self.jitted:
            self.jitted[fn] = npcompile.jit(fn, backend=self.backend, options=OPTIONS)
        return self.jitted[fn]

    def pytest_pyfunc_call(self, pyfuncitem):
        fn = pyfuncitem.obj
        args = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        if self.callers:
            space = pyfuncitem.module.__dict__
            self.jitted.clear()
            space |= {k: called(x, self.compiled) for k, x in list(self.plain.setdefault(id(space), dict(space)).items())}
        elif self.jit:
            own = getattr(fn, "__self__", None)
            fn = self.compiled(fn) if own is None else types.MethodType(self.compiled(fn.__func__), own)
        self.note(pyfuncitem.nodeid, CRASHED)
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(self.seconds)
        try:
            fn(**args)
        finally:
            signal.alarm(0)
        return True

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            text = report.outcome if report.outcome != "failed" else f"failed: {str(report.longrepr)[-3000:]}"
            self.note(report.nodeid, text)


OPTIONS = {"compile": "first", "trace_debug": True, "recompile_limit": 256}
CRASHED = "failed: the process crashed"


def read(path: str) -> dict[str, str]:
    """The outcomes that are written down in a file, the last one of each test."""
    with open(path) as f:
        return dict(map(json.loads, f))


def too_long(signum, frame):
    raise TimeoutError("the test takes too long")


def child(args: argparse.Namespace) -> int:
    import pytest

    plugin = Plugin(args)
    selected = ["-k", args.k] if args.k else []
    pytest.main(
        ["-q", "--no-header", "--tb=short", "--assert=plain", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestWarning"]
        + [*selected, "--pyargs", *args.modules],
        plugins=[plugin],
    )
    return 0


def outcomes(kind: str, module: str, args: argparse.Namespace) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "outcomes")
        open(out, "w").close()
        options = ["--timeout", str(args.timeout), "--every", str(args.every), "--backend", args.backend]
        options += (["-k", args.k] if args.k else []) + ["--callers"] * args.callers
        command = [sys.executable, "-P", os.path.abspath(__file__), "--child", kind, "--out", out, *options, module]
        env = {**os.environ, "NPCOMPILE_STRICT": "1"}
        while True:
            before = len(read(out))
            run = subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True)
            found = read(out)
            crashed = [t for t, text in found.items() if text == CRASHED]
            if run.returncode == 0 or len(found) == before:
                return found
            with open(out, "a") as f:
                for t in crashed:
                    print(json.dumps([t, f"{CRASHED} with status {run.returncode}\n{run.stderr[:1500]}"]), file=f)


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("modules", nargs="*", default=[f"numpy.{f}" for f in FILES])
    ap.add_argument("--callers", action="store_true", help="compile what the tests call, not the tests")
    ap.add_argument("-k", default="", help="as pytest's -k")
    ap.add_argument("--every", type=int, default=1, help="only every n-th test (a quick look)")
    ap.add_argument("--timeout", type=int, default=120, help="seconds that one test may take")
    ap.add_argument("--backend", default="cpp", help="backend of jit; 'reference' needs no compiler and is quicker here")
    ap.add_argument("--child", help=argparse.SUPPRESS)
    ap.add_argument("--out", help=argparse.SUPPRESS)
    args = ap.parse_args()
    if args.child:
        return child(args)
    worse = total = 0
    for module in args.modules:
        plain, jitted = outcomes("plain", module, args), outcomes("jit", module, args)
        differs = [t for t, was in plain.items() if not was.startswith("failed") and jitted.get(t, "failed: not run") != was]
        total, worse = total + len(plain), worse + len(differs)
        print(f"{module}: {len(plain)} tests, {len(differs)} differ", flush=True)
        for t in differs:
            print(f"  {t}\n    {jitted.get(t, jitted.get(module, 'not run'))}".replace("\n", "\n    "), flush=True)
    print(f"{total - worse} of {total} tests as in plain Python")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
