/* CuPy as an array library. What is known of it comes from Python once (`use_cupy`); its arrays are read by their attributes.
   Never imports it. */
#include "runtime.h"

static struct {
  PyObject *ndarray;    /* the class itself; NULL: CuPy is not in use */
  PyObject *dtypes;     /* tuple by NumPy type number: its dtype, or None where arrays of it are not compiled */
  PyObject *get_device; /* number of the current device */
} C;
static PyObject *s_data, *s_ptr, *s_shape, *s_strides, *s_dtype, *s_device_id;

typedef struct {
  View view;
  long device;
  npc_i64 dims[NPC_MAXDIMS], strides[NPC_MAXDIMS];
} ArrayView;

static int words_of(PyObject *o, PyObject *name, npc_i64 *out) { /* how many, -1 on failure */
  PyObject *t = PyObject_GetAttr(o, name);
  Py_ssize_t n = t && PyTuple_Check(t) ? PyTuple_GET_SIZE(t) : -1;
  if (n > NPC_MAXDIMS) n = -1;
  for (Py_ssize_t i = 0; i < n; i++) out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(t, i));
  Py_XDECREF(t);
  return (int)n;
}

static npc_i64 number_of(PyObject *o, PyObject *name) {
  PyObject *v = o ? PyObject_GetAttr(o, name) : NULL;
  npc_i64 n = v ? (npc_i64)PyLong_AsUnsignedLongLong(v) : -1;
  Py_XDECREF(v);
  return n;
}

static int read_array(PyObject *o, ArrayView *a) {
  PyObject *dtype = PyObject_GetAttr(o, s_dtype), *data = PyObject_GetAttr(o, s_data);
  int rank = words_of(o, s_shape, a->dims), ok = rank >= 0 && words_of(o, s_strides, a->strides) == rank;
  char *pointer = (char *)(intptr_t)number_of(data, s_ptr);
  a->device = (long)number_of(data, s_device_id);
  if ((ok = ok && dtype && PyArray_DescrCheck(dtype))) {
    const PyArray_Descr *d = (PyArray_Descr *)dtype;
    a->view = (View){pointer, rank, (int)PyDataType_ELSIZE(d), d->type_num, a->dims, a->strides};
    ok = d->type_num < PyTuple_GET_SIZE(C.dtypes) && PyTuple_GET_ITEM(C.dtypes, d->type_num) != Py_None && PyArray_ISNBO(d->byteorder);
  }
  Py_XDECREF(dtype);
  Py_XDECREF(data);
  if (PyErr_Occurred()) PyErr_Clear(), ok = 0;
  return ok;
}

static int is_array(PyObject *o) { return C.ndarray && (PyObject *)Py_TYPE(o) == C.ndarray; }

/* CuPy works on the current device, wherever the operands are. */
static int on_current_device(const ArrayView *a) {
  PyObject *r = PyObject_CallNoArgs(C.get_device);
  long device = r ? PyLong_AsLong(r) : -1;
  Py_XDECREF(r);
  PyErr_Clear();
  return device == a->device;
}

static int array_matches(const ArrayGuard *g, PyObject *o, npc_i64 *w) {
  ArrayView a;
  if (!is_array(o) || !read_array(o, &a) || a.device != g->device || !on_current_device(&a)) return 0;
  return npc_view_matches(g, &a.view, w);
}

static int is_opaque_array(PyObject *o) {
  ArrayView a;
  return is_array(o) && !(read_array(o, &a) && on_current_device(&a));
}

/* cupy.ndarray(shape, dtype, memory, strides); without memory in C order */
static PyObject *construct(npc_i64 typenum, PyObject *memory, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides) {
  if (typenum >= PyTuple_GET_SIZE(C.dtypes)) return PyErr_Format(PyExc_SystemError, "no dtype of CuPy for type number %lld", typenum);
  PyObject *shape = npc_int_tuple(nd, dims, 1), *steps = memory ? npc_int_tuple(nd, strides, 1) : Py_NewRef(Py_None), *o = NULL;
  if (shape && steps)
    o = PyObject_CallFunctionObjArgs(C.ndarray, shape, PyTuple_GET_ITEM(C.dtypes, typenum), memory ? memory : Py_None, steps, NULL);
  Py_XDECREF(shape);
  Py_XDECREF(steps);
  return o;
}

