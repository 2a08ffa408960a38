/* The jit object: what `@jit` puts in a function's place. Binds arguments, asks its entries from the most recent one,
   falls back to `miss` and to the function itself. */
#include "runtime.h"
#include <structmember.h>
#include <time.h>

PyTypeObject *npc_jit_type;

static PyObject *call_plain(Jit *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  self->plain_calls++;
  return ((PyFunctionObject *)self->fn)->vectorcall(self->fn, args, nargsf, kwnames);
}

static PyObject *plain_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  return call_plain((Jit *)self, args, nargsf, kwnames);
}

#define VAIN 64 /* calls whose guards only say that there is no code, until they are not asked for a while */

/* ------------------------------------------------------------------------------------------------ entry lists */

static EntryList no_entries = {.users = 1}; /* never released */

static EntryList *new_list(Py_ssize_t n) {
  EntryList *l = PyMem_Malloc(sizeof *l + n * sizeof(Entry *));
  if (!l) return (EntryList *)PyErr_NoMemory();
  l->n = n;
  l->walkers = 0;
  l->users = 1;
  return l;
}

static void release_list(EntryList *l) {
  if (--l->users) return;
  for (Py_ssize_t i = 0; i < l->n; i++) Py_DECREF(l->items[i]);
  PyMem_Free(l);
}

static void set_list(Jit *self, EntryList *l) {
  EntryList *old = self->entries;
  self->entries = l;
  release_list(old);
}

/* ------------------------------------------------------------------------------------------------ calling */

unsigned long long npc_insertions;

npc_i64 npc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

enum Outcome { DONE, NO_ENTRY, RUN_PLAIN, LEFT };

/* Result of the first entry that applies, or NULL: DONE with an exception, NO_ENTRY, RUN_PLAIN, LEFT (something is pending). */
static PyObject *walk(Jit *self, PyObject *const *args, enum Outcome *outcome, Pending *pending) {
  EntryList *l = self->entries;
  PyObject *result = NULL;
  *outcome = NO_ENTRY;
  if (!l->n) return NULL;
  l->users++; /* guards and segments may run Python code that replaces the list */
  l->walkers++;
  Py_ssize_t i = 0;
  Entry *e = NULL;
  int r = 1;
  for (; i < l->n; i++) {
    e = l->items[i];
    Py_INCREF(e);
    result = npc_entry_call(self, e, args, &r, pending);
    if (result || r != 1) break;
    Py_DECREF(e);
  }
  l->walkers--;
  if (i < l->n) {
    if (i && !e->general && !l->walkers && l->items[i] == e) { /* nobody else is walking: most recent first */
      memmove(l->items + 1, l->items, i * sizeof *l->items);
      l->items[0] = e;
    }
    Py_XSETREF(pending->entry, e);
    *outcome = r == 2 ? RUN_PLAIN : r == 3 ? LEFT : DONE;
  }
  release_list(l);
  return result;
}

/* Nothing matches: let Python compile or decide. 1: there may be a new entry, 0: run plain, -1: exception. */
static int call_miss(Jit *self, PyObject *const *args) {
  if (self->state != JIT_ACTIVE || self->miss == Py_None) return 0;
  if (self->compiling == npc_fork_generation + 1) return 0; /* this or another thread is at it already */
  self->misses++;

  PyObject *bound = PyTuple_New(self->n_args);
  if (!bound) return -1;
  for (int i = 0; i < self->n_args; i++) PyTuple_SET_ITEM(bound, i, Py_NewRef(args[i]));
  self->compiling = npc_fork_generation + 1;
  PyObject *r = PyObject_CallFunctionObjArgs(self->miss, self, bound, NULL);
  self->compiling = 0;
  Py_DECREF(bound);
  if (!r) return -1;
  int again = PyObject_IsTrue(r);
  Py_DECREF(r);
  return again;
}

static int traced(const Jit *self) { /* a debugger, profiler or coverage tool wants to see every line */
  PyThreadState *ts = PyThreadState_Get();
  int seen = ts->c_tracefunc || ts->c_profilefunc;
#if PY_VERSION_HEX >= 0x030C0000
  if (NPC_UNLIKELY(npc_monitored) && !seen && !self->run_traced) seen = npc_tool_watches(self->code);
#endif
  return seen && !self->run_traced;
}

