/* Reads the position of a range iterator, so that the rest of a loop can run natively. The struct is private to CPython: a
   self-test at import shows whether it is as we know it; otherwise no iterator is taken. */
#include "runtime.h"

#if PY_VERSION_HEX >= 0x030C0000
typedef struct { PyObject_HEAD long start, step, len; } RangeIter; /* start moves on, len counts down */
static long next_of(const RangeIter *r) { return r->start; }
static long rest_of(const RangeIter *r) { return r->len; }
#else
typedef struct { PyObject_HEAD long index, start, step, len; } RangeIter;
static long next_of(const RangeIter *r) { return r->start + r->index * r->step; }
static long rest_of(const RangeIter *r) { return r->len - r->index; }
#endif

static int known;

int npc_range_position(PyObject *o, npc_i64 *w) {
  if (!known || !Py_IS_TYPE(o, &PyRangeIter_Type) || Py_REFCNT(o) != 1) return 0;
  const RangeIter *r = (RangeIter *)o;
  w[0] = next_of(r);
  w[1] = w[0] + rest_of(r) * r->step;
  w[2] = r->step;
  return w[0] >= INT32_MIN && w[0] <= INT32_MAX && w[1] >= INT32_MIN && w[1] <= INT32_MAX && w[2] >= INT32_MIN && w[2] <= INT32_MAX;
}

int npc_ranges_init(void) {
  npc_i64 w[3];
  PyObject *range = PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", 40, -3, -7); /* 40 33 26 19 12 5 -2 */
  PyObject *it = range ? PyObject_GetIter(range) : NULL, *first = it ? PyIter_Next(it) : NULL, *second = first ? PyIter_Next(it) : NULL;
  if (second && PyRangeIter_Type.tp_basicsize == sizeof(RangeIter)) {
    known = 1;
    known = npc_range_position(it, w) && w[0] == 26 && w[1] == -9 && w[2] == -7;
  }
  int failed = !second;
  Py_XDECREF(range);
  Py_XDECREF(it);
  Py_XDECREF(first);
  Py_XDECREF(second);
  return -failed;
}
