/* Blocks of names that must still mean what they meant: globals of the traced function, attributes of modules.
   A block is looked up again only when its namespace has changed since it last held, where Python can tell. */
#include "runtime.h"

/* ------------------------------------------------------------------------------------------------ has it changed? */

#if PY_VERSION_HEX >= 0x030C0000
/* Dict watchers. A module's namespace rarely changes, so one counter for all that are watched will do. The function's own
   globals are not watched: module-level loops change them at every turn. */
static int watcher = -1;
static uint64_t changes = 1;

static int changed(PyDict_WatchEvent Py_UNUSED(event), PyObject *Py_UNUSED(dict), PyObject *Py_UNUSED(key), PyObject *Py_UNUSED(value)) {
  changes++;
  return 0;
}

int npc_names_init(void) {
  watcher = PyDict_AddWatcher(changed);
  if (watcher < 0) PyErr_Clear(); /* all are taken: look names up at every call */
  return 0;
}

static void watch(PyObject *dict) {
  if (watcher >= 0 && PyDict_Watch(watcher, dict) < 0) PyErr_Clear();
}

static uint64_t stamp_of(PyObject *dict, PyObject *builtins) { return (void)dict, watcher < 0 || builtins ? 0 : changes; }
#else
/* Before, every change of a dict gives it a version that no dict ever had. */
int npc_names_init(void) { return 0; }
static void watch(PyObject *Py_UNUSED(dict)) {}
static uint64_t stamp_of(PyObject *dict, PyObject *builtins) {
  uint64_t own = ((PyDictObject *)dict)->ma_version_tag, other = builtins ? ((PyDictObject *)builtins)->ma_version_tag : 0;
  return own > other ? own : other; /* versions only grow, so a change of either shows in the larger one */
}
#endif

/* ------------------------------------------------------------------------------------------------ checking */

static int holds(PyObject *dict, PyObject *builtins, const Name *n) {
  PyObject *v = PyDict_GetItemWithError(dict, n->name);
  if (!v && builtins && !PyErr_Occurred()) v = PyDict_GetItemWithError(builtins, n->name);
  return v == n->expected ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* 1 all hold, 0 one does not, -1 exception */
int npc_names_hold(const npc_ctx *ctx, Names *b, int *failed) {
  PyFunctionObject *f = (PyFunctionObject *)ctx->jit->fn;
  PyObject *dict = b->dict ? b->dict : f->func_globals, *builtins = b->dict ? NULL : f->func_builtins;
  if (!PyDict_CheckExact(dict) || (builtins && !PyDict_CheckExact(builtins))) {
    *failed = b->names[0].guard;
    return 0;
  }
  uint64_t stamp = stamp_of(dict, builtins);
  if (NPC_LIKELY(stamp && stamp == b->stamp && dict == b->seen)) return 1;
  for (const Name *n = b->names, *end = n + b->n; n < end; n++) {
    int r = holds(dict, builtins, n);
    if (r == 1) continue;
    *failed = n->guard;
    return r;
  }
  b->stamp = stamp;
  b->seen = dict;
  return 1;
}

/* spec: (module or None for the function's own globals, ((name, expected, guard), ...)) */
Names *npc_parse_names(PyObject *spec, int n_guards) {
  PyObject *module, *items;
  if (!PyTuple_Check(spec) || !PyArg_ParseTuple(spec, "OO!", &module, &PyTuple_Type, &items)) return NULL;
  Py_ssize_t n = PyTuple_GET_SIZE(items);
  Names *b = PyMem_Calloc(1, sizeof *b + n * sizeof(Name));
  if (!b) return (Names *)PyErr_NoMemory();
  b->n = (int)n;
  b->dict = PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
  for (Py_ssize_t i = 0; i < n; i++) {
    Name *x = &b->names[i];
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(items, i), "UOi", &x->name, &x->expected, &x->guard)) goto bad;
    if (x->guard < 0 || x->guard >= n_guards) {
      PyErr_SetString(PyExc_ValueError, "bad name guard");
      goto bad;
    }
  }
  if (b->dict) watch(b->dict);
  return b;
bad:
  PyMem_Free(b);
  return NULL;
}
