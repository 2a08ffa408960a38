/* What follows an exit: calls stubs, and as long as they hand the frame back, the points where it stands then. Here and not in
   recursion, so that a loop may break in each of its turns; the frame of a stub is gone before the next segment runs.

   A step costs about as much as a small NumPy call. What segments save pays for it: a call that has made many steps for little
   goes on plain, and what has led to nothing several times in a row rests, longer each time. */
#include "runtime.h"
#include <structmember.h>

#define STEPS 50     /* so many steps may go ahead of what they gain */
#define FRUITLESS 3  /* after so many calls in a row without gain, a rest */

/* Calls of a rest: a thousand, sixteen times as many after each that did not help. */
static int rest(int failures) {
  int k = failures - FRUITLESS;
  return k < 0 ? 0 : 1000 << (k < 5 ? 4 * k : 20);
}

/* A stub that hands its frame back, and the points where it may stand then. Calling it runs all that follows. */
typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *stub;
  PyObject *points; /* list: for each landing a point, or the callable that makes it when first needed */
} Steps;

static PyTypeObject *steps_type;
static PyObject *landings[2]; /* what a frame that is handed back ends with */

/* Which landing a stub's result has, or -1: it is what the function returns. */
static int landing_of(PyObject *r) {
  if (!PyTuple_CheckExact(r) || !PyTuple_GET_SIZE(r)) return -1;
  PyObject *mark = PyTuple_GET_ITEM(r, PyTuple_GET_SIZE(r) - 1);
  return mark == landings[0] ? 0 : mark == landings[1] ? 1 : -1;
}

/* The point of a landing: a new reference. */
static Jit *point_of(Steps *s, int landing) {
  PyObject *p = landing < PyList_GET_SIZE(s->points) ? PyList_GET_ITEM(s->points, landing) : NULL;
  if (p && Py_IS_TYPE(p, npc_jit_type)) return (Jit *)Py_NewRef(p);
  PyObject *made = p ? PyObject_CallNoArgs(p) : NULL;
  if (made && !Py_IS_TYPE(made, npc_jit_type)) Py_CLEAR(made);
  if (made && PyList_SetItem(s->points, landing, Py_NewRef(made)) < 0) Py_CLEAR(made);
  if (!made && !PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a stub stands at no point");
  return (Jit *)made;
}

/* Call what is pending; its parts are gone when this returns, but for the callee. */
static PyObject *call(PyObject *callee, Pending *p) {
  PyObject *value = p->value, *r;
  p->value = NULL;
  if (p->many) {
    r = PyObject_Call(callee, value, NULL);
  } else {
    PyObject *args[2] = {NULL, value};
    r = PyObject_Vectorcall(callee, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
  }
  Py_DECREF(value);
  return r;
}

/* An account of one call. idle: the first entry without gain since the last one with some. */
typedef struct { npc_i64 left, gained; Entry *idle; } Account;

static void note(Account *a, Entry *e) {
  if (e->gain > 0) {
    a->gained += e->gain;
    a->left += e->gain;
    if (a->left > STEPS * STEP_NS) a->left = STEPS * STEP_NS;
    if (a->idle) {
      a->idle->fruitless = 0;
      Py_CLEAR(a->idle);
    }
  } else if (!a->idle) {
    a->idle = (Entry *)Py_NewRef(e);
  }
}

static void settle(Account *a, int returned) {
  if (!a->idle) return;
  if (returned) a->idle->resting = rest(++a->idle->fruitless);
  Py_CLEAR(a->idle);
}

/* Everything after an entry has left; takes over what is pending. */
PyObject *npc_go_on(Pending *p) {
  Account account = {STEPS * STEP_NS, 0, NULL};
  PyObject *result = NULL;
  while (p->callee) {
    if (p->entry) note(&account, p->entry);
    Py_CLEAR(p->entry);
    PyObject *callee = p->callee;
    Steps *s = Py_IS_TYPE(callee, steps_type) ? (Steps *)callee : NULL;
    Jit *plain = p->plain;
    npc_i64 start = plain ? npc_now() : 0;
    p->callee = NULL;
    p->plain = NULL;
    result = call(s ? s->stub : callee, p);
    if (plain) {
      plain->waiting += 1e-9 * (double)(npc_now() - start);
      Py_DECREF(plain);
    }
    int landing = s && result ? landing_of(result) : -1;
    if (landing >= 0) {
      Jit *point = point_of(s, landing);
      Py_DECREF(callee);
      if (!point) {
        Py_CLEAR(result);
        break;
      }
      account.left -= STEP_NS;
      p->steps++;
      int allowed = account.left >= 0;
      if (!allowed && !point->resting) point->resting = rest(++point->exhausted);
      result = npc_point(point, result, allowed, p);
      Py_DECREF(point);
    } else {
      Py_DECREF(callee);
    }
  }
  if (p->entry) note(&account, p->entry);
  Py_CLEAR(p->entry);
  p->gained = account.gained;
  settle(&account, result != NULL);
  return result;
}

/* ------------------------------------------------------------------------------------------------ the type */

static PyObject *steps_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  if (PyVectorcall_NARGS(nargsf) != 1 || kwnames) return PyErr_Format(PyExc_TypeError, "a stub takes one argument");
  Pending p = {.callee = Py_NewRef(self), .value = Py_NewRef(args[0])};
  return npc_go_on(&p);
}

static PyObject *steps_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwds)) {
  PyObject *stub, *points;
  if (!PyArg_ParseTuple(args, "O!O!", &PyFunction_Type, &stub, &PyList_Type, &points)) return NULL;
  Steps *self = (Steps *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->vectorcall = steps_call;
  self->stub = Py_NewRef(stub);
  self->points = Py_NewRef(points);
  return (PyObject *)self;
}

static int steps_traverse(Steps *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(self->stub);
  Py_VISIT(self->points);
  return 0;
}

static void steps_dealloc(Steps *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(self->stub);
  Py_XDECREF(self->points);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyObject *set_landings(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *next, *target;
  if (!PyArg_ParseTuple(args, "OO", &next, &target)) return NULL;
  Py_XSETREF(landings[0], Py_NewRef(next));
  Py_XSETREF(landings[1], Py_NewRef(target));
  Py_RETURN_NONE;
}

static PyMemberDef steps_members[] = {
    {"stub", T_OBJECT, offsetof(Steps, stub), READONLY, "The function that runs some instructions and hands the frame back."},
    {"points", T_OBJECT, offsetof(Steps, points), READONLY, "Where the frame may stand then."},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Steps, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot steps_slots[] = {{Py_tp_new, steps_new},
                                    {Py_tp_dealloc, steps_dealloc},
                                    {Py_tp_traverse, steps_traverse},
                                    {Py_tp_call, PyVectorcall_Call},
                                    {Py_tp_members, steps_members},
                                    {Py_tp_doc, "Steps(stub, points): a stub that hands its frame back, and the points where it may stand then."},
                                    {0, NULL}};
static PyType_Spec steps_spec = {"npcompile.runtime._dispatch.Steps", sizeof(Steps), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, steps_slots};
static PyMethodDef points_methods[] = {
    {"set_landings", set_landings, METH_VARARGS, "What a frame ends with that is handed back: after the last instruction, at its target."},
    {NULL, NULL, 0, NULL}};

int npc_points_init(PyObject *module) {
  steps_type = (PyTypeObject *)PyType_FromSpec(&steps_spec);
  if (!steps_type || PyModule_AddObjectRef(module, "Steps", (PyObject *)steps_type) < 0) return -1;
  return PyModule_AddFunctions(module, points_methods);
}
