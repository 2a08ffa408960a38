/* asin, acos, atan, atan2, float64 and float32: one polynomial on a short interval after one division or square root.
   Branch-free. Polynomials: tools/. */
//@ if
/* x or 0, by bits: a plain conditional makes GCC divide once for each of its arms. */
NPC_FN double npc_if(bool m, double x) { return npc_f64_of(npc_bits(x) & -(npc_u64)m); }
NPC_FN float npc_if(bool m, float x) { return npc_f32_of(npc_bits(x) & -(npc_u32)m); }
//@ atan_poly:f64 < fma, if
/* atan t for |t| <= tan(pi / 8). */
NPC_FN double npc_atan_poly(double t) {
  double z = t * t, q = -0x1.2564a673efc49p-6;
  q = NPC_FMA(q, z, 0x1.37d3e81e84a56p-5);
  q = NPC_FMA(q, z, -0x1.9cd2643eb538dp-5);
  q = NPC_FMA(q, z, 0x1.df0f4a0694a3bp-5);
  q = NPC_FMA(q, z, -0x1.10ebb96010feep-4);
  q = NPC_FMA(q, z, 0x1.3b11194bd862ap-4);
  q = NPC_FMA(q, z, -0x1.745cf8dffd7ffp-4);
  q = NPC_FMA(q, z, 0x1.c71c70e630c64p-4);
  q = NPC_FMA(q, z, -0x1.24924922ad97fp-3);
  q = NPC_FMA(q, z, 0x1.9999999995863p-3);
  q = NPC_FMA(q, z, -0x1.555555555553dp-2);
  return NPC_FMA(q, t * z, t);
}
//@ atan_poly:f32 < fma, if
NPC_FN float npc_atan_poly(float t) {
  float z = t * t, q = -0x1.f22b52p-5f;
  q = NPC_FMAF(q, z, 0x1.b1fa24p-4f);
  q = NPC_FMAF(q, z, -0x1.23b638p-3f);
  q = NPC_FMAF(q, z, 0x1.9991a6p-3f);
  q = NPC_FMAF(q, z, -0x1.55554ap-2f);
  return NPC_FMAF(q, t * z, t);
}
//@ atan:f64 < atan_poly:f64
/* t = a, (a - 1) / (a + 1) or -1 / a, whichever is smallest; then 0, pi/4 or pi/2 in two parts is added. */
NPC_FN double npc_atan(double x) {
  double a = __builtin_fabs(x);
  bool mid = a > 0x1.a827999fcef32p-2, big = a > 0x1.3504f333f9de6p+1;
  double n = npc_if(!big, a) - npc_if(mid, 1.0), d = npc_if(mid, a) + npc_if(!big, 1.0);
  double hi = big ? 0x1.921fb54442d18p+0 : mid ? 0x1.921fb54442d18p-1 : 0.0;
  double lo = big ? 0x1.1a62633145c07p-54 : mid ? 0x1.1a62633145c07p-55 : 0.0;
  return __builtin_copysign(hi + (npc_atan_poly(n / d) + lo), x);
}
//@ atan:f32 < atan_poly:f32
NPC_FN float npc_atan(float x) {
  float a = __builtin_fabsf(x);
  bool mid = a > 0x1.a8279ap-2f, big = a > 0x1.3504f4p+1f;
  float n = npc_if(!big, a) - npc_if(mid, 1.0f), d = npc_if(mid, a) + npc_if(!big, 1.0f);
  float hi = big ? 0x1.921fb6p+0f : mid ? 0x1.921fb6p-1f : 0.0f;
  float lo = big ? -0x1.777a5cp-25f : mid ? -0x1.777a5cp-26f : 0.0f;
  return __builtin_copysignf(hi + (npc_atan_poly(n / d) + lo), x);
}
//@ atan2:f64 < atan_poly:f64
/* atan of min / max, reduced as above within the one division; then c pi + s atan for the octant, c a multiple of 1/4. */
NPC_FN double npc_atan2(double y, double x) {
  double a = __builtin_fabs(y), b = __builtin_fabs(x), inf = __builtin_inf();
  bool steep = a > b, left = npc_bits(x) >> 63;
  double lo = steep ? b : a, hi = steep ? a : b, k = hi > 0x1p1000 ? 0x1p-60 : 1.0;
  bool corner = lo == inf, origin = hi == 0;
  lo = lo * k, hi = hi * k;
  lo = npc_if(!corner, lo) + npc_if(corner, 1.0), hi = npc_if(!(corner | origin), hi) + npc_if(corner | origin, 1.0);
  bool mid = lo > hi * 0x1.a827999fcef32p-2;
  double t = npc_atan_poly((lo - npc_if(mid, hi)) / (hi + npc_if(mid, lo))), c = mid ? 0.25 : 0.0;
  t = steep ? -t : t, c = steep ? 0.5 - c : c;
  t = left ? -t : t, c = left ? 1.0 - c : c;
  double r = NPC_FMA(c, 0x1.921fb54442d18p+1, NPC_FMA(c, 0x1.1a62633145c07p-53, t));
  return a != a || b != b ? a + b : __builtin_copysign(r, y);
}
//@ atan2:f32 < atan_poly:f32
NPC_FN float npc_atan2(float y, float x) {
  float a = __builtin_fabsf(y), b = __builtin_fabsf(x), inf = __builtin_inff();
  bool steep = a > b, left = npc_bits(x) >> 31;
  float lo = steep ? b : a, hi = steep ? a : b, k = hi > 0x1p100f ? 0x1p-30f : 1.0f;
  bool corner = lo == inf, origin = hi == 0;
  lo = lo * k, hi = hi * k;
  lo = npc_if(!corner, lo) + npc_if(corner, 1.0f), hi = npc_if(!(corner | origin), hi) + npc_if(corner | origin, 1.0f);
  bool mid = lo > hi * 0x1.a8279ap-2f;
  float t = npc_atan_poly((lo - npc_if(mid, hi)) / (hi + npc_if(mid, lo))), c = mid ? 0.25f : 0.0f;
  t = steep ? -t : t, c = steep ? 0.5f - c : c;
  t = left ? -t : t, c = left ? 1.0f - c : c;
  float r = NPC_FMAF(c, 0x1.921fb6p+1f, NPC_FMAF(c, -0x1.777a5cp-24f, t));
  return a != a || b != b ? a + b : __builtin_copysignf(r, y);
}
//@ asin_poly:f64 < fma
/* (asin t - t) / t^3 as a function of z = t^2 <= 1/4. */
NPC_FN double npc_asin_poly(double z) {
  double q = 0x1.05ff1db26beccp-5;
  q = NPC_FMA(q, z, -0x1.0b8112752893cp-6);
  q = NPC_FMA(q, z, 0x1.4109eb168c9f0p-6);
  q = NPC_FMA(q, z, 0x1.aa34fbca15985p-8);
  q = NPC_FMA(q, z, 0x1.8ef30fb78fc26p-7);
  q = NPC_FMA(q, z, 0x1.c6f6554b9670ap-7);
  q = NPC_FMA(q, z, 0x1.1c6c43373ff9ep-6);
  q = NPC_FMA(q, z, 0x1.6e89edb027536p-6);
  q = NPC_FMA(q, z, 0x1.f1c72c8005800p-6);
  q = NPC_FMA(q, z, 0x1.6db6db419af65p-5);
  q = NPC_FMA(q, z, 0x1.333333336fdefp-4);
  return NPC_FMA(q, z, 0x1.5555555555384p-3);
}
//@ asin_poly:f32 < fma
NPC_FN float npc_asin_poly(float z) {
  float q = 0x1.59f3d4p-5f;
  q = NPC_FMAF(q, z, 0x1.8b86acp-6f);
  q = NPC_FMAF(q, z, 0x1.748f00p-5f);
  q = NPC_FMAF(q, z, 0x1.330136p-4f);
  return NPC_FMAF(q, z, 0x1.5555cap-3f);
}
//@ asin:f64, acos:f64 < asin_poly:f64
/* Above 1/2: pi/2 - 2 asin sqrt((1 - a) / 2). Beyond 1 the square root makes the NaN. */
NPC_FN double npc_asin(double x) {
  double a = __builtin_fabs(x);
  bool big = a > 0.5;
  double z = big ? 0.5 - 0.5 * a : a * a, s = big ? __builtin_sqrt(z) : a, p = NPC_FMA(npc_asin_poly(z), s * z, s);
  return __builtin_copysign(big ? 0x1.921fb54442d18p+0 - (2.0 * p - 0x1.1a62633145c07p-54) : p, x);
}
NPC_FN double npc_acos(double x) {
  double a = __builtin_fabs(x);
  bool big = a > 0.5;
  double z = big ? 0.5 - 0.5 * a : a * a, s = big ? __builtin_sqrt(z) : x, p = NPC_FMA(npc_asin_poly(z), s * z, s);
  double mid = 0x1.921fb54442d18p+0 - (p - 0x1.1a62633145c07p-54), end = 2.0 * p;
  return big ? (x < 0 ? 0x1.921fb54442d18p+1 - (end - 0x1.1a62633145c07p-53) : end) : mid;
}
//@ asin:f32, acos:f32 < asin_poly:f32
NPC_FN float npc_asin(float x) {
  float a = __builtin_fabsf(x);
  bool big = a > 0.5f;
  float z = big ? 0.5f - 0.5f * a : a * a, s = big ? __builtin_sqrtf(z) : a, p = NPC_FMAF(npc_asin_poly(z), s * z, s);
  return __builtin_copysignf(big ? 0x1.921fb6p+0f - (2.0f * p + 0x1.777a5cp-25f) : p, x);
}
NPC_FN float npc_acos(float x) {
  float a = __builtin_fabsf(x);
  bool big = a > 0.5f;
  float z = big ? 0.5f - 0.5f * a : a * a, s = big ? __builtin_sqrtf(z) : x, p = NPC_FMAF(npc_asin_poly(z), s * z, s);
  float mid = 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f), end = 2.0f * p;
  return big ? (x < 0 ? 0x1.921fb6p+1f - (end + 0x1.777a5cp-24f) : end) : mid;
}
