"""Blocks, dominators, post-dominators, loops, live locals and handler depth, against brute force and by example."""

import types

import corpus
import pytest

from npcompile.bytecode import Op, control_flow, normalise
from npcompile.bytecode.cfg import successors


def all_codes():
    found = {}

    def visit(code):
        if code not in found:
            found[code] = code
            for const in code.co_consts:
                if isinstance(const, types.CodeType):
                    visit(const)

    for name, function, _ in corpus.load():
        if not name.startswith("longcode"):
            visit(function.__code__)
    return list(found)


CODES = all_codes()


def reach(succs, start, without=None):
    """Nodes reachable from `start` without entering `without`."""
    seen, todo = set(), [start]
    while todo:
        node = todo.pop()
        if node not in seen and node != without:
            seen.add(node)
            todo += succs[node]
    return seen


def test_blocks_partition_the_code():
    for code in CODES:
        flow = control_flow(code)
        assert flow.blocks[0].start == 0
        assert flow.blocks[-1].end == len(flow.instrs)
        for block, following in zip(flow.blocks, flow.blocks[1:]):
            assert block.end == following.start
        starts = {block.start for block in flow.blocks}
        for index, instr in enumerate(flow.instrs):
            block = flow.blocks[flow.block_of[index]]
            assert block.start <= index < block.end
            assert instr.target < 0 or instr.target in starts
            last = index == block.end - 1
            after = successors(flow.instrs, index)
            assert last or after == (index + 1,)
            assert not last or {flow.blocks[b].start for b in block.succs} == set(after)


def test_dominators_by_brute_force():
    for code in CODES:
        flow = control_flow(code)
        succs = [block.succs for block in flow.blocks]
        reachable = reach(succs, 0)
        assert set(flow.order) == reachable
        for node in range(len(succs)):
            assert (flow.idom[node] >= 0) == (node in reachable)
        for a in reachable:
            beyond = reach(succs, 0, without=a) if a else set()
            for b in reachable:
                assert flow.dominates(a, b) == (b not in beyond)


def test_post_dominators_by_brute_force():
    for code in CODES:
        flow = control_flow(code)
        reachable = set(flow.order)
        succs = [block.succs for block in flow.blocks]
        ends = {node for node in reachable if not succs[node]}
        for node in reachable:
            if not reach(succs, node) & ends:
                assert flow.ipdom[node] == -1
                continue
            mine = {p for p in reachable - {node} if not reach(succs, node, without=p) & ends}
            chain, at = [], node
            while flow.ipdom[at] >= 0:
                at = flow.ipdom[at]
                chain.append(at)
            assert set(chain) == mine


def test_loops_by_brute_force():
    for code in CODES:
        flow = control_flow(code)
        succs = [(*block.succs, *block.handlers) for block in flow.blocks]  # a turn may go on through a handler
        order = reach(succs, 0)

        def dominates(a, b, succs=succs):
            return a == b or b not in reach([() if k == a else s for k, s in enumerate(succs)], 0) or a == 0

        back = {(b, s) for b in order for s in succs[b] if dominates(s, b)}
        assert {(latch, loop.header) for loop in flow.loops for latch in loop.latches} == back
        for index, loop in enumerate(flow.loops):
            around = {k for k, other in enumerate(flow.loops) if loop.header in other.body and k != index}
            assert (loop.parent in around) if around else loop.parent == -1
            for k in around:
                assert loop.body <= flow.loops[k].body
                assert len(flow.loops[loop.parent].body) <= len(flow.loops[k].body)
            for node in loop.body:
                assert dominates(loop.header, node)
                assert reach(succs, node) & set(loop.latches)
            assert set(loop.exits) == {(b, s) for b in loop.body for s in flow.after(b) if s not in loop.body}


def test_loop_facts():
    def f(u, v, n):
        scale = 2.0
        for i in range(n):
            temporary = u[i] * scale
            v[i] = temporary
            u, v = v, u
            if temporary > 10:
                last = i
                break
            while n < 0:
                n += 1
        else:
            last = None
        return u, n, last

    flow = control_flow(f.__code__)
    outer = flow.loops[0]
    assert flow.instrs[flow.blocks[outer.header].start].op is Op.FOR_ITER
    assert outer.assigned == {"i", "temporary", "u", "v", "n"}
    assert outer.carried == {"u", "v", "n"}  # `last` is not: each way out sets it
    assert [loop.parent for loop in flow.loops] == [-1, 0]
    assert flow.loops[1].carried == {"n"}
    assert all(flow.loop_of[b] == 1 for b in flow.loops[1].body)
    assert "temporary" not in flow.live_at(flow.blocks[outer.header].start)


def test_cells_assigned_in_a_loop():
    def f(n):
        total = 0
        for i in range(n):
            total += i
        return lambda: total

    (loop,) = control_flow(f.__code__).loops
    assert loop.assigned_cells == {"total"}
    assert "total" in control_flow(f.__code__).live_at(control_flow(f.__code__).blocks[loop.header].start)


def live_where(function, op, arg=None):
    normal = normalise(function.__code__)
    (index,) = [k for k, i in enumerate(normal.instrs) if i.op is op and (arg is None or i.arg == arg)]
    return control_flow(function.__code__).live_at(index)


def test_live_locals():
    def f(a, b, c, d):
        x = a + b
        y = x * 2
        try:
            z = y @ c
        except ValueError:
            return d
        return z

    assert live_where(f, Op.BINARY, "+") == {"c", "d"}
    assert live_where(f, Op.BINARY, "@") == {"d"}


def test_everything_is_live_in_functions_that_look_at_their_locals():
    def f(a, b):
        x = a * b
        return locals()

    assert live_where(f, Op.BINARY, "*") == {"a", "b", "x"}


@pytest.mark.parametrize("ending", ["return 1", "continue", "break", "raise", "pass"])
def test_handler_depth(ending):
    source = f"""
def f(x):
    for _ in x:
        try:
            x.first()
        except ValueError as e:
            x.second()
            try:
                x.third()
            finally:
                x.fourth()
            {ending}
        x.fifth()
    x.last()
"""
    space = {}
    exec(source, space)
    flow = control_flow(space["f"].__code__)
    depths = {}
    for index, instr in enumerate(flow.instrs):
        if instr.op is Op.LOAD_METHOD:
            depths.setdefault(instr.arg, set()).add(flow.handler_depth[index])
    assert {name: sorted(seen) for name, seen in depths.items()} == {
        "first": [0],
        "second": [1],
        "third": [1],
        "fourth": [1, 2],
        "fifth": [0],
        "last": [0],
    }


def test_depth_of_the_machine_agrees():
    """What is found statically is what happens: exceptions being handled, by count."""
    from bytecode_machine import Machine

    for name, function, maker in corpus.load():
        if not name.startswith("exceptions"):
            continue
        machine = Machine(function, maker(), depth=1)
        count = 0
        try:
            while machine.frames:
                frame = machine.frames[0]
                depth = control_flow(frame.code).handler_depth[frame.index]
                pending = frame.instr.op is Op.PUSH_EXC_INFO
                assert depth >= count + pending
                assert depth > 0 or count == 0
                count += (frame.instr.op is Op.PUSH_EXC_INFO) - (frame.instr.op is Op.POP_EXCEPT)
                machine.step()
        except Exception:
            continue
