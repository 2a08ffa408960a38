/* Logarithms and inverse hyperbolic functions, float64 and float32: x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1
   exactly, then a series in s = f / (2 + f) (float64) or in f (float32). Branch-free. Polynomials: tools/. */
//@ log_split:f64
struct npc_split64 { double e, m; };
NPC_FN npc_split64 npc_log_split(double x) { /* for 0 < x < inf */
  bool tiny = x < 0x1p-1022;
  npc_u64 w = npc_bits(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  double e = npc_f64_of((w >> 52) | 0x4330000000000000ull) - (tiny ? 0x1p52 + 1077 : 0x1p52 + 1023);
  return npc_split64{e, npc_f64_of((w & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull)};
}
//@ log_split:f32
struct npc_split32 { float e, m; };
NPC_FN npc_split32 npc_log_split(float x) { /* for 0 < x < inf */
  bool tiny = x < 0x1p-126f;
  npc_u32 w = npc_bits(tiny ? x * 0x1p24f : x) + (0x3f800000u - 0x3f3504f3u);
  float e = (float)((npc_i32)(w >> 23) - (tiny ? 151 : 127));
  return npc_split32{e, npc_f32_of((w & 0x007fffffu) + 0x3f3504f3u)};
}
//@ log_special
NPC_FN double npc_log_special(double x, double r) {
  r = x < __builtin_inf() ? r : x;
  return x > 0 ? r : x == 0 ? -__builtin_inf() : __builtin_nan("");
}
NPC_FN float npc_log_special(float x, float r) {
  r = x < __builtin_inff() ? r : x;
  return x > 0 ? r : x == 0 ? -__builtin_inff() : __builtin_nanf("");
}
//@ log_series:f64 < fma
/* log(1 + f) = f - (h - rest), h = f^2 / 2. One division is faster here than the 19 terms it saves. */
struct npc_series64 { double h, rest; };
NPC_FN npc_series64 npc_log_series(double f) {
  double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
  double q = 0x1.2f0d8e8baa39cp-3;
  q = NPC_FMA(q, z, 0x1.39a0f5169a6dbp-3);
  q = NPC_FMA(q, z, 0x1.7466462abc5bbp-3);
  q = NPC_FMA(q, z, 0x1.c71c51e8073ffp-3);
  q = NPC_FMA(q, z, 0x1.249249421781ap-2);
  q = NPC_FMA(q, z, 0x1.999999997fb35p-2);
  q = NPC_FMA(q, z, 0x1.5555555555593p-1);
  return npc_series64{h, s * NPC_FMA(q, z, h)};
}
//@ log_series:f32 < fma
struct npc_series32 { float h, rest; };
NPC_FN npc_series32 npc_log_series(float f) {
  float z = f * f;
  float q = 0x1.1456fcp-4f;
  q = NPC_FMAF(q, f, -0x1.de65f4p-4f);
  q = NPC_FMAF(q, f, 0x1.e7072ep-4f);
  q = NPC_FMAF(q, f, -0x1.fc1d54p-4f);
  q = NPC_FMAF(q, f, 0x1.2335bp-3f);
  q = NPC_FMAF(q, f, -0x1.555c5cp-3f);
  q = NPC_FMAF(q, f, 0x1.99a4cap-3f);
  q = NPC_FMAF(q, f, -0x1.000006p-2f);
  q = NPC_FMAF(q, f, 0x1.555548p-2f);
  return npc_series32{0.5f * z, q * f * z};
}
//@ log:f64 < log_split:f64, log_series:f64, log_special
NPC_FN double npc_log(double x) {
  npc_split64 a = npc_log_split(x);
  double f = a.m - 1.0;
  npc_series64 t = npc_log_series(f);
  double lo = NPC_FMA(a.e, 0x1.ef35793c76730p-45, t.rest);
  return npc_log_special(x, NPC_FMA(a.e, 0x1.62e42fefa3800p-1, f - (t.h - lo)));
}
//@ log:f32 < log_split:f32, log_series:f32, log_special
NPC_FN float npc_log(float x) {
  npc_split32 a = npc_log_split(x);
  float f = a.m - 1.0f;
  npc_series32 t = npc_log_series(f);
  float lo = NPC_FMAF(a.e, 0x1.7f7d1cp-20f, t.rest - t.h);
  return npc_log_special(x, NPC_FMAF(a.e, 0x1.62e4p-1f, f + lo));
}
//@ log2:f64, log10:f64 < log_split:f64, log_series:f64, log_special
/* e HI + e LO + log(m) C, the constant C in two parts where it meets f. */
NPC_FN double npc_log2(double x) {
  npc_split64 a = npc_log_split(x);
  double f = a.m - 1.0;
  npc_series64 t = npc_log_series(f);
  double lo = NPC_FMA(t.rest - t.h, 0x1.71547652b82fep0, f * 0x1.777d0ffda0d24p-56);
  return npc_log_special(x, a.e + NPC_FMA(f, 0x1.71547652b82fep0, lo));
}
NPC_FN double npc_log10(double x) {
  npc_split64 a = npc_log_split(x);
  double f = a.m - 1.0;
  npc_series64 t = npc_log_series(f);
  double lo = NPC_FMA(t.rest - t.h, 0x1.bcb7b1526e50ep-2, NPC_FMA(a.e, 0x1.3fde623e2566bp-43, f * 0x1.95355baaafad3p-57));
  return npc_log_special(x, NPC_FMA(a.e, 0x1.34413509f7000p-2, NPC_FMA(f, 0x1.bcb7b1526e50ep-2, lo)));
}
//@ log2:f32 < log_split:f32, log_special, fma
NPC_FN float npc_log2(float x) {
  npc_split32 a = npc_log_split(x);
  float f = a.m - 1.0f;
  float q = 0x1.98af5ap-4f;
  q = NPC_FMAF(q, f, -0x1.5c7ae0p-3f);
  q = NPC_FMAF(q, f, 0x1.5edd24p-3f);
  q = NPC_FMAF(q, f, -0x1.6de528p-3f);
  q = NPC_FMAF(q, f, 0x1.a419b2p-3f);
  q = NPC_FMAF(q, f, -0x1.ec8456p-3f);
  q = NPC_FMAF(q, f, 0x1.277f40p-2f);
  q = NPC_FMAF(q, f, -0x1.71546ap-2f);
  q = NPC_FMAF(q, f, 0x1.ec7088p-2f);
  q = NPC_FMAF(q, f, -0x1.715476p-1f);
  float t = NPC_FMAF(q, f * f, f * 0x1.4ae0c0p-26f);
  return npc_log_special(x, a.e + NPC_FMAF(f, 0x1.715476p0f, t));
}
//@ log10:f32 < log_split:f32, log_special, fma
NPC_FN float npc_log10(float x) {
  npc_split32 a = npc_log_split(x);
  float f = a.m - 1.0f;
  float q = 0x1.ec1b10p-6f;
  q = NPC_FMAF(q, f, -0x1.a39c9ap-5f);
  q = NPC_FMAF(q, f, 0x1.a67b6ep-5f);
  q = NPC_FMAF(q, f, -0x1.b894e6p-5f);
  q = NPC_FMAF(q, f, 0x1.f9d9ecp-5f);
  q = NPC_FMAF(q, f, -0x1.288656p-4f);
  q = NPC_FMAF(q, f, 0x1.63d05ep-4f);
  q = NPC_FMAF(q, f, -0x1.bcb7a2p-4f);
  q = NPC_FMAF(q, f, 0x1.287a68p-3f);
  q = NPC_FMAF(q, f, -0x1.bcb7b2p-3f);
  float t = NPC_FMAF(q, f * f, NPC_FMAF(a.e, 0x1.3509f8p-18f, f * -0x1.5b235ep-27f));
  return npc_log_special(x, NPC_FMAF(a.e, 0x1.3440p-2f, NPC_FMAF(f, 0x1.bcb7b2p-2f, t)));
}
//@ log1p_core:f64 < log_split:f64, log_series:f64
/* log(1 + x) for -1 < x < inf: with u = 1 + x rounded, log u plus a first-order term for the rest. */
NPC_FN double npc_log1p_core(double x) {
  double u = 1.0 + x, c = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  npc_split64 a = npc_log_split(u);
  double f = a.m - 1.0, g = npc_f64_of(npc_bits(a.m) - npc_bits(u) + (1024ull << 52)) * (0.5 * c); /* c scaled as m is */
  npc_series64 t = npc_log_series(f);
  double lo = NPC_FMA(a.e, 0x1.ef35793c76730p-45, t.rest + NPC_FMA(NPC_FMA(f, f, -f), g, g));
  double r = NPC_FMA(a.e, 0x1.62e42fefa3800p-1, f - (t.h - lo));
  return __builtin_fabs(x) < 0x1p-54 ? x : r;
}
//@ log1p_core:f32 < log_split:f32, log_series:f32
NPC_FN float npc_log1p_core(float x) {
  float u = 1.0f + x, c = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
  npc_split32 a = npc_log_split(u);
  float f = a.m - 1.0f, g = npc_f32_of(npc_bits(a.m) - npc_bits(u) + (128u << 23)) * (0.5f * c);
  npc_series32 t = npc_log_series(f);
  float lo = NPC_FMAF(a.e, 0x1.7f7d1cp-20f, (t.rest - t.h) + NPC_FMAF(NPC_FMAF(f, f, -f), g, g));
  float r = NPC_FMAF(a.e, 0x1.62e4p-1f, f + lo);
  return __builtin_fabsf(x) < 0x1p-25f ? x : r;
}
//@ log1p:f64 < log1p_core:f64
NPC_FN double npc_log1p(double x) {
  double r = x < __builtin_inf() ? npc_log1p_core(x) : x;
  return x > -1.0 ? r : x == -1.0 ? -__builtin_inf() : __builtin_nan("");
}
//@ log1p:f32 < log1p_core:f32
NPC_FN float npc_log1p(float x) {
  float r = x < __builtin_inff() ? npc_log1p_core(x) : x;
  return x > -1.0f ? r : x == -1.0f ? -__builtin_inff() : __builtin_nanf("");
}
//@ asinh:f64 < log1p_core:f64
NPC_FN double npc_asinh(double x) {
  double a = __builtin_fabs(x), z = a * a;
  bool big = a > 0x1p30;
  double t = big ? a - 1.0 : a + z / (1.0 + __builtin_sqrt(1.0 + z));
  double r = npc_log1p_core(t) + (big ? 0x1.62e42fefa39efp-1 : 0.0);
  return a < __builtin_inf() ? __builtin_copysign(r, x) : x;
}
//@ asinh:f32 < log1p_core:f32
NPC_FN float npc_asinh(float x) {
  float a = __builtin_fabsf(x), z = a * a;
  bool big = a > 0x1p14f;
  float t = big ? a - 1.0f : a + z / (1.0f + __builtin_sqrtf(1.0f + z));
  float r = npc_log1p_core(t) + (big ? 0x1.62e43p-1f : 0.0f);
  return a < __builtin_inff() ? __builtin_copysignf(r, x) : x;
}
//@ acosh:f64 < log1p_core:f64
NPC_FN double npc_acosh(double x) {
  double t = x - 1.0;
  bool big = x > 0x1p30;
  double r = npc_log1p_core(big ? t : t + __builtin_sqrt(NPC_FMA(t, t, t + t))) + (big ? 0x1.62e42fefa39efp-1 : 0.0);
  return x >= 1.0 ? (x < __builtin_inf() ? r : x) : __builtin_nan("");
}
//@ acosh:f32 < log1p_core:f32
NPC_FN float npc_acosh(float x) {
  float t = x - 1.0f;
  bool big = x > 0x1p14f;
  float r = npc_log1p_core(big ? t : t + __builtin_sqrtf(NPC_FMAF(t, t, t + t))) + (big ? 0x1.62e43p-1f : 0.0f);
  return x >= 1.0f ? (x < __builtin_inff() ? r : x) : __builtin_nanf("");
}
//@ atanh:f64 < log1p_core:f64
NPC_FN double npc_atanh(double x) {
  double a = __builtin_fabs(x), t = (a + a) / (1.0 - a), r = 0.5 * npc_log1p_core(t);
  r = a < 0x1p-28 ? a : a == 1.0 ? __builtin_inf() : a > 1.0 ? __builtin_nan("") : r;
  return __builtin_copysign(r, x);
}
//@ atanh:f32 < log1p_core:f32
NPC_FN float npc_atanh(float x) {
  float a = __builtin_fabsf(x), t = (a + a) / (1.0f - a), r = 0.5f * npc_log1p_core(t);
  r = a < 0x1p-13f ? a : a == 1.0f ? __builtin_inff() : a > 1.0f ? __builtin_nanf("") : r;
  return __builtin_copysignf(r, x);
}
