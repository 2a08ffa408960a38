/* Exits: runs the postfix program of the exit taken, which builds Python objects from captures, and returns the one
   built or leaves all of them pending for the exit's continuation. */
#include "runtime.h"
#include <structmember.h>

/* ------------------------------------------------------------------------------------------------ numbers */

/* An integer of any NumPy type, from raw bits in the low bytes of a word. */
static PyObject *python_int(const npc_i64 *w, int typenum) {
  switch (typenum) {
    case NPY_BYTE: return PyLong_FromLong(*(const int8_t *)w);
    case NPY_UBYTE: return PyLong_FromLong(*(const uint8_t *)w);
    case NPY_SHORT: return PyLong_FromLong(*(const int16_t *)w);
    case NPY_USHORT: return PyLong_FromLong(*(const uint16_t *)w);
    case NPY_INT: return PyLong_FromLong(*(const int32_t *)w);
    case NPY_UINT: return PyLong_FromUnsignedLong(*(const uint32_t *)w);
    case NPY_ULONG:
    case NPY_ULONGLONG: return PyLong_FromUnsignedLongLong((unsigned long long)*w);
    case NPY_BOOL: return PyLong_FromLong(*(const uint8_t *)w != 0);
    default: return PyLong_FromLongLong(*w);
  }
}

/* Through the NumPy scalar, whose conversion is the definition; only float16 and float32 come here. */
static PyObject *through_scalar(const npc_i64 *w, int typenum, int is_complex) {
  PyArray_Descr *d = PyArray_DescrFromType(typenum);
  PyObject *s = PyArray_Scalar((void *)w, d, NULL), *r = NULL;
  Py_DECREF(d);
  if (s && is_complex) {
    Py_complex c = PyComplex_AsCComplex(s);
    r = c.real == -1.0 && PyErr_Occurred() ? NULL : PyComplex_FromCComplex(c);
  } else if (s) {
    r = PyNumber_Float(s);
  }
  Py_XDECREF(s);
  return r;
}

static PyObject *python_float(const npc_i64 *w, int typenum) {
  double d;
  if (typenum != NPY_DOUBLE) return through_scalar(w, typenum, 0);
  memcpy(&d, w, sizeof d);
  return PyFloat_FromDouble(d);
}

static PyObject *python_complex(const npc_i64 *w, int typenum) {
  Py_complex c;
  if (typenum != NPY_CDOUBLE) return through_scalar(w, typenum, 1);
  memcpy(&c, w, sizeof c);
  return PyComplex_FromCComplex(c);
}

static PyObject *numpy_scalar(const npc_i64 *w, int typenum) {
  if (typenum == NPY_DOUBLE) { /* the common one, without NumPy's long way round */
    PyObject *o = PyArrayScalar_New(Double);
    if (o) memcpy(&PyArrayScalar_VAL(o, Double), w, sizeof(double));
    return o;
  }
  PyArray_Descr *d = PyArray_DescrFromType(typenum);
  PyObject *o = d ? PyArray_Scalar((void *)w, d, NULL) : NULL;
  Py_XDECREF(d);
  return o;
}

/* ------------------------------------------------------------------------------------------------ containers */

static PyObject *build_dict(PyObject **v, int n) {
  PyObject *d = PyDict_New();
  for (int i = 0; d && i < n; i += 2)
    if (PyDict_SetItem(d, v[i], v[i + 1]) < 0) Py_CLEAR(d);
  return d;
}

static PyObject *build_set(PyObject **v, int n) {
  PyObject *s = PySet_New(NULL);
  for (int i = 0; s && i < n; i++)
    if (PySet_Add(s, v[i]) < 0) Py_CLEAR(s);
  return s;
}

static PyObject *build_tuple(PyObject **v, int n) {
  PyObject *t = PyTuple_New(n);
  for (int i = 0; t && i < n; i++) PyTuple_SET_ITEM(t, i, Py_NewRef(v[i]));
  return t;
}