static PyObject *dispatch(Jit *self, PyObject *const *bound, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* As `dispatch`, and it is timed: see trials.c. */
static PyObject *dispatch_on_trial(Jit *self, PyObject *const *bound, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  enum Outcome outcome;
  Pending pending = {NULL};
  self->in_trial = self->plain_turn = 1;
  npc_i64 start = npc_now();
  PyObject *result = walk(self, bound, &outcome, &pending);
  self->plain_turn = 0;
  Entry *e = pending.entry;
  Py_XINCREF(e);
  if (outcome == NO_ENTRY) {
    result = dispatch(self, bound, args, nargsf, kwnames);
    self->in_trial = 0;
    return result;
  }
  if (outcome == RUN_PLAIN) {
    self->bypass = 1;
    result = call_plain(self, args, nargsf, kwnames);
    self->bypass = 0;
    if (result) npc_trial_plain(self, e, npc_now() - start);
    if (!e->code || e->resting) npc_trial_look(self); /* this one is on no trial any more */
  } else {
    if (outcome == LEFT) result = npc_go_on(&pending);
    self->hits += result != NULL;
    if (result) npc_trial_ours(self, e, npc_now() - start, outcome == LEFT, &pending);
  }
  self->in_trial = 0;
  Py_XDECREF(pending.entry);
  Py_DECREF(e);
  return result;
}

static PyObject *dispatch(Jit *self, PyObject *const *bound, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  if (NPC_UNLIKELY(self->on_trial) && !self->in_trial) return dispatch_on_trial(self, bound, args, nargsf, kwnames);
  enum Outcome outcome;
  Pending pending = {NULL};
  PyObject *result = walk(self, bound, &outcome, &pending);
  if (NPC_LIKELY(result != NULL)) {
    self->hits++;
    Py_DECREF(pending.entry);
    return result;
  }
  if (outcome == NO_ENTRY) {
    int again = call_miss(self, bound);
    if (again < 0) return NULL;
    if (again) result = walk(self, bound, &outcome, &pending);
  }
  if (outcome == LEFT) {
    result = npc_go_on(&pending);
    self->hits += result != NULL;
    return result;
  }
  Py_XDECREF(pending.entry);
  if (result) {
    self->hits++;
    return result;
  }
  if (outcome == DONE) return NULL;
  if (outcome == RUN_PLAIN && ++self->vain % VAIN == 0) {
    npc_i64 start = npc_now();
    result = call_plain(self, args, nargsf, kwnames);
    if (result) npc_in_vain(self, npc_now() - start);
    return result;
  }
  if (outcome == RUN_PLAIN || self->state != JIT_ACTIVE) return call_plain(self, args, nargsf, kwnames);
  npc_i64 start = npc_now(); /* `miss` weighs what plain calls cost against compiling */
  result = call_plain(self, args, nargsf, kwnames);
  self->waiting += 1e-9 * (double)(npc_now() - start);
  return result;
}

static PyObject *jit_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  Jit *self = (Jit *)callable;
  Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  if (NPC_UNLIKELY(self->bypass || traced(self) || ((PyFunctionObject *)self->fn)->func_code != self->code))
    return call_plain(self, args, nargsf, kwnames);
  if (NPC_LIKELY(n == self->n_simple && !kwnames)) return dispatch(self, args, args, nargsf, NULL);
  Binding b;
  if (!npc_bind(self, args, n, kwnames, &b)) return call_plain(self, args, nargsf, kwnames);
  PyObject *result = dispatch(self, b.values, args, nargsf, kwnames);
  npc_unbind(&b);
  return result;
}

static PyObject *resting_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  return npc_resting_call((Jit *)self, args, nargsf, kwnames);
}

void npc_jit_rest(Jit *self, int calls, npc_i64 usual) {
  self->rest = calls;
  self->usual = usual;
  if (self->vectorcall == jit_vectorcall) self->vectorcall = resting_vectorcall;
}

