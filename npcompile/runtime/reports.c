/* Floating-point conditions: which of them warn under the current errstate, the hardware's flags, and the warnings. */
#include "runtime.h"
#include <frameobject.h>
#include <numpy/ufuncobject.h>

#include "fpenv.h"

/* ------------------------------------------------------------------------------------------------ errstate */

/* NumPy keeps errstate in a context variable whose value is replaced, never changed: what a value means can be remembered
   by its identity as long as the value is kept alive. */
#define REMEMBERED 4
static PyObject *errstate_var, *geterr;
static struct { PyObject *value; int warn; } remembered[REMEMBERED];
static int next_slot;

/* Which conditions warn; -1 when the call must run plain: for modes that do more than warn, and for underflow, which
   compiled code does not look for. */
static int ask_numpy(void) {
  static const char *keys[] = {"divide", "over", "under", "invalid"};
  PyObject *d = PyObject_CallNoArgs(geterr);
  if (!d) return -2;
  int warn = 0;
  for (int i = 0; i < 4 && warn >= 0; i++) {
    PyObject *mode = PyDict_GetItemString(d, keys[i]);
    if (i != 2 && mode && PyUnicode_Check(mode) && PyUnicode_CompareWithASCIIString(mode, "warn") == 0) warn |= 1 << i;
    else if (!mode || !PyUnicode_Check(mode) || PyUnicode_CompareWithASCIIString(mode, "ignore") != 0) warn = -1;
  }
  Py_DECREF(d);
  return warn;
}

int npc_errstate(void) {
  PyObject *value = NULL;
  if (errstate_var && PyContextVar_Get(errstate_var, NULL, &value) < 0) return -2;
  if (!value) return ask_numpy();
  for (int i = 0; i < REMEMBERED; i++)
    if (remembered[i].value == value) {
      Py_DECREF(value);
      return remembered[i].warn;
    }
  int warn = ask_numpy();
  if (warn == -2) {
    Py_DECREF(value);
    return -2;
  }
  PyObject *old = remembered[next_slot].value;
  remembered[next_slot].value = value;
  remembered[next_slot].warn = warn;
  next_slot = (next_slot + 1) % REMEMBERED;
  Py_XDECREF(old);
  return warn;
}