static PyObject *build_list(PyObject **v, int n) {
  PyObject *l = PyList_New(n);
  for (int i = 0; l && i < n; i++) PyList_SET_ITEM(l, i, Py_NewRef(v[i]));
  return l;
}

static PyObject *build_range(PyObject **v, int iterator) {
  PyObject *r = PyObject_CallFunctionObjArgs((PyObject *)&PyRange_Type, v[0], v[1], v[2], NULL), *it = NULL;
  if (!r || !iterator) return r;
  it = PyObject_GetIter(r);
  Py_DECREF(r);
  return it;
}

/* items: globals, defaults, keyword defaults, closure, qualified name, annotations (flat); the second to fourth and the
   last may be absent */
static PyObject *build_function(PyObject *code, PyObject **v) {
  PyObject *f = PyFunction_NewWithQualName(code, v[0], v[4]), *annotations = NULL;
  if (!f) return NULL;
  if (v[5]) annotations = PyTuple_Check(v[5]) ? build_dict(&PyTuple_GET_ITEM(v[5], 0), (int)PyTuple_GET_SIZE(v[5])) : Py_NewRef(v[5]);
  if ((v[1] && PyFunction_SetDefaults(f, v[1]) < 0) || (v[2] && PyFunction_SetKwDefaults(f, v[2]) < 0) ||
      (v[3] && PyFunction_SetClosure(f, v[3]) < 0) || (v[5] && (!annotations || PyFunction_SetAnnotations(f, annotations) < 0)))
    Py_CLEAR(f);
  Py_XDECREF(annotations);
  return f;
}

static PyObject *build_method(PyObject **v) {
  descrgetfunc get = Py_TYPE(v[0])->tp_descr_get;
  return get ? get(v[0], v[1], (PyObject *)Py_TYPE(v[1])) : PyMethod_New(v[0], v[1]);
}

enum { OPEN_LIST, OPEN_DICT, OPEN_CELL };
static PyObject *open_container(int kind) { return kind == OPEN_LIST ? PyList_New(0) : kind == OPEN_DICT ? PyDict_New() : PyCell_New(NULL); }

/* v[0] is the container, its n items follow. */
static PyObject *fill_container(PyObject **v, int n) {
  PyObject *c = v[0];
  int r = 0;
  for (int i = 1; i <= n && r == 0; i++) {
    if (PyList_CheckExact(c)) r = PyList_Append(c, v[i]);
    else if (PyCell_Check(c)) r = PyCell_Set(c, v[i]);
    else if (i & 1) r = PyDict_SetItem(c, v[i], v[i + 1]);
  }
  return r < 0 ? NULL : Py_NewRef(c);
}

/* ------------------------------------------------------------------------------------------------ running */

static PyObject *build(npc_ctx *ctx, const Build *b, PyObject **v, PyObject **shared) {
  const npc_i64 *w = ctx->out + 2 * b->a;
  switch (b->op) {
    case BUILD_INT: return python_int(w, b->b);
    case BUILD_FLOAT: return python_float(w, b->b);
    case BUILD_BOOL: return PyBool_FromLong(*(const uint8_t *)w != 0);
    case BUILD_COMPLEX: return python_complex(w, b->b);
    case BUILD_SCALAR: return numpy_scalar(w, b->b);
    case BUILD_ARRAY:
      if (ctx->captures[b->a]) return Py_NewRef(ctx->captures[b->a]);
      PyErr_Format(PyExc_SystemError, "segment left capture %d without an object", b->a);
      return NULL;
    case BUILD_REG: return Py_NewRef(npc_value(ctx, b->a));
    case BUILD_CONST: return Py_NewRef(b->obj);
    case BUILD_TUPLE: return build_tuple(v, b->a);
    case BUILD_LIST: return build_list(v, b->a);
    case BUILD_SET: return build_set(v, b->a);
    case BUILD_DICT: return build_dict(v, b->a);
    case BUILD_SLICE: return PySlice_New(v[0], v[1], v[2]);
    case BUILD_RANGE: return build_range(v, 0);
    case BUILD_RANGE_ITER: return build_range(v, 1);
    case BUILD_CELL: return PyCell_New(v[0]);
    case BUILD_FUNCTION: return build_function(b->obj, v);
    case BUILD_METHOD: return build_method(v);
    case BUILD_CALL: return PyObject_Vectorcall(b->obj, v, b->a, NULL);
    case BUILD_CHOOSE: return Py_NewRef(*(const uint8_t *)w ? v[0] : v[1]);
    case BUILD_OPEN: return Py_XNewRef(shared[b->b] = open_container(b->a));
    case BUILD_FILL: return fill_container(v, b->a);
    case BUILD_DEFINE: return Py_NewRef(shared[b->b] = Py_NewRef(v[0]));
    default: return Py_NewRef(shared[b->b]); /* BUILD_SHARED */
  }
}

