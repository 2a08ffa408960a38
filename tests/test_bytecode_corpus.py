"""Each corpus function is stopped at each instruction boundary of its execution and continued by a stub: nothing changes."""

import collections
import functools
import opcode
import sys
import traceback

import corpus
import pytest
from bytecode_machine import Machine

from npcompile.bytecode import REFUSALS, prepare
from npcompile.bytecode.base import generator
from npcompile.bytecode.normalise import DIALECT

CASES = corpus.load()
LONG = 300  # boundaries after which only every 37th is tried


def outcome(call, args, filename):
    """Value or exception with its traceback inside of the corpus, and what became of the arguments."""
    try:
        result = ("returned", repr(call()))
    except Exception as error:
        stack = traceback.TracebackException.from_exception(error).stack
        frames = [(s.name, s.lineno, s.end_lineno, s.colno, s.end_colno) for s in stack if s.filename == filename]
        result = ("raised", type(error), str(error), frames)
    return result, repr(args)


def walk(function, maker):
    """(number of boundaries, reasons of refused ones); asserts that the others give the plain run's outcome."""
    filename = function.__code__.co_filename
    args = maker()
    expected = outcome(functools.partial(function, *args), args, filename)
    passed = 0
    refused = collections.Counter()
    step = 1
    while True:
        args = maker()
        machine = Machine(function, args)
        try:
            if not machine.run(passed):
                break
        except Exception:
            break
        reason = machine.refusal()
        if reason:
            refused[reason] += step
        else:
            frames = machine.values()
            where = f"{machine.frames[-1].code.co_qualname} {machine.frames[-1].instr}"
            stub, values = prepare(frames)
            del frames, machine
            assert outcome(functools.partial(stub, values), args, filename) == expected, where
        passed += step
        if passed > LONG:
            step = 37
    return passed, refused


@pytest.fixture(scope="module")
def totals():
    return {}


@pytest.mark.parametrize("name, function, maker", CASES, ids=[case[0] for case in CASES])
def test_every_boundary(name, function, maker, totals):
    totals[name] = walk(function, maker)
    assert totals[name][0] > 1


def test_most_boundaries_are_resumable(totals):
    for name, function, maker in CASES:
        if name not in totals:  # the tests above ran elsewhere
            totals[name] = walk(function, maker)
    # the long functions would hide the others: they have many boundaries and no handler
    counted = [totals[name] for name, _, _ in CASES if not name.startswith("longcode")]
    count = sum(passed for passed, _ in counted)
    refused = sum((reasons for _, reasons in counted), collections.Counter())
    print(f"{count} boundaries, refused: {dict(refused)}", file=sys.stderr)
    assert set(refused) <= set(REFUSALS)
    assert sum(refused.values()) <= 0.05 * count


def test_every_opcode_of_functions_is_run():
    run = set()
    for _, function, maker in CASES:
        machine = Machine(function, maker())
        try:
            while True:
                frame = machine.frames[-1]
                run.add(opcode.opname[frame.code.co_code[frame.instr.at]])
                machine.step()
        except Exception:
            continue
    elsewhere = {name for name, rule in DIALECT.rules.items() if rule is generator} | {"JUMP_BACKWARD_NO_INTERRUPT"}
    elsewhere |= {"END_FOR"}  # FOR_ITER jumps over it
    in_bodies = "LOAD_NAME STORE_NAME DELETE_NAME SETUP_ANNOTATIONS LOAD_CLASSDEREF PRINT_EXPR IMPORT_STAR LOAD_LOCALS"
    in_bodies += " LOAD_FROM_DICT_OR_DEREF LOAD_FROM_DICT_OR_GLOBALS"
    assert set(DIALECT.rules) - elsewhere - set(in_bodies.split()) - run <= {"POP_JUMP_BACKWARD_IF_NOT_NONE"}
