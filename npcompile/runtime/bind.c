/* Binds call arguments to parameters in co_varnames order, as CPython does. Anything that Python would refuse is left to
   the function itself: then binding "fails" without an exception. */
#include "runtime.h"

/* Index of the parameter that `name` can name by keyword, or -1. Names are nearly always interned: identity first. */
static Py_ssize_t find(PyObject *names, Py_ssize_t lo, Py_ssize_t hi, PyObject *name) {
  for (Py_ssize_t i = lo; i < hi; i++)
    if (PyTuple_GET_ITEM(names, i) == name) return i;
  for (Py_ssize_t i = lo; i < hi; i++)
    if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) return i;
  return -1;
}

static int bind_keywords(PyCodeObject *code, PyObject *names, PyObject *const *kwvalues, PyObject *kwnames, Binding *b) {
  Py_ssize_t named = code->co_argcount + code->co_kwonlyargcount;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
    PyObject *name = PyTuple_GET_ITEM(kwnames, k);
    Py_ssize_t i = find(names, code->co_posonlyargcount, named, name);
    if (i >= 0) {
      if (b->values[i]) return 0; /* given twice */
      b->values[i] = kwvalues[k];
    } else if (!b->star_kwargs || PyDict_SetItem(b->star_kwargs, name, kwvalues[k]) < 0) {
      return 0;
    }
  }
  return 1;
}

static int bind_defaults(PyFunctionObject *f, PyCodeObject *code, PyObject *names, Binding *b) {
  Py_ssize_t n_pos = code->co_argcount, n_def = f->func_defaults ? PyTuple_GET_SIZE(f->func_defaults) : 0;
  for (Py_ssize_t i = 0; i < n_pos; i++) {
    if (b->values[i]) continue;
    if (i < n_pos - n_def) return 0;
    b->values[i] = PyTuple_GET_ITEM(f->func_defaults, i - (n_pos - n_def));
  }
  for (Py_ssize_t i = n_pos; i < n_pos + code->co_kwonlyargcount; i++) {
    if (b->values[i]) continue;
    if (!f->func_kwdefaults) return 0;
    if (!(b->values[i] = PyDict_GetItemWithError(f->func_kwdefaults, PyTuple_GET_ITEM(names, i)))) return 0;
  }
  return 1;
}

/* 1: bound (then `npc_unbind` it). 0: the arguments do not fit, no exception is set. */
int npc_bind(Jit *self, PyObject *const *args, Py_ssize_t n, PyObject *kwnames, Binding *b) {
  PyFunctionObject *f = (PyFunctionObject *)self->fn;
  PyCodeObject *code = (PyCodeObject *)self->code;
  Py_ssize_t n_pos = code->co_argcount, n_named = n_pos + code->co_kwonlyargcount, next = n_named;
  b->star_args = b->star_kwargs = NULL;
  b->values = self->n_args <= 24 ? b->inline_values : PyMem_Calloc(self->n_args, sizeof(PyObject *));
  if (!b->values) return 0;
  memset(b->values, 0, self->n_args * sizeof(PyObject *));
  PyObject *names = self->names;
  int ok = 1;
  Py_ssize_t given = n < n_pos ? n : n_pos;
  memcpy(b->values, args, given * sizeof(PyObject *));
  if (code->co_flags & CO_VARARGS) {
    ok = (b->star_args = PyTuple_New(n - given)) != NULL;
    for (Py_ssize_t i = given; ok && i < n; i++) PyTuple_SET_ITEM(b->star_args, i - given, Py_NewRef(args[i]));
    b->values[next++] = b->star_args;
  } else {
    ok = n <= n_pos;
  }
  if (code->co_flags & CO_VARKEYWORDS) {
    ok = ok && (b->star_kwargs = PyDict_New());
    b->values[next++] = b->star_kwargs;
  }
  ok = ok && (!kwnames || bind_keywords(code, names, args + n, kwnames, b)) && bind_defaults(f, code, names, b);
  if (ok) return 1;
  PyErr_Clear();
  npc_unbind(b);
  return 0;
}

void npc_unbind(Binding *b) {
  if (b->values != b->inline_values) PyMem_Free(b->values);
  Py_CLEAR(b->star_args);
  Py_CLEAR(b->star_kwargs);
}