void npc_jit_wake(Jit *self) {
  self->rest = 0;
  if (self->vectorcall == resting_vectorcall) self->vectorcall = jit_vectorcall;
  for (Py_ssize_t i = 0; i < self->entries->n; i++) {
    Entry *e = self->entries->items[i];
    e->resting = 0;
    npc_trial_again(self, e);
  }
  npc_trial_look(self); /* those without code are not tried */
}

/* ------------------------------------------------------------------------------------------------ continuation points */

/* The argument of a stub at this point: an iterator over a tuple that nobody else holds. A frame has its stack entries from
   the bottom, then slots, then free variables; a stub wants free variables, slots, `extra`, and the stack from the top. */
static PyObject *stub_argument(Jit *self, PyObject *frame, PyObject *const *extra, int n_extra) {
  int n_free = self->n_args - self->n_stack - self->n_bound, to = 0;
  PyObject *t = PyTuple_New(self->n_args + n_extra), *it;
  if (!t) return NULL;
  for (int i = 0; i < n_free; i++) PyTuple_SET_ITEM(t, to++, Py_NewRef(PyTuple_GET_ITEM(frame, self->n_stack + self->n_bound + i)));
  for (int i = 0; i < self->n_bound; i++) PyTuple_SET_ITEM(t, to++, Py_NewRef(PyTuple_GET_ITEM(frame, self->n_stack + i)));
  for (int i = 0; i < n_extra; i++) PyTuple_SET_ITEM(t, to++, Py_NewRef(extra[i]));
  for (int i = self->n_stack - 1; i >= 0; i--) PyTuple_SET_ITEM(t, to++, Py_NewRef(PyTuple_GET_ITEM(frame, i)));
  it = PyObject_GetIter(t);
  Py_DECREF(t);
  return it;
}

/* The exception that is set shall be raised in the frame, so that its handlers see it. */
static void raise_in_frame(Jit *self, PyObject *frame, Pending *pending) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (traceback) PyException_SetTraceback(error, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  PyObject *made = PyObject_CallNoArgs(self->raiser); /* (stub, mark) */
  if (made) {
    PyObject *extra[2] = {error, PyTuple_GET_ITEM(made, 1)};
    if ((pending->value = stub_argument(self, frame, extra, 2))) pending->callee = Py_NewRef(PyTuple_GET_ITEM(made, 0));
    Py_DECREF(made);
  }
  Py_DECREF(error);
}

PyObject *npc_point(Jit *self, PyObject *frame, int allowed, Pending *pending) {
  enum Outcome outcome = RUN_PLAIN;
  PyObject *result = NULL, *const *args = &PyTuple_GET_ITEM(frame, 0);
  int again = 0;
  pending->many = 0;
  if (!self->raiser || PyTuple_GET_SIZE(frame) != self->n_args + 1) {
    Py_DECREF(frame);
    return PyErr_Format(PyExc_SystemError, "a frame of another shape came to a point");
  }
  if (self->resting) self->resting--, allowed = 0;
  if (allowed && self->state != JIT_PLAIN && !traced(self)) {
    result = walk(self, args, &outcome, pending);
    if (!result && outcome == NO_ENTRY) {
      again = call_miss(self, args);
      if (again > 0) result = walk(self, args, &outcome, pending);
    }
  }
  if (result || outcome == LEFT) {
    self->hits++;
  } else if (outcome == DONE || again < 0) {
    raise_in_frame(self, frame, pending);
  } else {
    self->plain_calls++;
    if (outcome == NO_ENTRY && self->state == JIT_ACTIVE) pending->plain = (Jit *)Py_NewRef(self);
    if ((pending->value = stub_argument(self, frame, NULL, 0))) pending->callee = Py_NewRef(self->fn);
  }
  Py_DECREF(frame);
  return result;
}

/* ------------------------------------------------------------------------------------------------ methods */

