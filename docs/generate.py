"""Writes the tables of the documentation from the registries: `python docs/generate.py`; `--check` only compares."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import pathlib
import re
import sys
import textwrap
from typing import Any

import numpy as np

from npcompile.frontends.numpy import draws
from npcompile.frontends.numpy.library import is_followed
from npcompile.frontends.numpy.registry import NUMPY
from npcompile.tracer import trace  # noqa: F401  (registers the builtins)
from npcompile.tracer.calls import BUILTINS, FOLDED
from npcompile.tracer.library import is_listed, rule_of
from npcompile.tracer.reasons import BETWEEN, RAISES, REASONS

HERE = pathlib.Path(__file__).parent

REASONS_HEAD = """# Reasons

Why something was not compiled, or compiled code was left: the ids that `npcompile.explain`, `UnsupportedError` and
`NPCOMPILE_LOGS=graph_breaks` give. Ids are stable. At those marked with ¹ Python raises an exception; at those marked with ²
nothing failed to compile: Python does something between two pieces of compiled code. (Made by `docs/generate.py` from
`npcompile/tracer/reasons.py`.)
"""


def reasons() -> str:
    """docs/reasons.md"""
    rows = ["| id | meaning | what to do |", "| --- | --- | --- |"]
    for id in sorted(REASONS):
        mark = "¹" * (id in RAISES) + "²" * (id in BETWEEN)
        rows.append(f"| `{id}`{mark} | {REASONS[id].explanation} | {REASONS[id].hint} |")
    return "\n".join([REASONS_HEAD, *rows]) + "\n"


COVERAGE_HEAD = """# Which functions compile

