/* exp of float64 and float32: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial for e^r, two exact scalings of which the second
   rounds when the result is subnormal. Branch-free; NaN passes through every step. */
//@ fma
#if defined(__FMA__) || defined(__aarch64__)
#define NPC_FMA(a, b, c) __builtin_fma(a, b, c)
#define NPC_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define NPC_FMA(a, b, c) ((a) * (b) + (c))
#define NPC_FMAF(a, b, c) ((a) * (b) + (c))
#endif
//@ exp:f64 < fma
NPC_FN double npc_exp(double x) {
  double t = x > 710.0 ? 710.0 : x;
  t = t < -746.0 ? -746.0 : t;
  double k = NPC_FMA(t, 0x1.71547652b82fep0, 0x1.8p52);
  npc_u64 u = npc_bits(k) - (0x4338000000000000ull - 2046), h = u >> 1;
  k -= 0x1.8p52;
  double r = NPC_FMA(k, -0x1.62e42fefa3800p-1, t);
  r = NPC_FMA(k, -0x1.ef35793c76730p-45, r);
  double q = 0x1.af85838e72eaep-26;
  q = NPC_FMA(q, r, 0x1.28b0744a86484p-22);
  q = NPC_FMA(q, r, 0x1.71dddfd38d9dbp-19);
  q = NPC_FMA(q, r, 0x1.a0199666097b0p-16);
  q = NPC_FMA(q, r, 0x1.a01a01badc340p-13);
  q = NPC_FMA(q, r, 0x1.6c16c185b7ce9p-10);
  q = NPC_FMA(q, r, 0x1.111111110d654p-7);
  q = NPC_FMA(q, r, 0x1.555555554ffe6p-5);
  q = NPC_FMA(q, r, 0x1.5555555555561p-3);
  q = NPC_FMA(q, r, 0x1.000000000000cp-1);
  double p = 1.0 + NPC_FMA(r * r, q, r);
  return p * npc_f64_of(h << 52) * npc_f64_of((u - h) << 52);
}
//@ exp:f32 < fma
NPC_FN float npc_exp(float x) {
  float t = x > 89.0f ? 89.0f : x;
  t = t < -104.0f ? -104.0f : t;
  float k = NPC_FMAF(t, 0x1.715476p0f, 0x1.8p23f);
  npc_u32 u = npc_bits(k) - (0x4b400000u - 254), h = u >> 1;
  k -= 0x1.8p23f;
  float r = NPC_FMAF(k, -0x1.62e4p-1f, t);
  r = NPC_FMAF(k, -0x1.7f7d1cp-20f, r);
  float q = 0x1.6db464p-10f;
  q = NPC_FMAF(q, r, 0x1.123b92p-7f);
  q = NPC_FMAF(q, r, 0x1.55545ep-5f);
  q = NPC_FMAF(q, r, 0x1.55548ep-3f);
  q = NPC_FMAF(q, r, 0x1.0p-1f);
  float p = 1.0f + NPC_FMAF(r * r, q, r);
  return p * npc_f32_of(h << 23) * npc_f32_of((u - h) << 23);
}
