/* Runs an entry's steps: fetches objects into registers, tests them, writes the segment's input words.
   In: bound arguments. Never keeps state between calls, never changes what it looks at. */
#include "runtime.h"

/* ------------------------------------------------------------------------------------------------ fetching */

static PyObject *dict_get(PyObject *dict, PyObject *key) { /* new reference, NULL without or with an exception */
  return Py_XNewRef(PyDict_GetItemWithError(dict, key));
}

static PyFunctionObject *function_of(const npc_ctx *ctx, int reg) {
  PyObject *f = reg < 0 ? ctx->jit->fn : npc_value(ctx, reg);
  if (PyMethod_Check(f)) f = PyMethod_GET_FUNCTION(f);
  if (Py_IS_TYPE(f, Py_TYPE(ctx->jit))) f = ((Jit *)f)->fn;
  return PyFunction_Check(f) ? (PyFunctionObject *)f : NULL;
}

static PyObject *fetch_global(const npc_ctx *ctx, const Step *s) {
  PyFunctionObject *f = function_of(ctx, s->src);
  if (!f || !PyDict_CheckExact(f->func_globals)) return NULL;
  PyObject *v = dict_get(f->func_globals, s->obj);
  if (v || PyErr_Occurred() || !PyDict_CheckExact(f->func_builtins)) return v;
  return dict_get(f->func_builtins, s->obj);
}

static PyObject *fetch_cell(const npc_ctx *ctx, const Step *s) {
  PyFunctionObject *f = function_of(ctx, s->src);
  if (!f || !f->func_closure || s->a >= PyTuple_GET_SIZE(f->func_closure)) return NULL;
  return PyCell_Get(PyTuple_GET_ITEM(f->func_closure, s->a));
}

static PyObject *fetch_attr(const npc_ctx *ctx, const Step *s) {
  PyObject *o = npc_value(ctx, s->src);
  if (PyModule_CheckExact(o) && s->a) { /* a: the name is not one of the module type's own */
    PyObject *v = dict_get(PyModule_GetDict(o), s->obj);
    if (v || PyErr_Occurred()) return v;
  }
  return PyObject_GetAttr(o, s->obj);
}

static PyObject *fetch_item(const npc_ctx *ctx, const Step *s) {
  PyObject *o = npc_value(ctx, s->src);
  npc_i64 i = s->a;
  if (PyTuple_Check(o)) {
    if (i < 0) i += PyTuple_GET_SIZE(o);
    return i >= 0 && i < PyTuple_GET_SIZE(o) ? Py_NewRef(PyTuple_GET_ITEM(o, i)) : NULL;
  }
  if (!PyList_Check(o)) return NULL;
  if (i < 0) i += PyList_GET_SIZE(o);
  return i >= 0 && i < PyList_GET_SIZE(o) ? Py_NewRef(PyList_GET_ITEM(o, i)) : NULL;
}

static PyObject *fetch(const npc_ctx *ctx, const Step *s) {
  PyFunctionObject *f;
  PyObject *o;
  switch (s->op) {
    case STEP_GLOBAL: return fetch_global(ctx, s);
    case STEP_CELL: return fetch_cell(ctx, s);
    case STEP_FUNCTION: return (f = function_of(ctx, s->src)) ? Py_NewRef((PyObject *)f) : NULL;
    case STEP_ATTR: return fetch_attr(ctx, s);
    case STEP_ITEM: return fetch_item(ctx, s);
    case STEP_KEY: return PyDict_Check(o = npc_value(ctx, s->src)) ? dict_get(o, s->obj) : NULL;
    case STEP_TYPE: return Py_NewRef((PyObject *)Py_TYPE(npc_value(ctx, s->src)));
    default: return Py_NewRef(s->obj); /* STEP_CONST */
  }
}

/* A failed fetch means "guard failed" when Python would raise an ordinary exception: the plain run raises it. */
static int fetch_failed(void) {
  if (!PyErr_Occurred()) return 0;
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;
  PyErr_Clear();
  return 0;
}

/* ------------------------------------------------------------------------------------------------ testing */

