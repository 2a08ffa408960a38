"""Graph breaks: the instruction that is not compiled runs in Python, compiled code goes on before and after it."""

import numpy as np
import pytest
from break_programs import (
    CORPUS,
    A,
    B,
    check,
    clean_loop_after,
    first_thing,
    in_a_for_loop,
    in_a_while_loop,
    in_with,
    loop_without_work_before,
    note,
    outcome,
    places,
    result_is_used,
    straight,
    twice,
    two_deep,
)

import npcompile


@pytest.mark.parametrize("fn", CORPUS, ids=[f.__name__ for f in CORPUS])
def test_corpus(fn, capsys):
    jitted = check(fn, (A, B), capsys=capsys)
    before = jitted.stats.compiles
    assert jitted.stats.misses <= 2 and before <= 10, jitted.stats
    for _ in range(3):
        outcome(jitted, (A, B))
    capsys.readouterr()
    assert jitted.stats.compiles == before  # nothing is compiled again
    check(fn, (A.astype("f4"), B.astype("f4")), calls=2, capsys=capsys)


# ---------------------------------------------------------------------------------------------- counts


COUNTS = {
    # function: (segments, places of breaks)
    straight: (2, 1),
    twice: (3, 2),
    first_thing: (1, 1),
    result_is_used: (2, None),
    in_a_for_loop: (3, 1),
    loop_without_work_before: (None, 1),
    in_a_while_loop: (3, 1),
    clean_loop_after: (1, 1),
    two_deep: (None, 1),
    in_with: (3, None),
}


@pytest.mark.parametrize("fn", COUNTS, ids=[f.__name__ for f in COUNTS])
def test_counts(fn, capsys):
    report = npcompile.explain(fn, A.copy(), B.copy())
    segments, breaks = COUNTS[fn]
    assert segments is None or len(report.segments) == segments, str(report)
    assert breaks is None or len(report.graph_breaks) == breaks, str(report)
    assert report.declined == ""


def test_no_recompiles_for_what_changes_in_each_turn():
    """Counters, lengths and sizes are no constants: a place is compiled at most three times."""

    def f(a, n):
        out, y, k = [], a, 0
        while k < n:
            y = np.concatenate((y, a[: 1 + k % 2])) * 0.5
            note(len(out), None)
            out.append(float(y.sum()) + k * len(y))
            if len(out) > 3:
                y = y[1:] + out[-1]
            k += 1
        return out, y

    jitted = check(f, (A, 40), calls=2)
    check_counts = [len(p.entries) for p in places(jitted)]
    assert max(check_counts) <= 3, check_counts
    before = jitted.stats.compiles
    for n in (3, 17, 60, 61):
        outcome(jitted, (A, n))
    assert jitted.stats.compiles <= before + 1


def test_strings_that_change_are_not_looked_at():
    def f(a, names):
        z = a
        for name in names:
            z = z * 0.5 + len(name)
            print(name.upper(), end="", file=None)
            z = z + (1.0 if name == "b" else 2.0)
        return z

    jitted = check(f, (A, ["a", "b", "c", "dd", "e", "f", "g", "h"]), calls=2)
    assert max(len(p.entries) for p in places(jitted)) <= 3


def test_the_limit_holds_at_points(caplog):
    kinds = [1, 2.0, 3j, np.float32(4), np.float64(5), np.int8(6), np.arange(7), np.float16(1)]

    def f(a, n):
        z = a
        for i in range(n):
            v = outside_list[i % len(outside_list)]
            note(i, v)
            z = (z * 0.5 + v).real
        return z

    outside_list = kinds
    with caplog.at_level("INFO", logger="npcompile.recompiles"):
        jitted = check(f, (A, 24), calls=3)
    assert all(len(p.entries) <= 4 for p in places(jitted))
    assert any(p.state == "frozen" for p in places(jitted))
    assert "limit of 4 entries" in caplog.text and "last failed: variable `" in caplog.text


def test_fullgraph_raises_at_the_first_break():
    jitted = npcompile.jit(in_a_for_loop, fullgraph=True)
    with pytest.raises(npcompile.UnsupportedError) as info:
        jitted(A, B)
    assert info.value.line == in_a_for_loop.__code__.co_firstlineno + 4


def test_without_a_call_only_what_comes_first_is_explained(capsys):
    report = npcompile.explain(twice, A, B, run=False)
    assert len(report.segments) == 1 and len(report.graph_breaks) == 1 and capsys.readouterr().out == ""
