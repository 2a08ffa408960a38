/* The dispatcher extension: the jit object, guards, allocation, threads. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "abi.h"

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_dispatch", "npcompile's C dispatcher.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__dispatch(void) {
  PyObject *m = PyModule_Create(&module);
  if (m && PyModule_AddIntConstant(m, "ABI_VERSION", NPC_ABI_VERSION) < 0) Py_CLEAR(m);
  return m;
}
