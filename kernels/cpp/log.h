/* Logarithms of float64 and float32: x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1 exactly, then a series in
   s = f / (2 + f) (float64) or in f (float32). Branch-free. */
//@ log_split:f64
struct npc_split64 { double e, m; };
NPC_FN npc_split64 npc_log_split(double x) { /* for 0 < x < inf */
  bool tiny = x < 0x1p-1022;
  npc_u64 w = npc_bits(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  double e = npc_f64_of((w >> 52) | 0x4330000000000000ull) - (tiny ? 0x1p52 + 1077 : 0x1p52 + 1023);
  return npc_split64{e, npc_f64_of((w & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull)};
}
//@ log_special
NPC_FN double npc_log_special(double x, double r) {
  r = x < __builtin_inf() ? r : x;
  return x > 0 ? r : x == 0 ? -__builtin_inf() : x != x ? x : __builtin_nan("");
}
NPC_FN float npc_log_special(float x, float r) {
  r = x < __builtin_inff() ? r : x;
  return x > 0 ? r : x == 0 ? -__builtin_inff() : x != x ? x : __builtin_nanf("");
}
//@ log:f64 < fma, log_split:f64, log_special
NPC_FN double npc_log(double x) {
  npc_split64 a = npc_log_split(x);
  double f = a.m - 1.0, s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
  double q = 0x1.2f0d8e8baa39cp-3;
  q = NPC_FMA(q, z, 0x1.39a0f5169a6dbp-3);
  q = NPC_FMA(q, z, 0x1.7466462abc5bbp-3);
  q = NPC_FMA(q, z, 0x1.c71c51e8073ffp-3);
  q = NPC_FMA(q, z, 0x1.249249421781ap-2);
  q = NPC_FMA(q, z, 0x1.999999997fb35p-2);
  q = NPC_FMA(q, z, 0x1.5555555555593p-1);
  double lo = NPC_FMA(s, NPC_FMA(q, z, h), a.e * 0x1.ef35793c76730p-45);
  return npc_log_special(x, NPC_FMA(a.e, 0x1.62e42fefa3800p-1, f - (h - lo)));
}
//@ log_split:f32
struct npc_split32 { float e, m; };
NPC_FN npc_split32 npc_log_split(float x) { /* for 0 < x < inf */
  bool tiny = x < 0x1p-126f;
  npc_u32 w = npc_bits(tiny ? x * 0x1p24f : x) + (0x3f800000u - 0x3f3504f3u);
  float e = (float)((npc_i32)(w >> 23) - (tiny ? 151 : 127));
  return npc_split32{e, npc_f32_of((w & 0x007fffffu) + 0x3f3504f3u)};
}
//@ log:f32 < fma, log_split:f32, log_special
NPC_FN float npc_log(float x) {
  npc_split32 a = npc_log_split(x);
  float f = a.m - 1.0f, z = f * f;
  float q = 0x1.1456fcp-4f;
  q = NPC_FMAF(q, f, -0x1.de65f4p-4f);
  q = NPC_FMAF(q, f, 0x1.e7072ep-4f);
  q = NPC_FMAF(q, f, -0x1.fc1d54p-4f);
  q = NPC_FMAF(q, f, 0x1.2335bp-3f);
  q = NPC_FMAF(q, f, -0x1.555c5cp-3f);
  q = NPC_FMAF(q, f, 0x1.99a4cap-3f);
  q = NPC_FMAF(q, f, -0x1.000006p-2f);
  q = NPC_FMAF(q, f, 0x1.555548p-2f);
  float lo = NPC_FMAF(a.e, 0x1.7f7d1cp-20f, NPC_FMAF(-0.5f, z, q * f * z));
  return npc_log_special(x, NPC_FMAF(a.e, 0x1.62e4p-1f, f + lo));
}
