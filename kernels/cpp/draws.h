/* NumPy's bit generators, as its functions take them, and what NumPy does not export. */
//@ draws
typedef struct {
  void *state;
  npc_u64 (*next_uint64)(void *);
  npc_u32 (*next_uint32)(void *);
  double (*next_double)(void *);
  npc_u64 (*next_raw)(void *);
} npc_bitgen;
typedef struct { npc_bitgen bits; npc_bitgen *self; int has_gauss; double gauss; } npc_legacy_bitgen; /* of RandomState */
typedef void (*npc_bounded_fill)(npc_bitgen *, npc_u64 off, npc_u64 range, npc_i64 n, bool masked, npc_u64 *out);
static inline npc_i64 npc_bounded(npc_bitgen *g, void *fill, npc_i64 low, npc_i64 high, bool masked) {
  npc_u64 out;
  ((npc_bounded_fill)fill)(g, (npc_u64)low, (npc_u64)high - 1 - (npc_u64)low, 1, masked, &out);
  return (npc_i64)out;
}
//@ legacy_gauss < draws, libm
static inline double npc_legacy_gauss(npc_bitgen *bits) {
  npc_legacy_bitgen *g = (npc_legacy_bitgen *)bits;
  if (g->has_gauss) {
    const double kept = g->gauss;
    g->has_gauss = 0;
    g->gauss = 0.0;
    return kept;
  }
  double x, y, r2;
  do {
    x = 2.0 * bits->next_double(bits->state) - 1.0;
    y = 2.0 * bits->next_double(bits->state) - 1.0;
    r2 = x * x + y * y;
  } while (r2 >= 1.0 || r2 == 0.0);
  const double f = sqrt(-2.0 * log(r2) / r2);
  g->gauss = f * x;
  g->has_gauss = 1;
  return f * y;
}
