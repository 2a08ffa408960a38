"""The snippets as text: complete for the prim table, each compilable alone, small and quick to compile."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from kernels_harness import FLAGS, NP
from npcompile.kernels import CTYPES, RANGED, available, ctype, text
from npcompile.kernels.text import labels
from npcompile.lowering.cpp.conditions import PREDICATES

import npcompile.ir.prims  # noqa: F401
from npcompile.ir.prim import PRIMS
from npcompile.ir.types import scalar

PARAMS = {"dtype": np.dtype(np.float64)}
NOT_TEXT = {"libm", "copy", "full", "iota", "dim", "const", "sym"}
"""Pointwise rows that lowering prints itself."""


def accepted(name: str) -> list[str]:
    """Types of first operands that a row takes, its operands having one type."""
    out = []
    for t, np_type in NP.items():
        for arity in (1, 2, 3):
            ins = [scalar(np_type)] * arity
            if name == "select":
                ins = [scalar(bool), scalar(np_type), scalar(np_type)]
            elif name == "ldexp":
                ins = [scalar(np_type), scalar(np.int64)]
            try:
                PRIMS[name].type_rule(tuple(ins), PARAMS)
            except (TypeError, ValueError, IndexError, KeyError):
                continue
            out.append(t)
            break
    return out


def test_every_pointwise_prim_has_text():
    missing = []
    for name, row in PRIMS.items():
        if row.loop == "pointwise" and row.cpp and "npc_" in row.cpp and name not in NOT_TEXT:
            missing += [f"{name}:{t}" for t in accepted(name) if not available(f"{name}:{t}")]
    assert not missing


def test_every_reporting_prim_can_be_asked():
    """By a loop of NumPy or a predicate. SciPy's functions report nothing."""
    for name, row in PRIMS.items():
        if row.loop == "pointwise" and row.cpp and set(row.reports) - {"underflow"}:
            assert row.ufunc or name in PREDICATES or name == "lgamma", name


def test_ranged_prims_have_near_and_far():
    for p in RANGED:
        for t in ("f32", "f64"):
            assert available(f"near_{p}:{t}") and available(f"far_{p}:{t}")


def test_each_snippet_compiles_alone():
    units = dict.fromkeys(text({x}) for x in sorted(labels()))
    source = "".join(f"namespace u{i} {{\n{unit}}}\n" for i, unit in enumerate(units))
    command = ["g++", "-std=gnu++17", "-fsyntax-only", "-Wall", "-Wno-unused-function", "-x", "c++", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and not run.stderr, run.stderr[:3000]


def test_text_has_only_what_is_needed():
    exp = text({"exp:f64"})
    assert "npc_exp(double" in exp and "npc_log" not in exp and "npc_exp(float" not in exp
    assert len(exp) < 4000
    assert text({"exp:f64", "log:f32"}) == text({"log:f32", "exp:f64"})
    assert text({"select:f32"}) == text({"select"})
    with pytest.raises(KeyError):
        text({"no_such_thing"})


def test_names_of_types():
    assert ctype(np.float32) == "float" and ctype(bool) == "npc_bool" and ctype("u8") == "npc_u64"
    assert set(CTYPES) == set(NP)


def test_the_only_outer_symbols_are_libm_names():
    source = text(labels())
    names = set(re.findall(r'extern "C" [\w ]*?\b(\w+)\(', source)) | set(re.findall(r"^double (\w+)\(", source, re.M))
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    assert len(names) > 20 and all(hasattr(libm, x) for x in names)


def test_a_unit_with_exp_compiles_quickly():
    """Against an empty unit, so that a slow machine does not matter: the text itself must stay cheap."""

    def processor_seconds() -> float:
        use = resource.getrusage(resource.RUSAGE_CHILDREN)
        return use.ru_utime + use.ru_stime

    def seconds(names: set[str], expr: str) -> float:
        loop = f"for (npc_i64 i = 0; i < n; i++) r[i] = {expr};"
        unit = f'{text(names)}extern "C" void f(npc_i64 n, double *__restrict r, const double *__restrict a) {{ {loop} }}\n'
        with tempfile.TemporaryDirectory() as d:
            src = Path(d) / "u.cpp"
            src.write_text(unit)
            best = 1e9
            for _ in range(3):
                start = processor_seconds()
                subprocess.run(["g++", "-O3", "-march=native", *FLAGS, str(src), "-o", f"{d}/u.so"], check=True)
                best = min(best, processor_seconds() - start)
        return best

    assert seconds({"exp:f64"}, "npc_exp(a[i])") < 4 * seconds(set(), "a[i]")