/* How many stack entries an instruction takes. */
static int arity(const Build *b) {
  switch (b->op) {
    case BUILD_TUPLE:
    case BUILD_LIST:
    case BUILD_SET:
    case BUILD_CALL:
    case BUILD_DICT: return b->a;
    case BUILD_FILL: return b->a + 1;
    case BUILD_SLICE:
    case BUILD_RANGE:
    case BUILD_RANGE_ITER: return 3;
    case BUILD_CELL:
    case BUILD_DROP:
    case BUILD_DEFINE: return 1;
    case BUILD_FUNCTION: return 6;
    case BUILD_CHOOSE:
    case BUILD_METHOD: return 2;
    default: return 0;
  }
}

static void release(PyObject **shared, int n) {
  for (int i = 0; i < n; i++) Py_CLEAR(shared[i]);
}

PyObject *npc_exit(npc_ctx *ctx, Exit *x, Pending *pending) {
  x->taken++;
  for (int i = 0; i < x->n_stored; i++)
    if (NPC_UNLIKELY(ctx->entry->library->stored(ctx, x->stored[i]) < 0)) return NULL;
  if (NPC_LIKELY(x->array_capture >= 0 && ctx->captures[x->array_capture])) {
    PyObject *r = ctx->captures[x->array_capture];
    ctx->captures[x->array_capture] = NULL;
    return r;
  }
  /* Room below the first value serves BUILD_CALL. Objects under "define" are held until all is built. */
  PyObject **bottom = ctx->stack + 1, **top = bottom, **shared = bottom + x->depth, *result = NULL;
  int failed = 0;
  memset(shared, 0, x->n_shared * sizeof(PyObject *));
  for (const Build *b = x->code, *end = b + x->n_code; b < end; b++) {
    if (b->op == BUILD_NULL) {
      *top++ = NULL;
      continue;
    }
    if (b->op == BUILD_DROP) {
      --top;
      Py_DECREF(*top);
      continue;
    }
    int n = arity(b);
    PyObject *v = build(ctx, b, top - n, shared);
    if (NPC_UNLIKELY(!v)) {
      failed = 1;
      break;
    }
    for (; n > 0; n--) {
      --top;
      Py_XDECREF(*top);
    }
    *top++ = v;
  }
  release(shared, x->n_shared);
  if (failed) {
    result = NULL;
  } else if (!x->resume) {
    result = *--top;
  } else if ((pending->many = top - bottom != 1) == 0) {
    pending->value = *--top;
    pending->callee = Py_NewRef(x->resume);
  } else if ((pending->value = build_tuple(bottom, (int)(top - bottom)))) {
    pending->callee = Py_NewRef(x->resume);
  }
  while (top > bottom) {
    --top;
    Py_XDECREF(*top);
  }
  return result;
}

/* ------------------------------------------------------------------------------------------------ parsing */

