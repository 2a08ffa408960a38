"""Writes the tables of the documentation from the registries: `python docs/generate.py`; `--check` only compares."""

from __future__ import annotations

import argparse
import pathlib
import sys

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


FILES = {"reasons.md": reasons}


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