/* Exact type and equal value; objects of types without a value notion here must be identical. */
static int equal(PyObject *x, PyObject *y) {
  if (x == y) return 1;
  if (Py_TYPE(x) != Py_TYPE(y)) return 0;
  if (PyFloat_CheckExact(x)) {
    double a = PyFloat_AS_DOUBLE(x), b = PyFloat_AS_DOUBLE(y);
    return memcmp(&a, &b, sizeof a) == 0;
  }
  if (PyComplex_CheckExact(x)) {
    Py_complex a = PyComplex_AsCComplex(x), b = PyComplex_AsCComplex(y);
    return memcmp(&a, &b, sizeof a) == 0;
  }
  if (PyLong_CheckExact(x) || PyUnicode_CheckExact(x) || PyBytes_CheckExact(x)) return PyObject_RichCompareBool(x, y, Py_EQ);
  if (PyTuple_CheckExact(x)) {
    Py_ssize_t n = PyTuple_GET_SIZE(x);
    int ok = n == PyTuple_GET_SIZE(y);
    for (Py_ssize_t i = 0; ok == 1 && i < n; i++) ok = equal(PyTuple_GET_ITEM(x, i), PyTuple_GET_ITEM(y, i));
    return ok;
  }
  if (PyArray_DescrCheck(x)) {
    PyArray_Descr *a = (PyArray_Descr *)x, *b = (PyArray_Descr *)y;
    return a->type_num == b->type_num && a->byteorder == b->byteorder && PyTypeNum_ISNUMBER(a->type_num) &&
           !PyDataType_METADATA(a) && !PyDataType_METADATA(b);
  }
  return 0;
}

static npc_i64 magnitude(npc_i64 stride) { return stride < 0 ? -stride : stride; }

static int strides_match(const ArrayGuard *g, const npc_i64 *dims, const npc_i64 *strides) {
  for (int i = 0; i < g->rank; i++) {
    if (!g->layout[i]) {
      if (dims[i] != 1 && strides[i] != 0) return 0;
    } else {
      if (dims[i] == 1 || strides[i] == 0 || (strides[i] < 0) != g->negative[i]) return 0;
      if (g->unit < 0 && strides[i] == g->itemsize) return 0;
    }
  }
  if (g->unit >= 0 && strides[g->unit] != g->itemsize) return 0;
  for (int k = 1; k < g->n_order; k++) {
    int i = g->order[k - 1], j = g->order[k];
    npc_i64 x = magnitude(strides[i]), y = magnitude(strides[j]);
    if (g->layout[i] == g->layout[j] ? x != y : x >= y) return 0;
  }
  return 1;
}

/* Does an array that is not contiguous have the strides that the pattern asks for? */
int npc_layout_matches(const ArrayGuard *g, const View *v) {
  if (!strides_match(g, v->dims, v->strides)) return 0;
  return (!g->writeable && !g->overlaps) || npc_overlaps_itself(v) == g->overlaps;
}

static int array_matches(const ArrayGuard *g, PyObject *o, npc_i64 *w) {
  if (NPC_UNLIKELY(!PyArray_CheckExact(o))) return 0;
  PyArrayObject *a = (PyArrayObject *)o;
  if (PyArray_NDIM(a) != g->rank || (PyArray_FLAGS(a) & g->flag_mask) != g->flag_want) return 0;
  PyArray_Descr *d = PyArray_DESCR(a);
  if (NPC_UNLIKELY(d != g->descr)) /* unpickled arrays have a descriptor of their own */
    if (d->type_num != g->typenum || PyArray_ISBYTESWAPPED(a) || PyDataType_METADATA(d)) return 0;
  const npy_intp *dims = PyArray_DIMS(a), *strides = PyArray_STRIDES(a);
  *w++ = (npc_i64)(intptr_t)PyArray_DATA(a);
  for (int i = 0; i < g->rank; i++) {
    npc_i64 n = dims[i];
    if ((n == 1) != ((g->ones >> i) & 1)) return 0;
    w[i] = n;
    w[g->rank + i] = strides[i];
  }
  if (NPC_LIKELY(!g->strided)) return 1;
  View v = npc_array_view(a);
  return npc_layout_matches(g, &v);
}

