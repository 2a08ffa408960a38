/* An entry: one compiled segment (or the knowledge that there is none) for arguments that pass its guards.
   Made once from plain data, immutable but for its counters. */
#include "runtime.h"
#include <structmember.h>

PyTypeObject *npc_entry_type;

/* ------------------------------------------------------------------------------------------------ calling */

#define INLINE_WORDS 160 /* workspace on the C stack; larger ones come from the heap */

static View input_view(const npc_ctx *ctx, const ArrayInput *x) {
  const npc_i64 *w = ctx->in + x->word;
  const ArrayGuard *g = x->guard;
  return (View){(char *)(intptr_t)w[0], g->rank, g->itemsize, g->typenum, w + 1, w + 1 + g->rank};
}

/* 1 all hold, 0 one does not, -1 exception */
static int aliases_hold(npc_ctx *ctx, Entry *e, int *failed) {
  for (const AliasStep *s = e->aliases, *end = s + e->n_aliases; s < end; s++) {
    View a = input_view(ctx, &e->arrays[s->a]), b = input_view(ctx, &e->arrays[s->b]);
    int r = npc_alias(&a, &b);
    if (r == s->relation) continue;
    *failed = s->guard;
    return r < 0 ? -1 : 0;
  }
  return 1;
}

static void set_up(npc_ctx *ctx, Jit *jit, Entry *e, PyObject *const *args, npc_i64 *words) {
  ctx->jit = jit;
  ctx->entry = e;
  ctx->args = args;
  ctx->in = words;
  ctx->out = ctx->in + e->n_words;
  ctx->slots = (PyObject **)(ctx->out + 2 * e->n_captures);
  ctx->captures = ctx->slots + e->n_slots;
  ctx->regs = ctx->captures + e->n_captures;
  ctx->copies = ctx->regs + e->n_regs;
  ctx->stack = ctx->copies + e->n_copies;
  memset(ctx->slots, 0, (e->n_slots + e->n_captures + e->n_regs + e->n_copies) * sizeof(PyObject *));
}

static void begin(npc_ctx *ctx) {
  ctx->warn = ctx->released = ctx->fp_workers = ctx->scratch_lock = ctx->has_stream = 0;
  ctx->pushed = ctx->stored = ctx->trial = ctx->tried = ctx->broken = 0;
  ctx->scratch = NULL;
  ctx->last_look = ctx->last_clock = 0;
  ctx->polls_left = ctx->polls_between = 1;
  ctx->watched = ctx->reported = 0;
  ctx->drawing = 0;
  ctx->signals = npc_signals;
}

static npc_i64 run_code(npc_ctx *ctx, const Entry *e) {
  npc_i64 exit = e->code(ctx, &npc_rt, ctx->in, ctx->out, e->syms);
  if (NPC_UNLIKELY(ctx->released)) {
    ctx->released = 1;
    npc_rt.gil_acquire(ctx);
  }
  return exit;
}

static void clean_up(npc_ctx *ctx, const Entry *e) {
  if (NPC_UNLIKELY(ctx->scratch != NULL)) npc_scratch_free_all(ctx);
  for (int i = e->n_arrays; i < e->n_slots; i++) Py_XDECREF(ctx->slots[i]);
  for (int i = 0; i < e->n_captures; i++) Py_XDECREF(ctx->captures[i]);
}

int npc_try_kernels(npc_ctx *ctx) {
  Entry *e = ctx->entry;
  npc_ctx t;
  npc_i64 *words = PyMem_Malloc((e->workspace + 1) * sizeof *words);
  if (!words) return PyErr_NoMemory(), -1;
  set_up(&t, ctx->jit, e, ctx->args, words);
  begin(&t);
  memcpy(t.in, ctx->in, e->n_words * sizeof *words);
  memcpy(t.slots, ctx->slots, e->n_arrays * sizeof *t.slots);
  t.stream = ctx->stream, t.has_stream = 1, t.trial = 1000;
  run_code(&t, e);
  clean_up(&t, e);
  PyMem_Free(words);
  if (t.broken) return ctx->broken = 1, -1;
  PyErr_Clear(); /* whatever else went wrong, the call itself will meet it */
  return 0;
}

