"""The claim pool: covers ranges exactly, any number of threads, fork, nesting; the GIL is released and taken back."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from segment_units import Guard, Recipe, arg, f8, jit_of, returns, tensor, value

from npcompile.runtime import get_num_threads, set_num_threads

COUNT = """
struct env { unsigned char *at; npc_i64 n, grain, bad; };
static void body(void *p, npc_i64 lo, npc_i64 hi) {
  env *e = (env *)p;
  if (lo % e->grain || (hi % e->grain && hi != e->n) || lo >= hi) __atomic_fetch_add(&e->bad, 1, __ATOMIC_RELAXED);
  for (npc_i64 i = lo; i < hi; i++) __atomic_fetch_add(&e->at[i], 1, __ATOMIC_RELAXED);
}
//SEGMENT
  npc_i64 n = in[0], stride = 1;
  env e = {(unsigned char *)rt->alloc_array(ctx, 0, 2, 1, &n, &stride), n, in[1], 0};
  if (!e.at) return NPC_ERROR;
  for (npc_i64 i = 0; i < n; i++) e.at[i] = 0;
  rt->gil_release(ctx);
  rt->gil_release(ctx);
  rt->gil_acquire(ctx);
  for (int k = 0; k < in[2]; k++) rt->parallel_for(ctx, n, in[1], body, &e);
  rt->gil_acquire(ctx);
  out[2] = e.bad;
  out[4] = rt->n_threads(ctx);
  rt->out_object(ctx, 0, 0);
  return 0;
