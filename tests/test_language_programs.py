"""The small programs of `language_programs`: each does what plain Python does; all but the named ones compile without a break."""

import copy

import pytest
from language_harness import agree, quiet
from language_programs import BREAKS, PROGRAMS
from tracer_harness import bound, check

import npcompile
from npcompile.tracer import trace


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    f, args = PROGRAMS[name]
    agree(lambda: f, args, breaks=None)
    report = quiet(lambda: npcompile.explain(f, *copy.deepcopy(args)))
    whole = bool(report.segments) and not report.graph_breaks
    assert whole == (name not in BREAKS), [(b.id, b.detail, b.line) for b in report.graph_breaks] or report.declined


NOT_REPLAYED = {
    "abstract_layers": "objects that are copied for each call equal none but themselves",
    "catch_warn": "guards a list that the program itself changes",
    "counter": "refused while tracing",
    "dc_make": "dataclasses that hold arrays cannot be compared",
    "rand_py": "the exit of a draw that has failed, taken when it has not, draws again",
}
FORCED = 16
"""Exits of a program that are taken by force."""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in NOT_REPLAYED])
def test_every_exit(name):
    f, args = PROGRAMS[name]
    breaks = trace(f, bound(f, copy.deepcopy(args))).breaks
    check(f, *args, breaks=tuple(b.reason for b in breaks), most=FORCED, tolerance="ulp")


def test_names():
    assert PROGRAMS.keys() >= BREAKS | NOT_REPLAYED.keys()