static npc_i64 run_plain(npc_ctx *Py_UNUSED(ctx), const npc_runtime *Py_UNUSED(rt), const npc_i64 *Py_UNUSED(in), npc_i64 *Py_UNUSED(out),
                         void *const *Py_UNUSED(syms)) {
  return NPC_ORIGINAL;
}

/* A device that fails before the caller's memory was stored to has done nothing: the call runs plain. The launcher is told. */
static int may_run_plain(npc_ctx *ctx, Entry *e) {
  if (!e->launcher || ctx->stored || !PyErr_ExceptionMatches(PyExc_Exception)) return 0;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject *r = PyObject_CallMethod(e->launcher, "failed", "O", value ? value : Py_None);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  Py_XDECREF(r);
  if (!r) return 0;
  if (ctx->broken) e->code = run_plain;
  return 1;
}

static PyObject *run(npc_ctx *ctx, Entry *e, int *outcome, Pending *pending) {
  begin(ctx);
  if (e->n_sites) {
    ctx->warn = npc_errstate();
    if (e->may_report && ctx->warn > 0 && npc_warnings_ignored()) ctx->warn = 0;
    if (e->stores_first && ctx->warn > 0 && npc_warnings_raise()) ctx->warn = -1;
    if (ctx->warn < 0) {
      *outcome = ctx->warn == -1 ? 2 : 0;
      return NULL;
    }
  }
  npc_i64 exit = NPC_UNLIKELY(e->n_copies) && npc_copy_inputs(ctx) ? NPC_ERROR : run_code(ctx, e);
  if (NPC_UNLIKELY(e->device >= 0) && PyErr_Occurred()) exit = NPC_ERROR; /* a result could not be handed back */
  PyObject *result = NULL;
  *outcome = 0;
  if (NPC_LIKELY(exit >= 0 && exit < e->n_exits)) {
    if (NPC_UNLIKELY(++e->hits == e->trial.again)) npc_trial_again(ctx->jit, e);
    result = npc_exit(ctx, &e->exits[exit], pending);
    if (pending->callee) *outcome = 3;
  } else if (exit == NPC_GUARD_FAILED) {
    e->graph_failures++;
    *outcome = 1;
  } else if (exit == NPC_ORIGINAL) {
    *outcome = 2;
  } else if (exit != NPC_ERROR) {
    PyErr_Format(PyExc_SystemError, "segment took exit %lld of %d", exit, e->n_exits);
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_SystemError, "segment failed without an exception");
  } else if (may_run_plain(ctx, e)) {
    *outcome = 2;
  }
  clean_up(ctx, e);
  for (int i = 0; i < e->n_copies; i++) Py_XDECREF(ctx->copies[i]);
  if (NPC_UNLIKELY(ctx->pushed)) npc_device_leave(ctx);
  return result;
}

PyObject *npc_entry_call(Jit *jit, Entry *e, PyObject *const *args, int *outcome, Pending *pending) {
  npc_ctx ctx;
  npc_i64 inline_words[INLINE_WORDS], *words = inline_words;
  if (NPC_UNLIKELY(e->workspace > INLINE_WORDS) && !(words = PyMem_Malloc(e->workspace * sizeof *words))) {
    *outcome = 0;
    return PyErr_NoMemory();
  }
  set_up(&ctx, jit, e, args, words);
  PyObject *result = NULL;
  int failed = 0, ok = npc_guards(&ctx, e, &failed);
  if (NPC_LIKELY(ok == 1) && e->n_aliases) ok = aliases_hold(&ctx, e, &failed);
  if (NPC_LIKELY(ok == 1)) {
    if (NPC_UNLIKELY(e->resting) && --e->resting == 0) npc_trial_again(jit, e);
    int plain_turn = jit->plain_turn && npc_trial_plain_next(e);
    jit->plain_turn = 0;
    if (NPC_LIKELY(e->code != NULL && !e->resting && !plain_turn)) {
      result = run(&ctx, e, outcome, pending);
    } else {
      e->hits++;
      *outcome = 2;
    }
  } else {
    *outcome = ok == 0;
    if (!ok) e->failures[failed]++;
  }
  for (int i = 0; i < e->n_regs; i++) Py_XDECREF(ctx.regs[i]);
  if (NPC_UNLIKELY(words != inline_words)) PyMem_Free(words);
  return result;
}