static PyObject *make_array(npc_ctx *Py_UNUSED(ctx), npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides) {
  npc_i64 step = npc_itemsize(typenum), in_c_order = 1;
  for (npc_i64 i = nd - 1; i >= 0; i--) {
    if (strides[i] != step) in_c_order = 0;
    step *= dims[i];
  }
  PyObject *o = construct(typenum, NULL, nd, dims, NULL);
  if (!o || in_c_order) return o;
  PyObject *memory = PyObject_GetAttr(o, s_data), *other = memory ? construct(typenum, memory, nd, dims, strides) : NULL;
  Py_XDECREF(memory);
  Py_DECREF(o);
  return other;
}

static void *array_data(PyObject *o) {
  static char nowhere[64]; /* an array without elements may have no memory, which would look like a failure */
  PyObject *data = is_array(o) ? PyObject_GetAttr(o, s_data) : NULL;
  npc_i64 p = number_of(data, s_ptr);
  Py_XDECREF(data);
  if (data && !PyErr_Occurred()) return p ? (void *)(intptr_t)p : nowhere;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "an array of CuPy is needed, not %.100s", Py_TYPE(o)->tp_name);
  return NULL;
}

static PyObject *view_array(npc_ctx *ctx, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides,
                            npc_i64 Py_UNUSED(writeable)) {
  PyObject *memory = PyObject_GetAttr(ctx->slots[slot], s_data), *offset = NULL, *moved = NULL, *view = NULL;
  npc_i64 base = number_of(memory, s_ptr);
  if (PyErr_Occurred() || !(offset = PyLong_FromLongLong(base ? (char *)data - (char *)(intptr_t)base : 0))) goto done;
  if ((moved = PyNumber_Add(memory, offset))) view = construct(typenum, moved, nd, dims, strides);
done:
  Py_XDECREF(moved);
  Py_XDECREF(offset);
  Py_XDECREF(memory);
  return view;
}

static int array_is_all(PyObject *o, const View *v) {
  ArrayView a;
  return is_array(o) && read_array(o, &a) && npc_views_equal(&a.view, v);
}

static int array_stored(npc_ctx *Py_UNUSED(ctx), int Py_UNUSED(slot)) { return 0; }

const ArrayLibrary npc_cupy_library = {array_matches, is_opaque_array, make_array, view_array, array_is_all, array_data, array_stored, NULL};

/* ------------------------------------------------------------------------------------------------ Python side */

static PyObject *use_cupy(PyObject *Py_UNUSED(module), PyObject *parts) {
  if (C.ndarray) Py_RETURN_NONE;
  static const struct { const char *name; PyObject **where; } table[] = {
      {"ndarray", &C.ndarray}, {"dtypes", &C.dtypes}, {"get_device", &C.get_device}};
  for (size_t i = sizeof table / sizeof *table; i-- > 0;) { /* the class last: it says that all is there */
    PyObject *v = PyDict_GetItemString(parts, table[i].name);
    if (!v) return PyErr_Format(PyExc_KeyError, "%s", table[i].name);
    *table[i].where = Py_NewRef(v);
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"use_cupy", use_cupy, METH_O, "use_cupy(parts): from now on CuPy's arrays are known; once."}, {NULL, NULL, 0, NULL}};

int npc_cupy_init(PyObject *module) {
  static const struct { PyObject **where; const char *text; } names[] = {{&s_data, "data"}, {&s_ptr, "ptr"},       {&s_shape, "shape"},
                                                                         {&s_strides, "strides"}, {&s_dtype, "dtype"}, {&s_device_id, "device_id"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!(*names[i].where = PyUnicode_InternFromString(names[i].text))) return -1;
  return PyModule_AddFunctions(module, methods);
}
