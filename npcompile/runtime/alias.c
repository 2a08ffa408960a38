/* How two arrays share memory: not at all, being the same view, or some other way. Exact where it says "disjoint".
   Never touches the data. Needs the GIL (the last resort asks NumPy's bounded solver). */
#include "runtime.h"

static PyObject *shares_memory, *too_hard; /* set once at import, kept for ever */
#define MAX_WORK 1000

/* First byte and one past the last; 0 when the array has no element. */
static int extent(PyArrayObject *a, npc_i64 *lo, npc_i64 *hi) {
  *lo = (npc_i64)(intptr_t)PyArray_DATA(a);
  *hi = *lo + PyArray_ITEMSIZE(a);
  for (int i = 0; i < PyArray_NDIM(a); i++) {
    npc_i64 n = PyArray_DIM(a, i), s = PyArray_STRIDE(a, i) * (n - 1);
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

static npc_i64 stride_gcd(PyArrayObject *a, npc_i64 g) {
  for (int i = 0; i < PyArray_NDIM(a); i++)
    if (PyArray_DIM(a, i) != 1) g = gcd(g, PyArray_STRIDE(a, i));
  return g;
}

static int same_view(PyArrayObject *a, PyArrayObject *b) {
  int n = PyArray_NDIM(a);
  if (PyArray_DATA(a) != PyArray_DATA(b) || n != PyArray_NDIM(b) || PyArray_ITEMSIZE(a) != PyArray_ITEMSIZE(b)) return 0;
  for (int i = 0; i < n; i++) {
    if (PyArray_DIM(a, i) != PyArray_DIM(b, i)) return 0;
    if (PyArray_DIM(a, i) != 1 && PyArray_STRIDE(a, i) != PyArray_STRIDE(b, i)) return 0;
  }
  return 1;
}

int npc_alias(PyArrayObject *a, PyArrayObject *b) {
  npc_i64 alo, ahi, blo, bhi;
  if (!extent(a, &alo, &ahi) || !extent(b, &blo, &bhi) || ahi <= blo || bhi <= alo) return ALIAS_DISJOINT;
  if (same_view(a, b)) return ALIAS_SAME;
  /* All elements of a start at alo + k*g, those of b at blo + k*g: disjoint when their residues are (A[:,0] and A[:,1]). */
  npc_i64 g = stride_gcd(b, stride_gcd(a, 0));
  if (g) {
    npc_i64 off = ((blo - alo) % g + g) % g;
    if (off >= PyArray_ITEMSIZE(a) && off + PyArray_ITEMSIZE(b) <= g) return ALIAS_DISJOINT;
  }
  PyObject *work = PyLong_FromLong(MAX_WORK), *r = NULL;
  if (work) r = PyObject_CallFunctionObjArgs(shares_memory, a, b, work, NULL);
  Py_XDECREF(work);
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
int npc_overlaps_itself(PyArrayObject *a) {
  npc_i64 strides[NPC_MAXDIMS], reach[NPC_MAXDIMS], span = PyArray_ITEMSIZE(a);
  int n = 0;
  for (int i = 0; i < PyArray_NDIM(a); i++) {
    npc_i64 d = PyArray_DIM(a, i), s = PyArray_STRIDE(a, i);
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