static PyObject *jit_new(PyTypeObject *type, PyObject *args, PyObject *kwds) {
  static char *names[] = {"function", "miss", "rebuild", "run_traced", "point", NULL};
  PyObject *fn, *miss = Py_None, *rebuild = Py_None, *point = NULL, *raiser = NULL;
  int run_traced = 0, n_stack = 0, n_bound = 0, n_free = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwds, "O!|OOpO!", names, &PyFunction_Type, &fn, &miss, &rebuild, &run_traced, &PyTuple_Type,
                                   &point))
    return NULL;
  PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(fn);
  if (point && !PyArg_ParseTuple(point, "O!iiiO", &PyCode_Type, &code, &n_stack, &n_bound, &n_free, &raiser)) return NULL;
  Jit *self = (Jit *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  int starred = !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
  self->vectorcall = jit_vectorcall;
  self->fn = Py_NewRef(fn);
  self->code = Py_NewRef((PyObject *)code);
  self->miss = Py_NewRef(miss);
  self->rebuild = Py_NewRef(rebuild);
  self->run_traced = run_traced;
  self->n_args = code->co_argcount + code->co_kwonlyargcount + starred;
  self->n_simple = starred || code->co_kwonlyargcount ? -1 : code->co_argcount;
  if (point) {
    self->vectorcall = plain_vectorcall;
    self->raiser = Py_NewRef(raiser);
    self->n_stack = n_stack;
    self->n_bound = n_bound;
    self->n_args = n_stack + n_bound + n_free;
  }
  self->entries = &no_entries;
  no_entries.users++;
  if (!(self->names = PyCode_GetVarnames(code)) || !(self->dict = PyDict_New())) goto bad;
  /* As functools.update_wrapper: names and documentation are the instance's own, the rest forwards to the function. */
  static const char *copied[] = {"__module__", "__name__", "__qualname__", "__doc__", NULL};
  for (const char **name = copied; *name; name++) {
    PyObject *v = PyObject_GetAttrString(fn, *name);
    if (!v || PyDict_SetItemString(self->dict, *name, v) < 0) {
      Py_XDECREF(v);
      goto bad;
    }
    Py_DECREF(v);
  }
  PyObject *own = ((PyFunctionObject *)fn)->func_dict;
  if (own && PyDict_Update(self->dict, own) < 0) goto bad;
  return (PyObject *)self;
bad:
  Py_DECREF(self);
  return NULL;
}

static int jit_traverse(Jit *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(self->fn);
  Py_VISIT(self->code);
  Py_VISIT(self->names);
  Py_VISIT(self->miss);
  Py_VISIT(self->rebuild);
  Py_VISIT(self->raiser);
  Py_VISIT(self->dict);
  if (self->entries->users == 1)
    for (Py_ssize_t i = 0; i < self->entries->n; i++) Py_VISIT(self->entries->items[i]);
  return 0;
}

/* The function and its parts stay: a call that is still running may use them, and they are in no cycle once the rest is gone. */
static int jit_clear(Jit *self) {
  Py_CLEAR(self->miss);
  self->miss = Py_NewRef(Py_None);
  self->vectorcall = plain_vectorcall;
  Py_CLEAR(self->rebuild);
  Py_CLEAR(self->dict);
  no_entries.users++;
  set_list(self, &no_entries);
  return 0;
}