/* ------------------------------------------------------------------------------------------------ making */

static int parse_aliases(Entry *e, PyObject *aliases) { /* (a, b, relation, guard) each */
  e->n_aliases = (int)PyTuple_GET_SIZE(aliases);
  if (!(e->aliases = PyMem_Calloc(e->n_aliases + 1, sizeof(AliasStep)))) return PyErr_NoMemory(), -1;
  for (int i = 0; i < e->n_aliases; i++) {
    AliasStep *s = &e->aliases[i];
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(aliases, i), "iiii", &s->a, &s->b, &s->relation, &s->guard)) return -1;
    if (s->a < 0 || s->a >= e->n_arrays || s->b < 0 || s->b >= e->n_arrays || s->guard < 0 || s->guard >= e->n_guards)
      return PyErr_SetString(PyExc_ValueError, "bad alias guard"), -1;
  }
  return 0;
}

static int parse_sites(Entry *e, PyObject *sites) { /* (name, file, line, function, module, warn) each */
  e->n_sites = (int)PyTuple_GET_SIZE(sites);
  if (!(e->sites = PyMem_Calloc(e->n_sites + 1, sizeof(ReportSite)))) return PyErr_NoMemory(), -1;
  for (int i = 0; i < e->n_sites; i++) {
    ReportSite *s = &e->sites[i];
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sites, i), "UUiUUi", &s->name, &s->file, &s->line, &s->function, &s->module, &s->warn))
      return -1;
  }
  return 0;
}

static int parse_syms(Entry *e, PyObject *syms) { /* addresses */
  Py_ssize_t n = PyTuple_GET_SIZE(syms);
  if (!(e->syms = PyMem_Calloc(n + 1, sizeof(void *)))) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    e->syms[i] = PyLong_AsVoidPtr(PyTuple_GET_ITEM(syms, i));
    if (!e->syms[i] && PyErr_Occurred()) return -1;
  }
  return 0;
}

static int parse_loops(Entry *e, PyObject *loops) { /* (ufunc, place among its types) each */
  Py_ssize_t n = loops ? PyTuple_GET_SIZE(loops) : 0;
  if (!(e->loops = PyMem_Calloc(n + 1, sizeof(Loop)))) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *ufunc; /* the segment's code names it by number; NumPy keeps it alive */
    int k;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(loops, i), "Oi", &ufunc, &k) || npc_find_loop(ufunc, k, &e->loops[i]) < 0) return -1;
  }
  return 0;
}

static int parse_objects(Entry *e, PyObject *objects) { /* registers, arguments included */
  Py_ssize_t n = objects ? PyTuple_GET_SIZE(objects) : 0;
  if (!(e->objects = PyMem_Calloc(n + 1, sizeof(int)))) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    long reg = PyLong_AsLong(PyTuple_GET_ITEM(objects, i));
    if (reg < 0 || reg >= e->n_args + e->n_regs) return PyErr_SetString(PyExc_ValueError, "bad object"), -1;
    e->objects[i] = (int)reg;
  }
  return 0;
}

