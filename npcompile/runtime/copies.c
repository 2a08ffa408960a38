/* NumPy's arrays on a device: inputs are copied there when a call begins, results and what was stored to come back when it ends. */
#include "runtime.h"

/* Device memory of one call with the array that its contents become. */
typedef struct {
  PyObject_HEAD
  void *data;
  PyObject *array;      /* once it has been copied to the host */
  int typenum, rank;
  npc_i64 bytes, dims[NPC_MAXDIMS], strides[NPC_MAXDIMS];
} Block;
static PyTypeObject *block_type;

static void block_dealloc(Block *b) {
  PyTypeObject *type = Py_TYPE(b);
  if (b->data) npc_device_free(b->data);
  Py_XDECREF(b->array);
  type->tp_free(b);
  Py_DECREF(type);
}

static Block *new_block(npc_ctx *ctx, npc_i64 bytes) {
  Block *b = (Block *)block_type->tp_alloc(block_type, 0);
  if (!b) return NULL;
  b->bytes = bytes;
  if (!(b->data = npc_device_alloc(ctx, bytes > 0 ? bytes : 1))) Py_CLEAR(b);
  return b;
}

/* ------------------------------------------------------------------------------------------------ inputs */

typedef struct { npc_i64 low, bytes; } Span; /* bytes from the first element's address: where the memory of a view begins; its length */

static Span span_of(const ArrayGuard *g, const npc_i64 *w) {
  npc_i64 low = 0, high = g->itemsize;
  for (int i = 0; i < g->rank; i++) {
    npc_i64 n = w[1 + i], step = w[1 + g->rank + i];
    if (n == 0) return (Span){0, 0};
    if (step < 0) low += (n - 1) * step;
    else high += (n - 1) * step;
  }
  return (Span){low, high - low};
}

int npc_copy_inputs(npc_ctx *ctx) {
  const Entry *e = ctx->entry;
  for (int i = 0; i < e->n_arrays; i++) {
    npc_i64 *w = ctx->in + e->arrays[i].word;
    Span s = span_of(e->arrays[i].guard, w);
    Block *b = new_block(ctx, s.bytes);
    if (!b) return -1;
    ctx->copies[i] = (PyObject *)b;
    if (s.bytes && npc_put(ctx, b->data, (char *)(intptr_t)w[0] + s.low, s.bytes)) return -1;
    w[0] = (npc_i64)(intptr_t)b->data - s.low;
  }
  return 0;
}

/* What the call stored comes back. Memory between the elements may be another array's: it is not touched. */
static int copy_back(npc_ctx *ctx, int i) {
  const ArrayInput *x = &ctx->entry->arrays[i];
  const npc_i64 *w = ctx->in + x->word;
  PyArrayObject *a = (PyArrayObject *)ctx->slots[i];
  const Block *b = (Block *)ctx->copies[i];
  Span s = span_of(x->guard, w);
  if (!s.bytes) return 0;
  if (x->guard->contiguous) return npc_fetch(ctx, PyArray_BYTES(a) + s.low, b->data, s.bytes) ? -1 : 0;
  char *temporary = PyMem_Malloc(s.bytes);
  if (!temporary) return PyErr_NoMemory(), -1;
  int r = -1;
  if (!npc_fetch(ctx, temporary, b->data, s.bytes)) {
    PyArray_Descr *d = PyArray_DescrFromType(x->guard->typenum);
    PyObject *from = PyArray_NewFromDescr(&PyArray_Type, d, x->guard->rank, (npy_intp *)(w + 1), (npy_intp *)(w + 1 + x->guard->rank),
                                          temporary - s.low, 0, NULL);
    if (from) r = PyArray_CopyInto(a, (PyArrayObject *)from);
    Py_XDECREF(from);
  }
  PyMem_Free(temporary);
  return r;
}

/* ------------------------------------------------------------------------------------------------ results */

static PyObject *make_block(npc_ctx *ctx, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides) {
  npc_i64 bytes = npc_itemsize(typenum);
  for (npc_i64 i = 0; i < nd; i++)
    if (__builtin_mul_overflow(bytes, dims[i], &bytes)) return PyErr_NoMemory();
  Block *b = nd <= NPC_MAXDIMS ? new_block(ctx, bytes) : NULL;
  if (!b) return NULL;
  b->typenum = (int)typenum, b->rank = (int)nd;
  memcpy(b->dims, dims, nd * sizeof *dims);
  memcpy(b->strides, strides, nd * sizeof *strides);
  return (PyObject *)b;
}

static void *block_data(PyObject *o) { return ((Block *)o)->data; }

/* A reference to what the object in a slot is on the host: an input itself, or a new array. */
static PyObject *on_host(npc_ctx *ctx, npc_i64 slot) {
  Block *b = (Block *)ctx->slots[slot];
  if (!b || !Py_IS_TYPE(b, block_type)) return Py_XNewRef((PyObject *)b);
  if (!b->array) {
    PyArray_Descr *d = PyArray_DescrFromType(b->typenum);
    PyObject *a = PyArray_NewFromDescr(&PyArray_Type, d, b->rank, (npy_intp *)b->dims, (npy_intp *)b->strides, NULL, 0, NULL);
    if (a && b->bytes && npc_fetch(ctx, PyArray_DATA((PyArrayObject *)a), b->data, b->bytes)) Py_CLEAR(a);
    b->array = a;
  }
  return Py_XNewRef(b->array);
}

static PyObject *view_block(npc_ctx *ctx, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides,
                            npc_i64 writeable) {
  PyObject *base = on_host(ctx, slot);
  PyArray_Descr *d = base ? PyArray_DescrFromType((int)typenum) : NULL;
  if (!d) return Py_XDECREF(base), NULL;
  const char *there = slot < ctx->entry->n_arrays ? (char *)(intptr_t)ctx->in[ctx->entry->arrays[slot].word] : ((Block *)ctx->slots[slot])->data;
  char *here = PyArray_BYTES((PyArrayObject *)base) + ((const char *)data - there);
  PyObject *v = PyArray_NewFromDescr(&PyArray_Type, d, (int)nd, (npy_intp *)dims, (npy_intp *)strides, here, writeable ? NPY_ARRAY_WRITEABLE : 0,
                                     NULL);
  if (!v) return Py_DECREF(base), NULL;
  if (PyArray_SetBaseObject((PyArrayObject *)v, base) < 0) Py_CLEAR(v); /* takes the reference */
  return v;
}

static int not_all(PyObject *Py_UNUSED(o), const View *Py_UNUSED(v)) { return 0; }
static int never(PyObject *Py_UNUSED(o)) { return 0; }
static int no_match(const ArrayGuard *Py_UNUSED(g), PyObject *Py_UNUSED(o), npc_i64 *Py_UNUSED(w)) { return 0; } /* guards see NumPy's arrays */

const ArrayLibrary npc_copies_library = {no_match, never, make_block, view_block, not_all, block_data, copy_back, on_host};

int npc_copies_init(void) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, block_dealloc}, {0, NULL}};
  static PyType_Spec spec = {"npcompile.runtime._dispatch.Block", sizeof(Block), 0, Py_TPFLAGS_DEFAULT, slots};
  block_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return block_type ? 0 : -1;
}