static int int_matches(const Step *s, PyObject *o, npc_i64 *w) {
  if (!PyLong_CheckExact(o)) return 0;
#if PY_VERSION_HEX >= 0x030C0000
  if (NPC_LIKELY(PyUnstable_Long_IsCompact((PyLongObject *)o))) {
    *w = PyUnstable_Long_CompactValue((PyLongObject *)o);
    return *w >= s->a && *w <= s->b;
  }
#endif
  int overflow;
  *w = PyLong_AsLongLongAndOverflow(o, &overflow);
  return !overflow && *w >= s->a && *w <= s->b;
}

static int scalar_matches(const Step *s, PyObject *o, npc_i64 *w) {
  if ((PyObject *)Py_TYPE(o) != s->obj) return 0;
  *w = 0;
  PyArray_ScalarAsCtype(o, w);
  return 1;
}

static Py_ssize_t length(PyObject *o) {
  if (PyTuple_Check(o) || PyList_Check(o)) return Py_SIZE(o);
  return PyDict_Check(o) ? PyDict_GET_SIZE(o) : PyAnySet_Check(o) ? PySet_GET_SIZE(o) : PyUnicode_Check(o) ? PyUnicode_GET_LENGTH(o) : -1;
}

static int returns(PyObject *function, PyObject *value) {
  PyObject *got = PyObject_CallNoArgs(function);
  if (!got) return -1;
  int ok = PyObject_RichCompareBool(got, value, Py_EQ);
  Py_DECREF(got);
  return ok;
}

int npc_guards(npc_ctx *ctx, Entry *e, int *failed) {
  npc_i64 *w = ctx->in;
  PyObject **slot = ctx->slots;
  for (const Step *s = e->steps, *end = s + e->n_steps; s < end; s++) {
    int ok;
    if (s->op < STEP_IS) {
      PyObject *v = fetch(ctx, s);
      if (NPC_UNLIKELY(!v)) {
        *failed = s->guard;
        return fetch_failed();
      }
      ctx->regs[s->reg - e->n_args] = v;
      continue;
    }
    if (s->op == STEP_NAMES) {
      ok = npc_names_hold(ctx, s->names, failed);
      if (NPC_LIKELY(ok == 1)) continue;
      return ok < 0 ? fetch_failed() : 0;
    }
    if (s->op == STEP_SIZES) {
      if (npc_sizes_hold(s, ctx->in)) continue;
      *failed = s->guard;
      return 0;
    }
    PyObject *o = npc_value(ctx, s->src);
    switch (s->op) {
      case STEP_ARRAY:
        ok = array_matches(s->array, o, w);
        w += 1 + 2 * s->array->rank;
        *slot++ = o;
        break;
      case STEP_TENSOR:
        ok = npc_libraries[s->array->library]->matches(s->array, o, w);
        w += 1 + 2 * s->array->rank;
        *slot++ = o;
        break;
      case STEP_OPAQUE_TENSOR: ok = npc_libraries[s->a]->is_opaque(o); break;
      case STEP_TORCH: ok = npc_torch_modes((int)(s->a & 1), (int)s->b, (int)(s->a >> 1) - 1); break;
      case STEP_LOOKUP: ok = _PyType_Lookup(Py_TYPE(o), PyTuple_GET_ITEM(s->obj, 0)) == (s->a ? PyTuple_GET_ITEM(s->obj, 1) : NULL); break;
      case STEP_DISTINCT: ok = o != npc_value(ctx, (int)s->a); break;
      case STEP_SAME: ok = o == npc_value(ctx, (int)s->a); break;
      case STEP_RETURNS: ok = returns(o, s->obj); break;
      case STEP_ABSENT: ok = PyDict_CheckExact(o) ? 1 - PyDict_Contains(o, s->obj) : !PyObject_HasAttr(o, s->obj); break;
      case STEP_RANGE_ITER:
        ok = npc_range_position(o, w);
        w += 3;
        break;
      case STEP_IS: ok = o == s->obj; break;
      case STEP_IS_TYPE: ok = (PyObject *)Py_TYPE(o) == s->obj; break;
      case STEP_EQUAL: ok = equal(o, s->obj); break;
      case STEP_UNEQUAL:
        ok = equal(o, s->obj);
        ok = ok < 0 ? ok : !ok;
        break;
      case STEP_CODE: ok = PyFunction_Check(o) && PyFunction_GET_CODE(o) == s->obj; break;
      case STEP_LEN: ok = length(o) == s->a; break;
      case STEP_LENGTH:
        *w = length(o);
        ok = *w >= 0 && *w <= INT32_MAX;
        w++;
        break;
      case STEP_INT: ok = int_matches(s, o, w++); break;
      case STEP_FLOAT:
        if ((ok = PyFloat_CheckExact(o))) memcpy(w, &((PyFloatObject *)o)->ob_fval, sizeof *w);
        w++;
        break;
      case STEP_COMPLEX:
        if ((ok = PyComplex_CheckExact(o))) memcpy(w, &((PyComplexObject *)o)->cval, 2 * sizeof *w);
        w += 2;
        break;
      case STEP_BOOL:
        ok = PyBool_Check(o);
        *w++ = o == Py_True;
        break;
      default: /* STEP_SCALAR */
        ok = scalar_matches(s, o, w);
        w += s->a;
    }
    if (NPC_UNLIKELY(ok != 1)) {
      *failed = s->guard;
      return ok < 0 ? fetch_failed() : 0;
    }
  }
  return 1;
}