static PyObject *entry_new(PyTypeObject *type, PyObject *args, PyObject *kwds) {
  static char *names[] = {"code",    "n_args", "n_guards", "n_regs", "n_slots",   "max_threads", "stores_first", "steps",
                          "aliases", "exits",  "sites",    "syms",   "constants", "calls",       "info",
                          "launcher", "stream", "library", "device", "gain",  "objects", "general", "loops", NULL};
  int library = 0, device = -1;
  PyObject *code, *steps, *aliases, *exits, *sites, *syms, *constants, *calls, *info, *launcher = Py_None, *stream = Py_None, *objects = NULL, *loops = NULL;
  int n_args, n_guards, n_regs, n_slots, max_threads, stores_first, general = 0;
  npc_i64 gain = 0;
  PyTypeObject *t = &PyTuple_Type;
  if (!PyArg_ParseTupleAndKeywords(args, kwds, "OiiiiipO!O!O!O!O!O!O!O|OOiiLO!pO!", names, &code, &n_args, &n_guards, &n_regs, &n_slots,
                                   &max_threads, &stores_first, t, &steps, t, &aliases, t, &exits, t, &sites, t, &syms, t, &constants, t, &calls,
                                   &info, &launcher, &stream, &library, &device, &gain, t, &objects, &general, t, &loops))
    return NULL;
  if (library < 0 || library >= LIBRARY_COUNT) return PyErr_Format(PyExc_ValueError, "bad library %d", library);
  Entry *e = (Entry *)type->tp_alloc(type, 0);
  if (!e) return NULL;
  e->code = (npc_segment)(intptr_t)PyLong_AsVoidPtr(code);
  e->refs = PyTuple_Pack(3, steps, exits, sites); /* the tables point to objects in these tuples */
  e->constants = Py_NewRef(constants);
  e->calls = Py_NewRef(calls);
  e->info = Py_NewRef(info);
  e->launcher = launcher == Py_None ? NULL : Py_NewRef(launcher);
  e->stream = stream == Py_None ? NULL : Py_NewRef(stream);
  e->library = npc_libraries[library];
  e->device = device;
  e->gain = gain;
  e->general = general;
  e->n_args = n_args, e->n_guards = n_guards, e->n_regs = n_regs, e->max_threads = max_threads, e->stores_first = stores_first;
  if (!e->refs || PyErr_Occurred()) goto bad;
  if (!(e->failures = PyMem_Calloc(n_guards + 1, sizeof *e->failures)) ||
      !(e->refused = PyMem_Calloc(PyTuple_GET_SIZE(calls) + 1, sizeof *e->refused))) {
    PyErr_NoMemory();
    goto bad;
  }
  if (npc_parse_steps(e, steps) < 0 || parse_aliases(e, aliases) < 0 || npc_parse_exits(e, exits) < 0 || parse_sites(e, sites) < 0 ||
      parse_syms(e, syms) < 0 || parse_objects(e, objects) < 0 || parse_loops(e, loops) < 0)
    goto bad;
  e->n_slots = n_slots > e->n_arrays ? n_slots : e->n_arrays;
  if (library == LIBRARY_NUMPY && device >= 0) e->n_copies = e->n_arrays;
  e->workspace = e->n_words + 2 * e->n_captures + e->n_slots + e->n_captures + e->n_regs + e->n_copies + e->n_stack + e->n_shared;
  return (PyObject *)e;
bad:
  Py_DECREF(e);
  return NULL;
}

static int entry_traverse(Entry *e, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(e));
  Py_VISIT(e->refs);
  Py_VISIT(e->constants);
  Py_VISIT(e->calls);
  Py_VISIT(e->info);
  Py_VISIT(e->launcher);
  Py_VISIT(e->stream);
  return 0;
}

/* No tp_clear: what an entry holds is immutable tuples; a cycle always passes through its jit object, which has one. */
static void entry_dealloc(Entry *e) {
  PyTypeObject *type = Py_TYPE(e);
  PyObject_GC_UnTrack(e);
  npc_free_steps(e);
  npc_free_exits(e);
  PyMem_Free(e->arrays);
  PyMem_Free(e->aliases);
  PyMem_Free(e->sites);
  PyMem_Free(e->syms);
  PyMem_Free(e->loops);
  PyMem_Free(e->objects);
  PyMem_Free(e->failures);
  PyMem_Free(e->refused);
  Py_XDECREF(e->refs);
  Py_XDECREF(e->constants);
  Py_XDECREF(e->calls);
  Py_XDECREF(e->info);
  Py_XDECREF(e->launcher);
  Py_XDECREF(e->stream);
  npc_free_variants(e);
  type->tp_free(e);
  Py_DECREF(type);
}

/* ------------------------------------------------------------------------------------------------ looking */

