/* Calls of library functions from segments: operands become ndarrays, results are checked against what the segment expects.
   Needs the GIL. Never: lets an exception of a library function out; the segment leaves before the call, and Python repeats it. */
#include "runtime.h"

void npc_object(npc_ctx *ctx, npc_i64 slot, npc_i64 k) {
  Py_XSETREF(ctx->slots[slot], Py_NewRef(npc_value(ctx, ctx->entry->objects[k])));
}

npc_i64 npc_lend(npc_ctx *ctx, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims,
                 const npc_i64 *strides) {
  PyArray_Descr *d = PyArray_DescrFromType((int)typenum);
  if (!d) return NPC_ERROR;
  PyObject *a = PyArray_NewFromDescr(&PyArray_Type, d, (int)nd, (npy_intp *)dims, (npy_intp *)strides, data,
                                     NPY_ARRAY_WRITEABLE, NULL);
  if (!a) return NPC_ERROR;
  Py_XSETREF(ctx->slots[slot], a);
  return 0;
}

enum { BOX_ARRAY, BOX_NUMPY, BOX_PYTHON };

static int python_typenum(PyObject *x) {
  if (PyFloat_CheckExact(x)) return NPY_DOUBLE;
  if (PyBool_Check(x)) return NPY_BOOL;
  if (PyLong_CheckExact(x)) return NPY_LONG;
  if (PyComplex_CheckExact(x)) return NPY_CDOUBLE;
  return NPY_NOTYPE;
}

/* Is the array laid out without gaps, axis after axis as `layout` says? Axes of length 1 may have any stride. */
static int is_packed(PyArrayObject *a, const npc_i64 *layout) {
  npc_i64 step = PyArray_ITEMSIZE(a), rank = PyArray_NDIM(a);
  if (PyArray_SIZE(a) == 0) return 1;
  for (npc_i64 place = 1; place <= rank; place++)
    for (npc_i64 i = 0; i < rank; i++)
      if (layout[i] == place && PyArray_DIM(a, (int)i) != 1) {
        if (PyArray_STRIDE(a, (int)i) != step) return 0;
        step *= PyArray_DIM(a, (int)i);
      }
  for (npc_i64 i = 0; i < rank; i++)
    if (!layout[i] && PyArray_DIM(a, (int)i) != 1) return 0;
  return 1;
}

/* The array of a result that is as expected: a new reference. NULL without an exception: it is not. */
static PyObject *accept(PyObject *x, int typenum, npc_i64 box, npc_i64 rank, const npc_i64 *layout) {
  if (box == BOX_ARRAY) {
    if (!PyArray_CheckExact(x)) return NULL;
    PyArrayObject *a = (PyArrayObject *)x;
    if (PyArray_TYPE(a) != typenum || PyArray_NDIM(a) != rank || !PyArray_ISBEHAVED(a) || !is_packed(a, layout)) return NULL;
    return Py_NewRef(x);
  }
  if (box == BOX_PYTHON) {
    if (python_typenum(x) != typenum) return NULL;
    PyObject *a = PyArray_FromAny(x, PyArray_DescrFromType(typenum), 0, 0, 0, NULL);
    if (!a) PyErr_Clear(); /* an int beyond 64 bits */
    return a;
  }
  if (!PyArray_IsScalar(x, Generic)) return NULL;
  PyObject *a = PyArray_FromScalar(x, NULL);
  if (a && PyArray_TYPE((PyArrayObject *)a) == typenum) return a;
  Py_XDECREF(a);
  PyErr_Clear();
  return NULL;
}

static int is_disjoint(PyObject *a, PyObject *b) {
  if (a == b) return 0;
  if (!PyArray_Check(b)) return 1;
  View x = npc_array_view((PyArrayObject *)a), y = npc_array_view((PyArrayObject *)b);
  return npc_alias(&x, &y) == ALIAS_DISJOINT;
}

/* Put the results into their slots; 0 when one is not as expected. `words` says for each a pointer and the sizes: before, those
   expected (or ANY_SIZE), then, those found. */
#define ANY_SIZE INT64_MIN
static int take(npc_ctx *ctx, PyObject *const *results, npc_i64 n, const npc_i64 *args, npc_i64 n_out, npc_i64 slot,
                const npc_i64 *pattern, npc_i64 *words) {
  for (npc_i64 k = 0; k < n_out; k++) {
    npc_i64 rank = pattern[2];
    PyObject *a = accept(results[k], (int)pattern[0], pattern[1], rank, pattern + 3);
    if (!a) return 0;
    Py_XSETREF(ctx->slots[slot + k], a);
    if (pattern[1] == BOX_ARRAY) { /* memory of its own: a later store to it must not show elsewhere */
      for (npc_i64 i = 0; i < n; i++)
        if (!is_disjoint(a, ctx->slots[args[i]])) return 0;
      for (npc_i64 i = 0; i < k; i++)
        if (!is_disjoint(a, ctx->slots[slot + i])) return 0;
    }
    *words++ = (npc_i64)(intptr_t)PyArray_DATA((PyArrayObject *)a);
    for (npc_i64 i = 0; i < rank; i++, words++) {
      npc_i64 size = PyArray_DIM((PyArrayObject *)a, (int)i);
      if (*words != ANY_SIZE && *words != size) return 0;
      *words = size;
    }
    pattern += 3 + rank;
  }
  return 1;
}

#define REFUSED 3   /* after so many calls in a row for nothing */
#define UNTRIED 500 /* so many are left to Python at once, which else would make each a second time */

npc_i64 npc_call_numpy(npc_ctx *ctx, npc_i64 fn, npc_i64 n, const npc_i64 *args, npc_i64 n_out, npc_i64 slot,
                         const npc_i64 *pattern, npc_i64 *words) {
  Entry *e = ctx->entry;
  PyObject *inline_values[9] = {NULL}, **values = inline_values;
  if (fn < 0 || fn >= PyTuple_GET_SIZE(e->calls) || slot < e->n_arrays || slot + n_out > e->n_slots) {
    PyErr_Format(PyExc_SystemError, "segment calls function %lld into slot %lld", fn, slot);
    return NPC_ERROR;
  }
  int *refused = &e->refused[fn];
  if (*refused < 0) {
    ++*refused;
    return 0;
  }
  if (n > 8 && !(values = PyMem_Malloc((n + 1) * sizeof *values))) {
    PyErr_NoMemory();
    return NPC_ERROR;
  }
  for (npc_i64 i = 0; i < n; i++) values[i + 1] = ctx->slots[args[i]];
  PyObject *r = PyObject_Vectorcall(PyTuple_GET_ITEM(e->calls, fn), values + 1, n | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
  ctx->drawing = 0;
  if (values != inline_values) PyMem_Free(values);
  int ok = 0;
  if (r) {
    if (n_out == 0) ok = r == Py_None;
    else if (!PyTuple_CheckExact(r)) ok = n_out == 1 && take(ctx, &r, n, args, 1, slot, pattern, words);
    else if (PyTuple_GET_SIZE(r) == n_out) ok = take(ctx, &PyTuple_GET_ITEM(r, 0), n, args, n_out, slot, pattern, words);
    Py_DECREF(r);
  }
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NPC_ERROR;
    PyErr_Clear();
  }
  *refused = ok ? 0 : *refused + 1 < REFUSED ? *refused + 1 : -UNTRIED;
  return ok;
}
