"""When compiled code goes on after a break, and when it goes back to plain."""

import numpy as np
from break_programs import A, B, breaks_sometimes, check, note, places, twice

import npcompile
from npcompile.testing import difference


def hot(fn):
    return npcompile.jit(fn, options={"compile": "hot"})


def test_a_second_call_is_compiled_through_its_breaks(capsys):
    f = hot(twice)
    want = twice(A, B)
    for _ in range(4):
        assert difference(want, f(A, B), "exact", 1.0) is None
    assert (f.stats.compiles, f.stats.hits, f.stats.plain_calls) == (3, 3, 1)
    assert [p.hits for p in places(f)] == [3, 3]


def test_a_long_loop_with_a_break_is_compiled_in_its_first_call():
    def f(a, n):
        z = a
        for k in range(n):
            z = z * 0.5 + k
            note(k % 7, None)
            z = z + a
        return z

    jitted = hot(f)
    big = np.linspace(0.0, 1.0, 20_000)
    assert np.array_equal(jitted(big, 20_000), f(big, 20_000))
    assert jitted.stats.hits == 1 and sum(p.hits for p in places(jitted)) > 39_000
    short = hot(f)
    short(A, 20)
    assert short.stats.compiles == 0 and short.stats.plain_calls == 1


def test_a_break_now_and_then_in_a_long_loop(capsys):
    """The first frame that comes to a place in mid-loop goes on in compiled code when the rest of the loop is long."""

    def f(a, n):
        z = a
        for k in range(n):
            z = z * 0.5 + k
            if k % 2000 == 0:
                print(f"turn {k}: {z[0]:.3f} {z[-1]:.3f}", file=None)
            z = z + a
        return z

    jitted = hot(f)
    big = np.linspace(0.0, 1.0, 5_000)
    want = f(big, 20_000)
    printed = capsys.readouterr().out
    assert np.array_equal(jitted(big, 20_000), want) and capsys.readouterr().out == printed
    assert jitted.stats.hits == 1 and jitted.stats.compiles <= 3 and not any(p.plain_calls for p in places(jitted)[:-1])


def test_what_gains_nothing_goes_back_to_plain():
    def f(a, n):
        for k in range(n):
            note(k % 3, a)
            note(3, k)
        return a

    for options in ("first", "hot"):
        jitted = npcompile.jit(f, options={"compile": options})
        for _ in range(8):
            assert jitted(A, 30) is A
        assert 900 < jitted.entries[0].resting < 1000 and jitted.stats.compiles == 0
        before = jitted.stats.plain_calls
        for _ in range(1000):
            jitted(A, 1)
        assert 990 < jitted.stats.plain_calls - before < 1000
        assert 10_000 < jitted.entries[0].resting < 16_000  # tried once more, in vain


def test_a_call_that_steps_without_gain_goes_on_plain():
    def f(a, n):
        z = a * 2.0
        k = 0.0
        for i in range(n):
            note(0, i)
            note(1, i)
            note(2, i)
            k = k + 0.5
        return z + k

    jitted = npcompile.jit(f)
    for _ in range(5):
        assert np.array_equal(jitted(A, 1000), f(A, 1000))
    assert sum(p.hits for p in places(jitted)) < 600


def test_sometimes_is_native_in_between(capsys):
    jitted = npcompile.jit(breaks_sometimes)
    want = breaks_sometimes(A, B, 1000)
    capsys.readouterr()
    assert np.array_equal(jitted(A, B, 1000), want)
    assert jitted.stats.compiles <= 3 and sum(p.hits for p in places(jitted)) == 100


def test_the_rest_of_a_range_by_an_iterator_of_ones_own():
    """An iterator that others hold is Python's: it has to move on."""

    def f(a, n):
        z = a
        it = iter(range(n))
        for k in it:
            z = z * 0.5 + k
            if k == 4:
                note(k, next(it))
        return z, next(it, "end")

    check(f, (A, 12))


def test_ranges_of_all_kinds(capsys):
    def f(a, start, stop, step):
        z, n = a, 0
        for k in range(start, stop, step):
            z = z * 0.5 + k
            if k == 3:
                print(k, file=None)
            n += 1
        return z, n

    for numbers in ((0, 10, 1), (9, -20, -3), (3, 4, 1), (3, 1 << 33, 1 << 31), (-(1 << 40), 4, (1 << 40) + 3), (0, 0, 1)):
        check(f, (A, *numbers), capsys=capsys)
