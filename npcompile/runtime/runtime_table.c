/* The table of functions that generated segments call, and those of them that are a few lines. */
#include "runtime.h"

unsigned long npc_fork_generation;

static void no_memory(npc_ctx *Py_UNUSED(ctx)) { PyErr_NoMemory(); }

static void gil_release(npc_ctx *ctx) {
  if (!ctx->released++) ctx->saved = PyEval_SaveThread();
}

static void gil_acquire(npc_ctx *ctx) {
  if (!--ctx->released) PyEval_RestoreThread(ctx->saved);
  ctx->drawing = 0;
}

static void *call_python(npc_ctx *ctx, npc_i64 fn, npc_i64 n, const npc_i64 *args, npc_i64 slot) {
  Entry *e = ctx->entry;
  PyObject *inline_values[8] = {NULL}, **values = inline_values, *r = NULL;
  if (fn < 0 || fn >= PyTuple_GET_SIZE(e->calls) || slot < e->n_arrays || slot >= e->n_slots) {
    PyErr_Format(PyExc_SystemError, "segment calls function %lld into slot %lld", fn, slot);
    return NULL;
  }
  if (n > 7 && !(values = PyMem_Malloc((n + 1) * sizeof *values))) return PyErr_NoMemory();
  for (npc_i64 i = 0; i < n; i++) values[i + 1] = ctx->slots[args[i]];
  r = PyObject_Vectorcall(PyTuple_GET_ITEM(e->calls, fn), values + 1, n | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
  ctx->drawing = 0;
  if (values != inline_values) PyMem_Free(values);
  if (r && PyArray_IsScalar(r, Generic)) Py_SETREF(r, PyArray_FromScalar(r, NULL)); /* NumPy functions return 0-d results so */
  if (!r) return NULL;
  Py_XSETREF(ctx->slots[slot], r);
  if (PyArray_Check(r)) return PyArray_DATA((PyArrayObject *)r);
  PyErr_Format(PyExc_TypeError, "a call from compiled code returned %.100s instead of an array", Py_TYPE(r)->tp_name);
  return NULL;
}

const npc_runtime npc_rt = {
    .version = NPC_ABI_VERSION,
    .alloc_array = npc_alloc_array,
    .scratch = npc_scratch,
    .scratch_free = npc_scratch_free,
    .no_memory = no_memory,
    .out_object = npc_out_object,
    .out_view = npc_out_view,
    .parallel_for = npc_parallel_for,
    .n_threads = npc_n_threads,
    .gil_release = gil_release,
    .gil_acquire = gil_acquire,
    .poll = npc_poll,
    .report = npc_report,
    .fp_clear = npc_fp_clear,
    .fp_test = npc_fp_test,
    .call_python = call_python,
    .alloc_tensor = npc_alloc_tensor,
    .out_tensor = npc_out_tensor,
    .parallel_until = npc_parallel_until,
    .ready = npc_pool_ready,
    .launch = npc_launch,
    .fetch = npc_fetch,
    .put = npc_put,
    .call_library = npc_call_library,
    .object = npc_object,
    .lend = npc_lend,
    .call_numpy = npc_call_numpy,
    .generator = npc_generator,
    .ask = npc_ask,
};
