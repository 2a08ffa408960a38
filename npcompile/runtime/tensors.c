/* torch as an array library: tensors read by guards, allocated and handed back by exits. What is known of torch comes from Python once
   (`use_torch`); memory is read through the DLPack exchange table of the tensor class where it has one. Never imports torch. */
#include "runtime.h"
#include <dlfcn.h>

/* ------------------------------------------------------------------------------------------------ DLPack's exchange table, as far as it is used */

typedef struct {
  void *data;
  struct { int32_t type, index; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides; /* in elements */
  uint64_t byte_offset;
} DLTensor;
typedef struct {
  struct { uint32_t major, minor; } version;
  void *previous;
  void *allocate, *from_object, *to_object;
  int (*read)(void *object, DLTensor *);
  void *current_stream;
} Exchange;

enum { DL_INT, DL_UINT, DL_FLOAT, DL_COMPLEX = 5, DL_BOOL };
enum { DL_CPU = 1, DL_CUDA };

static int typenum_of(int code, int bits) {
  static const signed char ints[] = {NPY_BYTE, NPY_SHORT, NPY_INT, NPY_LONG}, uints[] = {NPY_UBYTE, NPY_USHORT, NPY_UINT, NPY_ULONG};
  static const signed char floats[] = {-1, NPY_HALF, NPY_FLOAT, NPY_DOUBLE};
  int k = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : -1;
  if (code == DL_COMPLEX) return bits == 64 ? NPY_CFLOAT : bits == 128 ? NPY_CDOUBLE : -1;
  if (code == DL_BOOL) return k == 0 ? NPY_BOOL : -1;
  if (k < 0) return -1;
  return code == DL_INT ? ints[k] : code == DL_UINT ? uints[k] : code == DL_FLOAT ? floats[k] : -1;
}

/* ------------------------------------------------------------------------------------------------ what Python says of torch */

static struct {
  PyObject *Tensor;     /* the class itself; NULL: torch is not in use */
  PyObject *describe;   /* tensor -> (pointer, code, bits, device type, device, shape, strides): where there is no table */
  PyObject *dtypes;     /* tuple by NumPy type number: torch's dtype or None */
  PyObject *modes;      /* tuple of (callable, what it returns while no mode is active) */
  PyObject *key_modes;  /* the same, of modes that show in the thread's dispatch keys */
  PyObject *forward_ad; /* namespace whose "_current_level" is -1 outside forward differentiation, or None */
  PyObject *requires_grad, *is_grad_enabled, *get_default_dtype;
  PyObject *is_neg, *is_conj, *has_names, *is_inference;
  PyObject *current_device; /* number of the current CUDA device */
  PyObject *increment_version, *empty_strided, *as_strided, *storage_offset, *from_numpy, *device;
} T;
static const Exchange *exchange;
static void *key_library; /* has the thread-local words `key_symbol`, both 0 while no mode touches the dispatch keys */
static const char *key_symbol;
static PyObject *current_level;
static PyObject *empty_names; /* ("dtype", "device") and ("dtype",) */
static PyObject *empty_names_cpu;

static const struct { const char *name; PyObject **where; } parts[] = {
    {"Tensor", &T.Tensor}, {"describe", &T.describe}, {"dtypes", &T.dtypes}, {"modes", &T.modes}, {"key_modes", &T.key_modes}, {"forward_ad", &T.forward_ad},
    {"requires_grad", &T.requires_grad}, {"is_grad_enabled", &T.is_grad_enabled}, {"get_default_dtype", &T.get_default_dtype},
    {"is_neg", &T.is_neg}, {"is_conj", &T.is_conj}, {"has_names", &T.has_names}, {"is_inference", &T.is_inference},
    {"current_device", &T.current_device}, {"increment_version", &T.increment_version},
    {"empty_strided", &T.empty_strided}, {"as_strided", &T.as_strided}, {"storage_offset", &T.storage_offset},
    {"from_numpy", &T.from_numpy}, {"device", &T.device}};

static PyObject *use_torch(PyObject *Py_UNUSED(module), PyObject *names) {
  if (T.Tensor) Py_RETURN_NONE;
  PyObject *table = PyDict_GetItemString(names, "exchange"); /* borrowed */
  if (table && table != Py_None) {
    const Exchange *x = PyCapsule_GetPointer(table, "dlpack_exchange_api");
    if (!x) return NULL;
    if (x->version.major == 1) exchange = x->read ? x : NULL;
    Py_INCREF(table);
  }
  for (size_t i = sizeof parts / sizeof *parts; i-- > 0;) { /* the class last: it says that all is there */
    PyObject *v = PyDict_GetItemString(names, parts[i].name);
    if (!v) return PyErr_Format(PyExc_KeyError, "%s", parts[i].name);
    *parts[i].where = Py_NewRef(v);
  }
  PyObject *keys = PyDict_GetItemString(names, "keys"); /* borrowed: (handle of a loaded library, symbol), or None */
  if (keys && keys != Py_None) {
    PyObject *handle, *symbol;
    if (!PyArg_ParseTuple(keys, "OU", &handle, &symbol)) return NULL;
    key_symbol = PyUnicode_AsUTF8(Py_NewRef(symbol));
    key_library = PyLong_AsVoidPtr(handle);
  }
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------------------ asking */

/* Truth of `function(o)`; an error counts as `failure`. */
static int ask(PyObject *function, PyObject *o, int failure) {
  PyObject *r = o ? PyObject_CallOneArg(function, o) : PyObject_CallNoArgs(function);
  int yes = r ? PyObject_IsTrue(r) : -1;
  Py_XDECREF(r);
  if (yes >= 0) return yes;
  PyErr_Clear();
  return failure;
}

/* Truth of a method without arguments, called past the method's own wrapper where it is written in C. */
static int ask_method(PyObject *method, PyObject *o) {
  if (Py_IS_TYPE(method, &PyMethodDescr_Type)) {
    const PyMethodDef *d = ((PyMethodDescrObject *)method)->d_method;
    if ((d->ml_flags & ~METH_COEXIST) == METH_NOARGS) {
      PyObject *r = d->ml_meth(o, NULL);
      int yes = r != Py_False;
      if (!r) PyErr_Clear();
      Py_XDECREF(r);
      return yes;
    }
  }
  return ask(method, o, 1);
}

static int requires_grad(PyObject *o) {
  if (Py_IS_TYPE(T.requires_grad, &PyGetSetDescr_Type)) {
    const PyGetSetDef *d = ((PyGetSetDescrObject *)T.requires_grad)->d_getset;
    PyObject *r = d->get(o, d->closure);
    int yes = r == Py_True;
    if (!r) PyErr_Clear(), yes = 1;
    Py_XDECREF(r);
    return yes;
  }
  return ask(T.requires_grad, o, 1);
}

typedef struct {
  View view;
  int device_type, device;
  npc_i64 dims[NPC_MAXDIMS], strides[NPC_MAXDIMS];
} TensorView;

static int set_view(TensorView *t, void *data, int code, int bits, int rank) {
  t->view = (View){data, rank, bits / 8, typenum_of(code, bits), t->dims, t->strides};
  int number = t->view.typenum;
  return rank <= NPC_MAXDIMS && number >= 0 && number < PyTuple_GET_SIZE(T.dtypes) && PyTuple_GET_ITEM(T.dtypes, number) != Py_None;
}

static int read_slowly(PyObject *o, TensorView *t) {
  PyObject *r = PyObject_CallOneArg(T.describe, o), *shape, *strides;
  long long data;
  int code, bits, ok = 0;
  if (r && PyArg_ParseTuple(r, "LiiiiO!O!", &data, &code, &bits, &t->device_type, &t->device, &PyTuple_Type, &shape, &PyTuple_Type,
                            &strides)) {
    int rank = (int)PyTuple_GET_SIZE(shape);
    ok = set_view(t, (void *)(intptr_t)data, code, bits, rank) && PyTuple_GET_SIZE(strides) == rank;
    for (int i = 0; ok && i < rank; i++) {
      t->dims[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
      t->strides[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i)) * t->view.itemsize;
    }
  }
  Py_XDECREF(r);
  if (PyErr_Occurred()) PyErr_Clear(), ok = 0;
  return ok;
}

/* Where the tensor's memory is; 0 when it has none that strides describe, or a dtype that is not compiled. */
static int read_memory(PyObject *o, TensorView *t) {
  DLTensor d;
  if (!exchange) return read_slowly(o, t);
  if (exchange->read(o, &d) != 0) {
    PyErr_Clear();
    return 0;
  }
  t->device_type = d.device.type;
  t->device = d.device.type == DL_CPU ? 0 : d.device.index;
  if (d.dtype.lanes != 1 || !set_view(t, (char *)d.data + d.byte_offset, d.dtype.code, d.dtype.bits, d.ndim)) return 0;
  for (int i = 0; i < d.ndim; i++) {
    t->dims[i] = d.shape[i];
    t->strides[i] = d.strides[i] * t->view.itemsize;
  }
  return 1;
}

/* Is it a tensor whose memory holds its values, on the CPU or a CUDA device, and whose operations torch does not record? */
static int is_plain(PyObject *o, TensorView *t) {
  if (!read_memory(o, t) || (t->device_type != DL_CPU && t->device_type != DL_CUDA)) return 0;
  if (requires_grad(o) && ask(T.is_grad_enabled, NULL, 1)) return 0;
  int number = t->view.typenum;
  if ((PyTypeNum_ISFLOAT(number) || PyTypeNum_ISCOMPLEX(number)) && ask_method(T.is_neg, o)) return 0;
  if (PyTypeNum_ISCOMPLEX(number) && ask_method(T.is_conj, o)) return 0;
  return T.has_names == Py_None || !ask_method(T.has_names, o); /* newer versions have no named tensors */
}

static int is_tensor(PyObject *o) { return T.Tensor && (PyObject *)Py_TYPE(o) == T.Tensor; }

static int tensor_matches(const ArrayGuard *g, PyObject *o, npc_i64 *w) {
  TensorView t;
  if (!is_tensor(o) || !is_plain(o, &t)) return 0;
  if (t.device_type != g->device_type || t.device != g->device) return 0;
  /* Outside inference mode torch refuses stores to tensors made in it, and they have no version. */
  if (g->writeable && ask_method(T.is_inference, o)) return 0;
  return npc_view_matches(g, &t.view, w);
}

static int is_opaque_tensor(PyObject *o) {
  TensorView t;
  return is_tensor(o) && !is_plain(o, &t);
}

/* Are the thread's dispatch keys those of a thread in no mode at all? */
static int keys_are_plain(void) {
  static __thread const uint64_t *keys;
  static __thread unsigned long generation;
  if (!key_library) return 0;
  if (!keys || generation != npc_fork_generation) {
    keys = dlsym(key_library, key_symbol);
    generation = npc_fork_generation;
  }
  return keys && !keys[0] && !keys[1];
}

static int all_as_expected(PyObject *modes) {
  for (Py_ssize_t i = 0, n = PyTuple_GET_SIZE(modes); i < n; i++) {
    PyObject *pair = PyTuple_GET_ITEM(modes, i), *want = PyTuple_GET_ITEM(pair, 1);
    PyObject *have = PyObject_CallNoArgs(PyTuple_GET_ITEM(pair, 0));
    int same = have == want || (have && PyObject_RichCompareBool(have, want, Py_EQ) == 1);
    Py_XDECREF(have);
    if (!have) PyErr_Clear();
    if (!same) return 0;
  }
  return 1;
}

static int modes_are_plain(void) {
  if (T.forward_ad != Py_None) {
    PyObject *level = PyDict_GetItemWithError(T.forward_ad, current_level);
    if (!level || PyLong_AsLong(level) != -1) return PyErr_Clear(), 0;
  }
  return all_as_expected(T.modes) && (keys_are_plain() || all_as_expected(T.key_modes));
}

int npc_torch_modes(int plain, int default_typenum, int device) {
  if (!T.Tensor || modes_are_plain() != plain) return 0;
  if (device >= 0) {
    PyObject *number = PyObject_CallNoArgs(T.current_device);
    long now = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    if (now != device) return PyErr_Clear(), 0;
  }
  if (default_typenum < 0) return 1;
  PyObject *have = PyObject_CallNoArgs(T.get_default_dtype);
  int same = have && default_typenum < PyTuple_GET_SIZE(T.dtypes) && have == PyTuple_GET_ITEM(T.dtypes, default_typenum);
  Py_XDECREF(have);
  if (!have) PyErr_Clear();
  return same;
}

/* ------------------------------------------------------------------------------------------------ results */

static int tensor_stored(npc_ctx *ctx, int slot) {
  PyObject *r = PyObject_CallOneArg(T.increment_version, ctx->slots[slot]);
  Py_XDECREF(r);
  return r ? 0 : -1;
}

static PyObject *torch_dtype(npc_i64 typenum) { /* borrowed */
  PyObject *d = T.Tensor && typenum < PyTuple_GET_SIZE(T.dtypes) ? PyTuple_GET_ITEM(T.dtypes, typenum) : Py_None;
  if (d == Py_None) PyErr_Format(PyExc_SystemError, "torch has no dtype for NumPy type number %lld", typenum);
  return d == Py_None ? NULL : d;
}

static int tensor_is_all(PyObject *o, const View *v) {
  TensorView t;
  return is_tensor(o) && read_memory(o, &t) && npc_views_equal(&t.view, v);
}

static void *tensor_data(PyObject *o) {
  TensorView t;
  static char nowhere[64]; /* a tensor without elements has no memory, which would look like a failure */
  if (is_tensor(o) && read_memory(o, &t)) return t.view.data ? t.view.data : nowhere;
  PyErr_SetString(PyExc_SystemError, "a new tensor cannot be read");
  return NULL;
}

static PyObject *make_tensor(npc_ctx *ctx, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides) {
  const Entry *e = ctx->entry;
  PyObject *dtype = torch_dtype(typenum), *device = NULL, *o = NULL;
  if (!dtype || (e->device >= 0 && !(device = PyObject_CallFunction(T.device, "si", "cuda", e->device)))) return NULL;
  PyObject *args[5] = {NULL, npc_int_tuple(nd, dims, 1), npc_int_tuple(nd, strides, npc_itemsize(typenum)), dtype, device};
  if (args[1] && args[2])
    o = PyObject_Vectorcall(T.empty_strided, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, device ? empty_names : empty_names_cpu);
  Py_XDECREF(args[1]);
  Py_XDECREF(args[2]);
  Py_XDECREF(device);
  return o;
}

static PyObject *view_tensor(npc_ctx *ctx, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims,
                             const npc_i64 *strides, npc_i64 Py_UNUSED(writeable)) {
  PyObject *base = PyArray_Check(ctx->slots[slot]) ? PyObject_CallOneArg(T.from_numpy, ctx->slots[slot]) : Py_NewRef(ctx->slots[slot]);
  PyObject *offset = base ? PyObject_CallOneArg(T.storage_offset, base) : NULL, *view = NULL;
  TensorView t;
  if (!offset) goto done;
  if (!read_memory(base, &t) || t.view.typenum != typenum) {
    PyErr_SetString(PyExc_SystemError, "a view of a tensor with another dtype");
    goto done;
  }
  npc_i64 at = PyLong_AsLongLong(offset);
  if (data && t.view.data) at += ((char *)data - t.view.data) / t.view.itemsize;
  PyObject *size = npc_int_tuple(nd, dims, 1), *step = npc_int_tuple(nd, strides, t.view.itemsize), *place = PyLong_FromLongLong(at);
  if (size && step && place) view = PyObject_CallFunctionObjArgs(T.as_strided, base, size, step, place, NULL);
  Py_XDECREF(size);
  Py_XDECREF(step);
  Py_XDECREF(place);
done:
  Py_XDECREF(offset);
  Py_XDECREF(base);
  return view;
}

const ArrayLibrary npc_torch_library = {tensor_matches, is_opaque_tensor, make_tensor, view_tensor, tensor_is_all, tensor_data, tensor_stored, NULL};

/* ------------------------------------------------------------------------------------------------ Python side */

static PyMethodDef methods[] = {
    {"use_torch", use_torch, METH_O, "use_torch(parts): from now on tensors are known; once."}, {NULL, NULL, 0, NULL}};

int npc_tensors_init(PyObject *module) {
  empty_names = Py_BuildValue("(ss)", "dtype", "device");
  empty_names_cpu = Py_BuildValue("(s)", "dtype");
  current_level = PyUnicode_InternFromString("_current_level");
  return empty_names && empty_names_cpu && current_level ? PyModule_AddFunctions(module, methods) : -1;
}
