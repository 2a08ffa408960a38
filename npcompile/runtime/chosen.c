/* `a[mask]` of arrays side by side: NumPy looks for runs of chosen elements, which costs ten times as much where they change often. */
#include "runtime.h"

#define ONES 0x0101010101010101ull

/* How many bytes are true; -1 where some are neither 0 nor 1. */
static npc_i64 count(const unsigned char *m, npc_i64 n) {
  npc_i64 total = 0, i = 0;
  uint64_t odd = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t w;
    memcpy(&w, m + i, 8);
    odd |= w & ~ONES;
    total += (npc_i64)((w * ONES) >> 56);
  }
  for (; i < n; i++) {
    odd |= m[i] & ~1ull;
    total += m[i];
  }
  return odd ? -1 : total;
}

/* Elements go to the next free place, and the place moves on when they are chosen: no branch to be guessed. What would be written
   beyond the last place is left to the second loop. */
#define COPY(T)                                                                                                   \
  static void copy_##T(const T *x, const unsigned char *m, T *out, npc_i64 n, npc_i64 total) {                     \
    npc_i64 i = 0, k = 0;                                                                                         \
    for (; i + 8 <= n && k + 8 <= total; i += 8) {                                                                \
      uint64_t w;                                                                                                  \
      memcpy(&w, m + i, 8);                                                                                       \
      if (!w) continue;                                                                                           \
      if (w == ONES) {                                                                                            \
        memcpy(out + k, x + i, 8 * sizeof(T));                                                                    \
        k += 8;                                                                                                   \
        continue;                                                                                                 \
      }                                                                                                           \
      for (int j = 0; j < 8; j++) {                                                                               \
        out[k] = x[i + j];                                                                                        \
        k += m[i + j];                                                                                            \
      }                                                                                                           \
    }                                                                                                             \
    for (; k < total; i++)                                                                                        \
      if (m[i]) out[k++] = x[i];                                                                                  \
  }

typedef struct {
  uint64_t low, high;
} pair;
typedef unsigned char byte;
typedef unsigned short half;
typedef unsigned int word;
typedef uint64_t wide;
COPY(byte)
COPY(half)
COPY(word)
COPY(wide)
COPY(pair)

static int suits(PyArrayObject *a, PyArrayObject *m) {
  return PyArray_CheckExact(a) && PyArray_CheckExact(m) && PyArray_TYPE(m) == NPY_BOOL && PyTypeNum_ISNUMBER(PyArray_TYPE(a)) + PyTypeNum_ISBOOL(PyArray_TYPE(a)) &&
         PyArray_NDIM(a) == PyArray_NDIM(m) && PyArray_NDIM(a) > 0 && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(m), PyArray_NDIM(a)) &&
         PyArray_IS_C_CONTIGUOUS(a) && PyArray_IS_C_CONTIGUOUS(m) && PyArray_ISBEHAVED_RO(a);
}

static PyObject *chosen(PyObject *Py_UNUSED(module), PyObject *args) {
  PyArrayObject *a, *m;
  if (!PyArg_ParseTuple(args, "O!O!", &PyArray_Type, &a, &PyArray_Type, &m)) return NULL;
  npc_i64 n = PyArray_SIZE(m), size = PyArray_ITEMSIZE(a);
  const unsigned char *mask = PyArray_DATA(m);
  npc_i64 total = suits(a, m) && (size <= 8 || size == 16) ? count(mask, n) : -1;
  if (total < 0) return PyObject_GetItem((PyObject *)a, (PyObject *)m);
  npy_intp dims[] = {total};
  Py_INCREF(PyArray_DESCR(a));
  PyObject *out = PyArray_NewFromDescr(&PyArray_Type, PyArray_DESCR(a), 1, dims, NULL, NULL, 0, NULL);
  if (!out) return NULL;
  void *x = PyArray_DATA(a), *to = PyArray_DATA((PyArrayObject *)out);
  if (size == 1) copy_byte(x, mask, to, n, total);
  else if (size == 2) copy_half(x, mask, to, n, total);
  else if (size == 4) copy_word(x, mask, to, n, total);
  else if (size == 8) copy_wide(x, mask, to, n, total);
  else copy_pair(x, mask, to, n, total);
  return out;
}

static PyMethodDef methods[] = {{"chosen", chosen, METH_VARARGS, "chosen(a, mask) -> a[mask] of arrays of one shape."}, {NULL, NULL, 0, NULL}};

int npc_chosen_init(PyObject *module) { return PyModule_AddFunctions(module, methods); }
