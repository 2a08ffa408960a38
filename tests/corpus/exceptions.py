"""try, except, else, finally, with, raise, assert, exception groups; tracebacks through several frames."""

import contextlib

from . import Cases

cases = Cases()


@cases(lambda: (1, []), lambda: (0, []), lambda: ("x", []), lambda: (None, []))
def all_parts(x, log):
    try:
        log.append("try")
        y = 10 // x
        log.append("done")
    except ZeroDivisionError as error:
        log.append(str(error))
        y = -1
    except (TypeError, ValueError):
        log.append("type")
        y = -2
    else:
        log.append("else")
    finally:
        log.append("finally")
    return y


@cases(lambda: (2,), lambda: (0,))
def return_through_finally(x):
    log = []
    for i in range(3):
        try:
            if i == x:
                return log
            log.append(i)
        finally:
            log.append("f")
    return log


@cases(lambda: (3,))
def break_and_continue_through_finally(n):
    log = []
    for i in range(n):
        try:
            if i == 0:
                continue
            if i == 2:
                break
            log.append(i)
        finally:
            log.append(-i)
    return log


def level_three(x):
    scale = 2
    return (
        scale
        + 1 // x
    )  # fmt: skip


def level_two(x):
    before = 1
    after = level_three(x)
    return before + after


@cases(lambda: (1,), lambda: (0,), lambda: ("a",))
def level_one(x):
    return 1 + level_two(
        x,
    )


@cases(lambda: (1,), lambda: (0,), lambda: ("a",))
def catches_from_below(x):
    try:
        got = level_one(x)
    except ZeroDivisionError:
        got = "caught"
    return got, 1


@cases(lambda: (0,))
def catches_and_goes_on(x):
    got = []
    for i in range(2):
        try:
            got.append(level_two(i))
        except ArithmeticError:
            got.append("caught")
    return got


@cases(lambda: (0,))
def nested_handlers(x):
    log = []
    try:
        try:
            1 // x
        except ZeroDivisionError:
            log.append(1)
            raise KeyError("inner")
        finally:
            log.append(2)
    except KeyError as error:
        log.append(repr(error))
    return log


@cases(lambda: (0,))
def reraises(x):
    try:
        1 // x
    except ZeroDivisionError:
        x = 5
        raise


@cases(lambda: (0,))
def raises_from(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        raise ValueError("new") from error


class Manager:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, tb):
        self.log.append(kind and kind.__name__)
        return self.swallow


@cases(lambda: (1, True), lambda: (0, True), lambda: (0, False))
def with_statement(x, swallow):
    log = []
    with Manager(log, swallow) as manager:
        manager.log.append("body")
        log.append(1 // x)
    log.append("after")
    return log


@cases(lambda: (1,), lambda: (0,))
def with_many(x):
    log = []
    with Manager(log, True) as first, Manager(first.log):
        for i in range(3):
            if i == 1:
                log.append(1 // x)
            if i == 2:
                return log
    return log, "swallowed"


@cases(lambda: (0,), lambda: (2,))
def with_in_loop(x):
    log = []
    for i in range(3):
        with contextlib.suppress(ZeroDivisionError):
            if i == x:
                break
            if i == 1:
                continue
            log.append(1 // (i - 2 + x))
        log.append("next")
    return log


@cases(lambda: (3,), lambda: (0,), lambda: (-1,))
def asserts(x):
    assert x >= 0
    assert x, f"{x} is zero"
    return x


@cases(lambda: (1,), lambda: (2,), lambda: (3,))
def raises(x):
    if x == 1:
        raise ValueError
    if x == 2:
        raise ValueError("with argument", x)
    raise 3


@cases(lambda: ([1, 0, 2],))
def retries(items):
    out = []
    while items:
        try:
            out.append(4 // items.pop())
        except ZeroDivisionError:
            continue
    return out


@cases(lambda: (0,), lambda: (1,))
def exception_group(x):
    got = []
    try:
        got.append("try")
        if not x:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        got.append(len(group.exceptions))
    except* TypeError:
        got.append("type")
    return got


@cases(lambda: ([],))
def finally_with_loop(log):
    try:
        for i in range(2):
            log.append(i)
    finally:
        for i in range(2):
            log.append(-i)
    return i


@cases(lambda: (5,))
def try_star_args(n, *rest):
    try:
        return int("x" * n)
    except ValueError as error:
        return str(error)
