/* The dispatcher extension module: brings its parts up and exports what Python needs of them. */
#define NPC_IMPORT_NUMPY
#include "runtime.h"

static PyObject *set_num_threads(PyObject *Py_UNUSED(module), PyObject *arg) {
  long n = PyLong_AsLong(arg);
  if (n == -1 && PyErr_Occurred()) return NULL;
  if (n < 1) return PyErr_Format(PyExc_ValueError, "the number of threads must be at least 1, not %ld", n);
  npc_pool_resize(n > 1 << 20 ? 1 << 20 : (int)n);
  Py_RETURN_NONE;
}

static PyObject *get_num_threads(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) { return PyLong_FromLong(npc_pool_size()); }

static PyObject *alias_relation(PyObject *Py_UNUSED(module), PyObject *args) {
  static const char *names[] = {"disjoint", "same", "other"};
  PyArrayObject *a, *b;
  if (!PyArg_ParseTuple(args, "O!O!", &PyArray_Type, &a, &PyArray_Type, &b)) return NULL;
  View x = npc_array_view(a), y = npc_array_view(b);
  int r = npc_alias(&x, &y);
  return r < 0 ? NULL : PyUnicode_FromString(names[r]);
}

static PyObject *overlaps_itself(PyObject *Py_UNUSED(module), PyObject *arg) {
  if (!PyArray_Check(arg)) return PyErr_Format(PyExc_TypeError, "an array is needed");
  View v = npc_array_view((PyArrayObject *)arg);
  return PyBool_FromLong(npc_overlaps_itself(&v));
}

static PyObject *is_interned(PyObject *Py_UNUSED(module), PyObject *arg) {
  return PyBool_FromLong(PyUnicode_CheckExact(arg) && PyUnicode_CHECK_INTERNED(arg));
}

static PyMethodDef methods[] = {
    {"set_num_threads", set_num_threads, METH_O, "Most threads that one call uses, itself included."},
    {"get_num_threads", get_num_threads, METH_NOARGS, "Most threads that one call uses."},
    {"alias_relation", alias_relation, METH_VARARGS, "alias_relation(a, b) -> 'disjoint', 'same' or 'other', as alias guards see it."},
    {"overlaps_itself", overlaps_itself, METH_O, "Whether two elements may share memory (then no writeable array guard takes it)."},
    {"is_interned", is_interned, METH_O, "Is it a string of source code, or a name, and not one made at run time?"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_dispatch", "npcompile's C dispatcher.", -1, methods, NULL, NULL, NULL, NULL};

static void after_fork(void) { npc_fork_generation++; }

/* Machine code of entries whose work is done by their exit's continuation (backends that run in Python). */
static npc_i64 exit_0(npc_ctx *Py_UNUSED(ctx), const npc_runtime *Py_UNUSED(rt), const npc_i64 *Py_UNUSED(in), npc_i64 *Py_UNUSED(out),
                      void *const *Py_UNUSED(syms)) {
  return 0;
}

static int add_exit_0(PyObject *m) {
  PyObject *address = PyLong_FromVoidPtr((void *)exit_0);
  int r = address ? PyModule_AddObjectRef(m, "EXIT_0", address) : -1;
  Py_XDECREF(address);
  return r;
}

PyMODINIT_FUNC PyInit__dispatch(void) {
  if (PyArray_ImportNumPyAPI() < 0) return NULL;
  PyObject *m = PyModule_Create(&module);
  if (!m) return NULL;
  pthread_atfork(NULL, NULL, after_fork);
  if (PyModule_AddIntConstant(m, "ABI_VERSION", NPC_ABI_VERSION) < 0 || npc_entry_init(m) < 0 || npc_points_init(m) < 0 || npc_jit_init(m) < 0 ||
      npc_alias_init() < 0 || npc_ranges_init() < 0 || npc_names_init() < 0 || npc_errstate_init() < 0 || npc_memory_init(m) < 0 || npc_tensors_init(m) < 0 || npc_cupy_init(m) < 0 || npc_copies_init() < 0 || npc_tools_init() < 0 || npc_pool_init() < 0 ||
      npc_signals_init() < 0 || npc_library_init(m) < 0 || npc_draws_init(m) < 0 || npc_chosen_init(m) < 0 || npc_device_init(m) < 0 || add_exit_0(m) < 0)
    Py_CLEAR(m);
  return m;
}
