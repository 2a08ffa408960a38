"""The small programs of `language_programs`: each does what plain Python does; all but the named ones compile without a break."""

import copy

import pytest
from language_harness import agree, quiet
from language_programs import BREAKS, PROGRAMS

import npcompile


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    f, args = PROGRAMS[name]
    agree(lambda: f, args, breaks=None)
    report = quiet(lambda: npcompile.explain(f, *copy.deepcopy(args)))
    whole = bool(report.segments) and not report.graph_breaks
    assert whole == (name not in BREAKS), [(b.id, b.detail, b.line) for b in report.graph_breaks] or report.declined


def test_names():
    assert PROGRAMS.keys() >= BREAKS