/* One instruction: (op, a, b, obj). Keeps track of the stack's depth. */
static int parse_build(Entry *e, Exit *x, PyObject *t, Build *b, int *depth) {
  if (!PyTuple_Check(t) || !PyArg_ParseTuple(t, "iiiO", &b->op, &b->a, &b->b, &b->obj)) return -1;
  int ok = b->op >= 0 && b->op < BUILD_COUNT && b->a >= 0;
  if (b->op <= BUILD_ARRAY || b->op == BUILD_CHOOSE) ok = ok && b->a < x->n_captures;
  if (b->op == BUILD_REG) ok = ok && b->a < e->n_args + e->n_regs;
  if (b->op == BUILD_FUNCTION) ok = ok && PyCode_Check(b->obj);
  if (b->op == BUILD_DEFINE || b->op == BUILD_SHARED || b->op == BUILD_OPEN) {
    ok = ok && b->b >= 0;
    if (b->b >= x->n_shared) x->n_shared = b->b + 1;
  }
  *depth -= ok ? arity(b) : 0;
  if (!ok || *depth < 0) return PyErr_SetString(PyExc_ValueError, "bad exit program"), -1;
  *depth += b->op != BUILD_DROP;
  if (*depth > x->depth) x->depth = *depth;
  return 0;
}

/* One exit: (resume or None, number of captures, instructions, slots of tensors stored to). */
static int parse_exit(Entry *e, PyObject *t, Exit *x) {
  PyObject *resume, *code, *stored;
  PyTypeObject *tuple = &PyTuple_Type;
  int depth = 0;
  if (!PyTuple_Check(t) || !PyArg_ParseTuple(t, "OiO!O!", &resume, &x->n_captures, tuple, &code, tuple, &stored)) return -1;
  x->n_stored = (int)PyTuple_GET_SIZE(stored);
  if (!(x->stored = PyMem_Calloc(x->n_stored + 1, sizeof(int)))) return PyErr_NoMemory(), -1;
  for (int i = 0; i < x->n_stored; i++) {
    x->stored[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(stored, i));
    if (x->stored[i] < 0 || x->stored[i] >= e->n_arrays) return PyErr_SetString(PyExc_ValueError, "bad exit program"), -1;
  }
  x->resume = resume == Py_None ? NULL : resume;
  x->n_code = (int)PyTuple_GET_SIZE(code);
  if (!(x->code = PyMem_Calloc(x->n_code + 1, sizeof(Build)))) return PyErr_NoMemory(), -1;
  for (int i = 0; i < x->n_code; i++)
    if (parse_build(e, x, PyTuple_GET_ITEM(code, i), &x->code[i], &depth) < 0) return -1;
  if (!x->resume && depth != 1) return PyErr_SetString(PyExc_ValueError, "a return exit builds one object"), -1;
  x->array_capture = !x->resume && x->n_code == 1 && x->code[0].op == BUILD_ARRAY ? x->code[0].a : -1;
  if (x->n_captures > e->n_captures) e->n_captures = x->n_captures;
  if (x->depth + 1 > e->n_stack) e->n_stack = x->depth + 1;
  if (x->n_shared > e->n_shared) e->n_shared = x->n_shared;
  return 0;
}

int npc_parse_exits(Entry *e, PyObject *exits) {
  e->n_exits = (int)PyTuple_GET_SIZE(exits);
  if (!(e->exits = PyMem_Calloc(e->n_exits + 1, sizeof(Exit)))) return PyErr_NoMemory(), -1;
  for (int i = 0; i < e->n_exits; i++)
    if (parse_exit(e, PyTuple_GET_ITEM(exits, i), &e->exits[i]) < 0) return -1;
  return 0;
}

void npc_free_exits(Entry *e) {
  for (int i = 0; e->exits && i < e->n_exits; i++) {
    PyMem_Free(e->exits[i].code);
    PyMem_Free(e->exits[i].stored);
  }
  PyMem_Free(e->exits);
}
