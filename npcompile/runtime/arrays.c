/* What is common to libraries with arrays of their own: results of segments, calls of the library from segments. */
#include "runtime.h"

const ArrayLibrary *const npc_libraries[LIBRARY_COUNT] = {&npc_copies_library, &npc_torch_library, &npc_cupy_library};

/* ------------------------------------------------------------------------------------------------ reading */

static int contiguous(const View *v, int fortran) {
  npc_i64 step = v->itemsize;
  int yes = 1;
  for (int k = 0; k < v->rank; k++) {
    int i = fortran ? k : v->rank - 1 - k;
    if (v->dims[i] == 0) return 1;
    if (v->dims[i] != 1 && v->strides[i] != step) yes = 0;
    step *= v->dims[i];
  }
  return yes;
}

int npc_views_equal(const View *a, const View *b) {
  if (a->data != b->data || a->typenum != b->typenum || a->rank != b->rank) return 0;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i] || (a->strides[i] != b->strides[i] && a->dims[i] > 1)) return 0;
  return 1;
}

int npc_view_matches(const ArrayGuard *g, const View *v, npc_i64 *w) {
  if (v->rank != g->rank || v->typenum != g->typenum) return 0;
  *w++ = (npc_i64)(intptr_t)v->data;
  for (int i = 0; i < g->rank; i++) {
    if ((v->dims[i] == 1) != ((g->ones >> i) & 1)) return 0;
    w[i] = v->dims[i];
    w[g->rank + i] = v->strides[i];
  }
  if (contiguous(v, 0)) return g->contiguous == 1;
  if (contiguous(v, 1)) return g->contiguous == 2;
  return g->contiguous == 0 && npc_layout_matches(g, v);
}

PyObject *npc_int_tuple(npc_i64 n, const npc_i64 *values, npc_i64 divisor) {
  PyObject *t = PyTuple_New(n);
  for (npc_i64 i = 0; t && i < n; i++) {
    PyObject *v = PyLong_FromLongLong(values[i] / divisor);
    if (!v) Py_CLEAR(t);
    else PyTuple_SET_ITEM(t, i, v);
  }
  return t;
}

npc_i64 npc_itemsize(npc_i64 typenum) {
  PyArray_Descr *d = PyArray_DescrFromType((int)typenum);
  npc_i64 n = d ? PyDataType_ELSIZE(d) : 1;
  Py_XDECREF(d);
  return n;
}

/* ------------------------------------------------------------------------------------------------ results */

static int owns_slot(npc_ctx *ctx, npc_i64 slot) {
  if (slot >= ctx->entry->n_arrays && slot < ctx->entry->n_slots) return 1;
  PyErr_Format(PyExc_SystemError, "segment allocates into slot %lld", slot);
  return 0;
}

void *npc_alloc_tensor(npc_ctx *ctx, npc_i64 slot, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides) {
  const ArrayLibrary *library = ctx->entry->library;
  PyObject *o = owns_slot(ctx, slot) ? library->make(ctx, typenum, nd, dims, strides) : NULL;
  if (!o) return NULL;
  Py_XSETREF(ctx->slots[slot], o);
  return library->data(o);
}

npc_i64 npc_out_tensor(npc_ctx *ctx, npc_i64 k, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims,
                       const npc_i64 *strides, npc_i64 writeable) {
  PyObject *view = ctx->entry->library->view(ctx, slot, typenum, data, nd, dims, strides, writeable);
  if (!view) return -1;
  Py_XSETREF(ctx->captures[k], view);
  return 0;
}

void npc_out_object(npc_ctx *ctx, npc_i64 k, npc_i64 slot) {
  const ArrayLibrary *library = ctx->entry->library;
  PyObject *o = NPC_UNLIKELY(library->whole && ctx->entry->device >= 0) ? library->whole(ctx, slot) : Py_XNewRef(ctx->slots[slot]);
  Py_XSETREF(ctx->captures[k], o);
}

/* ------------------------------------------------------------------------------------------------ calls */

npc_i64 npc_call_library(npc_ctx *ctx, npc_i64 fn, npc_i64 n, const npc_i64 *words, npc_i64 slot, npc_i64 n_out, void **data) {
  Entry *e = ctx->entry;
  PyObject *values[9] = {NULL}, *r = NULL;
  if (ctx->trial) return ctx->trial = -1; /* there is nothing to compute with */
  if (fn < 0 || fn >= PyTuple_GET_SIZE(e->calls) || n > 8 || !owns_slot(ctx, slot) || !owns_slot(ctx, slot + n_out - 1)) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_SystemError, "segment calls function %lld with %lld arguments", fn, n);
    return -1;
  }
  npc_i64 made = 0;
  for (const npc_i64 *w = words; made < n; w += 4 + 2 * w[3]) {
    View v = {(char *)(intptr_t)w[2], (int)w[3], (int)npc_itemsize(w[1]), (int)w[1], w + 4, w + 4 + w[3]};
    PyObject *o = ctx->slots[w[0]];
    o = e->library->is_all(o, &v) ? Py_NewRef(o) : e->library->view(ctx, w[0], w[1], v.data, w[3], v.dims, v.strides, 1);
    if (!(values[++made] = o)) goto done;
  }
  r = PyObject_Vectorcall(PyTuple_GET_ITEM(e->calls, fn), values + 1, n | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
  if (r && n_out > 1 && !(PyTuple_Check(r) && PyTuple_GET_SIZE(r) == n_out)) {
    PyErr_Format(PyExc_TypeError, "a call from compiled code returned %.100s instead of %lld arrays", Py_TYPE(r)->tp_name, n_out);
    Py_CLEAR(r);
  }
  for (npc_i64 i = 0; r && i < n_out; i++) {
    PyObject *o = n_out > 1 ? PyTuple_GET_ITEM(r, i) : r;
    Py_XSETREF(ctx->slots[slot + i], Py_NewRef(o));
    if (!(data[i] = e->library->data(o))) Py_CLEAR(r);
  }
done:
  while (made > 0) Py_XDECREF(values[made--]);
  if (!r) return -1;
  Py_DECREF(r);
  return 0;
}
