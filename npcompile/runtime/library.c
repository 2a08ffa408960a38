/* Loading compiled units and finding symbols in what is loaded already. Nothing is ever unloaded: code may be running. */
#include "runtime.h"
#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

static PyObject *load_library(PyObject *Py_UNUSED(module), PyObject *arg) {
  PyObject *path;
  if (!PyUnicode_FSConverter(arg, &path)) return NULL;
  void *handle;
  Py_BEGIN_ALLOW_THREADS
  handle = dlopen(PyBytes_AS_STRING(path), RTLD_NOW | RTLD_LOCAL);
  Py_END_ALLOW_THREADS
  Py_DECREF(path);
  if (handle) return PyLong_FromVoidPtr(handle);
  PyErr_SetString(PyExc_OSError, dlerror());
  return NULL;
}

static PyObject *symbol(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *handle;
  const char *name;
  if (!PyArg_ParseTuple(args, "Os", &handle, &name)) return NULL;
  void *h = handle == Py_None ? RTLD_DEFAULT : PyLong_AsVoidPtr(handle);
  if (!h && PyErr_Occurred()) return NULL;
  return PyLong_FromVoidPtr(dlsym(h, name));
}

#ifdef __linux__
static int add_object(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *list) {
  if (!info->dlpi_name || !*info->dlpi_name) return 0;
  PyObject *name = PyUnicode_DecodeFSDefault(info->dlpi_name);
  int r = name ? PyList_Append(list, name) : -1;
  Py_XDECREF(name);
  return r;
}
#endif

static PyObject *loaded_objects(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
  PyObject *list = PyList_New(0);
  if (!list) return NULL;
#ifdef __linux__
  if (dl_iterate_phdr(add_object, list)) Py_CLEAR(list);
#elif defined(__APPLE__)
  for (uint32_t i = 0; list && i < _dyld_image_count(); i++) {
    PyObject *name = PyUnicode_DecodeFSDefault(_dyld_get_image_name(i));
    if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
#endif
  return list;
}

static PyObject *open_loaded(PyObject *Py_UNUSED(module), PyObject *arg) {
  PyObject *path;
  if (!PyUnicode_FSConverter(arg, &path)) return NULL;
  void *handle = dlopen(PyBytes_AS_STRING(path), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  Py_DECREF(path);
  return PyLong_FromVoidPtr(handle);
}

static PyObject *capsule_address(PyObject *Py_UNUSED(module), PyObject *capsule) {
  void *p = PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)) : NULL;
  if (p) return PyLong_FromVoidPtr(p);
  return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a capsule is needed, not %.100s", Py_TYPE(capsule)->tp_name);
}

static PyMethodDef methods[] = {
    {"load_library", load_library, METH_O, "load_library(path) -> handle; OSError with the loader's message."},
    {"symbol", symbol, METH_VARARGS, "symbol(handle or None, name) -> address, 0 when there is none. None: the global scope."},
    {"loaded_objects", loaded_objects, METH_NOARGS, "Paths of all shared objects in the process."},
    {"open_loaded", open_loaded, METH_O, "open_loaded(path) -> handle of a loaded object, 0 when it is not loaded."},
    {"capsule_address", capsule_address, METH_O, "The pointer in a capsule of any name."},
    {NULL, NULL, 0, NULL}};

int npc_library_init(PyObject *module) { return PyModule_AddFunctions(module, methods); }
