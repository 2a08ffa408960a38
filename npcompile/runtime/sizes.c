/* Conditions on sizes and ints that entries without code ask: those with code ask in generated C++.
   In: a postfix program over the words of an entry's inputs. Never: takes a value that does not fit. */
#include "runtime.h"

enum DimOp { DIM_CONST, DIM_WORD, DIM_ADD, DIM_MUL, DIM_FLOORDIV, DIM_MAX, DIM_MIN, DIM_EQ, DIM_NE, DIM_GE, DIM_COUNT };

#define DEPTH 64

static npc_i64 floordiv(npc_i64 a, npc_i64 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* 1 it holds, 0 it does not, or something overflows */
int npc_sizes_hold(const Step *s, const npc_i64 *words) {
  npc_i64 v[DEPTH], *top = v - 1;
  for (const npc_i64 *p = s->program, *end = p + 2 * s->a; p < end; p += 2) {
    if (*p == DIM_CONST || *p == DIM_WORD) {
      *++top = *p == DIM_CONST ? p[1] : words[p[1]];
      continue;
    }
    npc_i64 b = *top--;
    switch (*p) {
      case DIM_ADD:
        if (__builtin_add_overflow(*top, b, top)) return 0;
        break;
      case DIM_MUL:
        if (__builtin_mul_overflow(*top, b, top)) return 0;
        break;
      case DIM_FLOORDIV:
        if (b == 0 || b == -1) return 0;
        *top = floordiv(*top, b);
        break;
      case DIM_MAX: *top = *top > b ? *top : b; break;
      case DIM_MIN: *top = *top < b ? *top : b; break;
      case DIM_EQ: *top = *top == b; break;
      case DIM_NE: *top = *top != b; break;
      default: *top = *top >= b; /* DIM_GE */
    }
  }
  return *top == 1;
}

/* program: a tuple of (op, argument) each; `n_words` are there when it runs. */
npc_i64 *npc_parse_sizes(PyObject *program, int n_words, npc_i64 *n) {
  if (!PyTuple_Check(program)) return PyErr_SetString(PyExc_TypeError, "a condition on sizes is a tuple"), NULL;
  Py_ssize_t length = PyTuple_GET_SIZE(program);
  npc_i64 *out = PyMem_Malloc((2 * length + 1) * sizeof *out);
  if (!out) return (npc_i64 *)PyErr_NoMemory();
  int depth = 0, ok = 1;
  for (Py_ssize_t i = 0; ok && i < length; i++) {
    npc_i64 *p = out + 2 * i;
    ok = PyArg_ParseTuple(PyTuple_GET_ITEM(program, i), "LL", p, p + 1) && p[0] >= 0 && p[0] < DIM_COUNT;
    ok = ok && (p[0] != DIM_WORD || (p[1] >= 0 && p[1] < n_words));
    depth += p[0] <= DIM_WORD ? 1 : -1;
    ok = ok && depth > 0 && depth <= DEPTH;
  }
  if (ok && depth == 1) {
    *n = length;
    return out;
  }
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "bad condition on sizes");
  PyMem_Free(out);
  return NULL;
}