/* ------------------------------------------------------------------------------------------------ parsing */

/* The flag of results of `broadcast_arrays`, which NumPy's headers do not name any more. */
#define WARN_ON_WRITE ((int)(1u << 31))

/* spec: (dtype, rank, ones, contiguous 0 "" 1 "C" 2 "F", layout, negative, unit, writeable, overlaps,
   access, library, device type, device) */
static ArrayGuard *parse_array(PyObject *spec) {
  PyArray_Descr *descr;
  PyObject *ones, *layout, *negative;
  int contiguous;
  ArrayGuard *g = PyMem_Calloc(1, sizeof *g);
  if (!g) return (ArrayGuard *)PyErr_NoMemory();
  if (!PyArg_ParseTuple(spec, "O!iO!iO!O!iiiiiii", &PyArrayDescr_Type, &descr, &g->rank, &PyTuple_Type, &ones, &contiguous,
                        &PyTuple_Type, &layout, &PyTuple_Type, &negative, &g->unit, &g->writeable, &g->overlaps, &g->access, &g->library,
                        &g->device_type, &g->device))
    goto bad;
  g->contiguous = contiguous;
  g->strided = contiguous == 0;
  if (g->rank < 0 || g->rank > NPC_MAXDIMS || g->library < 0 || g->library >= LIBRARY_COUNT || !PyTypeNum_ISNUMBER(descr->type_num) ||
      (g->strided && (PyTuple_GET_SIZE(layout) != g->rank || PyTuple_GET_SIZE(negative) != g->rank || g->unit >= g->rank))) {
    PyErr_SetString(PyExc_ValueError, "bad array guard");
    goto bad;
  }
  g->typenum = descr->type_num;
  g->descr = PyArray_DescrFromType(g->typenum); /* a singleton that lives for ever */
  g->itemsize = (int)PyDataType_ELSIZE(descr);
  g->flag_mask = NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS | (contiguous == 1 ? 0 : NPY_ARRAY_F_CONTIGUOUS);
  g->flag_want = NPY_ARRAY_ALIGNED | (contiguous == 1 ? NPY_ARRAY_C_CONTIGUOUS : contiguous == 2 ? NPY_ARRAY_F_CONTIGUOUS : 0);
  g->flag_mask |= WARN_ON_WRITE; /* compiled code would store without the warning */
  if (g->writeable || g->access) g->flag_mask |= NPY_ARRAY_WRITEABLE;
  if (g->writeable || g->access == 2) g->flag_want |= NPY_ARRAY_WRITEABLE;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(ones); k++) {
    long axis = PyLong_AsLong(PyTuple_GET_ITEM(ones, k));
    if (axis < 0 || axis >= g->rank) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "bad axis in array guard");
      goto bad;
    }
    g->ones |= 1LL << axis;
  }
  for (int i = 0; g->strided && i < g->rank; i++) {
    g->layout[i] = (unsigned char)PyLong_AsLong(PyTuple_GET_ITEM(layout, i));
    g->negative[i] = PyObject_IsTrue(PyTuple_GET_ITEM(negative, i)) == 1;
    if (!g->layout[i]) continue;
    int k = g->n_order++;
    for (; k > 0 && g->layout[g->order[k - 1]] > g->layout[i]; k--) g->order[k] = g->order[k - 1];
    g->order[k] = (unsigned char)i;
  }
  if (!PyErr_Occurred()) return g;
