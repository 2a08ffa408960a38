"""`npcompile` on the command line: `run` a script with logs on, `explain` a function, look after the `cache`, `doctor`."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import runpy
import sys
import warnings
from collections.abc import Sequence
from typing import Any


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script; returns the exit status."""
    ap = argparse.ArgumentParser(prog="npcompile", description="A just-in-time compiler for unchanged NumPy functions.")
    sub = ap.add_subparsers(dest="command", required=True)
    p = sub.add_parser("run", help="run a Python script; --logs says what to print about compiling")
    p.add_argument("--logs", default="", help="comma-separated topics, see NPCOMPILE_LOGS")
    p.add_argument("script")
    p.add_argument("args", nargs=argparse.REMAINDER, help="the script's own arguments, options included")
    p = sub.add_parser("explain", help="explain module:function called with the given Python expressions (np is NumPy)")
    p.add_argument("function")
    p.add_argument("args", nargs="*")
    p.add_argument("--ir", action="store_true", help="also print the IR")
    p.add_argument("--source", action="store_true", help="also print the C++")
    p = sub.add_parser("cache", help="show or clear the disk cache")
    p.add_argument("action", choices=["info", "clear"], nargs="?", default="info")
    sub.add_parser("doctor", help="check compiler, cache directory, BLAS and threads")
    args = ap.parse_args(argv)
    try:
        return {"run": _run, "explain": _explain, "cache": _cache, "doctor": _doctor}[args.command](args)
    except Wrong as e:
        print(f"npcompile {args.command}: {e}", file=sys.stderr)
        return e.status


class Wrong(Exception):
    """What the command was asked for cannot be done; status 2: by its arguments, 1: for another reason."""

    def __init__(self, text: str, status: int = 2) -> None:
        super().__init__(text)
        self.status = status


def _said(e: BaseException) -> str:
    return f"{type(e).__name__}: {e}"


def _run(args: argparse.Namespace) -> int:
    from . import logs

    topics = frozenset(t.strip() for t in args.logs.split(",") if t.strip())
    unknown = sorted(topics - {"all", *logs.TOPICS})
    if unknown:
        raise Wrong(f"--logs: there is no topic {unknown[0]!r}; topics: all, {', '.join(logs.TOPICS)}")
    if not os.path.exists(args.script):
        raise Wrong(f"there is no file {args.script!r}")
    logs.setup(topics)
    sys.argv = [args.script, *args.args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(args.script)))
    runpy.run_path(args.script, run_name="__main__")
    return 0


def _explain(args: argparse.Namespace) -> int:
    import numpy as np

    from . import explain

    module, _, name = args.function.partition(":")
    if not module or not name:
        raise Wrong(f"{args.function!r} is not of the form module:function")
    sys.path.insert(0, os.getcwd())
    try:
        fn: Any = importlib.import_module(module)
    except Exception as e:
        raise Wrong(f"module {module!r} cannot be imported: {_said(e)}") from None
    for part in name.split("."):
        if not hasattr(fn, part):
            raise Wrong(f"module {module!r} has no {name!r}")
        fn = getattr(fn, part)
    if not callable(fn):
        raise Wrong(f"{args.function} is not callable, but of type {type(fn).__name__}")
    values = []
    for text in args.args:
        try:
            values.append(eval(text, {"np": np}))
        except Exception as e:
            raise Wrong(f"argument {text!r}: {_said(e)}") from None
    try:
        report = explain(fn, *values)
    except Exception as e:
        raise Wrong(f"{args.function} raised {_said(e)}", 1) from None
    print(report)
    if args.ir:
        print(report.ir)
    if args.source:
        print(report.source)
    return 0


def _cache(args: argparse.Namespace) -> int:
    from . import units

    cache = units.loader().cache
    if cache.problem:
        raise Wrong(f"the cache cannot be used: {cache.problem}", 1)
    if args.action == "clear":
        print(f"removed {cache.clear()} entries from {cache.directory}")
        return 0
    entries = [st.st_size for _, st in cache.entries()]
    print(f"{cache.directory}: {len(entries)} entries, {sum(entries) / 2**20:.1f} MB of {cache.max_bytes / 2**20:.0f} MB")
    return 0


def _doctor(args: argparse.Namespace) -> int:
    import numpy as np

    from . import __version__, explain, units
    from .lowering.cpp import driver
    from .runtime import get_num_threads, libraries

    print(f"npcompile {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they would say is printed below
        compiler, cache = units.compiler(), units.loader().cache
    works = compiler is not None and bool(driver.version(compiler.command))
    print(f"compiler: {compiler if works else units.missing() or f'{compiler} does not work'}")
    print(f"cache: {cache.problem or cache.directory}")
    print(f"BLAS: {libraries.blas_interface() or 'none found: np.matmul is called'}")
    print(f"threads: {get_num_threads()}")
    if not works:
        return 1

    def probe(x, y):
        return np.sqrt(x * x + y * y)

    report = explain(probe, np.arange(3.0), np.ones(3))
    ok = report.backend == "C++" and bool(np.array_equal(report.result, probe(np.arange(3.0), np.ones(3))))
    print("probe: compiled and right" if ok else f"probe failed:\n{report}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
