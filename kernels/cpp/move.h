/* Assignments between vectors of one memory, which NumPy does element by element where both go the same way. */
//@ move
template <int N> struct npc_bytes { char b[N]; };
/* n elements at p, `step` bytes apart, from q; false: no memory. As numpy/_core/src/multiarray/array_assign_array.c: the target goes
   up; the source first down where its end would be overwritten; vectors that go opposite ways by a copy, if they may overlap. */
template <class T> static bool npc_move(char *p, npc_i64 step, const char *q, npc_i64 from, npc_i64 n) {
  if (n <= 0) return true;
  if (step < 0) { p += (n - 1) * step; q += (n - 1) * from; step = -step; from = -from; }
  if (from < 0) {
    const char *low = q + (n - 1) * from;
    if (low < p + (n - 1) * step + (npc_i64)sizeof(T) && p < q + (npc_i64)sizeof(T)) {
      T *copy = (T *)__builtin_malloc((npc_u64)n * sizeof(T));
      if (!copy) return false;
      for (npc_i64 i = 0; i < n; ++i) __builtin_memcpy(copy + i, q + i * from, sizeof(T));
      for (npc_i64 i = 0; i < n; ++i) __builtin_memcpy(p + i * step, copy + i, sizeof(T));
      __builtin_free(copy);
      return true;
    }
  }
  if (q < p && q + n * from > p) { p += (n - 1) * step; q += (n - 1) * from; step = -step; from = -from; }
  for (npc_i64 i = 0; i < n; ++i) {
    T x;
    __builtin_memcpy(&x, q + i * from, sizeof(T));
    __builtin_memcpy(p + i * step, &x, sizeof(T));
  }
  return true;
}