static PyObject *count_tuple(Py_ssize_t n, const void *first, size_t step) {
  PyObject *t = PyTuple_New(n);
  for (Py_ssize_t i = 0; t && i < n; i++) {
    PyObject *v = PyLong_FromUnsignedLongLong(*(const unsigned long long *)((const char *)first + i * step));
    if (!v) Py_CLEAR(t);
    else PyTuple_SET_ITEM(t, i, v);
  }
  return t;
}

static PyObject *get_failures(Entry *e, void *Py_UNUSED(closure)) { return count_tuple(e->n_guards, e->failures, sizeof *e->failures); }
static PyObject *get_exits(Entry *e, void *Py_UNUSED(closure)) {
  return count_tuple(e->n_exits, e->exits ? (void *)&e->exits->taken : NULL, sizeof *e->exits);
}

static PyObject *entry_check(Entry *e, PyObject *args) {
  PyObject *jit, *bound;
  if (!PyArg_ParseTuple(args, "OO!", &jit, &PyTuple_Type, &bound)) return NULL;
  if (!Py_IS_TYPE(jit, npc_jit_type) || PyTuple_GET_SIZE(bound) != e->n_args)
    return PyErr_Format(PyExc_TypeError, "a jit object and a tuple of %d bound arguments are needed", e->n_args);
  npc_ctx ctx;
  npc_i64 *words = PyMem_Malloc((e->workspace + 1) * sizeof *words);
  if (!words) return PyErr_NoMemory();
  set_up(&ctx, (Jit *)jit, e, &PyTuple_GET_ITEM(bound, 0), words);
  int failed = 0, ok = npc_guards(&ctx, e, &failed);
  if (ok == 1) ok = aliases_hold(&ctx, e, &failed);
  for (int i = 0; i < e->n_regs; i++) Py_XDECREF(ctx.regs[i]);
  PyMem_Free(words);
  if (ok < 0) return NULL;
  if (ok) Py_RETURN_NONE;
  return PyLong_FromLong(failed);
}

static PyMethodDef entry_methods[] = {
    {"check", (PyCFunction)entry_check, METH_VARARGS, "check(jit, bound) -> index of the first guard that fails, or None."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef entry_getset[] = {
    {"failures", (getter)get_failures, NULL, "How often each guard (alias guards last) turned a call away.", NULL},
    {"exits", (getter)get_exits, NULL, "How often each exit was taken.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef entry_members[] = {
    {"hits", T_ULONGLONG, offsetof(Entry, hits), READONLY, "Calls that it answered."},
    {"graph_failures", T_ULONGLONG, offsetof(Entry, graph_failures), READONLY, "Calls that the segment's own size guards refused."},
    {"info", T_OBJECT, offsetof(Entry, info), READONLY, "What its maker attached."},
    {"constants", T_OBJECT, offsetof(Entry, constants), READONLY, "Live objects that guards and exits refer to."},
    {"gain", T_LONGLONG, offsetof(Entry, gain), READONLY, "Nanoseconds that a call of it saves, about; 0: nothing is computed."},
    {"resting", T_INT, offsetof(Entry, resting), READONLY, "So many calls run plain before it is tried again: it gained nothing."},
    {"general", T_INT, offsetof(Entry, general), READONLY, "It stands behind more special entries."},
    {"max_threads", T_INT, offsetof(Entry, max_threads), READONLY, "Most threads a call may use; 0: no limit of its own."},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot entry_slots[] = {{Py_tp_new, entry_new},         {Py_tp_dealloc, entry_dealloc}, {Py_tp_traverse, entry_traverse},
                                    {Py_tp_methods, entry_methods}, {Py_tp_getset, entry_getset},   {Py_tp_members, entry_members},
                                    {Py_tp_doc, "One compiled segment with its guards and exits; made by npcompile.runtime.segments."},
                                    {0, NULL}};
static PyType_Spec entry_spec = {"npcompile.runtime._dispatch.Entry", sizeof(Entry), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 entry_slots};

int npc_entry_init(PyObject *module) {
  npc_entry_type = (PyTypeObject *)PyType_FromSpec(&entry_spec);
  return npc_entry_type ? PyModule_AddObjectRef(module, "Entry", (PyObject *)npc_entry_type) : -1;
}