"""


def count_jit(**kw):
    recipe = Recipe("tuple", None, (value(), Recipe("value", (1, "int")), Recipe("value", (2, "int"))))
    exits = [returns(recipe, tensor("u1"), tensor("i8", 0), tensor("i8", 0))]
    return jit_of(lambda n, g, k: pytest.fail("plain"), [Guard(arg(i), "int") for i in range(3)], exits, COUNT, n_slots=1, **kw)


@pytest.fixture
def threads():
    before = get_num_threads()
    yield set_num_threads
    set_num_threads(before)


def check(jit, n, grain, times=3):
    at, bad, used = jit(n, grain, times)
    assert bad == 0 and (at == times).all() and len(at) == n
    return used


@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
def test_every_index_exactly_once(threads, n_threads):
    threads(n_threads)
    jit = count_jit()
    for n in (0, 1, 5, 64, 1000, 100003):
        for grain in (1, 8, 1000):
            assert check(jit, n, grain) == n_threads


def test_bound_of_an_entry(threads):
    threads(4)
    assert check(count_jit(max_threads=2), 1000, 10) == 2 and check(count_jit(max_threads=9), 1000, 10) == 4


def test_work_is_shared(threads):
    threads(2)
    body = """
    static void body(void *p, npc_i64 lo, npc_i64 hi) {
      volatile double x = 0;
      for (npc_i64 i = lo * 20000; i < hi * 20000; i++) x = x + 1;
      npc_i64 self = (npc_i64)__builtin_thread_pointer(), *seen = (npc_i64 *)p;
      if (self != seen[0]) __atomic_fetch_add(&seen[1], hi - lo, __ATOMIC_RELAXED);
    }
    //SEGMENT
      npc_i64 seen[2] = {(npc_i64)__builtin_thread_pointer(), 0};
      rt->gil_release(ctx);
      for (int k = 0; k < 20; k++) rt->parallel_for(ctx, 100, 1, body, seen);
      rt->gil_acquire(ctx);
      out[0] = seen[1];
      return 0;
    """
    body = "\n".join(line[4:] for line in body.splitlines())
    jit = jit_of(lambda: 0, [], [returns(Recipe("value", (0, "int")), tensor("i8", 0))], body)
    assert 0 < jit() < 2000


def test_from_many_python_threads(threads):
    threads(3)
    jit, failures = count_jit(), []

    def work():
        try:
            for _ in range(20):
                check(jit, 5000, 16, 20)
        except BaseException as e:
            failures.append(e)

    pool = [threading.Thread(target=work) for _ in range(5)]
    for t in pool:
        t.start()
    for t in pool:
        t.join()
    assert not failures


def test_nested_parallel_for_runs_serially(threads):
    threads(3)
    body = """
    struct env { npc_ctx *ctx; const npc_runtime *rt; npc_i64 sum; };
    static void inner(void *p, npc_i64 lo, npc_i64 hi) { __atomic_fetch_add(&((env *)p)->sum, hi - lo, __ATOMIC_RELAXED); }
    static void outer(void *p, npc_i64 lo, npc_i64 hi) {
      env *e = (env *)p;
      for (npc_i64 i = lo; i < hi; i++) e->rt->parallel_for(e->ctx, 10, 1, inner, e);
    }
    //SEGMENT
    env e = {ctx, rt, 0};
    rt->parallel_for(ctx, 50, 1, outer, &e);
    out[0] = e.sum;
    return 0;
    """
    body = "\n".join(line[4:] for line in body.splitlines())
    assert jit_of(lambda: 0, [], [returns(Recipe("value", (0, "int")), tensor("i8", 0))], body)() == 500


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_fork_after_a_parallel_region(threads):
    threads(3)
    jit = count_jit()
    check(jit, 10000, 10)
    for _ in range(5):
        pid = os.fork()
        if not pid:
            try:
                check(jit, 10000, 10)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
    check(jit, 10000, 10)


def test_number_of_threads(threads):
    threads(5)
    assert get_num_threads() == 5
    with pytest.raises(ValueError):
        set_num_threads(0)
    with pytest.raises(TypeError):
        set_num_threads("many")
    code = "from npcompile.runtime import get_num_threads; print(get_num_threads())"

    def default(**env):
        command = [sys.executable, "-P", "-c", code]
        return int(subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, check=True).stdout)

    assert default(OMP_NUM_THREADS="3,2") == 3
    assert 1 <= default(OMP_NUM_THREADS="") <= len(os.sched_getaffinity(0))


def test_floating_point_state_is_gathered_from_and_carried_to_workers(threads):
    threads(2)
    # Chunk 0 waits until another thread has divided by zero; denormals survive or not as in the calling thread.
    body = """
    struct env { volatile double zero, tiny; volatile int done; double got[2]; };
    static void body(void *p, npc_i64 lo, npc_i64 hi) {
      env *e = (env *)p;
      for (npc_i64 i = lo; i < hi; i++) {
        e->got[i] = e->tiny / 2;
        if (i == 1) { volatile double x = 1 / e->zero; (void)x; e->done = 1; }
        else for (npc_i64 k = 0; !e->done && k < 2000000000; k++) {}
      }
    }
    //SEGMENT
    env e = {0.0, 2.2250738585072014e-308, 0, {0, 0}};
    rt->fp_clear(ctx);
    out[0] = rt->fp_test(ctx);
    rt->parallel_for(ctx, 2, 1, body, &e);
    out[2] = rt->fp_test(ctx);
    out[4] = e.got[0] == e.got[1] && e.got[0] != 0;
    rt->fp_clear(ctx);
    out[6] = rt->fp_test(ctx);
    return 0;
    """
    body = "\n".join(line[4:] for line in body.splitlines())
    recipe = Recipe("tuple", None, tuple(Recipe("value", (k, "int")) for k in range(4)))
    before, after, same, cleared = jit_of(lambda: 0, [], [returns(recipe, *[tensor("i8", 0)] * 4)], body)()
    assert before & 1 == 0 and after & 1 and same and cleared & 1 == 0


def test_gil_is_released():
    body = """
      rt->gil_release(ctx);
      volatile double *flag = (volatile double *)in[0];
      npc_i64 k = 0;
      while (flag[0] == 0 && k < 20000000000) k++;
      out[0] = flag[0] == 1;
      return 0;
    """  # the exit takes the GIL back where the segment did not
    jit = jit_of(lambda x: 0, [Guard(arg(0), "array", f8())], [returns(Recipe("value", (0, "int")), tensor("i8", 0))], body)
    x = np.zeros(2)
    threading.Timer(0.05, lambda: x.fill(1)).start()
    assert jit(x) == 1
