/* How two arrays share memory: not at all, being the same view, or some other way. Exact where it says "disjoint".
   Never touches the data. Needs the GIL (the last resort asks NumPy's bounded solver). */
#include "runtime.h"

static PyObject *shares_memory, *too_hard; /* set once at import, kept for ever */
#define MAX_WORK 1000

View npc_array_view(PyArrayObject *a) {
  return (View){PyArray_BYTES(a),           PyArray_NDIM(a),                   (int)PyArray_ITEMSIZE(a), PyArray_TYPE(a),
                (npc_i64 *)PyArray_DIMS(a), (const npc_i64 *)PyArray_STRIDES(a)};
}

/* First byte and one past the last; 0 when the array has no element. */
static int extent(const View *a, npc_i64 *lo, npc_i64 *hi) {
  *lo = (npc_i64)(intptr_t)a->data;
  *hi = *lo + a->itemsize;
  for (int i = 0; i < a->rank; i++) {
    npc_i64 n = a->dims[i], s = a->strides[i] * (n - 1);
    if (n == 0) return 0;
    if (s < 0) *lo += s;
    else *hi += s;
  }
  return 1;
}

static npc_i64 gcd(npc_i64 a, npc_i64 b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b) {
    npc_i64 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static npc_i64 stride_gcd(const View *a, npc_i64 g) {
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != 1) g = gcd(g, a->strides[i]);
  return g;
}

static int same_view(const View *a, const View *b) {
  if (a->data != b->data || a->rank != b->rank || a->itemsize != b->itemsize) return 0;
  for (int i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) return 0;
    if (a->dims[i] != 1 && a->strides[i] != b->strides[i]) return 0;
  }
  return 1;
}

/* A NumPy array on the same memory, which is not touched (it may be a device's). */
static PyObject *as_array(const View *a) {
  return PyArray_New(&PyArray_Type, a->rank, (npy_intp *)a->dims, a->typenum, (npy_intp *)a->strides, a->data, a->itemsize, 0, NULL);
}

int npc_alias(const View *a, const View *b) {
  npc_i64 alo, ahi, blo, bhi;
  if (!extent(a, &alo, &ahi) || !extent(b, &blo, &bhi) || ahi <= blo || bhi <= alo) return ALIAS_DISJOINT;
  if (same_view(a, b)) return ALIAS_SAME;
  /* All elements of a start at alo + k*g, those of b at blo + k*g: disjoint when their residues are (A[:,0] and A[:,1]). */
  npc_i64 g = stride_gcd(b, stride_gcd(a, 0));
  if (g) {
    npc_i64 off = ((blo - alo) % g + g) % g;
    if (off >= a->itemsize && off + b->itemsize <= g) return ALIAS_DISJOINT;
  }
  PyObject *work = PyLong_FromLong(MAX_WORK), *x = as_array(a), *y = as_array(b), *r = NULL;
  if (work && x && y) r = PyObject_CallFunctionObjArgs(shares_memory, x, y, work, NULL);
  Py_XDECREF(work);
  Py_XDECREF(x);
  Py_XDECREF(y);
  if (!r) {
    if (!PyErr_ExceptionMatches(too_hard)) return -1;
    PyErr_Clear();
    return ALIAS_OTHER;
  }
  int shared = PyObject_IsTrue(r);
  Py_DECREF(r);
  return shared ? ALIAS_OTHER : ALIAS_DISJOINT;
}

/* Can two index tuples name the same byte? Sufficient test: axes by growing stride do not reach into the next. */
int npc_overlaps_itself(const View *a) {
  npc_i64 strides[NPC_MAXDIMS], reach[NPC_MAXDIMS], span = a->itemsize;
  int n = 0;
  for (int i = 0; i < a->rank; i++) {
    npc_i64 d = a->dims[i], s = a->strides[i];
    if (d == 0) return 0;
    if (d == 1) continue;
    if (s < 0) s = -s;
    int k = n++;
    for (; k > 0 && strides[k - 1] > s; k--) strides[k] = strides[k - 1], reach[k] = reach[k - 1];
    strides[k] = s;
    reach[k] = s * (d - 1);
  }
  for (int k = 0; k < n; k++) {
    if (strides[k] < span) return 1;
    span += reach[k];
  }
  return 0;
}

int npc_alias_init(void) {
  PyObject *np = PyImport_ImportModule("numpy"), *ex = PyImport_ImportModule("numpy.exceptions");
  if (np && ex) {
    shares_memory = PyObject_GetAttrString(np, "shares_memory");
    too_hard = PyObject_GetAttrString(ex, "TooHardError");
  }
  Py_XDECREF(np);
  Py_XDECREF(ex);
  return shares_memory && too_hard ? 0 : -1;
}
