"""Memory of a call: large results are recycled and ordinary, scratch is aligned and freed, nothing leaks."""

import gc
import os
import pickle
import resource

import numpy as np
import pytest
from segment_units import Guard, Recipe, arg, f8, fma_jit, jit_of, returns, tensor, value

from npcompile.runtime import _dispatch

LARGE = 8 << 20  # elements: 64 MB

FILL = """
  npc_i64 n = in[0], stride = 8;
  double *r = (double *)rt->alloc_array(ctx, 0, 12, 1, &n, &stride);
  if (!r) return NPC_ERROR;
  for (npc_i64 i = 0; i < n; i++) r[i] = 1.0;
  rt->out_object(ctx, 0, 0);
  return 0;
"""


@pytest.fixture
def ones():
    jit = jit_of(lambda n: pytest.fail("plain"), [Guard(arg(0), "int")], [returns(value(), tensor())], FILL, n_slots=1)
    _dispatch.memory_trim()
    yield jit
    _dispatch.memory_limit(512 << 20)
    _dispatch.memory_trim()


def mapped():
    return _dispatch.memory_stats()["mapped"]


def test_large_results_are_recycled(ones):
    start = mapped()
    for _ in range(5):
        r = ones(LARGE)
        assert r[0] == r[-1] == 1.0 and r.flags.owndata and r.flags.writeable and r.base is None
        r[:] = 7
        del r
    assert mapped() == start + 1 and _dispatch.memory_stats()["cached_bytes"] == 64 << 20
    a, b = ones(LARGE), ones(LARGE)
    assert mapped() == start + 2 and not np.shares_memory(a, b)
    del a, b
    assert ones(LARGE - 1000).nbytes and mapped() == start + 2
    assert _dispatch.memory_trim() == 128 << 20 and _dispatch.memory_stats()["cached_bytes"] == 0


def test_small_results_do_not_go_there(ones):
    start = mapped()
    assert ones(1 << 20).ctypes.data and mapped() == start
    assert np.zeros(LARGE).ctypes.data and mapped() == start  # the handler is set round our allocations only


def test_the_cache_is_bounded(ones):
    _dispatch.memory_limit(100 << 20)
    a, b = ones(LARGE), ones(LARGE)
    del a, b
    assert _dispatch.memory_stats()["cached_bytes"] == 64 << 20
    _dispatch.memory_limit(0)
    assert _dispatch.memory_stats()["cached_bytes"] == 0
    a = ones(LARGE)
    del a
    assert _dispatch.memory_stats()["cached_bytes"] == 0


def test_large_results_resize_pickle_and_outlive(ones):
    r = ones(LARGE)
    view = r[10:20]
    del r
    gc.collect()
    assert view.sum() == 10
    del view
    r = ones(LARGE)
    r.resize(2 * LARGE, refcheck=False)
    assert r[:LARGE].sum() == LARGE and r[LARGE:].sum() == 0
    r.resize(10, refcheck=False)
    assert r.sum() == 10 and pickle.loads(pickle.dumps(r)).sum() == 10


def test_large_results_after_fork(ones):
    r = ones(LARGE)
    del r
    pid = os.fork()
    if not pid:
        ok = ones(LARGE).sum() == LARGE and ones(2 * LARGE).sum() == 2 * LARGE
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert ones(LARGE).sum() == LARGE


def test_impossible_sizes_raise(ones):
    with pytest.raises((MemoryError, ValueError)):
        ones(1 << 50)
    with pytest.raises((MemoryError, ValueError)):
        ones(1 << 61)


SCRATCH = """
  npc_i64 n = in[0];
  char *a = (char *)rt->scratch(ctx, n), *b = (char *)rt->scratch(ctx, 100), *c = (char *)rt->scratch(ctx, n);
  if (!a || !b || !c) { rt->no_memory(ctx); return NPC_ERROR; }
  out[0] = ((npc_i64)a | (npc_i64)b | (npc_i64)c) & 63;
  for (npc_i64 i = 0; i < n; i++) a[i] = c[i] = 1;
  for (int i = 0; i < 100; i++) b[i] = 2;
  rt->scratch_free(ctx, b);
  rt->scratch_free(ctx, c);
  rt->scratch_free(ctx, 0);
  return 0;
"""


def test_scratch():
    recipe = Recipe("value", (0, "int"))
    jit = jit_of(lambda n: pytest.fail("plain"), [Guard(arg(0), "int")], [returns(recipe, tensor("i8", 0))], SCRATCH)
    for n in (0, 1, 1000, 40 << 20, 1000):
        assert jit(n) == 0
    with pytest.raises(MemoryError):
        jit(1 << 60)
    with pytest.raises(MemoryError):
        jit(-1)


def test_no_memory_leaks():
    x = np.arange(1000.0)
    jit = fma_jit()
    scratch = jit_of(
        lambda n: pytest.fail("plain"), [Guard(arg(0), "int")], [returns(Recipe("value", (0, "int")), tensor("i8", 0))], SCRATCH
    )
    view = """
      npc_i64 n = in[1], stride = 8;
      if (rt->out_view(ctx, 0, 0, 12, (void *)in[0], 1, &n, &stride, 1)) return NPC_ERROR;
      *(double *)(out + 2) = 2.5;
      return 0;
    """
    recipe = Recipe("tuple", None, (value(), Recipe("value", (1, "float")), Recipe("list", None, (Recipe("source", arg(0)),))))
    tuples = jit_of(
        lambda x: pytest.fail("plain"), [Guard(arg(0), "array", f8())], [returns(recipe, tensor(), tensor("f8", 0))], view
    )

    def work():
        for _ in range(100000):
            jit(x, x, x)
            tuples(x)
        for _ in range(2000):
            scratch(5000)
            jit(x, x, 1)

    work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000  # kilobytes