Four ways: by a *rule*, as fused loops and native code; from its *source*, where NumPy writes the function in Python over others
that have rules, so that it is fused, too; by a *call* of the library's own function within the compiled segment, so that what
stands around it is compiled; or not, then Python runs that step between two segments (a *break*). Where arguments make a rule, or
the source, something that does not compile, the function is called. Types, constants and Python's own functions are in [what is
supported](support.md).
(Made by `docs/generate.py` from the registries.)
"""
WAYS = ("rule", "source", "call", "break")


def listing(title: str, ways: dict[str, str]) -> list[str]:
    """A section: the names by the way in which they are compiled."""
    out = [f"## {title}", ""] if ways else []
    for way in WAYS:
        names = sorted(n for n, w in ways.items() if w == way)
        if names:
            out += textwrap.wrap(f"**{way}** ({len(names)}): " + ", ".join(names), 130, break_on_hyphens=False) + [""]
    return out


def way_of(x: Any) -> str:
    """How a call of a function of NumPy or SciPy is compiled."""
    if rule_of(x) is not None:
        return "rule"
    if x in BUILTINS or x in FOLDED or draws.name_of(x) is not None:
        return "rule"
    return "source" if is_followed(x) else "call" if is_listed(x) else "break"


def functions_of(module: Any) -> dict[str, str]:
    """Public functions of a module, not types."""
    names = [n for n in dir(module) if not n.startswith("_")]
    found = {n: getattr(module, n) for n in names}
    return {n: way_of(x) for n, x in found.items() if callable(x) and not isinstance(x, type) and _hashable(x)}


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def methods_of_arrays() -> dict[str, str]:
    rules = {*NUMPY.all_methods("array"), *NUMPY.all_attributes("array")}
    names = [n for n in dir(np.ndarray) if not n.startswith("_")]
    return {n: "rule" if n in rules else way_of(getattr(np.ndarray, n)) for n in names}


def methods_of_ufuncs() -> dict[str, str]:
    return {n: way_of(getattr(np.add, n)) for n in ("accumulate", "at", "outer", "reduce", "reduceat")}


def methods_of_generators(cls: type) -> dict[str, str]:
    names = [n for n in dir(cls) if not n.startswith("_") and callable(getattr(cls, n))]
    return {n: "rule" if draws.method_of(cls, n) is not None else "break" for n in names}


def of_numpy() -> list[str]:
    import numpy.fft
    import numpy.linalg
    import numpy.random

    out: list[str] = []
    for module in (np, numpy.linalg, numpy.fft, numpy.random):
        out += listing(module.__name__, functions_of(module))
    out += listing("numpy.ndarray", methods_of_arrays())
    out += listing("numpy.ufunc", methods_of_ufuncs())
    for cls in (numpy.random.Generator, numpy.random.RandomState):
        out += listing(f"numpy.random.{cls.__name__}", methods_of_generators(cls))
    return out


def of_scipy() -> list[str]:
    names = ("scipy.special", "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.ndimage")
    return [line for name in names for line in listing(name, functions_of(importlib.import_module(name)))]


def of_torch() -> list[str]:
    """What has a rule: all else is run by torch between segments."""
    import torch

    from npcompile.frontends.torch.registry import TORCH

    rules = TORCH.all_rules()
    modules = {"torch": torch, "torch.nn.functional": torch.nn.functional, "torch.special": torch.special}
    out: list[str] = []
    for name, module in modules.items():
        found = {n: "rule" for n in dir(module) if not n.startswith("_") and _hashable(x := getattr(module, n)) and x in rules}
        out += listing(name, found)
    members = {*TORCH.all_methods("tensor"), *TORCH.all_attributes("tensor")}
    return out + listing("torch.Tensor", {n: "rule" for n in members if not n.startswith("_")})


SECTIONS = {"numpy": of_numpy, "scipy": of_scipy, "torch": of_torch}


def programs() -> str:
    """How many of the small programs in tests/language_programs.py compile without a break (tests/test_language_programs.py)."""
    spec = importlib.util.spec_from_file_location("language_programs", HERE.parent / "tests" / "language_programs.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    n, broken = len(module.PROGRAMS), sorted(module.BREAKS)
    text = (
        f"Of {n} small functions of arrays that use the Python language, `tests/language_programs.py`, {n - len(broken)} "
        f"({100 * (n - len(broken)) // n} %) compile without a break; a test holds each to that. "
        "In these Python runs one step or more: "
    )
    return "# Programs\n\n" + "\n".join(textwrap.wrap(text + ", ".join(broken) + ".", 130, break_on_hyphens=False)) + "\n"


def coverage() -> str:
    """docs/coverage.md. The part about a library that is not here, or here in another version, stays as it is."""
    old = (HERE / "coverage.md").read_text() if (HERE / "coverage.md").exists() else ""
    found = re.findall(r"^# of (.*)\n((?:(?!^# of ).*\n)*)", old, re.M)
    parts = {version.partition(" ")[0]: (version, body) for version, body in found}
    text = COVERAGE_HEAD + "\n" + programs()
    for name, make in SECTIONS.items():
        version, body = parts.get(name, (name, ""))
        here = version_of(name)
        if here and (not body or WRITE or here == version):
            version, body = here, "\n" + "\n".join(make())
        text += f"\n# of {version}\n{body.rstrip()}\n"
    return text


def version_of(name: str) -> str:
    """The library and its version without what changes no names; "" when it is not installed."""
    try:
        return f"{name} " + ".".join(importlib.metadata.version(name).split(".")[:2])
    except importlib.metadata.PackageNotFoundError:
        return ""


FILES = {"reasons.md": reasons, "coverage.md": coverage}
WRITE = "--check" not in sys.argv


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--check", action="store_true", help="write nothing; fail if a file is not as it would be written")
    check = ap.parse_args().check
    old = [name for name, make in FILES.items() if not (HERE / name).exists() or (HERE / name).read_text() != make()]
    for name in old:
        if not check:
            (HERE / name).write_text(FILES[name]())
        print(f"docs/{name}: {'out of date' if check else 'written'}")
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