int npc_errstate_init(void) {
  PyObject *np = PyImport_ImportModule("numpy"), *umath = np ? PyImport_ImportModule("numpy._core.umath") : NULL;
  if (np) geterr = PyObject_GetAttrString(np, "geterr");
  if (umath) errstate_var = PyObject_GetAttrString(umath, "_extobj_contextvar");
  if (geterr) PyErr_Clear(); /* another NumPy may keep it elsewhere: then it is asked at each call */
  if (errstate_var && !PyContextVar_CheckExact(errstate_var)) Py_CLEAR(errstate_var);
  Py_XDECREF(np);
  Py_XDECREF(umath);
  return geterr ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------ hardware flags */

void npc_fp_clear(npc_ctx *ctx) {
  ctx->fp_workers = 0;
  npc_fp_reset();
}

npc_i64 npc_fp_test(npc_ctx *ctx) { return npc_fp_flags() | ctx->fp_workers; }

/* ------------------------------------------------------------------------------------------------ NumPy's own loops */

/* Loop number k of a ufunc, by its place in `ufunc.types`. */
int npc_find_loop(PyObject *ufunc, int k, Loop *out) {
  static PyObject *type;
  if (!type) {
    PyObject *np = PyImport_ImportModule("numpy");
    type = np ? PyObject_GetAttrString(np, "ufunc") : NULL;
    Py_XDECREF(np);
    if (!type) return -1;
  }
  PyUFuncObject *u = (PyUFuncObject *)ufunc;
  if (!PyObject_TypeCheck(ufunc, (PyTypeObject *)type) || k < 0 || k >= u->ntypes || !u->functions[k])
    return PyErr_SetString(PyExc_ValueError, "no such loop"), -1;
  out->run = u->functions[k];
  out->data = u->data ? (void *)u->data[k] : NULL;
  return 0;
}

npc_i64 npc_ask(npc_ctx *ctx, npc_i64 count, const unsigned short *loops, npc_i64 n, char *const *at, const npc_i64 *by, npc_i64 *rep) {
  int all = 0;
  npc_fpstate before = npc_fp_save(); /* its flags are the filter of the loop that asks */
  for (; count > 0; count--, loops += 5) {
    const Loop *l = &ctx->entry->loops[loops[0]];
    const unsigned short *k = loops + 2;
    char *args[] = {at[k[0]], at[k[1]], at[k[2]]};
    const npy_intp steps[] = {by[k[0]], by[k[1]], by[k[2]]}, size = n;
    npc_fp_reset_all();
    l->run(args, &size, steps, l->data);
    int met = npc_fp_flags_all() & ~FP_UNDERFLOW;
    if (met && loops[1]) {
      __atomic_fetch_or(rep + loops[1], met, __ATOMIC_RELAXED);
      __atomic_fetch_or(rep, met, __ATOMIC_RELAXED);
    }
    all |= met;
  }
  npc_fp_restore(before);
  return all;
}

/* ------------------------------------------------------------------------------------------------ warnings */

/* The globals of the code at the site, where Python keeps `__warningregistry__`; borrowed, may be NULL. */
static PyObject *globals_of(const npc_ctx *ctx, const ReportSite *s) {
  PyObject *own = ((PyFunctionObject *)ctx->jit->fn)->func_globals, *name = PyDict_GetItemString(own, "__name__");
  if (name && PyUnicode_Check(name) && PyUnicode_Compare(name, s->module) == 0) return own;
  PyObject *module = PyDict_GetItemWithError(PyImport_GetModuleDict(), s->module);
  return module && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
}

static PyObject *registry_of(const npc_ctx *ctx, const ReportSite *s) {
  PyObject *globals = globals_of(ctx, s), *key, *fresh, *registry = NULL;
  if (!globals) return NULL;
  key = PyUnicode_InternFromString("__warningregistry__");
  fresh = PyDict_New();
  if (key && fresh) registry = PyDict_SetDefault(globals, key, fresh);
  Py_XDECREF(key);
  Py_XDECREF(fresh);
  return registry;
}

/* The exception being raised gets an entry that shows the user's line. */
static void add_traceback(const npc_ctx *ctx, const ReportSite *s) {
  PyObject *type, *value, *tb;
  PyErr_Fetch(&type, &value, &tb);
  PyObject *globals = globals_of(ctx, s);
  const char *file = PyUnicode_AsUTF8(s->file), *function = PyUnicode_AsUTF8(s->function);
  PyCodeObject *code = file && function ? PyCode_NewEmpty(file, function, s->line) : NULL;
  if (!globals) globals = ((PyFunctionObject *)ctx->jit->fn)->func_globals;
  PyFrameObject *frame = code ? PyFrame_New(PyThreadState_Get(), code, globals, NULL) : NULL;
  PyErr_Restore(type, value, tb);
  if (frame) PyTraceBack_Here(frame);
  Py_XDECREF(frame);
  Py_XDECREF(code);
}

/* May a RuntimeWarning become an exception? Filters are few, and those of other categories do not count. */
int npc_warnings_raise(void) {
  static PyObject *module, *name;
  if (!name) name = PyUnicode_InternFromString("filters");
  if (!module) module = PyImport_ImportModule("warnings");
  PyObject *filters = module && name ? PyObject_GetAttr(module, name) : NULL;
  int raise = !filters || !PyList_Check(filters);
  for (Py_ssize_t i = 0; !raise && i < PyList_GET_SIZE(filters); i++) {
    PyObject *f = PyList_GET_ITEM(filters, i);
    if (!PyTuple_Check(f) || PyTuple_GET_SIZE(f) < 3) continue;
    PyObject *action = PyTuple_GET_ITEM(f, 0), *category = PyTuple_GET_ITEM(f, 2);
    raise = PyUnicode_Check(action) && PyUnicode_CompareWithASCIIString(action, "error") == 0 &&
            PyErr_GivenExceptionMatches(PyExc_RuntimeWarning, category);
  }
  Py_XDECREF(filters);
  PyErr_Clear();
  return raise;
}

/* Is every RuntimeWarning ignored? By the first filter, where `warnings.simplefilter("ignore")` puts it. */
int npc_warnings_ignored(void) {
  static PyObject *names, *key, *ignore;
  if (!names) {
    PyObject *module = PyImport_ImportModule("warnings");
    names = module ? PyModule_GetDict(module) : NULL;
    key = PyUnicode_InternFromString("filters");
    ignore = PyUnicode_InternFromString("ignore");
    if (!names || !key || !ignore) return PyErr_Clear(), 0;
  }
  PyObject *filters = PyDict_GetItemWithError(names, key);
  if (!filters || !PyList_Check(filters) || !PyList_GET_SIZE(filters)) return 0;
  PyObject *f = PyList_GET_ITEM(filters, 0);
  if (!PyTuple_Check(f) || PyTuple_GET_SIZE(f) != 5 || PyTuple_GET_ITEM(f, 0) != ignore) return 0;
  PyObject *line = PyTuple_GET_ITEM(f, 4);
  return PyTuple_GET_ITEM(f, 1) == Py_None && PyTuple_GET_ITEM(f, 3) == Py_None && PyLong_CheckExact(line) &&
         PyLong_AsLong(line) == 0 && PyErr_GivenExceptionMatches(PyExc_RuntimeWarning, PyTuple_GET_ITEM(f, 2));
}

npc_i64 npc_report(npc_ctx *ctx, npc_i64 site, npc_i64 mask) {
  static const char *texts[] = {"divide by zero", "overflow", "underflow", "invalid value"};
  if (site < 0 || site >= ctx->entry->n_sites) {
    PyErr_Format(PyExc_SystemError, "segment reported at unknown site %lld", site);
    return 1;
  }
  const ReportSite *s = &ctx->entry->sites[site];
  mask &= ctx->warn & s->warn;
  ctx->drawing = 0;
  if (mask && npc_warnings_ignored()) mask = ctx->warn = 0; /* nothing more need be found out */
  ctx->entry->may_report = 1;
  ctx->reported |= mask != 0;
  for (int i = 0; i < 4; i++) {
    if (!((mask >> i) & 1)) continue;
    PyObject *text = PyUnicode_FromFormat("%s encountered in %U", texts[i], s->name);
    if (!text) return 1;
    int r = PyErr_WarnExplicitObject(PyExc_RuntimeWarning, text, s->file, s->line, s->module, registry_of(ctx, s));
    Py_DECREF(text);
    if (r < 0) {
      add_traceback(ctx, s);
      return 1;
    }
  }
  return 0;
}
