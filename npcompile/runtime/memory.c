/* Memory of one call: result arrays (the large ones from the block cache), views, scratch. */
#include "runtime.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ arrays */

/* NumPy's memory handler (NEP 49) over the block cache. It is set only around the allocation of a large result. */
static void *handler_malloc(void *Py_UNUSED(ctx), size_t n) { return npc_block_alloc(n); }
static void *handler_calloc(void *Py_UNUSED(ctx), size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) return NULL;
  void *p = npc_block_alloc(bytes);
  return p ? memset(p, 0, bytes) : NULL;
}
static void handler_free(void *Py_UNUSED(ctx), void *p, size_t Py_UNUSED(size)) { npc_block_free(p); }
static void *handler_realloc(void *Py_UNUSED(ctx), void *p, size_t size) {
  size_t old = npc_block_size(p);
  if (p && size <= old) return p;
  void *q = npc_block_alloc(size);
  if (q && p) {
    memcpy(q, p, old);
    npc_block_free(p);
  }
  return q;
}
static PyDataMem_Handler handler = {
    "npcompile", 1, {NULL, handler_malloc, handler_calloc, handler_realloc, handler_free}};
static PyObject *handler_capsule;

static void *put(npc_ctx *ctx, npc_i64 slot, PyObject *array) {
  if (!array) return NULL;
  Py_XSETREF(ctx->slots[slot], array);
  return PyArray_DATA((PyArrayObject *)array);
}

static int c_order(npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides, npc_i64 itemsize) {
  npc_i64 expected = itemsize;
  for (npc_i64 i = nd - 1; i >= 0; i--) {
    if (strides[i] != expected) return 0;
    expected *= dims[i];
  }
  return 1;
}

void *npc_alloc_array(npc_ctx *ctx, npc_i64 slot, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides) {
  if (slot < ctx->entry->n_arrays || slot >= ctx->entry->n_slots) {
    PyErr_Format(PyExc_SystemError, "segment allocates into slot %lld", slot);
    return NULL;
  }
  PyArray_Descr *d = PyArray_DescrFromType((int)typenum);
  if (!d) return NULL;
  npc_i64 bytes = PyDataType_ELSIZE(d);
  if (c_order(nd, dims, strides, bytes)) strides = NULL;
  for (npc_i64 i = 0; i < nd; i++)
    if (__builtin_mul_overflow(bytes, dims[i], &bytes)) bytes = 0; /* NumPy refuses it */
  if (NPC_LIKELY(bytes < (npc_i64)NPC_LARGE))
    return put(ctx, slot, PyArray_NewFromDescr(&PyArray_Type, d, (int)nd, (npy_intp *)dims, (npy_intp *)strides, NULL, 0, NULL));
  PyObject *old = PyDataMem_SetHandler(handler_capsule);
  if (!old) {
    Py_DECREF(d);
    return NULL;
  }
  PyObject *a = PyArray_NewFromDescr(&PyArray_Type, d, (int)nd, (npy_intp *)dims, (npy_intp *)strides, NULL, 0, NULL);
  PyObject *ours = PyDataMem_SetHandler(old);
  Py_DECREF(old);
  if (!ours) Py_CLEAR(a);
  Py_XDECREF(ours);
  return put(ctx, slot, a);
}

npc_i64 npc_out_view(npc_ctx *ctx, npc_i64 k, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims,
                     const npc_i64 *strides, npc_i64 writeable) {
  PyArray_Descr *d = PyArray_DescrFromType((int)typenum);
  if (!d) return -1;
  PyObject *v = PyArray_NewFromDescr(&PyArray_Type, d, (int)nd, (npy_intp *)dims, (npy_intp *)strides, data,
                                     writeable ? NPY_ARRAY_WRITEABLE : 0, NULL);
  if (!v) return -1;
  if (PyArray_SetBaseObject((PyArrayObject *)v, Py_NewRef(ctx->slots[slot])) < 0) { /* finds the owner, as NumPy's views do */
    Py_DECREF(v);
    return -1;
  }
  Py_XSETREF(ctx->captures[k], v);
  return 0;
}

/* ------------------------------------------------------------------------------------------------ scratch */

/* A header of one cache line in front of what the segment gets; all blocks of a call are in a list. */
struct Scratch { Scratch *next, *prev; size_t bytes; char pad[64 - 3 * sizeof(size_t)]; };
_Static_assert(sizeof(Scratch) == 64, "the header keeps the alignment");

static void lock(npc_ctx *ctx) {
  while (__atomic_exchange_n(&ctx->scratch_lock, 1, __ATOMIC_ACQUIRE)) continue;
}
static void unlock(npc_ctx *ctx) { __atomic_store_n(&ctx->scratch_lock, 0, __ATOMIC_RELEASE); }

static void release(Scratch *s) {
  if (s->bytes >= NPC_LARGE) npc_block_free(s);
  else free(s);
}

void *npc_scratch(npc_ctx *ctx, npc_i64 bytes) {
  if (bytes < 0 || bytes > PY_SSIZE_T_MAX - 256) return NULL;
  size_t total = ((size_t)bytes + sizeof(Scratch) + 63) & ~(size_t)63;
  Scratch *s = total >= NPC_LARGE ? npc_block_alloc(total) : aligned_alloc(64, total);
  if (!s) return NULL;
  s->bytes = total;
  s->prev = NULL;
  lock(ctx);
  s->next = ctx->scratch;
  if (s->next) s->next->prev = s;
  ctx->scratch = s;
  unlock(ctx);
  return s + 1;
}

void npc_scratch_free(npc_ctx *ctx, void *p) {
  if (!p) return;
  Scratch *s = (Scratch *)p - 1;
  lock(ctx);
  if (s->next) s->next->prev = s->prev;
  if (s->prev) s->prev->next = s->next;
  else ctx->scratch = s->next;
  unlock(ctx);
  release(s);
}

void npc_scratch_free_all(npc_ctx *ctx) {
  for (Scratch *s = ctx->scratch, *next; s; s = next) {
    next = s->next;
    release(s);
  }
  ctx->scratch = NULL;
}

/* ------------------------------------------------------------------------------------------------ Python side */

static PyObject *memory_limit(PyObject *Py_UNUSED(module), PyObject *arg) {
  size_t bytes = PyLong_AsSize_t(arg);
  if (bytes == (size_t)-1 && PyErr_Occurred()) return NULL;
  npc_blocks_limit(bytes);
  Py_RETURN_NONE;
}
static PyObject *memory_trim(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) { return PyLong_FromSize_t(npc_blocks_trim()); }
static PyObject *memory_stats(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
  size_t cached, reused, mapped;
  npc_blocks_stats(&cached, &reused, &mapped);
  return Py_BuildValue("{s:n,s:n,s:n}", "cached_bytes", (Py_ssize_t)cached, "reused", (Py_ssize_t)reused, "mapped", (Py_ssize_t)mapped);
}
static PyMethodDef methods[] = {
    {"memory_limit", memory_limit, METH_O, "Keep at most this many bytes of freed large results for reuse."},
    {"memory_trim", memory_trim, METH_NOARGS, "Give all kept blocks back to the system; the bytes freed."},
    {"memory_stats", memory_stats, METH_NOARGS, "Counters of the large-result cache."},
    {NULL, NULL, 0, NULL}};

int npc_memory_init(PyObject *module) {
  if (!(handler_capsule = PyCapsule_New(&handler, "mem_handler", NULL))) return -1;
  return npc_blocks_init() < 0 ? -1 : PyModule_AddFunctions(module, methods);
}