bad:
  PyMem_Free(g);
  return NULL;
}

/* One step: (op, guard, reg, src, obj, a, b); obj of an "array" step is its spec. Registers below n_args + n_regs. */
static int parse_step(Entry *e, PyObject *t, Step *s) {
  PyObject *obj;
  if (!PyTuple_Check(t) || !PyArg_ParseTuple(t, "iiiiOLL", &s->op, &s->guard, &s->reg, &s->src, &obj, &s->a, &s->b)) return -1;
  int limit = e->n_args + e->n_regs, needs_src = s->op > STEP_FUNCTION && s->op != STEP_CONST && s->op != STEP_NAMES && s->op != STEP_SIZES;
  if (s->op < 0 || s->op >= STEP_COUNT || s->guard < 0 || s->guard >= e->n_guards || s->src >= limit ||
      (s->src < 0 && needs_src) || (s->op < STEP_IS && (s->reg < e->n_args || s->reg >= limit))) {
    PyErr_SetString(PyExc_ValueError, "bad guard step");
    return -1;
  }
  s->obj = obj;
  switch (s->op) {
    case STEP_ARRAY:
    case STEP_TENSOR:
      if (!(s->array = parse_array(obj))) return -1;
      e->arrays[e->n_arrays++] = (ArrayInput){s->array, e->n_words};
      e->n_words += 1 + 2 * s->array->rank;
      break;
    case STEP_INT:
    case STEP_LENGTH:
    case STEP_FLOAT:
    case STEP_BOOL: e->n_words += 1; break;
    case STEP_COMPLEX: e->n_words += 2; break;
    case STEP_RANGE_ITER: e->n_words += 3; break;
    case STEP_SCALAR:
      if (s->a < 1 || s->a > 2 || !PyType_Check(obj) || !PyType_IsSubtype((PyTypeObject *)obj, &PyNumberArrType_Type)) {
        if (obj == (PyObject *)&PyBoolArrType_Type && s->a == 1) {
          e->n_words += 1;
          break;
        }
        PyErr_SetString(PyExc_ValueError, "bad scalar guard");
        return -1;
      }
      e->n_words += (int)s->a;
      break;
    case STEP_LOOKUP:
      if (!PyTuple_Check(obj) || PyTuple_GET_SIZE(obj) != 1 + s->a || !PyUnicode_Check(PyTuple_GET_ITEM(obj, 0)))
        return PyErr_SetString(PyExc_ValueError, "bad lookup guard"), -1;
      break;
    case STEP_DISTINCT:
    case STEP_SAME:
      if (s->a < 0 || s->a >= limit) return PyErr_SetString(PyExc_ValueError, "bad guard step"), -1;
      break;
    case STEP_NAMES:
      if (!(s->names = npc_parse_names(obj, e->n_guards))) return -1;
      break;
    case STEP_SIZES:
      if (!(s->program = npc_parse_sizes(obj, e->n_words, &s->a))) return -1;
      break;
    case STEP_ATTR: {
      PyObject *own = PyObject_GetAttr((PyObject *)&PyModule_Type, obj);
      s->a = own == NULL;
      Py_XDECREF(own);
      if (!own) PyErr_Clear();
    }
  }
  return 0;
}

int npc_parse_steps(Entry *e, PyObject *steps) {
  e->n_steps = (int)PyTuple_GET_SIZE(steps);
  e->steps = PyMem_Calloc(e->n_steps + 1, sizeof(Step));
  e->arrays = PyMem_Calloc(e->n_steps + 1, sizeof(ArrayInput));
  if (!e->steps || !e->arrays) return PyErr_NoMemory(), -1;
  for (int i = 0; i < e->n_steps; i++)
    if (parse_step(e, PyTuple_GET_ITEM(steps, i), &e->steps[i]) < 0) return -1;
  return 0;
}

void npc_free_steps(Entry *e) {
  for (int i = 0; e->steps && i < e->n_steps; i++) {
    PyMem_Free(e->steps[i].array);
    PyMem_Free(e->steps[i].names);
    PyMem_Free(e->steps[i].program);
  }
  PyMem_Free(e->steps);
}