static void jit_dealloc(Jit *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (self->weakrefs) PyObject_ClearWeakRefs((PyObject *)self);
  jit_clear(self);
  release_list(self->entries);
  Py_CLEAR(self->miss);
  Py_CLEAR(self->raiser);
  Py_CLEAR(self->fn);
  Py_CLEAR(self->code);
  Py_CLEAR(self->names);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *jit_repr(Jit *self) {
  return PyUnicode_FromFormat("<jit function %U at %p>", ((PyFunctionObject *)self->fn)->func_qualname, self);
}

static PyObject *jit_descr_get(PyObject *self, PyObject *obj, PyObject *Py_UNUSED(type)) {
  return obj && obj != Py_None ? PyMethod_New(self, obj) : Py_NewRef(self);
}

static PyObject *jit_insert(Jit *self, PyObject *entry) {
  if (!Py_IS_TYPE(entry, npc_entry_type) || ((Entry *)entry)->n_args != self->n_args)
    return PyErr_Format(PyExc_TypeError, "an entry for %d parameters is needed", self->n_args);
  EntryList *old = self->entries, *l = new_list(old->n + 1);
  if (!l) return NULL;
  Py_ssize_t at = ((Entry *)entry)->general ? old->n : 0;
  l->items[at] = (Entry *)Py_NewRef(entry);
  for (Py_ssize_t i = 0; i < old->n; i++) l->items[i + !at] = (Entry *)Py_NewRef(old->items[i]);
  set_list(self, l);
  npc_insertions++;
  npc_trial_look(self);
  Py_RETURN_NONE;
}

static PyObject *jit_clear_entries(Jit *self, PyObject *Py_UNUSED(ignored)) {
  no_entries.users++;
  set_list(self, &no_entries);
  Py_RETURN_NONE;
}

/* The object that the module holds under this qualified name. */
static PyObject *find_by_name(Jit *self) {
  PyObject *name = PyObject_GetAttrString((PyObject *)self, "__qualname__");
  PyObject *module = PyObject_GetAttrString((PyObject *)self, "__module__");
  PyObject *dot = PyUnicode_FromString("."), *parts = NULL, *o = NULL;
  if (name && module && dot && PyUnicode_Check(name)) parts = PyUnicode_Split(name, dot, -1);
  if (parts) o = Py_XNewRef(PyDict_GetItemWithError(PyImport_GetModuleDict(), module));
  for (Py_ssize_t i = 0; o && i < PyList_GET_SIZE(parts); i++) Py_SETREF(o, PyObject_GetAttr(o, PyList_GET_ITEM(parts, i)));
  PyErr_Clear();
  Py_XDECREF(name);
  Py_XDECREF(module);
  Py_XDECREF(dot);
  Py_XDECREF(parts);
  return o;
}

/* cloudpickle (also as joblib, dask and ray carry it) sends what lives in `__main__` by value, since the other process has
   another `__main__`. No protocol tells who pickles, so look at who called. */
static int pickled_by_value(Jit *self) {
  PyObject *module = PyDict_GetItemString(self->dict, "__module__"), *globals = PyEval_GetGlobals();
  PyObject *caller = globals ? PyDict_GetItemString(globals, "__name__") : NULL;
  if (!module || !PyUnicode_Check(module) || PyUnicode_CompareWithASCIIString(module, "__main__") != 0) return 0;
  const char *name = caller && PyUnicode_Check(caller) ? PyUnicode_AsUTF8(caller) : NULL;
  return name && strstr(name, "cloudpickle") != NULL;
}

/* By qualified name where that finds this very object, as functions pickle; else from the function, by the maker's recipe. */
static PyObject *jit_reduce(Jit *self, PyObject *Py_UNUSED(ignored)) {
  PyObject *found = find_by_name(self);
  Py_XDECREF(found);
  if ((found == (PyObject *)self && !pickled_by_value(self)) || self->rebuild == Py_None) return PyObject_GetAttrString((PyObject *)self, "__qualname__");
  PyObject *args = PyTuple_GetSlice(self->rebuild, 1, PyTuple_GET_SIZE(self->rebuild)), *first, *all = NULL;
  if (args && (first = PyTuple_Pack(1, self->fn))) {
    all = PySequence_Concat(first, args);
    Py_DECREF(first);
  }
  Py_XDECREF(args);
  return all ? Py_BuildValue("ON", PyTuple_GET_ITEM(self->rebuild, 0), all) : NULL;
}

static PyObject *jit_self(PyObject *self, PyObject *Py_UNUSED(ignored)) { return Py_NewRef(self); }

static PyMethodDef jit_methods[] = {
    {"insert", (PyCFunction)jit_insert, METH_O, "Put an entry in front of the others; a general one behind them."},
    {"clear", (PyCFunction)jit_clear_entries, METH_NOARGS, "Forget all entries."},
    {"__reduce__", (PyCFunction)jit_reduce, METH_NOARGS, NULL},
    {"__copy__", jit_self, METH_NOARGS, NULL},
    {"__deepcopy__", jit_self, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyObject *get_forward(Jit *self, void *name) { return PyObject_GetAttrString(self->fn, name); }
static int set_forward(Jit *self, PyObject *v, void *name) { return PyObject_SetAttrString(self->fn, name, v); }

static PyObject *get_entries(Jit *self, void *Py_UNUSED(closure)) {
  EntryList *l = self->entries;
  PyObject *t = PyTuple_New(l->n);
  for (Py_ssize_t i = 0; t && i < l->n; i++) PyTuple_SET_ITEM(t, i, Py_NewRef((PyObject *)l->items[i]));
  return t;
}

static const char *state_names[] = {"active", "frozen", "plain"};
static PyObject *get_state(Jit *self, void *Py_UNUSED(closure)) { return PyUnicode_FromString(state_names[self->state]); }
static int set_state(Jit *self, PyObject *v, void *Py_UNUSED(closure)) {
  for (int i = 0; i < 3; i++)
    if (v && PyUnicode_Check(v) && PyUnicode_CompareWithASCIIString(v, state_names[i]) == 0) {
      self->state = i;
      self->vectorcall = i == JIT_PLAIN || self->raiser ? plain_vectorcall : jit_vectorcall;
      return 0;
    }
  PyErr_SetString(PyExc_ValueError, "state is one of 'active', 'frozen', 'plain'");
  return -1;
}

#define FORWARD(name) {name, (getter)get_forward, (setter)set_forward, NULL, (void *)name}
static PyGetSetDef jit_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"entries", (getter)get_entries, NULL, "Entries, most recently used first, general ones last.", NULL},
    {"state", (getter)get_state, (setter)set_state,
     "'active', 'frozen' (what no entry takes runs plain, `miss` is not asked) or 'plain' (all runs plain).", NULL},
    FORWARD("__annotations__"), FORWARD("__defaults__"), FORWARD("__kwdefaults__"), FORWARD("__code__"), FORWARD("__globals__"),
    FORWARD("__closure__"), FORWARD("__builtins__"), FORWARD("__type_params__"),
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef jit_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Jit, fn), READONLY, "The function itself."},
    {"hits", T_ULONGLONG, offsetof(Jit, hits), READONLY, "Calls that an entry answered."},
    {"misses", T_ULONGLONG, offsetof(Jit, misses), READONLY, "Calls of `miss`."},
    {"waiting", T_DOUBLE, offsetof(Jit, waiting), 0, "Seconds spent in plain calls for which `miss` made no entry."},
    {"plain_calls", T_ULONGLONG, offsetof(Jit, plain_calls), READONLY, "Calls that ran the function itself."},
    {"rest", T_INT, offsetof(Jit, rest), READONLY, "So many calls go to the function at once: compiled code did not pay."},
    {"tries", T_INT, offsetof(Jit, tries), 0, "Try entries against the function itself, and do without those that lose."},
    {"run_traced", T_INT, offsetof(Jit, run_traced), 0, "Use entries although a trace or profile function is set."},
    {"__dictoffset__", T_PYSSIZET, offsetof(Jit, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Jit, weakrefs), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Jit, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot jit_slots[] = {
    {Py_tp_new, jit_new},
    {Py_tp_dealloc, jit_dealloc},
    {Py_tp_traverse, jit_traverse},
    {Py_tp_clear, jit_clear},
    {Py_tp_repr, jit_repr},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, jit_descr_get},
    {Py_tp_methods, jit_methods},
    {Py_tp_getset, jit_getset},
    {Py_tp_members, jit_members},
    {Py_tp_doc,
     "Jit(function, miss=None, rebuild=None, run_traced=False, point=None)\n\n"
     "miss(jit, bound arguments) is called when no entry takes a call; true: look again, false: run plain.\n"
     "rebuild: (callable, *args), unpickles as callable(function, *args) where the qualified name does not find this object.\n"
     "point: (code, stack entries, slots, free variables, raiser), makes a continuation point in a frame of `code`, whose function\n"
     "is the stub that goes on there to the end; raiser() gives (stub, mark) that raise an exception there."},
    {0, NULL}};
static PyType_Spec jit_spec = {"npcompile.runtime._dispatch.Jit", sizeof(Jit), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                               jit_slots};

int npc_jit_init(PyObject *module) {
  npc_jit_type = (PyTypeObject *)PyType_FromSpec(&jit_spec);
  return npc_jit_type ? PyModule_AddObjectRef(module, "Jit", (PyObject *)npc_jit_type) : -1;
}
