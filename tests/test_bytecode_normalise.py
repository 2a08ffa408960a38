"""Every opcode has a rule, and the micro-ops of the standard library's code objects fit together."""

import dis
import opcode
import types

import pytest

from npcompile.bytecode import Op, normalise
from npcompile.bytecode import normalise as normalise_function
from npcompile.bytecode.decode import exception_table, raw_instructions
from npcompile.bytecode.normalise import DIALECT

MODULES = ["argparse", "ast", "asyncio.base_events", "dataclasses", "decimal", "difflib", "inspect", "tarfile", "typing"]


def codes_in(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


@pytest.fixture(scope="module")
def library():
    import importlib.util

    codes = []
    for module in MODULES:
        spec = importlib.util.find_spec(module)
        codes += codes_in(spec.loader.get_code(module))
    return codes


def test_every_opcode_has_a_rule():
    # folded in by the decoder, merged into calls, or never in a code object
    elsewhere = {"CACHE", "EXTENDED_ARG", "KW_NAMES", "PRECALL", "RESERVED", "INTERPRETER_EXIT", "EXIT_INIT_CHECK"}
    elsewhere |= {"ENTER_EXECUTOR"}  # co_code has the original instruction
    names = {name for name, number in opcode.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED")}
    assert names - elsewhere == set(DIALECT.rules) & names
    assert names - elsewhere - set(DIALECT.rules) == set()


def test_decoding_agrees_with_dis(library):
    for code in library:
        expected = [i for i in dis.get_instructions(code) if i.opname not in ("EXTENDED_ARG", "CACHE")]
        assert [(i.opname, i.arg or 0, i.offset) for i in expected] == [
            (raw.name, raw.arg if i.arg is not None else 0, raw.at) for i, raw in zip(expected, raw_instructions(code))
        ]
        assert [(e.start, e.end, e.target, e.depth, e.lasti) for e in dis._parse_exception_table(code)] == [
            (e.start, e.end, e.target, e.depth, e.lasti) for e in exception_table(code)
        ]


def test_structure(library):
    for code in library:
        normal = normalise(code)
        lines = {i.offset: i.positions.lineno for i in dis.get_instructions(code)}
        last = len(normal.instrs) - 1
        for index, instr in enumerate(normal.instrs):
            assert instr.op is not Op.UNKNOWN
            assert -1 <= instr.target <= last
            assert instr.start == (index == 0 or normal.instrs[index - 1].offset != instr.offset)
            if instr.start:
                assert normal.index_of_offset[instr.offset] == index
            if instr.target >= 0:
                assert normal.instrs[instr.target].start
            if instr.handler:
                assert normal.instrs[instr.handler.target].start
            assert instr.offset <= instr.at < instr.end
            assert instr.line == lines[instr.at]
            assert index == last or normal.instrs[index + 1].offset in (instr.offset, instr.end)


def test_jump_targets_agree_with_dis(library):
    for code in library:
        normal = normalise(code)
        by_offset = {i.at: i for i in normal.instrs if i.start}
        for i in dis.get_instructions(code):
            if i.opcode not in opcode.hasjrel or i.opname == "SEND":
                continue
            target = normal.instrs[by_offset[i.offset].target].offset
            if i.opname == "FOR_ITER":
                assert target >= i.argval  # END_FOR and what belongs to it are jumped over
            else:
                assert target == i.argval


def test_result_is_cached_per_object():
    def f(x):
        return x + 1

    assert normalise(f.__code__) is normalise(f.__code__)
    copy = f.__code__.replace()
    assert normalise(copy).code is copy
    assert normalise_function(copy) is not normalise(f.__code__)


def ops(function):
    return [(i.op, i.arg) for i in normalise(function.__code__).instrs if i.op is not Op.NOP]


def test_keyword_call_is_one_instruction():
    def f(g, x):
        return g(x, key=1)

    call = [i for i in normalise(f.__code__).instrs if i.op is Op.CALL]
    assert [i.arg for i in call] == [(2, ("key",))]
    assert call[0].start


def test_loop_target_is_after_the_cleanup():
    def f(n):
        for _ in n:
            pass
        return 7

    normal = normalise(f.__code__)
    (loop,) = [i for i in normal.instrs if i.op is Op.FOR_ITER]
    assert [(i.op, i.arg) for i in normal.instrs[loop.target : loop.target + 2]] == [(Op.PUSH_CONST, 7), (Op.RETURN, None)]


def test_operators():
    def f(a, b):
        a += b
        return (-a < b, +a, ~a, not a, a @ b, a[b], a is not b, a not in b)

    found = ops(f)
    for expected in [
        (Op.BINARY, "+="),
        (Op.UNARY, "-"),
        (Op.COMPARE, "<"),
        (Op.UNARY, "+"),
        (Op.UNARY, "~"),
        (Op.UNARY, "not"),
        (Op.BINARY, "@"),
        (Op.GET_ITEM, None),
        (Op.IS, True),
        (Op.CONTAINS, True),
    ]:
        assert expected in found


def test_many_constants_need_extended_arguments():
    source = "def f(x):\n" + "".join(f"    x = x + {i}.5\n" for i in range(400)) + "    return x"
    space = {}
    exec(source, space)
    constants = [i.arg for i in normalise(space["f"].__code__).instrs if i.op is Op.PUSH_CONST]
    assert constants[:400] == [i + 0.5 for i in range(400)]
