/* Generators of random numbers, for segments that draw by themselves. Needs the GIL. Never: draws. */
#include "runtime.h"

enum { GENERATOR, RANDOM_STATE };
static struct { Py_ssize_t place; PyObject *global; } classes[2] = {{-1, NULL}, {-1, NULL}};

/* Wait until nobody draws from it: who holds its lock has let go of the GIL in the middle. */
static int wait_for(PyObject *generator) {
  PyObject *bits = PyObject_GetAttrString(generator, PyObject_HasAttrString(generator, "bit_generator") ? "bit_generator" : "_bit_generator");
  PyObject *lock = bits ? PyObject_GetAttrString(bits, "lock") : NULL;
  PyObject *r = lock ? PyObject_CallMethod(lock, "acquire", NULL) : NULL;
  if (r) Py_SETREF(r, PyObject_CallMethod(lock, "release", NULL));
  Py_XDECREF(bits);
  Py_XDECREF(lock);
  Py_XDECREF(r);
  return r ? 0 : -1;
}

void *npc_generator(npc_ctx *ctx, npc_i64 cls, npc_i64 k) {
  PyObject *generator = k < 0 ? classes[cls].global : npc_value(ctx, ctx->entry->objects[k]);
  uint64_t bit = k < 63 ? (uint64_t)1 << (k + 1) : 0;
  if (NPC_UNLIKELY(!(ctx->drawing & bit))) {
    if (wait_for(generator) < 0) return NULL;
    ctx->drawing |= bit;
  }
  return (char *)generator + classes[cls].place;
}

static PyObject *set_generator(PyObject *Py_UNUSED(module), PyObject *args) {
  PyObject *global;
  int cls;
  Py_ssize_t place;
  if (!PyArg_ParseTuple(args, "inO", &cls, &place, &global)) return NULL;
  if (cls < 0 || cls > 1) return PyErr_Format(PyExc_ValueError, "no class %d", cls);
  classes[cls].place = place;
  Py_XSETREF(classes[cls].global, Py_NewRef(global));
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_generator", set_generator, METH_VARARGS,
     "set_generator(class, place, global): where the `bitgen_t` is in objects of NumPy's Generator (0) or RandomState (1), and the "
     "global one."},
    {NULL, NULL, 0, NULL}};

int npc_draws_init(PyObject *module) { return PyModule_AddFunctions(module, methods); }
